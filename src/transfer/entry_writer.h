// Entries as text for use elsewhere: a head, one piece for each entry, and an end.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "transfer/format.h"

namespace varve::transfer {

class EntryWriter {
 public:
  explicit EntryWriter(ExportFormat format) : format_(format) {}

  // Each of these appends to `out`.
  void begin(std::string_view session_id, std::string& out);
  // `line`: an entry as stored. errors: kInvalidArgument when it cannot be shown as markdown.
  Status entry(std::string_view line, std::string& out);
  void end(const json::Tree& metadata, std::string& out);

 private:
  ExportFormat format_;
  bool is_first_ = true;
};

}  // namespace varve::transfer
