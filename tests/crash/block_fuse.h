// The kernel's FUSE protocol, as much of it as two files of a fixed size need.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace varve::crash {

// What becomes of the requests; answers are 0 or an errno.
class TwoFiles {
 public:
  virtual ~TwoFiles() = default;
  [[nodiscard]] virtual uint64_t disk_bytes() const = 0;
  virtual std::string_view read_disk(uint64_t offset, uint64_t count) = 0;
  virtual int write_disk(uint64_t offset, std::string_view bytes) = 0;
  virtual int flush_disk() = 0;
  virtual int write_mark(std::string_view bytes) = 0;
};

// Mounts a file system with the files `disk` and `mark` on `folder` and gives the channel to be
// served. Throws std::system_error.
int mount_two_files(const char* folder);

// Serves, one request after the other, until the file system is unmounted.
void serve_two_files(int channel, TwoFiles& files);

}  // namespace varve::crash
