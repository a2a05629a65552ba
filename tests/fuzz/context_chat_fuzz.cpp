// Whatever the bytes are, imported as a chat or as what they look like: importing them again adds
// nothing; no entry can pass for a mark of a context; and in `chat` a context keeps the rules of
// the interfaces that take it: roles that they know, no message that says nothing, each call
// followed by its results at once, each result behind its call.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "context/build.h"
#include "fuzz/memory_host.h"
#include "fuzz/require.h"
#include "json/tree.h"

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

void check_messages(std::string_view text) {
  std::set<std::string> open_calls;
  bool is_answering = false;
  const Tree messages = parsed(text);
  for (const Tree& message : messages.items()) {
    const std::string role = message.get_string("role");
    const std::string id = message.get_string("tool_call_id");
    if (role == "tool") {
      require(open_calls.erase(id) == 1);
      is_answering = true;
      continue;
    }
    require(role == "user" || role == "assistant");
    const bool is_call = !id.empty();
    require(is_call ? role == "assistant" : !message.get_string("content").empty());
    // The calls of one message stand together, and nobody speaks before all are answered.
    require(open_calls.empty() || (is_call && !is_answering));
    if (is_call) require(open_calls.insert(id).second);
    is_answering = false;
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  varve::fuzz::MemoryHost host;
  const auto session = host.open();
  require(session.ok());
  check_import(**session, {reinterpret_cast<const char*>(data), size});
  for (const auto request : {kNewest, kQuestion}) {
    for (const auto format : {"markdown", "plain", "json", "chat"}) {
      check_context(**session, request, format);
    }
  }
  return 0;
}
