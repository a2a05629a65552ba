#include "transfer/chat_times.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace varve::transfer {
namespace {

constexpr const char* kOne = "2026-01-01T00:00:00.000Z";
constexpr const char* kTwo = "2026-01-02T00:00:00.000Z";

class ChatTimesTest : public testing::Test {
 protected:
  // As text; empty where the message tells none.
  std::string time_of(uint64_t place, const std::string& told = {}, uint64_t conversation = 0) {
    json::Tree entry = json::Tree::object();
    if (!told.empty()) entry.set("timestamp", json::Tree::string(told));
    const auto time_ms = times_.time_of({"{}", 1, place, conversation, {}}, entry);
    return time_ms ? format_rfc3339(*time_ms) : "";
  }

  ChatTimes times_;
};

TEST_F(ChatTimesTest, AreThoseOfTheMessageBefore) {
  EXPECT_EQ(time_of(0), "");
  EXPECT_EQ(time_of(1), "");
  EXPECT_EQ(time_of(2, kTwo), kTwo);
  EXPECT_EQ(time_of(3), kTwo);
  EXPECT_EQ(time_of(4, kOne), kOne);  // as the message tells, whatever came before
  EXPECT_EQ(time_of(5), kOne);
}

TEST_F(ChatTimesTest, WhatStandsAtTheBeginningHasTheFirst) {
  EXPECT_EQ(time_of(0, kOne), kOne);
  EXPECT_EQ(time_of(1, kTwo), kTwo);
  EXPECT_EQ(time_of(0), kOne);  // the system of an object, behind its messages
  EXPECT_EQ(time_of(2), kTwo);
}

TEST_F(ChatTimesTest, OfAnotherConversationSayNothing) {
  EXPECT_EQ(time_of(0, kOne), kOne);
  EXPECT_EQ(time_of(1, {}, 1), "");
  EXPECT_EQ(time_of(2, kTwo, 1), kTwo);
  EXPECT_EQ(time_of(3, {}, 3), "");
  EXPECT_EQ(time_of(4, kOne, 3), kOne);
  EXPECT_EQ(time_of(3, {}, 3), kOne);
}

}  // namespace
}  // namespace varve::transfer
