#include "transfer/entry_writer.h"

#include "entry/entry.h"
#include "json/canonical.h"
#include "text/line_ends.h"
#include "transfer/chat_text.h"

namespace varve::transfer {
namespace {

// As a block of code, which no text in it can end.
std::string block_of(std::string_view code) {
  constexpr std::string_view kIndent = "    ";
  std::string block(kIndent);
  text::append_indented(code, kIndent, &block);
  return block;
}

const json::Tree* text_in(const json::Tree& content) {
  for (const auto name : {"message", "text", "summary"}) {
    const json::Tree* text = content.get(name);
    if (text != nullptr && text->is_string()) return text;
  }
  return nullptr;
}

// An import has the parts of a content beside their text; recorded as it is, it is a list.
json::Tree as_imported(const json::Tree& content) {
  const bool is_said = text_in(content) != nullptr || content.get("parts") != nullptr;
  if (is_said || content.get_string("role").empty()) return content;
  for (const auto name : {"message", "content"}) {
    const json::Tree* parts = content.get(name);
    if (parts == nullptr || parts->items().empty()) continue;
    json::Tree message = content;
    message.set("parts", *parts);
    if (std::string text = text_of_content(*parts); !text.empty()) {
      message.set("message", json::Tree::string(text));
    }
    return message;
  }
  return content;
}

// Of a message, the name is that of who says it.
std::string speaker_of(const json::Tree& content, bool is_message) {
  return speaker_with(content.get_string("role"), is_message ? content.get_string("name") : "");
}

std::string markdown_of(const json::Tree& given, bool is_message) {
  if (given.is_string()) return given.text();
  const json::Tree content = as_imported(given);
  const json::Tree* text = content.is_object() ? text_in(content) : nullptr;
  const auto calls = content.is_object() ? calls_in(content) : std::vector<ToolTurn>();
  const std::string role = speaker_of(content, is_message);
  const std::string data = role.empty() ? std::string() : data_in(content);
  if (text == nullptr && calls.empty() && data.empty()) {
    return "```json\n" + given.pretty() + "```";
  }
  std::string shown = role.empty() ? "" : "**" + role + "**:";
  std::string said = text == nullptr ? std::string() : text->text();
  said += (said.empty() || data.empty() ? "" : "\n\n") + data;
  if (text != nullptr || !said.empty()) shown += (role.empty() ? "" : " ") + said;
  for (const auto& call : calls) shown += (shown.empty() ? "" : "\n\n") + block_of(call.text);
  return shown;
}

Status append_markdown(std::string_view line, std::string& out) {
  VARVE_TRY_ASSIGN(const json::Tree entry, json::Tree::parse(line, entry::line_limits()));
  out += "## " + entry.get_string("timestamp") + " " + entry.get_string("type") + " `" +
         entry.get_string("id") + "`\n\n";
  const json::Tree* content = entry.get("content");
  const bool is_message = entry.get_string("type") == "message";
  if (content != nullptr) out += markdown_of(*content, is_message) + "\n\n";
  std::string notes = "importance ";
  json::append_double(entry.get_double("importance", 0.5), notes);
  const json::Tree* tags = entry.get("tags");
  if (tags != nullptr && !tags->items().empty()) {
    notes += ", tags";
    for (const auto& tag : tags->items()) notes += " `" + tag.text() + "`";
  }
  out += "_" + notes + "_\n\n";
  return {};
}

}  // namespace

void EntryWriter::begin(std::string_view session_id, std::string& out) {
  is_first_ = true;
  if (format_ == ExportFormat::kMarkdown)
    out.append("# Session ").append(session_id).append("\n\n");
  if (format_ == ExportFormat::kJson) out += "{\"entries\":[";
}

Status EntryWriter::entry(std::string_view line, std::string& out) {
  if (format_ == ExportFormat::kMarkdown) return append_markdown(line, out);
  // A line made by hand may have white space around it.
  const size_t first = line.find_first_not_of(" \t\r");
  const size_t last = line.find_last_not_of(" \t\r");
  if (format_ == ExportFormat::kJson && !is_first_) out += ',';
  is_first_ = false;
  out += line.substr(first, last - first + 1);
  if (format_ == ExportFormat::kJsonl) out += '\n';
  return {};
}

void EntryWriter::end(const json::Tree& metadata, std::string& out) {
  if (format_ == ExportFormat::kJson) out += "],\"session\":" + metadata.canonical() + "}";
}

}  // namespace varve::transfer
