#include "query/text_check.h"

#include <algorithm>

#include "base/utf8.h"
#include "index/term_counter.h"
#include "text/characters.h"

namespace varve::query {

namespace {

// As Wildcard::matches(), for characters of scripts without spaces, which stand in two words, and
// for what touches them: a match may begin and end at each of them, and with any other word.
bool holds_across_words(const text::Words& words, const text::Wildcard& wildcard) {
  const auto& all = words.words();
  text::Wildcard::State state = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    std::string_view rest = words.text(all[i]);
    if (i > 0 && words.goes_on(i - 1)) rest.remove_prefix(all[i - 1].end - all[i].begin);
    const bool is_unspaced = words.is_unspaced(all[i]);
    bool may_begin = true;
    while (const auto code_point = take_code_point(rest)) {
      if (may_begin) state |= text::Wildcard::kBegin;
      may_begin = is_unspaced;
      state = wildcard.step(state, *code_point);
      if ((is_unspaced || rest.empty()) && wildcard.is_match(state)) return true;
    }
    if (!words.touches_next(i)) state = 0;
  }
  return false;
}

}  // namespace

std::string_view tail_of(std::string_view compound) {
  for (const std::string_view tail : {"++", "#"}) {
    if (compound.ends_with(tail)) return tail;
  }
  return {};
}

Tails tails_of(const text::Words& text) {
  const auto& words = text.words();
  Tails tails(words.size());
  for (const auto& compound : text.compounds()) {
    const std::string_view tail = tail_of(text.text(compound));
    if (tail.empty()) continue;
    const auto word = std::lower_bound(
        words.begin(), words.end(), compound.source_end,
        [](const text::Words::Word& one, uint64_t end) { return one.source_end < end; });
    const bool is_its_word = word != words.end() && word->source_end == compound.source_end;
    if (is_its_word) tails[static_cast<size_t>(word - words.begin())] = tail;
  }
  return tails;
}

Phrase::Phrase(const text::Words& found, const Tails& tails, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    const std::string_view text = found.text(found.words()[i]);
    words_.push_back({std::string(text), std::string(tails[i]), text::is_lone_unspaced(text),
                      i + 1 < end && found.goes_on(i)});
    has_tails_ = has_tails_ || !tails[i].empty();
  }
}

bool Phrase::is_in(const text::Words& text) const {
  const Tails tails = has_tails_ ? tails_of(text) : Tails();
  if (words_.size() >= LongPhrase::kWordsMin) return is_long_in(text, tails);
  for (size_t at = 0; at + words_.size() <= text.words().size(); ++at) {
    if (is_at(at, text, tails)) return true;
  }
  return false;
}

bool Phrase::is_long_in(const text::Words& text, const Tails& tails) const {
  const auto& words = text.words();
  if (words.size() < words_.size()) return false;
  LongPhrase phrase(words_);
  const size_t last = words_.size() - 1;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = text.text(words[at]);
    const bool is_end = phrase.step(word, tails.empty() ? std::string_view() : tails[at],
                                    at + 1 < words.size() && text.goes_on(at), is_word(0, word),
                                    is_word(last, word));
    if (is_end) return true;
  }
  return false;
}

bool Phrase::is_at(size_t at, const text::Words& text, const Tails& tails) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (!is_word(i, text.text(text.words()[at + i]))) return false;
    if (!words_[i].tail.empty() && tails[at + i] != words_[i].tail) return false;
    if (i + 1 < words_.size() && text.goes_on(at + i) != words_[i].goes_on) return false;
  }
  return true;
}

// A character alone is the end of a run where the phrase begins, and the start of one where it
// ends.
bool Phrase::is_word(size_t number, std::string_view text) const {
  const PhraseWord& wanted = words_[number];
  if (!wanted.is_lone) return text == wanted.text;
  const bool is_first = number == 0;
  const bool is_last = number + 1 == words_.size();
  if (is_first && is_last) return text.find(wanted.text) != std::string_view::npos;
  if (is_first) return text.ends_with(wanted.text);
  return is_last ? text.starts_with(wanted.text) : text == wanted.text;
}

bool TextCheck::holds_match(const text::Words& words) const {
  if (wildcard_is_unspaced) return holds_across_words(words, *wildcard);
  const auto matches = [&](const auto& word) { return wildcard->matches(words.text(word)); };
  return std::any_of(words.words().begin(), words.words().end(), matches) ||
         std::any_of(words.compounds().begin(), words.compounds().end(), matches);
}

namespace {

// What a check has not found yet.
struct Missing {
  explicit Missing(const TextCheck& of) : check(&of), match(of.wildcard.has_value()) {
    for (const Phrase& phrase : of.phrases) phrases.push_back(&phrase);
  }
  [[nodiscard]] bool is_none() const { return phrases.empty() && !match; }
  void look(const text::Words& words) {
    std::erase_if(phrases, [&](const Phrase* phrase) { return phrase->is_in(words); });
    match = match && !check->holds_match(words);
  }

  const TextCheck* check;
  std::vector<const Phrase*> phrases;
  bool match;
};

}  // namespace

void for_each_held(json::Value entry, const std::vector<const TextCheck*>& checks,
                   text::Analyzer& analyzer, const std::function<void(size_t)>& visit) {
  std::vector<Missing> all;
  all.reserve(checks.size());
  for (const TextCheck* check : checks) all.emplace_back(*check);
  const auto is_done = [](const Missing& one) { return one.is_none(); };
  index::for_each_text(entry, [&](std::string_view part) {
    if (std::all_of(all.begin(), all.end(), is_done)) return;
    const text::Words& words = analyzer.read(part);
    for (Missing& one : all) one.look(words);
  });
  for (size_t number = 0; number < all.size(); ++number) {
    if (all[number].is_none()) visit(number);
  }
}

}  // namespace varve::query
