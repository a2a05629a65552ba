#include "session/entry_line.h"

#include <algorithm>
#include <new>

namespace varve::session {

namespace {

constexpr size_t kMemoryLineBytes = 64;  // what memory is read by
constexpr size_t kPrefetchedBytesMax = 4 * kMemoryLineBytes;

}  // namespace

EntryLine::EntryLine(std::string_view bytes)
    : head_(new (::operator new(memory_bytes_of(bytes.size()))) Head) {
  head_->size_bytes = bytes.size();
  char* end = std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(head_ + 1));
  *end = '\0';
}

void EntryLine::prefetch() const noexcept {
  if (head_ == nullptr) return;
  const char* memory = reinterpret_cast<const char*>(head_);
  for (size_t at = 0; at < kPrefetchedBytesMax; at += kMemoryLineBytes) {
    __builtin_prefetch(memory + at);
  }
}

void EntryLine::drop() noexcept {
  if (head_ == nullptr || head_->holder_count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  head_->~Head();
  ::operator delete(head_);
}

}  // namespace varve::session
