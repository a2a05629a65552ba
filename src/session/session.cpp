#include "session/session.h"

#include <atomic>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "log/failure_buffer.h"
#include "query/parse.h"
#include "session/catalog.h"
#include "session/core.h"
#include "session/entry/entry_input.h"
#include "session/metadata/expiry.h"
#include "session/query/query.h"
#include "session/query/selection.h"
#include "session/query/tags.h"
#include "session/reports/index_listing.h"
#include "session/reports/stats.h"
#include "session/stores/capped_check.h"
#include "session/stores/key_value.h"
#include "session/stores/transcript.h"
#include "session/transfer/export.h"
#include "session/transfer/import.h"
#include "session/upkeep/compaction.h"
#include "session/upkeep/index_rebuild.h"
#include "session/upkeep/migration.h"
#include "session/upkeep/repair.h"
#include "session/upkeep/verify.h"
#include "session/writer.h"

namespace varve::session {

struct Session::Parts {
  Parts(std::string id, std::unique_ptr<log::SessionStorage> storage, const Context& context)
      : core(std::move(id), std::move(storage), context),
        writer(core),
        key_value(core, writer),
        transcript(core, writer),
        ids(*context.clock, *context.random) {}

  [[nodiscard]] entry::DraftOptions draft_options() const {
    entry::DraftOptions options;
    options.session_id = core.id;
    options.now_ms = core.context.clock->now_ms();
    options.entry_bytes_max = static_cast<size_t>(core.settings.entry_bytes_max);
    return options;
  }

  // Counts and logs a failure; returns the answer.
  template <typename Answer>
  Answer noted(Answer answer, std::string_view message) {
    if (!answer.ok()) core.events.note_failure(answer.status(), message);
    return answer;
  }

  Core core;
  Writer writer;
  KeyValue key_value;
  Transcript transcript;
  IdGenerator ids;
  UsageTable usage{core};
  std::atomic<bool> closed{false};
  std::atomic<bool> keeps_lock{false};
};

namespace {

// For calls that may find nothing to do.
Status check_is_there(Core& core) {
  VARVE_TRY(core.check_not_expired());
  return core.storage->tail().status();  // kNotFound when the session was deleted
}

Status check_entry_id(std::string_view id) { return check_id(id, "an id", "id"); }

// Ids consist of characters that need no escape.
std::string ids_as_json(const std::vector<entry::Draft>& drafts) {
  std::string list = "[";
  for (const auto& draft : drafts) list.append(1, '"').append(draft.facts.id).append("\",");
  if (!drafts.empty()) list.pop_back();
  return list.append(1, ']');
}

Saving always_if(bool is_wanted) { return is_wanted ? Saving::kAlways : Saving::kIfDue; }

bool is_over(Session& session) noexcept {
  try {
    const auto over = session.has_expired();
    return over.ok() && *over;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

Session::Session(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Session::~Session() { close(); }

Result<std::shared_ptr<Session>> Session::open(std::string id,
                                               std::unique_ptr<log::SessionStorage> storage,
                                               const Context& context) {
  if (const uint64_t bytes_max = context.settings.failure_buffer_bytes_max; bytes_max > 0) {
    storage = std::make_unique<log::FailureBuffer>(std::move(storage), bytes_max);
  }
  auto parts = std::make_unique<Parts>(std::move(id), std::move(storage), context);
  Core& core = parts->core;
  VARVE_TRY(core.load());
  if (core.settings.recovery == Recovery::kStrict) VARVE_TRY(check_strictly(core));
  core.durability = core.durability_of(core.metadata.tree());
  VARVE_TRY(core.prepare_for(core.durability));
  if (core.context.events->wants(Level::kInfo)) {
    VARVE_TRY(core.open_rows());
    json::Tree details = json::Tree::object();
    details.set("entries", json::Tree::integer_unsigned(core.index.undeleted_count()));
    core.events.post(Level::kInfo, "session opened", std::move(details));
  }
  return std::shared_ptr<Session>(new Session(std::move(parts)));
}

const std::string& Session::id() const { return parts_->core.id; }

Result<std::string> Session::add(std::string_view text) {
  VARVE_TRY_ASSIGN(entry::Draft draft, draft_entry(text, parts_->draft_options(), parts_->ids));
  std::string id = draft.facts.id;
  WriteRequest request;
  request.drafts.push_back(std::move(draft));
  VARVE_TRY(parts_->writer.submit(request));
  parts_->writer.save_snapshot(Saving::kIfDue);
  return id;
}

Result<std::string> Session::add_batch(std::string_view text) {
  WriteRequest request;
  VARVE_TRY_ASSIGN(request.drafts, draft_batch(text, parts_->draft_options(), parts_->ids));
  // Made before the write, because nothing may fail after it.
  std::string list = ids_as_json(request.drafts);
  if (request.drafts.empty()) {
    VARVE_TRY(check_is_there(parts_->core));
    return list;
  }
  VARVE_TRY(in_batch(parts_->writer.submit(request), text));
  parts_->writer.save_snapshot(Saving::kIfDue);
  return list;
}

Result<EntryLine> Session::read(std::string_view id) {
  VARVE_TRY(check_entry_id(id));
  VARVE_TRY(parts_->core.check_not_expired());
  parts_->core.context.counters->gets.fetch_add(1, std::memory_order_relaxed);
  return parts_->noted(parts_->core.entries.read(id), "an entry cannot be read");
}

Result<std::string> Session::get(std::string_view id) {
  VARVE_TRY_ASSIGN(const EntryLine line, read(id));
  return std::string(*line);
}

Status Session::remove(std::string_view id, std::string_view reason) {
  VARVE_TRY(check_entry_id(id));
  VARVE_TRY(entry::check_reason(reason));
  WriteRequest request;
  request.kind = WriteRequest::Kind::kDelete;
  request.operation = "delete";
  request.tombstones.push_back(
      {std::string(id), std::string(reason), parts_->core.context.clock->now_ms()});
  VARVE_TRY(parts_->writer.submit(request));
  if (request.deleted_count > 0) return {};
  return {Code::kNotFound, "there is no entry '" + std::string(id) + "' to delete"};
}

Status Session::put_vector(std::string_view id, std::span<const float> values) {
  VARVE_TRY(check_entry_id(id));
  const std::string refusal = embedding::refusal_of(values);
  if (refusal.empty()) return parts_->writer.put_vector(id, values);
  return {Code::kInvalidArgument,
          "the vector " + refusal,
          {.member = "values", .size = values.size(), .limit = embedding::kDimensionMax}};
}

Result<QueryResults> Session::query(std::string_view text) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kSession));
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(run_query(parts_->core, query), "a query failed");
}

Result<QueryResults> Session::query_among(const query::Query& query, const SharedQuery& shared,
                                          double key_min) {
  return run_query_among(parts_->core, query, shared, key_min);
}

Result<UnreadResults> Session::find_among(const query::Query& query, const SharedQuery& shared,
                                          double key_min) {
  return find_unread(parts_->core, query, shared, key_min);
}

Result<CountedWords> Session::count_words(const query::Query& query, const SharedQuery& shared) {
  return session::count_words(parts_->core, query, shared);
}

Result<query::BestMatch> Session::find_best_match(const query::Query& query,
                                                  const SharedQuery& shared) {
  return session::find_best_match(parts_->core, query, shared);
}

Result<RankedKeys> Session::find_rank_keys(const query::Query& query, const SharedQuery& shared) {
  return session::find_rank_keys(parts_->core, query, shared);
}

Result<std::vector<Selected>> Session::select(const query::Query& query) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(session::select(parts_->core, query), "a query failed");
}

Result<std::vector<Selected>> Session::select_ids(const std::vector<std::string>& ids,
                                                  int64_t now_ms) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::select_ids(parts_->core, ids, now_ms);
}

Result<ToolCall> Session::select_tool_call(const Selected& entry, std::string_view call_key,
                                           int64_t now_ms, KnownCalls* known) {
  return session::select_tool_call(parts_->core, entry, call_key, now_ms, known);
}

Result<bool> Session::is_tool(const Selected& entry) {
  return session::is_tool(parts_->core, entry);
}

Result<SelectedLine> Session::read(const Selected& entry) {
  return read_selected(parts_->core, entry);
}

int64_t Session::now_ms() const { return parts_->core.context.clock->now_ms(); }

Result<uint64_t> Session::count(std::string_view text) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kCount));
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(count_matches(parts_->core, query), "a query failed");
}

Result<json::Tree> Session::tags() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_tags(parts_->core);
}

Result<CatalogFacts> Session::take_for_catalog() {
  return session::take_for_catalog(parts_->core, parts_->writer);
}

Result<uint64_t> Session::remove_where(std::string_view text, std::string_view reason) {
  VARVE_TRY(entry::check_reason(reason));
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kDelete));
  VARVE_TRY_ASSIGN(const auto ids, find_matches(parts_->core, query));
  const int64_t now_ms = parts_->core.context.clock->now_ms();
  if (ids.empty()) return uint64_t{0};
  WriteRequest request;
  request.kind = WriteRequest::Kind::kDelete;
  request.operation = "delete";
  for (const auto& id : ids) request.tombstones.push_back({id, std::string(reason), now_ms});
  VARVE_TRY(parts_->writer.submit(request));
  return request.deleted_count;  // fewer than were found if another thread deleted some first
}

Result<json::Tree> Session::metadata() {
  Core& core = parts_->core;
  VARVE_TRY(core.check_not_expired());
  VARVE_TRY(core.catch_up());
  VARVE_TRY_ASSIGN(json::Tree described, core.metadata_file.described());
  VARVE_TRY(core.check_not_expired());  // by what was read just now
  return described;
}

Status Session::update(std::string_view patch) {
  Core& core = parts_->core;
  return parts_->writer.run("update", [&]() -> Status {
    const auto caps = [&] {
      return std::pair(cap_of(core, CappedStore::kKeyValue),
                       cap_of(core, CappedStore::kTranscript));
    };
    const auto before = caps();
    log::Durability wanted = core.durability;
    VARVE_TRY(core.metadata_file.save(log::DocumentDurability::kNamed, [&](Metadata& metadata) {
      VARVE_TRY(metadata.apply_patch(patch));
      wanted = core.durability_of(metadata.tree());
      VARVE_TRY(prepare_for(wanted));
      core.metadata_file.note_write(core.context.clock->now_ms());
      return Status();
    }));
    core.durability = wanted;
    if (caps() == before) return {};
    // Entries beyond a cap are never shown; here they also leave the files.
    const Status tidied = tidy_stores(core, Remains::kSetAside);
    if (!tidied.ok())
      core.events.post(Level::kWarn,
                       "what is beyond a lowered cap was not removed yet: " + tidied.message());
    return {};
  });
}

// Before the metadata says so, as a call that failed has changed nothing. A change to "commit" is
// answered only when everything answered before is durable, too, whoever wrote it.
Status Session::prepare_for(log::Durability wanted) {
  Core& core = parts_->core;
  VARVE_TRY(core.prepare_for(wanted));
  const bool becomes_durable = wanted == log::Durability::kCommit && !core.is_durable();
  return becomes_durable ? sync_log(core.next_seq() - 1) : Status();
}

Status Session::kv_set(std::string_view key, std::string_view value) {
  return parts_->key_value.set(key, value);
}

Result<std::string> Session::kv_get(std::string_view key) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->key_value.get(key), "kv.json cannot be read");
}

Status Session::kv_delete(std::string_view key) { return parts_->key_value.remove(key); }

Result<json::Tree> Session::kv_list() {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->key_value.list(), "kv.json cannot be read");
}

Status Session::transcript_append(std::string_view role, std::string_view content) {
  return parts_->transcript.append(role, content);
}

Result<json::Tree> Session::transcript_last(uint64_t count) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->transcript.last(count), "transcript.md cannot be read");
}

Result<bool> Session::has_expired() {
  Core& core = parts_->core;
  {
    const std::shared_lock lock(core.index_mutex);
    if (core.metadata.tree().get("ttl_hours") == nullptr) return false;
  }
  // Another process may have renewed it.
  return session::has_expired(*core.storage, core.id, core.context.clock->now_ms());
}

Status Session::settle_last_access() {
  Core& core = parts_->core;
  {
    const std::shared_lock lock(core.index_mutex);
    if (!is_access_doubtful(core.metadata.tree(), core.context.clock->now_ms())) return {};
  }
  return parts_->writer.run(
      "sweep", [&] { return core.metadata_file.save(log::DocumentDurability::kNamed); });
}

uint64_t Session::expired_entry_count() {
  Core& core = parts_->core;
  const int64_t now_ms = core.context.clock->now_ms();
  if (!core.load_rows().ok()) return 0;
  const std::shared_lock lock(core.index_mutex);
  return core.index.expired_count(now_ms);
}

uint64_t Session::size_bytes() { return parts_->core.size_bytes(); }

Result<uint64_t> Session::measured_size_bytes() { return parts_->core.measured_size_bytes(); }

uint64_t Session::memory_bytes() const {
  const std::shared_lock lock(parts_->core.index_mutex);
  return parts_->core.memory_bytes_now();
}

Status Session::check_alive() {
  VARVE_TRY(parts_->core.follow());
  Status known = parts_->core.metadata_file.look();
  VARVE_TRY(parts_->core.storage->check_name());
  return known;
}

bool Session::has_present_log() { return parts_->core.has_present_log(); }

bool Session::is_of(std::string_view user_id, std::string_view agent_id) const {
  return parts_->core.is_of(user_id, agent_id);
}

uint64_t Session::lost_line_count() { return parts_->core.lost_line_count(); }

Status Session::keep_lock() {
  return parts_->writer.run_as_is("exclusive use", [&] {
    parts_->core.storage->keep_lock();
    parts_->keeps_lock = true;
    return Status();
  });
}

Status Session::stop_keeping_lock() {
  return parts_->writer.run_as_is("exclusive use", [&] {
    parts_->keeps_lock = false;
    parts_->core.storage->stop_keeping_lock();
    return Status();
  });
}

Status Session::look_at_still(const std::function<Status(bool is_still)>& look) {
  if (!parts_->keeps_lock) return look(false);
  return parts_->writer.run_as_is("backup", [&] { return look(parts_->keeps_lock); });
}

Status Session::flush(std::optional<uint64_t> wait_ms) {
  // What the disk did not take was answered as an add of any durability is.
  const bool is_due = parts_->writer.has_unsynced() || parts_->core.storage->undurable().bytes > 0;
  return is_due ? make_durable(wait_ms) : Status();
}

Status Session::make_durable(std::optional<uint64_t> wait_ms) {
  WriteRequest request =
      WriteRequest::of_call("sync", [&] { return sync_log(parts_->core.next_seq() - 1); });
  request.lock_wait_ms = wait_ms;
  request.turn_wait_ms = wait_ms;
  request.even_expired = true;  // what is synced was answered before
  request.even_newer = true;
  return parts_->writer.submit(request);
}

Status Session::sync_log(uint64_t last_seq) {
  Core& core = parts_->core;
  VARVE_TRY(core.storage->sync(last_seq));
  core.events.watch_durability(*core.storage);
  parts_->writer.set_synced();
  core.context.counters->syncs += 1;
  return {};
}

Status Session::sync() {
  VARVE_TRY(sync_without_index());
  parts_->writer.save_snapshot(Saving::kAlways);
  return {};
}

// Makes everything durable, and saves the metadata that says so.
Status Session::sync_without_index() {
  Core& core = parts_->core;
  WriteRequest request = WriteRequest::of_call("sync", [&] {
    const uint64_t last_seq = core.next_seq() - 1;
    const uint64_t tombstone_count = core.tombstone_count();
    VARVE_TRY(sync_log(last_seq));
    VARVE_TRY(core.metadata_file.save(log::DocumentDurability::kNamed, [&](Metadata& metadata) {
      metadata.note_durable(last_seq, tombstone_count);
      return Status();
    }));
    // Under the lock: what another thread adds next is not saved by this.
    parts_->writer.set_saved();
    return Status();
  });
  request.even_newer = true;  // then only what was answered before is made durable
  return parts_->writer.submit(request);
}

// A session may end after an allocation failed: what was answered is in the log all the same.
void Session::close() {
  if (!parts_) return;
  Core& core = parts_->core;
  Status saved;
  try {
    if (is_over(*this)) {
      // Saving would write the present time, and revive the session.
    } else if (parts_->writer.has_changes()) {
      saved = sync_without_index();
      if (saved.ok()) parts_->writer.save_snapshot(always_if(core.is_snapshot_worth_saving()));
    } else if (!parts_->closed) {
      parts_->writer.save_snapshot(always_if(core.is_snapshot_wanting()));
    }
  } catch (const std::bad_alloc&) {
    saved = Status::out_of_memory();
  }
  try {
    // Of a session that was deleted there is nothing to save, and nothing to lose.
    if (!saved.ok() && saved.code() != Code::kNotFound) {
      const bool loses = core.storage->undurable().bytes > 0 || parts_->writer.has_unsynced();
      core.events.post(loses ? Level::kError : Level::kWarn,
                       "closed without saving: " + saved.message());
    }
    if (!parts_->closed.exchange(true)) core.events.post(Level::kInfo, "session closed");
  } catch (const std::bad_alloc&) {
    // Nobody can be told.
  }
}

Result<json::Tree> Session::stats() {
  VARVE_TRY(parts_->core.check_not_expired());
  Result<json::Tree> tree = session::stats(parts_->core);
  if (tree.ok() && parts_->writer.has_unsynced()) tree->set("durable", json::Tree::boolean(false));
  return tree;
}
Result<UsageByDay> Session::usage(int64_t start_ms, int64_t end_ms) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->usage.by_day(start_ms, end_ms);
}
Result<json::Tree> Session::stats_with_usage() {
  VARVE_TRY_ASSIGN(const auto days,
                   usage(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  Usage total;
  for (const auto& [day, usage_of_day] : days) total.add(usage_of_day);
  json::Tree tree = json::Tree::object();
  total.write_to(tree);
  VARVE_TRY_ASSIGN(json::Tree figures, stats());
  figures.set("usage", std::move(tree));
  return figures;
}
Result<json::Tree> Session::files() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_files(parts_->core);
}
Result<json::Tree> Session::verify(bool deep, const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::verify(parts_->core, parts_->writer, deep, receiver);
}
Result<json::Tree> Session::repair(bool dry_run, bool accept_edits) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::repair(parts_->core, parts_->writer, {dry_run, accept_edits});
}
Result<json::Tree> Session::compact(const CompactionOptions& options) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::compact(parts_->core, parts_->writer, options);
}
Result<json::Tree> Session::migrate(bool dry_run) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::migrate(parts_->core, parts_->writer, dry_run);
}
Result<std::string> Session::index_listing() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_index(parts_->core);
}

Result<json::Tree> Session::rebuild_index() {
  VARVE_TRY(parts_->core.check_not_expired());
  Core& core = parts_->core;
  const int64_t start_us = core.context.clock->monotonic_us();
  VARVE_TRY(session::rebuild_index(core));
  parts_->writer.save_snapshot(Saving::kAlways);
  const int64_t duration_us = core.context.clock->monotonic_us() - start_us;
  json::Tree report = json::Tree::object();
  const std::shared_lock lock(core.index_mutex);
  report.set("entries", json::Tree::integer_unsigned(core.index.undeleted_count()));
  report.set("duration_ms", json::Tree::number(static_cast<double>(duration_us) / 1000.0));
  return report;
}

Status Session::export_text(std::string_view format, const log::BeginSink& begin,
                            const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto options, parse_export_format(format));
  return session::export_text(parts_->core, options, begin, receiver);
}

Result<json::Tree> Session::export_file(std::string_view path, std::string_view options,
                                        const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto parsed, parse_export_options(options, true));
  return session::export_file(parts_->core, path, parsed, receiver);
}

Result<json::Tree> Session::import_text(std::string_view text, const ProgressReceiver& receiver) {
  VARVE_TRY(check_is_there(parts_->core));
  transfer::TextInput input(text);
  auto report = import_entries(parts_->core, parts_->writer, parts_->ids, input, {}, receiver);
  parts_->writer.save_snapshot(Saving::kIfDue);
  return report;
}

Result<json::Tree> Session::import_file(std::string_view path, std::string_view options,
                                        const ProgressReceiver& receiver) {
  VARVE_TRY(check_is_there(parts_->core));
  VARVE_TRY_ASSIGN(const auto parsed, parse_import_options(options));
  io::FileSystem* files = parts_->core.context.file_system;
  if (files == nullptr) {
    return Status(Code::kUnsupported, "this store has no access to files outside it");
  }
  VARVE_TRY_ASSIGN(const auto input, transfer::FileInput::open(*files, path));
  auto report = import_entries(parts_->core, parts_->writer, parts_->ids, *input, parsed, receiver);
  parts_->writer.save_snapshot(Saving::kIfDue);
  return report;
}

}  // namespace varve::session
