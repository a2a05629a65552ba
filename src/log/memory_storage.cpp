#include "log/memory_storage.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/release_memory.h"

namespace varve::log {

namespace {

class TextView final : public DocumentView {
 public:
  // With the session's mutex held.
  TextView(std::shared_ptr<MemorySession> session, std::string_view name)
      : session_(std::move(session)),
        name_(name),
        size_bytes_(session_->documents[name_].size()),
        identity_(session_->put_counts[name_]) {}

  [[nodiscard]] uint64_t size_bytes() const override { return size_bytes_; }
  Result<size_t> read(uint64_t offset, std::span<char> out) override {
    const std::lock_guard guard(session_->mutex);
    if (session_->put_counts[name_] != identity_ || session_->dropped) {
      return Status(Code::kGone, "'" + name_ + "' was replaced");
    }
    const std::string_view text =
        std::string_view(session_->documents[name_]).substr(0, size_bytes_);
    if (offset >= text.size()) return size_t{0};
    return text.copy(out.data(), out.size(), static_cast<size_t>(offset));
  }
  [[nodiscard]] uint64_t identity() const override { return identity_; }

 private:
  std::shared_ptr<MemorySession> session_;
  std::string name_;
  uint64_t size_bytes_;
  uint64_t identity_;
};

}  // namespace

std::string& MemoryStorage::stream_of(Stream stream) {
  const std::array streams = {&session_->entries, &session_->tombstones, &session_->quarantine,
                              &session_->vectors};
  return *streams[static_cast<size_t>(stream)];
}

Status MemoryStorage::refuse_if_dropped() const {
  return session_->dropped ? Status(Code::kNotFound, "the session was deleted") : Status();
}

std::string MemoryStorage::name_of(Stream stream) const {
  return "memory:" + std::string(file_of(stream));
}

Result<Tail> MemoryStorage::tail() {
  const std::lock_guard guard(session_->mutex);
  VARVE_TRY(refuse_if_dropped());
  return Tail{session_->generation, session_->entries.size(), session_->tombstones.size()};
}

Result<VectorsTail> MemoryStorage::vectors_tail() {
  const std::lock_guard guard(session_->mutex);
  VARVE_TRY(refuse_if_dropped());
  return VectorsTail{session_->vectors_generation, session_->vectors.size()};
}

Result<size_t> MemoryStorage::read(Stream stream, uint64_t generation, uint64_t offset,
                                   std::span<char> out) {
  const std::lock_guard guard(session_->mutex);
  const bool is_vectors = stream == Stream::kVectors;
  if (generation != (is_vectors ? session_->vectors_generation : session_->generation)) {
    return replaced();
  }
  const std::string& bytes = stream_of(stream);
  if (offset >= bytes.size()) return size_t{0};
  const size_t count = std::min<size_t>(out.size(), bytes.size() - offset);
  std::copy_n(bytes.data() + offset, count, out.data());
  return count;
}

Result<std::string> MemoryStorage::get_document(std::string_view name) {
  const std::lock_guard guard(session_->mutex);
  if (name == kVectorsFile && !session_->vectors.empty()) return session_->vectors;
  const auto found = session_->documents.find(name);
  if (found == session_->documents.end()) {
    return Status(Code::kNotFound, "there is no '" + std::string(name) + "'");
  }
  return found->second;
}

uint64_t MemoryStorage::document_mark(std::string_view name) {
  const std::lock_guard guard(session_->mutex);
  const auto put = session_->put_counts.find(name);
  return 1 + (put != session_->put_counts.end() ? put->second : 0);
}

Result<std::unique_ptr<DocumentView>> MemoryStorage::open_document(std::string_view name) {
  const std::lock_guard guard(session_->mutex);
  if (!session_->documents.contains(name)) {
    return Status(Code::kNotFound, "there is no '" + std::string(name) + "'");
  }
  return std::unique_ptr<DocumentView>(std::make_unique<TextView>(session_, name));
}

Result<std::vector<StoredFile>> MemoryStorage::files() { return std::vector<StoredFile>(); }

DurableMark MemoryStorage::durable_mark() {
  const std::lock_guard guard(session_->mutex);
  return {session_->entries.size(), session_->last_seq};
}

Status MemoryStorage::lock(int64_t deadline_us, std::string_view, bool* waited) {
  std::unique_lock guard(session_->mutex);
  const auto is_free = [this] { return !session_->is_locked; };
  if (!is_free()) {
    if (waited != nullptr) *waited = true;
    guard.unlock();  // the clock may be the host's
    const int64_t left_us = std::max<int64_t>(0, deadline_us - clock_.monotonic_us());
    guard.lock();
    const std::chrono::microseconds left(left_us);
    if (!session_->lock_given_back.wait_for(guard, left, is_free)) {
      return {Code::kBusy, "another writer holds the session's lock; try again later"};
    }
  }
  VARVE_TRY(refuse_if_dropped());
  session_->is_locked = true;
  holds_lock_ = true;
  return {};
}

void MemoryStorage::unlock() noexcept {
  if (!holds_lock_) return;
  holds_lock_ = false;
  {
    const std::lock_guard guard(session_->mutex);
    session_->is_locked = false;
  }
  session_->lock_given_back.notify_all();  // one that finds the session dropped passes nothing on
}

Status MemoryStorage::append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool,
                             uint64_t last_seq, const Meanwhile&) {
  const std::lock_guard guard(session_->mutex);
  std::string& bytes = stream_of(stream);
  if (stream != Stream::kQuarantine && bytes.size() != expected_bytes) {
    return {Code::kConflict, "the log grew meanwhile"};
  }
  bytes.append(lines);
  session_->last_seq = std::max(session_->last_seq, last_seq);
  return {};
}

Status MemoryStorage::sync(uint64_t last_seq) {
  const std::lock_guard guard(session_->mutex);
  session_->last_seq = std::max(session_->last_seq, last_seq);
  return {};
}

Status MemoryStorage::truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) {
  const std::lock_guard guard(session_->mutex);
  if (stream_of(stream).size() != expected_bytes) {
    return {Code::kConflict, "the log grew meanwhile"};
  }
  stream_of(stream).resize(std::min<size_t>(stream_of(stream).size(), size_bytes));
  return {};
}

Status MemoryStorage::replace(Stream stream, std::optional<uint64_t> expected_bytes,
                              const std::function<Status(Sink&)>& produce) {
  TextSink sink;
  VARVE_TRY(produce(sink));
  const std::lock_guard guard(session_->mutex);
  if (expected_bytes && stream_of(stream).size() != *expected_bytes) {
    return {Code::kConflict, "the log grew meanwhile"};
  }
  stream_of(stream) = std::move(sink.text);
  (stream == Stream::kVectors ? session_->vectors_generation : session_->generation) += 1;
  return {};
}

Status MemoryStorage::remove_vectors() {
  const std::lock_guard guard(session_->mutex);
  release_memory(&session_->vectors);
  session_->vectors_generation += 1;
  return {};
}

Status MemoryStorage::remove_residue(std::span<const std::string_view> documents) {
  const std::lock_guard guard(session_->mutex);
  session_->quarantine.clear();
  for (const auto name : documents) {
    session_->documents.erase(std::string(name));
    session_->put_counts[std::string(name)] += 1;
  }
  return {};
}

Status MemoryStorage::remove_document(std::string_view name) {
  const std::lock_guard guard(session_->mutex);
  session_->documents.erase(std::string(name));
  session_->put_counts[std::string(name)] += 1;
  return {};
}

Status MemoryStorage::put_document(std::string_view name, std::string_view bytes,
                                   DocumentDurability) {
  const std::lock_guard guard(session_->mutex);
  session_->documents.insert_or_assign(std::string(name), std::string(bytes));
  session_->put_counts[std::string(name)] += 1;
  return {};
}

Status MemoryStorage::append_to_transcript(uint64_t expected_bytes, std::string_view bytes, bool) {
  const std::lock_guard guard(session_->mutex);
  std::string& text = session_->documents[std::string(kTranscriptFile)];
  if (text.size() != expected_bytes) return {Code::kConflict, "the transcript grew meanwhile"};
  text.append(bytes);
  return {};
}

}  // namespace varve::log
