// LogReceiver: the host's log function, as the store calls it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_function.h"
#include "varve/store.h"

namespace varve::capi {

class LogReceiver : public HostFunction<varve_log_fn> {
 public:
  // A session::LogFunction whose user_data is a LogReceiver.
  static void receive(void* self, int32_t level, const char* json_line, size_t len) {
    const Stay stay(*static_cast<LogReceiver*>(self));
    if (stay.function() != nullptr) stay.function()(stay.user_data(), level, json_line, len);
  }
};

}  // namespace varve::capi
