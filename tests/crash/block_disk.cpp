#include "block_disk.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "block_errors.h"
#include "block_fuse.h"

namespace varve::crash {
namespace {

using Kind = BlockEvent::Kind;

// Stands in every line of a log, and in nothing that a file system writes for itself.
constexpr std::string_view kText = "\"checksum\":\"sha256:";

bool has_text(std::string_view bytes) { return bytes.find(kText) != std::string_view::npos; }

// Of an event in the book; its bytes follow.
struct BookHeader {
  Kind kind;
  uint64_t offset;
  uint64_t count;
};

bool write_whole(int file, const void* bytes, size_t count) {
  return ::write(file, bytes, count) == static_cast<ssize_t>(count);
}

// What the child does with the requests.
class BookedFiles final : public TwoFiles {
 public:
  BookedFiles(std::span<char> disk, RecordedDisk::Shared& shared, int book)
      : disk_(disk), shared_(shared), book_(book) {}

  [[nodiscard]] uint64_t disk_bytes() const override { return disk_.size(); }
  std::string_view read_disk(uint64_t offset, uint64_t count) override {
    if (offset >= disk_.size()) return {};
    return {disk_.data() + offset, std::min<size_t>(count, disk_.size() - offset)};
  }
  int write_disk(uint64_t offset, std::string_view bytes) override {
    if (offset > disk_.size() || bytes.size() > disk_.size() - offset) return ENOSPC;
    if (fails(bytes)) return EIO;
    std::memcpy(disk_.data() + offset, bytes.data(), bytes.size());
    return book(Kind::kWrite, offset, bytes);
  }
  int flush_disk() override { return fails({}) ? EIO : book(Kind::kFlush, 0, {}); }
  int write_mark(std::string_view bytes) override {
    return book(bytes == "asked" ? Kind::kAsked : Kind::kAnswered, 0, {});
  }

 private:
  bool fails(std::string_view bytes) {
    const DiskFailure failure = shared_.failure;
    if (failure == DiskFailure::kNone) return false;
    if (failure == DiskFailure::kText && !has_text(bytes)) return false;
    if (shared_.passing > 0) {
      shared_.passing -= 1;
      return false;
    }
    shared_.failed_count += 1;
    return true;
  }
  int book(Kind kind, uint64_t offset, std::string_view bytes) const {
    const BookHeader header{kind, offset, bytes.size()};
    const bool written = write_whole(book_, &header, sizeof header) &&
                         write_whole(book_, bytes.data(), bytes.size());
    return written ? 0 : EIO;
  }

  const std::span<char> disk_;
  RecordedDisk::Shared& shared_;
  const int book_;
};

void* shared_memory(size_t count) {
  void* memory = ::mmap(nullptr, count, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw_errno("memory of a disk");
  return memory;
}

}  // namespace

bool may_fail(DiskFailure failure, const BlockEvent& event) {
  if (failure == DiskFailure::kText) return has_text(event.bytes);
  return failure == DiskFailure::kAll && (event.kind == Kind::kWrite || event.kind == Kind::kFlush);
}

RecordedDisk::RecordedDisk(std::string folder, const DiskImage& base, uint64_t size_bytes)
    : folder_(std::move(folder)), size_bytes_(size_bytes) {
  bytes_ = static_cast<char*>(shared_memory(size_bytes_));
  shared_ = new (shared_memory(sizeof(Shared))) Shared();
  book_ = ::memfd_create("book", MFD_CLOEXEC);
  if (book_ < 0) throw_errno("book of a disk");
  for (const auto& [number, block] : base.blocks()) {
    std::memcpy(bytes_ + number * kBlockBytes, block.data(), block.size());
  }
  const int channel = mount_two_files(folder_.c_str());
  child_ = ::fork();
  if (child_ == 0) serve(channel);
  ::close(channel);  // or the file system would outlive the child
  mark_ = ::open((folder_ + "/mark").c_str(), O_WRONLY | O_CLOEXEC);
  if (child_ < 0 || mark_ < 0) throw_errno("child that serves a disk");
}

void RecordedDisk::serve(int channel) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  BookedFiles files({bytes_, size_bytes_}, *shared_, book_);
  serve_two_files(channel, files);
  ::_exit(0);
}

RecordedDisk::~RecordedDisk() {
  if (mark_ >= 0) ::close(mark_);
  ::umount2(folder_.c_str(), MNT_DETACH);
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (book_ >= 0) ::close(book_);
  ::munmap(shared_, sizeof(Shared));
  ::munmap(bytes_, size_bytes_);
}

void RecordedDisk::mark(Kind kind) const {
  const std::string_view text = kind == Kind::kAsked ? "asked" : "answered";
  if (!write_whole(mark_, text.data(), text.size())) throw_errno("mark");
}

void RecordedDisk::fail_after(uint64_t passed, DiskFailure failure) {
  shared_->passing = passed;
  shared_->failure = failure;
}

std::vector<BlockEvent> RecordedDisk::events() const {
  std::vector<BlockEvent> events;
  BookHeader header{};
  off_t at = 0;
  while (::pread(book_, &header, sizeof header, at) == static_cast<ssize_t>(sizeof header)) {
    at += static_cast<off_t>(sizeof header);
    std::string bytes(header.count, '\0');
    if (::pread(book_, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size())) {
      throw_errno("book of a disk");
    }
    at += static_cast<off_t>(header.count);
    events.push_back({header.kind, header.offset, std::move(bytes)});
  }
  return events;
}

}  // namespace varve::crash
