// RowColumn: a value a row, as the index has it in memory.
//
// What index.bin has of it is read from there when it is asked for, a page at a time (column.h says
// how it is written); what is added comes behind. So opening costs nothing a row, and a query costs
// what it looks at. A page that cannot be read, or has a value that cannot be, reads as zeros, and
// the file is_damaged() from then on: what was answered may be wrong.
//
// Threads: any may read at the same time; nobody else while one adds or sets.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/uninitialized.h"
#include "index/column.h"

namespace varve::index {

// Which pages of a column were read.
class ColumnPages {
 public:
  // `page_rows` values a page, of `width` bytes each in the file.
  ColumnPages(std::shared_ptr<SnapshotFile> file, SnapshotSection section, size_t width,
              uint64_t row_count, uint64_t page_rows);

  [[nodiscard]] bool is_read(uint64_t page) const {
    return page >= page_count_ || is_read_[page].load(std::memory_order_acquire);
  }
  [[nodiscard]] uint64_t page_count() const { return page_count_; }
  [[nodiscard]] uint64_t row_count() const { return row_count_; }
  [[nodiscard]] uint64_t read_count() const { return read_count_.load(std::memory_order_relaxed); }

  // Rows [begin, end).
  struct Rows {
    uint64_t begin;
    uint64_t end;
  };
  // Of these pages.
  [[nodiscard]] Rows rows_of(uint64_t first_page, uint64_t end_page) const {
    return {first_page * page_rows_, std::min(end_page * page_rows_, row_count_)};
  }
  // The mutex is held, for these:
  void note_read(uint64_t first_page, uint64_t end_page);
  // The values of `rows` as they are written, into the end of the room for them widened.
  Status read(const Rows& rows, std::span<char> room);
  void set_damaged() { file_->set_damaged(); }

  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] size_t width() const { return width_; }
  [[nodiscard]] const ColumnRule& rule() const { return rule_; }

 private:
  std::shared_ptr<SnapshotFile> file_;
  SnapshotSection section_;
  size_t width_;
  ColumnRule rule_;
  uint64_t row_count_;
  uint64_t page_rows_;
  uint64_t page_count_;
  std::mutex mutex_;  // guards reading
  std::unique_ptr<std::atomic<bool>[]> is_read_;
  std::atomic<uint64_t> read_count_{0};
};

template <typename T>
class RowColumn {
 public:
  // The values that a file may have: others are damage.
  struct Possible {
    T least = std::numeric_limits<T>::lowest();
    T most = std::numeric_limits<T>::max();
  };

  RowColumn() = default;
  RowColumn(uint64_t count, T value) : values_(count, value) {}
  // `count` values, none of them read yet. kCorruption when the section has not so many.
  static Result<RowColumn> open(const std::shared_ptr<SnapshotFile>& file, SnapshotSection section,
                                uint64_t count, const Possible& possible = {}) {
    VARVE_TRY_ASSIGN(const size_t width, column_width(*file, section, count, sizeof(T)));
    RowColumn column;
    column.possible_ = possible;
    // Memory is taken for what is read or added only.
    column.values_.reserve(count + count / kRoomToGrow + kPageRows);
    column.values_.resize(count);
    column.pages_ = std::make_unique<ColumnPages>(file, section, width, count, kPageRows);
    return column;
  }

  [[nodiscard]] uint64_t size() const { return values_.size(); }
  [[nodiscard]] T operator[](uint64_t row) const {
    if (pages_ != nullptr && !pages_->is_read(row / kPageRows)) [[unlikely]]
      return read_row(row);
    return values_[row];
  }
  // Of [begin, begin + count).
  [[nodiscard]] std::span<const T> view(uint64_t begin, uint64_t count) const {
    if (pages_ != nullptr && count > 0) {
      (void)read(begin / kPageRows, (begin + count - 1) / kPageRows + 1).ok();
    }
    return std::span<const T>(values_).subspan(begin, count);
  }
  void prefetch(uint64_t row) const { __builtin_prefetch(&values_[row]); }

  void push_back(T value) {
    if (values_.size() == values_.capacity()) (void)load().ok();  // the file tells its damage
    values_.push_back(value);
  }
  void set(uint64_t row, T value) {
    (void)view(row, 1);
    values_[row] = value;
  }
  void append(std::span<const T> values) {
    for (const T value : values) push_back(value);
  }

  // Marks the file as damaged: for a reader that found values which cannot be.
  void set_damaged() const {
    if (pages_ != nullptr) pages_->set_damaged();
  }

  // Reads what was not read yet.
  Status load() {
    if (pages_ == nullptr) return {};
    VARVE_TRY(read(0, pages_->page_count()));
    pages_.reset();
    return {};
  }
  // All of them; after load().
  [[nodiscard]] std::span<const T> values() const { return values_; }

  // [bytes]
  [[nodiscard]] uint64_t memory_bytes() const {
    if (pages_ == nullptr) return values_.capacity() * sizeof(T);
    return pages_->read_count() * kPageBytes;
  }

 private:
  static constexpr uint64_t kPageBytes = 8192;
  static constexpr uint64_t kPageRows = kPageBytes / sizeof(T);
  static constexpr uint64_t kRoomToGrow = 8;  // one value more for so many

  // The value of a row whose page was not read yet. A column of width 0 has no bytes in the file:
  // its values are computed each time, and no page is filled with them.
  [[gnu::noinline]] T read_row(uint64_t row) const {
    if (row >= pages_->row_count()) return values_[row];  // was added
    if (pages_->width() == 0) {
      const T value = column_value<T>(pages_->rule(), row, 0);
      if (is_possible(value)) return value;
    }
    (void)read(row / kPageRows, row / kPageRows + 1).ok();
    return values_[row];
  }
  // Reads those of the pages [first, end) that are missing, neighbours together.
  Status read(uint64_t first, uint64_t end) const {
    while (first < end && pages_->is_read(first)) ++first;
    if (first == end) return {};
    const std::lock_guard guard(pages_->mutex());
    Status status;
    while (first < end) {
      uint64_t last = first;
      while (last < end && !pages_->is_read(last)) ++last;
      if (last > first) {
        Status read = read_missing(pages_->rows_of(first, last));
        if (!read.ok()) status = std::move(read);
        pages_->note_read(first, last);
      }
      first = std::max(last, first + 1);
    }
    return status;
  }

  [[nodiscard]] bool is_possible(T value) const {
    return value >= possible_.least && value <= possible_.most;
  }

  Status read_missing(const ColumnPages::Rows& rows) const {
    T* const to = values_.data() + rows.begin;
    const uint64_t count = rows.end - rows.begin;
    const size_t width = pages_->width();
    const std::span room(reinterpret_cast<char*>(to), count * sizeof(T));
    Status read = pages_->read(rows, room.last(count * width));
    const ColumnRule& rule = pages_->rule();
    if (read.ok() && (width < sizeof(T) || rule.base != 0 || rule.step != 0)) {
      widen_column<T>(width, room.data(), count, rows.begin, rule);
    }
    if (read.ok() && !std::all_of(to, to + count, [&](T value) { return is_possible(value); })) {
      read = wrong_snapshot("a row has impossible values");
    }
    if (!read.ok()) {
      std::fill_n(to, count, T());
      pages_->set_damaged();
    }
    return read;
  }

  mutable UninitializedVector<T> values_;  // of pages that were not read: anything
  std::unique_ptr<ColumnPages> pages_;     // null: all of it is there
  Possible possible_;
};

}  // namespace varve::index
