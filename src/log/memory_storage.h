// MemoryStorage: a session kept in memory, for "memory:" stores. Within one process it behaves like
// a session in a directory; nothing is on disk.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/environment.h"
#include "log/storage.h"

namespace varve::log {

// What outlives the closing of a session: owned by the engine, shared by every open storage.
struct MemorySession {
  std::mutex mutex;  // guards everything
  std::string entries;
  std::string tombstones;
  std::string quarantine;
  std::string vectors;
  std::map<std::string, std::string, std::less<>> documents;
  std::map<std::string, uint64_t, std::less<>> put_counts;  // how often each document was put
  uint64_t generation = 1;
  uint64_t vectors_generation = 1;
  uint64_t last_seq = 0;
  bool dropped = false;
  bool is_locked = false;  // by a writer
  std::condition_variable lock_given_back;
};

class MemoryStorage : public SessionStorage {
 public:
  MemoryStorage(std::shared_ptr<MemorySession> session, Clock& clock)
      : session_(std::move(session)), clock_(clock) {}
  // Gives the lock back, if an exception kept the holder from doing so.
  ~MemoryStorage() override { unlock(); }
  MemoryStorage(const MemoryStorage&) = delete;
  MemoryStorage& operator=(const MemoryStorage&) = delete;

  Result<Tail> tail() override;
  Result<VectorsTail> vectors_tail() override;
  Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override;
  Result<std::string> get_document(std::string_view name) override;
  Result<std::unique_ptr<DocumentView>> open_document(std::string_view name) override;
  uint64_t document_mark(std::string_view name) override;
  Result<std::vector<StoredFile>> files() override;
  DurableMark durable_mark() override;
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::string name_of(Stream stream) const override;

  Status lock(int64_t deadline_us, std::string_view operation, bool* waited) override;
  void unlock() noexcept override;
  using SessionStorage::append;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override;
  Status sync(uint64_t last_seq) override;
  Status truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) override;
  using SessionStorage::replace;
  Status replace(Stream stream, std::optional<uint64_t> expected_bytes,
                 const std::function<Status(Sink&)>& produce) override;
  Status remove_vectors() override;
  Status remove_document(std::string_view name) override;
  Status remove_residue(std::span<const std::string_view> documents) override;
  Status put_document(std::string_view name, std::string_view bytes,
                      DocumentDurability durability) override;
  Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                              bool durable) override;

 private:
  std::string& stream_of(Stream stream);
  Status refuse_if_dropped() const;

  std::shared_ptr<MemorySession> session_;
  Clock& clock_;
  bool holds_lock_ = false;
};

}  // namespace varve::log
