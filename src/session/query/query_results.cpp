#include "session/query/query_results.h"

#include <bit>
#include <string_view>
#include <utility>

#include "entry/entry.h"
#include "json/canonical.h"

namespace varve::session {

namespace {

// What a result's JSON takes besides its contents: names and numbers. Longer ones cost one copy.
constexpr size_t kResultBytes = 160;

// Writes one member of successive results. A value equal to that of the result before is copied
// from there, as most decay factors are, and every match_quality without words.
class NumberColumn {
 public:
  explicit NumberColumn(std::string_view name) : name_(name) {}

  void append(double number, std::string* out) {
    const auto bits = std::bit_cast<uint64_t>(number);
    if (bits == bits_ && size_ > 0) {
      out->append(*out, begin_, size_);
      return;
    }
    bits_ = bits;
    begin_ = out->size();
    out->append(name_);
    json::append_double(number, *out);
    size_ = out->size() - begin_;
  }

 private:
  std::string_view name_;
  uint64_t bits_ = 0;
  size_t begin_ = 0;  // where the last value was written
  size_t size_ = 0;
};

class ResultWriter {
 public:
  ResultWriter(const QueryResults& results, std::string* out) : results_(results), out_(out) {}

  void append(const QueryResult& result) {
    out_->append("{\"entry\":").append(*result.line);
    append_session(results_.session_ids[result.session]);
    relevance_.append(result.relevance, out_);
    decay_factor_.append(result.decay_factor, out_);
    match_quality_.append(result.match_quality, out_);
    if (!result.explanation.empty()) out_->append(",\"explain\":").append(result.explanation);
    out_->push_back('}');
  }

 private:
  // Copied from the result before when it is the same session.
  void append_session(const std::string& session_id) {
    if (session_id_ == &session_id) {
      out_->append(*out_, session_begin_, session_size_);
      return;
    }
    session_id_ = &session_id;
    session_begin_ = out_->size();
    out_->append(",\"session_id\":");
    json::append_string(session_id, *out_);
    session_size_ = out_->size() - session_begin_;
  }

  const QueryResults& results_;
  std::string* out_;
  const std::string* session_id_ = nullptr;
  size_t session_begin_ = 0;  // where the last member was written
  size_t session_size_ = 0;
  NumberColumn relevance_{",\"relevance\":"};
  NumberColumn decay_factor_{",\"decay_factor\":"};
  NumberColumn match_quality_{",\"match_quality\":"};
};

}  // namespace

std::string QueryResult::id() const {
  if (!known_id.empty() || !line) return known_id;
  json::Document scratch;
  auto identity = entry::read_identity(*line, scratch);
  return identity.ok() ? std::move(identity->id) : std::string();
}

std::string QueryResults::json() const {
  size_t bytes = 256 + next.size() + explanation.size();
  for (const auto& result : results) {
    bytes += result.line.size() + session_ids[result.session].size() + result.explanation.size() +
             kResultBytes;
  }
  std::string out;
  out.reserve(bytes);
  out.append("{\"results\":[");
  ResultWriter writer(*this, &out);
  for (const auto& result : results) {
    if (&result != &results.front()) out.push_back(',');
    writer.append(result);
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
