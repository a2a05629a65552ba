#include "index/text_index.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "base/release_memory.h"
#include "index/word_stem.h"

namespace varve::index {

namespace {

constexpr char kTerm = 's';
constexpr char kWord = 'w';

// Below this compressing is not worth its time.
constexpr uint64_t kTextCompressBytesMin = uint64_t{2} << 20;
// What settling may keep for the next time.
constexpr uint64_t kCountedBytesKept = uint64_t{32} << 10;
constexpr size_t kListsAhead = 4;

}  // namespace

// --- rows ----------------------------------------------------------------------------------------

void TextIndex::add(const json::Value* entry) {
  counter_.add(entry);
  settle();
}

void TextIndex::settle() {
  counter_.take(&counted_);
  add_counted(counted_);
  if (counted_.memory_bytes() > kCountedBytesKept) release_memory(&counted_);
  counter_.give_memory_back();
}

// Terms and words that were met first in these rows.
void TextIndex::add_terms(const CountedRows& rows) {
  for (size_t i = 0; i < rows.terms.size(); ++i) {
    key_.assign(1, kTerm).append(rows.terms[i]);
    lists_.push_back(dictionary_.list_number(key_));
  }
  for (size_t i = 0; i < rows.words.size(); ++i) {
    key_.assign(1, kWord).append(rows.words[i]);
    stem_.clear();
    append_stem(&stem_, rows.words[i], rows.stems[i]);
    dictionary_.put(key_, stem_);
  }
  for (const uint32_t term : rows.terms_as_words) dictionary_.mark(lists_[term]);
}

// Each list is in another place of memory, and its bytes in one more: they are asked for while
// those before are added to.
void TextIndex::add_postings(const CountedRows& rows) {
  const auto number_of = [&](size_t i) { return lists_[rows.term_ends[i].term]; };
  const size_t count = rows.term_ends.size();
  uint32_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + 2 * kListsAhead < count) dictionary_.list(number_of(i + 2 * kListsAhead)).prefetch();
    if (i + kListsAhead < count) dictionary_.list(number_of(i + kListsAhead)).prefetch_end();
    const uint32_t end = rows.term_ends[i].end;
    dictionary_.add(number_of(i), std::span(rows.postings).subspan(begin, end - begin),
                    row_count());
    begin = end;
  }
}

void TextIndex::add_counted(const CountedRows& rows) {
  add_terms(rows);
  add_postings(rows);
  postings_added_ += rows.postings.size();
  lengths_.insert(lengths_.end(), rows.lengths.begin(), rows.lengths.end());
  for (const uint32_t length : rows.lengths) total_length_ += length & ~kAsks;
}

// --- what there is -------------------------------------------------------------------------------

PostingList TextIndex::rows_of(std::string_view term) const {
  return dictionary_.find(field_key(kTerm, term));
}

PostingList TextIndex::rows_with_part(std::string_view stem) const {
  std::string key{kTerm, kPartSign};
  key.append(stem);
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
  bool goes_on = true;
  std::string key = field_key(kTerm, prefix);
  dictionary_.for_each_marked(key, [&](std::string_view found) {
    return goes_on = visit(found.substr(1), found.substr(1));
  });
  if (!goes_on) return;
  key.front() = kWord;
  dictionary_.for_each_value(key, [&](std::string_view found, std::string_view stem) {
    return visit(found.substr(1), stem_of(found.substr(1), stem));
  });
}

void TextIndex::set_frozen(Segment terms, std::vector<uint32_t> lengths) {
  dictionary_.set_frozen(std::move(terms), static_cast<uint32_t>(lengths.size()));
  for (const uint32_t length : lengths) total_length_ += length & ~kAsks;
  lengths.insert(lengths.end(), lengths_.begin(), lengths_.end());
  lengths_ = std::move(lengths);
  first_row_ = 0;
}

namespace {

// Terms come before words.
class RenumberWords final : public Dictionary::Renumber {
 public:
  explicit RenumberWords(uint64_t hash_seed) : dropped_terms_(0, KeyHash{hash_seed}) {}
  bool has_value(std::string_view key) override { return key.front() == kWord; }
  bool keep_value(std::string_view key, std::string_view value, std::string*) override {
    return !dropped_terms_.contains(stem_of(key.substr(1), value));
  }
  void dropped_list(std::string_view key) override { dropped_terms_.emplace(key.substr(1)); }

 private:
  boost::unordered_flat_set<std::string, KeyHash, std::equal_to<>> dropped_terms_;
};

}  // namespace

TextIndex TextIndex::renumbered(const Renumbering& rows, const text::Settings& settings) const {
  TextIndex text(settings, hash_seed());
  for (const uint32_t row : rows.kept()) {
    if (row >= lengths_.size()) break;  // its words are not indexed yet
    text.lengths_.push_back(lengths_[row]);
    text.total_length_ += length(row);
  }
  RenumberWords keys(hash_seed());
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
  counter_.forget_terms();
  release_memory(&lists_);
  postings_added_ = 0;
}

uint64_t TextIndex::memory_bytes() const {
  return dictionary_.memory_bytes() + counter_.memory_bytes() + counted_.memory_bytes() +
         (lengths_.capacity() + lists_.capacity()) * sizeof(uint32_t);
}

}  // namespace varve::index
