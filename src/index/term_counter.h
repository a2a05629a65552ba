// TermCounter: which terms entries have, and how often: entry after entry, from their texts.
//
// An entry's text is what for_each_text() visits. Terms are stems, compounds, and
// stems of parts behind a sign (text/words.h), numbered in the order in which they are met.
//
// Threads: one may count while another adds to an index what was counted and taken before.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/dictionary.h"
#include "index/short_word_table.h"
#include "json/document.h"
#include "text/analyzer.h"

namespace varve::index {

// Calls `visit` with every string of an entry that is searched; of one with encoded bytes, with
// what stands beside them (text/encoded.h).
void for_each_text(json::Value entry, const std::function<void(std::string_view)>& visit);

// Texts, one behind the other.
class TextList {
 public:
  void add(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  [[nodiscard]] size_t size() const { return ends_.size(); }
  [[nodiscard]] uint64_t size_bytes() const { return bytes_.size(); }
  [[nodiscard]] std::string_view operator[](size_t number) const {
    const size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return bytes_.capacity() + ends_.capacity() * sizeof(size_t);
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

// What entries have, one after the other: row 0 is the first of them.
struct CountedRows {
  static constexpr uint32_t kAsks = uint32_t{1} << 31;

  // The postings of a term: those before `end` and behind those of the term before.
  struct TermEnd {
    uint32_t term;
    uint32_t end;
  };
  std::vector<Posting> postings;   // of one term after the other; in each, rows rise
  std::vector<TermEnd> term_ends;  // one for each term
  std::vector<uint32_t> lengths;   // [terms] of each row, no stop words; kAsks: it asks something
  TextList terms;                  // those met first here, by rising numbers
  // Words, and compounds, met first here: those that are their own term, by its number, and the
  // others with their stems.
  std::vector<uint32_t> terms_as_words;
  TextList words;
  TextList stems;

  // Empty again, with the memory it has.
  void clear();
  [[nodiscard]] uint64_t memory_bytes() const;
};

// Before the stem of a part: no word or compound begins with it. So what asks for a word, or must
// not have it, is not answered with what has it as a part.
inline constexpr char kPartSign = '~';

class TermCounter {
 public:
  // The seed is secret where others choose the words (base/hash.h). No count depends on it.
  TermCounter(const text::Settings& settings, uint64_t hash_seed)
      : settings_(settings),
        hash_seed_(hash_seed),
        words_(hash_seed),
        compounds_(hash_seed),
        parts_(hash_seed),
        terms_(hash_seed) {}
  [[nodiscard]] uint64_t hash_seed() const { return hash_seed_; }

  // The next row. Null: an entry that could not be read has no words.
  void add(const json::Value* entry);
  // The same by its line; `scratch` reads those with rare escapes.
  void add_line(std::string_view line, json::Document& scratch);

  // *into becomes what was counted since the last take().
  void take(CountedRows* into);
  // Frees what counting many rows took, but for the terms. Only when everything counted was taken.
  void give_memory_back();
  // Terms are numbered anew, from 0. Only when everything counted was taken.
  void forget_terms();
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  // A word, or a compound, that was met since the last forget_terms().
  struct Word {
    uint32_t term;
    bool counts;  // in the row's length
  };
  template <typename Value>
  struct WordTable {
    explicit WordTable(uint64_t hash_seed) : shorts(hash_seed), longs(0, KeyHash{hash_seed}) {}
    ShortWordTable<Value> shorts;
    boost::unordered_flat_map<std::string, Value, KeyHash, std::equal_to<>> longs;
    [[nodiscard]] const Value* find(std::string_view word) const;
    void insert(std::string_view word, const Value& value);
    [[nodiscard]] uint64_t memory_bytes() const;
  };
  struct Occurrence {
    uint32_t term;
    uint32_t frequency;
  };
  using Occurrences = std::vector<Occurrence>;
  bool add_raw_texts(std::string_view line);
  void add_texts(json::Value entry);
  void add_text(std::string_view text);
  Word make_word(std::string_view word, bool is_compound);
  void count_word(std::string_view word, bool is_compound);
  void count_part(std::string_view part);
  void count_short(const text::ShortWord& word);
  void count_collected();
  void count(const Word& word);
  uint32_t term_number(std::string_view term);
  void end_row();
  void forget_row();
  void sort_by_terms(CountedRows* into);

  text::Analyzer& analyzer();

  text::Settings settings_;
  std::unique_ptr<text::Analyzer> analyzer_;  // made for the first text: many logs get none
  // Short words of the text being read that were not looked up yet.
  struct Collected {
    text::ShortWord word;
    uint64_t hash;
  };
  static constexpr size_t kCollectedMax = 32;

  uint64_t hash_seed_;
  WordTable<Word> words_;
  WordTable<Word> compounds_;
  WordTable<Word> parts_;
  WordTable<uint32_t> terms_;
  std::array<Collected, kCollectedMax> collected_;
  size_t collected_count_ = 0;
  std::vector<uint32_t> frequencies_;  // in the row being added, by term
  std::vector<uint32_t> in_row_;       // its terms: the first so many
  size_t in_row_count_ = 0;
  uint32_t row_length_ = 0;
  bool row_asks_ = false;
  // Since the last take():
  CountedRows counted_;  // all but the postings
  Occurrences occurrences_;
  std::vector<uint64_t> row_ends_;  // in occurrences_
  std::vector<uint32_t> waiting_;   // postings, by term; 0 before and after take()
  std::string decoded_;             // scratch: a string with escapes
  std::string part_term_;           // scratch
};

}  // namespace varve::index
