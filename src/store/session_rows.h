// The rows of the registry, page after page of one list of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

struct RowAt {
  const log::SessionRow& row;
  const std::string& cursor;  // where the rows after it start
  bool is_last = false;
};

struct RowVisitor {
  // Before the first row: forgets what was met, for the list may be made anew between two pages,
  // and its rows are visited from the first then.
  std::function<void()> begin;
  std::function<Result<bool>(const RowAt& at)> visit;  // false: enough
};

// Visits the rows behind `after`, newest first; rows of sessions dropped since may be among them.
// kInvalidArgument for an `after` that is of no list, or of another one. kBusy when the list is
// made anew over and over.
Status for_each_row(log::Engine& engine, std::string_view after, const RowVisitor& visitor,
                    size_t first_count = log::Engine::kRowsAtATime);

}  // namespace varve::store
