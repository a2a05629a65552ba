#include "log/scan.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "json/document.h"
#include "log/line_reader.h"

namespace varve::log {

namespace {

// What lines were read, in one number.
class ReadLines {
 public:
  void add(const Line& line, uint64_t line_hash) {
    hash_ = hash_ * kFactor + (line_hash ^ line.length);
  }
  friend bool operator==(const ReadLines&, const ReadLines&) = default;

 private:
  static constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t hash_ = 0;
};

// Invalid lines, kept until what comes after them tells whether they are damage or a torn tail.
class Suspects {
 public:
  Suspects(Stream stream, uint64_t from, ScanReport* report)
      : stream_(stream), report_(report), from_(from), doubted_end_(from) {
    report_->committed_end = from;
    report_->scanned_end = from;
  }

  // Returns the line's hash.
  uint64_t saw(const Line& line) {
    const uint64_t hash = hash64(line.bytes);
    report_->scanned_end = line.offset + line.length;
    read_.add(line, hash);
    return hash;
  }

  // What was read up to here is taken for damaged.
  void doubt() {
    doubted_end_ = report_->scanned_end;
    doubted_ = read_;
  }

  // A reader keeps no writer out: while it reads a torn tail, one may cut that off and append, and
  // the beginning of the one with the rest of the other looks like damage. What does not change is
  // damaged. kGone: read again.
  Status check_again(SessionStorage& storage, uint64_t generation) const {
    ReadLines again;
    LineReader reader(storage, stream_, {generation, from_, doubted_end_});
    for (Line line;;) {
      VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
      if (!more) break;
      again.add(line, hash64(line.bytes));
    }
    if (again == doubted_) return {};
    return Status(Code::kGone, "a torn tail was cut off and written over while it was read")
        .in_file(storage.name_of(stream_));
  }

  void suspect(const Line& line, std::string reason) {
    if (report_->tail_reason.empty()) report_->tail_reason = reason;
    if (pending_count_ == held_count_) held_tail_reason_ = reason;
    pending_count_ += 1;
    if (pending_.size() < kDamageListMax) {
      pending_.push_back({stream_, line.offset, line.length, std::move(reason)});
    }
  }

  // Everything up to `end` stays: the suspects before it are damage.
  void commit_to(uint64_t end) {
    if (pending_count_ > 0) doubt();
    report_->committed_end = end;
    report_->tail_reason.clear();
    report_->damaged_count += pending_count_;
    pending_count_ = 0;
    held_count_ = 0;
    for (auto& damage : pending_) {
      if (report_->damaged.size() >= kDamageListMax) break;
      report_->damaged.push_back(std::move(damage));
    }
    pending_.clear();
  }

  // A line of a batch is held back: if it is kept, the suspects before it are damage.
  void hold() { held_count_ = pending_count_; }

  // At the end of the log: commits to `end`, where the last line that was held back ends. Suspects
  // behind it are a torn tail; blank lines are not.
  void salvage_to(uint64_t end, uint64_t line_count) {
    const bool is_torn = pending_count_ > held_count_;
    pending_count_ = held_count_;
    pending_.resize(std::min<uint64_t>(pending_.size(), held_count_));
    commit_to(is_torn ? end : report_->scanned_end);
    if (is_torn) report_->tail_reason = std::move(held_tail_reason_);
    report_->salvaged_count += line_count;
  }

  // A blank line proves nothing about the lines before it.
  void pass_blank(const Line& line) {
    if (pending_count_ == 0) commit_to(line.offset + line.length);
  }

  void set_tail_reason(std::string reason) {
    if (report_->tail_reason.empty()) report_->tail_reason = std::move(reason);
  }

 private:
  Stream stream_;
  ScanReport* report_;
  uint64_t from_;
  ReadLines read_;
  uint64_t doubted_end_;  // `from_`: nothing is taken for damaged
  ReadLines doubted_;     // the lines up to there
  std::vector<Damage> pending_;
  uint64_t pending_count_ = 0;
  uint64_t held_count_ = 0;       // of those, how many came before the last line that was held back
  std::string held_tail_reason_;  // reason of the first suspect behind that line
};

// Judges an invalid line: a terminated JSON object is damage at once, anything else waits. True
// when it was settled as damage.
bool judge_bad_line(const Line& line, const Status& why, json::Document& scratch,
                    Suspects& suspects) {
  if (!line.terminated) {
    suspects.suspect(line, "the last line has no line end");
    return false;
  }
  suspects.suspect(line,
                   line.oversized ? "the line is longer than any entry can be" : why.message());
  if (line.oversized || !scratch.parse(line.bytes, entry::line_limits()).ok() ||
      !scratch.root().is_object()) {
    return false;
  }
  suspects.commit_to(line.offset + line.length);
  return true;
}

class EntryScan {
 public:
  EntryScan(SessionStorage& storage, uint64_t from, uint64_t settled_seq, const VisitEntry& visit,
            ScanReport* report)
      : storage_(storage),
        settled_seq_(settled_seq),
        visit_(visit),
        suspects_(Stream::kEntries, from, report) {}

  Status take(const Line& line) {
    const uint64_t hash = suspects_.saw(line);
    Status read;
    if (line.terminated && !line.oversized) {
      if (is_blank(line)) {
        if (held_.empty()) suspects_.pass_blank(line);
        return {};
      }
      read = entry::read_line(line.bytes, scratch_, &facts_);
      if (read.ok()) return take_entry(line, hash);
      if (read.code() == Code::kFormatVersion) return refuse(line, read);
    }
    // A whole line, even a wrong one, proves that the batch before it was written to its end.
    if (judge_bad_line(line, read, scratch_, suspects_)) VARVE_TRY(release());
    return {};
  }

  // Commits the held lines of a batch that ends too early, if they end by `kept_to`.
  Status salvage(uint64_t kept_to) {
    if (held_.empty()) return {};
    const uint64_t end = held_.back().offset + held_.back().bytes.size() + 1;
    if (end > kept_to) return {};
    suspects_.salvage_to(end, held_.size());
    return release();
  }

  Status finish(uint64_t generation) {
    if (!held_.empty()) suspects_.set_tail_reason("the last batch is incomplete");
    return suspects_.check_again(storage_, generation);
  }

 private:
  struct Held {
    std::string bytes;
    uint64_t offset;
    uint64_t hash;
    entry::EntryFacts facts;
  };

  Status take_entry(const Line& line, uint64_t hash) {
    const entry::Batch batch = facts_.batch;
    // Batches always have numbers: what an entry of version 0 calls "batch" is the user's own.
    const bool settled = facts_.seq == entry::kNoSeq || facts_.seq <= settled_seq_;
    const bool belongs = !held_.empty() && !settled &&
                         batch.count == held_.front().facts.batch.count &&
                         batch.index > held_.back().facts.batch.index;
    if (!belongs && !held_.empty()) {
      // A later line proves that the batch before was written, even if it is incomplete.
      suspects_.doubt();
      VARVE_TRY(release());
      suspects_.commit_to(line.offset);
    }
    if (batch.count > 1 && !settled) {
      held_.push_back({std::string(line.bytes), line.offset, hash, facts_});
      suspects_.hold();
      if (held_.size() < batch.count) return {};
      VARVE_TRY(release());
    } else {
      VARVE_TRY(visit_({line.bytes, line.offset, line.bytes.size(), hash, &facts_}));
    }
    suspects_.commit_to(line.offset + line.length);
    return {};
  }

  Status release() {
    for (const auto& held : held_) {
      VARVE_TRY(visit_({held.bytes, held.offset, held.bytes.size(), held.hash, &held.facts}));
    }
    held_.clear();
    return {};
  }

  Status refuse(const Line& line, const Status& read) const {
    Place place = read.place();
    place.path = storage_.name_of(Stream::kEntries);
    place.offset = line.offset;
    const std::string where =
        "the line at byte " + std::to_string(line.offset) + " of " + place.path + ": ";
    return {Code::kFormatVersion, where + read.message(), std::move(place)};
  }

  SessionStorage& storage_;
  uint64_t settled_seq_;
  const VisitEntry& visit_;
  Suspects suspects_;
  json::Document scratch_;
  entry::EntryFacts facts_;
  std::vector<Held> held_;  // lines of an incomplete batch
};

}  // namespace

Result<ScanReport> scan_entries(SessionStorage& storage, const Stretch& stretch,
                                uint64_t settled_seq, const VisitEntry& visit, uint64_t kept_to) {
  ScanReport report;
  EntryScan scan(storage, stretch.from, settled_seq, visit, &report);
  LineReader reader(storage, Stream::kEntries, stretch);
  Line line;
  for (;;) {
    VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
    if (!more) break;
    VARVE_TRY(scan.take(line));
  }
  VARVE_TRY(scan.salvage(kept_to));
  VARVE_TRY(scan.finish(stretch.generation));
  return report;
}

Result<ScanReport> scan_tombstones(SessionStorage& storage, const Stretch& stretch,
                                   const VisitTombstone& visit) {
  ScanReport report;
  Suspects suspects(Stream::kTombstones, stretch.from, &report);
  LineReader reader(storage, Stream::kTombstones, stretch);
  json::Document scratch;
  entry::Tombstone tombstone;
  Line line;
  for (;;) {
    VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
    if (!more) break;
    const uint64_t hash = suspects.saw(line);
    Status read;
    if (line.terminated && !line.oversized) {
      if (is_blank(line)) {
        suspects.pass_blank(line);
        continue;
      }
      read = entry::read_tombstone(line.bytes, scratch, &tombstone);
      if (read.ok()) {
        suspects.commit_to(line.offset + line.length);
        VARVE_TRY(visit({line.offset, line.bytes.size(), hash, &tombstone}));
        continue;
      }
    }
    judge_bad_line(line, read, scratch, suspects);
  }
  VARVE_TRY(suspects.check_again(storage, stretch.generation));
  return report;
}

Status list_damaged_lines(SessionStorage& storage, Stream stream, const Stretch& stretch,
                          std::vector<Damage>* damaged) {
  LineReader reader(storage, stream, stretch);
  Line line;
  for (;;) {
    VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
    if (!more) return {};
    if (is_blank(line)) continue;
    damaged->push_back({stream, line.offset, line.length, "a damaged line"});
  }
}

}  // namespace varve::log
