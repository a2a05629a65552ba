// LMDB: entries by id and hand-made indexes (keys.h), a database each. Durable is the default;
// buffered is MDB_NOSYNC. Reads use one read transaction, renewed for every call, as lmdb.h
// advises.
#include <lmdb.h>

#include <string_view>

#include "keys.h"
#include "rival.h"

namespace varve::bench {

namespace {

constexpr size_t kMapBytes = size_t{64} << 30;

void check(int code, const char* action) {
  if (code != 0) give_up(std::string("LMDB: ") + action + ": " + mdb_strerror(code));
}

MDB_val value_of(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }

std::string_view view_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// A cursor of one read. Steps answer false at the end of the database.
class Cursor {
 public:
  Cursor(MDB_txn* transaction, MDB_dbi database) {
    check(mdb_cursor_open(transaction, database, &cursor_), "open cursor");
  }
  ~Cursor() { mdb_cursor_close(cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  bool step(MDB_cursor_op operation) { return move(operation); }

  // To the first key not below `start`.
  bool seek(const std::string& start) {
    key_ = value_of(start);
    return move(MDB_SET_RANGE);
  }

  // To the last key below `limit`.
  bool seek_below(const std::string& limit) {
    return seek(limit) ? move(MDB_PREV) : move(MDB_LAST);
  }

  [[nodiscard]] std::string_view key() const { return view_of(key_); }
  [[nodiscard]] std::string_view value() const { return view_of(value_); }

 private:
  bool move(MDB_cursor_op operation) {
    const int code = mdb_cursor_get(cursor_, &key_, &value_, operation);
    if (code == MDB_NOTFOUND) return false;
    check(code, "move cursor");
    return true;
  }

  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{};
  MDB_val value_{};
};

class LmdbRival final : public Rival {
 public:
  void open(const std::string& directory, bool durable) override {
    check(mdb_env_create(&environment_), "create");
    check(mdb_env_set_maxdbs(environment_, 5), "set databases");
    check(mdb_env_set_mapsize(environment_, kMapBytes), "set size");
    check(mdb_env_open(environment_, directory.c_str(), durable ? 0u : MDB_NOSYNC, 0600), "open");
    MDB_txn* transaction = begin(0);
    check(mdb_dbi_open(transaction, "entries", MDB_CREATE, &entries_), "open entries");
    check(mdb_dbi_open(transaction, "tags", MDB_CREATE, &tags_), "open tags");
    check(mdb_dbi_open(transaction, "types", MDB_CREATE, &types_), "open types");
    check(mdb_dbi_open(transaction, "times", MDB_CREATE, &times_), "open times");
    check(mdb_dbi_open(transaction, "columns", MDB_CREATE, &columns_), "open columns");
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

  // A second object in one process is what LMDB's documentation forbids: its threads share one.
  [[nodiscard]] bool adds_from_threads() const override { return true; }
  [[nodiscard]] bool adds_from_others() const override { return true; }

  size_t get(const std::string& id) override {
    check(mdb_txn_renew(reader_), "renew");
    std::string body;
    append(id, &body);
    mdb_txn_reset(reader_);
    return body.size();
  }

  size_t delete_tagged(const std::string& tag) override {
    MDB_txn* transaction = begin(0);
    const std::vector<WorkloadEntry> entries = tagged(transaction, tag);
    for (const auto& entry : entries) remove(transaction, entry);
    check(mdb_txn_commit(transaction), "commit");
    return entries.size();
  }

  void compact(const std::string& copy_directory) override {
    check(mdb_env_copy2(environment_, copy_directory.c_str(), MDB_CP_COMPACT), "compact");
  }

  bool find_tagged(const TaggedQuery& query, std::string* answer) override {
    check(mdb_txn_renew(reader_), "renew");
    const std::string prefix = index_prefix(query.tag);
    const std::string start = prefix + time_bytes(query.start_ms);
    {
      Cursor cursor(reader_, tags_);
      size_t count = 0;
      bool found = cursor.seek_below(prefix + time_bytes(query.end_ms));
      for (; found && cursor.key() >= start && count < kAnswersMax; found = cursor.step(MDB_PREV)) {
        if (cursor.value() != query.type) continue;
        append(std::string(cursor.key().substr(prefix.size() + kTimeBytes)), answer);
        ++count;
      }
    }
    mdb_txn_reset(reader_);
    return true;
  }

  bool find_ranked(const RankedQuery& query, std::string* answer) override {
    check(mdb_txn_renew(reader_), "renew");
    BestIds best(query);
    {
      Cursor cursor(reader_, columns_);
      for (bool found = cursor.step(MDB_FIRST); found; found = cursor.step(MDB_NEXT)) {
        best.offer(cursor.key(), cursor.value().data());
      }
    }
    for (const auto& id : best.ids()) append(id, answer);
    mdb_txn_reset(reader_);
    return true;
  }

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

  void append(const std::string& id, std::string* answer) { answer->append(body_of(reader_, id)); }

  std::string_view body_of(MDB_txn* transaction, const std::string& id) {
    MDB_val key = value_of(id);
    MDB_val found{};
    check(mdb_get(transaction, entries_, &key, &found), "get");
    return view_of(found);
  }

  // What the keys of all entries with the tag are made of.
  std::vector<WorkloadEntry> tagged(MDB_txn* transaction, const std::string& tag) {
    const std::string prefix = index_prefix(tag);
    std::vector<WorkloadEntry> entries;
    Cursor cursor(transaction, tags_);
    bool found = cursor.seek(prefix);
    for (; found && cursor.key().starts_with(prefix); found = cursor.step(MDB_NEXT)) {
      entries.push_back(entry_of_key(cursor.key(), prefix.size(), cursor.value()));
      entries.back().tags = tags_in(body_of(transaction, entries.back().id));
    }
    return entries;
  }

  static void put_pair(MDB_txn* transaction, MDB_dbi database, const std::string& key,
                       const std::string& value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    check(mdb_put(transaction, database, &k, &v, 0), "put");
  }

  void put(MDB_txn* transaction, const WorkloadEntry& entry) {
    put_pair(transaction, entries_, entry.id, entry.json);
    for (const auto& tag : entry.tags) {
      put_pair(transaction, tags_, index_key(tag, entry), entry.type);
    }
    put_pair(transaction, types_, index_key(entry.type, entry), "");
    put_pair(transaction, times_, time_bytes(entry.timestamp_ms) + entry.id, "");
    put_pair(transaction, columns_, entry.id, column_bytes(entry));
  }

  static void remove_key(MDB_txn* transaction, MDB_dbi database, const std::string& key) {
    MDB_val k = value_of(key);
    check(mdb_del(transaction, database, &k, nullptr), "delete");
  }

  void remove(MDB_txn* transaction, const WorkloadEntry& entry) {
    remove_key(transaction, entries_, entry.id);
    for (const auto& tag : entry.tags) remove_key(transaction, tags_, index_key(tag, entry));
    remove_key(transaction, types_, index_key(entry.type, entry));
    remove_key(transaction, times_, time_bytes(entry.timestamp_ms) + entry.id);
    remove_key(transaction, columns_, entry.id);
  }

  MDB_env* environment_ = nullptr;
  MDB_txn* reader_ = nullptr;
  MDB_dbi entries_ = 0;
  MDB_dbi tags_ = 0;
  MDB_dbi types_ = 0;
  MDB_dbi times_ = 0;
  MDB_dbi columns_ = 0;
};

}  // namespace

std::vector<RivalEntry> lmdb_rivals() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  mdb_version(&major, &minor, &patch);
  const std::string version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  return {
      {"LMDB", version, "varve_rivals_open_lmdb", [] { return std::make_unique<LmdbRival>(); }}};
}

}  // namespace varve::bench
