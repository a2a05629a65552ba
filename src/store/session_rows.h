// Walks the rows of the registry, a page at a time, in one version of the list.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

struct RowAt {
  const log::SessionRow& row;
  const std::string& cursor;  // where the rows after it start
  bool is_last = false;
  bool is_collected = false;  // as of its page
};

// Names the row so that no other is taken for it: the place alone may occur again when the file is
// replaced.
[[nodiscard]] std::string name_of(const RowAt& at);

struct RowVisitor {
  // Called before the first row, and again if the list was rebuilt between two pages: the rows are
  // then visited from the first again, so the visitor must forget what it has.
  std::function<void()> begin;
  std::function<Result<bool>(const RowAt& at)> visit;  // false: stop
};

// Visits the rows after the cursor `after`, newest first, including rows of sessions that were
// dropped. kInvalidArgument when `after` is no cursor, or one of another list. kBusy when the list
// is rebuilt again and again.
Status for_each_row(log::Engine& engine, std::string_view after, const RowVisitor& visitor,
                    size_t first_count = log::Engine::kRowsAtATime);

// Visits the rows newer than the one of this name (name_of()), newest first, each with its name;
// all where it is empty, or no longer there. `begin`: as that of a RowVisitor. Answers whether it
// was met: whoever kept what came up to it may keep it.
using NewerRowVisit = std::function<void(const RowAt& at, std::string name)>;
Result<bool> for_each_newer_row(log::Engine& engine, std::string_view known,
                                const std::function<void()>& begin, const NewerRowVisit& visit);

// Where the list has the rows of sessions that are installed again: with a second row, a session
// would be on two pages, and each whole copy of it would make the list of a backup longer.
class ListedRows {
 public:
  explicit ListedRows(log::Engine& engine) : engine_(engine) {}

  // The row with its `listed_at`, and whether it was dropped since. The first call reads the list.
  Result<log::SessionRow> placed(log::SessionRow row);

 private:
  Status read();

  log::Engine& engine_;
  bool was_read_ = false;
  std::unordered_map<std::string, std::string> places_;
  std::unordered_set<std::string> undropped_;
};

}  // namespace varve::store
