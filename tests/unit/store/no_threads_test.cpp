// The system starts no thread: what uses threads to be faster does its work without them, and what
// needs one says so and changes nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "io/simulated.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/no_threads.h"

namespace varve::store {
namespace {

class WithoutThreads : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view config) {
    auto opened = Store::open("store", config, {&disk_, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(WithoutThreads, NoneCanBeStarted) {
  const test::NoThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
}

TEST_F(WithoutThreads, QueriesCompactionsAndRebuildsDoTheirWork) {
  const auto store = open(R"({"threads":4})");
  for (const auto* id : {"one", "two", "three"}) {
    const auto session = *store->create_session(R"({"session_id":")" + std::string(id) + "\"}");
    ASSERT_TRUE(session->add(R"({"id":"tea","type":"finding","content":"green tea"})").ok());
    ASSERT_TRUE(session->add(R"({"id":"gone","type":"finding","content":"black tea"})").ok());
    ASSERT_TRUE(session->remove("gone", "").ok());
  }
  const test::NoThreads none;
  const auto found = store->query(R"({"text":"tea"})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->results.size(), 3U);
  const auto session = *store->open_session("one");
  const auto compacted = session->compact({});
  ASSERT_TRUE(compacted.ok()) << compacted.status().message();
  EXPECT_EQ(compacted->get_int64("entries_after"), 1);
  const auto rebuilt = session->rebuild_index();
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status().message();
  EXPECT_EQ(rebuilt->get_int64("entries"), 1);
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
}

TEST_F(WithoutThreads, DurabilityIntervalIsRefusedAndSaysWhatToDo) {
  const auto store = open("{}");
  const auto session = *store->create_session(R"({"session_id":"s"})");
  {
    const test::NoThreads none;
    const Status updated = session->update(R"({"durability":"interval"})");
    EXPECT_EQ(updated.code(), Code::kNoMemory) << updated.message();
    EXPECT_NE(updated.message().find("durability \"commit\""), std::string::npos)
        << updated.message();
    EXPECT_EQ(updated.place().member, "durability");
    EXPECT_NE(updated.place().os_errno, 0);
    EXPECT_EQ(session->stats()->get_string("durability"), "commit");
    const auto other = open(R"({"durability":"interval"})");
    EXPECT_EQ(other->open_session("s").code(), Code::kNoMemory);
  }
  EXPECT_TRUE(session->update(R"({"durability":"interval"})").ok());
}

}  // namespace
}  // namespace varve::store
