#include "block_mounts.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "block_errors.h"

namespace varve::crash {
namespace {

namespace fs = std::filesystem;

// A descriptor that is closed.
class Opened {
 public:
  Opened(const std::string& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (value_ < 0) throw_errno("open " + path);
  }
  ~Opened() { ::close(value_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

// A free loop device over `image`, held by this: it goes when nobody has it open or mounted.
class LoopDevice {
 public:
  explicit LoopDevice(const Opened& image) {
    loop_config config{};
    config.fd = static_cast<uint32_t>(image.get());
    config.block_size = kBlockBytes;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    const Opened control("/dev/loop-control", O_RDWR);
    for (;;) {
      const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
      if (number < 0) throw_errno("a free loop device");
      path_ = "/dev/loop" + std::to_string(number);
      device_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
      if (device_ < 0) throw_errno("open " + path_);
      if (::ioctl(device_, LOOP_CONFIGURE, &config) == 0) return;
      const int error = errno;
      ::close(device_);
      errno = error;
      if (error != EBUSY) throw_errno("loop device");  // EBUSY: somebody else was faster
    }
  }
  ~LoopDevice() { ::close(device_); }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int device_ = -1;
};

bool run(const std::string& command) {
  return std::system(("PATH=$PATH:/usr/sbin:/sbin; " + command).c_str()) == 0;
}

void write_at(const Opened& file, uint64_t offset, std::string_view bytes) {
  const ssize_t count =
      ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (count != static_cast<ssize_t>(bytes.size())) throw_errno("write of an image");
}

// Only what is not all zeros.
DiskImage read_image(const std::string& path) {
  DiskImage image;
  const Opened file(path, O_RDONLY);
  const DiskImage::Block zeros{};
  DiskImage::Block block{};
  for (off_t at = 0; (at = ::lseek(file.get(), at, SEEK_DATA)) >= 0;) {
    at -= at % static_cast<off_t>(kBlockBytes);
    if (::pread(file.get(), block.data(), block.size(), at) <= 0) break;
    if (block != zeros) image.write(static_cast<uint64_t>(at), {block.data(), block.size()});
    at += static_cast<off_t>(kBlockBytes);
  }
  return image;
}

}  // namespace

std::string memory_folder() { return fs::temp_directory_path().string(); }

std::string enter_own_mounts() {
  static const std::string answer = [] {
    const auto told = [](const char* what) { return std::string(what) + std::strerror(errno); };
    if (::geteuid() != 0) return std::string("only root may mount");
    if (::unshare(CLONE_NEWNS) != 0) return told("mounts of our own: ");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return told("mounts of our own: ");
    }
    if (::mount("tmpfs", memory_folder().c_str(), "tmpfs", 0, "mode=700,size=1g") != 0) {
      return told("a file system in memory: ");
    }
    for (const char* needed : {"/dev/fuse", "/dev/loop-control"}) {
      if (::access(needed, R_OK | W_OK) != 0) return std::string("no ") + needed;
    }
    return std::string();
  }();
  return answer;
}

DiskImage make_file_system(const BlockFileSystem& kind) {
  const std::string path = memory_folder() + "/made";
  fs::remove(path);
  write_image(path, {}, kind.size_bytes);
  errno = EIO;
  if (!run(std::string(kind.make) + " " + path + " >/dev/null")) throw_errno(kind.make);
  DiskImage image = read_image(path);
  fs::remove(path);
  return image;
}

void write_image(const std::string& path, const DiskImage& image, uint64_t size_bytes) {
  const Opened file(path, O_RDWR | O_CREAT);
  if (::ftruncate(file.get(), 0) != 0 ||
      ::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
    throw_errno("image " + path);
  }
  for (const auto& [number, block] : image.blocks()) {
    write_at(file, number * kBlockBytes, {block.data(), block.size()});
  }
}

void write_over(const std::string& path, const std::vector<KeptWrite>& writes) {
  const Opened file(path, O_RDWR);
  for (const KeptWrite& write : writes) write_at(file, write.offset, write.bytes);
}

Mounted::Mounted(const BlockFileSystem& kind, const std::string& image_path)
    : folder_(memory_folder() + "/mounted") {
  fs::create_directory(folder_);
  const Opened image(image_path, O_RDWR);
  const LoopDevice device(image);
  if (::mount(device.path().c_str(), folder_.c_str(), kind.type, MS_NOATIME, kind.options) != 0) {
    throw_errno(std::string("mount ") + kind.name);
  }
  mounted_ = true;
}

Mounted::~Mounted() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
}

void Mounted::unmount() {
  if (::umount2(folder_.c_str(), 0) != 0) throw_errno("unmount " + folder_);
  mounted_ = false;
}

std::map<std::string, std::string> Mounted::files() const {
  std::map<std::string, std::string> files;
  for (const auto& item : fs::recursive_directory_iterator(folder_)) {
    if (!item.is_regular_file()) continue;
    std::ifstream file(item.path(), std::ios::binary);
    files[item.path().string()].assign(std::istreambuf_iterator<char>(file),
                                       std::istreambuf_iterator<char>());
  }
  return files;
}

}  // namespace varve::crash
