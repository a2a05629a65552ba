#include "session/reports/index_listing.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/time.h"
#include "decay/decay.h"
#include "json/canonical.h"
#include "json/pretty_text.h"
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

struct ComesBefore {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return json::compare_utf16(a, b) < 0;
  }
};

// A name's entries, by their numbers.
using EntriesByName = std::map<std::string, std::vector<uint32_t>, ComesBefore>;
using Named = EntriesByName::value_type;

// What the listing says of an entry. A million of them are held until all are known, and a document
// of them takes far more memory.
struct ListedEntry {
  uint64_t id_end = 0;    // in all ids, one behind the other
  uint64_t tags_end = 0;  // the same in all tags
  const Named* type = nullptr;
  uint64_t line_number = 0;
  uint64_t byte_offset = 0;
  int64_t timestamp_ms = 0;
  double importance = 0;
  double relevance = 0;
};

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

  [[nodiscard]] std::string text() const {
    std::string text;
    text.reserve(text_bytes_);
    json::PrettyText out(&text);
    out.begin('{');
    append_entries(out);
    out.name("last_updated");
    out.text(format_rfc3339(now_ms_));
    append_lists("tags", by_tag_, out);
    append_lists("types", by_type_, out);
    out.name("version");
    out.integer(1);
    out.end('}');
    return text += '\n';
  }

 private:
  // [bytes] of the text, about: of an entry without its id and tags, and of an id or a tag in a
  // list without itself.
  static constexpr uint64_t kEntryBytes = 330;
  static constexpr uint64_t kItemBytes = 12;

  // Whether the line is that of a live entry, not one that repeats its id.
  Result<bool> is_live_line(std::string_view id, uint64_t offset) const {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole());
    if (core_.view.tail.generation != generation_) return log::replaced();
    const auto row = core_.index.find(id);
    return row && core_.index.is_live(*row, now_ms_) && core_.index.location(*row).offset == offset;
  }

  void add(const entry::EntryFacts& facts, uint64_t line_number, uint64_t offset) {
    const auto number = static_cast<uint32_t>(entries_.size());
    ids_ += facts.id;
    const uint64_t item_bytes = facts.id.size() + kItemBytes;
    for (const auto& tag : facts.tags) {
      Named& named = *by_tag_.try_emplace(tag).first;
      tags_.push_back(&named);
      // An entry may say a tag twice.
      if (named.second.empty() || named.second.back() != number) named.second.push_back(number);
      text_bytes_ += tag.size() + kItemBytes + item_bytes;
    }
    Named& type = *by_type_.try_emplace(facts.type).first;
    type.second.push_back(number);
    text_bytes_ += kEntryBytes + 2 * item_bytes;
    entries_.push_back({ids_.size(), tags_.size(), &type, line_number, offset, facts.timestamp_ms,
                        facts.importance, relevance_of(facts, *rules_, now_ms_)});
  }

  [[nodiscard]] std::string_view id_of(uint32_t number) const {
    const uint64_t begin = number == 0 ? 0 : entries_[number - 1].id_end;
    return std::string_view(ids_).substr(begin, entries_[number].id_end - begin);
  }

  void append_entries(json::PrettyText& out) const {
    std::vector<uint32_t> by_id(entries_.size());
    std::iota(by_id.begin(), by_id.end(), 0U);
    std::sort(by_id.begin(), by_id.end(),
              [this](uint32_t a, uint32_t b) { return ComesBefore()(id_of(a), id_of(b)); });
    out.name("entries");
    out.begin('{');
    for (const uint32_t number : by_id) append_entry(number, out);
    out.end('}');
  }

  void append_entry(uint32_t number, json::PrettyText& out) const {
    const ListedEntry& entry = entries_[number];
    out.name(id_of(number));
    out.begin('{');
    out.name("byte_offset");
    out.integer(entry.byte_offset);
    out.name("current_relevance");
    out.number(entry.relevance);
    out.name("importance");
    out.number(entry.importance);
    out.name("line_number");
    out.integer(entry.line_number);
    out.name("tags");
    out.begin('[');
    for (uint64_t i = number == 0 ? 0 : entries_[number - 1].tags_end; i < entry.tags_end; ++i) {
      out.item();
      out.text(tags_[i]->first);
    }
    out.end(']');
    out.name("timestamp");
    out.text(format_rfc3339(entry.timestamp_ms));
    out.name("type");
    out.text(entry.type->first);
    out.end('}');
  }

  void append_lists(std::string_view member, const EntriesByName& by_name,
                    json::PrettyText& out) const {
    out.name(member);
    out.begin('{');
    for (const auto& [name, numbers] : by_name) {
      out.name(name);
      out.begin('[');
      for (const uint32_t number : numbers) {
        out.item();
        out.text(id_of(number));
      }
      out.end(']');
    }
    out.end('}');
  }

  Core& core_;
  int64_t now_ms_ = 0;
  std::shared_ptr<const decay::Rules> rules_;
  uint64_t generation_ = 0;
  std::string ids_;
  std::vector<const Named*> tags_;
  std::vector<ListedEntry> entries_;  // in the order of the log
  EntriesByName by_tag_;
  EntriesByName by_type_;
  uint64_t text_bytes_ = 0;
};

}  // namespace

Result<std::string> list_index(Core& core) {
  return while_replaced([&]() -> Result<std::string> {
    IndexListing listing(core);
    VARVE_TRY(listing.read());
    return listing.text();
  });
}

}  // namespace varve::session
