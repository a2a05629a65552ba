#include "chart.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace varve::bench {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kRight = 200;  // room for the names of the series, each where its line ends
constexpr double kTop = 44;
constexpr double kBottom = 48;
constexpr double kLabelHeight = 15;

// Okabe and Ito: told apart by people who do not see all colours.
constexpr std::array<const char*, 7> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#8a6d00", "#56b4e9", "#444444"};

std::string fixed(double number) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, 1);
  return {text.data(), end.ptr};
}

// 10000 as 10,000; 0.01 as it is.
std::string decade_text(int exponent) {
  if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + "1";
  std::string text = "1" + std::string(static_cast<size_t>(exponent), '0');
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// A logarithmic axis over whole decades.
struct Axis {
  int first = 0;
  int last = 1;
  double start = 0;  // where the first decade is
  double end = 0;

  [[nodiscard]] double place(double value) const {
    const double share = (std::log10(value) - first) / (last - first);
    return start + share * (end - start);
  }
};

Axis axis_over(double least, double most, double start, double end) {
  Axis axis{static_cast<int>(std::floor(std::log10(least))),
            static_cast<int>(std::ceil(std::log10(most))), start, end};
  axis.last = std::max(axis.last, axis.first + 1);
  return axis;
}

std::pair<Axis, Axis> axes_of(const Chart& chart) {
  auto [x_least, y_least] = chart.series.front().points.front();
  double x_most = x_least;
  double y_most = y_least;
  for (const auto& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      x_least = std::min(x_least, x);
      x_most = std::max(x_most, x);
      y_least = std::min(y_least, y);
      y_most = std::max(y_most, y);
    }
  }
  return {axis_over(x_least, x_most, kLeft, kWidth - kRight),
          axis_over(y_least, y_most, kHeight - kBottom, kTop)};
}

std::string line(double x1, double y1, double x2, double y2) {
  return "<path d=\"M" + fixed(x1) + " " + fixed(y1) + "L" + fixed(x2) + " " + fixed(y2) +
         "\" stroke=\"#dddddd\"/>\n";
}

std::string text_at(double x, double y, const std::string& more, const std::string& text) {
  return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\"" + more + ">" + text + "</text>\n";
}

std::string grid(const Axis& x, const Axis& y) {
  std::string svg;
  for (int decade = x.first; decade <= x.last; ++decade) {
    const double at = x.place(std::pow(10.0, decade));
    svg += line(at, y.start, at, y.end);
    svg += text_at(at, y.start + 18, " text-anchor=\"middle\"", decade_text(decade));
  }
  for (int decade = y.first; decade <= y.last; ++decade) {
    const double at = y.place(std::pow(10.0, decade));
    svg += line(x.start, at, x.end, at);
    svg += text_at(x.start - 8, at + 4, " text-anchor=\"end\"", decade_text(decade));
  }
  return svg;
}

std::string curve(const Series& series, const char* color, const Axis& x, const Axis& y) {
  std::string path;
  std::string dots;
  for (const auto& [at_x, at_y] : series.points) {
    const std::string px = fixed(x.place(at_x));
    const std::string py = fixed(y.place(at_y));
    path += (path.empty() ? "M" : "L") + px + " " + py;
    dots += "<circle cx=\"" + px + "\" cy=\"" + py + "\" r=\"3\" fill=\"" + color + "\"/>\n";
  }
  return "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"2\"/>\n" +
         dots;
}

// Each name at the height where its line ends, moved down where it would cover another.
std::string names(const std::vector<Series>& all, const Axis& x, const Axis& y) {
  std::vector<std::pair<double, size_t>> ends;
  for (size_t i = 0; i < all.size(); ++i)
    ends.emplace_back(y.place(all[i].points.back().second), i);
  std::sort(ends.begin(), ends.end());
  std::string svg;
  double free_from = kTop - kLabelHeight;
  for (const auto& [end, index] : ends) {
    const double at = std::max(end + 4, free_from);
    free_from = at + kLabelHeight;
    const std::string color = kColors[index % kColors.size()];
    svg += text_at(x.end + 10, at, " fill=\"" + color + "\"", all[index].name);
  }
  return svg;
}

}  // namespace

std::string svg_of(const Chart& chart) {
  const auto [x, y] = axes_of(chart);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + fixed(kWidth) +
                    " " + fixed(kHeight) + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                    "<title>" + chart.title + "</title>\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += text_at(kLeft, 20, " font-size=\"15\" font-weight=\"bold\"", chart.title);
  svg += text_at(kLeft - 8, 37, " text-anchor=\"end\"", chart.y_name);
  svg += text_at((x.start + x.end) / 2, kHeight - 10, " text-anchor=\"middle\"", chart.x_name);
  svg += grid(x, y);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    svg += curve(chart.series[i], kColors[i % kColors.size()], x, y);
  }
  return svg + names(chart.series, x, y) + "</svg>\n";
}

}  // namespace varve::bench
