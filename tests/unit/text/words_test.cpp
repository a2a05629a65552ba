#include "text/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "text/characters.h"

namespace varve::text {
namespace {

using Texts = std::vector<std::string>;

using List = const std::vector<Words::Word>& (Words::*)() const;

Texts texts_of(List list, std::string_view text, bool english) {
  Words words;
  words.read(text, english);
  Texts out;
  for (const auto& word : (words.*list)()) out.emplace_back(words.text(word));
  return out;
}

Texts words_of(std::string_view text, bool english = true) {
  return texts_of(&Words::words, text, english);
}

Texts compounds_of(std::string_view text, bool english = true) {
  return texts_of(&Words::compounds, text, english);
}

Texts joined_of(std::string_view text, bool english = true) {
  return texts_of(&Words::joined, text, english);
}

Texts parts_of(std::string_view text) {
  Words words;
  words.read(text, true);
  Texts out;
  for (const auto& part : words.parts()) {
    out.emplace_back(words.text(part));
    const size_t size = part.source_end - part.source_begin;
    EXPECT_EQ(size, out.back().size());
    EXPECT_TRUE(std::equal(out.back().begin(), out.back().end(), text.begin() + part.source_begin,
                           [](char folded, char c) { return folded == ascii_lower(c); }));
  }
  return out;
}

// What the words say they were made of.
Texts sources_of(std::string_view text) {
  Words words;
  words.read(text, true);
  Texts out;
  for (const auto& word : words.words()) {
    out.emplace_back(text.substr(word.source_begin, word.source_end - word.source_begin));
  }
  return out;
}

TEST(Words, KnowWhereTheyComeFrom) {
  EXPECT_EQ(sources_of("Caf\xC3\xA9, don't: 1,200 pr-12"),
            Texts({"Caf\xC3\xA9", "don't", "1,200", "pr", "12"}));
  EXPECT_EQ(sources_of("Caroline's"), Texts({"Caroline"}));
  EXPECT_EQ(sources_of("東京 タ"), Texts({"東京", "タ"}));
  EXPECT_EQ(sources_of("我喜欢"), Texts({"我喜", "喜欢"}));
}

TEST(Words, HaveThePartsThatCapitalsDivideThemInto) {
  EXPECT_EQ(parts_of("call getUserProfile() of UserService"),
            Texts({"get", "user", "profile", "user", "service"}));
  EXPECT_EQ(parts_of("OpenAI, PostgreSQL and DynamoDB"),
            Texts({"open", "ai", "postgre", "sql", "dynamo", "db"}));
  EXPECT_EQ(parts_of("parseHTTPServerURL base64Encode SHA256Sum"),
            Texts({"parse", "http", "server", "url", "base64", "encode", "sha256", "sum"}));
  EXPECT_EQ(parts_of("src/ReactNode.tsx: api.getById, my_TestCase-aB"),
            Texts({"react", "node", "get", "by", "id", "test", "case"}));
  EXPECT_EQ(parts_of("LangChain's"), Texts({"lang", "chain"}));
  EXPECT_EQ(words_of("getUserProfile"), Texts({"getuserprofile"})) << "one word all the same";
  EXPECT_EQ(compounds_of("getUserProfile"), Texts({}));
}

TEST(Words, HaveNoPartsOfOneLetterAndNoneWhereCapitalsDivideNothing) {
  EXPECT_EQ(parts_of("iPhone eBay OAuth"), Texts({"phone", "bay", "auth"}));
  EXPECT_EQ(parts_of("Word word WORD APIs URLs 14T08 IPv6 A b"), Texts({}));
  EXPECT_EQ(parts_of("aBcDeFgHi"), Texts({})) << "no name: a letter and a half on average";
  EXPECT_EQ(parts_of("oneTwoTenOneTwoTenOneTwo").size(), 8u);
  EXPECT_EQ(parts_of("oneTwoTenOneTwoTenOneTwoTen"), Texts({})) << "encoded bytes are like that";
  const std::string half(32, 'a');
  EXPECT_EQ(parts_of(half + "B" + half.substr(1)).size(), 2u);
  EXPECT_EQ(parts_of(half + "B" + half), Texts({}));
  EXPECT_EQ(parts_of("caf\xC3\xA9Noir"), Texts({})) << "of ASCII alone";
}

TEST(Words, HaveTheNumberAndTheUnitAsParts) {
  EXPECT_EQ(parts_of("25MiB 300ms at 5pm, 8GB 16-bit"),
            Texts({"25", "mib", "300", "ms", "5", "pm", "8", "gb"}));
  EXPECT_EQ(parts_of("src/30px.css:12ms 123456789012kB"),
            Texts({"30", "px", "12", "ms", "123456789012", "kb"}));
  EXPECT_EQ(parts_of("3d 10k 24hours 9fceb02 0x1f utf8 ms 12 1e9 12ms3 5µs 1st 2nd 3rd 8th"),
            Texts({}));
}

TEST(Words, OfAHyphenAreOneWordAsWell) {
  EXPECT_EQ(joined_of("An e-mail in UTF-8, pre\xE2\x80\x91"
                      "commit of PR-1234"),
            Texts({"email", "utf8", "precommit", "pr1234"}));
  EXPECT_EQ(joined_of("src/back-end/main.py --no-verify Caf\xC3\xA9-Bar's"),
            Texts({"backend", "noverify", "cafebar"}));
  EXPECT_EQ(joined_of("555-1234 10-12 state-of-the-art 2026-03-14 a_b a.b don't x- -y a--b"),
            Texts({}));
  EXPECT_EQ(joined_of("a'b-c", false), Texts({"bc"}));
  const std::string half(32, 'a');
  EXPECT_EQ(joined_of(half + "-" + half), Texts({half + half}));
  EXPECT_EQ(joined_of(half + "-" + half + "a"), Texts({}));
  const std::string text = "see e-mail/x";
  Words words;
  words.read(text, true);
  ASSERT_EQ(words.joined().size(), 1u);
  EXPECT_EQ(text.substr(words.joined()[0].source_begin, 6), "e-mail");
  EXPECT_EQ(words.joined()[0].source_end, 10u);
  words.read("tea", true);
  EXPECT_TRUE(words.joined().empty()) << "of the text before";
}

TEST(Words, OfCapitalsAndAnSAreThatOfTheCapitalsAsWell) {
  EXPECT_EQ(joined_of("three VPCs: GPUs, PRs and a/CVEs.md, SLOs'"),
            Texts({"vpc", "gpu", "pr", "cve", "slo"}));
  EXPECT_EQ(joined_of("APIs URLs IDs AWSs"), Texts({})) << "the stemmer knows these";
  EXPECT_EQ(joined_of("Ks K8s HTTPS https Gpus gpus CSSs TLS xPRs PRsx"), Texts({}));
  EXPECT_EQ(joined_of("VPCs", false), Texts({})) << "of English alone";
  const std::string text = "a VPCs";
  Words words;
  words.read(text, true);
  ASSERT_EQ(words.joined().size(), 1u);
  EXPECT_EQ(words.joined()[0].source_begin, 2u);
  EXPECT_EQ(words.joined()[0].source_end, 5u);
  EXPECT_EQ(words_of("VPCs"), Texts({"vpcs"})) << "one word all the same";
}

TEST(Words, EmojisStandAloneBetweenNoWords) {
  EXPECT_EQ(compounds_of("shipped🎉🎉 it 👍🏽 ❤️ 👩‍💻"),
            Texts({"🎉", "🎉", "👍", "❤", "👩", "💻"}));
  EXPECT_EQ(words_of("shipped🎉🎉 it 👍🏽 ❤️ 👩‍💻"), Texts({"shipped", "it"}));
  EXPECT_EQ(compounds_of("🇩🇪🇫🇷 🇩 a🇩"), Texts({"🇩🇪", "🇫🇷", "🇩", "🇩"}));
  EXPECT_EQ(compounds_of("1️⃣ C++🎉"), Texts({"c++", "🎉"}));
  const std::string text = "東🎉京";
  Words words;
  words.read(text, true);
  ASSERT_EQ(words.compounds().size(), 1u);
  EXPECT_EQ(text.substr(words.compounds()[0].source_begin, 4), "🎉");
  EXPECT_EQ(words.compounds()[0].source_end, 7u);
}

TEST(Words, HaveVersionsWithoutTheirVAndTheDaysOfTimes) {
  EXPECT_EQ(compounds_of("V2.14.3"), Texts({"v2.14.3", "2.14.3"}));
  EXPECT_EQ(compounds_of("sdk@v1.2-rc.1"), Texts({"sdk@v1.2-rc.1", "v1.2-rc.1", "1.2-rc.1"}));
  EXPECT_EQ(compounds_of("v1.2 v\xEF\xBC\x93.4"), Texts({"v1.2", "1.2", "v3.4", "3.4"}));
  EXPECT_EQ(compounds_of("v1-2 v1.x va.1 av1.2 v.1"),
            Texts({"v1-2", "v1.x", "va.1", "av1.2", "v.1"}));
  EXPECT_EQ(compounds_of("v5 v"), Texts({}));
  EXPECT_EQ(compounds_of("2026-03-14T08:22:51Z"),
            Texts({"2026-03-14t08:22:51z", "2026-03-14", "08:22:51", "08:22", "2026-03-14t08"}));
  EXPECT_EQ(compounds_of("2026-03-14T08"), Texts({"2026-03-14t08", "2026-03-14"}));
  EXPECT_EQ(compounds_of("2026-03-14T08:22+01:00"),
            Texts({"2026-03-14t08:22+01:00", "2026-03-14", "08:22", "2026-03-14t08"}));
  EXPECT_EQ(compounds_of("2026-03-14T08:22"),
            Texts({"2026-03-14t08:22", "2026-03-14", "08:22", "2026-03-14t08"}));
  EXPECT_EQ(compounds_of("08:22:51 08:22 8:22:51"),
            Texts({"08:22:51", "08:22", "08:22", "8:22:51"}));
  EXPECT_EQ(compounds_of("02:42:11:00 02:422:11 x/08:22:51"),
            Texts({"02:42:11:00", "02:422:11", "x/08:22:51"}))
      << "an address is no time";
  EXPECT_EQ(compounds_of("2026-03-14Tx 2026-3-14T08"), Texts({"2026-03-14tx", "2026-3-14t08"}));
}

TEST(Words, KnowWhatFollowsThem) {
  const std::string text = "新iPhone版の説 明 a-b don't x";
  Words words;
  words.read(text, true);
  std::string told;
  for (size_t i = 0; i < words.words().size(); ++i) {
    told += std::string(words.text(words.words()[i]));
    told += words.is_unspaced(words.words()[i]) ? "*" : "";
    told += words.goes_on(i) ? "=" : words.touches_next(i) ? "-" : " ";
    EXPECT_TRUE(!words.goes_on(i) || words.touches_next(i));
  }
  EXPECT_EQ(told, "新*-iphone-版の*=の説* 明* a b don't x ");
}

TEST(Words, CompoundsKnowWhereTheyComeFrom) {
  const std::string text = "see src/app/main.py:42 now";
  Words words;
  words.read(text, true);
  Texts sources;
  for (const auto& word : words.compounds()) {
    sources.push_back(text.substr(word.source_begin, word.source_end - word.source_begin));
  }
  EXPECT_EQ(sources, Texts({"src/app/main.py:42", "main.py"}));
}

TEST(Words, NoTextHasNone) {
  for (const auto text : {"", " ", "\n\t", "... --- ???", "→", "\xCC\x81", "\xC2\xAD",
                          "\xE2\x80\x8D", "'", "''", "++", "#"}) {
    EXPECT_EQ(words_of(text), Texts()) << text;
    EXPECT_EQ(compounds_of(text), Texts()) << text;
  }
}

TEST(Words, LoneCombiningMarksBeginNone) {
  EXPECT_EQ(words_of("\xCC\x81 a \xCC\x81"
                     "b"),
            Texts({"a", "b"}));
  EXPECT_EQ(words_of("o\xCC\x81t\xCC\x83o\xCC\x81"), Texts({"oto"}));
}

TEST(Words, IgnoredCharactersAreAsIfTheyWereNotThere) {
  EXPECT_EQ(words_of("co\xC2\xAD"
                     "operate"),
            Texts({"cooperate"}));
  EXPECT_EQ(words_of("co\xC2\xAD\xE2\x80\x8B\xEF\xBB\xBF"
                     "operate"),
            Texts({"cooperate"}))
      << "however many";
  EXPECT_EQ(words_of("co\xC2\xAD\xE2\x80\x8B more"), Texts({"co", "more"}));
  EXPECT_EQ(words_of("東\xE2\x80\x8B\xE2\x80\x8B京"), Texts({"東京"}));
  EXPECT_EQ(words_of("葛\xF3\xA0\x84\x80城"), Texts({"葛城"})) << "a variant of an ideograph";
  EXPECT_EQ(words_of("ש\xCD\x8Fל"), Texts({"של"})) << "a joiner among the marks";
}

TEST(Words, IgnoredCharactersPartNoCompound) {
  for (const std::string ignored : {"\xC2\xAD", "\xE2\x80\x8B", "\xE2\x81\xA0", "\xE2\x80\x8E"}) {
    for (const auto& text : {"src/" + ignored + "main.c", "src" + ignored + "/main.c"}) {
      EXPECT_EQ(words_of(text), Texts({"src", "main", "c"})) << text;
      EXPECT_EQ(compounds_of(text), Texts({"src/main.c", "main.c"})) << text;
    }
    EXPECT_EQ(words_of("don" + ignored + "'" + ignored + "t"), Texts({"don't"}));
    EXPECT_EQ(compounds_of("C" + ignored + "++" + ignored), Texts({"c++"}));
    EXPECT_EQ(words_of("1" + ignored + ",200" + ignored), Texts({"1200"}));
    EXPECT_EQ(words_of("1,200" + ignored + "a"), Texts({"1", "200a"}));
    EXPECT_EQ(compounds_of("C++" + ignored + "x a-" + ignored + " b"), Texts());
  }
}

TEST(Words, ScriptsWithoutSpacesGiveEveryPair) {
  EXPECT_EQ(words_of("東"), Texts({"東"}));
  EXPECT_EQ(words_of("東京"), Texts({"東京"}));
  EXPECT_EQ(words_of("東京都"), Texts({"東京", "京都"}));
  EXPECT_EQ(words_of("abc東京def"), Texts({"abc", "東京", "def"}));
  EXPECT_EQ(words_of("東-京"), Texts({"東", "京"})) << "never part of a compound";
  EXPECT_EQ(compounds_of("東-京 a-東"), Texts());
}

TEST(Words, ALetterHasOneFormHoweverItIsTyped) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"и\xCC\x86од и е\xCC\x88лка", "йод и ёлка"},
      {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF 파일",
       "한글 파일"},
      {"か\xE3\x82\x99くせい", "がくせい"},
      {"ﾃｽﾄ ﾊﾞｽ ﾊﾟﾝ", "テスト バス パン"},
      {"Ti\x65\xCC\x82\xCC\x81ng Vie\xCC\xA3\xCC\x82t", "Tiếng Việt"},
      {"क\xE0\xA4\xBC", "\xE0\xA5\x98"},
  };
  for (const auto& [typed, composed] : same)
    EXPECT_EQ(words_of(typed), words_of(composed)) << typed;
  EXPECT_EQ(words_of("ﾊﾞｽ"), Texts({"バス"}));
  EXPECT_EQ(sources_of("か\xE3\x82\x99くﾊﾞ"), Texts({"か\xE3\x82\x99く", "くﾊﾞ"}));
  EXPECT_EQ(sources_of("и\xCC\x86од"), Texts({"и\xCC\x86од"}));
  EXPECT_EQ(words_of("東\xCC\x81京"), Texts({"東\xCC\x81京"})) << "a mark parts nothing";
}

// What the compatibility form makes several of, as of the Thai am, is several characters: so a word
// that is folded already, as a wildcard is, has the same pairs.
TEST(Words, PairsAreOfFoldedCharacters) {
  for (const std::string word : {"น้ำใจ", "ทำ", "ນ້ຳ", "ໜ້າ", "ヿ", "ゟ東"}) {
    std::string folded;
    append_folded_word(word, &folded);
    EXPECT_NE(word, folded);
    EXPECT_EQ(words_of(word), words_of(folded)) << word;
  }
  EXPECT_EQ(words_of("ทำงาน"), Texts({"ท\xE0\xB9\x8D", "\xE0\xB9\x8Dา", "าง", "งา", "าน"}));
  EXPECT_EQ(sources_of("ทำง"), Texts({"ทำ", "ำ", "ำง"}));
  Words words;
  words.read("ทำง", true);
  EXPECT_TRUE(words.goes_on(0) && words.goes_on(1) && !words.goes_on(2));
}

TEST(Words, MarksWithoutEndLeaveWordsShort) {
  std::string marks;
  for (int i = 0; i < 100'000; ++i) marks += i % 2 == 0 ? "\xD6\xB0" : "\xD6\xAD";
  const Texts words = words_of("東" + marks + "京" + marks + " и" + marks);
  ASSERT_EQ(words.size(), 2u);
  for (const auto& word : words) EXPECT_LE(word.size(), kWordBytesMax);
}

TEST(Words, ConnectorsJoinWhatStandsOnBothSides) {
  EXPECT_EQ(compounds_of("a-b"), Texts({"a-b"}));
  EXPECT_EQ(compounds_of("a--b a- b -a a-"), Texts());
  EXPECT_EQ(compounds_of("a\xE2\x80\x90"
                         "b c\xE2\x80\x91"
                         "d"),
            Texts({"a-b", "c-d"}))
      << "typographic hyphens";
  EXPECT_EQ(compounds_of("a_b.c-d"), Texts({"a_b.c-d"})) << "these end no segment";
  EXPECT_EQ(compounds_of("a.b/c.d/e"), Texts({"a.b/c.d/e", "a.b", "c.d"}));
  EXPECT_EQ(compounds_of("a.b/a.b/a.b"), Texts({"a.b/a.b/a.b", "a.b"})) << "once each";
  EXPECT_EQ(compounds_of("a.b a.b"), Texts({"a.b", "a.b"})) << "once for each place";
  EXPECT_EQ(compounds_of("~jo/x.y"), Texts({"jo/x.y", "x.y"}));
}

TEST(Words, OfTheTextBeforeNothingIsLeft) {
  Words words;
  words.read("getUserProfile src/main.c \xE6\x9D\xB1\xE4\xBA\xAC", true);
  ASSERT_FALSE(words.words().empty() || words.compounds().empty() || words.parts().empty());
  words.read(" ", true);
  EXPECT_TRUE(words.words().empty());
  EXPECT_TRUE(words.compounds().empty());
  EXPECT_TRUE(words.parts().empty());
}

TEST(Words, TailsBelongToTheWordBefore) {
  EXPECT_EQ(compounds_of("C++ C# F#."), Texts({"c++", "c#", "f#"}));
  EXPECT_EQ(compounds_of("C+++ C++x"), Texts()) << "not a tail, and two connectors join nothing";
  EXPECT_EQ(compounds_of("c#x"), Texts({"c#x"})) << "a connector";
  EXPECT_EQ(compounds_of("lib/c++"), Texts({"lib/c++", "c++"}));
  EXPECT_EQ(compounds_of("a_b/c++"), Texts({"a_b/c++", "a_b", "c++"})) << "of the last one only";
  EXPECT_EQ(compounds_of("C#東 C++東"), Texts()) << "a word begins behind it";
  EXPECT_EQ(words_of("C++11"), Texts({"c", "11"}));
  EXPECT_EQ(compounds_of("1,200# 1,200++"), Texts({"1200#", "1200++"})) << "as of 1200";
}

TEST(Words, ThousandsAreOneNumber) {
  EXPECT_EQ(words_of("1,200"), Texts({"1200"}));
  EXPECT_EQ(words_of("1,234,567"), Texts({"1234567"}));
  EXPECT_EQ(words_of("1:25,000 price:1,200"), Texts({"1", "25000", "price", "1200"}));
  EXPECT_EQ(words_of("11:02:07,345"), Texts({"11", "02", "07", "345"})) << "a time's fraction";
  EXPECT_EQ(words_of("1,200:10:20,345 x:11:02,345,678 11:02,345"),
            Texts({"1200", "10", "20", "345", "x", "11", "02", "345678", "11", "02345"}));
  EXPECT_EQ(words_of("1,2000 1,20 a,200 1, 200"),
            Texts({"1", "2000", "1", "20", "a", "200", "1", "200"}));
  EXPECT_EQ(words_of("1,200a"), Texts({"1", "200a"}));
  EXPECT_EQ(words_of("1,234.56"), Texts({"1234", "56"}));
  EXPECT_EQ(compounds_of("1,234.56"), Texts({"1234.56"}));
  EXPECT_EQ(words_of("1,200東"), Texts({"1", "200", "東"}));
}

TEST(Words, EnglishApostrophes) {
  EXPECT_EQ(words_of("She's I'm we're they've he'll I'd"),
            Texts({"she", "i", "we", "they", "he", "i"}));
  EXPECT_EQ(words_of("won\xE2\x80\x99t won\xCA\xBCt won\xEF\xBC\x87t"),
            Texts({"won't", "won't", "won't"}));
  EXPECT_EQ(words_of("can't've"), Texts({"can't"}));
  EXPECT_EQ(words_of("it't"), Texts({"it", "t"})) << "no n before it";
  EXPECT_EQ(compounds_of("don't Caroline's"), Texts());
  EXPECT_EQ(words_of("don't-can't say"), Texts({"don't", "can't", "say"}));
  EXPECT_EQ(compounds_of("don't-can't say"), Texts({"don't-can't"}));
  EXPECT_EQ(compounds_of("O'Brien's"), Texts({"o'brien"}));
}

// --- lengths -------------------------------------------------------------------------------------

// Plain words are read in a shorter way; one with a soft hyphen inside never is.
TEST(Words, PlainWordsAreReadAsAllOthersAre) {
  constexpr std::string_view kLetters = "abRtnsx1200";
  constexpr std::string_view kOthers = "  \n.,,-'_/@+#:;!";
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string plain;
    std::string hyphened;
    for (size_t words = random() % 12; words > 0; --words) {
      std::string word;
      for (size_t i = random() % 5; i > 0; --i) word += kLetters[random() % kLetters.size()];
      if (random() % 50 == 0) word.append(150, 'w');
      plain += word;
      const bool has_room = word.size() > 1 && word.front() > '9';
      hyphened += has_room ? word.substr(0, 1) + "\xC2\xAD" + word.substr(1) : word;
      for (size_t i = random() % 3; i > 0; --i) {
        const char other = kOthers[random() % kOthers.size()];
        plain += other;
        hyphened += other;
      }
    }
    for (const bool english : {false, true}) {
      ASSERT_EQ(words_of(plain, english), words_of(hyphened, english)) << plain;
      ASSERT_EQ(compounds_of(plain, english), compounds_of(hyphened, english)) << plain;
    }
  }
}

// What read() gives, sorted, and what read_others() and its visitor give together.
Texts sorted_words_of(std::string_view text, bool english) {
  Texts words = words_of(text, english);
  std::sort(words.begin(), words.end());
  return words;
}

Texts words_read_apart(std::string_view text, bool english, Texts* compounds, Texts* parts) {
  Words words;
  Texts all;
  words.read_others(text, english, [&](const ShortWord& word) {
    ShortWordText memory;
    all.emplace_back(text_of(word, &memory));
  });
  for (const auto& word : words.words()) all.emplace_back(words.text(word));
  for (const auto& word : words.compounds()) compounds->emplace_back(words.text(word));
  for (const auto& part : words.parts()) parts->emplace_back(words.text(part));
  std::sort(all.begin(), all.end());
  return all;
}

void expect_read_apart_alike(std::string_view text) {
  for (const bool english : {false, true}) {
    Texts compounds;
    Texts parts;
    ASSERT_EQ(words_read_apart(text, english, &compounds, &parts), sorted_words_of(text, english))
        << text;
    ASSERT_EQ(compounds, compounds_of(text, english)) << text;
    ASSERT_EQ(parts, parts_of(text)) << text;
  }
}

// Pieces that meet in every order: letters, joints, digits, scripts, marks, and bytes of no text.
TEST(Words, ShortWordsReadApartAreTheSameWords) {
  const std::vector<std::string> pieces = {"a",
                                           "Z",
                                           "0",
                                           "9",
                                           "@",
                                           "[",
                                           "`",
                                           "{",
                                           "/",
                                           ":",
                                           "\x7F",
                                           " ",
                                           "\n",
                                           ".",
                                           ",",
                                           ",",
                                           "-",
                                           "_",
                                           "'",
                                           "+",
                                           "++",
                                           "#",
                                           "~",
                                           "\\",
                                           "?",
                                           "word",
                                           "Word",
                                           "HTTP",
                                           "Ab",
                                           "don't",
                                           "eightlet",
                                           "sevenle",
                                           "fifteenletters1",
                                           "sixteen letters2",
                                           "sixteenletters22",
                                           "1,200",
                                           "c++",
                                           "C#",
                                           "200",
                                           "\xC3\xA9",
                                           "\xCC\x81",
                                           "\xC2\xAD",
                                           "\xE2\x80\x99",
                                           "\xE2\x80\x90",
                                           "\xE6\x9D\xB1",
                                           "\xE4\xBA\xAC",
                                           "\xF0\x9F\x98\x80",
                                           "\xEF\xBB\xBF",
                                           "\xCE\xA3",
                                           "\xD1\x8F",
                                           "\xE0\xB8\x81",
                                           "\xEF\xBC\xA1",
                                           "\xEF\xBE\x8A",
                                           "\xEF\xBE\x9E",
                                           "\xE1\x84\x92",
                                           "\xE1\x85\xA1",
                                           "\xC3\x9F",
                                           std::string(1, '\0'),
                                           std::string(130, 'q')};
  std::mt19937 random(9);
  for (int round = 0; round < 40'000; ++round) {
    std::string text;
    for (size_t count = random() % 10; count > 0; --count) text += pieces[random() % pieces.size()];
    expect_read_apart_alike(text);
  }
}

TEST(Words, EveryByteEndsAShortWordOrDoesNot) {
  for (int first = 0; first < 128; ++first) {
    for (int second = 0; second < 128; ++second) {
      std::string text = "ab";
      text += static_cast<char>(first);
      text += static_cast<char>(second);
      expect_read_apart_alike(text + "cd1");
      expect_read_apart_alike(text);
      text.pop_back();
      expect_read_apart_alike(text);
      expect_read_apart_alike("seven77" + text + "x");
    }
  }
}

TEST(Words, ShortWordsAreTheirText) {
  ShortWordText memory;
  for (const std::string word : {"a", "12345678", "123456789", "1234567890123456", "caf\xC3\xA9"}) {
    EXPECT_EQ(text_of(short_word_of(word), &memory), word);
  }
  EXPECT_EQ(read_short_word("Word9 x", 0).folded, short_word_of("word9"));
  EXPECT_EQ(read_short_word("Fifteen letters", 0).size_bytes, 7u);
  EXPECT_EQ(read_short_word("Fifteenletters1.", 0).folded, short_word_of("fifteenletters1"));
  EXPECT_EQ(read_short_word("FIFTEENLETTERS.", 0).folded, short_word_of("fifteenletters"));
  for (const char* divided : {"fifteenLetters1.", "fifteenletterS", "seventeenS", "aB", "ABc"}) {
    EXPECT_EQ(read_short_word(divided, 0).size_bytes, 0u) << divided << " may have parts";
  }
  EXPECT_EQ(read_short_word("sixteenletters16", 0).size_bytes, 0u);
  EXPECT_EQ(read_short_word("", 0).size_bytes, 0u);
}

TEST(Words, LongWordsAreCutAtTheEndOfACharacter) {
  EXPECT_EQ(words_of(std::string(128, 'a')), Texts({std::string(128, 'a')}));
  EXPECT_EQ(words_of(std::string(129, 'A')), Texts({std::string(128, 'a')}));
  std::string russian;
  for (int i = 0; i < 100; ++i) russian += "\xD0\xB4";
  EXPECT_EQ(words_of(russian), Texts({russian.substr(0, 128)}));
  EXPECT_EQ(words_of("x" + russian), Texts({"x" + russian.substr(0, 126)})) << "127 bytes";
}

TEST(Words, LongCompoundsAreLeftOut) {
  const std::string half(64, 'a');
  EXPECT_EQ(compounds_of(half + "-" + half.substr(1)), Texts({half + "-" + half.substr(1)}));
  EXPECT_EQ(compounds_of(half + "-" + half), Texts());
  EXPECT_EQ(compounds_of(half + "-" + half + "/b.c"), Texts({"b.c"}));
  EXPECT_EQ(words_of(half + "-" + half), Texts({half, half}));
}

// One pass: with a comparison of every part with every other this would take minutes.
TEST(Words, ACompoundOfVeryManyPartsIsReadInOnePass) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "x." + std::to_string(i) + "/";
  Words words;
  words.read(text, true);
  EXPECT_EQ(words.words().size(), 400'000u);
  ASSERT_EQ(words.compounds().size(), 200'000u);
  EXPECT_EQ(words.text(words.compounds().back()), "x.199999");
}

// As of a file of numbers: to read all of it again for each group would take minutes.
TEST(Words, ANumberOfVeryManyGroupsIsReadInOnePass) {
  constexpr size_t kGroupCount = 2'000'000;
  std::string text = "1";
  for (size_t i = 0; i < kGroupCount; ++i) text += ",234";
  Words words;
  words.read(text + "/5,678", true);
  ASSERT_EQ(words.words().size(), 2u);
  EXPECT_EQ(words.words()[0].source_end, text.size());
  EXPECT_EQ(words.text(words.words()[1]), "5678");
}

}  // namespace
}  // namespace varve::text
