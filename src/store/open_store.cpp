#include "store/open_store.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "log/atomic_file.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "query/parse.h"
#include "session/session_events.h"
#include "store/config.h"
#include "store/store_query.h"
#include "store/store_usage.h"
#include "store/sweep.h"

namespace varve::store {

namespace {

Status no_thread_started(const std::system_error& failure) {
  return {Code::kNoMemory,
          "the system cannot start the thread that durability \"interval\" needs (" +
              failure.code().message() +
              "): raise its limits on threads and memory, or use durability \"commit\"",
          {.member = "durability", .os_errno = failure.code().value()}};
}

// A letter and a colon are a directory, and so is what begins with a colon, but for the name that
// another library gives to a store in memory.
bool has_unknown_scheme(std::string_view path) {
  const size_t colon = path.find(':');
  if (path == ":memory:") return true;
  return colon != std::string_view::npos && colon > 1 && path.find('/') > colon;
}

// The directory that a store's URI names.
std::string_view path_of(std::string_view uri) noexcept {
  constexpr std::string_view kScheme = "file:";
  return uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : uri;
}

// Whether a failure is of a file outside the store, as of a backup or an export: its caller is
// told, and it says nothing of the disk that the store is on.
bool is_elsewhere(const Status& failure, std::string_view uri) noexcept {
  const std::string_view path = failure.place().path;
  std::string_view root = path_of(uri);
  while (root.size() > 1 && root.ends_with('/')) root.remove_suffix(1);
  const bool is_within = path.starts_with(root) &&
                         (path.size() == root.size() || path[root.size()] == '/' || root == "/");
  return !path.empty() && !is_within;
}

}  // namespace

Status OpenStore::open_engine(std::string_view config_json) {
  const std::string_view path = path_of(uri_);
  if (path == "memory:") {
    engine_ = std::make_unique<log::MemoryEngine>(clock_, settings_.lock_timeout_ms);
    return {};
  }
  if (path.size() == uri_.size() && has_unknown_scheme(path)) {
    return {Code::kUnsupported, "no storage engine has the scheme of '" + shown(path) +
                                    "'; give a directory, file:PATH or memory:"};
  }
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return {Code::kInvalidArgument, "the store's path is empty or has a NUL in it"};
  }
  const log::DirectoryEngine::Environment environment{environment_.file_system, &clock_,
                                                      environment_.random};
  const auto accept = [&](io::Directory& root) { return take_stored_config(root, config_json); };
  VARVE_TRY_ASSIGN(
      engine_, log::DirectoryEngine::open(path, environment, settings_.lock_timeout_ms, accept));
  engine_->set_lock_timeout_ms(settings_.lock_timeout_ms);  // which the file may have changed
  return {};
}

Status OpenStore::configure(std::string_view config_json) {
  // What is given and what is stored must be valid before anything is created on disk.
  Config given;
  if (!config_json.empty()) VARVE_TRY(read_config(config_json, ConfigSource::kGiven, &given));
  settings_ = given.settings;
  return open_engine(config_json);
}

// What is given goes over what is stored.
Status OpenStore::take_stored_config(io::Directory& root, std::string_view config_json) {
  const auto stored = log::read_file(root, "config.json", log::kDocumentBytesMax);
  if (stored.code() == Code::kNotFound) return {};
  if (!stored.ok()) return stored.status();
  Config both;
  const std::string path = config_path(uri_);
  VARVE_TRY(read_config(*stored, ConfigSource::kStored, &both).with_context(path).in_file(path));
  if (!config_json.empty()) VARVE_TRY(read_config(config_json, ConfigSource::kGiven, &both));
  settings_ = both.settings;
  return {};
}

Status OpenStore::start(std::string_view config_json) {
  VARVE_TRY(configure(config_json));
  analyzers_ = std::make_unique<session::AnalyzerPool>(settings_.text);
  catalog_.use(*engine_, settings_.lock_timeout_ms, environment_.sessions_worth_catalog);
  quota_.set_limits(settings_.user_bytes_max, settings_.user_sessions_max);
  return {};
}

Result<json::Tree> OpenStore::sweep() {
  (void)engine_->remove_left_overs().ok();
  SweepContext context;
  context.engine = engine_.get();
  context.clock = &clock_;
  context.open = [this](const std::string& id) { return open_even_expired(id); };
  context.remove = [this](const std::string& id) { return remove_expired(id); };
  context.note_change = [this](const std::string& id) { totals_.note_change(id); };
  context.remove_dead_rows = [this]() -> Status {
    VARVE_TRY(engine_->remove_dead_rows());
    return catalog_.drop();  // it knows rows of the list before, and has what writers told it
  };
  return store::sweep(context);
}

// The sessions that a query is about, and perhaps others. With words it is all sessions of the
// user, whatever the tags: they decide the weights of words.
Result<Catalog::Sessions> OpenStore::sessions_of(const query::Query& query) {
  if (query.session_ids.empty()) {
    Catalog::Wanted wanted{{}, query.tags_match_all, query.user_id, query.agent_id};
    if (!query.has_text() && !query.has_vector()) wanted.tags = query.tags_include;
    return catalog_.find(wanted);
  }
  Catalog::Sessions found;
  found.ids = query.session_ids;
  std::sort(found.ids.begin(), found.ids.end());
  found.ids.erase(std::unique(found.ids.begin(), found.ids.end()), found.ids.end());
  return found;
}

// Extends the catalog for later queries; the present one has its answer.
void OpenStore::catalog(const Catalog::Sessions& found) noexcept {
  try {
    const Status taken =
        catalog_.take(found, [this](const std::string& id) { return open_even_expired(id); });
    const bool is_possible = taken.code() != Code::kUnsupported && taken.code() != Code::kReadOnly;
    const bool was_dropped = taken.code() == Code::kNotFound;  // the next query makes another
    if (!taken.ok() && is_possible && !was_dropped) {
      events_.post(session::Level::kWarn, "store", "", "no catalog: " + taken.message());
    }
  } catch (const std::bad_alloc&) {
    // The next query may have memory.
  }
}

// The sessions that it opens stay open for the next one.
Result<session::QueryResults> OpenStore::ask_sessions(const query::Query& query,
                                                      const std::vector<std::string>& session_ids,
                                                      const std::string& asked_anyway) {
  QueryContext context;
  context.thread_count = settings_.threads;
  context.open_files_max = environment_.file_system->open_files_max();
  context.now_ms = clock_.now_ms();
  // None of an exclusive store: one that the host closes meanwhile would keep its lock here.
  const uint64_t wanted = settings_.exclusive ? 0 : settings_.kept_sessions_max;
  const size_t kept_max = std::min<size_t>(wanted, context.open_files_max / 4 / kFilesOfSessionMax);
  context.open = [&](const std::string& id) -> Result<SessionPointer> {
    VARVE_TRY_ASSIGN(auto session,
                     id == asked_anyway ? open_for_itself(id) : open_if_of(query, id));
    kept_.keep(session, kept_max);
    return session;
  };
  context.note = [&](const std::string& id, const Status& failure) {
    events_.post(session::Level::kWarn, "store", id, "left out of a query: " + failure.message());
  };
  auto results = query_sessions(query, session_ids, context);
  kept_.trim(kept_max, environment_.kept_sessions_bytes_max);
  kept_.let_go_of_replaced(clock_.monotonic_us());
  return results;
}

Result<session::QueryResults> OpenStore::query_of_user(std::string_view text,
                                                       std::string_view user_id) {
  const DurationRecorder recorder(clock_, counters_.query_us);
  VARVE_TRY_ASSIGN(query::Query query, query::parse_query(text, query::Scope::kStore));
  if (!user_id.empty()) {
    if (!query.user_id.empty() && query.user_id != user_id) {
      return Status(Code::kInvalidArgument,
                    "user_id is '" + shown(query.user_id) + "', but this memory is that of user '" +
                        shown(user_id) + "'; leave user_id out",
                    {.member = "user_id"});
    }
    query.user_id = user_id;
  }
  return query_across(query, {});
}

Result<session::QueryResults> OpenStore::recall(const query::Query& query,
                                                const std::string& session_id) {
  const DurationRecorder recorder(clock_, counters_.query_us);
  return query_across(query, session_id);
}

// `asked_anyway`: a session that is asked though the query may not name it; "" for none.
Result<session::QueryResults> OpenStore::query_across(const query::Query& query,
                                                      const std::string& asked_anyway) {
  VARVE_TRY_ASSIGN(const auto sessions, sessions_of(query));
  std::vector<std::string> ids = sessions.ids;
  const bool is_missing = std::find(ids.begin(), ids.end(), asked_anyway) == ids.end();
  if (is_missing && !asked_anyway.empty()) ids.push_back(asked_anyway);
  auto results = ask_sessions(query, ids, asked_anyway);
  if (results.ok()) catalog(sessions);
  return results;
}

size_t OpenStore::open_at_once_max() const {
  return held_open_max(environment_.file_system->open_files_max());
}

// Open sessions are counted exactly, the others by their metadata.
Result<StoreFigures> OpenStore::figures() {
  StoreFigures figures;
  std::unordered_set<std::string> looked_at;
  for (const auto& session : sessions_open_for_host()) {
    const auto stats = session->stats();
    if (stats.code() == Code::kNotFound) continue;  // deleted meanwhile
    VARVE_TRY(stats);
    const uint64_t last_seq = stats->get_count("last_seq");
    looked_at.insert(session->id());
    figures.sessions_open += 1;
    figures.entries_open += stats->get_count("entries");
    // metadata.json of the others counts them, too.
    figures.entries += stats->get_count("entries") + stats->get_count("expired");
    if (const json::Tree* sizes = stats->get("size_bytes")) {
      figures.size_bytes += sizes->get_count("total");
    }
    figures.index_memory_bytes += stats->get_count("memory_bytes");
    figures.entries_not_durable += last_seq - std::min(last_seq, stats->get_count("durable_seq"));
  }
  for (const auto& session : kept_.sessions()) {
    if (!looked_at.contains(session->id())) figures.index_memory_bytes += session->memory_bytes();
  }
  VARVE_TRY_ASSIGN(const auto others, totals_.of_others(*engine_, looked_at));
  figures.sessions = figures.sessions_open + others.sessions;
  figures.entries += others.entries;
  figures.size_bytes += others.size_bytes;
  return figures;
}

Result<std::string> OpenStore::metrics() {
  VARVE_TRY_ASSIGN(const StoreFigures found, figures());
  return metrics_text(uri_, found, counters_);
}

Result<json::Tree> OpenStore::back_up(std::string_view path, std::string_view options) {
  return store::back_up(copy_context(), path, options);
}

Result<json::Tree> OpenStore::restore(std::string_view path, std::string_view options) {
  RestoreSteps steps;
  std::weak_ptr<session::Session> replaced;
  steps.make_way = [&](const std::string& id) {
    replaced = find_open(id);
    return make_way(id);
  };
  steps.refresh = [&](const std::string& id) -> Result<uint64_t> {
    forget(id, replaced);
    quota_.forget();
    events_.post(session::Level::kInfo, "store", id, "session restored");
    VARVE_TRY_ASSIGN(const auto session, open_session(id));
    const Status saved = session->update("{}");  // its present counts
    // Whoever writes to it already saves them as well.
    if (!saved.ok() && saved.code() != Code::kBusy) return saved;
    VARVE_TRY_ASSIGN(const json::Tree figures, session->stats());
    return figures.get_count("entries");
  };
  return store::restore(copy_context(), path, options, steps);
}

Result<json::Tree> OpenStore::stats() {
  VARVE_TRY_ASSIGN(const StoreFigures found, figures());
  return stats_tree(uri_, found, counters_);
}

Result<json::Tree> OpenStore::usage(std::string_view filter_json) {
  VARVE_TRY_ASSIGN(const UsageFilter filter, parse_usage_filter(filter_json));
  query::Query which;
  which.user_id = filter.user_id;
  which.agent_id = filter.agent_id;
  which.session_ids = filter.session_ids;
  VARVE_TRY_ASSIGN(const auto sessions, sessions_of(which));
  return sum_usage(filter, sessions.ids,
                   [&](const std::string& id) { return open_if_of(which, id); });
}

void OpenStore::note_failed_call(const Status& failure, std::string_view session_id) noexcept {
  if (failure.is_told() || !session::is_of_disk(failure.code())) return;
  if (is_elsewhere(failure, uri_)) return;
  const std::string_view component = session_id.empty() ? "store" : "session";
  session::note_failure(failure, {component, session_id, "a call failed"}, events_, counters_);
}

// A session that fails does not keep the others from being synced. A deleted one has nothing to
// sync.
Status OpenStore::sync() {
  Status first;
  for (const auto& session : open_sessions()) {
    Status flushed = session->flush();
    if (first.ok() && flushed.code() != Code::kNotFound) first = std::move(flushed);
  }
  return first;
}

Status OpenStore::start_flusher() {
  const std::lock_guard guard(mutex_);
  if (flusher_ || closed_) return {};
  // Busy sessions are waited for half an interval at most: then the others are due again.
  flush_rounds_ = std::make_unique<FlushRounds>(
      clock_, settings_.batch_write_interval_ms / 2, settings_.lock_timeout_ms,
      [this](const std::string& id, const Status& failure) {
        events_.post(session::Level::kError, "store", id, failure.message());
      });
  const std::chrono::milliseconds interval(settings_.batch_write_interval_ms);
  try {
    flusher_ = std::make_unique<Flusher>(interval, [this] { flush_all(); });
    return {};
  } catch (const std::system_error& failure) {
    return no_thread_started(failure);
  }
}

void OpenStore::flush_all() noexcept {
  try {
    flush_rounds_->run(open_sessions());
  } catch (const std::bad_alloc&) {
    // The next round tries again.
  }
}

void OpenStore::close() {
  std::unique_ptr<Flusher> flusher;
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return;
    closed_ = true;
    flusher = std::move(flusher_);
  }
  flusher.reset();
  try {
    for (const auto& session : open_sessions()) session->close();
    kept_.clear();
    catalog_.close();
  } catch (const std::bad_alloc&) {
    // Each session closes when its last handle is closed.
  }
}

Result<std::shared_ptr<Store>> Store::open(std::string_view uri, std::string_view config_json,
                                           const Environment& environment) {
  auto store = std::make_shared<OpenStore>(uri, environment);
  VARVE_TRY(store->start(config_json));
  return std::shared_ptr<Store>(std::move(store));
}

}  // namespace varve::store
