#include "session/query/analyzer_pool.h"

#include <utility>

namespace varve::session {

AnalyzerPool::AnalyzerPool(text::Settings settings) : settings_(std::move(settings)) {
  idle_.reserve(kIdleMax);  // giving one back must not fail
}

std::unique_ptr<text::Analyzer> AnalyzerPool::take() {
  {
    const std::lock_guard guard(mutex_);
    if (!idle_.empty()) {
      auto analyzer = std::move(idle_.back());
      idle_.pop_back();
      return analyzer;
    }
  }
  return std::make_unique<text::Analyzer>(settings_);
}

void AnalyzerPool::give_back(std::unique_ptr<text::Analyzer> analyzer) noexcept {
  const std::lock_guard guard(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(analyzer));
}

}  // namespace varve::session
