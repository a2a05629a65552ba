// PrettyText: JSON for people, a member or an item on each line, indented by two spaces. For what
// is too large to be a Tree first; Tree::pretty() is written with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/canonical.h"

namespace varve::json {

class PrettyText {
 public:
  // Appends to `out`.
  explicit PrettyText(std::string* out) : out_(*out) {}

  // An object or an array. `bracket` opens, and closes, it.
  void begin(char bracket) {
    out_ += bracket;
    ++depth_;
    is_empty_ = true;
  }
  void end(char bracket) {
    --depth_;
    if (!is_empty_) break_line();
    out_ += bracket;
    is_empty_ = false;
  }

  // A member of the object, or an item of the array, whose value comes next. Keys come in order.
  void name(std::string_view key) {
    item();
    append_string(key, out_);
    out_ += ": ";
  }
  void item() {
    if (!is_empty_) out_ += ',';
    is_empty_ = false;
    break_line();
  }

  void text(std::string_view value) { append_string(value, out_); }
  void integer(uint64_t value) { out_ += std::to_string(value); }
  void number(double value) { append_double(value, out_); }

 private:
  void break_line() {
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  std::string& out_;
  size_t depth_ = 0;
  bool is_empty_ = true;  // what was begun last
};

}  // namespace varve::json
