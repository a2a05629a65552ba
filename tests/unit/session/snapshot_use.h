// SnapshotUse: a session on a simulated disk whose index.bin is saved, looked at and damaged.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "session/session.h"
#include "session_disk.h"
#include "unit/index/snapshot_editor.h"

namespace varve::session {

inline constexpr auto kTextSection = index::SnapshotEditor::kTextTerms;

class SnapshotUse : public testing::Test {
 protected:
  void SetUp() override { disk_.make(); }

  // [bytes] read from a file, and how often, while `work` runs.
  struct Reads {
    uint64_t bytes = 0;
    uint64_t count = 0;
  };
  Reads reads_of(const std::function<void()>& work, std::string_view file = "memory.jsonl") {
    disk_.disk.clear_trace();
    work();
    Reads reads;
    for (const auto& line : disk_.disk.trace()) {
      if (line.find(" read ") == std::string::npos || line.find(file) == std::string::npos) {
        continue;
      }
      reads.count += 1;
      const size_t bytes_at = line.rfind(" bytes");
      EXPECT_NE(bytes_at, std::string::npos) << line;
      const size_t number_at = line.rfind(' ', bytes_at - 1) + 1;
      reads.bytes += std::stoull(line.substr(number_at, bytes_at - number_at));
    }
    return reads;
  }
  static json::Tree index_stats(Session& session) { return member(*session.stats(), "index"); }

  // `count` entries of some bytes, saved with their index; none is open.
  void fill(int count) {
    auto session = disk_.open();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), std::string(50, 'x'))).ok());
    }
  }
  // How many entries a query for the word of all of them finds.
  static size_t found_by_word(Session& session) {
    const auto found = session.query(R"({"limit":100,"text":")" + std::string(50, 'x') + R"("})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? found->results.size() : 0;
  }
  // Changes a byte of a section of index.bin.
  void damage(size_t section) {
    std::string bytes = disk_.bytes("index.bin");
    uint64_t offset = 0;
    const size_t place = index::SnapshotEditor::place_of(section) * 8;
    std::memcpy(&offset, bytes.data() + place, sizeof(offset));
    bytes[offset] ^= 1;
    disk_.write("index.bin", bytes);
  }

  Host host_;
  SessionDisk disk_{host_};
};

}  // namespace varve::session
