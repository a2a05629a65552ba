#include "index/word_stem.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace varve::index {
namespace {

std::string written(std::string_view word, std::string_view stem) {
  std::string out;
  append_stem(&out, word, stem);
  return out;
}

TEST(WordStem, IsReadAsItWasWritten) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"running", "run"},
      {"happy", "happi"},
      {"went", "go"},
      {"a", "abc"},
      {"café", "caf"},
      {"日本語", "日本"},
      {std::string(300, 'x') + "ing", std::string(300, 'x')},
      {std::string(300, 'x'), "y"}};
  for (const auto& [word, stem] : cases) {
    EXPECT_EQ(stem_of(word, written(word, stem)), stem) << word;
  }
  EXPECT_EQ(written("running", "run"), "\x04") << "what most take";
  EXPECT_EQ(written("happy", "happi"), "\x01i");
}

TEST(WordStem, AnyBytesAreSomeText) {
  EXPECT_EQ(stem_of("word", "\x05"), "") << "more left out than there is";
  EXPECT_EQ(stem_of("word", std::string(9, '\xFF') + "\x01s"), "s");
  EXPECT_EQ(stem_of("word", ""), "word");
  EXPECT_EQ(stem_of("word", "\xFF"), "word") << "a number without its end";
  EXPECT_EQ(stem_of("", std::string("\0s", 2)), "s");
}

}  // namespace
}  // namespace varve::index
