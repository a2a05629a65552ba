#include "text/words.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/characters.h"
#include "text/word_parts.h"

namespace varve::text {

namespace {

bool is_word_part(const Character& character) {
  return character.character_class == CharacterClass::kWord ||
         character.character_class == CharacterClass::kMark;
}

char separator_of(const Character& character) {
  if (character.character_class == CharacterClass::kApostrophe) return '\'';
  return character.code_point < 128 ? static_cast<char>(character.code_point) : '-';
}

// False inside a character.
bool is_unspaced_at(std::string_view text, size_t offset) {
  const bool is_inside = (static_cast<uint8_t>(text[offset]) & 0xC0) == 0x80;
  return !is_inside && character_at(text, offset).character_class == CharacterClass::kUnspaced;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// v1.2 and what goes on like it.
bool is_version(std::string_view compound) {
  if (compound.empty() || compound.front() != 'v') return false;
  const std::string_view number = compound.substr(1);
  const size_t dot = number.find_first_not_of("0123456789");
  return dot > 0 && dot != std::string_view::npos && number[dot] == '.' &&
         dot + 1 < number.size() && is_digit(number[dot + 1]);
}

// 2026-03-14t08, as times of RFC 3339 begin.
constexpr size_t kDayBytes = 10;
bool begins_with_day(std::string_view compound) {
  constexpr std::string_view kForm = "0000-00-00t00";
  if (compound.size() < kForm.size()) return false;
  return std::equal(kForm.begin(), kForm.end(), compound.begin(),
                    [](char form, char c) { return form == '0' ? is_digit(c) : c == form; });
}

// Of 08:22 and 08:22:51 that a text begins with: with seconds, and to the minute; 0 without.
// More numbers behind another colon are an address.
struct ClockBytes {
  size_t seconds = 0;
  size_t minutes = 0;
};
ClockBytes clock_of(std::string_view text) {
  constexpr std::string_view kForm = "00:00:00";
  constexpr size_t kMinutes = 5;
  size_t size = 0;
  while (size < std::min(text.size(), kForm.size()) &&
         (kForm[size] == '0' ? is_digit(text[size]) : text[size] == kForm[size])) {
    ++size;
  }
  const bool goes_on = size < text.size() && (is_digit(text[size]) || text[size] == ':');
  if (goes_on || (size != kMinutes && size != kForm.size())) return {};
  return {size == kForm.size() ? size : 0, kMinutes};
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < kAsciiCount; });
}

}  // namespace

void Words::start(std::string_view text, bool english) {
  source_ = text;
  english_ = english;
  folded_.clear();
  words_.clear();
  compounds_.clear();
  parts_.clear();
  joined_.clear();
}

void Words::read(std::string_view text, bool english) {
  start(text, english);
  for (size_t at = 0; at < source_.size();) at = read_next(at);
}

// Reads the word, compound or other character at `at`: where the next one begins.
size_t Words::read_next(size_t at) {
  const Character character = character_at(source_, at);
  if (character.character_class == CharacterClass::kWord) {
    const size_t plain_end = end_of_plain_word(at);
    return plain_end > at ? add_plain_word(at, plain_end) : read_compound(at);
  }
  if (character.character_class == CharacterClass::kUnspaced) return read_unspaced(at);
  if (character.character_class == CharacterClass::kEmoji) return read_emoji(at);
  return at + character.size_bytes;
}

// --- scripts without spaces ----------------------------------------------------------------------

size_t Words::read_unspaced(size_t at) {
  struct Place {
    uint32_t folded;
    uint64_t source;
  };
  Place one_before{};
  Place before{};
  size_t count = 0;
  bool has_marks = false;  // behind the last character
  const auto end_word = [&](const Place& first, size_t folded_end, uint64_t source_end) {
    words_.push_back({first.folded, static_cast<uint32_t>(folded_end), first.source, source_end});
  };
  const auto begin_character = [&](size_t folded, uint64_t source, uint64_t before_end) {
    if (count >= 2) end_word(one_before, folded, before_end);
    one_before = std::exchange(before, {static_cast<uint32_t>(folded), source});
    count += 1;
  };
  for (;;) {
    const Character character = character_at(source_, at);
    if (character.character_class == CharacterClass::kMark ||
        character.character_class == CharacterClass::kIgnored) {
      has_marks = add_mark(character, before.folded) || has_marks;
      at += character.size_bytes;
      continue;
    }
    if (std::exchange(has_marks, false)) compose(before.folded, &folded_);
    const size_t begin = folded_.size();
    if (character.character_class != CharacterClass::kUnspaced) {
      if (count > 0) end_word(count == 1 ? before : one_before, begin, at);
      return at;
    }
    begin_character(begin, at, at);
    append_folded(character.code_point, &folded_);
    const size_t next = at + character.size_bytes;
    // What its folded form has more of, as that of the Thai am, are characters as well.
    for (size_t more = begin + 1; more < folded_.size(); ++more) {
      if (is_unspaced_at(folded_, more)) begin_character(more, at, next);
    }
    at = next;
  }
}

// Of the character that begins at `begin` in folded_. False when it falls away: as many are kept
// as leave a word of two characters short.
bool Words::add_mark(const Character& mark, size_t begin) {
  if (mark.character_class == CharacterClass::kIgnored) return false;
  const size_t before = folded_.size();
  append_folded(mark.code_point, &folded_);
  const bool is_kept = folded_.size() - begin <= kWordBytesMax / 2;
  if (!is_kept) folded_.resize(before);
  return is_kept;
}

// --- emojis --------------------------------------------------------------------------------------

// One character, or a flag. What several make together, as a family, is found by each of them.
size_t Words::read_emoji(size_t at) {
  const Character first = character_at(source_, at);
  const size_t begin = folded_.size();
  append_utf8(first.code_point, &folded_);
  size_t end = at + first.size_bytes;
  const Character second = character_at(source_, end);
  if (is_half_of_flag(first.code_point) && is_half_of_flag(second.code_point)) {
    append_utf8(second.code_point, &folded_);
    end += second.size_bytes;
  }
  compounds_.push_back(
      {static_cast<uint32_t>(begin), static_cast<uint32_t>(folded_.size()), at, end});
  return end;
}

// --- plain words ---------------------------------------------------------------------------------

// Nearly all words are ASCII with a blank or a full stop behind them. The end of such a word:
// nothing can join it to what follows. `at` when it is not one.
size_t Words::end_of_plain_word(size_t at) const {
  const auto class_at = [this](size_t place) {
    const auto byte = static_cast<uint8_t>(source_[place]);
    return byte < kAsciiCount ? kAsciiClasses[byte] : CharacterClass::kMark;  // not known yet
  };
  size_t end = at;
  while (end < source_.size() && class_at(end) == CharacterClass::kWord) ++end;
  if (end == source_.size()) return end;
  const bool is_apart = class_at(end) == CharacterClass::kOther && source_[end] != ',';
  const bool ends_sentence = source_[end] == '.' && end + 1 < source_.size() &&
                             class_at(end + 1) == CharacterClass::kOther;
  return is_apart || ends_sentence ? end : at;
}

// The same as read_compound() gives of it.
size_t Words::add_plain_word(size_t begin, size_t end) {
  const auto folded_begin = static_cast<uint32_t>(folded_.size());
  folded_.append(source_, begin, end - begin);
  std::transform(folded_.begin() + folded_begin, folded_.end(), folded_.begin() + folded_begin,
                 ascii_lower);
  const auto size = static_cast<uint32_t>(std::min(end - begin, kWordBytesMax));
  words_.push_back({folded_begin, folded_begin + size, begin, end});
  add_parts(folded_begin, source_.substr(begin, end - begin));
  return end;
}

// Of a word that is all ASCII, whose folded form is as long.
void Words::add_parts(uint32_t folded_begin, std::string_view written) {
  const auto source_begin = static_cast<uint64_t>(written.data() - source_.data());
  const auto word_of = [&](size_t begin, size_t end) {
    return Word{folded_begin + static_cast<uint32_t>(begin),
                folded_begin + static_cast<uint32_t>(end), source_begin + begin,
                source_begin + end};
  };
  for_each_part(written, [&](size_t begin, size_t end) { parts_.push_back(word_of(begin, end)); });
  if (english_ && is_plural_of_capitals(written)) joined_.push_back(word_of(0, written.size() - 1));
}

// --- words and what joins them -------------------------------------------------------------------

size_t Words::end_of_word(size_t at) const {
  for (;;) {
    while (at < source_.size() && static_cast<uint8_t>(source_[at]) < kAsciiCount &&
           kAsciiClasses[static_cast<uint8_t>(source_[at])] == CharacterClass::kWord) {
      ++at;
    }
    size_t next = at;
    const Character character = skip_ignored(source_, &next);
    if (!is_word_part(character)) return at;
    at = next + character.size_bytes;
  }
}

void Words::add_piece(size_t begin, size_t end, char separator) {
  const auto folded_begin = static_cast<uint32_t>(folded_.size());
  const std::string_view piece = source_.substr(begin, end - begin);
  if (is_ascii(piece)) {
    // Nearly all words: the same as below, without looking at each character's nature.
    folded_.resize(folded_begin + piece.size());
    std::transform(piece.begin(), piece.end(), folded_.begin() + folded_begin, ascii_lower);
    add_parts(folded_begin, piece);
  } else {
    append_folded_word(piece, &folded_);
  }
  pieces_.push_back({folded_begin, static_cast<uint32_t>(folded_.size()), begin, end, separator});
}

// Pieces behind connectors; apostrophes too, but not behind a thousands separator.
size_t Words::add_joined_pieces(size_t at) {
  for (;;) {
    size_t joint_at = at;
    const Character joint = skip_ignored(source_, &joint_at);
    const bool joins = joint.character_class == CharacterClass::kConnector ||
                       joint.character_class == CharacterClass::kApostrophe;
    if (joint.size_bytes == 0 || !joins) return at;
    size_t begin = joint_at + joint.size_bytes;
    if (skip_ignored(source_, &begin).character_class != CharacterClass::kWord) return at;
    at = end_of_word(begin);
    add_piece(begin, at, separator_of(joint));
  }
}

// C++ and C#: what ends a word although it joins nothing.
size_t Words::add_tail(size_t at) {
  const auto starts_word = [&](size_t place) {
    const auto next = skip_ignored(source_, &place).character_class;
    return next == CharacterClass::kWord || next == CharacterClass::kUnspaced;
  };
  skip_ignored(source_, &at);
  const std::string_view rest = source_.substr(at);
  if (rest.starts_with("++") && !rest.starts_with("+++") && !starts_word(at + 2)) {
    tail_ = "++";
  } else if (rest.starts_with("#") && !starts_word(at + 1)) {
    tail_ = "#";
  }
  return at + tail_.size();
}

// As 08:22:51 and 2026-03-14T08:22:51 do.
bool Words::ends_with_seconds() const {
  if (pieces_.size() < 3) return false;
  return std::all_of(pieces_.end() - 2, pieces_.end(), [this](const Piece& piece) {
    return piece.separator == ':' && piece.end - piece.begin == 2 && is_digits(piece_text(piece));
  });
}

// 1,200 is one number; what is behind the seconds of 08:22:51,345 is their fraction.
size_t Words::add_thousands(size_t at) {
  size_t count = 0;  // of pieces, the last of which is digits: read once, not for each group of it
  while (count == pieces_.size() || is_digits(piece_text(pieces_.back()))) {
    count = pieces_.size();
    const std::string_view group = source_.substr(behind_ignored(source_, at)).substr(0, 4);
    if (group.size() < 4 || group.front() != ',' || !is_digits(group.substr(1))) break;
    if (ends_with_seconds()) break;
    const auto end = static_cast<size_t>(group.end() - source_.begin());
    size_t behind = end;
    const Character after = skip_ignored(source_, &behind);
    if (is_word_part(after) || after.character_class == CharacterClass::kUnspaced) break;
    folded_.append(group.substr(1));
    at = end;
    pieces_.back().end = static_cast<uint32_t>(folded_.size());
    pieces_.back().source_end = at;
    at = add_joined_pieces(at);
  }
  return at;
}

size_t Words::read_compound(size_t at) {
  pieces_.clear();
  tail_.clear();
  const size_t begin = at;
  at = end_of_word(at);
  add_piece(begin, at, 0);
  at = add_joined_pieces(at);
  at = add_tail(add_thousands(at));
  if (english_ && pieces_.size() > 1) join_english_pieces();
  emit_pieces();
  if (pieces_.size() > 1 || !tail_.empty()) emit_compounds();
  emit_joined();
  return at;
}

// Caroline's, I'm, we'll count as the word before the apostrophe; don't is one word.
void Words::join_english_pieces() {
  size_t kept = 1;
  for (size_t i = 1; i < pieces_.size(); ++i) {
    const Piece piece = pieces_[i];
    const std::string_view text = piece_text(piece);
    if (piece.separator == '\'') {
      if (text == "s" || text == "m" || text == "re" || text == "ve" || text == "ll" ||
          text == "d") {
        continue;
      }
      if (text == "t" && piece_text(pieces_[kept - 1]).ends_with('n')) {
        const std::string joined = std::string(piece_text(pieces_[kept - 1])) + "'t";
        Piece& before = pieces_[kept - 1];
        before.begin = static_cast<uint32_t>(folded_.size());
        folded_ += joined;
        before.end = static_cast<uint32_t>(folded_.size());
        before.source_end = piece.source_end;
        continue;
      }
    }
    pieces_[kept++] = piece;
  }
  pieces_.resize(kept);
}

void Words::emit_pieces() {
  for (const Piece& piece : pieces_) {
    if (piece.begin == piece.end) continue;
    const auto size = static_cast<uint32_t>(cut_utf8(piece_text(piece), kWordBytesMax).size());
    words_.push_back({piece.begin, piece.begin + size, piece.source_begin, piece.source_end});
  }
}

// Two words with a hyphen between them, and no other hyphen beside them, are written as one as
// well: e-mail, UTF-8, pre-commit. Numbers are not.
void Words::emit_joined() {
  const auto has_hyphen = [&](size_t piece) {
    return piece > 0 && piece < pieces_.size() && pieces_[piece].separator == '-';
  };
  for (size_t i = 1; i < pieces_.size(); ++i) {
    if (!has_hyphen(i) || has_hyphen(i - 1) || has_hyphen(i + 1)) continue;
    const Piece& first = pieces_[i - 1];
    const Piece& second = pieces_[i];
    const size_t size = piece_text(first).size() + piece_text(second).size();
    const bool is_number = is_digits(piece_text(first)) && is_digits(piece_text(second));
    if (is_number || size > kDividedBytesMax) continue;
    const size_t begin = folded_.size();
    folded_.append(folded_, first.begin, first.end - first.begin);
    folded_.append(folded_, second.begin, second.end - second.begin);
    joined_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(folded_.size()),
                       first.source_begin, second.source_end});
  }
}

// All of it, and its parts between the connectors that end a segment, where these are compounds.
void Words::emit_compounds() {
  const size_t before = compounds_.size();
  emit_compound(0, pieces_.size());
  size_t first = 0;
  for (size_t i = 1; i <= pieces_.size(); ++i) {
    if (i < pieces_.size() && !ends_segment(static_cast<uint8_t>(pieces_[i].separator))) continue;
    const bool is_all = first == 0 && i == pieces_.size();
    const bool has_tail = i == pieces_.size() && !tail_.empty();
    if (!is_all && (i - first > 1 || has_tail)) emit_compound(first, i);
    first = i;
  }
  drop_repeated_compounds(before);
}

// Of the compound just read. By a set: it may have as many parts as the text has characters.
void Words::drop_repeated_compounds(size_t before) {
  if (compounds_.size() - before < 2) return;
  boost::unordered_flat_set<std::string_view> seen;
  const auto is_repeated = [&](const Word& word) { return !seen.insert(text(word)).second; };
  const auto own = compounds_.begin() + static_cast<std::ptrdiff_t>(before);
  compounds_.erase(std::remove_if(own, compounds_.end(), is_repeated), compounds_.end());
}

void Words::emit_compound(size_t first, size_t last) {
  const size_t begin = folded_.size();
  for (size_t i = first; i < last; ++i) {
    if (i > first) folded_.push_back(pieces_[i].separator);
    folded_.append(folded_, pieces_[i].begin, pieces_[i].end - pieces_[i].begin);
  }
  if (last == pieces_.size()) folded_.append(tail_);
  if (folded_.size() - begin > kWordBytesMax) {
    folded_.resize(begin);
    return;
  }
  const Word compound{static_cast<uint32_t>(begin), static_cast<uint32_t>(folded_.size()),
                      pieces_[first].source_begin, pieces_[last - 1].source_end};
  compounds_.push_back(compound);
  emit_part_asked_for(compound);
}

// A version without its v, the day and the clock of a time: what stands for the whole where it is
// asked for.
void Words::emit_part_asked_for(const Word& compound) {
  const auto emit = [&](size_t begin, size_t size) {
    Word part = compound;
    part.begin += static_cast<uint32_t>(begin);
    part.end = part.begin + static_cast<uint32_t>(size);
    compounds_.push_back(part);
  };
  const std::string_view whole = text(compound);
  if (is_version(whole)) return emit(1, whole.size() - 1);
  const bool has_day = begins_with_day(whole);
  if (has_day) emit(0, kDayBytes);
  const size_t clock_begin = has_day ? kDayBytes + 1 : 0;
  const ClockBytes clock = clock_of(whole.substr(clock_begin));
  for (const size_t size : {clock.seconds, clock.minutes}) {
    if (size > 0 && size < whole.size()) emit(clock_begin, size);
  }
}

}  // namespace varve::text
