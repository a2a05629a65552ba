#include "transfer/entry_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace varve::transfer {
namespace {

// Deeper than an add takes, and as deep as a line of the log may be that somebody else wrote.
TEST(EntryWriter, EveryLineThatIsReadIsWrittenInEveryFormat) {
  const std::string content = std::string(120, '[') + "1" + std::string(120, ']');
  const std::string line = R"({"content":)" + content +
                           R"(,"id":"a","timestamp":"2026-01-10T14:20:00Z","type":"finding"})";
  const std::pair<ExportFormat, std::string> cases[] = {
      {ExportFormat::kJsonl, line},
      {ExportFormat::kJson, line},
      {ExportFormat::kMarkdown, "## 2026-01-10T14:20:00Z finding `a`"},
  };
  for (const auto& [format, expected] : cases) {
    EntryWriter writer(format);
    std::string out;
    writer.begin("s", out);
    const Status written = writer.entry(line, out);
    ASSERT_TRUE(written.ok()) << written.message();
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
}

TEST(EntryWriter, BeginsAnewAndLeavesOutTheBlanksAroundALine) {
  EntryWriter writer(ExportFormat::kJson);
  for (int i = 0; i < 2; ++i) {
    std::string out;
    writer.begin("s", out);
    for (const std::string line : {" {\"id\":\"a\"}\r", "{\"id\":\"b\"} \t"}) {
      ASSERT_TRUE(writer.entry(line, out).ok());
    }
    EXPECT_EQ(out, R"({"entries":[{"id":"a"},{"id":"b"})");
  }
}

// Whatever the locale of the host's process: "0,5" is two numbers in some.
TEST(EntryWriter, MarkdownHasTheImportanceAsTheEntryHasIt) {
  for (const std::string importance : {"0", "1", "0.5", "1e-7", "0.123456789"}) {
    EntryWriter writer(ExportFormat::kMarkdown);
    std::string out;
    const Status written = writer.entry(R"({"id":"a","importance":)" + importance + "}", out);
    ASSERT_TRUE(written.ok()) << written.message();
    EXPECT_NE(out.find("_importance " + importance + "_\n"), std::string::npos) << out;
  }
}

// Markdown takes a carriage return for the end of a line, too.
TEST(EntryWriter, MarkdownKeepsEveryLineOfACallInItsBlock) {
  EntryWriter writer(ExportFormat::kMarkdown);
  std::string out;
  const std::string call = R"({"function":{"name":"f","arguments":"x\r# y\r\nz"}})";
  const std::string line = R"({"content":{"tool_calls":[)" + call + R"(]},"id":"a"})";
  ASSERT_TRUE(writer.entry(line, out).ok());
  EXPECT_NE(out.find("    f x\n    # y\n    z\n\n"), std::string::npos) << out;
}

// Which tool was called, and with what, is all that such a message says.
TEST(EntryWriter, MarkdownHasTheCallsOfAMessage) {
  const std::string calls =
      R"("tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}},)"
      R"({"id":"2","function":{"name":"g","arguments":"x\n```"}}])";
  for (const auto& [content, expected] :
       {std::pair{R"({"message":"I look.","role":"assistant",)" + calls + "}",
                  "**assistant**: I look.\n\n    f {\"a\":1}\n\n    g x\n    ```\n\n_importance"},
        std::pair{R"({"role":"assistant",)" + calls + "}",
                  "**assistant**:\n\n    f {\"a\":1}\n\n    g x\n    ```\n\n_importance"},
        std::pair{std::string(R"({"parts":[{"type":"tool_use","name":"f","input":{}}]})"),
                  "`a`\n\n    f {}\n\n_importance"},
        std::pair{std::string(R"({"parts":[{"functionCall":{"name":"f","args":{}}}]})"),
                  "`a`\n\n    f {}\n\n_importance"},
        std::pair{std::string(R"({"parts":{"type":"tool_use","name":"f","input":{}}})"),
                  "`a`\n\n    f {}\n\n_importance"}}) {
    EntryWriter writer(ExportFormat::kMarkdown);
    std::string out;
    ASSERT_TRUE(writer.entry(R"({"id":"a","content":)" + content + "}", out).ok());
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
}

// In a group, many are users.
TEST(EntryWriter, MarkdownNamesWhoSaysAMessage) {
  const auto shown = [](const std::string& type, const std::string& content) {
    EntryWriter writer(ExportFormat::kMarkdown);
    std::string out;
    EXPECT_TRUE(writer.entry(R"({"type":")" + type + R"(","content":)" + content + "}", out).ok());
    return out;
  };
  const std::string said = R"({"message":"Hi","name":"Ann","role":"user"})";
  EXPECT_NE(shown("message", said).find("**user (Ann)**: Hi\n"), std::string::npos);
  EXPECT_NE(shown("tool_result", said).find("**user**: Hi\n"), std::string::npos);
  EXPECT_NE(
      shown("message", R"({"message":"Hi","name":"user","role":"user"})").find("**user**: Hi\n"),
      std::string::npos);
}

TEST(EntryWriter, MarkdownHasTheKindOfAPicture) {
  const std::string picture =
      R"("role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"i"}}]}})";
  for (const auto& [said, expected] :
       {std::pair{"", "**user**: [image/png]\n"},
        std::pair{R"("message":"Look",)", "**user**: Look\n\n[image/png]\n"}}) {
    std::string out;
    EntryWriter writer(ExportFormat::kMarkdown);
    const std::string line = R"({"id":"a","content":{)" + std::string(said) + picture;
    ASSERT_TRUE(writer.entry(line, out).ok());
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
}

// As a memory records them: the list that chat programs have for a content.
TEST(EntryWriter, MarkdownHasTheTextOfPartsAsTheyWereRecorded) {
  for (const auto& [content, expected] :
       {std::pair{R"({"role":"user","message":[{"type":"text","text":"Look"},)"
                  R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]})",
                  "`a`\n\n**user**: Look\n\n[image_url]\n\n_importance"},
        std::pair{R"({"role":"assistant","content":[{"type":"text","text":"I look."},)"
                  R"({"type":"tool_use","id":"1","name":"f","input":{}}]})",
                  "`a`\n\n**assistant**: I look.\n\n    f {}\n\n_importance"},
        std::pair{R"({"role":"assistant","message":[{"type":"tool_use","name":"f","input":{}}]})",
                  "`a`\n\n**assistant**:\n\n    f {}\n\n_importance"},
        std::pair{R"({"role":"user","message":[1]})",
                  "```json\n{\n  \"message\": [\n    1\n  ],\n  \"role\": \"user\"\n}\n```"},
        std::pair{R"({"message":[{"text":"no role"}]})", "```json\n{\n  \"message\": ["}}) {
    EntryWriter writer(ExportFormat::kMarkdown);
    std::string out;
    const std::string line = std::string(R"({"id":"a","content":)") + content + "}";
    ASSERT_TRUE(writer.entry(line, out).ok());
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
}

TEST(EntryWriter, MarkdownNamesTagsWhereThereAreSome) {
  for (const auto& [tags, expected] :
       {std::pair{R"(["a","b"])", "_importance 0.5, tags `a` `b`_\n"},
        std::pair{"[]", "_importance 0.5_\n"}}) {
    EntryWriter writer(ExportFormat::kMarkdown);
    std::string out;
    ASSERT_TRUE(writer.entry(std::string(R"({"id":"a","tags":)") + tags + "}", out).ok());
    EXPECT_NE(out.find(expected), std::string::npos) << out;
  }
}

}  // namespace
}  // namespace varve::transfer
