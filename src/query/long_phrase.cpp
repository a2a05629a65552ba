#include "query/long_phrase.h"

#include <algorithm>
#include <utility>

namespace varve::query {

LongPhrase::LongPhrase(const std::vector<PhraseWord>& words)
    : words_(words), state_(words.size() / 64 + 1), next_(state_.size()) {
  going_.fill(Bits(state_.size()));
  for (const std::string_view tail : {"", "++", "#"}) tailed_[tail].resize(state_.size());
  for (size_t at = 0; at < words.size(); ++at) {
    places_[words[at].text].numbers.push_back(static_cast<uint32_t>(at));
    const bool is_last = at + 1 == words.size();
    for (const bool goes_on : {false, true}) {
      if (is_last || words[at].goes_on == goes_on) set(&going_[goes_on ? 1 : 0], at);
    }
    for (auto& [tail, bits] : tailed_) {
      if (words[at].tail.empty() || words[at].tail == tail) set(&bits, at);
    }
  }
  for (auto& [text, places] : places_) {
    if (places.numbers.size() < kWordsMin) continue;
    places.bits.resize(state_.size());
    for (const uint32_t at : places.numbers) set(&places.bits, at);
  }
}

bool LongPhrase::may_follow(size_t at, std::string_view tail, bool goes_on) const {
  return (at == 0 || has(state_, at - 1)) && has(going_[goes_on ? 1 : 0], at) &&
         has(tailed_.find(tail)->second, at);
}

void LongPhrase::take_many(const Bits& places, std::string_view tail, bool goes_on) {
  const Bits& going = going_[goes_on ? 1 : 0];
  const Bits& tailed = tailed_.find(tail)->second;
  uint64_t carried = 1;  // the phrase may begin at every word
  for (size_t i = 0; i < state_.size(); ++i) {
    next_[i] = (state_[i] << 1 | carried) & places[i] & going[i] & tailed[i];
    carried = state_[i] >> 63;
  }
}

bool LongPhrase::step(std::string_view text, std::string_view tail, bool goes_on, bool is_first,
                      bool is_last) {
  const auto places = places_.find(text);
  const size_t last = words_.size() - 1;
  if (places != places_.end() && !places->second.bits.empty()) {
    take_many(places->second.bits, tail, goes_on);
  } else {
    std::fill(next_.begin(), next_.end(), 0);
    if (places != places_.end()) {
      for (const uint32_t at : places->second.numbers) {
        if (may_follow(at, tail, goes_on)) set(&next_, at);
      }
    }
  }
  if (is_first && may_follow(0, tail, goes_on)) set(&next_, 0);
  if (is_last && may_follow(last, tail, goes_on)) set(&next_, last);
  std::swap(state_, next_);
  return has(state_, last);
}

}  // namespace varve::query
