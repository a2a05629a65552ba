// TextIndex: which words are in which entries, for ranking by BM25.
//
// An entry's text is every string in its content, and its tags. Terms are stems and compounds
// (text/words.h); positions are not kept: a phrase is checked against the entry itself. An entry's
// length counts its words that are no stop words.
//
// Keys of its dictionary, by their first byte:
//   s TERM     rows that have it, with how often
//   w WORD     value: the stem, where it is another text than the word; for wildcards
//
// Rows are added in order and without gaps, but need not begin at 0: what index.bin has of the rows
// before can come later (set_frozen), when somebody searches.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/dictionary.h"
#include "json/document.h"
#include "text/analyzer.h"

namespace varve::index {

// Calls `visit` with every string of an entry that is searched.
void for_each_text(json::Value entry, const std::function<void(std::string_view)>& visit);

class TextIndex {
 public:
  explicit TextIndex(const text::Settings& settings)
      : analyzer_(settings), fingerprint_(text::Analyzer::fingerprint(settings)) {}

  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }

  // Rows before this one are covered, or will be by set_frozen().
  [[nodiscard]] uint32_t row_count() const {
    return first_row_ + static_cast<uint32_t>(lengths_.size());
  }
  // Starts behind `row`s that set_frozen() will bring. Only before the first add.
  void start_at(uint32_t row) { first_row_ = row; }
  // Adds the next row. Null: an entry that could not be read has no words.
  void add(const json::Value* entry);
  // Adds rows by the lines of their entries; `scratch` reads those with rare escapes. They are
  // found when settle() was called.
  void add_line(std::string_view line, json::Document& scratch);
  void add_unreadable() { end_row(); }
  void settle();

  [[nodiscard]] PostingList rows_of(std::string_view term) const;
  // [terms] of a row; only for covered rows, with everything loaded.
  [[nodiscard]] uint32_t length(uint32_t row) const { return lengths_[row] & ~kAsks; }
  // Whether a sentence of the row asks something.
  [[nodiscard]] bool asks(uint32_t row) const { return (lengths_[row] & kAsks) != 0; }
  // Of the first `rows` rows.
  [[nodiscard]] uint64_t total_length(uint32_t rows) const;
  // Every word that starts with `prefix`, with its stem, until `visit` answers false.
  void for_each_word(
      std::string_view prefix,
      const std::function<bool(std::string_view word, std::string_view stem)>& visit) const;

  [[nodiscard]] std::string encode_terms() const { return dictionary_.encode(length_lookup()); }
  [[nodiscard]] const std::vector<uint32_t>& lengths() const { return lengths_; }
  // What encode_terms() and lengths() gave of the rows before start_at().
  void set_frozen(Segment terms, std::vector<uint32_t> lengths);
  // Of the rows that stay, under their new numbers; only with everything loaded. Words that no row
  // has in any form go.
  [[nodiscard]] TextIndex renumbered(const Renumbering& rows, const text::Settings& settings) const;
  Status load_whole() { return dictionary_.load_whole(); }
  [[nodiscard]] bool is_damaged() const { return dictionary_.is_damaged(); }
  // Makes the compressed form of everything; when that pays and more than so much was added, and
  // after load_whole().
  [[nodiscard]] bool is_compression_due(uint64_t added_bytes_max) const;
  void compress();
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  static constexpr uint32_t kAsks = uint32_t{1} << 31;

  // A term of the rows added since the last compress(), by the number of its list.
  struct Term {
    uint32_t frequency = 0;  // in the row being added
    uint32_t waiting = 0;    // occurrences_ of it
  };
  // A term of a row that is not in the term's list yet: lists are added to by many rows at once.
  struct Occurrence {
    uint32_t term;
    uint32_t frequency;
  };

  // Of rows that a damaged list invents: 0.
  [[nodiscard]] RowLengths length_lookup() const { return {lengths_, ~kAsks}; }
  // A word, or a compound, that was met since the last compress().
  struct Word {
    uint32_t term;
    bool counts;  // in the row's length
  };
  struct WordTable {
    boost::unordered_flat_map<text::ShortWord, Word, text::ShortWordHash> shorts;
    boost::unordered_flat_map<std::string, Word, KeyHash, std::equal_to<>> longs;
    [[nodiscard]] const Word* find(std::string_view word) const;
    void insert(std::string_view word, const Word& value);
    [[nodiscard]] uint64_t memory_bytes() const;
  };
  bool add_raw_texts(std::string_view line);
  void add_texts(json::Value entry);
  void add_text(std::string_view text);
  Word make_word(std::string_view word, bool is_compound);
  void count_word(std::string_view word, bool is_compound);
  void count_short(const text::ShortWord& word);
  void count(const Word& word);
  uint32_t term_number(std::string_view term);
  void end_row();
  void forget_row();
  [[nodiscard]] std::vector<Posting> sort_occurrences();

  text::Analyzer analyzer_;
  uint64_t fingerprint_;
  Dictionary dictionary_;
  uint32_t first_row_ = 0;
  std::vector<uint32_t> lengths_;
  uint64_t total_length_ = 0;

  WordTable words_;
  WordTable compounds_;
  std::vector<Term> terms_;
  std::vector<uint32_t> in_row_;  // terms of the row being added
  uint32_t row_length_ = 0;
  bool row_asks_ = false;
  // Of rows since the last settle(), row after row.
  std::vector<Occurrence> occurrences_;
  std::vector<uint64_t> row_ends_;       // in occurrences_
  std::vector<uint32_t> waiting_terms_;  // those with any
  uint64_t postings_added_ = 0;
  std::string key_;      // scratch, as is
  std::string decoded_;  // a string with escapes
};

}  // namespace varve::index
