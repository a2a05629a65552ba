// A session with more types of entries than an object of metadata.json may have members.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "session_disk.h"

namespace varve::session {
namespace {

constexpr int kListedMax = 10'000;  // types in `statistics`

class ManyTypes : public testing::Test {
 protected:
  void SetUp() override {
    host_.context.settings.session_bytes_max = 0;
    disk_.make();
    session_ = disk_.open();
  }
  // Entries t0, t1, ... of types of the same names, and two findings.
  void add_types(int count) {
    std::string lines = R"({"type":"finding","content":"x"})"
                        "\n"
                        R"({"type":"finding","content":"y"})"
                        "\n";
    for (int i = 0; i < count; ++i) {
      const std::string name = "t" + std::to_string(i);
      lines += R"({"id":")" + name + R"(","type":")" + name + R"(","content":"x"})" + "\n";
    }
    const auto added = session_->add_batch(lines);
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  // What metadata.json says after the session was saved, read by the library.
  json::Tree saved() {
    EXPECT_TRUE(session_->sync().ok());
    const auto read = Metadata::parse(disk_.bytes("metadata.json"), kSessionId);
    EXPECT_TRUE(read.ok()) << read.status().message();
    return read.ok() ? read->tree() : json::Tree::object();
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

TEST_F(ManyTypes, TheOnesWithTheMostEntriesAreListedAndTheRestIsCounted) {
  add_types(kListedMax + 1);
  const json::Tree metadata = saved();
  const json::Tree& statistics = member(metadata, "statistics");
  EXPECT_EQ(statistics.members().size(), size_t{kListedMax} + 3) << "three of the four are fixed";
  EXPECT_EQ(statistics.get_int64("findings"), 2);
  EXPECT_EQ(statistics.get_int64("t0"), 1);
  EXPECT_EQ(member(metadata, "statistics_rest").canonical(), R"({"entries":2,"types":2})");
  EXPECT_EQ(metadata.get_int64("total_entries"), kListedMax + 3);
  EXPECT_EQ(session_->metadata()->get("statistics_rest")->canonical(),
            R"({"entries":2,"types":2})");
  EXPECT_TRUE(session_->update(R"({"title":"still readable"})").ok());
  EXPECT_EQ(session_->update(R"({"statistics_rest":null})").code(), Code::kInvalidArgument);
}

TEST_F(ManyTypes, WithTheSameNameInTheFiguresAreAddedUp) {
  for (const auto* type : {"decision", "decisions", "decisions"}) {
    ASSERT_TRUE(session_->add(R"({"type":")" + std::string(type) + R"(","content":"x"})").ok());
  }
  EXPECT_EQ(member(saved(), "statistics").get_int64("decisions"), 3);
}

TEST_F(ManyTypes, AreAllListedWhileTheyFit) {
  add_types(kListedMax);
  ASSERT_TRUE(session_->remove("t0", "").ok());
  const json::Tree metadata = saved();
  EXPECT_EQ(member(metadata, "statistics").members().size(), size_t{kListedMax} + 3);
  EXPECT_EQ(metadata.get("statistics_rest"), nullptr);
}

}  // namespace
}  // namespace varve::session
