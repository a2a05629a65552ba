// RocksDB: the options of its wiki's "Setup Options and Basic Tuning". Durable is
// WriteOptions::sync. A load goes past the write-ahead log and is compacted once, as its FAQ
// advises.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "sorted_rival.h"

namespace varve::bench {

namespace {

constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr double kFilterBitsPerKey = 10;

rocksdb::Options options_of_wiki() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_background_jobs = 6;
  options.bytes_per_sync = 1 << 20;
  options.compaction_pri = rocksdb::kMinOverlappingRatio;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class RocksDbEngine {
 public:
  static constexpr const char* kName = "RocksDB";
  using Slice = rocksdb::Slice;
  using Batch = rocksdb::WriteBatch;

  void open(const std::string& directory) {
    rocksdb::DB* database = nullptr;
    check(rocksdb::DB::Open(options_of_wiki(), directory, &database), "open");
    database_.reset(database);
  }

  void close() { database_.reset(); }

  rocksdb::DB& database() { return *database_; }

  std::unique_ptr<rocksdb::Iterator> cursor() {
    return std::unique_ptr<rocksdb::Iterator>(database_->NewIterator({}));
  }

  static rocksdb::WriteOptions write_options(bool durable) {
    rocksdb::WriteOptions options;
    options.sync = durable;
    return options;
  }

  static rocksdb::WriteOptions load_options() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return options;
  }

  void compact() {
    check(database_->Flush({}), "flush");
    check(database_->CompactRange({}, nullptr, nullptr), "compact");
  }

 private:
  static void check(const rocksdb::Status& status, const char* action) {
    if (!status.ok()) give_up(std::string("RocksDB: ") + action + ": " + status.ToString());
  }

  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace

std::vector<RivalEntry> rocksdb_rivals() {
  return {{"RocksDB", rocksdb::GetRocksVersionAsString(), "varve_rivals_open_rocksdb",
           [] { return std::make_unique<SortedRival<RocksDbEngine>>(); }}};
}

}  // namespace varve::bench
