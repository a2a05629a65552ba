// WordsBeside: adds the words of a log's lines to a text index while its caller reads on.
//
// Lines are collected, a stretch of the log at a time. While the terms of one stretch are counted,
// the caller adds those of the one before to the lists and collects the next.
//
// Threads: where the caller allows one, stretches are counted in it, beside the caller; otherwise
// the caller counts them itself. It has ended when the object has. Until finish() nobody else may
// use the text index.
// memory: two stretches of a megabyte, their terms, and what the text index keeps uncompressed.
// errors: memory that ends is thrown by the next call; the text index is of no use then.
#pragma once

#include <cstdint>
#include <future>
#include <string_view>

#include "index/text_index.h"
#include "json/document.h"

namespace varve::index {

class WordsBeside {
 public:
  // The text index is compressed whenever more than so much was added to it.
  WordsBeside(TextIndex& text, uint64_t added_bytes_max, bool in_thread)
      : text_(text), added_bytes_max_(added_bytes_max), in_thread_(in_thread) {}

  // The next row.
  void add(std::string_view line);
  // Afterwards all words that were added are there; compresses them, when that pays, while the
  // caller does `meanwhile`.
  template <typename Work>
  void finish(Work meanwhile) {
    collect();
    std::future<void> compressing = start_compressing();
    meanwhile();
    compressing.get();
  }

 private:
  [[nodiscard]] bool is_idle() const;
  void hand_over();
  void wait();
  void collect();
  void count();
  std::future<void> start_compressing();

  TextIndex& text_;
  uint64_t added_bytes_max_;
  bool in_thread_;
  TextList filling_;     // the stretch that is collected
  TextList counting_;    // the one whose terms are counted
  CountedRows counted_;  // what that one has, when at_work_ has ended
  CountedRows adding_;   // the one before
  json::Document scratch_;
  std::future<void> at_work_;  // the last member: it ends before the others go
};

}  // namespace varve::index
