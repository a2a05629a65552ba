// Configuration of a store: config.json, and the options given at open, which override it.
#pragma once

#include <cstdint>
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

enum class ConfigSource : uint8_t {
  kGiven,   // at open: unknown members are refused
  kStored,  // config.json: they are passed over, since it may be from a newer version
};

// Applies one configuration object to `config`. kInvalidArgument naming the member; kFormatVersion
// for a newer `version`.
Status read_config(std::string_view text, ConfigSource source, Config* config);

// config.json of the store at `uri`, as a path for messages.
[[nodiscard]] std::string config_path(std::string_view uri);

}  // namespace varve::store
