#include "text/token_estimate.h"

#include <array>

namespace varve::text {

namespace {

enum class Kind : uint8_t { kSpace, kControl, kLower, kUpper, kDigit, kPunctuation, kOther, kTail };

constexpr uint64_t kWordLetters = 7;
constexpr uint64_t kCapitals = 3;
constexpr uint64_t kDigits = 3;
constexpr uint64_t kPunctuation = 2;

constexpr Kind kind_of(unsigned char c) {
  if (c == ' ') return Kind::kSpace;
  if (c < 0x20 || c == 0x7f) return Kind::kControl;
  if (c >= 'a' && c <= 'z') return Kind::kLower;
  if (c >= 'A' && c <= 'Z') return Kind::kUpper;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  if (c < 0x80) return Kind::kPunctuation;
  return c < 0xc0 ? Kind::kTail : Kind::kOther;
}

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  for (size_t c = 0; c < kinds.size(); ++c) kinds[c] = kind_of(static_cast<unsigned char>(c));
  return kinds;
}

constexpr std::array<Kind, 256> kKinds = make_kinds();

constexpr uint64_t parts(uint64_t count, uint64_t each) { return (count + each - 1) / each; }

Kind kind_at(const char* at) { return kKinds[static_cast<unsigned char>(*at)]; }

// Behind the bytes of one kind from `at` on.
inline const char* skip(Kind kind, const char* at, const char* end) {
  while (at != end && kind_at(at) == kind) ++at;
  return at;
}

inline uint64_t length(const char* start, const char* end) {
  return static_cast<uint64_t>(end - start);
}

// The last capital before small letters belongs to their word.
inline uint64_t count_capitals(const char*& at, const char* end) {
  const char* start = at;
  at = skip(Kind::kUpper, at, end);
  const uint64_t capitals = length(start, at);
  if (at == end || kind_at(at) != Kind::kLower) return parts(capitals, kCapitals);
  start = at - 1;
  at = skip(Kind::kLower, at, end);
  return parts(capitals - 1, kCapitals) + parts(length(start, at), kWordLetters);
}

inline uint64_t count_others(const char*& at, const char* end) {
  uint64_t halves = 0;
  for (; at != end; ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if (c < 0x80) break;
    if (c >= 0xc0) halves += c < 0xe0 ? 2 : c < 0xf0 ? 3 : 6;
    if (kKinds[c] == Kind::kTail && halves == 0) halves = 1;  // no character begins here
  }
  return parts(halves, 2);
}

// Of the run at `at`, which is taken.
inline uint64_t count_run(const char*& at, const char* end) {
  const Kind kind = kind_at(at);
  if (kind == Kind::kUpper) return count_capitals(at, end);
  if (kind == Kind::kOther || kind == Kind::kTail) return count_others(at, end);
  const char* start = at;
  at = skip(kind, at + 1, end);
  switch (kind) {
    case Kind::kLower: return parts(length(start, at), kWordLetters);
    case Kind::kDigit: return parts(length(start, at), kDigits);
    case Kind::kPunctuation: return parts(length(start, at), kPunctuation);
    case Kind::kSpace: return length(start, at) > 1 ? 1 : 0;
    default: return 1;
  }
}

}  // namespace

uint64_t estimate_tokens(std::string_view text) noexcept {
  uint64_t tokens = 0;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) tokens += count_run(at, end);
  return tokens;
}

}  // namespace varve::text
