// Configuration of a store: config.json, and the options given at open, which override it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "session/settings.h"

namespace varve::store {

// Applies one configuration object to `settings`. `strict`: an unknown member is kInvalidArgument
// (for options given at open); else it is passed over (config.json may be from a newer version).
// kFormatVersion for a newer `version`.
Status read_config(std::string_view text, bool strict, session::Settings* settings);

// config.json of the store at `uri`, as a path for messages.
[[nodiscard]] std::string config_path(std::string_view uri);

}  // namespace varve::store
