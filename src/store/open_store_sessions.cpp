#include <algorithm>
#include <new>
#include <utility>

#include "entry/entry.h"
#include "json/document.h"
#include "session/metadata/expiry.h"
#include "store/list_filter.h"
#include "store/open_store.h"
#include "store/own_files.h"
#include "store/session_list.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

Status check_session_id(std::string_view id) { return check_id(id, "a session id", "id"); }

// Saves a session when the host has let go of it, also while a query across sessions reads from it.
// Until it is saved, the store can find it. It is not kept open then, though a query asked it.
class SavedAtEnd {
 public:
  SavedAtEnd(OpenStore::SessionPointer session, KeptSessions* kept, SessionTotals* totals)
      : session_(std::move(session)), kept_(kept), totals_(totals) {}
  ~SavedAtEnd() {
    session_->close();
    note_change();
    kept_->let_go(session_->id());
  }
  SavedAtEnd(const SavedAtEnd&) = delete;
  SavedAtEnd& operator=(const SavedAtEnd&) = delete;

 private:
  void note_change() noexcept {
    try {
      totals_->note_change(session_->id());
    } catch (const std::bad_alloc&) {
      // Its figures are old until the next look at all sessions.
    }
  }

  const OpenStore::SessionPointer session_;
  KeptSessions* const kept_;
  SessionTotals* const totals_;
};

// A session with this id that belongs to another user or agent is not the one asked for.
Result<OpenStore::SessionPointer> unless_anothers(OpenStore::SessionPointer session,
                                                  const session::CreateOptions& options) {
  if (options.user_id.empty() && options.agent_id.empty()) return session;
  VARVE_TRY_ASSIGN(const json::Tree metadata, session->metadata());
  const auto is_anothers = [&](std::string_view member, const std::string& wanted) {
    return !wanted.empty() && metadata.get_string(member) != wanted;
  };
  const std::string_view whose = is_anothers("user_id", options.user_id)     ? "user"
                                 : is_anothers("agent_id", options.agent_id) ? "agent"
                                                                             : "";
  if (whose.empty()) return session;
  return Status(Code::kAlreadyExists, "a session '" + options.session_id +
                                          "' exists already and belongs to another " +
                                          std::string(whose) +
                                          (whose == "agent" ? "; several agents share a session "
                                                              "that is opened without agent_id"
                                                            : ""));
}

}  // namespace

OpenStore::SessionPointer OpenStore::find_open(std::string_view id) {
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : found->second.session.lock();
}

// Those that the library opened for itself are not what the host takes for open: their figures may
// be as old as the last query.
OpenStore::SessionPointer OpenStore::find_open_for_host(std::string_view id) {
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(id);
  const bool is_for_host = found != open_.end() && !found->second.of_host.expired();
  return is_for_host ? found->second.session.lock() : nullptr;
}

std::vector<OpenStore::SessionPointer> OpenStore::sessions_open_for_host() {
  const std::lock_guard guard(mutex_);
  std::vector<SessionPointer> sessions;
  for (const auto& [id, open] : open_) {
    auto session = open.of_host.expired() ? nullptr : open.session.lock();
    if (session) sessions.push_back(std::move(session));
  }
  return sessions;
}

std::vector<OpenStore::SessionPointer> OpenStore::open_sessions() {
  const std::lock_guard guard(mutex_);
  std::vector<SessionPointer> sessions;
  for (auto item = open_.begin(); item != open_.end();) {
    if (auto session = item->second.session.lock()) {
      sessions.push_back(std::move(session));
      ++item;
    } else {
      item = open_.erase(item);
    }
  }
  return sessions;
}

// Mutex held. Needed from time to time: a query across sessions may have opened a million of them.
void OpenStore::forget_closed() {
  if (open_.size() < open_count_to_tidy_) return;
  std::erase_if(open_, [](const auto& item) { return item.second.session.expired(); });
  open_count_to_tidy_ = std::max(kOpenCountToTidyMin, 2 * open_.size());
}

Result<OpenStore::SessionPointer> OpenStore::adopt(const std::string& id,
                                                   std::unique_ptr<log::SessionStorage> storage) {
  session::Session::Context context{&clock_,    environment_.random, &events_,
                                    &counters_, settings_,           environment_.file_system};
  if (settings_.user_bytes_max > 0) context.quota = &quota_;
  context.catalog = &catalog_;
  context.analyzers = analyzers_.get();
  context.store = this;
  VARVE_TRY_ASSIGN(auto session, session::Session::open(id, std::move(storage), context));
  totals_.note_change(id);
  for (;;) {
    SessionPointer first;
    {
      const std::lock_guard guard(mutex_);
      forget_closed();
      auto& slot = open_[id];
      first = slot.session.lock();
      if (!first) {
        slot = {session, {}};
        return session;
      }
    }
    // If two threads opened it at once, all use the object of the first, unless that is of a
    // session that no longer exists and to which somebody still has a handle.
    if (first->check_alive().code() != Code::kNotFound) return first;
    forget(id, first);
  }
}

// Unless another object has taken its place.
void OpenStore::forget(std::string_view id, const std::weak_ptr<session::Session>& gone) {
  kept_.let_go(id);
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const auto& present = found->second.session;
  const bool is_same = !present.owner_before(gone) && !gone.owner_before(present);
  if (is_same) open_.erase(found);
}

// Reports what was done. It stays done even when there is no memory to report it.
void OpenStore::tell(std::string_view session_id, std::string_view what) noexcept {
  try {
    events_.post(session::Level::kInfo, "store", session_id, what);
  } catch (const std::bad_alloc&) {
    // One log line less.
  }
}

// An expired session is gone for everybody, so its id is free.
Status OpenStore::make_way_for(const std::string& id) {
  const auto text = engine_->session_document(id, log::kMetadataFile);
  if (is_of_environment(text.code())) return text.status();
  if (!text.ok() || text->find("ttl_hours") == std::string::npos) return {};
  const auto session = open_even_expired(id);
  if (is_of_environment(session.code())) return session.status();
  if (!session.ok()) return {};  // create() says what is wrong
  const auto is_over = (*session)->has_expired();
  if (is_over.code() == Code::kNotFound) return {};  // deleted meanwhile, perhaps created again
  VARVE_TRY(is_over);
  if (!*is_over) return {};
  Status removed = remove_expired(id);
  // The session is in use again, or somebody else has removed it.
  const bool is_settled = removed.code() == Code::kConflict || removed.code() == Code::kNotFound;
  return is_settled ? Status() : removed;
}

Result<OpenStore::SessionPointer> OpenStore::create_session(std::string_view text) {
  VARVE_TRY_ASSIGN(session::CreateOptions options, session::parse_create_options(text));
  if (options.if_exists == session::IfExists::kOpen) return open_or_create(options);
  if (options.session_id.empty()) options.session_id = ids_.next("sess_");
  return create_new(options);
}

Result<OpenStore::SessionPointer> OpenStore::create_new(const session::CreateOptions& options) {
  const int64_t now_ms = clock_.now_ms();
  const session::Metadata metadata = session::Metadata::make(options, now_ms);
  const log::SessionRow row{options.session_id, options.user_id, options.agent_id, now_ms};
  using StoragePointer = std::unique_ptr<log::SessionStorage>;
  VARVE_TRY_ASSIGN(auto storage, kept_.with_descriptors([&]() -> Result<StoragePointer> {
    VARVE_TRY(make_way_for(options.session_id));
    return quota_.create_session(options.user_id,
                                 [&] { return engine_->create(row, metadata.encode()); });
  }));
  tell(options.session_id, "session created");
  VARVE_TRY_ASSIGN(auto session, adopt(options.session_id, std::move(storage)));
  return for_the_host(session);
}

// Others may create and delete the session in between, once or twice; after more of that we give
// up. What has the name without being a session can be neither opened nor created.
Result<OpenStore::SessionPointer> OpenStore::open_or_create(const session::CreateOptions& options) {
  constexpr int kTriesMax = 8;
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    auto session = open_session(options.session_id);
    if (session.ok()) session = unless_anothers(*std::move(session), options);
    if (session.code() != Code::kNotFound) return session;
    session = create_new(options);
    if (session.code() == Code::kNotFound) continue;
    if (session.code() != Code::kAlreadyExists) return session;
    VARVE_TRY_ASSIGN(const bool is_no_session,
                     engine_->is_name_without_session(options.session_id));
    if (is_no_session) {
      return Status(Code::kAlreadyExists, "the directory of session '" + options.session_id +
                                              "' exists without a session in it; move it away");
    }
  }
  return Status(Code::kBusy, "session '" + options.session_id +
                                 "' keeps being created and deleted by others; try again");
}

// Only sessions opened for the host keep their lock, not those the library opens for itself. All
// handles of the host share one pointer.
Result<OpenStore::SessionPointer> OpenStore::for_the_host(const SessionPointer& session) {
  if (settings_.exclusive) VARVE_TRY(session->keep_lock());
  const std::lock_guard guard(mutex_);
  const auto found = open_.find(session->id());
  const bool is_known = found != open_.end() && found->second.session.lock() == session;
  SessionPointer of_host = is_known ? found->second.of_host.lock() : nullptr;
  if (of_host) return of_host;
  of_host = SessionPointer(std::make_shared<SavedAtEnd>(session, &kept_, &totals_), session.get());
  if (is_known) found->second.of_host = of_host;
  return of_host;
}

Result<OpenStore::SessionPointer> OpenStore::open_session(std::string_view id) {
  VARVE_TRY_ASSIGN(auto session, open_for_itself(id));
  return for_the_host(session);
}

Result<OpenStore::SessionPointer> OpenStore::open_for_itself(std::string_view id) {
  VARVE_TRY(check_session_id(id));
  if (events_.wants(session::Level::kDebug) && find_open(id)) {
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string("the session is open already"));
    events_.post(session::Level::kDebug, "store", id, "cache hit", std::move(details));
  }
  VARVE_TRY_ASSIGN(auto session, open_even_expired(std::string(id)));
  return unless_expired(std::move(session));
}

Result<OpenStore::SessionPointer> OpenStore::unless_expired(SessionPointer session) {
  VARVE_TRY_ASSIGN(const bool is_over, session->has_expired());
  if (is_over) return session::expired_status(session->id());
  return session;
}

Result<OpenStore::SessionPointer> OpenStore::open_even_expired(const std::string& id) {
  if (auto session = find_open(id)) {
    // Another process may have deleted it and created it again.
    const Status alive = session->check_alive();
    if (alive.ok()) return session;
    if (alive.code() != Code::kNotFound) return alive;
    forget(id, session);
  }
  return kept_.with_descriptors([&]() -> Result<SessionPointer> {
    VARVE_TRY_ASSIGN(auto storage, engine_->open(id));
    return adopt(id, std::move(storage));
  });
}

Status OpenStore::delete_session(std::string_view id) {
  VARVE_TRY(check_session_id(id));
  return drop(id, {});
}

Status OpenStore::check_entry(std::string_view session_id, std::string_view entry_json) {
  entry::DraftOptions options;
  options.session_id = session_id;
  options.now_ms = clock_.now_ms();
  options.entry_bytes_max = static_cast<size_t>(settings_.entry_bytes_max);
  json::Document scratch;
  return entry::draft(entry_json, options, ids_, scratch).status();
}

// kConflict when somebody has written to it: has_expired() is asked again under the session's lock.
Status OpenStore::remove_expired(std::string_view id) {
  return drop(id, [&](log::SessionStorage& storage) {
    return session::has_expired(storage, id, clock_.now_ms());
  });
}

// Entries that the disk did not take are in no file, and the session's lock is held for them: it
// may take them by now. Best effort.
void OpenStore::write_kept_entries(std::string_view id) {
  if (settings_.failure_buffer_bytes_max == 0) return;
  const auto session = find_open(id);
  if (session) (void)session->flush(0).ok();
}

// Before a session loses its name: a lock that is kept here would be in the way. If the session
// stays, it is shared from then on.
Status OpenStore::make_way(std::string_view id) {
  write_kept_entries(id);
  if (!settings_.exclusive) return {};
  const auto session = find_open(id);
  return session ? session->stop_keeping_lock() : Status();
}

// Only recovery `salvage` asks whether a batch at the end may still be written.
Status OpenStore::look_at_still(const std::string& id, const CopyContext::Look& look) {
  write_kept_entries(id);
  const bool is_asked = settings_.exclusive && settings_.recovery == session::Recovery::kSalvage;
  const auto session = is_asked ? find_open(id) : nullptr;
  return session ? session->look_at_still(look) : look(false);
}

Status OpenStore::drop(std::string_view id, const log::Engine::DropWanted& wanted) {
  const auto in_catalog = catalog_.entries_of(id);
  const std::weak_ptr<session::Session> dropped = find_open(id);
  VARVE_TRY(make_way(id));
  (void)engine_->remove_left_overs().ok();  // of this session, perhaps
  VARVE_TRY(engine_->drop(id, wanted));
  if (in_catalog.ok()) catalog_.remove_entries(*in_catalog);
  totals_.note_change(std::string(id));
  forget(id, dropped);
  quota_.forget();
  tell(id, "session deleted");
  return {};
}

Result<std::optional<log::SessionRow>> OpenStore::find_listed(std::string_view id) {
  VARVE_TRY_ASSIGN(log::ValidRows rows, engine_->valid_rows({std::string(id)}));
  if (rows.empty()) return std::optional<log::SessionRow>();
  return std::optional(std::move(rows.begin()->second));
}

bool OpenStore::is_own_file(std::string_view path) {
  return store::is_own_file(*environment_.file_system, *engine_, path);
}

// kNotFound also when the session is another user's.
Result<OpenStore::SessionPointer> OpenStore::open_if_of(const query::Query& query,
                                                        const std::string& id) {
  VARVE_TRY_ASSIGN(auto session, open_for_itself(id));
  if (session->is_of(query.user_id, query.agent_id)) return session;
  return Status(Code::kNotFound, "the session is another user's or agent's");
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
  VARVE_TRY_ASSIGN(const auto ids, user_sessions_.of(*engine_, user_id));
  UserQuota::Use use;
  for (const std::string& id : ids) add_use_of(id, user_id, &use);
  return use;
}

void OpenStore::add_use_of(const std::string& id, const std::string& user_id, UserQuota::Use* use) {
  const auto text = engine_->session_document(id, log::kMetadataFile);
  if (text.code() == Code::kNotFound) return;  // deleted since
  auto metadata = session::Metadata::parse(text.ok() ? *text : std::string(), id);
  // The id was another user's before, or is another user's now.
  if (metadata.ok() && metadata->tree().get_string("user_id") != user_id) return;
  use->sessions += 1;
  // An open one may not have been used here since another process wrote to it.
  const auto session = find_open_for_host(id);
  const auto measured = session ? session->measured_size_bytes() : Status(Code::kNotFound, "");
  if (measured.ok()) {
    use->bytes += *measured;
  } else if (metadata.ok()) {
    use->bytes += metadata->tree().get_count("total_size_bytes");
  }
}

}  // namespace varve::store
