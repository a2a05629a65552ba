// LevelDB: a Bloom filter and a block cache, as doc/index.md advises; Snappy, its default. Durable
// is WriteOptions::sync.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "sorted_rival.h"

namespace varve::bench {

namespace {

constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr int kFilterBitsPerKey = 10;

class LevelDbEngine {
 public:
  static constexpr const char* kName = "LevelDB";
  using Slice = leveldb::Slice;
  using Batch = leveldb::WriteBatch;

  void open(const std::string& directory) {
    filter_.reset(leveldb::NewBloomFilterPolicy(kFilterBitsPerKey));
    cache_.reset(leveldb::NewLRUCache(kCacheBytes));
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = filter_.get();
    options.block_cache = cache_.get();
    leveldb::DB* database = nullptr;
    const leveldb::Status opened = leveldb::DB::Open(options, directory, &database);
    if (!opened.ok()) give_up("LevelDB: open: " + opened.ToString());
    database_.reset(database);
  }

  void close() {
    database_.reset();
    cache_.reset();
    filter_.reset();
  }

  leveldb::DB& database() { return *database_; }

  std::unique_ptr<leveldb::Iterator> cursor() {
    return std::unique_ptr<leveldb::Iterator>(database_->NewIterator({}));
  }

  static leveldb::WriteOptions write_options(bool durable) {
    leveldb::WriteOptions options;
    options.sync = durable;
    return options;
  }

  static leveldb::WriteOptions load_options() { return {}; }

  void compact() { database_->CompactRange(nullptr, nullptr); }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<leveldb::DB> database_;  // last: it uses the others
};

}  // namespace

std::vector<RivalEntry> leveldb_rivals() {
  const std::string version =
      std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  return {{"LevelDB", version, "varve_rivals_open_leveldb",
           [] { return std::make_unique<SortedRival<LevelDbEngine>>(); }}};
}

}  // namespace varve::bench
