// A session in memory, its files in a fuzz target's hands.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "log/memory_storage.h"
#include "session/metadata/metadata.h"
#include "session/session.h"
#include "support/environment.h"

namespace varve::fuzz {

inline constexpr const char* kSessionId = "s";

class MemoryHost {
 public:
  MemoryHost() {
    session::CreateOptions options;
    options.session_id = kSessionId;
    files().documents.emplace("metadata.json",
                              session::Metadata::make(options, clock.now_ms()).encode());
  }

  [[nodiscard]] log::MemorySession& files() { return *files_; }
  Result<std::shared_ptr<session::Session>> open() {
    return session::Session::open(kSessionId, std::make_unique<log::MemoryStorage>(files_, clock),
                                  {&clock, &random, &events, &counters, {}});
  }

  test::ManualClock clock;
  test::SeededRandom random;
  session::EventLog events{clock};
  session::Counters counters;

 private:
  std::shared_ptr<log::MemorySession> files_ = std::make_shared<log::MemorySession>();
};

}  // namespace varve::fuzz
