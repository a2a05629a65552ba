#include "varve/base.h"

#include <cstdlib>

#include "base/status.h"

#define VARVE_TEXT_INNER(x) #x
#define VARVE_TEXT(x) VARVE_TEXT_INNER(x)

extern "C" {

uint32_t varve_abi_version(void) { return VARVE_ABI_VERSION; }

const char* varve_version(void) {
  return VARVE_TEXT(VARVE_VERSION_MAJOR) "." VARVE_TEXT(VARVE_VERSION_MINOR) "." VARVE_TEXT(
      VARVE_VERSION_PATCH);
}

const char* varve_status_name(varve_status_t status) {
  return varve::code_name(static_cast<varve::Code>(status));
}

void varve_free(void* text) { std::free(text); }

}  // extern "C"
