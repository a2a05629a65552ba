#include "query/references.h"

#include <algorithm>
#include <set>
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
      reach_naming(frontier);
      frontier = std::move(next_);
    }
    return std::move(rows_);
  }

 private:
  void step(const std::string& id) {
    const auto row = index_.find(id);
    if (row && *row < row_end_ && index_.is_live(*row, now_ms_)) {
      index_.facets().references_of(*row, id, [&](const index::Reference& reference) {
        if (follows(reference.relation)) reach(reference.target);
      });
    }
    index::PostingCursor referring(inwards(id));
    for (uint32_t found = referring.seek(0); found < row_end_; found = referring.next()) {
      if (relation_ == kPlain) {
        naming_.push_back(found);
      } else {
        reach(index_.id(found));
      }
    }
  }

  // Of the rows that refer to one of these ids in any way, those that do so by plain references,
  // which have no lists of their own: most are plain, so that these would be all of them over
  // again. What a row refers to is read once for all ids: it may be every one of them.
  void reach_naming(const std::vector<std::string>& ids) {
    std::sort(naming_.begin(), naming_.end());
    naming_.erase(std::unique(naming_.begin(), naming_.end()), naming_.end());
    const std::set<std::string_view> wanted(ids.begin(), naming_.empty() ? ids.begin() : ids.end());
    for (const uint32_t row : naming_) {
      const std::string id = index_.id(row);
      bool names_one = false;
      index_.facets().references_of(row, id, [&](const index::Reference& reference) {
        names_one = names_one || (follows(reference.relation) && wanted.contains(reference.target));
      });
      if (names_one) reach(id);
    }
    naming_.clear();
  }

  [[nodiscard]] bool follows(std::string_view relation) const {
    if (relation_.empty()) return true;
    return relation_ == kPlain ? relation.empty() || relation == kPlain : relation == relation_;
  }

  [[nodiscard]] index::PostingList inwards(const std::string& id) const {
    const bool has_list = !relation_.empty() && relation_ != kPlain;
    return has_list ? index_.facets().referring(id, relation_) : index_.facets().referring(id);
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
  std::set<std::string, std::less<>> seen_;
  std::vector<std::string> next_;
  std::vector<uint32_t> naming_;  // rows to be asked by reach_naming()
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
