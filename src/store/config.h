// Configuration of a store: config.json and what is given at open, which overrides it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "session/settings.h"

namespace varve::store {

// Reads one configuration object over `settings`.
// `strict`: an unknown member is kInvalidArgument (given at open); else it is passed over
// (config.json, which a newer version may have written). kFormatVersion for a newer `version`.
Status read_config(std::string_view text, bool strict, session::Settings* settings);

// config.json of the store at `uri`, called as whoever opens the store calls it.
[[nodiscard]] std::string config_path(std::string_view uri);

}  // namespace varve::store
