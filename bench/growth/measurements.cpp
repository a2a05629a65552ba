#include "measurements.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "give_up.h"

namespace varve::bench {

namespace {

// Three digits that mean something; the same text on every machine.
std::string rounded(double value) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
}

Measurement measurement_of(const std::string& line) {
  std::istringstream fields(line);
  Measurement measurement;
  std::string size;
  std::string value;
  std::getline(fields, measurement.chart, '\t');
  std::getline(fields, measurement.series, '\t');
  std::getline(fields, size, '\t');
  std::getline(fields, value);
  measurement.size = std::strtod(size.c_str(), nullptr);
  measurement.value = std::strtod(value.c_str(), nullptr);
  if (!(measurement.size > 0) || !(measurement.value > 0)) give_up("not a measurement: " + line);
  return measurement;
}

}  // namespace

std::vector<Measurement> read_measurements(const std::filesystem::path& path) {
  std::vector<Measurement> measurements;
  std::ifstream file(path);
  if (!file) give_up(path.string() + " could not be read");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') measurements.push_back(measurement_of(line));
  }
  return measurements;
}

void merge_measurements(const std::filesystem::path& path,
                        const std::vector<Measurement>& measurements) {
  std::vector<Measurement> all;
  if (std::filesystem::exists(path)) all = read_measurements(path);
  for (const auto& added : measurements) {
    std::erase_if(all, [&](const Measurement& one) {
      return one.chart == added.chart && one.series == added.series && one.size == added.size;
    });
    all.push_back(added);
  }
  std::stable_sort(all.begin(), all.end(), [](const Measurement& left, const Measurement& right) {
    if (left.chart != right.chart) return left.chart < right.chart;
    if (left.series != right.series) return left.series < right.series;
    return left.size < right.size;
  });
  std::ofstream file(path);
  file << "# varve_growth has written this: chart, series, size, value\n";
  for (const auto& one : all) {
    file << one.chart << '\t' << one.series << '\t' << static_cast<uint64_t>(one.size) << '\t'
         << rounded(one.value) << '\n';
  }
  if (!file.flush()) give_up(path.string() + " could not be written");
}

}  // namespace varve::bench
