// An index of an index.bin, with nothing of it left to be read.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "index/snapshot.h"
#include "unit/index/text_view.h"

namespace varve::index {

inline Result<Index> decode_snapshot(std::string_view bytes,
                                     const text::Settings& text_settings = {}) {
  VARVE_TRY_ASSIGN(auto file, SnapshotFile::open(std::make_unique<TextView>(bytes)));
  VARVE_TRY_ASSIGN(Index index, open_snapshot(std::move(file), text_settings));
  VARVE_TRY(load_rows(&index));
  VARVE_TRY(load_facets(&index));
  if (index.pending().text) VARVE_TRY(load_text(&index));
  VARVE_TRY(index.load_whole());
  return index;
}

}  // namespace varve::index
