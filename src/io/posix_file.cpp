#include "io/posix_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "io/posix_change_stamp.h"
#include "io/posix_lock.h"
#include "io/rules.h"

namespace varve::io {
namespace {

// False when `offset` plus `size` is more than the kernel can address.
bool fits_offset(uint64_t offset, size_t size) noexcept {
  constexpr auto kMaxOffset = static_cast<uint64_t>(std::numeric_limits<off_t>::max());
  return offset <= kMaxOffset && size <= kMaxOffset - offset;
}

// Calls `write_part(rest, done)` until all of `data` is written. A write of no bytes is an error,
// because calling again would never end.
template <typename WritePart>
Status write_all(std::string_view data, std::string_view path, WritePart write_part) {
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = retry_interrupted([&] { return write_part(data.substr(done), done); });
    if (count < 0) return status_from_errno(errno, "write", path);
    if (count == 0) return status_from_errno(EIO, "write", path);
    done += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

PosixFile::PosixFile(Descriptor descriptor, std::string path, OpenMode mode, bool has_stamps)
    : descriptor_(std::move(descriptor)),
      path_(std::move(path)),
      mode_(mode),
      has_stamps_(has_stamps) {
  if (may_update(mode_)) LockDescriptors::of_process().add(descriptor_);
}

PosixFile::~PosixFile() {
  if (may_update(mode_)) LockDescriptors::of_process().close(descriptor_);
}

Result<size_t> PosixFile::read_at(uint64_t offset, std::span<char> out) {
  if (!fits_offset(offset, out.size())) return status_from_errno(EOVERFLOW, "read", path_);
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = retry_interrupted([&] {
      return ::pread(descriptor_.get(), out.data() + done, out.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (count < 0) return status_from_errno(errno, "read", path_);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Status PosixFile::append(std::string_view data) {
  if (!may_append(mode_)) return wrong_mode("append to", path_);
  return write_all(data, path_, [this](std::string_view rest, size_t) {
    return ::write(descriptor_.get(), rest.data(), rest.size());
  });
}

Status PosixFile::write_at(uint64_t offset, std::string_view data) {
  if (!may_update(mode_)) return wrong_mode("overwrite", path_);
  if (!fits_offset(offset, data.size())) return status_from_errno(EFBIG, "write", path_);
  return write_all(data, path_, [this, offset](std::string_view rest, size_t done) {
    return ::pwrite(descriptor_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
  });
}

Status PosixFile::truncate(uint64_t size_bytes) {
  if (!may_write(mode_)) return wrong_mode("truncate", path_);
  if (!fits_offset(size_bytes, 0)) return status_from_errno(EFBIG, "truncate", path_);
  const int answer = retry_interrupted(
      [&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size_bytes)); });
  return answer == 0 ? Status() : status_from_errno(errno, "truncate", path_);
}

// Any failure here happens again in sync_data(), which reports it.
void PosixFile::start_sync() noexcept {
#ifdef __linux__
  (void)::sync_file_range(descriptor_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
}

Status PosixFile::sync_data() {
  const int answer = retry_interrupted([&] { return ::fdatasync(descriptor_.get()); });
  return answer == 0 ? Status() : status_from_errno(errno, "sync", path_);
}

Result<FileInfo> PosixFile::info() {
  VARVE_TRY_ASSIGN(const struct stat status, stat_of(descriptor_.get(), path_));
  FileInfo info = info_of(status);
  if (has_stamps_) info.change_stamp = change_stamp_of(status);
  return info;
}

// Nobody uses the offset of the descriptor: reads have their own, and appends move it to the end.
// Moving it costs a third of fstat.
Result<uint64_t> PosixFile::seek(int whence) {
  const off_t offset = ::lseek(descriptor_.get(), 0, whence);
  if (offset < 0) return status_from_errno(errno, "get the length of", path_);
  return static_cast<uint64_t>(offset);
}

Result<uint64_t> PosixFile::size_bytes() { return seek(SEEK_END); }
Result<uint64_t> PosixFile::append_end() { return seek(SEEK_CUR); }

Result<bool> PosixFile::try_lock() {
  if (!may_update(mode_)) return wrong_mode("lock", path_);
  return try_lock_descriptor(descriptor_.get(), path_);
}

Status PosixFile::unlock() {
  if (!may_update(mode_)) return wrong_mode("unlock", path_);
  return unlock_descriptor(descriptor_.get(), path_);
}

Result<bool> PosixFile::is_locked() { return is_descriptor_locked(descriptor_.get(), path_); }

void PosixFile::tell_waiting(bool is_waiting) noexcept {
  tell_descriptor_waits(descriptor_.get(), is_waiting);
}

bool PosixFile::is_another_waiting() noexcept {
  return does_another_descriptor_wait(descriptor_.get());
}

}  // namespace varve::io
