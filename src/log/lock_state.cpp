#include "log/lock_state.h"

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/time.h"
#include "entry/entry.h"
#include "json/canonical.h"
#include "json/document.h"
#include "json/tree.h"

namespace varve::log {

namespace {

std::string identity_text(const io::FileIdentity& file) {
  return std::to_string(file.device) + ":" + std::to_string(file.inode);
}

std::optional<io::FileIdentity> parse_identity(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  io::FileIdentity file;
  const char* end = text.data() + text.size();
  const auto device = std::from_chars(text.data(), text.data() + colon, file.device);
  const auto inode = std::from_chars(text.data() + colon + 1, end, file.inode);
  if (device.ec != std::errc() || inode.ec != std::errc() || inode.ptr != end) return std::nullopt;
  return file;
}

std::string_view text_of(json::Value root, std::string_view name) {
  const auto member = root.find(name);
  return member && member->is_string() ? member->text() : std::string_view();
}

int64_t number_of(json::Value root, std::string_view name) {
  const auto member = root.find(name);
  return member ? member->as_int64().value_or(0) : 0;
}

// A higher one is not believed, and is as none: it would leave no numbers to new entries, and a
// session that counts a million of them a second comes to it in 142 years.
constexpr uint64_t kSeqBelievedMax = entry::kSeqMax / 2;

bool has_right_check(json::Value root) {
  json::Tree tree = json::Tree::from(root);
  const std::string check = tree.get_string("check");
  tree.erase("check");
  return check == std::to_string(hash64(tree.canonical()));
}

std::optional<LockState> read_state(json::Value root) {
  const auto file = parse_identity(text_of(root, "file"));
  if (!file) return std::nullopt;
  LockState state;
  state.process_id = number_of(root, "pid");
  state.boot_id = text_of(root, "boot_id");
  state.operation = text_of(root, "operation");
  state.timestamp_ms = parse_rfc3339(text_of(root, "timestamp")).value_or(0);
  state.expires_at_ms = parse_rfc3339(text_of(root, "expires_at")).value_or(0);
  state.file = *file;
  state.durable_bytes = static_cast<uint64_t>(number_of(root, "durable_bytes"));
  state.last_seq = static_cast<uint64_t>(number_of(root, "seq"));
  const auto suspect = root.find("suspect");
  state.suspect = suspect && suspect->kind() == json::Kind::kTrue;
  const int64_t catalogued_count = number_of(root, "catalogued");
  state.catalogued_count = static_cast<uint64_t>(std::max<int64_t>(0, catalogued_count));
  if (state.last_seq > entry::kSeqMax) return std::nullopt;
  return state;
}

}  // namespace

std::string encode_lock_state(const LockState& state) {
  // By hand, as it is written at every change of writers. Members in canonical order.
  std::string text = "{\"boot_id\":";
  json::append_string(state.boot_id, text);
  text += ',';
  if (state.catalogued_count > 0) {
    text.append("\"catalogued\":").append(std::to_string(state.catalogued_count)).append(1, ',');
  }
  const size_t check_at = text.size();
  text.append("\"durable_bytes\":").append(std::to_string(state.durable_bytes));
  text.append(",\"expires_at\":\"").append(format_rfc3339(state.expires_at_ms));
  text.append("\",\"file\":\"").append(identity_text(state.file)).append("\",\"operation\":");
  json::append_string(std::string_view(state.operation).substr(0, 32), text);
  text.append(",\"pid\":").append(std::to_string(state.process_id));
  text.append(",\"seq\":").append(std::to_string(state.last_seq));
  text.append(",\"suspect\":").append(state.suspect ? "true" : "false");
  text.append(",\"timestamp\":\"").append(format_rfc3339(state.timestamp_ms)).append("\"}");
  text.insert(check_at, "\"check\":\"" + std::to_string(hash64(text)) + "\",");
  text.resize(kLockStateBytes - 1, ' ');
  text.push_back('\n');
  return text;
}

std::optional<LockState> decode_lock_state(std::string_view bytes) {
  if (bytes.size() != kLockStateBytes) return std::nullopt;
  json::Document document;
  if (!document.parse(bytes).ok() || !document.root().is_object()) return std::nullopt;
  const json::Value root = document.root();
  auto state = read_state(root);
  if (!state) return std::nullopt;
  // Text exactly as we write it has a right check, without computing it again.
  if (encode_lock_state(*state) != bytes && !has_right_check(root)) return std::nullopt;
  if (state->last_seq > kSeqBelievedMax) state->last_seq = 0;
  return state;
}

std::optional<LockState> read_lock_state(io::File& lock_file) {
  std::string bytes(kLockStateBytes, '\0');
  const auto got = lock_file.read_at(0, bytes);
  return got.ok() && *got == kLockStateBytes ? decode_lock_state(bytes) : std::nullopt;
}

}  // namespace varve::log
