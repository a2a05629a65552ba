// The file-system seam: everything varve ever asks of an operating system's files.
//
// A name is a single path component relative to a directory handle. Nothing below the root is
// reached by a concatenated path, and no symbolic link below it is followed. There are two
// implementations: posix.h, and simulated.h (in memory, with crashes and faults, for tests).
//
// A failure is a Status made by status_from_errno(), with place().os_errno set. EINTR is retried
// inside. All handles may be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace varve::io {

enum class FileKind : uint8_t { kRegular, kDirectory, kOther };

// Identifies a file, whatever its name. Valid as long as a handle to the file is held.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct FileInfo {
  FileKind kind = FileKind::kRegular;
  uint64_t size_bytes = 0;
  int64_t modified_ms = 0;
  uint32_t permissions = 0;  // the bits of 07777
  uint64_t link_count = 1;
  FileIdentity identity;
  // For a file: while this and the size stay the same, the file keeps its one name, and nothing was
  // written to it. 0: not known.
  uint64_t change_stamp = 0;
};

enum class OpenMode : uint8_t {
  kRead,             // must exist
  kAppend,           // read, and write at the end only (O_APPEND); must exist
  kAppendOrCreate,   // the same, created when absent
  kUpdateOrCreate,   // read and write anywhere, created when absent: the lock file
  kCreateExclusive,  // read and append; must not exist: temporary files
};

class File {
 public:
  virtual ~File() = default;

  // Fills `out` from `offset`; gives fewer bytes only at the end of the file.
  virtual Result<size_t> read_at(uint64_t offset, std::span<char> out) = 0;

  // Writes all of `data` at the end. After a failure a part of it may be there: the caller, who
  // holds the lock and knows the old size, truncates the file.
  virtual Status append(std::string_view data) = 0;

  // Writes all of `data` at `offset` (kUpdateOrCreate only).
  virtual Status write_at(uint64_t offset, std::string_view data) = 0;

  virtual Status truncate(uint64_t size_bytes) = 0;
  // Asks the system to start writing what was appended, so that sync_data() has less to wait for. A
  // hint without any promise.
  virtual void start_sync() noexcept {}
  virtual Status sync_data() = 0;  // fdatasync: the bytes and the size survive power loss
  virtual Result<FileInfo> info() = 0;
  // The length of the file, for less than info() costs.
  virtual Result<uint64_t> size_bytes() {
    VARVE_TRY_ASSIGN(const FileInfo now, info());
    return now.size_bytes;
  }
  // Where the bytes of the last append() through this handle end; the end of the file if others
  // wrote behind them.
  virtual Result<uint64_t> append_end() { return size_bytes(); }

  // The kernel's exclusive lock on this open file. It excludes every other handle in any process,
  // ends with its holder, and is never inherited by a forked child.
  // try_lock: true if the lock is now held; kUnsupported if the file system has no locks.
  virtual Result<bool> try_lock() = 0;
  virtual Status unlock() = 0;
  // Whether another handle holds that lock right now. Works in every mode, and excludes nobody.
  virtual Result<bool> is_locked() = 0;
  // Tells the other handles that this one waits for that lock, or no longer does. Whether one of
  // them says so; false where it cannot be known. Only to be polite: both exclude nobody.
  virtual void tell_waiting(bool /*is_waiting*/) noexcept {}
  [[nodiscard]] virtual bool is_another_waiting() noexcept { return false; }
};

struct DirectoryItem {
  std::string name;
  FileKind kind = FileKind::kRegular;
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Refuses anything but a regular file (symbolic link, FIFO, directory, device) with kIo and a
  // message that says what is there. A created file gets exactly `permissions`, whatever the umask.
  virtual Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode,
                                             uint32_t permissions = 0600) = 0;
  virtual Result<FileInfo> info(
      std::string_view name) = 0;  // about the name itself; links are not followed
  // The same, but nothing if there is no such name: that is no failure then, and costs no message.
  virtual Result<std::optional<FileInfo>> find(std::string_view name) {
    auto found = info(name);
    if (found.code() == Code::kNotFound) return std::optional<FileInfo>();
    if (!found.ok()) return std::move(found).status();
    return std::optional<FileInfo>(*found);
  }
  virtual Status rename(std::string_view from, std::string_view to) = 0;  // replaces `to`
  // Moves a name to another directory; kAlreadyExists when the target name is taken.
  virtual Status move_to(std::string_view from, Directory& target, std::string_view to) = 0;
  // Swaps what two names stand for, in one step. kNotFound if one is missing; kUnsupported where
  // the kernel or the file system cannot do it.
  virtual Status exchange(std::string_view name, Directory& other, std::string_view other_name) = 0;
  virtual Status remove(std::string_view name) = 0;
  virtual Status make_directory(std::string_view name, uint32_t permissions = 0700) = 0;
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view name) = 0;
  virtual Status remove_directory(std::string_view name) = 0;  // must be empty
  virtual Result<std::vector<DirectoryItem>> list() = 0;       // in no order; without "." and ".."
  virtual Status sync() = 0;  // fsync: names that were made, renamed or removed survive
  virtual Result<uint64_t> free_bytes() = 0;
  virtual Result<FileInfo> self_info() = 0;
  // For messages only.
  [[nodiscard]] virtual std::string path_of(std::string_view name) const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The directory a store is in. `create`: makes it with all missing levels, 0700.
  virtual Result<std::unique_ptr<Directory>> open_root(std::string_view path, bool create) = 0;
  // Opens a user's file outside any store for reading. Symbolic links in `path` are followed.
  // Refuses anything but a regular file, as Directory::open does.
  virtual Result<std::unique_ptr<File>> open_file(std::string_view path) = 0;

  // How many files the process may have open at once, those of others included.
  [[nodiscard]] virtual size_t open_files_max() const { return SIZE_MAX; }

  // For the lock file that people read. boot_id: which boot of the machine this is; "" if unknown.
  [[nodiscard]] virtual int64_t process_id() const = 0;
  [[nodiscard]] virtual std::string boot_id() const = 0;
  // False when it surely does not run, as far as this process can see: those of other containers
  // it cannot.
  [[nodiscard]] virtual bool may_run(int64_t /*process_id*/) const { return true; }
};

}  // namespace varve::io
