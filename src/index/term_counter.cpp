#include "index/term_counter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/release_memory.h"
#include "entry/entry.h"
#include "json/raw.h"
#include "text/characters.h"
#include "text/encoded.h"

namespace varve::index {

namespace {

// What counting one entry after the other may keep for the next.
constexpr uint64_t kBytesKept = uint64_t{32} << 10;
constexpr uint32_t kLengthMax = (uint32_t{1} << 31) - 1;

void visit_strings(json::Value value, const std::function<void(std::string_view)>& visit) {
  if (value.is_string()) {
    text::for_each_readable(value.text(), visit);
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

// A question mark at the end of a word, not one inside an address; ？ and ؟ are in none, and behind
// the first there is no blank.
bool asks_something(std::string_view text) {
  for (size_t at = text.find('?'); at != std::string_view::npos; at = text.find('?', at + 1)) {
    const auto after = text::character_at(text, at + 1);
    if (after.size_bytes == 0 || text::is_blank(after.code_point)) return true;
  }
  return text.find("\xEF\xBC\x9F") != std::string_view::npos ||
         text.find("\xD8\x9F") != std::string_view::npos;
}

}  // namespace

void for_each_text(json::Value entry, const std::function<void(std::string_view)>& visit) {
  if (const auto content = entry.find("content")) visit_strings(*content, visit);
  if (const auto tags = entry.find("tags")) visit_strings(*tags, visit);
}

// --- what was counted ----------------------------------------------------------------------------

void CountedRows::clear() {
  postings.clear();
  term_ends.clear();
  lengths.clear();
  terms.clear();
  terms_as_words.clear();
  words.clear();
  stems.clear();
}

uint64_t CountedRows::memory_bytes() const {
  return postings.capacity() * sizeof(Posting) + term_ends.capacity() * sizeof(TermEnd) +
         (lengths.capacity() + terms_as_words.capacity()) * sizeof(uint32_t) +
         terms.memory_bytes() + words.memory_bytes() + stems.memory_bytes();
}

void TermCounter::take(CountedRows* into) {
  into->clear();
  std::swap(*into, counted_);
  sort_by_terms(into);
  occurrences_.clear();
  row_ends_.clear();
}

void TermCounter::give_memory_back() {
  if (counted_.memory_bytes() > kBytesKept) release_memory(&counted_);
  if (occurrences_.capacity() * sizeof(Occurrence) > kBytesKept) release_memory(&occurrences_);
  if (row_ends_.capacity() * sizeof(uint64_t) > kBytesKept) release_memory(&row_ends_);
}

// Sorts postings by term, terms in the order in which they come first: a counting sort.
void TermCounter::sort_by_terms(CountedRows* into) {
  waiting_.resize(frequencies_.size());
  for (const Occurrence& found : occurrences_) {
    if (waiting_[found.term]++ == 0) into->term_ends.push_back({found.term, 0});
  }
  uint32_t begin = 0;
  for (auto& one : into->term_ends) begin += std::exchange(waiting_[one.term], begin);
  into->postings.resize(occurrences_.size());
  uint64_t at = 0;
  for (uint32_t row = 0; row < row_ends_.size(); ++row) {
    const uint32_t length = into->lengths[row] & ~CountedRows::kAsks;
    for (; at < row_ends_[row]; ++at) {
      const Occurrence& found = occurrences_[at];
      into->postings[waiting_[found.term]++] = {row, found.frequency, length};
    }
  }
  for (auto& one : into->term_ends) one.end = std::exchange(waiting_[one.term], 0);
}

text::Analyzer& TermCounter::analyzer() {
  if (analyzer_ == nullptr) analyzer_ = std::make_unique<text::Analyzer>(settings_);
  return *analyzer_;
}

// --- words ---------------------------------------------------------------------------------------

template <typename Value>
const Value* TermCounter::WordTable<Value>::find(std::string_view word) const {
  if (word.size() <= text::kShortWordBytesMax) {
    return shorts.find(text::short_word_of(word));
  }
  const auto found = longs.find(word);
  return found != longs.end() ? &found->second : nullptr;
}

template <typename Value>
void TermCounter::WordTable<Value>::insert(std::string_view word, const Value& value) {
  if (word.size() <= text::kShortWordBytesMax) {
    shorts.insert(text::short_word_of(word), value);
  } else {
    longs.emplace(word, value);
  }
}

template <typename Value>
uint64_t TermCounter::WordTable<Value>::memory_bytes() const {
  return shorts.memory_bytes() + longs.bucket_count() * sizeof(*longs.begin());
}

uint32_t TermCounter::term_number(std::string_view term) {
  if (const uint32_t* known = terms_.find(term)) return *known;
  const auto number = static_cast<uint32_t>(frequencies_.size());
  frequencies_.push_back(0);
  counted_.terms.add(term);
  terms_.insert(term, number);
  return number;
}

// What is looked up once for each different word, however often it comes.
TermCounter::Word TermCounter::make_word(std::string_view word, bool is_compound) {
  const std::string_view term = is_compound ? word : analyzer().stem(word);
  const Word made{term_number(term), !is_compound && !analyzer().is_stop_word(word)};
  if (term == word) {
    counted_.terms_as_words.push_back(made.term);
  } else {
    counted_.words.add(word);
    counted_.stems.add(term);
  }
  (is_compound ? compounds_ : words_).insert(word, made);
  return made;
}

void TermCounter::count(const Word& word) {
  row_length_ += word.counts ? 1 : 0;
  uint32_t& frequency = frequencies_[word.term];
  // Without a branch on what is far away in memory: that one is seldom foreseen.
  if (in_row_count_ == in_row_.size()) in_row_.resize(2 * in_row_.size() + 64);
  in_row_[in_row_count_] = word.term;
  in_row_count_ += frequency == 0 ? 1 : 0;
  frequency += 1;
}

// One text can be both: what a connector joined, and a word in another place.
void TermCounter::count_word(std::string_view word, bool is_compound) {
  const Word* known = (is_compound ? compounds_ : words_).find(word);
  count(known != nullptr ? *known : make_word(word, is_compound));
}

// No word by itself: it is not for wildcards, and makes no entry longer.
void TermCounter::count_part(std::string_view part) {
  if (analyzer().is_stop_word(part)) return;
  if (const Word* known = parts_.find(part)) return count(*known);
  part_term_.assign(1, kPartSign).append(analyzer().stem(part));
  const Word made{term_number(part_term_), false};
  parts_.insert(part, made);
  count(made);
}

void TermCounter::count_short(const text::ShortWord& word) {
  const uint64_t hash = words_.shorts.hash_of(word);
  words_.shorts.prefetch(hash);
  collected_[collected_count_++] = {word, hash};
  if (collected_count_ == kCollectedMax) count_collected();
}

// Each word is in another place of memory, and so is how often it was met: many are asked for
// before the first is waited for.
void TermCounter::count_collected() {
  std::array<Word, kCollectedMax> found;
  const size_t count = std::exchange(collected_count_, 0);
  for (size_t i = 0; i < count; ++i) {
    const Collected& wanted = collected_[i];
    text::ShortWordText memory;
    const Word* known = words_.shorts.find(wanted.word, wanted.hash);
    found[i] = known != nullptr ? *known : make_word(text_of(wanted.word, &memory), false);
    __builtin_prefetch(&frequencies_[found[i].term], 1);
  }
  for (size_t i = 0; i < count; ++i) this->count(found[i]);
}

void TermCounter::forget_terms() {
  words_ = WordTable<Word>(hash_seed_);
  compounds_ = WordTable<Word>(hash_seed_);
  parts_ = WordTable<Word>(hash_seed_);
  terms_ = WordTable<uint32_t>(hash_seed_);
  release_memory(&frequencies_);
  release_memory(&waiting_);
}

// --- rows ----------------------------------------------------------------------------------------

void TermCounter::add_text(std::string_view text) {
  row_asks_ = row_asks_ || asks_something(text);
  const text::Words& words =
      analyzer().read_others(text, [this](const text::ShortWord& word) { count_short(word); });
  count_collected();
  for (const auto& word : words.words()) count_word(words.text(word), false);
  for (const auto& compound : words.compounds()) count_word(words.text(compound), true);
  for (const auto& part : words.parts()) count_part(words.text(part));
  for (const auto& joined : words.joined()) count_part(words.text(joined));
}

void TermCounter::add_texts(json::Value entry) {
  for_each_text(entry, [this](std::string_view text) { add_text(text); });
}

void TermCounter::add(const json::Value* entry) {
  if (entry != nullptr) add_texts(*entry);
  end_row();
}

// What for_each_text() finds, without parsing the rest. False when only a Document can tell, maybe
// with a part of it added.
bool TermCounter::add_raw_texts(std::string_view line) {
  bool is_read = true;
  const auto add = [this](std::string_view text) { add_text(text); };
  const auto add_string = [&](std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) {
      text::for_each_readable(raw.substr(1, raw.size() - 2), add);
    } else if (is_read && (is_read = json::decode_raw_string(raw, &decoded_))) {
      text::for_each_readable(decoded_, add);
    }
  };
  const bool is_object = json::for_each_raw_member(line, [&](auto name, auto value) {
    if (name.find('\\') != std::string_view::npos) return false;
    if (name != "content" && name != "tags") return true;
    return json::for_each_raw_string(value, add_string) && is_read;
  });
  return is_object && is_read;
}

void TermCounter::add_line(std::string_view line, json::Document& scratch) {
  if (!add_raw_texts(line)) {
    forget_row();
    if (scratch.parse(line, entry::line_limits()).ok()) add_texts(scratch.root());
  }
  end_row();
}

void TermCounter::forget_row() {
  for (const uint32_t number : std::span(in_row_).first(in_row_count_)) frequencies_[number] = 0;
  in_row_count_ = 0;
  row_length_ = 0;
  row_asks_ = false;
}

void TermCounter::end_row() {
  row_length_ = std::min(row_length_, kLengthMax);
  for (const uint32_t number : std::span(in_row_).first(in_row_count_)) {
    occurrences_.push_back({number, frequencies_[number]});
  }
  row_ends_.push_back(occurrences_.size());
  counted_.lengths.push_back(row_length_ | (row_asks_ ? CountedRows::kAsks : 0));
  forget_row();
}

uint64_t TermCounter::memory_bytes() const {
  return words_.memory_bytes() + compounds_.memory_bytes() + parts_.memory_bytes() +
         terms_.memory_bytes() + counted_.memory_bytes() +
         occurrences_.capacity() * sizeof(Occurrence) + row_ends_.capacity() * sizeof(uint64_t) +
         (frequencies_.capacity() + in_row_.capacity() + waiting_.capacity()) * sizeof(uint32_t);
}

}  // namespace varve::index
