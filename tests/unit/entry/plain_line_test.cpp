#include "entry/plain_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/sha256.h"
#include "entry_fixture.h"

namespace varve::entry {
namespace {

class PlainLines : public EntryFixture {
 protected:
  // What read_line() says of a line with a blank in it, which is never plain.
  Status read_long(std::string_view line, EntryFacts* facts) {
    std::string other(line);
    other.insert(1, " ");
    EntryFacts scratch;
    EXPECT_FALSE(read_plain_line(other, &scratch)) << other;
    return read_line(other, document_, facts);
  }

  // Facts that were used before: what a line does not have must not stay in them.
  static EntryFacts used_facts() {
    EntryFacts facts;
    facts.tags = {"old", "older", "oldest"};
    facts.references = {"old", "older", "oldest"};
    facts.content_keys = {"old", "older", "oldest", "yet older"};
    facts.expires_at_ms = 5;
    facts.importance = 0.1;
    facts.batch = {7, 3};
    facts.trace_id = "old";
    facts.relations.resize(1);
    return facts;
  }

  // With a checksum that fits, whatever the rest is; members are sorted as given.
  static std::string with_checksum(std::string_view before, std::string_view after) {
    const std::string open = "{" + std::string(before);
    const std::string rest = std::string(after) + "}";
    return open + "\"checksum\":\"sha256:" + to_hex(sha256(open, rest)) + "\"," + rest;
  }
};

constexpr std::string_view kContent = R"("content":{"message":"tea","role":"user"},)";
constexpr std::string_view kMiddle =
    R"("decay_factor":1,"id":"a","importance":0.5,"references":["r"],"schema_version":1,"seq":4,)";
constexpr std::string_view kEnd =
    R"("session_id":"s","tags":["t.u"],"timestamp":"2026-01-10T14:23:45.678Z","type":"message")";

TEST_F(PlainLines, AreReadAsTheLongWayReadsThem) {
  for (const std::string_view text :
       {R"({"type":"message","content":"hi"})",
        R"({"type":"t","content":{"b":[1],"a":"x\ny","n":1.5,"t":true,"z":null},"tags":["a"]})",
        R"({"type":"t","content":[],"references":["r1","r2"],"importance":1})",
        R"({"type":"t","content":1,"expires_at":"2027-01-01T00:00:00Z","decay_factor":0.5})",
        R"({"type":"t","content":1,"trace_id":"t","span_id":"s"})",
        R"({"type":"t","content":1,"relations":{"b":["x","y"],"a":["z"]},"references":["r"]})",
        R"({"type":"t","content":1,"relations":{"a":[]},"trace_id":"a b"})",
        R"({"type":"t","content":{"message":"日本語"},"importance":0.25})"}) {
    for (const Batch batch : {Batch{}, Batch{3, 2}}) {
      const std::string line = sealed(text, 77, batch);
      EntryFacts facts = used_facts();
      facts.expires_at_ms = kNeverExpires;  // what it leaves out is read_line()'s
      facts.batch = {};
      facts.trace_id.clear();
      if (text.find("relations") == std::string_view::npos) facts.relations.clear();
      ASSERT_TRUE(read_plain_line(line, &facts)) << line;
      EntryFacts by_line = used_facts();
      ASSERT_TRUE(read_line(line, document_, &by_line).ok());
      EntryFacts long_facts = used_facts();
      ASSERT_TRUE(read_long(line, &long_facts).ok());
      expect_same_facts(facts, long_facts, line);
      expect_same_facts(by_line, long_facts, line);
      EXPECT_EQ(facts.seq, 77u);
      EXPECT_TRUE(facts.sealed);
    }
  }
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

// Of the line of the three parts: what is not plain, right or wrong.
const Changes kMiddleChanges = {
    {R"("id":"a")", R"("id":"-")"},
    {R"("id":"a")", R"("id":1)"},
    {R"("importance":0.5)", R"("importance":1.5)"},
    {R"("importance":0.5)", R"("importance":-1)"},
    {R"("importance":0.5)", R"("importance":"1")"},
    {R"("references":["r"])", R"("references":[1])"},
    {R"("references":["r"],)", ""},
    {R"("schema_version":1)", R"("schema_version":2)"},
    {R"("schema_version":1)", R"("schema_version":0)"},
    {R"("seq":4)", R"("seq":0)"},
    {R"("seq":4)", R"("seq":9007199254740992)"},
    {R"("seq":4)", R"("seq":4.5)"},
    {R"("seq":4)", R"("seq":-4)"},
    {R"("decay_factor":1)", R"("decay_factor":1e-9)"},
    {R"("decay_factor":1)", R"("decay_factor":1,"expires_at":"soon")"},
    {R"("decay_factor":1)", R"("decay_factor":1,"expires_at":1)"},
    {R"("schema_version":1)", R"("relations":{},"schema_version":1)"},
    {R"("schema_version":1)", R"("relations":{"a":1},"schema_version":1)"},
    {R"("schema_version":1)", R"("relations":{"a":["b"]],"schema_version":1)"},
    {R"("schema_version":1)", R"("relations":{"a":["c"],"a":["d"]},"schema_version":1)"},
    {R"("schema_version":1)", R"("relations":{"é":["c"]},"schema_version":1)"}};
const Changes kEndChanges = {{R"("tags":["t.u"],)", ""},
                             {"14:23:45.678Z", "25:23:45.678Z"},
                             {R"("type":"message")", R"("type":"Message")"},
                             {R"("type":"message")", R"("trace_id":"é","type":"message")"},
                             {R"("type":"message")", R"("trace_id":1,"type":"message")"},
                             {R"("tags":["t.u"])", R"("span_id":1,"tags":["t.u"])"}};
const std::vector<std::string_view> kBatches = {R"("batch":{"i":3,"n":3},)",
                                                R"("batch":{"i":-1,"n":3},)",
                                                R"("batch":{"i":1,"n":3,"x":1},)",
                                                R"("batch":{"a":1,"n":3},)",
                                                R"("batch":{"i":1,"m":3},)",
                                                R"("batch":1,)",
                                                R"("agent":1,)"};

TEST_F(PlainLines, LeaveTheRestToTheLongWay) {
  const std::string content(kContent);
  const std::string middle(kMiddle);
  const std::string end(kEnd);
  const std::string whole = content + middle + end;
  EntryFacts facts;
  ASSERT_TRUE(read_plain_line(with_checksum("", whole), &facts));
  std::vector<std::string> lines = {"{}",
                                    "[]",
                                    content,
                                    "{" + whole + "}",
                                    with_checksum("", middle + end),
                                    with_checksum("", content + end),
                                    with_checksum("", content + middle),
                                    with_checksum("", whole) + "x",
                                    with_checksum("", whole + R"(} {"a":1)"),
                                    with_checksum("", whole + R"(,"zzz":1)"),
                                    with_checksum("", whole + R"(,"type":"message")")};
  for (const std::string_view batch : kBatches) lines.push_back(with_checksum(batch, whole));
  for (const auto& [from, to] : kMiddleChanges) {
    lines.push_back(with_checksum("", content + replaced(middle, from, to) + end));
  }
  for (const auto& [from, to] : kEndChanges) {
    lines.push_back(with_checksum("", content + middle + replaced(end, from, to)));
  }
  for (const std::string& line : lines) {
    EntryFacts plain;
    EXPECT_FALSE(read_plain_line(line, &plain)) << line;
    // And what they are is the same as ever, for whoever used the facts before.
    EntryFacts short_facts = used_facts();
    EntryFacts long_facts = used_facts();
    const Status read = read_line(line, document_, &short_facts);
    ASSERT_EQ(read.code(), read_long(line, &long_facts).code()) << line;
    if (read.ok()) expect_same_facts(short_facts, long_facts, line);
  }
}

// With the checksum of bytes that are not canonical a line is damaged, but not by this.
TEST_F(PlainLines, HaveTheirMembersInOrder) {
  const std::string whole = std::string(kContent) + std::string(kMiddle) + std::string(kEnd);
  const std::string turned = std::string(kEnd) + "," + std::string(kContent) +
                             replaced(kMiddle, R"("seq":4,)", R"("seq":4)");
  EntryFacts facts;
  EXPECT_FALSE(read_plain_line("", &facts));
  EXPECT_FALSE(read_plain_line(with_checksum("", turned), &facts));
  const std::string with_relations = replaced(
      whole, R"("schema_version")", R"("relations":{"a":["c"],"b":["d"]},"schema_version")");
  EXPECT_TRUE(read_plain_line(with_checksum("", with_relations), &facts));
  const std::string other_relations = replaced(
      whole, R"("schema_version")", R"("relations":{"b":["c"],"a":["d"]},"schema_version")");
  EXPECT_FALSE(read_plain_line(with_checksum("", other_relations), &facts));
  EXPECT_FALSE(read_plain_line(with_checksum(R"("batch":{"n":3,"i":1},)", whole), &facts));
}

TEST_F(PlainLines, NoByteOfOneMayBeAnother) {
  const std::string line =
      with_checksum("", std::string(kContent) + std::string(kMiddle) + std::string(kEnd));
  for (size_t at = 0; at < line.size(); ++at) {
    for (const int change : {1, 2, 32}) {
      std::string other = line;
      other[at] = static_cast<char>(other[at] ^ change);
      EntryFacts facts;
      EXPECT_FALSE(read_plain_line(other, &facts)) << other;
    }
  }
}

}  // namespace
}  // namespace varve::entry
