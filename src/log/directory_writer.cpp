// The writing half of DirectoryStorage: the lock, the commit protocol, healing.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/time.h"
#include "log/atomic_file.h"
#include "log/directory_storage.h"

namespace varve::log {

namespace {

constexpr int64_t kBackOffMinUs = 50;
constexpr int64_t kBackOffMaxUs = 2000;
constexpr int64_t kStateValidMs = 5000;

// Between half of `back_off_us` and all of it, so that waiters do not march in step.
int64_t jittered(int64_t back_off_us, Random& random) {
  std::array<uint8_t, 1> byte{};
  random.fill(byte);
  return back_off_us / 2 + back_off_us * byte[0] / 512;
}

}  // namespace

// --- the lock ------------------------------------------------------------------------------------

Status DirectoryStorage::open_lock_file() {
  VARVE_TRY_ASSIGN(lock_file_, directory_->open(kLockFile, io::OpenMode::kUpdateOrCreate, 0644));
  VARVE_TRY_ASSIGN(const io::FileInfo info, lock_file_->info());
  lock_file_identity_ = info.identity;
  return {};
}

Status DirectoryStorage::lock(int64_t deadline_us, std::string_view operation, bool* waited) {
  if (!writable_) {
    return Status(Code::kReadOnly, "the session is open for reading: no permission to write")
        .in_file(directory_->path_of(""));
  }
  VARVE_TRY(refuse_if_poisoned());
  if (is_lock_kept_) {
    VARVE_TRY_ASSIGN(locked_tail_, tail());
    return {};
  }
  for (;;) {
    if (!lock_file_) VARVE_TRY(open_lock_file());
    VARVE_TRY(wait_for_lock(deadline_us, waited));
    auto current = lock_file_is_current();
    if (current.ok() && *current) break;
    (void)lock_file_->unlock().ok();
    lock_file_.reset();  // somebody removed or replaced it: lock the one that has the name now
    if (!current.ok()) return std::move(current).status();
  }
  Status status = prepare_to_write(operation);
  if (!status.ok()) unlock();
  return status;
}

Result<bool> DirectoryStorage::lock_file_is_current() {
  auto named = directory_->info(kLockFile);
  if (named.ok()) return named->identity == lock_file_identity_;
  if (named.code() != Code::kNotFound) return std::move(named).status();
  // Without its lock file a session is either deleted, or tidied by a stranger.
  auto there = directory_->info(kMetadataFile);
  if (there.code() == Code::kNotFound) return Status(Code::kNotFound, "the session was deleted");
  return false;
}

Status DirectoryStorage::wait_for_lock(int64_t deadline_us, bool* waited) {
  int64_t back_off_us = kBackOffMinUs;
  for (;;) {
    VARVE_TRY_ASSIGN(const bool held, lock_file_->try_lock());
    if (held) return {};
    if (waited != nullptr) *waited = true;
    const int64_t left_us = deadline_us - environment_.clock->monotonic_us();
    if (left_us <= 0) return busy_status();
    if (work_while_waiting_) work_while_waiting_();
    environment_.clock->sleep_us(std::min(left_us, jittered(back_off_us, *environment_.random)));
    back_off_us = std::min(back_off_us * 2, kBackOffMaxUs);
  }
}

Status DirectoryStorage::busy_status() {
  std::string message = "another writer holds the session's lock";
  std::string bytes(kLockStateBytes, '\0');
  const auto got = lock_file_->read_at(0, bytes);
  const auto state = got.ok() && *got == kLockStateBytes ? decode_lock_state(bytes) : std::nullopt;
  if (state) {
    message += " (process " + std::to_string(state->process_id) + ", " + state->operation +
               ", writing since " + format_rfc3339(state->timestamp_ms) + ")";
  }
  return Status(Code::kBusy, message + "; try again later").in_file(directory_->path_of(kLockFile));
}

Status DirectoryStorage::prepare_to_write(std::string_view operation) {
  VARVE_TRY(read_state());
  VARVE_TRY_ASSIGN(const Tail now, tail());
  locked_tail_ = now;
  if (!left_overs_removed_) remove_left_overs();
  state_.suspect =
      state_.suspect && state_.boot_id == boot_id_;  // a reboot reads what the disk has
  const io::FileIdentity file = snapshot_of(Stream::kEntries).identity;
  const bool same_file = state_.file == file;
  if (!same_file) state_.durable_bytes = 0;
  state_.file = file;
  state_.durable_bytes = std::min(state_.durable_bytes, now.entries_bytes);
  const int64_t process_id = environment_.file_system->process_id();
  if (!same_file || state_.process_id != process_id || state_.operation != operation ||
      state_.boot_id != boot_id_) {
    const int64_t now_ms = environment_.clock->now_ms();
    state_.process_id = process_id;
    state_.boot_id = boot_id_;
    state_.operation = operation;
    state_.timestamp_ms = now_ms;
    state_.expires_at_ms = now_ms + kStateValidMs;
    (void)write_state().ok();  // what it says of us is for people only
  }
  if (!state_.suspect) return {};
  own_name_synced_ = false;
  VARVE_TRY(sync_own_name());
  VARVE_TRY(renew(Stream::kEntries, now.entries_bytes));
  if (now.tombstones_bytes > 0) VARVE_TRY(renew(Stream::kTombstones, now.tombstones_bytes));
  VARVE_TRY(renew_transcript());
  VARVE_TRY_ASSIGN(const VectorsTail vectors, vectors_tail());
  if (vectors.bytes > 0) VARVE_TRY(renew(Stream::kVectors, vectors.bytes));
  clear_suspicion();
  VARVE_TRY_ASSIGN(locked_tail_, tail());
  return {};
}

void DirectoryStorage::unlock() noexcept {
  try {
    if (lock_file_ && says_suspect_ != state_.suspect) (void)write_state().ok();
  } catch (const std::bad_alloc&) {
    // It goes on saying "suspect": the next writer copies the log once, for nothing. Or it does not
    // say it, after memory ended in an append, too: see there.
  }
  if (is_lock_kept_) {
    // After anything but an append.
    const std::lock_guard guard(mutex_);
    is_tail_known_ = is_tail_known_ || look().ok();
    return;
  }
  // Cannot fail for a lock that is held; should it, closing the file gives the lock back too.
  try {
    if (lock_file_ && !lock_file_->unlock().ok()) lock_file_.reset();
  } catch (const std::bad_alloc&) {
    lock_file_.reset();
  }
}

void DirectoryStorage::keep_lock() {
  const std::lock_guard guard(mutex_);
  is_lock_kept_ = true;
}

void DirectoryStorage::stop_keeping_lock() {
  const std::lock_guard guard(mutex_);
  is_lock_kept_ = false;
  is_tail_known_ = false;
}

// Before the streams change in any way, or when they are not what was thought.
void DirectoryStorage::doubt_tail() {
  const std::lock_guard guard(mutex_);
  is_tail_known_ = false;
}

void DirectoryStorage::note_appended(Stream stream, uint64_t end_bytes) {
  const std::lock_guard guard(mutex_);
  stream_of(stream).size_bytes = end_bytes;
  is_tail_known_ = is_lock_kept_;
}

// A state that cannot be read may say "suspect": then nobody may rely on a sync of the log.
Status DirectoryStorage::read_state() {
  std::string bytes(kLockStateBytes, '\0');
  VARVE_TRY_ASSIGN(const size_t got, lock_file_->read_at(0, bytes));
  if (got != kLockStateBytes) {
    state_ = LockState();
    state_bytes_.clear();
    says_suspect_ = false;
    is_noted_ = false;
    return {};
  }
  if (bytes == state_bytes_) return {};
  const auto state = decode_lock_state(bytes);
  is_noted_ = is_noted_ && state && state->catalogued_count == state_.catalogued_count;
  state_ = state.value_or(LockState());
  state_bytes_ = std::move(bytes);
  says_suspect_ = state_.suspect;
  return {};
}

// A state that could not be written costs the next writer a sync or a copy, with one exception: see
// sync_file().
Status DirectoryStorage::write_state() {
  std::string bytes = encode_lock_state(state_);
  Status written = lock_file_->write_at(0, bytes);
  state_bytes_ = written.ok() ? std::move(bytes) : std::string();
  if (written.ok()) says_suspect_ = state_.suspect;
  return written;
}

Status DirectoryStorage::mark_catalogued() {
  is_noted_ = false;
  state_.catalogued_count += 1;
  return write_state();
}

Status DirectoryStorage::suspect_names() {
  state_.suspect = true;
  return write_state();
}

void DirectoryStorage::clear_suspicion() {
  if (!state_.suspect) return;
  state_.suspect = false;
  (void)write_state().ok();
}

void DirectoryStorage::remove_left_overs() {
  left_overs_removed_ = true;
  const auto items = directory_->list();
  if (!items.ok()) return;
  for (const auto& item : *items) {
    // Whoever made it is dead: replacing needs the lock, and we hold it. (Snapshots are written
    // without the lock: theirs may vanish under them, which costs them a rename.)
    if (is_temporary_name(item.name)) (void)directory_->remove(item.name).ok();
  }
}

// --- append, sync, replace -----------------------------------------------------------------------

Status DirectoryStorage::refuse_if_poisoned() const {
  if (!poisoned_) return {};
  return Status(Code::kReadOnly,
                "writing stopped after a failure that could not be undone (" +
                    poisoned_->message() + "); close and open the session to try again",
                poisoned_->place());
}

void DirectoryStorage::poison(const Status& cause) { poisoned_ = cause; }

bool& DirectoryStorage::unsynced(Stream stream) {
  return stream == Stream::kEntries   ? entries_unsynced_
         : stream == Stream::kVectors ? vectors_unsynced_
                                      : tombstones_unsynced_;
}

io::FileIdentity& DirectoryStorage::name_synced(Stream stream) {
  return stream == Stream::kEntries   ? entries_name_synced_
         : stream == Stream::kVectors ? vectors_name_synced_
                                      : tombstones_name_synced_;
}

Status DirectoryStorage::open_for_append(Stream stream) {
  VARVE_TRY_ASSIGN(auto file,
                   directory_->open(name_in_directory(stream), io::OpenMode::kAppendOrCreate));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  const std::lock_guard guard(mutex_);
  stream_of(stream) = OpenStream{std::move(file), info.identity, info.size_bytes, 0};
  if (stream == Stream::kEntries) state_.file = info.identity;
  return {};
}

Status DirectoryStorage::ready_to_append(Stream stream, uint64_t expected_bytes, bool durable) {
  if (!snapshot_of(stream).file) VARVE_TRY(open_for_append(stream));
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  if (info.size_bytes != expected_bytes) {
    doubt_tail();
    return Status(Code::kConflict, "the log grew meanwhile").in_file(name_of(stream));
  }
  // A writer before us may have died between write and sync. Its bytes first: so a later line
  // proves that every earlier one was durable, which is what recovery relies on.
  if (durable && stream == Stream::kEntries && state_.durable_bytes < expected_bytes) {
    if (!sync_file(*file).ok()) VARVE_TRY(heal(stream, expected_bytes));
    state_.durable_bytes = expected_bytes;
  }
  return {};
}

Status DirectoryStorage::append(Stream stream, uint64_t expected_bytes, std::string_view lines,
                                bool durable, uint64_t last_seq, const Meanwhile& meanwhile) {
  VARVE_TRY(refuse_if_poisoned());
  if (stream == Stream::kQuarantine) return append_to_quarantine(lines);
  VARVE_TRY(ready_to_append(stream, expected_bytes, durable));
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  try {
    return append_and_sync(stream, *file, expected_bytes, lines, durable, last_seq, meanwhile);
  } catch (const std::bad_alloc&) {
    // The lines may be in the file: they go again, which needs no memory, or nothing follows them.
    // Where a sync failed before, the suspicion stays, and the next writer makes a copy.
    if (!file->truncate(expected_bytes).ok() || !file->sync_data().ok()) {
      poison(Status::out_of_memory());
    }
    // Somebody may have read them, in any process: what is written in their place goes into a copy.
    forget(stream);
    state_.suspect = true;
    return Status::out_of_memory();
  }
}

Status DirectoryStorage::append_and_sync(Stream stream, io::File& file, uint64_t start_bytes,
                                         std::string_view lines, bool durable, uint64_t last_seq,
                                         const Meanwhile& meanwhile) {
  Status written = file.append(lines);
  if (!written.ok()) {
    if (cut(stream, file, start_bytes).ok()) return written;
    poison(written);
    return outcome_unknown(written);
  }
  note_appended(stream, start_bytes + lines.size());
  unsynced(stream) = true;
  if (!durable) return {};
  // From here on the disk works, and so do we.
  file.start_sync();
  if (meanwhile) meanwhile();
  Status synced = make_durable(file, stream);
  if (synced.ok()) {
    publish(stream == Stream::kEntries ? start_bytes + lines.size() : state_.durable_bytes,
            last_seq);
    return {};
  }
  // The kernel has dropped the dirty pages, or would not say: never sync this file again.
  if (heal(stream, start_bytes).ok()) {
    return std::move(synced).with_context("nothing was added, the disk did not take it");
  }
  return outcome_unknown(synced);
}

// Durably, before anything is written over what is cut off: else a power loss could put the start
// of the new and the rest of the old together.
Status DirectoryStorage::cut(Stream stream, io::File& file, uint64_t size_bytes) {
  doubt_tail();
  VARVE_TRY(file.truncate(size_bytes));
  return sync_file(file).ok() ? Status() : heal(stream, size_bytes);
}

Status DirectoryStorage::append_to_quarantine(std::string_view lines) {
  VARVE_TRY_ASSIGN(auto file, directory_->open(kQuarantineFile, io::OpenMode::kAppendOrCreate));
  VARVE_TRY(file->append(lines));
  VARVE_TRY(file->sync_data());
  return directory_->sync();
}

// The log is marked suspect while this runs: whoever is killed between a failure and saying so
// would leave a file to the next writer whose syncs lie.
Status DirectoryStorage::sync_file(io::File& file) {
  state_.suspect = true;
  if (!says_suspect_) VARVE_TRY(write_state());
  const int64_t start_us = sync_us_ == nullptr ? 0 : environment_.clock->monotonic_us();
  VARVE_TRY(file.sync_data());
  if (sync_us_ != nullptr) sync_us_->record_duration(start_us, environment_.clock->monotonic_us());
  state_.suspect = false;  // publish() or unlock() writes it
  return {};
}

Status DirectoryStorage::make_durable(io::File& file, Stream stream) {
  VARVE_TRY(sync_file(file));
  VARVE_TRY(sync_names());
  unsynced(stream) = false;
  return {};
}

// Whoever made a file may have been killed before its name was durable: bytes that survive in a
// file without a name are lost all the same. So before the first answer that relies on a file,
// once.
Status DirectoryStorage::sync_names() {
  VARVE_TRY(sync_own_name());
  const io::FileIdentity entries = snapshot_of(Stream::kEntries).identity;
  const io::FileIdentity tombstones = snapshot_of(Stream::kTombstones).identity;
  const io::FileIdentity vectors = snapshot_of(Stream::kVectors).identity;
  if (entries == entries_name_synced_ && tombstones == tombstones_name_synced_ &&
      vectors == vectors_name_synced_) {
    return {};
  }
  VARVE_TRY(directory_->sync());
  entries_name_synced_ = entries;
  tombstones_name_synced_ = tombstones;
  vectors_name_synced_ = vectors;
  return {};
}

// A restore that failed may have left the name with another directory, and this one to be removed.
Status DirectoryStorage::sync_own_name() {
  if (own_name_synced_) return {};
  if (own_name_.parent != nullptr) {
    VARVE_TRY(own_name_.parent->sync());
    VARVE_TRY_ASSIGN(const auto named, own_name_.parent->find(own_name_.name));
    VARVE_TRY_ASSIGN(const io::FileInfo own, directory_->self_info());
    if (!named || named->identity != own.identity) {
      return Status(Code::kNotFound, "the session was replaced or deleted")
          .in_file(directory_->path_of(""));
    }
  }
  own_name_synced_ = true;
  return {};
}

Status DirectoryStorage::sync(uint64_t last_seq) {
  VARVE_TRY(refuse_if_poisoned());
  VARVE_TRY_ASSIGN(const Tail now, tail());
  if (entries_unsynced_ || state_.durable_bytes < now.entries_bytes) {
    VARVE_TRY(sync_stream(Stream::kEntries));
  }
  VARVE_TRY_ASSIGN(const VectorsTail vectors, vectors_tail());
  VARVE_TRY(sync_unpublished(Stream::kTombstones, now.tombstones_bytes, &tombstones_synced_,
                             &tombstones_synced_bytes_));
  VARVE_TRY(
      sync_unpublished(Stream::kVectors, vectors.bytes, &vectors_synced_, &vectors_synced_bytes_));
  VARVE_TRY(sync_transcript());
  VARVE_TRY(sync_names());
  publish(now.entries_bytes, last_seq);
  return {};
}

// Nobody publishes how far tombstones and vectors are durable: what others appended is synced with
// ours.
Status DirectoryStorage::sync_unpublished(Stream stream, uint64_t bytes, io::FileIdentity* synced,
                                          uint64_t* synced_bytes) {
  if (!unsynced(stream) && bytes == *synced_bytes && snapshot_of(stream).identity == *synced) {
    return {};
  }
  VARVE_TRY(sync_stream(stream));
  *synced = snapshot_of(stream).identity;
  *synced_bytes = bytes;
  return {};
}

Status DirectoryStorage::sync_stream(Stream stream) {
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  if (!file) return {};
  if (make_durable(*file, stream).ok()) return {};
  // All of it was answered as added: a new file takes all of it.
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  VARVE_TRY(heal(stream, info.size_bytes));
  unsynced(stream) = false;
  return {};
}

// What is durable is answered so, whether it can be written down or not: taken back for want of
// memory it would be told as lost later.
void DirectoryStorage::publish(uint64_t durable_bytes, uint64_t last_seq) {
  if (state_.durable_bytes == durable_bytes && state_.last_seq >= last_seq) return;
  state_.durable_bytes = durable_bytes;
  state_.last_seq = std::max(state_.last_seq, last_seq);
  try {
    (void)write_state().ok();
  } catch (const std::bad_alloc&) {
    // As a state that could not be written: the next writer syncs once more.
  }
}

Status DirectoryStorage::heal(Stream stream, uint64_t keep_bytes) {
  state_.suspect = true;
  if (!says_suspect_) (void)write_state().ok();
  Status renewed = renew(stream, keep_bytes);
  if (renewed.ok()) {
    clear_suspicion();
  } else {
    poison(renewed);
  }
  return renewed;
}

// Copies what the stream holds into a new file. The kernel still has the bytes that the disk lost.
Status DirectoryStorage::renew(Stream stream, uint64_t keep_bytes) {
  const std::shared_ptr<io::File> old = snapshot_of(stream).file;
  VARVE_TRY(replace_file(*directory_, name_in_directory(stream), *environment_.random, {},
                         [&](Sink& sink) { return copy_start(*old, keep_bytes, sink); }));
  return adopt_new_log(stream, keep_bytes);
}

// After a new file took the name: look at it, and say in the lock file what is known about it.
Status DirectoryStorage::adopt_new_log(Stream stream, uint64_t durable_bytes) {
  doubt_tail();
  VARVE_TRY(tail());
  if (stream == Stream::kVectors) VARVE_TRY(vectors_tail());
  const io::FileIdentity log = snapshot_of(Stream::kEntries).identity;
  name_synced(stream) = snapshot_of(stream).identity;
  unsynced(stream) = false;
  state_.file = log;
  if (stream == Stream::kEntries) state_.durable_bytes = durable_bytes;
  (void)write_state().ok();
  return {};
}

Status DirectoryStorage::truncate(Stream stream, uint64_t size_bytes) {
  VARVE_TRY(refuse_if_poisoned());
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  if (!file) return {};
  VARVE_TRY(cut(stream, *file, size_bytes));
  if (stream == Stream::kEntries) {
    state_.durable_bytes = std::min(state_.durable_bytes, size_bytes);
  }
  return {};
}

Status DirectoryStorage::replace(Stream stream, const std::function<Status(Sink&)>& produce) {
  VARVE_TRY(refuse_if_poisoned());
  ReplaceOptions options;
  options.sync_names_before = &has_unsynced_name_;
  Status replaced =
      replace_file(*directory_, name_in_directory(stream), *environment_.random, options, produce);
  if (replaced.code() == Code::kUnknown) poison(replaced);
  VARVE_TRY(std::move(replaced));
  has_unsynced_name_ = false;
  // It has the name for good: what fails from here on is no failure of this.
  doubt_tail();
  const auto now = tail();
  if (!now.ok() || !adopt_new_log(stream, now->entries_bytes).ok()) forget(stream);
  return {};
}

// The name stands for a file that could not be looked at: nothing may go into the one before it.
void DirectoryStorage::forget(Stream stream) {
  state_.file = {};
  state_.durable_bytes = 0;
  const std::lock_guard guard(mutex_);
  is_tail_known_ = false;
  generation_of(stream) += 1;
  stream_of(stream) = OpenStream();
}

Status DirectoryStorage::remove_vectors() {
  VARVE_TRY(refuse_if_poisoned());
  VARVE_TRY_ASSIGN(const VectorsTail present, vectors_tail());
  if (present.bytes == 0 && !snapshot_of(Stream::kVectors).file) return {};
  VARVE_TRY(directory_->remove(kVectorsFile));
  VARVE_TRY(directory_->sync());
  vectors_unsynced_ = false;
  return vectors_tail().status();
}

Status DirectoryStorage::remove_residue(std::span<const std::string_view> documents) {
  VARVE_TRY_ASSIGN(const auto items, directory_->list());
  for (const auto& item : items) {
    const bool named = item.name == kQuarantineFile ||
                       std::find(documents.begin(), documents.end(), item.name) != documents.end();
    if (named || is_temporary_name(item.name)) VARVE_TRY(directory_->remove(item.name));
  }
  return directory_->sync();
}

Status DirectoryStorage::remove_document(std::string_view name) {
  Status removed = directory_->remove(name);
  return removed.code() == Code::kNotFound ? Status() : removed;
}

Status DirectoryStorage::put_document(std::string_view name, std::string_view bytes,
                                      DocumentDurability durability) {
  ReplaceOptions options;
  options.durable = durability != DocumentDurability::kNone;
  options.sync_name = durability == DocumentDurability::kNamed;
  if (options.durable) {
    VARVE_TRY(sync_names());
    has_unsynced_name_ = true;  // also when the sync of the name fails
  }
  VARVE_TRY(replace_file(*directory_, name, *environment_.random, options, bytes));
  if (options.sync_name) has_unsynced_name_ = false;
  return {};
}

}  // namespace varve::log
