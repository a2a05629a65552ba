// LMDB: entries by id, and one sorted index each for type, tag and time. Durable is the default;
// buffered is MDB_NOSYNC. Reads use one read transaction, renewed for every get, as lmdb.h advises.
#include <lmdb.h>

#include <cstdio>

#include <array>

#include "rival.h"

namespace varve::bench {

namespace {

constexpr size_t kMapBytes = size_t{8} << 30;

void check(int code, const char* action) {
  if (code != 0) give_up(std::string("LMDB: ") + action + ": " + mdb_strerror(code));
}

MDB_val value_of(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }

std::string time_key(int64_t time_ms) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(time_ms));
  return text.data();
}

class LmdbRival final : public Rival {
 public:
  void open(const std::string& directory, bool durable) override {
    check(mdb_env_create(&environment_), "create");
    check(mdb_env_set_maxdbs(environment_, 4), "set databases");
    check(mdb_env_set_mapsize(environment_, kMapBytes), "set size");
    check(mdb_env_open(environment_, directory.c_str(), durable ? 0u : MDB_NOSYNC, 0600), "open");
    MDB_txn* transaction = begin(0);
    check(mdb_dbi_open(transaction, "entries", MDB_CREATE, &entries_), "open entries");
    check(mdb_dbi_open(transaction, "types", MDB_CREATE | MDB_DUPSORT, &types_), "open types");
    check(mdb_dbi_open(transaction, "tags", MDB_CREATE | MDB_DUPSORT, &tags_), "open tags");
    check(mdb_dbi_open(transaction, "times", MDB_CREATE | MDB_DUPSORT, &times_), "open times");
    check(mdb_txn_commit(transaction), "commit");
    reader_ = begin(MDB_RDONLY);
    mdb_txn_reset(reader_);
  }

  void add(const WorkloadEntry& entry) override {
    MDB_txn* transaction = begin(0);
    put(transaction, entry);
    check(mdb_txn_commit(transaction), "commit");
  }

  void add_all(const std::vector<WorkloadEntry>& entries) override {
    MDB_txn* transaction = begin(0);
    for (const auto& entry : entries) put(transaction, entry);
    check(mdb_txn_commit(transaction), "commit");
  }

  size_t get(const std::string& id) override {
    check(mdb_txn_renew(reader_), "renew");
    MDB_val key = value_of(id);
    MDB_val found{};
    check(mdb_get(reader_, entries_, &key, &found), "get");
    const std::string body(static_cast<const char*>(found.mv_data), found.mv_size);
    mdb_txn_reset(reader_);
    return body.size();
  }

  void rebuild() override {}  // measured as a load, see main.cpp

  void close() override {
    mdb_txn_abort(reader_);
    mdb_env_close(environment_);
  }

 private:
  MDB_txn* begin(unsigned flags) {
    MDB_txn* transaction = nullptr;
    check(mdb_txn_begin(environment_, nullptr, flags, &transaction), "begin");
    return transaction;
  }

  static void put_pair(MDB_txn* transaction, MDB_dbi database, const std::string& key,
                       const std::string& value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    const int code = mdb_put(transaction, database, &k, &v, 0);
    if (code != MDB_KEYEXIST) check(code, "put");
  }

  void put(MDB_txn* transaction, const WorkloadEntry& entry) {
    const std::string time = time_key(entry.timestamp_ms);
    put_pair(transaction, entries_, entry.id, entry.json);
    put_pair(transaction, types_, entry.type + time, entry.id);
    put_pair(transaction, times_, time, entry.id);
    for (const auto& tag : entry.tags) put_pair(transaction, tags_, tag, entry.id);
  }

  MDB_env* environment_ = nullptr;
  MDB_txn* reader_ = nullptr;
  MDB_dbi entries_ = 0;
  MDB_dbi types_ = 0;
  MDB_dbi tags_ = 0;
  MDB_dbi times_ = 0;
};

}  // namespace

RivalEntry lmdb_rival() {
  return {"LMDB", mdb_version(nullptr, nullptr, nullptr),
          [] { return std::make_unique<LmdbRival>(); }};
}

}  // namespace varve::bench
