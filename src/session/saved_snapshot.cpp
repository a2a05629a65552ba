#include "session/saved_snapshot.h"

#include <algorithm>

namespace varve::session {

namespace {

// Saving is due when the file leaves out more log than this and than half of what it covers.
constexpr uint64_t kUncoveredBytesMin = uint64_t{1} << 20;

// How much the end of a session may leave to the next opening, in proportion to what is covered: a
// program that adds one entry must not write the index of all entries.
constexpr uint64_t kLeftBytesMin = uint64_t{16} << 10;  // 0.1 ms to read
constexpr uint64_t kLeftBytesMax = uint64_t{1} << 20;   // 8 ms
constexpr uint64_t kLeftDivisor = 64;
constexpr uint32_t kManyRows = 256;

}  // namespace

bool SavedSnapshot::is_saving_due(const SnapshotExtent& index, Saving saving) const {
  if (index.log_bytes == 0 && size_bytes == 0) return false;  // nothing to save, nothing to replace
  const bool is_the_same = index.log_bytes == covered.log_bytes && size_bytes > 0 &&
                           index.text_rows <= covered.text_rows;
  if (is_the_same && was_used) return false;
  const uint64_t left_out_bytes = index.log_bytes - std::min(index.log_bytes, covered.log_bytes);
  return saving == Saving::kAlways ||
         left_out_bytes > std::max(kUncoveredBytesMin, covered.log_bytes / 2);
}

bool SavedSnapshot::is_saving_worth(const SnapshotExtent& index, uint64_t waiting_bytes) const {
  const uint64_t left_bytes =
      std::clamp(covered.log_bytes / kLeftDivisor, kLeftBytesMin, kLeftBytesMax);
  return !was_used || index.log_bytes > covered.log_bytes + left_bytes ||
         waiting_bytes > left_bytes || lacks_many_words(index);
}

bool SavedSnapshot::lacks_many_words(const SnapshotExtent& index) const {
  return index.text_rows > covered.text_rows + kManyRows;
}

}  // namespace varve::session
