#include "index/word_indexer.h"

#include <utility>

namespace varve::index {

namespace {

constexpr uint64_t kPortionBytes = uint64_t{1} << 20;

}  // namespace

void WordIndexer::add(std::string_view line) {
  filling_.add(line);
  if (filling_.size_bytes() >= kPortionBytes) hand_over();
}

void WordIndexer::count() {
  TermCounter& counter = text_.counter();
  for (size_t i = 0; i < counting_.size(); ++i) counter.add_line(counting_[i], scratch_);
  counter.take(&counted_);
}

// Until the portion is counted; its terms are the ones to be added then.
void WordIndexer::wait() {
  if (at_work_.valid()) at_work_.get();
  std::swap(adding_, counted_);
  counted_.clear();
}

// Whether the other thread has nothing to do: it counts faster than the caller reads.
bool WordIndexer::is_idle() const { return !at_work_.valid() || at_work_.is_done(); }

// The other thread counts the portion that was collected. It adds the terms of the one before, too,
// where it has less to do than the caller, and where the lists have to be compressed behind them.
void WordIndexer::hand_over() {
  const bool was_idle = is_idle();
  wait();
  std::swap(filling_, counting_);
  filling_.clear();
  const bool adds_beside = was_idle || text_.is_compression_due(added_bytes_max_);
  at_work_ = start_beside(in_thread_, [this, adds_beside] {
    if (adds_beside) {
      text_.add_counted(adding_);
      if (text_.is_compression_due(added_bytes_max_)) text_.compress();
    }
    count();
  });
  if (!adds_beside) text_.add_counted(adding_);
}

void WordIndexer::collect() {
  hand_over();
  wait();
  text_.add_counted(adding_);
  text_.counter().give_memory_back();
}

Beside<void> WordIndexer::start_compressing() {
  return start_beside(in_thread_, [this] { text_.compress(); });
}

}  // namespace varve::index
