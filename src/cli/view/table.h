// Aligned columns for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/view/output.h"
#include "cli/view/terminal.h"

namespace varve::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string_view heading;
  Align align = Align::kLeft;
  Style style = Style::kPlain;  // of the cells
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column. The cells are made printable here.
  void add_row(const std::vector<std::string>& cells);

  // Leaves out columns with only empty cells. On a terminal, lines are cut to its width, and long
  // cells before others.
  void print(Output& out, const Terminal& terminal) const;

 private:
  [[nodiscard]] std::vector<size_t> column_widths(size_t columns) const;
  enum class Row { kHeadings, kCells };
  [[nodiscard]] std::string line(Row row, const std::vector<std::string>& cells,
                                 const std::vector<size_t>& widths, const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace varve::cli
