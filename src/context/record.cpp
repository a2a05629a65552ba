#include "context/record.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/utf8.h"
#include "entry/entry.h"
#include "json/document.h"
#include "json/object_reader.h"
#include "json/tree.h"
#include "session/answered_calls.h"
#include "transfer/chat_text.h"
#include "transfer/convert.h"

namespace varve::context {

namespace {

using json::Tree;

struct Kind {
  std::string_view name;
  std::string_view type;
  std::string_view role;  // empty: it is no message
};

constexpr std::array<Kind, 8> kKinds = {{
    {"user_message", "message", "user"},
    {"assistant_message", "message", "assistant"},
    {"tool_call", "tool_call", ""},
    {"tool_result", "tool_result", ""},
    {"observation", "observation", ""},
    {"event", "event", ""},
    {"summary", "summary", ""},
    {"document", "document", ""},
}};

// Under which the arguments of a call may come: a context shows the first that is there.
constexpr std::array<std::string_view, 4> kArguments = {"arguments", "args", "input", "message"};

Status invalid(std::string_view member, std::string message) {
  return {Code::kInvalidArgument, std::move(message), {.member = std::string(member)}};
}

class Recorder {
 public:
  Recorder(session::Session& session, const Kind& kind) : session_(session), kind_(kind) {}

  Result<std::string> record(std::string_view payload) {
    json::Document document;
    VARVE_TRY(json::with_example(document.parse(payload), payload,
                                 R"(a payload looks like {"content":"hello"} or "hello")"));
    const json::Value root = document.root();
    if (root.is_object()) {
      take_members(root);
    } else if (root.is_string()) {
      content_.set("content", Tree::from(root));
    } else {
      return json::invalid_at(payload, root, "must be an object, or the content as a string");
    }
    VARVE_TRY(make_content());
    entry_.set("type", Tree::string(type()));
    if (!kind_.role.empty()) VARVE_TRY(session::refer_to_calls(session_, &entry_));
    auto id = session_.add(entry_.canonical());
    if (!id.ok()) return json::without_offset(id.status());
    return id;
  }

 private:
  // A message that calls tools or has results among its parts is what an import makes of it.
  [[nodiscard]] std::string_view type() const {
    return kind_.role.empty() ? kind_.type : transfer::type_of_message(content_);
  }

  // Those that an entry may be given are its own, unless they are null, as many programs write what
  // is not there; all others are its content.
  void take_members(json::Value payload) {
    payload.for_each_member([&](std::string_view name, json::Value value) {
      const bool is_entrys = entry::is_given_member(name);
      if (is_entrys && value.kind() == json::Kind::kNull) return true;
      (is_entrys ? entry_ : content_).set(name, Tree::from(value));
      return true;
    });
  }

  Status make_content() {
    if (kind_.type == "tool_call") {
      VARVE_TRY(read_call_id());
      if (content_.get("name") == nullptr) {
        return invalid("name", "'name' is missing; give the tool's name");
      }
      VARVE_TRY(check_name());
      const bool is_given =
          std::any_of(kArguments.begin(), kArguments.end(),
                      [this](std::string_view name) { return content_.get(name) != nullptr; });
      if (!is_given) content_.set("arguments", Tree::object());
    } else if (kind_.type == "tool_result") {
      VARVE_TRY(read_call_id());
      const bool has_name = content_.get("name") != nullptr;
      if (!has_name && content_.get("call_id") == nullptr) {
        return invalid(
            "name",
            "'name' is missing; a result needs the tool's name or the 'call_id' of its call");
      }
      if (has_name) VARVE_TRY(check_name());
      VARVE_TRY(refer_to_call());
    } else if (!kind_.role.empty()) {
      VARVE_TRY(make_message());
    } else if (const Tree* only = content_.get("content");
               only != nullptr && content_.members().size() == 1) {
      entry_.set("content", *only);
      return {};
    } else if (content_.members().empty()) {
      return invalid("content", "'content' is missing; give what is to be remembered");
    }
    entry_.set("content", content_);
    return {};
  }

  // {"content": TEXT} becomes {"role", "message": TEXT}, as conversations have it. Null is what
  // clients send for no text.
  Status make_message() {
    const Tree* role = content_.get("role");
    if (role != nullptr && role->text() != kind_.role) {
      const std::string given =
          role->is_string() ? "'" + shown(role->text()) + "'" : shown(role->canonical());
      return invalid("role", "'role' is " + given + ", but " + std::string(kind_.name) +
                                 " sets it to '" + std::string(kind_.role) + "'; leave it out");
    }
    if (content_.get("content") == nullptr && content_.get("message") == nullptr &&
        content_.get("text") == nullptr) {
      if (!transfer::says_beside_content(content_)) {
        return invalid("content", "'content' is missing; give what was said");
      }
      content_.set("content", Tree());
    }
    const Tree* text = content_.get("content");
    const bool is_text = text != nullptr && (text->is_string() || text->is_null());
    if (is_text && content_.get("message") == nullptr) {
      Tree message = text->is_null() ? Tree::string("") : *text;
      content_.erase("content");
      content_.set("message", std::move(message));
    }
    content_.set("role", Tree::string(kind_.role));
    return {};
  }

  // Text, since only that finds a call again; null or "" is what clients send for none.
  Status read_call_id() {
    const Tree* call_id = content_.get("call_id");
    if (call_id == nullptr) return {};
    if (!call_id->is_string() && !call_id->is_null())
      return invalid("call_id", "'call_id' must be a string, or null for none");
    if (call_id->text().empty()) content_.erase("call_id");
    return {};
  }

  // Called when there is a name.
  Status check_name() const {
    const Tree& name = *content_.get("name");
    if (name.is_string() && !name.text().empty()) return {};
    return invalid("name", "'name' must be the tool's name, a string that is not empty");
  }

  // As the first of its references, unless they name it already, and no other call before it: a
  // result belongs to the first of them that is a call.
  Status refer_to_call() {
    VARVE_TRY_ASSIGN(const std::string id, find_call());
    if (id.empty()) return {};
    Tree references = Tree::array();
    references.push(Tree::string(id));
    if (const Tree* given = entry_.get("references")) {
      if (!given->is_array()) return {};  // add() says what is wrong with it
      const std::span<const Tree> items = given->items();
      const auto is_call = [&](const Tree& item) { return item.is_string() && item.text() == id; };
      const auto place = std::find_if(items.begin(), items.end(), is_call);
      if (place != items.end()) {
        VARVE_TRY_ASSIGN(const bool is_behind, names_call({items.begin(), place}));
        if (!is_behind) return {};
      }
      for (const Tree& item : items) {
        if (!is_call(item)) references.push(item);
      }
    }
    entry_.set("references", std::move(references));
    return {};
  }

  // Empty when there is none.
  Result<std::string> find_call() {
    if (const Tree* call_id = content_.get("call_id")) return call_of_id(*call_id, {"call_id"});
    if (const Tree* given = entry_.get("references")) {
      VARVE_TRY_ASSIGN(const bool is_named, names_call(given->items()));
      if (is_named) return std::string();
    }
    // As chats have it. What a call is called is only a guess, and wrong for one of another id.
    const bool has_id = !content_.get_string("tool_call_id").empty();
    if (has_id) {
      const Tree& call_id = *content_.get("tool_call_id");
      VARVE_TRY_ASSIGN(std::string id, call_of_id(call_id, {"tool_call_id", "call_id"}));
      if (!id.empty()) return id;
    }
    VARVE_TRY_ASSIGN(const auto calls,
                     calls_with("name", *content_.get("name"), session::kOpenCallsMax));
    for (const auto& call : calls.results) {
      VARVE_TRY_ASSIGN(const Tree line, Tree::parse(*call.line, entry::line_limits()));
      const Tree& content = *line.get("content");
      if (has_id && !call_ids_of(content).empty()) continue;
      VARVE_TRY_ASSIGN(const bool is_answered, has_result(call, content));
      if (!is_answered) return call.id();
    }
    return std::string();
  }

  // By the names under which it may have one, those that are not empty.
  static std::vector<std::pair<std::string_view, std::string>> call_ids_of(const Tree& content) {
    std::vector<std::pair<std::string_view, std::string>> ids;
    for (const std::string_view name : {"call_id", "tool_call_id"}) {
      std::string id = content.get_string(name);
      if (!id.empty()) ids.emplace_back(name, std::move(id));
    }
    return ids;
  }

  Result<session::QueryResults> calls_with(std::string_view member, const Tree& value, int limit) {
    return newest("tool_call", object_of("content", object_of(member, value)), limit);
  }

  Result<std::string> last_call_with(std::string_view member, const Tree& value) {
    VARVE_TRY_ASSIGN(const auto calls, calls_with(member, value, 1));
    return calls.results.empty() ? std::string() : calls.results.front().id();
  }

  // The last call that has the id in one of these members, the first of which counts most, or else
  // in a message.
  Result<std::string> call_of_id(const Tree& call_id,
                                 std::initializer_list<std::string_view> members) {
    for (const std::string_view member : members) {
      VARVE_TRY_ASSIGN(std::string id, last_call_with(member, call_id));
      if (!id.empty()) return id;
    }
    return call_of_message(call_id);
  }

  // Of a chat as an API has it: its messages have the ids of their calls in lists.
  Result<std::string> call_of_message(const Tree& call_id) {
    Tree result = object_of("content", object_of("call_id", call_id));
    result.set("type", Tree::string("tool_result"));
    VARVE_TRY_ASSIGN(const auto ids, session::calls_answered_by(session_, result));
    return ids.empty() ? std::string() : ids.front();
  }

  // Whether some of the references that came with the result name a call that is there.
  Result<bool> names_call(std::span<const Tree> references) {
    Tree ids = Tree::array();
    for (const Tree& item : references) {  // add() says what is wrong with the others
      if (item.is_string() && is_valid_id(item.text())) ids.push(item);
    }
    if (ids.items().empty()) return false;
    VARVE_TRY_ASSIGN(const auto calls, newest("tool_call", object_of("ids", std::move(ids)), 1));
    return !calls.results.empty();
  }

  Result<bool> has_result(const session::QueryResult& call, const Tree& content) {
    const Tree id = Tree::string(call.id());
    Tree ids = Tree::array();
    ids.push(id);
    Tree condition = object_of("references", std::move(ids));
    condition.set("relation", Tree::string("references"));
    VARVE_TRY_ASSIGN(const auto beside,
                     newest("tool_result", std::move(condition), session::kOpenCallsMax));
    for (const auto& result : beside.results) {  // it may refer to some of them itself
      VARVE_TRY_ASSIGN(const bool is_its, refers_to(result, id));
      if (is_its) return true;
    }
    return has_result_of_call_id(call, content);
  }

  // By its references: a relation to a call does not make it that call's result.
  static Result<bool> refers_to(const session::QueryResult& result, const Tree& id) {
    VARVE_TRY_ASSIGN(const Tree line, Tree::parse(*result.line, entry::line_limits()));
    const Tree* references = line.get("references");
    return references != nullptr &&
           std::any_of(references->items().begin(), references->items().end(),
                       [&](const Tree& item) { return item.text() == id.text(); });
  }

  // Results that were not recorded here may have the call's id alone.
  Result<bool> has_result_of_call_id(const session::QueryResult& call, const Tree& content) {
    for (const auto& [name, call_id] : call_ids_of(content)) {
      Tree condition = object_of("content", object_of(name, Tree::string(call_id)));
      VARVE_TRY_ASSIGN(const auto named, newest("tool_result", std::move(condition), 1));
      // An older one answers an earlier call of that id.
      const bool is_its =
          !named.results.empty() && named.results.front().timestamp_ms >= call.timestamp_ms;
      if (is_its) return true;
    }
    return false;
  }

  static Tree object_of(std::string_view name, Tree value) {
    Tree object = Tree::object();
    object.set(name, std::move(value));
    return object;
  }

  // `query` has the conditions.
  Result<session::QueryResults> newest(std::string_view type, Tree query, int limit) {
    Tree types = Tree::array();
    types.push(Tree::string(type));
    query.set("types", std::move(types));
    query.set("sort_by", Tree::string("time"));
    query.set("limit", Tree::integer(limit));
    return session_.query(query.canonical());
  }

  session::Session& session_;
  const Kind& kind_;
  Tree entry_ = Tree::object();
  Tree content_ = Tree::object();
};

}  // namespace

Result<std::string> record(session::Session& session, std::string_view kind,
                           std::string_view payload) {
  const auto* known =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) { return one.name == kind; });
  if (known != kKinds.end()) return Recorder(session, *known).record(payload);
  std::string names;
  for (const Kind& one : kKinds) names.append(names.empty() ? "" : ", ").append(one.name);
  return invalid("kind", "'" + shown(kind) + "' is not a kind; the kinds are " + names);
}

}  // namespace varve::context
