// Whatever vectors.bin is: entries are read as if it were not there, a query with a vector is
// answered, twice the same, or refused with words, and after a repair vectors can be given again.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "log/memory_storage.h"
#include "session/metadata/metadata.h"
#include "session/query/query_results.h"
#include "session/session.h"
#include "session/upkeep/compaction.h"
#include "support/environment.h"

namespace {

using varve::Code;
using varve::session::Session;

constexpr size_t kEntryCount = 3;
constexpr std::string_view kQuery = R"({"vector":[1,0.5,-2]})";

void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::abort();
}

class Asked {
 public:
  explicit Asked(std::string_view vectors) {
    varve::session::CreateOptions options;
    options.session_id = "s";
    memory_->documents.emplace("metadata.json",
                               varve::session::Metadata::make(options, clock_.now_ms()).encode());
    memory_->vectors = vectors;
    open();
    for (const char* id : {"a", "b", "c", "gone"}) {
      require(
          session_->add(R"({"id":")" + std::string(id) + R"(","type":"finding","content":"tea"})")
              .ok());
    }
    require(session_->remove("gone", "").ok());
  }
  void open() {
    session_.reset();
    auto opened = Session::open("s", std::make_unique<varve::log::MemoryStorage>(memory_, clock_),
                                {&clock_, &random_, &events_, &counters_, {}});
    require(opened.ok());
    session_ = *std::move(opened);
  }

  void check() {
    require(session_->get("a").ok());
    require(*session_->count(R"({"text":"tea"})") == kEntryCount);
    const std::string answer = ask();
    require(ask() == answer);
    require(session_->verify().ok());
    require(session_->stats().ok());
    require(session_->compact({}).ok());
    require(ask() == answer);
    open();
    require(ask() == answer);
  }

  // Of a file that is too new nothing is touched.
  void check_repair() {
    const std::string before = memory_->vectors;
    require(session_->repair(false).ok());
    const auto report = session_->verify();
    require(report.ok() && report->get("vectors")->get_int64("damaged") == 0);
    const std::vector<float> values{1, 0.5F, -2};
    const auto put = session_->put_vector("a", values);
    if (put.code() == Code::kFormatVersion) return require(memory_->vectors == before);
    require(put.ok() || put.code() == Code::kInvalidArgument);  // of another dimension
    if (put.ok()) require(session_->query(kQuery)->results.front().match_quality > 0.999999);
    varve::session::CompactionOptions purge;
    purge.cause = varve::session::CompactionCause::kPurge;
    require(session_->compact(purge).ok());
  }

 private:
  std::string ask() {
    const auto found = session_->query(kQuery);
    if (!found.ok()) {
      require(found.code() == Code::kInvalidArgument || found.code() == Code::kCorruption ||
              found.code() == Code::kFormatVersion);
      return found.status().message();
    }
    require(found->results.size() <= kEntryCount);
    for (const auto& result : found->results) require(std::isfinite(result.match_quality));
    return found->json();
  }

  varve::test::ManualClock clock_;
  varve::test::SeededRandom random_;
  varve::session::EventLog events_{clock_};
  varve::session::Counters counters_;
  std::shared_ptr<varve::log::MemorySession> memory_ =
      std::make_shared<varve::log::MemorySession>();
  std::shared_ptr<Session> session_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Asked asked(std::string_view(reinterpret_cast<const char*>(data), size));
  asked.check();
  asked.check_repair();
  return 0;
}
