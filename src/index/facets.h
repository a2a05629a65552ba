// Facets: which entries have a tag, a trace, a member of content, and which refer to which.
//
// Keys of its dictionary, by their first byte:
//   t TAG                      rows that have the tag, or one below it (`.` makes a hierarchy)
//   x TRACE_ID                 rows of the trace
//   c CONTENT KEY              rows whose content has this scalar member (entry::content_key)
//   i TARGET                   rows that refer to the id in any way
//   r TARGET \0 RELATION       rows that refer to it by this relation; empty: by `references`
//   o ROW, four bytes          value: what the row refers to, as encoded references
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "entry/entry.h"
#include "index/dictionary.h"

namespace varve::index {

// One arrow of the graph: `relation` is empty for the plain member `references`.
struct Reference {
  std::string_view relation;
  std::string_view target;
};

class Facets {
 public:
  // The seed: index/dictionary.h.
  explicit Facets(uint64_t hash_seed) : dictionary_(hash_seed) {}
  [[nodiscard]] uint64_t hash_seed() const { return dictionary_.hash_seed(); }

  void add(uint32_t row, const entry::EntryFacts& facts);

  [[nodiscard]] PostingList tag(std::string_view tag) const;
  [[nodiscard]] PostingList trace(std::string_view trace_id) const;
  [[nodiscard]] PostingList content(std::string_view content_key) const;
  // Rows that refer to an id: in any way, or by one relation that has a name.
  [[nodiscard]] PostingList referring(std::string_view target) const;
  [[nodiscard]] PostingList referring(std::string_view target, std::string_view relation) const;
  // What a row refers to, in its order; `id` is the row's own. What is visited is valid meanwhile.
  void references_of(uint32_t row, std::string_view id,
                     const std::function<void(const Reference&)>& visit) const;

  // Tags, with the ones above them in the hierarchy; in no particular order.
  void for_each_tag(
      const std::function<void(std::string_view tag, const PostingList&)>& visit) const;
  // The strings of the content member "role", with their content keys, until `visit` answers false.
  // Every question asks for them: they cost nothing of what else content has.
  void for_each_role(
      const std::function<bool(std::string_view role, std::string_view content_key)>& visit) const;

  [[nodiscard]] std::string encode() const { return dictionary_.encode(RowLengths()); }
  // What encode() gave once: of rows before all that was added here.
  void set_frozen(Segment segment, uint32_t row_end) {
    dictionary_.set_frozen(std::move(segment), row_end);
  }
  Status load_whole() { return dictionary_.load_whole(); }
  [[nodiscard]] bool is_damaged() const { return dictionary_.is_damaged(); }
  // Facets of the rows that stay, under their new numbers.
  [[nodiscard]] Facets renumbered(const Renumbering& rows) const;
  [[nodiscard]] bool is_compression_due() const;
  // Whether it should not wait for the next query: what was added takes memory out of proportion.
  [[nodiscard]] bool is_compression_pressing() const;
  // Makes one compressed part of everything, when that is due and load_whole() succeeds.
  void compress();
  [[nodiscard]] uint64_t memory_bytes() const {
    return dictionary_.memory_bytes() + added_roles_.capacity() * sizeof(std::string);
  }

 private:
  void add_row(std::string_view key, uint32_t row);
  void add_field(char field, std::string_view rest, uint32_t row);
  void add_tag(std::string_view tag, uint32_t row);
  void add_references(uint32_t row, const entry::EntryFacts& facts);
  [[nodiscard]] bool has_added(uint64_t bytes_min) const;

  Dictionary dictionary_;
  std::string key_;              // scratch, as is
  std::string outgoing_;         // what a row refers to
  uint64_t postings_added_ = 0;  // since the last compress(), as are these
  std::vector<std::string> added_roles_;
};

}  // namespace varve::index
