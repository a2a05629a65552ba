#include <gtest/gtest.h>

#include <string>

#include "base/sha256.h"
#include "base/time.h"
#include "entry/entry.h"
#include "entry_fixture.h"
#include "json/canonical.h"
#include "json/tree.h"

namespace varve::entry {
namespace {

using std::string_literals::operator""s;

class Drafting : public EntryFixture {
 protected:
  std::string body(std::string_view text) {
    const auto result = make(text);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? result->body : std::string();
  }
};

TEST_F(Drafting, GivesDefaultsToWhatIsAbsent) {
  const auto result = make(R"({"type":"message","content":"hi"})");
  ASSERT_TRUE(result.ok()) << result.status().message();
  const std::string& id = result->facts.id;
  EXPECT_EQ(id.substr(0, 4), "mem_");
  EXPECT_EQ(id.size(), 30u);
  EXPECT_EQ(result->body, R"({"content":"hi","decay_factor":1,"id":")" + id +
                              R"(","importance":0.5,"references":[],"schema_version":1,)"
                              R"("session_id":"sess_1","tags":[],)"
                              R"("timestamp":"2026-01-10T14:23:45.678Z","type":"message"})");
  EXPECT_EQ(result->facts.type, "message");
  EXPECT_EQ(result->facts.timestamp_ms, kNowMs);
  EXPECT_EQ(result->facts.expires_at_ms, kNeverExpires);
  EXPECT_EQ(result->facts.importance, 0.5);
  EXPECT_EQ(result->facts.seq, kNoSeq);
  EXPECT_FALSE(result->facts.sealed);
}

TEST_F(Drafting, TakesEveryMemberAndWritesItCanonical) {
  const auto result = make(R"({
    "type": "tool_result", "id": "call-7", "session_id": "sess_1",
    "timestamp": "2026-01-10T15:00:00+01:00", "expires_at": "2027-01-01 00:00:00.12z",
    "content": {"z": 1.0, "a": [9007199254740993, "\u00e9"]},
    "importance": 1.0, "decay_factor": 0.50, "tags": ["b.c", "日本語", "b.c"],
    "references": ["mem_2", "mem_1"], "relations": {"causes": ["mem_3"], "answers": []},
    "trace_id": "4bf92f3577b34da6", "span_id": "00f067aa",
    "schema_version": 0, "seq": 99, "batch": "mine", "checksum": 5, "zzz": {"kept": true},
    "agent": "x"})");
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->body,
            R"({"agent":"x","content":{"a":[9007199254740993,"é"],"z":1},"decay_factor":0.5,)"
            R"("expires_at":"2027-01-01T00:00:00.120Z","id":"call-7","importance":1,)"
            R"("references":["mem_2","mem_1"],"relations":{"answers":[],"causes":["mem_3"]},)"
            R"("schema_version":1,"session_id":"sess_1","span_id":"00f067aa",)"
            R"("tags":["b.c","日本語","b.c"],"timestamp":"2026-01-10T14:00:00.000Z",)"
            R"("trace_id":"4bf92f3577b34da6","type":"tool_result","zzz":{"kept":true}})");
  const EntryFacts& facts = result->facts;
  EXPECT_EQ(facts.id, "call-7");
  EXPECT_EQ(facts.type, "tool_result");
  EXPECT_EQ(facts.timestamp_ms, 1768053600000);
  EXPECT_EQ(facts.expires_at_ms, 1798761600120);
  EXPECT_EQ(facts.importance, 1);
  EXPECT_EQ(facts.tags, (std::vector<std::string>{"b.c", "日本語", "b.c"}));
  EXPECT_EQ(facts.references, (std::vector<std::string>{"mem_2", "mem_1"}));
  ASSERT_EQ(facts.relations.size(), 2u);
  EXPECT_EQ(facts.relations[0].name, "answers");
  EXPECT_EQ(facts.relations[1].name, "causes");
  EXPECT_EQ(facts.relations[1].ids, std::vector<std::string>{"mem_3"});
  EXPECT_EQ(facts.trace_id, "4bf92f3577b34da6");
}

TEST_F(Drafting, InsertPlacesAreWhereTheMembersBelong) {
  const auto result = make(R"({"type":"a","content":1,"bb":1,"ck":2,"seqx":3,"":0})");
  ASSERT_TRUE(result.ok());
  const std::string& text = result->body;
  EXPECT_EQ(text.substr(result->batch_at, 8), "\"bb\":1,\"");
  EXPECT_EQ(text.substr(result->checksum_at, 6), "\"ck\":2");
  EXPECT_EQ(text.substr(result->seq_at, 7), "\"seqx\":");
}

struct Refusal {
  std::string text;
  size_t offset;
  const char* member;
  const char* what;
};

const std::string kStart = R"({"type":"message","content":1,)";  // 30 bytes
const std::string kLongText(129, 'x');

class Refusing : public Drafting {
 protected:
  void expect_refused(std::initializer_list<Refusal> cases) {
    for (const Refusal& test : cases) {
      const auto result = make(test.text);
      ASSERT_FALSE(result.ok()) << test.text;
      EXPECT_EQ(result.code(), Code::kInvalidArgument) << test.text;
      const Status& status = result.status();
      EXPECT_EQ(status.place().offset, test.offset) << test.text << ": " << status.message();
      EXPECT_EQ(status.place().member, test.member) << test.text << ": " << status.message();
      EXPECT_NE(status.message().find(test.what), std::string::npos)
          << test.text << ": " << status.message();
      EXPECT_NE(status.message().find(test.member), std::string::npos) << status.message();
    }
  }
};

TEST_F(Refusing, NamesTheMemberAndItsOffset) {
  expect_refused({
      {"[1]", 0, "", "must be a JSON object"},
      {"\"x\"", 0, "", "must be a JSON object"},
      {R"( {"content":1})", 1, "type", "is missing"},
      {R"({"type":"message"})", 0, "content", "is missing"},
      {R"({"type":"Message","content":1})", 8, "type", "must be a type"},
      {R"({"type":7,"content":1})", 8, "type", "must be a type"},
      {R"({"type":null,"content":1})", 8, "type", "must be a type"},
      {kStart + R"("id":"-x"})", 35, "id", "must be an id"},
      {kStart + R"("id":"../../etc"})", 35, "id", "must be an id"},
      {kStart + R"("id":"a\u0000b"})", 35, "id", "must be an id"},
      {kStart + R"("id":""})", 35, "id", "must be an id"},
      {kStart + R"("id":12})", 35, "id", "must be an id"},
      {kStart + R"("id":null})", 35, "id", "must be an id"},
      {kStart + R"("id":")" + kLongText + "\"}", 35, "id", "must be an id"},
      {kStart + R"("session_id":"sess_2"})", 43, "session_id", "belongs to session 'sess_2'"},
      {kStart + R"("session_id":["sess_1"]})", 43, "session_id", "must be an id"},
      {kStart + R"("timestamp":"yesterday"})", 42, "timestamp", "RFC 3339"},
      {kStart + R"("timestamp":1768055025})", 42, "timestamp", "RFC 3339"},
      {kStart + R"("timestamp":"2026-02-30T00:00:00Z"})", 42, "timestamp", "RFC 3339"},
      {kStart + R"("expires_at":"2026-01-10"})", 43, "expires_at", "RFC 3339"},
      {kStart + R"("expires_at":null})", 43, "expires_at", "RFC 3339"},
      {kStart + R"("ttl_seconds":0})", 44, "ttl_seconds", "above 0"},
      {kStart + R"("ttl_seconds":-1})", 44, "ttl_seconds", "above 0"},
      {kStart + R"("ttl_seconds":"1"})", 44, "ttl_seconds", "above 0"},
      {kStart + R"("ttl_seconds":1e11})", 44, "ttl_seconds", "at most 10000000000"},
      {kStart + R"("importance":1.1})", 43, "importance", "number from 0 to 1"},
      {kStart + R"("importance":-0.1})", 43, "importance", "number from 0 to 1"},
      {kStart + R"("importance":"0.5"})", 43, "importance", "number from 0 to 1"},
      {kStart + R"("importance":NaN})", 43, "importance", "NaN is not a JSON number"},
      {kStart + R"("importance":Infinity})", 43, "importance", "Infinity is not a JSON number"},
      {kStart + R"("importance":1e400})", 43, "importance", "exceeds the range of a double"},
      {kStart + R"("decay_factor":2})", 45, "decay_factor", "number from 0 to 1"},
      {kStart + R"("decay_factor":true})", 45, "decay_factor", "number from 0 to 1"},
      {kStart + R"("trace_id":""})", 41, "trace_id", "1 to 128 characters"},
      {kStart + R"("trace_id":1})", 41, "trace_id", "1 to 128 characters"},
      {kStart + R"("span_id":")" + kLongText + "\"}", 40, "span_id", "1 to 128 characters"},
      {kStart + R"("schema_version":"1"})", 47, "schema_version", "must be an integer"},
      {kStart + R"("schema_version":-1})", 47, "schema_version", "must be an integer"},
      {kStart + R"("schema_version":0.5})", 47, "schema_version", "must be an integer"},
  });
}

TEST_F(Refusing, NamesTheItemOfAListAndItsOffset) {
  expect_refused({
      {kStart + R"("tags":"a"})", 37, "tags", "array of strings"},
      {kStart + R"("tags":["a","b","c d"]})", 46, "tags[2]", "must be a tag"},
      {kStart + R"("tags":["a",5]})", 42, "tags[1]", "must be a string"},
      {kStart + R"("tags":[""]})", 38, "tags[0]", "must be a tag"},
      {kStart + R"("tags":["😀"]})", 38, "tags[0]", "must be a tag"},
      {kStart + R"("references":{"a":1}})", 43, "references", "array of strings"},
      {kStart + R"("references":["ok","a b"]})", 49, "references[1]", "must be an id"},
      {kStart + R"("relations":[]})", 42, "relations", "object of arrays"},
      {kStart + R"("relations":{"a":["x"],"b":["x","-y"]}})", 62, "relations.b[1]",
       "must be an id"},
      {kStart + R"("relations":{"a":"x"}})", 47, "relations.a", "array of strings"},
      {kStart + R"("relations":{"a b":["x"]}})", 49, "relations[\"a b\"]", "relation's name"},
      {kStart + R"("relations":{"":["x"]}})", 46, "relations[\"\"]", "relation's name"},
  });
}

TEST_F(Refusing, NamesWhatTheParserRefusesInTheSameWay) {
  expect_refused({
      {R"({"type":"message","content":{"a":1,"a":2}})", 35, "content.a", "appears twice"},
      {kStart + R"("type":"x"})", 30, "type", "appears twice"},
      {"{\"type\":\"message\",\"content\":[0,\"\xFF\"]}", 32, "content[1]", "invalid UTF-8"},
      {R"({"type":"message","content":{"t":"\ud800"}})", 34, "content.t", "lone surrogate"},
      {R"({"type":"message","content":[1e400]})", 29, "content[0]", "exceeds the range"},
      {R"({"type":"message","content":1} {})", 31, "", "after the value"},
      {R"({"type":"message","content":1)", 29, "", "ends too early"},
      {"", 0, "", "empty"},
  });
}

TEST_F(Drafting, ATtlBecomesTheMomentItEnds) {
  options_.now_ms = 1'000'000;
  const auto result = make(R"({"type":"m","content":1,"ttl_seconds":1.5})");
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->facts.expires_at_ms, 1'001'500);
  EXPECT_NE(result->body.find(R"("expires_at":"1970-01-01T00:16:41.500Z")"), std::string::npos);
  EXPECT_EQ(result->body.find("ttl_seconds"), std::string::npos);
  const auto both =
      make(R"({"type":"m","content":1,"ttl_seconds":1,"expires_at":"2027-01-01T00:00:00Z"})");
  EXPECT_EQ(both.code(), Code::kInvalidArgument);
  EXPECT_EQ(both.status().place().member, "ttl_seconds");
}

// Whatever the clock tells: the index must not know another end than the line has.
TEST_F(Drafting, ATtlEndsNoLaterThanCanBeWritten) {
  for (const int64_t now_ms : {kLastMs - 60'000, kLastMs - 1, kLastMs}) {
    options_.now_ms = now_ms;
    const auto result = make(R"({"type":"m","content":"\u0041","ttl_seconds":60})");
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->facts.expires_at_ms, kLastMs);
    EXPECT_NE(result->body.find(R"("expires_at":"9999-12-31T23:59:59.999Z")"), std::string::npos);
  }
}

TEST_F(Drafting, NamesAreAsLongAsTheyMayBe) {
  const auto with_relation = [&](size_t size) {
    return make(kStart + R"("relations":{")" + std::string(size, 'r') + R"(":[]}})").code();
  };
  EXPECT_EQ(with_relation(64), Code::kOk);
  EXPECT_EQ(with_relation(65), Code::kInvalidArgument);
  for (const std::string name : {"trace_id", "span_id"}) {
    std::string text;
    for (int i = 0; i < 128; ++i) text += "é";  // characters are counted, not bytes
    EXPECT_TRUE(make(kStart + '"' + name + R"(":")" + text + "\"}").ok()) << name;
    EXPECT_EQ(make(kStart + '"' + name + R"(":")" + text + "x\"}").code(), Code::kInvalidArgument);
  }
}

// With those that varve writes itself it is as many as one object may have.
TEST_F(Drafting, AnEntryHasNoMoreMembersOfItsOwnThanCanBeReadAgain) {
  const auto with_members = [&](size_t count) {
    std::string text = R"({"type":"message","content":1)";
    for (size_t i = 0; i < count; ++i) text += ",\"m" + std::to_string(i) + "\":0";
    return make(text + "}");
  };
  const size_t most = json::Limits{}.members_max - 18;
  EXPECT_TRUE(with_members(most).ok());
  const auto refused = with_members(most + 1);
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("at most " + std::to_string(most) + " members"),
            std::string::npos)
      << refused.status().message();
}

TEST_F(Drafting, DepthBeyond64IsRefused) {
  const auto nested = [](size_t depth) {
    return R"({"type":"message","content":)"s + std::string(depth, '[') + std::string(depth, ']') +
           "}";
  };
  EXPECT_TRUE(make(nested(63)).ok());
  const auto result = make(nested(64));
  ASSERT_EQ(result.code(), Code::kInvalidArgument);
  EXPECT_EQ(result.status().place().offset, 28u + 63u);
  EXPECT_EQ(result.status().place().member.substr(0, 13), "content[0][0]");
}

TEST_F(Drafting, LaterFormatVersionsAreRefusedBeforeAnythingElse) {
  for (const char* text :
       {R"({"schema_version":2,"id":7})", R"({"schema_version":99999999999999999999999})"}) {
    const auto result = make(text);
    EXPECT_EQ(result.code(), Code::kFormatVersion) << text;
    EXPECT_EQ(result.status().place().member, "schema_version");
    EXPECT_EQ(result.status().place().offset, 18u);
    EXPECT_NE(result.status().message().find(": use a newer varve"), std::string::npos);
  }
}

TEST_F(Drafting, SizeLimitNamesSizeAndLimit) {
  options_.entry_bytes_max = 1000;
  const auto with_content = [](size_t size) {
    return R"({"type":"message","id":"a","content":")" + std::string(size, 'x') + "\"}";
  };
  const auto result = make(with_content(1000));
  ASSERT_EQ(result.code(), Code::kSizeLimit);
  EXPECT_EQ(result.status().place().limit, 1000u);
  EXPECT_GT(*result.status().place().size, 1000u);
  EXPECT_NE(result.status().message().find("the limit is 1000 (storage.max_entry_size_bytes)"),
            std::string::npos);

  // Whatever is accepted also fits when it is sealed with the largest numbers, and the limit is
  // not much stricter than that.
  size_t accepted = 0;
  for (size_t size = 400; size < 1000; ++size) {
    auto draft = make(with_content(size));
    if (!draft.ok()) {
      EXPECT_EQ(draft.code(), Code::kSizeLimit);
      continue;
    }
    accepted = size;
    const std::string line = seal(*draft, UINT64_MAX, {UINT32_MAX, UINT32_MAX - 1});
    ASSERT_LE(line.size(), 1000u);
  }
  auto largest = make(with_content(accepted));
  EXPECT_EQ(seal(*largest, UINT64_MAX, {UINT32_MAX, UINT32_MAX - 1}).size(), 1000u);

  options_.entry_bytes_max = 0;
  EXPECT_TRUE(make(with_content(3000000)).ok());
}

TEST_F(Drafting, WhiteSpaceDoesNotCountTowardsTheLimitButIsBounded) {
  options_.entry_bytes_max = 1000;
  const std::string text = R"({"type":"message","content":1})";
  EXPECT_TRUE(make(text + std::string(5000, ' ')).ok());
  EXPECT_EQ(make(text + std::string(1000000, ' ')).code(), Code::kSizeLimit);
}

TEST_F(Drafting, AdoptingTakesEntriesOfOtherSessions) {
  options_.adopt_session = true;
  EXPECT_NE(body(R"({"type":"a","content":1,"session_id":"sess_other"})")
                .find(R"("session_id":"sess_1")"),
            std::string::npos);
  EXPECT_TRUE(make(R"({"type":"a","content":1,"session_id":"not an id!"})").ok());
}

TEST_F(Drafting, ContentIsAnyValue) {
  for (const char* content :
       {"null", "true", "0", "-1.5e-7", "\"\"", "[]", "{}", "[[{\"\":[]}]]"}) {
    const std::string text = R"({"type":"a","content":)" + std::string(content) + "}";
    EXPECT_EQ(body(text).substr(0, 11 + std::string_view(content).size()),
              R"({"content":)" + std::string(content));
  }
}

TEST_F(Drafting, ValuesInsideALargerDocumentAreNamedFromItsRoot) {
  const std::string text = R"([{"type":"a","content":1},{"type":"a","content":2,"tags":["x y"]}])";
  ASSERT_TRUE(document_.parse(text).ok());
  std::vector<json::Value> items;
  document_.root().for_each_item([&](json::Value item) {
    items.push_back(item);
    return true;
  });
  EXPECT_TRUE(draft_value(text, items[0], options_, ids_).ok());
  const auto refused = draft_value(text, items[1], options_, ids_);
  ASSERT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().place().member, "[1].tags[0]");
  EXPECT_EQ(refused.status().place().offset, 58u);
}

TEST_F(Drafting, TheBodyIsItsOwnCanonicalForm) {
  const std::string text =
      body(R"({"zz":1,"type":"a","content":{"b":1,"a":"\u007f\u0001"},"tags":["x"],"A":[1.0]})");
  const auto tree = json::Tree::parse(text);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->canonical(), text);
}

}  // namespace
}  // namespace varve::entry
