// What commands use of varve.hpp: the classes that return failures instead of throwing them.
#pragma once

#include <varve/varve.hpp>

#include "cli/failure.h"

namespace varve::cli {

using Store = checked::Store;
using Session = checked::Session;
using Results = checked::Results;

}  // namespace varve::cli
