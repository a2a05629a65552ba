// Export and import.
#include <algorithm>
#include <utility>

#include "base/time.h"
#include "json/canonical.h"
#include "session/batch_input.h"
#include "session/maintenance.h"

namespace varve::session {

namespace {

constexpr size_t kImportGroup = 512;  // lines written together
constexpr uint64_t kRefusedMax = 1000;
constexpr int kReplacedMax = 8;

std::string text_of(const json::Tree& content) {
  if (content.is_string()) return content.text();
  for (const auto name : {"message", "text", "summary"}) {
    const json::Tree* text = content.is_object() ? content.get(name) : nullptr;
    if (text != nullptr && text->is_string()) {
      const std::string role = content.get_string("role");
      return role.empty() ? text->text() : "**" + role + "**: " + text->text();
    }
  }
  return "```json\n" + content.pretty() + "```";
}

Status append_markdown(std::string_view line, std::string& out) {
  VARVE_TRY_ASSIGN(const json::Tree entry, json::Tree::parse(line));
  out += "## " + entry.get_string("timestamp") + " " + entry.get_string("type") + " `" +
         entry.get_string("id") + "`\n\n";
  const json::Tree* content = entry.get("content");
  if (content != nullptr) out += text_of(*content) + "\n\n";
  std::string notes = "importance " + std::to_string(entry.get_double("importance", 0.5));
  notes.erase(notes.find_last_not_of('0') + 1);
  if (notes.ends_with('.')) notes += '0';
  const json::Tree* tags = entry.get("tags");
  if (tags != nullptr && !tags->items().empty()) {
    notes += ", tags";
    for (const auto& tag : tags->items()) notes += " `" + tag.text() + "`";
  }
  out += "_" + notes + "_\n\n";
  return {};
}

Status append_line(std::string_view format, std::string_view line, std::string& out) {
  if (format == "markdown") return append_markdown(line, out);
  // A hand-made line may have white space around it.
  const size_t first = line.find_first_not_of(" \t\r");
  const size_t last = line.find_last_not_of(" \t\r");
  if (format == "json" && !out.ends_with('[')) out += ',';
  out += line.substr(first, last - first + 1);
  if (format == "jsonl") out += '\n';
  return {};
}

void start_text(Core& core, std::string_view format, std::string& out) {
  out.clear();
  if (format == "markdown") {
    out = "# Session " + core.id + "\n\n";
  } else if (format == "json") {
    out = "{\"entries\":[";
  }
}

void finish_text(Core& core, std::string_view format, std::string& out) {
  if (format != "json") return;
  json::Tree metadata;
  {
    const std::shared_lock lock(core.index_mutex);
    metadata = core.metadata.tree();
  }
  core.count_into(metadata);
  out += "],\"session\":" + metadata.canonical() + "}";
}

}  // namespace

Result<std::string> export_text(Core& core, std::string_view format) {
  if (format != "jsonl" && format != "json" && format != "markdown") {
    Place place;
    place.member = "format";
    return Status(Code::kInvalidArgument,
                  "the format is \"jsonl\", \"json\" or \"markdown\", not \"" +
                      std::string(format.substr(0, 32)) + "\"",
                  std::move(place));
  }
  std::string out;
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    start_text(core, format, out);
    Status status = core.for_each_live_line(
        [&](std::string_view line) { return append_line(format, line, out); });
    if (status.code() == Code::kGone) continue;
    VARVE_TRY(std::move(status));
    finish_text(core, format, out);
    return out;
  }
  return Status(Code::kBusy, "the log is being replaced over and over; try again");
}

namespace {

class Import {
 public:
  Import(Core& core, Writer& writer, IdGenerator& ids) : core_(core), writer_(writer), ids_(ids) {
    options_.session_id = core.id;
    options_.adopt_session = true;
    options_.now_ms = core.context.clock->now_ms();
    options_.entry_bytes_max = static_cast<size_t>(core.settings.entry_bytes_max);
  }

  Status run(std::string_view lines) {
    for (uint64_t number = 1; !lines.empty(); ++number) {
      const std::string_view line = take_line(lines);
      if (is_blank(line)) continue;
      take(line, number);
      if (waiting_.size() >= kImportGroup) VARVE_TRY(write());
    }
    return write();
  }

  json::Tree report() {
    json::Tree tree = json::Tree::object();
    tree.set("added", json::Tree::integer_unsigned(added_));
    tree.set("existing", json::Tree::integer_unsigned(existing_));
    tree.set("refused", std::move(refused_));
    tree.set("refused_total", json::Tree::integer_unsigned(refused_total_));
    return tree;
  }

 private:
  void refuse(uint64_t number, std::string_view reason) {
    refused_total_ += 1;
    if (refused_total_ > kRefusedMax) return;
    json::Tree item = json::Tree::object();
    item.set("line", json::Tree::integer_unsigned(number));
    item.set("reason", json::Tree::string(reason));
    refused_.push(std::move(item));
  }

  void take(std::string_view line, uint64_t number) {
    // A line that came sealed must be what was sealed.
    if (entry::check_seal(line) == entry::Seal::kWrong) {
      const Status read = entry::read_line(line, scratch_, &facts_);
      if (!read.ok()) return refuse(number, read.message());
    }
    auto draft = entry::draft(line, options_, ids_, scratch_);
    if (!draft.ok()) return refuse(number, draft.status().message());
    WriteRequest request;
    request.operation = "import";
    request.drafts.push_back(*std::move(draft));
    waiting_.push_back(std::move(request));
    numbers_.push_back(number);
  }

  Status write() {
    if (waiting_.empty()) return {};
    writer_.submit(waiting_);
    Status stopped;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Status& status = waiting_[i].status;
      if (status.ok()) {
        added_ += 1;
      } else if (status.code() != Code::kAlreadyExists) {
        if (stopped.ok()) stopped = status;
      } else if (was_deleted(waiting_[i].drafts.front().facts.id)) {
        refuse(numbers_[i], status.message());
      } else {
        existing_ += 1;
      }
    }
    waiting_.clear();
    numbers_.clear();
    return stopped;
  }

  bool was_deleted(std::string_view id) const {
    const std::shared_lock lock(core_.index_mutex);
    return core_.index.was_deleted(id);
  }

  Core& core_;
  Writer& writer_;
  IdGenerator& ids_;
  entry::DraftOptions options_;
  json::Document scratch_;
  entry::EntryFacts facts_;
  std::vector<WriteRequest> waiting_;
  std::vector<uint64_t> numbers_;  // line numbers of waiting_
  uint64_t added_ = 0;
  uint64_t existing_ = 0;
  json::Tree refused_ = json::Tree::array();
  uint64_t refused_total_ = 0;
};

}  // namespace

Result<json::Tree> import_lines(Core& core, Writer& writer, IdGenerator& ids,
                                std::string_view lines) {
  Import import(core, writer, ids);
  VARVE_TRY(import.run(lines));
  return import.report();
}

}  // namespace varve::session
