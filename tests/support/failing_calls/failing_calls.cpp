#include "support/failing_calls/failing_calls.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "support/failing_calls/judge.h"

namespace varve_test {
namespace {

std::atomic<FailingCalls*> living{nullptr};

struct Clocks {
  std::mutex mutex;
  bool are_stopped = false;
  std::map<clockid_t, struct timespec> times;  // that they stand still at
};

Clocks& clocks() {
  static Clocks only;
  return only;
}

std::string path_of(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length < 0 ? std::string() : std::string(path.data(), static_cast<size_t>(length));
}

std::string text_of(const Call& call) {
  std::string text = call.function;
  if (call.descriptor >= 0) text += " " + path_of(call.descriptor);
  if (call.name != nullptr) text += std::string(" ") + call.name;
  return text;
}

}  // namespace

struct FailingCalls::State {
  const CallFault fault;
  const uint64_t number;
  const bool sticky;
  mutable std::mutex mutex{};
  uint64_t count = 0;
  std::string sequence{};
  bool is_half_done = false;  // the next one fails
  std::string where{};
  std::set<std::string> functions{};

  [[nodiscard]] bool counts(CallKind kind) const {
    const auto& kinds = fault.kinds;
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }

  Verdict judge(const Call& call) {
    const std::lock_guard guard(mutex);
    if (!counts(call.kind)) return {};
    functions.insert(call.function);
    count += 1;
    sequence.append(call.function).push_back('\n');
    const bool is_its_turn = number != 0 && (count == number || (sticky && count > number));
    if (!is_its_turn && !is_half_done) return {};
    if (where.empty()) where = text_of(call);
    if (fault.done == Part::kNothing || (fault.os_errno != 0 && count > number)) {
      is_half_done = false;
      return {fault.os_errno, 0};
    }
    is_half_done = fault.os_errno != 0;
    return {0, std::max<size_t>(1, fault.done == Part::kOneByte ? 1 : call.bytes / 2)};
  }
};

FailingCalls::FailingCalls(CallFault fault, uint64_t number, bool sticky)
    : state_(new State{std::move(fault), number, sticky}) {
  living.store(this);
}
FailingCalls::~FailingCalls() { living.store(nullptr); }

uint64_t FailingCalls::count() const {
  const std::lock_guard guard(state_->mutex);
  return state_->count;
}

std::string FailingCalls::sequence() const {
  const std::lock_guard guard(state_->mutex);
  return state_->sequence;
}

std::string FailingCalls::where() const {
  const std::lock_guard guard(state_->mutex);
  return state_->where;
}

std::set<std::string> FailingCalls::functions() const {
  const std::lock_guard guard(state_->mutex);
  return state_->functions;
}

StoppedClocks::StoppedClocks() {
  {
    const std::lock_guard guard(clocks().mutex);
    clocks().are_stopped = true;
  }
  // All at this moment, not each when it is first asked.
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC}) {
    struct timespec now {};
    (void)::clock_gettime(clock, &now);
  }
}

StoppedClocks::~StoppedClocks() {
  const std::lock_guard guard(clocks().mutex);
  clocks().are_stopped = false;
  clocks().times.clear();
}

void StoppedClocks::tell(clockid_t clock, struct timespec* time) {
  const std::lock_guard guard(clocks().mutex);
  if (clocks().are_stopped) *time = clocks().times.emplace(clock, *time).first->second;
}

struct Judge {
  static Verdict of(const Call& call) {
    FailingCalls* calls = living.load();
    return calls == nullptr ? Verdict() : calls->state_->judge(call);
  }
};

Verdict verdict_of(const Call& call) {
  const int saved_errno = errno;
  Verdict verdict = Judge::of(call);
  errno = saved_errno;
  return verdict;
}

}  // namespace varve_test
