#include "session/reports/usage.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

// "entries in out nano-dollars"; "none" without usage.
std::string read(std::string_view entry) {
  json::Document document;
  EXPECT_TRUE(document.parse(entry).ok());
  const auto usage = read_usage(document.root());
  if (!usage) return "none";
  return std::to_string(usage->entries) + " " + std::to_string(usage->input_tokens) + " " +
         std::to_string(usage->output_tokens) + " " + std::to_string(usage->cost_nano_usd);
}

TEST(Usage, IsReadFromTheEntryOrItsContent) {
  EXPECT_EQ(read(R"({"usage":{"input_tokens":1,"output_tokens":2,"cost_usd":0.000000003}})"),
            "1 1 2 3");
  EXPECT_EQ(read(R"({"content":{"usage":{"prompt_tokens":1,"completion_tokens":2}}})"), "1 1 2 0");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":1},"content":{"usage":{"input_tokens":5}}})"),
            "1 1 0 0");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":1,"prompt_tokens":5}})"), "1 1 0 0");
  EXPECT_EQ(read(R"({"content":"usage"})"), "none");
}

TEST(Usage, ANullHidesNoOther) {
  EXPECT_EQ(read(R"({"usage":null,"content":{"usage":{"input_tokens":5}}})"), "1 5 0 0");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":null,"prompt_tokens":5}})"), "1 5 0 0");
  EXPECT_EQ(read(R"({"usage":null,"content":{"usage":null}})"), "none");
}

TEST(Usage, ReadsOnlyWhatCanBeACount) {
  EXPECT_EQ(read(R"({"usage":{"input_tokens":1000000000000}})"), "1 1000000000000 0 0");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":1000000000001}})"), "none");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":5.0}})"), "1 5 0 0");
  EXPECT_EQ(read(R"({"usage":{"input_tokens":5.5}})"), "none");
  EXPECT_EQ(read(R"({"usage":{"cost_usd":1e9}})"), "1 0 0 1000000000000000000");
  EXPECT_EQ(read(R"({"usage":{"cost_usd":1.1e9}})"), "none");
}

TEST(Usage, StaysAtItsLargestValue) {
  Usage usage{1, std::numeric_limits<uint64_t>::max() - 1, 0, 0};
  usage.add({1, 5, 0, 0});
  EXPECT_EQ(usage.input_tokens, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(usage.entries, 2U);
}

TEST(Usage, MoneyIsSummedExactly) {
  Usage total;
  for (int i = 0; i < 10; ++i) total.add({1, 0, 0, 100'000'000});  // $0.1
  json::Tree tree = json::Tree::object();
  total.write_to(tree);
  EXPECT_EQ(tree.canonical(), R"({"cost_usd":1,"entries":10,"input_tokens":0,"output_tokens":0})");
}

// Most entries tell of none: to find that out, their lines are read many at once.
TEST(Usage, OfManyEntriesIsFoundByFewReads) {
  constexpr int kEntries = 2000;
  Host host;
  SessionDisk disk(host);
  disk.make();
  std::string batch;
  for (int i = 0; i < kEntries; ++i) {
    json::Tree entry = *json::Tree::parse(entry_text("e" + std::to_string(i)));
    if (i % 500 == 0) entry.set("usage", *json::Tree::parse(R"({"input_tokens":3})"));
    batch += entry.canonical() + "\n";
  }
  ASSERT_TRUE(disk.open()->add_batch(batch).ok());
  ASSERT_TRUE(disk.open()->remove("e500", "").ok());
  ASSERT_TRUE(disk.open()->rebuild_index().ok());
  auto watched = std::make_unique<WatchedStorage>(*disk.storage());
  int read_count = 0;
  watched->change_read = [&](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
    read_count += stream == log::Stream::kEntries ? 1 : 0;
    return got;
  };
  const auto session = Session::open(std::string(kSessionId), std::move(watched), host.context);
  ASSERT_TRUE(session.ok());
  const auto days =
      (*session)->usage(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  ASSERT_TRUE(days.ok()) << days.status().message();
  ASSERT_EQ(days->size(), 1U);
  EXPECT_EQ(days->begin()->second.entries, 3U);
  EXPECT_EQ(days->begin()->second.input_tokens, 9U);
  EXPECT_LT(read_count, 30);
}

}  // namespace
}  // namespace varve::session
