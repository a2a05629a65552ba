// What a sweep and a usage report make of sessions that fail or go under them.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "io/simulated.h"
#include "log/memory_engine.h"
#include "store/store.h"
#include "store/store_usage.h"
#include "store/sweep.h"
#include "support/environment.h"

namespace varve::store {
namespace {

class SharedCalls : public testing::Test {
 protected:
  void SetUp() override {
    context_.engine = &engine_;
    context_.clock = &clock_;
    context_.open = [this](const std::string& id) { return open(id); };
    context_.remove = [this](const std::string& id) { return Status(removed_[id], "removed"); };
    context_.note_change = [](const std::string&) {};
  }
  void list(const std::string& id) {
    EXPECT_TRUE(engine_.create({id, "", "", clock_.now_ms()}, "{}").ok());
  }
  Result<std::shared_ptr<session::Session>> open(const std::string& id) {
    if (opened_.contains(id)) return opened_[id];
    return Status(Code::kIo, "the disk failed for " + id);
  }
  json::Tree swept() {
    auto report = sweep(context_);
    EXPECT_TRUE(report.ok());
    return *std::move(report);
  }
  // One whose ttl of an hour is over.
  std::shared_ptr<session::Session> expired(const std::string& id) {
    if (!store_) store_ = *Store::open("memory:", "", {&files_, &clock_, &random_});
    auto session =
        *store_->create_session(R"({"session_id":")" + id + R"(","ttl_hours":1,"user_id":"u"})");
    clock_.advance_ms(7'200'000);
    return session;
  }

  io::SimulatedFileSystem files_;
  test::ManualClock clock_;
  test::SeededRandom random_;
  log::MemoryEngine engine_{clock_};
  std::shared_ptr<Store> store_;
  std::map<std::string, std::shared_ptr<session::Session>> opened_;
  std::map<std::string, Code> removed_;
  SweepContext context_;
};

TEST_F(SharedCalls, ASweepTellsOfAThousandProblemsAtMostAndChecksAll) {
  for (int i = 0; i < 1003; ++i) list("s" + std::to_string(i));
  const json::Tree report = swept();
  EXPECT_EQ(report.get_int64("sessions_checked"), 1003);
  ASSERT_EQ(report.get("problems")->items().size(), 1000u);
  const json::Tree& first = report.get("problems")->items()[0];
  EXPECT_EQ(first.get_string("reason"), "the disk failed for " + first.get_string("session_id"));
}

TEST_F(SharedCalls, ASweepPassesOverWhatGoesUnderIt) {
  for (const std::string id : {"gone", "removed", "in_use", "stuck", "over"}) list(id);
  opened_["gone"] = expired("gone");
  ASSERT_TRUE(store_->delete_session("gone").ok());
  opened_["removed"] = expired("removed");
  removed_["removed"] = Code::kNotFound;
  opened_["in_use"] = expired("in_use");
  removed_["in_use"] = Code::kConflict;
  opened_["stuck"] = expired("stuck");
  removed_["stuck"] = Code::kBusy;
  opened_["over"] = expired("over");
  const json::Tree report = swept();
  EXPECT_EQ(report.get_int64("sessions_checked"), 5);
  EXPECT_EQ(report.get_int64("sessions_removed"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 1u) << report.canonical();
  EXPECT_EQ(report.get("problems")->items()[0].get_string("session_id"), "stuck");
}

TEST_F(SharedCalls, AUsageReportHasProblemsAndEndsWhenItsTotalsWouldBeShort) {
  const auto failing = [](Code code) -> OpenSession {
    return [code](const std::string&) -> Result<std::shared_ptr<session::Session>> {
      return Status(code, "failed");
    };
  };
  for (const Code code : {Code::kIo, Code::kCorruption, Code::kFormatVersion}) {
    const auto report = sum_usage({}, {"b", "a"}, failing(code));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->get("problems")->items().size(), 2u);
    EXPECT_EQ(report->get("problems")->items()[0].get_string("session_id"), "a");
  }
  EXPECT_TRUE(sum_usage({}, {"a"}, failing(Code::kNotFound))->get("problems")->items().empty());
  for (const Code code : {Code::kNoMemory, Code::kInvalidArgument}) {
    EXPECT_EQ(sum_usage({}, {"a"}, failing(code)).code(), code);
  }
}

}  // namespace
}  // namespace varve::store
