#include "session/session.h"

#include <new>
#include <utility>

#include "log/failure_buffer.h"
#include "session/metadata/expiry.h"
#include "session/session_parts.h"
#include "session/stores/capped_check.h"
#include "session/upkeep/verify.h"

namespace varve::session {

namespace {

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

int64_t Session::now_ms() const { return parts_->core.context.clock->now_ms(); }

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

uint64_t Session::size_bytes() { return parts_->core.size.bytes(); }

Result<uint64_t> Session::measured_size_bytes() { return parts_->core.size.measured_bytes(); }

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

}  // namespace varve::session
