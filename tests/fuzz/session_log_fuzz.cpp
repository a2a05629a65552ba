// Whatever memory.jsonl and tombstones.jsonl hold: the session opens, and compaction, repair and
// purge keep the entries that are alive; afterwards verify finds nothing, and there is nothing left
// to do.
//
// An input is the two files with a line "--" between. One that begins with '#' (left out) has its
// lines sealed first, so that changed ones are not only damage: a fuzzer computes no checksum.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "entry/entry.h"
#include "entry/reseal.h"
#include "log/memory_storage.h"
#include "session/metadata/metadata.h"
#include "session/session.h"
#include "session/upkeep/compaction.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace {

using varve::session::CompactionCause;
using varve::session::Session;

constexpr std::string_view kBetween = "\n--\n";

void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::abort();
}

struct Host {
  varve::test::ManualClock clock;
  varve::test::SeededRandom random;
  varve::session::EventLog events{clock};
  varve::session::Counters counters;
};

std::string sealed(std::string_view log, Host& host) {
  varve::IdGenerator ids(host.clock, host.random);
  varve::json::Document scratch;
  std::string lines;
  uint64_t seq = 0;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    varve::entry::EntryFacts facts;
    if (!varve::entry::read_line(line, scratch, &facts).ok()) {
      lines += std::string(line) + "\n";
      continue;
    }
    const auto made = varve::entry::upgrade_line(line, "s", ++seq, ids, scratch);
    require(made.ok());
    lines += *made;
  }
  return lines;
}

// What is alive, as ids and contents: all that a migration leaves as it was.
std::vector<std::string> alive(Session& session) {
  const auto text = exported_text(session, "jsonl");
  require(text.ok());
  std::vector<std::string> shown;
  for (size_t at = 0; at < text->size();) {
    const size_t end = text->find('\n', at);
    const auto entry = varve::json::Tree::parse(std::string_view(*text).substr(at, end - at));
    require(entry.ok() && entry->get("content") != nullptr);
    shown.push_back(entry->get_string("id") + " " + entry->get("content")->canonical());
    at = end + 1;
  }
  const auto count = session.count("{}");
  require(count.ok() && *count == shown.size());
  return shown;
}

// Null for a log with a line of a newer version, which nobody may touch.
std::shared_ptr<Session> open(const std::shared_ptr<varve::log::MemorySession>& memory,
                              Host& host) {
  auto opened = Session::open("s", std::make_unique<varve::log::MemoryStorage>(memory, host.clock),
                              {&host.clock, &host.random, &host.events, &host.counters, {}});
  if (opened.code() == varve::Code::kFormatVersion) return nullptr;
  require(opened.ok());
  return *std::move(opened);
}

bool compact(Session& session, CompactionCause cause) {
  varve::session::CompactionOptions options;
  options.cause = cause;
  const auto report = session.compact(options);
  require(report.ok());
  return report->get_bool("changed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool seals = input.starts_with('#');
  if (seals) input.remove_prefix(1);
  Host host;
  const size_t between = input.find(kBetween);
  const auto memory = std::make_shared<varve::log::MemorySession>();
  memory->entries = input.substr(0, between == input.npos ? between : between + 1);
  if (seals) memory->entries = sealed(memory->entries, host);
  if (between != input.npos) memory->tombstones = input.substr(between + kBetween.size());
  varve::session::CreateOptions options;
  options.session_id = "s";
  memory->documents.emplace("metadata.json",
                            varve::session::Metadata::make(options, host.clock.now_ms()).encode());

  auto session = open(memory, host);
  if (session == nullptr) return 0;
  const std::vector<std::string> before = alive(*session);
  compact(*session, CompactionCause::kAsked);
  require(alive(*session) == before);
  require(!compact(*session, CompactionCause::kAsked));
  require(session->repair(false).ok());  // compaction leaves damaged tombstones alone
  const auto report = session->verify(true);
  require(report.ok() && report->get_bool("ok"));
  require(report->get_int64("entries") == static_cast<int64_t>(before.size()));
  compact(*session, CompactionCause::kPurge);
  require(alive(*session) == before);
  session = open(memory, host);
  require(session != nullptr && alive(*session) == before);
  require(session->verify()->get_bool("ok"));
  return 0;
}
