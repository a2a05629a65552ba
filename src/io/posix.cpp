#include "io/posix.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "io/posix_descriptor.h"
#include "io/posix_directory.h"
#include "io/posix_file.h"
#include "io/posix_root_name.h"
#include "io/rules.h"

namespace varve::io {
namespace {

constexpr uint32_t kRootPermissions = 0700;
constexpr int kWalkFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;  // needs no permission to read
constexpr int kReadFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Descriptor open_followed(int directory, const std::string& name, int flags) noexcept {
  return raise_above_standard(
      Descriptor(retry_interrupted([&] { return ::openat(directory, name.c_str(), flags); })));
}

Status root_failure(int os_errno, int directory, const std::string& name, std::string_view path) {
  struct stat status {};
  if (os_errno == ENOTDIR && ::fstatat(directory, name.c_str(), &status, 0) == 0 &&
      !S_ISDIR(status.st_mode)) {
    return not_a_directory(os_errno, path, describe_mode(status.st_mode));
  }
  return status_from_errno(os_errno, "open the directory", path);
}

// Walks down a path and makes the missing levels.
class RootMaker {
 public:
  explicit RootMaker(std::string_view path) : path_(path) {}

  Result<Descriptor> run() {
    current_ = open_followed(AT_FDCWD, path_.starts_with('/') ? "/" : ".", kWalkFlags);
    if (!current_.is_open()) return status_from_errno(errno, "open the directory", path_);
    size_t begin = 0;
    while (begin < path_.size()) {
      const size_t end = std::min(path_.find('/', begin), path_.size());
      const std::string name(path_.substr(begin, end - begin));
      if (!name.empty() && name != ".") VARVE_TRY(enter(name, path_.substr(0, end)));
      begin = end + 1;
    }
    if (!made_any_ && above_.is_open()) {
      name_ = std::make_shared<RootName>(std::move(above_), std::string(path_));
    }
    Descriptor readable = open_again(current_.get());
    if (!readable.is_open()) return status_from_errno(errno, "open the directory", path_);
    return readable;
  }

  // For a root that existed already; null when it is synced, or has no directory above it.
  std::shared_ptr<RootName> name() { return name_; }

 private:
  Status enter(const std::string& name, std::string_view path) {
    Descriptor next = open_followed(current_.get(), name, kWalkFlags);
    if (!next.is_open() && errno == ENOENT) {
      VARVE_TRY(make(name, path));
      next = open_followed(current_.get(), name, kWalkFlags);
    }
    if (!next.is_open()) return root_failure(errno, current_.get(), name, path);
    above_ = std::exchange(current_, std::move(next));
    return {};
  }

  Status make(const std::string& name, std::string_view path) {
    if (!made_any_) VARVE_TRY(sync_existing());
    made_any_ = true;
    int os_errno = make_directory_at(current_.get(), name, kRootPermissions);
    if (os_errno != 0 && os_errno != EEXIST) {  // EEXIST: somebody else was faster
      return status_from_errno(os_errno, "make the directory", path);
    }
    os_errno = sync_directory(current_.get());
    if (os_errno == 0) return {};
    return failure_of_directory_sync(os_errno, "sync the directory above", path);
  }

  // Syncs the name of the deepest level that existed already.
  Status sync_existing() {
    return above_.is_open() ? RootName(std::move(above_), std::string(path_)).sync() : Status();
  }

  const std::string_view path_;
  Descriptor current_;
  Descriptor above_;  // the directory `current_` was found in
  bool made_any_ = false;
  std::shared_ptr<RootName> name_;
};

}  // namespace

Result<std::unique_ptr<Directory>> PosixFileSystem::open_root(std::string_view path, bool create) {
  VARVE_TRY(check_path(path, "a store"));
  std::string text = without_end_slashes(path);
  Descriptor opened;
  std::shared_ptr<RootName> name;
  if (create) {
    RootMaker maker(text);
    VARVE_TRY_ASSIGN(opened, maker.run());
    name = maker.name();
  } else {
    opened = open_followed(AT_FDCWD, text, kReadFlags);
    if (!opened.is_open()) return root_failure(errno, AT_FDCWD, text, text);
  }
  // A directory that exists may be anybody's: an export or a first backup there stays root's.
  constexpr bool kGivesToOwner = false;
  return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(
      std::move(opened), std::move(text), std::move(name), kGivesToOwner));
}

Result<std::unique_ptr<File>> PosixFileSystem::open_file(std::string_view path) {
  VARVE_TRY(check_path(path, "a file"));
  std::string text(path);
  LeasePatience patience;
  Descriptor opened;
  do {
    // O_NONBLOCK: a FIFO without a writer must not hang us; it is refused below.
    opened = open_followed(AT_FDCWD, text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (patience.goes_on(opened.get(), AT_FDCWD, text.c_str(), 0));
  if (!opened.is_open()) return refused_reading(status_from_errno(errno, "open", text));
  VARVE_TRY_ASSIGN(const struct stat status, stat_of(opened.get(), text));
  if (!S_ISREG(status.st_mode)) {
    return not_a_file(S_ISDIR(status.st_mode) ? EISDIR : ENXIO, text,
                      describe_mode(status.st_mode));
  }
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(std::move(opened), std::move(text), OpenMode::kRead, false));
}

size_t PosixFileSystem::open_files_max() const {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

int64_t PosixFileSystem::process_id() const { return ::getpid(); }

bool PosixFileSystem::may_run(int64_t process_id) const {
  // Others than a process's own number would mean groups of processes.
  if (process_id <= 0 || process_id > std::numeric_limits<pid_t>::max()) return false;
  return ::kill(static_cast<pid_t>(process_id), 0) == 0 || errno != ESRCH;
}

std::string PosixFileSystem::boot_id() const {
  const Descriptor file(retry_interrupted(
      [] { return ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC); }));
  std::array<char, 64> text{};
  if (!file.is_open()) return {};
  const ssize_t count =
      retry_interrupted([&] { return ::read(file.get(), text.data(), text.size()); });
  if (count <= 0) return {};
  std::string id(text.data(), static_cast<size_t>(count));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace varve::io
