// The calls of the operating system that the library makes on files, as the linker's --wrap calls
// them: each asks whether it fails.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/failing_calls/judge.h"

namespace varve_test {
namespace {

// -1, or what the call itself answers.
template <typename Real>
auto answer(const Call& call, Real real) -> decltype(real()) {
  const int os_errno = verdict_of(call).os_errno;
  if (os_errno == 0) return real();
  errno = os_errno;
  return -1;
}

// Of a call that answers with a pointer.
template <typename Real>
auto answer_or_null(const Call& call, Real real) -> decltype(real()) {
  const int os_errno = verdict_of(call).os_errno;
  if (os_errno == 0) return real();
  errno = os_errno;
  return nullptr;
}

// Of a call that may do a part.
template <typename Real>
ssize_t transfer(const Call& call, Real real) {
  const Verdict verdict = verdict_of(call);
  if (verdict.os_errno == 0) return real(std::min(call.bytes, verdict.bytes));
  errno = verdict.os_errno;
  return -1;
}

CallKind kind_of_command(int command) {
  if (command == F_OFD_SETLK) return CallKind::kLock;
  return command == F_OFD_GETLK ? CallKind::kAskLock : CallKind::kOpen;
}

CallKind kind_of_flags(uint64_t flags) {
  if ((flags & O_CREAT) != 0) return CallKind::kCreate;
  return (flags & O_ACCMODE) == O_RDONLY ? CallKind::kOpen : CallKind::kOpenToWrite;
}

// `third` is the argument of that place: of openat2 an open_how, which begins with the flags.
CallKind kind_of_number(long number, long third) {
  if (number == SYS_openat2) {
    uint64_t flags = 0;
    std::memcpy(&flags, reinterpret_cast<const void*>(third), sizeof(flags));
    return kind_of_flags(flags);
  }
  return number == SYS_renameat2 ? CallKind::kRename : CallKind::kOther;
}

}  // namespace

const std::set<std::string>& wrapped_calls() {
  static const std::set<std::string> kCalls = {
      "open",     "openat",    "read",     "pread",           "write",     "pwrite",
      "close",    "ftruncate", "fsync",    "fdatasync",       "fstat",     "fstatat",
      "fstatvfs", "fcntl",     "renameat", "unlinkat",        "mkdirat",   "fdopendir",
      "readdir",  "fchmod",    "fchmodat", "sync_file_range", "getrandom", "syscall",
      "fstatfs",  "lseek",     "fchown",   "__open_2",        "__openat_2"};  // the last two: with
                                                                              // _FORTIFY_SOURCE
  return kCalls;
}

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
int __real_open(const char* name, int flags, ...);
int __real_openat(int directory, const char* name, int flags, ...);
int __real___open_2(const char* name, int flags);
int __real___openat_2(int directory, const char* name, int flags);
ssize_t __real_read(int descriptor, void* out, size_t bytes);
ssize_t __real_pread(int descriptor, void* out, size_t bytes, off_t offset);
ssize_t __real_write(int descriptor, const void* data, size_t bytes);
ssize_t __real_pwrite(int descriptor, const void* data, size_t bytes, off_t offset);
int __real_close(int descriptor);
int __real_ftruncate(int descriptor, off_t size);
int __real_fsync(int descriptor);
int __real_fdatasync(int descriptor);
int __real_sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags);
int __real_fstat(int descriptor, struct stat* out);
off_t __real_lseek(int descriptor, off_t offset, int whence);
int __real_fstatat(int directory, const char* name, struct stat* out, int flags);
int __real_fstatfs(int descriptor, struct statfs* out);
int __real_fstatvfs(int descriptor, struct statvfs* out);
int __real_fcntl(int descriptor, int command, ...);
int __real_renameat(int from_directory, const char* from, int to_directory, const char* to);
int __real_unlinkat(int directory, const char* name, int flags);
int __real_mkdirat(int directory, const char* name, mode_t mode);
DIR* __real_fdopendir(int descriptor);
struct dirent* __real_readdir(DIR* stream);
int __real_fchmod(int descriptor, mode_t mode);
int __real_fchown(int descriptor, uid_t user, gid_t group);
int __real_fchmodat(int directory, const char* name, mode_t mode, int flags);
ssize_t __real_getrandom(void* out, size_t bytes, unsigned flags);
long __real_syscall(long number, ...);
int __real_clock_gettime(clockid_t clock, struct timespec* time);

int __wrap_open(const char* name, int flags, mode_t mode) {
  return answer({kind_of_flags(static_cast<uint64_t>(flags)), "open", -1, name},
                [&] { return __real_open(name, flags, mode); });
}
int __wrap_openat(int directory, const char* name, int flags, mode_t mode) {
  return answer({CallKind::kOpen, "openat", directory, name},
                [&] { return __real_openat(directory, name, flags, mode); });
}
int __wrap___open_2(const char* name, int flags) {
  return answer({kind_of_flags(static_cast<uint64_t>(flags)), "open", -1, name},
                [&] { return __real___open_2(name, flags); });
}
int __wrap___openat_2(int directory, const char* name, int flags) {
  return answer({CallKind::kOpen, "openat", directory, name},
                [&] { return __real___openat_2(directory, name, flags); });
}

ssize_t __wrap_read(int descriptor, void* out, size_t bytes) {
  return transfer({CallKind::kRead, "read", descriptor, nullptr, bytes},
                  [&](size_t part) { return __real_read(descriptor, out, part); });
}
ssize_t __wrap_pread(int descriptor, void* out, size_t bytes, off_t offset) {
  return transfer({CallKind::kRead, "pread", descriptor, nullptr, bytes},
                  [&](size_t part) { return __real_pread(descriptor, out, part, offset); });
}
ssize_t __wrap_write(int descriptor, const void* data, size_t bytes) {
  return transfer({CallKind::kWrite, "write", descriptor, nullptr, bytes},
                  [&](size_t part) { return __real_write(descriptor, data, part); });
}
ssize_t __wrap_pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  return transfer({CallKind::kWrite, "pwrite", descriptor, nullptr, bytes},
                  [&](size_t part) { return __real_pwrite(descriptor, data, part, offset); });
}

int __wrap_close(int descriptor) {
  const int os_errno = verdict_of({CallKind::kClose, "close", descriptor}).os_errno;
  const int closed = __real_close(descriptor);
  if (os_errno == 0) return closed;
  errno = os_errno;
  return -1;
}
int __wrap_ftruncate(int descriptor, off_t size) {
  return answer({CallKind::kTruncate, "ftruncate", descriptor},
                [&] { return __real_ftruncate(descriptor, size); });
}
int __wrap_fsync(int descriptor) {
  return answer({CallKind::kSyncDirectory, "fsync", descriptor},
                [&] { return __real_fsync(descriptor); });
}
int __wrap_fdatasync(int descriptor) {
  return answer({CallKind::kSync, "fdatasync", descriptor},
                [&] { return __real_fdatasync(descriptor); });
}
int __wrap_sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags) {
  return answer({CallKind::kHint, "sync_file_range", descriptor},
                [&] { return __real_sync_file_range(descriptor, offset, bytes, flags); });
}

int __wrap_fstat(int descriptor, struct stat* out) {
  return answer({CallKind::kExamine, "fstat", descriptor},
                [&] { return __real_fstat(descriptor, out); });
}
off_t __wrap_lseek(int descriptor, off_t offset, int whence) {
  return answer({CallKind::kExamine, "lseek", descriptor},
                [&] { return __real_lseek(descriptor, offset, whence); });
}
int __wrap_fstatat(int directory, const char* name, struct stat* out, int flags) {
  return answer({CallKind::kExamine, "fstatat", directory, name},
                [&] { return __real_fstatat(directory, name, out, flags); });
}
// Without it names are asked instead of files: slower, and nothing else.
int __wrap_fstatfs(int descriptor, struct statfs* out) {
  return answer({CallKind::kHint, "fstatfs", descriptor},
                [&] { return __real_fstatfs(descriptor, out); });
}
int __wrap_fstatvfs(int descriptor, struct statvfs* out) {
  return answer({CallKind::kSpace, "fstatvfs", descriptor},
                [&] { return __real_fstatvfs(descriptor, out); });
}
// The argument of a command is a number or a pointer; both fit.
int __wrap_fcntl(int descriptor, int command, void* argument) {
  return answer({kind_of_command(command), "fcntl", descriptor},
                [&] { return __real_fcntl(descriptor, command, argument); });
}

int __wrap_renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return answer({CallKind::kRename, "renameat", to_directory, to},
                [&] { return __real_renameat(from_directory, from, to_directory, to); });
}
int __wrap_unlinkat(int directory, const char* name, int flags) {
  return answer({CallKind::kRemove, "unlinkat", directory, name},
                [&] { return __real_unlinkat(directory, name, flags); });
}
int __wrap_mkdirat(int directory, const char* name, mode_t mode) {
  return answer({CallKind::kMakeDirectory, "mkdirat", directory, name},
                [&] { return __real_mkdirat(directory, name, mode); });
}
DIR* __wrap_fdopendir(int descriptor) {
  return answer_or_null({CallKind::kList, "fdopendir", descriptor},
                        [&] { return __real_fdopendir(descriptor); });
}
struct dirent* __wrap_readdir(DIR* stream) {
  return answer_or_null({CallKind::kList, "readdir"}, [&] { return __real_readdir(stream); });
}
int __wrap_fchmod(int descriptor, mode_t mode) {
  return answer({CallKind::kPermit, "fchmod", descriptor},
                [&] { return __real_fchmod(descriptor, mode); });
}
int __wrap_fchown(int descriptor, uid_t user, gid_t group) {
  return answer({CallKind::kPermit, "fchown", descriptor},
                [&] { return __real_fchown(descriptor, user, group); });
}
int __wrap_fchmodat(int directory, const char* name, mode_t mode, int flags) {
  return answer({CallKind::kPermit, "fchmodat", directory, name},
                [&] { return __real_fchmodat(directory, name, mode, flags); });
}

ssize_t __wrap_getrandom(void* out, size_t bytes, unsigned flags) {
  return transfer({CallKind::kRandom, "getrandom", -1, nullptr, bytes},
                  [&](size_t part) { return __real_getrandom(out, part, flags); });
}
// Five arguments: as many as the longest of the calls that are made so has.
long __wrap_syscall(long number, long first, const char* name, long third, long fourth,
                    long fifth) {
  return answer({kind_of_number(number, third), "syscall", static_cast<int>(first), name},
                [&] { return __real_syscall(number, first, name, third, fourth, fifth); });
}
int __wrap_clock_gettime(clockid_t clock, struct timespec* time) {
  const int status = __real_clock_gettime(clock, time);
  if (status == 0) StoppedClocks::tell(clock, time);
  return status;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

}  // extern "C"

}  // namespace varve_test
