#include "session/transfer/import.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "entry/checksum.h"
#include "json/object_reader.h"
#include "session/entry/stored_entry.h"
#include "session/transfer/import_report.h"
#include "transfer/chat_calls.h"
#include "transfer/chat_times.h"
#include "transfer/convert.h"
#include "transfer/elements.h"

namespace varve::session {

namespace {

constexpr size_t kGroupEntries = 512;  // written together
constexpr size_t kGroupBytes = size_t{4} << 20;
// A text may have white space and escapes that its line will not have.
constexpr size_t kTextPerLineBytes = 8;
constexpr size_t kTextSlackBytes = size_t{1} << 16;

size_t element_bytes_max(const Settings& settings) {
  const json::Limits limits;
  if (settings.entry_bytes_max == 0) return limits.text_bytes_max;
  const uint64_t bytes = settings.entry_bytes_max * kTextPerLineBytes + kTextSlackBytes;
  return std::min<size_t>(limits.text_bytes_max, bytes);
}

// What another program wrote has often one of these members: to name the other would not help.
Status check_kind(json::Value element) {
  if (!element.is_object() || (element.find("type") && element.find("content"))) return {};
  return {Code::kInvalidArgument,
          "neither an entry, which has a type and a content, nor a message of a chat, which has a "
          "role"};
}

// An entry that was drafted and not written yet.
struct Candidate {
  uint64_t line = 0;
  uint64_t conversation = 0;  // as that of its element
  std::string text;           // that it is drafted from
  entry::Draft draft;
};

class Import {
 public:
  Import(Core& core, Writer& writer, IdGenerator& ids, const ImportOptions& options)
      : core_(core),
        writer_(writer),
        ids_(ids),
        options_(options),
        evicted_before_(writer.room().evicted_count()),
        report_(options.format) {
    draft_options_.session_id = core.id;
    draft_options_.adopt_session = true;
    draft_options_.entry_bytes_max = static_cast<size_t>(core.settings.entry_bytes_max);
    draft_options_.now_ms = core.context.clock->now_ms();
  }

  Status run(transfer::Input& input, Progress& progress) {
    transfer::ElementReader elements(input, options_.format, element_bytes_max(core_.settings));
    VARVE_TRY(progress.step(0, input.size_bytes()));
    for (;;) {
      VARVE_TRY_ASSIGN(const auto element, elements.next());
      if (!element) break;
      const Status taken = element->fault.empty() ? take(*element, elements.is_lines())
                                                  : Status(Code::kInvalidArgument, element->fault);
      if (!taken.ok()) report_.refuse(element->line, taken.message());
      if (waiting_.size() >= kGroupEntries || waiting_bytes_ >= kGroupBytes) VARVE_TRY(settle());
      // The end is reported when all is written.
      if (elements.read_bytes() < input.size_bytes()) {
        VARVE_TRY(progress.step(elements.read_bytes(), input.size_bytes()));
      }
    }
    VARVE_TRY(settle());
    return progress.step(input.size_bytes(), input.size_bytes());
  }

  json::Tree report() {
    json::Tree report = report_.finish();
    // Which entries a compaction would make room for, only that compaction can tell.
    if (options_.dry_run && !writer_.room().has(pretended_bytes_)) {
      report.set("exceeds_limit", json::Tree::boolean(true));
    }
    // Also of what this import has counted as added.
    const uint64_t evicted = writer_.room().evicted_count() - evicted_before_;
    if (evicted > 0) report.set("evicted", json::Tree::integer_unsigned(evicted));
    return report;
  }

 private:
  // Makes a candidate from an element. A failure says why the element is refused.
  Status take(const transfer::Element& element, bool is_line) {
    json::Limits limits;
    limits.text_bytes_max = element_bytes_max(core_.settings);
    VARVE_TRY(document_.parse(element.text, limits));
    const auto kind = transfer::kind_of(document_.root(), options_.format);
    Candidate candidate;
    candidate.line = element.line;
    candidate.conversation = element.conversation;
    switch (kind) {
      case transfer::ImportFormat::kMcp: VARVE_TRY(take_knowledge(&candidate)); break;
      case transfer::ImportFormat::kChat: VARVE_TRY(take_message(element, &candidate)); break;
      default: VARVE_TRY(take_entry(element.text, &candidate));
    }
    report_.note_kind(kind, is_line);
    waiting_bytes_ += candidate.text.size();
    waiting_.push_back(std::move(candidate));
    return {};
  }

  Status take_entry(std::string_view text, Candidate* candidate) {
    const json::Value root = document_.root();
    bool is_sealed = false;
    if (root.is_object()) VARVE_TRY(entry::verify_checksum(text, root, &is_sealed));
    if (options_.format == transfer::ImportFormat::kAuto) VARVE_TRY(check_kind(root));
    if (root.is_object() && root.find("type") && !root.find("id")) {
      candidate->text = with_id(text);
      return draft(draft_options_.now_ms, candidate);
    }
    candidate->text = text;
    VARVE_TRY_ASSIGN(candidate->draft, entry::draft_value(text, root, draft_options_, ids_));
    return {};
  }

  // Adds an id made from the content to the text of the entry in `document_`, which has none, so
  // that a repeated import finds it. Entries with the same content are told apart by a number. The
  // id is put last: a refusal tells a position in the text, which must be that of the text given.
  std::string with_id(std::string_view text) {
    json::Tree said = json::Tree::from(document_.root());
    for (const auto name : {"batch", "checksum", "seq", "session_id"}) said.erase(name);
    const std::string canonical = said.canonical();
    const uint32_t number = repeats_[hash64(canonical)]++;
    const std::string id = transfer::stable_id("import", std::to_string(number) + ":" + canonical);
    std::string text_with_id(text);
    return text_with_id.insert(text.rfind('}'), R"(,"id":")" + id + R"(")");
  }

  Status take_knowledge(Candidate* candidate) {
    VARVE_TRY_ASSIGN(const json::Tree entry, transfer::entry_of_knowledge(document_.root()));
    candidate->text = entry.canonical();
    return json::without_offset(draft(draft_options_.now_ms, candidate));
  }

  Status take_message(const transfer::Element& element, Candidate* candidate) {
    VARVE_TRY_ASSIGN(json::Tree entry, transfer::entry_of_message(document_.root(), element.place));
    refer_to_calls(&entry);
    const auto time_ms = times_.time_of(element, entry);
    if (time_ms) VARVE_TRY(date_beginning(element.conversation, *time_ms));
    candidate->text = entry.canonical();
    // An offset would be one in a text that nobody has.
    VARVE_TRY(json::without_offset(draft(time_ms.value_or(draft_options_.now_ms), candidate)));
    if (!time_ms) undated_.push_back(waiting_.size());
    calls_.note(entry);
    return {};
  }

  // Drafts the candidate from its text, with this time where it tells none.
  Status draft(int64_t time_ms, Candidate* candidate) {
    entry::DraftOptions options = draft_options_;
    options.now_ms = time_ms;
    VARVE_TRY_ASSIGN(candidate->draft, entry::draft(candidate->text, options, ids_, scratch_));
    return {};
  }

  // The first time of a conversation is that of the messages before it, as far as they still wait.
  Status date_beginning(uint64_t conversation, int64_t time_ms) {
    for (const size_t at : std::exchange(undated_, {})) {
      Candidate& candidate = waiting_[at];
      if (candidate.conversation == conversation) VARVE_TRY(draft(time_ms, &candidate));
    }
    return {};
  }

  // A context keeps a call and its results together by the references.
  void refer_to_calls(json::Tree* entry) const {
    json::Tree references = json::Tree::array();
    for (const auto& id : calls_.answered_by(*entry)) {
      references.push(json::Tree::string(id));
    }
    if (!references.items().empty()) entry->set("references", std::move(references));
  }

  // Writes the new ones among the candidates, and counts all of them.
  Status settle() {
    std::vector<Candidate> candidates = std::move(waiting_);
    waiting_.clear();
    waiting_bytes_ = 0;
    undated_.clear();
    std::vector<Candidate> fresh;
    for (Candidate& candidate : candidates) {
      VARVE_TRY_ASSIGN(const Standing standing, standing_of(candidate));
      if (standing == Standing::kAbsent) {
        fresh.push_back(std::move(candidate));
      } else {
        count(candidate, standing);
      }
    }
    return options_.dry_run ? pretend(fresh) : write(fresh);
  }

  Status write(std::vector<Candidate>& fresh) {
    if (fresh.empty()) return {};
    std::vector<WriteRequest> requests(fresh.size());
    for (size_t i = 0; i < fresh.size(); ++i) {
      requests[i].operation = "import";
      requests[i].drafts.push_back(std::move(fresh[i].draft));
    }
    writer_.submit(requests);
    Status stopped;
    for (size_t i = 0; i < fresh.size(); ++i) {
      const Status& status = requests[i].status;
      fresh[i].draft = std::move(requests[i].drafts.front());
      if (status.ok()) {
        report_.count_added();
      } else if (status.code() == Code::kAlreadyExists) {
        // The id occurs twice in this group, or another writer has just used it.
        VARVE_TRY_ASSIGN(const Standing standing, standing_of(fresh[i]));
        count(fresh[i], standing);
      } else if (stopped.ok()) {
        Place place = status.place();
        place.line = fresh[i].line;
        stopped = Status(status.code(), status.message(), std::move(place));
      }
    }
    return stopped;
  }

  // As write(), for a dry run: remembers the ids of this import instead of writing.
  Status pretend(const std::vector<Candidate>& fresh) {
    for (const Candidate& candidate : fresh) {
      const auto [place, is_new] =
          pretended_.emplace(hash64(candidate.draft.facts.id), mark_of(candidate.draft));
      if (is_new) {
        pretended_bytes_ +=
            entry::sealed_bytes(candidate.draft, core_.next_seq() + pretended_.size() - 1, {});
        report_.count_added();
      } else {
        const bool is_same =
            is_same_entry(place->second, candidate.text, draft_options_, ids_, scratch_);
        count(candidate, is_same ? Standing::kSame : Standing::kOther);
      }
    }
    return {};
  }

  Result<Standing> standing_of(const Candidate& candidate) {
    return find_standing(core_, candidate.draft.facts.id, [&](std::string_view line) {
      return is_same_entry(line, candidate.text, draft_options_, ids_, scratch_);
    });
  }

  void count(const Candidate& candidate, Standing standing) {
    if (standing == Standing::kSame) return report_.count_existing();
    report_.refuse(candidate.line,
                   "entry '" + candidate.draft.facts.id + "': " + refusal_of(standing));
  }

  Core& core_;
  Writer& writer_;
  IdGenerator& ids_;
  const ImportOptions options_;
  const uint64_t evicted_before_;
  ImportReport report_;
  entry::DraftOptions draft_options_;
  json::Document document_;  // of the element
  json::Document scratch_;
  std::vector<Candidate> waiting_;
  size_t waiting_bytes_ = 0;
  std::vector<size_t> undated_;  // of these, the messages before a first time
  transfer::ChatCalls calls_;
  transfer::ChatTimes times_;
  std::map<uint64_t, uint32_t> repeats_;     // without an id: count by hash of content
  std::map<uint64_t, EntryMark> pretended_;  // dry run: by hash of the id
  uint64_t pretended_bytes_ = 0;             // of the lines that were not written
};

}  // namespace

Result<ImportOptions> parse_import_options(std::string_view json) {
  ImportOptions options;
  VARVE_TRY(json::read_object(json, [&](json::ObjectReader& reader) {
    reader.read_choice("format", &options.format, transfer::import_format,
                       R"("auto", "jsonl", "json", "mcp" or "chat")");
    reader.read_bool("dry_run", &options.dry_run);
  }));
  return options;
}

Result<json::Tree> import_entries(Core& core, Writer& writer, IdGenerator& ids,
                                  transfer::Input& input, const ImportOptions& options,
                                  const ProgressReceiver& receiver) {
  Progress progress(receiver, "import");
  Import import(core, writer, ids, options);
  VARVE_TRY(import.run(input, progress));
  return import.report();
}

}  // namespace varve::session
