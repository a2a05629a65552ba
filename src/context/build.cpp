#include "context/build.h"

#include "context/candidates.h"
#include "context/request.h"
#include "context/sessions.h"
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

struct Built {
  Content content;
  std::vector<std::string> session_ids;  // by number; empty of one session alone
};

std::string answer_of(const Built& built) {
  const Content& content = built.content;
  std::string out;
  out.reserve(content.text.size() + content.text.size() / 8 + content.entries.size() * kEntryBytes);
  out.append("{\"text\":");
  json::append_string(content.text, out);
  out.append(",\"items\":[");
  for (const Content::Entry& entry : content.entries) {
    if (&entry != &content.entries.front()) out.push_back(',');
    out.append("{\"id\":\"").append(entry.id);
    if (!built.session_ids.empty()) {
      out.append("\",\"session_id\":\"").append(built.session_ids[entry.session]);
    }
    out.append("\",\"tokens\":");
    out.append(std::to_string(entry.tokens)).append(",\"rank\":");
    json::append_double(entry.rank, out);
    out.append(",\"source\":\"").append(source_name(entry.source)).append("\"}");
  }
  out.append("],\"token_count\":").append(std::to_string(content.token_count));
  out.append(",\"dropped\":").append(std::to_string(content.dropped_count));
  out.append(",\"truncated\":").append(content.dropped_count > 0 ? "true}" : "false}");
  return out;
}

Result<Built> build_once(session::Session& session, store::Store* store, const Request& request,
                         const Counter& counter) {
  const int64_t now_ms = request.now_ms.value_or(session.now_ms());
  Sessions sessions(session, store);
  VARVE_TRY_ASSIGN(const auto candidates, find_candidates(sessions, request, now_ms));
  Built built;
  VARVE_TRY_ASSIGN(built.content, fill_window(sessions, request, counter, now_ms, candidates));
  if (request.is_across) built.session_ids = sessions.ids();
  return built;
}

}  // namespace

Result<std::string> build(session::Session& session, store::Store* store, std::string_view text,
                          const Counter& counter) {
  VARVE_TRY_ASSIGN(const Request request, parse_request(text));
  VARVE_TRY_ASSIGN(const Built built, session::while_replaced([&] {
                     return build_once(session, store, request, counter);
                   }));
  return answer_of(built);
}

}  // namespace varve::context
