// The file system of a POSIX system (Linux: open file description locks, openat2, renameat2).
#pragma once

#include "io/file_system.h"

namespace varve::io {

// Stateless; any thread.
class PosixFileSystem final : public FileSystem {
 public:
  // `path` is the user's: symbolic links in it are followed, unlike everywhere below it. With
  // `create`, whatever is missing is made 0700 and its name is synced into the directory above;
  // the last existing name is synced too, for whoever made it may have been killed before that.
  Result<std::unique_ptr<Directory>> open_root(std::string_view path, bool create) override;
  Result<std::unique_ptr<File>> open_file(std::string_view path) override;

  [[nodiscard]] int64_t process_id() const override;
  [[nodiscard]] std::string boot_id() const override;
};

}  // namespace varve::io
