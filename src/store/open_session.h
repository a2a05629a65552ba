// How parts of the store get at its sessions.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "log/atomic_file.h"
#include "session/session.h"

namespace varve::store {

// Opens a session by id. kNotFound when it no longer exists.
using OpenSession = std::function<Result<std::shared_ptr<session::Session>>(const std::string& id)>;

// The session of this id if it is open in this process, else null.
using FindOpen = std::function<std::shared_ptr<session::Session>(const std::string& id)>;

// Too many files are open, in this process or in the system. It says nothing of the session.
using log::is_lack_of_descriptors;

}  // namespace varve::store
