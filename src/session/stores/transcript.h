// Transcript: the capped transcript of a session, transcript.md.
//
// An append writes its entry at the end of the file, and nothing else. Entries beyond the cap stay
// in the file unread until it is rewritten, every quarter of the cap. Readers take no lock: they
// begin at the end, and leave out an entry that is not whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "session/stores/capped_stores.h"
#include "stores/transcript_text.h"

namespace varve::session {

class Transcript {
 public:
  Transcript(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  Status append(std::string_view role, std::string_view content);
  // [{"role","content","timestamp"}], the last `count`, oldest first.
  Result<json::Tree> last(uint64_t count);

 private:
  Status append_locked(const stores::TranscriptEntry& entry);
  Status look();
  Status write_anew(const stores::TranscriptEntry& entry);
  Result<std::vector<stores::TranscriptEntry>> read_last(uint64_t count);

  Core& core_;
  Writer& writer_;

  // For the lock holder: the file as last seen. While it is open, no other file has its identity.
  std::unique_ptr<log::DocumentView> seen_;
  uint64_t seen_bytes_ = 0;
  std::string seen_end_;      // its last bytes: an editor may write into the same file
  uint64_t entry_count_ = 0;  // in the file, including those beyond the cap
  bool ends_whole_ = true;
};

// See tidy_stores() (capped_check.h).
Status tidy_transcript(Core& core, Remains remains);

}  // namespace varve::session
