#include "log/quarantine.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/tree.h"
#include "log_text.h"
#include "support/base64.h"

namespace varve::log {
namespace {

std::vector<json::Tree> records_of(const std::string& text) {
  std::vector<json::Tree> records;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    auto record = json::Tree::parse(std::string_view(text).substr(at, end - at));
    EXPECT_TRUE(record.ok());
    if (!record.ok() || end == std::string::npos) break;
    records.push_back(*std::move(record));
    at = end + 1;
  }
  return records;
}

TEST(Quarantine, ARecordHoldsBytesAndWhereTheyWere) {
  LogText log;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  for (size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, bytes.size()}) {
    log.session().quarantine.clear();
    const std::string kept = bytes.substr(bytes.size() - size);
    ASSERT_TRUE(quarantine_bytes(log.storage(), kept, 1234,
                                 {"memory.jsonl", "torn \"tail\"", test::kStartMs})
                    .ok());
    const auto records = records_of(log.session().quarantine);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(test::decode_base64(records[0].get_string("bytes")), kept);
    EXPECT_EQ(records[0].get_string("file"), "memory.jsonl");
    EXPECT_EQ(records[0].get_int64("offset"), 1234);
    EXPECT_EQ(records[0].get_string("reason"), "torn \"tail\"");
    EXPECT_EQ(records[0].get_string("timestamp"), "2026-01-10T14:23:45.678Z");
  }
}

TEST(Quarantine, MuchIsSeveralRecordsThatJoin) {
  std::string text;
  for (int i = 0; text.size() < (size_t{5} << 19); ++i) text += std::to_string(i) + ",";
  LogText log(text);
  const uint64_t from = 100;
  const std::string part = text.substr(from, text.size() - 200);
  for (const bool is_in_memory : {false, true}) {
    log.session().quarantine.clear();
    Quarantining stretches(log.storage(), test::kStartMs);
    const Status kept =
        is_in_memory
            ? quarantine_bytes(log.storage(), part, from, {"memory.jsonl", "why", test::kStartMs})
            : stretches.add(1, {{Stream::kEntries, from, part.size(), "why"}});
    ASSERT_TRUE(kept.ok());
    const auto records = records_of(log.session().quarantine);
    EXPECT_EQ(records.size(), 3u);
    std::string joined;
    for (const auto& record : records) {
      EXPECT_EQ(record.get_int64("offset"), static_cast<int64_t>(from + joined.size()));
      joined += test::decode_base64(record.get_string("bytes")).value_or("");
    }
    EXPECT_TRUE(joined == part);
  }
}

TEST(Quarantine, ARangeThatIsNotAllThereKeepsWhatIs) {
  LogText log("0123456789");
  Quarantining stretches(log.storage(), 0);
  ASSERT_TRUE(stretches.add(1, {{Stream::kEntries, 6, 100, "why"}}).ok());
  const auto records = records_of(log.session().quarantine);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(test::decode_base64(records[0].get_string("bytes")), "6789");
}

// Whose quarantine refuses the next lines, once for each time that it is told to.
class RefusingStorage final : public MemoryStorage {
 public:
  using MemoryStorage::MemoryStorage;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override {
    if (stream == Stream::kQuarantine && std::exchange(refuses, false)) {
      return {Code::kNoSpace, "the disk is full"};
    }
    return MemoryStorage::append(stream, expected_bytes, lines, durable, last_seq, meanwhile);
  }
  bool refuses = false;
};

// So much that it is written before all of it was read. Who is told that it is kept cuts it off.
TEST(Quarantine, ThePartThatIsRefusedEndsItAndAllIsTakenTheNextTime) {
  test::ManualClock clock;
  const auto session = std::make_shared<MemorySession>();
  session->entries = std::string(size_t{5} << 19, 'x');
  RefusingStorage storage(session, clock);
  Quarantining stretches(storage, test::kStartMs);
  const std::vector<Damage> damage = {{Stream::kEntries, 0, session->entries.size(), "why"}};
  const std::function<Status()> ways[] = {
      [&] { return stretches.add(session->generation, damage); },
      [&] {
        return quarantine_bytes(storage, session->entries, 0,
                                {"memory.jsonl", "why", test::kStartMs});
      }};
  for (const auto& keep : ways) {
    session->quarantine.clear();
    storage.refuses = true;
    EXPECT_EQ(keep().code(), Code::kNoSpace);
    EXPECT_EQ(session->quarantine, "");
    EXPECT_TRUE(keep().ok());
    EXPECT_EQ(records_of(session->quarantine).size(), 3u);
  }
}

}  // namespace
}  // namespace varve::log
