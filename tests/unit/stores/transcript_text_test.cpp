#include "stores/transcript_text.h"

#include <gtest/gtest.h>

namespace varve::stores {
namespace {

// The text of the document that this format comes from.
constexpr std::string_view kDocumentedTranscript = R"(### user — 2025-04-15T10:30:01Z

Hello, tell me about your memory system.

### assistant — 2025-04-15T10:30:05Z

I can store key-value pairs and maintain a conversation transcript…
)";

constexpr std::string_view kTime = "2025-04-15T10:30:01Z";

const std::vector<TranscriptEntry> kTranscriptEntries = {
    {"user", "Hello, tell me about your memory system.", "2025-04-15T10:30:01Z"},
    {"assistant", "I can store key-value pairs and maintain a conversation transcript…",
     "2025-04-15T10:30:05Z"}};

TranscriptEntry said(std::string content) {
  return {"user", std::move(content), std::string(kTime)};
}

// Contents that could be taken for something else.
std::vector<std::string> awkward_contents() {
  const std::string nul(1, '\0');
  return {"",
          "\n",
          "\n\n\n",
          " ",
          "  ",
          "   ",
          "ends in blanks  ",
          "a  \nb  ",
          "ends in a line end\n",
          "\nbegins with one",
          "a\r\nb\r\n",
          "\r",
          "\ta\t",
          "### user — 2025-04-15T10:30:01Z",
          "before\n### assistant — 2025-04-15T10:30:01Z\n\nafter",
          "\\### user — 2025-04-15T10:30:01Z",
          "\\\\### x\n### y\n\\### z",
          "###",
          "### ",
          "#### four",
          nul,
          "a" + nul + "b" + nul,
          "\\" + nul,
          "\\\\" + nul + "u0000",
          "\\u0000",
          "\\\\u0000",
          "\\u0020",
          "u0020  ",
          "\\  ",
          "\\",
          "\\\\",
          "\\\n\\",
          nul + "### user — 2025-04-15T10:30:01Z",
          "\xef\xbb\xbf bom",
          "\xe2\x80\xa8 line separator",
          "```\ncode  \n\n    indented\n```",
          std::string(1'000'000, 'x')};
}

TEST(TranscriptText, IsTheDocumentedExampleByteForByte) {
  EXPECT_EQ(format_transcript(kTranscriptEntries), kDocumentedTranscript);
  const TranscriptContents read = parse_transcript(kDocumentedTranscript);
  EXPECT_EQ(read.entries, kTranscriptEntries);
  EXPECT_TRUE(read.damaged.empty());
  EXPECT_EQ(read.torn_bytes, 0U);
  EXPECT_TRUE(read.ends_whole);
}

TEST(TranscriptText, EveryContentComesBackUnchanged) {
  std::vector<TranscriptEntry> all;
  for (const std::string& content : awkward_contents()) {
    const TranscriptContents alone = parse_transcript(format_entry(said(content)));
    ASSERT_EQ(alone.entries.size(), 1U) << content.substr(0, 50);
    EXPECT_EQ(alone.entries[0].content, content);
    EXPECT_TRUE(alone.ends_whole);
    all.push_back(said(content));
  }
  const TranscriptContents together = parse_transcript(format_transcript(all));
  EXPECT_EQ(together.entries, all);
  EXPECT_TRUE(together.ends_whole);
}

TEST(TranscriptText, NoNulIsWritten) {
  for (const std::string& content : awkward_contents()) {
    EXPECT_EQ(format_entry(said(content)).find('\0'), std::string::npos);
  }
}

// What an append leaves that was cut short: the entries before it, and nothing of it.
TEST(TranscriptText, NoBeginningOfAnEntryIsAnEntry) {
  std::string before;
  std::vector<TranscriptEntry> entries;
  for (const std::string& content : awkward_contents()) {
    if (content.size() > 1000) continue;
    const std::string added = (before.empty() ? "" : "\n") + format_entry(said(content));
    for (size_t length = 0; length < added.size(); ++length) {
      const auto read = parse_transcript(before + added.substr(0, length));
      ASSERT_EQ(read.entries, entries) << content << " cut at " << length;
      ASSERT_TRUE(read.damaged.empty());
    }
    before += added;
    entries.push_back(said(content));
    ASSERT_EQ(parse_transcript(before).entries, entries) << content;
  }
}

// What a file system shows of an append whose blocks did not all reach the disk.
TEST(TranscriptText, AnAppendWithZerosInItIsNotThere) {
  const std::string before = format_transcript(kTranscriptEntries);
  const std::string added = "\n" + format_entry(said("one\ntwo\nthree"));
  const std::string after = "\n" + format_entry(said("later"));
  auto later = kTranscriptEntries;
  later.push_back(said("later"));
  for (size_t from = 0; from < added.size(); ++from) {
    for (const size_t to : {added.size(), added.size() / 2}) {
      if (from >= to) continue;
      std::string torn = added;
      torn.replace(from, to - from, to - from, '\0');
      const auto read = parse_transcript(before + torn);
      ASSERT_EQ(read.entries, kTranscriptEntries) << from << " " << to;
      ASSERT_GT(read.torn_bytes, 0U) << from << " " << to;
      ASSERT_FALSE(read.ends_whole);
      // The next one, by somebody who did not look.
      const auto both = parse_transcript(before + torn + after);
      ASSERT_EQ(both.entries, later) << from << " " << to;
      ASSERT_EQ(both.damaged.size(), 1U);
    }
  }
}

TEST(TranscriptText, WhatAPersonWroteIsTaken) {
  const auto read = parse_transcript(
      "### user — 2025-04-15T10:30:01+02:00\n"
      "no blank line\nand a plain line break\n\n\n\n"
      "### a — b — 2025-04-15 10:30:05Z  \n\n"
      "a paragraph\n\nanother, with ### in it\n");
  ASSERT_EQ(read.entries.size(), 2U);
  EXPECT_EQ(read.entries[0].content, "no blank line\nand a plain line break");
  EXPECT_EQ(read.entries[0].timestamp, "2025-04-15T10:30:01+02:00");
  EXPECT_EQ(read.entries[1].role, "a — b");
  EXPECT_EQ(read.entries[1].content, "a paragraph\n\nanother, with ### in it");
  EXPECT_TRUE(read.damaged.empty());
  EXPECT_FALSE(read.ends_whole) << "it is written anew before anything is appended";
}

TEST(TranscriptText, AnEditorsByteOrderMarkIsNoContent) {
  const std::string mark = "\xEF\xBB\xBF";
  const TranscriptContents read = parse_transcript(mark + std::string(kDocumentedTranscript));
  EXPECT_EQ(read.entries, kTranscriptEntries);
  EXPECT_TRUE(read.damaged.empty());
  EXPECT_TRUE(read.ends_whole);
  EXPECT_TRUE(parse_transcript(mark).damaged.empty());
  EXPECT_EQ(parse_transcript(std::string(kDocumentedTranscript) + "\n" + mark + "\n" +
                             std::string(kDocumentedTranscript))
                .entries.size(),
            4U);
}

TEST(TranscriptText, AnEditorsLineEndsAreNoContent) {
  std::string text(kDocumentedTranscript);
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\r');
  }
  EXPECT_EQ(parse_transcript(text).entries, kTranscriptEntries);
  const auto lines = parse_transcript("### user — 2025-04-15T10:30:01Z\r\n\r\none  \r\ntwo\r\n");
  EXPECT_EQ(lines.entries, std::vector{said("one\ntwo")});
  EXPECT_TRUE(lines.ends_whole) << "a line break as it is written, and nothing behind it";
}

// It is cut off before the next append: only what an append left there may be.
TEST(TranscriptText, WhatAPersonWroteAtTheEndIsNoTornAppend) {
  for (const std::string end : {"x", "more", "\n### a heading\n", "\nmore", "### a heading"}) {
    const auto read = parse_transcript(format_entry(said("one")) + end);
    EXPECT_EQ(read.torn_bytes, 0U) << end;
    ASSERT_EQ(read.entries.size(), 1U);
    EXPECT_TRUE(read.entries[0].content.starts_with("one\n")) << end;
    EXPECT_FALSE(read.ends_whole) << end;
  }
}

TEST(TranscriptText, AHeadingThatNamesNoRoleIsNoHeader) {
  for (const std::string role : {"", " user",
                                 "us\x7f"
                                 "er",
                                 "a\tb"}) {
    const auto read = parse_transcript(format_entry(said("one")) + "\n### " + role +
                                       std::string(" — ") + std::string(kTime) + "\n\ntwo\n");
    EXPECT_EQ(read.entries.size(), 1U) << role;
  }
}

TEST(TranscriptText, BlanksAreWrittenAsTheyAreButAtTheEnd) {
  EXPECT_TRUE(format_entry(said("a  \nb")).ends_with("\na    \nb\n"));
  EXPECT_TRUE(format_entry(said("a\nb  ")).ends_with("\na  \nb \\u0020\n"));
}

TEST(TranscriptText, DamageInTheMiddleIsIsolated) {
  const std::string first = format_entry(said("one"));
  const std::string second = "\n" + format_entry(said("two"));
  std::string text = first + second + "\n" + format_entry(said("three"));
  text[first.size() + second.size() - 2] = '\xff';
  const auto read = parse_transcript(text);
  EXPECT_EQ(read.entries, (std::vector{said("one"), said("three")}));
  ASSERT_EQ(read.damaged.size(), 1U);
  EXPECT_EQ(read.damaged[0].offset, first.size() + 1);
}

TEST(TranscriptText, GarbageHasNoEntries) {
  for (const std::string_view text : {std::string_view("\0\0\0", 3), std::string_view("\xff\xfe"),
                                      std::string_view("{\"not\":\"a transcript\"}\n"),
                                      std::string_view("# A heading\n\ntext\n")}) {
    const auto read = parse_transcript(text);
    EXPECT_TRUE(read.entries.empty());
    EXPECT_FALSE(read.ends_whole) << text;
  }
  EXPECT_TRUE(parse_transcript("").ends_whole);
  EXPECT_TRUE(parse_transcript("\n\n").ends_whole);
}

TEST(TranscriptText, FindsTheFirstHeaderOfAPiece) {
  const std::string text = "half a line\n\\### user — 2025-04-15T10:30:01Z\n### heading\n" +
                           std::string("### user — not a time\n") + format_entry(said("x"));
  EXPECT_EQ(find_header(text), text.find("### user — 2025-04-15T10:30:01Z\n\nx"));
  EXPECT_EQ(find_header("### user — 2025-04-15T10:30:01Z\n"), std::string::npos)
      << "nobody knows what is before it";
  EXPECT_EQ(find_header(""), std::string::npos);
}

TEST(TranscriptText, RolesAreLinesWithoutBlanksAround) {
  for (const std::string_view role :
       {"user", "assistant", "Ann — a friend", "\xc3\xa9", "tool:x"}) {
    EXPECT_TRUE(is_valid_role(role)) << role;
  }
  for (const std::string_view role :
       {std::string_view(""), std::string_view(" user"), std::string_view("user "),
        std::string_view("a\nb"), std::string_view("a\0b", 3), std::string_view("\xff")}) {
    EXPECT_FALSE(is_valid_role(role)) << role;
  }
  EXPECT_TRUE(is_valid_role(std::string(128, 'x')));
  EXPECT_FALSE(is_valid_role(std::string(129, 'x')));
}

}  // namespace
}  // namespace varve::stores
