#include "log/lock_state.h"

#include <charconv>

#include "base/hash.h"
#include "base/time.h"
#include "entry/entry.h"
#include "json/tree.h"

namespace varve::log {

namespace {

std::string check_of(const json::Tree& state) { return std::to_string(hash64(state.canonical())); }

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

}  // namespace

std::string encode_lock_state(const LockState& state) {
  json::Tree tree = json::Tree::object();
  tree.set("pid", json::Tree::integer(state.process_id));
  tree.set("boot_id", json::Tree::string(state.boot_id));
  tree.set("operation", json::Tree::string(std::string_view(state.operation).substr(0, 32)));
  tree.set("timestamp", json::Tree::string(format_rfc3339(state.timestamp_ms)));
  tree.set("expires_at", json::Tree::string(format_rfc3339(state.expires_at_ms)));
  tree.set("file", json::Tree::string(identity_text(state.file)));
  tree.set("durable_bytes", json::Tree::integer_unsigned(state.durable_bytes));
  tree.set("seq", json::Tree::integer_unsigned(state.last_seq));
  tree.set("suspect", json::Tree::boolean(state.suspect));
  const std::string check = check_of(tree);
  tree.set("check", json::Tree::string(check));
  std::string text = tree.canonical();
  text.resize(kLockStateBytes - 1, ' ');
  text.push_back('\n');
  return text;
}

std::optional<LockState> decode_lock_state(std::string_view bytes) {
  if (bytes.size() != kLockStateBytes) return std::nullopt;
  auto parsed = json::Tree::parse(bytes);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  const std::string check = parsed->get_string("check");
  parsed->erase("check");
  if (check.empty() || check != check_of(*parsed)) return std::nullopt;
  const auto file = parse_identity(parsed->get_string("file"));
  if (!file) return std::nullopt;
  LockState state;
  state.process_id = parsed->get_int64("pid");
  state.boot_id = parsed->get_string("boot_id");
  state.operation = parsed->get_string("operation");
  state.timestamp_ms = parse_rfc3339(parsed->get_string("timestamp")).value_or(0);
  state.expires_at_ms = parse_rfc3339(parsed->get_string("expires_at")).value_or(0);
  state.file = *file;
  state.durable_bytes = static_cast<uint64_t>(parsed->get_int64("durable_bytes"));
  state.last_seq = static_cast<uint64_t>(parsed->get_int64("seq"));
  state.suspect = parsed->get_bool("suspect");
  if (state.last_seq > entry::kSeqMax) return std::nullopt;
  return state;
}

}  // namespace varve::log
