// DirectoryEngine: the rows of its registry, and what they are made of.
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json/tree.h"
#include "log/directory_engine.h"

namespace varve::log {

namespace {

// Of a page of collected rows, which stand in no file: "collected:created_at_ms:session_id". A
// list's own cursors begin with a number.
constexpr std::string_view kCollectedCursor = "collected:";

std::string collected_cursor(const SessionRow& row) {
  return std::string(kCollectedCursor) + std::to_string(row.created_at_ms) + ":" + row.session_id;
}

bool is_older(const SessionRow& a, const SessionRow& b) {
  return std::tie(a.created_at_ms, a.session_id) < std::tie(b.created_at_ms, b.session_id);
}

// The row that a cursor stands for, or nothing.
std::optional<SessionRow> parse_collected_cursor(std::string_view text) {
  if (!text.starts_with(kCollectedCursor)) return std::nullopt;
  text.remove_prefix(kCollectedCursor.size());
  SessionRow row;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, row.created_at_ms);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != ':') return std::nullopt;
  row.session_id.assign(parsed.ptr + 1, end);
  return row;
}

// Tells lives of one id apart.
using RowKey = std::pair<std::string, int64_t>;
RowKey key_of(const SessionRow& row) { return {row.session_id, row.created_at_ms}; }

// The list tells of each that it was not dropped, and that another of its id was: without its row,
// it would pass for that.
std::set<RowKey> told_apart_from_dropped(const ListedLives& lives) {
  std::set<RowKey> keys;
  for (const SessionRow& row : lives.undropped) {
    if (lives.dropped_at_ms.contains(row.session_id)) keys.insert(key_of(row));
  }
  return keys;
}

}  // namespace

// A list that was emptied, or of which no row can be read, hides all sessions as a missing one
// does; a line that cannot be read may hide one.
Result<RowPage> DirectoryEngine::list(std::string_view after, size_t limit) {
  const bool is_of_collected = after.starts_with(kCollectedCursor);
  if (!registry_ || !registry_->exists()) {
    VARVE_TRY(refuse_if_removed());
  } else {
    VARVE_TRY_ASSIGN(const bool has_any, is_of_collected ? registry_->has_lines() : true);
    if (has_any) {
      VARVE_TRY_ASSIGN(RowPage page, registry_->list(after, limit));
      if (page.has_damage && rescan().ok()) return registry_->list(after, limit);
      if (!page.rows.empty() || !after.empty() || limit == 0) return page;
      VARVE_TRY_ASSIGN(const auto ids, session_ids());
      if (ids.empty()) return page;
    }
  }
  Status made = rescan();
  const bool may_not_write = made.code() == Code::kReadOnly || made.code() == Code::kNoSpace;
  if (may_not_write) return collected_page(after, limit);
  VARVE_TRY(std::move(made));
  return registry_->list(after, limit);
}

// What the list would say, where it may not be written.
Result<RowPage> DirectoryEngine::collected_page(std::string_view after, size_t limit) {
  RowPage page;
  page.is_collected = true;
  if (limit == 0) return page;
  const auto last = parse_collected_cursor(after);
  if (!last && !after.empty()) return not_a_cursor();
  VARVE_TRY_ASSIGN(const auto rows, rows_for_pages(after.empty()));
  auto at = last ? std::lower_bound(rows->begin(), rows->end(), *last, is_older) : rows->end();
  while (at != rows->begin() && page.rows.size() < limit) {
    page.rows.push_back(*--at);
    page.cursors.push_back(collected_cursor(*at));
  }
  page.at_end = at == rows->begin();
  if (page.at_end) keep_for_pages(nullptr);
  return page;
}

// Collected for the first page: to collect them costs a read for each session.
Result<DirectoryEngine::CollectedRows> DirectoryEngine::rows_for_pages(bool is_first_page) {
  if (!is_first_page) {
    const std::lock_guard guard(collected_mutex_);
    if (collected_) return collected_;
  }
  VARVE_TRY_ASSIGN(auto rows, collect_rows());
  auto shared = std::make_shared<const std::vector<SessionRow>>(std::move(rows));
  keep_for_pages(shared);
  return CollectedRows(std::move(shared));
}

void DirectoryEngine::keep_for_pages(CollectedRows rows) {
  const std::lock_guard guard(collected_mutex_);
  collected_ = std::move(rows);
}

Status DirectoryEngine::rescan() {
  VARVE_TRY(refuse_if_read_only());
  VARVE_TRY(refuse_if_removed());
  return registry_->replace(deadline_us(), [this] { return collect_rows(); });
}

// What metadata.json says; nothing when the file is missing or damaged.
Result<std::optional<SessionRow>> DirectoryEngine::described_row(const std::string& session_id) {
  const auto text = session_document(session_id, kMetadataFile);
  // Under a row that does not name its owner, the owner would not find the session any more.
  if (is_of_environment(text.code())) return text.status();
  if (!text.ok()) return std::optional<SessionRow>();
  const auto tree = json::Tree::parse(*text);
  if (!tree.ok() || !tree->is_object()) return std::optional<SessionRow>();
  return std::optional<SessionRow>(row_of(session_id, *tree));
}

// Completes rows that have only an id with what the list to be replaced knows.
Status DirectoryEngine::complete_rows(const std::vector<SessionRow*>& incomplete) {
  std::unordered_set<std::string> ids;
  for (const SessionRow* row : incomplete) ids.insert(row->session_id);
  VARVE_TRY_ASSIGN(const ValidRows listed, valid_rows(std::move(ids)));
  for (SessionRow* row : incomplete) {
    const auto found = listed.find(row->session_id);
    if (found != listed.end()) *row = found->second;
  }
  return {};
}

Result<std::vector<SessionRow>> DirectoryEngine::collect_rows() {
  VARVE_TRY_ASSIGN(const auto ids, session_ids());
  std::vector<SessionRow> rows;
  rows.reserve(ids.size());  // no reallocation: some rows are pointed to
  std::vector<SessionRow*> incomplete;
  for (const std::string& id : ids) {
    VARVE_TRY_ASSIGN(auto described, described_row(id));
    if (described) {
      rows.push_back(*std::move(described));
      continue;
    }
    rows.emplace_back().session_id = id;
    incomplete.push_back(&rows.back());
  }
  VARVE_TRY(complete_rows(incomplete));
  std::sort(rows.begin(), rows.end(), is_older);
  return rows;
}

Result<ListedLives> DirectoryEngine::lives(const IdWanted& is_wanted) {
  return registry_ ? registry_->lives(is_wanted) : ListedLives();
}

Result<ValidRows> DirectoryEngine::valid_rows(std::unordered_set<std::string> session_ids) {
  return registry_ ? registry_->valid_rows(std::move(session_ids)) : ValidRows();
}

Status DirectoryEngine::remove_dead_rows() {
  VARVE_TRY(refuse_if_read_only());
  VARVE_TRY(refuse_if_removed());
  const auto collect = [this] { return collect_live_rows(); };
  const int64_t since_ms = environment_.clock->now_ms() - kDropsKeptMs;
  return registry_->replace_rows(deadline_us(), collect, since_ms);
}

// The listed rows of the sessions that there are or were lost, in their order, one for each id, and
// those that the drop of another of their id could be taken for. Unlike collect_rows() it reads no
// metadata, but of ids that were used again.
Result<std::vector<SessionRow>> DirectoryEngine::collect_live_rows() {
  // A failed sync of the list removes it (registry.cpp). An empty one would hide all sessions.
  VARVE_TRY_ASSIGN(const bool has_any, registry_->has_lines());
  if (!has_any) return collect_rows();
  VARVE_TRY_ASSIGN(const ListedLives lives,
                   registry_->lives([](const std::string&) { return true; }));
  VARVE_TRY_ASSIGN(const RowPage page, registry_->list({}, std::numeric_limits<size_t>::max()));
  std::set<RowKey> apart = told_apart_from_dropped(lives);
  std::vector<SessionRow> rows;
  if (page.has_damage) {
    VARVE_TRY_ASSIGN(rows, collect_rows());
    for (const SessionRow& row : rows) apart.erase(key_of(row));
    for (const SessionRow& row : lives.undropped) {
      if (apart.erase(key_of(row)) > 0) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end(), is_older);
    return rows;
  }
  VARVE_TRY_ASSIGN(const auto valid, rows_to_keep(page.rows, lives));
  for (const size_t index : valid) apart.erase(key_of(page.rows[index]));
  for (size_t i = page.rows.size(); i-- > 0;) {
    const SessionRow& row = page.rows[i];
    if (valid.contains(i) || apart.erase(key_of(row)) > 0) rows.push_back(row);
  }
  return rows;
}

// Which of the rows, newest first, are those of the sessions that there are or were lost. Where its
// metadata does not tell, it is the newest that the list does not tell to be dropped.
Result<std::unordered_set<size_t>> DirectoryEngine::rows_to_keep(
    const std::vector<SessionRow>& rows, const ListedLives& lives) {
  const std::set<RowKey> apart = told_apart_from_dropped(lives);
  const auto was_dropped = [&](const SessionRow& row) {
    return lives.dropped_at_ms.contains(row.session_id) && !apart.contains(key_of(row));
  };
  VARVE_TRY_ASSIGN(const auto ids, session_ids());
  std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
  for (const SessionRow& row : lives.undropped) wanted.insert(row.session_id);
  struct Valid {
    size_t index = 0;
    bool is_described = false;
  };
  std::unordered_map<std::string_view, Valid> valid;
  for (size_t i = 0; i < rows.size(); ++i) {
    const SessionRow& row = rows[i];
    if (!wanted.contains(row.session_id)) continue;
    const auto [known, is_first] = valid.try_emplace(row.session_id, Valid{i});
    Valid& newest = known->second;
    if (is_first || newest.is_described) continue;
    // A row is written before its session has the name: the newest may be a killed restore's.
    VARVE_TRY_ASSIGN(const auto described, described_row(row.session_id));
    const auto is_its_row = [&](const SessionRow& one) {
      return described && one.created_at_ms == described->created_at_ms;
    };
    newest.is_described = is_its_row(rows[newest.index]);
    if (newest.is_described) continue;
    if (is_its_row(row)) {
      newest = {i, true};
    } else if (was_dropped(rows[newest.index]) && !was_dropped(row)) {
      newest.index = i;
    }
  }
  std::unordered_set<size_t> indices;
  for (const auto& [id, row] : valid) indices.insert(row.index);
  return indices;
}

Result<std::vector<std::string>> DirectoryEngine::session_ids() {
  if (!sessions_) return std::vector<std::string>();
  VARVE_TRY(refuse_if_removed());
  return session_ids_in(*sessions_);
}

}  // namespace varve::log
