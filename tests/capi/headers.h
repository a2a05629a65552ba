// What the public headers and their documentation say, read as text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace varve_test {

// A file of the source tree.
std::string source_file(const std::string& path);

// All words that start with `prefix`: letters, digits and underscores.
std::set<std::string> words_with_prefix(std::string_view text, std::string_view prefix);

struct Function {
  std::string name;
  std::string comment;
  std::string declaration;  // up to its semicolon
};

// Every function that the public headers declare.
std::vector<Function> declared_functions();

// The codes that a function's @errors names.
std::set<std::string> documented_errors(const Function& function);
// With those of the functions it refers to: "as varve_session_query".
std::set<std::string> all_documented_errors(const std::string& function);

// Name and value of every status code, as base.h defines them.
std::map<std::string, std::string> status_codes();

}  // namespace varve_test
