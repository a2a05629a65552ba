#include "stores/kv_text.h"

#include <gtest/gtest.h>

namespace varve::stores {
namespace {

// The text of the document that this format comes from.
constexpr std::string_view kDocumented = R"({
  "cap": 200,
  "entries": [
    { "key": "user_name", "value": "sachi", "ts": "2025-04-15T10:30:01Z" },
    { "key": "topic", "value": "rust memory systems", "ts": "2025-04-15T10:31:00Z" }
  ]
}
)";

const std::vector<KvEntry> kDocumentedEntries = {
    {"user_name", "sachi", "2025-04-15T10:30:01Z"},
    {"topic", "rust memory systems", "2025-04-15T10:31:00Z"}};

std::string keys_of(const std::vector<KvEntry>& entries) {
  std::string keys;
  for (const KvEntry& entry : entries) keys += entry.key + " ";
  return keys;
}

TEST(KvText, IsTheDocumentedExampleByteForByte) {
  EXPECT_EQ(format_kv(200, kDocumentedEntries), kDocumented);
  const KvContents read = parse_kv(kDocumented);
  EXPECT_EQ(read.entries, kDocumentedEntries);
  EXPECT_EQ(read.damage, "");
}

TEST(KvText, AnEmptyOneIsReadBack) {
  const std::string text = format_kv(0, {});
  EXPECT_EQ(text, "{\n  \"cap\": 0,\n  \"entries\": []\n}\n");
  EXPECT_TRUE(parse_kv(text).entries.empty());
  EXPECT_EQ(parse_kv(text).damage, "");
}

TEST(KvText, KeysWithEveryCharacterComeBackUnchanged) {
  std::vector<KvEntry> entries;
  for (int byte = 0; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    entries.push_back({"<" + text + ">", text + text, "2025-04-15T10:30:01Z"});
  }
  entries.push_back(
      {"\xe2\x98\x95 \xf0\x9f\x8d\xb5 \xc3\xa9", "\xe2\x80\xa8", "2025-04-15T10:30:01Z"});
  const KvContents read = parse_kv(format_kv(500, entries));
  EXPECT_EQ(read.entries, entries);
  EXPECT_EQ(read.damage, "");
}

TEST(KvText, SettingAKeyMovesItToTheEnd) {
  std::vector<KvEntry> entries = {{"a", "1", ""}, {"b", "2", ""}, {"c", "3", ""}};
  set_key(entries, {"a", "9", ""});
  EXPECT_EQ(keys_of(entries), "b c a ");
  EXPECT_EQ(find_key(entries, "a")->value, "9");
  EXPECT_EQ(find_key(entries, "d"), nullptr);
}

TEST(KvText, EvictsTheOldestFirst) {
  std::vector<KvEntry> entries = {{"a", "1", ""}, {"b", "2", ""}, {"c", "3", ""}};
  evict(entries, 3);
  EXPECT_EQ(keys_of(entries), "a b c ");
  evict(entries, 1);
  EXPECT_EQ(keys_of(entries), "c ");
  evict(entries, 0);
  EXPECT_EQ(keys_of(entries), "");
}

TEST(KvText, EraseTellsWhetherItWasThere) {
  std::vector<KvEntry> entries = {{"a", "1", ""}, {"b", "2", ""}};
  EXPECT_TRUE(erase_key(entries, "a"));
  EXPECT_FALSE(erase_key(entries, "a"));
  EXPECT_EQ(keys_of(entries), "b ");
}

TEST(KvText, WhatAPersonWroteIsTaken) {
  const KvContents read = parse_kv(
      R"({"entries":[{"value":"1","key":"a"},{"key":"b","value":"2","ts":"soon","note":true},
          {"key":"a","value":"3"}],"by":"hand"})");
  EXPECT_EQ(read.damage, "");
  EXPECT_EQ(keys_of(read.entries), "b a ");
  EXPECT_EQ(find_key(read.entries, "a")->value, "3") << "of a key that stands twice, the last";
  EXPECT_EQ(find_key(read.entries, "b")->timestamp, "1970-01-01T00:00:00Z");
}

TEST(KvText, AnEditorsByteOrderMarkIsNoDamage) {
  const KvContents read = parse_kv("\xEF\xBB\xBF{\"entries\":[{\"key\":\"a\",\"value\":\"1\"}]}");
  EXPECT_EQ(keys_of(read.entries), "a ");
  EXPECT_EQ(read.damage, "");
}

TEST(KvText, OffsetsCountTheByteOrderMark) {
  const KvContents read = parse_kv("\xEF\xBB\xBF{]");
  EXPECT_NE(read.damage.find("at byte 4"), std::string::npos) << read.damage;
}

TEST(KvText, AnItemThatIsNoEntryIsDamageAndTheOthersStay) {
  const KvContents read = parse_kv(
      R"({"cap":9,"entries":[{"key":"a","value":"1"},{"key":"b","value":2},7,{"value":"3"}]})");
  EXPECT_NE(read.damage, "");
  EXPECT_EQ(keys_of(read.entries), "a ");
}

TEST(KvText, AKeyThatNoCallCouldNameIsDamage) {
  const std::string longest(1024, 'k');
  const auto file = [](const std::string& key) {
    return R"({"entries":[{"key":")" + key + R"(","value":"1"},{"key":"b","value":"2"}]})";
  };
  EXPECT_EQ(parse_kv(file(longest)).damage, "");
  EXPECT_EQ(parse_kv(file(longest)).entries.size(), 2U);
  for (const std::string& key : {std::string(), longest + "k"}) {
    const KvContents read = parse_kv(file(key));
    EXPECT_NE(read.damage, "") << key.size();
    ASSERT_EQ(read.entries.size(), 1U) << key.size();
    EXPECT_EQ(read.entries[0].key, "b");
  }
}

TEST(KvText, OfATruncatedFileWholeLinesAreRead) {
  size_t most = 0;
  for (size_t length = 0; length < kDocumented.size(); ++length) {
    const KvContents read = parse_kv(kDocumented.substr(0, length));
    if (length + 1 < kDocumented.size()) {
      EXPECT_NE(read.damage, "") << length;
    }
    ASSERT_LE(read.entries.size(), 2U);
    ASSERT_GE(read.entries.size(), most) << length;
    for (size_t i = 0; i < read.entries.size(); ++i) {
      EXPECT_EQ(read.entries[i], kDocumentedEntries[i]) << length;
    }
    most = read.entries.size();
  }
  EXPECT_EQ(most, 2U);
}

TEST(KvText, GarbageIsDamageWithoutEntries) {
  for (const std::string_view text :
       {std::string_view("\0\0\0\0", 4), std::string_view("not json"), std::string_view("[]"),
        std::string_view("{}"), std::string_view("\xff\xfe{\n{}\n"),
        std::string_view("{\"entries\":{}}")}) {
    const KvContents read = parse_kv(text);
    EXPECT_NE(read.damage, "") << text;
    EXPECT_TRUE(read.entries.empty()) << text;
  }
}

}  // namespace
}  // namespace varve::stores
