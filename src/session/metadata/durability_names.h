// The names of durabilities, as the configuration and a session's metadata have them.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "log/storage.h"

namespace varve::session {

inline constexpr std::pair<std::string_view, log::Durability> kDurabilityNames[] = {
    {"commit", log::Durability::kCommit},
    {"interval", log::Durability::kInterval},
    {"os", log::Durability::kOs},
};
inline constexpr std::string_view kMustBeDurability = R"(must be "commit", "interval" or "os")";

[[nodiscard]] inline std::optional<log::Durability> durability_named(std::string_view wanted) {
  for (const auto& [name, durability] : kDurabilityNames) {
    if (name == wanted) return durability;
  }
  return std::nullopt;
}

[[nodiscard]] inline std::string_view name_of(log::Durability wanted) {
  for (const auto& [name, durability] : kDurabilityNames) {
    if (durability == wanted) return name;
  }
  return {};
}

}  // namespace varve::session
