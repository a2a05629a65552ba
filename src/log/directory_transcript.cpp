// The transcript of a session in a directory: a document that is appended to. It is made durable as
// the logs are, and a failed sync of its file is never repeated either.
#include <new>
#include <utility>

#include "log/atomic_file.h"
#include "log/directory_storage.h"

namespace varve::log {

Status DirectoryStorage::append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                                              bool durable) {
  VARVE_TRY(refuse_if_poisoned());
  VARVE_TRY_ASSIGN(const auto file,
                   directory_->open(kTranscriptFile, io::OpenMode::kAppendOrCreate));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  if (info.size_bytes != expected_bytes) {
    return Status(Code::kConflict,
                  "another program appended to the transcript meanwhile; try again")
        .in_file(directory_->path_of(kTranscriptFile));
  }
  if (expected_bytes == 0) transcript_synced_ = {};  // it may be a new file with an old inode
  try {
    return append_transcript_and_sync(*file, expected_bytes, bytes, durable);
  } catch (const std::bad_alloc&) {
    return take_back(*file, expected_bytes, bytes);
  }
}

Status DirectoryStorage::append_transcript_and_sync(io::File& file, uint64_t start_bytes,
                                                    std::string_view bytes, bool durable) {
  if (durable) VARVE_TRY(tell_suspect());
  Status written = file.append(bytes);
  if (!written.ok()) {
    const bool is_taken_back =
        ends_at(file, start_bytes) || cut_transcript(file, start_bytes, bytes).ok();
    if (is_taken_back) return written;
    poison(written);
    return outcome_unknown(written);
  }
  if (!durable) return {};
  Status synced = make_transcript_durable(file);
  if (synced.ok()) return {};
  // No sync failed, so the file is good without this entry.
  const bool is_lack = is_lack_of_descriptors(synced);
  if (is_lack && cut_transcript(file, start_bytes, bytes).ok()) return synced;
  if (holds_only(file, start_bytes, bytes)) {
    const Status healed = heal_transcript_without(file, start_bytes, bytes.size());
    if (healed.ok()) {
      return std::move(synced).with_context("nothing was added because the disk did not take it");
    }
    if (healed.code() != Code::kConflict) return outcome_unknown(synced);
  }
  // Behind ours is somebody else's: all of it stays.
  return heal_transcript(file).ok() ? Status() : outcome_unknown(synced);
}

// Takes back a part of `bytes`, unless somebody without the lock has appended behind it.
Status DirectoryStorage::cut_transcript(io::File& file, uint64_t start_bytes,
                                        std::string_view bytes) {
  VARVE_TRY_ASSIGN(const uint64_t end_bytes, file.size_bytes());
  if (!holds_only(file, start_bytes, bytes)) {
    return {Code::kConflict, "another program appended to the transcript meanwhile"};
  }
  const bool is_cut = file.truncate(start_bytes).ok();
  if (is_cut && sync_file(file).ok()) return {};
  return heal_transcript_without(file, start_bytes, is_cut ? 0 : end_bytes - start_bytes);
}

Status DirectoryStorage::make_transcript_durable(io::File& file) {
  VARVE_TRY(sync_file(file));
  VARVE_TRY(sync_names());
  VARVE_TRY_ASSIGN(const io::FileInfo info, file.info());
  if (!(info.identity == transcript_synced_)) VARVE_TRY(directory_->sync());
  transcript_synced_ = info.identity;
  transcript_synced_bytes_ = info.size_bytes;
  return {};
}

// Syncs all of the transcript, whoever appended it.
Status DirectoryStorage::sync_transcript() {
  const auto file = directory_->open(kTranscriptFile, io::OpenMode::kAppend);
  if (file.code() == Code::kNotFound) return {};
  if (!file.ok()) return file.status();
  VARVE_TRY_ASSIGN(const io::FileInfo info, (*file)->info());
  if (info.identity == transcript_synced_ && info.size_bytes == transcript_synced_bytes_) return {};
  VARVE_TRY(tell_suspect());
  Status durable = make_transcript_durable(**file);
  return durable.ok() || is_lack_of_descriptors(durable) ? durable : heal_transcript(**file);
}

// Copies what the kernel still has, and the disk may have lost, into a new file: without the
// `dropped_bytes` at the end, of which nobody was told. kConflict: somebody appended behind them.
Status DirectoryStorage::heal_transcript_without(io::File& file, uint64_t keep_bytes,
                                                 uint64_t dropped_bytes) {
  return heal([&] { return renew_transcript(file, keep_bytes, keep_bytes + dropped_bytes); });
}

// All of it.
Status DirectoryStorage::heal_transcript(io::File& file) {
  return heal([&] { return renew_transcript(file); });
}

// kConflict when it is not `present_bytes` long at the end.
Status DirectoryStorage::renew_transcript(io::File& file, uint64_t keep_bytes,
                                          uint64_t present_bytes) {
  ReplaceOptions options;
  options.check_before_rename = [&]() -> Status {
    if (ends_at(file, present_bytes)) return {};
    return {Code::kConflict, "the transcript has another length"};
  };
  return replace_file(*directory_, kTranscriptFile, *environment_.random, options,
                      [&](Sink& sink) { return copy_start(file, keep_bytes, sink); });
}

Status DirectoryStorage::renew_transcript(io::File& file) {
  return while_outrun(kTranscriptFile, [&]() -> Status {
    VARVE_TRY_ASSIGN(const uint64_t present_bytes, file.size_bytes());
    return renew_transcript(file, present_bytes, present_bytes);
  });
}

// The same if there is one.
Status DirectoryStorage::renew_transcript() {
  const auto file = directory_->open(kTranscriptFile, io::OpenMode::kRead);
  if (file.code() == Code::kNotFound) return {};
  return file.ok() ? renew_transcript(**file) : file.status();
}

}  // namespace varve::log
