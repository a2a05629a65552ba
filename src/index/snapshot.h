// index.bin: the index as it was, so that opening costs the tail and not the log.
//
// Derived and disposable. Layout (little-endian; docs/format.md#index.bin has the bytes):
//   header    magic, version, counts, coverage, section directory, XXH3-64 of all that
//   sections  one per column, then facets and words, each with its length and XXH3-64 in the
//             directory
// Opening a session reads the header and the columns; facets and words are read when the first
// query needs them.
// Deletions are not in it: they are read from tombstones.jsonl, the truth, at every open.
//
// Every integer is checked before it is used: a hostile file costs a rebuild, never memory beyond
// its own size, a crash, or a row outside the covered log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "index/index.h"

namespace varve::index {

inline constexpr std::string_view kSnapshotFile = "index.bin";
inline constexpr uint32_t kSnapshotVersion = 2;
inline constexpr size_t kSnapshotHeaderBytes = 520;

// Rows, ids, facets, words and coverage of `index`, which has them all (has_facets(), and words
// loaded if there are any); tombstones are left out.
std::string encode_snapshot(const Index& index);

// The start of the file: what is in it, and where.
class SnapshotHeader {
 public:
  struct Range {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t hash = 0;
  };

  // `start`: at least kSnapshotHeaderBytes of the file, which is `file_bytes` long. kCorruption
  // with the reason.
  static Result<SnapshotHeader> parse(std::string_view start, uint64_t file_bytes);

  [[nodiscard]] uint64_t hash() const { return hash_; }  // which snapshot this is
  [[nodiscard]] uint64_t rows_end() const { return facets_.offset; }
  [[nodiscard]] const Range& facets() const { return facets_; }
  [[nodiscard]] const Range& text_lengths() const { return text_lengths_; }
  [[nodiscard]] const Range& text_terms() const { return text_terms_; }

 private:
  uint64_t hash_ = 0;
  Range facets_;
  Range text_lengths_;
  Range text_terms_;
};

// The rows of a snapshot, all unverified and none deleted; facets and words are pending. `start`:
// the file up to rows_end(). kCorruption with the reason. Whether it belongs to the log is for the
// caller to check: coverage says which line to look at.
Result<Index> decode_rows(std::string_view start, uint64_t file_bytes,
                          const text::Settings& text_settings);

// Gives an index from decode_rows() what was pending. kCorruption: it stays as it was.
Status load_facets(const SnapshotHeader& header, std::string facets, Index* index);
Status load_text(const SnapshotHeader& header, std::string_view lengths, std::string terms,
                 Index* index);

// All of it at once.
Result<Index> decode_snapshot(std::string_view bytes, const text::Settings& text_settings = {});

}  // namespace varve::index
