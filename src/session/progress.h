// Progress: tells the host how far a long operation has come, and asks whether to go on.
//
//   Progress progress(receiver, "verify");
//   VARVE_TRY(progress.step(done_bytes, total_bytes));   // as often as you like, under no lock
//
// The host is called by amount of work, not by time: at the first step, whenever another megabyte
// is done, and at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace varve::session {

// As varve_progress_fn: other than 0 stops the operation.
using ProgressFunction = int32_t (*)(void* user_data, const char* operation, uint64_t done,
                                     uint64_t total);

struct ProgressReceiver {
  ProgressFunction function = nullptr;  // null: nobody is to be told
  void* user_data = nullptr;
};

// For a part of the work: tells how many of its bytes are done. Anything but ok ends the work.
using Step = std::function<Status(uint64_t done)>;

class Progress {
 public:
  static constexpr uint64_t kStepBytes = uint64_t{1} << 20;

  Progress(const ProgressReceiver& receiver, const char* operation)
      : receiver_(receiver), operation_(operation) {}

  // `done` of `total`, mostly in bytes; total 0: unknown. kCallback when the host stops it. Work
  // that starts over may go back; the host is called again when it gets further than before.
  Status step(uint64_t done, uint64_t total) {
    if (receiver_.function == nullptr) return {};
    const bool is_end = done == total && total != 0;
    if (was_called_ && (done <= told_ || (done - told_ < kStepBytes && !is_end))) return {};
    was_called_ = true;
    told_ = done;
    if (receiver_.function(receiver_.user_data, operation_, done, total) == 0) return {};
    return {Code::kCallback, "the progress callback stopped the " + std::string(operation_)};
  }

 private:
  ProgressReceiver receiver_;
  const char* operation_;  // static text
  uint64_t told_ = 0;
  bool was_called_ = false;
};

}  // namespace varve::session
