#include "entry/entry.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "entry_fixture.h"
#include "json/canonical.h"
#include "json/tree.h"

namespace varve::entry {
namespace {

using std::string_literals::operator""s;

class Reading : public EntryFixture {
 protected:
  Status read(std::string_view line) { return read_line(line, document_, &facts_); }

  EntryFacts facts_;
};

// The checksum as anybody with an RFC 8785 library would compute it.
std::string checksum_of(std::string_view line) {
  auto tree = json::Tree::parse(line);
  EXPECT_TRUE(tree.ok());
  tree->erase("checksum");
  return "sha256:" + to_hex(sha256(tree->canonical()));
}

TEST_F(Reading, SealWritesACanonicalLineWithItsChecksum) {
  const std::string line =
      sealed(R"({"type":"message","id":"mem_1","content":"hi","zz":1,"agent":2,"c":3,"seqs":4})", 7,
             {3, 1});
  const auto tree = json::Tree::parse(line);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->canonical(), line);
  EXPECT_EQ(tree->get_string("checksum"), checksum_of(line));
  EXPECT_EQ(tree->get("batch")->canonical(), R"({"i":1,"n":3})");
  EXPECT_EQ(tree->get_int64("seq"), 7);
  EXPECT_EQ(check_seal(line), Seal::kRight);
}

TEST_F(Reading, TheLineIsKnownByteForByte) {
  const std::string line = sealed(R"({"type":"message","id":"mem_1","content":{"b":1,"a":"é"}})");
  const std::string before = "{";
  const std::string after =
      R"("content":{"a":"é","b":1},"decay_factor":1,"id":"mem_1","importance":0.5,)"
      R"("references":[],"schema_version":1,"seq":1,"session_id":"sess_1","tags":[],)"
      R"("timestamp":"2026-01-10T14:23:45.678Z","type":"message"})";
  EXPECT_EQ(line,
            before + "\"checksum\":\"sha256:" + to_hex(sha256(before, after)) + "\"," + after);
}

TEST_F(Reading, SealAgainWithAnotherSeqGivesTheOtherLine) {
  auto draft = make(R"({"type":"message","id":"mem_1","content":"hi"})");
  ASSERT_TRUE(draft.ok());
  const std::string first = seal(*draft, 1, {});
  EXPECT_EQ(draft->facts.seq, 1u);
  EXPECT_TRUE(draft->facts.sealed);
  const std::string second = seal(*draft, 2, {2, 0});
  EXPECT_EQ(draft->facts.seq, 2u);
  EXPECT_EQ(draft->facts.batch.count, 2u);
  EXPECT_NE(first, second);
  EXPECT_EQ(check_seal(second), Seal::kRight);
}

TEST_F(Reading, TheLengthOfALineIsKnownBeforeItIsMade) {
  auto draft = make(R"({"type":"message","id":"mem_1","content":"hi","zz":1})");
  ASSERT_TRUE(draft.ok());
  for (const uint64_t seq : {uint64_t{1}, uint64_t{9}, uint64_t{10}, uint64_t{999}, kSeqMax}) {
    for (const Batch batch : {Batch(), Batch{2, 0}, Batch{10, 9}, Batch{1000, 100}}) {
      const size_t expected = sealed_bytes(*draft, seq, batch);
      std::string line;
      append_sealed(*draft, seq, batch, &line);
      EXPECT_EQ(line.size(), expected) << line;
    }
  }
}

TEST_F(Reading, GivesBackWhatWasSealed) {
  const std::string deep = std::string(63, '[') + std::string(63, ']');
  const std::string contents[] = {
      "null",
      "{}",
      "[]",
      "\"\"",
      "-0",
      "1e-320",
      "[1.0,1e21,123456789012345678901234567890]",
      R"("\u0000\u001f\u2028\"\\\/\ud83d\ude00")",
      R"({"checksum":"sha256:00","seq":5,"batch":{"n":1}})",
      R"("{\"checksum\":\"sha256:00\",\"x\":1}")",
      R"({"\"":{"}":"{"},",":"]","\\":["\\\\\""]})",
      deep,
      R"({"😀":1,"ﬀ":2,"":3,"a":{"a":{"a":{}}}})",
      "\"" + std::string(300000, 'x') + "\"",
  };
  // The same facts are used for all, so that nothing may stay behind.
  uint64_t seq = 0;
  for (const std::string& content : contents) {
    for (const char* more :
         {"", R"(,"tags":["a","b"],"references":["x"],"relations":{"r":["x","y"]},"trace_id":"t")",
          R"(,"expires_at":"2030-01-01T00:00:00Z","importance":0.125,"zz":[1],"A":"\"","bz":{})"}) {
      const std::string text = R"({"type":"a","content":)" + content + more + "}";
      auto draft = make(text);
      ASSERT_TRUE(draft.ok()) << text.substr(0, 200) << ": " << draft.status().message();
      ++seq;
      const Batch batch = seq % 2 == 0 ? Batch{5, 4} : Batch{};
      std::string line = seal(*draft, seq, batch);
      line.pop_back();
      const Status status = read(line);
      ASSERT_TRUE(status.ok()) << status.message();
      expect_same_facts(facts_, draft->facts, line);
      EXPECT_TRUE(facts_.sealed);
      EXPECT_EQ(check_seal(line), Seal::kRight);
      EXPECT_EQ(checksum_of(line), json::Tree::parse(line)->get_string("checksum"));
    }
  }
}

TEST_F(Reading, EveryFlippedBitIsNoticed) {
  const std::string line =
      sealed(R"({"type":"message","id":"mem_1","content":{"text":"hello é","n":[1,2.5,null]},)"
             R"("tags":["a.b"],"agent":"first"})",
             12, {2, 1});
  ASSERT_EQ(check_seal(line), Seal::kRight);
  ASSERT_TRUE(read(line).ok());
  for (size_t at = 0; at < line.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = line;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      ASSERT_NE(check_seal(flipped), Seal::kRight) << at << " bit " << bit;
      const Status status = read(flipped);
      ASSERT_EQ(status.code(), Code::kCorruption) << at << " bit " << bit << status.message();
    }
  }
}

TEST_F(Reading, EveryCutAndEveryLostByteIsNoticed) {
  const std::string line = sealed(R"({"type":"message","id":"mem_1","content":"hello"})");
  for (size_t size = 0; size < line.size(); ++size) {
    ASSERT_NE(check_seal(line.substr(0, size)), Seal::kRight) << size;
    ASSERT_EQ(read(line.substr(0, size)).code(), Code::kCorruption) << size;
    std::string lost = line;
    lost.erase(size, 1);
    ASSERT_NE(check_seal(lost), Seal::kRight) << size;
    ASSERT_EQ(read(lost).code(), Code::kCorruption) << size;
  }
  EXPECT_EQ(read(line + line).code(), Code::kCorruption);
  EXPECT_EQ(read(line + std::string(200, '\0')).code(), Code::kCorruption);
  EXPECT_EQ(read(std::string(200, '\0')).code(), Code::kCorruption);
}

TEST_F(Reading, TakesTheHandMadeLinesOfVersion0) {
  ASSERT_TRUE(read(R"({"id":"mem_002","session_id":"sess_001","timestamp":"2026-01-10T10:01:00Z",)"
                   R"("type":"conversation","content":{"role":"assistant","message":"Hi!"},)"
                   R"("importance":0.5,"decay_factor":1.0,"tags":[],"references":["mem_001"]})")
                  .ok());
  EXPECT_EQ(facts_.id, "mem_002");
  EXPECT_EQ(facts_.type, "conversation");
  EXPECT_EQ(facts_.timestamp_ms, 1768039260000);
  EXPECT_EQ(facts_.references, std::vector<std::string>{"mem_001"});
  EXPECT_EQ(facts_.seq, kNoSeq);
  EXPECT_FALSE(facts_.sealed);

  facts_.tags = {"left from the line before"};
  ASSERT_TRUE(read("\t{ \"content\" : null , \"type\":\"x\",\"timestamp\":\"2026-01-10 10:01:00z\","
                   "\"id\":\"a\" } \r")
                  .ok());
  EXPECT_EQ(facts_.importance, 0.5);
  EXPECT_EQ(facts_.expires_at_ms, kNeverExpires);
  EXPECT_TRUE(facts_.tags.empty());
  EXPECT_TRUE(facts_.references.empty());
}

TEST_F(Reading, IsLenientAboutTagsThatWeWouldNotWrite) {
  ASSERT_TRUE(read(R"({"id":"a","type":"x","timestamp":"2026-01-10T10:01:00Z","content":1,)"
                   R"("tags":["New York","😀"],"references":["a b"],"importance":7,)"
                   R"("relations":{"is a":["x y"]},"unknown":[1]})")
                  .ok());
  EXPECT_EQ(facts_.tags, (std::vector<std::string>{"New York", "😀"}));
  EXPECT_EQ(facts_.references, std::vector<std::string>{"a b"});
  EXPECT_EQ(facts_.importance, 1);
  EXPECT_EQ(facts_.relations[0].name, "is a");
}

// docs/format.md says all of this.
TEST_F(Reading, TakesNumbersAndObjectsOfAnySizeAndWholeNumbersInAnyForm) {
  const std::string start =
      R"({"id":"a","type":"note","timestamp":"2026-01-10 14:20:00Z","content":1,)";
  std::string many = R"("m0":0)";
  for (int i = 1; i < 70'000; ++i) many += ",\"m" + std::to_string(i) + "\":0";
  for (const std::string& more :
       {R"("n":0.)" + std::string(2000, '1'), many, R"("o":{)" + many + "}",
        std::string(R"("seq":3.0,"schema_version":1.0,"batch":{"i":1e0,"n":4294967295})")}) {
    const Status status = read(start + more + "}");
    EXPECT_TRUE(status.ok()) << more.substr(0, 60) << ": " << status.message();
  }
  EXPECT_EQ(facts_.seq, 3U);
  EXPECT_EQ(facts_.batch.index, 1U);
  for (const char* wrong : {R"("batch":{"i":0,"n":4294967296})", R"("batch":{"i":1,"n":1})",
                            R"("seq":9007199254740992)"}) {
    EXPECT_FALSE(read(start + wrong + "}").ok()) << wrong;
  }
}

TEST_F(Reading, AChecksumHoldsForReformattedLines) {
  const std::string line =
      sealed(R"({"type":"message","id":"mem_1","content":{"b":1.5,"a":"é/"}})");
  const auto tree = json::Tree::parse(line);
  ASSERT_TRUE(tree.ok());
  const std::string checksum = tree->get_string("checksum");
  const std::string reordered =
      R"({ "type" : "message", "id":"mem_1", "timestamp":"2026-01-10T14:23:45.678Z",)"
      R"("tags":[ ],"session_id":"sess_1","seq":1,"schema_version":1.0,"references":[],)"
      R"("importance":5e-1,"decay_factor":1,"content":{"a":"\u00e9\/","b":1.50},"checksum":")" +
      checksum + "\"}\r";
  EXPECT_EQ(check_seal(reordered), Seal::kWrong);
  const Status status = read(reordered);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(facts_.sealed);

  std::string changed = reordered;
  changed.replace(changed.find("1.50"), 4, "1.51");
  EXPECT_EQ(read(changed).code(), Code::kCorruption);
  EXPECT_EQ(read(json::Tree::parse(line)->pretty()).code(), Code::kOk);
}

TEST_F(Reading, RefusalsSayWhatIsWrongAndWhere) {
  const std::string start =
      R"({"id":"a","type":"x","timestamp":"2026-01-10T10:01:00Z","content":1)";
  ASSERT_EQ(start.size(), 67u);
  ASSERT_TRUE(read(start + "}").ok());
  const std::string zeros(64, '0');
  const struct {
    std::string line;
    const char* member;
    size_t offset;
    const char* what;
  } cases[] = {
      {"", "", 0, "empty"},
      {"[]", "", 0, "must be a JSON object"},
      {"{\"id\":\"a\"", "", 9, "ends too early"},
      {R"({"type":"x","timestamp":"2026-01-10T10:01:00Z","content":1})", "id", 0, "is missing"},
      {R"({"id":"a","timestamp":"2026-01-10T10:01:00Z","content":1})", "type", 0, "is missing"},
      {R"({"id":"a","type":"x","content":1})", "timestamp", 0, "is missing"},
      {R"({"id":"a","type":"x","timestamp":"2026-01-10T10:01:00Z"})", "content", 0, "is missing"},
      {R"({"id":"a b","type":"x"})", "id", 6, "must be an id"},
      {R"({"id":"a","type":"X"})", "type", 17, "must be a type"},
      {R"({"id":"a","type":"x","timestamp":5})", "timestamp", 33, "RFC 3339"},
      {start + R"(,"tags":"a"})", "tags", 75, "array of strings"},
      {start + R"(,"tags":[1]})", "tags[0]", 76, "must be a string"},
      {start + R"(,"references":7})", "references", 81, "array of strings"},
      {start + R"(,"relations":7})", "relations", 80, "object of arrays"},
      {start + R"(,"importance":"high"})", "importance", 81, "number from 0 to 1"},
      {start + R"(,"expires_at":"x"})", "expires_at", 81, "RFC 3339"},
      {start + R"(,"seq":0})", "seq", 74, "integer from 1"},
      {start + R"(,"seq":-1})", "seq", 74, "integer from 1"},
      {start + R"(,"seq":"1"})", "seq", 74, "integer from 1"},
      {start + R"(,"batch":{"i":2,"n":2}})", "batch", 76, "INDEX below COUNT"},
      {start + R"(,"batch":{"i":0}})", "batch", 76, "INDEX below COUNT"},
      {start + R"(,"batch":[0,1]})", "batch", 76, "INDEX below COUNT"},
      {start + R"(,"batch":{"i":0,"n":4294967296}})", "batch", 76, "INDEX below COUNT"},
      {start + R"(,"trace_id":7})", "trace_id", 79, "string"},
      {start + R"(,"schema_version":"1"})", "schema_version", 85, "integer"},
      {start + R"(,"checksum":5})", "checksum", 79, "64 lower-case hexadecimal digits"},
      {start + R"(,"checksum":"md5:00"})", "checksum", 79, "64 lower-case hexadecimal digits"},
      {start + R"(,"checksum":"sha256:00"})", "checksum", 79, "64 lower-case hexadecimal digits"},
      {start + ",\"checksum\":\"sha256:" + zeros + "\"}", "checksum", 79,
       "does not match the line"},
      {start + R"(,"id":"b"})", "id", 68, "appears twice"},
  };
  for (const auto& test : cases) {
    const Status status = read(test.line);
    ASSERT_EQ(status.code(), Code::kCorruption) << test.line;
    EXPECT_EQ(status.place().member, test.member) << test.line << ": " << status.message();
    EXPECT_EQ(status.place().offset, test.offset) << test.line << ": " << status.message();
    EXPECT_NE(status.message().find(test.what), std::string::npos)
        << test.line << ": " << status.message();
  }
}

TEST_F(Reading, LaterVersionsAreToldFromDamage) {
  const std::string later = R"({"schema_version":2,"anything":[1]})";
  EXPECT_EQ(read(later).code(), Code::kFormatVersion);
  EXPECT_EQ(read(R"({"schema_version":3,"checksum":"blake3:77"})").code(), Code::kFormatVersion);
  // A line of ours whose version number was damaged is one damaged line, not a newer file.
  std::string damaged = sealed(R"({"type":"message","content":"hi"})");
  damaged.replace(damaged.find("\"schema_version\":1"), 18, "\"schema_version\":9");
  EXPECT_EQ(read(damaged).code(), Code::kCorruption);
}

// One object takes the facts of line after line.
TEST_F(Reading, NothingOfALineIsLeftForTheNextOne) {
  const std::string all =
      sealed(R"({"id":"a","type":"message","content":{"k":1},"expires_at":"2030-01-01T00:00:00Z",)"
             R"("importance":0.9,"references":["b"],"relations":{"causes":["c"]},"tags":["t"],)"
             R"("trace_id":"x"})",
             7, {3, 1});
  const std::string little =
      R"({"id":"b","type":"finding","timestamp":"2026-01-10T10:01:00Z","content":"tea"})";
  for (const std::string& line : {little, sealed(little)}) {
    ASSERT_TRUE(read(line).ok());
    const EntryFacts alone = std::exchange(facts_, {});
    ASSERT_TRUE(read(all).ok());
    EXPECT_EQ(facts_.seq, 7u);
    EXPECT_EQ(facts_.importance, 0.9);
    ASSERT_TRUE(read(line).ok());
    expect_same_facts(facts_, alone, line);
    EXPECT_EQ(facts_.importance, 0.5);
    EXPECT_EQ(facts_.expires_at_ms, kNeverExpires);
  }
  EXPECT_EQ(facts_.seq, 1u);
  ASSERT_TRUE(read(little).ok());
  EXPECT_EQ(facts_.seq, kNoSeq);
}

// Deeper than what is taken: somebody may have put it there by hand.
TEST_F(Reading, LinesMayBeTwiceAsDeepAsWhatIsAdded) {
  const auto with_depth = [](size_t depth) {
    return R"({"id":"a","type":"x","timestamp":"2026-01-10T10:01:00Z","content":)" +
           std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(read(with_depth(127)).ok());
  EXPECT_EQ(read(with_depth(128)).code(), Code::kCorruption);
}

TEST_F(Reading, DeepLinesAreRefusedWithoutRecursion) {
  const std::string deep = R"({"id":"a","type":"x","timestamp":"2026-01-10T10:01:00Z","content":)" +
                           std::string(1000000, '[');
  EXPECT_EQ(read(deep).code(), Code::kCorruption);
}

TEST(CheckSeal, TellsAbsentFromWrong) {
  const std::string zeros(64, '0');
  EXPECT_EQ(check_seal("{}"), Seal::kAbsent);
  EXPECT_EQ(check_seal(R"({"a":1})"), Seal::kAbsent);
  EXPECT_EQ(check_seal(R"( {"a":{"checksum":"sha256:0"},"b":"\"checksum\":"} )"), Seal::kAbsent);
  EXPECT_EQ(check_seal(R"({"a":["}",{"b":"]"}], "c":null})"), Seal::kAbsent);
  EXPECT_EQ(check_seal(""), Seal::kWrong);
  EXPECT_EQ(check_seal("x"), Seal::kWrong);
  EXPECT_EQ(check_seal("{"), Seal::kWrong);
  EXPECT_EQ(check_seal("[]"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"a":"x)"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"a":]})"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"a\)"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"checksum")"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"checksum":"sha256:)"), Seal::kWrong);
  EXPECT_EQ(check_seal(R"({"checksum":null,"a":1})"), Seal::kWrong);
  EXPECT_EQ(check_seal("{\"checksum\":\"sha256:" + zeros + "\",\"a\":1}"), Seal::kWrong);
  EXPECT_EQ(check_seal("{\"checksum\":\"sha256:" + zeros + "\""), Seal::kWrong);
  EXPECT_EQ(check_seal("{\"checksum\":\"sha256:" + zeros + "\"]"), Seal::kWrong);
}

TEST(CheckSeal, FindsTheChecksumWhereverItSorts) {
  const auto line = [](const std::string& before, const std::string& after) {
    const bool is_last = after == "}";
    const std::string without = is_last && before.back() == ','
                                    ? before.substr(0, before.size() - 1) + "}"
                                    : before + after;
    return before + "\"checksum\":\"sha256:" + to_hex(sha256(without)) + "\"" +
           (is_last ? "" : ",") + after;
  };
  EXPECT_EQ(check_seal(line("{", "\"d\":1}")), Seal::kRight);
  EXPECT_EQ(check_seal(line("{\"a\":{\"x\":[\"]}\\\"\"]},", "\"d\":1}")), Seal::kRight);
  EXPECT_EQ(check_seal(line("{\"a\":1,", "}")), Seal::kRight);
  EXPECT_EQ(check_seal(line("{", "}")), Seal::kRight);
  EXPECT_EQ(check_seal("  " + line("{", "\"d\":1}") + "\r"), Seal::kRight);
}

TEST_F(Reading, OfALineThatWasCheckedTheIdentityIsRead) {
  const std::string line = sealed(R"({"type":"message","id":"mem_1","content":{"id":"mem_2"},)"
                                  R"("expires_at":"2026-01-10T00:00:00Z"})");
  const auto identity = read_identity(line, document_);
  ASSERT_TRUE(identity.ok()) << identity.status().message();
  ASSERT_TRUE(read(line).ok());
  EXPECT_EQ(identity->id, "mem_1");
  EXPECT_EQ(identity->expires_at_ms, facts_.expires_at_ms);
  const auto forever = read_identity(sealed(R"({"type":"a","id":"m","content":1})"), document_);
  ASSERT_TRUE(forever.ok());
  EXPECT_EQ(forever->expires_at_ms, kNeverExpires);
  for (const char* wrong : {"", "{", "[]", "{}", R"({"id":1})", R"({"id":"a","expires_at":1})"}) {
    EXPECT_EQ(read_identity(wrong, document_).code(), Code::kCorruption) << wrong;
  }
}

}  // namespace
}  // namespace varve::entry
