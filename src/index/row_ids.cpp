#include "index/row_ids.h"

#include <algorithm>
#include <vector>

#include "index/common_start.h"

namespace varve::index {

Result<RowIds> RowIds::open(const std::shared_ptr<SnapshotFile>& file) {
  const uint64_t rests_bytes = file->length(kIds);
  RowIds ids;
  ids.start_ = file->header().start_of_ids();
  ids.started_count_ = file->header().row_count;
  ids.started_bytes_ = rests_bytes;
  VARVE_TRY_ASSIGN(ids.ends_, RowColumn<uint64_t>::open(file, kIdEnds, file->header().row_count,
                                                        {0, rests_bytes}));
  VARVE_TRY_ASSIGN(ids.rests_, RowColumn<char>::open(file, kIds, rests_bytes));
  return ids;
}

Status RowIds::load() {
  VARVE_TRY(ends_.load());
  return rests_.load();
}

// What all of them start with, as much as there is room for: an id of a file may be as long again.
std::string RowIds::common_start() const {
  if (ends_.size() == 0) return {};
  std::string common = at(0).substr(0, kIdBytesMax);
  for (uint32_t row = 1; row < ends_.size() && !common.empty(); ++row) {
    const std::string_view start = start_of(row);
    size_t shared = common_start_bytes(common, start);
    if (shared == start.size()) {
      shared += common_start_bytes(std::string_view(common).substr(shared), rest_of(row));
    }
    common.resize(shared);
  }
  return common;
}

EncodedIds RowIds::encode() const {
  EncodedIds encoded;
  encoded.start = common_start();
  encoded.rests.reserve(rests_.size());
  std::vector<uint64_t> ends(ends_.size());
  for (uint32_t row = 0; row < ends.size(); ++row) {
    const std::string_view start = start_of(row);
    const size_t of_start = std::min(encoded.start.size(), start.size());
    encoded.rests.append(start.substr(of_start));
    encoded.rests.append(rest_of(row).substr(encoded.start.size() - of_start));
    ends[row] = encoded.rests.size();
  }
  encoded.ends = encode_column(std::span<const uint64_t>(ends));
  return encoded;
}

void RowIds::add(std::string_view id) {
  rests_.append(id);
  ends_.push_back(rests_.size());
}

void RowIds::add(const RowIds& from, uint32_t row) {
  rests_.append(from.start_of(row));
  rests_.append(from.rest_of(row));
  ends_.push_back(rests_.size());
}

// What a file says of where they end is at most where the last one does, but may fall, or be far
// apart: who copies the ids of many rows would need many times the file's size.
std::string_view RowIds::rest_of(uint32_t row) const {
  const uint64_t begin = row == 0 ? 0 : ends_[row - 1];
  const uint64_t end = ends_[row];
  if (end < begin || end - begin > kIdBytesMax) {
    ends_.set_damaged();
    return {};
  }
  const auto rest = rests_.view(begin, end - begin);
  return {rest.data(), rest.size()};
}

std::string RowIds::at(uint32_t row) const {
  std::string id(start_of(row));
  id.append(rest_of(row));
  return id;
}

bool RowIds::is(uint32_t row, std::string_view id) const {
  const std::string_view start = start_of(row);
  return id.starts_with(start) && id.substr(start.size()) == rest_of(row);
}

bool RowIds::are_places_right() const {
  const auto ends = ends_.values();
  const bool rises = std::is_sorted(ends.begin(), ends.end());
  return rises && (started_count_ == 0 ? 0 : ends[started_count_ - 1]) == started_bytes_;
}

uint64_t RowIds::memory_bytes() const {
  return ends_.memory_bytes() + rests_.memory_bytes() + start_.capacity();
}

}  // namespace varve::index
