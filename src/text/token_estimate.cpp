#include "text/token_estimate.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace varve::text {

namespace {

enum class Kind : uint8_t {
  kSpace,
  kControl,
  kLower,
  kUpper,
  kDigit,
  kPunctuation,
  kLead2,  // of a character of so many bytes
  kLead3,
  kLead4,
  kTail,
  kCount
};

// What is behind: a run of one kind, and how far it is. A part of a run is counted when it begins,
// so that the count is right wherever the text ends.
enum State : uint8_t {
  kStart,
  kLower1,  // letters of the last part
  kLower2,
  kLower7 = kLower1 + 6,
  kUpper1,
  kUpper3 = kUpper1 + 2,
  kDigit1,
  kDigit3 = kDigit1 + 2,
  kPunctuation1,
  kPunctuation2,
  kOneSpace,
  kSpaces,
  kControls,
  kEvenHalves,  // of tokens, of a run of other characters
  kOddHalves,
  kStateCount
};

constexpr Kind kind_of(unsigned char c) {
  if (c == ' ') return Kind::kSpace;
  if (c < 0x20 || c == 0x7f) return Kind::kControl;
  if (c >= 'a' && c <= 'z') return Kind::kLower;
  if (c >= 'A' && c <= 'Z') return Kind::kUpper;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  if (c < 0x80) return Kind::kPunctuation;
  if (c < 0xc0) return Kind::kTail;
  return c < 0xe0 ? Kind::kLead2 : c < 0xf0 ? Kind::kLead3 : Kind::kLead4;
}

struct Step {
  uint8_t state = kStart;
  uint8_t tokens = 0;
};

// One more in a run whose parts are counted from `first` to `last`.
constexpr Step one_more(uint8_t state, uint8_t first, uint8_t last) {
  const bool goes_on = state >= first && state < last;
  return goes_on ? Step{static_cast<uint8_t>(state + 1), 0} : Step{first, 1};
}

// The last capital before small letters belongs to their word.
constexpr Step lower_after(uint8_t state) {
  if (state == kUpper1) return {kLower2, 0};
  if (state > kUpper1 && state <= kUpper3) return {kLower2, 1};
  return one_more(state, kLower1, kLower7);
}

constexpr Step other_after(uint8_t state, uint8_t halves) {
  const bool is_odd = state == kOddHalves;
  const auto tokens = static_cast<uint8_t>(is_odd ? halves / 2 : (halves + 1) / 2);
  return {is_odd == (halves % 2 == 1) ? kEvenHalves : kOddHalves, tokens};
}

constexpr Step step_from(uint8_t state, Kind kind) {
  switch (kind) {
    case Kind::kSpace:
      if (state == kOneSpace) return {kSpaces, 1};
      return {state == kSpaces ? kSpaces : kOneSpace, 0};
    case Kind::kControl: return {kControls, static_cast<uint8_t>(state == kControls ? 0 : 1)};
    case Kind::kLower: return lower_after(state);
    case Kind::kUpper: return one_more(state, kUpper1, kUpper3);
    case Kind::kDigit: return one_more(state, kDigit1, kDigit3);
    case Kind::kPunctuation: return one_more(state, kPunctuation1, kPunctuation2);
    case Kind::kLead2: return other_after(state, 2);
    case Kind::kLead3: return other_after(state, 3);
    case Kind::kLead4: return other_after(state, 6);
    default:
      if (state == kEvenHalves || state == kOddHalves) return {state, 0};
      return {kOddHalves, 1};  // no character begins here
  }
}

// A step as one number: where the row of its state is in the table, and its tokens above.
constexpr size_t kRowSize = 16;  // kinds, and room
constexpr uint16_t kRowBits = 0x0ff0 | 0x1000;
constexpr int kTokensShift = 13;
static_assert(static_cast<size_t>(Kind::kCount) <= kRowSize);

using Steps = std::array<uint16_t, kStateCount * kRowSize>;

constexpr Steps make_steps() {
  Steps steps{};
  for (uint8_t state = 0; state < kStateCount; ++state) {
    for (size_t kind = 0; kind < static_cast<size_t>(Kind::kCount); ++kind) {
      const Step step = step_from(state, static_cast<Kind>(kind));
      steps[state * kRowSize + kind] =
          static_cast<uint16_t>(step.state * kRowSize + (size_t{step.tokens} << kTokensShift));
    }
  }
  return steps;
}

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  for (size_t c = 0; c < kinds.size(); ++c) kinds[c] = kind_of(static_cast<unsigned char>(c));
  return kinds;
}

constexpr Steps kSteps = make_steps();
constexpr std::array<Kind, 256> kKinds = make_kinds();

// A part of a text, walked by a table instead of branches: where a run ends is what a processor
// guesses worst.
struct Walk {
  const char* at;
  const char* end;
  uint32_t step;
  uint64_t tokens = 0;

  void go() {
    const auto kind = static_cast<uint32_t>(kKinds[static_cast<uint8_t>(*at++)]);
    step = kSteps[(step & kRowBits) | kind];
    tokens += step >> kTokensShift;
  }
  [[nodiscard]] std::ptrdiff_t left() const { return end - at; }
};

// Behind a line end the state is known, so parts of a text are walked side by side: each step
// waits for the one before it, and not for those of the other parts.
using Walks = std::array<Walk, 4>;

// Where a line begins, at `from` or behind it; the end when none does.
const char* line_begin(std::string_view text, size_t from) {
  const size_t line_end = text.find('\n', from);
  return text.data() + (line_end == std::string_view::npos ? text.size() : line_end + 1);
}

Walks parts_of(std::string_view text) {
  Walks walks{};
  const char* at = text.data();
  for (size_t i = 0; i < walks.size(); ++i) {
    const char* const end = line_begin(text, text.size() * (i + 1) / walks.size());
    walks[i] = {at, end, static_cast<uint32_t>((i == 0 ? kStart : kControls) * kRowSize)};
    at = end;
  }
  return walks;
}

}  // namespace

bool counts_alone(std::string_view part) noexcept {
  return part.empty() || kind_of(static_cast<unsigned char>(part.front())) != Kind::kControl;
}

uint64_t estimate_tokens(std::string_view text) noexcept {
  Walks walks = parts_of(text);
  const auto is_shorter = [](const Walk& a, const Walk& b) { return a.left() < b.left(); };
  for (auto all = std::min_element(walks.begin(), walks.end(), is_shorter)->left(); all > 0;
       --all) {
    for (Walk& walk : walks) walk.go();
  }
  uint64_t tokens = 0;
  for (Walk& walk : walks) {
    while (walk.left() > 0) walk.go();
    tokens += walk.tokens;
  }
  return tokens;
}

}  // namespace varve::text
