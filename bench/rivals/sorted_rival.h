// LevelDB and RocksDB, which share an interface: one key space, in which the first byte says which
// index of keys.h a key belongs to. Engine supplies what differs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keys.h"
#include "rival.h"

namespace varve::bench {

constexpr char kColumnKey = 'c';
constexpr char kEntryKey = 'e';
constexpr char kTimeKey = 'm';
constexpr char kTagKey = 't';
constexpr char kTypeKey = 'y';

template <typename Engine>
class SortedRival final : public Rival {
  using Slice = typename Engine::Slice;
  using Batch = typename Engine::Batch;

 public:
  void open(const std::string& directory, bool durable) override {
    engine_.open(directory);
    durable_ = durable;
  }

  void add(const WorkloadEntry& entry) override {
    Batch batch;
    put(&batch, entry);
    check(engine_.database().Write(engine_.write_options(durable_), &batch), "add");
  }

  void add_all(const std::vector<WorkloadEntry>& entries) override {
    Batch batch;
    for (const auto& entry : entries) put(&batch, entry);
    check(engine_.database().Write(engine_.write_options(durable_), &batch), "add all");
  }

  // Batches of some hundred kilobytes: larger ones gain nothing, and are held in memory twice.
  void load(const std::vector<WorkloadEntry>& entries) override {
    constexpr size_t kBatchCount = 500;
    Batch batch;
    for (size_t i = 0; i < entries.size(); ++i) {
      put(&batch, entries[i]);
      if (i % kBatchCount < kBatchCount - 1 && i + 1 < entries.size()) continue;
      check(engine_.database().Write(engine_.load_options(), &batch), "load");
      batch.Clear();
    }
  }

  void finish_load() override { engine_.compact(); }

  [[nodiscard]] bool adds_from_threads() const override { return true; }

  size_t get(const std::string& id) override {
    std::string body;
    append(id, &body);
    return body.size();
  }

  size_t delete_tagged(const std::string& tag) override {
    const std::string prefix = kTagKey + index_prefix(tag);
    const auto cursor = engine_.cursor();
    Batch batch;
    std::string body;
    size_t count = 0;
    for (cursor->Seek(prefix); cursor->Valid() && view_of(cursor->key()).starts_with(prefix);
         cursor->Next()) {
      WorkloadEntry entry =
          entry_of_key(view_of(cursor->key()), prefix.size(), view_of(cursor->value()));
      body.clear();
      append(entry.id, &body);
      entry.tags = tags_in(body);
      remove(&batch, entry);
      ++count;
    }
    check(engine_.database().Write(engine_.write_options(durable_), &batch), "delete");
    return count;
  }

  void compact(const std::string& /*copy_directory*/) override { engine_.compact(); }

  bool find_tagged(const TaggedQuery& query, std::string* answer) override {
    const std::string prefix = kTagKey + index_prefix(query.tag);
    const std::string start = prefix + time_bytes(query.start_ms);
    const std::string end = prefix + time_bytes(query.end_ms);
    const auto cursor = engine_.cursor();
    cursor->Seek(end);
    cursor->Valid() ? cursor->Prev() : cursor->SeekToLast();
    size_t count = 0;
    for (; cursor->Valid() && view_of(cursor->key()) >= start && count < kAnswersMax;
         cursor->Prev()) {
      if (view_of(cursor->value()) != query.type) continue;
      append(view_of(cursor->key()).substr(prefix.size() + kTimeBytes), answer);
      ++count;
    }
    return true;
  }

  bool find_ranked(const RankedQuery& query, std::string* answer) override {
    BestIds best(query);
    const auto cursor = engine_.cursor();
    for (cursor->Seek(std::string(1, kColumnKey));
         cursor->Valid() && cursor->key()[0] == kColumnKey; cursor->Next()) {
      best.offer(view_of(cursor->key()).substr(1), cursor->value().data());
    }
    for (const auto& id : best.ids()) append(id, answer);
    return true;
  }

  void close() override { engine_.close(); }

 private:
  static std::string_view view_of(const Slice& slice) { return {slice.data(), slice.size()}; }

  template <typename Status>
  static void check(const Status& status, const char* action) {
    if (!status.ok())
      give_up(std::string(Engine::kName) + ": " + action + ": " + status.ToString());
  }

  void append(std::string_view id, std::string* answer) {
    std::string key(1, kEntryKey);
    key += id;
    std::string body;
    check(engine_.database().Get({}, key, &body), "get");
    answer->append(body);
  }

  static void put(Batch* batch, const WorkloadEntry& entry) {
    batch->Put(kEntryKey + entry.id, entry.json);
    for (const auto& tag : entry.tags) batch->Put(kTagKey + index_key(tag, entry), entry.type);
    batch->Put(kTypeKey + index_key(entry.type, entry), "");
    batch->Put(kTimeKey + time_bytes(entry.timestamp_ms) + entry.id, "");
    batch->Put(kColumnKey + entry.id, column_bytes(entry));
  }

  static void remove(Batch* batch, const WorkloadEntry& entry) {
    batch->Delete(kEntryKey + entry.id);
    for (const auto& tag : entry.tags) batch->Delete(kTagKey + index_key(tag, entry));
    batch->Delete(kTypeKey + index_key(entry.type, entry));
    batch->Delete(kTimeKey + time_bytes(entry.timestamp_ms) + entry.id);
    batch->Delete(kColumnKey + entry.id);
  }

  Engine engine_;
  bool durable_ = false;
};

}  // namespace varve::bench
