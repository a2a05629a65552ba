#include "session/query/query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "query/cursor.h"
#include "query/text_lookup.h"
#include "session/query/query_explanation.h"
#include "session/query/selection.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// A row as it was under the lock, to be read after the lock is released.
struct FoundRow {
  RowPlace place;
  std::string id;
  EntryLine line;    // when the cache has it
  uint64_t seq = 0;  // for a query across sessions; 0: it has none
};

class SessionQuery {
 public:
  SessionQuery(Core& core, const query::Query& query, const SharedQuery* shared,
               double key_min = query::kAllKeys)
      : core_(core),
        query_(query),
        shared_(shared),
        key_min_(key_min),
        rules_(core.decay_rules()),
        clock_ms_(core.context.clock->now_ms()),
        now_ms_(query.now_ms.value_or(clock_ms_)) {
    if (query.has_text()) analyzer_ = core.analyzers.take();
  }
  ~SessionQuery() {
    if (analyzer_) core_.analyzers.give_back(std::move(analyzer_));
  }
  SessionQuery(const SessionQuery&) = delete;
  SessionQuery& operator=(const SessionQuery&) = delete;

  // Words and vectors are ranked by lists and tables of their own, without the order of time.
  static Core::Needs needs_of(const query::Query& query) {
    const bool walks = !query.has_text() && !query.has_vector();
    const bool by_time = query.sort_by == query::SortBy::kTime;
    return {query.has_text(), walks && by_time, walks && !by_time};
  }

  // Calls `use` with a Search that is ready to run, under the index's shared lock, until its answer
  // is not kGone.
  Status with_search(const std::function<Status(query::Search&)>& use) {
    for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
      if (uses_vectors_) {  // first, so that entries of the loaded vectors are in the index
        auto compared = core_.vectors.compare(query_.vector, vector_end_max());
        if (!compared.ok() && shared_ != nullptr) {
          return std::move(compared).status().with_context("session '" + core_.id + "'");
        }
        VARVE_TRY_ASSIGN(similarities_, std::move(compared));
      }
      VARVE_TRY_ASSIGN(ready_, core_.prepare_query(needs_of(query_)));
      Status status = try_search(use);
      if (status.code() == Code::kCorruption && !core_.is_index_from_log()) {
        VARVE_TRY(core_.rebuild());  // a list of index.bin was damaged
      } else if (status.code() != Code::kGone) {
        return status;
      }
    }
    return replaced_too_often();
  }

  // Makes the next search compare the query's vector, if it has one.
  void use_vectors() { uses_vectors_ = query_.has_vector(); }
  [[nodiscard]] uint32_t vector_end() const {
    return static_cast<uint32_t>(similarities_.by_record.size());
  }
  // What lies behind it came after the first page. `key_of` makes the key of a session's id.
  [[nodiscard]] std::optional<uint64_t> end_of(uint64_t (*key_of)(std::string_view)) const {
    const query::RowEnds* ends = shared_ != nullptr ? &shared_->row_ends
                                 : query_.after     ? &query_.after->row_ends
                                                    : nullptr;
    if (ends == nullptr) return std::nullopt;
    const auto end = ends->find(key_of(core_.id));
    return end == ends->end() ? std::nullopt : std::optional(end->second);
  }

  // Fills *found for a row, under the lock. In place: moving a short string copies it.
  void find_row(uint32_t row, FoundRow* found) const {
    found->place = core_.place_of(row);
    found->id = core_.index.id(row);
  }
  // The same for a caller that reads it next: with the cached line, if any, instead of the id.
  void find_line(uint32_t row, FoundRow* found) const {
    found->place = core_.place_of(row);
    found->line = core_.entries.kept_line(found->place);
    if (!found->line) found->id = core_.index.id(row);
  }

  [[nodiscard]] int64_t now_ms() const { return now_ms_; }
  [[nodiscard]] const decay::Rules& rules() const { return *rules_; }

 private:
  // Under the index's lock.
  Result<query::SearchInput> input() {
    query::SearchInput input;
    if (uses_vectors_) {
      VARVE_TRY_ASSIGN(input.vectors,
                       core_.vectors.match(similarities_, core_.index, core_.index_epoch));
    }
    input.index = &core_.index;
    input.query = &query_;
    input.rules = rules_.get();
    input.analyzer = analyzer_.get();
    input.now_ms = now_ms_;
    // Whatever moment ages are computed for, what has expired now stays out.
    input.live_ms = std::max(now_ms_, clock_ms_);
    input.weights = core_.settings.best;
    input.session_id = core_.id;
    input.seq_end_max = end_of(query::seq_end_key);
    if (query_.has_text()) input.row_end_max = ready_.end;
    if (shared_ == nullptr) return input;
    // Until all sessions are counted, the session's own.
    if (shared_->statistics.entry_count > 0) input.statistics = &shared_->statistics;
    input.best_match = shared_->best_match;
    input.key_min = key_min_;
    const auto row_end_max = end_of(query::row_end_key);
    if (row_end_max) {
      input.row_end_max = std::min(*row_end_max, input.row_end_max.value_or(UINT64_MAX));
    }
    if (query_.wants_ranks()) input.rank_keys = &shared_->rank_keys;
    return input;
  }

  [[nodiscard]] std::optional<uint32_t> vector_end_max() const {
    const auto end = end_of(query::vector_end_key);
    if (!end) return std::nullopt;
    return static_cast<uint32_t>(std::min<uint64_t>(*end, UINT32_MAX));
  }

  [[nodiscard]] bool is_ready() const {
    return core_.check_whole().ok() && core_.index.has_facets() &&
           (!query_.has_text() || (core_.index.has_text() && core_.index_epoch == ready_.epoch));
  }

  Status try_search(const std::function<Status(query::Search&)>& use) {
    VARVE_TRY(search(use));
    const std::shared_lock lock(core_.index_mutex);
    // If it is damaged, the next prepare_query() repairs it.
    return core_.index.is_damaged() ? index_made_anew() : Status();
  }

  Status search(const std::function<Status(query::Search&)>& use) {
    uint64_t epoch = 0;
    std::vector<query::TextCheck> checks;
    RowsToCheck rows;
    const auto searches = std::make_shared<query::KnownSearches>();
    {
      const std::shared_lock lock(core_.index_mutex);
      if (!is_ready()) return index_made_anew();
      VARVE_TRY_ASSIGN(auto planned, input());
      planned.searches = searches;
      VARVE_TRY_ASSIGN(query::Search search, query::Search::plan(std::move(planned)));
      if (search.checks().empty()) return use_checked(use, search);
      epoch = core_.index_epoch;
      checks = search.checks();
      VARVE_TRY_ASSIGN(rows, rows_to_check(search));
    }
    VARVE_TRY_ASSIGN(auto passed, check_rows(checks, rows));
    const std::shared_lock lock(core_.index_mutex);
    if (!is_ready() || core_.index_epoch != epoch) return index_made_anew();
    VARVE_TRY_ASSIGN(auto checked, input());
    checked.passed = std::move(passed);
    checked.searches = searches;
    VARVE_TRY_ASSIGN(query::Search search, query::Search::plan(std::move(checked)));
    return use_checked(use, search);
  }

  static Status use_checked(const std::function<Status(query::Search&)>& use,
                            query::Search& search) {
    VARVE_TRY(use(search));
    return search.check_lists();
  }

  // Rows, rising, each of which is read once, whatever it is asked.
  struct RowsToCheck {
    std::vector<std::vector<uint32_t>> asked;  // of each check: rows, rising
    std::vector<FoundRow> rows;
  };

  // Under the index's lock.
  Result<RowsToCheck> rows_to_check(query::Search& search) const {
    RowsToCheck found;
    std::vector<bool> is_asked;  // by row
    for (size_t i = 0; i < search.checks().size(); ++i) {
      VARVE_TRY_ASSIGN(auto rows, search.rows_to_check(i));
      if (!rows.empty()) is_asked.resize(std::max<size_t>(is_asked.size(), rows.back() + 1));
      for (const uint32_t row : rows) is_asked[row] = true;
      found.asked.push_back(std::move(rows));
    }
    for (uint32_t row = 0; row < is_asked.size(); ++row) {
      if (is_asked[row]) find_row(row, &found.rows.emplace_back());
    }
    return found;
  }

  // For each check the rows whose entries pass it.
  Result<std::vector<std::vector<uint32_t>>> check_rows(const std::vector<query::TextCheck>& checks,
                                                        const RowsToCheck& to_check) {
    std::vector<std::vector<uint32_t>> passed(checks.size());
    std::vector<const query::TextCheck*> own;
    json::Document document;
    std::vector<size_t> numbers;              // of these checks
    std::vector<size_t> next(checks.size());  // of the rows of each: the first not read yet
    for (const FoundRow& row : to_check.rows) {
      own.clear();
      numbers.clear();
      for (size_t i = 0; i < checks.size(); ++i) {
        const auto& rows = to_check.asked[i];
        if (next[i] == rows.size() || rows[next[i]] != row.place.row) continue;
        next[i] += 1;
        own.push_back(&checks[i]);
        numbers.push_back(i);
      }
      auto line = core_.entries.read_row(row.id, row.place);
      if (line.code() == Code::kCorruption && core_.is_index_from_log()) continue;
      VARVE_TRY(line);
      if (!document.parse(**line, entry::line_limits()).ok()) continue;
      query::for_each_held(document.root(), own, *analyzer_, [&](size_t number) {
        passed[numbers[number]].push_back(row.place.row);
      });
    }
    return passed;
  }

  Core& core_;
  const query::Query& query_;
  const SharedQuery* shared_;
  double key_min_;
  std::shared_ptr<const decay::Rules> rules_;
  int64_t clock_ms_;
  int64_t now_ms_;
  bool uses_vectors_ = false;
  Vectors::Similarities similarities_;
  std::unique_ptr<text::Analyzer> analyzer_;  // when there is text
  Core::ReadyRows ready_;
};

// Reads the entries of an answer, and explains how each was found.
class ResultReader {
 public:
  ResultReader(Core& core, const query::Query& query, SessionQuery& session_query)
      : core_(core), query_(query), session_query_(session_query) {}

  // Of a query across sessions: every result gets its id.
  void be_among_others() { is_among_others_ = true; }

  // Searches, and notes where the entries are that were found.
  Status find() {
    return session_query_.with_search([this](query::Search& search) -> Status {
      VARVE_TRY_ASSIGN(query::Answer answer, search.run());
      take(std::move(answer));
      return {};
    });
  }

  // Outside the lock. kGone: start over.
  Result<QueryResults> read() {
    QueryResults results;
    results.results.reserve(rows_.size());
    if (answer_.has_more && !is_among_others_) results.next = next_page();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].line) {
        tell(i, std::move(rows_[i].line), &results.results.emplace_back());
        continue;
      }
      auto line = core_.entries.read_row(rows_[i].id, rows_[i].place);
      if (line.code() == Code::kCorruption && core_.is_index_from_log()) {
        note_unreadable(core_, rows_[i].place, line.status());
        continue;
      }
      VARVE_TRY(line);
      tell(i, *std::move(line), &results.results.emplace_back());
    }
    complete(&results);
    return results;
  }

  // Instead of read(): for reading later.
  UnreadResults unread() {
    UnreadResults found;
    found.answer.results.reserve(rows_.size());
    found.places.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      found.places.push_back(rows_[i].place);
      tell(i, EntryLine(), &found.answer.results.emplace_back());
    }
    complete(&found.answer);
    return found;
  }

 private:
  // Under the index's lock.
  void take(query::Answer answer) {
    answer_ = std::move(answer);
    rows_.clear();
    rows_.reserve(answer_.hits.size());
    explanations_.clear();
    if (answer_.has_more && !is_among_others_) {
      last_id_ = core_.index.id(answer_.hits.back().place.row);
      last_seq_ = core_.index.seq(answer_.hits.back().place.row);
      newest_id_ = core_.index.id(answer_.row_end - 1);
    }
    for (const query::Hit& hit : answer_.hits) core_.entries.prefetch_row(hit.place.row);
    for (const query::Hit& hit : answer_.hits) {
      FoundRow& found = rows_.emplace_back();
      if (is_among_others_) {
        session_query_.find_row(hit.place.row, &found);
        found.seq = core_.index.seq(hit.place.row);
      } else {
        session_query_.find_line(hit.place.row, &found);
      }
      if (query_.explain) {
        explanations_.push_back(
            explain_hit(core_.index, session_query_.rules(), query_, answer_, hit));
      }
    }
  }

  void complete(QueryResults* results) const {
    results->has_more = answer_.has_more;
    results->row_end = answer_.row_end;
    results->last_seq = answer_.last_seq;
    results->vector_end = session_query_.vector_end();
    results->session_ids.push_back(core_.id);
    if (query_.explain) results->explanation = explain_answer(query_, answer_);
  }

  void tell(size_t number, EntryLine line, QueryResult* result) {
    const query::Hit& hit = answer_.hits[number];
    result->line = std::move(line);
    result->known_id = std::move(rows_[number].id);
    result->key = hit.place.key;
    result->timestamp_ms = hit.place.timestamp_ms;
    result->seq = rows_[number].seq;
    result->relevance = hit.relevance;
    result->decay_factor = hit.factors.decay;
    result->match_quality = hit.match_quality;
    if (query_.explain) result->explanation = explanations_[number];
  }

  // Starts after the last hit, whether its entry could be read or not.
  [[nodiscard]] std::string next_page() const {
    const query::Hit& last = answer_.hits.back();
    query::Cursor cursor;
    cursor.query_hash = query_.hash;
    cursor.now_ms = session_query_.now_ms();
    cursor.last_id = query_.after ? query_.after->last_id : newest_id_;
    cursor.best_match = answer_.best_match;
    cursor.key = last.place.key;
    cursor.timestamp_ms = last.place.timestamp_ms;
    cursor.session_id = core_.id;
    cursor.id = last_id_;
    // The first page's end is kept for all pages.
    const uint64_t seq_end = session_query_.end_of(query::seq_end_key).value_or(answer_.last_seq);
    if (seq_end > 0) cursor.row_ends[query::seq_end_key(core_.id)] = seq_end;
    if (last_seq_ > 0) cursor.row_ends[query::last_seq_key(core_.id)] = last_seq_;
    if (query_.has_vector()) {
      cursor.row_ends[query::vector_end_key(core_.id)] = session_query_.vector_end();
    }
    return query::format_cursor(cursor);
  }

  Core& core_;
  const query::Query& query_;
  SessionQuery& session_query_;
  bool is_among_others_ = false;
  query::Answer answer_;
  // When there is more: the last hit, and the newest entry that was looked at.
  std::string last_id_;
  uint64_t last_seq_ = 0;
  std::string newest_id_;
  std::vector<FoundRow> rows_;
  std::vector<std::string> explanations_;
};

// For a query of this session alone.
Status check_cursor(const Core& core, const query::Query& query) {
  if (!query.after || query.after->session_id == core.id) return {};
  return {Code::kInvalidArgument,
          "'after' is the cursor of session '" + query.after->session_id +
              "'; ask that session for the page",
          {.member = "after"}};
}

Result<QueryResults> find_and_read(Core& core, ResultReader& reader) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(reader.find());
    auto results = reader.read();
    if (results.code() == Code::kCorruption) {
      VARVE_TRY(core.rebuild());  // index.bin may be the one that is wrong
    } else if (results.code() != Code::kGone) {
      return results;
    }
  }
  return replaced_too_often();
}

}  // namespace

Result<QueryResults> run_query(Core& core, const query::Query& query) {
  VARVE_TRY(check_cursor(core, query));
  SessionQuery session_query(core, query, nullptr);
  session_query.use_vectors();
  ResultReader reader(core, query, session_query);
  return find_and_read(core, reader);
}

Result<QueryResults> run_query_among(Core& core, const query::Query& query,
                                     const SharedQuery& shared, double key_min) {
  SessionQuery session_query(core, query, &shared, key_min);
  session_query.use_vectors();
  ResultReader reader(core, query, session_query);
  reader.be_among_others();
  return find_and_read(core, reader);
}

Result<UnreadResults> find_unread(Core& core, const query::Query& query, const SharedQuery& shared,
                                  double key_min) {
  SessionQuery session_query(core, query, &shared, key_min);
  session_query.use_vectors();
  ResultReader reader(core, query, session_query);
  reader.be_among_others();
  VARVE_TRY(reader.find());
  return reader.unread();
}

Result<std::vector<Selected>> select(Core& core, const query::Query& query) {
  VARVE_TRY(check_cursor(core, query));
  SessionQuery session_query(core, query, nullptr);
  session_query.use_vectors();
  std::vector<Selected> selected;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    VARVE_TRY_ASSIGN(const query::Answer answer, search.run());
    selected.clear();
    selected.reserve(answer.hits.size());
    for (const query::Hit& hit : answer.hits) {
      Selected& entry = selected.emplace_back(selected_row(core, hit.place.row));
      entry.key = hit.place.key;
      entry.match_quality = hit.match_quality;
    }
    return {};
  }));
  return selected;
}

Result<CountedWords> count_words(Core& core, const query::Query& query, const SharedQuery& shared) {
  SessionQuery session_query(core, query, &shared);
  CountedWords counted;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    counted = {search.statistics(), search.finds_nothing(), search.last_seq()};
    return {};
  }));
  return counted;
}

Result<RankedKeys> find_rank_keys(Core& core, const query::Query& query,
                                  const SharedQuery& shared) {
  SessionQuery session_query(core, query, &shared);
  session_query.use_vectors();
  RankedKeys found;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    found.keys = search.rank_keys();
    found.vector_end = session_query.vector_end();
    return {};
  }));
  return found;
}

Result<query::BestMatch> find_best_match(Core& core, const query::Query& query,
                                         const SharedQuery& shared) {
  SessionQuery session_query(core, query, &shared);
  query::BestMatch best_match;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    best_match = search.best_match();
    return {};
  }));
  return best_match;
}

Result<uint64_t> count_matches(Core& core, const query::Query& query) {
  SessionQuery session_query(core, query, nullptr);
  uint64_t count = 0;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    VARVE_TRY_ASSIGN(const auto rows, search.all_rows());
    count = rows.size();
    return {};
  }));
  return count;
}

Result<std::vector<std::string>> find_matches(Core& core, const query::Query& query) {
  SessionQuery session_query(core, query, nullptr);
  std::vector<std::string> ids;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    VARVE_TRY_ASSIGN(const auto rows, search.all_rows());
    ids.clear();
    for (const uint32_t row : rows) ids.emplace_back(core.index.id(row));
    return {};
  }));
  return ids;
}

Result<LiveRows> find_rows(Core& core, const query::Query& query) {
  SessionQuery session_query(core, query, nullptr);
  LiveRows live;
  VARVE_TRY(session_query.with_search([&](query::Search& search) -> Status {
    VARVE_TRY_ASSIGN(const auto rows, search.all_rows());
    live = {};
    live.epoch = core.index_epoch;
    live.generation = core.view.tail.generation;
    for (const uint32_t row : rows) live.add(core.index, row);
    return {};
  }));
  return live;
}

}  // namespace varve::session
