#include "session/upkeep/index_rebuild.h"

#include <mutex>
#include <string_view>

#include "index/word_indexer.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// Reads all of the log as it is now into `made`. kGone: it is being replaced.
Result<Core::Reading> read_log(Core& core, index::Index* made, const Core::Added& added = {}) {
  VARVE_TRY(core.follow());  // so that the metadata fits the present log
  log::Tail tail;
  Core::LogMarks marks;
  {
    const std::unique_lock lock(core.index_mutex);
    VARVE_TRY_ASSIGN(tail, core.look());
    if (tail.generation != core.view.tail.generation) return log::replaced();
    marks = core.log_marks();
  }
  return core.read_log_into(made, tail, marks, added);
}

Status rebuild_once(Core& core) {
  index::Index made = core.empty_index();
  index::WordIndexer words(made.text_to_extend(), index::kUncompressedBytesMax,
                           core.settings.threads > 1);
  VARVE_TRY_ASSIGN(const Core::Reading reading,
                   read_log(core, &made, [&](std::string_view line) { words.add(line); }));
  words.finish([&] { made.compress_facets(); });
  return core.adopt_rebuilt(made, reading);
}

Status take_rows_once(Core& core) {
  VARVE_TRY(core.load_sections());
  if (core.is_index_from_log()) return {};
  index::Index made = core.empty_index();
  VARVE_TRY_ASSIGN(const Core::Reading reading, read_log(core, &made));
  made.compress_facets();
  return core.adopt_rebuilt(made, reading, Core::Words::kKept);
}

}  // namespace

Status rebuild_index(Core& core) {
  return while_replaced([&] { return rebuild_once(core); });
}

Status take_rows_from_log(Core& core) {
  return while_replaced([&] { return take_rows_once(core); });
}

}  // namespace varve::session
