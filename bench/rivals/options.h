// What the command line of varve_rivals says.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace varve::bench {

struct Options {
  size_t entry_count = 10'000;
  size_t body_bytes = 850;
  size_t round_count = 5;
  std::optional<size_t> load_count;  // rounds that load anew; every one unless told
  size_t query_count = 500;          // of each kind, all different
  double budget_s = 30;              // after which a measurement ends early
  std::filesystem::path directory = std::filesystem::current_path();
  std::vector<std::string> works;   // none: all
  std::vector<std::string> rivals;  // none: all
  bool exclusive = false;           // engines that can are told that nobody else opens a store
  bool keep = false;                // the loaded stores, for a later run with --loads 0

  [[nodiscard]] bool wants(const std::string& work) const;
  [[nodiscard]] bool wants_loaded_store() const;
  [[nodiscard]] bool wants_rival(const std::string& name) const;
  [[nodiscard]] bool loads_in(size_t round) const {
    return round < load_count.value_or(round_count);
  }
};

// Ends the program, with a message, on what it does not understand.
Options parse_options(int argc, char** argv);

}  // namespace varve::bench
