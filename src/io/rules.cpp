#include "io/rules.h"

#include <cerrno>
#include <string>
#include <utility>

namespace varve::io {
namespace {

std::string printable(std::string_view name) {
  std::string text(name.substr(0, 64));
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = '?';
  }
  if (name.size() > text.size()) text += "...";
  return text;
}

Status refusal(Code code, int os_errno, std::string_view path, std::string message) {
  return Status(code, std::move(message), {.path = std::string(path), .os_errno = os_errno});
}

std::string quoted(std::string_view path) { return "'" + std::string(path) + "'"; }

// The system's words for EXDEV help nobody whose directories all seem to be in one place.
Status explained(Status failure) {
  if (failure.place().os_errno != EXDEV) return failure;
  return Status(failure.code(),
                failure.message() +
                    "; a directory on another file system, or in a layer of a container's image, "
                    "cannot be moved: copy the whole store to one place, such as a volume",
                failure.place());
}

}  // namespace

Status check_name(std::string_view name) {
  const bool is_component =
      !name.empty() && name != "." && name != ".." && name.size() <= kNameBytesMax &&
      name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
  if (is_component) return {};
  return refusal(Code::kInvalidArgument, EINVAL, {},
                 "'" + printable(name) +
                     "' cannot be a file name: it must be one path component of 1 to 255 bytes, "
                     "without '/' or NUL, and not '.' or '..'");
}

Status check_path(std::string_view path, std::string_view what) {
  if (!path.empty() && path.find('\0') == std::string_view::npos) return {};
  return refusal(Code::kInvalidArgument, EINVAL, {},
                 "the path of " + std::string(what) + " must not be empty or contain NUL");
}

std::string without_end_slashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path);
}

SplitPath split_path(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Status wrong_mode(std::string_view action, std::string_view path) {
  return refusal(
      Code::kInvalidArgument, EBADF, path,
      "cannot " + std::string(action) + " " + quoted(path) + ": the file was not opened for that");
}

Status not_a_file(int os_errno, std::string_view path, std::string_view what_is_there) {
  return refusal(Code::kIo, os_errno, path,
                 "cannot open " + quoted(path) + ": it is " + std::string(what_is_there) +
                     ", not a regular file");
}

Status not_a_directory(int os_errno, std::string_view path, std::string_view what_is_there) {
  return refusal(Code::kIo, os_errno, path,
                 "cannot open " + quoted(path) + ": it is " + std::string(what_is_there) +
                     ", not a directory");
}

bool is_not_a_file(const Status& failure) noexcept {
  const int os_errno = failure.place().os_errno;
  return failure.code() == Code::kIo &&
         (os_errno == EISDIR || os_errno == ENXIO || os_errno == ELOOP || os_errno == ENODEV);
}

bool is_not_a_directory(const Status& failure) noexcept {
  const int os_errno = failure.place().os_errno;
  return failure.code() == Code::kIo && (os_errno == ENOTDIR || os_errno == ELOOP);
}

bool is_kept_from_us(const Status& failure) noexcept { return failure.place().os_errno == EACCES; }

Status no_permission_to_write(std::string_view what, std::string_view directory) {
  return refusal(Code::kReadOnly, 0, directory,
                 std::string(what) + " is open for reading: no permission to write in " +
                     quoted(without_end_slashes(directory)));
}

Status refused_reading(Status failure) {
  if (failure.code() != Code::kReadOnly) return failure;
  return Status(Code::kIo, failure.message(), failure.place());
}

Result<bool> answer_of_refused_lock(int os_errno, std::string_view path) {
  switch (os_errno) {
    case EAGAIN:
    case EACCES: return false;
    case ENOLCK:
    case EINVAL:
    case ENOSYS:
    case ENOTSUP:
      return refusal(Code::kUnsupported, os_errno, path,
                     status_from_errno(os_errno, "lock", path).message() +
                         "; this file system has no locks between processes: put the store on a "
                         "local one");
    default: return status_from_errno(os_errno, "lock", path);
  }
}

Status answer_of_refused_exchange(int os_errno, std::string_view from, std::string_view to) {
  if (os_errno == EINVAL || os_errno == ENOSYS || os_errno == EOPNOTSUPP) {
    return refusal(
        Code::kUnsupported, os_errno, to,
        "this file system, or the sandbox of this process, cannot swap two directories in one "
        "step");
  }
  return explained(status_from_errno(os_errno, "swap " + quoted(from) + " with", to));
}

Status failure_of_directory_sync(int os_errno, std::string_view action, std::string_view path) {
  Status failure = status_from_errno(os_errno, action, path);
  if (os_errno != EINVAL) return failure;
  return Status(Code::kUnsupported,
                failure.message() +
                    "; this file system cannot make names of files durable: put the store on "
                    "another one",
                failure.place());
}

Status failure_of_move(int os_errno, std::string_view from, std::string_view to) {
  return explained(status_from_errno(os_errno, "move " + quoted(from) + " to", to));
}

}  // namespace varve::io
