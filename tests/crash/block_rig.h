// Runs a program on a real file system whose disk keeps book, and looks at what power losses and
// errors of that disk leave: each time the file system itself recovers, and then the store.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "block_disk.h"
#include "block_mounts.h"
#include "ledger.h"
#include "program.h"
#include "sabotage.h"

namespace varve::crash {

// When the disk fails: once so many writes and flushes have gone well, until so many further
// answers were given.
struct DiskTrouble {
  DiskFailure failure = DiskFailure::kNone;
  uint64_t passed = 0;
  size_t answers = 1;
};

using Work = std::function<void(Program&)>;

class BlockRig {
 public:
  // Throws std::system_error when the machine does not let it.
  explicit BlockRig(const BlockFileSystem& kind, Sabotage defect = Sabotage::kNone);

  // On a new disk, of which the file system is unmounted in the end.
  void run(const Work& work, const DiskTrouble& trouble = {});
  // What the run was answered that is not a success, in words; how often the disk failed.
  [[nodiscard]] const std::string& failures() const { return failures_; }
  [[nodiscard]] uint64_t failed_count() const { return failed_count_; }
  // Answers with success after the first that was none.
  [[nodiscard]] size_t late_successes() const { return late_successes_; }
  [[nodiscard]] const std::vector<BlockEvent>& events() const { return events_; }

  // The states of power losses in that run, about so many; the first in which the invariant
  // `until` is broken is the last.
  void look_at_losses(const StateChoice& choice, std::string_view until = {});
  // The disk as it is after the run.
  void look_at_end();

  Findings& findings() { return findings_; }
  [[nodiscard]] size_t state_count() const { return state_count_; }

 private:
  void look(const DiskImage& image, const std::vector<KeptWrite>& kept, const Ledger& ledger);
  void note_answer(const Program& program, RecordedDisk& disk, const DiskTrouble& trouble);

  const BlockFileSystem kind_;
  const Sabotage defect_;
  const DiskImage base_;
  std::vector<BlockEvent> events_;
  std::vector<Ledger> ledgers_;  // by the number of marks before
  std::string failures_;
  uint64_t failed_count_ = 0;
  size_t late_successes_ = 0;
  size_t answers_in_trouble_ = 0;
  bool refused_ = false;
  Findings findings_;
  size_t state_count_ = 0;
};

// Why a file system of this kind cannot be tried here; "" when it can.
std::string why_not(const BlockFileSystem& kind);

}  // namespace varve::crash
