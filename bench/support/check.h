// The status of a call of varve, checked: what fails ends the program.
#pragma once

#include <varve/varve.h>

#include <string>

#include "give_up.h"

namespace varve::bench {

inline void check(varve_status_t status, const varve_error_t* error, const char* action) {
  if (status == VARVE_OK) return;
  const char* reason = error == nullptr ? varve_status_name(status) : varve_error_message(error);
  give_up(std::string("varve: ") + action + ": " + reason);
}

}  // namespace varve::bench
