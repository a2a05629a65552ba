#include "session/query_results.h"

#include "json/canonical.h"

namespace varve::session {

namespace {

// Of a result's JSON, besides what it shows: names and numbers. More of them cost one copy.
constexpr size_t kResultBytes = 160;

void append_result(const QueryResult& result, std::string* out) {
  out->append("{\"entry\":").append(*result.line).append(",\"session_id\":");
  json::append_string(result.session_id, *out);
  out->append(",\"relevance\":");
  json::append_double(result.relevance, *out);
  out->append(",\"decay_factor\":");
  json::append_double(result.decay_factor, *out);
  out->append(",\"match_quality\":");
  json::append_double(result.match_quality, *out);
  if (!result.explanation.empty()) out->append(",\"explain\":").append(result.explanation);
  out->push_back('}');
}

}  // namespace

std::string QueryResults::json() const {
  size_t bytes = 256 + next.size() + explanation.size();
  for (const auto& result : results) {
    bytes +=
        result.line->size() + result.session_id.size() + result.explanation.size() + kResultBytes;
  }
  std::string out;
  out.reserve(bytes);
  out.append("{\"results\":[");
  for (const auto& result : results) {
    if (&result != &results.front()) out.push_back(',');
    append_result(result, &out);
  }
  out.append("],\"next\":");
  if (next.empty()) {
    out.append("null");
  } else {
    json::append_string(next, out);
  }
  if (!explanation.empty()) out.append(",\"explain\":").append(explanation);
  out.push_back('}');
  return out;
}

}  // namespace varve::session
