// Vectors whose entries the log lost by damage: another entry of such an id must not get one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "session_disk.h"

namespace varve::session {
namespace {

class VectorsOfLostEntries : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    session_ = disk_.open();
    for (const std::string id : {"a", "b", "c"}) {
      ASSERT_TRUE(session_->add(entry_text(id, "old")).ok());
      const std::vector<float> values = {1, 0};
      ASSERT_TRUE(session_->put_vector(id, values).ok());
    }
    session_.reset();
  }
  void open() {
    session_ = disk_.open();
    ASSERT_NE(session_, nullptr);
  }
  // The line is no entry any more; it has the same length.
  void damage(const std::string& id) {
    std::string log = disk_.bytes("memory.jsonl");
    const size_t at = log.find("\"id\":\"" + id + "\"");
    ASSERT_NE(at, std::string::npos);
    log[at + 1] = '{';
    disk_.write("memory.jsonl", log);
  }
  // The line is still an object, of another id, which does not fit its checksum.
  void damage_id(const std::string& id, char by) {
    std::string log = disk_.bytes("memory.jsonl");
    const size_t at = log.find("\"id\":\"" + id + "\"");
    ASSERT_NE(at, std::string::npos);
    log[at + 6] = by;
    disk_.write("memory.jsonl", log);
    disk_.remove("index.bin");  // it has the entry as it was
  }
  void lose_last_line() {
    std::string log = disk_.bytes("memory.jsonl");
    log.resize(log.rfind('\n', log.size() - 2) + 1);
    disk_.write("memory.jsonl", log);
  }
  void repair() {
    const auto report = session_->repair(false, false);
    ASSERT_TRUE(report.ok()) << report.status().message();
  }
  // Whose vectors there are, once there is an entry of this id again.
  std::string found_with_new(const std::string& id) {
    const auto added = session_->add(entry_text(id, "new"));
    EXPECT_TRUE(added.ok()) << added.status().message();
    const auto found = session_->query(R"({"vector":[1,0]})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    std::string ids;
    if (!found.ok()) return ids;
    for (const auto& result : found->results) ids += result.id() + " ";
    return ids;
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

TEST_F(VectorsOfLostEntries, OfALineThatARepairSetAside) {
  damage("b");
  open();
  repair();
  EXPECT_EQ(found_with_new("b").find('b'), std::string::npos);
}

TEST_F(VectorsOfLostEntries, OfALossThatARepairAccepted) {
  lose_last_line();
  open();
  repair();
  EXPECT_EQ(found_with_new("c").find('c'), std::string::npos);
}

TEST_F(VectorsOfLostEntries, OfALineThatWasCutOffAsTorn) {
  damage("c");
  open();
  EXPECT_EQ(found_with_new("c").find('c'), std::string::npos);
}

TEST_F(VectorsOfLostEntries, OfALossThatNobodyAccepted) {
  lose_last_line();
  open();
  EXPECT_EQ(found_with_new("c").find('c'), std::string::npos);
}

TEST_F(VectorsOfLostEntries, OfALineThatWasDamagedInItsId) {
  damage_id("b", 'x');
  open();
  const std::string found = found_with_new("b");
  EXPECT_EQ(found.find('b'), std::string::npos);
  EXPECT_NE(found.find('a'), std::string::npos);
  EXPECT_NE(found.find('c'), std::string::npos);
}

// Also while the session is open.
TEST_F(VectorsOfLostEntries, OfASecondLineThatWasDamagedInItsId) {
  damage_id("a", 'x');
  open();
  ASSERT_TRUE(session_->add(entry_text("d", "new")).ok());
  ASSERT_TRUE(session_->sync().ok());
  damage_id("b", 'y');
  ASSERT_TRUE(session_->rebuild_index().ok());
  EXPECT_EQ(found_with_new("b").find('b'), std::string::npos);
}

// A repair that accepts edits takes the line as it is, with its vector.
TEST_F(VectorsOfLostEntries, OneOfALineThatWasEditedStaysForItsRepair) {
  std::string log = disk_.bytes("memory.jsonl");
  const size_t at = log.find("\"old\"");
  ASSERT_NE(at, std::string::npos);
  disk_.write("memory.jsonl", log.replace(at, 5, "\"new\""));
  open();
  ASSERT_TRUE(session_->add(entry_text("d", "new")).ok());
  const auto report = session_->repair(false, true);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_count("resealed"), 1u);
  const auto found = session_->query(R"({"vector":[1,0]})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->results.size(), 3u);
}

// With recovery `salvage` the whole lines of a batch that the log ends within are entries, too.
TEST_F(VectorsOfLostEntries, ThoseOfLinesThatAreKeptStay) {
  host_.context.settings.recovery = Recovery::kSalvage;
  const std::string before = disk_.bytes("metadata.json");
  open();
  const std::string batch = "[" + entry_text("x") + "," + entry_text("y") + "]";
  ASSERT_TRUE(session_->add_batch(batch).ok());
  const std::vector<float> values = {1, 0};
  ASSERT_TRUE(session_->put_vector("x", values).ok());
  session_.reset();
  lose_last_line();
  auto metadata = Metadata::parse(before, kSessionId);  // or it would tell that the batch was whole
  ASSERT_TRUE(metadata.ok());
  metadata->tree().set(kStrayVectors, json::Tree::boolean(true));
  disk_.write("metadata.json", metadata->encode());
  for (const auto name : {"lock", "index.bin"}) disk_.remove(name);
  open();
  ASSERT_TRUE(session_->get("x").ok());
  session_.reset();
  ASSERT_TRUE(disk_.read("index.bin")) << "or the index is made from the log";
  open();
  EXPECT_NE(found_with_new("d").find('x'), std::string::npos);
}

TEST_F(VectorsOfLostEntries, TheOthersStay) {
  damage("b");
  open();
  repair();
  const std::string found = found_with_new("d");
  EXPECT_NE(found.find('a'), std::string::npos);
  EXPECT_NE(found.find('c'), std::string::npos);
}

}  // namespace
}  // namespace varve::session
