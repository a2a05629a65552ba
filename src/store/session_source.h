// SessionSource: a session as a copier sees it: the state of one moment, held while others add,
// delete and replace the log. Takes no lock.
//
// It holds the open files: what is read later is still of that moment, even when the log was
// replaced. Its parts are looked at in this order, which keeps the copy right:
//
//   vectors    first: an entry that the copied log has not yet, and that is added there later under
//              the same id, must not get a vector from here
//   metadata   next, so that it promises no entry that is missing in the copied log
//   log and    last, both of one moment: everything acknowledged before is in the copy, and nothing
//   tombstones that was deleted before is alive in it, whenever it was added
//
// The last three must be of one generation. A compaction replaces the log before the tombstones:
// old entries with new tombstones would bring back what the new tombstones need not mention. So if
// the generation changed in between, or the vectors were replaced, everything is looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/tree.h"
#include "log/scan.h"
#include "log/storage.h"
#include "session/settings.h"

namespace varve::store {

// What is whole in the held state, from given places on.
struct SourceScan {
  uint64_t entries_end = 0;  // after the last committed line
  uint64_t tombstones_end = 0;
  uint64_t entry_count = 0;
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;
  uint64_t missing_count = 0;        // numbers between these that should be there
  uint64_t damaged_count = 0;        // damaged lines, copied as they are
  uint64_t tombstone_count = 0;      // with damaged ones
  std::vector<uint64_t> batch_ends;  // after the last line of each batch

  // What a report says of the damaged lines; empty when there are none.
  [[nodiscard]] std::string damage_remark() const;
};

// Several remarks go into one, with "; " between them.
void add_remark(std::string_view text, std::string* remark);

// What a report says of damaged documents; empty when there are none.
std::string documents_remark(const std::vector<std::string>& damaged);

// What was durable at least, as metadata.json and `lock` say.
struct Durable {
  uint64_t seq = 0;
  uint64_t tombstone_count = 0;
};

class SessionSource {
 public:
  explicit SessionSource(std::unique_ptr<log::SessionStorage> storage,
                         session::Recovery recovery = session::Recovery::kTail)
      : storage_(std::move(storage)), recovery_(recovery) {}

  // Holds the present state. kNotFound when the session was deleted, kBusy when its log is replaced
  // again and again. `is_still`: nobody writes to it meanwhile, though its lock is held.
  Status hold_still(bool is_still = false);

  // Finds up to where the held state is whole, and what a recovery by kSalvage keeps behind it.
  // Both places must be starts of lines. kFormatVersion for lines of a newer version.
  Result<SourceScan> scan(uint64_t entries_from, uint64_t tombstones_from);

  Status copy(log::Stream stream, uint64_t from, uint64_t to, log::Sink& sink);
  // XXH3-64 of the last 64 KiB (at most) before `end`: tells whether two logs agree up to there.
  Result<uint64_t> check(log::Stream stream, uint64_t end);
  using VisitTombstone = std::function<Status(const std::string& id, std::string_view line)>;
  // Tells how many lines are damaged.
  Result<uint64_t> for_each_tombstone(const VisitTombstone& visit);

  // metadata.json of the held state; empty when there is none.
  [[nodiscard]] const std::string& metadata() const { return metadata_; }
  // The same with a `durable_seq` that is at least this; as it is when it cannot be read, or when
  // somebody edited it.
  [[nodiscard]] std::string metadata_with(uint64_t durable_seq) const;
  // The last number known to be durable. metadata.json is often older than that: writers tell each
  // other by the file `lock`, which is not copied.
  [[nodiscard]] uint64_t durable_seq() const { return durable_.seq; }
  [[nodiscard]] const Durable& durable() const { return durable_; }
  // Whether there were entries and none of them can be read any more. `all`: the scan from 0 on.
  [[nodiscard]] bool has_lost_all(const SourceScan& all) const {
    return all.entry_count == 0 && (tail_.entries_bytes > 0 || durable_.seq > compacted_through_);
  }
  // The same, where what is there is more than a first line that was never written to its end.
  [[nodiscard]] bool has_surely_lost_all(const SourceScan& all) const;
  // Whether lines are damaged, or missing.
  [[nodiscard]] bool has_lost_any(const SourceScan& all) const {
    return has_lost_all(all) || all.damaged_count > 0 || all.missing_count > 0 ||
           has_lost_end(all) || lost_deletion_count(all) > 0;
  }
  // How many deletions that were durable are missing.
  [[nodiscard]] uint64_t lost_deletion_count(const SourceScan& all) const {
    return durable_.tombstone_count - std::min(durable_.tombstone_count, all.tombstone_count);
  }
  // What a report says of it; empty when nothing is lost.
  [[nodiscard]] std::string loss_remark(const SourceScan& all) const;
  // Whether entries or deletions may be missing where those up to `copied` are known to be in a
  // copy. `added`: the scan of what came after.
  [[nodiscard]] bool may_have_lost(const SourceScan& added, const Durable& copied) const;
  [[nodiscard]] uint64_t generation() const { return generation_; }  // as metadata.json says
  [[nodiscard]] const log::Tail& tail() const { return tail_; }
  // Names of the other documents to copy. index.bin is derived and not one of them.
  Result<std::vector<std::string>> documents();
  // Which of them are too large to be copied, in words for people; or empty.
  [[nodiscard]] const std::string& left_out() const { return left_out_; }
  Result<std::string> document(std::string_view name);  // kGone when it was removed meanwhile
  // The same into `sink`. vectors.bin goes in pieces: it may be larger than the memory.
  Status copy_document(std::string_view name, log::Sink& sink);
  Result<bool> is_document_damaged(std::string_view name);
  Result<std::vector<std::string>> damaged_documents();
  // Whether `copy` has the same bytes in its vectors.bin.
  Result<bool> has_vectors_of(log::SessionStorage& copy);

  // The last failure to read this session; ok when the failure was somewhere else.
  [[nodiscard]] const Status& failure() const { return failure_; }
  [[nodiscard]] log::SessionRow row(std::string_view session_id) const;

 private:
  [[nodiscard]] bool has_lost_end(const SourceScan& all) const {
    return durable_.seq > std::max(all.last_seq, compacted_through_);
  }
  void note_seq(uint64_t seq, bool from_start, SourceScan* found) const;
  Result<bool> try_to_hold(bool is_still);
  Status hold_vectors();
  bool were_vectors_replaced();
  uint64_t kept_to(bool is_still);
  // metadata.json of the held state as JSON; nothing when it is missing or no object.
  [[nodiscard]] std::optional<json::Tree> metadata_tree() const;
  Status copy_vectors(log::Sink& sink);
  Status fail(Status status);

  std::unique_ptr<log::SessionStorage> storage_;
  const session::Recovery recovery_;
  log::Tail tail_;
  uint64_t kept_to_ = log::kNoneKept;
  log::VectorsTail vectors_;
  Status vectors_failure_;  // why they cannot be looked at: only who copies them needs them
  std::string metadata_;
  std::string left_out_;
  uint64_t generation_ = 0;
  Durable durable_;
  uint64_t compacted_through_ = 0;  // entries up to this number may have been removed
  bool knows_gaps_ = false;         // where metadata.json is lost, nobody knows which are legal
  uint64_t settled_seq_ = 0;        // no batch up to here is unfinished
  Status failure_;
};

}  // namespace varve::store
