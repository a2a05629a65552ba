// Whether the engines did the work that was timed: a benchmark of nothing is a defect. Answers
// about tags and ranks must equal those computed here from the workload itself; answers about text
// must hold the words, and every engine must find as many as the others do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "queries.h"
#include "workload.h"

namespace varve::bench {

class Answers {
 public:
  Answers(const Workload& workload, size_t entry_count);

  // Each ends the program when the answer is wrong.
  void check(const TaggedQuery& query, const std::string& rival, const std::string& answer);
  void check(const RankedQuery& query, const std::string& rival, const std::string& answer);
  void check(const TextQuery& query, const std::string& rival, const std::string& answer);

  // How much of their text answers the engines share, since their BM25 differ in details.
  void print_agreement() const;

 private:
  using Numbers = std::vector<size_t>;

  struct TextAnswer {
    std::string rival;
    Numbers numbers;
  };
  struct Agreement {
    size_t shared_count = 0;
    size_t count = 0;
  };

  [[nodiscard]] Numbers newest(const TaggedQuery& query) const;
  [[nodiscard]] Numbers best(const RankedQuery& query);
  void check_words(const TextQuery& query, const std::string& rival, const Numbers& numbers) const;

  const Workload& workload_;
  size_t entry_count_;
  std::vector<double> importances_;                 // filled when first needed
  std::map<std::string, Numbers> expected_;         // by query: the same for all engines
  std::map<std::string, TextAnswer> text_answers_;  // the first engine's, by query
  std::map<std::string, Agreement> agreements_;     // by rival
};

// The numbers of the entries in an answer, in its order.
std::vector<size_t> numbers_in(const std::string& answer);

}  // namespace varve::bench
