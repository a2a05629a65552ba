#include "session/stores/capped_stores.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "log/quarantine.h"

namespace varve::session {

namespace {

std::string_view name_of(CappedStore store) {
  return store == CappedStore::kKeyValue ? "kv" : "transcript";
}

CappedFile& state_of(Core& core, CappedStore store) {
  return store == CappedStore::kKeyValue ? core.kv_file : core.transcript_file;
}

Status too_large(std::string message, uint64_t size, uint64_t limit) {
  return {Code::kSizeLimit, std::move(message), {.size = size, .limit = limit}};
}

}  // namespace

std::string_view file_of(CappedStore store) {
  return store == CappedStore::kKeyValue ? log::kKeyValueFile : log::kTranscriptFile;
}

Status check_has(const Core& core, CappedStore store) {
  const std::shared_lock lock(core.index_mutex);
  const json::Tree* stores = core.metadata.tree().get("stores");
  if (stores == nullptr || !stores->is_array()) return {};
  const auto& items = stores->items();
  const bool has = std::any_of(items.begin(), items.end(), [&](const json::Tree& item) {
    return item.is_string() && item.text() == name_of(store);
  });
  if (has) return {};
  return {Code::kUnsupported, "the session was created without \"" + std::string(name_of(store)) +
                                  "\" among its stores"};
}

uint64_t cap_of(const Core& core, CappedStore store) {
  const bool is_kv = store == CappedStore::kKeyValue;
  const uint64_t cap = is_kv ? core.settings.kv_cap : core.settings.transcript_cap;
  const std::shared_lock lock(core.index_mutex);
  const int64_t own = core.metadata.tree().get_int64(is_kv ? "kv_cap" : "transcript_cap", -1);
  return own >= 0 ? static_cast<uint64_t>(own) : cap;
}

std::string now_in_seconds(const Core& core) {
  const std::string now = format_rfc3339(core.context.clock->now_ms());
  return now.substr(0, now.find('.')) + "Z";
}

Status check_length(const Core& core, std::string_view what, uint64_t size_bytes) {
  const uint64_t limit = core.settings.entry_bytes_max;
  if (limit == 0 || size_bytes <= limit) return {};
  return too_large("the " + std::string(what) + " is " + std::to_string(size_bytes) +
                       " bytes; the limit is " + std::to_string(limit) +
                       " (storage.max_entry_size_bytes)",
                   size_bytes, limit);
}

Status make_room_in_file(Core& core, Writer& writer, CappedStore store, uint64_t size_bytes) {
  const uint64_t present = state_of(core, store).size_bytes.load(std::memory_order_relaxed);
  if (size_bytes <= present) return {};
  if (size_bytes > kCappedFileBytesMax) {
    return too_large(std::string(file_of(store)) + " would be " + std::to_string(size_bytes) +
                         " bytes; its limit is " + std::to_string(kCappedFileBytesMax),
                     size_bytes, kCappedFileBytesMax);
  }
  VARVE_TRY(writer.room().make(size_bytes - present));
  return writer.room().check(size_bytes - present);
}

Status oversized(CappedStore store, Place place) {
  return {Code::kSizeLimit,
          std::string(file_of(store)) + " is larger than varve makes it: move it away",
          std::move(place)};
}

void note_damage(Core& core, CappedStore store, uint64_t signature, std::string_view reason) {
  CappedFile& file = state_of(core, store);
  if (file.damage_signature.exchange(signature) == signature) return;
  file.damage_count += 1;
  core.context.counters->corruption_errors += 1;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(core.storage->name_of_document(file_of(store))));
  details.set("reason", json::Tree::string(reason));
  core.events.post(Level::kError, std::string(file_of(store)) + " is damaged", std::move(details));
}

Status set_aside(Core& core, CappedStore store, std::string_view bytes, uint64_t offset,
                 std::string_view reason) {
  return log::quarantine_bytes(*core.storage, bytes, offset,
                               {file_of(store), reason, core.context.clock->now_ms()});
}

Status put_file(Core& core, CappedStore store, std::string_view text) {
  VARVE_TRY(core.storage->put_document(file_of(store), text, log::DocumentDurability::kNamed));
  state_of(core, store).size_bytes = text.size();
  return {};
}

}  // namespace varve::session
