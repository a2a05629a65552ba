#include "cli/view/table.h"

#include <algorithm>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr std::string_view kGap = "  ";

}  // namespace

void Table::add_row(const std::vector<std::string>& cells) {
  std::vector<std::string> row(columns_.size());
  for (size_t i = 0; i < std::min(cells.size(), row.size()); ++i) {
    row[i] = printable(cells[i], Lines::kJoin);
  }
  rows_.push_back(std::move(row));
}

// 0 for a column to be left out. If `columns` are too few for all, a cell that takes more than half
// of them is cut, so that one long id does not hide everything beside it.
std::vector<size_t> Table::column_widths(size_t columns) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], columns_[i].heading.size());
  }
  size_t total = 0;
  for (const size_t width : widths) total += width == 0 ? 0 : width + kGap.size();
  if (columns == 0 || total <= columns + kGap.size()) return widths;
  for (size_t& width : widths) width = std::min(width, std::max<size_t>(columns / 2, 1));
  return widths;
}

std::string Table::line(Row row, const std::vector<std::string>& cells,
                        const std::vector<size_t>& widths, const Terminal& terminal) const {
  const auto last = std::find_if(widths.rbegin(), widths.rend(), [](size_t w) { return w > 0; });
  const auto last_index = static_cast<size_t>(widths.rend() - last) - 1;
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const size_t gap = used == 0 ? 0 : kGap.size();
    if (terminal.width() > 0 && used + gap >= terminal.width()) break;
    const size_t room = terminal.width() > 0 ? terminal.width() - used - gap : 0;
    std::string cell = columns_[i].align == Align::kRight ? pad_left(cells[i], widths[i])
                       : i == last_index                  ? cells[i]
                                         : pad_right(truncate(cells[i], widths[i]), widths[i]);
    cell = truncate(cell, room);
    used += gap + display_width(cell);
    if (gap > 0) out += kGap;
    out += terminal.paint(row == Row::kHeadings ? Style::kHeading : columns_[i].style, cell);
  }
  return out + "\n";
}

void Table::print(Output& out, const Terminal& terminal) const {
  if (rows_.empty()) return;
  const std::vector<size_t> widths = column_widths(terminal.width());
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.emplace_back(column.heading);
  out.write(line(Row::kHeadings, headings, widths, terminal));
  for (const auto& row : rows_) out.write(line(Row::kCells, row, widths, terminal));
}

}  // namespace varve::cli
