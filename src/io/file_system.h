// The file-system seam: everything varve ever asks of an operating system's files.
//
// Names are single path components relative to a directory handle; nothing below the root is ever
// reached by a concatenated path, and no symbolic link below the root is followed. Two
// implementations: posix.h, and simulated.h (in memory, with crashes and faults, for tests).
//
// Every operation answers with a Status made by status_from_errno(): place().os_errno is set,
// EINTR is retried inside. All handles may be used from any thread.
#pragma once

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

// Which file it is, whatever its name: equal while a handle to it is held.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct FileInfo {
  FileKind kind = FileKind::kRegular;
  uint64_t size_bytes = 0;
  int64_t modified_ms = 0;
  uint32_t permissions = 0;  // 07777 bits
  uint64_t link_count = 1;
  FileIdentity identity;
  // Of a file: as long as it and the size stay the same, the file has the one name it had, and
  // nothing was written to it. 0: nobody knows.
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

  // Writes all of `data` at the end. On failure a part of it may have been written: the caller
  // holds the lock, knows the old size, and truncates.
  virtual Status append(std::string_view data) = 0;

  // Writes all of `data` at `offset` (kUpdateOrCreate only).
  virtual Status write_at(uint64_t offset, std::string_view data) = 0;

  virtual Status truncate(uint64_t size_bytes) = 0;
  // Asks the system to begin to write what was appended, so that sync_data() has less to wait for.
  // A hint: it promises nothing.
  virtual void start_sync() noexcept {}
  virtual Status sync_data() = 0;  // fdatasync: the bytes and the size survive power loss
  virtual Result<FileInfo> info() = 0;
  // How long it is: of what info() tells, for less.
  virtual Result<uint64_t> size_bytes() {
    VARVE_TRY_ASSIGN(const FileInfo now, info());
    return now.size_bytes;
  }
  // Where the bytes of the last append() through this handle end, or where the file does, if others
  // have written behind them.
  virtual Result<uint64_t> append_end() { return size_bytes(); }

  // The kernel's exclusive lock on this open file: excludes every other handle in any process, dies
  // with its holder, and is never inherited by a forked child.
  // try_lock: true when it is now held; kUnsupported where the file system has no locks.
  virtual Result<bool> try_lock() = 0;
  virtual Status unlock() = 0;
  // Whether another handle holds that lock at this moment. Keeps nobody out; every mode.
  virtual Result<bool> is_locked() = 0;
};

struct DirectoryItem {
  std::string name;
  FileKind kind = FileKind::kRegular;
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Refuses, with kIo and a message that says what is there, anything but a regular file (symbolic
  // link, FIFO, directory, device). Created files get exactly `permissions`, whatever the umask.
  virtual Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode,
                                             uint32_t permissions = 0600) = 0;
  virtual Result<FileInfo> info(
      std::string_view name) = 0;  // of the name itself, links not followed
  // The same, and nothing when there is no such name: that is no failure, and costs no message.
  virtual Result<std::optional<FileInfo>> find(std::string_view name) {
    auto found = info(name);
    if (found.code() == Code::kNotFound) return std::optional<FileInfo>();
    if (!found.ok()) return std::move(found).status();
    return std::optional<FileInfo>(*found);
  }
  virtual Status rename(std::string_view from, std::string_view to) = 0;  // replaces `to`
  // Moves a name to another directory; kAlreadyExists when the target name is taken.
  virtual Status move_to(std::string_view from, Directory& target, std::string_view to) = 0;
  // Swaps what two names stand for, in one step. kNotFound unless both are there; kUnsupported
  // where the kernel or the file system cannot.
  virtual Status exchange(std::string_view name, Directory& other, std::string_view other_name) = 0;
  virtual Status remove(std::string_view name) = 0;
  virtual Status make_directory(std::string_view name, uint32_t permissions = 0700) = 0;
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view name) = 0;
  virtual Status remove_directory(std::string_view name) = 0;  // must be empty
  virtual Result<std::vector<DirectoryItem>> list() = 0;       // in no order; without "." and ".."
  virtual Status sync() = 0;  // fsync of the directory: names made, renamed, removed survive
  virtual Result<uint64_t> free_bytes() = 0;
  virtual Result<FileInfo> self_info() = 0;
  // For messages only.
  [[nodiscard]] virtual std::string path_of(std::string_view name) const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The directory a store lives in. `create`: made when absent (one level or many), 0700.
  virtual Result<std::unique_ptr<Directory>> open_root(std::string_view path, bool create) = 0;
  // A file of the user's outside any store, for reading. `path` is the user's: symbolic links in it
  // are followed to the end. Refuses, as Directory::open does, anything but a regular file.
  virtual Result<std::unique_ptr<File>> open_file(std::string_view path) = 0;

  // Who we are, for the lock file that people read. boot_id: which boot of the machine, "" unknown.
  [[nodiscard]] virtual int64_t process_id() const = 0;
  [[nodiscard]] virtual std::string boot_id() const = 0;
};

}  // namespace varve::io
