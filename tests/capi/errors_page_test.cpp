// docs/errors.md against the headers: every code is explained, and stands where its functions do.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "headers.h"

namespace varve_test {
namespace {

std::string page() { return source_file("docs/errors.md"); }

// The part of the page about one code.
std::string section_of(const std::string& text, const std::string& code) {
  const std::string heading = "\n### " + code + "\n";
  const size_t start = text.find(heading);
  if (start == std::string::npos) return {};
  return text.substr(start, text.find("\n##", start + heading.size()) - start);
}

// Of a section, what says which functions answer with its code; without what stands in parentheses.
std::string named_in(const std::string& section) {
  const size_t start = section.find("- **From** ");
  if (start == std::string::npos) return {};
  std::string names;
  int depth = 0;
  for (const char c : section.substr(start, section.find("- **Do** ") - start)) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) names += c;
    depth -= c == ')' ? 1 : 0;
  }
  return names;
}

TEST(ErrorsPage, ExplainsEveryCodeWithItsNumber) {
  const std::string text = page();
  EXPECT_EQ(status_codes().size(), 17U);
  for (const auto& [code, value] : status_codes()) {
    EXPECT_NE(text.find("| `" + code + "` " + value + " |"), std::string::npos) << code;
    const std::string section = section_of(text, code);
    EXPECT_FALSE(section.empty()) << code;
    if (code == "VARVE_OK") continue;
    EXPECT_NE(section.find("- **From** "), std::string::npos) << code;
    EXPECT_NE(section.find("- **Do** "), std::string::npos) << code;
  }
}

TEST(ErrorsPage, NamesNoCodeThatDoesNotExist) {
  const auto known = status_codes();
  for (const auto& code : words_with_prefix(page(), "VARVE_")) {
    EXPECT_TRUE(known.contains(code) || code == "VARVE_NUL_TERMINATED") << code;
  }
}

TEST(ErrorsPage, HeadersNameOnlyCodesThatExist) {
  const auto known = status_codes();
  std::set<std::string> functions;
  for (const Function& function : declared_functions()) {
    functions.insert(function.name);
    for (const auto& code : documented_errors(function)) {
      EXPECT_TRUE(known.contains(code)) << function.name << " " << code;
    }
  }
  // All that is exported was looked at.
  EXPECT_EQ(functions, words_with_prefix(source_file("src/capi/varve.map"), "varve_"));
}

TEST(ErrorsPage, ListsEveryFunctionUnderTheCodesOfItsHeader) {
  const std::string text = page();
  for (const Function& function : declared_functions()) {
    for (const auto& code : documented_errors(function)) {
      const std::string section = section_of(text, code);
      const bool is_everybodys =
          section.find("**From** every function with a handle") != std::string::npos ||
          section.find("**From** every function;") != std::string::npos;
      EXPECT_TRUE(is_everybodys || section.find("`" + function.name + "`") != std::string::npos)
          << function.name << " is missing under " << code;
    }
  }
}

TEST(ErrorsPage, HeadersListTheCodesUnderWhichThePageNamesTheirFunction) {
  const std::string text = page();
  for (const auto& [code, value] : status_codes()) {
    const std::string from = named_in(section_of(text, code));
    const bool is_everybodys = from.starts_with("- **From** every function;") ||
                               from.starts_with("- **From** every function with a handle");
    if (is_everybodys) continue;
    for (const auto& name : words_with_prefix(from, "varve_")) {
      EXPECT_TRUE(all_documented_errors(name).contains(code))
          << name << " answers " << code << ", and its header does not say so";
    }
  }
}

TEST(ErrorsPage, NamesOnlyFunctionsThatExist) {
  std::set<std::string> known = {"varve_status_t", "varve_error_t"};
  for (const Function& function : declared_functions()) known.insert(function.name);
  for (const auto& name : words_with_prefix(page(), "varve_")) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
}

}  // namespace
}  // namespace varve_test
