#include "store/backup_manifest.h"

#include <charconv>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "base/time.h"
#include "base/version.h"
#include "json/tree.h"
#include "log/atomic_file.h"

namespace varve::store {

namespace {

constexpr uint64_t kManifestBytesMax = uint64_t{1} << 30;

std::string checksum_of(const json::Tree& tree) {
  return "sha256:" + to_hex(sha256(tree.canonical()));
}

uint64_t number_of(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

json::Tree tree_of(const std::string& id, const CopiedSession& session) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(id));
  tree.set("generation", json::Tree::integer_unsigned(session.generation));
  tree.set("memory_bytes", json::Tree::integer_unsigned(session.entries.bytes));
  tree.set("memory_check", json::Tree::string(std::to_string(session.entries.check)));
  tree.set("tombstones_bytes", json::Tree::integer_unsigned(session.tombstones.bytes));
  tree.set("tombstones_check", json::Tree::string(std::to_string(session.tombstones.check)));
  return tree;
}

CopiedSession session_of(const json::Tree& tree) {
  CopiedSession session;
  session.generation = tree.get_count("generation");
  session.entries = {tree.get_count("memory_bytes"), number_of(tree.get_string("memory_check"))};
  session.tombstones = {tree.get_count("tombstones_bytes"),
                        number_of(tree.get_string("tombstones_check"))};
  return session;
}

}  // namespace

Result<BackupManifest> BackupManifest::read(io::Directory& root) {
  VARVE_TRY_ASSIGN(const std::string text, log::read_file(root, kManifestFile, kManifestBytesMax));
  BackupManifest manifest;
  auto parsed = json::Tree::parse(text);
  if (!parsed.ok() || !parsed->is_object()) return manifest;
  const int64_t version = parsed->get_int64("version");
  if (version > kManifestVersion) {
    return Status(Code::kFormatVersion,
                  root.path_of(kManifestFile) + " is of version " + std::to_string(version) +
                      "; this library knows up to " + std::to_string(kManifestVersion) +
                      ": use a newer varve")
        .in_file(root.path_of(kManifestFile));
  }
  const std::string checksum = parsed->get_string("checksum");
  parsed->erase("checksum");
  if (checksum != checksum_of(*parsed)) return manifest;
  manifest.created_at = parsed->get_string("created_at");
  const json::Tree* sessions = parsed->get("sessions");
  if (sessions == nullptr) return manifest;
  for (const json::Tree& session : sessions->items()) {
    manifest.sessions[session.get_string("session_id")] = session_of(session);
  }
  return manifest;
}

Status BackupManifest::write(io::Directory& root, Random& random, int64_t now_ms) const {
  const std::string now = format_rfc3339(now_ms);
  json::Tree tree = json::Tree::object();
  tree.set("version", json::Tree::integer(kManifestVersion));
  tree.set("varve_version", json::Tree::string(version_text()));
  tree.set("created_at", json::Tree::string(created_at.empty() ? now : created_at));
  tree.set("updated_at", json::Tree::string(now));
  json::Tree copied = json::Tree::array();
  for (const auto& [id, session] : sessions) copied.push(tree_of(id, session));
  tree.set("sessions", std::move(copied));
  tree.set("checksum", json::Tree::string(checksum_of(tree)));
  return log::replace_file(root, kManifestFile, random, {}, tree.pretty());
}

}  // namespace varve::store
