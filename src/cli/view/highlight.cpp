#include "cli/view/highlight.h"

#include <wctype.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/view/folded_text.h"

namespace varve::cli {
namespace {

constexpr size_t kBeginningMin = 3;  // [characters]
constexpr size_t kEndingMax = 3;     // of words of other languages, where it is not known
constexpr size_t kNone = static_cast<size_t>(-1);
constexpr size_t kSegmentsMax = 8;       // of a path that are marked together inside a longer one
constexpr size_t kWordLettersMax = 128;  // what the index has of a longer word, if that is ASCII

constexpr std::array<std::u32string_view, 20> kEndings = {
    U"",  U"s",   U"es", U"ed",  U"e", U"er", U"ers", U"ing", U"ings", U"y",
    U"i", U"ies", U"ly", U"ion", U"n", U"en", U"d",   U"r",   U"ied",  U"ions"};

using Range = std::pair<char32_t, char32_t>;

// Scripts without spaces between words: Thai and Lao, Burmese, hangul, Khmer, the CJK radicals to
// the Yi syllables, and ideographs beyond.
constexpr std::array kUnspacedRanges = {
    Range{0xE00, 0xEFF},   Range{0x1000, 0x109F}, Range{0x1100, 0x11FF},
    Range{0x1780, 0x17FF}, Range{0x2E80, 0xA4CF}, Range{0xA960, 0xA97F},
    Range{0xAC00, 0xD7FF}, Range{0xF900, 0xFAFF}, Range{0x20000, 0x3FFFF}};

bool is_unspaced(char32_t c) {
  return std::any_of(kUnspacedRanges.begin(), kUnspacedRanges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.second; });
}

bool has_unspaced(std::u32string_view text) {
  return std::any_of(text.begin(), text.end(), is_unspaced);
}

// Where words have no ends, stars around one say nothing. Of a text with more than stars.
std::u32string without_outer_stars(const std::u32string& text) {
  const size_t begin = text.find_first_not_of(U'*');
  return text.substr(begin, text.find_last_not_of(U'*') + 1 - begin);
}

// Everything that is neither space nor punctuation: marks of scripts such as Devanagari count as
// letters.
bool is_word_character(char32_t c) {
  if (c < 0x80) return ::iswalnum(static_cast<wint_t>(c)) != 0;
  return ::iswspace(static_cast<wint_t>(c)) == 0 && ::iswpunct(static_cast<wint_t>(c)) == 0;
}

// Letters and marks of a word; iswpunct counts the marks of some scripts as punctuation.
bool is_letter(char32_t c) {
  const bool is_combining = c >= 0x80 && ::wcwidth(static_cast<wchar_t>(c)) == 0;
  return is_combining || is_word_character(c);
}

// Whether `rest` is an ending that a word may have after `beginning`.
bool is_ending(std::u32string_view beginning, std::u32string_view rest) {
  // "planning": the consonant was doubled.
  if (rest.size() > 2 && rest.front() == beginning.back()) rest.remove_prefix(1);
  // "noticed", "maker": only after an e; otherwise "card" would match "care".
  if ((rest == U"d" || rest == U"r") && beginning.back() != U'e') return false;
  return std::find(kEndings.begin(), kEndings.end(), rest) != kEndings.end();
}

// "ids": of so short a word the index takes the s only behind a vowel, and not of "us" or "ass".
bool is_short_plural(std::u32string_view word, std::u32string_view rest) {
  constexpr std::u32string_view kVowels = U"aeiouy";
  return word.size() == 2 && rest == U"s" && kVowels.find(word[0]) != std::u32string_view::npos &&
         word[1] != U'u' && word[1] != U's';
}

bool are_related(std::u32string_view a, std::u32string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = static_cast<size_t>(in_a - a.begin());
  if (common == a.size() && common == b.size()) return true;
  const std::u32string_view beginning = a.substr(0, common);
  const std::u32string_view rest = (common == a.size() ? b : a).substr(common);
  const bool is_begun = common == std::min(a.size(), b.size());
  if (is_begun && is_short_plural(beginning, rest)) return true;
  if (common < kBeginningMin) return false;
  return is_ending(beginning, a.substr(common)) && is_ending(beginning, b.substr(common));
}

// Whether a word has the stem of another, and an ending that is about as long.
bool is_form(std::u32string_view word, std::u32string_view other, size_t stem_size) {
  if (stem_size == other.size()) return word == other;
  return word.starts_with(other.substr(0, stem_size)) &&
         word.size() <= std::max(other.size() + 2, stem_size + kEndingMax);
}

bool is_hex(std::u32string_view word) {
  return word.find_first_not_of(U"0123456789abcdef") == std::u32string_view::npos;
}

// Whether one is a hash and the other its beginning, of as many digits as are looked for.
bool are_of_one_hash(std::u32string_view term, std::u32string_view word) {
  const auto is_whole = [](std::u32string_view one) {
    return one.size() == 40 || one.size() == 64;
  };
  const bool begins = is_whole(word) && term.size() >= 7 && word.substr(0, term.size()) == term;
  const bool is_begun = is_whole(term) && word.size() >= 7 && word.size() <= 12 &&
                        term.substr(0, word.size()) == word;
  return (begins || is_begun) && is_hex(term) && is_hex(word);
}

constexpr std::u32string_view kConnectors = U"_-./\\@:+#~'";
constexpr std::u32string_view kEndingPart = U"/\\@:+#~";

// The end of the words that connectors join, from a letter on.
size_t end_of_joined(const std::u32string& letters, size_t at) {
  const auto is_letter_at = [&](size_t place) {
    return place < letters.size() && is_letter(letters[place]);
  };
  while (is_letter_at(at) || (at < letters.size() && is_letter_at(at + 1) &&
                              kConnectors.find(letters[at]) != std::u32string_view::npos)) {
    ++at;
  }
  return at;
}

// The end of the word at a place, where it begins; the place itself if none does. In the index
// nothing joins a script without spaces to what stands beside it.
size_t end_of_word(const std::u32string& letters, size_t at) {
  size_t end = at;
  while (end < letters.size() && is_letter(letters[end]) &&
         is_unspaced(letters[end]) == is_unspaced(letters[at])) {
    ++end;
  }
  return end;
}

bool has_segments(std::u32string_view joined) {
  return joined.find_first_of(kEndingPart) != std::u32string_view::npos;
}

enum class Joined { kCompound, kSegments };

// What the index has as compounds: all that is joined, and the parts of a path or an address. Then
// several parts that follow one another, which a wildcard of several finds.
template <typename Visit>
void for_each_joined(const std::u32string& letters, Visit visit) {
  for (size_t begin = 0, end = 0; begin < letters.size(); begin = std::max(end, begin + 1)) {
    end = is_letter(letters[begin]) ? end_of_joined(letters, begin) : begin;
    if (end == begin) continue;
    visit(begin, end, Joined::kCompound);
    const auto end_of_part = [&](size_t at) {
      const auto rest = std::u32string_view(letters).substr(at, end - at);
      return at + std::min(rest.size(), rest.find_first_of(kEndingPart));
    };
    for (size_t part = begin; part < end; part = end_of_part(part) + 1) {
      size_t part_end = end_of_part(part);
      visit(part, part_end, Joined::kCompound);
      for (size_t more = 1; more < kSegmentsMax && part_end < end; ++more) {
        part_end = end_of_part(part_end + 1);
        visit(part, part_end, Joined::kSegments);
      }
    }
  }
}

// Calls visit(begin, end) with what capitals divide the word of `text` into, if they do, or with a
// number and its unit. Letters are folded; whether one is a capital says the text.
template <typename Visit>
void for_each_part(std::string_view text, const FoldedText& folded, size_t begin, size_t end,
                   Visit visit) {
  const auto is_kind = [&](size_t at, char first, char last) {
    return at < end && text[folded.begins[at]] >= first && text[folded.begins[at]] <= last;
  };
  const auto is_capital = [&](size_t at) { return is_kind(at, 'A', 'Z'); };
  const auto is_small = [&](size_t at) { return is_kind(at, 'a', 'z'); };
  size_t unit = begin;
  while (is_kind(unit, '0', '9')) ++unit;
  if (unit > begin && end - unit >= 2 && end - unit <= 3) {
    visit(begin, unit);
    visit(unit, end);
    return;
  }
  size_t part = begin;
  for (size_t at = begin + 1; at < end; ++at) {
    const bool ends_several = is_small(at + 1) && is_small(at + 2);
    if (!is_capital(at) || (is_capital(at - 1) && !ends_several)) continue;
    visit(part, at);
    part = at;
  }
  if (part > begin) visit(part, end);
}

// The end of the two words that a hyphen joins, of which the first is there, where the index has
// them as one word, too; `end` if it does not.
size_t end_of_hyphened(const std::u32string& letters, size_t begin, size_t end) {
  const auto is_hyphen = [&](size_t at) { return at < letters.size() && letters[at] == U'-'; };
  if (!is_hyphen(end) || (begin > 0 && is_hyphen(begin - 1))) return end;
  size_t second_end = end + 1;
  while (second_end < letters.size() && is_letter(letters[second_end])) ++second_end;
  return second_end == end + 1 || is_hyphen(second_end) ? end : second_end;
}

// `*` is any characters, `?` is one. Goes back to the last star only.
bool matches_wildcard(std::u32string_view pattern, std::u32string_view word) {
  size_t p = 0;
  size_t w = 0;
  size_t star = kNone;
  size_t retry = 0;
  while (w < word.size()) {
    if (p < pattern.size() && pattern[p] == U'*') {
      star = p++;
      retry = w;
    } else if (p < pattern.size() && (pattern[p] == U'?' || pattern[p] == word[w])) {
      ++p;
      ++w;
    } else if (star != kNone) {
      p = star + 1;
      w = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == U'*') ++p;
  return p == pattern.size();
}

std::vector<Match> without_overlaps(std::vector<Match> matches) {
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<Match> kept;
  for (const Match& match : matches) {
    const size_t start = kept.empty() ? match.start : std::max(match.start, kept.back().end);
    if (start < match.end) kept.push_back({start, match.end, match.term});
  }
  return kept;
}

}  // namespace

Highlighter::Highlighter(const std::vector<std::string>& terms, std::string_view question) {
  for (const std::string& term : terms) {
    Term read{FoldedText(term).letters, Term::Kind::kWord, 0};
    if (read.text.empty()) continue;
    if (read.text.front() == U'~') {
      terms_.push_back({read.text.substr(1), Term::Kind::kPart, 0});
      continue;
    }
    if (has_unspaced(read.text)) read.text = without_outer_stars(read.text);
    if (read.text.find_first_of(U"*?") != std::u32string::npos) {
      const bool is_joined = read.text.find_first_of(kConnectors) != std::u32string::npos;
      read.kind = is_joined ? Term::Kind::kJoinedWildcard : Term::Kind::kWildcard;
    } else if (!std::all_of(read.text.begin(), read.text.end(),
                            [](char32_t c) { return is_letter(c) && !is_unspaced(c); })) {
      read.kind = Term::Kind::kAnywhere;
    }
    terms_.push_back(std::move(read));
  }
  const std::u32string asked = FoldedText(question).letters;
  for (size_t at = 0; at < asked.size();) {
    const size_t end = end_of_word(asked, at);
    if (end > at) add_form(std::u32string_view(asked).substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

// Of a word of the question, when a term is its stem and does not show it.
void Highlighter::add_form(std::u32string_view asked) {
  if (term_of(asked) != kNone) return;
  const auto stem_at = [&](const Term& term) {
    const bool may_be = term.kind == Term::Kind::kWord && term.text.size() >= kBeginningMin;
    return may_be ? asked.find(term.text) : std::u32string_view::npos;
  };
  const auto stem = std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) {
    return stem_at(term) != std::u32string_view::npos;
  });
  if (stem == terms_.end()) return;
  // One that has lost its beginning, too, tells nothing of other forms.
  const size_t stem_size = stem_at(*stem) == 0 ? stem->text.size() : asked.size();
  terms_.push_back({std::u32string(asked), Term::Kind::kForm, stem_size});
}

size_t Highlighter::term_of(std::u32string_view word) const {
  word = word.substr(0, kWordLettersMax);
  for (size_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    if (term.kind == Term::Kind::kWord && are_related(term.text, word)) return i;
    if (term.kind == Term::Kind::kWord && are_of_one_hash(term.text, word)) return i;
    if (term.kind == Term::Kind::kForm && is_form(word, term.text, term.stem_size)) return i;
    if (term.kind == Term::Kind::kWildcard && matches_wildcard(term.text, word)) return i;
  }
  return kNone;
}

size_t Highlighter::term_of_part(std::u32string_view part) const {
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].kind == Term::Kind::kPart && are_related(terms_[i].text, part)) return i;
  }
  return kNone;
}

size_t Highlighter::joined_term_of(std::u32string_view joined, bool is_compound) const {
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].kind != Term::Kind::kJoinedWildcard) continue;
    if (!is_compound && !has_segments(terms_[i].text)) continue;
    if (matches_wildcard(terms_[i].text, joined)) return i;
  }
  return kNone;
}

std::vector<Match> Highlighter::find(std::string_view text) const {
  std::vector<Match> matches;
  const FoldedText folded(text);
  const std::u32string& letters = folded.letters;
  const auto add = [&](size_t begin, size_t end, size_t term) {
    matches.push_back({folded.begins[begin], folded.ends[end - 1], term});
  };
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].kind != Term::Kind::kAnywhere) continue;
    const std::u32string& wanted = terms_[i].text;
    for (size_t at = letters.find(wanted); at != std::u32string::npos;
         at = letters.find(wanted, at + wanted.size())) {
      add(at, at + wanted.size(), i);
    }
  }
  for_each_joined(letters, [&](size_t begin, size_t end, Joined what) {
    const size_t term = joined_term_of(std::u32string_view(letters).substr(begin, end - begin),
                                       what == Joined::kCompound);
    if (term != kNone) add(begin, end, term);
  });
  for (size_t at = 0; at < letters.size();) {
    const size_t end = end_of_word(letters, at);
    const std::u32string_view word = std::u32string_view(letters).substr(at, end - at);
    const size_t term = word.empty() ? kNone : term_of(word);
    if (term != kNone) add(at, end, term);
    for_each_part(text, folded, at, end, [&](size_t begin_of_part, size_t end_of_part) {
      const size_t size = end_of_part - begin_of_part;
      const size_t found = term_of_part(std::u32string_view(letters).substr(begin_of_part, size));
      if (term == kNone && found != kNone) add(begin_of_part, end_of_part, found);
    });
    if (const size_t both = end_of_hyphened(letters, at, end); !word.empty() && both > end) {
      const auto found =
          term_of_part(std::u32string(word) + letters.substr(end + 1, both - end - 1));
      if (found != kNone) add(at, both, found);
    }
    at = std::max(end, at + 1);
  }
  return without_overlaps(std::move(matches));
}

}  // namespace varve::cli
