// How DirectoryStorage writes: the commit protocol and healing.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "log/atomic_file.h"
#include "log/directory_storage.h"

namespace varve::log {

namespace {

// How much somebody else may append during our append, for our lines to be looked for behind it.
constexpr size_t kStrangersBytesMax = size_t{1} << 20;

// How often a file is copied because somebody appended to it meanwhile.
constexpr int kCopiesMax = 4;

}  // namespace

// What append() is to do, with the names of its parameters.
struct DirectoryStorage::Asked {
  Stream stream;
  uint64_t start_bytes;  // where the stream ends before
  std::string_view lines;
  bool durable;
  uint64_t last_seq;

  [[nodiscard]] uint64_t end_bytes() const { return start_bytes + lines.size(); }
};

Status DirectoryStorage::refuse_if_poisoned() const {
  if (!poisoned_) return {};
  return Status(Code::kReadOnly,
                "writing stopped after a failure that could not be undone (" +
                    poisoned_->message() + "); close and open the session to try again",
                poisoned_->place());
}

void DirectoryStorage::poison(const Status& cause) { poisoned_ = cause; }

// Before any change of the streams, or when they turn out to be different than known.
void DirectoryStorage::doubt_tail() {
  const std::lock_guard guard(mutex_);
  is_tail_known_ = false;
}

void DirectoryStorage::note_appended(Stream stream, uint64_t end_bytes) {
  const std::lock_guard guard(mutex_);
  stream_of(stream).size_bytes = end_bytes;
  is_tail_known_ = is_lock_kept_;
}

Status DirectoryStorage::open_for_append(Stream stream) {
  VARVE_TRY_ASSIGN(auto file, directory_->open(file_of(stream), io::OpenMode::kAppendOrCreate));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  const std::lock_guard guard(mutex_);
  stream_of(stream) = OpenStream{std::move(file), info.identity, info.size_bytes, 0};
  if (stream == Stream::kEntries) state_.file = info.identity;
  return {};
}

// A writer that ignores the lock may append at any time.
Status DirectoryStorage::check_end(Stream stream, uint64_t expected_bytes) {
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  uint64_t end_bytes = 0;
  if (file) {
    VARVE_TRY_ASSIGN(end_bytes, file->size_bytes());
  } else {
    // There was none at the last look, but somebody may have made one.
    VARVE_TRY_ASSIGN(const std::optional<io::FileInfo> info, directory_->find(file_of(stream)));
    if (info) end_bytes = info->size_bytes;
  }
  if (end_bytes == expected_bytes) return {};
  doubt_tail();
  return Status(Code::kConflict, "another program appended to the log meanwhile; try again")
      .in_file(name_of(stream));
}

Status DirectoryStorage::ready_to_append(Stream stream, uint64_t expected_bytes, bool durable) {
  if (!snapshot_of(stream).file) VARVE_TRY(open_for_append(stream));
  VARVE_TRY(check_end(stream, expected_bytes));
  if (durable) VARVE_TRY(tell_suspect());
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  // A writer before us may have died between write and sync. Its bytes are synced first, so that a
  // later line proves that every earlier one was durable: recovery relies on that.
  if (durable && stream == Stream::kEntries && state_.durable_bytes < expected_bytes) {
    if (!sync_file(*file).ok()) {
      VARVE_TRY(heal_all(stream));
      VARVE_TRY(check_end(stream, expected_bytes));
    }
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
    return append_and_sync(*file, {stream, expected_bytes, lines, durable, last_seq}, meanwhile);
  } catch (const std::bad_alloc&) {
    forget(stream);
    return take_back(*file, expected_bytes, lines);
  }
}

// After a failed allocation: cuts the lines off, without allocating, or stops all writing.
Status DirectoryStorage::take_back(io::File& file, uint64_t start_bytes, std::string_view lines) {
  // Others may have read the lines, or a sync of them may have failed: what replaces them goes into
  // a new file.
  state_.suspect = true;
  if (!holds_only(file, start_bytes, lines) || !file.truncate(start_bytes).ok() ||
      !file.sync_data().ok()) {
    poison(Status::out_of_memory());
  }
  return Status::out_of_memory();
}

Status DirectoryStorage::append_and_sync(io::File& file, const Asked& asked,
                                         const Meanwhile& meanwhile) {
  const auto& [stream, start_bytes, lines, durable, last_seq] = asked;
  Status written = file.append(lines);
  if (!written.ok()) {
    if (ends_at(file, start_bytes)) return written;
    if (holds_only(file, start_bytes, lines) && cut(stream, file, start_bytes).ok()) return written;
    poison(written);
    return outcome_unknown(written);
  }
  note_appended(stream, asked.end_bytes());
  unsynced(stream) = true;
  const auto end_bytes = file.append_end();
  if (!end_bytes.ok() || *end_bytes != asked.end_bytes()) return settle(file, asked);
  if (!durable) return {};
  // From here on the disk works while this thread does.
  file.start_sync();
  if (meanwhile) meanwhile();
  Status synced = make_durable(file, stream);
  if (synced.ok()) {
    publish(stream == Stream::kEntries ? asked.end_bytes() : state_.durable_bytes, last_seq);
    return {};
  }
  // No sync failed, so the file is good without these lines.
  const bool is_ours = holds_only(file, start_bytes, lines);
  const bool is_lack = is_lack_of_descriptors(synced);
  if (is_lack && is_ours && cut(stream, file, start_bytes).ok()) return synced;
  // The kernel has dropped the unwritten pages, or does not tell: never sync this file again.
  if (is_ours) {
    const Status healed = heal_without(stream, start_bytes, lines.size());
    if (healed.ok()) {
      return std::move(synced).with_context("nothing was added because the disk did not take it");
    }
    if (healed.code() != Code::kConflict) return outcome_unknown(synced);
  }
  // Behind our lines are somebody else's: all of them stay.
  return heal_all(stream).ok() ? Status() : outcome_unknown(synced);
}

// Somebody appended without the lock at the same time, or it cannot be known. Nothing is cut off,
// since it may be theirs, and the places of our lines are not known if theirs came first.
Status DirectoryStorage::settle(io::File& file, const Asked& asked) {
  doubt_tail();
  const auto found = find_appended(file, asked);
  Status status = found.status();
  if (status.ok() && asked.durable) status = sync_stream(asked.stream);
  if (!status.ok()) {
    poison(status);
    return outcome_unknown(status);
  }
  if (asked.durable) publish(state_.durable_bytes, asked.last_seq);
  if (*found != asked.start_bytes) forget(asked.stream);
  return {};
}

// Where our lines stand, whole and starting on a line of their own.
Result<uint64_t> DirectoryStorage::find_appended(io::File& file, const Asked& asked) {
  std::string bytes(asked.lines.size() + kStrangersBytesMax, '\0');
  VARVE_TRY_ASSIGN(const size_t got, file.read_at(asked.start_bytes, bytes));
  bytes.resize(got);
  const size_t at = bytes.find(asked.lines);
  const bool is_behind = at != std::string::npos && at > 0 && bytes[at - 1] == '\n';
  if (at == 0 || (is_behind && asked.stream != Stream::kVectors)) return asked.start_bytes + at;
  return Status(Code::kIo,
                "another program wrote to the file at the same moment, without the session's lock")
      .in_file(name_of(asked.stream));
}

// Durable before anything is written in place of what is cut off: otherwise a power loss could
// leave the start of the new bytes joined to the rest of the old.
Status DirectoryStorage::cut(Stream stream, io::File& file, uint64_t size_bytes) {
  doubt_tail();
  VARVE_TRY(file.truncate(size_bytes));
  return sync_file(file).ok() ? Status() : heal_all(stream);
}

Status DirectoryStorage::append_to_quarantine(std::string_view lines) {
  VARVE_TRY_ASSIGN(auto file, directory_->open(kQuarantineFile, io::OpenMode::kAppendOrCreate));
  VARVE_TRY(append_lines(*file, lines));
  VARVE_TRY(file->sync_data());
  return directory_->sync();
}

// The log is marked suspect meanwhile: a process killed between a failed sync and its report would
// leave the next writer a file whose syncs cannot be believed.
Status DirectoryStorage::sync_file(io::File& file) {
  VARVE_TRY(tell_suspect());
  state_.suspect = true;
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

// The process that made a file may have been killed before its name was durable, and bytes in a
// file without a name are lost. So the names are synced once, before the first answer that relies
// on the file.
Status DirectoryStorage::sync_names() {
  VARVE_TRY(sync_own_name());
  const std::array streams = {&entries_, &tombstones_, &vectors_};
  std::array<std::shared_ptr<io::File>, streams.size()> unsynced;
  {
    const std::lock_guard guard(mutex_);
    for (size_t i = 0; i < streams.size(); ++i) {
      if (!streams[i]->is_name_synced) unsynced[i] = streams[i]->file;
    }
  }
  if (std::all_of(unsynced.begin(), unsynced.end(), [](const auto& file) { return !file; })) {
    return {};
  }
  VARVE_TRY(directory_->sync());
  const std::lock_guard guard(mutex_);
  for (size_t i = 0; i < streams.size(); ++i) {
    if (unsynced[i] && streams[i]->file == unsynced[i]) streams[i]->is_name_synced = true;
  }
  return {};
}

// A failed restore may have left the name to another directory, and this one to be removed.
Status DirectoryStorage::sync_own_name() {
  if (own_name_synced_) return {};
  if (own_name_.parent != nullptr) VARVE_TRY(own_name_.parent->sync());
  VARVE_TRY(check_name());
  own_name_synced_ = true;
  return {};
}

Status DirectoryStorage::sync(uint64_t last_seq) {
  VARVE_TRY(refuse_if_poisoned());
  VARVE_TRY_ASSIGN(const Tail now, tail());
  if (unsynced(Stream::kEntries) || state_.durable_bytes < now.entries_bytes) {
    VARVE_TRY(sync_stream(Stream::kEntries));
  }
  VARVE_TRY_ASSIGN(const VectorsTail vectors, vectors_tail());
  VARVE_TRY(sync_unpublished(Stream::kTombstones, now.tombstones_bytes));
  VARVE_TRY(sync_unpublished(Stream::kVectors, vectors.bytes));
  VARVE_TRY(sync_transcript());
  VARVE_TRY(sync_names());
  publish(now.entries_bytes, last_seq);
  return {};
}

// How far tombstones and vectors are durable is not published, so what others appended is synced
// with ours.
Status DirectoryStorage::sync_unpublished(Stream stream, uint64_t bytes) {
  if (!unsynced(stream) && bytes == snapshot_of(stream).synced_bytes) return {};
  VARVE_TRY(sync_stream(stream));
  const std::lock_guard guard(mutex_);
  stream_of(stream).synced_bytes = bytes;
  return {};
}

Status DirectoryStorage::sync_stream(Stream stream) {
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  if (!file) return {};
  VARVE_TRY(tell_suspect());
  Status durable = make_durable(*file, stream);
  return durable.ok() || is_lack_of_descriptors(durable) ? durable : heal_all(stream);
}

// What is durable is answered as durable, even if that cannot be written down: taken back because
// of a failed allocation, it would be reported as lost later.
void DirectoryStorage::publish(uint64_t durable_bytes, uint64_t last_seq) {
  if (state_.durable_bytes == durable_bytes && state_.last_seq >= last_seq) return;
  state_.durable_bytes = durable_bytes;
  state_.last_seq = std::max(state_.last_seq, last_seq);
  try {
    (void)write_state().ok();
  } catch (const std::bad_alloc&) {
    // As for a state that could not be written: the next writer syncs once more.
  }
}

// Makes the new file by `renew`. If that fails, nothing more may be written, except after a
// conflict, which the caller has to solve.
Status DirectoryStorage::heal(const std::function<Status()>& renew) {
  state_.suspect = true;
  if (!says_suspect_) (void)write_state().ok();
  Status renewed = renew();
  if (renewed.ok()) {
    clear_suspicion();
  } else if (renewed.code() != Code::kConflict) {
    poison(renewed);
  }
  return renewed;
}

// Without the `dropped_bytes` at the end, which nobody was told are added. kConflict: somebody else
// appended behind them.
Status DirectoryStorage::heal_without(Stream stream, uint64_t keep_bytes, uint64_t dropped_bytes) {
  return heal([&] { return renew(stream, keep_bytes, keep_bytes + dropped_bytes); });
}

// All bytes were answered as added or are somebody else's, so the new file takes them all.
Status DirectoryStorage::heal_all(Stream stream) {
  return heal([&] { return renew_all(stream); });
}

// Copies the start of the stream into a new file. The kernel still has the bytes that the disk has
// lost. kConflict when the stream is not `present_bytes` long at the end.
Status DirectoryStorage::renew(Stream stream, uint64_t keep_bytes, uint64_t present_bytes) {
  const std::shared_ptr<io::File> old = snapshot_of(stream).file;
  ReplaceOptions options;
  options.check_before_rename = [&] { return check_end(stream, present_bytes); };
  VARVE_TRY(replace_file(*directory_, file_of(stream), *environment_.random, options,
                         [&](Sink& sink) { return copy_start(*old, keep_bytes, sink); }));
  return adopt_new_log(stream, keep_bytes);
}

// The same with all bytes, also those that somebody appends meanwhile.
Status DirectoryStorage::renew_all(Stream stream) {
  return while_outrun(file_of(stream), [&]() -> Status {
    const std::shared_ptr<io::File> file = snapshot_of(stream).file;
    if (!file) return {};
    VARVE_TRY_ASSIGN(const uint64_t present_bytes, file->size_bytes());
    return renew(stream, present_bytes, present_bytes);
  });
}

// Makes a copy again, a few times, when it answers kConflict.
Status DirectoryStorage::while_outrun(std::string_view name, const std::function<Status()>& copy) {
  for (int attempt = 0; attempt < kCopiesMax; ++attempt) {
    Status copied = copy();
    if (copied.code() != Code::kConflict) return copied;
  }
  return Status(Code::kBusy, "another program keeps appending without the session's lock")
      .in_file(directory_->path_of(name));
}

// After a new file took the name: looks at it, and notes in the lock file what is known of it.
Status DirectoryStorage::adopt_new_log(Stream stream, uint64_t durable_bytes) {
  doubt_tail();
  VARVE_TRY(tail());
  if (stream == Stream::kVectors) VARVE_TRY(vectors_tail());
  {
    const std::lock_guard guard(mutex_);
    stream_of(stream).is_name_synced = true;
    state_.file = entries_.identity;
  }
  unsynced(stream) = false;
  if (stream == Stream::kEntries) state_.durable_bytes = durable_bytes;
  (void)write_state().ok();
  return {};
}

Status DirectoryStorage::truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) {
  VARVE_TRY(refuse_if_poisoned());
  const std::shared_ptr<io::File> file = snapshot_of(stream).file;
  if (!file) return {};
  VARVE_TRY(check_end(stream, expected_bytes));
  VARVE_TRY(cut(stream, *file, size_bytes));
  if (stream == Stream::kEntries) {
    state_.durable_bytes = std::min(state_.durable_bytes, size_bytes);
  }
  return {};
}

Status DirectoryStorage::replace(Stream stream, std::optional<uint64_t> expected_bytes,
                                 const std::function<Status(Sink&)>& produce) {
  VARVE_TRY(refuse_if_poisoned());
  const std::shared_ptr<io::File> old = snapshot_of(stream).file;
  ReplaceOptions options;
  options.sync_names_before = &has_unsynced_name_;
  if (expected_bytes) {
    options.check_before_rename = [&] { return check_end(stream, *expected_bytes); };
  }
  Status replaced =
      replace_file(*directory_, file_of(stream), *environment_.random, options, produce);
  if (replaced.code() == Code::kUnknown) poison(replaced);
  VARVE_TRY(std::move(replaced));
  has_unsynced_name_ = false;
  // The new file has the name for good: later failures do not make this call fail.
  try {
    doubt_tail();
    const auto now = tail();
    if (!now.ok() || !adopt_new_log(stream, now->entries_bytes).ok()) {
      forget(stream);
    } else if (expected_bytes && old) {
      (void)carry_over(stream, *old, *expected_bytes).ok();
    }
  } catch (const std::bad_alloc&) {
    forget(stream);
  }
  return {};
}

// Programs without the lock may have appended to the old file after the last look at it, and nobody
// would see that any more. Only whole lines are taken: the rest of another goes to the old file.
Status DirectoryStorage::carry_over(Stream stream, io::File& old, uint64_t from_bytes) {
  VARVE_TRY_ASSIGN(const uint64_t end_bytes, old.size_bytes());
  if (end_bytes <= from_bytes) return {};
  std::string lines(static_cast<size_t>(end_bytes - from_bytes), '\0');
  VARVE_TRY_ASSIGN(const size_t got, old.read_at(from_bytes, lines));
  lines.resize(lines.rfind('\n', got) + 1);
  if (lines.empty()) return {};
  VARVE_TRY_ASSIGN(const uint64_t start_bytes, snapshot_of(stream).file->size_bytes());
  return append(stream, start_bytes, lines, true, 0);
}

// The name belongs to a file that could not be looked at: nothing may be added to the one before.
void DirectoryStorage::forget(Stream stream) {
  state_.file = {};
  state_.durable_bytes = 0;
  const std::lock_guard guard(mutex_);
  is_tail_known_ = false;
  generation_of(stream) += 1;
  stream_of(stream) = OpenStream();
}

// Where there are none, whoever removed them may have failed, or was killed, before the sync.
Status DirectoryStorage::remove_vectors() {
  VARVE_TRY(refuse_if_poisoned());
  Status removed = directory_->remove(kVectorsFile);
  if (removed.code() != Code::kNotFound) VARVE_TRY(std::move(removed));
  VARVE_TRY(directory_->sync());
  unsynced(Stream::kVectors) = false;
  return vectors_tail().status();
}

Status DirectoryStorage::remove_residue(std::span<const std::string_view> documents) {
  VARVE_TRY_ASSIGN(const auto items, directory_->list());
  for (const auto& item : items) {
    const bool named = item.name == kQuarantineFile ||
                       std::find(documents.begin(), documents.end(), item.name) != documents.end();
    // We make no directory here: one of such a name is somebody else's.
    const bool is_left_over = is_temporary_name(item.name) && item.kind != io::FileKind::kDirectory;
    if (named || is_left_over) VARVE_TRY(directory_->remove(item.name));
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
