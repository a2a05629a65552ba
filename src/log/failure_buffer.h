// FailureBuffer: a session's storage that accepts entries while its disk does not.
//
// Lines that the storage below refuses because of the disk (kIo, kNoSpace) are kept in memory,
// behind those on the disk, where every reader of this object finds them. Each later write and sync
// first tries to write them. Until that works, the lock below stays held: another process that
// wrote meanwhile would take the lines' place in the log. Others wait, and are told who holds the
// lock.
//
// What is kept is lost when the process ends before the disk recovers: the host that asks for this
// prefers an agent that goes on. Only entries are kept. Deletions, and whatever replaces a file,
// fail as they would without the buffer. When the storage below does not know what it wrote (it
// then refuses all later writes), nothing is kept.
//
// threads:  as in SessionStorage.
// memory:   up to `bytes_max` of lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/storage.h"

namespace varve::log {

class FailureBuffer final : public SessionStorage {
 public:
  FailureBuffer(std::unique_ptr<SessionStorage> below, uint64_t bytes_max);
  ~FailureBuffer() override;  // loses what is still kept
  FailureBuffer(const FailureBuffer&) = delete;
  FailureBuffer& operator=(const FailureBuffer&) = delete;

  Result<Tail> tail() override;
  Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override;
  Result<std::string> get_document(std::string_view name) override;
  Result<VectorsTail> vectors_tail() override;
  Result<std::unique_ptr<DocumentView>> open_document(std::string_view name) override;
  Result<std::vector<StoredFile>> files() override;
  DurableMark durable_mark() override;
  Status check_name() override { return below_->check_name(); }
  LockHolder lock_holder() override;
  [[nodiscard]] bool writable() const override;
  [[nodiscard]] std::string name_of(Stream stream) const override;
  std::shared_ptr<const void> keep_open(Stream stream) override;
  [[nodiscard]] Undurable undurable() const override;

  Status lock(int64_t deadline_us, std::string_view operation, bool* waited) override;
  void unlock() noexcept override;
  void keep_lock() override { below_->keep_lock(); }
  void stop_keeping_lock() override { below_->stop_keeping_lock(); }
  Result<Tail> locked_tail() override;
  [[nodiscard]] bool was_locked_by_others() const override {
    return below_->was_locked_by_others();
  }
  uint64_t document_mark(std::string_view name) override { return below_->document_mark(name); }
  using SessionStorage::append;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override;
  Status sync(uint64_t last_seq) override;
  Status truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) override;
  using SessionStorage::replace;
  Status replace(Stream stream, std::optional<uint64_t> expected_bytes,
                 const std::function<Status(Sink&)>& produce) override;
  Status remove_document(std::string_view name) override;
  Status remove_residue(std::span<const std::string_view> documents) override;
  Status remove_vectors() override;
  Status put_document(std::string_view name, std::string_view bytes,
                      DocumentDurability durability) override;
  Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                              bool durable) override;
  [[nodiscard]] bool is_noted() const override { return below_->is_noted(); }
  void set_noted() override { below_->set_noted(); }
  [[nodiscard]] uint64_t catalogued_count() const override { return below_->catalogued_count(); }
  Status mark_catalogued() override { return below_->mark_catalogued(); }
  void set_sync_histogram(Histogram* histogram) override;
  void set_work_while_waiting(std::function<void()> work) override;

 private:
  // What goes to the disk in one write. Nothing goes behind a batch (session/writer.cpp).
  struct Write {
    uint64_t bytes = 0;
    uint64_t last_seq = 0;
    bool ends_in_batch = false;
  };

  Status write_held();
  Status write_first();
  Status hold(uint64_t expected_bytes, std::string_view lines, uint64_t last_seq, Status failure);
  void add_write(const Write& added);
  [[nodiscard]] std::string_view kept() const { return std::string_view(held_).substr(taken_); }
  [[nodiscard]] uint64_t held_bytes() const;
  [[nodiscard]] bool holds() const { return held_bytes() > 0; }

  const std::unique_ptr<SessionStorage> below_;
  const uint64_t bytes_max_;
  bool is_locked_ = false;        // the lock below is held
  bool held_is_durable_ = false;  // as the caller asked
  std::deque<Write> writes_;      // of what is kept

  mutable std::mutex mutex_;  // guards what follows
  std::string held_;
  size_t taken_ = 0;  // [bytes] of it, from the first on, that the disk has by now
  std::string reason_;
  uint64_t held_start_bytes_ = 0;  // where what is kept begins in the log
  // How often the disk took what was kept. Changed under the mutex.
  std::atomic<uint64_t> written_count_{0};
};

}  // namespace varve::log
