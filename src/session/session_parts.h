// Session::Parts: what a session consists of.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "session/core.h"
#include "session/reports/usage.h"
#include "session/session.h"
#include "session/stores/key_value.h"
#include "session/stores/transcript.h"
#include "session/writer.h"

namespace varve::session {

struct Session::Parts {
  Parts(std::string id, std::unique_ptr<log::SessionStorage> storage, const Context& context)
      : core(std::move(id), std::move(storage), context),
        writer(core),
        key_value(core, writer),
        transcript(core, writer),
        ids(*context.clock, *context.random) {}

  // For calls that may find nothing to do.
  [[nodiscard]] Status check_is_there() {
    VARVE_TRY(core.check_not_expired());
    return core.storage->tail().status();  // kNotFound when the session was deleted
  }

  [[nodiscard]] entry::DraftOptions draft_options() const {
    entry::DraftOptions options;
    options.session_id = core.id;
    options.now_ms = core.context.clock->now_ms();
    options.entry_bytes_max = static_cast<size_t>(core.settings.entry_bytes_max);
    return options;
  }

  // Counts and logs a failure; returns the answer.
  template <typename Answer>
  Answer noted(Answer answer, std::string_view message) {
    if (!answer.ok()) core.events.note_failure(answer.status(), message);
    return answer;
  }

  Core core;
  Writer writer;
  KeyValue key_value;
  Transcript transcript;
  IdGenerator ids;
  UsageTable usage{core};
  std::atomic<bool> closed{false};
  std::atomic<bool> keeps_lock{false};
};

}  // namespace varve::session
