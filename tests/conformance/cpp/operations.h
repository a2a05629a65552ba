// What each operation of a case does through varve.hpp.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <varve/varve.hpp>
#include <vector>

#include "patterns.h"

namespace varve_conformance {

// What a variable keeps.
using Kept = std::variant<json::value, std::shared_ptr<varve::Store>,
                          std::shared_ptr<varve::Session>, std::shared_ptr<varve::Results>,
                          std::shared_ptr<varve::Window>, std::shared_ptr<varve::Memory>>;

// What callbacks of a store answer and keep.
struct Callbacks {
  int64_t now_ms = 0;
  bool has_clock = false;
  json::array log_lines;
};

// One case: its variables, and what it opened.
class Run {
 public:
  explicit Run(std::string directory);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Carries out a step and compares; throws Mismatch.
  void step(const json::object& step, const std::string& place);

  // The variable that an argument names.
  template <typename Object>
  Object& object(const json::object& arguments, const char* name);
  Callbacks& callbacks(const varve::Store& store) { return callbacks_[&store]; }
  template <typename Object>
  Kept open(Object&& object);

 private:
  [[nodiscard]] json::value filled(const json::value& value) const;
  [[nodiscard]] json::value variable(std::string_view mark) const;

  std::map<std::string, Kept> variables_;
  std::map<const void*, Callbacks> callbacks_;
  std::vector<Kept> opened_;
};

// What a step gives: a value to compare, and what `save` keeps.
struct Answer {
  json::value value;
  Kept kept;
};

// Throws varve::Error for what the library answers, Mismatch for an operation or argument that is
// not known.
Answer carry_out(Run& run, const std::string& operation, const json::object& arguments);

template <typename Object>
Object& Run::object(const json::object& arguments, const char* name) {
  const auto found = variables_.find(std::string(arguments.at(name).as_string()));
  if (found == variables_.end()) throw Mismatch(std::string("no variable for ") + name);
  return *std::get<std::shared_ptr<Object>>(found->second);
}

template <typename Object>
Kept Run::open(Object&& object) {
  opened_.emplace_back(std::make_shared<std::decay_t<Object>>(std::forward<Object>(object)));
  return opened_.back();
}

}  // namespace varve_conformance
