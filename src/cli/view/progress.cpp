#include "cli/view/progress.h"

#include <algorithm>
#include <chrono>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr std::chrono::milliseconds kPatience(300);
constexpr std::chrono::milliseconds kInterval(100);
constexpr size_t kBarColumns = 24;

}  // namespace

Progress::Progress(Invocation& invocation, std::string label, Unit unit, int64_t total)
    : Progress(invocation,
               invocation.quiet() ? "never" : std::string_view(invocation.globals().progress),
               std::move(label), unit, total) {}

Progress::Progress(Invocation& invocation, std::string_view when, std::string label, Unit unit,
                   int64_t total)
    : out_(invocation.err()),
      label_(std::move(label)),
      unit_(unit),
      total_(total),
      width_(invocation.err_terminal().layout_width()),
      enabled_(when == "always" || (when == "auto" && invocation.err_terminal().is_drawn_over())),
      next_draw_(Clock::now() + (when == "always" ? std::chrono::milliseconds(0) : kPatience)) {}

void Progress::advance(int64_t amount) {
  done_ += amount;
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now < next_draw_) return;
  next_draw_ = now + kInterval;
  draw();
}

ProgressFunction Progress::receiver() {
  return [this](std::string_view /*operation*/, uint64_t done, uint64_t total) {
    hear(static_cast<int64_t>(done), static_cast<int64_t>(total));
    return true;  // go on
  };
}

// `done` starts again at 0 with each operation.
void Progress::hear(int64_t done, int64_t total) {
  if (total_ < 0) total_ = total;
  advance(done >= heard_ ? done - heard_ : done);
  heard_ = done;
  // The end is drawn in any case, if there is a bar at all.
  if (done == total && shown_) draw();
}

std::string Progress::line() const {
  const auto amount = [this](int64_t value) {
    return unit_ == Unit::kBytes ? format_bytes(value) : format_count(value);
  };
  if (total_ <= 0) return label_ + "  " + amount(done_);
  const int64_t done = std::min(done_, total_);
  const auto share = static_cast<double>(done) / static_cast<double>(total_);
  const auto filled = static_cast<size_t>(share * static_cast<double>(kBarColumns));
  const std::string bar = std::string(filled, '#') + std::string(kBarColumns - filled, '-');
  const std::string percent = std::to_string(static_cast<int>(share * 100));
  return label_ + "  [" + bar + "] " + pad_left(percent, 3) + " %  " + amount(done) + " of " +
         amount(total_);
}

void Progress::draw() {
  // One column stays free: some terminals wrap when the last one is written.
  out_.write("\r" + truncate(line(), width_ > 1 ? width_ - 1 : 1) + "\x1b[K");
  out_.flush();
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  out_.write("\r\x1b[K");
  out_.flush();
  shown_ = false;
}

}  // namespace varve::cli
