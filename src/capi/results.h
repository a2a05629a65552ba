// Results objects: what varve_results_t stands for.
#pragma once

#include <string>
#include <utility>

#include "capi/handle_table.h"
#include "session/query/query_results.h"

namespace varve::capi {

class ResultsRecord final : public Record {
 public:
  static constexpr HandleType kType = HandleType::kResults;

  explicit ResultsRecord(session::QueryResults results) : results_(std::move(results)) {}

  [[nodiscard]] const session::QueryResults& results() const noexcept { return results_; }
  // Made when it is first asked for, by one thread at a time.
  const std::string& json() {
    if (json_.empty()) json_ = results_.json();
    return json_;
  }

 private:
  session::QueryResults results_;
  std::string json_;
};

inline Result<Token> open_results(Result<session::QueryResults> results) {
  VARVE_TRY_ASSIGN(auto found, std::move(results));
  return HandleTable::of_process().open(std::make_shared<ResultsRecord>(std::move(found)));
}

}  // namespace varve::capi
