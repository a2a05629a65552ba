#include "query/references.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>
#include <set>
#include <utility>

namespace varve::query {

namespace {

constexpr std::string_view kPlain = "references";

class Walk {
 public:
  Walk(const index::Index& index, std::string_view relation, uint32_t row_end, int64_t now_ms)
      : index_(index),
        relation_(relation),
        row_end_(std::min(row_end, index.size())),
        now_ms_(now_ms) {}

  std::vector<uint32_t> run(const std::vector<std::string>& ids, uint32_t depth_max) {
    std::vector<Node> frontier;
    std::set<std::string_view> given;
    for (const auto& id : ids) {
      if (!given.insert(id).second) continue;
      const auto row = live_row_of(id);
      if (row) reached_.insert(*row);
      frontier.push_back({row, id});
    }
    for (uint32_t depth = 0; depth < depth_max && !frontier.empty(); ++depth) {
      next_.clear();
      for (const Node& node : frontier) step(node);
      reach_naming(frontier);
      frontier = std::move(next_);
    }
    return std::move(rows_);
  }
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  struct Node {
    std::optional<uint32_t> row;  // of a live entry
    std::string id;
  };

  [[nodiscard]] bool counts(uint32_t row) const {
    return row < row_end_ && index_.is_live(row, now_ms_);
  }
  [[nodiscard]] std::optional<uint32_t> live_row_of(std::string_view id) const {
    const auto row = index_.find(id);
    return row && counts(*row) ? row : std::nullopt;
  }

  void step(const Node& node) {
    if (node.row) {
      index_.facets().references_of(*node.row, node.id, [&](const index::Reference& reference) {
        if (!follows(reference.relation)) return;
        if (const auto row = live_row_of(reference.target)) reach(*row);
      });
    }
    index::PostingCursor referring(inwards(node.id));
    for (uint32_t found = referring.seek(0); found < row_end_; found = referring.next()) {
      if (relation_ == kPlain) {
        naming_.push_back(found);
      } else if (counts(found)) {
        reach(found);
      }
    }
    is_damaged_ = is_damaged_ || referring.is_damaged();
  }

  // Of the rows that refer to one of these ids in any way, those that do so by plain references,
  // which have no lists of their own: most are plain, so that these would be all of them over
  // again. What a row refers to is read once for all ids: it may be every one of them.
  void reach_naming(const std::vector<Node>& nodes) {
    if (naming_.empty()) return;
    std::sort(naming_.begin(), naming_.end());
    naming_.erase(std::unique(naming_.begin(), naming_.end()), naming_.end());
    std::set<std::string_view> wanted;
    for (const Node& node : nodes) wanted.insert(node.id);
    for (const uint32_t row : naming_) {
      if (!counts(row) || reached_.contains(row)) continue;
      const std::string id = index_.id(row);
      bool names_one = false;
      index_.facets().references_of(row, id, [&](const index::Reference& reference) {
        names_one = names_one || (follows(reference.relation) && wanted.contains(reference.target));
      });
      if (names_one) reach(row);
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

  // A live row. Of a wide graph most are reached over and over, which must cost nothing.
  void reach(uint32_t row) {
    if (!reached_.insert(row).second) return;
    rows_.push_back(row);
    next_.push_back({row, index_.id(row)});
  }

  const index::Index& index_;
  std::string_view relation_;
  uint32_t row_end_;
  int64_t now_ms_;
  boost::unordered_flat_set<uint32_t> reached_;  // rows, also of what was given
  std::vector<Node> next_;
  std::vector<uint32_t> naming_;  // rows to be asked by reach_naming()
  std::vector<uint32_t> rows_;
  bool is_damaged_ = false;
};

}  // namespace

std::vector<uint32_t> walk_references(const index::Index& index,
                                      const std::vector<std::string>& ids,
                                      std::string_view relation, uint32_t depth_max,
                                      uint32_t row_end, int64_t now_ms, bool* is_damaged) {
  Walk walk(index, relation, row_end, now_ms);
  std::vector<uint32_t> rows = walk.run(ids, depth_max);
  *is_damaged = *is_damaged || walk.is_damaged();
  return rows;
}

}  // namespace varve::query
