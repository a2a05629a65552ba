#include "query/text_lookup.h"

#include <algorithm>

#include "query/text_check.h"
#include "text/characters.h"

namespace varve::query {

namespace {

// As Git abbreviates its hashes, and container engines theirs: what is shorter may be a word.
constexpr size_t kHashBeginningMin = 7;
constexpr size_t kHashBeginningMax = 12;
constexpr size_t kHashMax = 64;

bool is_hex(std::string_view word) {
  return word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// SHA-1 and SHA-256.
bool is_whole_hash(std::string_view word) {
  return (word.size() == 40 || word.size() == kHashMax) && is_hex(word);
}

// Whether the segments stand side by side in the word, which may have more before and behind them.
bool has_segments(std::string_view word, std::string_view segments) {
  const auto is_between = [&](size_t at) {
    return text::ends_segment(static_cast<uint8_t>(word[at]));
  };
  for (size_t at = word.find(segments); at != std::string_view::npos;
       at = word.find(segments, at + 1)) {
    const size_t end = at + segments.size();
    if ((at == 0 || is_between(at - 1)) && (end == word.size() || is_between(end))) return true;
  }
  return false;
}

}  // namespace

index::PostingList list_of_rows(const std::vector<uint32_t>& rows, const index::Index& index,
                                std::list<index::PostingBuffer>* lists) {
  index::PostingBuffer& kept = lists->emplace_back();
  for (const uint32_t row : rows) {
    if (row < index.text_row_count()) kept.add(row, 1, index.text().length(row));
  }
  index::PostingList list;
  list.runs[1] = index::PostingRun(kept);
  return list;
}

Result<const TextLookup::Word*> TextLookup::word(const std::string& word) {
  const auto [known, is_new] = words_.try_emplace(word);
  if (is_new) {
    known->second.term = analyzer_.stem(word);
    known->second.rows = index_.text().rows_of(known->second.term);
    VARVE_TRY(join_hashes(word, &known->second));
  }
  return &known->second;
}

// A hash is written whole or by its beginning, and asked for by either: other forms of one word.
Status TextLookup::join_hashes(const std::string& word, Word* found) {
  const bool may_be_beginning = word.size() >= kHashBeginningMin && word.size() < kHashMax;
  if (!(may_be_beginning || is_whole_hash(word)) || !is_hex(word)) return {};
  if (++hash_searches_ > kSearchesMax) return {};
  Stems stems;
  if (may_be_beginning) {
    index_.text().for_each_word(word, [&](std::string_view other, std::string_view stem) {
      if (is_whole_hash(other)) stems.emplace(stem);
      return true;
    });
  }
  for (size_t size = kHashBeginningMin; is_whole_hash(word) && size <= kHashBeginningMax; ++size) {
    stems.emplace(analyzer_.stem(word.substr(0, size)));
  }
  stems.erase(found->term);
  if (stems.empty()) return {};
  stems.insert(found->term);
  VARVE_TRY_ASSIGN(found->rows, joined(stems));
  return {};
}

// As often as a row has any of them: where a session has one form alone, it counts that, too.
Result<index::PostingList> TextLookup::joined(const Stems& stems) const {
  std::map<uint32_t, uint64_t> frequencies;  // by row
  VARVE_TRY(for_each_posting(
      stems, [&](uint32_t row, uint32_t frequency) { frequencies[row] += frequency; }));
  index::PostingBuffer& kept = lists_->emplace_back();
  for (const auto& [row, frequency] : frequencies) {
    if (row >= index_.text_row_count()) break;
    kept.add(row, static_cast<uint32_t>(std::min<uint64_t>(frequency, UINT32_MAX)),
             index_.text().length(row));
  }
  index::PostingList list;
  list.runs[1] = index::PostingRun(kept);
  return list;
}

// A search, unless what it finds is known.
template <typename Find>
Result<TextLookup::Matches> TextLookup::search(const Find& find) {
  const size_t number = searches_++;
  if (known_ == nullptr) return find();
  if (number == known_->matches.size()) {
    VARVE_TRY_ASSIGN(const Matches found, find());
    known_->matches.push_back(found);
  }
  return known_->matches[number];
}

// The stems of the words that match. False where these are more than `words_max`.
template <typename IsMatch>
bool TextLookup::find_stems(std::string_view prefix, const IsMatch& is_match, size_t words_max,
                            Stems* stems) {
  size_t count = 0;
  index_.text().for_each_word(prefix, [&](std::string_view word, std::string_view stem) {
    if (is_match(word)) {
      stems->emplace(stem);
      count += 1;
    }
    return count <= words_max;
  });
  return count <= words_max;
}

Result<TextLookup::Matches> TextLookup::matches(const text::Wildcard& wildcard, bool asks_exact,
                                                size_t words_max) {
  return search([&] { return find_matches(wildcard, asks_exact, words_max); });
}

Result<TextLookup::Matches> TextLookup::find_matches(const text::Wildcard& wildcard,
                                                     bool asks_exact, size_t words_max) {
  Matches found;
  Stems stems;
  const auto matches = [&](std::string_view word) { return wildcard.matches(word); };
  if (!find_stems(wildcard.prefix(), matches, words_max, &stems)) return Matches{{}, false, true};
  found.is_exact = asks_exact && !has_other_form(wildcard, stems);
  VARVE_TRY_ASSIGN(found.rows, list_of(stems));
  return found;
}

Result<TextLookup::Matches> TextLookup::segments(std::string_view compound) {
  const std::string_view joined = compound.substr(0, compound.size() - tail_of(compound).size());
  const bool is_of_several = std::any_of(joined.begin(), joined.end(), [](char c) {
    return text::ends_segment(static_cast<uint8_t>(c));
  });
  if (!is_of_several) return Matches{this->compound(compound)};
  if (!may_search()) return Matches{{}, false, true};
  return search([&] { return find_segments(compound); });
}

Result<TextLookup::Matches> TextLookup::find_segments(std::string_view compound) {
  Matches found;
  Stems stems;
  const auto matches = [&](std::string_view word) { return has_segments(word, compound); };
  (void)find_stems("", matches, SIZE_MAX, &stems);
  found.is_exact = false;
  VARVE_TRY_ASSIGN(found.rows, list_of(stems));
  return found;
}

// Whether a word with one of these stems does not match.
bool TextLookup::has_other_form(const text::Wildcard& wildcard, const Stems& stems) const {
  if (stems.empty()) return false;
  bool has_one = false;
  index_.text().for_each_word("", [&](std::string_view word, std::string_view stem) {
    has_one = !wildcard.matches(word) && stems.contains(stem);
    return !has_one;
  });
  return has_one;
}

Result<TextLookup::Matches> TextLookup::character(const std::string& character) {
  const auto known = characters_.find(character);
  if (known != characters_.end()) return known->second;
  if (!may_search()) return Matches{{}, false, true};
  const auto wildcard = text::Wildcard::parse("*" + character + "*");
  if (!wildcard) return Matches();  // bytes of no text
  VARVE_TRY_ASSIGN(const Matches found, matches(*wildcard, true, SIZE_MAX));
  characters_.emplace(character, found);
  return found;
}

template <typename Visit>  // Visit(uint32_t row, uint32_t frequency)
Status TextLookup::for_each_posting(const Stems& stems, Visit visit) const {
  for (const auto& stem : stems) {
    const index::PostingList list = index_.text().rows_of(stem);
    for (const auto& run : list.runs) {
      index::DecodedBlock decoded;
      if (run.is_damaged()) return index::damaged_list();
      for (uint32_t block = 0; block < run.block_count(); ++block) {
        const uint32_t count = run.decode(block, &decoded);
        if (count != run.rows_in(block)) return index::damaged_list();
        for (uint32_t i = 0; i < count; ++i) visit(decoded.rows[i], decoded.frequencies[i]);
      }
    }
  }
  return {};
}

// All rows of some terms.
Result<std::vector<uint32_t>> TextLookup::rows_of(const Stems& stems) const {
  std::vector<uint32_t> rows;
  VARVE_TRY(for_each_posting(stems, [&](uint32_t row, uint32_t) { rows.push_back(row); }));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

Result<index::PostingList> TextLookup::list_of(const Stems& stems) const {
  VARVE_TRY_ASSIGN(const auto rows, rows_of(stems));
  return list_of_rows(rows, index_, known_ != nullptr ? &known_->lists : lists_);
}

}  // namespace varve::query
