// TextLookup: the rows that have a word, or words of which only a part is known.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
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

// Of one text: wildcards and lone characters, each of which is compared with every word of the
// session, and phrases, each of which is looked for in every entry with its words.
inline constexpr size_t kSearchesMax = 256;

// A list of these rows, which rise, each with a frequency of 1. `lists` keeps its memory.
[[nodiscard]] index::PostingList list_of_rows(const std::vector<uint32_t>& rows,
                                              const index::Index& index,
                                              std::list<index::PostingBuffer>* lists);

struct WordMatches {
  index::PostingList rows;   // that have a word that matches, or another form of one
  bool is_exact = true;      // there is no other form
  bool is_too_many = false;  // words, or characters looked for: no rows
};

// What the searches of one text found, in their order, for planning it again while the index has
// more rows, but the first ones are the same: those are looked at, and must be asked the same.
struct KnownSearches {
  std::vector<WordMatches> matches;
  std::list<index::PostingBuffer> lists;  // that those borrow
};

class TextLookup {
 public:
  // Borrows all of them; `lists` keeps the memory of lists that are made here, but for those of
  // `known`, which may be null.
  TextLookup(const index::Index& index, text::Analyzer& analyzer,
             std::list<index::PostingBuffer>* lists, KnownSearches* known)
      : index_(index), analyzer_(analyzer), lists_(lists), known_(known) {}

  struct Word {
    std::string term;
    index::PostingList rows;
  };
  // Looked up once, however often it is asked for. Valid until the next one is. Of a hash, and of
  // its beginning, the rows that have the other as well. errors: kCorruption when a list of those
  // is damaged.
  Result<const Word*> word(const std::string& word);
  void reserve_words(size_t count) { words_.reserve(words_.size() + count); }
  // The rows with words that capitals divide, one part of which has this stem.
  [[nodiscard]] index::PostingList part(std::string_view stem) const {
    return index_.text().rows_with_part(stem);
  }
  [[nodiscard]] index::PostingList compound(std::string_view compound) const {
    return index_.text().rows_of(compound);
  }

  using Matches = WordMatches;
  // is_exact is found out when it is asked for. errors: kCorruption when a list is damaged.
  Result<Matches> matches(const text::Wildcard& wildcard, bool asks_exact,
                          size_t words_max = kExpansionsMax);
  // False after kSearchesMax searches.
  [[nodiscard]] bool may_search() const { return searches_ < kSearchesMax; }
  // The rows with a compound, also as segments of a longer one: src/main.c is in app/src/main.c:42.
  // A search only where it has segments.
  Result<Matches> segments(std::string_view compound);
  // Of words with a character of a script without spaces, where words have two. However many:
  // nobody asked for a wildcard.
  Result<Matches> character(const std::string& character);

 private:
  using Stems = std::set<std::string, std::less<>>;  // asked for without a copy
  template <typename Find>                           // Result<Matches> Find()
  Result<Matches> search(const Find& find);
  Result<Matches> find_matches(const text::Wildcard& wildcard, bool asks_exact, size_t words_max);
  Result<Matches> find_segments(std::string_view compound);
  Result<index::PostingList> list_of(const Stems& stems) const;
  template <typename IsMatch>  // bool IsMatch(std::string_view word)
  bool find_stems(std::string_view prefix, const IsMatch& is_match, size_t words_max, Stems* stems);
  [[nodiscard]] bool has_other_form(const text::Wildcard& wildcard, const Stems& stems) const;
  Status join_hashes(const std::string& word, Word* found);
  [[nodiscard]] Result<index::PostingList> joined(const Stems& stems) const;
  template <typename Visit>
  Status for_each_posting(const Stems& stems, Visit visit) const;
  Result<std::vector<uint32_t>> rows_of(const Stems& stems) const;

  const index::Index& index_;
  text::Analyzer& analyzer_;
  std::list<index::PostingBuffer>* lists_;
  KnownSearches* known_;
  boost::unordered_flat_map<std::string, Word> words_;  // by the word
  std::map<std::string, Matches> characters_;
  size_t searches_ = 0;
  size_t hash_searches_ = 0;
};

}  // namespace varve::query
