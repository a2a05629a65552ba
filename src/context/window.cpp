#include "context/window.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "base/hash.h"
#include "context/call_ids.h"
#include "context/entry_text.h"
#include "context/text_count.h"

namespace varve::context {

namespace {

constexpr size_t kItemsUsual = 128;
// By the built-in estimate: a label, a colon, a word. Less room is no room. A host's counter may
// answer less, 0 too.
constexpr uint64_t kItemTokensMin = 3;

constexpr uint64_t kPieceKinds = 8;  // at most (piece_kind)

class Window {
 public:
  Window(const Sessions& sessions, const Request& request, const Counter& counter, int64_t now_ms,
         const Candidates& found)
      : sessions_(sessions),
        request_(request),
        counter_(counter),
        now_ms_(now_ms),
        candidates_(found.ranked),
        excluded_(found.excluded),
        passed_over_count_(found.passed_over_count),
        known_calls_(sessions.count()) {}

  Result<Content> fill() {
    const std::string frame = put_together(request_.format, {});
    VARVE_TRY_ASSIGN(const uint64_t tokens, counter_.count_keyed(hash64(frame), frame));
    items_.reserve(kItemsUsual);
    left_ = request_.token_budget() > tokens ? request_.token_budget() - tokens : 0;
    VARVE_TRY(take_pinned());
    VARVE_TRY(take_recent());
    VARVE_TRY(take_others());
    VARVE_TRY_ASSIGN(Content content, finish());
    const auto is_left_out = [&](const Candidate& one) { return !taken_.contains(one.key()); };
    content.dropped_count =
        passed_over_count_ +
        static_cast<uint64_t>(std::count_if(candidates_.begin(), candidates_.end(), is_left_out));
    return content;
  }

 private:
  // Items from `begin` to the end, or to the next unit: taken or left together.
  struct Unit {
    explicit Unit(size_t items_before) : begin(items_before) {}
    size_t begin;
    std::vector<std::string> headings;  // that no item before it has
    uint64_t tokens = 0;
    // Of messages: calls that were given ids, and items with results that have none yet.
    std::vector<transfer::ToolTurn> named_calls;
    std::vector<std::pair<size_t, EntryText>> unnamed_results;
  };

  Status take_pinned() {
    for (const auto& candidate : candidates_) {
      if (candidate.source != Source::kPinned) break;
      VARVE_TRY(take(candidate, Source::kPinned, left_));
    }
    return {};
  }

  // The newest, up to the first that its share has no room for.
  Status take_recent() {
    if (request_.recent_share <= 0) return {};
    std::vector<const Candidate*> recent;
    for (const auto& candidate : candidates_) {
      if (candidate.source == Source::kRecent) recent.push_back(&candidate);
    }
    std::sort(recent.begin(), recent.end(),
              [](const Candidate* a, const Candidate* b) { return time_of(*a) > time_of(*b); });
    const auto share =
        static_cast<uint64_t>(request_.recent_share * static_cast<double>(request_.token_budget()));
    const uint64_t floor = left_ > share ? left_ - share : 0;
    for (const Candidate* candidate : recent) {
      VARVE_TRY_ASSIGN(const bool taken, take(*candidate, Source::kRecent, left_ - floor));
      if (!taken && !unreadable_.contains(candidate->key())) break;
    }
    return {};
  }

  Status take_others() {
    for (const auto& candidate : candidates_) {
      if (counter_.adds_up() && left_ < kItemTokensMin) break;
      // Beyond their share, the newest are there for what they say.
      const bool is_recalled = request_.recent_share > 0 && candidate.match > 0;
      Source source = is_recalled ? Source::kRecalled : candidate.source;
      if (is_message(request_.format, source) && time_of(candidate) < gap_) {
        source = Source::kRecalled;
      }
      VARVE_TRY(take(candidate, source, left_));
      note_gap(candidate);
    }
    return {};
  }

  // Messages that follow each other are read as what followed each other: where one of the newest
  // is no turn, what was said before it is none either. But what never is one leaves no gap.
  void note_gap(const Candidate& candidate) {
    if (candidate.source != Source::kRecent || unreadable_.contains(candidate.key())) return;
    const auto taken = taken_.find(candidate.key());
    const bool is_turn = taken != taken_.end() && taken->second == Source::kRecent;
    if (!is_turn) gap_ = std::max(gap_, time_of(candidate));
  }

  // Its place in the order of time, of one session.
  using Time = std::pair<int64_t, EntryKey>;
  static Time time_of(const Candidate& candidate) {
    return {candidate.entry.timestamp_ms, candidate.key()};
  }

  // Whether it is in, with what belongs to it, which is of the same session.
  Result<bool> take(const Candidate& candidate, Source source, uint64_t tokens_max) {
    session_number_ = candidate.session;
    auto taken = take_of_session(candidate, source, tokens_max);
    if (!taken.ok()) return of_session(session_number_, std::move(taken).status());
    return taken;
  }

  Result<bool> take_of_session(const Candidate& candidate, Source source, uint64_t tokens_max) {
    if (taken_.contains(candidate.key())) return true;
    if (unreadable_.contains(candidate.key())) return false;
    const Source wanted = source;
    if (never_turns_.contains(candidate.key())) source = Source::kRecalled;
    const auto known = counter_.known(count_key_of(candidate.entry, source));
    if (known && *known > tokens_max) {
      VARVE_TRY_ASSIGN(const bool may_be_shorter, may_be_recalled(candidate, source));
      if (!may_be_shorter) return false;
    }
    Unit unit(items_.size());
    VARVE_TRY_ASSIGN(bool whole, gather(candidate, source, tokens_max, &unit));
    const bool are_messages = whole && is_message(request_.format, source);
    if (are_messages) VARVE_TRY(name_result(&unit));
    if (are_messages) VARVE_TRY(name_results(&unit));
    if (are_messages && !become_turns(unit)) {
      for (const auto& item : items_of(unit)) never_turns_.insert(item.key);
      drop(unit);
      unit = Unit(items_.size());
      VARVE_TRY_ASSIGN(whole, gather(candidate, Source::kRecalled, tokens_max, &unit));
    } else if (are_messages) {
      note_tokens(unit, source);
    }
    if (whole) VARVE_TRY(add_headings(&unit));
    if (!whole || unit.tokens > tokens_max) {
      drop(unit);
      return false;
    }
    left_ -= unit.tokens;
    for (const auto& heading : unit.headings) headings_.insert(heading);
    for (const auto& item : items_of(unit)) taken_.emplace(item.key, wanted);
    units_.push_back(std::move(unit));
    return true;
  }

  // Of the last unit, which may not be among the units yet.
  [[nodiscard]] std::span<const Item> items_of(const Unit& last) const {
    return std::span(items_).subspan(last.begin);
  }
  void drop(const Unit& last) {
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(last.begin), items_.end());
  }

  // Whether what is known is of a message that it may not become: see become_turns().
  Result<bool> may_be_recalled(const Candidate& candidate, Source source) {
    if (!is_message(request_.format, source)) return false;
    return session().is_tool(candidate.entry);
  }

  // The result of a unit's only call has the id of this call, whatever they were recorded with.
  Status name_result(Unit* unit) {
    const auto items = std::span(items_).subspan(unit->begin);
    if (items.size() != 2) return {};
    const auto call = std::find_if(items.begin(), items.end(), is_call);
    const auto result = std::find_if(items.begin(), items.end(),
                                     [](const Item& item) { return item.is_one_result; });
    if (call == items.end() || result == items.end()) return {};
    if (call->call_ids.size() != 1 || call->call_ids == result->call_ids) return {};
    set_call_id(call->call_ids.front(), &*result);
    const uint64_t key = count_key(hash64(result->piece), result->source);
    VARVE_TRY_ASSIGN(result->tokens, count(key, result->source, result->piece));
    unit->tokens = add_tokens(call->tokens, result->tokens);
    return {};
  }

  // The results of calls that have no ids of their own.
  Status name_results(Unit* unit) {
    if (unit->named_calls.empty()) return {};
    std::sort(
        unit->unnamed_results.begin(), unit->unnamed_results.end(),
        [this](const auto& a, const auto& b) { return items_[a.first].key < items_[b.first].key; });
    UnansweredCalls calls(std::move(unit->named_calls));
    for (auto& [place, results] : unit->unnamed_results) {
      if (!calls.answer(&results)) return {};
      Item& item = items_[place];
      item.call_ids = call_ids_of(results);
      write_piece(request_.format, results, &item);
      const uint64_t key = count_key(hash64(item.piece), item.source);
      VARVE_TRY_ASSIGN(item.tokens, count(key, item.source, item.piece));
    }
    unit->tokens = 0;
    for (const Item& item : items_of(*unit)) unit->tokens = add_tokens(unit->tokens, item.tokens);
    return {};
  }

  // As messages, a result stands behind its call, and each call names its tool and has an id and
  // one result: no interface takes others. False where they do not; they are something that is
  // recalled.
  bool become_turns(const Unit& unit) {
    const auto items = std::span(items_).subspan(unit.begin);
    const auto call = std::find_if(items.begin(), items.end(), is_call);
    std::vector<std::string> answered;
    for (Item& item : items) {
      if (is_result(item)) {
        answered.insert(answered.end(), item.call_ids.begin(), item.call_ids.end());
      }
      if (call == items.end()) continue;
      item.turn_ms = call->timestamp_ms;
      item.turn_key = call->key;
    }
    if (call == items.end()) return answered.empty();
    std::vector<std::string> called = call->call_ids;
    std::sort(called.begin(), called.end());
    std::sort(answered.begin(), answered.end());
    const bool are_named = call->is_callable && (called.empty() || !called.front().empty());
    const bool are_distinct = std::adjacent_find(called.begin(), called.end()) == called.end();
    return are_named && are_distinct && called == answered;
  }

  // False when there is no room for all of it, or it cannot be read.
  Result<bool> gather(const Candidate& candidate, Source source, uint64_t tokens_max, Unit* unit) {
    const session::Selected& first = candidate.entry;
    if (tokens_of_call(first, source) > tokens_max) return false;
    EntryText entry;
    VARVE_TRY_ASSIGN(const bool readable, add_item(first, candidate.rank, source, unit, &entry));
    if (!readable) return false;
    if (!request_.keep_together || !entry.is_tool) return true;
    auto all = select_tool_call(first, entry.call_key);
    if (all.ok() && all->entries.front().place.row != first.place.row) {
      const session::Selected call = all->entries.front();
      const std::string key = std::move(entry.call_key);
      if (is_missing(call, first)) {
        VARVE_TRY_ASSIGN(const bool also, add_item(call, rank_of(call), source, unit, &entry));
        if (!also) return false;
      } else {
        VARVE_TRY_ASSIGN(entry.call_key, call_key_of(call));
      }
      // A call that a reference names may have an id of its own, by which it has more results.
      if (entry.call_key != key) {
        all = select_tool_call(call, entry.call_key);
      }
    }
    VARVE_TRY(all);
    return gather_results(first, *all, source, tokens_max, unit);
  }

  Result<session::ToolCall> select_tool_call(const session::Selected& entry,
                                             const std::string& call_key) {
    return session().select_tool_call(entry, call_key, now_ms_, &known_calls_[session_number_]);
  }

  // Of a call that is in already, or stays out without its results.
  Result<std::string> call_key_of(const session::Selected& call) {
    VARVE_TRY_ASSIGN(const session::SelectedLine read, session().read(call));
    if (!read.line) return std::string();
    VARVE_TRY_ASSIGN(EntryText entry, read_entry_text(*read.line, read.type, scratch_));
    return std::move(entry.call_key);
  }

  // Whether an entry that belongs to `first` is to be added to its unit.
  [[nodiscard]] bool is_missing(const session::Selected& entry,
                                const session::Selected& first) const {
    const EntryKey key = key_of(entry);
    if (key == key_of(first) || excluded_.contains(key)) return false;
    return !taken_.contains(key);  // a result came in since its call was taken
  }

  // `all`: a call, which is in the unit or not to be in it, and its results. As messages they are
  // read where there is no room, too: whether they stay messages depends on all of them.
  Result<bool> gather_results(const session::Selected& first, const session::ToolCall& found,
                              Source source, uint64_t tokens_max, Unit* unit) {
    const std::vector<session::Selected>& all = found.entries;
    if (found.is_crowded) return false;
    // By the built-in estimate each has a token at least: none need be read.
    const uint64_t tokens_min = counter_.adds_up() ? all.size() : 0;
    bool has_room = tokens_min <= tokens_max;
    if (!has_room) note_without_room(all, source, tokens_min);
    EntryText entry;
    for (auto one = all.begin() + 1; has_room && one != all.end(); ++one) {
      if (!is_missing(*one, first)) continue;
      has_room = is_message(request_.format, source) || unit->tokens <= tokens_max;
      if (!has_room) {
        note_without_room(all, source, unit->tokens);
        break;
      }
      VARVE_TRY_ASSIGN(const bool also, add_item(*one, rank_of(*one), source, unit, &entry));
      if (!also) return false;
    }
    return has_room;
  }

  // A call without room is not gathered again from each of its results.
  void note_without_room(std::span<const session::Selected> all, Source source, uint64_t tokens) {
    for (const auto& one : all) {
      tokens_of_call_.insert_or_assign({key_of(one), piece_kind(request_.format, source)}, tokens);
    }
  }
  void note_tokens(const Unit& unit, Source source) {
    const auto items = items_of(unit);
    if (items.size() == 1) return;
    for (const auto& item : items) {
      tokens_of_call_.insert_or_assign({item.key, piece_kind(request_.format, source)},
                                       unit.tokens);
    }
  }
  // What an entry takes at least with its call and the other results; 0 where that is not known.
  [[nodiscard]] uint64_t tokens_of_call(const session::Selected& entry, Source source) const {
    const auto known = tokens_of_call_.find({key_of(entry), piece_kind(request_.format, source)});
    return known == tokens_of_call_.end() ? 0 : known->second;
  }

  // 0 of an entry that came with another one.
  [[nodiscard]] double rank_of(const session::Selected& entry) {
    if (ranks_.empty()) {
      ranks_.reserve(candidates_.size());
      for (const Candidate& one : candidates_) ranks_.emplace(one.key(), one.rank);
    }
    const auto found = ranks_.find(key_of(entry));
    return found == ranks_.end() ? 0 : found->second;
  }

  // False when its line is damaged.
  Result<bool> add_item(const session::Selected& selected, double rank, Source source, Unit* unit,
                        EntryText* entry) {
    VARVE_TRY_ASSIGN(session::SelectedLine read, session().read(selected));
    if (!read.line) {
      unreadable_.insert(key_of(selected));
      return false;
    }
    VARVE_TRY_ASSIGN(*entry, read_entry_text(*read.line, read.type, scratch_));
    Item& item = items_.emplace_back();
    item.id = std::move(read.id);
    item.source = source;
    item.speaker = entry->speaker;
    item.timestamp_ms = selected.timestamp_ms;
    item.key = key_of(selected);
    item.says_this_session = says_this_session();
    item.turn_ms = item.timestamp_ms;
    item.turn_key = item.key;
    name_call(item.id, entry);
    const bool are_named = name_calls(item.id, entry);
    shorten_call_ids(entry);
    if (are_named) unit->named_calls = entry->turns;
    item.call_ids = call_ids_of(*entry);
    item.is_callable = !entry->turns.empty() || !entry->tool.empty();
    item.is_one_result = is_result(item) && item.call_ids.size() == 1 && entry->said.empty();
    item.rank = rank;
    if (!entry->is_tool && is_blank(entry->text)) return true;  // as of a model that only thought
    if (is_message(request_.format, source) && has_unnamed_result(*entry)) {
      unit->unnamed_results.emplace_back(items_.size() - 1, *entry);
    }
    write_piece(request_.format, *entry, &item);
    VARVE_TRY_ASSIGN(item.tokens, count(count_key_of(selected, source), source, item.piece));
    unit->tokens = add_tokens(unit->tokens, item.tokens);
    return true;
  }

  // A call without an id is known by that of its entry.
  static void name_call(const std::string& id, EntryText* entry) {
    if (entry->speaker != Speaker::kAssistant || !entry->is_tool || entry->is_answered) return;
    if (entry->turns.size() > 1) return;
    std::string& call_id = entry->turns.empty() ? entry->call_id : entry->turns.front().call_id;
    if (call_id.empty()) call_id = id;
  }

  static std::vector<std::string> call_ids_of(const EntryText& entry) {
    if (!entry.is_tool || entry.is_answered) return {};
    if (entry.turns.empty()) return {entry.call_id};
    std::vector<std::string> ids;
    for (const auto& turn : entry.turns) ids.push_back(turn.call_id);
    return ids;
  }

  Status add_headings(Unit* unit) {
    for (const auto& item : items_of(*unit)) {
      if (item.heading.empty()) continue;
      if (headings_.empty() && unit->headings.empty()) VARVE_TRY(add_frame(unit));
      if (headings_.contains(item.heading)) continue;
      if (std::find(unit->headings.begin(), unit->headings.end(), item.heading) !=
          unit->headings.end()) {
        continue;
      }
      const uint64_t key = count_key(hash64(item.heading), item.source);
      VARVE_TRY_ASSIGN(const uint64_t tokens, count(key, item.source, item.heading));
      unit->tokens = add_tokens(unit->tokens, tokens);
      unit->headings.push_back(item.heading);
    }
    return {};
  }

  // Of the first item that needs it.
  Status add_frame(Unit* unit) {
    const std::string frame = frame_of_block(request_.format);
    if (frame.empty()) return {};
    VARVE_TRY_ASSIGN(const uint64_t tokens, counter_.count_keyed(hash64(frame), frame));
    unit->tokens = add_tokens(unit->tokens, tokens);
    return {};
  }

  // Of a part in the form in which it will be read.
  Result<uint64_t> count(uint64_t key, Source source, const std::string& part) const {
    if (const auto known = counter_.known(key)) return *known;
    return counter_.count_keyed(key, counted_form(request_.format, source, part));
  }

  // Under what its count is kept: the hash of what it is made from, and how it is written.
  [[nodiscard]] uint64_t count_key(uint64_t hash, Source source, bool says_session = false) const {
    return hash * kPieceKinds + piece_kind(request_.format, source, says_session);
  }
  [[nodiscard]] uint64_t count_key_of(const session::Selected& entry, Source source) const {
    return count_key(entry.place.location.line_hash, source, says_this_session());
  }

  // The text, of fewer units when the whole has more tokens than its parts.
  Result<Content> finish() {
    while (!units_.empty()) {
      std::vector<const Item*> items = items_in_order();
      VARVE_TRY_ASSIGN(Content content, tell(items));
      if (content.text.empty()) return content;
      if (content.token_count <= request_.token_budget()) {
        for (const Item* item : items) {
          content.entries.push_back(
              {item->id, session_of(item->key), item->tokens, item->rank, item->source});
        }
        return content;
      }
      leave_out(content.token_count - request_.token_budget());
    }
    return Content();
  }

  // The text of those that say something, and its tokens; empty when none does.
  [[nodiscard]] Result<Content> tell(std::vector<const Item*> items) const {
    std::erase_if(items, [](const Item* item) { return item->piece.empty(); });
    Content content;
    if (items.empty()) return content;
    content.text = put_together(request_.format, items);
    VARVE_TRY_ASSIGN(content.token_count,
                     count_text(counter_, request_.format, items, content.text));
    return content;
  }

  [[nodiscard]] std::vector<const Item*> items_in_order() const {
    std::vector<const Item*> items;
    items.reserve(items_.size());
    for (const auto& item : items_) items.push_back(&item);
    std::sort(items.begin(), items.end(), [this](const Item* a, const Item* b) {
      return stands_before(request_.format, *a, *b);
    });
    return items;
  }

  // The units that were taken last, with so many tokens, and one at least.
  void leave_out(uint64_t tokens) {
    uint64_t gone = 0;
    do {
      gone = add_tokens(gone, units_.back().tokens);
      for (const auto& item : items_of(units_.back())) taken_.erase(item.key);
      drop(units_.back());
      units_.pop_back();
    } while (gone < tokens && !units_.empty());
  }

  [[nodiscard]] session::Session& session() const { return sessions_.at(session_number_); }
  [[nodiscard]] bool says_this_session() const {
    return request_.is_across && session_number_ == 0;
  }
  // Of an entry of this session.
  [[nodiscard]] EntryKey key_of(const session::Selected& entry) const {
    return entry_key(session_number_, entry.place.row);
  }

  const Sessions& sessions_;
  uint32_t session_number_ = 0;  // of the candidate that is being taken
  const Request& request_;
  const Counter& counter_;
  int64_t now_ms_;
  const std::vector<Candidate>& candidates_;  // pinned ones first, then by rank
  const boost::unordered_flat_set<EntryKey>& excluded_;
  uint64_t passed_over_count_;
  uint64_t left_ = 0;
  std::vector<Unit> units_;  // in the order they were taken
  std::vector<Item> items_;  // of all units, and of one that is being gathered
  std::set<std::string> headings_;
  boost::unordered_flat_map<EntryKey, Source> taken_;  // and as what, if it could be that
  boost::unordered_flat_set<EntryKey> unreadable_;
  boost::unordered_flat_set<EntryKey> never_turns_;    // see become_turns()
  Time gap_{std::numeric_limits<int64_t>::min(), 0};   // see note_gap()
  boost::unordered_flat_map<EntryKey, double> ranks_;  // once one was asked for
  std::vector<session::KnownCalls> known_calls_;       // by session
  boost::unordered_flat_map<std::pair<EntryKey, uint64_t>, uint64_t> tokens_of_call_;  // and kind
  json::Document scratch_;
};

}  // namespace

Result<Content> fill_window(const Sessions& sessions, const Request& request,
                            const Counter& counter, int64_t now_ms, const Candidates& candidates) {
  return Window(sessions, request, counter, now_ms, candidates).fill();
}

}  // namespace varve::context
