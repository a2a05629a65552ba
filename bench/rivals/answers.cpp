#include "answers.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <string_view>

#include "rival.h"

namespace varve::bench {

namespace {

std::string text_of(const std::vector<size_t>& numbers) {
  std::string text;
  for (const size_t number : numbers) text += " " + std::to_string(number);
  return text.empty() ? " nothing" : text;
}

std::string text_of(const TextQuery& query) {
  std::string text = query.all ? "all of" : "any of";
  for (const auto& word : query.words) text += " " + word;
  return text;
}

void check_equal(const std::string& question, const std::string& rival, const std::string& answer,
                 const std::vector<size_t>& expected) {
  const std::vector<size_t> numbers = numbers_in(answer);
  if (numbers == expected) return;
  give_up(rival + " answered " + question + " with" + text_of(numbers) + ", expected" +
          text_of(expected));
}

// As the tokenizers split it: tags at their dots.
std::set<std::string> words_of(const WorkloadEntry& entry) {
  std::string text = indexed_text(entry);
  std::replace(text.begin(), text.end(), '.', ' ');
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

}  // namespace

std::vector<size_t> numbers_in(const std::string& answer) {
  constexpr std::string_view kMark = "\"id\":\"mem_";
  std::vector<size_t> numbers;
  size_t at = answer.find(kMark);
  for (; at != std::string::npos; at = answer.find(kMark, at + 1)) {
    numbers.push_back(std::strtoull(answer.c_str() + at + kMark.size(), nullptr, 10));
  }
  return numbers;
}

Answers::Answers(const Workload& workload, size_t entry_count)
    : workload_(workload), entry_count_(entry_count) {}

Answers::Numbers Answers::newest(const TaggedQuery& query) const {
  Numbers numbers;
  for (size_t number = entry_count_; number > 0 && numbers.size() < kAnswersMax; --number) {
    const int64_t time_ms = entry_time_ms(number - 1);
    if (time_ms >= query.end_ms) continue;
    if (time_ms < query.start_ms) break;
    const WorkloadEntry entry = workload_.head(number - 1);
    const bool has_tag =
        std::find(entry.tags.begin(), entry.tags.end(), query.tag) != entry.tags.end();
    if (has_tag && entry.type == query.type) numbers.push_back(number - 1);
  }
  return numbers;
}

Answers::Numbers Answers::best(const RankedQuery& query) {
  for (size_t number = importances_.size(); number < entry_count_; ++number) {
    importances_.push_back(workload_.head(number).importance);
  }
  std::vector<std::pair<double, size_t>> scores(entry_count_);
  for (size_t number = 0; number < entry_count_; ++number) {
    const int64_t age_ms = query.now_ms - entry_time_ms(number);
    scores[number] = {ranked_score(importances_[number], age_ms), number};
  }
  const size_t count = std::min(kAnswersMax, entry_count_);
  std::partial_sort(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(count),
                    scores.end(), std::greater<>());
  Numbers numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(scores[i].second);
  return numbers;
}

void Answers::check(const TaggedQuery& query, const std::string& rival, const std::string& answer) {
  const std::string question = query.tag + ", " + query.type + ", " +
                               timestamp_text(query.start_ms) + " to " +
                               timestamp_text(query.end_ms);
  const auto [found, is_new] = expected_.try_emplace(question);
  if (is_new) found->second = newest(query);
  check_equal(question, rival, answer, found->second);
}

void Answers::check(const RankedQuery& query, const std::string& rival, const std::string& answer) {
  const std::string question = "the best at " + timestamp_text(query.now_ms);
  const auto [found, is_new] = expected_.try_emplace(question);
  if (is_new) found->second = best(query);
  check_equal(question, rival, answer, found->second);
}

void Answers::check_words(const TextQuery& query, const std::string& rival,
                          const Numbers& numbers) const {
  for (const size_t number : numbers) {
    const std::set<std::string> words = words_of(workload_.entry(number));
    const auto is_in = [&](const std::string& word) { return words.count(word) > 0; };
    const bool is_right = query.all ? std::all_of(query.words.begin(), query.words.end(), is_in)
                                    : std::any_of(query.words.begin(), query.words.end(), is_in);
    if (!is_right) give_up(rival + " found " + entry_id(number) + " for " + text_of(query));
  }
}

void Answers::check(const TextQuery& query, const std::string& rival, const std::string& answer) {
  const Numbers numbers = numbers_in(answer);
  check_words(query, rival, numbers);
  const auto [first, is_new] =
      text_answers_.try_emplace(text_of(query), TextAnswer{rival, numbers});
  if (is_new) return;
  const Numbers& others = first->second.numbers;
  if (numbers.size() != others.size()) {
    give_up(rival + " found" + text_of(numbers) + " for " + text_of(query) + ", " +
            first->second.rival + text_of(others));
  }
  Agreement& agreement = agreements_[rival + " and " + first->second.rival];
  agreement.count += numbers.size();
  for (const size_t number : numbers) {
    agreement.shared_count += static_cast<size_t>(std::count(others.begin(), others.end(), number));
  }
}

void Answers::print_agreement() const {
  for (const auto& [engines, agreement] : agreements_) {
    if (agreement.count == 0) give_up(engines + " found nothing for any text");
    std::printf(
        "%s: %.0f %% of the text answers are the same\n", engines.c_str(),
        100.0 * static_cast<double>(agreement.shared_count) / static_cast<double>(agreement.count));
  }
}

}  // namespace varve::bench
