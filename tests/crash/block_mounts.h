// Real file systems on images in memory, in a mount namespace of our own.
//
// Nothing of it outlives the process, however it ends: mounts go with the namespace, a loop device
// with the last mount of it, and the child that serves a disk with its parent.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "block_log.h"
#include "io/posix.h"

namespace varve::crash {

struct BlockFileSystem {
  const char* name;     // of the test
  const char* type;     // of the mount
  const char* options;  // of the mount
  const char* make;     // the program, and what it is told
  uint64_t size_bytes;
  size_t states;  // that a whole campaign looks at, about

  friend void PrintTo(const BlockFileSystem& kind, std::ostream* out) { *out << kind.name; }
};

// Gives this process mounts of its own, with an empty folder in memory in place of the one for
// temporary files. Why it cannot, in words; "" when it could, or had before.
std::string enter_own_mounts();

// The folder in memory.
std::string memory_folder();

// The image of an empty file system. Throws std::system_error.
DiskImage make_file_system(const BlockFileSystem& kind);

// Makes the file at `path` this image. What it was before does not matter.
void write_image(const std::string& path, const DiskImage& image, uint64_t size_bytes);
void write_over(const std::string& path, const std::vector<KeptWrite>& writes);

// A file, mounted by way of a loop device; unmounted when this goes. Throws std::system_error.
class Mounted {
 public:
  Mounted(const BlockFileSystem& kind, const std::string& image_path);
  ~Mounted();
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Of all files that are there, the bytes by their paths.
  [[nodiscard]] std::map<std::string, std::string> files() const;
  // Throws when something keeps it mounted.
  void unmount();

 private:
  const std::string folder_;
  bool mounted_ = false;
};

// Real files; paths of stores begin at a folder.
class FolderFileSystem final : public io::FileSystem {
 public:
  explicit FolderFileSystem(std::string folder) : folder_(std::move(folder)) {}

  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override {
    return posix_.open_root(folder_ + "/" + std::string(path), create);
  }
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return posix_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return posix_.process_id(); }
  [[nodiscard]] std::string boot_id() const override { return posix_.boot_id(); }

 private:
  io::PosixFileSystem posix_;
  const std::string folder_;
};

}  // namespace varve::crash
