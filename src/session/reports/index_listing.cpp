#include "session/reports/index_listing.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "decay/decay.h"
#include "log/line_reader.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// As a query without words has it.
double relevance_of(const entry::EntryFacts& facts, const decay::Rules& rules, int64_t now_ms) {
  const double age_hours = decay::age_hours(facts.timestamp_ms, now_ms);
  const double factor = decay::factor(rules.of(facts.type), age_hours);
  return decay::relevance(facts.importance, factor, decay::recency_boost(age_hours), 1);
}

// One row of the listing, from its line.
json::Tree listed(const entry::EntryFacts& facts, uint64_t line_number, uint64_t offset) {
  json::Tree tags = json::Tree::array();
  for (const auto& tag : facts.tags) tags.push(json::Tree::string(tag));
  json::Tree row = json::Tree::object();
  row.set("line_number", json::Tree::integer_unsigned(line_number));
  row.set("byte_offset", json::Tree::integer_unsigned(offset));
  row.set("type", json::Tree::string(facts.type));
  row.set("timestamp", json::Tree::string(format_rfc3339(facts.timestamp_ms)));
  row.set("tags", std::move(tags));
  row.set("importance", json::Tree::number(facts.importance));
  return row;
}

json::Tree lists_of_ids(const std::map<std::string, std::vector<std::string>>& by_name) {
  json::Tree tree = json::Tree::object();
  for (const auto& [name, ids] : by_name) {
    json::Tree list = json::Tree::array();
    for (const auto& id : ids) list.push(json::Tree::string(id));
    tree.set(name, std::move(list));
  }
  return tree;
}

// The index as a document: each live entry by its id, and the ids by tag and by type.
class IndexListing {
 public:
  explicit IndexListing(Core& core) : core_(core) {}

  // kGone when the log was replaced meanwhile.
  Status read() {
    VARVE_TRY(core_.catch_up());
    uint64_t covered_bytes = 0;
    {
      const std::shared_lock lock(core_.index_mutex);
      VARVE_TRY(core_.check_whole());
      generation_ = core_.view.tail.generation;
      covered_bytes = core_.index.coverage.entries_bytes;
    }
    now_ms_ = core_.context.clock->now_ms();
    rules_ = core_.decay_rules();
    log::LineReader reader(*core_.storage, log::Stream::kEntries, {generation_, 0, covered_bytes});
    json::Document scratch;
    entry::EntryFacts facts;
    log::Line line;
    for (uint64_t number = 1;; ++number) {
      VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
      if (!more) return {};
      if (!entry::read_line(line.bytes, scratch, &facts).ok()) continue;
      VARVE_TRY_ASSIGN(const bool is_live, is_live_line(facts.id, line.offset));
      if (is_live) add(facts, number, line.offset);
    }
  }

  json::Tree tree() && {
    json::Tree entries = json::Tree::object();
    for (auto& [id, row] : by_id_) entries.set(id, std::move(row));
    json::Tree tree = json::Tree::object();
    tree.set("version", json::Tree::integer(1));
    tree.set("last_updated", json::Tree::string(format_rfc3339(now_ms_)));
    tree.set("entries", std::move(entries));
    tree.set("tags", lists_of_ids(by_tag_));
    tree.set("types", lists_of_ids(by_type_));
    return tree;
  }

 private:
  // Whether the line is that of a live entry, not one that repeats its id.
  Result<bool> is_live_line(std::string_view id, uint64_t offset) const {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole());
    if (core_.view.tail.generation != generation_) return log::replaced();
    const auto row = core_.index.find(id);
    return row && core_.index.is_live(*row, now_ms_) && core_.index.location(*row).offset == offset;
  }

  void add(const entry::EntryFacts& facts, uint64_t line_number, uint64_t offset) {
    json::Tree& row = by_id_[facts.id];
    row = listed(facts, line_number, offset);
    row.set("current_relevance", json::Tree::number(relevance_of(facts, *rules_, now_ms_)));
    for (const auto& tag : facts.tags) {  // an entry may say a tag twice
      auto& ids = by_tag_[tag];
      if (ids.empty() || ids.back() != facts.id) ids.push_back(facts.id);
    }
    by_type_[facts.type].push_back(facts.id);
  }

  Core& core_;
  int64_t now_ms_ = 0;
  std::shared_ptr<const decay::Rules> rules_;
  uint64_t generation_ = 0;
  std::map<std::string, json::Tree> by_id_;
  std::map<std::string, std::vector<std::string>> by_tag_;
  std::map<std::string, std::vector<std::string>> by_type_;
};

}  // namespace

Result<json::Tree> list_index(Core& core) {
  return while_replaced([&]() -> Result<json::Tree> {
    IndexListing listing(core);
    VARVE_TRY(listing.read());
    return std::move(listing).tree();
  });
}

}  // namespace varve::session
