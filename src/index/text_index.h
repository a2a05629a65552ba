// TextIndex: which words are in which entries, for ranking by BM25.
//
// What an entry's terms are says term_counter.h. Positions are not kept: a phrase is checked
// against the entry itself. An entry's length counts its words that are no stop words.
//
// Keys of its dictionary, by their first byte:
//   s TERM     rows that have it, with how often; marked when it is a word, or a compound, itself
//   s ~STEM    rows that have a word with such a part
//   w WORD     value: the stem, of a word that is not its own (word_stem.h)
// What words there are is for wildcards.
//
// Rows are added in order and without gaps, but need not begin at 0: what index.bin has of the rows
// before can come later (set_frozen), when somebody searches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/dictionary.h"
#include "index/term_counter.h"
#include "json/document.h"
#include "text/analyzer.h"

namespace varve::index {

// What words may take in memory uncompressed while a log is indexed.
inline constexpr uint64_t kUncompressedBytesMax = uint64_t{16} << 20;

class TextIndex {
 public:
  // The seed is secret where others choose the words (base/hash.h). No answer depends on it.
  TextIndex(const text::Settings& settings, uint64_t hash_seed)
      : counter_(settings, hash_seed),
        fingerprint_(text::Analyzer::fingerprint(settings)),
        dictionary_(counter_.hash_seed()) {}
  [[nodiscard]] uint64_t hash_seed() const { return dictionary_.hash_seed(); }

  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }

  // Rows before this one are covered, or will be by set_frozen().
  [[nodiscard]] uint32_t row_count() const {
    return first_row_ + static_cast<uint32_t>(lengths_.size());
  }
  // The first row that is added is this one; set_frozen() will bring those before it. Only before
  // the first add.
  void start_at(uint32_t row) { first_row_ = row; }
  // Adds the next row. Null: an entry that could not be read has no words.
  void add(const json::Value* entry);
  // Adds the next row by the line of its entry (`scratch` is used for lines with rare escapes).
  // Rows added by these two are found only after settle().
  void add_line(std::string_view line, json::Document& scratch) {
    counter_.add_line(line, scratch);
  }
  void add_unreadable() { counter_.add(nullptr); }
  void settle();
  // The same in two steps: what is added to the counter and taken from it is given to
  // add_counted(). One thread may add to the counter while another calls add_counted() with what
  // was taken before; nothing else may be called meanwhile.
  [[nodiscard]] TermCounter& counter() { return counter_; }
  void add_counted(const CountedRows& rows);

  [[nodiscard]] PostingList rows_of(std::string_view term) const;
  // Of words that capitals divide, such as getUserProfile.
  [[nodiscard]] PostingList rows_with_part(std::string_view stem) const;
  // [terms] of a row; only for covered rows, with everything loaded.
  [[nodiscard]] uint32_t length(uint32_t row) const { return lengths_[row] & ~kAsks; }
  // Whether a sentence of the row asks something.
  [[nodiscard]] bool asks(uint32_t row) const { return (lengths_[row] & kAsks) != 0; }
  // [terms] of the first `rows` rows together.
  [[nodiscard]] uint64_t total_length(uint32_t rows) const;
  // Every word that starts with `prefix`, with its stem, until `visit` answers false.
  void for_each_word(
      std::string_view prefix,
      const std::function<bool(std::string_view word, std::string_view stem)>& visit) const;

  [[nodiscard]] std::string encode_terms() const { return dictionary_.encode(length_lookup()); }
  [[nodiscard]] const std::vector<uint32_t>& lengths() const { return lengths_; }
  // Brings the rows before start_at(): what encode_terms() and lengths() gave once.
  void set_frozen(Segment terms, std::vector<uint32_t> lengths);
  // A text index of the rows that stay, under their new numbers, without words that none of them
  // has in any form. Only with everything loaded.
  [[nodiscard]] TextIndex renumbered(const Renumbering& rows, const text::Settings& settings) const;
  Status load_whole() { return dictionary_.load_whole(); }
  [[nodiscard]] bool is_damaged() const { return dictionary_.is_damaged(); }
  // Whether more than `added_bytes_max` was added, and enough for compress() to pay.
  [[nodiscard]] bool is_compression_due(uint64_t added_bytes_max) const;
  // Makes one compressed part of everything, when that pays and load_whole() succeeds.
  void compress();
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  static constexpr uint32_t kAsks = CountedRows::kAsks;

  // 0 for a row that there is not, as a damaged list may have.
  [[nodiscard]] RowLengths length_lookup() const { return {lengths_, ~kAsks}; }
  void add_terms(const CountedRows& rows);
  void add_postings(const CountedRows& rows);

  TermCounter counter_;
  uint64_t fingerprint_;
  Dictionary dictionary_;
  uint32_t first_row_ = 0;
  std::vector<uint32_t> lengths_;
  uint64_t total_length_ = 0;

  CountedRows counted_;          // by settle()
  std::vector<uint32_t> lists_;  // by the numbers of terms
  uint64_t postings_added_ = 0;
  std::string key_;  // scratch
  std::string stem_;
};

}  // namespace varve::index
