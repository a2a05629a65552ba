#include "capi/environment.h"

namespace varve::capi {

store::Store::Environment SystemEnvironment::view() noexcept {
  store::Store::Environment environment;
  environment.file_system = &file_system_;
  environment.clock = &clock_;
  environment.random = &random_;
  return environment;
}

}  // namespace varve::capi
