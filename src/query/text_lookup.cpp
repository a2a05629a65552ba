#include "query/text_lookup.h"

#include <algorithm>
#include <utility>

namespace varve::query {

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

const TextLookup::Word& TextLookup::word(const std::string& word) {
  for (const Word& known : words_) {
    if (known.word == word) return known;
  }
  std::string term(analyzer_.stem(word));
  const index::PostingList rows = index_.text().rows_of(term);
  return words_.emplace_back(Word{word, std::move(term), rows});
}

Result<TextLookup::Matches> TextLookup::matches(const text::Wildcard& wildcard, size_t words_max) {
  Matches found;
  std::set<std::string> stems;
  size_t count = 0;
  index_.text().for_each_word(wildcard.prefix(), [&](std::string_view word, std::string_view stem) {
    if (wildcard.matches(word)) {
      stems.emplace(stem);
      count += 1;
    }
    return count <= words_max;
  });
  if (count > words_max) return Matches{{}, false, true};
  index_.text().for_each_word("", [&](std::string_view word, std::string_view stem) {
    found.is_exact = wildcard.matches(word) || !stems.contains(std::string(stem));
    return found.is_exact;
  });
  VARVE_TRY_ASSIGN(const auto rows, rows_of(stems));
  found.rows = list_of_rows(rows, index_, lists_);
  return found;
}

Result<TextLookup::Matches> TextLookup::character(const std::string& character) {
  const auto known = characters_.find(character);
  if (known != characters_.end()) return known->second;
  const auto wildcard = text::Wildcard::parse("*" + character + "*");
  if (!wildcard) return Matches();  // bytes of no text
  VARVE_TRY_ASSIGN(const Matches found, matches(*wildcard, SIZE_MAX));
  characters_.emplace(character, found);
  return found;
}

// All rows of some terms.
Result<std::vector<uint32_t>> TextLookup::rows_of(const std::set<std::string>& stems) const {
  std::vector<uint32_t> rows;
  for (const auto& stem : stems) {
    const index::PostingList list = index_.text().rows_of(stem);
    for (const auto& run : list.runs) {
      index::DecodedBlock decoded;
      if (run.is_damaged()) return index::damaged_list();
      for (uint32_t block = 0; block < run.block_count(); ++block) {
        const uint32_t count = run.decode(block, &decoded);
        if (count != run.rows_in(block)) return index::damaged_list();
        rows.insert(rows.end(), decoded.rows.begin(), decoded.rows.begin() + count);
      }
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace varve::query
