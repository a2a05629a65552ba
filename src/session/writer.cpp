#include "session/writer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/time.h"
#include "session/catalog.h"
#include "session/metadata/expiry.h"
#include "session/retries.h"
#include "session/upkeep/migration.h"
#include "session/vectors/vector_check.h"

namespace varve::session {

struct Writer::Lines {
  uint64_t start_bytes = 0;  // where they will stand in the log
  uint64_t next_seq = 0;     // of the entry behind them
  std::string text;
  std::vector<Core::NewRow> rows;  // which will stand for them, one each
};

namespace {

constexpr int kPausesMax = 2;  // pauses of a thread that waits for companions
constexpr int64_t kPauseUs = 20;
constexpr uint64_t kGroupBytesMax = uint64_t{4} << 20;
constexpr uint64_t kPatientWaitMs = 200;  // for a lock that would be useful but is not needed

// [bytes] Of the entries as they are given.
uint64_t bytes_of(const WriteRequest& request) {
  uint64_t bytes = 0;
  for (const auto& draft : request.drafts) bytes += draft.body.size();
  return bytes;
}

json::Tree lock_details(std::string_view operation, std::string_view name, int64_t duration_us) {
  json::Tree details = json::Tree::object();
  details.set("operation", json::Tree::string(operation));
  details.set(name, json::Tree::number(static_cast<double>(duration_us) / 1000));
  return details;
}

// Runs a step once: while the disk takes the lines, or else when the write is answered. Readers of
// other threads and processes may have seen the lines before.
template <typename Step>
class Once {
 public:
  explicit Once(Step step) : step_(std::move(step)) {}
  void operator()() {
    if (!std::exchange(is_done_, true)) step_();
  }

 private:
  Step step_;
  bool is_done_ = false;
};

// Frees the first `count` ids of a request that is refused.
void give_back(const WriteRequest& request, size_t count, Writer::TakenIds* taken) {
  for (size_t i = 0; i < count; ++i) taken->erase(request.drafts[i].facts.id);
}

bool is_given_before(const WriteRequest& request, size_t index) {
  const auto begin = request.drafts.begin();
  const std::string& id = request.drafts[index].facts.id;
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(index),
                     [&](const entry::Draft& draft) { return draft.facts.id == id; });
}

entry::Batch batch_of(const WriteRequest& request, size_t index) {
  const size_t count = request.drafts.size();
  if (count < 2) return {};
  return {static_cast<uint32_t>(count), static_cast<uint32_t>(index)};
}

// [bytes] What it appends to the log when its first entry gets this number.
uint64_t sealed_bytes(const WriteRequest& request, uint64_t seq) {
  uint64_t bytes = 0;
  size_t index = 0;
  for (const auto& draft : request.drafts) {
    bytes += entry::sealed_bytes(draft, seq + index, batch_of(request, index));
    index += 1;
  }
  return bytes;
}

void append_request(WriteRequest& request, Writer::Lines* lines) {
  size_t index = 0;
  for (auto& draft : request.drafts) {
    const entry::Batch batch = batch_of(request, index);
    const size_t line_at = lines->text.size();
    entry::append_sealed(draft, lines->next_seq++, batch, &lines->text);
    const std::string_view line = std::string_view(lines->text).substr(line_at);
    const std::string_view bare = line.substr(0, line.size() - 1);
    const uint64_t offset = lines->start_bytes + line_at;
    lines->rows.push_back({&draft.facts, {offset, bare.size(), hash64(bare)}});
    index += 1;
  }
}

}  // namespace

void Writer::submit(std::span<WriteRequest> requests) {
  std::optional<DurationRecorder> recorder;
  if (requests.front().kind != WriteRequest::Kind::kCall) {
    recorder.emplace(*core_.context.clock, core_.context.counters->write_us);
  }
  const int64_t now_us = core_.context.clock->monotonic_us();
  for (WriteRequest& request : requests) request.submitted_us = now_us;
  std::unique_lock lock(mutex_);
  if (!enqueue(requests)) return;
  WriteRequest& last = requests.back();
  const auto is_next = [&] {
    return last.done || std::any_of(requests.begin(), requests.end(), [&](auto& request) {
             return queue_.front() == &request;  // ours stay in the queue until they are done
           });
  };
  for (;;) {
    if (!last.turn_wait_ms) {
      turn_.wait(lock, is_next);
    } else if (!turn_.wait_for(lock, std::chrono::milliseconds(*last.turn_wait_ms), is_next)) {
      return give_up_turn(last);
    }
    if (last.done) return;
    wait_for_companions(lock);
    Group group = take_group();
    lock.unlock();
    commit(group);
    lock.lock();
    end_group(group);
  }
}

size_t Writer::queued_call_count() {
  const std::lock_guard guard(mutex_);
  return queued_calls_;
}

// Answers the requests. The calls of this group, and no others, are expected to come again.
void Writer::end_group(const Group& group) noexcept {
  size_t call_count = 0;
  for (WriteRequest* request : group) {
    call_count += request->ends_call ? 1 : 0;
    request->done = true;
    queue_.pop_front();
  }
  queued_calls_ -= call_count;
  companion_count_ = call_count;
  turn_.notify_all();
}

// Queues all of them or none: a request left without its thread would stop everybody behind it.
bool Writer::enqueue(std::span<WriteRequest> requests) noexcept {
  size_t count = 0;
  try {
    for (; count < requests.size(); ++count) queue_.push_back(&requests[count]);
    requests.back().ends_call = true;
    queued_calls_ += 1;
    return true;
  } catch (const std::bad_alloc&) {
    for (; count > 0; --count) queue_.pop_back();
    for (auto& request : requests) request.status = Status::out_of_memory();
    return false;
  }
}

// A kCall is in a group of its own, so no other thread is working on it.
void Writer::give_up_turn(WriteRequest& request) noexcept {
  queue_.erase(std::find(queue_.begin(), queue_.end(), &request));
  queued_calls_ -= 1;
  try {
    request.status = {Code::kBusy, "other threads are writing to the session; try again"};
  } catch (const std::bad_alloc&) {
    request.status = Status::out_of_memory();
  }
}

// The calls that were in one group tend to come again at the same time, each as soon as its thread
// has a processor, and one sync for all takes as long as one for a few. A thread that writes alone
// waits for nobody.
void Writer::wait_for_companions(std::unique_lock<std::mutex>& lock) noexcept {
  if (queue_.front()->kind == WriteRequest::Kind::kCall || !core_.is_durable()) return;
  for (int i = 0; i < kPausesMax && queued_calls_ < companion_count_; ++i) {
    lock.unlock();
    core_.context.clock->sleep_us(kPauseUs);
    lock.lock();
  }
}

Status Writer::submit(WriteRequest& request) {
  submit(std::span(&request, 1));
  return std::move(request.status);
}

Status Writer::run(std::string_view operation, std::function<Status()> call) {
  WriteRequest request = WriteRequest::of_call(operation, std::move(call));
  return submit(request);
}

Status Writer::run_as_is(std::string_view operation, std::function<Status()> call) {
  WriteRequest request = WriteRequest::of_call(operation, std::move(call));
  request.recover = false;
  request.even_newer = true;
  return submit(request);
}

Status Writer::run_upkeep(std::string_view operation, std::function<Status()> call) {
  WriteRequest request = WriteRequest::of_call(operation, std::move(call));
  request.recover = false;
  return submit(request);
}

void Writer::save_snapshot(Saving saving, Patience patience) noexcept {
  try {
    const std::unique_lock one_at_a_time(snapshot_mutex_, std::try_to_lock);
    if (!one_at_a_time.owns_lock() || !core_.storage->writable()) return;
    core_.index_pending_words(saving);
    const auto snapshot = core_.prepare_snapshot(saving);
    if (!snapshot) return;
    WriteRequest request = WriteRequest::of_call("save index", [&] {
      core_.put_snapshot(*snapshot);
      return Status();
    });
    request.recover = false;
    if (patience == Patience::kLittle) {
      request.lock_wait_ms = saving == Saving::kAlways ? kPatientWaitMs : 0;
    }
    (void)submit(request).ok();
  } catch (const std::bad_alloc&) {
    // The next save may have memory. Without index.bin, opening takes longer, and that is all.
  }
}

// Takes the front of the queue and what may go with it. The requests stay queued until they are
// done, so that the next in line keeps waiting. Allocates nothing: a group that could not be told
// its outcome would wait for ever.
Writer::Group Writer::take_group() noexcept {
  Group group;
  uint64_t bytes = 0;
  for (WriteRequest* request : queue_) {
    if (request->kind != queue_.front()->kind || group.size() == group.capacity()) break;
    bytes += bytes_of(*request);
    if (!group.empty() && bytes > kGroupBytesMax) break;
    group.push_back(request);
    if (request->kind == WriteRequest::Kind::kCall) break;
    // Parts of one write reach the disk in any order: after a power loss, a whole line behind a
    // batch must prove that the batch was written to its end. So nothing goes behind a batch.
    if (request->drafts.size() > 1) break;
  }
  return group;
}

void Writer::commit(Group& group) noexcept {
  Status status;
  try {
    status = lock(group);
    if (status.ok()) {
      status = commit_locked(group);
      unlock(group.front()->operation);
    }
  } catch (const std::bad_alloc&) {
    // All threads that wait in this group must hear of it, not only this one.
    core_.storage->unlock();
    status = Status::out_of_memory();
  } catch (const std::exception& defect) {
    core_.storage->unlock();
    status = Status::defect(defect.what());
  } catch (...) {
    core_.storage->unlock();
    status = Status::defect("an exception of unknown type");
  }
  if (status.ok()) return;
  note_failure(group.front()->operation, status);
  for (WriteRequest* request : group) {
    if (request->status.ok()) request->status = status;
  }
}

// Threads that wait behind one another wait for the same lock: each has waited since it submitted,
// and the last of a group for the shortest time. Otherwise the tenth would wait ten timeouts.
Status Writer::lock(const Group& group) {
  const WriteRequest& request = *group.front();
  bool waited = false;
  Clock& clock = *core_.context.clock;
  Counters& counters = *core_.context.counters;
  const uint64_t wait_ms = request.lock_wait_ms.value_or(core_.settings.lock_timeout_ms);
  const int64_t start_us = clock.monotonic_us();
  const int64_t since_us = request.lock_wait_ms ? start_us : group.back()->submitted_us;
  const int64_t deadline_us = since_us + static_cast<int64_t>(wait_ms) * 1000;
  Status locked = core_.storage->lock(deadline_us, request.operation, &waited);
  locked_us_ = clock.monotonic_us();
  counters.lock_wait_us.record_duration(start_us, locked_us_);
  if (waited) counters.lock_waits += 1;
  if (locked.code() == Code::kBusy && !request.lock_wait_ms) {
    counters.lock_timeouts += 1;
    core_.events.post(Level::kWarn, "lock timeout",
                      lock_details(request.operation, "wait_ms", locked_us_ - start_us));
  } else if (locked.ok() && core_.context.events->wants(Level::kDebug)) {
    core_.events.post(Level::kDebug, "lock acquired",
                      lock_details(request.operation, "wait_ms", locked_us_ - start_us));
  }
  return locked;
}

// Neither unlocking nor logging may change what was answered.
void Writer::unlock(std::string_view operation) noexcept {
  if (!core_.context.events->wants(Level::kDebug)) {
    core_.storage->unlock();
    return;
  }
  const int64_t held_us = core_.context.clock->monotonic_us() - locked_us_;
  core_.storage->unlock();
  try {
    core_.events.post(Level::kDebug, "lock released", lock_details(operation, "hold_ms", held_us));
  } catch (const std::bad_alloc&) {
    // One log line less.
  }
}

void Writer::note_failure(std::string_view operation, const Status& failure) noexcept {
  try {
    core_.events.note_failure(failure, std::string(operation) + " failed");
  } catch (const std::bad_alloc&) {
    core_.events.note_failure(failure, "a write failed");
  }
}

Status Writer::commit_locked(Group& group) {
  const WriteRequest& first = *group.front();
  // How long the session lives may have been changed by others.
  Status followed = core_.metadata_file.follow();
  core_.size.follow();
  // What a newer version left is neither mended nor caught up with.
  if (!followed.ok()) return first.even_newer ? first.call() : std::move(followed);
  if (!first.recover) return first.call();
  if (!first.even_expired) VARVE_TRY(core_.check_not_expired());
  for (int attempt = 0; attempt < kConflictsMax; ++attempt) {
    VARVE_TRY(core_.catch_up_as_writer(attempt > 0));
    VARVE_TRY(migrate_if_older(core_, &current_generation_));
    if (core_.is_durable() && has_unsynced()) sync_earlier();
    if (first.kind == WriteRequest::Kind::kCall) return first.call();
    Status status = first.kind == WriteRequest::Kind::kAdd ? add_group(group) : delete_group(group);
    if (status.code() != Code::kConflict) return status;
    for (WriteRequest* request : group) request->status = Status();
  }
  return appended_to_too_often("the log");
}

// What was answered before another process chose "commit". If it fails, the next write tries again.
void Writer::sync_earlier() {
  if (!core_.storage->sync(core_.next_seq() - 1).ok()) return;
  set_synced();
  core_.context.counters->syncs += 1;
}

Status Writer::check_ids(const WriteRequest& request, uint64_t epoch,
                         const DamagedLines::Ids* damaged, TakenIds* taken) const {
  const std::shared_lock lock(core_.index_mutex);
  VARVE_TRY(core_.check_rows(epoch));
  for (size_t i = 0; i < request.drafts.size(); ++i) {
    const std::string& id = request.drafts[i].facts.id;
    const bool was_deleted = core_.index.was_deleted(id);
    const bool is_damaged = damaged != nullptr && damaged->contains(id);
    const bool is_new = !was_deleted && !is_damaged && !core_.index.find(id);
    if (is_new && (taken == nullptr || taken->insert(id).second)) continue;
    if (taken != nullptr) give_back(request, i, taken);
    const std::string why =
        was_deleted  ? "entry '" + id + "' was deleted; an id can be used only once"
        : is_damaged ? "a damaged line has the id '" + id + "': repair first"
        : is_given_before(request, i) ? "the id '" + id + "' is given twice in this batch"
                                      : "an entry '" + id + "' exists already";
    Place place;
    if (request.drafts.size() > 1) place.member = "[" + std::to_string(i) + "].id";
    return {Code::kAlreadyExists, why, std::move(place)};
  }
  return {};
}

// Nothing of this may change what is answered.
void Writer::note_written(uint64_t bytes, bool durable, uint64_t replaced_bytes) noexcept {
  changed_.store(true);
  if (!durable) unsynced_.store(true);
  core_.size.note_growth(static_cast<int64_t>(bytes) - static_cast<int64_t>(replaced_bytes));
  Counters& counters = *core_.context.counters;
  counters.bytes_written += bytes;
  if (durable) counters.syncs += 1;
  core_.size.watch();
  renew_expiry();
}

// Once, until the catalog covers the session again: the storage knows whether it was done.
Status Writer::note_change() {
  if (core_.context.catalog == nullptr || core_.storage->is_noted()) return {};
  std::string user;
  std::string agent;
  ChangingSession change;
  {
    const std::shared_lock lock(core_.index_mutex);
    const json::Tree& metadata = core_.metadata.tree();
    user = metadata.get_string("user_id");
    agent = metadata.get_string("agent_id");
    change.created_at_ms = parse_rfc3339(metadata.get_string("created_at")).value_or(0);
  }
  change.session_id = core_.id;
  change.user_id = user;
  change.agent_id = agent;
  change.catalogued_count = core_.storage->catalogued_count();
  VARVE_TRY(core_.context.catalog->note_change(change));
  core_.storage->set_noted();
  return {};
}

// Best effort: what was written is answered as written.
void Writer::renew_expiry() noexcept {
  try {
    const Renewal due = core_.metadata.renewal();
    if (due.from_ms == kNeverDue) return;
    const int64_t now_ms = core_.context.clock->now_ms();
    core_.metadata_file.note_write(now_ms);
    if (now_ms >= due.below_ms && now_ms < due.from_ms) return;
    (void)core_.metadata_file.save(log::DocumentDurability::kNamed).ok();
  } catch (const std::bad_alloc&) {
    // The next write renews it.
  }
}

Status Writer::check_fits(const WriteRequest& request, const Lines& lines) const {
  VARVE_TRY(room_.check(lines.text.size() + sealed_bytes(request, lines.next_seq)));
  if (request.drafts.size() <= entry::kSeqMax - lines.next_seq + 1) return {};
  return {Code::kCorruption,
          "the log has no sequence numbers left: a line of it, or metadata.json, carries the "
          "highest there is"};
}

Status Writer::make_lines(Group& group, Lines* lines) {
  uint64_t new_bytes = 0;
  uint64_t next_seq = core_.next_seq();  // the same after a compaction
  size_t count = 0;
  for (const WriteRequest* request : group) {
    new_bytes += sealed_bytes(*request, next_seq);
    next_seq += request->drafts.size();
    count += request->drafts.size();
  }
  VARVE_TRY(room_.make(new_bytes));
  VARVE_TRY(drop_stray_vectors(core_));
  const Core::AppendPoint end = core_.append_point();
  lines->start_bytes = end.start_bytes;
  lines->next_seq = end.seq;
  lines->text.reserve(new_bytes);
  lines->rows.reserve(count);
  std::shared_ptr<const DamagedLines::Ids> damaged;
  if (end.has_damage_before) {
    VARVE_TRY_ASSIGN(damaged, core_.damaged_lines.ids());
  }
  TakenIds taken(0, KeyHash{core_.hash_seed});
  if (count > 1) taken.reserve(count);
  for (WriteRequest* request : group) {
    request->status = check_ids(*request, end.epoch, damaged.get(), count > 1 ? &taken : nullptr);
    if (request->status.code() == Code::kConflict) return std::move(request->status);
    if (!request->status.ok()) continue;
    request->status = check_fits(*request, *lines);
    if (request->status.ok()) {
      append_request(*request, lines);
    } else {
      give_back(*request, request->drafts.size(), &taken);
    }
  }
  return {};
}

Status Writer::add_group(Group& group) {
  Lines lines;
  VARVE_TRY(make_lines(group, &lines));
  if (lines.rows.empty()) return {};
  VARVE_TRY(note_change());
  const bool durable = core_.is_durable();
  Once apply([&] {
    core_.apply_entries(lines.start_bytes, lines.rows, lines.start_bytes + lines.text.size());
  });
  VARVE_TRY(core_.storage->append(log::Stream::kEntries, lines.start_bytes, lines.text, durable,
                                  lines.next_seq - 1, std::ref(apply)));
  apply();
  note_written(lines.text.size(), durable);
  core_.events.watch_durability(*core_.storage);
  Counters& counters = *core_.context.counters;
  counters.commits += 1;
  counters.group_entries.record(lines.rows.size());
  counters.entries_added += lines.rows.size();
  return {};
}

Status Writer::delete_group(Group& group) {
  std::string text;
  std::vector<std::string_view> ids;
  uint64_t start_bytes = 0;
  bool are_others_lost = false;
  {
    const int64_t now_ms = core_.context.clock->now_ms();
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole_as_writer());
    start_bytes = core_.index.coverage.tombstones_bytes;
    are_others_lost = core_.lost_deletion_count() > 0;
    TakenIds taken(0, KeyHash{core_.hash_seed});
    for (WriteRequest* request : group) {
      request->deleted_count = 0;
      for (const entry::Tombstone& tombstone : request->tombstones) {
        const auto row = core_.index.find(tombstone.id);
        if (!row || !core_.index.is_live(*row, now_ms) || !taken.insert(tombstone.id).second) {
          continue;
        }
        text += entry::seal_tombstone(tombstone);
        ids.push_back(tombstone.id);
        request->deleted_count += 1;
      }
    }
  }
  if (ids.empty()) return {};
  const bool durable = core_.is_durable();
  Once apply([&] { core_.apply_tombstones(start_bytes, ids, text); });
  VARVE_TRY(core_.storage->append(log::Stream::kTombstones, start_bytes, text, durable, 0,
                                  std::ref(apply)));
  apply();
  note_written(text.size(), durable);
  if (are_others_lost) core_.count_beside_lost(ids.size());
  Counters& counters = *core_.context.counters;
  counters.commits += 1;
  counters.group_entries.record(ids.size());
  counters.entries_deleted += ids.size();
  return {};
}

}  // namespace varve::session
