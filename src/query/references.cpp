#include "query/references.h"

#include <unordered_set>
#include <utility>

namespace varve::query {

namespace {

constexpr std::string_view kPlain = "references";

class Walk {
 public:
  Walk(const index::Index& index, std::string_view relation, uint32_t row_end, int64_t now_ms)
      : index_(index), relation_(relation), row_end_(row_end), now_ms_(now_ms) {}

  std::vector<uint32_t> run(const std::vector<std::string>& ids, uint32_t depth_max) {
    std::vector<std::string> frontier;
    for (const auto& id : ids) {
      if (seen_.insert(id).second) frontier.push_back(id);
    }
    for (uint32_t depth = 0; depth < depth_max && !frontier.empty(); ++depth) {
      next_.clear();
      for (const auto& id : frontier) step(id);
      frontier = std::move(next_);
    }
    return std::move(rows_);
  }

 private:
  void step(const std::string& id) {
    const auto row = index_.find(id);
    if (row && *row < row_end_ && index_.is_live(*row, now_ms_)) {
      index_.facets().references_of(*row, [&](const index::Reference& reference) {
        if (follows(reference.relation)) reach(reference.target);
      });
    }
    index::PostingCursor referring(inwards(id));
    for (uint32_t found = referring.seek(0); found < row_end_; found = referring.next()) {
      reach(index_.id(found));
    }
  }

  [[nodiscard]] bool follows(std::string_view relation) const {
    if (relation_.empty()) return true;
    return relation_ == kPlain ? relation.empty() || relation == kPlain : relation == relation_;
  }

  [[nodiscard]] index::PostingList inwards(const std::string& id) const {
    if (relation_.empty()) return index_.facets().referring(id);
    return index_.facets().referring(id, relation_ == kPlain ? std::string_view() : relation_);
  }

  void reach(std::string_view id) {
    if (!seen_.insert(std::string(id)).second) return;
    const auto row = index_.find(id);
    if (!row || *row >= row_end_ || !index_.is_live(*row, now_ms_)) return;
    rows_.push_back(*row);
    next_.emplace_back(id);
  }

  const index::Index& index_;
  std::string_view relation_;
  uint32_t row_end_;
  int64_t now_ms_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> next_;
  std::vector<uint32_t> rows_;
};

}  // namespace

std::vector<uint32_t> walk_references(const index::Index& index,
                                      const std::vector<std::string>& ids,
                                      std::string_view relation, uint32_t depth_max,
                                      uint32_t row_end, int64_t now_ms) {
  return Walk(index, relation, row_end, now_ms).run(ids, depth_max);
}

}  // namespace varve::query
