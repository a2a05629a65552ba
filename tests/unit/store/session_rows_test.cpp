// The list of sessions is made anew by another process while a call goes through its pages.
#include "store/session_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr size_t kTwoPages = log::Engine::kRowsAtATime + 8;

std::string numbered(size_t number) { return "s" + std::to_string(number); }

struct PagingCall {
  const char* name;
  std::function<Status(Store& store, session::Session& open)> call;
};
void PrintTo(const PagingCall& call, std::ostream* out) { *out << call.name; }

class ListMadeAnew : public testing::TestWithParam<PagingCall> {};

TEST_P(ListMadeAnew, IsGoneThroughFromItsFirstPage) {
  io::SimulatedFileSystem disk;
  test::ManualClock clock;
  test::SeededRandom random;
  const auto process = disk.process(2001);
  const auto other = *Store::open("store", "", {&disk, &clock, &random});
  for (size_t i = 0; i < kTwoPages; ++i) {
    ASSERT_TRUE(other
                    ->create_session(R"({"user_id":"ann","agent_id":"bee","session_id":")" +
                                     numbered(i) + "\"}")
                    .ok());
  }
  const auto store = *Store::open("store", R"({"storage":{"max_user_size_mb":10}})",
                                  {process.get(), &clock, &random});
  const auto session = *store->open_session(numbered(0));
  int list_reads = 0;
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool reads_list = operation.process_id == 2001 && operation.name == "sessions.jsonl" &&
                            operation.kind == io::OperationKind::kOpen;
    if (reads_list && ++list_reads == 2) {
      EXPECT_TRUE(other->sessions(R"({"rescan":true,"limit":1})").ok());
    }
    return std::nullopt;
  });
  const Status status = GetParam().call(*store, *session);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_GT(list_reads, 2) << "it never was at a second page";
}

INSTANTIATE_TEST_SUITE_P(
    By, ListMadeAnew,
    testing::Values(PagingCall{"sweep",
                               [](Store& store, session::Session&) {
                                 const auto report = store.sweep();
                                 if (report.ok()) {
                                   EXPECT_EQ(report->get_int64("sessions_checked"),
                                             int64_t{kTwoPages});
                                 }
                                 return report.status();
                               }},
                    PagingCall{"add",
                               [](Store&, session::Session& open) {
                                 return open.add(R"({"type":"message","content":"x"})").status();
                               }},
                    PagingCall{"query",
                               [](Store& store, session::Session&) {
                                 return store.query(R"({"user_id":"ann"})").status();
                               }},
                    PagingCall{"stats",
                               [](Store& store, session::Session&) {
                                 const auto stats = store.stats();
                                 if (stats.ok()) {
                                   EXPECT_EQ(
                                       stats->get("metrics")->get_int64("memory.sessions.total"),
                                       int64_t{kTwoPages});
                                 }
                                 return stats.status();
                               }},
                    PagingCall{"list",
                               [](Store& store, session::Session&) {
                                 const auto list = store.sessions(R"({"limit":1000})");
                                 if (list.ok()) {
                                   EXPECT_EQ(list->get("sessions")->items().size(), kTwoPages);
                                 }
                                 return list.status();
                               }}),
    [](const testing::TestParamInfo<PagingCall>& call) { return std::string(call.param.name); });

TEST(ListMadeAnewOverAndOver, IsNotGoneThroughForEver) {
  io::SimulatedFileSystem disk;
  test::ManualClock clock;
  test::SeededRandom random;
  const auto process = disk.process(2001);
  const auto other = *Store::open("store", "", {&disk, &clock, &random});
  for (size_t i = 0; i < kTwoPages; ++i) ASSERT_TRUE(other->create_session("").ok());
  const auto store = *Store::open("store", "", {process.get(), &clock, &random});
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.process_id == 2001 && operation.name == "sessions.jsonl") {
      EXPECT_TRUE(other->sessions(R"({"rescan":true,"limit":1})").ok());
    }
    return std::nullopt;
  });
  EXPECT_EQ(store->sweep().code(), Code::kBusy);
}

}  // namespace
}  // namespace varve::store
