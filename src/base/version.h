// The library's version, for what is written to disk.
#pragma once

#include <string>

#include "varve/base.h"

namespace varve {

inline std::string version_text() {
  return std::to_string(VARVE_VERSION_MAJOR) + "." + std::to_string(VARVE_VERSION_MINOR) + "." +
         std::to_string(VARVE_VERSION_PATCH);
}

}  // namespace varve
