// backup.json: marks a directory as one for backups, and tells how far the copy of each session
// goes (docs/format.md#backup.json).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"

namespace varve::store {

inline constexpr std::string_view kManifestFile = "backup.json";
inline constexpr int64_t kManifestVersion = 1;

// A stream as the copy holds it: its length, and SessionSource::check of it.
struct CopiedStream {
  uint64_t bytes = 0;
  uint64_t check = 0;
  friend bool operator==(const CopiedStream&, const CopiedStream&) = default;
};

struct CopiedSession {
  uint64_t generation = 0;  // of the source's metadata.json
  CopiedStream entries;
  CopiedStream tombstones;
};

struct BackupManifest {
  std::string created_at;
  std::map<std::string, CopiedSession, std::less<>> sessions;

  // Reads backup.json in `root`; kNotFound. A damaged one says nothing of the sessions, so all are
  // copied whole. kFormatVersion for a newer version.
  static Result<BackupManifest> read(io::Directory& root);
  // Replaces it, durably.
  Status write(io::Directory& root, Random& random, int64_t now_ms) const;
};

}  // namespace varve::store
