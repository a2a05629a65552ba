// Reads every line, checksum, sequence number and index entry again from the log.
#include "session/upkeep/verify.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "index/posting_list.h"
#include "index/snapshot.h"
#include "log/line_reader.h"
#include "session/retries.h"
#include "session/stores/capped_check.h"
#include "session/vectors/vector_check.h"

namespace varve::session {

namespace {

constexpr uint64_t kProblemsMax = 1000;
constexpr uint64_t kNotRead = UINT64_MAX;

class Report {
 public:
  void problem(log::Stream stream, uint64_t offset, uint64_t length, std::string_view reason) {
    problem_in(log::file_of(stream), offset, length, reason);
  }

  void problem_in(std::string_view file, uint64_t offset, uint64_t length,
                  std::string_view reason) {
    total_ += 1;
    if (total_ > kProblemsMax) return;
    json::Tree problem = json::Tree::object();
    problem.set("file", json::Tree::string(file));
    problem.set("offset", json::Tree::integer_unsigned(offset));
    problem.set("length", json::Tree::integer_unsigned(length));
    problem.set("reason", json::Tree::string(reason));
    problems_.push(std::move(problem));
  }

  void damage(const log::ScanReport& scan, log::Stream stream) {
    damaged_ += scan.damaged_count;
    for (const auto& range : scan.damaged) {
      problem(stream, range.offset, range.length, range.reason);
    }
    total_ += scan.damaged_count - scan.damaged.size();
  }

  void duplicate() { damaged_ += 1; }
  void damaged_vectors(const VectorCheck& vectors) {
    damaged_ += vectors.damaged_count;
    vectors_ = vectors.tree();
  }

  // Something that is not wrong but may interest somebody.
  void note(std::string_view file, uint64_t offset, std::string_view id, std::string_view target,
            std::string_view reason) {
    notes_total_ += 1;
    if (notes_total_ > kProblemsMax) return;
    json::Tree note = json::Tree::object();
    note.set("file", json::Tree::string(file));
    note.set("offset", json::Tree::integer_unsigned(offset));
    note.set("id", json::Tree::string(id));
    note.set("target", json::Tree::string(target));
    note.set("reason", json::Tree::string(reason));
    notes_.push(std::move(note));
  }

  // The problem that comes first in its file.
  [[nodiscard]] const json::Tree* first_problem() const {
    const json::Tree* first = nullptr;
    for (const auto& problem : problems_.items()) {
      const bool is_before =
          first == nullptr || (problem.get_string("file") == first->get_string("file") &&
                               problem.get_int64("offset") < first->get_int64("offset"));
      if (is_before) first = &problem;
    }
    return first;
  }
  json::Tree finish(uint64_t entries, uint64_t deleted, uint64_t checked_bytes, uint64_t last_seq) {
    json::Tree tree = json::Tree::object();
    tree.set("ok", json::Tree::boolean(total_ == 0));
    tree.set("entries", json::Tree::integer_unsigned(entries));
    tree.set("deleted", json::Tree::integer_unsigned(deleted));
    tree.set("damaged", json::Tree::integer_unsigned(damaged_));
    tree.set("problems", std::move(problems_));
    tree.set("problems_total", json::Tree::integer_unsigned(total_));
    tree.set("notes", std::move(notes_));
    tree.set("notes_total", json::Tree::integer_unsigned(notes_total_));
    tree.set("checked_bytes", json::Tree::integer_unsigned(checked_bytes));
    tree.set("last_seq", json::Tree::integer_unsigned(last_seq));
    tree.set("vectors", std::move(vectors_));
    return tree;
  }

 private:
  json::Tree problems_ = json::Tree::array();
  json::Tree notes_ = json::Tree::array();
  json::Tree vectors_;
  uint64_t total_ = 0;
  uint64_t notes_total_ = 0;
  uint64_t damaged_ = 0;
};

std::string lost_deletions_text(uint64_t count) {
  const bool one = count == 1;
  return std::to_string(count) + (one ? " deletion is" : " deletions are") + " missing that " +
         (one ? "was" : "were") + " durable, and what " + (one ? "it" : "they") +
         " deleted may be back: put the file back from a copy that has " + (one ? "it" : "them") +
         ", or accept the loss with repair";
}

std::string missing_text(uint64_t first, uint64_t last) {
  const uint64_t count = last - first + 1;
  return std::to_string(count) + (count == 1 ? " entry is" : " entries are") + " missing: seq " +
         std::to_string(first) + (count == 1 ? std::string() : " to " + std::to_string(last));
}

// One pass over the log, compared with the index on the way.
class Verification {
 public:
  Verification(Core& core, Progress& progress, bool deep)
      : core_(core), progress_(progress), deep_(deep) {}

  Status run() {
    VARVE_TRY(look());
    VARVE_TRY_ASSIGN(const auto store_damage, find_store_damage(core_));
    for (const StoreDamage& damage : store_damage) {
      transcript_torn_ = transcript_torn_ || damage.is_torn;
      if (!damage.is_torn) report(damage);
    }
    VARVE_TRY(begin_progress());
    VARVE_TRY(check_log());
    VARVE_TRY(check_vectors());
    return deep_ ? Status() : end_progress();
  }

  // What looks like a torn tail may be a line that is being written. Only the holder of the
  // writer's lock can tell.
  [[nodiscard]] bool may_be_torn() const { return torn_; }
  [[nodiscard]] bool is_transcript_torn() const { return transcript_torn_; }

  Status check_tails() {
    VARVE_TRY_ASSIGN(const log::Tail now, core_.storage->tail());
    if (now.generation != tail_.generation) return {};
    VARVE_TRY_ASSIGN(const log::ScanReport tombstones,
                     log::scan_tombstones(*core_.storage,
                                          {now.generation, tombstones_end_, now.tombstones_bytes},
                                          [](const log::ScannedTombstone&) { return Status(); }));
    torn_tail(tombstones, log::Stream::kTombstones);
    VARVE_TRY_ASSIGN(
        const log::ScanReport entries,
        log::scan_entries(*core_.storage, {now.generation, entries_end_, now.entries_bytes},
                          settled_seq_, [](const log::ScannedEntry&) { return Status(); }));
    torn_tail(entries, log::Stream::kEntries);
    return check_end_of_vectors();
  }

  Status check_end_of_transcript() {
    VARVE_TRY_ASSIGN(const auto store_damage, find_store_damage(core_));
    for (const StoreDamage& damage : store_damage) {
      if (damage.is_torn) report(damage);
    }
    return {};
  }

  Status compare_postings() {
    const auto differs = [&](const std::string& reason) {
      report_.problem_in(index::kSnapshotFile, 0, 0, reason);
    };
    VARVE_TRY(session::compare_postings(core_, differs, [&](uint64_t done) { return step(done); }));
    return end_progress();
  }

  // The first problem as a failure.
  [[nodiscard]] Status refusal() const {
    const json::Tree* problem = report_.first_problem();
    if (problem == nullptr) return {};
    Place place;
    const std::string file = problem->get_string("file");
    const bool of_tombstones = file == log::file_of(log::Stream::kTombstones);
    const log::Stream stream = of_tombstones ? log::Stream::kTombstones : log::Stream::kEntries;
    const auto offset = static_cast<uint64_t>(problem->get_int64("offset"));
    std::string where = file;
    place.path = file;
    if (file == log::file_of(stream)) {
      place.path = core_.storage->name_of(stream);
      place.offset = offset;
      VARVE_TRY_ASSIGN(const uint64_t line, line_number(stream, offset));
      place.line = line;
      where += ", line " + std::to_string(line);
    }
    return {Code::kCorruption,
            where + ": " + problem->get_string("reason") +
                "; integrity.recovery is \"strict\": open with \"tail\" to inspect and repair it",
            std::move(place)};
  }

  json::Tree finish() {
    const std::shared_lock lock(core_.index_mutex);
    return report_.finish(live_, core_.index.tombstone_count(),
                          tail_.entries_bytes + tail_.tombstones_bytes, last_seq_);
  }

 private:
  void report(const StoreDamage& damage) {
    report_.problem_in(file_of(damage.store), damage.offset, damage.length, damage.reason);
  }

  // What the log is, and what it should have.
  Status look() {
    uint64_t durable_seq = 0;
    {
      const std::shared_lock lock(core_.index_mutex);
      durable_seq = core_.durable_seq_seen;
      durable_tombstones_ = core_.durable_tombstones_seen;
    }
    // After that: the tail may lack what other threads see as durable from here on.
    VARVE_TRY_ASSIGN(tail_, core_.storage->tail());
    {
      const std::shared_lock lock(core_.index_mutex);
      // If the log was replaced since the index was caught up, it has gaps that the metadata read
      // before does not know.
      if (tail_.generation != core_.view.tail.generation) return log::replaced();
      legal_to_ = core_.metadata.compacted_through_seq();
      indexed_ = core_.indexed_tail();
      settled_seq_ = std::max(legal_to_, durable_seq);
      if (const std::string& damage = core_.metadata.damage(); !damage.empty()) {
        report_.problem_in(log::kMetadataFile, 0, 0,
                           damage + "; put it in order, or let repair make a new one");
      }
      const std::string wrong = wrong_member(core_.metadata.tree());
      if (!wrong.empty())
        report_.note(log::kMetadataFile, 0, {}, {}, wrong + "; it may have no effect");
    }
    return {};
  }

  Status check_log() {
    uint64_t tombstone_count = 0;
    VARVE_TRY_ASSIGN(
        const log::ScanReport tombstones,
        log::scan_tombstones(*core_.storage, {tail_.generation, 0, tail_.tombstones_bytes},
                             [&](const log::ScannedTombstone& line) {
                               tombstone_count += 1;
                               return step(line.offset + line.length);
                             }));
    parts_done_bytes_ += tail_.tombstones_bytes;
    report_.damage(tombstones, log::Stream::kTombstones);
    VARVE_TRY(check_tombstone_count(tombstones, tombstone_count));
    VARVE_TRY_ASSIGN(const log::ScanReport entries,
                     log::scan_entries(
                         *core_.storage, {tail_.generation, 0, tail_.entries_bytes}, settled_seq_,
                         [&](const log::ScannedEntry& line) {
                           check(line);
                           return step(line.offset + line.length);
                         },
                         core_.kept_to(tail_, indexed_)));
    VARVE_TRY(index_lost_);
    parts_done_bytes_ += tail_.entries_bytes;
    report_.damage(entries, log::Stream::kEntries);
    entries_end_ = entries.committed_end;
    tombstones_end_ = tombstones.committed_end;
    torn_ = !entries.tail_reason.empty() || !tombstones.tail_reason.empty();
    const uint64_t present = std::max(last_seq_, legal_to_);
    if (settled_seq_ > present) {
      report_.problem(log::Stream::kEntries, entries.committed_end, 0,
                      "the log ends too early: " + missing_text(present + 1, settled_seq_));
    }
    return {};
  }

  // Ids are counted, and the index tells of lines that repeat one.
  Status check_tombstone_count(const log::ScanReport& scan, uint64_t line_count) {
    uint64_t id_count = 0;
    {
      const std::shared_lock lock(core_.index_mutex);
      VARVE_TRY(core_.check_whole());
      id_count = core_.index.tombstone_count();
    }
    const uint64_t present = std::min(line_count, id_count) + scan.damaged_count;
    if (durable_tombstones_ <= present) return {};
    report_.problem(log::Stream::kTombstones, scan.committed_end, 0,
                    lost_deletions_text(durable_tombstones_ - present));
    return {};
  }

  // The deep part reads the log once more.
  Status begin_progress() {
    VARVE_TRY_ASSIGN(const log::VectorsTail vectors, core_.storage->vectors_tail());
    total_bytes_ = tail_.tombstones_bytes + tail_.entries_bytes * (deep_ ? 2 : 1) + vectors.bytes;
    return step(0);
  }

  // `done`: of the part that is being read, which may have grown meanwhile.
  Status step(uint64_t done) {
    return progress_.step(std::min(parts_done_bytes_ + done, total_bytes_), total_bytes_);
  }

  Status end_progress() { return progress_.step(total_bytes_, total_bytes_); }

  Status check_vectors() {
    const auto problem = [&](uint64_t offset, uint64_t length, std::string_view reason) {
      report_.problem_in(log::kVectorsFile, offset, length, reason);
    };
    VARVE_TRY_ASSIGN(
        const VectorCheck vectors,
        session::check_vectors(core_, problem, [&](uint64_t done) { return step(done); }));
    parts_done_bytes_ += vectors.tail.bytes;
    report_.damaged_vectors(vectors);
    torn_ = torn_ || vectors.torn_bytes > 0;
    return {};
  }

  Status check_end_of_vectors() {
    const auto nobody_asks = [](uint64_t) { return Status(); };
    VARVE_TRY_ASSIGN(const VectorCheck now, session::check_vectors(
                                                core_, [](auto...) {}, nobody_asks));
    if (now.torn_bytes == 0) return {};
    report_.problem_in(log::kVectorsFile, now.torn_offset, now.torn_bytes,
                       "torn tail: a vector is not whole; the next vector that is put, or repair, "
                       "moves it to quarantine");
    return {};
  }

  void check(const log::ScannedEntry& line) {
    check_seq(line);
    const std::shared_lock lock(core_.index_mutex);
    if (index_lost_.ok()) index_lost_ = core_.check_whole();
    if (!index_lost_.ok() || core_.view.tail.generation != tail_.generation) return;
    const auto row = core_.index.find(line.facts->id);
    if (!row) {
      if (line.offset < core_.index.coverage.entries_bytes) {
        report_.problem(log::Stream::kEntries, line.offset, line.length,
                        "the index lacks entry '" + line.facts->id + "'; rebuild the index");
      }
      return;
    }
    const index::Location location = core_.index.location(*row);
    if (is_repeated(line, *row)) return;
    if (location.line_hash != line.hash) {
      report_.problem(log::Stream::kEntries, line.offset, line.length,
                      "the line changed after it was indexed");
    }
    check_row(line, *row);
    if (core_.index.is_deleted(*row)) return;
    live_ += 1;
    check_references(line);
  }

  // By the lines that were read: an index of what the log was before may have another place.
  bool is_repeated(const log::ScannedEntry& line, uint32_t row) {
    if (first_offsets_.size() <= row) first_offsets_.resize(core_.index.size(), kNotRead);
    uint64_t& first = first_offsets_[row];
    if (first == kNotRead) {
      first = line.offset;
      return false;
    }
    report_.duplicate();
    report_.problem(log::Stream::kEntries, line.offset, line.length,
                    "the line at offset " + std::to_string(first) + " has the same id '" +
                        line.facts->id + "'; repair moves this one to quarantine");
    return true;
  }

  // Checks what the index says of an entry without reading its line.
  void check_row(const log::ScannedEntry& line, uint32_t row) {
    const index::Index& index = core_.index;
    const entry::EntryFacts& facts = *line.facts;
    std::string wrong;
    const auto expect = [&](bool is_right, std::string_view name) {
      if (!is_right) wrong += (wrong.empty() ? "" : ", ") + std::string(name);
    };
    expect(index.id(row) == facts.id, "id");
    expect(index.type(row) == facts.type, "type");
    expect(index.timestamp_ms(row) == facts.timestamp_ms, "timestamp");
    expect(index.expires_at_ms(row) == facts.expires_at_ms, "expires_at");
    expect(index.importance(row) == facts.importance, "importance");
    expect(index.seq(row) == facts.seq, "seq");
    expect(index.location(row).offset == line.offset, "offset");
    expect(index.location(row).length == line.length, "length");
    expect(has_tags(row, facts), "tags");
    if (wrong.empty()) return;
    report_.problem(
        log::Stream::kEntries, line.offset, line.length,
        "the index has another value for '" + facts.id + "': " + wrong + "; rebuild the index");
  }

  [[nodiscard]] bool has_tags(uint32_t row, const entry::EntryFacts& facts) const {
    if (!core_.index.has_facets()) return true;
    return std::all_of(facts.tags.begin(), facts.tags.end(), [&](const std::string& tag) {
      return index::PostingCursor(core_.index.facets().tag(tag)).contains(row);
    });
  }

  void check_references(const log::ScannedEntry& line) {
    std::set<std::string_view> told;  // each once, however often it is referred to
    const auto check = [&](const std::string& target) {
      const auto row = core_.index.find(target);
      const bool was_deleted = core_.index.was_deleted(target);
      if ((row && !was_deleted) || !told.insert(target).second) return;
      report_.note(log::file_of(log::Stream::kEntries), line.offset, line.facts->id, target,
                   was_deleted ? "refers to an entry that was deleted"
                               : "refers to an entry that does not exist");
    };
    for (const auto& target : line.facts->references) check(target);
    for (const auto& relation : line.facts->relations) {
      for (const auto& target : relation.ids) check(target);
    }
  }

  // Counted from 1.
  [[nodiscard]] Result<uint64_t> line_number(log::Stream stream, uint64_t offset) const {
    log::LineReader reader(*core_.storage, stream, {tail_.generation, 0, offset});
    log::Line line;
    for (uint64_t number = 1;; ++number) {
      VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
      if (!more) return number;
    }
  }

  void check_seq(const log::ScannedEntry& line) {
    const uint64_t seq = line.facts->seq;
    if (seq == entry::kNoSeq) return;
    const uint64_t expected = std::max(last_seq_, legal_to_) + 1;
    if (seq > expected) {
      report_.problem(log::Stream::kEntries, line.offset, 0, missing_text(expected, seq - 1));
    } else if (seq <= last_seq_ && seq > legal_to_) {
      report_.problem(log::Stream::kEntries, line.offset, line.length,
                      "seq " + std::to_string(seq) + " is out of order or repeated");
    }
    last_seq_ = std::max(last_seq_, seq);
  }

  void torn_tail(const log::ScanReport& scan, log::Stream stream) {
    if (scan.scanned_end == scan.committed_end) return;
    report_.problem(
        stream, scan.committed_end, scan.scanned_end - scan.committed_end,
        "torn tail: " + scan.tail_reason + "; the next write or repair moves it to quarantine");
  }

  Core& core_;
  Progress& progress_;
  bool deep_;
  uint64_t total_bytes_ = 0;
  uint64_t parts_done_bytes_ = 0;  // of the parts that were read to their end
  log::Tail tail_;
  Report report_;
  uint64_t legal_to_ = 0;
  uint64_t settled_seq_ = 0;
  uint64_t durable_tombstones_ = 0;
  log::Tail indexed_;  // what the session's index was read to
  uint64_t last_seq_ = 0;
  uint64_t live_ = 0;
  std::vector<uint64_t> first_offsets_;  // by row: of the first line with its id
  uint64_t entries_end_ = 0;
  uint64_t tombstones_end_ = 0;
  bool torn_ = false;
  bool transcript_torn_ = false;
  Status index_lost_;  // kGone: another thread failed to read the log to its end
};

}  // namespace

Result<json::Tree> verify(Core& core, Writer& writer, bool deep, const ProgressReceiver& receiver) {
  Progress progress(receiver, "verify");
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(core.check_metadata());
    VARVE_TRY(core.load_sections());
    VARVE_TRY(core.prepare_query({}));  // tags are verified, too
    Verification verification(core, progress, deep);
    Status status = verification.run();
    if (status.code() == Code::kGone) continue;  // the log was replaced: verify the new one
    VARVE_TRY(std::move(status));
    if (verification.may_be_torn() || verification.is_transcript_torn()) {
      const auto check = [&]() -> Status {
        VARVE_TRY(verification.check_tails());
        return verification.check_end_of_transcript();
      };
      VARVE_TRY(core.storage->writable() ? writer.run_as_is("verify", check) : check());
    }
    if (deep) {
      Status compared = verification.compare_postings();
      if (compared.code() == Code::kGone) continue;
      VARVE_TRY(std::move(compared));
    }
    return verification.finish();
  }
  return replaced_too_often();
}

// Takes no lock, which would leave traces in the lock file: while nobody holds the lock, nobody who
// respects it writes.
Status check_strictly(Core& core) {
  constexpr int64_t kPauseUs = 1000;
  Clock& clock = *core.context.clock;
  const int64_t deadline_us = clock.deadline_us(core.settings.lock_timeout_ms);
  for (;;) {
    VARVE_TRY(core.catch_up());
    Progress nobody_asks({}, "open");
    Verification verification(core, nobody_asks, false);
    Status status = verification.run();
    const bool is_late = clock.monotonic_us() >= deadline_us;
    const bool may_change =
        status.code() == Code::kGone ||
        (status.ok() && verification.may_be_torn() && core.storage->lock_holder().is_held);
    if (may_change && !is_late) {
      clock.sleep_us(kPauseUs);
      continue;
    }
    VARVE_TRY(std::move(status));
    if (verification.may_be_torn()) VARVE_TRY(verification.check_tails());
    return verification.refusal();
  }
}

}  // namespace varve::session
