// The lock of a session in a directory, and what the lock file tells the next writer.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/time.h"
#include "io/rules.h"
#include "log/atomic_file.h"
#include "log/directory_storage.h"

namespace varve::log {

namespace {

constexpr int64_t kBackOffMinUs = 50;
constexpr int64_t kBackOffMaxUs = 2000;
// Who waits so long says so. Who held the lock so long gives way to those who say so, each time for
// so long at most and for a tenth of its time: by one that was stopped, nobody may be stopped.
constexpr int64_t kLongWaitUs = 100'000;
constexpr int64_t kLongHoldUs = 100;
constexpr int64_t kGiveWayMaxUs = 5 * kBackOffMaxUs;
constexpr int64_t kStateValidMs = 5000;
constexpr int64_t kTimeAheadMaxMs = 60'000;

// Says that somebody waits from begin() on, also where memory runs out meanwhile, to its end.
class TellsWaiting {
 public:
  explicit TellsWaiting(io::File& lock_file) : lock_file_(lock_file) {}
  ~TellsWaiting() {
    if (has_begun_) lock_file_.tell_waiting(false);
  }
  TellsWaiting(const TellsWaiting&) = delete;
  TellsWaiting& operator=(const TellsWaiting&) = delete;

  void begin() {
    if (!has_begun_) lock_file_.tell_waiting(true);
    has_begun_ = true;
  }

 private:
  io::File& lock_file_;
  bool has_begun_ = false;
};

// Between half and all of `back_off_us`, so that waiters do not keep in step.
int64_t jittered(int64_t back_off_us, Random& random) {
  std::array<uint8_t, 1> byte{};
  random.fill(byte);
  return back_off_us / 2 + back_off_us * byte[0] / 512;
}

// Now, but behind what another holder told of this moment. A time far ahead was told by a clock
// that was wrong.
int64_t time_to_tell(int64_t told_ms, bool is_of_other, int64_t now_ms) {
  const bool is_of_this_moment = told_ms >= now_ms && told_ms - now_ms < kTimeAheadMaxMs;
  return is_of_this_moment ? told_ms + (is_of_other ? 1 : 0) : now_ms;
}

}  // namespace

Status DirectoryStorage::open_lock_file() {
  auto opened = directory_->open(kLockFile, io::OpenMode::kUpdateOrCreate, 0644);
  // It would be created, if the directory were still there.
  if (opened.code() == Code::kNotFound) return {Code::kNotFound, "the session was deleted"};
  VARVE_TRY_ASSIGN(lock_file_, std::move(opened));
  VARVE_TRY_ASSIGN(const io::FileInfo info, lock_file_->info());
  lock_file_identity_ = info.identity;
  is_noted_ = false;  // a new one counts from the start
  return {};
}

Status DirectoryStorage::lock(int64_t deadline_us, std::string_view operation, bool* waited) {
  if (!writable_) {
    return io::no_permission_to_write("the session", directory_->path_of(""));
  }
  VARVE_TRY(refuse_if_poisoned());
  if (is_lock_kept_) {
    was_locked_by_others_ = false;
    VARVE_TRY_ASSIGN(locked_tail_, tail());
    return state_.suspect ? renew_suspects() : Status();  // see take_back()
  }
  for (;;) {
    if (!lock_file_) VARVE_TRY(open_lock_file());
    VARVE_TRY(wait_for_lock(deadline_us, waited));
    auto current = lock_file_is_current();
    if (current.ok() && *current) break;
    (void)lock_file_->unlock().ok();
    lock_file_.reset();  // somebody removed or replaced it: lock the file that has the name now
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
  // A session without its lock file is deleted, or somebody else tidied its directory.
  auto there = directory_->info(kMetadataFile);
  if (there.code() == Code::kNotFound) return Status(Code::kNotFound, "the session was deleted");
  return false;
}

Status DirectoryStorage::wait_for_lock(int64_t deadline_us, bool* waited) {
  if (gives_way(deadline_us)) {
    if (waited != nullptr) *waited = true;
    give_way();
  }
  Status status = ask_for_lock(deadline_us, waited);
  if (status.ok()) locked_us_ = environment_.clock->monotonic_us();
  return status;
}

Status DirectoryStorage::ask_for_lock(int64_t deadline_us, bool* waited) {
  TellsWaiting tells(*lock_file_);
  std::optional<int64_t> start_us;
  int64_t back_off_us = kBackOffMinUs;
  for (;;) {
    VARVE_TRY_ASSIGN(const bool held, lock_file_->try_lock());
    if (held) return {};
    if (waited != nullptr) *waited = true;
    const int64_t now_us = environment_.clock->monotonic_us();
    const int64_t left_us = deadline_us - now_us;
    if (left_us <= 0) return busy_status();
    if (!start_us) start_us = now_us;
    if (now_us - *start_us >= kLongWaitUs) tells.begin();
    if (work_while_waiting_) work_while_waiting_();
    environment_.clock->sleep_us(std::min(left_us, jittered(back_off_us, *environment_.random)));
    back_off_us = std::min(back_off_us * 2, kBackOffMaxUs);
  }
}

// The kernel's lock has no queue: whoever asks while it is free has it. A process that writes
// again and again finds it free each time, and one that asks every two milliseconds would not.
bool DirectoryStorage::gives_way(int64_t deadline_us) {
  if (held_us_ < kLongHoldUs) return false;
  const int64_t now_us = environment_.clock->monotonic_us();
  return now_us >= gives_way_again_us_ && deadline_us - now_us > kGiveWayMaxUs &&
         lock_file_->is_another_waiting();
}

// Until one of those who wait has the lock, or all of them had the time to ask for it.
void DirectoryStorage::give_way() {
  int64_t given_us = 0;
  bool is_wanted = true;
  while (is_wanted && given_us < kGiveWayMaxUs) {
    environment_.clock->sleep_us(kBackOffMaxUs);
    given_us += kBackOffMaxUs;
    const auto taken = lock_file_->is_locked();
    is_wanted = taken.ok() && !*taken && lock_file_->is_another_waiting();
  }
  gives_way_again_us_ = environment_.clock->monotonic_us() + 9 * given_us;
}

Status DirectoryStorage::busy_status() {
  std::string message = "another writer holds the session's lock";
  if (const auto state = read_lock_state(*lock_file_)) {
    const std::string process = "process " + std::to_string(state->process_id);
    message += may_be_of_holder(*state)
                   ? " (" + process + ", " + state->operation + ", writing since " +
                         format_rfc3339(state->timestamp_ms) + ")"
                   : " (the last note in it is of " + process +
                         ", which has ended or is in another container)";
  }
  return Status(Code::kBusy, message + "; try again later").in_file(directory_->path_of(kLockFile));
}

// False where one of the two is not known.
bool DirectoryStorage::is_of_other_boot(const LockState& state) const {
  return state.boot_id != boot_id_ && !state.boot_id.empty() && !boot_id_.empty();
}

// Whoever locks the file without varve leaves no note in it: what it says is of an earlier writer.
bool DirectoryStorage::may_be_of_holder(const LockState& state) const {
  return !is_of_other_boot(state) && environment_.file_system->may_run(state.process_id);
}

Status DirectoryStorage::prepare_to_write(std::string_view operation) {
  VARVE_TRY(read_state());
  VARVE_TRY_ASSIGN(locked_tail_, tail());
  // Who wrote last and has ended may have been killed in a replacement.
  const bool may_be_killed = was_locked_by_others_ && !may_be_of_holder(state_);
  if (!left_overs_removed_ || may_be_killed) remove_temporary_files(*directory_);
  left_overs_removed_ = true;
  // After a reboot the disk is read. Who cannot know whether there was a reboot stays suspicious.
  state_.suspect = state_.suspect && !is_of_other_boot(state_);
  note_holder(operation);
  return state_.suspect ? renew_suspects() : Status();
}

// Makes the state say who writes, and what is known of the present log. Whoever wrote it last finds
// it as it was, so the next holder changes it, though it be of the same process, or of one of the
// same number in another container.
void DirectoryStorage::note_holder(std::string_view operation) {
  const io::FileIdentity file = snapshot_of(Stream::kEntries).identity;
  const bool same_file = state_.file == file;
  if (!same_file) state_.durable_bytes = 0;
  state_.file = file;
  state_.durable_bytes = std::min(state_.durable_bytes, locked_tail_.entries_bytes);
  if (same_file && !was_locked_by_others_ && state_.operation == operation) return;
  state_.process_id = environment_.file_system->process_id();
  state_.boot_id = boot_id_;
  state_.operation = operation;
  state_.timestamp_ms =
      time_to_tell(state_.timestamp_ms, was_locked_by_others_, environment_.clock->now_ms());
  state_.expires_at_ms = state_.timestamp_ms + kStateValidMs;
  (void)write_state().ok();  // no writer may be kept from its work by it
}

// What a writer before us left suspect (lock_state.h): syncs the name, and copies what was logged.
Status DirectoryStorage::renew_suspects() {
  own_name_synced_ = false;
  VARVE_TRY(sync_own_name());
  // A copy has all that was there, also half a line of who was killed: that was never durable.
  const uint64_t durable_bytes = state_.durable_bytes;
  VARVE_TRY(renew_all(Stream::kEntries));
  state_.durable_bytes = durable_bytes;
  if (locked_tail_.tombstones_bytes > 0) VARVE_TRY(renew_all(Stream::kTombstones));
  VARVE_TRY(renew_transcript());
  VARVE_TRY_ASSIGN(const VectorsTail vectors, vectors_tail());
  if (vectors.bytes > 0) VARVE_TRY(renew_all(Stream::kVectors));
  clear_suspicion();
  VARVE_TRY_ASSIGN(locked_tail_, tail());
  return {};
}

void DirectoryStorage::unlock() noexcept {
  try {
    if (lock_file_ && says_suspect_ != state_.suspect) (void)write_state().ok();
  } catch (const std::bad_alloc&) {
    // The file still says "suspect": the next writer copies the log once for nothing. Or it does
    // not say so after an append that failed for want of memory: see take_back().
  }
  if (is_lock_kept_) {
    // Only an append leaves the tail known.
    const std::lock_guard guard(mutex_);
    try {
      is_tail_known_ = is_tail_known_ || look().ok();
    } catch (const std::bad_alloc&) {
      // Whoever asks looks.
    }
    return;
  }
  held_us_ = environment_.clock->monotonic_us() - locked_us_;
  // Cannot fail while the lock is held. If it does, closing the file releases the lock too.
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

// A state that cannot be read may say "suspect": then no sync of the log may be relied on.
Status DirectoryStorage::read_state() {
  std::string bytes(kLockStateBytes, '\0');
  was_locked_by_others_ = true;
  VARVE_TRY_ASSIGN(const size_t got, lock_file_->read_at(0, bytes));
  was_locked_by_others_ = bytes != state_bytes_;  // who locks it writes to it
  if (got != kLockStateBytes) {
    state_ = LockState();
    state_bytes_.clear();
    says_suspect_ = false;
    is_noted_ = false;
    return {};
  }
  if (!was_locked_by_others_) return {};
  const auto state = decode_lock_state(bytes);
  is_noted_ = is_noted_ && state && state->catalogued_count == state_.catalogued_count;
  state_ = state.value_or(LockState());
  state_bytes_ = std::move(bytes);
  says_suspect_ = state_.suspect;
  return {};
}

// A state that could not be written costs the next writer a sync or a copy, except in sync_file().
Status DirectoryStorage::write_state() { return write_state(state_); }

Status DirectoryStorage::write_state(const LockState& state) {
  std::string bytes = encode_lock_state(state);
  Status written = lock_file_->write_at(0, bytes);
  state_bytes_ = written.ok() ? std::move(bytes) : std::string();
  if (written.ok()) says_suspect_ = state.suspect;
  return written;
}

// Before a sync whose failure would be healed by a copy. Where the lock file has no room for it (it
// may be new, or on a disk that copies on write), nothing has happened yet that needs healing.
Status DirectoryStorage::tell_suspect() {
  if (says_suspect_) return {};
  LockState told = state_;
  told.suspect = true;
  return write_state(told);
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

}  // namespace varve::log
