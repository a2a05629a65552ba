// TextLookup: the rows that have a word, or words of which only a part is known.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/index.h"
#include "text/analyzer.h"
#include "text/wildcard.h"

namespace varve::query {

inline constexpr size_t kExpansionsMax = 10'000;  // words that a wildcard may match

// A list of these rows, which rise, each with a frequency of 1. `lists` keeps its memory.
[[nodiscard]] index::PostingList list_of_rows(const std::vector<uint32_t>& rows,
                                              const index::Index& index,
                                              std::list<index::PostingBuffer>* lists);

class TextLookup {
 public:
  // Borrows all of them; `lists` keeps the memory of lists that are made here.
  TextLookup(const index::Index& index, text::Analyzer& analyzer,
             std::list<index::PostingBuffer>* lists)
      : index_(index), analyzer_(analyzer), lists_(lists) {}

  struct Word {
    std::string word;
    std::string term;
    index::PostingList rows;
  };
  // Looked up once, however often it is asked for. Valid until the next one is.
  const Word& word(const std::string& word);
  void reserve_words(size_t count) { words_.reserve(words_.size() + count); }
  [[nodiscard]] index::PostingList compound(std::string_view compound) const {
    return index_.text().rows_of(compound);
  }

  struct Matches {
    index::PostingList rows;   // that have a word that matches, or another form of one
    bool is_exact = true;      // there is no other form
    bool is_too_many = false;  // words, more than were allowed: no rows
  };
  // errors: kCorruption when a list is damaged.
  Result<Matches> matches(const text::Wildcard& wildcard, size_t words_max = kExpansionsMax);
  // Of words with a character of a script without spaces, where words have two. However many:
  // nobody asked for a wildcard.
  Result<Matches> character(const std::string& character);

 private:
  Result<std::vector<uint32_t>> rows_of(const std::set<std::string>& stems) const;

  const index::Index& index_;
  text::Analyzer& analyzer_;
  std::list<index::PostingBuffer>* lists_;
  std::vector<Word> words_;
  std::map<std::string, Matches> characters_;
};

}  // namespace varve::query
