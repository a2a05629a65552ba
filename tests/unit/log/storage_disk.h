// A session directory "s" on a simulated disk, whose log is one line, and storages open on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {

class StorageDisk : public testing::Test {
 protected:
  StorageDisk() {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
  }
  std::unique_ptr<DirectoryStorage> open() { return open_in(disk_); }
  // As the process does that `system` belongs to.
  std::unique_ptr<DirectoryStorage> open_in(io::SimulatedFileSystem& system) {
    auto opened =
        DirectoryStorage::open(*system.open_root("s", false), {&system, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Status lock(DirectoryStorage& storage, std::string_view operation = "write") {
    return storage.lock(clock_.monotonic_us(), operation, nullptr);
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

}  // namespace varve::log
