// A system call that a rig cannot do without failed.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace varve::crash {

[[noreturn]] inline void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace varve::crash
