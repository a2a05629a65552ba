#include "embedding/vector_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace varve::embedding {

namespace {

constexpr uint32_t kChunkBytes = uint32_t{1} << 20;

std::vector<double> widened(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace

VectorTable::VectorTable(uint32_t dimension, Kernel kernel)
    : dimension_(dimension),
      kernel_(kernel),
      records_per_chunk_(kChunkBytes / (dimension * uint32_t{sizeof(float)})) {}

void VectorTable::add(std::string_view id, const char* values) {
  if (size() % records_per_chunk_ == 0) chunks_.emplace_back();
  std::vector<float>& chunk = chunks_.back();
  const size_t start = chunk.size();
  reserve_for_one_more(chunk);
  chunk.resize(start + dimension_);
  std::memcpy(chunk.data() + start, values, dimension_ * sizeof(float));
  const std::span<const float> added(chunk.data() + start, dimension_);
  ids_.append(id);
  id_ends_.push_back(ids_.size());
  lengths_.push_back(std::sqrt(kernel_.dot(added.data(), widened(added).data(), dimension_)));
}

// Twice as much each time, as a vector does by itself, but never more than fits into a chunk.
void VectorTable::reserve_for_one_more(std::vector<float>& chunk) const {
  if (chunk.size() < chunk.capacity()) return;
  const size_t whole = size_t{records_per_chunk_} * dimension_;
  chunk.reserve(std::min(whole, std::max<size_t>(dimension_, 2 * chunk.size())));
}

std::string_view VectorTable::id(uint32_t record) const {
  const uint64_t start = record == 0 ? 0 : id_ends_[record - 1];
  return std::string_view(ids_).substr(start, id_ends_[record] - start);
}

std::vector<double> VectorTable::similarities(std::span<const float> query, uint32_t end) const {
  const std::vector<double> wide = widened(query);
  const double query_length = std::sqrt(kernel_.dot(query.data(), wide.data(), dimension_));
  std::vector<double> found(std::min(end, size()));
  for (uint32_t record = 0; record < found.size(); ++record) {
    const std::vector<float>& chunk = chunks_[record / records_per_chunk_];
    const size_t start = size_t{record % records_per_chunk_} * dimension_;
    const double dot = kernel_.dot(chunk.data() + start, wide.data(), dimension_);
    found[record] = std::clamp(dot / (lengths_[record] * query_length), -1.0, 1.0);
  }
  return found;
}

uint64_t VectorTable::memory_bytes() const {
  uint64_t bytes = ids_.capacity() + id_ends_.capacity() * sizeof(uint64_t) +
                   lengths_.capacity() * sizeof(double);
  for (const auto& chunk : chunks_) bytes += chunk.capacity() * sizeof(float);
  return bytes;
}

}  // namespace varve::embedding
