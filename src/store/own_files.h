// Which paths of the host lie in a store's own directory.
#pragma once

#include <string_view>

#include "io/file_system.h"
#include "log/storage.h"

namespace varve::store {

// Whether `path` is the store's own directory or one below it. Nothing need exist there.
bool is_inside(io::FileSystem& files, log::Engine& engine, std::string_view path);

// Whether the file `path` is one that the store writes, or lies among these. A file of the user
// beside config.json is not.
bool is_own_file(io::FileSystem& files, log::Engine& engine, std::string_view path);

}  // namespace varve::store
