#include "session/vectors/vectors.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/release_memory.h"
#include "session/retries.h"

namespace varve::session {

namespace {

Status other_dimension(size_t asked, uint32_t present) {
  return {Code::kInvalidArgument,
          "'vector' has " + std::to_string(asked) + " numbers; the vectors of this session have " +
              std::to_string(present),
          {.member = "vector", .limit = present}};
}

}  // namespace

// --- loading -------------------------------------------------------------------------------------

void Vectors::look() noexcept {
  try {
    const auto tail = storage_.vectors_tail();
    if (!tail.ok()) return;
    size_bytes_.store(tail->bytes);
    if (!has_others_than(*tail)) return;
    const std::lock_guard loading(load_mutex_);
    if (has_others_than(*tail)) let_go();
  } catch (const std::bad_alloc&) {
    // As if the look had failed: whoever needs the size asks again.
  }
}

bool Vectors::has_others_than(const log::VectorsTail& tail) const {
  const std::shared_lock lock(mutex_);
  return table_ && generation_ != tail.generation;
}

bool Vectors::is_current(const log::VectorsTail& tail) const {
  const std::shared_lock lock(mutex_);
  return is_whole_ && generation_ == tail.generation && covered_bytes_ == tail.bytes;
}

Status Vectors::catch_up() {
  const auto read_to_end = [&]() -> Status {
    VARVE_TRY_ASSIGN(const log::VectorsTail tail, storage_.vectors_tail());
    size_bytes_.store(tail.bytes);
    if (is_current(tail)) return {};
    const std::lock_guard loading(load_mutex_);
    return is_current(tail) ? Status() : read(tail);
  };
  return while_replaced(read_to_end, log::kVectorsFile);
}

// The load mutex is held: nobody else changes what is read here without mutex_.
Status Vectors::read(const log::VectorsTail& tail) {
  const bool is_other = !is_whole_ || generation_ != tail.generation ||
                        tail.bytes < covered_bytes_ || (!table_ && tail.bytes > 0);
  return is_other ? load(tail) : read_more(tail);
}

// Shown only when complete: a query that saw the file before this must not see a part of it.
Status Vectors::load(const log::VectorsTail& tail) {
  VARVE_TRY_ASSIGN(const uint32_t dimension, file_.dimension(tail));
  std::unique_ptr<embedding::VectorTable> table;
  uint64_t covered_bytes = std::min<uint64_t>(tail.bytes, embedding::kHeaderBytes);
  if (dimension > 0) {
    table = std::make_unique<embedding::VectorTable>(dimension);
    const uint64_t length = embedding::record_bytes(dimension);
    VARVE_TRY(file_.scan(tail, dimension, 0, [&](const VectorFile::Scanned& scanned) -> Status {
      if (!scanned.record) return {};
      table->add(scanned.record->id, scanned.record->values);
      covered_bytes = scanned.offset + length;
      return {};
    }));
  }
  const std::unique_lock lock(mutex_);
  table_ = std::move(table);
  load_ += 1;
  generation_ = tail.generation;
  covered_bytes_ = covered_bytes;
  rows_.clear();
  is_whole_ = true;
  return {};
}

// Damage at the end may be a record that is being written, so it is read again the next time.
Status Vectors::read_more(const log::VectorsTail& tail) {
  if (!table_) return {};
  const uint64_t length = embedding::record_bytes(table_->dimension());
  return file_.scan(tail, table_->dimension(), covered_bytes_,
                    [&](const VectorFile::Scanned& scanned) -> Status {
                      if (!scanned.record) return {};
                      const std::unique_lock lock(mutex_);
                      is_whole_ = false;
                      table_->add(scanned.record->id, scanned.record->values);
                      covered_bytes_ = scanned.offset + length;
                      is_whole_ = true;
                      return {};
                    });
}

void Vectors::forget() {
  const std::lock_guard loading(load_mutex_);
  let_go();
}

// The load mutex is held.
void Vectors::let_go() {
  const std::unique_lock lock(mutex_);
  table_.reset();
  release_memory(&rows_);
  load_ += 1;
  is_whole_ = false;
  covered_bytes_ = 0;
}

uint64_t Vectors::memory_bytes() const {
  const std::shared_lock lock(mutex_);
  return (table_ ? table_->memory_bytes() : 0) + rows_.capacity() * sizeof(uint32_t);
}

// --- for a query ---------------------------------------------------------------------------------

Result<Vectors::Similarities> Vectors::compare(std::span<const float> query,
                                               std::optional<uint32_t> record_end_max) {
  VARVE_TRY(catch_up());
  const std::shared_lock lock(mutex_);
  Similarities found;
  found.load = load_;
  if (!table_ || table_->size() == 0) return found;
  if (table_->dimension() != query.size())
    return other_dimension(query.size(), table_->dimension());
  found.by_record = table_->similarities(query, record_end_max.value_or(table_->size()));
  return found;
}

// Only for records that are older than the index as it is: their entries are in it, or gone.
bool Vectors::resolve(const Similarities& similarities, const index::Index& index,
                      uint64_t index_epoch) {
  {
    const std::shared_lock lock(mutex_);
    if (load_ != similarities.load) return false;
    if (rows_epoch_ == index_epoch && rows_.size() >= similarities.by_record.size()) return true;
  }
  const std::unique_lock lock(mutex_);
  if (load_ != similarities.load) return false;
  if (rows_epoch_ != index_epoch) rows_.clear();
  rows_epoch_ = index_epoch;
  rows_.reserve(similarities.by_record.size());
  while (rows_.size() < similarities.by_record.size()) {
    const std::string_view id = table_->id(static_cast<uint32_t>(rows_.size()));
    rows_.push_back(index.find(id).value_or(index::kNoRow));
  }
  return true;
}

Result<std::vector<query::VectorMatch>> Vectors::match(const Similarities& similarities,
                                                       const index::Index& index,
                                                       uint64_t index_epoch) {
  std::vector<query::VectorMatch> matches;
  if (similarities.by_record.empty()) return matches;
  const Status gone(Code::kGone, "vectors.bin was replaced");
  if (!resolve(similarities, index, index_epoch)) return gone;
  {
    const std::shared_lock lock(mutex_);
    if (load_ != similarities.load || rows_epoch_ != index_epoch) return gone;
    matches.reserve(similarities.by_record.size());
    for (size_t record = 0; record < similarities.by_record.size(); ++record) {
      if (rows_[record] == index::kNoRow) continue;
      matches.push_back({rows_[record], similarities.by_record[record]});
    }
  }
  const auto rises = [](const auto& a, const auto& b) { return a.row < b.row; };
  std::stable_sort(matches.begin(), matches.end(), rises);
  // Of several records of one row, keeps the last.
  size_t count = 0;
  for (const query::VectorMatch& match : matches) {
    if (count > 0 && matches[count - 1].row == match.row) {
      matches[count - 1] = match;
    } else {
      matches[count++] = match;
    }
  }
  matches.resize(count);
  return matches;
}

}  // namespace varve::session
