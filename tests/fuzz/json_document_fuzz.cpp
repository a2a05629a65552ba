// Whatever the bytes are: the parser answers, a refusal names a place in the text, and what is
// accepted has a canonical form that reads back as itself.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/canonical.h"
#include "json/document.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string canonical(const varve::json::Document& document) {
  std::string text;
  varve::json::append_canonical(document.root(), text);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  varve::json::Document document;
  const varve::Status status = document.parse(text);
  if (!status.ok()) {
    require(!status.message().empty());
    return 0;
  }
  const std::string once = canonical(document);
  varve::json::Document again;
  require(again.parse(once).ok());
  require(canonical(again) == once);
  return 0;
}
