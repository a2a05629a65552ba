// kv and transcript of a session, on every kind of storage.
#include <gtest/gtest.h>

#include <algorithm>

#include "session/upkeep/compaction.h"
#include "session_place.h"

namespace varve::session {
namespace {

constexpr std::string_view kThen = "2026-01-10T14:23:45Z";  // test::kStartMs, in seconds

std::string contents_of(Session& session, uint64_t count = SIZE_MAX) {
  const auto turns = session.transcript_last(count);
  EXPECT_TRUE(turns.ok()) << turns.status().message();
  std::string contents;
  if (!turns.ok()) return contents;
  for (const json::Tree& turn : turns->items()) {
    contents += turn.get_string("content") + " ";
  }
  return contents;
}

std::string keys_of(Session& session) {
  const auto list = session.kv_list();
  EXPECT_TRUE(list.ok()) << list.status().message();
  std::string keys;
  if (!list.ok()) return keys;
  for (const json::Tree& item : list->items()) {
    keys += item.get_string("key") + " ";
  }
  return keys;
}

CreateOptions options_of(std::string_view members) {
  auto options = parse_create_options(members);
  EXPECT_TRUE(options.ok()) << options.status().message();
  return options.ok() ? *options : CreateOptions();
}

class CappedStores : public testing::TestWithParam<PlaceKind> {
 protected:
  std::shared_ptr<Session> open(std::string_view options = "{}") {
    place_ = std::make_unique<Place>(GetParam(), host_, options_of(options));
    return place_->open();
  }

  Host host_;
  std::unique_ptr<Place> place_;
};

INSTANTIATE_TEST_SUITE_P(EveryPlace, CappedStores, kEveryPlace, place_name);

TEST_P(CappedStores, WhatIsSetIsThereForOthersAndAfterReopening) {
  auto session = open();
  const auto other = place_->open();
  ASSERT_TRUE(session->kv_set("user_name", "sachi").ok());
  EXPECT_EQ(*other->kv_get("user_name"), "sachi");
  ASSERT_TRUE(other->kv_set("topic", "rust").ok());
  session.reset();
  const auto again = place_->open();
  EXPECT_EQ(again->kv_list()->canonical(),
            R"([{"key":"user_name","ts":"2026-01-10T14:23:45Z","value":"sachi"},)"
            R"({"key":"topic","ts":"2026-01-10T14:23:45Z","value":"rust"}])");
}

TEST_P(CappedStores, AMissingKeyIsNotFoundAndWorkingMemoryIsEmpty) {
  const auto session = open();
  EXPECT_EQ(session->kv_get("nothing").code(), Code::kNotFound);
  EXPECT_EQ(session->kv_delete("nothing").code(), Code::kNotFound);
  EXPECT_EQ(*session->kv_get("working_memory"), "");
  EXPECT_EQ(session->kv_delete("working_memory").code(), Code::kNotFound);
  ASSERT_TRUE(session->kv_set("working_memory", "the plan").ok());
  EXPECT_EQ(*session->kv_get("working_memory"), "the plan");
  ASSERT_TRUE(session->kv_delete("working_memory").ok());
  EXPECT_EQ(*session->kv_get("working_memory"), "");
}

TEST_P(CappedStores, TheOldestKeyGoesBeyondTheCap) {
  const auto session = open(R"({"kv_cap":3})");
  for (const char* key : {"a", "b", "c", "a", "d"}) ASSERT_TRUE(session->kv_set(key, key).ok());
  EXPECT_EQ(keys_of(*session), "c a d ") << "setting a key moved it to the end";
  EXPECT_EQ(session->kv_get("b").code(), Code::kNotFound);
}

TEST_P(CappedStores, CapsAre200And500WithoutBeingAsked) {
  const auto session = open();
  for (int i = 0; i < 201; ++i) ASSERT_TRUE(session->kv_set("k" + std::to_string(i), "v").ok());
  EXPECT_EQ(session->kv_list()->items().size(), 200U);
  EXPECT_EQ(session->kv_get("k0").code(), Code::kNotFound);
  for (int i = 0; i < 700; ++i) {
    ASSERT_TRUE(session->transcript_append("user", std::to_string(i)).ok());
    const size_t shown = static_cast<size_t>(std::min(i + 1, 500));
    if (i % 50 == 0 || i > 640) {
      ASSERT_EQ(session->transcript_last(SIZE_MAX)->items().size(), shown) << i;
    }
  }
  EXPECT_EQ(session->transcript_last(SIZE_MAX)->items().front().get_string("content"), "200");
}

TEST_P(CappedStores, CapZeroKeepsNothingAndIsNoError) {
  const auto session = open(R"({"kv_cap":0,"transcript_cap":0})");
  EXPECT_TRUE(session->kv_set("a", "1").ok());
  EXPECT_TRUE(session->transcript_append("user", "hello").ok());
  EXPECT_EQ(keys_of(*session), "");
  EXPECT_EQ(contents_of(*session), "");
  EXPECT_EQ(session->kv_get("a").code(), Code::kNotFound);
}

TEST_P(CappedStores, CapOneKeepsTheLast) {
  const auto session = open(R"({"kv_cap":1,"transcript_cap":1})");
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(session->kv_set(text, text).ok());
    ASSERT_TRUE(session->transcript_append("user", text).ok());
    EXPECT_EQ(keys_of(*session), std::string(text) + " ");
    EXPECT_EQ(contents_of(*session), std::string(text) + " ");
  }
}

TEST_P(CappedStores, LoweringACapEvicts) {
  const auto session = open();
  for (const char* text : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(session->kv_set(text, text).ok());
    ASSERT_TRUE(session->transcript_append("user", text).ok());
  }
  ASSERT_TRUE(session->update(R"({"kv_cap":2,"transcript_cap":3})").ok());
  EXPECT_EQ(keys_of(*session), "c d ");
  EXPECT_EQ(contents_of(*session), "b c d ");
  // It is gone, not hidden.
  ASSERT_TRUE(session->update(R"({"kv_cap":10,"transcript_cap":10})").ok());
  EXPECT_EQ(keys_of(*session), "c d ");
  EXPECT_EQ(contents_of(*session), "b c d ");
  EXPECT_EQ(session->update(R"({"kv_cap":-1})").code(), Code::kInvalidArgument);
  EXPECT_EQ(session->update(R"({"transcript_cap":"many"})").code(), Code::kInvalidArgument);
}

TEST_P(CappedStores, TheStoresLowerCapHoldsAtOnce) {
  auto session = open();
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(session->kv_set(text, text).ok());
    ASSERT_TRUE(session->transcript_append("user", text).ok());
  }
  session.reset();
  host_.context.settings.kv_cap = 2;
  host_.context.settings.transcript_cap = 1;
  session = place_->open();
  EXPECT_EQ(keys_of(*session), "b c ");
  EXPECT_EQ(session->kv_get("a").code(), Code::kNotFound);
  EXPECT_EQ(session->kv_delete("a").code(), Code::kNotFound);
  EXPECT_EQ(contents_of(*session), "c ");
  ASSERT_TRUE(session->kv_set("d", "4").ok());
  EXPECT_EQ(keys_of(*session), "c d ");
}

TEST_P(CappedStores, TheLastTurnsAreChronological) {
  const auto session = open();
  for (int i = 0; i < 30; ++i) {
    host_.clock.advance_ms(1000);
    ASSERT_TRUE(
        session->transcript_append(i % 2 == 0 ? "user" : "assistant", std::to_string(i)).ok());
  }
  EXPECT_EQ(session->transcript_last(2)->canonical(),
            R"([{"content":"28","role":"user","timestamp":"2026-01-10T14:24:14Z"},)"
            R"({"content":"29","role":"assistant","timestamp":"2026-01-10T14:24:15Z"}])");
  EXPECT_EQ(contents_of(*session, 0), "");
  EXPECT_EQ(session->transcript_last(31)->items().size(), 30U);
}

TEST_P(CappedStores, ContentThatLooksLikeTheFileComesBackUnchanged) {
  const auto session = open();
  const std::vector<std::string> contents = {"### user — 2025-04-15T10:30:01Z",
                                             "a\n\n### assistant — 2025-04-15T10:30:01Z\n\nb",
                                             "###",
                                             "a\r\nb\r\n",
                                             std::string("a\0b\0", 4),
                                             "",
                                             "\n",
                                             std::string(1'000'000, 'x') + "\n### end",
                                             "after"};
  for (const auto& content : contents) {
    ASSERT_TRUE(session->transcript_append("user", content).ok());
  }
  const auto turns = place_->open()->transcript_last(SIZE_MAX);
  ASSERT_EQ(turns->items().size(), contents.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    EXPECT_EQ(turns->items()[i].get_string("content"), contents[i]);
  }
  EXPECT_EQ(contents_of(*session, 1), "after ");
  EXPECT_EQ(session->transcript_last(3)->items()[1].get_string("content"), contents[7]);
}

TEST_P(CappedStores, ASessionWithoutThemSaysSo) {
  auto session = open(R"({"stores":["kv"]})");
  EXPECT_TRUE(session->kv_set("a", "1").ok());
  EXPECT_EQ(session->transcript_append("user", "x").code(), Code::kUnsupported);
  EXPECT_EQ(session->transcript_last(1).code(), Code::kUnsupported);
  session.reset();  // before the place it is in
  const auto bare = open(R"({"stores":[]})");
  EXPECT_EQ(bare->kv_set("a", "1").code(), Code::kUnsupported);
  EXPECT_EQ(bare->kv_get("a").code(), Code::kUnsupported);
  EXPECT_EQ(bare->kv_delete("a").code(), Code::kUnsupported);
  EXPECT_EQ(bare->kv_list().code(), Code::kUnsupported);
  EXPECT_TRUE(bare->add(entry_text("a")).ok());
}

TEST_P(CappedStores, TooLongIsRefusedAndChangesNothing) {
  host_.context.settings.entry_bytes_max = 100;
  const auto session = open();
  EXPECT_TRUE(session->kv_set("a", std::string(100, 'x')).ok());
  EXPECT_EQ(session->kv_set("a", std::string(101, 'x')).code(), Code::kSizeLimit);
  EXPECT_EQ(session->transcript_append("user", std::string(101, 'x')).code(), Code::kSizeLimit);
  EXPECT_EQ(session->kv_set("", "x").code(), Code::kInvalidArgument);
  EXPECT_TRUE(session->kv_set(std::string(1024, 'k'), "x").ok());
  const Status refused = session->kv_set(std::string(1025, 'k'), "x");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.place().member, "key");
  EXPECT_EQ(refused.place().size, 1025U);
  EXPECT_EQ(refused.place().limit, 1024U);
  EXPECT_EQ(session->transcript_append("a\nb", "x").code(), Code::kInvalidArgument);
  EXPECT_EQ(session->kv_get("a")->size(), 100U);
  EXPECT_EQ(contents_of(*session), "");
}

TEST_P(CappedStores, TheyCountAsTheSessionsSizeAndItsLimitHolds) {
  host_.context.settings.session_bytes_max = 10'000;
  const auto session = open(R"({"transcript_cap":4})");
  const uint64_t before = session->size_bytes();
  ASSERT_TRUE(session->kv_set("a", std::string(3000, 'x')).ok());
  ASSERT_TRUE(session->transcript_append("user", std::string(1000, 'y')).ok());
  EXPECT_GT(session->size_bytes(), before + 4000);
  const auto stats = session->stats();
  const json::Tree& sizes = member(*stats, "size_bytes");
  EXPECT_GT(sizes.get_int64("kv"), 3000);
  EXPECT_GT(sizes.get_int64("transcript"), 1000);
  EXPECT_EQ(sizes.get_int64("total"), sizes.get_int64("log") + sizes.get_int64("index") +
                                          sizes.get_int64("tombstones") + sizes.get_int64("kv") +
                                          sizes.get_int64("transcript"));
  EXPECT_EQ(session->kv_set("b", std::string(7000, 'x')).code(), Code::kSizeLimit);
  EXPECT_EQ(session->kv_get("b").code(), Code::kNotFound);
  // A full transcript makes room for its last turns; it refuses only what does not fit at all.
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session->transcript_append("user", std::string(1000, 'z')).ok()) << i;
  }
  EXPECT_EQ(session->transcript_last(9)->items().size(), 4U);
  EXPECT_EQ(session->transcript_append("user", std::string(9000, 'z')).code(), Code::kSizeLimit);
  EXPECT_LE(session->size_bytes(), 10'000U);
  ASSERT_TRUE(session->kv_set("a", "").ok()) << "a smaller one is always taken";
}

TEST_P(CappedStores, SeveralAppendAndSetInTurn) {
  const auto one = open();
  const auto two = place_->open();
  std::string all;
  for (int i = 0; i < 40; ++i) {
    Session& session = i % 3 == 0 ? *two : *one;
    ASSERT_TRUE(session.transcript_append("user", std::to_string(i)).ok());
    ASSERT_TRUE(session.kv_set("k" + std::to_string(i % 7), std::to_string(i)).ok());
    all += std::to_string(i) + " ";
    ASSERT_EQ(contents_of(i % 2 == 0 ? *one : *two), all);
  }
  EXPECT_EQ(keys_of(*one), keys_of(*two));
  EXPECT_EQ(*two->kv_get("k4"), "39");
}

TEST_P(CappedStores, PurgeLeavesNothingBeyondTheCap) {
  const auto session = open(R"({"kv_cap":2,"transcript_cap":2})");
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(session->kv_set(text, text).ok());
    ASSERT_TRUE(session->transcript_append("user", text).ok());
  }
  CompactionOptions options;
  options.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(options).ok());
  EXPECT_EQ(keys_of(*session), "b c ");
  EXPECT_EQ(contents_of(*session), "b c ");
  ASSERT_TRUE(session->update(R"({"kv_cap":9,"transcript_cap":9})").ok());
  EXPECT_EQ(contents_of(*session), "b c ") << "what was beyond the cap is gone from the file";
}

TEST_P(CappedStores, TheTimeIsInTheFilesForm) {
  const auto session = open();
  ASSERT_TRUE(session->kv_set("a", "1").ok());
  EXPECT_EQ(session->kv_list()->items()[0].get_string("ts"), kThen);
}

}  // namespace
}  // namespace varve::session
