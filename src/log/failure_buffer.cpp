#include "log/failure_buffer.h"

#include <algorithm>
#include <utility>

#include "base/release_memory.h"
#include "entry/entry.h"
#include "json/document.h"

namespace varve::log {

namespace {

// Whether the last of these lines is one of a batch.
bool ends_in_batch(std::string_view lines) {
  lines.remove_suffix(1);
  const size_t last_at = lines.rfind('\n') + 1;  // behind npos: 0
  if (last_at == 0) return false;                // a batch has several
  json::Document scratch;
  entry::EntryFacts facts;
  return entry::read_line(lines.substr(last_at), scratch, &facts).ok() && facts.batch.count > 1;
}

}  // namespace

FailureBuffer::FailureBuffer(std::unique_ptr<SessionStorage> below, uint64_t bytes_max)
    : below_(std::move(below)), bytes_max_(bytes_max) {}

FailureBuffer::~FailureBuffer() {
  if (is_locked_) below_->unlock();
}

uint64_t FailureBuffer::held_bytes() const {
  const std::lock_guard guard(mutex_);
  return kept().size();
}

Undurable FailureBuffer::undurable() const {
  const std::lock_guard guard(mutex_);
  return {kept().size(), reason_};
}

// --- reading -------------------------------------------------------------------------------------

// If the disk took lines between the look at it and the look at what is kept, they are in neither.
// Then both looks are repeated, here and in read().
Result<Tail> FailureBuffer::tail() {
  for (;;) {
    const uint64_t written_count = written_count_.load();
    VARVE_TRY_ASSIGN(Tail tail, below_->tail());
    const std::lock_guard guard(mutex_);
    if (written_count != written_count_.load()) continue;
    // Part of the held lines may be below already, if writing them failed half-way.
    if (!kept().empty()) {
      tail.entries_bytes = std::max(tail.entries_bytes, held_start_bytes_ + kept().size());
    }
    return tail;
  }
}

Result<Tail> FailureBuffer::locked_tail() { return holds() ? tail() : below_->locked_tail(); }

Result<size_t> FailureBuffer::read(Stream stream, uint64_t generation, uint64_t offset,
                                   std::span<char> out) {
  for (;;) {
    const uint64_t written_count = written_count_.load();
    VARVE_TRY_ASSIGN(const size_t got, below_->read(stream, generation, offset, out));
    if (got == out.size() || stream != Stream::kEntries) return got;
    const std::lock_guard guard(mutex_);
    if (written_count != written_count_.load()) continue;
    const uint64_t at = offset + got;
    if (at < held_start_bytes_ || at - held_start_bytes_ >= kept().size()) return got;
    const auto held = kept().substr(at - held_start_bytes_, out.size() - got);
    std::copy(held.begin(), held.end(), out.begin() + static_cast<std::ptrdiff_t>(got));
    return got + held.size();
  }
}

Result<std::string> FailureBuffer::get_document(std::string_view name) {
  return below_->get_document(name);
}

Result<VectorsTail> FailureBuffer::vectors_tail() { return below_->vectors_tail(); }

Result<std::unique_ptr<DocumentView>> FailureBuffer::open_document(std::string_view name) {
  return below_->open_document(name);
}

Result<std::vector<StoredFile>> FailureBuffer::files() { return below_->files(); }
DurableMark FailureBuffer::durable_mark() { return below_->durable_mark(); }
LockHolder FailureBuffer::lock_holder() { return below_->lock_holder(); }
bool FailureBuffer::writable() const { return below_->writable(); }
std::string FailureBuffer::name_of(Stream stream) const { return below_->name_of(stream); }
std::shared_ptr<const void> FailureBuffer::keep_open(Stream stream) {
  return below_->keep_open(stream);
}
void FailureBuffer::set_sync_histogram(Histogram* histogram) {
  below_->set_sync_histogram(histogram);
}
void FailureBuffer::set_work_while_waiting(std::function<void()> work) {
  below_->set_work_while_waiting(std::move(work));
}

// --- the lock ------------------------------------------------------------------------------------

Status FailureBuffer::lock(int64_t deadline_us, std::string_view operation, bool* waited) {
  if (is_locked_) {
    (void)write_held().ok();  // the caller's next operation tells whether that matters
    return {};
  }
  // Set before locking: if an allocation fails after the lock is taken, unlock() must release it.
  is_locked_ = true;
  Status locked = below_->lock(deadline_us, operation, waited);
  is_locked_ = locked.ok();
  return locked;
}

void FailureBuffer::unlock() noexcept {
  if (!is_locked_ || holds()) return;
  is_locked_ = false;
  below_->unlock();
}

// --- writing -------------------------------------------------------------------------------------

Status FailureBuffer::write_held() {
  while (holds()) VARVE_TRY(write_first());
  return {};
}

Status FailureBuffer::write_first() {
  const Write first = writes_.front();
  VARVE_TRY(below_->append(Stream::kEntries, held_start_bytes_, kept().substr(0, first.bytes),
                           held_is_durable_, first.last_seq));
  writes_.pop_front();
  const std::lock_guard guard(mutex_);
  taken_ += first.bytes;
  held_start_bytes_ += first.bytes;
  written_count_ += 1;
  if (!writes_.empty()) return {};
  release_memory(&held_);
  taken_ = 0;
  reason_.clear();
  held_start_bytes_ = 0;
  return {};
}

// `failure` says why the disk did not take the lines. Returns ok when they are kept.
Status FailureBuffer::hold(uint64_t expected_bytes, std::string_view lines, uint64_t last_seq,
                           Status failure) {
  if (failure.code() != Code::kIo && failure.code() != Code::kNoSpace) return failure;
  VARVE_TRY_ASSIGN(const Tail below, below_->tail());
  const bool is_of_batch = ends_in_batch(lines);
  const std::lock_guard guard(mutex_);
  const bool is_first = kept().empty();
  const uint64_t disk_end_bytes = is_first ? expected_bytes : held_start_bytes_;
  if (below.entries_bytes != disk_end_bytes) return failure;  // it is not known what was written
  if (kept().size() + lines.size() > bytes_max_) {
    return std::move(failure).with_context(
        "the " + std::to_string(bytes_max_) +
        " bytes for entries that the disk does not take (integrity.io_failure_buffer_mb) are full");
  }
  // First what may fail: lines that are refused must not be among those that are written later.
  std::string reason = failure.message();
  held_.erase(0, std::exchange(taken_, 0));
  held_.reserve(held_.size() + lines.size());
  add_write({lines.size(), last_seq, is_of_batch});
  held_.append(lines);
  if (is_first) held_start_bytes_ = expected_bytes;
  reason_.swap(reason);
  return {};
}

// With the write before it as one, unless that ends in a batch.
void FailureBuffer::add_write(const Write& added) {
  if (writes_.empty() || writes_.back().ends_in_batch) {
    writes_.push_back(added);
    return;
  }
  Write& last = writes_.back();
  last = {last.bytes + added.bytes, added.last_seq, added.ends_in_batch};
}

Status FailureBuffer::append(Stream stream, uint64_t expected_bytes, std::string_view lines,
                             bool durable, uint64_t last_seq, const Meanwhile& meanwhile) {
  if (stream != Stream::kEntries) {
    return below_->append(stream, expected_bytes, lines, durable, last_seq, meanwhile);
  }
  Status status = write_held();
  if (status.ok()) {
    status = below_->append(stream, expected_bytes, lines, durable, last_seq, meanwhile);
    if (status.ok()) return status;
    held_is_durable_ = false;
  }
  held_is_durable_ = held_is_durable_ || durable;
  return hold(expected_bytes, lines, last_seq, std::move(status));
}

Status FailureBuffer::sync(uint64_t last_seq) {
  VARVE_TRY(write_held());
  return below_->sync(last_seq);
}

Status FailureBuffer::truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) {
  VARVE_TRY(write_held());
  return below_->truncate(stream, expected_bytes, size_bytes);
}

Status FailureBuffer::replace(Stream stream, std::optional<uint64_t> expected_bytes,
                              const std::function<Status(Sink&)>& produce) {
  VARVE_TRY(write_held());
  return below_->replace(stream, expected_bytes, produce);
}

Status FailureBuffer::remove_residue(std::span<const std::string_view> documents) {
  VARVE_TRY(write_held());
  return below_->remove_residue(documents);
}

Status FailureBuffer::remove_document(std::string_view name) {
  return below_->remove_document(name);
}

Status FailureBuffer::remove_vectors() { return below_->remove_vectors(); }

// Documents wait for the lines, too: an index.bin that covers more than the log would be discarded.
Status FailureBuffer::put_document(std::string_view name, std::string_view bytes,
                                   DocumentDurability durability) {
  if (holds()) {
    const std::lock_guard guard(mutex_);
    return {Code::kIo,
            "not written: entries that were added before still wait for the disk: " + reason_};
  }
  return below_->put_document(name, bytes, durability);
}

Status FailureBuffer::append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                                           bool durable) {
  return below_->append_to_transcript(expected_bytes, bytes, durable);
}

}  // namespace varve::log
