// Calls of the operating system that fail, in a program that is linked with --wrap for each of
// wrapped_calls(): what its own code and the archives in it call, not what shared objects do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace varve_test {

enum class CallKind : uint8_t {
  kOpen,         // to read
  kOpenToWrite,  // what is there
  kCreate,       // may also open what is there
  kRead,
  kWrite,
  kTruncate,
  kSync,           // of a file
  kSyncDirectory,  // fsync, which the library asks of nothing else
  kRename,
  kRemove,
  kMakeDirectory,
  kExamine,
  kLock,
  kAskLock,  // whether another has it
  kList,
  kPermit,
  kSpace,
  kHint,
  kClose,
  kRandom,
  kOther,
};

enum class Part : uint8_t { kNothing, kOneByte, kHalf };

struct CallFault {
  const char* name = "";
  int os_errno = 0;               // 0: the call does no more than a part, and says so
  Part done = Part::kNothing;     // of a read or write, which says so; the next one then fails
  std::vector<CallKind> kinds{};  // only these are counted and fail; empty: all
};

// While it lives, the `number`-th call (from 1) of this program that the fault counts fails; with
// `sticky` all later ones, too. One at a time. Descriptors that are closed are closed, whatever the
// call answers.
class FailingCalls {
 public:
  FailingCalls(CallFault fault, uint64_t number, bool sticky);
  // Fails nothing and counts.
  FailingCalls() : FailingCalls({}, 0, false) {}
  ~FailingCalls();
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;

  // So many calls that the fault counts were made.
  [[nodiscard]] uint64_t count() const;
  // Their names, in order, each followed by a line end.
  [[nodiscard]] std::string sequence() const;
  [[nodiscard]] bool happened() const { return !where().empty(); }
  // The first call that failed: "fdatasync /tmp/store/memory.jsonl".
  [[nodiscard]] std::string where() const;
  // The names of all calls that were counted.
  [[nodiscard]] std::set<std::string> functions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct Judge;
};

// While it lives, every clock stands still. Which calls are made may depend on the time: what was
// drawn for ids is kept for a millisecond, who held a lock for long asks whether another waits for
// it, and a file that changed a moment ago is looked at again. One at a time.
class StoppedClocks {
 public:
  StoppedClocks();
  ~StoppedClocks();
  StoppedClocks(const StoppedClocks&) = delete;
  StoppedClocks& operator=(const StoppedClocks&) = delete;

  // What the clock has told since they stand still, when they do; else `*time` stays as it is.
  static void tell(clockid_t clock, struct timespec* time);
};

// What a program must be linked with --wrap for, beside clock_gettime.
const std::set<std::string>& wrapped_calls();

}  // namespace varve_test
