#include "block_fuse.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "block_errors.h"

namespace varve::crash {
namespace {

constexpr uint64_t kDiskNode = 2;
constexpr uint64_t kMarkNode = 3;
constexpr uint32_t kWriteBytesMax = 1 << 20;
constexpr uint64_t kForeverSeconds = 1'000'000;

fuse_attr attributes_of(uint64_t node, const TwoFiles& files) {
  fuse_attr attributes{};
  attributes.ino = node;
  attributes.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600;
  attributes.nlink = 1;
  attributes.size = node == kDiskNode ? files.disk_bytes() : 0;
  attributes.blksize = 4096;
  return attributes;
}

class Server {
 public:
  Server(int channel, TwoFiles& files)
      : channel_(channel), files_(files), request_(kWriteBytesMax + 65536) {}

  // False at the end.
  bool serve_one() {
    const ssize_t count = ::read(channel_, request_.data(), request_.size());
    if (count < 0) return errno == EINTR || errno == ENOENT || errno == EAGAIN;
    std::memcpy(&header_, request_.data(), sizeof header_);
    body_ = {request_.data() + sizeof header_, static_cast<size_t>(count) - sizeof header_};
    dispatch();
    return true;
  }

 private:
  template <typename Head>
  [[nodiscard]] Head head() const {
    Head head{};
    std::memcpy(&head, body_.data(), std::min(sizeof head, body_.size()));
    return head;
  }

  void dispatch() {
    switch (header_.opcode) {
      case FUSE_INIT: return greet();
      case FUSE_LOOKUP: return look_up();
      case FUSE_GETATTR:
      case FUSE_SETATTR: return tell_attributes();
      case FUSE_OPEN:
      case FUSE_OPENDIR: return open();
      case FUSE_READ: return read();
      case FUSE_WRITE: return write();
      case FUSE_FSYNC: return answer(header_.nodeid == kDiskNode ? files_.flush_disk() : 0);
      case FUSE_STATFS: return answer_with(fuse_statfs_out{});
      case FUSE_FLUSH:
      case FUSE_RELEASE:
      case FUSE_RELEASEDIR:
      case FUSE_ACCESS:
      case FUSE_DESTROY: return answer(0);
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT: return;  // have no answer
      default: return answer(ENOSYS);
    }
  }

  void greet() {
    const auto asked = head<fuse_init_in>();
    fuse_init_out out{};
    out.major = FUSE_KERNEL_VERSION;
    out.minor = std::min<uint32_t>(asked.minor, FUSE_KERNEL_MINOR_VERSION);
    out.max_readahead = asked.max_readahead;
    out.flags = asked.flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES);
    out.max_write = kWriteBytesMax;
    out.max_pages = kWriteBytesMax / 4096;
    out.time_gran = 1;
    answer_with(out);
  }

  void look_up() {
    const std::string_view name(body_.data());
    fuse_entry_out out{};
    if (name == "disk") out.nodeid = kDiskNode;
    if (name == "mark") out.nodeid = kMarkNode;
    if (out.nodeid == 0) return answer(ENOENT);
    out.entry_valid = out.attr_valid = kForeverSeconds;
    out.attr = attributes_of(out.nodeid, files_);
    answer_with(out);
  }

  void tell_attributes() {
    fuse_attr_out out{};
    out.attr_valid = kForeverSeconds;
    out.attr = attributes_of(header_.nodeid, files_);
    answer_with(out);
  }

  void open() {
    fuse_open_out out{};
    if (header_.nodeid == kMarkNode) out.open_flags = FOPEN_DIRECT_IO;
    answer_with(out);
  }

  void read() {
    const auto asked = head<fuse_read_in>();
    if (header_.nodeid != kDiskNode) return answer(0);
    send(0, files_.read_disk(asked.offset, asked.size));
  }

  void write() {
    const auto asked = head<fuse_write_in>();
    const std::string_view bytes(body_.data() + sizeof asked, asked.size);
    const int error = header_.nodeid == kDiskNode ? files_.write_disk(asked.offset, bytes)
                                                  : files_.write_mark(bytes);
    if (error != 0) return answer(error);
    fuse_write_out out{};
    out.size = asked.size;
    answer_with(out);
  }

  void answer(int error) { send(error, {}); }

  template <typename Out>
  void answer_with(const Out& out) {
    send(0, {reinterpret_cast<const char*>(&out), sizeof out});
  }

  // A request that was interrupted meanwhile wants no answer any more: that is no error of ours.
  void send(int error, std::string_view body) const {
    fuse_out_header out{};
    out.len = static_cast<uint32_t>(sizeof out + body.size());
    out.error = -error;
    out.unique = header_.unique;
    const std::array<iovec, 2> parts{iovec{&out, sizeof out},
                                     iovec{const_cast<char*>(body.data()), body.size()}};
    (void)(::writev(channel_, parts.data(), body.empty() ? 1 : 2) < 0);
  }

  const int channel_;
  TwoFiles& files_;
  std::vector<char> request_;
  fuse_in_header header_{};
  std::span<const char> body_;
};

}  // namespace

int mount_two_files(const char* folder) {
  const int channel = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (channel < 0) throw_errno("open /dev/fuse");
  const std::string options =
      "fd=" + std::to_string(channel) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
  if (::mount("disk", folder, "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    const int error = errno;
    ::close(channel);
    errno = error;
    throw_errno("mount of a FUSE file system");
  }
  return channel;
}

void serve_two_files(int channel, TwoFiles& files) {
  Server server(channel, files);
  while (server.serve_one()) {
  }
}

}  // namespace varve::crash
