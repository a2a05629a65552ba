// How entries decay, as configuration says it: the `decay` of config.json (§7.1 of the persistence
// layer) and the `decay_config` of a session's metadata (§7.2), in one form.
//
//   {"enabled": true, "half_life_hours": 168, "min_decay_factor": 0.1, "curve": "exponential",
//    "default_half_life_hours": 168, "update_interval_minutes": 60,
//    "type_specific": {"decision": {"half_life_hours": 720}, "preference": {"decay_enabled":
//    false}}}
//
// half_life_hours, min_decay_factor and curve apply to every type that decays, also to one that
// type_specific makes decay; default_half_life_hours to types without a rule of their own.
// type_specific is applied last, and a half-life in it makes its type decay. Decay is computed when
// asked, so update_interval_minutes has no effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "decay/decay.h"
#include "json/document.h"
#include "json/tree.h"

namespace varve::session {

// What to do about members that this version does not know.
enum class UnknownMembers : uint8_t { kRefused, kPassedOver };

// Changes *rules as the object says.
// errors: kInvalidArgument naming the member and its offset in `text`.
Status read_decay_config(std::string_view text, json::Value config, UnknownMembers unknown,
                         decay::Rules* rules);

// The session's rules: the store's, changed by the decay_config of its metadata. Nothing when it
// has no decay_config or an unreadable one.
[[nodiscard]] std::optional<decay::Rules> own_decay_rules(const json::Tree& metadata,
                                                          const decay::Rules& of_store);

}  // namespace varve::session
