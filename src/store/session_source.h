// SessionSource: one session as whoever copies it sees it: a moment of it, held still while others
// add, delete and replace the log. Takes no lock.
//
// Held still are the open files: what is read afterwards is of that moment, also when the log was
// replaced since. The order in which they are looked at is what keeps the copy right:
//
//   metadata   first, so that it promises no entry that is not in the log that is copied
//   log        next: how long it is. Everything acknowledged before is in it
//   tombstones last: nothing that was deleted before is alive in the copy, whenever it was added
//
// All three must be of one generation. A compaction replaces the log before the tombstones: old
// entries with new tombstones would bring back what the new ones need not mention any more. So
// when the generation changed in between, all is looked at anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/scan.h"
#include "log/storage.h"

namespace varve::store {

// What is whole of a moment, from a given place on.
struct SourceScan {
  uint64_t entries_end = 0;  // after the last committed line
  uint64_t tombstones_end = 0;
  uint64_t entry_count = 0;
  uint64_t tombstone_count = 0;
  uint64_t last_seq = 0;
  uint64_t damaged_count = 0;        // lines, copied as they are
  std::vector<uint64_t> batch_ends;  // after the last line of each batch
};

class SessionSource {
 public:
  explicit SessionSource(std::unique_ptr<log::SessionStorage> storage)
      : storage_(std::move(storage)) {}

  // Takes the moment. kNotFound when the session was deleted, kBusy when its log is replaced over
  // and over.
  Status hold_still();

  // Up to where it is whole, from places that are starts of lines. kFormatVersion for lines of a
  // newer version.
  Result<SourceScan> scan(uint64_t entries_from, uint64_t tombstones_from);

  Status copy(log::Stream stream, uint64_t from, uint64_t to, log::Sink& sink);
  // XXH3-64 of the last bytes (64 KiB at most) before `end`: whether two logs agree up to there.
  Result<uint64_t> check(log::Stream stream, uint64_t end);
  using VisitTombstone = std::function<Status(const std::string& id, std::string_view line)>;
  Status for_each_tombstone(const VisitTombstone& visit);

  // metadata.json as of the moment; empty when there is none.
  [[nodiscard]] const std::string& metadata() const { return metadata_; }
  [[nodiscard]] uint64_t generation() const { return generation_; }  // what it says of that
  [[nodiscard]] const log::Tail& tail() const { return tail_; }
  // Names of the other documents that belong to a copy: not index.bin, which is derived.
  Result<std::vector<std::string>> documents();
  // Of these, what is too large to be copied, for people; or empty.
  [[nodiscard]] const std::string& left_out() const { return left_out_; }
  Result<std::string> document(std::string_view name);  // kGone when it was removed since

  // The last failure to read; ok when what failed was something else.
  [[nodiscard]] const Status& failure() const { return failure_; }
  log::SessionStorage& storage() { return *storage_; }
  [[nodiscard]] log::SessionRow row(std::string_view session_id) const;

 private:
  Result<bool> try_to_hold();
  Status fail(Status status);

  std::unique_ptr<log::SessionStorage> storage_;
  log::Tail tail_;
  std::string metadata_;
  std::string left_out_;
  uint64_t generation_ = 0;
  uint64_t settled_seq_ = 0;
  Status failure_;
};

}  // namespace varve::store
