#include "session/writer.h"

#include <algorithm>
#include <new>
#include <unordered_set>
#include <utility>

#include "base/hash.h"

namespace varve::session {

namespace {

constexpr uint64_t kGroupBytesMax = uint64_t{4} << 20;
constexpr int kConflictsMax = 4;  // foreign appends without the lock that may pass by

uint64_t bytes_of(const WriteRequest& request) {
  uint64_t bytes = 0;
  for (const auto& draft : request.drafts) bytes += draft.body.size();
  return bytes;
}

bool is_durable(const Settings& settings) {
  return settings.durability == log::Durability::kCommit;
}

// What one group appends: the lines and, for each, the row that will stand for it.
struct Lines {
  std::string text;
  std::vector<Core::NewRow> rows;
};

void append_request(WriteRequest& request, uint64_t start_bytes, uint64_t* seq, Lines* lines) {
  const auto count = static_cast<uint32_t>(request.drafts.size());
  uint32_t index = 0;
  for (auto& draft : request.drafts) {
    const entry::Batch batch = count > 1 ? entry::Batch{count, index} : entry::Batch();
    const std::string line = entry::seal(draft, (*seq)++, batch);
    const std::string_view bare = std::string_view(line).substr(0, line.size() - 1);
    lines->rows.push_back(
        {&draft.facts, {start_bytes + lines->text.size(), bare.size(), hash64(bare)}});
    lines->text += line;
    index += 1;
  }
}

}  // namespace

void Writer::submit(std::span<WriteRequest> requests) {
  if (requests.empty()) return;
  std::unique_lock lock(mutex_);
  for (auto& request : requests) queue_.push_back(&request);
  WriteRequest& last = requests.back();
  const auto all_done = [&] { return last.done; };
  for (;;) {
    turn_.wait(lock, [&] {
      return all_done() || std::any_of(requests.begin(), requests.end(), [&](auto& request) {
               return !queue_.empty() && queue_.front() == &request;
             });
    });
    if (all_done()) return;
    Group group = take_group();
    lock.unlock();
    commit(group);
    lock.lock();
    for (WriteRequest* request : group) {
      request->done = true;
      queue_.pop_front();
    }
    turn_.notify_all();
  }
}

Status Writer::run(std::string_view operation, std::function<Status()> call) {
  WriteRequest request;
  request.kind = WriteRequest::Kind::kCall;
  request.operation = operation;
  request.call = std::move(call);
  submit(std::span(&request, 1));
  return std::move(request.status);
}

Status Writer::run_as_is(std::string_view operation, std::function<Status()> call) {
  WriteRequest request;
  request.kind = WriteRequest::Kind::kCall;
  request.recover = false;
  request.operation = operation;
  request.call = std::move(call);
  submit(std::span(&request, 1));
  return std::move(request.status);
}

// The front of the queue and what may go with it. They stay queued until they are done, so that
// the next in line keeps waiting.
Writer::Group Writer::take_group() {
  Group group;
  uint64_t bytes = 0;
  for (WriteRequest* request : queue_) {
    if (request->kind != queue_.front()->kind) break;
    bytes += bytes_of(*request);
    if (!group.empty() && bytes > kGroupBytesMax) break;
    group.push_back(request);
    if (request->kind == WriteRequest::Kind::kCall) break;
    // Parts of one write reach the disk in any order: after a power loss, a whole line behind a
    // batch must prove that the batch was written to its end. So nothing goes behind it.
    if (request->drafts.size() > 1) break;
  }
  return group;
}

void Writer::commit(Group& group) {
  Status status;
  try {
    status = lock(group.front()->operation);
    if (status.ok()) {
      status = commit_locked(group);
      core_.storage->unlock();
    }
  } catch (const std::bad_alloc&) {
    // Whoever waits in this group must hear of it, not only this thread.
    core_.storage->unlock();
    status = Status(Code::kNoMemory, "out of memory");
  }
  if (status.ok()) return;
  for (WriteRequest* request : group) {
    if (request->status.ok()) request->status = status;
  }
}

Status Writer::lock(std::string_view operation) {
  bool waited = false;
  const int64_t deadline_us = core_.context.clock->monotonic_us() +
                              static_cast<int64_t>(core_.settings.lock_timeout_ms) * 1000;
  Status locked = core_.storage->lock(deadline_us, operation, &waited);
  if (waited) core_.context.counters->lock_waits += 1;
  if (locked.code() == Code::kBusy) {
    core_.context.counters->lock_timeouts += 1;
    core_.post(Level::kWarn, "lock timeout");
  }
  return locked;
}

Status Writer::commit_locked(Group& group) {
  if (!group.front()->recover) return group.front()->call();
  for (int attempt = 0; attempt < kConflictsMax; ++attempt) {
    VARVE_TRY(core_.catch_up_as_writer(attempt > 0));
    Status status;
    switch (group.front()->kind) {
      case WriteRequest::Kind::kAdd: status = add_group(group); break;
      case WriteRequest::Kind::kDelete: status = delete_group(group); break;
      case WriteRequest::Kind::kCall: return group.front()->call();
    }
    if (status.code() != Code::kConflict) return status;
    for (WriteRequest* request : group) request->status = Status();
  }
  return {Code::kBusy, "somebody appends to the log without taking its lock"};
}

Status Writer::check_ids(const WriteRequest& request, const Group& accepted) const {
  std::unordered_set<std::string_view> taken;
  for (const WriteRequest* other : accepted) {
    for (const auto& draft : other->drafts) taken.insert(draft.facts.id);
  }
  const std::shared_lock lock(core_.index_mutex);
  for (const auto& draft : request.drafts) {
    const std::string& id = draft.facts.id;
    if (core_.index.was_deleted(id)) {
      return {Code::kAlreadyExists, "entry '" + id + "' was deleted; an id is used once, ever"};
    }
    if (core_.index.find(id) || !taken.insert(id).second) {
      return {Code::kAlreadyExists, "an entry '" + id + "' exists already"};
    }
  }
  return {};
}

Status Writer::check_size(uint64_t new_bytes) const {
  const uint64_t limit = core_.settings.session_bytes_max;
  if (limit == 0) return {};
  const std::shared_lock lock(core_.index_mutex);
  const uint64_t size = core_.view.tail.entries_bytes + core_.view.tail.tombstones_bytes +
                        core_.snapshot_size_bytes + new_bytes;
  if (size <= limit) return {};
  Place place;
  place.size = size;
  place.limit = limit;
  return {Code::kSizeLimit,
          "the session would be " + std::to_string(size) + " bytes; its limit is " +
              std::to_string(limit) + " (storage.max_session_size_mb)",
          std::move(place)};
}

Status Writer::add_group(Group& group) {
  uint64_t start_bytes = 0;
  {
    const std::shared_lock lock(core_.index_mutex);
    start_bytes = core_.index.coverage.entries_bytes;
  }
  uint64_t seq = core_.next_seq();
  Lines lines;
  Group accepted;
  for (WriteRequest* request : group) {
    request->status = check_ids(*request, accepted);
    if (request->status.ok()) {
      request->status = check_size(lines.text.size() + bytes_of(*request));
    }
    if (request->status.ok() && request->drafts.size() > entry::kSeqMax - seq + 1) {
      request->status = {Code::kCorruption,
                         "the log has no sequence numbers left: a line of it "
                         "carries the highest there is"};
    }
    if (!request->status.ok()) continue;
    append_request(*request, start_bytes, &seq, &lines);
    accepted.push_back(request);
  }
  if (accepted.empty()) return {};
  const bool durable = is_durable(core_.settings);
  VARVE_TRY(
      core_.storage->append(log::Stream::kEntries, start_bytes, lines.text, durable, seq - 1));
  changed_.store(true);
  if (!durable) unsynced_.store(true);
  core_.apply_entries(start_bytes, lines.rows, start_bytes + lines.text.size());
  Counters& counters = *core_.context.counters;
  counters.commits += 1;
  counters.entries_added += lines.rows.size();
  counters.bytes_written += lines.text.size();
  if (durable) counters.syncs += 1;
  return {};
}

Status Writer::delete_group(Group& group) {
  std::string text;
  std::vector<std::string_view> ids;
  uint64_t start_bytes = 0;
  {
    const int64_t now_ms = core_.context.clock->now_ms();
    const std::shared_lock lock(core_.index_mutex);
    start_bytes = core_.index.coverage.tombstones_bytes;
    std::unordered_set<std::string_view> taken;
    for (WriteRequest* request : group) {
      const std::string& id = request->tombstone.id;
      const auto row = core_.index.find(id);
      if (!row || !core_.index.is_live(*row, now_ms) || !taken.insert(id).second) {
        request->status = Status(Code::kNotFound, "there is no entry '" + id + "' to delete");
        continue;
      }
      text += entry::seal_tombstone(request->tombstone);
      ids.push_back(id);
    }
  }
  if (ids.empty()) return {};
  const bool durable = is_durable(core_.settings);
  VARVE_TRY(core_.storage->append(log::Stream::kTombstones, start_bytes, text, durable, 0));
  changed_.store(true);
  if (!durable) unsynced_.store(true);
  core_.apply_tombstones(start_bytes, ids, start_bytes + text.size());
  Counters& counters = *core_.context.counters;
  counters.commits += 1;
  counters.entries_deleted += ids.size();
  counters.bytes_written += text.size();
  if (durable) counters.syncs += 1;
  return {};
}

}  // namespace varve::session
