// kv.json and transcript.md as files: byte by byte, edited, damaged, and what an append costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

constexpr std::string_view kTurn = "### user — 2025-04-15T10:30:01Z\n\n";

class CappedFiles : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    session_ = disk_.open();
    ASSERT_TRUE(session_);
  }

  std::string contents() {
    const auto turns = session_->transcript_last(SIZE_MAX);
    EXPECT_TRUE(turns.ok()) << turns.status().message();
    std::string text;
    if (!turns.ok()) return text;
    for (const json::Tree& turn : turns->items()) text += turn.get_string("content") + "|";
    return text;
  }
  std::string keys() {
    const auto list = session_->kv_list();
    EXPECT_TRUE(list.ok()) << list.status().message();
    std::string text;
    if (!list.ok()) return text;
    for (const json::Tree& item : list->items()) text += item.get_string("key") + " ";
    return text;
  }
  int64_t corruption(std::string_view name) {
    return member(*session_->stats(), "corruption").get_int64(name);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

// The conversation of the document that the formats come from.
TEST_F(CappedFiles, AreTheDocumentedExamplesByteForByte) {
  const auto at = [&](int second, int minute) {
    host_.clock.set_now_ms(1744713000123 + (minute * 60 + second) * 1000);
  };
  at(1, 0);
  ASSERT_TRUE(session_->kv_set("user_name", "sachi").ok());
  ASSERT_TRUE(session_->transcript_append("user", "Hello, tell me about your memory system.").ok());
  at(5, 0);
  ASSERT_TRUE(session_
                  ->transcript_append("assistant",
                                      "I can store key-value pairs and maintain a conversation "
                                      "transcript…")
                  .ok());
  at(0, 1);
  ASSERT_TRUE(session_->kv_set("topic", "rust memory systems").ok());
  EXPECT_EQ(disk_.bytes("kv.json"), R"({
  "cap": 200,
  "entries": [
    { "key": "user_name", "value": "sachi", "ts": "2025-04-15T10:30:01Z" },
    { "key": "topic", "value": "rust memory systems", "ts": "2025-04-15T10:31:00Z" }
  ]
}
)");
  EXPECT_EQ(disk_.bytes("transcript.md"), R"(### user — 2025-04-15T10:30:01Z

Hello, tell me about your memory system.

### assistant — 2025-04-15T10:30:05Z

I can store key-value pairs and maintain a conversation transcript…
)");
}

TEST_F(CappedFiles, AreListed) {
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  ASSERT_TRUE(session_->transcript_append("user", "x").ok());
  std::string names;
  const auto files = session_->files();
  for (const json::Tree& file : member(*files, "files").items()) {
    names += file.get_string("name") + " ";
    EXPECT_NE(file.get_string("modified"), "");
    if (file.get_string("name") == "kv.json") {
      EXPECT_EQ(file.get_int64("size_bytes"), static_cast<int64_t>(disk_.bytes("kv.json").size()));
    }
  }
  EXPECT_NE(names.find("kv.json "), std::string::npos) << names;
  EXPECT_NE(names.find("transcript.md "), std::string::npos) << names;
}

TEST_F(CappedFiles, AnAppendCostsTheAppendAndNotTheFile) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(session_->transcript_append("user", std::string(500, 'x')).ok());
  }
  disk_.disk.clear_trace();
  ASSERT_TRUE(session_->transcript_append("user", "short").ok());
  size_t appends = 0;
  size_t reads = 0;
  for (const std::string& line : disk_.disk.trace()) {
    const bool is_ours = line.find("transcript.md") != std::string::npos;
    if (is_ours && line.find(" read ") != std::string::npos) reads += 1;
    EXPECT_EQ(line.find("rename"), std::string::npos) << line;
    if (is_ours && line.find(" append ") != std::string::npos) appends += 1;
  }
  EXPECT_EQ(appends, 1U);
  EXPECT_EQ(reads, 1U) << "of the last bytes, and no more";
}

// Over many appends the whole file is written anew only now and then.
TEST_F(CappedFiles, TrimmingIsAmortised) {
  ASSERT_TRUE(session_->update(R"({"transcript_cap":100})").ok());
  size_t rewrites = 0;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) {
    const bool is_rewrite =
        operation.kind == io::OperationKind::kRename && operation.name.starts_with("transcript.md");
    if (is_rewrite) rewrites += 1;
    return std::optional<io::Fault>();
  });
  size_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(session_->transcript_append("user", "0123456789").ok());
    largest = std::max(largest, disk_.bytes("transcript.md").size());
  }
  disk_.disk.set_fault_hook({});
  EXPECT_LE(rewrites, 25U);
  EXPECT_GE(rewrites, 10U);
  EXPECT_LE(largest, 150 * (kTurn.size() + 20));
  EXPECT_EQ(session_->transcript_last(SIZE_MAX)->items().size(), 100U);
}

// --- bad days ------------------------------------------------------------------------------------

TEST_F(CappedFiles, KvEditedByHandIsAccepted) {
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  disk_.write("kv.json", R"({"entries":[{"key":"mine","value":"yes"},{"key":"a","value":"2"}]})");
  EXPECT_EQ(keys(), "mine a ");
  EXPECT_EQ(*session_->kv_get("a"), "2");
  ASSERT_TRUE(session_->kv_set("b", "3").ok());
  EXPECT_EQ(keys(), "mine a b ");
  EXPECT_TRUE(disk_.quarantine().empty());
  EXPECT_EQ(corruption("kv"), 0);
}

TEST_F(CappedFiles, TranscriptEditedByHandIsAccepted) {
  ASSERT_TRUE(session_->transcript_append("user", "one").ok());
  std::string text = disk_.bytes("transcript.md");
  text.insert(text.find("one") + 3, "\n\na second paragraph");
  disk_.write("transcript.md", text + "\n### Ann — 2026-01-10T15:00:00+01:00\n\nby hand\nand on\n");
  EXPECT_EQ(contents(), "one\n\na second paragraph|by hand\nand on|");
  ASSERT_TRUE(session_->transcript_append("user", "two").ok());
  EXPECT_EQ(contents(), "one\n\na second paragraph|by hand\nand on|two|");
  EXPECT_TRUE(disk_.quarantine().empty());
  EXPECT_EQ(corruption("transcript"), 0);
}

TEST_F(CappedFiles, KvTruncatedAnywhereKeepsItsWholeLinesAndTheRestIsKeptAside) {
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  ASSERT_TRUE(session_->kv_set("b", "2").ok());
  const std::string whole = disk_.bytes("kv.json");
  for (size_t length = 0; length + 1 < whole.size(); ++length) {
    disk_.write("kv.json", whole.substr(0, length));
    const std::string left = keys();
    EXPECT_TRUE(left.empty() || left == "a " || left == "a b ") << left;
    ASSERT_TRUE(session_->kv_set("new", "3").ok());
    EXPECT_EQ(keys(), left + "new ");
    const auto aside = disk_.quarantine();
    if (length == 0) continue;  // there was nothing to keep
    ASSERT_FALSE(aside.empty());
    EXPECT_EQ(aside.back().file, "kv.json");
    EXPECT_EQ(aside.back().bytes, whole.substr(0, length));
  }
  EXPECT_GT(corruption("kv"), 0);
}

TEST_F(CappedFiles, TranscriptTruncatedAnywhereKeepsItsWholeEntries) {
  for (const char* text : {"one", "two\ntwo", "three"}) {
    ASSERT_TRUE(session_->transcript_append("user", text).ok());
  }
  const std::string whole = disk_.bytes("transcript.md");
  for (size_t length = 0; length < whole.size(); ++length) {
    disk_.write("transcript.md", whole.substr(0, length));
    const std::string left = contents();
    EXPECT_TRUE(std::string_view("one|two\ntwo|three|").starts_with(left)) << left;
    ASSERT_TRUE(session_->transcript_append("user", "new").ok());
    EXPECT_EQ(contents(), left + "new|");
    EXPECT_TRUE(session_->verify()->get_bool("ok"));
  }
  EXPECT_FALSE(disk_.quarantine().empty());
  for (const auto& record : disk_.quarantine()) {
    EXPECT_EQ(record.file, "transcript.md");
    EXPECT_NE(whole.find(record.bytes), std::string::npos);
  }
}

// As somebody leaves it who writes a turn by hand, and forgets to end its last line.
TEST_F(CappedFiles, ALastTurnWithoutItsLineEndIsFoundAndRepairedLikeATornLog) {
  ASSERT_TRUE(session_->transcript_append("user", "one").ok());
  const std::string whole = disk_.bytes("transcript.md");
  const std::string torn = "\n" + std::string(kTurn) + "by hand";
  disk_.write("transcript.md", whole + torn);
  EXPECT_EQ(contents(), "one|");
  const auto report = session_->verify();
  EXPECT_FALSE(report->get_bool("ok"));
  const auto& problems = member(*report, "problems").items();
  ASSERT_EQ(problems.size(), 1U) << report->canonical();
  EXPECT_EQ(problems[0].get_string("file"), "transcript.md");
  EXPECT_EQ(problems[0].get_int64("offset"), static_cast<int64_t>(whole.size() + 1));
  EXPECT_EQ(problems[0].get_int64("length"), static_cast<int64_t>(torn.size() - 1));
  EXPECT_TRUE(problems[0].get_string("reason").starts_with("torn tail: ")) << report->canonical();
  const auto repaired = session_->repair(false);
  EXPECT_EQ(repaired->get_int64("quarantined"), 1) << repaired->canonical();
  EXPECT_TRUE(repaired->get_bool("changed"));
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
  EXPECT_EQ(disk_.bytes("transcript.md"), whole);
  ASSERT_EQ(disk_.quarantine().size(), 1U);
  EXPECT_EQ(disk_.quarantine()[0].bytes, torn.substr(1));
}

TEST_F(CappedFiles, GarbageIsKeptAsideReportedAndTheSessionIsUsable) {
  const std::string garbage("\x01\x02 what is this?\n\xff\xfe\0 \n", 22);
  ASSERT_TRUE(session_->add(entry_text("e1")).ok());
  disk_.write("kv.json", garbage);
  disk_.write("transcript.md", "no headers here\n");
  EXPECT_EQ(keys(), "");
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(corruption("kv"), 1);
  EXPECT_EQ(corruption("transcript"), 1) << "once for each damage";
  const auto report = session_->verify();
  EXPECT_FALSE(report->get_bool("ok"));
  EXPECT_EQ(member(*report, "problems").items().size(), 2U) << report->canonical();
  EXPECT_EQ(session_->kv_delete("a").code(), Code::kNotFound);
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  ASSERT_TRUE(session_->transcript_append("user", "hello").ok());
  EXPECT_EQ(keys(), "a ");
  EXPECT_EQ(contents(), "hello|");
  ASSERT_EQ(disk_.quarantine().size(), 2U);
  EXPECT_EQ(disk_.quarantine()[0].bytes, garbage);
  EXPECT_EQ(disk_.quarantine()[1].bytes, "no headers here\n");
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_F(CappedFiles, DamageAndUnfinishedTurnsAreCountedOnce) {
  disk_.write("kv.json", "garbage");
  disk_.write("transcript.md", "no headers here\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(keys(), "");
    EXPECT_EQ(contents(), "");
  }
  EXPECT_EQ(host_.counters.corruption_errors.load(), 2U);
  disk_.write("transcript.md", std::string(kTurn) + "one\n\n" + std::string(kTurn) + "by h");
  EXPECT_EQ(contents(), "one|");
  EXPECT_EQ(host_.counters.torn_tails.load(), 0U);
  ASSERT_TRUE(session_->transcript_append("user", "two").ok());
  EXPECT_EQ(host_.counters.torn_tails.load(), 1U);
  ASSERT_TRUE(session_->transcript_append("user", "three").ok());
  EXPECT_EQ(contents(), "one|two|three|");
  EXPECT_EQ(host_.counters.torn_tails.load(), 1U);
}

// What is beyond a cap is not kept where somebody else would find it.
TEST_F(CappedFiles, NothingBeyondACapIsWritten) {
  ASSERT_TRUE(session_->update(R"({"kv_cap":2,"transcript_cap":0})").ok());
  for (const std::string key : {"first", "second", "third"}) {
    ASSERT_TRUE(session_->kv_set(key, "of " + key).ok());
  }
  EXPECT_EQ(disk_.bytes("kv.json").find("first"), std::string::npos);
  EXPECT_NE(disk_.bytes("kv.json").find("of second"), std::string::npos);
  ASSERT_TRUE(session_->transcript_append("user", "secret").ok());
  EXPECT_EQ(disk_.bytes("transcript.md"), "");
  // Of what another program put there nothing stays, either.
  disk_.write("transcript.md", std::string(kTurn) + "secret\n");
  ASSERT_TRUE(session_->transcript_append("user", "secret").ok());
  EXPECT_EQ(disk_.bytes("transcript.md"), "");
}

// The end of the file that is read first has no beginning of a turn.
TEST_F(CappedFiles, ALastTurnOfAnyLengthIsFound) {
  for (const size_t size : {size_t{70'000}, size_t{300'000}, size_t{900'000}}) {
    ASSERT_TRUE(session_->transcript_append("user", "before").ok());
    ASSERT_TRUE(session_->transcript_append("user", std::string(size, 'x')).ok());
    const auto turns = session_->transcript_last(1);
    ASSERT_TRUE(turns.ok()) << turns.status().message();
    ASSERT_EQ(turns->items().size(), 1U) << size;
    EXPECT_EQ(turns->items()[0].get_string("content").size(), size);
    const auto both = session_->transcript_last(2);
    ASSERT_TRUE(both.ok());
    ASSERT_EQ(both->items().size(), 2U) << size;
    EXPECT_EQ(both->items()[0].get_string("content"), "before");
  }
}

TEST_F(CappedFiles, ATurnOfAProgramWithoutTheLockStaysBeforeOurs) {
  ASSERT_TRUE(session_->transcript_append("user", "one").ok());
  int opened = 0;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it =
        operation.kind == io::OperationKind::kOpen && operation.name == "transcript.md";
    // It was looked at, and is about to be appended to.
    if (is_it && ++opened == 2) {
      disk_.write("transcript.md",
                  disk_.bytes("transcript.md") + "\n" + std::string(kTurn) + "by hand\n");
    }
    return std::nullopt;
  });
  EXPECT_TRUE(session_->transcript_append("user", "two").ok());
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_GT(opened, 2);
  EXPECT_EQ(contents(), "one|by hand|two|");
}

// Nobody's memory is filled with what varve cannot have written.
TEST_F(CappedFiles, LargerThanTheyCanBeTheyAreRefusedUnread) {
  ASSERT_TRUE(session_->transcript_append("user", "hello").ok());
  disk_.write("transcript.md", std::string((size_t{64} << 20) + 1, ' '));
  disk_.write("kv.json", std::string((size_t{64} << 20) + 1, ' '));
  EXPECT_EQ(session_->transcript_last(1).code(), Code::kSizeLimit);
  EXPECT_EQ(session_->transcript_append("user", "hello").code(), Code::kSizeLimit);
  EXPECT_EQ(session_->kv_list().code(), Code::kSizeLimit);
  EXPECT_EQ(session_->kv_get("a").code(), Code::kSizeLimit);
  for (const Status& refused : {session_->kv_set("a", "1"), session_->kv_list().status(),
                                session_->transcript_append("user", "hello")}) {
    EXPECT_EQ(refused.code(), Code::kSizeLimit);
    EXPECT_NE(refused.message().find("move it away"), std::string::npos) << refused.message();
  }
  ASSERT_TRUE(session_->add(entry_text("e1")).ok());
  const auto report = session_->verify();
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("entries"), 1);
  const json::Tree& problems = member(*report, "problems");
  ASSERT_EQ(problems.items().size(), 2U) << report->canonical();
  for (const json::Tree& problem : problems.items()) {
    EXPECT_EQ(problem.get_int64("length"), (int64_t{64} << 20) + 1);
    EXPECT_NE(problem.get_string("reason").find("move it away"), std::string::npos);
  }
}

TEST_F(CappedFiles, WithoutALimitOfEntriesAFileHasOneOfItsOwn) {
  host_.context.settings.entry_bytes_max = 0;
  host_.context.settings.session_bytes_max = 0;
  session_ = disk_.open();
  EXPECT_TRUE(session_->kv_set("a", std::string(100'000, 'x')).ok());
  EXPECT_TRUE(session_->transcript_append("user", std::string(100'000, 'x')).ok());
  const std::string large((size_t{64} << 20) - 50'000, 'x');
  for (const Status& refused :
       {session_->kv_set("b", large), session_->transcript_append("user", large)}) {
    EXPECT_EQ(refused.code(), Code::kSizeLimit);
    EXPECT_EQ(refused.place().limit, uint64_t{64} << 20) << refused.message();
  }
  EXPECT_EQ(keys(), "a ");
}

// Who is refused asks again: what is damaged must not be copied each time.
TEST_F(CappedFiles, AWriteThatIsRefusedSetsNothingAside) {
  host_.context.settings.session_bytes_max = 20'000;
  session_ = disk_.open();
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  disk_.write("kv.json", "garbage\n");
  disk_.write("transcript.md", "garbage\n\n" + std::string(kTurn) + "one\n");
  const std::string large(40'000, 'x');
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(session_->kv_set("b", large).code(), Code::kSizeLimit);
    EXPECT_EQ(session_->transcript_append("user", large).code(), Code::kSizeLimit);
  }
  EXPECT_TRUE(disk_.quarantine().empty());
  ASSERT_TRUE(session_->kv_set("b", "2").ok());
  ASSERT_TRUE(session_->transcript_append("user", "two").ok());
  EXPECT_EQ(disk_.quarantine().size(), 2U);
  EXPECT_EQ(keys(), "b ");
  EXPECT_EQ(contents(), "one|two|");
}

TEST_F(CappedFiles, DamageIsToldToTheLog) {
  struct Lines {
    std::string text;
    static void receive(void* self, int32_t, const char* line, size_t size) {
      static_cast<Lines*>(self)->text.append(line, size);
    }
  } lines;
  host_.events.set_receiver(Level::kWarn, &Lines::receive, &lines);
  disk_.write("kv.json", "garbage");
  EXPECT_EQ(keys(), "");
  disk_.write("transcript.md", std::string(kTurn) + "one\n\n" + std::string(kTurn) + "by h");
  ASSERT_TRUE(session_->transcript_append("user", "two").ok());
  host_.events.deliver();
  host_.events.set_receiver(Level::kOff, nullptr, nullptr);
  EXPECT_NE(lines.text.find("kv.json is damaged"), std::string::npos) << lines.text;
  EXPECT_NE(lines.text.find(R"(/kv.json","reason":")"), std::string::npos) << lines.text;
  EXPECT_NE(lines.text.find("an unfinished entry of transcript.md moved to quarantine"),
            std::string::npos)
      << lines.text;
}

TEST_F(CappedFiles, RepairSetsDamageAside) {
  disk_.write("kv.json", "garbage\n");
  disk_.write("transcript.md", "garbage\n\n" + std::string(kTurn) + "one\n");
  EXPECT_EQ(session_->repair(true)->get_int64("quarantined"), 2);
  EXPECT_EQ(disk_.bytes("kv.json"), "garbage\n");
  const auto report = session_->repair(false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->get_bool("changed"));
  EXPECT_EQ(disk_.quarantine().size(), 2U);
  EXPECT_EQ(contents(), "one|");
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_F(CappedFiles, PurgeLeavesNoCopyOfWhatWasSetAsideOrEvicted) {
  ASSERT_TRUE(session_->update(R"({"transcript_cap":1})").ok());
  ASSERT_TRUE(session_->transcript_append("user", "zebra").ok());
  ASSERT_TRUE(session_->transcript_append("user", "horse").ok());
  ASSERT_TRUE(session_->kv_set("a", "1").ok());
  disk_.write("kv.json", "zebra\n");
  ASSERT_TRUE(session_->kv_set("b", "2").ok());
  disk_.write("kv.json", "another zebra\n{\"key\":\"c\",\"value\":\"3\"}\n");
  disk_.write("kv.json.tmp-0123456789abcdef", "zebra");
  disk_.write("transcript.md.tmp-0123456789abcdef", "zebra");
  CompactionOptions options;
  options.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session_->compact(options).ok());
  for (const std::string& path : disk_.disk.list_all()) {
    const auto bytes = disk_.disk.read_file(path);
    EXPECT_EQ(bytes.value_or("").find("zebra"), std::string::npos) << path;
  }
  EXPECT_TRUE(disk_.quarantine().empty());
  EXPECT_EQ(keys(), "c ");
  EXPECT_EQ(contents(), "horse|");
}

TEST_F(CappedFiles, AFailedSyncOfAnAppendIsNeverRepeatedOnItsFile) {
  ASSERT_TRUE(session_->transcript_append("user", "one").ok());
  int failures = 0;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it =
        operation.kind == io::OperationKind::kSyncData && operation.name == "transcript.md";
    if (!is_it || failures > 0) return std::nullopt;
    failures += 1;
    return io::Fault{5};
  });
  EXPECT_EQ(session_->transcript_append("user", "two").code(), Code::kIo);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(contents(), "one|");
  ASSERT_TRUE(session_->transcript_append("user", "three").ok());
  EXPECT_EQ(contents(), "one|three|");
  const auto after = disk_.disk.crash();
  EXPECT_EQ(after->read_file(path_of("transcript.md")), disk_.bytes("transcript.md"));
}

TEST_F(CappedFiles, AShortWriteLeavesNothingOfTheEntry) {
  ASSERT_TRUE(session_->transcript_append("user", "one").ok());
  const std::string before = disk_.bytes("transcript.md");
  bool failed = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it =
        operation.kind == io::OperationKind::kAppend && operation.name == "transcript.md";
    if (!is_it || failed) return std::nullopt;
    failed = true;
    return io::Fault{28, 20};
  });
  EXPECT_EQ(session_->transcript_append("user", "two").code(), Code::kNoSpace);
  EXPECT_EQ(disk_.bytes("transcript.md"), before);
  ASSERT_TRUE(session_->transcript_append("user", "three").ok());
  EXPECT_EQ(contents(), "one|three|");
}

// Nobody sees it any more, and nobody would look for it there.
TEST_F(CappedFiles, APurgeLeavesNothingOfKeysThatIsNotShown) {
  disk_.write("kv.json", R"({"cap":200,"note":"canary","entries":[
    {"key":"drink","value":"canary","ts":"2025-04-15T10:30:01Z"},
    {"key":"drink","value":"tea","ts":"2025-04-15T10:31:00Z","before":"canary"}]})");
  ASSERT_EQ(*session_->kv_get("drink"), "tea");
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session_->compact(purge).ok());
  EXPECT_EQ(disk_.bytes("kv.json").find("canary"), std::string::npos);
  EXPECT_EQ(*session_->kv_get("drink"), "tea");
}

// The cap holds all the same: what is beyond it is never shown.
TEST_F(CappedFiles, ThatWhatIsBeyondALoweredCapCouldNotBeRemovedIsSaid) {
  std::string warnings;
  host_.events.set_receiver(
      Level::kWarn,
      [](void* data, int32_t, const char* line, size_t length) {
        static_cast<std::string*>(data)->append(line, length);
      },
      &warnings);
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(session_->kv_set(text, text).ok());
  const std::string before = disk_.bytes("kv.json");
  disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_new_file =
        operation.kind == io::OperationKind::kOpen && operation.name.starts_with("kv.json.tmp-");
    return is_new_file ? std::optional(io::Fault{ENOSPC}) : std::nullopt;
  });
  EXPECT_TRUE(session_->update(R"({"kv_cap":2})").ok());
  disk_.disk.set_fault_hook({});
  host_.events.deliver();
  EXPECT_NE(warnings.find("what is beyond a lowered cap was not removed yet"), std::string::npos)
      << warnings;
  EXPECT_EQ(disk_.bytes("kv.json"), before);
  EXPECT_EQ(keys(), "b c ");
}

}  // namespace
}  // namespace varve::session
