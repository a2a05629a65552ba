// A storage that a test sees at work, and whose answers it may change.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/storage.h"

namespace varve::session {

// Hands everything on, counts what is read, and calls `after_tail` once a tail was seen, and
// `before_append` and `before_replace` each time.
class WatchedStorage final : public log::SessionStorage {
 public:
  explicit WatchedStorage(std::unique_ptr<log::SessionStorage> inner) : inner_(std::move(inner)) {}

  Result<log::Tail> tail() override {
    auto tail = inner_->tail();
    if (after_tail) std::exchange(after_tail, nullptr)();
    if (tail.ok() && change_tail) return change_tail(*tail);
    return tail;
  }
  Result<log::VectorsTail> vectors_tail() override { return inner_->vectors_tail(); }
  Status remove_vectors() override { return inner_->remove_vectors(); }
  Result<size_t> read(log::Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override {
    read_bytes += out.size();
    auto got = read_instead ? read_instead(stream, offset, out)
                            : inner_->read(stream, generation, offset, out);
    if (got.ok() && change_read) return change_read(stream, offset, *got);
    return got;
  }
  Result<std::string> get_document(std::string_view name) override {
    return inner_->get_document(name);
  }
  Result<std::unique_ptr<log::DocumentView>> open_document(std::string_view name) override {
    return inner_->open_document(name);
  }
  Result<std::vector<log::StoredFile>> files() override { return inner_->files(); }
  log::DurableMark durable_mark() override { return inner_->durable_mark(); }
  log::LockHolder lock_holder() override { return inner_->lock_holder(); }
  [[nodiscard]] log::Undurable undurable() const override { return inner_->undurable(); }
  void set_sync_histogram(Histogram* histogram) override { inner_->set_sync_histogram(histogram); }
  void set_work_while_waiting(std::function<void()> work) override {
    inner_->set_work_while_waiting(std::move(work));
  }
  [[nodiscard]] bool writable() const override { return inner_->writable(); }
  [[nodiscard]] std::string name_of(log::Stream stream) const override {
    return inner_->name_of(stream);
  }
  std::shared_ptr<const void> keep_open(log::Stream stream) override {
    return inner_->keep_open(stream);
  }
  Status lock(int64_t deadline_us, std::string_view operation, bool* waited) override {
    return inner_->lock(deadline_us, operation, waited);
  }
  void unlock() noexcept override { inner_->unlock(); }
  Result<log::Tail> locked_tail() override { return inner_->locked_tail(); }
  using SessionStorage::append;
  Status append(log::Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override {
    if (before_append) before_append();
    return inner_->append(stream, expected_bytes, lines, durable, last_seq, [&] {
      if (while_syncing) while_syncing();
      if (meanwhile) meanwhile();
    });
  }
  Status sync(uint64_t last_seq) override { return inner_->sync(last_seq); }
  Status truncate(log::Stream stream, uint64_t expected_bytes, uint64_t size_bytes) override {
    return inner_->truncate(stream, expected_bytes, size_bytes);
  }
  using SessionStorage::replace;
  Status replace(log::Stream stream, std::optional<uint64_t> expected_bytes,
                 const std::function<Status(log::Sink&)>& produce) override {
    if (before_replace) before_replace(stream);
    return inner_->replace(stream, expected_bytes, produce);
  }
  Status remove_document(std::string_view name) override { return inner_->remove_document(name); }
  Status remove_residue(std::span<const std::string_view> documents) override {
    return inner_->remove_residue(documents);
  }
  Status put_document(std::string_view name, std::string_view bytes,
                      log::DocumentDurability durability) override {
    return inner_->put_document(name, bytes, durability);
  }
  Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                              bool durable) override {
    return inner_->append_to_transcript(expected_bytes, bytes, durable);
  }

  std::function<void()> after_tail;  // once
  std::function<void()> before_append;
  std::function<void(log::Stream)> before_replace;
  std::function<void()> while_syncing;  // with the lines in the stream, and not in the index
  // Instead of what the storage answered.
  std::function<Result<log::Tail>(const log::Tail&)> change_tail;
  std::function<Result<size_t>(log::Stream, uint64_t offset, size_t got)> change_read;
  std::function<Result<size_t>(log::Stream, uint64_t offset, std::span<char> out)> read_instead;
  std::atomic<uint64_t> read_bytes{0};

 private:
  std::unique_ptr<log::SessionStorage> inner_;
};

}  // namespace varve::session
