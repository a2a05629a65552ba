// MetadataFile: metadata.json as it is on disk: read again when another process may have put it,
// and written with what is counted now. What was read is kept in Core::metadata.
//
// Threads and locks: hold the index lock for none of the members. Those named so are for the holder
// of the storage's lock, the others for any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/metadata/metadata.h"

namespace varve::session {

class Core;

class MetadataFile {
 public:
  explicit MetadataFile(Core& core) : core_(core) {}

  // As it is now, and kept nowhere; any lock may be held. kCorruption when it is missing or cannot
  // be read, kFormatVersion, kNotFound when the session was deleted.
  Result<Metadata> read();
  // Reads it again; errors as those of read().
  Status refresh();
  // The same when another process may have put the file since: for who opens the session once more.
  // Who has it open and does not write would not hear of a ttl that another process gave it.
  // kFormatVersion as when it was not open.
  Status look();
  // The same for the holder of the storage's lock. Best effort: who cannot read it goes on with
  // what is known, unless it is of a newer version: who writes then would not know what the rest of
  // the session means by now.
  Status follow();
  // With current counts. If it cannot be read, as last known, unless it is of a newer version.
  Result<json::Tree> described();

  // The session was written to, which keeps it from expiring: the next save tells when.
  void note_write(int64_t now_ms) noexcept { last_write_ms_.store(now_ms); }
  // Holder of the storage's lock: reads it again, applies `change`, if given, and the current
  // counts, writes it.
  Status save(log::DocumentDurability kept, const std::function<Status(Metadata&)>& change = {});

 private:
  Status refresh_if_other();
  void count_into(json::Tree& tree) const;

  Core& core_;
  bool is_doubted_ = false;  // used by the holder of the storage's lock only
  // Of the file when it was last read by look() or follow().
  std::atomic<uint64_t> mark_{0};
  std::atomic<int64_t> last_write_ms_{0};  // by this object; 0: none, or it does not matter
};

}  // namespace varve::session
