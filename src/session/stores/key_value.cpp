#include "session/stores/key_value.h"

#include <utility>

#include "base/hash.h"

namespace varve::session {

namespace {

using stores::kKeyBytesMax;
constexpr std::string_view kWorkingMemory = "working_memory";
constexpr CappedStore kKeys = CappedStore::kKeyValue;

Status check_key(std::string_view key) {
  if (!key.empty() && key.size() <= kKeyBytesMax) return {};
  return {Code::kInvalidArgument,
          "a key is 1 to " + std::to_string(kKeyBytesMax) + " bytes",
          {.member = "key", .size = key.size(), .limit = kKeyBytesMax}};
}

Status no_key(std::string_view key) {
  return {Code::kNotFound, "there is no key '" + std::string(key) + "'"};
}

// The file's text and its contents, including what is beyond the cap.
struct KvFile {
  bool exists = false;
  std::string text;
  stores::KvContents contents;
};

Result<KvFile> read_file(Core& core) {
  KvFile file;
  auto text = core.storage->get_document(log::kKeyValueFile);
  if (text.code() == Code::kNotFound) {
    VARVE_TRY(core.storage->tail());  // kNotFound when the session was deleted
    return file;
  }
  if (text.code() == Code::kSizeLimit) return oversized(kKeys, text.status().place());
  if (!text.ok()) return std::move(text).status();
  file.exists = true;
  file.text = *std::move(text);
  file.contents = stores::parse_kv(file.text);
  const std::string& damage = file.contents.damage;
  if (!damage.empty()) note_damage(core, kKeys, hash64(file.text), damage);
  return file;
}

// The same for the holder of the storage's lock.
Result<KvFile> read_to_replace(Core& core) {
  VARVE_TRY_ASSIGN(KvFile file, read_file(core));
  core.kv_file.size_bytes = file.text.size();
  return file;
}

// Right before the file is replaced: a refused call must not do this each time it is repeated.
Status set_damage_aside(Core& core, const KvFile& file) {
  const std::string& damage = file.contents.damage;
  return damage.empty() ? Status() : set_aside(core, kKeys, file.text, 0, damage);
}

// Replaces the file by its present contents.
Status replace_file(Core& core, Writer& writer, const KvFile& file) {
  const std::string text = stores::format_kv(cap_of(core, kKeys), file.contents.entries);
  VARVE_TRY(make_room_in_file(core, writer, kKeys, text.size()));
  VARVE_TRY(set_damage_aside(core, file));
  VARVE_TRY(put_file(core, kKeys, text));
  writer.note_written(text.size(), true, file.text.size());
  return {};
}

}  // namespace

Result<std::vector<stores::KvEntry>> KeyValue::read() {
  VARVE_TRY(check_has(core_, kKeys));
  VARVE_TRY_ASSIGN(KvFile file, read_file(core_));
  stores::evict(file.contents.entries, cap_of(core_, kKeys));
  return std::move(file.contents.entries);
}

Status KeyValue::set(std::string_view key, std::string_view value) {
  VARVE_TRY(check_has(core_, kKeys));
  VARVE_TRY(check_key(key));
  VARVE_TRY(check_length(core_, "value", value.size()));
  return writer_.run("kv set", [&]() -> Status {
    VARVE_TRY_ASSIGN(KvFile file, read_to_replace(core_));
    auto& entries = file.contents.entries;
    stores::set_key(entries, {std::string(key), std::string(value), now_in_seconds(core_)});
    stores::evict(entries, cap_of(core_, kKeys));
    return replace_file(core_, writer_, file);
  });
}

Result<std::string> KeyValue::get(std::string_view key) {
  VARVE_TRY(check_has(core_, kKeys));
  VARVE_TRY(check_key(key));
  VARVE_TRY_ASSIGN(const auto entries, read());
  if (const stores::KvEntry* found = stores::find_key(entries, key)) return found->value;
  if (key == kWorkingMemory) return std::string();
  return no_key(key);
}

Status KeyValue::remove(std::string_view key) {
  VARVE_TRY(check_has(core_, kKeys));
  VARVE_TRY(check_key(key));
  return writer_.run("kv delete", [&]() -> Status {
    VARVE_TRY_ASSIGN(KvFile file, read_to_replace(core_));
    auto& entries = file.contents.entries;
    stores::evict(entries, cap_of(core_, kKeys));
    if (!stores::erase_key(entries, key)) return no_key(key);
    return replace_file(core_, writer_, file);
  });
}

Result<json::Tree> KeyValue::list() {
  VARVE_TRY_ASSIGN(const auto entries, read());
  json::Tree list = json::Tree::array();
  for (const stores::KvEntry& entry : entries) {
    json::Tree item = json::Tree::object();
    item.set("key", json::Tree::string(entry.key));
    item.set("value", json::Tree::string(entry.value));
    item.set("ts", json::Tree::string(entry.timestamp));
    list.push(std::move(item));
  }
  return list;
}

Status tidy_kv(Core& core, Remains remains) {
  VARVE_TRY_ASSIGN(KvFile file, read_to_replace(core));
  const uint64_t cap = cap_of(core, kKeys);
  auto& entries = file.contents.entries;
  const bool fits = entries.size() <= cap;
  stores::evict(entries, cap);
  const std::string text = stores::format_kv(cap, entries);
  const bool drops = remains == Remains::kDropped;
  // An edited file may hold what nobody is shown: earlier values of a key, other members.
  const bool is_tidy = file.contents.damage.empty() && fits && (!drops || text == file.text);
  if (!file.exists || is_tidy) return {};
  if (!drops) VARVE_TRY(set_damage_aside(core, file));
  return put_file(core, kKeys, text);
}

}  // namespace varve::session
