// KeyValue: the capped key-value store of a session, kv.json.
//
// Readers take no lock: the file is replaced as a whole, so they see it before or after a change. A
// change reads and replaces the file under the session's lock, and is always durable before it is
// answered, whatever the session's durability (docs/decisions.md, 37).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "session/stores/capped_stores.h"
#include "stores/kv_text.h"

namespace varve::session {

class KeyValue {
 public:
  KeyValue(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  Status set(std::string_view key, std::string_view value);
  // kNotFound when it is not set; "" for "working_memory", which is empty until it is set.
  Result<std::string> get(std::string_view key);
  Status remove(std::string_view key);  // kNotFound
  // [{"key","value","ts"}], the least recently set first.
  Result<json::Tree> list();

 private:
  Result<std::vector<stores::KvEntry>> read();

  Core& core_;
  Writer& writer_;
};

// See tidy_stores() (capped_check.h).
Status tidy_kv(Core& core, Remains remains);

}  // namespace varve::session
