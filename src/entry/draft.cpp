// Entries to be written: draft() and seal().
#include <array>
#include <optional>

#include "base/time.h"
#include "entry/checksum.h"
#include "entry/content_key.h"
#include "entry/draft_defaults.h"
#include "entry/entry.h"
#include "entry/fields.h"
#include "entry/plain_draft.h"
#include "json/canonical.h"

namespace varve::entry {
namespace {

// What a finished line has of its batch and its number, around the digits.
constexpr std::string_view kBatchStart = R"("batch":{"i":)";
constexpr std::string_view kBatchMiddle = R"(,"n":)";
constexpr std::string_view kBatchEnd = "},";
constexpr std::string_view kSeqStart = R"("seq":)";
constexpr std::string_view kSeqEnd = ",";

constexpr size_t digit_count(uint64_t number) {
  size_t count = 1;
  for (; number > 9; number /= 10) count += 1;
  return count;
}

// [bytes] What seal() adds, with the newline.
constexpr size_t seal_bytes(uint64_t seq, Batch batch) {
  const size_t batch_bytes = kBatchStart.size() + digit_count(batch.index) + kBatchMiddle.size() +
                             digit_count(batch.count) + kBatchEnd.size();
  return (batch.count == 0 ? 0 : batch_bytes) + kChecksumMemberBytes + kSeqStart.size() +
         digit_count(seq) + kSeqEnd.size() + 1;
}

// The most of that. Whether there is a batch is not known when a draft is made, so an entry this
// close to the limit is refused.
constexpr size_t kSealBytesMax = seal_bytes(UINT64_MAX, {UINT32_MAX, UINT32_MAX});

// A caller's text may have white space and escapes that its line will not have. Texts of many times
// the limit are not parsed at all.
constexpr size_t kTextPerLineBytes = 8;
constexpr size_t kTextSlackBytes = size_t{1} << 16;

// Writes the members of an entry in canonical order: known ones by their own rules, the others
// unchanged.
class DraftWriter {
 public:
  DraftWriter(std::string_view text, json::Value entry, const DraftOptions& options,
              IdGenerator& ids)
      : fields_(text, Rules::kStrict), entry_(entry), options_(options), ids_(ids) {}

  Result<Draft> write();

 private:
  using Given = const std::optional<json::Value>&;
  struct Member {
    std::string_view name;
    Status (DraftWriter::*write)(Given value);
  };
  static const std::array<Member, 18> kMembers;

  Status write_members();
  Status check_size() const;

  Status write_batch(Given);
  Status write_checksum(Given);
  Status write_content(Given);
  Status write_decay_factor(Given);
  Status write_expires_at(Given);
  Status write_id(Given);
  Status write_importance(Given);
  Status write_references(Given);
  Status write_relations(Given);
  Status write_schema_version(Given);
  Status write_seq(Given);
  Status write_session_id(Given);
  Status write_span_id(Given);
  Status write_tags(Given);
  Status write_timestamp(Given);
  Status write_trace_id(Given);
  Status write_ttl_seconds(Given);
  Status write_type(Given);

  void append_name(std::string_view name) { body().append(1, '"').append(name).append("\":"); }
  void append_text(std::string_view name, std::string_view text);
  void append_value(std::string_view name, Given value, std::string_view fallback);
  std::string& body() { return draft_.body; }

  FieldReader fields_;
  json::Value entry_;
  const DraftOptions& options_;
  IdGenerator& ids_;
  Draft draft_;
};

const std::array<DraftWriter::Member, 18> DraftWriter::kMembers = {{
    {"batch", &DraftWriter::write_batch},
    {"checksum", &DraftWriter::write_checksum},
    {"content", &DraftWriter::write_content},
    {"decay_factor", &DraftWriter::write_decay_factor},
    {"expires_at", &DraftWriter::write_expires_at},
    {"id", &DraftWriter::write_id},
    {"importance", &DraftWriter::write_importance},
    {"references", &DraftWriter::write_references},
    {"relations", &DraftWriter::write_relations},
    {"schema_version", &DraftWriter::write_schema_version},
    {"seq", &DraftWriter::write_seq},
    {"session_id", &DraftWriter::write_session_id},
    {"span_id", &DraftWriter::write_span_id},
    {"tags", &DraftWriter::write_tags},
    {"timestamp", &DraftWriter::write_timestamp},
    {"trace_id", &DraftWriter::write_trace_id},
    {"ttl_seconds", &DraftWriter::write_ttl_seconds},
    {"type", &DraftWriter::write_type},
}};

Result<Draft> DraftWriter::write() {
  if (!entry_.is_object()) return fields_.invalid(entry_, "an entry must be a JSON object");
  // First, because another version may have other rules for the rest.
  if (const auto version = entry_.find("schema_version")) {
    VARVE_TRY(fields_.check_schema_version(*version));
  }
  body() = '{';
  VARVE_TRY(write_members());
  body().back() = '}';
  VARVE_TRY(check_size());
  return std::move(draft_);
}

// Merges two sorted lists: our members and the entry's. Every member ends with a ','.
Status DraftWriter::write_members() {
  Status status;
  size_t known = 0;
  size_t others = 0;
  // With all of ours the line has no more members than an import of it takes.
  const size_t others_max = json::Limits{}.members_max - kMembers.size();
  const auto write_known = [&](Given value) {
    status = (this->*kMembers[known].write)(value);
    ++known;
    return status.ok();
  };
  entry_.for_each_member([&](std::string_view key, json::Value value) {
    while (known < kMembers.size() && json::compare_utf16(kMembers[known].name, key) < 0) {
      if (!write_known(std::nullopt)) return false;
    }
    if (known < kMembers.size() && kMembers[known].name == key) return write_known(value);
    if (++others > others_max) {
      status = fields_.invalid(value, "an entry has at most " + std::to_string(others_max) +
                                          " members beside those that varve knows");
      return false;
    }
    json::append_string(key, body());
    body() += ':';
    json::append_canonical(value, body());
    body() += ',';
    return true;
  });
  while (status.ok() && known < kMembers.size()) write_known(std::nullopt);
  return status;
}

Status DraftWriter::check_size() const {
  if (fits(draft_, options_)) return {};
  const size_t size = draft_.body.size() + kSealBytesMax;
  return {Code::kSizeLimit,
          "the entry is " + std::to_string(size) + " bytes as a line of the log; the limit is " +
              std::to_string(options_.entry_bytes_max) + " (storage.max_entry_size_bytes)",
          {.size = size, .limit = options_.entry_bytes_max}};
}

void DraftWriter::append_text(std::string_view name, std::string_view text) {
  append_name(name);
  json::append_string(text, body());
  body() += ',';
}

void DraftWriter::append_value(std::string_view name, Given value, std::string_view fallback) {
  append_name(name);
  if (value) {
    json::append_canonical(*value, body());
  } else {
    body() += fallback;
  }
  body() += ',';
}

Status DraftWriter::write_batch(Given) {
  draft_.batch_at = body().size();
  return {};
}

Status DraftWriter::write_checksum(Given) {
  draft_.checksum_at = body().size();
  return {};
}

// It is written as expires_at.
Status DraftWriter::write_ttl_seconds(Given) { return {}; }

Status DraftWriter::write_seq(Given) {
  draft_.seq_at = body().size();
  return {};
}

Status DraftWriter::write_schema_version(Given) {
  append_name("schema_version");
  body().append(std::to_string(kSchemaVersion)).append(1, ',');
  return {};
}

Status DraftWriter::write_content(Given value) {
  if (!value) return fields_.missing(entry_, "content");
  append_value("content", value, "");
  read_content_keys(*value, &draft_.facts.content_keys);
  return {};
}

Status DraftWriter::write_decay_factor(Given value) {
  double checked = 0;
  if (value) VARVE_TRY(fields_.read_fraction(*value, &checked));
  append_value("decay_factor", value, kDefaultDecayFactor);
  return {};
}

Status DraftWriter::write_importance(Given value) {
  if (value) VARVE_TRY(fields_.read_fraction(*value, &draft_.facts.importance));
  append_value("importance", value, kDefaultImportance);
  return {};
}

// Given as a time, or as seconds from now.
Status DraftWriter::write_expires_at(Given value) {
  const auto ttl = entry_.find("ttl_seconds");
  if (value && ttl) return fields_.invalid(*ttl, "cannot be given together with 'expires_at'");
  if (ttl) {
    const double seconds = ttl->is_number() ? ttl->as_double() : 0;
    if (!(seconds > 0) || seconds > kTtlSecondsMax) {
      return fields_.invalid(*ttl, "must be a number of seconds above 0 and at most " +
                                       std::to_string(kTtlSecondsMax));
    }
    draft_.facts.expires_at_ms = end_of_ttl(options_.now_ms, seconds);
  } else if (value) {
    VARVE_TRY(fields_.read_time(*value, &draft_.facts.expires_at_ms));
  } else {
    return {};
  }
  append_text("expires_at", format_rfc3339(draft_.facts.expires_at_ms));
  return {};
}

Status DraftWriter::write_timestamp(Given value) {
  draft_.facts.timestamp_ms = options_.now_ms;
  if (value) VARVE_TRY(fields_.read_time(*value, &draft_.facts.timestamp_ms));
  append_text("timestamp", format_rfc3339(draft_.facts.timestamp_ms));
  return {};
}

Status DraftWriter::write_id(Given value) {
  if (value) {
    VARVE_TRY(fields_.read_id(*value, &draft_.facts.id));
  } else {
    draft_.facts.id = ids_.next(kIdPrefix);
  }
  append_text("id", draft_.facts.id);
  return {};
}

Status DraftWriter::write_type(Given value) {
  if (!value) return fields_.missing(entry_, "type");
  VARVE_TRY(fields_.read_type(*value, &draft_.facts.type));
  append_text("type", draft_.facts.type);
  return {};
}

Status DraftWriter::write_session_id(Given value) {
  if (value && !options_.adopt_session) {
    std::string named;
    VARVE_TRY(fields_.read_id(*value, &named));
    if (named != options_.session_id) {
      return fields_.invalid(*value, "the entry belongs to session '" + named +
                                         "', and this is session '" +
                                         std::string(options_.session_id) + "'");
    }
  }
  append_text("session_id", options_.session_id);
  return {};
}

Status DraftWriter::write_span_id(Given value) {
  if (!value) return {};
  std::string checked;
  VARVE_TRY(fields_.read_trace(*value, &checked));
  append_value("span_id", value, "");
  return {};
}

Status DraftWriter::write_trace_id(Given value) {
  if (!value) return {};
  VARVE_TRY(fields_.read_trace(*value, &draft_.facts.trace_id));
  append_value("trace_id", value, "");
  return {};
}

Status DraftWriter::write_tags(Given value) {
  if (value) VARVE_TRY(fields_.read_tags(*value, &draft_.facts.tags));
  append_value("tags", value, "[]");
  return {};
}

Status DraftWriter::write_references(Given value) {
  if (value) VARVE_TRY(fields_.read_references(*value, &draft_.facts.references));
  append_value("references", value, "[]");
  return {};
}

Status DraftWriter::write_relations(Given value) {
  if (!value) return {};
  VARVE_TRY(fields_.read_relations(*value, &draft_.facts.relations));
  append_value("relations", value, "");
  return {};
}

}  // namespace

bool fits(const Draft& draft, const DraftOptions& options) {
  return options.entry_bytes_max == 0 ||
         draft.body.size() + kSealBytesMax <= options.entry_bytes_max;
}

Result<Draft> draft(std::string_view text, const DraftOptions& options, IdGenerator& ids,
                    json::Document& scratch) {
  json::Limits limits;
  if (options.entry_bytes_max != 0 && options.entry_bytes_max < limits.text_bytes_max) {
    limits.text_bytes_max = options.entry_bytes_max * kTextPerLineBytes + kTextSlackBytes;
  }
  if (text.size() <= limits.text_bytes_max) {
    json::PlainReader reader(text);
    auto plain = draft_plain(reader, text.size(), options, ids);
    if (plain && reader.take_end() && fits(*plain, options)) return *std::move(plain);
  }
  VARVE_TRY(scratch.parse(text, limits));
  return draft_value(text, scratch.root(), options, ids);
}

Result<Draft> draft_value(std::string_view text, json::Value value, const DraftOptions& options,
                          IdGenerator& ids) {
  return DraftWriter(text, value, options, ids).write();
}

size_t sealed_bytes(const Draft& draft, uint64_t seq, Batch batch) {
  return draft.body.size() + seal_bytes(seq, batch);
}

void append_sealed(Draft& draft, uint64_t seq, Batch batch, std::string* lines) {
  const std::string_view body = draft.body;
  std::string& line = *lines;
  const size_t line_at = line.size();
  line.append(body.substr(0, draft.batch_at));
  if (batch.count != 0) {
    line.append(kBatchStart).append(std::to_string(batch.index));
    line.append(kBatchMiddle).append(std::to_string(batch.count)).append(kBatchEnd);
  }
  line.append(body.substr(draft.batch_at, draft.checksum_at - draft.batch_at));
  const size_t checksum_at = line.size();
  append_blank_checksum(line);
  line.append(body.substr(draft.checksum_at, draft.seq_at - draft.checksum_at));
  line.append(kSeqStart).append(std::to_string(seq)).append(kSeqEnd);
  line.append(body.substr(draft.seq_at));
  fill_checksum(line_at, checksum_at, line);
  line += '\n';
  draft.facts.seq = seq;
  draft.facts.batch = batch;
  draft.facts.sealed = true;
}

std::string seal(Draft& draft, uint64_t seq, Batch batch) {
  std::string line;
  line.reserve(draft.body.size() + kSealBytesMax);
  append_sealed(draft, seq, batch, &line);
  return line;
}

}  // namespace varve::entry
