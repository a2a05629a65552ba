#include "session/stores/transcript.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "session/retries.h"

namespace varve::session {

namespace {

constexpr CappedStore kTranscript = CappedStore::kTranscript;
constexpr uint64_t kFirstPieceBytes = uint64_t{64} << 10;  // read from the end
constexpr uint64_t kPieceGrowth = 4;
constexpr uint64_t kEndBytes = 64;  // by which files of the same length are told apart
// How many entries beyond the cap a file may hold before it is rewritten: this many, and a share of
// the cap.
constexpr uint64_t kSlackMin = 16;
constexpr uint64_t kSlackShare = 4;

Status check_role(std::string_view role) {
  if (stores::is_valid_role(role)) return {};
  return {Code::kInvalidArgument,
          "a role is 1 to 128 bytes without control characters, and without blanks at its ends",
          {.member = "role"}};
}

void note_damage_in(Core& core, const log::DocumentView& view,
                    const stores::TranscriptContents& contents) {
  if (contents.damaged.empty()) return;
  const uint64_t signature =
      hash64(std::to_string(view.identity()) + ' ' + std::to_string(view.size_bytes()));
  note_damage(core, kTranscript, signature, contents.damaged.front().reason);
}

Result<std::string> read_piece(log::DocumentView& view, uint64_t from, uint64_t to) {
  std::string text(static_cast<size_t>(to - from), '\0');
  VARVE_TRY_ASSIGN(const size_t got, view.read(from, text));
  text.resize(got);
  return text;
}

// The last bytes before `end`.
Result<std::string> read_end(log::DocumentView& view, uint64_t end) {
  return read_piece(view, end - std::min(end, kEndBytes), end);
}

// Null when there is no transcript.
Result<std::unique_ptr<log::DocumentView>> open_view(Core& core) {
  auto view = core.storage->open_document(log::kTranscriptFile);
  if (view.ok() && (*view)->size_bytes() > kCappedFileBytesMax) {
    return oversized(kTranscript, {.path = std::string(log::kTranscriptFile),
                                   .size = (*view)->size_bytes(),
                                   .limit = kCappedFileBytesMax});
  }
  if (view.code() != Code::kNotFound) return view;
  VARVE_TRY(core.storage->tail());  // kNotFound when the session was deleted
  return std::unique_ptr<log::DocumentView>();
}

// The new file: at most `cap` entries, with `added` as the last, and nothing else.
struct NewText {
  std::string text;
  bool is_same = true;  // as the present file
  std::string old_text;
  stores::TranscriptContents old_contents;  // without its entries
};

// Right before the file is replaced: a refused call must not do this each time it is repeated.
Status set_damage_aside(Core& core, const NewText& made) {
  const std::string_view text = made.old_text;
  for (const auto& range : made.old_contents.damaged) {
    VARVE_TRY(set_aside(core, kTranscript, text.substr(range.offset, range.length), range.offset,
                        range.reason));
  }
  if (made.old_contents.torn_bytes == 0) return {};
  core.context.counters->torn_tails += 1;
  const uint64_t offset = text.size() - made.old_contents.torn_bytes;
  core.events.post(Level::kWarn, "an unfinished entry of transcript.md moved to quarantine");
  return set_aside(core, kTranscript, text.substr(offset), offset,
                   "torn tail: an unfinished entry");
}

Result<NewText> make_anew(Core& core, log::DocumentView& view,
                          const stores::TranscriptEntry* added) {
  NewText made;
  VARVE_TRY_ASSIGN(made.old_text, read_piece(view, 0, view.size_bytes()));
  made.old_contents = stores::parse_transcript(made.old_text);
  note_damage_in(core, view, made.old_contents);
  const uint64_t cap = cap_of(core, kTranscript);
  std::vector<stores::TranscriptEntry> entries = std::move(made.old_contents.entries);
  made.is_same = made.old_contents.ends_whole && entries.size() <= cap && added == nullptr;
  if (added != nullptr) entries.push_back(*added);
  if (entries.size() > cap) {
    entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(cap));
  }
  made.text = stores::format_transcript(entries);
  return made;
}

}  // namespace

Status Transcript::append(std::string_view role, std::string_view content) {
  VARVE_TRY(check_has(core_, kTranscript));
  VARVE_TRY(check_role(role));
  VARVE_TRY(check_length(core_, "content", content.size()));
  return writer_.run("append to transcript", [&] {
    return append_locked({std::string(role), std::string(content), now_in_seconds(core_)});
  });
}

// Counts the entries in the file: all the first time, then those added since.
Status Transcript::look() {
  VARVE_TRY_ASSIGN(auto view, open_view(core_));
  const uint64_t size = view ? view->size_bytes() : 0;
  core_.transcript_file.size_bytes = size;
  bool is_same = view && seen_ && view->identity() == seen_->identity() && size >= seen_bytes_;
  if (is_same) {
    VARVE_TRY_ASSIGN(const std::string end, read_end(*view, seen_bytes_));
    is_same = end == seen_end_;
  }
  if (!is_same || size > seen_bytes_) {
    uint64_t from = is_same && ends_whole_ ? seen_bytes_ : 0;
    uint64_t count = from > 0 ? entry_count_ : 0;
    stores::TranscriptContents contents;
    while (view) {
      VARVE_TRY_ASSIGN(const std::string text, read_piece(*view, from, size));
      contents = stores::parse_transcript(text);
      if (from == 0 || contents.ends_whole) break;
      from = count = 0;  // a piece that cannot be read alone belongs to what is before it
    }
    entry_count_ = count + contents.entries.size();
    ends_whole_ = contents.ends_whole;
    seen_end_.clear();
    if (view) {
      VARVE_TRY_ASSIGN(seen_end_, read_end(*view, size));
    }
  }
  seen_ = std::move(view);
  seen_bytes_ = size;
  return {};
}

// Rewrites the file with the entry, and without what is damaged or beyond the cap.
Status Transcript::write_anew(const stores::TranscriptEntry& entry) {
  VARVE_TRY_ASSIGN(const NewText made, make_anew(core_, *seen_, &entry));
  VARVE_TRY(make_room_in_file(core_, writer_, kTranscript, made.text.size()));
  VARVE_TRY(set_damage_aside(core_, made));
  VARVE_TRY(put_file(core_, kTranscript, made.text));
  writer_.note_written(made.text.size(), true, made.old_text.size());
  return {};
}

Status Transcript::append_locked(const stores::TranscriptEntry& entry) {
  const bool durable = core_.is_durable();
  const uint64_t cap = cap_of(core_, kTranscript);
  const std::string text = stores::format_entry(entry);
  for (int attempt = 0; attempt < kConflictsMax; ++attempt) {
    VARVE_TRY(look());
    if (cap == 0 && seen_bytes_ == 0) return {};
    const std::string added = (seen_bytes_ > 0 ? "\n" : "") + text;
    const Status fits = make_room_in_file(core_, writer_, kTranscript, seen_bytes_ + added.size());
    const bool is_full = entry_count_ >= cap + kSlackMin + cap / kSlackShare;
    if (seen_ && (cap == 0 || is_full || !ends_whole_ || !fits.ok())) return write_anew(entry);
    VARVE_TRY(fits);
    // Made before the append, because nothing may fail after it.
    std::string end = seen_end_ + added;
    end.erase(0,
              end.size() - std::min<size_t>({kEndBytes, seen_bytes_ + added.size(), end.size()}));
    const Status appended = core_.storage->append_to_transcript(seen_bytes_, added, durable);
    if (appended.code() == Code::kConflict) continue;
    VARVE_TRY(appended);
    core_.transcript_file.size_bytes = seen_bytes_ + added.size();
    if (seen_) {
      entry_count_ += 1;
      seen_bytes_ += added.size();
      seen_end_ = std::move(end);
    }
    writer_.note_written(added.size(), durable);
    return {};
  }
  return appended_to_too_often(log::kTranscriptFile);
}

// kGone when the file was replaced meanwhile.
Result<std::vector<stores::TranscriptEntry>> Transcript::read_last(uint64_t count) {
  std::vector<stores::TranscriptEntry> entries;
  VARVE_TRY_ASSIGN(const auto view, open_view(core_));
  if (!view || count == 0) return entries;
  const uint64_t size = view->size_bytes();
  for (uint64_t piece = kFirstPieceBytes;; piece *= kPieceGrowth) {
    const uint64_t from = size - std::min(size, piece);
    VARVE_TRY_ASSIGN(const std::string text, read_piece(*view, from, size));
    const size_t first = from == 0 ? 0 : stores::find_header(text);
    if (first == std::string::npos) continue;
    stores::TranscriptContents contents =
        stores::parse_transcript(std::string_view(text).substr(first));
    if (contents.entries.size() < count && from > 0) continue;
    note_damage_in(core_, *view, contents);
    entries = std::move(contents.entries);
    break;
  }
  if (entries.size() > count) {
    entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(count));
  }
  return entries;
}

Result<json::Tree> Transcript::last(uint64_t count) {
  VARVE_TRY(check_has(core_, kTranscript));
  const uint64_t wanted = std::min(count, cap_of(core_, kTranscript));
  VARVE_TRY_ASSIGN(const auto entries,
                   while_replaced([&] { return read_last(wanted); }, "the transcript"));
  json::Tree list = json::Tree::array();
  for (const stores::TranscriptEntry& entry : entries) {
    json::Tree item = json::Tree::object();
    item.set("role", json::Tree::string(entry.role));
    item.set("content", json::Tree::string(entry.content));
    item.set("timestamp", json::Tree::string(entry.timestamp));
    list.push(std::move(item));
  }
  return list;
}

Status tidy_transcript(Core& core, Remains remains) {
  VARVE_TRY_ASSIGN(const auto view, open_view(core));
  if (!view) return {};
  VARVE_TRY_ASSIGN(const NewText made, make_anew(core, *view, nullptr));
  if (made.is_same) return {};
  if (remains == Remains::kSetAside) VARVE_TRY(set_damage_aside(core, made));
  return put_file(core, kTranscript, made.text);
}

}  // namespace varve::session
