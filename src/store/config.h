// Configuration of a store: config.json, and the options given at open, which override it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "session/settings.h"

namespace varve::store {

// What configuration objects say, applied one after the other.
struct Config {
  session::Settings settings;
  // What a later object adds to, although it is no setting by itself.
  json::Tree decay = json::Tree::object();  // the members of all `decay` together
  uint64_t failure_buffer_mb = 16;          // for when failures are buffered
};

// Applies one configuration object to `config`. `strict`: an unknown member is kInvalidArgument
// (for options given at open); else it is passed over (config.json may be from a newer version).
// kFormatVersion for a newer `version`.
Status read_config(std::string_view text, bool strict, Config* config);

// config.json of the store at `uri`, as a path for messages.
[[nodiscard]] std::string config_path(std::string_view uri);

}  // namespace varve::store
