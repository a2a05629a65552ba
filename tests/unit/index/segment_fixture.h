// Segments of bytes that are there.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "index/segment.h"

namespace varve::index {

inline Result<Segment> open_whole(std::string bytes) {
  VARVE_TRY_ASSIGN(Segment segment,
                   Segment::open(std::make_shared<SectionBytes>(std::move(bytes))));
  VARVE_TRY(segment.load_whole());
  return segment;
}

}  // namespace varve::index
