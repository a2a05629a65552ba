// OpenStore: the implementation of Store. open_store.cpp starts and ends it, queries across
// sessions and sums up; open_store_sessions.cpp creates, opens and removes sessions.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "log/storage.h"
#include "query/query.h"
#include "session/metadata/metadata.h"
#include "session/query/analyzer_pool.h"
#include "session/settings.h"
#include "session/store_services.h"
#include "store/backup.h"
#include "store/catalog.h"
#include "store/flusher.h"
#include "store/host_clock.h"
#include "store/kept_sessions.h"
#include "store/metrics.h"
#include "store/session_totals.h"
#include "store/store.h"
#include "store/user_quota.h"
#include "store/user_sessions.h"

namespace varve::store {

class OpenStore final : public Store, private session::StoreServices {
 public:
  using SessionPointer = std::shared_ptr<session::Session>;

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

  Result<SessionPointer> create_session(std::string_view options) override;
  Result<SessionPointer> open_session(std::string_view id) override;
  Status delete_session(std::string_view id) override;
  Status check_entry(std::string_view session_id, std::string_view entry_json) override;
  Result<json::Tree> sessions(std::string_view filter_json) override;
  Result<session::QueryResults> query_of_user(std::string_view text,
                                              std::string_view user_id) override;
  Result<session::QueryResults> recall(const query::Query& query,
                                       const std::string& session_id) override;
  Result<SessionPointer> open_for_itself(std::string_view id) override;
  [[nodiscard]] size_t open_at_once_max() const override;
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
  void note_failed_call(const Status& failure, std::string_view session_id) noexcept override;
  [[nodiscard]] bool has_events() const noexcept override { return events_.has_lines(); }
  void deliver_events() override { events_.deliver(); }
  void close() override;

 private:
  // open_store.cpp
  Status open_engine(std::string_view config_json);
  Status configure(std::string_view config_json);
  Status take_stored_config(io::Directory& root, std::string_view config_json);
  CopyContext copy_context() {
    return {*engine_,
            *environment_.file_system,
            clock_,
            *environment_.random,
            settings_.lock_timeout_ms,
            settings_.recovery,
            &catalog_,
            [this](const std::string& id, const CopyContext::Look& look) {
              return look_at_still(id, look);
            }};
  }
  Result<Catalog::Sessions> sessions_of(const query::Query& query);
  Result<session::QueryResults> ask_sessions(const query::Query& query,
                                             const std::vector<std::string>& session_ids,
                                             const std::string& asked_anyway);
  Result<session::QueryResults> query_across(const query::Query& query,
                                             const std::string& asked_anyway);
  void catalog(const Catalog::Sessions& found) noexcept;
  Result<StoreFigures> figures();
  Status start_flusher() override;
  void flush_all() noexcept;

  // open_store_sessions.cpp
  SessionPointer find_open(std::string_view id);
  SessionPointer find_open_for_host(std::string_view id);
  std::vector<SessionPointer> open_sessions();
  std::vector<SessionPointer> sessions_open_for_host();
  void forget_closed();
  void forget(std::string_view id, const std::weak_ptr<session::Session>& gone);
  Result<SessionPointer> adopt(const std::string& id, std::unique_ptr<log::SessionStorage> storage);
  Result<SessionPointer> for_the_host(const SessionPointer& session);
  Result<SessionPointer> create_new(const session::CreateOptions& options);
  Result<SessionPointer> open_or_create(const session::CreateOptions& options);
  static Result<SessionPointer> unless_expired(SessionPointer session);
  Result<SessionPointer> open_even_expired(const std::string& id);
  Result<SessionPointer> open_if_of(const query::Query& query, const std::string& id);
  Status make_way_for(const std::string& id);
  Status make_way(std::string_view id);
  void write_kept_entries(std::string_view id);
  Status look_at_still(const std::string& id, const CopyContext::Look& look);
  Status drop(std::string_view id, const log::Engine::DropWanted& wanted);
  Status remove_expired(std::string_view id);
  void tell(std::string_view session_id, std::string_view what) noexcept;
  Result<std::optional<log::SessionRow>> find_listed(std::string_view id) override;
  bool is_own_file(std::string_view path) override;
  Status remove_left_overs() override { return engine_->remove_left_overs(); }
  Result<UserQuota::Use> use_of(const std::string& user_id);
  void add_use_of(const std::string& id, const std::string& user_id, UserQuota::Use* use);

  std::string uri_;
  Environment environment_;
  HostClock clock_;
  session::EventLog events_;
  session::Counters counters_;
  session::Settings settings_;
  std::unique_ptr<session::AnalyzerPool> analyzers_;  // of the settings
  IdGenerator ids_;
  std::unique_ptr<log::Engine> engine_;
  SessionTotals totals_;
  Catalog catalog_;
  UserSessions user_sessions_;
  UserQuota quota_;

  std::mutex mutex_;  // guards the rest
  struct Open {
    std::weak_ptr<session::Session> session;
    std::weak_ptr<session::Session> of_host;  // made by for_the_host()
  };
  std::map<std::string, Open, std::less<>> open_;
  static constexpr size_t kOpenCountToTidyMin = 1024;
  size_t open_count_to_tidy_ = kOpenCountToTidyMin;
  std::unique_ptr<FlushRounds> flush_rounds_;  // used by the flusher, so set before it
  std::unique_ptr<Flusher> flusher_;
  bool closed_ = false;

  KeptSessions kept_;  // has a lock of its own. Destroyed first: sessions use the rest
};

}  // namespace varve::store
