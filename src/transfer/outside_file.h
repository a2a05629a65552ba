// A file of the user's, at a path of theirs: made whole in one step, or not at all.
#pragma once

#include <functional>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "log/storage.h"

namespace varve::transfer {

// Writes what `produce` gives into a temporary file beside `path`, syncs it and gives it its name:
// whoever looks sees nothing (or what was there before) or the whole, after a crash too. Only the
// owner may read it. A link at `path` is replaced, not followed.
// errors: kAlreadyExists when `overwrite` is false and there is something of that name; kIo for a
//         directory; what `produce` answers.
Status write_outside_file(io::FileSystem& files, std::string_view path, bool overwrite,
                          Random& random, const std::function<Status(log::Sink&)>& produce);

}  // namespace varve::transfer
