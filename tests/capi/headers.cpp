#include "headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace varve_test {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The word that begins at `start`.
std::string word_at(std::string_view text, size_t start) {
  size_t end = start;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::string(text.substr(start, end - start));
}

// The first word of the declaration that is a function's name: one before a parenthesis.
std::string function_name(std::string_view declaration) {
  const size_t parenthesis = declaration.find('(');
  size_t start = parenthesis;
  while (start > 0 && is_word(declaration[start - 1])) --start;
  return word_at(declaration, start);
}

// What stands behind @errors.
std::string errors_of(const Function& function) {
  const size_t start = function.comment.find("@errors");
  EXPECT_NE(start, std::string::npos) << function.name;
  if (start == std::string::npos) return {};
  const size_t end = function.comment.find("\n * @", start + 1);
  return function.comment.substr(start, end - start);
}

}  // namespace

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(VARVE_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::set<std::string> words_with_prefix(std::string_view text, std::string_view prefix) {
  std::set<std::string> words;
  for (size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    if (at == 0 || !is_word(text[at - 1])) words.insert(word_at(text, at));
  }
  return words;
}

std::vector<Function> declared_functions() {
  std::vector<Function> functions;
  const std::string all = source_file("include/varve/varve.h");
  const std::string include = "\n#include \"varve/";
  for (size_t start = all.find(include); start != std::string::npos;
       start = all.find(include, start + 1)) {
    const std::string name = word_at(all, start + include.size());
    const std::string header = source_file("include/varve/" + name + ".h");
    const std::string mark = "\nVARVE_API ";
    for (size_t at = header.find(mark); at != std::string::npos; at = header.find(mark, at + 1)) {
      Function function;
      function.declaration = header.substr(at + 1, header.find(';', at) - at);
      function.name = function_name(function.declaration);
      const size_t comment = header.rfind("/**", at);
      function.comment = header.substr(comment, at - comment);
      functions.push_back(std::move(function));
    }
  }
  return functions;
}

std::set<std::string> documented_errors(const Function& function) {
  return words_with_prefix(errors_of(function), "VARVE_");
}

std::set<std::string> all_documented_errors(const std::string& name) {
  for (const Function& function : declared_functions()) {
    if (function.name != name) continue;
    std::set<std::string> codes = documented_errors(function);
    for (const auto& other : words_with_prefix(errors_of(function), "varve_")) {
      codes.merge(all_documented_errors(other));
    }
    return codes;
  }
  return {};  // a word that is no function
}

std::map<std::string, std::string> status_codes() {
  std::map<std::string, std::string> codes;
  std::istringstream lines(source_file("include/varve/base.h"));
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (line.substr(0, 8) != "  VARVE_" || equals == std::string::npos) continue;
    codes[line.substr(2, equals - 2)] = word_at(line, equals + 3);
  }
  return codes;
}

}  // namespace varve_test
