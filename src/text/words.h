// Words: what a text is made of for full-text search.
//
//   word       a run of letters and numbers, folded. Caroline's is "caroline", don't is one word
//              (English); 1,200 is "1200"; in scripts without spaces every two characters are a
//              word, so that two-character words are found.
//   compound   what connectors join, as an additional term: "pr-1234" besides "pr" and "1234",
//              "jo@example.com", "example.com", "src/main.py", "main.py", "c++"; "1.2" of "v1.2",
//              and the day and the clock of a time. An emoji is one, too: it stands between no
//              words.
//   part       what capitals divide a word into: "user" of getUserProfile; "25" and "mib" of 25MiB.
//   joined     two words that a hyphen joins, as one: "email" of e-mail, "utf8" of UTF-8; and
//              capitals without the s of their plural: "vpc" of VPCs (English).
//
// docs/retrieval.md#words has the rules with examples, tests/unit/text/words_test.cpp the cases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/short_word.h"

namespace varve::text {

inline constexpr size_t kWordBytesMax = 128;  // longer words are cut, longer compounds left out

// A text's words, in order, and what else it is found by. Reused between texts so that memory is
// kept.
class Words {
 public:
  struct Word {
    uint32_t begin;  // in folded()
    uint32_t end;
    uint64_t source_begin;  // [bytes] in the text
    uint64_t source_end;
  };

  // `english`: apostrophes as English uses them.
  void read(std::string_view text, bool english);
  // The same without the words that read_short_word() knows, nearly all: `visit` is given those.
  template <typename Visit>  // Visit(const ShortWord& folded)
  void read_others(std::string_view text, bool english, Visit visit);

  [[nodiscard]] const std::vector<Word>& words() const { return words_; }
  [[nodiscard]] const std::vector<Word>& compounds() const { return compounds_; }
  [[nodiscard]] const std::vector<Word>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<Word>& joined() const { return joined_; }
  [[nodiscard]] std::string_view text(const Word& word) const {
    return std::string_view(folded_).substr(word.begin, word.end - word.begin);
  }
  // Whether it is of a script without spaces; only as long as the text that was read is there.
  [[nodiscard]] bool is_unspaced(const Word& word) const {
    return character_at(source_, word.source_begin).character_class == CharacterClass::kUnspaced;
  }
  // Whether the word behind it has its last character too: both are of one run.
  [[nodiscard]] bool goes_on(size_t number) const {
    return number + 1 < words_.size() &&
           words_[number + 1].source_begin < words_[number].source_end;
  }
  // Whether nothing stands between it and the word behind it: where a script without spaces
  // begins, or ends, or goes on.
  [[nodiscard]] bool touches_next(size_t number) const {
    return number + 1 < words_.size() &&
           words_[number + 1].source_begin <= words_[number].source_end;
  }

 private:
  struct Piece {
    uint32_t begin;  // in folded_
    uint32_t end;
    uint64_t source_begin;
    uint64_t source_end;
    char separator;  // before it; 0 for the first
  };

  void start(std::string_view text, bool english);
  size_t read_next(size_t at);
  size_t read_unspaced(size_t at);
  size_t read_emoji(size_t at);
  bool add_mark(const Character& mark, size_t begin);
  [[nodiscard]] size_t end_of_plain_word(size_t at) const;
  size_t add_plain_word(size_t begin, size_t end);
  size_t read_compound(size_t at);
  size_t end_of_word(size_t at) const;
  void add_piece(size_t begin, size_t end, char separator);
  void add_parts(uint32_t folded_begin, std::string_view written);
  size_t add_joined_pieces(size_t at);
  [[nodiscard]] bool ends_with_seconds() const;
  size_t add_thousands(size_t at);
  size_t add_tail(size_t at);
  void join_english_pieces();
  void emit_pieces();
  void emit_compounds();
  void emit_compound(size_t first, size_t last);
  void emit_part_asked_for(const Word& compound);
  void emit_joined();
  void drop_repeated_compounds(size_t before);
  [[nodiscard]] std::string_view piece_text(const Piece& piece) const {
    return std::string_view(folded_).substr(piece.begin, piece.end - piece.begin);
  }

  std::string_view source_;
  bool english_ = true;
  std::string folded_;
  std::vector<Word> words_;
  std::vector<Word> compounds_;
  std::vector<Word> parts_;
  std::vector<Word> joined_;
  std::vector<Piece> pieces_;  // of the compound being read
  std::string tail_;           // "++" or "#" behind it
};

template <typename Visit>
void Words::read_others(std::string_view text, bool english, Visit visit) {
  start(text, english);
  for (size_t at = 0; at < text.size();) {
    const ReadShortWord word = read_short_word(text, at);
    if (word.size_bytes == 0) {
      at = read_next(at);
      continue;
    }
    visit(word.folded);
    at += word.size_bytes + 1;  // what is behind it begins no word
  }
}

}  // namespace varve::text
