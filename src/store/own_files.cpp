#include "store/own_files.h"

#include <string>

#include "io/rules.h"

namespace varve::store {

namespace {

constexpr int kParentsMax = 64;

}  // namespace

bool is_inside(io::FileSystem& files, log::Engine& engine, std::string_view path) {
  const auto is_store = [&](const std::string& at, bool* exists) {
    const auto directory = files.open_root(at, false);
    *exists = directory.ok();
    return directory.ok() && engine.is_kept_in(**directory);
  };
  // First by name: `path` and the directories above it, since `path` need not exist yet.
  std::string named(path);
  std::string existing;
  for (bool exists = false;;) {
    if (is_store(named, &exists)) return true;
    if (exists && existing.empty()) existing = named;
    const size_t slash = named.find_last_of('/');
    if (slash == std::string::npos || slash == 0) break;
    // What stands before an existing ".." is below it, not above.
    if (exists && named.compare(slash + 1, std::string::npos, "..") == 0) break;
    named.resize(slash);
  }
  // Then by what the directories really are, behind links.
  const std::string root = path.starts_with('/') ? "/" : ".";
  std::string above = existing.empty() ? root : existing;
  for (int i = 0; i < kParentsMax; ++i) {
    bool exists = false;
    if (is_store(above, &exists)) return true;
    if (!exists) break;
    above += "/..";
  }
  return false;
}

bool is_own_file(io::FileSystem& files, log::Engine& engine, std::string_view path) {
  const auto [above, name] = io::split_path(path);
  const auto directory = files.open_root(above, false);
  if (directory.ok() && engine.is_kept_in(**directory)) return name == "config.json";
  return is_inside(files, engine, above);
}

}  // namespace varve::store
