#include "store/store_query.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/quiet_thread.h"
#include "json/tree.h"
#include "query/cursor.h"
#include "query/top_k.h"
#include "query/vocabulary.h"
#include "session/query/query.h"
#include "session/query/selection.h"

namespace varve::store {

namespace {

// Sessions that are asked for results before it is decided again whether others can have some.
constexpr size_t kAskedAtOnceMin = 32;

class StoreQuery {
 public:
  // At most `kept_open_max` sessions stay open between the steps.
  StoreQuery(const query::Query& query, const std::vector<std::string>& session_ids,
             const QueryContext& context, size_t kept_open_max)
      : query_(query),
        ids_(session_ids),
        context_(context),
        thread_count_(std::min<uint64_t>(context.thread_count, session_ids.size())),
        kept_open_max_(kept_open_max),
        kept_(session_ids.size()),
        is_done_(session_ids.size()),
        has_more_(session_ids.size()),
        best_matches_(session_ids.size()),
        all_(session_ids.size()) {
    std::iota(all_.begin(), all_.end(), size_t{0});
    if (!query.after) return;
    shared_.row_ends = query.after->row_ends;
    row_ends_ = query.after->row_ends;
  }

  Result<session::QueryResults> run() {
    if (query_.has_text()) {
      VARVE_TRY(for_each_session([this](session::Session& session, size_t number) {
        return count_words(session, number);
      }));
      shared_.statistics = statistics_;
      shared_.row_ends = row_ends_;
      VARVE_TRY(for_each_session([this](session::Session& session, size_t number) -> Status {
        VARVE_TRY_ASSIGN(best_matches_[number], session.find_best_match(query_, shared_));
        const std::lock_guard guard(mutex_);
        best_match_ = std::max(best_match_, best_matches_[number].match);
        return {};
      }));
      shared_.best_match = query_.after ? query_.after->best_match : best_match_;
    }
    if (query_.wants_ranks()) VARVE_TRY(gather_ranks());
    VARVE_TRY(is_bounded_by_match() ? find_by_match() : find_in(all_));
    return merge();
  }

 private:
  using Step = std::function<Status(session::Session&, size_t number)>;
  using Numbers = std::vector<size_t>;  // of sessions

  // A result of one session. It is read once it is known to be among the first of all.
  struct Candidate {
    session::QueryResult result;  // without a line until it is read; session: an index into ids_
    session::Selected place;
    bool is_unreadable = false;
  };

  // Most of many sessions have none of the words that are rare: they are not asked again.
  Status count_words(session::Session& session, size_t number) {
    VARVE_TRY_ASSIGN(const auto counted, session.count_words(query_, shared_));
    is_done_[number] = counted.finds_nothing && !query_.has_vector() ? 1 : 0;
    if (is_done_[number] != 0 && kept_[number]) {
      kept_[number].reset();
      kept_count_ -= 1;
    }
    const std::lock_guard guard(mutex_);
    statistics_.add(counted.statistics);
    // Entries added from here on are in no page.
    note_ends(session, counted.statistics.entry_count, counted.last_seq);
    return {};
  }

  Status find_in(const Numbers& numbers) {
    return for_each_of(numbers, [this](session::Session& session, size_t number) {
      // Results of a session that is not kept open are read at once.
      return kept_[number] ? find(session, number) : find_and_read(session, number);
    });
  }

  // Whether the results are those of the largest match: the best match of a session then bounds all
  // of its results.
  [[nodiscard]] bool is_bounded_by_match() const {
    return best_match_ > 0 && !statistics_.row_counts.empty() && !query_.has_vector() &&
           query_.sort_by == query::SortBy::kMatch && !query_.ascending &&
           query_.relevance_min == 0 && query_.limit < ids_.size();
  }

  // Asks the sessions by their best match, until the others cannot have one of the first results.
  Status find_by_match() {
    Numbers by_match = all_;
    std::stable_sort(by_match.begin(), by_match.end(), [this](size_t a, size_t b) {
      const query::BestMatch& first = best_matches_[a];
      const query::BestMatch& second = best_matches_[b];
      if (first.match != second.match) return first.match > second.match;
      return first.timestamp_ms > second.timestamp_ms;
    });
    const size_t at_once = std::max<size_t>(kAskedAtOnceMin, query_.limit + 1);
    auto next = by_match.begin();
    while (next != by_match.end() && may_be_among_first(*next)) {
      const auto end = next + static_cast<ptrdiff_t>(std::min<size_t>(
                                  at_once, static_cast<size_t>(by_match.end() - next)));
      VARVE_TRY(find_in(Numbers(next, end)));
      next = end;
    }
    passed_over_.assign(next, by_match.end());
    return {};
  }

  // Whether no more results than are wanted surely come before all that it can have.
  [[nodiscard]] bool may_be_among_first(size_t number) const {
    const query::BestMatch& best = best_matches_[number];
    const double key_max = query::with_slack(best.match);
    const auto comes_first = [&](const Candidate& one) {
      if (one.is_unreadable) return false;
      const bool is_later = one.result.timestamp_ms > best.timestamp_ms;
      return one.result.key > key_max || (one.result.key == best.match && is_later);
    };
    const auto count = std::count_if(candidates_.begin(), candidates_.end(), comes_first) +
                       std::count_if(read_.begin(), read_.end(), comes_first);
    return static_cast<uint64_t>(count) <= query_.limit;
  }

  Status find(session::Session& session, size_t number) {
    VARVE_TRY_ASSIGN(auto found, session.find_among(query_, shared_, key_min_.load()));
    const std::lock_guard guard(mutex_);
    note_found(session, number, found.answer);
    for (size_t i = 0; i < found.places.size(); ++i) {
      Candidate& candidate = candidates_.emplace_back();
      candidate.result = std::move(found.answer.results[i]);
      candidate.result.session = static_cast<uint32_t>(number);
      candidate.place.place = found.places[i];
      candidate.is_unreadable = unreadable_.contains({number, found.places[i].row});
    }
    return {};
  }

  Status find_and_read(session::Session& session, size_t number) {
    VARVE_TRY_ASSIGN(auto found, session.query_among(query_, shared_, key_min_.load()));
    const std::lock_guard guard(mutex_);
    note_found(session, number, found);
    for (auto& result : found.results) {
      result.session = static_cast<uint32_t>(number);
      read_.push_back({std::move(result), {}, false});
    }
    if (read_.size() / 2 > query_.limit) drop_last_read();
    return {};
  }

  // Mutex held. Of those that were read, one behind as many as are wanted is not wanted: the lines
  // of many sessions would take much memory.
  void drop_last_read() {
    sort(&read_);
    read_.resize(query_.limit + 1);
  }

  // Mutex held.
  void note_ends(const session::Session& session, uint64_t row_end, uint64_t last_seq) {
    row_ends_[query::row_end_key(session.id())] = row_end;
    if (!query_.after && last_seq > 0) row_ends_[query::seq_end_key(session.id())] = last_seq;
  }

  // Mutex held.
  void note_found(const session::Session& session, size_t number,
                  const session::QueryResults& found) {
    has_more_[number] = found.has_more ? 1 : 0;
    note_ends(session, found.row_end, found.last_seq);
    if (query_.has_vector()) row_ends_[query::vector_end_key(session.id())] = found.vector_end;
    if (!query_.ascending && !wants_all_) raise_key_min(found.results);
  }

  // Mutex held. Once a page and one more are found, sessions need not tell of smaller keys than
  // those have.
  void raise_key_min(const std::vector<session::QueryResult>& results) {
    for (const session::QueryResult& result : results) {
      if (best_keys_.size() > query_.limit) {
        if (result.key <= best_keys_.top()) break;  // the results are in order
        best_keys_.pop();
      }
      best_keys_.push(result.key);
    }
    if (best_keys_.size() > query_.limit) key_min_ = best_keys_.top();
  }

  // The ranks are those among the entries of all sessions.
  Status gather_ranks() {
    query::RankKeys keys;
    VARVE_TRY(for_each_session([&](session::Session& session, size_t) -> Status {
      VARVE_TRY_ASSIGN(const auto found, session.find_rank_keys(query_, shared_));
      const std::lock_guard guard(mutex_);
      keys.add(found.keys);
      row_ends_[query::vector_end_key(session.id())] = found.vector_end;
      return {};
    }));
    keys.sort();
    shared_.rank_keys = std::move(keys);
    shared_.row_ends = row_ends_;
    return {};
  }

  Status for_each_session(const Step& step) { return for_each_of(all_, step); }

  Status for_each_of(const Numbers& numbers, const Step& step) {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next.fetch_add(1); i < numbers.size(); i = next.fetch_add(1)) {
        visit(numbers[i], step);
      }
    };
    const uint64_t thread_count = std::min<uint64_t>(thread_count_, numbers.size());
    std::vector<QuietThread> helpers;
    helpers.reserve(thread_count);
    try {
      for (uint64_t i = 1; i < thread_count; ++i) helpers.emplace_back(work);
    } catch (const std::exception&) {
      // The system has no more threads: the existing ones do the work.
    }
    work();
    for (auto& helper : helpers) helper.join();
    return failure_;
  }

  // No exception may leave a thread. The first failure that is the query's own ends the query.
  void visit(size_t number, const Step& step) noexcept {
    try {
      Status status = visit_one(number, step);
      if (!status.ok() && status.code() != Code::kNotFound) leave_out(number, std::move(status));
    } catch (const std::bad_alloc&) {
      const std::lock_guard guard(mutex_);
      no_memory_ = true;
    } catch (const std::exception& defect) {
      const std::lock_guard guard(mutex_);
      failure_ = Status::defect(defect.what());
    }
  }

  void leave_out(size_t number, Status status) {
    const std::lock_guard guard(mutex_);
    // What the query or the process lacks is no reason to leave a session out: others would follow.
    if (status.code() == Code::kInvalidArgument || status.code() == Code::kNoMemory ||
        is_lack_of_descriptors(status)) {
      if (failure_.ok()) failure_ = std::move(status);
    } else {
      context_.note(ids_[number], status);
      if (left_out_.ok()) left_out_ = std::move(status);
    }
  }

  // Sessions created after the first page are in no page.
  [[nodiscard]] bool is_new(const std::string& id) const {
    return query_.after && !query_.after->row_ends.contains(query::row_end_key(id));
  }

  Status visit_one(size_t number, const Step& step) {
    if (is_done_[number] != 0 || is_new(ids_[number])) return {};
    std::shared_ptr<session::Session> session = kept_[number];  // no other thread uses its slot
    if (session == nullptr) {
      VARVE_TRY_ASSIGN(session, context_.open(ids_[number]));
      if (may_keep_one_more()) kept_[number] = session;
    }
    return step(*session, number);
  }

  bool may_keep_one_more() {
    if (kept_count_.fetch_add(1) < kept_open_max_) return true;
    kept_count_ -= 1;
    return false;
  }

  [[nodiscard]] bool comes_before(const session::QueryResult& a,
                                  const session::QueryResult& b) const {
    const bool descends = !query_.ascending;
    if (a.key != b.key) return (a.key > b.key) == descends;
    if (a.timestamp_ms != b.timestamp_ms) return (a.timestamp_ms > b.timestamp_ms) == descends;
    return a.session != b.session && (ids_[a.session] < ids_[b.session]) == descends;
  }

  // The results of one session are in order already, and stay so.
  void sort(std::vector<Candidate>* candidates) const {
    std::stable_sort(candidates->begin(), candidates->end(), [this](const auto& a, const auto& b) {
      return comes_before(a.result, b.result);
    });
  }

  Result<session::QueryResults> merge() {
    bool is_read = false;
    while (!is_read) {
      if (no_memory_) return Status(Code::kNoMemory, "no memory for the query's threads");
      VARVE_TRY(failure_);
      std::move(read_.begin(), read_.end(), std::back_inserter(candidates_));
      read_.clear();
      sort(&candidates_);
      is_read = read_first();
      if (is_read && wants_more()) {
        VARVE_TRY(find_in(take_passed_over()));
        is_read = false;
      }
    }
    session::QueryResults merged;
    merged.left_out = std::move(left_out_);
    merged.results.reserve(std::min<uint64_t>(query_.limit, candidates_.size()));
    const session::QueryResult* last = nullptr;  // the page ends after it, readable or not
    bool has_more = has_any_more();
    for (Candidate& candidate : candidates_) {
      const bool is_full = merged.results.size() == query_.limit;
      if (candidate.is_unreadable) {
        if (!is_full) last = &candidate.result;
        continue;
      }
      has_more = has_more || is_full;
      if (is_full) break;
      last = &merged.results.emplace_back(std::move(candidate.result));
    }
    if (has_more && last != nullptr) merged.next = next_page(*last);
    name_sessions(&merged);
    if (query_.explain) {
      json::Tree tree = json::Tree::object();
      tree.set("sessions", json::Tree::integer_unsigned(ids_.size()));
      tree.set("sort_by", json::Tree::string(query::sort_name(query_.sort_by)));
      merged.explanation = tree.canonical();
    }
    return merged;
  }

  [[nodiscard]] bool has_any_more() const {
    return std::find(has_more_.begin(), has_more_.end(), 1) != has_more_.end();
  }

  // Whether sessions, or results of small keys, were passed over for results that turned out not to
  // be there, or unreadable.
  [[nodiscard]] bool wants_more() const {
    if (!passed_over_.empty() && may_be_among_first(passed_over_.front())) return true;
    const double key_min = key_min_.load();
    if (key_min == query::kAllKeys) return false;
    const auto count = std::count_if(
        candidates_.begin(), candidates_.end(),
        [&](const Candidate& one) { return !one.is_unreadable && one.result.key >= key_min; });
    return static_cast<uint64_t>(count) <= query_.limit;
  }

  // What was passed over is asked for, and all that it has.
  Numbers take_passed_over() {
    wants_all_ = true;
    const bool had_key_min = key_min_.exchange(query::kAllKeys) > query::kAllKeys;
    Numbers numbers = std::exchange(passed_over_, {});
    for (const size_t number : had_key_min ? all_ : Numbers()) {
      if (has_more_[number] == 0) continue;
      forget_candidates_of(number);
      numbers.push_back(number);
    }
    return numbers;
  }

  void forget_candidates_of(size_t number) {
    for (const Candidate& one : candidates_) {
      const bool is_its = one.result.session == number;
      if (is_its && one.is_unreadable) unreadable_.emplace(number, one.place.place.row);
    }
    std::erase_if(candidates_, [&](const Candidate& one) { return one.result.session == number; });
  }

  // Replaces indexes into ids_ by indexes into the list of sessions that have results.
  void name_sessions(session::QueryResults* merged) const {
    std::map<uint32_t, uint32_t> places;
    for (session::QueryResult& result : merged->results) {
      const auto next = static_cast<uint32_t>(places.size());
      const auto [place, is_new] = places.try_emplace(result.session, next);
      if (is_new) merged->session_ids.push_back(ids_[result.session]);
      result.session = place->second;
    }
  }

  // Reads the entries of the first `limit` readable candidates. False: a session's candidates
  // changed, so others may now be the first. That happens at most once for each session.
  bool read_first() {
    uint64_t count = 0;
    for (Candidate& candidate : candidates_) {
      if (count == query_.limit) break;
      if (!candidate.result.line && !candidate.is_unreadable) {
        auto read = kept_[candidate.result.session]->read(candidate.place);
        if (!read.ok()) {
          renew(candidate.result.session, std::move(read).status());
          return false;
        }
        candidate.result.line = std::move(read->line);
        candidate.is_unreadable = !candidate.result.line;
      }
      if (!candidate.is_unreadable) ++count;
    }
    return true;
  }

  // The results of a session cannot be read. kGone: its log or a wrong index was replaced, so the
  // session is searched again and read at once. Otherwise the session is left out.
  void renew(size_t number, Status why) {
    std::erase_if(candidates_, [&](const Candidate& one) { return one.result.session == number; });
    if (why.code() != Code::kGone) return leave_out(number, std::move(why));
    visit(number, [this](session::Session& session, size_t again) {
      return find_and_read(session, again);
    });
  }

  [[nodiscard]] std::string next_page(const session::QueryResult& last) const {
    query::Cursor cursor;
    cursor.query_hash = query_.hash;
    cursor.now_ms = *query_.now_ms;
    cursor.best_match = shared_.best_match;
    cursor.key = last.key;
    cursor.timestamp_ms = last.timestamp_ms;
    cursor.session_id = ids_[last.session];
    cursor.id = last.id();
    cursor.row_ends = row_ends_;
    if (query_.after) cursor.row_ends.erase(query::last_seq_key(query_.after->session_id));
    if (last.seq > 0) cursor.row_ends[query::last_seq_key(cursor.session_id)] = last.seq;
    return query::format_cursor(cursor);
  }

  const query::Query& query_;
  const std::vector<std::string>& ids_;
  const QueryContext& context_;
  uint64_t thread_count_;
  size_t kept_open_max_;
  std::atomic<size_t> kept_count_{0};
  // By session: null unless it is kept open between the steps, and whether it has no result.
  std::vector<std::shared_ptr<session::Session>> kept_;
  std::vector<uint8_t> is_done_;
  std::vector<uint8_t> has_more_;  // beside what it told
  std::vector<query::BestMatch> best_matches_;
  Numbers all_;
  Numbers passed_over_;          // sessions with matches that were not asked for results
  session::SharedQuery shared_;  // read only while sessions run

  std::mutex mutex_;  // guards the rest while sessions run
  query::TextStatistics statistics_;
  query::RowEnds row_ends_;  // how far each session was looked at
  double best_match_ = 0;
  // The keys of a page and one more, the smallest on top, and that one once they are as many.
  std::priority_queue<double, std::vector<double>, std::greater<>> best_keys_;
  std::atomic<double> key_min_{query::kAllKeys};
  bool wants_all_ = false;
  std::set<std::pair<size_t, uint32_t>> unreadable_;  // sessions and rows, known before
  std::vector<Candidate> candidates_;
  std::vector<Candidate> read_;  // candidates of sessions that are not kept open, with their lines
  bool no_memory_ = false;
  Status failure_;
  Status left_out_;
};

}  // namespace

Result<session::QueryResults> query_sessions(const query::Query& query,
                                             const std::vector<std::string>& session_ids,
                                             const QueryContext& context) {
  query::Query timed = query;
  if (!timed.now_ms) timed.now_ms = context.now_ms;
  // Each session is asked several times.
  std::unordered_set<std::string> told;
  QueryContext once = context;
  once.note = [&](const std::string& id, const Status& failure) {
    if (told.insert(id).second) context.note(id, failure);
  };
  size_t kept_max = held_open_max(context.open_files_max);
  for (;; kept_max /= 4) {
    if (kept_max == 0) once.thread_count = 1;
    auto found = StoreQuery(timed, session_ids, once, kept_max).run();
    // The host has others open: fewer may do.
    if (kept_max == 0 || !is_lack_of_descriptors(found.status())) return found;
  }
}

}  // namespace varve::store
