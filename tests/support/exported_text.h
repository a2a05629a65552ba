// What a session exports, as one text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "session/session.h"

namespace varve::session {

// Empties `sink` whenever the export begins.
inline log::BeginSink begin_in(log::TextSink& sink) {
  return [&sink]() -> log::Sink& {
    sink.text.clear();
    return sink;
  };
}

inline Result<std::string> exported_text(Session& session, std::string_view format,
                                         const ProgressReceiver& receiver = {}) {
  log::TextSink sink;
  VARVE_TRY(session.export_text(format, begin_in(sink), receiver));
  return std::move(sink.text);
}

}  // namespace varve::session
