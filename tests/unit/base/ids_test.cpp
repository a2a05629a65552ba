#include "base/ids.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace varve {
namespace {

class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t now_ms() override { return now_ms_; }
  int64_t monotonic_us() override { return 0; }
  void sleep_us(int64_t) override {}
  int64_t now_ms_;
};

class FilledRandom final : public Random {
 public:
  explicit FilledRandom(uint8_t byte) : byte_(byte) {}
  void fill(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = byte_;
  }
  uint8_t byte_;
};

class CountingRandom final : public Random {
 public:
  void fill(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = state_ = static_cast<uint8_t>(state_ * 73 + 41);
    ++fill_count_;
  }
  uint8_t state_ = 7;
  int fill_count_ = 0;
};

// An independent decoder: the 128 bits of the id's 26 characters as 32 hexadecimal digits.
std::string uuid_hex(const std::string& base32) {
  const std::string alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string bits;
  for (const char c : base32) {
    const size_t value = alphabet.find(c);
    EXPECT_NE(value, std::string::npos) << c;
    for (int i = 4; i >= 0; --i) bits += ((value >> i) & 1) != 0 ? '1' : '0';
  }
  EXPECT_EQ(bits.substr(0, 2), "00");
  std::string hex;
  for (size_t i = 2; i < bits.size(); i += 4) {
    hex += "0123456789abcdef"[std::stoul(bits.substr(i, 4), nullptr, 2)];
  }
  return hex;
}

TEST(Ids, AreUuidVersion7InBase32) {
  ScriptedClock clock(0x017F22E279B0);  // the example of RFC 9562 appendix A.6
  CountingRandom random;
  IdGenerator ids(clock, random);
  const std::string id = ids.next("mem_");
  ASSERT_EQ(id.size(), 30u);
  EXPECT_EQ(id.substr(0, 4), "mem_");
  const std::string hex = uuid_hex(id.substr(4));
  EXPECT_EQ(hex.substr(0, 12), "017f22e279b0");
  EXPECT_EQ(hex[12], '7');
  EXPECT_NE(std::string("89ab").find(hex[16]), std::string::npos) << hex;
  EXPECT_TRUE(is_valid_id(id));
}

TEST(Ids, ExtremeBitsAreEncodedExactly) {
  ScriptedClock clock(0xFFFFFFFFFFFF);
  FilledRandom random(0xFF);
  EXPECT_EQ(uuid_hex(IdGenerator(clock, random).next("")), "ffffffffffff7fffbfffffffffffffff");
  clock.now_ms_ = 0;
  random.byte_ = 0;
  EXPECT_EQ(uuid_hex(IdGenerator(clock, random).next("")), "00000000000070008000000000000000");
}

TEST(Ids, IncreaseWhileTheClockStandsStill) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  std::string last = ids.next("mem_");
  for (int i = 0; i < 5000; ++i) {
    const std::string id = ids.next("mem_");
    EXPECT_LT(last, id);
    last = id;
  }
}

// The system's randomness is a system call, a tenth of an entry in a batch.
TEST(Ids, DrawOnceForManyIdsOfOneMillisecond) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  for (int i = 0; i < 101; ++i) (void)ids.next("mem_");
  EXPECT_LE(random.fill_count_, 8);
}

TEST(Ids, DrawAnewInEachMillisecond) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  for (int i = 0; i < 3; ++i) (void)ids.next("mem_");
  const int before = random.fill_count_;
  ++clock.now_ms_;
  (void)ids.next("mem_");
  EXPECT_EQ(random.fill_count_, before + 1);
  (void)ids.next("mem_");
  EXPECT_EQ(random.fill_count_, before + 2) << "a step drawn for the millisecond before";
}

// With 32 random bits a step, steps repeat hardly ever; bits of one another would.
TEST(Ids, NoTwoStepsOfAMillisecondAreTheSame) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  std::set<uint64_t> steps;
  uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const uint64_t low = std::stoull(uuid_hex(ids.next("")).substr(16), nullptr, 16);
    if (i > 0) steps.insert(low - last);
    last = low;
  }
  EXPECT_EQ(steps.size(), 49u);
}

TEST(Ids, IncreaseWhenTheClockGoesBackAndForth) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  std::string last = ids.next("mem_");
  for (int i = 0; i < 1000; ++i) {
    clock.now_ms_ += i % 3 == 0 ? 2 : -3;
    const std::string id = ids.next("mem_");
    EXPECT_LT(last, id) << i;
    last = id;
  }
}

TEST(Ids, IncreaseWhenTheCounterOverflows) {
  ScriptedClock clock(1000);
  FilledRandom random(0xFF);  // the counter starts at its largest value
  IdGenerator ids(clock, random);
  const std::string first = ids.next("");
  const std::string second = ids.next("");
  const std::string third = ids.next("");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_EQ(uuid_hex(second).substr(0, 12), "0000000003e9");  // borrowed from the next millisecond
  clock.now_ms_ = 1001;
  EXPECT_LT(third, ids.next(""));
}

TEST(Ids, AreDifferentInEveryThread) {
  ScriptedClock clock(1768055025678);
  CountingRandom random;
  IdGenerator ids(clock, random);
  std::array<std::vector<std::string>, 4> made;
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&mine, &ids] {
      for (int i = 0; i < 500; ++i) mine.push_back(ids.next("mem_"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& mine : made) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), 2000u);
}

TEST(Ids, LaterMillisecondsSortLaterWhateverTheRandomPart) {
  ScriptedClock clock(1000);
  FilledRandom random(0xFF);
  const std::string early = IdGenerator(clock, random).next("sess_");
  clock.now_ms_ = 1001;
  random.byte_ = 0;
  EXPECT_LT(early, IdGenerator(clock, random).next("sess_"));
}

TEST(Ids, ValidIds) {
  for (const std::string& id :
       {std::string("a"), std::string("mem_001"), std::string("_x"), std::string("A-b_9"),
        std::string("550e8400-e29b-41d4"), std::string(128, 'z')}) {
    EXPECT_TRUE(is_valid_id(id)) << id;
  }
  using std::string_literals::operator""s;
  for (const std::string& id : {""s, "-a"s, "-"s, "a b"s, "a.b"s, "../x"s, "a/b"s, "a\0b"s,
                                "\xC3\xA9"s, "a\n"s, "a:b"s, std::string(129, 'z')}) {
    EXPECT_FALSE(is_valid_id(id)) << id;
  }
}

TEST(Ids, ValidTypes) {
  for (const std::string& type : {std::string("message"), std::string("tool_call"),
                                  std::string("a"), std::string("x9"), std::string(32, 'q')}) {
    EXPECT_TRUE(is_valid_type(type)) << type;
  }
  for (const std::string& type :
       {std::string(), std::string("Message"), std::string("9x"), std::string("_x"),
        std::string("a-b"), std::string("a b"), std::string(33, 'q')}) {
    EXPECT_FALSE(is_valid_type(type)) << type;
  }
}

TEST(Ids, TagsOfEveryScript) {
  const char* const valid[] = {
      "personal_info",
      "security.authentication",
      "a/b",
      "C-3:x",
      "42",
      "Zürich",
      "été",
      "e\xCC\x81t\xC3\xA9",  // composed, and with a combining mark
      "日本語",
      "русский",
      "العربية",
      "עברית",
      "हिन्दी",
      "ไทย",
      "한국어",
      "ქართული",
      "ʻokina",
      "٣٤",
      "Ⅻ",
      "½",
      "𐐷",
      "𝟘",
      "ᚠᚢᚦ",
      "አማርኛ",
  };
  for (const char* tag : valid) EXPECT_TRUE(is_valid_tag(tag)) << tag;
  const char* const invalid[] = {
      "",     "a b",      "a,b", "#a",  "a\tb", "a\nb", "😀",         "a😀",           "a+b",
      "a\"b", "\xC2\xA0", "€",   "„a“", "a\\b", "\xFF", "a\xE2\x82", "\xED\xA0\x80",  // not UTF-8:
                                                                                      // a byte, a
                                                                                      // cut
                                                                                      // sequence, a
                                                                                      // surrogate
  };
  for (const char* tag : invalid) EXPECT_FALSE(is_valid_tag(tag)) << tag;
}

TEST(Ids, TagLengthIsCountedInCharacters) {
  std::string tag;
  for (int i = 0; i < 64; ++i) tag += "語";
  EXPECT_TRUE(is_valid_tag(tag));
  EXPECT_FALSE(is_valid_tag(tag + "語"));
  EXPECT_FALSE(is_valid_tag(tag + "x"));
}

}  // namespace
}  // namespace varve
