// SQLite: one table and its indexes, WAL, prepared statements; with FTS5 also an index of the
// words, stemmed as English, whose content is a view of the table (an "external content table",
// which stores no text a second time). Durable is synchronous=FULL, which in WAL syncs every
// commit; buffered is synchronous=OFF (sqlite.org/pragma.html#pragma_synchronous).
#include <sqlite3.h>

#include "rival.h"

namespace varve::bench {

namespace {

constexpr int kBusyTimeoutMs = 60'000;  // for those who add at the same time

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS entries(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL, time INTEGER NOT NULL, importance REAL NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tags(tag TEXT NOT NULL, time INTEGER NOT NULL, number INTEGER NOT NULL,
  type TEXT NOT NULL, PRIMARY KEY(tag, time, number)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_type ON entries(type, time);
CREATE INDEX IF NOT EXISTS by_time ON entries(time, importance);
)";
// The view is read when the index is rebuilt, where FTS5 allows no json_each; the quotes and commas
// of a JSON array separate words as blanks do.
constexpr const char* kTextSchema = R"(
CREATE VIEW IF NOT EXISTS texts_of_entries AS
  SELECT number, json_extract(body, '$.content.message') || ' ' || json_extract(body, '$.tags')
    AS text FROM entries;
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, content='texts_of_entries',
  content_rowid='number', tokenize='porter unicode61');
)";

constexpr const char* kInsert =
    "INSERT INTO entries(id, type, time, importance, body) VALUES(?, ?, ?, ?, ?)";
constexpr const char* kInsertTag = "INSERT INTO tags(tag, time, number, type) VALUES(?, ?, ?, ?)";
constexpr const char* kInsertText = "INSERT INTO texts(rowid, text) VALUES(?, ?)";
constexpr const char* kSelect = "SELECT body FROM entries WHERE id = ?";
// The inner statements find numbers, in order, by an index that holds all they need; only what is
// in the answer is read from the table.
constexpr const char* kSelectTagged = R"(
SELECT body FROM
  (SELECT number, time FROM tags WHERE tag = ?1 AND time >= ?3 AND time < ?4 AND type = ?2
   ORDER BY time DESC LIMIT 10) AS found
  CROSS JOIN entries USING(number) ORDER BY found.time DESC)";
constexpr const char* kSelectText = R"(
SELECT body FROM
  (SELECT rowid AS number, rank AS score FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10)
    AS found
  CROSS JOIN entries USING(number) ORDER BY found.score)";
constexpr const char* kSelectContextMatches = R"(
SELECT body FROM
  (SELECT rowid AS number, rank AS score FROM texts WHERE texts MATCH ?1 ORDER BY rank LIMIT ?2)
    AS found
  CROSS JOIN entries USING(number) ORDER BY found.score)";
constexpr const char* kSelectNewest = "SELECT body FROM entries ORDER BY time DESC LIMIT ?1";
constexpr const char* kSelectRanked = R"(
SELECT body FROM
  (SELECT number, time, importance * max(?2, exp(-?3 * (?1 - time))) AS score FROM entries
   ORDER BY score DESC, time DESC LIMIT 10) AS found
  CROSS JOIN entries USING(number) ORDER BY found.score DESC, found.time DESC)";

// FTS5 is told the words it shall forget, as its documentation does by a trigger. The tags come
// last: they say which entries are meant. The index of tags is read whole, once, which is cheaper
// than to look up the tags of each entry.
constexpr const char* kDeleteTexts = R"(
INSERT INTO texts(texts, rowid, text) SELECT 'delete', number, text FROM texts_of_entries
  WHERE number IN (SELECT number FROM tags WHERE tag = ?))";
constexpr const char* kDeleteEntries =
    "DELETE FROM entries WHERE number IN (SELECT number FROM tags WHERE tag = ?)";
constexpr const char* kDeleteTags =
    "DELETE FROM tags WHERE number IN (SELECT number FROM tags WHERE tag = ?)";

class SqliteRival final : public Rival {
 public:
  explicit SqliteRival(bool with_text) : with_text_(with_text) {}

  void use_alone() override { is_alone_ = true; }

  void open(const std::string& directory, bool durable) override {
    if (sqlite3_open((directory + "/bench.sqlite").c_str(), &database_) != SQLITE_OK) fail();
    sqlite3_busy_timeout(database_, kBusyTimeoutMs);
    // Before the journal mode: then the index of the WAL is in memory of its own.
    if (is_alone_) run("PRAGMA locking_mode=EXCLUSIVE");
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA cache_size=-65536");  // 64 MB, as the others are given
    run(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    run(kSchema);
    if (with_text_) run(kTextSchema);
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

  void finish_load() override {
    if (with_text_) run("INSERT INTO texts(texts) VALUES('optimize')");
    run("PRAGMA optimize");
    run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  size_t get(const std::string& id) override {
    std::string body;
    sqlite3_stmt* statement = prepared(&select_, kSelect);
    bind(statement, 1, id);
    append_rows(statement, &body);
    if (body.empty()) give_up("SQLite: no entry " + id);
    return body.size();
  }

  size_t delete_tagged(const std::string& tag) override {
    run("BEGIN IMMEDIATE");
    if (with_text_) run(kDeleteTexts, tag);
    run(kDeleteEntries, tag);
    const int count = sqlite3_changes(database_);
    run(kDeleteTags, tag);
    run("COMMIT");
    return static_cast<size_t>(count);
  }

  // The checkpoint brings it from the write-ahead log into the file, which only then gets smaller.
  void compact(const std::string& /*copy_directory*/) override {
    run("VACUUM");
    run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  [[nodiscard]] bool can_rebuild() const override { return true; }

  void rebuild() override {
    run("REINDEX");
    if (with_text_) run("INSERT INTO texts(texts) VALUES('rebuild')");
  }

  bool find_tagged(const TaggedQuery& query, std::string* answer) override {
    sqlite3_stmt* statement = prepared(&select_tagged_, kSelectTagged);
    bind(statement, 1, query.tag);
    bind(statement, 2, query.type);
    sqlite3_bind_int64(statement, 3, query.start_ms);
    sqlite3_bind_int64(statement, 4, query.end_ms);
    append_rows(statement, answer);
    return true;
  }

  bool find_text(const TextQuery& query, std::string* answer) override {
    if (!with_text_) return false;
    const std::string match = match_of(query.words, query.all ? " AND " : " OR ");
    sqlite3_stmt* statement = prepared(&select_text_, kSelectText);
    bind(statement, 1, match);
    append_rows(statement, answer);
    return true;
  }

  bool find_ranked(const RankedQuery& query, std::string* answer) override {
    sqlite3_stmt* statement = prepared(&select_ranked_, kSelectRanked);
    sqlite3_bind_int64(statement, 1, query.now_ms);
    sqlite3_bind_double(statement, 2, kDecayMin);
    sqlite3_bind_double(statement, 3, kDecayPerMs);
    append_rows(statement, answer);
    return true;
  }

  bool build_context(const Question& question, std::string* answer) override {
    if (!with_text_) return false;
    const std::string match = match_of(question.words, " OR ");
    sqlite3_stmt* matches = prepared(&select_context_matches_, kSelectContextMatches);
    bind(matches, 1, match);
    sqlite3_bind_int64(matches, 2, kContextMatches);
    append_rows(matches, answer);
    sqlite3_stmt* newest = prepared(&select_newest_, kSelectNewest);
    sqlite3_bind_int64(newest, 1, kContextNewest);
    append_rows(newest, answer);
    return true;
  }

  // A connection for each thread, as its documentation advises.
  [[nodiscard]] bool adds_from_others() const override { return true; }

  void close() override {
    for (sqlite3_stmt** statement :
         {&insert_, &insert_tag_, &insert_text_, &select_, &select_tagged_, &select_text_,
          &select_ranked_, &select_context_matches_, &select_newest_}) {
      sqlite3_finalize(*statement);
      *statement = nullptr;
    }
    sqlite3_close(database_);
  }

 private:
  [[noreturn]] void fail() { give_up(std::string("SQLite: ") + sqlite3_errmsg(database_)); }

  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  void run(const char* sql, const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    bind(prepared(&statement, sql), 1, text);
    step(statement);
    sqlite3_finalize(statement);
  }

  // Prepared when first used: opening costs only what is asked for.
  sqlite3_stmt* prepared(sqlite3_stmt** statement, const char* sql) {
    if (*statement == nullptr && sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                    statement, nullptr) != SQLITE_OK) {
      fail();
    }
    return *statement;
  }

  static void bind(sqlite3_stmt* statement, int index, const std::string& text) {
    // A null destructor is SQLITE_STATIC: the text outlives the step.
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), nullptr);
  }

  static std::string match_of(const std::vector<std::string>& words, const char* between) {
    std::string match;
    for (const auto& word : words)
      match += (match.empty() ? "\"" : between + std::string("\"")) + word + "\"";
    return match;
  }

  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }

  void append_rows(sqlite3_stmt* statement, std::string* answer) {
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      answer->append(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)),
                     static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
    }
    if (code != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }

  void put(const WorkloadEntry& entry) {
    sqlite3_stmt* statement = prepared(&insert_, kInsert);
    bind(statement, 1, entry.id);
    bind(statement, 2, entry.type);
    sqlite3_bind_int64(statement, 3, entry.timestamp_ms);
    sqlite3_bind_double(statement, 4, entry.importance);
    bind(statement, 5, entry.json);
    step(statement);
    const sqlite3_int64 number = sqlite3_last_insert_rowid(database_);
    for (const auto& tag : entry.tags) put_tag(tag, number, entry);
    if (with_text_) put_text(number, entry);
  }

  void put_tag(const std::string& tag, sqlite3_int64 number, const WorkloadEntry& entry) {
    sqlite3_stmt* statement = prepared(&insert_tag_, kInsertTag);
    bind(statement, 1, tag);
    sqlite3_bind_int64(statement, 2, entry.timestamp_ms);
    sqlite3_bind_int64(statement, 3, number);
    bind(statement, 4, entry.type);
    step(statement);
  }

  void put_text(sqlite3_int64 number, const WorkloadEntry& entry) {
    const std::string text = indexed_text(entry);
    sqlite3_stmt* statement = prepared(&insert_text_, kInsertText);
    sqlite3_bind_int64(statement, 1, number);
    bind(statement, 2, text);
    step(statement);
  }

  bool with_text_;
  bool is_alone_ = false;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* insert_tag_ = nullptr;
  sqlite3_stmt* insert_text_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
  sqlite3_stmt* select_tagged_ = nullptr;
  sqlite3_stmt* select_text_ = nullptr;
  sqlite3_stmt* select_ranked_ = nullptr;
  sqlite3_stmt* select_context_matches_ = nullptr;
  sqlite3_stmt* select_newest_ = nullptr;
};

}  // namespace

std::vector<RivalEntry> sqlite_rivals() {
  constexpr const char* kOpener = "varve_rivals_open_sqlite";
  return {{"SQLite", sqlite3_libversion(), kOpener,
           [] { return std::make_unique<SqliteRival>(false); }},
          {"SQLite+FTS5", sqlite3_libversion(), kOpener,
           [] { return std::make_unique<SqliteRival>(true); }}};
}

}  // namespace varve::bench
