#include "cli/view/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace varve::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view escape_sequence(Style style) {
  switch (style) {
    case Style::kPlain: break;
    case Style::kHeading: return "\x1b[1m";
    case Style::kId: return "\x1b[33m";
    case Style::kType: return "\x1b[36m";
    case Style::kTag: return "\x1b[32m";
    case Style::kFaint: return "\x1b[2m";
    case Style::kMatch: return "\x1b[1m";
    case Style::kGood: return "\x1b[32m";
    case Style::kWarning: return "\x1b[1;33m";
    case Style::kError: return "\x1b[1;31m";
  }
  return "";
}

}  // namespace

size_t Terminal::width_of(int descriptor) {
  const std::string_view columns = environment("COLUMNS");
  size_t width = 0;
  const auto parsed = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (parsed.ec == std::errc() && parsed.ptr == columns.data() + columns.size() && width > 0) {
    return width;
  }
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

Terminal Terminal::detect(int descriptor, std::string_view when) {
  Terminal terminal;
  terminal.is_terminal_ = ::isatty(descriptor) == 1;
  if (terminal.is_terminal_) terminal.width_ = width_of(descriptor);
  terminal.is_dumb_ = environment("TERM") == "dumb";
  const bool wanted = environment("NO_COLOR").empty() && !terminal.is_dumb_;
  terminal.color_ = when == "always" || (when == "auto" && terminal.is_terminal_ && wanted);
  return terminal;
}

std::string Terminal::paint(Style style, std::string_view text) const {
  if (!color_ || style == Style::kPlain || text.empty()) return std::string(text);
  return std::string(escape_sequence(style)) + std::string(text) + "\x1b[0m";
}

}  // namespace varve::cli
