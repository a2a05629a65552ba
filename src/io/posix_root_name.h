// The name of a store's root in the directory above it, which a crash may have kept from being
// durable. It is synced with the first sync of anything below the root, not by mere readers.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/posix_descriptor.h"

namespace varve::io {

// fsync of a directory that is open only as a place (O_PATH). Returns 0 or the errno.
int sync_directory(int directory) noexcept;

// Any thread.
class RootName {
 public:
  // `above`: the directory that has the name. `path` is for messages.
  RootName(Descriptor above, std::string path) : above_(std::move(above)), path_(std::move(path)) {}

  // Syncs once. If the sync fails, that stays the answer: no later sync of the same directory could
  // be believed. A failure to open the directory does not stay.
  Status sync();

 private:
  std::mutex mutex_;
  Descriptor above_;
  std::string path_;
  std::optional<Status> outcome_;
};

}  // namespace varve::io
