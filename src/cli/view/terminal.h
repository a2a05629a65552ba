// What the other end of a file descriptor can show: colours, and how many columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::cli {

enum class Style { kPlain, kHeading, kId, kType, kTag, kFaint, kMatch, kGood, kWarning, kError };

class Terminal {
 public:
  // Asks the descriptor and the environment (NO_COLOR, TERM, COLUMNS). `when` is "auto", "always"
  // or "never"; auto means on a terminal, without NO_COLOR.
  static Terminal detect(int descriptor, std::string_view when);

  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  // Whether it may be drawn over, which takes escape sequences: a dumb terminal shows them as text.
  [[nodiscard]] bool is_drawn_over() const { return is_terminal_ && !is_dumb_; }
  // Columns; 0, which means no limit, when it is no terminal.
  [[nodiscard]] size_t width() const { return width_; }
  // For what has a width in any case: as many columns as usual when it is no terminal.
  [[nodiscard]] size_t layout_width() const { return width_ > 0 ? width_ : kUsualWidth; }

  [[nodiscard]] std::string paint(Style style, std::string_view text) const;

 private:
  static constexpr size_t kUsualWidth = 80;

  [[nodiscard]] static size_t width_of(int descriptor);

  bool is_terminal_ = false;
  bool is_dumb_ = false;
  bool color_ = false;
  size_t width_ = 0;
};

}  // namespace varve::cli
