// A power loss may leave any part of a log, with anything behind it: memory.jsonl and
// tombstones.jsonl are cut at every byte, then written to and opened again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "session/session.h"
#include "session_disk.h"
#include "support/counted.h"
#include "support/exported_text.h"
#include "support/scale.h"

namespace varve::session {
namespace {

const size_t kSessionBytes = test::scaled(size_t{64} << 10, 20, 8);
constexpr size_t kPartCount = 8;
constexpr uint64_t kAroundLineEnd = 3;
constexpr uint64_t kPageBytes = 4096;

// Every how many bytes the logs are cut: VARVE_CUT_STEP, 1 for all.
uint64_t every_how_many() {
  const char* text = std::getenv("VARVE_CUT_STEP");
  return text == nullptr ? 1 : std::max<uint64_t>(1, std::strtoull(text, nullptr, 10));
}

// kPage: NULs up to the next page, as a file system that allocates by pages leaves them.
enum class Behind { kNothing, kNuls, kPage, kGarbage };

std::string name_of(Behind behind) {
  switch (behind) {
    case Behind::kNothing: return "Nothing";
    case Behind::kNuls: return "Nuls";
    case Behind::kPage: return "Page";
    case Behind::kGarbage: break;
  }
  return "Garbage";
}

// What the cut leaves besides the logs.
enum class Beside {
  kAll,   // what close() saved: metadata, an index of the whole log, the lock file's state
  kNone,  // metadata of a session that never closed
  kOld,   // index and metadata as they were saved some writes before
};

struct Line {
  std::string_view text;  // with its line end
  uint64_t end = 0;
  std::string id;
  entry::Batch batch;
};

std::vector<Line> read_lines(std::string_view log) {
  std::vector<Line> lines;
  json::Document scratch;
  entry::EntryFacts facts;
  entry::Tombstone tombstone;
  uint64_t end = 0;
  for (const auto text : lines_of(log)) {
    const auto bare = text.substr(0, text.size() - 1);
    end += text.size();
    if (entry::read_line(bare, scratch, &facts).ok()) {
      lines.push_back({text, end, facts.id, facts.batch});
    } else {
      EXPECT_TRUE(entry::read_tombstone(bare, scratch, &tombstone).ok());
      lines.push_back({text, end, tombstone.id, {}});
    }
  }
  return lines;
}

// The session that is cut, and what was in it.
struct Whole {
  Whole() {
    Host host;
    files = make_session_of(host, kSessionBytes, [&](Session& session, const SessionDisk& disk) {
      ASSERT_TRUE(session.sync().ok());
      older.push_back(disk.files());
    });
    entries = read_lines(*files.entries);
    tombstones = read_lines(*files.tombstones);
    CreateOptions options;
    options.session_id = kSessionId;
    fresh_metadata = Metadata::make(options, test::kStartMs).encode();
  }

  // The newest of `older` that knows less than is left of the log.
  [[nodiscard]] const SessionFiles* before(uint64_t cut) const {
    const SessionFiles* found = nullptr;
    for (const auto& saved : older) {
      if (saved.entries->size() < cut) found = &saved;
    }
    return found;
  }

  SessionFiles files;
  std::vector<SessionFiles> older;
  std::string fresh_metadata;
  std::vector<Line> entries;
  std::vector<Line> tombstones;
};

const Whole& whole() {
  static const Whole kWhole;
  return kWhole;
}

std::string behind_cut(Behind behind, uint64_t cut, uint64_t missing) {
  if (behind == Behind::kNothing) return "";
  if (behind == Behind::kPage) return std::string(kPageBytes - cut % kPageBytes, '\0');
  std::mt19937_64 generator(cut + 1);
  // A lost write leaves up to its own size; sometimes nothing but a page of it.
  const uint64_t size = std::min<uint64_t>(missing, 1 + generator() % 700);
  std::string bytes(size, '\0');
  if (behind == Behind::kNuls) return bytes;
  for (char& byte : bytes) byte = static_cast<char>(generator());
  // The one byte that would finish the line that was cut.
  if (!bytes.empty() && bytes.front() == '\n') bytes.front() = '!';
  return bytes;
}

// How many lines of a log that was cut are committed.
size_t lines_before(const std::vector<Line>& lines, uint64_t cut, Beside beside) {
  const auto after = std::upper_bound(lines.begin(), lines.end(), cut,
                                      [](uint64_t at, const Line& line) { return at < line.end; });
  size_t count = static_cast<size_t>(after - lines.begin());
  if (beside == Beside::kAll || count == 0) return count;
  // Nobody says that the batch at the end was durable: it is all there, or it is not.
  const entry::Batch last = lines[count - 1].batch;
  if (last.count > 1 && last.index + 1 < last.count) count -= last.index + 1;
  return count;
}

std::string text_of(const std::vector<Line>& lines, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += lines[i].text;
  return text;
}

struct CutCase {
  log::Stream stream;
  Behind behind;
  Beside beside;
  size_t part;
};

std::string name_of(const CutCase& c) {
  return std::string(c.stream == log::Stream::kEntries ? "Memory" : "Tombstones") + "Then" +
         name_of(c.behind) +
         (c.beside == Beside::kAll   ? "Closed"
          : c.beside == Beside::kOld ? "Killed"
                                     : "Never") +
         "Part" + std::to_string(c.part);
}
void PrintTo(const CutCase& c, std::ostream* out) { *out << name_of(c); }

class Cut : public testing::TestWithParam<CutCase> {
 protected:
  [[nodiscard]] bool cuts_entries() const { return GetParam().stream == log::Stream::kEntries; }
  [[nodiscard]] const std::vector<Line>& cut_lines() const {
    return cuts_entries() ? whole().entries : whole().tombstones;
  }
  [[nodiscard]] const std::string& cut_text() const {
    return cuts_entries() ? *whole().files.entries : *whole().files.tombstones;
  }

  // Expectations for one cut, checked from writing to reopening.
  void check(uint64_t cut);
  void check_reports(Session& session, uint64_t cut, bool torn, size_t kept);
  void check_entries(Session& session, size_t entries_kept, size_t tombstones_kept,
                     std::string_view written, bool all);
  void check_quarantine(const SessionDisk& disk, uint64_t from, std::string_view torn);

  [[nodiscard]] SessionFiles files_after(std::string_view damaged, uint64_t cut) const {
    SessionFiles files = whole().files;
    (cuts_entries() ? files.entries : files.tombstones) = damaged;
    if (GetParam().beside == Beside::kAll) return files;
    const SessionFiles* old = GetParam().beside == Beside::kOld ? whole().before(cut) : nullptr;
    files.metadata = old == nullptr ? whole().fresh_metadata : old->metadata;
    files.snapshot = old == nullptr ? std::nullopt : old->snapshot;
    files.lock.reset();
    return files;
  }

  [[nodiscard]] size_t live_count(size_t entry_count, size_t tombstone_count) const {
    size_t count = entry_count;
    for (size_t i = 0; i < tombstone_count; ++i) {
      const auto end = whole().entries.begin() + static_cast<ptrdiff_t>(entry_count);
      const auto is_deleted = [&](const Line& line) { return line.id == whole().tombstones[i].id; };
      count -= std::any_of(whole().entries.begin(), end, is_deleted);
    }
    return count;
  }

  [[nodiscard]] std::string live_lines(size_t entry_count, size_t tombstone_count) const {
    std::set<std::string_view> deleted;
    for (size_t i = 0; i < tombstone_count; ++i) deleted.insert(whole().tombstones[i].id);
    std::string text;
    for (size_t i = 0; i < entry_count; ++i) {
      const Line& line = whole().entries[i];
      if (!deleted.contains(line.id)) text += line.text;
    }
    return text;
  }
};

void Cut::check_reports(Session& session, uint64_t cut, bool torn, size_t kept) {
  const auto report = session.verify();
  ASSERT_TRUE(report.ok()) << report.status().message();
  const bool lost = GetParam().beside == Beside::kAll && kept < cut_lines().size();
  EXPECT_EQ(report->get_bool("ok"), !torn && !lost) << report->canonical();
  const std::string problems = member(*report, "problems").canonical();
  EXPECT_EQ(problems.find("torn tail") != std::string::npos, torn) << problems;
  const char* loss = cuts_entries() ? "the log ends too early" : " missing that w";
  EXPECT_EQ(problems.find(loss) != std::string::npos, lost) << problems;
  const auto stats = session.stats();
  ASSERT_TRUE(stats.ok());
  const uint64_t missing = lost ? cut_lines().size() - kept : 0;
  EXPECT_EQ(member(*stats, "corruption").get_int64("rollback"), static_cast<int64_t>(missing))
      << "cut at " << cut;
}

void Cut::check_quarantine(const SessionDisk& disk, uint64_t from, std::string_view torn) {
  const auto records = disk.quarantine();
  if (torn.empty()) {
    EXPECT_TRUE(records.empty());
    return;
  }
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].file, cuts_entries() ? "memory.jsonl" : "tombstones.jsonl");
  EXPECT_EQ(records[0].offset, static_cast<int64_t>(from));
  EXPECT_EQ(records[0].bytes, torn);
  EXPECT_EQ(records[0].reason.substr(0, 10), "torn tail:");
}

// Every entry is read when `all`; else they are counted.
void Cut::check_entries(Session& session, size_t entries_kept, size_t tombstones_kept,
                        std::string_view written, bool all) {
  if (all) {
    const auto exported = exported_text(session, "jsonl");
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    EXPECT_EQ(*exported, live_lines(entries_kept, tombstones_kept) + std::string(written));
    return;
  }
  const auto stats = session.stats();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->get_int64("entries"),
            static_cast<int64_t>(live_count(entries_kept, tombstones_kept) + !written.empty()));
}

void Cut::check(uint64_t cut) {
  const std::string damaged =
      cut_text().substr(0, cut) + behind_cut(GetParam().behind, cut, cut_text().size() - cut);
  const size_t kept = lines_before(cut_lines(), cut, GetParam().beside);
  const std::string whole_part = text_of(cut_lines(), kept);
  const std::string torn = damaged.substr(whole_part.size());
  const size_t entries_kept = cuts_entries() ? kept : whole().entries.size();
  const size_t tombstones_kept = cuts_entries() ? whole().tombstones.size() : kept;

  Host host;
  SessionDisk disk(host);
  disk.put(files_after(damaged, cut));
  auto session = disk.open();
  ASSERT_NE(session, nullptr);
  const uint64_t next_end =
      kept < cut_lines().size() ? cut_lines()[kept].end : cut_text().size() + kAroundLineEnd + 1;
  const bool near_line_end =
      cut - whole_part.size() < kAroundLineEnd || next_end - cut < kAroundLineEnd;
  if (near_line_end || cut % 251 == 0) {
    check_reports(*session, cut, !torn.empty(), kept);
  }
  const auto added = session->add(entry_text("after", "written after the cut"));
  ASSERT_TRUE(added.ok()) << added.status().message();
  // A deletion writes the other log; the entry is the one that was just added.
  if (!cuts_entries()) {
    ASSERT_TRUE(session->remove("after", "again").ok());
  }
  session->close();
  session.reset();

  // Nothing fused, nothing lost: what was whole, and what was written, byte for byte.
  const std::string name(cuts_entries() ? log::kEntriesFile : log::kTombstonesFile);
  const std::string now = disk.bytes(name);
  ASSERT_EQ(now.substr(0, whole_part.size()), whole_part);
  const std::string written = now.substr(whole_part.size());
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
  EXPECT_EQ(written.back(), '\n');
  check_quarantine(disk, whole_part.size(), torn);

  session = disk.open();
  ASSERT_NE(session, nullptr);
  check_entries(*session, entries_kept, tombstones_kept, cuts_entries() ? written : "",
                near_line_end || cut / kPartCount % 4 == 0);
  const auto read = session->get("after");
  ASSERT_EQ(read.ok(), cuts_entries());
  if (read.ok()) {
    EXPECT_EQ(*read + "\n", written);
  }
}

TEST_P(Cut, KeepsWholeLinesAndTakesTheNextOne) {
  size_t cut_count = 0;
  const uint64_t step = kPartCount * every_how_many();
  for (uint64_t cut = GetParam().part; cut <= cut_text().size(); cut += step) {
    check(cut);
    cut_count += 1;
    if (HasFailure()) FAIL() << name_of(GetParam().behind) << " after a cut at " << cut;
  }
  test::counted("cuts", cut_count);
}

// Everything behind a cut with everything beside it.
std::vector<CutCase> every_case() {
  std::vector<CutCase> cases;
  for (const auto stream : {log::Stream::kEntries, log::Stream::kTombstones}) {
    for (const auto behind : {Behind::kNothing, Behind::kNuls, Behind::kPage, Behind::kGarbage}) {
      for (const auto beside : {Beside::kAll, Beside::kNone, Beside::kOld}) {
        for (size_t part = 0; part < kPartCount; ++part) {
          cases.push_back({stream, behind, beside, part});
        }
      }
    }
  }
  return cases;
}

// All of it in campaigns; with every change, a part of each.
std::vector<CutCase> all_cases() {
  if (test::scaled(100, 0, 0) >= 100) return every_case();
  std::vector<CutCase> cases;
  for (const auto stream : {log::Stream::kEntries, log::Stream::kTombstones}) {
    for (const auto behind : {Behind::kNothing, Behind::kNuls, Behind::kGarbage}) {
      for (size_t part = 0; part < kPartCount; ++part) {
        const auto beside = behind != Behind::kNothing ? Beside::kOld
                            : part % 2 == 0            ? Beside::kAll
                                                       : Beside::kNone;
        cases.push_back({stream, behind, beside, part});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(EveryByte, Cut, testing::ValuesIn(all_cases()),
                         [](const auto& given) { return name_of(given.param); });

}  // namespace
}  // namespace varve::session
