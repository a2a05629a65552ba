// A reader of the same process that finds another log, cannot read it to the end, and so leaves an
// index without some of its rows: what a write or a compaction in another thread may meet.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "session/core.h"
#include "watched_storage.h"

namespace varve::session {

// `made_anew`: the next reader made the index anew before anybody looked.
inline void fail_to_read(Core& core, WatchedStorage& storage, bool made_anew) {
  auto tail = std::exchange(storage.change_tail, [](log::Tail seen) {
    seen.generation += 1;
    return seen;
  });
  auto read = std::exchange(storage.change_read, [](log::Stream, uint64_t, size_t) {
    return Status(Code::kIo, "no read");
  });
  EXPECT_FALSE(core.catch_up().ok());
  storage.change_tail = nullptr;
  storage.change_read = nullptr;
  if (made_anew) {
    EXPECT_TRUE(core.catch_up().ok());
  }
  storage.change_tail = std::move(tail);
  storage.change_read = std::move(read);
}

// Whether a reader could come in now.
inline bool is_index_free(Core& core) {
  const bool is_free = core.index_mutex.try_lock();
  if (is_free) core.index_mutex.unlock();
  return is_free;
}

}  // namespace varve::session
