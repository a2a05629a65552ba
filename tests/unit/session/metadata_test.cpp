#include "session/metadata/metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::session {
namespace {

constexpr int64_t kNowMs = 1768055025678;

Metadata made(std::string_view options_text = R"({"session_id":"sess_1"})") {
  auto options = parse_create_options(options_text);
  EXPECT_TRUE(options.ok()) << options.status().message();
  return options.ok() ? Metadata::make(*options, kNowMs) : Metadata();
}

Status patched(std::string_view patch) {
  Metadata metadata = made();
  return metadata.apply_patch(patch);
}

TEST(Metadata, RoundTripKeepsEverythingAndUnknownMembers) {
  const Metadata metadata = made(
      R"({"session_id":"sess_1","user_id":"u","agent_id":"a","title":"t","ttl_hours":2.5,
          "stores":["kv"],"decay_config":{"half_life_hours":336},"durability":"os"})");
  auto parsed = Metadata::parse(metadata.encode(), "sess_1");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_FALSE(parsed->edited_outside());
  EXPECT_EQ(parsed->tree().canonical(), metadata.tree().canonical());
  EXPECT_EQ(parsed->tree().get_string("user_id"), "u");
  EXPECT_EQ(parsed->tree().get_string("created_at"), "2026-01-10T14:23:45.678Z");
  parsed->tree().set("of_a_newer_minor_version", json::Tree::boolean(true));
  const auto again = Metadata::parse(parsed->encode(), "sess_1");
  EXPECT_TRUE(again->tree().get_bool("of_a_newer_minor_version"));
}

TEST(Metadata, ADecayConfigIsCheckedWhenItIsGiven) {
  EXPECT_EQ(parse_create_options(R"({"decay_config":{"x":1}})").code(), Code::kInvalidArgument);
  EXPECT_EQ(parse_create_options(R"({"decay_config":{"half_life_hours":0}})").code(),
            Code::kInvalidArgument);
  EXPECT_EQ(patched(R"({"decay_config":{"curve":"steep"}})").code(), Code::kInvalidArgument);
  EXPECT_TRUE(patched(R"({"decay_config":{"curve":"linear"}})").ok());
  EXPECT_TRUE(patched(R"({"decay_config":{"curve":null}})").ok()) << "removing what is not there";
}

TEST(Metadata, WhatCouldNotBeReadBackIsRefused) {
  const std::string large = R"({"mine":")" + std::string(size_t{17} << 20, 'x') + "\"}";
  EXPECT_EQ(patched(large).code(), Code::kSizeLimit);
  EXPECT_EQ(parse_create_options(R"({"preferences":)" + large + "}").code(), Code::kSizeLimit);
  EXPECT_TRUE(patched(R"({"mine":")" + std::string(size_t{15} << 20, 'x') + "\"}").ok());
}

TEST(Metadata, TheFileIsIndentedAndSealed) {
  const std::string text = made().encode();
  EXPECT_TRUE(text.starts_with("{\n  \""));
  EXPECT_TRUE(text.ends_with("}\n"));
  EXPECT_NE(text.find("\"checksum\": \"sha256:"), std::string::npos);
}

TEST(Metadata, AChangedTextIsTakenAsEditedOutside) {
  std::string text = made(R"({"session_id":"sess_1","title":"before"})").encode();
  text.replace(text.find("before"), 6, "behind");
  const auto parsed = Metadata::parse(text, "sess_1");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->edited_outside());
  EXPECT_EQ(parsed->tree().get_string("title"), "behind");
}

TEST(Metadata, AHandMadeTextWithoutChecksumAndVersionIsTaken) {
  const auto parsed = Metadata::parse(R"({"title":"by hand"})", "sess_1");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->edited_outside());
  EXPECT_EQ(parsed->tree().get_string("session_id"), "sess_1");
}

TEST(Metadata, AnEditorsByteOrderMarkIsNoDamage) {
  const Metadata before = made(R"({"session_id":"sess_1","title":"mine","ttl_hours":2})");
  const auto parsed = Metadata::parse("\xEF\xBB\xBF" + before.encode(), "sess_1");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_FALSE(parsed->edited_outside());
  EXPECT_EQ(parsed->encode(), before.encode());
}

TEST(Metadata, OffsetsCountTheByteOrderMark) {
  EXPECT_EQ(Metadata::parse("\xEF\xBB\xBF{]", "sess_1").status().place().offset, 4u);
}

TEST(Metadata, WrongTextsAreCorruption) {
  for (const std::string text :
       {"", "null", "[]", "{\"a\":", "{\"session_id\":\"sess_2\"}", "{\"a\":1,\"a\":2}"}) {
    const auto parsed = Metadata::parse(text, "sess_1");
    EXPECT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.code(), Code::kFormatVersion) << text;
  }
}

TEST(Metadata, ANewerVersionIsRefused) {
  EXPECT_EQ(Metadata::parse(R"({"version":2})", "s").code(), Code::kFormatVersion);
  EXPECT_TRUE(Metadata::parse(R"({"version":1})", "s").ok());
  EXPECT_TRUE(Metadata::parse(R"({"version":0})", "s").ok());
}

TEST(Metadata, APatchMergesAndNullRemoves) {
  Metadata metadata = made(R"({"session_id":"s","title":"t","preferences":{"a":1,"b":2}})");
  ASSERT_TRUE(
      metadata.apply_patch(R"({"title":null,"preferences":{"a":null,"c":3},"mine":{"x":[1]}})")
          .ok());
  EXPECT_EQ(metadata.tree().get("title"), nullptr);
  EXPECT_EQ(metadata.tree().get("preferences")->canonical(), R"({"b":2,"c":3})");
  EXPECT_EQ(metadata.tree().get("mine")->canonical(), R"({"x":[1]})");
}

TEST(Metadata, APatchOfTheLibrarysOwnMembersIsRefused) {
  for (const std::string name :
       {"version", "session_id", "created_at", "last_accessed", "user_id", "agent_id",
        "total_entries", "total_size_bytes", "statistics", "generation", "durable_seq", "checksum",
        "compacted_through_seq", "compactions", "stores"}) {
    for (const std::string value : {"null", "1", "\"x\""}) {
      Metadata metadata = made();
      const std::string before = metadata.tree().canonical();
      const Status refused =
          metadata.apply_patch("{\"title\":\"new\",\"" + name + "\":" + value + "}");
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << name << " " << value;
      EXPECT_EQ(refused.place().member, name);
      EXPECT_EQ(metadata.tree().canonical(), before) << name;
    }
  }
}

TEST(Metadata, APatchOfTheWrongTypeIsRefusedWithItsPlace) {
  struct Case {
    std::string patch;
    std::string member;
    uint64_t offset;
  };
  for (const Case& wrong :
       {Case{R"({"title":1})", "title", 9}, Case{R"({"ttl_hours":"long"})", "ttl_hours", 13},
        Case{R"({"ttl_hours":-1})", "ttl_hours", 13},
        Case{R"({"preferences":[]})", "preferences", 15},
        Case{R"({"durability":"never"})", "durability", 14}}) {
    const Status refused = patched(wrong.patch);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << wrong.patch;
    EXPECT_EQ(refused.place().member, wrong.member) << wrong.patch;
    EXPECT_EQ(refused.place().offset, wrong.offset) << wrong.patch;
  }
  for (const std::string text : {"", "[]", "1", "{\"title\":\"a\",\"title\":\"b\"}", "{} {}"}) {
    EXPECT_EQ(patched(text).code(), Code::kInvalidArgument) << text;
  }
}

// Found by tests/fuzz/session_metadata_fuzz: a title could not be changed any more.
TEST(Metadata, APatchIsNotRefusedForWhatStoodThereBefore) {
  auto edited = Metadata::parse(R"({"session_id":"sess_1","decay_config":[]})", "sess_1");
  ASSERT_TRUE(edited.ok());
  EXPECT_TRUE(edited->apply_patch(R"({"title":"new"})").ok());
  EXPECT_EQ(edited->tree().get_string("title"), "new");
  EXPECT_EQ(edited->apply_patch(R"({"decay_config":{"curve":"steep"}})").code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(edited->apply_patch(R"({"decay_config":{"curve":"linear"}})").ok());
}

TEST(CreateOptions, AreCheckedWithTheirPlaces) {
  EXPECT_TRUE(parse_create_options("").ok());
  EXPECT_TRUE(parse_create_options("{}").ok());
  struct Case {
    std::string text;
    std::string member;
  };
  for (const Case& wrong :
       {Case{R"({"session_id":""})", "session_id"}, Case{R"({"session_id":"../x"})", "session_id"},
        Case{R"({"session_id":"-x"})", "session_id"}, Case{R"({"session_id":"a/b"})", "session_id"},
        Case{R"({"session_id":7})", "session_id"}, Case{R"({"user_id":null})", "user_id"},
        Case{R"({"stores":["sql"]})", "stores"}, Case{R"({"stores":"kv"})", "stores"},
        Case{R"({"unknown":1})", "unknown"}, Case{R"({"ttl_hours":-2})", "ttl_hours"}}) {
    const auto refused = parse_create_options(wrong.text);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << wrong.text;
    EXPECT_EQ(refused.status().place().member.substr(0, wrong.member.size()), wrong.member);
  }
}

}  // namespace
}  // namespace varve::session
