// One open directory; everything below it is reached by single names.
#pragma once

#include <memory>
#include <string>

#include "io/file_system.h"
#include "io/posix_descriptor.h"
#include "io/posix_root_name.h"

namespace varve::io {

class PosixDirectory final : public Directory {
 public:
  // `path` is for messages only. `root_name`: the name of the root that this is, or is below;
  // synced before the first sync() of any of these directories answers. Null: needs no sync.
  // `gives_to_owner`: what root makes in it is given to its owner.
  PosixDirectory(Descriptor descriptor, std::string path, std::shared_ptr<RootName> root_name,
                 bool gives_to_owner);

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode,
                                     uint32_t permissions) override;
  Result<FileInfo> info(std::string_view name) override;
  Result<std::optional<FileInfo>> find(std::string_view name) override;
  Status rename(std::string_view from, std::string_view to) override;
  // `target` must come from a PosixFileSystem too. Without RENAME_NOREPLACE in the kernel or the
  // file system, the target name is looked up before the rename: then only the caller's lock keeps
  // others from taking the name in between.
  Status move_to(std::string_view from, Directory& target, std::string_view to) override;
  Status exchange(std::string_view name, Directory& other, std::string_view other_name) override;
  Status remove(std::string_view name) override;
  Status make_directory(std::string_view name, uint32_t permissions) override;
  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override;
  Status remove_directory(std::string_view name) override;
  Result<std::vector<DirectoryItem>> list() override;
  Status sync() override;
  Result<uint64_t> free_bytes() override;
  Result<FileInfo> self_info() override;
  [[nodiscard]] std::string path_of(std::string_view name) const override;

 private:
  Result<Descriptor> open_or_create(const std::string& name, OpenMode mode, uint32_t permissions);
  Result<Descriptor> require_regular(Descriptor descriptor, const std::string& name);
  Result<Descriptor> finish_creation(Descriptor descriptor, const std::string& name,
                                     uint32_t permissions);
  Status open_failure(int os_errno, const std::string& name, OpenMode mode);
  Status examine_failure(int os_errno, std::string_view name) const;
  Status list_failure(int os_errno) const;
  Status directory_failure(int os_errno, const std::string& name);
  int rename_without_replacing(const std::string& from, int target, const std::string& to);
  void give_to_owner(int made) const noexcept;
  void give_directory_to_owner(const std::string& name) const noexcept;

  const Descriptor descriptor_;
  const std::string path_;
  const std::shared_ptr<RootName> root_name_;
  const bool gives_to_owner_;
  const bool has_stamps_;  // whether its files have stamps (posix_change_stamp.h)
};

// mkdirat with exactly `permissions`, whatever the umask; a set-group-ID bit inherited from
// `parent` is kept. Returns 0 or the errno.
int make_directory_at(int parent, const std::string& name, uint32_t permissions) noexcept;

}  // namespace varve::io
