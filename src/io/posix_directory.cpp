#include "io/posix_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "io/posix_change_stamp.h"
#include "io/posix_file.h"
#include "io/posix_lock.h"
#include "io/rules.h"

namespace varve::io {
namespace {

constexpr unsigned kRenameNoReplace = 1;  // from <linux/fs.h>
constexpr unsigned kRenameExchange = 2;
constexpr uint32_t kPermissionBits = 0777;

int flags_of(OpenMode mode) noexcept {
  if (mode == OpenMode::kRead) return O_RDONLY;
  return may_update(mode) ? O_RDWR : O_RDWR | O_APPEND;
}

// File systems without permissions of their own (FAT) refuse to change them; the mount's
// permissions are then the only ones.
bool has_no_permissions(int os_errno) noexcept {
  return os_errno == EPERM || os_errno == ENOTSUP || os_errno == ENOSYS;
}

FileKind kind_of_entry(const dirent& entry) noexcept {
  if (entry.d_type == DT_REG) return FileKind::kRegular;
  return entry.d_type == DT_DIR ? FileKind::kDirectory : FileKind::kOther;
}

bool is_refused_permission(int os_errno) noexcept {
  return os_errno == EPERM || os_errno == EACCES;
}

// Some sandboxes answer so to calls that they do not know. The kernel has another answer for names
// that cannot be.
bool is_exchange_denied() noexcept {
  return ::syscall(SYS_renameat2, AT_FDCWD, "", AT_FDCWD, "", kRenameExchange) != 0 &&
         is_refused_permission(errno);
}

struct CloseDirectory {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

// Null on failure (errno says why).
DirectoryStream open_stream(int directory) noexcept {
  Descriptor own = open_again(directory);
  DirectoryStream stream(own.is_open() ? ::fdopendir(own.get()) : nullptr);
  if (stream) static_cast<void>(own.release());  // the stream closes it
  return stream;
}

// False also when it cannot be read.
bool is_empty(int directory) noexcept {
  const DirectoryStream stream = open_stream(directory);
  if (!stream) return false;
  int count = 0;
  errno = 0;
  while (count < 3 && ::readdir(stream.get()) != nullptr) ++count;
  return count == 2 && errno == 0;  // "." and ".."
}

}  // namespace

int make_directory_at(int parent, const std::string& name, uint32_t permissions) noexcept {
  const char* text = name.c_str();
  if (retry_interrupted([&] { return ::mkdirat(parent, text, permissions); }) != 0) return errno;
  struct stat made {};
  if (::fstatat(parent, text, &made, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if ((made.st_mode & kPermissionBits) == (permissions & kPermissionBits)) return 0;
  const mode_t mode = permissions | (made.st_mode & S_ISGID);
  if (::fchmodat(parent, text, mode, AT_SYMLINK_NOFOLLOW) == 0) return 0;
  if (has_no_permissions(errno)) {
    // The C library needs /proc for this. Without it: through a descriptor, if we may open one.
    const Descriptor made_directory = open_component(parent, name, O_RDONLY | O_DIRECTORY);
    if (made_directory.is_open()) {
      if (::fchmod(made_directory.get(), mode) == 0 || has_no_permissions(errno)) return 0;
    }
  }
  const int os_errno = errno;
  ::unlinkat(parent, text, AT_REMOVEDIR);
  return os_errno;
}

PosixDirectory::PosixDirectory(Descriptor descriptor, std::string path,
                               std::shared_ptr<RootName> root_name, bool gives_to_owner)
    : descriptor_(std::move(descriptor)),
      path_(std::move(path)),
      root_name_(std::move(root_name)),
      gives_to_owner_(gives_to_owner),
      has_stamps_(has_change_stamps_at(descriptor_.get())) {}

Result<std::unique_ptr<File>> PosixDirectory::open(std::string_view name, OpenMode mode,
                                                   uint32_t permissions) {
  VARVE_TRY(check_name(name));
  std::unique_lock<std::mutex> no_forks;
  if (may_update(mode)) no_forks = LockDescriptors::of_process().block_forks();
  VARVE_TRY_ASSIGN(Descriptor descriptor, open_or_create(std::string(name), mode, permissions));
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(std::move(descriptor), path_of(name), mode, has_stamps_));
}

// Creates exclusively, so that we know whether the file is ours to set permissions of.
Result<Descriptor> PosixDirectory::open_or_create(const std::string& name, OpenMode mode,
                                                  uint32_t permissions) {
  constexpr int kAttempts = 100;  // others may create and remove the name between our two calls
  const int flags = flags_of(mode);
  int os_errno = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (mode != OpenMode::kCreateExclusive) {
      Descriptor existing = open_component(descriptor_.get(), name, flags);
      if (existing.is_open()) return require_regular(std::move(existing), name);
      os_errno = errno;
      if (os_errno != ENOENT || !creates(mode)) return open_failure(os_errno, name, mode);
    }
    Descriptor created =
        open_component(descriptor_.get(), name, flags | O_CREAT | O_EXCL, permissions);
    if (created.is_open()) return finish_creation(std::move(created), name, permissions);
    os_errno = errno;
    if (os_errno != EEXIST || mode == OpenMode::kCreateExclusive) break;
  }
  return status_from_errno(os_errno, "create", path_of(name));
}

Result<Descriptor> PosixDirectory::require_regular(Descriptor descriptor, const std::string& name) {
  VARVE_TRY_ASSIGN(const struct stat status, stat_of(descriptor.get(), path_of(name)));
  if (S_ISREG(status.st_mode)) return descriptor;
  return not_a_file(S_ISDIR(status.st_mode) ? EISDIR : ENXIO, path_of(name),
                    describe_mode(status.st_mode));
}

Result<Descriptor> PosixDirectory::finish_creation(Descriptor descriptor, const std::string& name,
                                                   uint32_t permissions) {
  VARVE_TRY_ASSIGN(const struct stat status, stat_of(descriptor.get(), path_of(name)));
  give_to_owner(descriptor.get());
  if ((status.st_mode & 07777U) == permissions) return descriptor;
  if (retry_interrupted([&] { return ::fchmod(descriptor.get(), permissions); }) == 0 ||
      has_no_permissions(errno)) {
    return descriptor;
  }
  const int os_errno = errno;
  ::unlinkat(descriptor_.get(), name.c_str(), 0);
  return status_from_errno(os_errno, "set the permissions of", path_of(name));
}

// Says what is there, if that is why it cannot be opened.
Status PosixDirectory::open_failure(int os_errno, const std::string& name, OpenMode mode) {
  const std::string path = path_of(name);
  if (os_errno == ELOOP || os_errno == EISDIR || os_errno == ENXIO || os_errno == ENODEV) {
    struct stat status {};
    if (stat_of_name(descriptor_.get(), name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      return not_a_file(os_errno, path, describe_mode(status.st_mode));
    }
  }
  Status failure = status_from_errno(os_errno, "open", path);
  return may_write(mode) ? failure : refused_reading(std::move(failure));
}

Status PosixDirectory::directory_failure(int os_errno, const std::string& name) {
  const std::string path = path_of(name);
  if (os_errno == ELOOP || os_errno == ENOTDIR) {
    struct stat status {};
    if (stat_of_name(descriptor_.get(), name.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      return not_a_directory(os_errno, path, describe_mode(status.st_mode));
    }
  }
  return refused_reading(status_from_errno(os_errno, "open", path));
}

Status PosixDirectory::examine_failure(int os_errno, std::string_view name) const {
  return refused_reading(status_from_errno(os_errno, "examine", path_of(name)));
}

Status PosixDirectory::list_failure(int os_errno) const {
  return refused_reading(status_from_errno(os_errno, "list", path_));
}

Result<FileInfo> PosixDirectory::info(std::string_view name) {
  VARVE_TRY_ASSIGN(const auto found, find(name));
  return found ? Result<FileInfo>(*found) : examine_failure(ENOENT, name);
}

Result<std::optional<FileInfo>> PosixDirectory::find(std::string_view name) {
  VARVE_TRY(check_name(name));
  std::array<char, kNameBytesMax + 1> text;  // a name and its NUL, without an allocation
  *std::copy(name.begin(), name.end(), text.begin()) = '\0';
  struct stat status {};
  const int os_errno = stat_of_name(descriptor_.get(), text.data(), &status);
  if (os_errno == ENOENT) return std::optional<FileInfo>();
  if (os_errno != 0) return examine_failure(os_errno, name);
  FileInfo info = info_of(status);
  if (has_stamps_) info.change_stamp = change_stamp_of(status);
  return std::optional<FileInfo>(info);
}

Status PosixDirectory::rename(std::string_view from, std::string_view to) {
  VARVE_TRY(check_name(from));
  VARVE_TRY(check_name(to));
  const std::string old_name(from);
  const std::string new_name(to);
  const int answer = retry_interrupted([&] {
    return ::renameat(descriptor_.get(), old_name.c_str(), descriptor_.get(), new_name.c_str());
  });
  if (answer == 0) return {};
  return status_from_errno(errno, "rename '" + path_of(from) + "' to", path_of(to));
}

// Returns 0 or the errno; EEXIST when the name is taken.
int PosixDirectory::rename_without_replacing(const std::string& from, int target,
                                             const std::string& to) {
  const auto answer = retry_interrupted([&] {
    return ::syscall(SYS_renameat2, descriptor_.get(), from.c_str(), target, to.c_str(),
                     kRenameNoReplace);
  });
  if (answer == 0) return 0;
  // The kernel, file system or sandbox lacks it; a real refusal comes back below.
  const bool is_lacking = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  if (!is_lacking && !is_refused_permission(errno)) return errno;
  struct stat taken {};
  if (::fstatat(target, to.c_str(), &taken, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  if (errno != ENOENT) return errno;
  const int plain = retry_interrupted(
      [&] { return ::renameat(descriptor_.get(), from.c_str(), target, to.c_str()); });
  return plain == 0 ? 0 : errno;
}

Status PosixDirectory::move_to(std::string_view from, Directory& target, std::string_view to) {
  VARVE_TRY(check_name(from));
  VARVE_TRY(check_name(to));
  const auto& other = static_cast<const PosixDirectory&>(target);
  const int os_errno =
      rename_without_replacing(std::string(from), other.descriptor_.get(), std::string(to));
  if (os_errno == 0) return {};
  return failure_of_move(os_errno, path_of(from), other.path_of(to));
}

Status PosixDirectory::exchange(std::string_view name, Directory& other,
                                std::string_view other_name) {
  VARVE_TRY(check_name(name));
  VARVE_TRY(check_name(other_name));
  const auto& target = static_cast<const PosixDirectory&>(other);
  const std::string here(name);
  const std::string there(other_name);
  const auto answer = retry_interrupted([&] {
    return ::syscall(SYS_renameat2, descriptor_.get(), here.c_str(), target.descriptor_.get(),
                     there.c_str(), kRenameExchange);
  });
  if (answer == 0) return {};
  int os_errno = errno;
  if (is_refused_permission(os_errno) && is_exchange_denied()) os_errno = ENOSYS;
  return answer_of_refused_exchange(os_errno, path_of(name), target.path_of(other_name));
}

Status PosixDirectory::remove(std::string_view name) {
  VARVE_TRY(check_name(name));
  const std::string text(name);
  const int answer =
      retry_interrupted([&] { return ::unlinkat(descriptor_.get(), text.c_str(), 0); });
  return answer == 0 ? Status() : status_from_errno(errno, "remove", path_of(name));
}

Status PosixDirectory::make_directory(std::string_view name, uint32_t permissions) {
  VARVE_TRY(check_name(name));
  const std::string text(name);
  const int os_errno = make_directory_at(descriptor_.get(), text, permissions);
  if (os_errno != 0) return status_from_errno(os_errno, "make the directory", path_of(name));
  give_directory_to_owner(text);
  return {};
}

// What root makes when it tidies up or restores must not lock out whose store it is. Where that is
// refused, it stays root's.
void PosixDirectory::give_to_owner(int made) const noexcept {
  if (!gives_to_owner_ || ::geteuid() != 0) return;
  struct stat own {};
  if (::fstat(descriptor_.get(), &own) != 0 || own.st_uid == 0) return;
  (void)retry_interrupted([&] { return ::fchown(made, own.st_uid, own.st_gid); });
}

// Whose directory this is may have put another in the place of the one that was made. One of root's
// with something in it is not given away.
void PosixDirectory::give_directory_to_owner(const std::string& name) const noexcept {
  if (!gives_to_owner_ || ::geteuid() != 0) return;
  const Descriptor made = open_component(descriptor_.get(), name, O_RDONLY | O_DIRECTORY);
  if (made.is_open() && is_empty(made.get())) give_to_owner(made.get());
}

Result<std::unique_ptr<Directory>> PosixDirectory::open_directory(std::string_view name) {
  VARVE_TRY(check_name(name));
  const std::string text(name);
  Descriptor opened = open_component(descriptor_.get(), text, O_RDONLY | O_DIRECTORY);
  if (!opened.is_open()) return directory_failure(errno, text);
  return std::unique_ptr<Directory>(
      std::make_unique<PosixDirectory>(std::move(opened), path_of(name), root_name_, true));
}

Status PosixDirectory::remove_directory(std::string_view name) {
  VARVE_TRY(check_name(name));
  const std::string text(name);
  const int answer =
      retry_interrupted([&] { return ::unlinkat(descriptor_.get(), text.c_str(), AT_REMOVEDIR); });
  return answer == 0 ? Status() : status_from_errno(errno, "remove the directory", path_of(name));
}

Result<std::vector<DirectoryItem>> PosixDirectory::list() {
  const DirectoryStream stream = open_stream(descriptor_.get());
  if (!stream) return list_failure(errno);
  std::vector<DirectoryItem> items;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    FileKind kind = kind_of_entry(*entry);
    if (entry->d_type == DT_UNKNOWN) {
      const Result<FileInfo> found = info(name);
      if (found.code() == Code::kNotFound) continue;  // removed meanwhile
      if (!found.ok()) return found.status();
      kind = found->kind;
    }
    items.push_back({std::string(name), kind});
  }
  if (errno != 0) return list_failure(errno);
  return items;
}

Status PosixDirectory::sync() {
  if (root_name_) VARVE_TRY(root_name_->sync());
  const int answer = retry_interrupted([&] { return ::fsync(descriptor_.get()); });
  return answer == 0 ? Status() : failure_of_directory_sync(errno, "sync the directory", path_);
}

Result<uint64_t> PosixDirectory::free_bytes() {
  struct statvfs status {};
  if (retry_interrupted([&] { return ::fstatvfs(descriptor_.get(), &status); }) != 0) {
    return status_from_errno(errno, "ask for the free space of", path_);
  }
  return uint64_t{status.f_bavail} * uint64_t{status.f_frsize};
}

Result<FileInfo> PosixDirectory::self_info() {
  VARVE_TRY_ASSIGN(const struct stat status, stat_of(descriptor_.get(), path_));
  return info_of(status);
}

std::string PosixDirectory::path_of(std::string_view name) const {
  const std::string_view separator = path_.ends_with('/') ? "" : "/";
  return path_ + std::string(separator) + std::string(name);
}

}  // namespace varve::io
