// Whatever the bytes are, imported as a chat or as what they look like, or recorded message by
// message: importing them again adds nothing; no entry can pass for a mark of a context; and in
// `chat` a context keeps the rules of the interfaces that take it: roles that they know, no message
// that says nothing, each call followed by its results at once, each result behind its call.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "context/build.h"
#include "context/record.h"
#include "fuzz/memory_host.h"
#include "fuzz/require.h"
#include "json/tree.h"
#include "memory/message.h"
#include "session/answered_calls.h"

namespace {

using varve::fuzz::require;
using varve::json::Tree;

constexpr std::string_view kNewest = R"({"retrieve":[{"recency":1000}],"budget":)"
                                     R"({"max_tokens":1000000},"format":")";
constexpr std::string_view kQuestion = R"({"question":"sun","budget":{"max_tokens":200},)"
                                       R"("format":")";

Tree parsed(std::string_view text) {
  auto tree = Tree::parse(text, varve::json::Limits());
  require(tree.ok());
  return *std::move(tree);
}

uint64_t count(const Tree& report, std::string_view name) {
  return static_cast<uint64_t>(report.get_double(name, -1));
}

void check_import(varve::session::Session& session, std::string_view text) {
  const auto first = session.import_text(text);
  require(first.ok());
  const auto again = session.import_text(text);
  require(again.ok() && count(*again, "added") == 0);
  require(count(*again, "existing") == count(*first, "added") + count(*first, "existing"));
  require(count(*again, "refused_total") == count(*first, "refused_total"));
}

// As varve_context_record does, or where it knows no such role varve_memory_record. Messages that
// are refused are left out.
void record(varve::session::Session& session, const Tree& said) {
  const std::string kind = said.get_string("role") + "_message";
  if (kind == "user_message" || kind == "assistant_message") {
    const auto added = varve::context::record(session, kind, said.canonical());
    require(added.ok() || added.code() != varve::Code::kIo);
    return;
  }
  auto message = varve::memory::read_message(said.canonical());
  if (!message.ok()) return;
  Tree entry = varve::memory::entry_of_message(*std::move(message));
  require(varve::session::refer_to_calls(session, &entry).ok());
  const auto added = session.add(entry.canonical());
  require(added.ok() || added.code() != varve::Code::kIo);
}

void record_messages(varve::session::Session& session, std::string_view text) {
  const auto chat = Tree::parse(text, varve::json::Limits());
  if (!chat.ok()) return;
  const Tree* messages = chat->is_object() ? chat->get("messages") : &*chat;
  if (messages == nullptr || !messages->is_array()) return;
  for (const Tree& message : messages->items()) record(session, message);
}

// Between the first line of marks and the last, no line begins with one.
void check_block(std::string_view text, char mark) {
  const size_t marks_at = text.find('\n') + 1;
  const std::string marks(text.substr(marks_at, text.find('\n', marks_at) + 1 - marks_at));
  require(text.ends_with("\n" + marks) && marks.find_first_not_of(mark) == marks.size() - 1);
  text.remove_suffix(marks.size());
  for (size_t at = marks_at + marks.size(); at < text.size(); at = text.find('\n', at) + 1) {
    require(text[at] != mark);
  }
}

// Opens the calls of a message: each has an id of its own, and the name of a tool.
void open_calls_of(const Tree& message, std::set<std::string>* open_calls) {
  for (const Tree& call : message.get("tool_calls")->items()) {
    require(call.get_string("type") == "function" && !call.get_string("id").empty());
    require(call.get_string("id").size() <= 40);
    require(open_calls->insert(call.get_string("id")).second);
    const Tree* function = call.get("function");
    require(function != nullptr && !function->get_string("name").empty());
    require(parsed(function->get_string("arguments")).is_object());
  }
}

void check_messages(std::string_view text) {
  std::set<std::string> open_calls;
  const Tree messages = parsed(text);
  for (const Tree& message : messages.items()) {
    const std::string role = message.get_string("role");
    if (role == "tool") {
      require(open_calls.erase(message.get_string("tool_call_id")) == 1);
      continue;
    }
    require(open_calls.empty());  // nobody speaks before all are answered
    require(role == "user" || role == "assistant");
    const bool is_call = message.get("tool_calls") != nullptr;
    require(is_call ? role == "assistant" : !message.get_string("content").empty());
    if (is_call) open_calls_of(message, &open_calls);
    require(is_call != open_calls.empty());
  }
  require(open_calls.empty());
}

void check_context(varve::session::Session& session, std::string_view request,
                   std::string_view format) {
  static varve::context::CountCache counted;
  const varve::context::Counter counter(nullptr, nullptr, 0, &counted);
  const std::string asked = std::string(request).append(format).append("\"}");
  const auto built = varve::context::build(session, nullptr, asked, counter);
  require(built.ok());
  const Tree answer = parsed(*built);
  const std::string text = answer.get_string("text");
  require(text.empty() == answer.get("items")->items().empty());
  if (text.empty()) return;
  if (format == "markdown") check_block(text, '`');
  if (format == "plain") check_block(text, '=');
  if (format == "json") require(!parsed(text).get("memory")->items().empty());
  if (format == "chat") check_messages(text);
}

void check_contexts(varve::session::Session& session) {
  for (const auto request : {kNewest, kQuestion}) {
    for (const auto format : {"markdown", "plain", "json", "chat"}) {
      check_context(session, request, format);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto tell : {check_import, record_messages}) {
    varve::fuzz::MemoryHost host;
    const auto session = host.open();
    require(session.ok());
    tell(**session, text);
    check_contexts(**session);
  }
  return 0;
}
