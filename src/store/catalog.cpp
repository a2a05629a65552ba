#include "store/catalog.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <new>
#include <span>
#include <unordered_set>
#include <utility>

#include "json/tree.h"
#include "query/parse.h"
#include "session/metadata/metadata.h"
#include "session/query/selection.h"
#include "session/retries.h"
#include "session/upkeep/compaction.h"
#include "store/backup_manifest.h"
#include "store/catalog_entry.h"
#include "store/list_filter.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr std::string_view kLogId = "catalog";
constexpr std::string_view kThrough = "through";  // a key of the log's kv.json
constexpr size_t kTakenAtOnce = 256;
constexpr size_t kTagsOfEntry = 1000;
// The ids of removed entries stay in a log, and each opening reads them, 1.5 us each. When there
// are this many for each entry, the catalog is dropped, to be made anew at 0.2 ms for each session.
constexpr uint64_t kRemovedPerEntry = 8;
constexpr uint64_t kRemovedMin = 10'000;
// The removed bytes go when they are about as many as those that stay.
constexpr std::string_view kCompactedAt = "compacted_at";  // a key of its kv.json
constexpr uint64_t kWorthCompacting = 1000;

json::Tree string_list(std::span<const std::string> texts) {
  json::Tree list = json::Tree::array();
  for (const auto& text : texts) list.push(json::Tree::string(text));
  return list;
}

json::Tree object_of(std::string_view name, std::string_view value) {
  json::Tree tree = json::Tree::object();
  tree.set(name, json::Tree::string(value));
  return tree;
}

json::Tree object_of_types(std::initializer_list<std::string_view> types) {
  json::Tree list = json::Tree::array();
  for (const auto type : types) list.push(json::Tree::string(type));
  json::Tree tree = json::Tree::object();
  tree.set("types", std::move(list));
  return tree;
}

void sort_and_unite(std::vector<std::string>* ids) {
  std::sort(ids->begin(), ids->end());
  ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
}

// kGone when the log was replaced meanwhile; kCorruption when an entry cannot be read, because it
// may be the one that matters.
Result<std::vector<CatalogEntry>> read_all(session::Session& log,
                                           const std::vector<session::Selected>& selected) {
  std::vector<CatalogEntry> found;
  found.reserve(selected.size());
  for (const auto& one : selected) {
    VARVE_TRY_ASSIGN(const auto read, log.read(one));
    if (!read.line) return Status(Code::kCorruption, "an entry of the catalog is damaged");
    VARVE_TRY_ASSIGN(CatalogEntry entry, read_catalog_entry(*read.line));
    entry.id = read.id;
    found.push_back(std::move(entry));
  }
  return found;
}

Result<std::vector<CatalogEntry>> entries(session::Session& log, const json::Tree& query_tree) {
  VARVE_TRY_ASSIGN(query::Query query,
                   query::parse_query(query_tree.canonical(), query::Scope::kSession));
  query.limit = query::kLimitNone;
  Status gone;
  for (int attempt = 0; attempt < session::kReplacedMax; ++attempt) {
    VARVE_TRY_ASSIGN(const auto selected, log.select(query));
    auto found = read_all(log, selected);
    if (found.code() != Code::kGone) return found;
    gone = found.status();
  }
  return gone;
}

// All entries about a session.
Result<std::vector<CatalogEntry>> entries_about(session::Session& log,
                                                std::string_view session_id) {
  json::Tree query = json::Tree::object();
  query.set("content", object_of("session", session_id));
  return entries(log, query);
}

// Sorted, without repetitions.
Result<std::vector<std::string>> sessions_of(session::Session& log, const json::Tree& query) {
  VARVE_TRY_ASSIGN(const auto found, entries(log, query));
  std::vector<std::string> ids;
  ids.reserve(found.size());
  for (const CatalogEntry& one : found) ids.push_back(one.session_id);
  sort_and_unite(&ids);
  return ids;
}

// The ids in both lists, or in either of them; sorted, as the lists are.
std::vector<std::string> joined(const std::vector<std::string>& a,
                                const std::vector<std::string>& b, bool in_both) {
  std::vector<std::string> result;
  if (in_both) {
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  } else {
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace

// --- the log -------------------------------------------------------------------------------------

void Catalog::use(log::Engine& engine, uint64_t lock_timeout_ms, size_t worth_taking) {
  engine_ = &engine;
  worth_taking_ = worth_taking;
  lock_timeout_ms_ = lock_timeout_ms;
}

Result<std::shared_ptr<session::Session>> Catalog::adopt(
    std::unique_ptr<log::SessionStorage> storage) {
  session::Session::Context context{&clock_, &random_, &events_, &counters_, {}, &files_};
  context.settings.session_bytes_max = 0;
  context.settings.lock_timeout_ms = lock_timeout_ms_;
  context.settings.durability = log::Durability::kOs;  // what must last is synced explicitly
  context.settings.cached_entries_max = 1000;
  VARVE_TRY_ASSIGN(auto log,
                   session::Session::open(std::string(kLogId), std::move(storage), context));
  const std::lock_guard guard(mutex_);
  if (!log_) log_ = std::move(log);
  return log_;
}

Result<std::shared_ptr<session::Session>> Catalog::open_log() {
  {
    const std::lock_guard guard(mutex_);
    if (log_) return log_;
  }
  VARVE_TRY_ASSIGN(auto storage, engine_->open_catalog());
  return adopt(std::move(storage));
}

Result<std::shared_ptr<session::Session>> Catalog::open_or_create_log() {
  auto present = open_log();
  if (present.code() != Code::kNotFound) return present;
  session::CreateOptions options;
  options.session_id = kLogId;
  VARVE_TRY_ASSIGN(auto storage, engine_->create_catalog(
                                     session::Metadata::make(options, clock_.now_ms()).encode()));
  return adopt(std::move(storage));
}

// For when any process dropped the catalog.
void Catalog::forget_log() noexcept {
  std::shared_ptr<session::Session> log;
  const std::lock_guard guard(mutex_);
  log.swap(log_);
}

Status Catalog::drop() {
  forget_log();
  return engine_->drop_catalog();
}

void Catalog::close() noexcept { forget_log(); }

// --- finding -------------------------------------------------------------------------------------

Result<Catalog::Sessions> Catalog::find(const Wanted& wanted) {
  if (wanted.tags.empty() && wanted.user_id.empty() && wanted.agent_id.empty()) {
    VARVE_TRY_ASSIGN(Sessions all, find_without(wanted));
    all.untold.clear();
    return all;
  }
  for (int attempt = 0; attempt < session::kReplacedMax; ++attempt) {
    const auto log = open_log();
    if (!log.ok()) break;
    auto found = find_in(**log, wanted);
    // A line that was passed over, by whoever it was, or is gone may be the one that matters.
    const bool has_loss = counters_.lines_skipped.exchange(0) > 0 || (*log)->lost_line_count() > 0;
    if (has_loss) found = Status(Code::kCorruption, "damaged");
    if (found.ok()) {
      found->log = *log;
      return found;
    }
    forget_log();
    if (found.code() == Code::kNotFound) continue;  // it was dropped; there may be a new one
    if (is_of_environment(found.code())) break;
    (void)drop().ok();  // it can no longer be believed
    break;
  }
  return find_without(wanted);
}

// In this order: whoever covers a session adds the new entry first, then moves "through", then
// removes older entries. So what is missing in one place is found in the next, and in one log, too:
// a reader that knows of a deletion knows all older entries (DirectoryStorage::look).
Result<Catalog::Sessions> Catalog::find_in(session::Session& log, const Wanted& wanted) {
  Sessions found;
  const auto through = log.kv_get(kThrough);
  if (!through.ok() && through.code() != Code::kNotFound) return through.status();
  // Without "through", the catalog is just being made.
  if (!through.ok()) VARVE_TRY(log.check_alive());
  VARVE_TRY(add_newer(through.ok() ? *through : std::string(), wanted, &found));
  VARVE_TRY_ASSIGN(const auto changes, entries(log, object_of_types({kChanged, kRestoring})));
  const std::string user = hashed_user(wanted.user_id);
  const std::string agent = hashed_agent(wanted.agent_id);
  std::vector<Untold> changed;
  std::unordered_set<std::string_view> told;
  for (const Untold& newer : found.untold) told.insert(newer.id);
  for (const CatalogEntry& change : changes) {
    if (change.type == kChanged && told.insert(change.session_id).second) {
      changed.push_back({change.session_id, {}});
    }
    if (!change.may_be_of(user, agent)) continue;
    found.ids.push_back(change.session_id);
  }
  VARVE_TRY(add_covered(log, wanted, &found.ids));
  sort_and_unite(&found.ids);
  found.untold.insert(found.untold.begin(), std::make_move_iterator(changed.begin()),
                      std::make_move_iterator(changed.end()));
  if (found.untold.size() < worth_taking_) found.untold.clear();
  return found;
}

Status Catalog::add_covered(session::Session& log, const Wanted& wanted,
                            std::vector<std::string>* ids) {
  json::Tree content = json::Tree::object();
  if (!wanted.user_id.empty()) {
    content.set("user", json::Tree::string(hashed_user(wanted.user_id)));
  }
  if (!wanted.agent_id.empty()) {
    content.set("agent", json::Tree::string(hashed_agent(wanted.agent_id)));
  }
  json::Tree query = object_of_types({kCovered});
  if (!content.members().empty()) query.set("content", std::move(content));
  std::vector<std::string> found;
  if (wanted.tags.empty()) {
    VARVE_TRY_ASSIGN(found, sessions_of(log, query));
  }
  // Tag by tag, because a session's tags may be in several entries.
  for (size_t i = 0; i < wanted.tags.size(); ++i) {
    json::Tree tags = json::Tree::object();
    tags.set("include", string_list(std::vector{hashed_tag(wanted.tags[i])}));
    query.set("tags", std::move(tags));
    VARVE_TRY_ASSIGN(const auto with_tag, sessions_of(log, query));
    found = i == 0 ? with_tag : joined(found, with_tag, wanted.all_tags);
  }
  ids->insert(ids->end(), found.begin(), found.end());
  return {};
}

// Sessions whose rows are newer than `through`; all of them if the registry lost that row.
Status Catalog::add_newer(std::string_view through, const Wanted& wanted, Sessions* found) {
  ListFilter owner;
  owner.user_id = wanted.user_id;
  owner.agent_id = wanted.agent_id;
  const auto begin = [&] { *found = {}; };
  const auto visit = [&](const RowAt& at, std::string name) {
    found->untold.push_back({at.row.session_id, std::move(name)});
    if (owner.takes(at.row)) found->ids.push_back(at.row.session_id);
  };
  VARVE_TRY(for_each_newer_row(*engine_, through, begin, visit).status());
  std::reverse(found->untold.begin(), found->untold.end());
  return {};
}

// By the registry alone. A backup has no catalog: its sessions are written without their locks.
Result<Catalog::Sessions> Catalog::find_without(const Wanted& wanted) {
  Sessions found;
  VARVE_TRY(add_newer({}, wanted, &found));
  std::unordered_set<std::string> told;
  std::erase_if(found.ids, [&](const std::string& id) { return !told.insert(id).second; });
  const bool is_worth_it = found.untold.size() >= worth_taking_ &&
                           engine_->store_document(kManifestFile).code() == Code::kNotFound;
  if (!is_worth_it) found.untold.clear();
  return found;
}

// --- covering ------------------------------------------------------------------------------------

struct Catalog::Part {
  std::string lines;                  // of entries to add
  std::vector<std::string> outdated;  // ids of those to remove afterwards
};

Status Catalog::take(const Sessions& found, const OpenSession& open) {
  const std::unique_lock one_at_a_time(taking_, std::try_to_lock);
  if (found.untold.empty() || !one_at_a_time.owns_lock()) return {};
  // Another log than the one that was asked may lack more, and would hide it from then on.
  std::shared_ptr<session::Session> log = found.log;
  if (!log) {
    VARVE_TRY_ASSIGN(log, open_or_create_log());
  }
  const std::span<const Untold> all = found.untold;
  for (size_t i = 0; i < all.size(); i += kTakenAtOnce) {
    const auto part = all.subspan(i, std::min(kTakenAtOnce, all.size() - i));
    VARVE_TRY(take_part(*log, part, open));
    // A thread that takes over from here need not start from the beginning.
    if (!part.back().row.empty()) VARVE_TRY(log->kv_set(kThrough, part.back().row));
  }
  return tidy(*log);
}

Status Catalog::take_part(session::Session& log, std::span<const Untold> sessions,
                          const OpenSession& open) {
  Part part;
  // The list may have many rows of one session.
  std::unordered_set<std::string_view> covered;
  for (const Untold& session : sessions) {
    if (covered.insert(session.id).second) VARVE_TRY(cover(log, session.id, open, &part));
  }
  if (!part.lines.empty()) VARVE_TRY(log.add_batch(part.lines).status());
  VARVE_TRY(log.make_durable());
  if (part.outdated.empty()) return {};
  json::Tree query = json::Tree::object();
  query.set("ids", string_list(part.outdated));
  return log.remove_where(query.canonical(), "").status();
}

Status Catalog::cover(session::Session& log, const std::string& id, const OpenSession& open,
                      Part* part) {
  // What was said of the session so far. Later entries may tell of a later change, and stay.
  VARVE_TRY_ASSIGN(const auto before, entries_about(log, id));
  const auto opened = open(id);
  auto facts =
      opened.ok() ? (*opened)->take_for_catalog() : Result<session::CatalogFacts>(opened.status());
  if (facts.code() == Code::kNoMemory) return facts.status();
  if (!facts.ok() && facts.code() != Code::kNotFound) {
    const bool is_told = std::any_of(before.begin(), before.end(),
                                     [](const CatalogEntry& one) { return one.type == kChanged; });
    if (!is_told) part->lines += catalog_line(kChanged, id, anybody());
    return {};
  }
  for (const CatalogEntry& one : before) {
    if (one.type != kRestoring) part->outdated.push_back(one.id);
  }
  if (!facts.ok()) return {};  // the session was deleted
  const CatalogOwner owner = {hashed_user(facts->user_id), hashed_agent(facts->agent_id)};
  std::vector<std::string> tags;
  for (const auto& tag : facts->tags) tags.push_back(hashed_tag(tag));
  std::span<const std::string> rest = tags;
  do {
    const auto some = rest.first(std::min(rest.size(), kTagsOfEntry));
    rest = rest.subspan(some.size());
    part->lines += catalog_line(kCovered, id, owner, {}, some);
  } while (!rest.empty());
  return {};
}

Status Catalog::tidy(session::Session& log) {
  VARVE_TRY_ASSIGN(const json::Tree stats, log.stats());
  const uint64_t entry_count = stats.get_count("entries");
  const uint64_t removed_count = stats.get_count("deleted");
  if (removed_count > kRemovedMin + kRemovedPerEntry * entry_count) return drop();
  const auto at = log.kv_get(kCompactedAt);
  if (!at.ok() && at.code() != Code::kNotFound) return at.status();
  uint64_t compacted_at = 0;
  if (at.ok()) std::from_chars(at->data(), at->data() + at->size(), compacted_at);
  if (removed_count - std::min(removed_count, compacted_at) < entry_count + kWorthCompacting) {
    return {};
  }
  VARVE_TRY(log.compact(session::CompactionOptions()).status());
  return log.kv_set(kCompactedAt, std::to_string(removed_count));
}

// --- who writes ----------------------------------------------------------------------------------

// If there is a catalog. One that does not accept what it is told can no longer be believed.
Status Catalog::tell(const std::function<Status(session::Session&)>& say) {
  Status status;
  for (int attempt = 0; attempt < session::kReplacedMax; ++attempt) {
    const auto log = open_log();
    if (log.code() == Code::kNotFound) return {};
    status = log.ok() ? say(**log) : log.status();
    if (status.ok() || status.code() == Code::kBusy) return status;
    forget_log();
    if (status.code() != Code::kNotFound) break;  // it was dropped; there may be a new one
  }
  return drop().ok() ? Status() : std::move(status).with_context("the store's catalog");
}

Status Catalog::note_change(const session::ChangingSession& session) {
  return tell([&](session::Session& log) { return note_in(log, session); });
}

Status Catalog::note_in(session::Session& log, const session::ChangingSession& session) {
  const std::string mark =
      std::to_string(session.created_at_ms) + "-" + std::to_string(session.catalogued_count);
  json::Tree content = object_of("session", session.session_id);
  content.set("mark", json::Tree::string(mark));
  json::Tree query = object_of_types({kChanged});
  query.set("content", std::move(content));
  VARVE_TRY_ASSIGN(const auto present, entries(log, query));
  if (present.empty()) {
    const CatalogOwner owner = {hashed_user(session.user_id), hashed_agent(session.agent_id)};
    VARVE_TRY(log.add(catalog_line(kChanged, session.session_id, owner, mark)).status());
  }
  return log.make_durable();  // also what another process noted
}

// --- sessions that come and go as a whole --------------------------------------------------------

Result<std::string> Catalog::begin_restore(std::string_view session_id) {
  std::string mark;
  VARVE_TRY(tell([&](session::Session& log) -> Status {
    mark.clear();
    VARVE_TRY_ASSIGN(mark, log.add(catalog_line(kRestoring, session_id, anybody())));
    return log.make_durable();
  }));
  return mark;
}

// Also notes it in a catalog that was made after begin_restore().
Status Catalog::end_restore(std::string_view session_id, const std::string& mark) {
  VARVE_TRY(tell([&](session::Session& log) -> Status {
    VARVE_TRY(log.add(catalog_line(kChanged, session_id, anybody())).status());
    return log.make_durable();
  }));
  if (!mark.empty()) remove_entries({mark});
  return {};
}

Result<std::vector<std::string>> Catalog::entries_of(std::string_view session_id) {
  std::vector<std::string> ids;
  const auto log = open_log();
  if (log.code() == Code::kNotFound) return ids;
  VARVE_TRY(log);
  VARVE_TRY_ASSIGN(const auto found, entries_about(**log, session_id));
  for (const CatalogEntry& one : found) {
    if (one.type == kCovered) ids.push_back(one.id);
  }
  return ids;
}

void Catalog::remove_entries(const std::vector<std::string>& ids) noexcept {
  if (ids.empty()) return;
  try {
    const auto log = open_log();
    if (!log.ok()) return;
    json::Tree query = json::Tree::object();
    query.set("ids", string_list(ids));
    (void)(*log)->remove_where(query.canonical(), "").ok();
  } catch (const std::bad_alloc&) {
    // Entries of a session that is gone stay: each query that finds them looks for it in vain.
  }
}

}  // namespace varve::store
