// Transcript: the capped transcript of a session, transcript.md.
//
// An append writes the entry at the end of the file and no more. What is beyond the cap stays in
// the file for a while, unread, and goes when the file is written anew: every quarter of the cap.
// Readers take no lock; they begin at the end, and leave out an entry that is not whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "session/capped_stores.h"
#include "stores/transcript_text.h"

namespace varve::session {

class Transcript {
 public:
  Transcript(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  Status append(std::string_view role, std::string_view content);
  // [{"role","content","timestamp"}], the last `count` of them, chronological.
  Result<json::Tree> last(uint64_t count);

 private:
  Status append_locked(const stores::TranscriptEntry& entry);
  Status look();
  Status write_anew(const stores::TranscriptEntry& entry);
  Result<std::vector<stores::TranscriptEntry>> read_last(uint64_t count);

  Core& core_;
  Writer& writer_;

  // The holder of the lock only: the file as last seen. While it is open no other has its identity.
  std::unique_ptr<log::DocumentView> seen_;
  uint64_t seen_bytes_ = 0;
  std::string seen_end_;      // the last bytes of them: an editor may write into the same file
  uint64_t entry_count_ = 0;  // in the file, those beyond the cap too
  bool ends_whole_ = true;
};

// See tidy_stores().
Status tidy_transcript(Core& core, Remains remains);

}  // namespace varve::session
