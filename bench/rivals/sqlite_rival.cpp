// SQLite: one table and its indexes, WAL, prepared statements. Durable is synchronous=FULL, which
// in WAL syncs every commit; buffered is synchronous=OFF
// (sqlite.org/pragma.html#pragma_synchronous).
#include <sqlite3.h>

#include "rival.h"

namespace varve::bench {

namespace {

class SqliteRival final : public Rival {
 public:
  void open(const std::string& directory, bool durable) override {
    if (sqlite3_open((directory + "/bench.sqlite").c_str(), &database_) != SQLITE_OK) fail();
    run("PRAGMA journal_mode=WAL");
    run(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    run("CREATE TABLE IF NOT EXISTS entries(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " type TEXT NOT NULL, time INTEGER NOT NULL, importance REAL NOT NULL,"
        " body TEXT NOT NULL)");
    run("CREATE TABLE IF NOT EXISTS tags(tag TEXT NOT NULL, number INTEGER NOT NULL,"
        " PRIMARY KEY(tag, number)) WITHOUT ROWID");
    run("CREATE INDEX IF NOT EXISTS by_type ON entries(type, time)");
    run("CREATE INDEX IF NOT EXISTS by_time ON entries(time)");
    insert_ = prepare("INSERT INTO entries(id,type,time,importance,body) VALUES(?,?,?,?,?)");
    insert_tag_ = prepare("INSERT OR IGNORE INTO tags(tag,number) VALUES(?,?)");
    select_ = prepare("SELECT body FROM entries WHERE id=?");
  }

  void add(const WorkloadEntry& entry) override {
    run("BEGIN IMMEDIATE");
    put(entry);
    run("COMMIT");
  }

  void add_all(const std::vector<WorkloadEntry>& entries) override {
    run("BEGIN IMMEDIATE");
    for (const auto& entry : entries) put(entry);
    run("COMMIT");
  }

  size_t get(const std::string& id) override {
    bind(select_, 1, id);
    if (sqlite3_step(select_) != SQLITE_ROW) fail();
    const std::string body(reinterpret_cast<const char*>(sqlite3_column_text(select_, 0)),
                           static_cast<size_t>(sqlite3_column_bytes(select_, 0)));
    sqlite3_reset(select_);
    return body.size();
  }

  void rebuild() override { run("REINDEX"); }

  void close() override {
    for (sqlite3_stmt* statement : {insert_, insert_tag_, select_}) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }

 private:
  [[noreturn]] void fail() { give_up(std::string("SQLite: ") + sqlite3_errmsg(database_)); }

  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
      fail();
    }
    return statement;
  }

  static void bind(sqlite3_stmt* statement, int index, const std::string& text) {
    // A null destructor is SQLITE_STATIC: the text outlives the step.
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), nullptr);
  }

  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }

  void put(const WorkloadEntry& entry) {
    bind(insert_, 1, entry.id);
    bind(insert_, 2, entry.type);
    sqlite3_bind_int64(insert_, 3, entry.timestamp_ms);
    sqlite3_bind_double(insert_, 4, entry.importance);
    bind(insert_, 5, entry.json);
    step(insert_);
    const sqlite3_int64 number = sqlite3_last_insert_rowid(database_);
    for (const auto& tag : entry.tags) {
      bind(insert_tag_, 1, tag);
      sqlite3_bind_int64(insert_tag_, 2, number);
      step(insert_tag_);
    }
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* insert_tag_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
};

}  // namespace

RivalEntry sqlite_rival() {
  return {"SQLite", sqlite3_libversion(), [] { return std::make_unique<SqliteRival>(); }};
}

}  // namespace varve::bench
