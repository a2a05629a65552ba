#include "store/store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "query/parse.h"
#include "session/expiry.h"
#include "session/metadata.h"
#include "store/backup.h"
#include "store/catalog.h"
#include "store/config.h"
#include "store/flusher.h"
#include "store/host_clock.h"
#include "store/list_filter.h"
#include "store/metrics.h"
#include "store/session_list.h"
#include "store/session_rows.h"
#include "store/session_totals.h"
#include "store/store_query.h"
#include "store/store_usage.h"
#include "store/sweep.h"
#include "store/user_quota.h"

namespace varve::store {

namespace {

class OpenStore final : public Store, public std::enable_shared_from_this<OpenStore> {
 public:
  OpenStore(std::string_view uri, const Environment& environment)
      : uri_(uri),
        environment_(environment),
        clock_(*environment.clock),
        events_(clock_),
        ids_(clock_, *environment.random),
        totals_(clock_),
        catalog_(clock_, *environment.random, *environment.file_system),
        quota_(clock_, [this](const std::string& user_id) { return use_of(user_id); }) {}
  ~OpenStore() override { close(); }
  OpenStore(const OpenStore&) = delete;
  OpenStore& operator=(const OpenStore&) = delete;

  Status start(std::string_view config_json);

  Result<std::shared_ptr<session::Session>> create_session(std::string_view options) override;
  Result<std::shared_ptr<session::Session>> open_session(std::string_view id) override;
  Status delete_session(std::string_view id) override;
  Result<json::Tree> sessions(std::string_view filter_json) override;
  Result<session::QueryResults> query_of_user(std::string_view text,
                                              std::string_view user_id) override;
  Result<json::Tree> back_up(std::string_view path, std::string_view options_json) override;
  Result<json::Tree> restore(std::string_view path, std::string_view options_json) override;
  Result<json::Tree> sweep() override;
  Result<json::Tree> stats() override;
  Result<json::Tree> usage(std::string_view filter_json) override;
  Result<std::string> metrics() override;
  Status sync() override;
  void set_log(session::Level level, session::LogFunction function, void* user_data) override {
    events_.set_receiver(level, function, user_data);
  }
  void set_clock(ClockFunction function, void* user_data) override {
    clock_.set(function, user_data);
  }
  void tick() override {
    if (clock_.is_set()) clock_.tick();
  }
  int64_t now_ms() override { return clock_.now_ms(); }
  [[nodiscard]] bool has_events() const noexcept override { return events_.has_lines(); }
  void deliver_events() override { events_.deliver(); }
  void close() override;

 private:
  Status open_engine();
  Status configure(std::string_view config_json);
  CopyContext copy_context() {
    return {*engine_,
            *environment_.file_system,
            clock_,
            *environment_.random,
            settings_.lock_timeout_ms,
            &catalog_};
  }
  Result<std::shared_ptr<session::Session>> adopt(const std::string& id,
                                                  std::unique_ptr<log::SessionStorage> storage);
  Result<std::shared_ptr<session::Session>> for_the_host(std::shared_ptr<session::Session> session);
  Status drop(std::string_view id, const log::Engine::DropWanted& wanted);
  Status make_way(std::string_view id);
  void tell(std::string_view session_id, std::string_view what) noexcept;
  Status remove_expired(std::string_view id);
  Status make_way_for(const std::string& id);
  static Result<std::shared_ptr<session::Session>> unless_expired(
      std::shared_ptr<session::Session> session);
  Result<std::shared_ptr<session::Session>> open_even_expired(const std::string& id);
  std::shared_ptr<session::Session> find_open(std::string_view id);
  std::vector<std::shared_ptr<session::Session>> open_sessions();
  void forget_closed();
  Result<Catalog::Sessions> sessions_of(const query::Query& query);
  Result<std::shared_ptr<session::Session>> open_if_of(const query::Query& query,
                                                       const std::string& id);
  void catalog(const Catalog::Sessions& found) noexcept;
  Result<StoreFigures> figures();
  Result<UserQuota::Use> use_of(const std::string& user_id);
  void add_use_of(const std::string& id, UserQuota::Use* use);
  void start_flusher();
  void flush_all() noexcept;

  std::string uri_;
  Environment environment_;
  HostClock clock_;
  session::EventLog events_;
  session::Counters counters_;
  session::Settings settings_;
  IdGenerator ids_;
  std::unique_ptr<log::Engine> engine_;
  SessionTotals totals_;
  Catalog catalog_;
  UserQuota quota_;

  std::mutex mutex_;  // guards the rest
  std::map<std::string, std::weak_ptr<session::Session>, std::less<>> open_;
  static constexpr size_t kOpenCountToTidyMin = 1024;
  size_t open_count_to_tidy_ = kOpenCountToTidyMin;
  std::unique_ptr<FlushRounds> flush_rounds_;  // the flusher's, set before it
  std::unique_ptr<Flusher> flusher_;
  bool closed_ = false;
};

Status OpenStore::open_engine() {
  std::string_view path = uri_;
  if (path == "memory:") {
    engine_ = std::make_unique<log::MemoryEngine>(clock_);
    return {};
  }
  if (path.starts_with("file:")) {
    path.remove_prefix(5);
  } else if (const size_t colon = path.find(':');
             colon != std::string_view::npos && colon > 1 && path.find('/') > colon) {
    return {Code::kUnsupported, "no storage engine takes '" + std::string(path) +
                                    "'; give a directory, file:PATH or memory:"};
  }
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return {Code::kInvalidArgument, "the store's path is empty or has a NUL in it"};
  }
  const log::DirectoryEngine::Environment environment{environment_.file_system, &clock_,
                                                      environment_.random};
  VARVE_TRY_ASSIGN(engine_,
                   log::DirectoryEngine::open(path, environment, settings_.lock_timeout_ms));
  return {};
}

Status OpenStore::configure(std::string_view config_json) {
  // What is given must be right before anything is created on disk.
  session::Settings given;
  if (!config_json.empty()) VARVE_TRY(read_config(config_json, true, &given));
  settings_ = given;
  VARVE_TRY(open_engine());
  const auto stored = engine_->store_document("config.json");
  if (stored.code() == Code::kNotFound) return {};
  if (!stored.ok()) return stored.status();
  settings_ = session::Settings();
  const std::string path = config_path(uri_);
  VARVE_TRY(read_config(*stored, false, &settings_).with_context(path).in_file(path));
  if (!config_json.empty()) VARVE_TRY(read_config(config_json, true, &settings_));
  engine_->set_lock_timeout_ms(settings_.lock_timeout_ms);
  return {};
}

Status OpenStore::start(std::string_view config_json) {
  VARVE_TRY(configure(config_json));
  catalog_.use(*engine_, settings_.lock_timeout_ms, environment_.sessions_worth_catalog);
  quota_.set_limits(settings_.user_bytes_max, settings_.user_sessions_max);
  return {};
}

std::shared_ptr<session::Session> OpenStore::find_open(std::string_view id) {
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second.lock();
}

std::vector<std::shared_ptr<session::Session>> OpenStore::open_sessions() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<session::Session>> sessions;
  for (auto item = open_.begin(); item != open_.end();) {
    if (auto session = item->second.lock()) {
      sessions.push_back(std::move(session));
      ++item;
    } else {
      item = open_.erase(item);
    }
  }
  return sessions;
}

// With the mutex held. Now and then: a query across sessions may have opened a million.
void OpenStore::forget_closed() {
  if (open_.size() < open_count_to_tidy_) return;
  std::erase_if(open_, [](const auto& item) { return item.second.expired(); });
  open_count_to_tidy_ = std::max(kOpenCountToTidyMin, 2 * open_.size());
}

Result<std::shared_ptr<session::Session>> OpenStore::adopt(
    const std::string& id, std::unique_ptr<log::SessionStorage> storage) {
  session::Session::Context context{&clock_,    environment_.random, &events_,
                                    &counters_, settings_,           environment_.file_system};
  if (settings_.user_bytes_max > 0) context.quota = &quota_;
  context.catalog = &catalog_;
  context.find_listed = [this](std::string_view wanted) { return newest_row(*engine_, wanted); };
  context.start_flusher = [this] { start_flusher(); };
  VARVE_TRY_ASSIGN(auto session, session::Session::open(id, std::move(storage), context));
  const std::lock_guard guard(mutex_);
  forget_closed();
  auto& slot = open_[id];
  // Two threads may have opened it at once: the first one's object is everybody's.
  if (auto first = slot.lock()) return first;
  slot = session;
  return session;
}

// Of what was done, which stays done when there is no memory to tell of it.
void OpenStore::tell(std::string_view session_id, std::string_view what) noexcept {
  try {
    events_.post(session::Level::kInfo, "store", session_id, what);
  } catch (const std::bad_alloc&) {
    // A line less.
  }
}

// A session that expired is gone for everybody, so its id is free.
Status OpenStore::make_way_for(const std::string& id) {
  const auto text = engine_->session_document(id, "metadata.json");
  if (is_of_environment(text.code())) return text.status();
  if (!text.ok() || text->find("ttl_hours") == std::string::npos) return {};
  const auto session = open_even_expired(id);
  if (is_of_environment(session.code())) return session.status();
  if (!session.ok()) return {};  // create() tells what is the matter
  VARVE_TRY_ASSIGN(const bool is_over, (*session)->has_expired());
  if (!is_over) return {};
  Status removed = remove_expired(id);
  return removed.code() == Code::kConflict ? Status() : removed;  // it is in use again
}

Result<std::shared_ptr<session::Session>> OpenStore::create_session(std::string_view text) {
  VARVE_TRY_ASSIGN(session::CreateOptions options, session::parse_create_options(text));
  if (options.session_id.empty()) options.session_id = ids_.next("sess_");
  const int64_t now_ms = clock_.now_ms();
  const session::Metadata metadata = session::Metadata::make(options, now_ms);
  VARVE_TRY(make_way_for(options.session_id));
  const log::SessionRow row{options.session_id, options.user_id, options.agent_id, now_ms};
  VARVE_TRY_ASSIGN(auto storage, quota_.create_session(options.user_id, [&] {
    return engine_->create(row, metadata.encode());
  }));
  tell(options.session_id, "session created");
  VARVE_TRY_ASSIGN(auto session, adopt(options.session_id, std::move(storage)));
  return for_the_host(std::move(session));
}

// What the library opens for itself is not kept from others.
Result<std::shared_ptr<session::Session>> OpenStore::for_the_host(
    std::shared_ptr<session::Session> session) {
  if (settings_.exclusive) VARVE_TRY(session->keep_lock());
  return session;
}

Result<std::shared_ptr<session::Session>> OpenStore::open_session(std::string_view id) {
  if (!is_valid_id(id)) {
    Place place;
    place.member = "id";
    return Status(Code::kInvalidArgument,
                  "a session id is 1 to 128 letters, digits, '_' and '-', not starting with '-'",
                  std::move(place));
  }
  if (auto session = find_open(id)) {
    if (events_.wants(session::Level::kDebug)) {
      json::Tree details = json::Tree::object();
      details.set("reason", json::Tree::string("the session is open already"));
      events_.post(session::Level::kDebug, "store", id, "cache hit", std::move(details));
    }
    // It may have been deleted by another process, and made anew.
    const Status alive = session->check_alive();
    if (alive.ok()) {
      VARVE_TRY_ASSIGN(session, unless_expired(std::move(session)));
      return for_the_host(std::move(session));
    }
    if (alive.code() != Code::kNotFound) return alive;
    const std::lock_guard guard(mutex_);
    open_.erase(std::string(id));
  }
  VARVE_TRY_ASSIGN(auto session, open_even_expired(std::string(id)));
  VARVE_TRY_ASSIGN(session, unless_expired(std::move(session)));
  return for_the_host(std::move(session));
}

Result<std::shared_ptr<session::Session>> OpenStore::unless_expired(
    std::shared_ptr<session::Session> session) {
  VARVE_TRY_ASSIGN(const bool is_over, session->has_expired());
  if (is_over) return session::expired_status(session->id());
  return session;
}

Result<std::shared_ptr<session::Session>> OpenStore::open_even_expired(const std::string& id) {
  if (auto session = find_open(id)) return session;
  VARVE_TRY_ASSIGN(auto storage, engine_->open(id));
  return adopt(id, std::move(storage));
}

Result<json::Tree> OpenStore::sweep() {
  SweepContext context;
  context.engine = engine_.get();
  context.clock = &clock_;
  context.open = [this](const std::string& id) { return open_even_expired(id); };
  context.remove = [this](const std::string& id) { return remove_expired(id); };
  return store::sweep(context);
}

Status OpenStore::delete_session(std::string_view id) {
  if (!is_valid_id(id)) return {Code::kInvalidArgument, "this is not a session id"};
  return drop(id, {});
}

// kConflict when somebody wrote to it since: under its lock, it is asked again.
Status OpenStore::remove_expired(std::string_view id) {
  return drop(id, [&](log::SessionStorage& storage) {
    return session::has_expired(storage, id, clock_.now_ms());
  });
}

// For who is to take a session's name away: the lock that is kept here would be in his way. Where
// the session stays it is shared from then on.
Status OpenStore::make_way(std::string_view id) {
  if (!settings_.exclusive) return {};
  const auto session = find_open(id);
  return session ? session->stop_keeping_lock() : Status();
}

Status OpenStore::drop(std::string_view id, const log::Engine::DropWanted& wanted) {
  const int64_t deadline_us =
      clock_.monotonic_us() + static_cast<int64_t>(settings_.lock_timeout_ms) * 1000;
  const auto in_catalog = catalog_.entries_of(id);
  VARVE_TRY(make_way(id));
  VARVE_TRY(engine_->drop(id, deadline_us, wanted));
  if (in_catalog.ok()) catalog_.remove_entries(*in_catalog);
  {
    const std::lock_guard guard(mutex_);
    const auto found = open_.find(id);
    if (found != open_.end()) open_.erase(found);
  }
  quota_.forget();
  tell(id, "session deleted");
  return {};
}

// The sessions a query is about, and perhaps others. Words are weighed by all sessions of a user,
// whatever the tags.
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

// kNotFound also for a session that is another user's.
Result<std::shared_ptr<session::Session>> OpenStore::open_if_of(const query::Query& query,
                                                                const std::string& id) {
  VARVE_TRY_ASSIGN(auto session, open_session(id));
  if (query.user_id.empty() && query.agent_id.empty()) return session;
  VARVE_TRY_ASSIGN(const json::Tree metadata, session->metadata());
  const bool is_of = (query.user_id.empty() || metadata.get_string("user_id") == query.user_id) &&
                     (query.agent_id.empty() || metadata.get_string("agent_id") == query.agent_id);
  if (!is_of) return Status(Code::kNotFound, "the session is another user's or agent's");
  return session;
}

// For later queries: what this one was asked is answered.
void OpenStore::catalog(const Catalog::Sessions& found) noexcept {
  try {
    const Status taken =
        catalog_.take(found, [this](const std::string& id) { return open_even_expired(id); });
    const bool is_possible = taken.code() != Code::kUnsupported && taken.code() != Code::kReadOnly;
    if (!taken.ok() && is_possible) {
      events_.post(session::Level::kWarn, "store", "", "no catalog: " + taken.message());
    }
  } catch (const std::bad_alloc&) {
    // The next query may have memory.
  }
}

Result<session::QueryResults> OpenStore::query_of_user(std::string_view text,
                                                       std::string_view user_id) {
  const DurationRecorder recorder(clock_, counters_.query_us);
  VARVE_TRY_ASSIGN(query::Query query, query::parse_query(text, query::Scope::kStore));
  if (!user_id.empty()) {
    if (!query.user_id.empty() && query.user_id != user_id) {
      Place place;
      place.member = "user_id";
      return Status(Code::kInvalidArgument, "user_id: these are the sessions of another user",
                    std::move(place));
    }
    query.user_id = user_id;
  }
  VARVE_TRY_ASSIGN(const auto sessions, sessions_of(query));
  auto results = query_sessions(
      query, sessions.ids, settings_.threads, clock_.now_ms(),
      [&](const std::string& id) { return open_if_of(query, id); },
      [&](const std::string& id, const Status& failure) {
        events_.post(session::Level::kWarn, "store", id,
                     "left out of a query: " + failure.message());
      });
  if (results.ok()) catalog(sessions);
  return results;
}

Result<json::Tree> OpenStore::sessions(std::string_view filter_json) {
  VARVE_TRY_ASSIGN(const ListFilter filter, parse_filter(filter_json));
  if (filter.rescan) {
    VARVE_TRY(engine_->rescan());
    VARVE_TRY(catalog_.drop());
  }
  return list_sessions(*engine_, filter, clock_.now_ms(),
                       [this](const std::string& id) { return find_open(id); });
}

Result<UserQuota::Use> OpenStore::use_of(const std::string& user_id) {
  UserQuota::Use use;
  std::unordered_set<std::string> told;
  RowVisitor visitor;
  visitor.begin = [&] {
    use = {};
    told.clear();
  };
  visitor.visit = [&](const RowAt& at) {
    const bool counts = at.row.user_id == user_id && told.insert(at.row.session_id).second;
    if (counts) add_use_of(at.row.session_id, &use);
    return true;
  };
  VARVE_TRY(for_each_row(*engine_, {}, visitor));
  return use;
}

void OpenStore::add_use_of(const std::string& id, UserQuota::Use* use) {
  const auto text = engine_->session_document(id, "metadata.json");
  if (text.code() == Code::kNotFound) return;  // deleted since
  use->sessions += 1;
  if (const auto session = find_open(id)) {
    use->bytes += session->size_bytes();
  } else if (text.ok()) {
    const auto metadata = session::Metadata::parse(*text, id);
    if (!metadata.ok()) return;
    const int64_t bytes = metadata->tree().get_int64("total_size_bytes");
    use->bytes += static_cast<uint64_t>(std::max<int64_t>(0, bytes));
  }
}

// Open sessions exactly, the others by their metadata.
Result<StoreFigures> OpenStore::figures() {
  StoreFigures figures;
  std::unordered_set<std::string> looked_at;
  for (const auto& session : open_sessions()) {
    const auto stats = session->stats();
    if (stats.code() == Code::kNotFound) continue;  // deleted meanwhile
    VARVE_TRY(stats);
    const auto figure = [](const json::Tree& tree, std::string_view name) {
      return static_cast<uint64_t>(std::max<int64_t>(0, tree.get_int64(name)));
    };
    const uint64_t last_seq = figure(*stats, "last_seq");
    looked_at.insert(session->id());
    figures.sessions_open += 1;
    figures.entries_open += figure(*stats, "entries");
    if (const json::Tree* sizes = stats->get("size_bytes")) {
      figures.size_bytes += figure(*sizes, "total");
    }
    figures.index_memory_bytes += figure(*stats, "memory_bytes");
    figures.entries_not_durable += last_seq - std::min(last_seq, figure(*stats, "durable_seq"));
  }
  VARVE_TRY_ASSIGN(const auto others, totals_.of_others(*engine_, looked_at));
  figures.sessions = figures.sessions_open + others.sessions;
  figures.entries = figures.entries_open + others.entries;
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
  steps.make_way = [this](const std::string& id) { return make_way(id); };
  steps.refresh = [this](const std::string& id) -> Result<uint64_t> {
    {
      const std::lock_guard guard(mutex_);
      open_.erase(id);  // of the session that was replaced
    }
    events_.post(session::Level::kInfo, "store", id, "session restored");
    VARVE_TRY_ASSIGN(const auto session, open_session(id));
    VARVE_TRY(session->update("{}"));  // with the counts that it has now
    VARVE_TRY_ASSIGN(const json::Tree figures, session->stats());
    return static_cast<uint64_t>(figures.get_int64("entries"));
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

Status OpenStore::sync() {
  for (const auto& session : open_sessions()) VARVE_TRY(session->flush());
  return {};
}

void OpenStore::start_flusher() {
  const std::lock_guard guard(mutex_);
  if (flusher_ || closed_) return;
  // Half an interval at most for those that are busy: the others are due again by then.
  flush_rounds_ = std::make_unique<FlushRounds>(
      clock_, settings_.batch_write_interval_ms / 2, settings_.lock_timeout_ms,
      [this](const std::string& id, const Status& failure) {
        events_.post(session::Level::kError, "store", id, failure.message());
      });
  flusher_ = std::make_unique<Flusher>(std::chrono::milliseconds(settings_.batch_write_interval_ms),
                                       [this] { flush_all(); });
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
    catalog_.close();
  } catch (const std::bad_alloc&) {
    // Each is closed with its last handle.
  }
}

}  // namespace

Result<std::shared_ptr<Store>> Store::open(std::string_view uri, std::string_view config_json,
                                           const Environment& environment) {
  auto store = std::make_shared<OpenStore>(uri, environment);
  VARVE_TRY(store->start(config_json));
  return std::shared_ptr<Store>(std::move(store));
}

}  // namespace varve::store
