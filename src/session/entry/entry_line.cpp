#include "session/entry/entry_line.h"

#include <algorithm>
#include <new>

#include "session/entry/line_memory.h"

namespace varve::session {

namespace {

constexpr size_t kMemoryLineBytes = 64;  // the processor's cache line
constexpr size_t kPrefetchedBytesMax = 4 * kMemoryLineBytes;

}  // namespace

EntryLine::EntryLine(std::string_view bytes) : head_(make(bytes, nullptr)) {}

EntryLine::EntryLine(std::string_view bytes, LineMemory& memory)
    : head_(
          make(bytes, memory_bytes_of(bytes.size()) > LineMemory::kBytesMax ? nullptr : &memory)) {}

EntryLine::Head* EntryLine::make(std::string_view bytes, LineMemory* memory) {
  const size_t taken_bytes = memory_bytes_of(bytes.size());
  void* const place = memory == nullptr ? ::operator new(taken_bytes) : memory->take(taken_bytes);
  Head* const head = new (place) Head;
  head->memory = memory;
  head->size_bytes = static_cast<uint32_t>(bytes.size());
  char* end = std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(head + 1));
  *end = '\0';
  return head;
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
  LineMemory* const memory = head_->memory;
  const size_t taken_bytes = memory_bytes();
  head_->~Head();
  if (memory == nullptr) {
    ::operator delete(head_);
  } else {
    memory->give_back(head_, taken_bytes);
  }
}

}  // namespace varve::session
