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
    if (ends_at(file, start_bytes)) return written;
    const bool is_cut = file.truncate(start_bytes).ok() && sync_file(file).ok();
    if (is_cut || heal_transcript(file, start_bytes).ok()) return written;
    return outcome_unknown(written);
  }
  if (!durable) return {};
  Status synced = make_transcript_durable(file);
  if (synced.ok()) return {};
  if (heal_transcript(file, start_bytes).ok()) {
    return std::move(synced).with_context("nothing was added because the disk did not take it");
  }
  return outcome_unknown(synced);
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
  if (make_transcript_durable(**file).ok()) return {};
  return heal_transcript(**file, info.size_bytes);
}

// Copies what the kernel still has, and the disk may have lost, into a new file.
Status DirectoryStorage::heal_transcript(io::File& file, uint64_t keep_bytes) {
  return heal([&] { return renew_transcript(file, keep_bytes); });
}

Status DirectoryStorage::renew_transcript(io::File& file, uint64_t keep_bytes) {
  return replace_file(*directory_, kTranscriptFile, *environment_.random, {},
                      [&](Sink& sink) { return copy_start(file, keep_bytes, sink); });
}

// All of it, if there is one.
Status DirectoryStorage::renew_transcript() {
  const auto file = directory_->open(kTranscriptFile, io::OpenMode::kRead);
  if (file.code() == Code::kNotFound) return {};
  if (!file.ok()) return file.status();
  VARVE_TRY_ASSIGN(const uint64_t size_bytes, (*file)->size_bytes());
  return renew_transcript(**file, size_bytes);
}

}  // namespace varve::log
