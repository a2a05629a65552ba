// DamagedLines: what damaged lines of a log still show: the ids of their entries.
//
// Threads: any. Locks: hold the index lock for state(), none for the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace varve::session {

class Core;

class DamagedLines {
 public:
  // The ids that damaged lines seem to have, each with the offset of the first such line.
  using Ids = std::map<std::string, uint64_t, std::less<>>;
  // The damage that is known, as something to compare: nothing when there is none.
  using State = std::optional<std::pair<uint64_t, uint64_t>>;

  explicit DamagedLines(Core& core) : core_(core) {}

  [[nodiscard]] State state() const;
  // Null when no line is damaged. Damaged lines are read once. kGone when the log was replaced
  // meanwhile.
  Result<std::shared_ptr<const Ids>> ids();
  // `why` says that the entry is not in the index. Its line may still be one that was passed over:
  // then kCorruption, with its place.
  Status explain(std::string_view id, Status why);

 private:
  Core& core_;
  std::mutex mutex_;  // guards the rest; taken also under the index lock
  std::shared_ptr<const Ids> ids_;
  State ids_state_;  // of that time
};

}  // namespace varve::session
