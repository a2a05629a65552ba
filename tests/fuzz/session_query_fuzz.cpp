// Whatever the bytes are: as a query they are refused with words or answered, twice the same, with
// no more entries than there are; as a cursor they are refused or read back as themselves.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "log/memory_storage.h"
#include "query/cursor.h"
#include "query/parse.h"
#include "query/text_syntax.h"
#include "session/metadata/metadata.h"
#include "session/session.h"
#include "support/environment.h"

namespace {

using varve::session::Session;

constexpr std::string_view kEntries[] = {
    R"({"id":"a1","type":"finding","content":"a red fox in the snow","tags":["animal.fox"],)"
    R"("importance":0.9,"timestamp":"2026-01-01T00:00:00Z"})",
    R"({"id":"a2","type":"finding","content":{"what":"red roses","count":3},"tags":["plant"],)"
    R"("references":["a1"],"timestamp":"2026-01-02T00:00:00Z"})",
    R"({"id":"b1","type":"decision","content":"plant roses, not tulips","tags":["plant.rose"],)"
    R"("relations":{"because":["a2"]},"trace_id":"t1","timestamp":"2026-01-02T00:00:00Z"})",
    R"({"id":"b2","type":"conversation","content":{"role":"user","message":"snow again?"},)"
    R"("importance":0.1,"timestamp":"2025-12-01T00:00:00Z"})",
    R"({"id":"c1","type":"preference","content":["tea","not","coffee"],"tags":["pinned"]})",
    R"({"id":"c2","type":"finding","content":"gone","references":["b1"]})",
};
constexpr size_t kLiveCount = std::size(kEntries) - 1;

void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::abort();
}

// The session that all inputs are asked of; no query changes it.
class Asked {
 public:
  Asked() {
    varve::session::CreateOptions options;
    options.session_id = "s";
    memory_->documents.emplace("metadata.json",
                               varve::session::Metadata::make(options, clock_.now_ms()).encode());
    auto opened = Session::open("s", std::make_unique<varve::log::MemoryStorage>(memory_, clock_),
                                {&clock_, &random_, &events_, &counters_, {}});
    require(opened.ok());
    session_ = *std::move(opened);
    for (const auto entry : kEntries) require(session_->add(entry).ok());
    require(session_->remove("c2", "").ok());
  }
  Session& session() { return *session_; }

 private:
  varve::test::ManualClock clock_;
  varve::test::SeededRandom random_;
  varve::session::EventLog events_{clock_};
  varve::session::Counters counters_;
  std::shared_ptr<varve::log::MemorySession> memory_ =
      std::make_shared<varve::log::MemorySession>();
  std::shared_ptr<Session> session_;
};

void check_parsers(std::string_view text) {
  using varve::query::Scope;
  for (const Scope scope : {Scope::kSession, Scope::kStore, Scope::kSet}) {
    const auto parsed = varve::query::parse_query(text, scope);
    require(parsed.ok() || !parsed.status().message().empty());
    const auto any = varve::query::parse_any(text, scope);
    require(parsed.ok() == any.ok() && (!any.ok() || parsed->hash == any->hash));
  }
  const auto cursor = varve::query::parse_cursor(text);
  if (!cursor) return;
  const std::string once = varve::query::format_cursor(*cursor);
  const auto again = varve::query::parse_cursor(once);
  require(again.has_value() && varve::query::format_cursor(*again) == once);
}

void check_answers(Session& session, std::string_view text) {
  const auto found = session.query(text);
  const auto again = session.query(text);
  require(found.ok() == again.ok());
  if (!found.ok()) {
    require(found.code() == varve::Code::kInvalidArgument && !found.status().message().empty());
    return;
  }
  require(found->json() == again->json());
  require(found->results.size() <= kLiveCount);
  const auto counted = session.count(text);  // refused when it names an order or a page
  if (!counted.ok()) return;
  require(*counted <= kLiveCount && found->results.size() <= *counted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Asked asked;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_parsers(text);
  check_answers(asked.session(), text);
  return 0;
}
