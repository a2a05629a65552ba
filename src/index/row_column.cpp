#include "index/row_column.h"

#include <atomic>

namespace varve::index {

ColumnPages::ColumnPages(std::shared_ptr<SnapshotFile> file, SnapshotSection section, size_t width,
                         uint64_t row_count, uint64_t page_rows)
    : file_(std::move(file)),
      section_(section),
      width_(width),
      rule_(rule_of(*file_, section)),
      row_count_(row_count),
      page_rows_(page_rows),
      page_count_((row_count + page_rows - 1) / page_rows),
      is_read_(std::make_unique<std::atomic<bool>[]>(page_count_)) {}

void ColumnPages::note_read(uint64_t first_page, uint64_t end_page) {
  for (uint64_t page = first_page; page < end_page; ++page) {
    is_read_[page].store(true, std::memory_order_release);
  }
  read_count_.fetch_add(end_page - first_page, std::memory_order_relaxed);
}

Status ColumnPages::read(const Rows& rows, std::span<char> room) {
  return file_->read(section_, rows.begin * width_, room);
}

}  // namespace varve::index
