// VectorTable: the records of a vectors.bin in memory, in file order, to compare with a query.
//
// It knows neither which of an entry's records counts, nor which entries exist.
// Threads: const members may run at once, the others may not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "embedding/dot_product.h"

namespace varve::embedding {

class VectorTable {
 public:
  explicit VectorTable(uint32_t dimension, Kernel kernel = fastest_kernel());

  // `values`: float32 without alignment, finite, not all zero.
  void add(std::string_view id, const char* values);

  [[nodiscard]] uint32_t dimension() const { return dimension_; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(lengths_.size()); }
  [[nodiscard]] std::string_view id(uint32_t record) const;
  // The cosine, -1 to 1, between `query` and each of the first `end` records.
  [[nodiscard]] std::vector<double> similarities(std::span<const float> query, uint32_t end) const;
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  void reserve_for_one_more(std::vector<float>& chunk) const;

  uint32_t dimension_;
  Kernel kernel_;
  uint32_t records_per_chunk_;
  std::vector<std::vector<float>> chunks_;  // in chunks, so that adding never moves much
  std::vector<double> lengths_;             // Euclidean
  std::string ids_;
  std::vector<uint64_t> id_ends_;  // in ids_
};

}  // namespace varve::embedding
