// A progress bar on standard error, for work that takes long enough to make people wonder.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/invocation.h"

namespace varve::cli {

using ProgressFunction =
    std::function<bool(std::string_view operation, uint64_t done, uint64_t total)>;

class Progress {
 public:
  enum class Unit { kBytes, kItems };

  // Shows what --progress and --quiet say: "auto" a bar on a terminal, once the work has taken a
  // third of a second; "always" one at once, wherever it goes. `total` 0: unknown; -1: as the
  // receiver is told.
  Progress(Invocation& invocation, std::string label, Unit unit, int64_t total);
  // Never shows anything.
  static Progress hidden(Invocation& invocation) {
    return {invocation, "never", {}, Unit::kBytes, 0};
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void advance(int64_t amount);
  // For set_progress() of a session, which this must outlive. Several operations one after another
  // add up.
  [[nodiscard]] ProgressFunction receiver();
  // Removes the bar from the screen, so that other lines can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Progress(Invocation& invocation, std::string_view when, std::string label, Unit unit,
           int64_t total);
  void hear(int64_t done, int64_t total);
  void draw();
  [[nodiscard]] std::string line() const;

  Output& out_;
  std::string label_;
  Unit unit_;
  int64_t total_;
  int64_t done_ = 0;
  int64_t heard_ = 0;  // of the running operation
  size_t width_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_draw_;
};

}  // namespace varve::cli
