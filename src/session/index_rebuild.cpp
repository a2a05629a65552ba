#include "session/index_rebuild.h"

#include <mutex>

#include "index/word_indexer.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// kGone: the log is being replaced.
Status rebuild_once(Core& core) {
  VARVE_TRY(core.follow());  // so that the metadata fits the present log
  log::Tail tail;
  Core::LogMarks marks;
  {
    const std::unique_lock lock(core.index_mutex);
    VARVE_TRY_ASSIGN(tail, core.look());
    if (tail.generation != core.view.tail.generation) return log::replaced();
    marks = core.log_marks();
  }
  index::Index made = core.empty_index();
  index::WordIndexer words(made.text_to_extend(), index::kUncompressedBytesMax,
                           core.settings.threads > 1);
  VARVE_TRY_ASSIGN(
      const Core::Reading reading,
      core.read_log_into(&made, tail, marks, [&](std::string_view line) { words.add(line); }));
  words.finish([&] { made.compress_facets(); });
  return core.adopt_rebuilt(made, reading);
}

}  // namespace

Status rebuild_index(Core& core) {
  return while_replaced([&] { return rebuild_once(core); });
}

}  // namespace varve::session
