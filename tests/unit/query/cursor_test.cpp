#include "query/cursor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/time.h"

namespace varve::query {
namespace {

Cursor cursor_with(double key, int64_t time_ms) {
  Cursor cursor;
  cursor.query_hash = 0xfedcba9876543210;
  cursor.now_ms = 1768055025678;
  cursor.last_id = "mem_last-1";
  cursor.best_match = 7.25;
  cursor.key = key;
  cursor.timestamp_ms = time_ms;
  cursor.session_id = "S_1";
  cursor.id = "mem_abc123xyz";
  cursor.row_ends = {{1, 0}, {0xffffffffffffffff, 0xfffffffffffffffe}};
  return cursor;
}

TEST(Cursor, ComesBackBitForBit) {
  for (const double key : {0.0, -0.0, 1.0 / 3, -0.25, 1e308, 5e-324, 1768055025678.0}) {
    for (const int64_t time_ms : {int64_t{0}, int64_t{-1}, kFirstMs, kLastMs}) {
      const Cursor cursor = cursor_with(key, time_ms);
      const auto read = parse_cursor(format_cursor(cursor));
      ASSERT_TRUE(read.has_value()) << key;
      EXPECT_EQ(read->query_hash, cursor.query_hash);
      EXPECT_EQ(read->now_ms, cursor.now_ms);
      EXPECT_EQ(read->last_id, cursor.last_id);
      EXPECT_EQ(read->best_match, cursor.best_match);
      EXPECT_EQ(read->key, key);
      EXPECT_EQ(std::signbit(read->key), std::signbit(key));
      EXPECT_EQ(read->timestamp_ms, time_ms);
      EXPECT_EQ(read->session_id, cursor.session_id);
      EXPECT_EQ(read->id, cursor.id);
      EXPECT_EQ(read->row_ends, cursor.row_ends);
    }
  }
}

TEST(Cursor, WithoutIdsComesBackToo) {
  const auto read = parse_cursor(format_cursor(Cursor()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->id, "");
  EXPECT_EQ(read->session_id, "");
}

TEST(Cursor, GarbageIsNone) {
  const std::string whole = format_cursor(cursor_with(0.5, 1));
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  for (const std::string& text : {std::string(),
                                  std::string("."),
                                  std::string("........"),
                                  std::string("v1"),
                                  whole + ".",
                                  whole + ".x",
                                  "v2" + whole.substr(2),
                                  " " + whole,
                                  whole + " ",
                                  std::string("v1.1.2.3.4.5.a.b.c"),
                                  std::string("v1.1.2.3.4.g.a.b.c."),
                                  std::string("v1.1.2.3.4..a.b.c."),
                                  std::string("v1.-1.2.3.4.5.a.b.c."),
                                  std::string("v1.11111111111111111.2.3.4.5.a.b.c."),
                                  std::string("v1.1.2.3.4.5.a/.b.c."),
                                  std::string("v1.1.2.3.4.5.a.b.c d."),
                                  std::string("v1.1.2.3.4.5.a.b d.c."),
                                  std::string("v1.1.2.7ff0000000000000.4.5.a.b.c."),
                                  std::string("\0\0\0\0\0\0\0\0", 8),
                                  std::string("v1.1.2.3.4.5.a.b.c.1"),
                                  std::string("v1.1.2.3.4.5.a.b.c.-1"),
                                  std::string("v1.1.2.3.4.5.a.b.c.1-10000000000000000"),
                                  std::string("v1.1.2.3.4.5.a.b.c.1-2__3-4"),
                                  format_cursor(cursor_with(none, 1)),
                                  format_cursor(cursor_with(endless, 1))}) {
    EXPECT_FALSE(parse_cursor(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_cursor("v1.1.2.3.4.5.a.b.c.").has_value())
      << "the form of the wrong ones above";
  EXPECT_TRUE(parse_cursor("v1.1.2.3.4.5.a.b.c.1-2_3-4").has_value());
}

TEST(Cursor, ATimeThatNobodyCanWriteIsNone) {
  for (const int64_t time_ms : {kFirstMs - 1, kLastMs + 1, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max()}) {
    EXPECT_FALSE(parse_cursor(format_cursor(cursor_with(0.5, time_ms))).has_value()) << time_ms;
    Cursor cursor = cursor_with(0.5, 1);
    cursor.now_ms = time_ms;
    EXPECT_FALSE(parse_cursor(format_cursor(cursor)).has_value()) << time_ms;
  }
}

TEST(Cursor, AnyBytesAreReadWithoutHarm) {
  std::mt19937 random(5);
  const std::string whole = format_cursor(cursor_with(0.5, 1));
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto read = parse_cursor(text.substr(0, random() % (text.size() + 1)));
    EXPECT_TRUE(!read || (std::isfinite(read->key) && std::isfinite(read->best_match)));
  }
}

}  // namespace
}  // namespace varve::query
