// What all implementations of the seam must answer alike: names, open modes, locks, refusals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_system.h"

namespace varve::io {

inline constexpr size_t kNameBytesMax = 255;  // NAME_MAX of every file system we know

// kInvalidArgument unless `name` is one path component of 1 to 255 bytes: not empty, ".", "..",
// without '/' and NUL.
Status check_name(std::string_view name);

// kInvalidArgument unless `path` can name a file or directory: not empty, without NUL. `what` is at
// the path, for the message.
Status check_path(std::string_view path, std::string_view what);

// A path without the slashes at its end, unless it is only slashes.
std::string without_end_slashes(std::string_view path);

// A path at its last slash; the directory of a bare name is ".".
struct SplitPath {
  std::string_view directory;
  std::string_view name;
};
SplitPath split_path(std::string_view path);

constexpr bool creates(OpenMode mode) noexcept {
  return mode == OpenMode::kAppendOrCreate || mode == OpenMode::kUpdateOrCreate ||
         mode == OpenMode::kCreateExclusive;
}
constexpr bool may_append(OpenMode mode) noexcept {
  return mode == OpenMode::kAppend || mode == OpenMode::kAppendOrCreate ||
         mode == OpenMode::kCreateExclusive;
}
constexpr bool may_update(OpenMode mode) noexcept { return mode == OpenMode::kUpdateOrCreate; }
constexpr bool may_write(OpenMode mode) noexcept { return mode != OpenMode::kRead; }

// kInvalidArgument: the handle was opened in a mode that does not allow `action`.
Status wrong_mode(std::string_view action, std::string_view path);

// kIo: `path` is `what_is_there` ("a symbolic link"), not a regular file or a directory.
Status not_a_file(int os_errno, std::string_view path, std::string_view what_is_there);
Status not_a_directory(int os_errno, std::string_view path, std::string_view what_is_there);

// Whether `failure` is not_a_file(): the next try fails as well, until somebody removes what is
// there.
bool is_not_a_file(const Status& failure) noexcept;
bool is_not_a_directory(const Status& failure) noexcept;  // the same of not_a_directory()

// Whether somebody's permissions keep it from being read: the next try fails as well, until they
// are changed.
bool is_kept_from_us(const Status& failure) noexcept;

// kReadOnly: `what` ("the session") could be opened for reading only.
Status no_permission_to_write(std::string_view what, std::string_view directory);

// The failure of an operation that only reads: a missing permission is kIo for it, since kReadOnly
// would say that writing is not permitted.
Status refused_reading(Status failure);

// What a refused lock means: false when somebody else holds it (EAGAIN, EACCES), kUnsupported where
// there are no such locks (ENOLCK, EINVAL, ENOSYS, ENOTSUP), otherwise the failure.
Result<bool> answer_of_refused_lock(int os_errno, std::string_view path);

// What a refused exchange of `from` and `to` means: kUnsupported where there is none (EINVAL,
// ENOSYS, EOPNOTSUPP), the failure otherwise.
Status answer_of_refused_exchange(int os_errno, std::string_view from, std::string_view to);

// kUnsupported where directories cannot be synced (EINVAL), the failure otherwise.
Status failure_of_directory_sync(int os_errno, std::string_view action, std::string_view path);

Status failure_of_move(int os_errno, std::string_view from, std::string_view to);

}  // namespace varve::io
