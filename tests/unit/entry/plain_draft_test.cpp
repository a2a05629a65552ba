#include "entry/plain_draft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "entry_fixture.h"

namespace varve::entry {
namespace {

class PlainDrafts : public EntryFixture {
 protected:
  std::optional<Draft> plain(std::string_view text) {
    json::PlainReader reader(text);
    auto draft = draft_plain(reader, text.size(), options_, ids_);
    return reader.take_end() ? std::move(draft) : std::nullopt;
  }
  // By a Document.
  Result<Draft> made(std::string_view text) {
    VARVE_TRY(document_.parse(text));
    return draft_value(text, document_.root(), options_, ids_);
  }
  // An id that is made is another each time.
  void expect_same(std::string_view text) {
    const auto quick = plain(text);
    const auto slow = made(text);
    ASSERT_TRUE(quick) << text;
    ASSERT_TRUE(slow.ok()) << text << slow.status().message();
    EXPECT_EQ(quick->body, slow->body);
    EXPECT_EQ(quick->batch_at, slow->batch_at);
    EXPECT_EQ(quick->checksum_at, slow->checksum_at);
    EXPECT_EQ(quick->seq_at, slow->seq_at);
    EXPECT_TRUE(quick->facts.relations.empty());
    expect_same_facts(quick->facts, slow->facts, text);
  }
};

TEST_F(PlainDrafts, AreThoseOfADocument) {
  const std::string long_text(300, 'x');
  for (const std::string& text :
       {std::string(R"({"id":"a","type":"message","content":"hi"})"),
        std::string(R"({"content":null,"type":"t","id":"b"})"),
        std::string(R"( { "type" : "finding" , "id":"c","importance":1.0,"content":{"role":"user",)"
                    R"("message":"tea\n\"not\" coffee","n":1.50,"big":12345678901234567,"t":true,)"
                    R"("f":false,"z":null,"list":[1],"object":{"b":1,"a":2},"x":"#12345678"},)"
                    R"("tags":["a.b","c"],"references":["r1","r-2"],)"
                    R"("timestamp":"2026-01-10T15:00:00+01:00"} )"),
        R"({"id":"d","type":"t","content":{"message":")" + long_text + R"(é","role":"user"}})",
        R"({"id":"e","type":"t","content":{")" + long_text + R"(":1,"a":"\\"}})",
        std::string(R"({"id":"f","type":"t","content":[],"tags":[],"references":[],)"
                    R"("importance":0,"timestamp":"2026-01-10 15:00:00.5z"})")}) {
    expect_same(text);
  }
}

TEST_F(PlainDrafts, HaveWhatIsGivenSeldom) {
  const std::string start = R"({"id":"a","type":"t","content":1,)";
  const std::string trace(128, 'x');
  for (const std::string& members :
       {std::string(R"("decay_factor":0.50,"expires_at":"2027-01-10T15:00:00+01:00")"),
        std::string(R"("decay_factor":0,"ttl_seconds":1.5,"seq":77)"),
        std::string(R"("ttl_seconds":10000000000,"schema_version":1,"checksum":"sha256:12")"),
        std::string(R"("trace_id":"a\u0062","span_id":"c")"), R"("trace_id":")" + trace + '"',
        R"("trace_id":"t","session_id":")" + std::string(options_.session_id) +
            R"(","span_id":"s")"}) {
    const std::string text = start + members + "}";
    if (members.find('\\') == std::string::npos) {
      expect_same(text);
    } else {
      EXPECT_FALSE(plain(text));
    }
  }
  EXPECT_FALSE(plain(start + R"("trace_id":"x)" + trace + "\"}"));
  options_.adopt_session = true;
  expect_same(start + R"("session_id":"another"})");
}

// One of them alone is right.
TEST_F(PlainDrafts, ExpireAtAMomentOrAfterAWhile) {
  const std::string moment = R"("expires_at":"2027-01-10T14:00:00.000Z")";
  const std::string a_while = R"("ttl_seconds":60)";
  const std::string start = R"({"id":"a","type":"t","content":1,)";
  for (const std::string& both : {moment + "," + a_while, a_while + "," + moment}) {
    EXPECT_FALSE(plain(start + both + "}"));
    EXPECT_FALSE(made(start + both + "}").ok());
  }
  const auto draft = plain(start + a_while + "}");
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->facts.expires_at_ms, kNowMs + 60'000);
}

TEST_F(PlainDrafts, ExpireNoLaterThanCanBeWritten) {
  const std::string text = R"({"id":"a","type":"t","content":1,"ttl_seconds":60})";
  for (const int64_t now_ms : {kLastMs - 60'000, kLastMs - 1, kLastMs}) {
    options_.now_ms = now_ms;
    expect_same(text);
    EXPECT_EQ(plain(text)->facts.expires_at_ms, kLastMs);
  }
}

TEST_F(PlainDrafts, GetAnIdWhereTheyHaveNone) {
  const auto draft = plain(R"({"type":"message","content":"hi"})");
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->facts.id.substr(0, 4), "mem_");
  EXPECT_NE(draft->body.find("\"id\":\"" + draft->facts.id + "\""), std::string::npos);
  EXPECT_EQ(draft->facts.timestamp_ms, kNowMs);
}

// Right or wrong: another has to look at these.
TEST_F(PlainDrafts, LeaveTheRestToADocument) {
  for (const std::string_view text : {"",
                                      "[]",
                                      "{}",
                                      R"({"type":"t"})",
                                      R"({"content":1})",
                                      R"({"type":"t","content":1,})",
                                      R"({"type":"t","content":1}})",
                                      R"({"type":"t","content":1,"type":"t"})",
                                      R"({"type":"T","content":1})",
                                      R"({"type":1,"content":1})",
                                      R"({"type":"t","content":1,"id":"-a"})",
                                      R"({"type":"t","content":1,"id":""})",
                                      R"({"type":"t","content":1,"importance":1.01})",
                                      R"({"type":"t","content":1,"importance":-0.1})",
                                      R"({"type":"t","content":1,"importance":"1"})",
                                      R"({"type":"t","content":1,"tags":"a"})",
                                      R"({"type":"t","content":1,"tags":["a b"]})",
                                      R"({"type":"t","content":1,"tags":["日"]})",
                                      R"({"type":"t","content":1,"tags":[1]})",
                                      R"({"type":"t","content":1,"references":["a b"]})",
                                      R"({"type":"t","content":1,"timestamp":"today"})",
                                      R"({"type":"t","content":1,"timestamp":1})",
                                      R"({"type":"t","content":1,"seq":"1"})",
                                      R"({"type":"t","content":1,"checksum":1})",
                                      R"({"type":"t","content":1,"schema_version":2})",
                                      R"({"type":"t","content":1,"session_id":"other"})",
                                      R"({"type":"t","content":1,"decay_factor":1.1})",
                                      R"({"type":"t","content":1,"decay_factor":-0.1})",
                                      R"({"type":"t","content":1,"expires_at":"soon"})",
                                      R"({"type":"t","content":1,"expires_at":1})",
                                      R"({"type":"t","content":1,"ttl_seconds":0})",
                                      R"({"type":"t","content":1,"ttl_seconds":-1})",
                                      R"({"type":"t","content":1,"ttl_seconds":10000000001})",
                                      R"({"type":"t","content":1,"ttl_seconds":"1"})",
                                      R"({"type":"t","content":1,"trace_id":""})",
                                      R"({"type":"t","content":1,"span_id":1})",
                                      R"({"type":"t","content":1,"relations":{"a":["b"]}})",
                                      R"({"type":"t","content":1,"batch":{"i":0,"n":1}})",
                                      R"({"type":"t","content":1,"zzz":1})",
                                      R"({"type":"t","content":"\u0041"})"}) {
    EXPECT_FALSE(plain(text)) << text;
  }
}

// Entries with members that are right, wrong, unknown or twice, in any order and with blanks.
class Entries {
 public:
  std::string next() {
    std::vector<std::string> members = {"\"id\":" + pick({"\"a\"", "\"b-2\"", "\"-\"", "1"})};
    const auto add = [&](size_t one_in, const std::string& name,
                         const std::vector<std::string>& values) {
      if (below(one_in) == 0) members.push_back("\"" + name + "\":" + blank() + pick(values));
    };
    members.push_back("\"content\":" + content(2));
    members.push_back("\"type\":" + pick({"\"t\"", "\"message\"", "\"message\"", "\"T\""}));
    add(2, "importance", {"0", "1", "0.50", "1.0", "0.123456789", "2", "1e-1", "\"1\""});
    add(2, "tags", {"[]", "[\"a\"]", "[\"a.b\" , \"c\"]", "[\"a b\"]", "[\"é\"]", "[1]", "{}"});
    add(2, "references", {"[]", "[\"r\"]", "[\"r\",\"s\"]", "[\"-\"]", "null"});
    add(2, "timestamp", {"\"2026-01-10T14:23:45.678Z\"", "\"2026-01-10t14:23:45+02:00\"", "\"x\""});
    add(8, "decay_factor", {"1", "0.50", "0", "1.5", "null"});
    add(8, "expires_at", {"\"2027-01-10T14:23:45.678Z\"", "\"2027-01-10t14:23:45+02:00\"", "1"});
    add(8, "ttl_seconds", {"60", "0.001", "1e3", "0"});
    add(8, "trace_id", {"\"x\"", "\"a b/c\"", "\"\"", "\"é\"", "1"});
    add(8, "span_id", {"\"x\"", "\"\\t\""});
    add(8, "session_id", {"\"sess_1\"", "\"other\""});
    add(8, "schema_version", {"1", "2"});
    add(8, "checksum", {"\"sha256:1\"", "1"});
    add(8, "seq", {"1", "4.5", "\"1\""});
    add(20, "other", {"{\"a\":1}"});
    add(20, "id", {"\"a\""});
    std::shuffle(members.begin(), members.end(), random_);
    std::string text = "{" + blank();
    for (const auto& member : members) text += member + blank() + "," + blank();
    text.erase(text.find_last_of(','));
    return text + "}";
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }
  std::string blank() { return pick({"", "", "", " ", "\n"}); }
  std::string content(int depth) {
    if (depth == 0 || below(3) == 0) {
      return pick({"\"text\"", "\"a\\nb\"", "\"\\u0041\"", "\"é\"", "1", "1.50", "true", "false",
                   "null", "\"" + std::string(below(80), 'm') + "\"", "\"#12345678\"", "1e5"});
    }
    std::string text = "{";
    for (size_t count = below(4); count > 0; --count) {
      text += pick({"\"role\"", "\"message\"", "\"a\"", "\"#12345678\"", "\"b\""}) + ":" +
              content(depth - 1) + ",";
    }
    if (text.back() == ',') text.pop_back();
    return text + "}";
  }

  std::mt19937 random_{3};
};

TEST_F(PlainDrafts, NeverDifferFromThoseOfADocument) {
  Entries entries;
  size_t plain_count = 0;
  for (int i = 0; i < 60'000; ++i) {
    const std::string text = entries.next();
    if (!plain(text)) continue;
    ++plain_count;
    expect_same(text);
    if (HasFailure()) break;
  }
  EXPECT_GT(plain_count, 2000u);
}

TEST_F(PlainDrafts, AreRefusedWhenTheyAreTooLarge) {
  const std::string text = R"({"id":"a","type":"t","content":"0123456789"})";
  const auto whole = make(text);
  ASSERT_TRUE(whole.ok());
  for (size_t limit = 1; limit < 1000; ++limit) {
    options_.entry_bytes_max = limit;
    const auto slow = made(text);
    const auto either = make(text);
    ASSERT_EQ(either.ok(), slow.ok()) << limit;
    if (!slow.ok()) {
      EXPECT_EQ(either.code(), Code::kSizeLimit);
    }
  }
}

}  // namespace
}  // namespace varve::entry
