// How long a session lives may be changed by another process while it is open here and nobody here
// writes to it.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr int64_t kHourOfLifeMs = 3'600'000;
constexpr std::string_view kEntryOfS = R"({"id":"a","type":"finding","content":"tea"})";

class LifetimeOfAnOpenOne : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open(disk_);
    other_ = open(*other_disk_);
    session_ = *store_->create_session(R"({"session_id":"s"})");
    ASSERT_TRUE(session_->add(kEntryOfS).ok());
  }
  std::shared_ptr<Store> open(io::SimulatedFileSystem& files) {
    return *Store::open("store", "", {&files, &clock_, &random_});
  }
  void change(const std::string& patch) {
    const Status changed = (*other_->open_session("s"))->update(patch);
    ASSERT_TRUE(changed.ok()) << changed.message();
  }
  // The other process gives it an end, which comes.
  void end_it() {
    change(R"({"ttl_hours":1})");
    clock_.advance_ms(2 * kHourOfLifeMs);
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_disk_ = disk_.process(4711);
  std::shared_ptr<Store> store_;
  std::shared_ptr<Store> other_;
  std::shared_ptr<session::Session> session_;
};

TEST_F(LifetimeOfAnOpenOne, WhoOpensItAgainIsToldThatItIsOver) {
  end_it();
  EXPECT_EQ(store_->open_session("s").code(), Code::kNotFound);
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound) << "from then on";
}

TEST_F(LifetimeOfAnOpenOne, ASweepRemovesIt) {
  end_it();
  const auto report = store_->sweep();
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("sessions_removed"), 1);
  EXPECT_EQ(other_->open_session("s").code(), Code::kNotFound);
}

TEST_F(LifetimeOfAnOpenOne, ItsIdIsFree) {
  for (const std::string if_exists : {"fail", "open"}) {
    end_it();
    const auto made =
        store_->create_session(R"({"session_id":"s","if_exists":")" + if_exists + "\"}");
    ASSERT_TRUE(made.ok()) << if_exists << ": " << made.status().message();
    EXPECT_EQ((*made)->get("a").code(), Code::kNotFound) << if_exists;
    session_ = *made;
    ASSERT_TRUE(session_->add(kEntryOfS).ok());
  }
}

TEST_F(LifetimeOfAnOpenOne, AQueryAcrossSessionsFindsNothingOfIt) {
  end_it();
  const auto found = store_->query("{}");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->results.size(), 0u);
}

TEST_F(LifetimeOfAnOpenOne, OneWhoseEndWasPutOffGoesOn) {
  change(R"({"ttl_hours":1})");
  ASSERT_TRUE(store_->open_session("s").ok()) << "and knows of the end";
  change(R"({"ttl_hours":100})");
  clock_.advance_ms(2 * kHourOfLifeMs);
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_EQ(store_->sweep()->get_int64("sessions_removed"), 0);
}

}  // namespace
}  // namespace varve::store
