// A chart with two logarithmic axes, as SVG: the same numbers give the same bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace varve::bench {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending; both above 0
};

struct Chart {
  std::string title;
  std::string x_name;
  std::string y_name;  // with its unit
  std::vector<Series> series;
};

std::string svg_of(const Chart& chart);

}  // namespace varve::bench
