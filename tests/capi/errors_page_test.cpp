// docs/errors.md against the headers: every code is explained, and stands where its functions do.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <map>
#include <regex>
#include <set>
#include <string>

#include "client.h"

namespace varve_test {
namespace {

std::string source_file(const std::string& path) {
  return read_file(std::string(VARVE_SOURCE_DIR) + "/" + path);
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

// Names and values of the codes, from their definition.
std::map<std::string, std::string> codes() {
  std::map<std::string, std::string> values;
  const std::string header = source_file("include/varve/base.h");
  const std::regex definition(R"(\n  (VARVE_\w+) = (\d+),?)");
  for (std::sregex_iterator it(header.begin(), header.end(), definition), end; it != end; ++it) {
    values[(*it)[1]] = (*it)[2];
  }
  return values;
}

// Each function with the codes that its @errors names.
std::map<std::string, std::set<std::string>> documented_errors() {
  std::map<std::string, std::set<std::string>> errors;
  const std::regex comment(R"(/\*\*([\s\S]*?)\*/\s*VARVE_API([^;]*);)");
  for (const char* name : {"base", "error", "store", "session", "entry", "maintenance"}) {
    const std::string header = source_file("include/varve/" + std::string(name) + ".h");
    for (std::sregex_iterator it(header.begin(), header.end(), comment), end; it != end; ++it) {
      const std::string text = (*it)[1];
      const std::string declaration = (*it)[2];
      std::smatch function;
      if (!std::regex_search(declaration, function, std::regex(R"((varve_\w+)\s*\()"))) continue;
      const size_t start = text.find("@errors");
      EXPECT_NE(start, std::string::npos) << function[1];
      const std::string section = start == std::string::npos
                                      ? ""
                                      : text.substr(start, text.find("\n * @", start + 1) - start);
      errors[function[1]] = matches(section, R"((VARVE_[A-Z_]+))");
    }
  }
  return errors;
}

// The part of the page about one code.
std::string section_of(const std::string& page, const std::string& code) {
  const std::string heading = "\n### " + code + "\n";
  const size_t start = page.find(heading);
  if (start == std::string::npos) return {};
  return page.substr(start, page.find("\n##", start + heading.size()) - start);
}

TEST(ErrorsPage, ExplainsEveryCodeWithItsNumber) {
  const std::string page = source_file("docs/errors.md");
  EXPECT_EQ(codes().size(), 17U);
  for (const auto& [code, value] : codes()) {
    EXPECT_NE(page.find("| `" + code + "` " + value + " |"), std::string::npos) << code;
    const std::string section = section_of(page, code);
    EXPECT_FALSE(section.empty()) << code;
    if (code == "VARVE_OK") continue;
    EXPECT_NE(section.find("- **From** "), std::string::npos) << code;
    EXPECT_NE(section.find("- **Do** "), std::string::npos) << code;
  }
}

TEST(ErrorsPage, ExplainsNoCodeThatDoesNotExist) {
  const std::string page = source_file("docs/errors.md");
  const auto known = codes();
  for (const auto& code : matches(page, R"(\n### (VARVE_\w+))")) {
    EXPECT_TRUE(known.contains(code)) << code;
  }
}

TEST(ErrorsPage, HeadersNameOnlyCodesThatExist) {
  const auto known = codes();
  std::set<std::string> functions;
  for (const auto& [function, errors] : documented_errors()) {
    functions.insert(function);
    for (const auto& code : errors) EXPECT_TRUE(known.contains(code)) << function << " " << code;
  }
  // All that is exported was looked at.
  EXPECT_EQ(functions, matches(source_file("src/capi/varve.map"), R"((varve_\w+);)"));
}

TEST(ErrorsPage, ListsEveryFunctionUnderTheCodesOfItsHeader) {
  const std::string page = source_file("docs/errors.md");
  for (const auto& [function, errors] : documented_errors()) {
    for (const auto& code : errors) {
      const std::string section = section_of(page, code);
      const bool is_everybodys =
          section.find("**From** every function with a handle") != std::string::npos ||
          section.find("**From** every function;") != std::string::npos;
      EXPECT_TRUE(is_everybodys || section.find("`" + function + "`") != std::string::npos)
          << function << " is missing under " << code;
    }
  }
}

TEST(ErrorsPage, ListsOnlyFunctionsThatExist) {
  const auto known = documented_errors();
  for (const auto& function : matches(source_file("docs/errors.md"), R"(`(varve_\w+)`)")) {
    EXPECT_TRUE(known.contains(function) || function.ends_with("_t")) << function;
  }
}

}  // namespace
}  // namespace varve_test
