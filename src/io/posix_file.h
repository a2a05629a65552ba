// One open regular file.
#pragma once

#include <string>

#include "io/file_system.h"
#include "io/posix_descriptor.h"

namespace varve::io {

class PosixFile final : public File {
 public:
  // For kUpdateOrCreate, and only for such files, which may be locked: the caller holds
  // LockDescriptors::block_forks() from before it opened `descriptor`.
  // `has_stamps`: its file system has change stamps (posix_change_stamp.h).
  PosixFile(Descriptor descriptor, std::string path, OpenMode mode, bool has_stamps);
  ~PosixFile() override;
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override;
  Status append(std::string_view data) override;
  Status write_at(uint64_t offset, std::string_view data) override;
  Status truncate(uint64_t size_bytes) override;
  void start_sync() noexcept override;
  Status sync_data() override;
  Result<FileInfo> info() override;
  Result<uint64_t> size_bytes() override;
  Result<uint64_t> append_end() override;
  Result<bool> try_lock() override;
  Status unlock() override;
  Result<bool> is_locked() override;
  void tell_waiting(bool is_waiting) noexcept override;
  [[nodiscard]] bool is_another_waiting() noexcept override;

 private:
  Result<uint64_t> seek(int whence);

  Descriptor descriptor_;
  const std::string path_;
  const OpenMode mode_;
  const bool has_stamps_;
};

}  // namespace varve::io
