// Whatever index.bin is, with hashes that are right: no line is shown that is not its entry's, no
// deleted entry is alive, a purge and a compaction keep every line of a live entry; what the index
// answers is what an index made anew answers, or verify says that it is wrong, or it is found out
// while it answers; and after a rebuild all is as it should be.
//
// An input is a letter, which says what is done with the session, and index.bin; a letter alone
// stands for the right one. The log is always the same. The mutator changes columns, lists and
// figures one by one, and makes the hashes right.
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "entry/entry.h"
#include "memory_host.h"
#include "require.h"
#include "session/query/query_results.h"
#include "session/upkeep/compaction.h"
#include "unit/index/snapshot_editor.h"

namespace {

using varve::Code;
using varve::fuzz::MemoryHost;
using varve::fuzz::require;
using varve::index::SnapshotEditor;
using varve::session::Session;

enum Mode : char { kAnswers = 'a', kCompaction = 'c', kPurge = 'p', kManyRows = 'm' };
constexpr std::string_view kModes = "acpm";

constexpr int kManyRowsCount = 130;  // more than a block of a list
constexpr int64_t kHourMs = 3'600'000;

constexpr std::string_view kEntries[] = {
    R"({"id":"a1","type":"finding","content":"a red fox","tags":["animal.fox"],"importance":0.9})",
    R"({"id":"a2","type":"finding","content":{"what":"red roses","n":3},"references":["a1"]})",
    R"({"id":"b1","type":"note","content":"roses, not tulips","relations":{"of":["a2"]}})",
    R"({"id":"b2","type":"message","content":"snow?","trace_id":"t","importance":0.1})",
    R"({"id":"c1","type":"note","content":["tea"],"tags":["pinned"],"ttl_seconds":60})",
    R"({"id":"c2","type":"finding","content":"red","references":["b1"]})",
};
constexpr std::string_view kDeleted = "c2";
constexpr std::string_view kExpired = "c1";

// The first ones read long lists, and are all that is asked of many rows.
constexpr size_t kListQueryCount = 4;
constexpr std::string_view kQueries[] = {
    R"({"text":"red roses"})",
    R"({"text":"how many roses are there?","sort_by":"best"})",
    R"({"text":"+r*e*","sort_by":"time"})",
    R"({"text":"\"red fox\""})",
    R"({"tags":{"include":["animal"]}})",
    R"({"sort_by":"time","limit":2})",
    R"({"sort_by":"importance","order":"asc"})",
    R"({"types":["finding"],"text":"red -fox"})",
    R"({"content":{"n":3},"explain":true})",
    R"({"trace_id":"t","min_importance":0.05})",
    R"({"references":["a1"],"max_depth":3})",
};

// What a session with a right index answers, and the files that it is made of.
class World {
 public:
  explicit World(int extra_count) {
    auto session = *host_.open();
    for (const auto entry : kEntries) require(session->add(entry).ok());
    for (int i = 0; i < extra_count; ++i) {
      const std::string id = "m" + std::to_string(i);
      require(session->add(R"({"type":"note","content":"red tea","id":")" + id + "\"}").ok());
      if (i < 2) ids.push_back(id);
    }
    query_count = extra_count == 0 ? std::size(kQueries) : kListQueryCount;
    require(session->remove(kDeleted, "").ok());
    for (const std::string_view id : {"a1", "a2", "b1", "b2", "c1", "c2", "none"}) {
      ids.emplace_back(id);
    }
    (void)session->query(kQueries[0]);  // the words
    session->close();
    snapshot = host_.files().documents["index.bin"];
    entries = host_.files().entries;
    tombstones = host_.files().tombstones;
    split_lines();
    MemoryHost fresh;
    const auto right = open_with("", fresh);
    for (const auto query : kQueries) require(right->query(query).ok());
    answers = answers_of(*right);
  }

  std::shared_ptr<Session> open_with(std::string_view index, MemoryHost& host) const {
    host.files().entries = entries;
    host.files().tombstones = tombstones;
    if (!index.empty()) host.files().documents.emplace("index.bin", index);
    host.clock.advance_ms(kHourMs);
    auto opened = host.open();
    require(opened.ok());
    return *std::move(opened);
  }

  // All that can be asked, and on the way: only lines of the log that may be shown.
  std::vector<std::string> answers_of(Session& session) const {
    std::vector<std::string> shown;
    for (const auto& id : ids) {
      const auto line = session.get(id);
      require(line.ok() || line.code() == Code::kNotFound || line.code() == Code::kCorruption);
      if (line.ok()) require_line(id, *line);
      shown.push_back(line.ok() ? *line : line.status().message());
    }
    for (size_t i = 0; i < query_count; ++i) {
      const auto found = session.query(kQueries[i]);
      if (found.ok()) {
        for (const auto& result : found->results) require_line(result.id(), *result.line);
      }
      shown.push_back(found.ok() ? found->json() : found.status().message());
    }
    const auto tags = session.tags();
    shown.push_back(tags.ok() ? tags->canonical() : tags.status().message());
    return shown;
  }

  std::vector<std::string> ids;
  std::vector<std::string> answers;
  size_t query_count = 0;
  std::string snapshot;
  std::string entries;
  std::string tombstones;
  std::string live;  // the log of a right compaction

 private:
  void split_lines() {
    varve::json::Document scratch;
    varve::entry::EntryFacts facts;
    for (size_t at = 0; at < entries.size();) {
      const size_t end = entries.find('\n', at);
      const std::string line = entries.substr(at, end - at);
      require(varve::entry::read_line(line, scratch, &facts).ok());
      lines_[facts.id] = line;
      if (facts.id != kDeleted && facts.id != kExpired) live += line + "\n";
      at = end + 1;
    }
  }
  void require_line(std::string_view id, std::string_view line) const {
    const auto right = lines_.find(id);
    require(right != lines_.end() && right->second == line && id != kDeleted);
  }

  MemoryHost host_;
  std::map<std::string, std::string, std::less<>> lines_;
};

const World& world_of(char mode) {
  static const World kFew(0);
  static const World kMany(kManyRowsCount);
  return mode == kManyRows ? kMany : kFew;
}

// `is_thorough`: also what is there after a rebuild, which takes as long as all the rest.
void check_answers(const World& world, Session& session, MemoryHost& host, bool is_thorough) {
  const bool was_refused = host.counters.index_loads.load() == 0;
  if (was_refused && !is_thorough) return require(session.get("a1").ok());
  const uint64_t rebuilds = host.counters.index_rebuilds.load();
  const auto first = world.answers_of(session);
  const bool is_same = first == world.answers;
  if (is_same && !is_thorough) return;
  const auto report = session.verify(true);
  require(report.ok());
  const bool is_right = report->get_bool("ok");
  const bool was_found_out = host.counters.index_rebuilds.load() > rebuilds;
  require(is_same || (!was_refused && (!is_right || was_found_out)));
  if (is_right && !is_same) require(world.answers_of(session) == world.answers);
  if (!is_thorough) return;
  require(session.rebuild_index().ok());
  require(world.answers_of(session) == world.answers);
  require(session.verify(true)->get_bool("ok"));
}

// Whole lines, in their order, with others between.
bool has_lines_of(std::string_view log, std::string_view wanted) {
  while (!wanted.empty() && !log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n') + 1);
    log.remove_prefix(line.empty() ? log.size() : line.size());
    if (wanted.starts_with(line)) wanted.remove_prefix(line.size());
  }
  return wanted.empty();
}

void check_replacement(const World& world, Session& session, MemoryHost& host, bool purges) {
  varve::session::CompactionOptions options;
  if (purges) options.cause = varve::session::CompactionCause::kPurge;
  require(session.compact(options).ok());
  const std::string& left = host.files().entries;
  // By a wrong index a compaction may leave a line that is not alive, and nothing that was not in
  // the log; a purge goes by the log.
  const bool is_sound = has_lines_of(left, world.live) && has_lines_of(world.entries, left);
  require(left == world.live || (!purges && is_sound));
  bool hides = false;
  const uint64_t rebuilds = host.counters.index_rebuilds.load();
  for (const std::string_view id : {"a1", "a2", "b1", "b2"}) hides |= !session.get(id).ok();
  require(!session.get(kDeleted).ok());
  // What a wrong index hides it goes on hiding, and verify says so, unless the next get has found
  // out that it is wrong; after a rebuild it is there.
  const bool was_found_out = host.counters.index_rebuilds.load() > rebuilds;
  if (hides) require(!purges && (was_found_out || !session.verify(true)->get_bool("ok")));
  require(session.rebuild_index().ok());
  for (const std::string_view id : {"a1", "a2", "b1", "b2"}) require(session.get(id).ok());
  require(session.get(kDeleted).code() == Code::kNotFound);
  require(session.verify(true)->get_bool("ok"));
}

// --- the mutator ---------------------------------------------------------------------------------

using Random = std::mt19937;

std::optional<SnapshotEditor> take_apart(std::string_view bytes) {
  if (bytes.size() < SnapshotEditor::kHeaderBytes) return std::nullopt;
  for (size_t i = 0; i < SnapshotEditor::kSectionCount; ++i) {
    uint64_t offset = 0;
    std::memcpy(&offset, bytes.data() + SnapshotEditor::place_of(i) * 8, 8);
    if (offset > bytes.size()) return std::nullopt;
  }
  return SnapshotEditor(bytes);
}

// Hashes of the ids, and the table that finds them, as if they had been written so.
void mend_ids(SnapshotEditor& parts) {
  const std::string& ids = parts.sections[SnapshotEditor::kIds];
  const uint64_t rows = parts.word(SnapshotEditor::kRowCount);
  const size_t ends_bytes = parts.sections[SnapshotEditor::kIdEnds].size();
  const size_t slots = parts.slot_count();
  if (slots == 0 || (slots & (slots - 1)) != 0 || rows == 0 || rows >= slots ||
      ends_bytes % rows != 0 || ends_bytes / rows > 8 ||
      parts.sections[SnapshotEditor::kIdHashes].size() != rows * 4) {
    return;
  }
  parts.sections[SnapshotEditor::kTable].assign(slots * parts.slot_bytes(), '\0');
  uint64_t begin = 0;
  for (size_t row = 0; row < rows; ++row) {
    const auto end = parts.get<uint64_t>(SnapshotEditor::kIdEnds, row);
    if (end < begin || end > ids.size()) return;
    const auto hash =
        static_cast<uint32_t>(varve::hash64(parts.id_start() + ids.substr(begin, end - begin)));
    parts.set(SnapshotEditor::kIdHashes, row, hash);
    size_t slot = hash & (slots - 1);
    while (parts.slot(slot) != 0) slot = (slot + 1) & (slots - 1);
    parts.set_slot(slot, static_cast<uint32_t>(row + 1));
    begin = end;
  }
}

uint64_t awkward(Random& random, uint64_t near) {
  const std::array<uint64_t, 10> values = {0,
                                           1,
                                           UINT64_MAX,
                                           INT64_MAX,
                                           UINT32_MAX,
                                           near + 1,
                                           near - 1,
                                           uint64_t{1} << (random() % 64),
                                           near ^ (uint64_t{1} << (random() % 64)),
                                           random() % 256};
  return values[random() % values.size()];
}

constexpr std::array<size_t, 12> kWidths = {8, 4, 8, 8, 8, 8, 8, 8, 8, 2, 1, 4};  // of the columns

// One value of a column becomes another, or that of another row.
void change_row(SnapshotEditor& parts, Random& random) {
  const size_t column = random() % kWidths.size();
  std::string& bytes = parts.sections[column];
  const size_t width = kWidths[column];
  const size_t rows = bytes.size() / width;
  if (rows == 0) return;
  char* at = bytes.data() + random() % rows * width;
  uint64_t value = 0;
  std::memcpy(&value, random() % 2 == 0 ? at : bytes.data() + random() % rows * width, width);
  if (random() % 2 == 0) value = awkward(random, value);
  std::memcpy(at, &value, width);
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace {

void change_section(SnapshotEditor& parts, Random& random) {
  constexpr size_t kGrowthMax = 32;
  std::string& bytes = parts.sections[random() % SnapshotEditor::kSectionCount];
  const size_t size = bytes.size();
  bytes.resize(size + kGrowthMax);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
}

void change_figure(SnapshotEditor& parts, Random& random) {
  const size_t word = SnapshotEditor::kRowCount +
                      random() % (SnapshotEditor::kDirectory - SnapshotEditor::kRowCount);
  parts.set_word(word, awkward(random, parts.word(word)));
}

// Lists of facets and of words more often than the rest: most of the code reads those.
void change_lists(SnapshotEditor& parts, Random& random) {
  std::string& bytes =
      parts.sections[random() % 2 == 0 ? SnapshotEditor::kFacets : SnapshotEditor::kTextTerms];
  if (bytes.empty()) return;
  LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size(), bytes.size());
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned int seed) {
  Random random(seed);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  char mode = input.empty() ? char{kAnswers} : input.front();
  if (!input.empty()) input.remove_prefix(1);
  std::optional<SnapshotEditor> parts = take_apart(input);
  if (!parts || random() % 64 == 0) {  // from the start again
    if (kModes.find(mode) == kModes.npos || parts) mode = kModes[random() % kModes.size()];
    parts = SnapshotEditor(world_of(mode).snapshot);
  }
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    switch (random() % 4) {
      case 0: change_row(*parts, random); break;
      case 1: change_section(*parts, random); break;
      case 2: change_lists(*parts, random); break;
      default: change_figure(*parts, random); break;
    }
  }
  if (random() % 2 == 0) mend_ids(*parts);
  const std::string made = mode + parts->assembled();
  if (made.size() > size_max) return size;
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const char mode = input.front();
  const World& world = world_of(mode);
  MemoryHost host;
  const bool is_right = input.size() == 1;
  const auto session = world.open_with(is_right ? world.snapshot : input.substr(1), host);
  if (is_right) require(host.counters.index_loads.load() == 1);
  if (mode == kCompaction || mode == kPurge) {
    check_replacement(world, *session, host, mode == kPurge);
  } else {
    check_answers(world, *session, host, data[size - 1] % 8 == 0);
  }
  return 0;
}
