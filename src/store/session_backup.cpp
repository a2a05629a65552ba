#include "store/session_backup.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "json/tree.h"
#include "log/directory_storage.h"
#include "session/metadata/metadata.h"
#include "session/retries.h"
#include "store/session_list.h"

namespace varve::store {

namespace {

constexpr uint64_t kChunkBytes = uint64_t{4} << 20;
// Each appended batch costs a sync. With many batches in a small log, a whole copy is cheaper: a
// sync takes about as long as writing this many bytes.
constexpr size_t kBatchesMin = 16;
constexpr uint64_t kBytesPerSync = uint64_t{64} << 10;

class CountingSink final : public log::Sink {
 public:
  CountingSink(log::Sink& inner, uint64_t* bytes) : inner_(inner), bytes_(bytes) {}
  Status append(std::string_view bytes) override {
    *bytes_ += bytes.size();
    return inner_.append(bytes);
  }

 private:
  log::Sink& inner_;
  uint64_t* bytes_;
};

bool is_same_life(const log::SessionRow& a, const log::SessionRow& b) {
  return a.created_at_ms == b.created_at_ms && a.user_id == b.user_id && a.agent_id == b.agent_id;
}

constexpr std::string_view kMetadataCannotBeRead =
    "its metadata.json is missing or cannot be read, and so are title, ttl_hours and settings in "
    "the copy";
constexpr std::string_view kNothingIsLeft =
    "no entry of it can be read any more, so its copy stays as it was: restore it from the copy, "
    "or accept the loss by a repair";
constexpr std::string_view kCopyIsNewer =
    "its copy is of a newer version and stays as it was; use a newer varve";
constexpr std::string_view kWasMadeAnew =
    "its copy is of an earlier session of this id that is gone though nobody dropped it, and stays "
    "as it was: restore that one, or remove its copy by \"delete_missing\":true";
constexpr std::string_view kDeletionsAreLost =
    "deletions of it are missing that its copy has, so the copy stays as it was: put its "
    "tombstones.jsonl back from the copy, or accept the loss by a repair";

}  // namespace

Status SessionBackup::run(BackupTotals* totals) {
  for (int i = 0; i < session::kReplacedMax; ++i) {
    Status status = attempt(totals);
    // kConflict: somebody wrote to the copy, so it no longer fits.
    if (status.code() != Code::kGone && status.code() != Code::kConflict) return status;
  }
  source_failure_ = session::replaced_too_often();
  return source_failure_;
}

Status SessionBackup::attempt(BackupTotals* totals) {
  auto storage = context_.engine.open(id_);
  if (!storage.ok()) {
    source_failure_ = storage.status();
    return source_failure_;
  }
  source_ = std::make_unique<SessionSource>(*std::move(storage), context_.recovery);
  written_bytes_ = 0;
  const auto work = [&]() -> Status {
    VARVE_TRY(hold_still());
    VARVE_TRY_ASSIGN(auto copy, find_extensible());
    if (copy) {
      VARVE_TRY(remark_on_added());
      return extend(*copy, totals);
    }
    VARVE_TRY_ASSIGN(scan_, source_->scan(0, 0));
    VARVE_TRY(refuse_newer_copy());
    VARVE_TRY(refuse_copy_of_lost());
    VARVE_TRY_ASSIGN(const std::string_view reason, reason_to_keep_copy());
    if (!reason.empty()) {
      refusal_ = {Code::kCorruption, std::string(reason)};
      return refusal_;
    }
    return copy_whole(totals);
  };
  Status status = work();
  source_failure_ = refusal_.ok() ? source_->failure() : refusal_;
  source_.reset();
  return status;
}

Status SessionBackup::hold_still() {
  const auto hold = [this](bool is_still) { return source_->hold_still(is_still); };
  return context_.look_at_still ? context_.look_at_still(id_, hold) : hold(false);
}

Result<std::unique_ptr<log::SessionStorage>> SessionBackup::find_extensible() {
  if (!known_) return std::unique_ptr<log::SessionStorage>();
  auto copy = copies_.open(id_);
  if (!copy.ok()) return std::unique_ptr<log::SessionStorage>();
  VARVE_TRY_ASSIGN(const bool fitting, fits(**copy));
  if (!fitting) return std::unique_ptr<log::SessionStorage>();
  VARVE_TRY_ASSIGN(scan_, source_->scan(known_->entries.bytes, known_->tombstones.bytes));
  const uint64_t batches = scan_.batch_ends.size();
  if (batches > kBatchesMin && batches * kBytesPerSync > scan_.entries_end) {
    return std::unique_ptr<log::SessionStorage>();
  }
  return copy;
}

// Whether the copy is as backup.json says, and the session begins with the same bytes.
Result<bool> SessionBackup::fits(log::SessionStorage& copy) {
  if (known_->generation != source_->generation()) return false;
  const auto tail = copy.tail();
  if (!tail.ok() || tail->entries_bytes != known_->entries.bytes ||
      tail->tombstones_bytes != known_->tombstones.bytes ||
      source_->tail().entries_bytes < known_->entries.bytes ||
      source_->tail().tombstones_bytes < known_->tombstones.bytes) {
    return false;
  }
  auto again = copies_.open(id_);
  if (!again.ok()) return false;
  SessionSource own(*std::move(again));
  if (!own.hold_still().ok()) return false;
  for (const auto& [stream, known] : {std::pair(log::Stream::kEntries, known_->entries),
                                      std::pair(log::Stream::kTombstones, known_->tombstones)}) {
    VARVE_TRY_ASSIGN(const uint64_t of_source, source_->check(stream, known.bytes));
    const auto of_copy = own.check(stream, known.bytes);
    if (!of_copy.ok() || *of_copy != known.check || of_source != known.check) return false;
  }
  // One that was made anew has the same generation, and may begin with the same bytes: none.
  if (!is_same_life(own.row(id_), source_->row(id_))) return false;
  known_durable_ = own.durable();
  // A document that the session no longer has cannot be removed from a copy that is in use.
  VARVE_TRY_ASSIGN(const auto of_source, source_->documents());
  const auto of_copy = own.documents();
  return of_copy.ok() &&
         std::includes(of_source.begin(), of_source.end(), of_copy->begin(), of_copy->end());
}

// The log is read whole only where what was added does not tell.
Status SessionBackup::remark_on_added() {
  remark_ = source_->left_out();
  if (!source_->may_have_lost(scan_, known_durable_)) {
    add_remark(scan_.damage_remark(), &remark_);
    return {};
  }
  VARVE_TRY_ASSIGN(const SourceScan all, source_->scan(0, 0));
  add_remark(source_->loss_remark(all), &remark_);
  return {};
}

Status SessionBackup::extend(log::SessionStorage& copy, BackupTotals* totals) {
  VARVE_TRY(copy.lock(context_.clock.deadline_us(context_.lock_timeout_ms), "backup", nullptr));
  const auto work = [&]() -> Status {
    VARVE_TRY(extend_stream(copy, log::Stream::kTombstones, known_->tombstones.bytes,
                            scan_.tombstones_end));
    VARVE_TRY(extend_stream(copy, log::Stream::kEntries, known_->entries.bytes, scan_.entries_end));
    VARVE_TRY(extend_documents(copy));
    return tells_durable() ? Status() : copy.sync(source_->durable_seq());
  };
  Status status = work();
  copy.unlock();
  VARVE_TRY(std::move(status));
  VARVE_TRY(note_copied());
  (written_bytes_ > 0 ? totals->appended : totals->unchanged) += 1;
  totals->bytes += written_bytes_;
  totals->entries += scan_.entry_count;
  return {};
}

// A stretch ends where a batch does, and is then made durable: parts of one write reach the disk in
// any order, and a line after a batch proves that the batch is whole.
Status SessionBackup::extend_stream(log::SessionStorage& copy, log::Stream stream, uint64_t from,
                                    uint64_t to) {
  const bool entries = stream == log::Stream::kEntries;
  auto batch_end = scan_.batch_ends.begin();
  for (uint64_t at = from; at < to;) {
    uint64_t end = std::min(at + kChunkBytes, to);
    if (entries && batch_end != scan_.batch_ends.end()) end = std::min(end, *batch_end);
    const bool ends_batch = entries && batch_end != scan_.batch_ends.end() && end == *batch_end;
    if (ends_batch) ++batch_end;
    log::TextSink chunk;
    VARVE_TRY(source_->copy(stream, at, end, chunk));
    VARVE_TRY(copy.append(stream, at, chunk.text, ends_batch || end == to,
                          entries && end == to ? scan_.last_seq : 0));
    written_bytes_ += chunk.text.size();
    at = end;
  }
  return {};
}

Result<bool> SessionBackup::put_if_other(log::SessionStorage& copy, const std::string& name,
                                         const std::string& text) {
  const auto present = copy.get_document(name);
  if (present.ok() && *present == text) return false;
  if (!present.ok() && present.code() != Code::kNotFound) return present.status();
  VARVE_TRY(copy.put_document(name, text, log::DocumentDurability::kNamed));
  written_bytes_ += text.size();
  return true;
}

Result<bool> SessionBackup::put_vectors_if_other(log::SessionStorage& copy) {
  VARVE_TRY_ASSIGN(const bool is_same, source_->has_vectors_of(copy));
  if (is_same) return false;
  VARVE_TRY(copy.replace(log::Stream::kVectors, [this](log::Sink& sink) {
    CountingSink counting(sink, &written_bytes_);
    return source_->copy_document(log::kVectorsFile, counting);
  }));
  return true;
}

Result<bool> SessionBackup::put_document_if_other(log::SessionStorage& copy,
                                                  const std::string& name) {
  if (name == log::kVectorsFile) return put_vectors_if_other(copy);
  VARVE_TRY_ASSIGN(const std::string text, source_->document(name));
  return put_if_other(copy, name, text);
}

Status SessionBackup::extend_documents(log::SessionStorage& copy) {
  VARVE_TRY_ASSIGN(const auto names, source_->documents());
  std::vector<std::string> damaged;
  for (const std::string& name : names) {
    VARVE_TRY_ASSIGN(const bool is_other, put_document_if_other(copy, name));
    if (!is_other) continue;
    VARVE_TRY_ASSIGN(const bool is_bad, source_->is_document_damaged(name));
    if (is_bad) damaged.push_back(name);
  }
  add_remark(documents_remark(damaged), &remark_);
  if (source_->metadata().empty()) return {};
  // What the copy knows to be durable stays so. What was appended is noted in its own `lock`.
  const auto present = copy.get_document(log::kMetadataFile);
  const auto known = json::Tree::parse(present.ok() ? *present : std::string());
  const uint64_t durable_seq =
      std::min(known.ok() ? known->get_count("durable_seq") : 0, source_->durable_seq());
  return put_if_other(copy, std::string(log::kMetadataFile), source_->metadata_with(durable_seq))
      .status();
}

// Whether it has a deletion that the session lacks.
Result<bool> SessionBackup::has_more_deletions(SessionSource& copy) {
  std::unordered_set<std::string> present;
  const auto note = [&](const std::string& id, std::string_view) {
    present.insert(id);
    return Status();
  };
  bool has_more = false;
  const auto compare = [&](const std::string& id, std::string_view) {
    has_more = has_more || !present.contains(id);
    return Status();
  };
  VARVE_TRY(source_->for_each_tombstone(note));
  VARVE_TRY(copy.for_each_tombstone(compare));
  return has_more;
}

// It may have what this version cannot read, and the session does not have: as where an upgrade was
// taken back.
Status SessionBackup::refuse_newer_copy() {
  auto copy = copies_.open(id_);
  if (!copy.ok()) return {};
  SessionSource own(*std::move(copy));
  Status looked = own.hold_still();
  if (looked.ok()) looked = own.scan(0, 0).status();
  if (looked.code() != Code::kFormatVersion) return {};
  refusal_ = {Code::kFormatVersion, std::string(kCopyIsNewer)};
  return refusal_;
}

// A program may make a session anew where it does not find it.
Status SessionBackup::refuse_copy_of_lost() {
  if (!dropped_) return {};
  const int64_t own_ms = source_->row(id_).created_at_ms;
  VARVE_TRY_ASSIGN(const int64_t copied_ms, created_at_of(copies_, id_));
  if (own_ms == 0 || copied_ms == 0 || own_ms == copied_ms) return {};
  VARVE_TRY_ASSIGN(const bool was_dropped, dropped_->has(id_, copied_ms));
  if (was_dropped) return {};
  refusal_ = {Code::kCorruption, std::string(kWasMadeAnew)};
  return refusal_;
}

// A copy that cannot be looked at may be the only one that has what the session lost: it is not
// replaced then, either. One that is damaged is no reason.
Result<std::string_view> SessionBackup::reason_to_keep_copy() {
  const bool is_nothing_left = source_->has_surely_lost_all(scan_);
  const bool are_deletions_lost = source_->lost_deletion_count(scan_) > 0;
  constexpr std::string_view kNone;
  if (!is_nothing_left && !are_deletions_lost) return kNone;
  auto copy = copies_.open(id_);
  if (is_of_environment(copy.code())) return std::move(copy).status();
  if (!copy.ok()) return kNone;
  SessionSource own(*std::move(copy));
  const Status held = own.hold_still();
  if (is_of_environment(held.code())) return held;
  const log::SessionRow row = source_->row(id_);
  const bool is_other = row.created_at_ms != 0 && !is_same_life(own.row(id_), row);
  if (!held.ok() || is_other) return kNone;
  const auto copied = own.scan(0, 0);
  if (is_of_environment(copied.code())) return copied.status();
  if (!copied.ok()) return kNone;
  if (is_nothing_left && copied->entry_count > 0) return kNothingIsLeft;
  if (!are_deletions_lost) return kNone;
  VARVE_TRY_ASSIGN(const bool has_more, has_more_deletions(own));
  return has_more ? kDeletionsAreLost : kNone;
}

// Where its metadata cannot be read, whose the session is stands in the store's list alone.
Result<log::SessionRow> SessionBackup::row_of_source() const {
  log::SessionRow row = source_->row(id_);
  if (row.created_at_ms != 0) return row;
  VARVE_TRY_ASSIGN(log::ValidRows listed, context_.engine.valid_rows({id_}));
  return listed.empty() ? row : std::move(listed.begin()->second);
}

Status SessionBackup::remark_on_all() {
  remark_ = source_->left_out();
  add_remark(source_->loss_remark(scan_), &remark_);
  if (!session::Metadata::parse(source_->metadata(), id_).ok()) {
    add_remark(kMetadataCannotBeRead, &remark_);
  }
  VARVE_TRY_ASSIGN(const auto damaged, source_->damaged_documents());
  add_remark(documents_remark(damaged), &remark_);
  return {};
}

Status SessionBackup::copy_whole(BackupTotals* totals) {
  log::SessionContents contents;
  const auto stream = [this](log::Stream which, uint64_t end) {
    return [this, which, end](log::Sink& sink) {
      CountingSink counting(sink, &written_bytes_);
      return source_->copy(which, 0, end, counting);
    };
  };
  contents.entries = stream(log::Stream::kEntries, scan_.entries_end);
  contents.tombstones = stream(log::Stream::kTombstones, scan_.tombstones_end);
  VARVE_TRY_ASSIGN(const auto names, source_->documents());
  for (const std::string& name : names) {
    contents.documents.emplace_back(name, [this, name](log::Sink& sink) {
      CountingSink counting(sink, &written_bytes_);
      return source_->copy_document(name, counting);
    });
  }
  if (!source_->metadata().empty()) {
    contents.metadata = [this](log::Sink& sink) {
      CountingSink counting(sink, &written_bytes_);
      return counting.append(source_->metadata_with(source_->durable_seq()));
    };
  }
  VARVE_TRY_ASSIGN(const log::SessionRow known, row_of_source());
  VARVE_TRY_ASSIGN(const log::SessionRow row, rows_.placed(known));
  VARVE_TRY(remark_on_all());
  VARVE_TRY(copies_.install(row, contents, log::Existing::kSwapOrMove));
  VARVE_TRY(mark_durable());
  VARVE_TRY(note_copied());
  totals->copied += 1;
  totals->bytes += written_bytes_;
  totals->entries += scan_.entry_count;
  return {};
}

// A metadata.json that is damaged or was edited is copied as it is. What it does not say, the
// copy's `lock` does: else a batch at the end that lost a part would pass for a torn one.
bool SessionBackup::tells_durable() const {
  const uint64_t durable_seq = source_->durable_seq();
  const auto told = json::Tree::parse(source_->metadata_with(durable_seq));
  const bool is_object = told.ok() && told->is_object();
  return (is_object ? told->get_count("durable_seq") : 0) >= durable_seq;
}

Status SessionBackup::mark_durable() {
  if (tells_durable()) return {};
  VARVE_TRY_ASSIGN(const auto copy, copies_.open(id_));
  VARVE_TRY(copy->lock(context_.clock.deadline_us(context_.lock_timeout_ms), "backup", nullptr));
  Status status = copy->sync(source_->durable_seq());
  copy->unlock();
  return status;
}

Status SessionBackup::note_copied() {
  copied_.generation = source_->generation();
  copied_.entries.bytes = scan_.entries_end;
  copied_.tombstones.bytes = scan_.tombstones_end;
  VARVE_TRY_ASSIGN(copied_.entries.check, source_->check(log::Stream::kEntries, scan_.entries_end));
  VARVE_TRY_ASSIGN(copied_.tombstones.check,
                   source_->check(log::Stream::kTombstones, scan_.tombstones_end));
  return {};
}

}  // namespace varve::store
