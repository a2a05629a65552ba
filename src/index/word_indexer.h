// WordIndexer: adds the words of a log's lines to a text index while its caller reads on.
//
// Lines are collected in portions of about a megabyte. While the terms of one portion are counted,
// those of the one before are added to the lists, and the caller collects the next.
//
// Threads: with `in_thread` portions are counted in another thread, which has ended when the object
// is destroyed; else by the caller. Nobody else may use the text index before finish() returns.
//
// memory: two portions, their terms, and what the text index keeps uncompressed.
// errors: std::bad_alloc of the other thread is thrown by the next call; the text index is of no
//         use then.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/beside.h"
#include "index/text_index.h"
#include "json/document.h"

namespace varve::index {

class WordIndexer {
 public:
  // `added_bytes_max`: the text index is compressed whenever more than that was added to it.
  WordIndexer(TextIndex& text, uint64_t added_bytes_max, bool in_thread)
      : text_(text), added_bytes_max_(added_bytes_max), in_thread_(in_thread) {}

  // The line of the next row.
  void add(std::string_view line);
  // Ends it: all words that were added can be found then. Compresses them, when that pays, while
  // the caller does `meanwhile`.
  template <typename Work>
  void finish(Work meanwhile) {
    collect();
    Beside<void> compressing = start_compressing();
    meanwhile();
    compressing.get();
  }

 private:
  [[nodiscard]] bool is_idle() const;
  void hand_over();
  void wait();
  void collect();
  void count();
  Beside<void> start_compressing();

  TextIndex& text_;
  uint64_t added_bytes_max_;
  bool in_thread_;
  TextList filling_;     // lines of the portion that is collected
  TextList counting_;    // of the portion whose terms are counted
  CountedRows counted_;  // terms of that portion, when at_work_ has ended
  CountedRows adding_;   // of the portion before
  json::Document scratch_;
  Beside<void> at_work_;  // the last member: it ends before the others go
};

}  // namespace varve::index
