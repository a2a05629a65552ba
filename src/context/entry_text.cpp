#include "context/entry_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "entry/content_key.h"
#include "entry/entry.h"
#include "json/canonical.h"
#include "json/raw.h"
#include "json/tree.h"
#include "text/characters.h"
#include "text/line_ends.h"
#include "transfer/convert.h"

namespace varve::context {

namespace {

using Names = std::initializer_list<std::string_view>;

// A label stands at the start of a line, where no mark of a frame's may be but the frame's own, and
// where blanks would make it one more line of the entry before it. Empty when it has nothing else.
std::string label_of(std::string_view text) {
  std::string label = text::make_one_line(text);
  size_t begin = 0;
  for (;; ++begin) {
    begin += text::behind_unseen(std::string_view(label).substr(begin));
    const bool is_mark = begin < label.size() && (label[begin] == '`' || label[begin] == '=');
    if (!is_mark) return label.erase(0, begin);
  }
}

bool is_tool(std::string_view type) { return type == "tool_call" || type == "tool_result"; }

// Gemini calls the assistant so, and LangChain both.
Speaker speaker_of(std::string_view role) {
  if (role == "user" || role == "human") return Speaker::kUser;
  if (role == "assistant" || role == "model" || role == "ai") return Speaker::kAssistant;
  return Speaker::kOther;
}

bool is_string(std::string_view value) { return value.starts_with('"'); }

using Values = std::initializer_list<std::string_view>;
bool is_one_of(std::string_view value, Values values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Of values as they stand in a line.
bool is_empty(std::string_view value) { return is_one_of(value, {"", "null", R"("")"}); }
bool is_nothing(std::string_view value) {
  return is_empty(value) || is_one_of(value, {"false", "0", "{}", "[]"});
}

// Reads a line by its members as they stand in it; a Document is made only of values that are not
// plain text.
class LineReader {
 public:
  LineReader(json::Document& scratch, bool is_canonical)
      : scratch_(scratch), is_canonical_(is_canonical) {}

  // False when it has no content; and when a name before it or in it has an escape, unless the line
  // is canonical: none of the names looked for has one then.
  bool read(std::string_view line, std::string_view type, EntryText* out) {
    out->is_tool = is_tool(type);
    if (out->is_tool) out->speaker = type == "tool_call" ? Speaker::kAssistant : Speaker::kTool;
    std::string_view content;
    json::for_each_raw_member(line, [&](auto name, auto value) {
      if (name == "content") content = value;
      return content.empty() && is_as_it_reads(name);
    });
    if (content.empty()) return false;
    if (!content.starts_with('{')) {
      out->label = label_of(type);
      out->text = text_of(content);
      out->detail = out->text;
      return !is_wrong_;
    }
    members_.reserve(kMembersUsual);
    const bool is_read = json::for_each_raw_member(content, [&](auto name, auto value) {
      members_.push_back({name, value});
      return is_as_it_reads(name);
    });
    if (!is_read) return false;
    content_ = content;
    read_content(type, out);
    return !is_wrong_;
  }

 private:
  struct Member {
    std::string_view name;
    std::string_view value;
  };
  static constexpr size_t kMembersUsual = 16;

  [[nodiscard]] bool is_as_it_reads(std::string_view name) const {
    return is_canonical_ || name.find('\\') == std::string_view::npos;
  }

  // Empty when there is none.
  [[nodiscard]] std::string_view find(std::string_view name) const {
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [name](const Member& member) { return member.name == name; });
    return found == members_.end() ? std::string_view() : found->value;
  }
  [[nodiscard]] std::string_view first_of(Names names) const {
    for (const auto name : names) {
      if (const auto value = find(name); !value.empty()) return value;
    }
    return {};
  }

  // The first of them that is not empty; where all are, the first that is not null.
  [[nodiscard]] std::string_view best_of(Names names) const {
    for (const auto name : names) {
      if (const auto value = find(name); !is_empty(value)) return value;
    }
    const auto value = first_not_null(names);
    return value.empty() ? first_of(names) : value;
  }
  // Empty when there is none, or only null.
  [[nodiscard]] std::string_view first_not_null(Names names) const {
    for (const auto name : names) {
      if (const auto value = find(name); !is_one_of(value, {"", "null"})) return value;
    }
    return {};
  }

  // The characters of a string; any other value as canonical JSON.
  std::string text_of(std::string_view value) {
    std::string text;
    if (json::decode_raw_string(value, &text)) return text;
    text.clear();
    if (!scratch_.parse(value, entry::line_limits()).ok()) {
      is_wrong_ = true;
    } else if (scratch_.root().is_string()) {
      text = scratch_.root().text();
    } else {
      json::append_canonical(scratch_.root(), text);
    }
    return text;
  }

  // What a tool was given or gave when it is under no name that is known: all members but those
  // that are said otherwise. Empty when there are none.
  std::string other_members() {
    static constexpr std::string_view kSaid[] = {"name",    "tool",         "tool_name",
                                                 "call_id", "tool_call_id", "role"};
    const bool is_named_by_kind = !item_.empty() && name_member().empty();
    std::string text;
    for (const Member& member : members_) {
      if (std::find(std::begin(kSaid), std::end(kSaid), member.name) != std::end(kSaid)) continue;
      if (is_named_by_kind && is_one_of(member.name, {"type", "id", "status"})) continue;
      if (item_ == transfer::kPictureItem && member.name == "result") continue;  // its bytes
      text.push_back(text.empty() ? '{' : ',');
      text.append("\"").append(member.name).append("\":").append(member.value);
    }
    return text.empty() ? text : text_of(text + "}");
  }

  [[nodiscard]] std::string_view name_member() const {
    return first_not_null({"name", "tool", "tool_name"});
  }
  // "web_search" of the kind "web_search_call".
  [[nodiscard]] std::string tool_of_item() const {
    return item_.substr(0, item_.size() - std::min(item_.size(), transfer::kItemCall.size()));
  }

  // A result may come in parts, whose bytes are long and say nothing. The content of a message is
  // null where nothing was said but in parts beside it.
  std::string text_of_outcome(std::string_view value) {
    if (value == "null" && is_string(find("role"))) value = find("parts");
    if (value.empty()) return {};
    if (!value.starts_with('[') || value.find("\"type\"") == std::string_view::npos) {
      return text_of_said(value, false);
    }
    const auto parts = json::Tree::parse(value, entry::line_limits());
    if (!parts.ok() || !transfer::is_list_of_parts(*parts)) return text_of_said(value, false);
    return transfer::text_of_content(*parts);
  }

  // The tool's name, and what it was given or gave.
  struct Told {
    std::string tool;
    std::string detail;

    [[nodiscard]] std::string text() const {
      return tool + (tool.empty() || detail.empty() ? "" : " ") + detail;
    }
  };
  Told told(Names details, bool is_outcome) {
    const auto name = name_member();
    const auto detail = best_of(details);
    const bool is_named = !name.empty() || !item_.empty();
    if (!is_named && detail.empty()) return {{}, is_silent() ? std::string() : text_of(content_)};
    Told told;
    told.tool = name.empty() ? tool_of_item() : text::make_one_line(text_of(name));
    if (detail.empty()) {
      told.detail = other_members();
    } else if (is_outcome) {
      told.detail = text_of_outcome(detail);
    } else if (detail != "null") {  // a call with nothing; a result of null is one
      told.detail = text_of_said(detail, false);
    }
    return told;
  }

  Told told_of_result() {
    constexpr std::string_view kError = "error";
    Told result = told({"result", "output", "content", "message", kError}, true);
    const std::string_view shown = best_of({"result", "output", "content", "message"});
    if (!is_nothing(find(kError))) {
      if (!is_empty(shown)) result.detail.append("\nerror: ").append(text_of(find(kError)));
    } else if (is_one_of("true", {find("is_error"), find("isError")})) {
      result.detail.append("\nerror: true");
    }
    return result;
  }

  // By the kinds of parts, and the members of Gemini's.
  static bool may_be_needed(std::string_view parts) {
    static constexpr std::string_view kSigns[] = {
        "\"tool",       "\"server_tool_use", "\"mcp_tool_use", "\"function",
        "\"inlineData", "\"inline_data",     "\"fileData",     "\"file_data"};
    return std::any_of(std::begin(kSigns), std::end(kSigns), [parts](std::string_view sign) {
      return parts.find(sign) != std::string_view::npos;
    });
  }

  // A message of a chat, as far as it has calls or results of tools, or data without a text.
  json::Tree read_message() {
    json::Tree message = json::Tree::object();
    for (const std::string_view name : {"tool_calls", "function_call", "images", "parts"}) {
      const std::string_view value = name == "parts" ? parts() : find(name);
      if (!value.starts_with('[') && !value.starts_with('{')) continue;
      if (name == "parts" && !may_be_needed(value)) continue;  // pictures are long
      auto member = json::Tree::parse(value, entry::line_limits());
      is_wrong_ = is_wrong_ || !member.ok();
      if (member.ok()) message.set(name, *std::move(member));
    }
    return message;
  }

  // A list of parts, or the only one, as it reads; empty where nothing in it was said, or nothing
  // but the data.
  std::string text_of_said(std::string_view value, bool has_data) {
    const bool is_part = value.starts_with('{') && value == find("parts");
    if (!(is_part || value.starts_with('[')) || !is_string(find("role"))) return text_of(value);
    auto parts = json::Tree::parse(value, entry::line_limits());
    if (!parts.ok()) return text_of(value);
    std::string text = transfer::text_of_content(*parts);
    return text.empty() && !has_data && !transfer::is_unsaid(*parts) ? text_of(value) : text;
  }

  // An import has the parts of a content beside their text; recorded as it is, it is a list.
  [[nodiscard]] std::string_view parts() const {
    const auto parts = first_not_null({"parts"});
    if (!parts.empty() || !is_string(find("role"))) return parts;
    const auto said = best_of({"message", "content", "text", "refusal"});
    return said.starts_with('[') ? said : parts;
  }

  void read_said(EntryText* out) {
    auto text = best_of({"message", "content", "text", "refusal"});
    if (is_empty(text) && is_string(find("role"))) text = find("parts");
    if (text == "null") text = std::string_view();
    const json::Tree message = read_message();
    auto calls = transfer::calls_in(message);
    const bool is_of_chat = is_of_chat_ && is_string(find("role"));
    const std::string data = is_of_chat ? transfer::data_in(message) : std::string();
    if (text.empty() && calls.empty() && data.empty() && !is_silent()) {
      out->text = text_of(content_);
      return;
    }
    if (!text.empty()) out->text = text_of_said(text, !data.empty());
    const json::Tree* const parts = message.get("parts");
    if (parts != nullptr) out->text = transfer::with_answered_calls(std::move(out->text), *parts);
    if (!data.empty()) out->text.append(out->text.empty() ? "" : "\n\n").append(data);
    if (out->is_tool) out->said = out->text;
    for (auto& call : calls) {
      if (call.is_answered) continue;  // told where it stands
      out->text.append(out->text.empty() ? "" : "\n").append(call.text);
      if (out->is_tool) out->turns.push_back(std::move(call));
    }
    if (is_blank(out->said)) out->said.clear();
    out->is_answered = out->is_tool && out->turns.empty();
  }

  // Whether it is a message in which nothing was said, as of a model that only called tools. Whose
  // it is, when it came, what it took and what the model thought, nobody said; but of a fact about
  // somebody with a role, all of that is what is known.
  [[nodiscard]] bool is_silent() const {
    static constexpr std::string_view kUnsaid[] = {"id",
                                                   "type",
                                                   "name",
                                                   "model",
                                                   "timestamp",
                                                   "created_at",
                                                   "createdAt",
                                                   "created",
                                                   "usage",
                                                   "reasoning",
                                                   "reasoning_content",
                                                   "thinking",
                                                   "reasoning_details",
                                                   "thinking_blocks"};
    const auto is_unsaid = [this](const Member& member) {
      if (is_one_of(member.name, {"role", "call_id", "tool_call_id"})) return true;
      const auto* const found = std::find(std::begin(kUnsaid), std::end(kUnsaid), member.name);
      return is_nothing(member.value) || (is_of_chat_ && found != std::end(kUnsaid));
    };
    return is_string(find("role")) && std::all_of(members_.begin(), members_.end(), is_unsaid);
  }

  // A call of a chat is a message, which may make several.
  void read_call(EntryText* out) {
    const bool is_given = !first_not_null({"arguments", "args", "input"}).empty();
    if (!is_given && !transfer::calls_in(read_message()).empty()) {
      read_said(out);
    } else {
      Told call = told({"arguments", "args", "input", "message"}, false);
      out->text = call.text();
      out->tool = std::move(call.tool);
      out->detail = std::move(call.detail);
    }
    if (!is_answered_) return;
    out->is_answered = true;
    if (!is_given) return;  // all of it is told
    if (!is_empty(find("output"))) out->text.append("\n").append(text_of(find("output")));
    if (!is_nothing(find("error"))) out->text.append("\nerror: ").append(text_of(find("error")));
  }

  // Of a message with results, the user may say something in it, too.
  void read_result(EntryText* out) {
    Told result = told_of_result();
    out->text = result.text();
    out->detail = std::move(result.detail);
    const auto name = first_not_null({"tool_name", "name"});
    if (is_string(name)) out->tool = text_of(name);
    const json::Tree message = read_message();
    out->turns = transfer::results_in(message);
    const json::Tree* parts = message.get("parts");
    if (parts != nullptr) out->said = transfer::said_beside_results(*parts);
    if (is_blank(out->said)) out->said.clear();
    if (out->said.empty()) return;
    out->text.clear();
    for (const auto& turn : out->turns) out->text.append(turn.text).append("\n");
    out->text.append(out->role).append(": ").append(out->said);
  }

  void read_call_id(std::string_view name, EntryText* out) {
    out->call_id = text_of(find(name));
    out->call_key = entry::content_string_key(name, out->call_id);
  }

  // A call of OpenAI's responses has no role, and names its kind.
  void read_item() {
    std::string kind;
    if (is_string(find("role")) || !json::decode_raw_string(find("type"), &kind)) return;
    const bool awaits_result = is_string(find("call_id"));
    is_answered_ = !awaits_result && transfer::is_answered_item(kind);
    const bool is_item = awaits_result ? kind.ends_with(transfer::kItemCall) : is_answered_;
    if (is_item) item_ = std::move(kind);
  }

  void read_content(std::string_view type, EntryText* out) {
    is_of_chat_ = out->is_tool || type == "message";
    if (const auto role = find("role"); is_string(role)) out->role = label_of(text_of(role));
    const bool has_own = !first_not_null({"call_id"}).empty();
    const std::string_view call_name = has_own ? "call_id" : "tool_call_id";
    if (is_string(find(call_name))) read_call_id(call_name, out);
    if (out->is_tool) {
      read_item();
      out->label = label_of(type);
      type == "tool_call" ? read_call(out) : read_result(out);
      return;
    }
    out->speaker = speaker_of(out->role);
    out->label = out->role.empty() ? label_of(type) : out->role;
    const auto name = find("name");
    const bool is_named = is_of_chat_ && !out->role.empty() && is_string(name);
    if (is_named) out->name = label_of(text_of(name));
    if (out->name == out->role) out->name.clear();
    read_said(out);
  }

  json::Document& scratch_;
  bool is_canonical_;
  bool is_wrong_ = false;
  bool is_of_chat_ = false;   // by its type
  std::string item_;          // the kind of a call that is no message
  bool is_answered_ = false;  // such a call, with what came out
  std::string_view content_;
  std::vector<Member> members_;  // of the content
};

}  // namespace

bool is_blank(std::string_view text) { return text::behind_unseen(text) == text.size(); }

Result<EntryText> read_entry_text(std::string_view line, std::string_view type,
                                  json::Document& scratch) {
  if (EntryText text; LineReader(scratch, false).read(line, type, &text)) return text;
  VARVE_TRY(scratch.parse(line, entry::line_limits()));
  std::string canonical;
  json::append_canonical(scratch.root(), canonical);
  if (EntryText text; LineReader(scratch, true).read(canonical, type, &text)) return text;
  return Status(Code::kCorruption, "a stored line is not an entry");
}

}  // namespace varve::context
