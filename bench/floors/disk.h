// What the machine takes for the parts that no memory can do without: each called once, by itself.
#pragma once

#include <filesystem>
#include <string>

#include "bench_store.h"

namespace varve::bench {

class Disk {
 public:
  Disk();
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  void append(size_t bytes);      // one write at the end of a file
  void sync() const;              // fdatasync of it
  void read(size_t bytes) const;  // one pread, in the page cache
  void stat() const;              // of a name that is there
  void stat_open() const;         // of the file that is open
  void stat_missing() const;      // of one that is not

 private:
  BenchDirectory directory_;
  std::filesystem::path path_;
  std::filesystem::path missing_;
  std::string block_;
  int file_ = -1;
};

void copy_bytes(size_t bytes);  // from one place in memory to another
void hash_bytes(size_t bytes);  // SHA-256, one text
void run_program();             // a process that ends at once

}  // namespace varve::bench
