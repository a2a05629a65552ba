#include "cli/view/excerpt.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr std::string_view kOmission = "…";

// Finds the range of `columns` columns that holds most of the terms.
class Window {
 public:
  Window(std::string_view text, size_t columns) : columns_(columns) {
    const size_t size = text.size();
    while (!text.empty()) {
      starts_.push_back({size - text.size(), width_});
      width_ += display_width(take_grapheme(text, columns));
    }
    starts_.push_back({size, width_});
  }

  struct Range {
    size_t start;
    size_t end;
  };

  [[nodiscard]] bool fits() const { return width_ <= columns_; }

  // With the whole of the characters, as people see them, that a match is in.
  [[nodiscard]] Range with_whole_characters(const Match& match) const {
    const auto is_before = [](size_t at, const Start& start) { return at < start.offset; };
    const auto behind_first =
        std::upper_bound(starts_.begin(), starts_.end(), match.start, is_before);
    const auto behind_last =
        std::upper_bound(behind_first, starts_.end(), match.end - 1, is_before);
    return {std::prev(behind_first)->offset, behind_last->offset};
  }

  // Begins about a quarter of the columns before `offset`, at a word's beginning if one is near.
  [[nodiscard]] Range around(std::string_view text, size_t offset) const {
    const size_t lead = column_of(offset) - std::min(column_of(offset), columns_ / 4);
    // Near the end of the text, the window ends with the text.
    const size_t last = width_ - std::min(width_, columns_ - 1);
    size_t start = offset_of(std::min(lead, last));
    const size_t space = text.substr(0, offset).find(' ', start);
    if (start > 0 && space != std::string_view::npos) start = space + 1;
    const size_t left_mark = start > 0 ? 1 : 0;
    const size_t room = columns_ - std::min(columns_, left_mark);
    if (width_ - column_of(start) <= room) return {start, text.size()};
    return {start, offset_of(column_of(start) + room - std::min<size_t>(room, 1))};
  }

 private:
  struct Start {
    size_t offset;
    size_t column;
  };

  [[nodiscard]] size_t column_of(size_t offset) const {
    return std::lower_bound(starts_.begin(), starts_.end(), offset,
                            [](const Start& start, size_t at) { return start.offset < at; })
        ->column;
  }

  // The last character that begins at or before `column`.
  [[nodiscard]] size_t offset_of(size_t column) const {
    const auto after =
        std::upper_bound(starts_.begin(), starts_.end(), column,
                         [](size_t at, const Start& start) { return at < start.column; });
    return std::prev(after)->offset;
  }

  size_t columns_;
  size_t width_ = 0;
  std::vector<Start> starts_;
};

// Matches are in the order of the text, without overlaps: those in a window are a few neighbours.
size_t count_terms(const Window::Range& range, const std::vector<Match>& matches) {
  const auto first =
      std::lower_bound(matches.begin(), matches.end(), range.start,
                       [](const Match& match, size_t offset) { return match.start < offset; });
  std::set<size_t> terms;
  for (auto match = first; match != matches.end() && match->end <= range.end; ++match) {
    terms.insert(match->term);
  }
  return terms.size();
}

Window::Range best_range(std::string_view text, const Window& window,
                         const std::vector<Match>& matches) {
  Window::Range best = window.around(text, 0);
  size_t best_count = 0;
  for (const Match& candidate : matches) {
    const Window::Range range = window.around(text, candidate.start);
    const size_t count = count_terms(range, matches);
    if (count <= best_count) continue;
    best_count = count;
    best = range;
  }
  return best;
}

}  // namespace

std::string excerpt(std::string_view text, const std::vector<Match>& matches, size_t columns,
                    const Terminal& terminal) {
  const Window window(text, columns);
  const Window::Range range =
      window.fits() ? Window::Range{0, text.size()} : best_range(text, window, matches);
  std::string out(range.start > 0 ? kOmission : "");
  size_t at = range.start;
  for (size_t i = 0; i < matches.size(); ++i) {
    auto [start, end] = window.with_whole_characters(matches[i]);
    if (start < at || end > range.end) continue;
    // What touches is painted as one, as pairs of characters are that make up a word.
    for (; i + 1 < matches.size() && matches[i + 1].start == end; ++i) {
      const size_t next_end = window.with_whole_characters(matches[i + 1]).end;
      if (next_end > range.end) break;
      end = next_end;
    }
    out += text.substr(at, start - at);
    out += terminal.paint(Style::kMatch, text.substr(start, end - start));
    at = end;
  }
  out += text.substr(at, range.end - at);
  if (range.end < text.size()) out += kOmission;
  return out;
}

}  // namespace varve::cli
