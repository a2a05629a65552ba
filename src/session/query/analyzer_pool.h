// AnalyzerPool: analyzers that the queries of all sessions of a store share by taking turns. Making
// one loads a stemmer and a list of stop words, which costs more than a short query.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "text/analyzer.h"

namespace varve::session {

class AnalyzerPool {
 public:
  explicit AnalyzerPool(text::Settings settings);

  // Gives the caller an analyzer for its own use: an idle one, or a new one. Any thread.
  std::unique_ptr<text::Analyzer> take();
  // Returns an analyzer from take(), for others to use. Any thread.
  void give_back(std::unique_ptr<text::Analyzer> analyzer) noexcept;

 private:
  static constexpr size_t kIdleMax = 8;

  const text::Settings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<text::Analyzer>> idle_;  // guarded by it
};

}  // namespace varve::session
