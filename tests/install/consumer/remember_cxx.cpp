// An outside program in C++: keeps one entry and reads it back.
#include <varve/varve.h>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

// Throws what the library said; this program's exceptions and the library's run-time stay apart.
void check(varve_status_t status, varve_error_t* error) {
  if (status == VARVE_OK) return;
  const std::string message = varve_error_message(error);
  varve_error_free(error);
  throw std::runtime_error(message);
}

std::string take(char* text, size_t size) {
  std::string taken(text, size);
  varve_free(text);
  return taken;
}

void remember() {
  varve_store_t* store = nullptr;
  varve_session_t* session = nullptr;
  varve_error_t* error = nullptr;
  char* text = nullptr;
  size_t size = 0;
  const std::string entry = R"({"type":"finding","content":"tea, not coffee"})";

  check(varve_store_open("memory:", VARVE_NUL_TERMINATED, nullptr, 0, &store, &error), error);
  check(varve_session_create(store, nullptr, 0, &session, &error), error);
  check(varve_session_add(session, entry.data(), entry.size(), &text, &size, &error), error);
  const std::string id = take(text, size);
  check(varve_session_get(session, id.data(), id.size(), &text, &size, &error), error);
  if (take(text, size).find("tea, not coffee") == std::string::npos) {
    throw std::runtime_error("the entry came back changed");
  }
  varve_session_close(session);
  varve_store_close(store);
  std::cout << "varve " << varve_version() << " remembers " << id << '\n';
}

}  // namespace

int main() {
  try {
    remember();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
