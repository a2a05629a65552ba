#include "store/session_source.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/hash.h"
#include "base/utf8.h"
#include "log/directory_storage.h"
#include "log/registry.h"
#include "session/metadata/metadata.h"
#include "session/retries.h"
#include "session/stores/capped_check.h"
#include "session/vectors/vector_check.h"

namespace varve::store {

namespace {

constexpr uint64_t kCheckedBytes = uint64_t{64} << 10;
constexpr uint64_t kCopyBytes = uint64_t{1} << 20;

// A session's documents besides its log, its metadata and index.bin. Other files in its directory
// are somebody's own.
constexpr std::array<std::string_view, 4> kDocuments = {log::kKeyValueFile, log::kTranscriptFile,
                                                        log::kVectorsFile, log::kQuarantineFile};

// Hands on what would be written, and where.
class ComparingSink final : public log::Sink {
 public:
  using Compare = std::function<Status(uint64_t at, std::string_view bytes)>;
  explicit ComparingSink(Compare compare) : compare_(std::move(compare)) {}
  Status append(std::string_view bytes) override {
    VARVE_TRY(compare_(bytes_, bytes));
    bytes_ += bytes.size();
    return {};
  }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  Compare compare_;
  uint64_t bytes_ = 0;
};

}  // namespace

void add_remark(std::string_view text, std::string* remark) {
  if (!remark->empty() && !text.empty()) *remark += "; ";
  *remark += text;
}

std::string SourceScan::damage_remark() const {
  if (damaged_count == 0) return {};
  if (damaged_count == 1) return "1 damaged line was copied as it is";
  return std::to_string(damaged_count) + " damaged lines were copied as they are";
}

std::string documents_remark(const std::vector<std::string>& damaged) {
  std::string names;
  for (const std::string& name : damaged) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? names : "damage in " + names + " was copied as it is";
}

bool SessionSource::has_surely_lost_all(const SourceScan& all) const {
  if (all.entry_count > 0) return false;
  const bool may_be_torn = all.damaged_count == 0 && metadata_tree();
  return durable_.seq > compacted_through_ || (tail_.entries_bytes > 0 && !may_be_torn);
}

// Lines that are damaged at the end are those that are missing there, and others are some of those
// that are missing before.
std::string SessionSource::loss_remark(const SourceScan& all) const {
  std::string remark = all.damage_remark();
  if (all.missing_count > all.damaged_count) {
    const uint64_t count = all.missing_count - all.damaged_count;
    add_remark(count == 1 ? "1 entry is missing in the middle of its log"
                          : std::to_string(count) + " entries are missing in the middle of its log",
               &remark);
  }
  if (all.damaged_count == 0 && has_lost_end(all)) {
    add_remark("entries that were durable are missing at the end of its log", &remark);
  }
  if (const uint64_t count = lost_deletion_count(all); count > 0) {
    add_remark(count == 1 ? "1 deletion is missing, and what it deleted may be back"
                          : std::to_string(count) +
                                " deletions are missing, and what they deleted may be back",
               &remark);
  }
  return remark;
}

bool SessionSource::may_have_lost(const SourceScan& added, const Durable& copied) const {
  const uint64_t present = std::max(copied.seq, compacted_through_);
  const uint64_t deletions = copied.tombstone_count + added.tombstone_count;
  return durable_.tombstone_count > deletions || added.missing_count > 0 ||
         (knows_gaps_ && added.first_seq > present + 1) ||
         durable_.seq > std::max(present, added.last_seq);
}

Status SessionSource::fail(Status status) {
  failure_ = status;
  return status;
}

Status SessionSource::hold_still(bool is_still) {
  for (int attempt = 0; attempt < session::kReplacedMax; ++attempt) {
    auto held = try_to_hold(is_still);
    if (!held.ok()) return fail(std::move(held).status());
    if (*held) return {};
  }
  return fail(session::replaced_too_often());
}

Status SessionSource::hold_vectors() {
  const auto tail = storage_->vectors_tail();
  vectors_failure_ = tail.status();
  vectors_ = tail.ok() ? *tail : log::VectorsTail();
  return tail.code() == Code::kNoMemory ? tail.status() : Status();
}

// False too where that cannot be known: what is held is then copied, or told as a problem.
bool SessionSource::were_vectors_replaced() {
  const auto now = storage_->vectors_tail();
  return vectors_failure_.ok() && now.ok() && now->generation != vectors_.generation;
}

// Its lines are kept only if nobody was writing them when the tail was seen: the lock is free, or
// its holder still, and the end has not moved since.
uint64_t SessionSource::kept_to(bool is_still) {
  if (recovery_ != session::Recovery::kSalvage) return log::kNoneKept;
  const bool is_free = is_still || !storage_->lock_holder().is_held;
  const auto now = storage_->tail();
  const bool is_same =
      now.ok() && now->generation == tail_.generation && now->entries_bytes == tail_.entries_bytes;
  return is_free && is_same ? log::kAllKept : log::kNoneKept;
}

Result<bool> SessionSource::try_to_hold(bool is_still) {
  VARVE_TRY(hold_vectors());
  // Before the tail, so that no batch that is partly in the tail counts as durable.
  const uint64_t durable_seq = storage_->durable_mark().last_seq;
  VARVE_TRY_ASSIGN(const log::Tail first, storage_->tail());
  auto text = storage_->get_document(log::kMetadataFile);
  if (!text.ok() && text.code() != Code::kNotFound) return std::move(text).status();
  // When a session is removed, that is the first file to go.
  if (!text.ok()) VARVE_TRY(storage_->check_name());
  metadata_ = text.ok() ? *std::move(text) : std::string();
  VARVE_TRY_ASSIGN(tail_, storage_->tail());
  if (first.generation != tail_.generation || were_vectors_replaced()) return false;
  kept_to_ = kept_to(is_still);
  generation_ = 0;
  durable_ = {durable_seq, 0};
  settled_seq_ = durable_seq;
  compacted_through_ = 0;
  knows_gaps_ = false;
  // Unreadable metadata is copied as it is: it only describes the log.
  const auto parsed = metadata_tree();
  if (!parsed) return true;
  if (parsed->get_int64("version") > session::kMetadataVersion) {
    return Status(Code::kFormatVersion, "the session is of a newer version; use a newer varve")
        .in_file(storage_->name_of_document(log::kMetadataFile));
  }
  generation_ = parsed->get_count("generation");
  durable_.seq = std::max(durable_seq, parsed->get_count("durable_seq"));
  durable_.tombstone_count = parsed->get_count(session::kDurableTombstones);
  compacted_through_ = parsed->get_count("compacted_through_seq");
  settled_seq_ = std::max(durable_.seq, compacted_through_);
  knows_gaps_ = true;
  return true;
}

std::optional<json::Tree> SessionSource::metadata_tree() const {
  auto parsed = json::Tree::parse(without_byte_order_mark(metadata_));
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  return *std::move(parsed);
}

std::string SessionSource::metadata_with(uint64_t durable_seq) const {
  const auto parsed = metadata_tree();
  if (!parsed) return metadata_;
  auto metadata = session::Metadata::parse(metadata_, parsed->get_string("session_id"));
  if (!metadata.ok() || metadata->edited_outside()) return metadata_;
  if (metadata->durable_seq() >= durable_seq) return metadata_;
  metadata->tree().set("durable_seq", json::Tree::integer_unsigned(durable_seq));
  return metadata->encode();
}

// `from_start`: of a scan of the whole log, which knows what should come before.
void SessionSource::note_seq(uint64_t seq, bool from_start, SourceScan* found) const {
  if (seq == entry::kNoSeq) return;
  const bool knows_last = from_start || found->last_seq > 0;
  const uint64_t expected = std::max(found->last_seq, compacted_through_) + 1;
  if (knows_gaps_ && knows_last && seq > expected) found->missing_count += seq - expected;
  if (found->first_seq == 0) found->first_seq = seq;
  found->last_seq = std::max(found->last_seq, seq);
}

Result<SourceScan> SessionSource::scan(uint64_t entries_from, uint64_t tombstones_from) {
  SourceScan found;
  auto entries = log::scan_entries(
      *storage_, {tail_.generation, entries_from, tail_.entries_bytes}, settled_seq_,
      [&](const log::ScannedEntry& line) {
        found.entry_count += 1;
        note_seq(line.facts->seq, entries_from == 0, &found);
        const entry::Batch batch = line.facts->batch;
        if (batch.count > 1 && batch.index + 1 == batch.count) {
          found.batch_ends.push_back(line.offset + line.length + 1);
        }
        return Status();
      },
      kept_to_);
  if (!entries.ok()) return fail(std::move(entries).status());
  auto tombstones = log::scan_tombstones(
      *storage_, {tail_.generation, tombstones_from, tail_.tombstones_bytes}, [&](const auto&) {
        found.tombstone_count += 1;
        return Status();
      });
  if (!tombstones.ok()) return fail(std::move(tombstones).status());
  found.entries_end = entries->committed_end;
  found.tombstones_end = tombstones->committed_end;
  found.tombstone_count += tombstones->damaged_count;
  found.damaged_count = entries->damaged_count + tombstones->damaged_count;
  return found;
}

Status SessionSource::copy(log::Stream stream, uint64_t from, uint64_t to, log::Sink& sink) {
  std::string buffer;
  for (uint64_t at = from; at < to;) {
    buffer.resize(static_cast<size_t>(std::min(kCopyBytes, to - at)));
    auto got = storage_->read(stream, tail_.generation, at, buffer);
    if (!got.ok()) return fail(std::move(got).status());
    if (*got == 0) {
      return fail(Status(Code::kIo, "the file became shorter while it was copied")
                      .in_file(storage_->name_of(stream)));
    }
    VARVE_TRY(sink.append(std::string_view(buffer).substr(0, *got)));
    at += *got;
  }
  return {};
}

Result<uint64_t> SessionSource::check(log::Stream stream, uint64_t end) {
  std::string bytes(static_cast<size_t>(std::min(kCheckedBytes, end)), '\0');
  auto got = storage_->read(stream, tail_.generation, end - bytes.size(), bytes);
  if (!got.ok()) return fail(std::move(got).status());
  return hash64(std::string_view(bytes).substr(0, *got));
}

Result<uint64_t> SessionSource::for_each_tombstone(const VisitTombstone& visit) {
  std::string line;
  auto scanned = log::scan_tombstones(
      *storage_, {tail_.generation, 0, tail_.tombstones_bytes},
      [&](const log::ScannedTombstone& found) -> Status {
        line.resize(static_cast<size_t>(found.length));
        auto got = storage_->read(log::Stream::kTombstones, tail_.generation, found.offset, line);
        if (!got.ok()) return fail(std::move(got).status());
        line.resize(*got);
        line.push_back('\n');
        return visit(found.tombstone->id, line);
      });
  if (!scanned.ok()) return std::move(scanned).status();
  return scanned->damaged_count;
}

Result<std::vector<std::string>> SessionSource::documents() {
  auto files = storage_->files();
  if (!files.ok()) return fail(std::move(files).status());
  std::vector<std::string> names;
  left_out_.clear();
  for (const auto& file : *files) {
    if (std::find(kDocuments.begin(), kDocuments.end(), file.name) == kDocuments.end()) continue;
    // Nothing alive is in it, so the rest is copied without it.
    if (file.name == log::kQuarantineFile && file.size_bytes > log::kDocumentBytesMax) {
      left_out_ = file.name + " was left out: it has " + std::to_string(file.size_bytes) + " bytes";
    } else {
      names.push_back(file.name);
    }
  }
  // A store in memory lists no files, but may have these.
  const auto add = [&names](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const auto name : {log::kKeyValueFile, log::kTranscriptFile}) {
    if (storage_->open_document(name).ok()) add(name);
  }
  if (vectors_failure_.ok()) std::erase(names, log::kVectorsFile);
  if (vectors_failure_.ok() && vectors_.bytes > 0) add(log::kVectorsFile);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> SessionSource::document(std::string_view name) {
  auto text = storage_->get_document(name);
  // It was listed and then removed. That says nothing about the session.
  if (text.code() == Code::kNotFound) return fail({Code::kGone, "a file was removed meanwhile"});
  if (!text.ok()) return fail(std::move(text).status());
  return text;
}

Status SessionSource::copy_document(std::string_view name, log::Sink& sink) {
  if (name == log::kVectorsFile) {
    return vectors_failure_.ok() ? copy_vectors(sink) : fail(vectors_failure_);
  }
  VARVE_TRY_ASSIGN(const std::string text, document(name));
  return sink.append(text);
}

Result<std::vector<std::string>> SessionSource::damaged_documents() {
  VARVE_TRY_ASSIGN(const auto names, documents());
  std::vector<std::string> damaged;
  for (const std::string& name : names) {
    VARVE_TRY_ASSIGN(const bool is_bad, is_document_damaged(name));
    if (is_bad) damaged.push_back(name);
  }
  return damaged;
}

Result<bool> SessionSource::is_document_damaged(std::string_view name) {
  if (name == log::kVectorsFile) {
    if (!vectors_failure_.ok()) return fail(vectors_failure_);
    session::VectorFile file(*storage_);
    auto is_bad = session::is_damaged(file, vectors_);
    return is_bad.ok() ? std::move(is_bad) : Result<bool>(fail(std::move(is_bad).status()));
  }
  for (const auto store : {session::CappedStore::kKeyValue, session::CappedStore::kTranscript}) {
    if (name != session::file_of(store)) continue;
    VARVE_TRY_ASSIGN(const std::string text, document(name));
    return !session::damage_in(store, text).empty();
  }
  return false;
}

// Shorter than its tail when a torn end was cut off meanwhile.
Status SessionSource::copy_vectors(log::Sink& sink) {
  std::string buffer;
  for (uint64_t at = 0; at < vectors_.bytes; at += buffer.size()) {
    buffer.resize(static_cast<size_t>(std::min(kCopyBytes, vectors_.bytes - at)));
    auto got = storage_->read(log::Stream::kVectors, vectors_.generation, at, buffer);
    if (!got.ok()) return fail(std::move(got).status());
    if (*got == 0) return {};
    buffer.resize(*got);
    VARVE_TRY(sink.append(buffer));
  }
  return {};
}

Result<bool> SessionSource::has_vectors_of(log::SessionStorage& copy) {
  if (!vectors_failure_.ok()) return fail(vectors_failure_);
  VARVE_TRY_ASSIGN(const log::VectorsTail copied, copy.vectors_tail());
  if (vectors_.bytes == 0 || vectors_.bytes != copied.bytes) return false;
  std::string copied_bytes;
  bool is_same = true;
  ComparingSink compare([&](uint64_t at, std::string_view bytes) -> Status {
    copied_bytes.resize(bytes.size());
    VARVE_TRY_ASSIGN(const size_t got,
                     copy.read(log::Stream::kVectors, copied.generation, at, copied_bytes));
    is_same = is_same && std::string_view(copied_bytes).substr(0, got) == bytes;
    return {};
  });
  VARVE_TRY(copy_vectors(compare));
  return is_same && compare.bytes() == copied.bytes;
}

log::SessionRow SessionSource::row(std::string_view session_id) const {
  return log::row_of(session_id, metadata_tree().value_or(json::Tree::object()));
}

}  // namespace varve::store
