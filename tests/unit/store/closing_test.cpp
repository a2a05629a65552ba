// What a session's close promises while others are at work on it.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

class Closing : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::open("store", R"({"durability":"os"})", {&disk_, &clock_, &random_});
    session_ = *store_->create_session(R"({"session_id":"s","ttl_hours":1000})");
    ASSERT_TRUE(session_->add(R"({"id":"a","type":"finding","content":"tea"})").ok());
    ASSERT_FALSE(survives()) << "or nothing is tested";
  }
  void TearDown() override { disk_.set_fault_hook(nullptr); }
  // Before the next operation of this kind.
  void once_before(io::OperationKind kind, std::string name, std::function<void()> work) {
    disk_.set_fault_hook([this, kind, name = std::move(name), work = std::move(work)](
                             const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_it = operation.kind == kind && operation.name == name;
      if (is_it && !std::exchange(was_met_, true)) work();
      return std::nullopt;
    });
  }
  // Whether the entry does, whatever a power loss takes.
  [[nodiscard]] bool survives() const {
    const auto log = disk_.crash()->read_file("store/sessions/s/memory.jsonl");
    return log.value_or("").find("tea") != std::string::npos;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<session::Session> session_;
  bool was_met_ = false;
};

TEST_F(Closing, ASyncOfTheStoreBesideItAnswersForTheSession) {
  bool was_kept = false;
  once_before(io::OperationKind::kOpen, "metadata.json", [&] {
    EXPECT_TRUE(store_->sync().ok());
    was_kept = survives();
  });
  session_.reset();
  ASSERT_TRUE(was_met_);
  EXPECT_TRUE(was_kept);
}

TEST_F(Closing, WhatWasAddedIsDurableThoughAQueryStillReads) {
  once_before(io::OperationKind::kInfo, "s", [&] {
    session_.reset();
    EXPECT_TRUE(survives());
  });
  const auto found = store_->query("{}");
  ASSERT_TRUE(was_met_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->results.size(), 1u);
}

TEST_F(Closing, OneOfTwoHandlesLeavesItForTheOther) {
  auto second = *store_->open_session("s");
  EXPECT_EQ(second.get(), session_.get());
  session_.reset();
  EXPECT_FALSE(survives());
  second.reset();
  EXPECT_TRUE(survives());
}

TEST_F(Closing, ItIsSavedAgainAfterItWasOpenedInTheMiddleOfThat) {
  std::shared_ptr<session::Session> again;
  once_before(io::OperationKind::kOpen, "metadata.json",
              [&] { again = *store_->open_session("s"); });
  session_.reset();
  ASSERT_NE(again, nullptr);
  ASSERT_TRUE(again->add(R"({"id":"b","type":"finding","content":"milk"})").ok());
  again.reset();
  const auto log = disk_.crash()->read_file("store/sessions/s/memory.jsonl");
  EXPECT_NE(log.value_or("").find("milk"), std::string::npos);
}

}  // namespace
}  // namespace varve::store
