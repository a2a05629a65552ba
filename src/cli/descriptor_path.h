// Paths that name an open file of this program instead of a place in a folder.
#pragma once

#include <optional>
#include <string>

namespace varve::cli {

// The descriptor that `path` names, as /dev/stdout, /dev/fd/3 and links to them do; nullopt for any
// other path. Whether it is open is not looked at.
[[nodiscard]] std::optional<int> descriptor_of(const std::string& path);

}  // namespace varve::cli
