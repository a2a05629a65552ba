#include "session/stores/capped_check.h"

#include <utility>

#include "io/rules.h"
#include "session/stores/key_value.h"
#include "session/stores/transcript.h"

namespace varve::session {

namespace {

void add_transcript_damage(std::string_view text, std::vector<StoreDamage>* found) {
  stores::TranscriptContents contents = stores::parse_transcript(text);
  for (auto& range : contents.damaged) {
    found->push_back(
        {CappedStore::kTranscript, range.offset, range.length, std::move(range.reason)});
  }
  if (contents.torn_bytes == 0) return;
  found->push_back({.store = CappedStore::kTranscript,
                    .offset = text.size() - contents.torn_bytes,
                    .length = contents.torn_bytes,
                    .reason = "torn tail: the last entry is not whole, or lacks its line end; the "
                              "next append or repair moves it to quarantine",
                    .is_torn = true});
}

}  // namespace

std::string damage_in(CappedStore store, std::string_view text) {
  if (store == CappedStore::kKeyValue) return stores::parse_kv(text).damage;
  auto damaged = stores::parse_transcript(text).damaged;
  return damaged.empty() ? std::string() : std::move(damaged.front().reason);
}

Result<std::vector<StoreDamage>> find_store_damage(Core& core) {
  std::vector<StoreDamage> found;
  for (const auto store : {CappedStore::kKeyValue, CappedStore::kTranscript}) {
    const auto text = core.storage->get_document(file_of(store));
    if (text.code() == Code::kNotFound) continue;
    if (text.code() == Code::kSizeLimit) {
      const Place& place = text.status().place();
      found.push_back({.store = store,
                       .length = place.size.value_or(0),
                       .reason = oversized(store, place).message(),
                       .is_readable = false});
      continue;
    }
    if (io::is_not_a_file(text.status())) {
      found.push_back({.store = store,
                       .reason = std::string(file_of(store)) +
                                 " is a link, a directory or a device, not a file: move it away",
                       .is_readable = false});
      continue;
    }
    VARVE_TRY(text);
    if (store == CappedStore::kTranscript) {
      add_transcript_damage(*text, &found);
    } else if (const auto contents = stores::parse_kv(*text); !contents.damage.empty()) {
      found.push_back({store, 0, text->size(), contents.damage});
    }
  }
  return found;
}

Status tidy_stores(Core& core, Remains remains) {
  VARVE_TRY(tidy_kv(core, remains));
  return tidy_transcript(core, remains);
}

}  // namespace varve::session
