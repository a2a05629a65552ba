#include "context/build.h"

#include "context/candidates.h"
#include "context/request.h"
#include "context/window.h"
#include "json/canonical.h"
#include "session/retries.h"

namespace varve::context {

namespace {

constexpr size_t kEntryBytes = 160;

std::string_view source_name(Source source) {
  switch (source) {
    case Source::kPinned: return "pinned";
    case Source::kRecent: return "recent";
    default: return "recalled";
  }
}

std::string answer_of(const Content& content) {
  std::string out;
  out.reserve(content.text.size() + content.text.size() / 8 + content.entries.size() * kEntryBytes);
  out.append("{\"text\":");
  json::append_string(content.text, out);
  out.append(",\"items\":[");
  for (const Content::Entry& entry : content.entries) {
    if (&entry != &content.entries.front()) out.push_back(',');
    out.append("{\"id\":\"").append(entry.id).append("\",\"tokens\":");
    out.append(std::to_string(entry.tokens)).append(",\"rank\":");
    json::append_double(entry.rank, out);
    out.append(",\"source\":\"").append(source_name(entry.source)).append("\"}");
  }
  out.append("],\"token_count\":").append(std::to_string(content.token_count));
  out.append(",\"dropped\":").append(std::to_string(content.dropped_count));
  out.append(",\"truncated\":").append(content.dropped_count > 0 ? "true}" : "false}");
  return out;
}

Result<Content> build_once(session::Session& session, const Request& request,
                           const Counter& counter) {
  const int64_t now_ms = request.now_ms.value_or(session.now_ms());
  VARVE_TRY_ASSIGN(const auto candidates, find_candidates(session, request, now_ms));
  return fill_window(session, request, counter, now_ms, candidates);
}

}  // namespace

Result<std::string> build(session::Session& session, std::string_view text,
                          const Counter& counter) {
  VARVE_TRY_ASSIGN(const Request request, parse_request(text));
  VARVE_TRY_ASSIGN(const Content content,
                   session::while_replaced([&] { return build_once(session, request, counter); }));
  return answer_of(content);
}

}  // namespace varve::context
