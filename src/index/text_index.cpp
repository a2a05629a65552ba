#include "index/text_index.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <numeric>
#include <utility>

namespace varve::index {

namespace {

constexpr char kTerm = 's';
constexpr char kWord = 'w';

// Below this compressing is not worth its time.
constexpr uint64_t kTextCompressBytesMin = uint64_t{2} << 20;
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

uint32_t TextIndex::term_number(std::string_view term) {
  const auto known = terms_by_text_.find(term);
  if (known != terms_by_text_.end()) return known->second;
  key_.assign(1, kTerm).append(term);
  terms_.push_back({&dictionary_.buffer(key_), 0});
  const auto number = static_cast<uint32_t>(terms_.size() - 1);
  terms_by_text_.emplace(term, number);
  return number;
}

// What is looked up once for each different word, however often it comes.
TextIndex::Word TextIndex::make_word(std::string_view word, bool is_compound) {
  const std::string term(is_compound ? word : analyzer_.stem(word));
  const Word made{term_number(term), !is_compound && !analyzer_.is_stop_word(word)};
  (is_compound ? compounds_ : words_).emplace(word, made);
  key_.assign(1, kWord).append(word);
  dictionary_.put(key_, term == word ? std::string_view("") : term);
  return made;
}

void TextIndex::count(std::string_view word, bool is_compound) {
  // One text can be both: what a connector joined, and a word in another place.
  const Words& all = is_compound ? compounds_ : words_;
  const auto known = all.find(word);
  const Word found = known != all.end() ? known->second : make_word(word, is_compound);
  if (found.counts) row_length_ += 1;
  Term& term = terms_[found.term];
  if (term.frequency == 0) in_row_.push_back(found.term);
  term.frequency += 1;
}

void TextIndex::add_text(std::string_view text) {
  const text::Words& words = analyzer_.read(text);
  for (const auto& word : words.words()) count(words.text(word), false);
  for (const auto& compound : words.compounds()) count(words.text(compound), true);
}

void TextIndex::add(const json::Value* entry) {
  const uint32_t row = row_count();
  row_length_ = 0;
  row_asks_ = false;
  if (entry != nullptr) {
    for_each_text(*entry, [&](std::string_view text) {
      row_asks_ = row_asks_ || asks_something(text);
      add_text(text);
    });
  }
  row_length_ = std::min(row_length_, kLengthMax);
  for (const uint32_t number : in_row_) {
    Term& term = terms_[number];
    term.rows->add(row, term.frequency, row_length_);
    term.frequency = 0;
  }
  postings_added_ += in_row_.size();
  in_row_.clear();
  lengths_.push_back(row_length_ | (row_asks_ ? kAsks : 0));
  total_length_ += row_length_;
}

PostingList TextIndex::rows_of(std::string_view term) const {
  std::string key(1, kTerm);
  key.append(term);
  return dictionary_.find(key);
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
  words_ = Words();
  compounds_ = Words();
  terms_by_text_ = Numbers();
  terms_.clear();
  postings_added_ = 0;
}

uint64_t TextIndex::memory_bytes() const {
  uint64_t bytes = dictionary_.memory_bytes() + lengths_.capacity() * sizeof(uint32_t) +
                   terms_.capacity() * sizeof(Term) + in_row_.capacity() * sizeof(uint32_t);
  for (const auto* words : {&words_, &compounds_}) {
    bytes += words->bucket_count() * sizeof(*words->begin());
  }
  return bytes + terms_by_text_.bucket_count() * sizeof(*terms_by_text_.begin());
}

}  // namespace varve::index
