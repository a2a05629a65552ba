// Writes a user's file at a path outside the store: whole in one step, or not at all.
#pragma once

#include <functional>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "log/storage.h"

namespace varve::transfer {

// Writes what `produce` gives into a temporary file beside `path`, syncs it and renames it to
// `path`. So readers see nothing (or what was there before) or the whole file, even after a crash.
// Only the owner may read it. A link at `path` is replaced, not followed.
// errors: kAlreadyExists when `overwrite` is false and there is something of that name; kIo for a
//         directory; what `produce` answers.
Status write_outside_file(io::FileSystem& files, std::string_view path, bool overwrite,
                          Random& random, const std::function<Status(log::Sink&)>& produce);

}  // namespace varve::transfer
