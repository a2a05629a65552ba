// Taking an input apart, whole and damaged.
#include "transfer/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace varve::transfer {
namespace {

// Gives a few bytes at a time, so that every boundary falls somewhere.
class Trickle final : public Input {
 public:
  Trickle(std::string_view text, size_t step) : rest_(text), size_(text.size()), step_(step) {}
  Result<size_t> read(std::span<char> out) override {
    const size_t count = std::min({out.size(), rest_.size(), step_});
    std::copy_n(rest_.begin(), count, out.begin());
    rest_.remove_prefix(count);
    return count;
  }
  [[nodiscard]] uint64_t size_bytes() const override { return size_; }

 private:
  std::string_view rest_;
  uint64_t size_;
  size_t step_;
};

class BrokenInput final : public Input {
 public:
  Result<size_t> read(std::span<char> /*out*/) override {
    return Status(Code::kIo, "the disk is gone");
  }
  [[nodiscard]] uint64_t size_bytes() const override { return 1; }
};

struct Taken {
  uint64_t line;
  std::string text;  // or '!' and a fault
  friend bool operator==(const Taken&, const Taken&) = default;
  friend void PrintTo(const Taken& taken, std::ostream* out) {
    *out << taken.line << ": " << taken.text;
  }
};

std::vector<Taken> take_all(std::string_view text, ImportFormat format = ImportFormat::kAuto,
                            size_t element_bytes_max = 1000) {
  std::vector<Taken> all;
  for (const size_t step : {size_t{1} << 20, size_t{1}, size_t{7}}) {
    Trickle input(text, step);
    ElementReader reader(input, format, element_bytes_max);
    std::vector<Taken> taken;
    for (;;) {
      auto element = reader.next();
      EXPECT_TRUE(element.ok()) << element.status().message();
      if (!element.ok() || !*element) break;
      EXPECT_EQ((*element)->text.empty(), !(*element)->fault.empty());
      const std::string& fault = (*element)->fault;
      taken.push_back(
          {(*element)->line, fault.empty() ? std::string((*element)->text) : "!" + fault});
    }
    EXPECT_EQ(reader.read_bytes(), text.size());
    if (step == size_t{1} << 20) all = taken;
    EXPECT_EQ(taken, all) << "in steps of " << step;
  }
  return all;
}

using Expected = std::vector<Taken>;

TEST(ElementReader, TakesLines) {
  EXPECT_EQ(take_all("{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"c\":3}"),
            (Expected{{1, "{\"a\":1}"}, {4, "{\"b\":2}"}, {5, "{\"c\":3}"}}));
}

TEST(ElementReader, TakesNothingFromNothing) {
  EXPECT_EQ(take_all(""), Expected{});
  EXPECT_EQ(take_all("\n \r\n\n"), Expected{});
  EXPECT_EQ(take_all("\xEF\xBB\xBF"), Expected{});
  EXPECT_EQ(take_all("[]"), Expected{});
  EXPECT_EQ(take_all(" [ ] \n"), Expected{});
}

TEST(ElementReader, PassesOverAByteOrderMark) {
  EXPECT_EQ(take_all("\xEF\xBB\xBF{\"a\":1}\n"), (Expected{{1, "{\"a\":1}"}}));
  EXPECT_EQ(take_all("\xEF\xBB\xBF[{\"a\":1}]"), (Expected{{1, "{\"a\":1}"}}));
}

TEST(ElementReader, TakesTheElementsOfAnArrayWithTheLinesTheyBeginIn) {
  EXPECT_EQ(take_all("[{\"a\":[1,2]},\n  {\"b\":\"],}\\\"{\"}\n,\n\n{\"c\":{}} ]\n"),
            (Expected{{1, "{\"a\":[1,2]}"}, {2, "{\"b\":\"],}\\\"{\"}"}, {5, "{\"c\":{}}"}}));
}

// Of a file with a conversation on each line as an array, the first alone was taken.
TEST(ElementReader, TakesTheArraysBehindAnArray) {
  EXPECT_EQ(take_all("[{\"a\":1},{\"b\":2}]\n[{\"c\":3}]\r\n\n[ ]\n[\n{\"d\":4}\n]\n"),
            (Expected{{1, "{\"a\":1}"}, {1, "{\"b\":2}"}, {2, "{\"c\":3}"}, {6, "{\"d\":4}"}}));
  EXPECT_EQ(take_all("[{\"a\":1}]\n[{\"b\":2}] x\n{\"c\":3}\n"),
            (Expected{{1, "{\"a\":1}"},
                      {2, "{\"b\":2}"},
                      {2, "!text follows the end of the array"},
                      {3, "{\"c\":3}"}}));
  EXPECT_EQ(take_all("{\"entries\":[{\"a\":1}]}\n[{\"b\":2}]\n"),
            (Expected{{1, "{\"a\":1}"}, {2, "{\"b\":2}"}}));
}

TEST(ElementReader, FindsTheArrayInAnObject) {
  const Expected two = {{1, "{\"a\":1}"}, {1, "{\"b\":2}"}};
  EXPECT_EQ(take_all(R"({"entries":[{"a":1},{"b":2}],"session":{"x":[1,{"y":"}"}]}})"), two);
  EXPECT_EQ(take_all(R"({"model":"m","n":{"entries":[9]},"messages":[{"a":1},{"b":2}]})"), two);
  EXPECT_EQ(take_all("{\n \"session\": {\"t\": \"a\\\"b\"},\n \"entries\": [\n  1,\n  2\n ]\n}\n"),
            (Expected{{4, "1"}, {5, "2"}}));
}

// As programs print them for people: by lines, some would be taken and the rest refused.
TEST(ElementReader, TakesObjectsOverSeveralLinesWhole) {
  const std::string one = "{\n \"a\": \"}\",\n \"b\": [\n{\"c\":1},\n{\"c\":2}\n ]\n}";
  const std::string two = "{\r\n\"d\": {}}";
  EXPECT_EQ(take_all("\n" + one + "\n\n" + two + " {\"e\":3}\n"),
            (Expected{{2, one}, {10, two}, {11, "{\"e\":3}"}}));
  EXPECT_EQ(take_all("{\"a\":1,\n\"b\":2},\n[{}]\nx}\n{\"c\":3}"),
            (Expected{{1, "{\"a\":1,\n\"b\":2}"}, {3, "[{}]"}, {4, "x}"}, {5, "{\"c\":3}"}}));
  EXPECT_EQ(take_all(one, ImportFormat::kJsonl).size(), 7U);
  EXPECT_EQ(take_all(one, ImportFormat::kChat), (Expected{{1, one}}));
}

TEST(ElementReader, TakesConversationsOverSeveralLinesApart) {
  const std::string first = "{\n \"messages\": [\n  {\"a\":1}\n ]\n}\n";
  EXPECT_EQ(take_all(first + "{\n \"m\": 1,\n \"messages\": [\n  {\"b\":2}\n ]\n}\n" + first),
            (Expected{{3, "{\"a\":1}"}, {9, "{\"b\":2}"}, {14, "{\"a\":1}"}}));
}

TEST(ElementReader, OfAnObjectOverSeveralLinesThatIsCutTheRestIsMissing) {
  EXPECT_EQ(take_all("{\n\"a\": 1\n}\n{\n\"b\": {\n}\n"),
            (Expected{{1, "{\n\"a\": 1\n}"}, {4, "!the text ends in the middle of this element"}}));
  const std::string longer = "{\n\"a\": \"" + std::string(1000, 'x') + "\"\n}\n{\"b\":2}";
  EXPECT_EQ(take_all(longer),
            (Expected{{1, "!the element is longer than 1000 bytes"}, {4, "{\"b\":2}"}}));
}

// A line that was cut, before whole ones, is no object over several lines.
TEST(ElementReader, ACutLineIsRefusedAlone) {
  for (const std::string cut : {"{", "{\"a\":", "{\"a\":1,", "{\"a\":[", "{\"a\":\"b,"}) {
    EXPECT_EQ(take_all(cut + "\n{\"b\":2}\n"), (Expected{{1, cut}, {2, "{\"b\":2}"}})) << cut;
  }
}

// As files for fine-tuning have them: each line a conversation.
TEST(ElementReader, TakesApartEachOfSeveralConversations) {
  const Expected lines = {{1, "{\"a\":1}"}, {1, "{\"b\":2}"}, {2, "{\"c\":3}"}, {4, "{\"d\":4}"}};
  EXPECT_EQ(take_all("{\"messages\":[{\"a\":1},{\"b\":2}]}\n {\"n\":1,\"messages\":[{\"c\":3}],"
                     "\"t\":[]}\n\n{\"messages\":[{\"d\":4}]}\n"),
            lines);
  EXPECT_EQ(
      take_all("[{\"messages\":[{\"a\":1},\n{\"b\":2}]},{\"messages\":[{\"c\":3}]},\n"
               "{\"role\":\"user\"}]"),
      (Expected{{1, "{\"a\":1}"}, {2, "{\"b\":2}"}, {2, "{\"c\":3}"}, {3, "{\"role\":\"user\"}"}}));
  const std::string typed = R"({"type":"x","messages":[{"a":1}]})";
  EXPECT_EQ(take_all(typed + "\n" + typed), (Expected{{1, typed}, {2, typed}}));
  EXPECT_EQ(take_all(typed + "\n" + typed, ImportFormat::kChat),
            (Expected{{1, "{\"a\":1}"}, {2, "{\"a\":1}"}}));
  const std::string entry = R"({"messages":[{"a":1}],"type":"x","content":1})";
  EXPECT_EQ(take_all("{\"x\":1}\n" + entry), (Expected{{1, "{\"x\":1}"}, {2, entry}}));
}

TEST(ElementReader, WhatAConversationSaysAsSystemIsAMessage) {
  const std::vector<Taken> all = {{1, R"({"role":"system","content":"Be kind"})"},
                                  {1, R"({"role":"user","content":"Hi"})"}};
  constexpr std::string_view kText =
      R"({"model":"m","system":"Be kind","messages":[{"role":"user","content":"Hi"}],"top_k":1})";
  EXPECT_EQ(take_all(kText), all);
  EXPECT_EQ(take_all(kText, ImportFormat::kChat), all);
  EXPECT_EQ(take_all(kText, ImportFormat::kJson), std::vector<Taken>(all.begin() + 1, all.end()));
  EXPECT_EQ(take_all(R"({"messages":[{"a":1}],"system":[{"text":"Be, kind"}]})"),
            (std::vector<Taken>{{1, R"({"a":1})"},
                                {1, R"({"role":"system","content":[{"text":"Be, kind"}]})"}}));
  EXPECT_EQ(take_all(R"({"system":null,"messages":[{"a":1}]})"),
            (std::vector<Taken>{{1, R"({"a":1})"}}));
}

TEST(ElementReader, ARequestOfGeminiIsAConversation) {
  const std::string contents = R"("contents":[{"role":"user","parts":[{"text":"Hi"}]}])";
  const Taken said = {1, R"({"role":"user","parts":[{"text":"Hi"}]})"};
  const Taken rule = {1, R"({"role":"system","parts":[{"text":"Be, kind"}]})"};
  for (const std::string name : {"systemInstruction", "system_instruction"}) {
    const std::string parts =
        "\"" + name + R"(":{"role" : "user", "parts": [{"text":"Be, kind"}]})";
    EXPECT_EQ(take_all("{" + parts + "," + contents + "}"), (std::vector<Taken>{rule, said}));
    EXPECT_EQ(take_all("{" + contents + "," + parts + "}"), (std::vector<Taken>{said, rule}));
    EXPECT_EQ(take_all("{\"" + name + "\":\"Be kind\"," + contents + "}"),
              (std::vector<Taken>{{1, R"({"role":"system","content":"Be kind"})"}, said}));
    for (const std::string none : {"null", "{}", R"({"parts":)"}) {
      EXPECT_EQ(take_all("{" + contents + ",\"" + name + "\":" + none + "}").front(), said);
    }
  }
  EXPECT_EQ(take_all("[{" + contents + "},{" + contents + "}]"), (std::vector<Taken>{said, said}));
  const std::string entry = R"({"type":"x","content":1,)" + contents + "}";
  EXPECT_EQ(take_all(entry), (std::vector<Taken>{{1, entry}}));
}

TEST(ElementReader, DamageInAConversationIsThatOfItsLine) {
  const std::string_view cut_value = "!the text ends in the middle of this element";
  for (const std::string first :
       {"{\"messages\":[{\"a\":1},{\"b", "{\"messages\":[{\"a\":1},{\"b\":2"}) {
    EXPECT_EQ(take_all(first + "\n{\"messages\":[{\"c\":3}]}\n{\"messages\":[{\"d\":4}]}"),
              (Expected{{1, "{\"a\":1}"},
                        {1, std::string(cut_value)},
                        {1, "!the text ends inside the array: the rest is missing"},
                        {2, "{\"c\":3}"},
                        {3, "{\"d\":4}"}}));
  }
}

TEST(ElementReader, AnEntryWithAnArrayOfThatNameIsAnEntry) {
  const std::string line = R"({"content":{"x":1},"entries":[1],"type":"finding"})";
  EXPECT_EQ(take_all(line + "\n" + line), (Expected{{1, line}, {2, line}}));
}

TEST(ElementReader, AMemberOfThatNameWithoutAnArrayIsNoneOfElements) {
  for (const std::string value : {"1", "\"x\"", "{\"a\":[1]}", "null"}) {
    const std::string line = R"({"entries":)" + value + R"(,"type":"finding"})";
    EXPECT_EQ(take_all(line + "\n" + line), (Expected{{1, line}, {2, line}}));
  }
}

// The tools of a request may be long, and stand before its messages.
TEST(ElementReader, TakesAConversationOnOneLineApartWhateverStandsBeforeItsMessages) {
  const std::string text = "{\"tools\":\"" + std::string(300'000, 'x') +
                           R"(","messages":[{"role":"user"},{"role":"assistant"}]})";
  const std::vector<Taken> expected = {{1, R"({"role":"user"})"}, {1, R"({"role":"assistant"})"}};
  EXPECT_EQ(take_all(text, ImportFormat::kAuto, 1'000'000), expected);
}

// The same written over several lines.
std::string request_over_lines(size_t tools_bytes) {
  return "{\n\"tools\": [\"" + std::string(tools_bytes, 't') +
         "\"],\n\"messages\": [\n{\"role\":\"user\"}\n]\n}\n";
}

TEST(ElementReader, TakesARequestOverLinesApartWhateverStandsBeforeItsMessages) {
  for (const size_t bytes : {size_t{70'000}, size_t{200'000}, size_t{300'000}, size_t{990'000}}) {
    EXPECT_EQ(take_all(request_over_lines(bytes), ImportFormat::kAuto, 1'000'000),
              (Expected{{4, R"({"role":"user"})"}}))
        << bytes;
  }
}

TEST(ElementReader, WhatIsLongerThanAnElementBeforeItsMessagesIsRefusedAsOne) {
  const std::vector<Taken> found =
      take_all(request_over_lines(1'100'000), ImportFormat::kAuto, 1'000'000);
  EXPECT_EQ(found, (Expected{{1, "!the element is longer than 1000000 bytes"}}));
}

TEST(ElementReader, TakesLinesWhereLinesWereAskedFor) {
  EXPECT_EQ(take_all("[{\"a\":1}]\n", ImportFormat::kJsonl), (Expected{{1, "[{\"a\":1}]"}}));
}

TEST(ElementReader, TheRestOfACutLineIsNoArray) {
  EXPECT_EQ(take_all("[\"drinks\"]}\n{\"a\":1}\n"),
            (Expected{{1, "[\"drinks\"]}"}, {2, "{\"a\":1}"}}));
}

TEST(ElementReader, TellsWhereATextIsCut) {
  EXPECT_EQ(take_all("[{\"a\":1},\n{\"b\":"),
            (Expected{{1, "{\"a\":1}"},
                      {2, "!the text ends in the middle of this element"},
                      {2, "!the text ends inside the array: the rest is missing"}}));
  // What is whole is taken, also when the cut is right behind it.
  const std::string missing = "!the text ends inside the array: the rest is missing";
  EXPECT_EQ(take_all("[{\"a\":1},\n{\"b\":\"]\"}"),
            (Expected{{1, "{\"a\":1}"}, {2, "{\"b\":\"]\"}"}, {2, missing}}));
  EXPECT_EQ(take_all("[{\"a\":1} \n"), (Expected{{1, "{\"a\":1}"}, {2, missing}}));
  EXPECT_EQ(
      take_all("[{\"a\":1},\n"),
      (Expected{{1, "{\"a\":1}"}, {2, "!the text ends inside the array: the rest is missing"}}));
  EXPECT_EQ(
      take_all(R"({"entries":[{"a":1}],"session":{"x")"),
      (Expected{{1, "{\"a\":1}"}, {1, "!the text ends inside the object: the rest is missing"}}));
}

TEST(ElementReader, GoesOnBehindALostQuote) {
  // With the brackets whole, only the damaged element is lost.
  EXPECT_EQ(take_all("[{\"a\":\"x\n},\n{\"b\":2}]"),
            (Expected{{1, "{\"a\":\"x\n}"}, {3, "{\"b\":2}"}}));
}

TEST(ElementReader, ReadsLinesBehindWhatSeemedToBeTheEndOfAnArray) {
  EXPECT_EQ(
      take_all("[{\"a\":1}] garbage\n{\"b\":2}\n"),
      (Expected{{1, "{\"a\":1}"}, {1, "!text follows the end of the array"}, {2, "{\"b\":2}"}}));
  EXPECT_EQ(take_all("[{\"a\":1}]\n{\"b\":2}\n"), (Expected{{1, "{\"a\":1}"}, {2, "{\"b\":2}"}}));
}

TEST(ElementReader, WhatIsTooLongIsPassedOver) {
  const std::string text(100, 'x');
  EXPECT_EQ(
      take_all("{\"a\":1}\n" + text + "\n{\"b\":2}\n", ImportFormat::kAuto, 99),
      (Expected{{1, "{\"a\":1}"}, {2, "!the line is longer than 99 bytes"}, {3, "{\"b\":2}"}}));
  EXPECT_EQ(take_all("{\"a\":1}\n" + text + "\n{\"b\":2}\n", ImportFormat::kAuto, 100).size(), 3U);
  EXPECT_EQ(
      take_all("[{\"a\":1},\"" + text + "\",\n{\"b\":2}]", ImportFormat::kAuto, 101),
      (Expected{{1, "{\"a\":1}"}, {1, "!the element is longer than 101 bytes"}, {2, "{\"b\":2}"}}));
}

TEST(ElementReader, TakesWhatIsJustAsLongAsAnElementMayBe) {
  EXPECT_EQ(take_all("{\"a\":1}\n{\"b\":22}\n", ImportFormat::kAuto, 7),
            (std::vector<Taken>{{1, "{\"a\":1}"}, {2, "!the line is longer than 7 bytes"}}));
}

TEST(ElementReader, AStringMayEndWithABackslash) {
  EXPECT_EQ(
      take_all(R"([{"a":"x\\"},{"a":"y\\\""},{"b":1}])"),
      (std::vector<Taken>{{1, R"({"a":"x\\"})"}, {1, R"({"a":"y\\\""})"}, {1, R"({"b":1})"}}));
  EXPECT_EQ(take_all(R"({"x\\":1,"entries":[{"a":1}]})"), (std::vector<Taken>{{1, R"({"a":1})"}}));
}

TEST(ElementReader, WithoutBracketsNobodyKnowsThatItIsWhole) {
  EXPECT_EQ(take_all("[{},12"),
            (std::vector<Taken>{{1, "{}"},
                                {1, "!the text ends in the middle of this element"},
                                {1, "!the text ends inside the array: the rest is missing"}}));
}

TEST(ElementReader, AMessageThatHasMessagesIsOne) {
  const std::string message = R"({"role":"user","messages":[{"role":"user"}]})";
  EXPECT_EQ(take_all(message, ImportFormat::kChat), (std::vector<Taken>{{1, message}}));
}

TEST(ElementReader, WhatASystemSaysIsRefusedWhereItIsTooLong) {
  const std::string said = "\"" + std::string(100, 'x') + "\"";
  EXPECT_EQ(
      take_all(R"({"system":)" + said + R"(,"messages":[{"role":"user"}]})", ImportFormat::kChat,
               50),
      (std::vector<Taken>{{1, "!the element is longer than 50 bytes"}, {1, R"({"role":"user"})"}}));
}

TEST(ElementReader, ABracketTooManyCostsItsElementOnly) {
  EXPECT_EQ(take_all(R"([{"a":1}},{"b":2}])"),
            (std::vector<Taken>{{1, R"({"a":1}})"}, {1, R"({"b":2})"}}));
}

// Longer than an element may be, with tools before its messages that tell nothing for as long.
TEST(ElementReader, ARequestOfAnyLengthIsTakenApart) {
  std::string text = R"({"tools":[")" + std::string(100'000, 'x') + R"("],"messages":[)";
  for (int i = 0; i < 100; ++i) {
    text += R"({"role":"user","content":")" + std::string(2000, 'y') + "\"},";
  }
  text.back() = ']';
  EXPECT_EQ(take_all(text + "}", ImportFormat::kAuto, 150'000).size(), 100u);
}

TEST(ElementReader, KeepsNulsForTheParserToRefuse) {
  const std::string nuls(3, '\0');
  EXPECT_EQ(take_all("{\"a\":1}\n" + nuls + "\n{\"b\":2}\n"),
            (Expected{{1, "{\"a\":1}"}, {2, nuls}, {3, "{\"b\":2}"}}));
}

TEST(ElementReader, TellsOfAnInputThatFails) {
  BrokenInput input;
  ElementReader reader(input, ImportFormat::kAuto, 100);
  EXPECT_EQ(reader.next().code(), Code::kIo);
}

TEST(ElementReader, EveryCutOfAnArrayGivesTheWholeElementsBeforeIt) {
  const std::string text = R"({"entries":[{"a":1},{"b":"]"},{"c":[{}]}],"session":{}})";
  const std::vector<size_t> ends = {text.find("},{") + 1, text.rfind("},{") + 1,
                                    text.find("],\"session")};
  for (size_t cut = text.find('[') + 1; cut < text.size(); ++cut) {
    SCOPED_TRACE(cut);
    const auto taken = take_all(text.substr(0, cut));
    // Its last bracket shows that an object is whole.
    const auto whole =
        std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end <= cut; });
    const auto good = std::count_if(taken.begin(), taken.end(),
                                    [](const Taken& one) { return !one.text.starts_with('!'); });
    EXPECT_EQ(good, whole);
    EXPECT_GT(static_cast<ptrdiff_t>(taken.size()), good) << "the cut was not told of";
  }
}

}  // namespace
}  // namespace varve::transfer
