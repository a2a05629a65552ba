// Another program appends a line without the lock, at the very moment of an add: what both wrote is
// there, for this process and for others, and stays through a compaction and a purge.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/simulated.h"
#include "session/compaction.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr std::string_view kTheirs =
    R"({"id":"theirs","type":"finding","timestamp":"2026-01-10T14:00:00Z","content":"by hand"})"
    "\n";

std::string one_entry(std::string_view id) {
  return R"({"id":")" + std::string(id) + R"(","type":"finding","content":"word"})";
}

class StrangersOfASession : public testing::TestWithParam<std::string_view> {
 protected:
  std::shared_ptr<Store> open(io::FileSystem& files, std::string_view config) {
    auto opened = Store::open("store", config, {&files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  // Once, between the look at the log and the write.
  void append_theirs() {
    disk_.set_fault_hook(
        [this,
         is_done = false](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          if (is_done || operation.kind != io::OperationKind::kAppend ||
              operation.name != "memory.jsonl") {
            return std::nullopt;
          }
          is_done = true;
          auto folder = *theirs_->open_root("store/sessions/s", false);
          EXPECT_TRUE((*folder->open("memory.jsonl", io::OpenMode::kAppend))->append(kTheirs).ok());
          return std::nullopt;
        });
  }
  static void expect_all(session::Session& session) {
    for (const auto* id : {"first", "second", "third", "theirs"}) {
      const auto got = session.get(id);
      EXPECT_TRUE(got.ok()) << id << ": " << got.status().message();
    }
    const auto report = session.verify();
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->get_int64("damaged"), 0) << report->canonical();
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> theirs_ = disk_.process(4711);
};

INSTANTIATE_TEST_SUITE_P(Adds, StrangersOfASession,
                         testing::Values(R"({"durability":"commit"})", R"({"durability":"os"})"),
                         [](const auto& given) {
                           return given.param.find("os") == std::string_view::npos ? "Durable"
                                                                                   : "Buffered";
                         });

TEST_P(StrangersOfASession, CostNobodyAnEntry) {
  const auto store = open(disk_, GetParam());
  const auto session = *store->create_session(R"({"session_id":"s"})");
  ASSERT_TRUE(session->add(one_entry("first")).ok());
  append_theirs();
  const auto added = session->add(one_entry("second"));
  ASSERT_TRUE(added.ok()) << added.status().message();
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(session->get("second").ok());
  ASSERT_TRUE(session->add(one_entry("third")).ok());
  expect_all(*session);
  ASSERT_TRUE(session->add(one_entry("deleted")).ok());
  ASSERT_TRUE(session->remove("deleted", "").ok());
  ASSERT_TRUE(session->compact({}).ok());
  session::CompactionOptions purge;
  purge.cause = session::CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  expect_all(*session);
  const auto other = disk_.process(99);
  expect_all(**open(*other, "")->open_session("s"));
}

}  // namespace
}  // namespace varve::store
