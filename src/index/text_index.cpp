#include "index/text_index.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "entry/entry.h"
#include "json/raw.h"

namespace varve::index {

namespace {

constexpr char kTerm = 's';
constexpr char kWord = 'w';

// Below this compressing is not worth its time.
constexpr uint64_t kTextCompressBytesMin = uint64_t{2} << 20;
// So many may be added without new memory.
constexpr size_t kOccurrencesKept = 4096;
constexpr uint32_t kLengthMax = (uint32_t{1} << 31) - 1;

void visit_strings(json::Value value, const std::function<void(std::string_view)>& visit) {
  if (value.is_string()) {
    visit(value.text());
  } else if (value.is_array()) {
    value.for_each_item([&](json::Value item) {
      visit_strings(item, visit);
      return true;
    });
  } else if (value.is_object()) {
    value.for_each_member([&](std::string_view, json::Value member) {
      visit_strings(member, visit);
      return true;
    });
  }
}

// A question mark at the end of a word, not one inside an address.
bool asks_something(std::string_view text) {
  for (const std::string_view mark : {"?", "\xEF\xBC\x9F", "\xD8\x9F"}) {  // also ？ and ؟
    for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      const size_t after = at + mark.size();
      if (after == text.size() || text[after] == ' ' ||
          (text[after] >= '\t' && text[after] <= '\r')) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void for_each_text(json::Value entry, const std::function<void(std::string_view)>& visit) {
  if (const auto content = entry.find("content")) visit_strings(*content, visit);
  if (const auto tags = entry.find("tags")) visit_strings(*tags, visit);
}

// --- words ---------------------------------------------------------------------------------------

const TextIndex::Word* TextIndex::WordTable::find(std::string_view word) const {
  if (word.size() <= text::kShortWordBytesMax) {
    const auto found = shorts.find(text::short_word_of(word));
    return found != shorts.end() ? &found->second : nullptr;
  }
  const auto found = longs.find(word);
  return found != longs.end() ? &found->second : nullptr;
}

void TextIndex::WordTable::insert(std::string_view word, const Word& value) {
  if (word.size() <= text::kShortWordBytesMax) {
    shorts.emplace(text::short_word_of(word), value);
  } else {
    longs.emplace(word, value);
  }
}

uint64_t TextIndex::WordTable::memory_bytes() const {
  return shorts.bucket_count() * sizeof(*shorts.begin()) +
         longs.bucket_count() * sizeof(*longs.begin());
}

uint32_t TextIndex::term_number(std::string_view term) {
  key_.assign(1, kTerm).append(term);
  const uint32_t number = dictionary_.list_number(key_);
  if (number >= terms_.size()) terms_.resize(number + 1);
  return number;
}

// What is looked up once for each different word, however often it comes.
TextIndex::Word TextIndex::make_word(std::string_view word, bool is_compound) {
  const std::string term(is_compound ? word : analyzer_.stem(word));
  const Word made{term_number(term), !is_compound && !analyzer_.is_stop_word(word)};
  (is_compound ? compounds_ : words_).insert(word, made);
  key_.assign(1, kWord).append(word);
  dictionary_.put(key_, term == word ? std::string_view("") : term);
  return made;
}

void TextIndex::count(const Word& word) {
  if (word.counts) row_length_ += 1;
  Term& term = terms_[word.term];
  if (term.frequency == 0) in_row_.push_back(word.term);
  term.frequency += 1;
}

// One text can be both: what a connector joined, and a word in another place.
void TextIndex::count_word(std::string_view word, bool is_compound) {
  const Word* known = (is_compound ? compounds_ : words_).find(word);
  count(known != nullptr ? *known : make_word(word, is_compound));
}

void TextIndex::count_short(const text::ShortWord& word) {
  const auto known = words_.shorts.find(word);
  if (known != words_.shorts.end()) {
    count(known->second);
    return;
  }
  text::ShortWordText memory;
  count(make_word(text_of(word, &memory), false));
}

// --- rows ----------------------------------------------------------------------------------------

void TextIndex::add_text(std::string_view text) {
  row_asks_ = row_asks_ || asks_something(text);
  const text::Words& words =
      analyzer_.read_others(text, [this](const text::ShortWord& word) { count_short(word); });
  for (const auto& word : words.words()) count_word(words.text(word), false);
  for (const auto& compound : words.compounds()) count_word(words.text(compound), true);
}

void TextIndex::add_texts(json::Value entry) {
  for_each_text(entry, [this](std::string_view text) { add_text(text); });
}

void TextIndex::add(const json::Value* entry) {
  if (entry != nullptr) add_texts(*entry);
  end_row();
  settle();
}

// What for_each_text() finds, without parsing the rest. False when only a Document can tell, maybe
// with a part of it added.
bool TextIndex::add_raw_texts(std::string_view line) {
  bool is_read = true;
  const auto add_string = [&](std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) {
      add_text(raw.substr(1, raw.size() - 2));
    } else if (is_read && (is_read = json::decode_raw_string(raw, &decoded_))) {
      add_text(decoded_);
    }
  };
  const bool is_object = json::for_each_raw_member(line, [&](auto name, auto value) {
    if (name.find('\\') != std::string_view::npos) return false;
    if (name != "content" && name != "tags") return true;
    return json::for_each_raw_string(value, add_string) && is_read;
  });
  return is_object && is_read;
}

void TextIndex::add_line(std::string_view line, json::Document& scratch) {
  if (!add_raw_texts(line)) {
    forget_row();
    if (scratch.parse(line, entry::line_limits()).ok()) add_texts(scratch.root());
  }
  end_row();
}

void TextIndex::forget_row() {
  for (const uint32_t number : in_row_) terms_[number].frequency = 0;
  in_row_.clear();
  row_length_ = 0;
  row_asks_ = false;
}

void TextIndex::end_row() {
  row_length_ = std::min(row_length_, kLengthMax);
  for (const uint32_t number : in_row_) {
    Term& term = terms_[number];
    if (term.waiting++ == 0) waiting_terms_.push_back(number);
    occurrences_.push_back({number, term.frequency});
  }
  row_ends_.push_back(occurrences_.size());
  lengths_.push_back(row_length_ | (row_asks_ ? kAsks : 0));
  total_length_ += row_length_;
  forget_row();
}

// By terms, and rows rising in each, in the order of waiting_terms_. Sets each term's `waiting` to
// where its own end.
std::vector<Posting> TextIndex::sort_occurrences() {
  uint32_t begin = 0;
  for (const uint32_t number : waiting_terms_) {
    begin += std::exchange(terms_[number].waiting, begin);
  }
  std::vector<Posting> sorted(occurrences_.size());
  const auto first_row = static_cast<uint32_t>(row_count() - row_ends_.size());
  uint64_t at = 0;
  for (size_t i = 0; i < row_ends_.size(); ++i) {
    const auto row = static_cast<uint32_t>(first_row + i);
    const uint32_t row_length = lengths_[row - first_row_] & ~kAsks;
    for (; at < row_ends_[i]; ++at) {
      const Occurrence& found = occurrences_[at];
      sorted[terms_[found.term].waiting++] = {row, found.frequency, row_length};
    }
  }
  return sorted;
}

void TextIndex::settle() {
  const std::vector<Posting> sorted = sort_occurrences();
  uint32_t begin = 0;
  for (const uint32_t number : waiting_terms_) {
    const uint32_t end = std::exchange(terms_[number].waiting, 0);
    dictionary_.list(number).add(std::span(sorted).subspan(begin, end - begin));
    begin = end;
  }
  postings_added_ += sorted.size();
  occurrences_.clear();
  if (occurrences_.capacity() > kOccurrencesKept) occurrences_.shrink_to_fit();
  row_ends_.clear();
  waiting_terms_.clear();
}

PostingList TextIndex::rows_of(std::string_view term) const {
  std::string key(1, kTerm);
  key.append(term);
  return dictionary_.find_rows(key);
}

uint64_t TextIndex::total_length(uint32_t rows) const {
  const auto first = lengths_.begin() + std::min<uint32_t>(rows, row_count());
  return std::accumulate(first, lengths_.end(), total_length_,
                         [](uint64_t sum, uint32_t length) { return sum - (length & ~kAsks); });
}

void TextIndex::for_each_word(
    std::string_view prefix,
    const std::function<bool(std::string_view, std::string_view)>& visit) const {
  std::string key(1, kWord);
  key.append(prefix);
  dictionary_.for_each_key(key, [&](std::string_view found) {
    const std::string_view word = found.substr(1);
    const std::string_view stem = dictionary_.find_value(found);
    return visit(word, stem.empty() ? word : stem);
  });
}

void TextIndex::set_frozen(Segment terms, std::vector<uint32_t> lengths) {
  dictionary_.set_frozen(std::move(terms));
  for (const uint32_t length : lengths) total_length_ += length & ~kAsks;
  lengths.insert(lengths.end(), lengths_.begin(), lengths_.end());
  lengths_ = std::move(lengths);
  first_row_ = 0;
}

namespace {

// Terms come before words.
class RenumberWords final : public Dictionary::Renumber {
 public:
  bool has_value(std::string_view key) override { return key.front() == kWord; }
  bool keep_value(std::string_view key, std::string_view value, std::string*) override {
    return !dropped_terms_.contains(value.empty() ? key.substr(1) : value);
  }
  void dropped_list(std::string_view key) override { dropped_terms_.emplace(key.substr(1)); }

 private:
  boost::unordered_flat_set<std::string, KeyHash, std::equal_to<>> dropped_terms_;
};

}  // namespace

TextIndex TextIndex::renumbered(const Renumbering& rows, const text::Settings& settings) const {
  TextIndex text(settings);
  for (const uint32_t row : rows.kept()) {
    if (row >= lengths_.size()) break;  // its words are not indexed yet
    text.lengths_.push_back(lengths_[row]);
    text.total_length_ += length(row);
  }
  RenumberWords keys;
  text.dictionary_ = dictionary_.renumbered(rows, text.length_lookup(), keys);
  return text;
}

bool TextIndex::is_compression_due(uint64_t added_bytes_max) const {
  if (first_row_ != 0) return false;  // what is frozen is not here yet
  const uint64_t added_bytes = dictionary_.added_bytes() + postings_added_ * kPostingBytes;
  return added_bytes >=
         std::max({kTextCompressBytesMin, added_bytes_max, dictionary_.frozen().size_bytes() / 2});
}

void TextIndex::compress() {
  if (!is_compression_due(0) || !dictionary_.load_whole().ok()) return;
  dictionary_.freeze(length_lookup());
  words_ = WordTable();
  compounds_ = WordTable();
  terms_ = {};
  postings_added_ = 0;
}

uint64_t TextIndex::memory_bytes() const {
  return dictionary_.memory_bytes() + words_.memory_bytes() + compounds_.memory_bytes() +
         lengths_.capacity() * sizeof(uint32_t) + terms_.capacity() * sizeof(Term) +
         in_row_.capacity() * sizeof(uint32_t) + occurrences_.capacity() * sizeof(Occurrence) +
         row_ends_.capacity() * sizeof(uint64_t) + waiting_terms_.capacity() * sizeof(uint32_t);
}

}  // namespace varve::index
