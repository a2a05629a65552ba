#include "query/text_check.h"

#include <algorithm>

#include "index/term_counter.h"

namespace varve::query {

namespace {

// The tails of a text's words.
std::vector<std::string_view> tails_of(const text::Words& text) {
  const auto& words = text.words();
  std::vector<std::string_view> tails(words.size());
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

bool holds_match(const text::Words& words, const text::Wildcard& wildcard) {
  const auto matches = [&](const auto& word) { return wildcard.matches(words.text(word)); };
  return std::any_of(words.words().begin(), words.words().end(), matches) ||
         std::any_of(words.compounds().begin(), words.compounds().end(), matches);
}

}  // namespace

std::string_view tail_of(std::string_view compound) {
  for (const std::string_view tail : {"++", "#"}) {
    if (compound.ends_with(tail)) return tail;
  }
  return {};
}

Phrase::Phrase(const text::Words& found) {
  const auto tails = tails_of(found);
  for (size_t i = 0; i < tails.size(); ++i) {
    words_.push_back({std::string(found.text(found.words()[i])), std::string(tails[i])});
    has_tails_ = has_tails_ || !tails[i].empty();
  }
}

bool Phrase::is_in(const text::Words& text) const {
  const auto tails = has_tails_ ? tails_of(text) : std::vector<std::string_view>();
  for (size_t at = 0; at + words_.size() <= text.words().size(); ++at) {
    if (is_at(at, text, tails)) return true;
  }
  return false;
}

bool Phrase::is_at(size_t at, const text::Words& text,
                   const std::vector<std::string_view>& tails) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    const Word& wanted = words_[i];
    if (text.text(text.words()[at + i]) != wanted.text) return false;
    if (!wanted.tail.empty() && tails[at + i] != wanted.tail) return false;
  }
  return true;
}

bool TextCheck::holds(json::Value entry, text::Analyzer& analyzer) const {
  bool found = false;
  index::for_each_text(entry, [&](std::string_view part) {
    if (found) return;
    const text::Words& words = analyzer.read(part);
    found = wildcard ? holds_match(words, *wildcard) : phrase->is_in(words);
  });
  return found;
}

}  // namespace varve::query
