// One bit of memory.jsonl or tombstones.jsonl is flipped: what is read is what was written, what
// cannot be read is reported, and nothing behind it is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "session/session.h"
#include "session_disk.h"
#include "support/build_kind.h"
#include "support/counted.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr size_t kFlippableBytes = test::kFastBuild ? size_t{8} << 10 : size_t{3} << 10;
// A bit of a line's end costs the two lines that it joined, and each may be one of a batch of 3.
constexpr size_t kLinesLostMax = 6;

// Every how many bits one is flipped: VARVE_FLIP_STEP, 1 for all.
size_t flip_step() {
  const char* text = std::getenv("VARVE_FLIP_STEP");
  const size_t step = text == nullptr ? 41 : std::strtoul(text, nullptr, 10);
  return std::max<size_t>(1, step);
}

struct Flippable {
  Flippable() {
    Host host;
    files = make_session_of(host, kFlippableBytes);
    for (const auto line : lines_of(*files.entries)) written.insert(std::string(line));
    SessionDisk disk(host);
    disk.put(files);
    exported = *exported_text(*disk.open(), "jsonl");
  }
  SessionFiles files;
  std::set<std::string> written;  // every line there ever was
  std::string exported;           // of what is not deleted
};

const Flippable& flippable() {
  static const Flippable kFlippable;
  return kFlippable;
}

struct FlipCase {
  const char* name;
  bool of_entries;
  bool with_index;
};
void PrintTo(const FlipCase& flip_case, std::ostream* out) { *out << flip_case.name; }

class LogFlips : public testing::TestWithParam<FlipCase> {
 protected:
  [[nodiscard]] static const std::string& log() {
    return GetParam().of_entries ? *flippable().files.entries : *flippable().files.tombstones;
  }

  [[nodiscard]] static SessionFiles flipped(size_t bit) {
    SessionFiles files = flippable().files;
    std::string bytes = log();
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    (GetParam().of_entries ? files.entries : files.tombstones) = bytes;
    if (!GetParam().with_index) files.snapshot.reset();
    return files;
  }

  static void check(size_t bit) {
    Host host;
    SessionDisk disk(host);
    disk.put(flipped(bit));
    auto session = disk.open();
    ASSERT_NE(session, nullptr);
    const auto verified = session->verify();
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    const auto before = exported_text(*session, "jsonl");
    ASSERT_TRUE(before.ok()) << before.status().message();
    EXPECT_FALSE(verified->get_bool("ok")) << "nothing was noticed";
    check_lines(*before);
    ASSERT_TRUE(session->add(entry_text("one_more")).ok());
    session = disk.open();
    const auto after = exported_text(*session, "jsonl");
    ASSERT_TRUE(after.ok()) << after.status().message();
    EXPECT_TRUE(after->starts_with(*before)) << "it shows something else after the next add";
    EXPECT_TRUE(session->get("one_more").ok());
  }

  static void check_lines(const std::string& text) {
    const auto shown = lines_of(text);
    for (const auto line : shown) {
      ASSERT_TRUE(flippable().written.contains(std::string(line))) << "nobody wrote: " << line;
    }
    const size_t shown_before = lines_of(flippable().exported).size();
    if (GetParam().of_entries) {
      EXPECT_LE(shown.size(), shown_before);
      EXPECT_GE(shown.size() + kLinesLostMax, shown_before);
    } else {
      // A damaged tombstone deletes nothing any more: one entry, or two, are back, and that is
      // told.
      EXPECT_GE(shown.size(), shown_before);
      EXPECT_LE(shown.size(), shown_before + 2);
    }
  }
};

TEST_P(LogFlips, AreNoticedAndCostOnlyTheirLines) {
  size_t flip_count = 0;
  for (size_t bit = 0; bit < log().size() * 8; bit += flip_step()) {
    check(bit);
    ASSERT_FALSE(HasFailure()) << "bit " << bit % 8 << " of byte " << bit / 8;
    flip_count += 1;
  }
  EXPECT_GT(flip_count, 0U);
  test::counted("flips", flip_count);
}

constexpr FlipCase kFlipCases[] = {{"Entries", true, true},
                                   {"EntriesWithoutIndex", true, false},
                                   {"Tombstones", false, true},
                                   {"TombstonesWithoutIndex", false, false}};
INSTANTIATE_TEST_SUITE_P(All, LogFlips, testing::ValuesIn(kFlipCases),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::session
