// Entries: add, add_batch, get, delete, and their documented errors.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

class Entries : public testing::TestWithParam<bool> {
 protected:
  TempDirectory directory_;
  Store store_{GetParam() ? "memory:" : directory_.path()};
  Session session_{store_, R"({"session_id":"s"})"};
};
INSTANTIATE_TEST_SUITE_P(, Entries, testing::Bool(), [](const auto& instance) {
  return instance.param ? "Memory" : "Directory";
});

TEST_P(Entries, ComeBackAsTheyAreStored) {
  const Answer id = session_.add(
      R"({ "type":"finding", "content":{"drink":"tea","n":9007199254740993}, "tags":["a","b.c"],
          "importance":0.75, "mine":[1] })");
  ASSERT_TRUE(id.ok()) << id.outcome;
  EXPECT_EQ(id.text.substr(0, 4), "mem_");
  EXPECT_EQ(id.text.size(), 30U);
  const Answer line = session_.get(id.text);
  const json::object stored = line.object();
  EXPECT_EQ(stored.at("id").as_string(), id.text);
  EXPECT_EQ(stored.at("session_id").as_string(), "s");
  EXPECT_EQ(stored.at("seq"), 1);
  EXPECT_EQ(stored.at("importance"), 0.75);
  EXPECT_EQ(stored.at("tags"), json::parse(R"(["a","b.c"])"));
  EXPECT_EQ(stored.at("mine"), json::parse("[1]"));
  EXPECT_NE(line.text.find("\"n\":9007199254740993"), std::string::npos) << line.text;
  EXPECT_EQ(std::string(stored.at("checksum").as_string()).substr(0, 7), "sha256:");
  EXPECT_EQ(line.text.find('\n'), std::string::npos);
}

// The library's members are put in between, where the names belong.
TEST_P(Entries, KeepMembersOfTheirOwnWhateverTheirNames) {
  const std::string own = R"("a":1,"bb":2,"ck":3,"seqx":4,"zz":5)";
  const auto text_of = [&](const std::string& id) {
    return R"({"id":")" + id + R"(","type":"finding","content":1,)" + own + "}";
  };
  ASSERT_TRUE(session_.add(text_of("one")).ok());
  ASSERT_TRUE(session_.add_batch("[" + text_of("two") + "," + text_of("three") + "]").ok());
  const json::value expected = json::parse("{" + own + "}");
  for (const std::string id : {"one", "two", "three"}) {
    const json::object stored = session_.get(id).object();
    for (const auto& [name, value] : expected.as_object()) {
      ASSERT_TRUE(stored.contains(name)) << id << " has no " << name;
      EXPECT_EQ(stored.at(name), value) << id << " " << name;
    }
  }
  EXPECT_EQ(session_.verify().object().at("ok"), true);
}

TEST_P(Entries, AreRefusedWithTheMemberAndItsOffset) {
  struct Case {
    std::string text;
    std::string member;
    std::string at;
  };
  const std::vector<Case> cases = {
      {R"({"content":1})", "type", "{"},
      {R"({"type":"finding"})", "content", "{"},
      {R"({"type":"Finding","content":1})", "type", "\"Finding\""},
      {R"({"type":"finding","content":1,"importance":1.5})", "importance", "1.5"},
      {R"({"type":"finding","content":1,"tags":["a",7]})", "tags[1]", "7]"},
      {R"({"type":"finding","content":1,"tags":["a b"]})", "tags[0]", "\"a b\""},
      {R"({"type":"finding","content":1,"id":"-x"})", "id", "\"-x\""},
      {R"({"type":"finding","content":1,"timestamp":"yesterday"})", "timestamp", "\"yesterday\""},
      {R"({"type":"finding","content":1,"references":"a"})", "references", "\"a\"}"},
  };
  for (const auto& [text, member, at] : cases) {
    SCOPED_TRACE(text);
    const Outcome outcome = session_.add(text).outcome;
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), member);
    EXPECT_EQ(outcome.detail("offset"), std::to_string(text.find(at)));
  }
  EXPECT_EQ(session_.stats().object().at("entries"), 0);
}

TEST_P(Entries, AreRefusedWhenTheyAreNoJsonObject) {
  std::string deep =
      R"({"type":"finding","content":)" + std::string(64, '[') + std::string(64, ']') + "}";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("null"), std::string("{"),
        std::string(R"({"type":"finding","content":1}x)"),
        std::string(R"({"type":"finding","content":NaN})"),
        std::string(R"({"type":"finding","content":1e400})"),
        std::string(R"({"type":"finding","content":"\uD800"})"),
        std::string(R"({"type":"finding","content":{"a":1,"a":2}})"), deep}) {
    const Outcome outcome = session_.add(text).outcome;
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << text;
    EXPECT_NE(outcome.detail("offset"), "") << text;
  }
}

TEST_P(Entries, UseAnIdOnce) {
  ASSERT_TRUE(session_.add(entry("a")).ok());
  const Outcome taken = session_.add(entry("a", "another")).outcome;
  EXPECT_EQ(taken.status, VARVE_ALREADY_EXISTS);
  EXPECT_NE(taken.message.find("a"), std::string::npos);
  ASSERT_TRUE(session_.remove("a").ok());
  EXPECT_EQ(session_.add(entry("a")).outcome.status, VARVE_ALREADY_EXISTS);
}

TEST_P(Entries, OfANewerVersionAreRefused) {
  EXPECT_EQ(session_.add(R"({"type":"finding","content":1,"schema_version":2})").outcome.status,
            VARVE_FORMAT_VERSION);
}

TEST_P(Entries, OfAnotherSessionAreRefused) {
  const Outcome outcome =
      session_.add(R"({"type":"finding","content":1,"session_id":"other"})").outcome;
  EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.detail("member"), "session_id");
}

TEST(EntriesOfAFullSession, AreRefusedWithSizeAndLimit) {
  const Store store("memory:", R"({"storage":{"max_session_size_mb":1}})");
  const Session session(store);
  Outcome outcome;
  for (int i = 0; i < 20 && outcome.ok(); ++i) {
    outcome = session.add(entry("", std::string(100'000, 'x'))).outcome;
  }
  EXPECT_EQ(outcome.status, VARVE_SIZE_LIMIT);
  EXPECT_EQ(outcome.detail("limit"), "1048576");
  EXPECT_GT(std::stoul(outcome.detail("size")), 1048576U);
}

TEST_P(Entries, BatchesAreAnArrayOrLines) {
  const Answer array = session_.add_batch("[" + entry("a") + "," + entry("") + "]");
  ASSERT_TRUE(array.ok()) << array.outcome;
  const json::array ids = array.value().as_array();
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0].as_string(), "a");
  EXPECT_TRUE(session_.get(std::string(ids[1].as_string())).ok());
  const Answer lines = session_.add_batch(entry("b") + "\n\r\n" + entry("c") + "\r\n");
  EXPECT_EQ(lines.text, R"(["b","c"])");
  EXPECT_EQ(session_.stats().object().at("entries"), 4);
}

TEST_P(Entries, EmptyBatchesAddNothing) {
  EXPECT_EQ(session_.add_batch("[]").text, "[]");
  EXPECT_EQ(session_.add_batch("").text, "[]");
  EXPECT_EQ(session_.add_batch("\n \n").text, "[]");
}

TEST_P(Entries, BatchesNameTheEntryThatIsWrong) {
  const std::string good = entry("");
  const std::string bad = R"({"type":"finding","content":1,"tags":["not a tag"]})";
  const std::string array = "[" + good + "," + good + "," + good + "," + bad + "]";
  const Outcome in_array = session_.add_batch(array).outcome;
  EXPECT_EQ(in_array.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(in_array.detail("member"), "[3].tags[0]");
  EXPECT_EQ(in_array.detail("offset"), std::to_string(array.find("\"not a tag\"")));
  const std::string lines = good + "\n\n" + bad + "\n";
  const Outcome in_lines = session_.add_batch(lines).outcome;
  EXPECT_EQ(in_lines.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(in_lines.detail("line"), "3");
  EXPECT_EQ(in_lines.detail("member"), "tags[0]");
  EXPECT_EQ(in_lines.detail("offset"), std::to_string(lines.find("\"not a tag\"")));
  EXPECT_EQ(session_.stats().object().at("entries"), 0);  // all or none
}

TEST(EntriesOfABatch, ThatAreTooLargeAreNamed) {
  const Store store("memory:", R"({"storage":{"max_entry_size_bytes":1000}})");
  const Session session(store);
  const std::string large = entry("", std::string(1000, 'x'));
  const std::string array = "[" + entry("") + ", " + large + "]";
  const Outcome in_array = session.add_batch(array).outcome;
  EXPECT_EQ(in_array.status, VARVE_SIZE_LIMIT);
  EXPECT_EQ(in_array.detail("member"), "[1]") << in_array;
  EXPECT_EQ(in_array.detail("offset"), std::to_string(array.find(large))) << in_array;
  EXPECT_EQ(in_array.detail("limit"), "1000");
  EXPECT_EQ(session.add_batch(entry("") + "\n" + large).outcome.detail("line"), "2");
}

TEST_P(Entries, BatchesAreAllOrNone) {
  ASSERT_TRUE(session_.add(entry("taken")).ok());
  EXPECT_EQ(session_.add_batch(entry("a") + "\n" + entry("taken")).outcome.status,
            VARVE_ALREADY_EXISTS);
  EXPECT_EQ(session_.add_batch(entry("b") + "\n" + entry("b")).outcome.status,
            VARVE_ALREADY_EXISTS);
  EXPECT_EQ(session_.get("a").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.get("b").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.stats().object().at("entries"), 1);
}

TEST_P(Entries, LongIdsComeBackFromBatchesWhole) {
  const std::string id(128, 'x');
  EXPECT_EQ(session_.add(entry(id)).text, id);
  // Ids of 128 bytes written as escapes: the answer is longer than what a plain text would need.
  std::string array = "[";
  for (int i = 0; i < 50; ++i) {
    array += std::string(i == 0 ? "" : ",") + R"({"type":"f","content":0})";
  }
  EXPECT_EQ(session_.add_batch(array + "]").value().as_array().size(), 50U);
}

TEST_P(Entries, AreNotFoundWhenTheyAreNotThere) {
  EXPECT_EQ(session_.get("never").outcome.status, VARVE_NOT_FOUND);
  ASSERT_TRUE(session_.add(entry("a")).ok());
  ASSERT_TRUE(session_.remove("a", "asked to").ok());
  EXPECT_EQ(session_.get("a").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.remove("a").status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.remove("never").status, VARVE_NOT_FOUND);
  ASSERT_TRUE(session_
                  .add(R"({"id":"old","type":"finding","content":1,)"
                       R"("expires_at":"2001-01-01T00:00:00Z"})")
                  .ok());
  EXPECT_EQ(session_.get("old").outcome.status, VARVE_NOT_FOUND);
}

TEST_P(Entries, AreAskedForByAnId) {
  for (const std::string_view id : {"", "a b", "../a", "-a", "\xC3\xA9"}) {
    EXPECT_EQ(session_.get(id).outcome.status, VARVE_INVALID_ARGUMENT) << id;
    EXPECT_EQ(session_.remove(id).status, VARVE_INVALID_ARGUMENT) << id;
  }
  EXPECT_EQ(session_.get(std::string(129, 'a')).outcome.status, VARVE_INVALID_ARGUMENT);
}

TEST_P(Entries, ReasonsAreAtMost1024Bytes) {
  ASSERT_TRUE(session_.add(entry("a")).ok());
  const Outcome outcome = session_.remove("a", std::string(1025, 'r'));
  EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.detail("limit"), "1024");
  EXPECT_TRUE(session_.remove("a", std::string(1024, 'r')).ok());
}

TEST(EntryDelete, LeavesAnAuditLineWithoutContent) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a", "a secret")).ok());
  ASSERT_TRUE(session.remove("a", "user request").ok());
  const std::string audit = read_file(directory.path() + "/sessions/s/tombstones.jsonl");
  const json::object line = json::parse(audit).as_object();
  EXPECT_EQ(line.at("id").as_string(), "a");
  EXPECT_EQ(line.at("reason").as_string(), "user request");
  EXPECT_TRUE(line.contains("timestamp"));
  EXPECT_EQ(audit.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace varve_test
