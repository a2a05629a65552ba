// What a model is given for a question. varve answers with the text itself, within its budget of
// tokens; a rival with the entries that a program would then have to choose from.
#include <algorithm>

#include "bench_run.h"

namespace varve::bench {

namespace {

constexpr size_t kCheckedContexts = 20;
constexpr size_t kEntriesMin = 10;  // a budget of 4,000 tokens has room for twice as many

// Enough entries, and some with what was asked for.
void check_context(const Run& run, const RivalEntry& rival, const Question& question,
                   const std::string& answer) {
  const size_t count = numbers_in(answer).size();
  const bool has_word =
      std::any_of(question.words.begin(), question.words.end(),
                  [&](const std::string& word) { return answer.find(word) != std::string::npos; });
  if (count >= std::min(kEntriesMin, run.options.entry_count) && has_word) return;
  give_up(rival.name + " gives a context without what was asked for: " + answer);
}

void measure_questions(Run* run, Rival* store, const RivalEntry& rival, const std::string& work,
                       bool with_frequent) {
  const auto questions = make_questions(run->workload, run->options.entry_count,
                                        run->options.query_count, with_frequent);
  std::string answer;
  for (size_t i = 0; i < std::min(kCheckedContexts, questions.size()); ++i) {
    answer.clear();
    if (!store->build_context(questions[i], &answer)) return;
    check_context(*run, rival, questions[i], answer);
  }
  auto times = timed(*run, questions.size(), [&](size_t i) {
    answer.clear();
    store->build_context(questions[i], &answer);
  });
  for (double& time : times) time /= 1000;
  run->figures.note_percentiles(work, rival.name, "ms", times);
}

}  // namespace

void measure_contexts(Run* run, Rival* store, const RivalEntry& rival) {
  measure_questions(run, store, rival, "context of 4,000 tokens for a question", false);
  measure_questions(run, store, rival, "context, question with frequent words", true);
}

}  // namespace varve::bench
