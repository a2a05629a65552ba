// Import from files of every form, on good days and on bad ones.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/time.h"
#include "session/session.h"
#include "session_place.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr std::string_view kIn = "in/notes";

struct Counts {
  int64_t added = 0;
  int64_t existing = 0;
  int64_t refused = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend void PrintTo(const Counts& counts, std::ostream* out) {
    *out << counts.added << " added, " << counts.existing << " existing, " << counts.refused
         << " refused";
  }
};

class Import : public testing::TestWithParam<PlaceKind> {
 protected:
  void SetUp() override {
    host_.context.file_system = &outside_;
    host_.context.settings.session_bytes_max = 0;
    session_ = place_.open();
    ASSERT_NE(session_, nullptr);
  }

  // Imports `text` from a file; a dry run before it must have said the same and written nothing.
  json::Tree import(std::string_view text, std::string_view format = "auto") {
    outside_.write_file(kIn, text);
    const std::string named = R"({"format":")" + std::string(format) + "\"";
    const std::string before = place_.entries();
    const auto dry = session_->import_file(kIn, named + R"(,"dry_run":true})");
    EXPECT_TRUE(dry.ok()) << dry.status().message();
    EXPECT_EQ(place_.entries(), before);
    const auto report = session_->import_file(kIn, named + "}");
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (!dry.ok() || !report.ok()) return json::Tree::object();
    EXPECT_EQ(dry->canonical(), report->canonical());
    return *report;
  }
  static Counts counts(const json::Tree& report) {
    return {report.get_int64("added"), report.get_int64("existing"),
            report.get_int64("refused_total")};
  }
  // "LINE: REASON" of each.
  static std::vector<std::string> refused(const json::Tree& report) {
    std::vector<std::string> all;
    for (const auto& item : report.get("refused")->items()) {
      all.push_back(std::to_string(item.get_int64("line")) + ": " + item.get_string("reason"));
    }
    return all;
  }
  std::vector<json::Tree> entries() {
    std::vector<json::Tree> all;
    const std::string text = *exported_text(*session_, "jsonl");
    for (const auto line : lines_of(text)) {
      all.push_back(*json::Tree::parse(line));
    }
    return all;
  }
  void expect_again_adds_nothing(std::string_view text, int64_t existing, int64_t refused = 0) {
    host_.clock.advance_ms(60'000);  // another day of import
    EXPECT_EQ(counts(import(text)), (Counts{0, existing, refused}));
  }

  io::SimulatedFileSystem outside_;
  Host host_;
  Place place_{GetParam(), host_};
  std::shared_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(Over, Import, testing::Values(PlaceKind::kSimulated, PlaceKind::kMemory),
                         place_name);

TEST_P(Import, LinesAnArrayAndAnExportAreTakenAlike) {
  const std::string a = entry_text("a");
  const std::string b = entry_text("b", "other");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {a + "\n" + b + "\n", "jsonl"},
      {"[" + a + ",\n" + b + "]", "json"},
      {R"({"session":{"session_id":"x"},"entries":[)" + a + "," + b + "]}", "json"},
  };
  Counts expected{2, 0, 0};
  for (const auto& [text, format] : cases) {
    const json::Tree report = import(text);
    EXPECT_EQ(counts(report), expected) << text;
    EXPECT_EQ(report.get_string("format"), format);
    EXPECT_EQ(counts(import(text, format)), (Counts{0, 2, 0}));
    expected = {0, 2, 0};
  }
}

TEST_P(Import, WhatWasExportedGoesBackInEitherForm) {
  for (const auto id : {"a", "b", "c"}) ASSERT_TRUE(session_->add(entry_text(id)).ok());
  ASSERT_TRUE(session_->remove("b", "").ok());
  for (const auto format : {"jsonl", "json"}) {
    const std::string text = *exported_text(*session_, format);
    EXPECT_EQ(counts(import(text)), (Counts{0, 2, 0})) << format;
    Host other_host;
    Place other(PlaceKind::kMemory, other_host);
    const auto copy = other.open();
    EXPECT_EQ(counts(*copy->import_text(text)), (Counts{2, 0, 0})) << format;
    EXPECT_EQ(json::Tree::parse(*copy->get("c"))->get("content")->canonical(),
              json::Tree::parse(*session_->get("c"))->get("content")->canonical());
  }
}

TEST_P(Import, AnIdWithOtherContentIsRefused) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  const json::Tree report = import(entry_text("a", "changed") + "\n" + entry_text("b") + "\n" +
                                   entry_text("b") + "\n" + entry_text("b", "changed") + "\n");
  EXPECT_EQ(counts(report), (Counts{1, 1, 2}));
  EXPECT_EQ(refused(report),
            (std::vector<std::string>{"1: entry 'a': the id exists with other content",
                                      "4: entry 'b': the id exists with other content"}));
}

TEST_P(Import, EveryMemberCountsWhenEntriesAreCompared) {
  const std::string head = R"({"id":"a","type":"finding","content":{"x":1})";
  ASSERT_TRUE(session_->add(head + R"(,"mine":[1],"timestamp":"2026-01-01T00:00:00Z"})").ok());
  const std::vector<std::pair<std::string, bool>> cases = {
      {head + R"(,"mine":[1],"timestamp":"2026-01-01T00:00:00Z"})", true},
      {head + R"(,"mine":[1.0],"timestamp":"2026-01-01T01:00:00+01:00"})", true},
      {head + R"(,"mine":[1]})", true},  // tells no time
      {head + R"(,"mine":[1],"importance":0.5,"tags":[],"seq":9,"session_id":"z"})", true},
      {head + R"(,"mine":[1],"timestamp":"2026-01-01T00:00:01Z"})", false},
      {head + R"(,"mine":[2]})", false},
      {head + "}", false},
      {head + R"(,"mine":[1],"tags":["t"]})", false},
      {head + R"(,"mine":[1],"importance":0.6})", false},
      {R"({"id":"a","type":"message","content":{"x":1},"mine":[1]})", false},
  };
  for (const auto& [line, is_same] : cases) {
    EXPECT_EQ(counts(import(line)), is_same ? (Counts{0, 1, 0}) : (Counts{0, 0, 1})) << line;
  }
}

TEST_P(Import, WhatHasNoIdGetsOneOfWhatItSays) {
  const std::string tea = R"({"type":"finding","content":"tea"})";
  const std::string text =
      tea + "\n" + R"({"type":"finding","content":"boat"})" + "\n" + tea + "\n";
  EXPECT_EQ(counts(import(text)), (Counts{3, 0, 0}));
  expect_again_adds_nothing(text, 3);
  const std::vector<std::pair<std::string, bool>> cases = {
      {R"( { "content" : "tea", "type" : "finding" } )", true},
      {R"({"type":"finding","content":"tea","seq":9,"session_id":"z"})", true},
      {R"({"type":"finding","content":"tea","importance":0.9})", false},
      {R"({"type":"finding","content":"tea","timestamp":"2026-01-01T00:00:00Z"})", false},
  };
  for (const auto& [line, is_known] : cases) {
    EXPECT_EQ(counts(import(line)), is_known ? (Counts{0, 1, 0}) : (Counts{1, 0, 0})) << line;
  }
  EXPECT_EQ(refused(import(R"({"type":"finding"})")).size(), 1u);
}

// Also where the text has no id, and one is made for it.
TEST_P(Import, ARefusalTellsThePositionInTheTextThatWasGiven) {
  for (const std::string_view text :
       {R"({"type":"finding","content":1,"importance":5})",
        R"({"type":"finding","content":1,"importance":5} )",
        R"({"id":"a","type":"finding","content":1,"importance":5})"}) {
    const std::string place = "(at byte " + std::to_string(text.find('5')) + ")";
    EXPECT_NE(refused(import(text)).at(0).find(place), std::string::npos) << text;
  }
}

// As other programs write them: it says what would be taken, not only what is not there.
TEST_P(Import, WhatIsNeitherAnEntryNorAMessageIsRefusedAsSuch) {
  const std::string reason =
      "1: neither an entry, which has a type and a content, nor a message of a chat, which has a "
      "role";
  for (const std::string_view text :
       {R"({"title":"Eggs","mapping":{}})", R"({"type":"user","message":{"role":"user"}})",
        R"({"content":"Hi","sender":"human"})", "{}"}) {
    EXPECT_EQ(refused(import(text)), std::vector<std::string>{reason}) << text;
  }
  const auto asked = import(R"({"type":"user"})", "jsonl");
  EXPECT_NE(refused(asked).at(0).find("member 'content' is missing"), std::string::npos);
}

TEST_P(Import, DeletedIdsAreRefusedWithAReason) {
  ASSERT_TRUE(session_->add(entry_text("gone")).ok());
  ASSERT_TRUE(session_->remove("gone", "").ok());
  EXPECT_EQ(refused(import(entry_text("gone"))),
            std::vector<std::string>{"1: entry 'gone': the id was used before and deleted"});
}

TEST_P(Import, AnExpiredEntryIsThereAlready) {
  const std::string line = R"({"id":"a","type":"finding","content":1,"expires_at":")" +
                           format_rfc3339(host_.clock.now_ms() + 1000) + "\"}";
  EXPECT_EQ(counts(import(line)), (Counts{1, 0, 0}));
  host_.clock.advance_ms(5000);
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound);
  EXPECT_EQ(counts(import(line)), (Counts{0, 1, 0}));
}

// ttl_seconds counts from the first import, which tells no time that could be compared.
TEST_P(Import, AnEntryThatTellsHowLongItLastsIsThereAlready) {
  const std::string at = R"("timestamp":"2020-01-01T00:00:00Z",)";
  for (const std::string& time : {std::string(), at}) {
    const std::string id = time.empty() ? "now" : "then";
    const auto line = [&](std::string_view rest) {
      return R"({"id":")" + id + R"(","type":"finding",)" + time + std::string(rest) + "}";
    };
    const std::string lasting = line(R"("content":"tea","ttl_seconds":86400)");
    EXPECT_EQ(counts(import(lasting)), (Counts{1, 0, 0}));
    expect_again_adds_nothing(lasting, 1);
    EXPECT_EQ(counts(import(line(R"("content":"tea")"))), (Counts{0, 0, 1}));
    EXPECT_EQ(counts(import(line(R"("content":"boat","ttl_seconds":86400)"))), (Counts{0, 0, 1}));
    EXPECT_EQ(counts(import(line(R"("content":"tea","expires_at":"2099-01-01T00:00:00Z")"))),
              (Counts{0, 0, 1}));
  }
}

TEST_P(Import, AMemoryServersFileBecomesLinkedFindings) {
  const std::string text =
      "{\"type\":\"relation\",\"from\":\"Ann\",\"to\":\"Bo\",\"relationType\":\"knows\"}\n"
      "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"tea\"]}"
      "\n"
      "{\"type\":\"entity\",\"name\":\"Bo\",\"entityType\":\"person\",\"observations\":[]}\n";
  const json::Tree report = import(text);
  EXPECT_EQ(counts(report), (Counts{3, 0, 0}));
  EXPECT_EQ(report.get_string("format"), "mcp");
  expect_again_adds_nothing(text, 3);
  const auto all = entries();
  const std::string ann = all[1].get_string("id");
  const auto linked = session_->query(R"({"references":[")" + ann + R"("],"relation":"from"})");
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  ASSERT_EQ(linked->results.size(), 1U);
  EXPECT_EQ(linked->results[0].id(), all[0].get_string("id"));
  EXPECT_EQ(session_->count(R"({"tags":{"include":["person"]}})").ok(), true);
  // It has grown since.
  EXPECT_EQ(counts(import("{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\","
                          "\"observations\":[\"tea\",\"milk\"]}")),
            (Counts{0, 0, 1}));
}

TEST_P(Import, AChatKeepsItsOrderAndGrows) {
  const std::string begin =
      R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},)"
      R"({"role":"user","content":"Hi"})";
  const std::string import_time = format_rfc3339(host_.clock.now_ms());
  const json::Tree report = import(begin + "]");
  EXPECT_EQ(counts(report), (Counts{3, 0, 0}));
  EXPECT_EQ(report.get_string("format"), "chat");
  expect_again_adds_nothing(begin + "]", 3);
  EXPECT_EQ(counts(import(begin + R"(,{"role":"assistant","content":"Again?"}])")),
            (Counts{1, 3, 0}));
  const auto all = entries();
  ASSERT_EQ(all.size(), 4U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].get_string("timestamp"), import_time) << i;
  EXPECT_EQ(all[3].get("content")->get_string("message"), "Again?");
}

// In the same millisecond.
TEST_P(Import, WhatIsSaidAfterAnImportedChatIsNewer) {
  ASSERT_EQ(
      counts(import(R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes"}])")),
      (Counts{2, 0, 0}));
  ASSERT_TRUE(session_->add(R"({"id":"after","type":"message","content":"Tea?"})").ok());
  const auto newest = session_->query(R"({"sort_by":"time","limit":1})");
  ASSERT_TRUE(newest.ok()) << newest.status().message();
  EXPECT_EQ(newest->results.at(0).id(), "after");
}

// Programs tell when people spoke, but often not when tools answered.
TEST_P(Import, MessagesWithoutTimesKeepTheirPlaceAmongThoseWithOne) {
  const std::string chat =
      R"({"messages":[{"role":"system","content":"Be kind"},)"
      R"({"role":"user","content":"Hi","timestamp":"2001-01-01T00:00:00Z"},)"
      R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c","output":"9"},)"
      R"({"role":"assistant","content":"Yes","timestamp":"2001-01-02T00:00:00Z"}],)"
      R"("system":"Be brief"})";
  const std::string undated = R"({"messages":[{"role":"user","content":"When?"}]})";
  const std::string later =
      R"({"messages":[{"role":"system","content":"Now"},)"
      R"({"role":"user","content":"Tea","timestamp":"2002-01-01T00:00:00Z"}]})";
  const std::string all = chat + "\n" + undated + "\n" + later;
  const std::string import_time = format_rfc3339(host_.clock.now_ms());
  EXPECT_EQ(counts(import(all)), (Counts{9, 0, 0}));
  expect_again_adds_nothing(all, 9);
  const std::string first = "2001-01-01T00:00:00.000Z";
  const std::string last = "2002-01-01T00:00:00.000Z";
  std::vector<std::string> times;
  for (const auto& entry : entries()) times.push_back(entry.get_string("timestamp"));
  EXPECT_EQ(times, (std::vector<std::string>{first, first, first, first, "2001-01-02T00:00:00.000Z",
                                             first, import_time, last, last}));
}

// Those before the first time wait for it as long as they are not written.
TEST_P(Import, ThousandsOfMessagesBeforeTheFirstTimeAreAllTaken) {
  constexpr size_t kUndatedCount = 1300;
  std::string chat;
  for (size_t i = 0; i < kUndatedCount; ++i) {
    chat += R"({"role":"user","content":")" + std::to_string(i) + "\"}\n";
  }
  chat += R"({"role":"user","content":"Tea","timestamp":"2001-01-01T00:00:00Z"})";
  const std::string import_time = format_rfc3339(host_.clock.now_ms());
  EXPECT_EQ(counts(import(chat)), (Counts{kUndatedCount + 1, 0, 0}));
  const auto all = entries();
  ASSERT_EQ(all.size(), kUndatedCount + 1);
  EXPECT_EQ(all.front().get_string("timestamp"), import_time);
  for (size_t i = kUndatedCount - 200; i <= kUndatedCount; ++i) {
    EXPECT_EQ(all[i].get_string("timestamp"), "2001-01-01T00:00:00.000Z") << i;
  }
}

// As programs write it that sort the members of an object.
TEST_P(Import, AChatWithItsSystemBehindItsMessagesGrows) {
  const auto chat = [](const std::string& more) {
    return R"({"messages":[{"role":"user","content":"Hi"}, {"role":"assistant","content":"Yes"})" +
           more + R"(],"model":"m","system":"Be brief"})";
  };
  const std::string more = R"(,{"role":"user","content":"Why?"})";
  EXPECT_EQ(counts(import(chat(""))), (Counts{3, 0, 0}));
  expect_again_adds_nothing(chat(""), 3);
  EXPECT_EQ(counts(import(chat(more))), (Counts{1, 3, 0}));
  expect_again_adds_nothing(chat(more), 4);
  // Of several conversations each has its own.
  const std::string first = R"({"messages":[{"role":"user","content":"1"}],"system":"Be kind"})";
  const auto both = [&](const std::string& added) { return first + "\n" + chat(added) + "\n"; };
  EXPECT_EQ(counts(import(both(""))), (Counts{5, 0, 0}));
  EXPECT_EQ(counts(import(both(more))), (Counts{1, 5, 0}));
  std::vector<std::string> said;
  for (const auto& entry : entries()) said.push_back(entry.get("content")->get_string("message"));
  EXPECT_EQ(said, (std::vector<std::string>{"Hi", "Yes", "Be brief", "Why?", "1", "Be kind", "Hi",
                                            "Yes", "Be brief", "Why?"}));
}

TEST_P(Import, AChatMayComeAsLinesOrInAnObject) {
  const std::string one = R"({"role":"user","content":"Hi"})";
  const std::string two = R"({"role":"tool","tool_call_id":"t","content":"9"})";
  EXPECT_EQ(counts(import(one + "\n" + two + "\n")), (Counts{2, 0, 0}));
  EXPECT_EQ(counts(import(R"({"model":"m","messages":[)" + one + "," + two + "]}")),
            (Counts{0, 2, 0}));
  EXPECT_EQ(entries()[1].get_string("type"), "tool_result");
}

TEST_P(Import, AResultInAChatRefersToItsCall) {
  const std::string call = R"({"role":"assistant","content":null,"tool_calls":[{"id":"t"}]})";
  const std::string result = R"({"role":"tool","tool_call_id":"t","content":"9"})";
  const std::string chat = result + "\n" + call + "\n" + result + "\n";
  EXPECT_EQ(counts(import(chat)), (Counts{3, 0, 0}));
  const auto all = entries();
  EXPECT_EQ(all[0].get("references")->canonical(), "[]");
  EXPECT_EQ(all[2].get("references")->canonical(), "[\"" + all[1].get_string("id") + "\"]");
  EXPECT_EQ(counts(import(chat + call + "\n" + result)), (Counts{2, 3, 0}));
}

TEST_P(Import, AFormatThatIsNamedIsNotGuessedAt) {
  const std::string message = R"({"role":"user","content":"Hi"})";
  EXPECT_EQ(counts(import(message, "jsonl")), (Counts{0, 0, 1}));
  EXPECT_EQ(counts(import("[" + message + "]", "json")), (Counts{0, 0, 1}));
  EXPECT_EQ(counts(import(message, "mcp")), (Counts{0, 0, 1}));
  EXPECT_EQ(counts(import(entry_text("a"), "chat")), (Counts{0, 0, 1}));
  EXPECT_EQ(counts(import(R"({"type":"message","role":"user","content":"Hi"})", "chat")),
            (Counts{1, 0, 0}));
  for (const auto wrong :
       {R"({"format":"xml"})", R"({"format":1})", R"({"dryrun":true})", R"({"dry_run":1})", "[]"}) {
    EXPECT_EQ(session_->import_file(kIn, wrong).code(), Code::kInvalidArgument) << wrong;
  }
}

TEST_P(Import, AnEmptyFileAddsNothing) {
  for (const std::string text : {"", "\n\n", "\xEF\xBB\xBF", "[]", "{\"entries\":[]}"}) {
    EXPECT_EQ(counts(import(text)), Counts{}) << text;
  }
}

TEST_P(Import, AByteOrderMarkAndCrlfAreFine) {
  EXPECT_EQ(counts(import("\xEF\xBB\xBF" + entry_text("a") + "\r\n" + entry_text("b") + "\r\n")),
            (Counts{2, 0, 0}));
}

TEST_P(Import, TwoLinesJoinedAreRefusedAndTheOthersAreNot) {
  const json::Tree report = import(entry_text("a") + "\n" + entry_text("b") + entry_text("c") +
                                   "\n" + entry_text("d") + "\n");
  EXPECT_EQ(counts(report), (Counts{2, 0, 1}));
  EXPECT_EQ(report.get("refused")->items()[0].get_int64("line"), 2);
}

TEST_P(Import, AStretchOfNulsCostsItsLine) {
  const json::Tree report =
      import(entry_text("a") + "\n" + std::string(70'000, '\0') + "\n" + std::string(5, '\0') +
             entry_text("b") + "\n" + entry_text("c") + "\n" + std::string(300, '\0'));
  EXPECT_EQ(counts(report), (Counts{2, 0, 3}));
}

TEST_P(Import, ALineOfFiveMegabytesIsRefusedAndTheNextGoesOn) {
  const json::Tree report =
      import(entry_text("a") + "\n" + entry_text("b", std::string(5'000'000, 'x')) + "\n" +
             entry_text("c") + "\n");
  EXPECT_EQ(counts(report), (Counts{2, 0, 1}));
  EXPECT_EQ(report.get("refused")->items()[0].get_int64("line"), 2);
  // What could never be an entry is not even held.
  const json::Tree longer = import(std::string(20'000'000, 'x') + "\n" + entry_text("d") + "\n");
  EXPECT_EQ(counts(longer), (Counts{1, 0, 1}));
  EXPECT_NE(refused(longer)[0].find("1: the line is longer than"), std::string::npos);
}

TEST_P(Import, EveryCutOfAFileKeepsItsWholeLines) {
  std::string text;
  std::vector<size_t> ends;
  for (const auto id : {"a", "b", "c"}) {
    text += entry_text(id) + "\n";
    ends.push_back(text.size() - 1);
  }
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Host host;
    Place place(PlaceKind::kMemory, host);
    const auto session = place.open();
    const auto report = session->import_text(std::string_view(text).substr(0, cut));
    ASSERT_TRUE(report.ok());
    int64_t whole = 0;
    for (const size_t end : ends) whole += end <= cut ? 1 : 0;
    const bool is_between =
        cut == 0 || text[cut - 1] == '\n' || (cut < text.size() && text[cut] == '\n');
    EXPECT_EQ(counts(*report), (Counts{whole, 0, is_between ? 0 : 1})) << cut;
  }
}

TEST_P(Import, ACutArrayGivesItsWholeElements) {
  const json::Tree report = import("[" + entry_text("a") + ",\n" + entry_text("b") + ",\n" +
                                   entry_text("c").substr(0, 20));
  EXPECT_EQ(counts(report), (Counts{2, 0, 2}));
  EXPECT_EQ(refused(report)[0], "3: the text ends in the middle of this element");
  EXPECT_NE(refused(report)[1].find("the rest is missing"), std::string::npos);
}

TEST_P(Import, AChecksumIsCheckedWhateverTheWhiteSpace) {
  // {"content":"tea","type":"finding"}
  const std::string digest = "d11eb6d4331d1a7c0b1583611240eb4042f701819b34cdbdf9f8a552446867e7";
  for (const std::string blank : {"", " "}) {
    const std::string text =
        R"({"checksum":)" + blank + "\"sha256:" + digest + R"(","content":"tea","type":"finding"})";
    EXPECT_EQ(counts(import(text)), blank.empty() ? (Counts{1, 0, 0}) : (Counts{0, 1, 0}));
    std::string wrong = text;
    wrong.replace(wrong.find("tea"), 3, "ink");
    EXPECT_EQ(counts(import(wrong)), (Counts{0, 0, 1}));
    std::string misnamed = text;  // by one flipped bit: not an entry without a checksum
    misnamed.replace(misnamed.find("checksum"), 8, "checksul");
    EXPECT_EQ(counts(import(misnamed)), (Counts{0, 0, 1}));
  }
}

// import() compares what the dry run said.
TEST_P(Import, ADryRunKnowsWhatCameBeforeInTheText) {
  const std::string entity = R"({"type":"entity","name":"Ann","entityType":"person"})";
  EXPECT_EQ(counts(import(entity + "\n" + entity)), (Counts{1, 1, 0}));
  const std::string begin = R"({"id":"a","type":"finding","content":"tea")";
  const std::string timed = begin + R"(,"timestamp":"2026-01-10T14:20:00Z"})";
  const std::string later = begin + R"(,"timestamp":"2026-01-10T14:21:00Z"})";
  EXPECT_EQ(counts(import(timed + "\n" + begin + "}\n" + later)), (Counts{1, 1, 1}));
  const std::string end = R"({"id":"b","type":"finding","content":"tea","ttl_seconds":60})";
  EXPECT_EQ(counts(import(end + "\n" + end)), (Counts{1, 1, 0}));
}

TEST_P(Import, RefusalsAreListedByLine) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  // One that the log refuses stands before one that is no JSON.
  const json::Tree report = import(entry_text("a", "x") + "\nno json\n" + entry_text("a", "y"));
  std::vector<int64_t> lines;
  for (const auto& item : report.get("refused")->items()) lines.push_back(item.get_int64("line"));
  EXPECT_EQ(lines, (std::vector<int64_t>{1, 2, 3}));
}

TEST_P(Import, TheFirstThousandRefusalsAreListedWhateverIsFoundFirst) {
  const std::string known = R"({"type":"finding","id":"a","content":"tea"})";
  import(known);
  // That the id has other content is found when the candidates of a group are looked at.
  std::string text = R"({"type":"finding","id":"a","content":"coffee"})"
                     "\n";
  for (int i = 0; i < 2500; ++i) text += "damage\n";
  const json::Tree report = import(text);
  EXPECT_EQ(report.get_int64("refused_total"), 2501);
  const auto listed = refused(report);
  ASSERT_EQ(listed.size(), 1000);
  EXPECT_EQ(listed.front(), "1: entry 'a': the id exists with other content");
  EXPECT_TRUE(listed.back().starts_with("1000: ")) << listed.back();
}

TEST_P(Import, ADirectoryOrAMissingFileIsRefused) {
  outside_.write_file("in/folder/file", "");
  EXPECT_EQ(session_->import_file("in/folder", "").code(), Code::kIo);
  EXPECT_EQ(session_->import_file("in/missing", "").code(), Code::kNotFound);
  EXPECT_EQ(session_->import_file("missing/missing", "").code(), Code::kNotFound);
  EXPECT_EQ(session_->import_file("", "").code(), Code::kInvalidArgument);
}

TEST_P(Import, AFileThatCannotBeReadFurtherKeepsWhatWasAdded) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += entry_text("e" + std::to_string(i), std::string(1000, 'x')) + "\n";
  }
  outside_.write_file(kIn, text);
  outside_.set_fault_hook(io::FailNth(6, EIO, true, {io::OperationKind::kRead}));
  EXPECT_EQ(session_->import_file(kIn, "").code(), Code::kIo);
  outside_.set_fault_hook({});
  const int64_t kept = session_->stats()->get_int64("entries");
  EXPECT_GT(kept, 500);
  EXPECT_EQ(counts(import(text)), (Counts{3000 - kept, kept, 0}));
}

TEST_P(Import, ACallbackThatStopsKeepsWhatWasAddedAndTheRestFollows) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += entry_text("e" + std::to_string(i), std::string(100'000, 'x')) + "\n";
  }
  outside_.write_file(kIn, text);
  struct Stopper {
    static int32_t hear(void* self, const char* operation, uint64_t done, uint64_t total) {
      auto& stopper = *static_cast<Stopper*>(self);
      EXPECT_STREQ(operation, "import");
      EXPECT_LE(done, total);
      stopper.calls += 1;
      return done > 5'000'000 ? 1 : 0;
    }
    int calls = 0;
  } stopper;
  EXPECT_EQ(session_->import_file(kIn, "", {&Stopper::hear, &stopper}).code(), Code::kCallback);
  EXPECT_GE(stopper.calls, 3);
  EXPECT_LE(stopper.calls, 7);
  const auto stats = session_->stats();
  EXPECT_GT(stats->get_int64("entries"), 10);
  EXPECT_LT(stats->get_int64("entries"), 60);
  const Counts rest = counts(import(text));
  EXPECT_EQ(rest.added + rest.existing, 60);
  EXPECT_EQ(rest.existing, stats->get_int64("entries"));
}

// With every one of these limits: what the dry run says, and then whether the import does it.
TEST(ImportIntoLittleRoom, ADryRunSaysWhenThereIsNotEnoughOfIt) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += entry_text("e" + std::to_string(i), std::string(300, 'x')) + "\n";
  }
  int said = 0;
  for (const bool automatic : {false, true}) {
    for (uint64_t limit_bytes = 18'000; limit_bytes < 26'000; limit_bytes += 50) {
      SCOPED_TRACE(std::to_string(limit_bytes) + (automatic ? " automatic" : ""));
      Host host;
      io::SimulatedFileSystem outside;
      outside.write_file(kIn, text);
      host.context.file_system = &outside;
      host.context.settings.session_bytes_max = limit_bytes;
      host.context.settings.compaction.automatic = automatic;
      SessionDisk disk(host);
      disk.make();
      const auto session = disk.open();
      ASSERT_TRUE(session
                      ->add(R"({"id":"faint","type":"message","content":"x","importance":0,)"
                            R"("timestamp":"2001-01-01T00:00:00Z"})")
                      .ok())
          << "which a compaction evicts";
      const auto dry = session->import_file(kIn, R"({"dry_run":true})");
      ASSERT_TRUE(dry.ok()) << dry.status().message();
      EXPECT_EQ(dry->get_int64("added"), 40);
      const auto report = session->import_file(kIn, "");
      const bool is_as_said = report.ok() && session->get("faint").ok();
      ASSERT_EQ(dry->get_bool("exceeds_limit"), !is_as_said);
      said += is_as_said ? 1 : 0;
    }
  }
  EXPECT_GT(said, 10);
  EXPECT_LT(said, 310) << "or nothing is tested";
}

TEST(ImportOverDamage, ADamagedLineUnderTheIdIsNotTakenForTheEntry) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  ASSERT_TRUE(session->add(entry_text("b")).ok());
  std::string bytes = disk.bytes("memory.jsonl");
  bytes[bytes.find("hello")] = 'j';
  disk.write("memory.jsonl", bytes);
  const auto report = session->import_text(entry_text("a") + "\n" + entry_text("b"));
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("existing"), 1);
  EXPECT_EQ(report->get_int64("refused_total"), 1);
  const std::string reason = report->get("refused")->items()[0].get_string("reason");
  EXPECT_NE(reason.find("cannot be read"), std::string::npos) << reason;
}

}  // namespace
}  // namespace varve::session
