// The file system of a POSIX system (Linux: open file description locks, openat2, renameat2).
#pragma once

#include "io/file_system.h"

namespace varve::io {

// Stateless; any thread.
class PosixFileSystem final : public FileSystem {
 public:
  // `path` is the user's: symbolic links in it are followed, unlike anywhere below it. With
  // `create`, each missing level is made with 0700 and its name synced in the directory above. The
  // last existing name is synced too, because its maker may have been killed before doing so.
  Result<std::unique_ptr<Directory>> open_root(std::string_view path, bool create) override;
  Result<std::unique_ptr<File>> open_file(std::string_view path) override;

  [[nodiscard]] size_t open_files_max() const override;
  [[nodiscard]] int64_t process_id() const override;
  [[nodiscard]] std::string boot_id() const override;
  [[nodiscard]] bool may_run(int64_t process_id) const override;
};

}  // namespace varve::io
