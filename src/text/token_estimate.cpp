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

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  uint64_t count() {
    while (at_ < text_.size()) tokens_ += take_run();
    return tokens_;
  }

 private:
  [[nodiscard]] Kind kind(size_t at) const { return kKinds[static_cast<unsigned char>(text_[at])]; }

  // How many of one kind stand here, taken.
  uint64_t take(Kind wanted) {
    const size_t start = at_;
    while (at_ < text_.size() && kind(at_) == wanted) ++at_;
    return at_ - start;
  }

  uint64_t take_run() {
    switch (kind(at_)) {
      case Kind::kSpace: return take(Kind::kSpace) > 1 ? 1 : 0;
      case Kind::kControl: take(Kind::kControl); return 1;
      case Kind::kLower: return parts(take(Kind::kLower), kWordLetters);
      case Kind::kUpper: return take_capitals();
      case Kind::kDigit: return parts(take(Kind::kDigit), kDigits);
      case Kind::kPunctuation: return parts(take(Kind::kPunctuation), kPunctuation);
      default: return take_others();
    }
  }

  // The last capital before small letters belongs to their word.
  uint64_t take_capitals() {
    const uint64_t capitals = take(Kind::kUpper);
    if (at_ == text_.size() || kind(at_) != Kind::kLower) return parts(capitals, kCapitals);
    return parts(capitals - 1, kCapitals) + parts(1 + take(Kind::kLower), kWordLetters);
  }

  uint64_t take_others() {
    uint64_t halves = 0;
    for (; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x80) break;
      if (c >= 0xc0) halves += c < 0xe0 ? 2 : c < 0xf0 ? 3 : 6;
      if (kKinds[c] == Kind::kTail && halves == 0) halves = 1;  // no character begins here
    }
    return parts(halves, 2);
  }

  std::string_view text_;
  size_t at_ = 0;
  uint64_t tokens_ = 0;
};

}  // namespace

uint64_t estimate_tokens(std::string_view text) noexcept { return Reader(text).count(); }

}  // namespace varve::text
