#include "varve/window.h"

#include <memory>

#include "capi/guard.h"
#include "capi/handle_out.h"
#include "capi/handle_table.h"
#include "capi/text.h"
#include "io/system_clock.h"
#include "memory/window.h"

using varve::Status;
using varve::capi::bad_argument;
using varve::capi::guard;
using varve::capi::HandleOut;
using varve::capi::HandleTable;
using varve::capi::json_in;
using varve::capi::TextOut;
using varve::capi::to_token;
using varve::capi::with_handle;
using varve::memory::Window;

namespace {

class WindowRecord final : public varve::capi::Record {
 public:
  static constexpr varve::capi::HandleType kType = varve::capi::HandleType::kWindow;

  explicit WindowRecord(size_t capacity) : window_(capacity, clock_) {}
  [[nodiscard]] Window& window() noexcept { return window_; }

 private:
  varve::io::SystemClock clock_;
  Window window_;
};

Status check_capacity(size_t capacity) {
  if (capacity > 0) return {};
  return bad_argument("capacity", "is 0; a window keeps 1 message or more");
}

// `body` is called with the window, and returns a Status.
template <typename Body>
varve_status_t with_window(varve_window_t* handle, varve_error_t** error_out,
                           Body&& body) noexcept {
  return with_handle<WindowRecord>(handle, error_out,
                                   [&](WindowRecord& record) { return body(record.window()); });
}

}  // namespace

extern "C" {

varve_status_t varve_window_new(size_t capacity, varve_window_t** window_out,
                                varve_error_t** error_out) {
  HandleOut<varve_window_t> out(window_out, "window_out");
  return guard(error_out, [&]() -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY(check_capacity(capacity));
    return out.set(HandleTable::of_process().open(std::make_shared<WindowRecord>(capacity)));
  });
}

varve_status_t varve_window_add(varve_window_t* window, const char* entry_json, size_t entry_len,
                                varve_error_t** error_out) {
  return with_window(window, error_out, [&](Window& target) -> Status {
    VARVE_TRY_ASSIGN(const auto message, json_in(entry_json, entry_len, "entry_json"));
    return target.add(message);
  });
}

varve_status_t varve_window_recent(varve_window_t* window, size_t n, char** json_out,
                                   size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_window(window, error_out, [&](Window& target) { return out.set(target.recent(n)); });
}

varve_status_t varve_window_text(varve_window_t* window, char** text_out, size_t* text_len_out,
                                 varve_error_t** error_out) {
  TextOut out(text_out, text_len_out);
  return with_window(window, error_out, [&](Window& target) { return out.set(target.text()); });
}

varve_status_t varve_window_clear(varve_window_t* window, varve_error_t** error_out) {
  return with_window(window, error_out, [](Window& target) -> Status {
    target.clear();
    return {};
  });
}

size_t varve_window_size(varve_window_t* window) {
  size_t size = 0;
  with_window(window, nullptr, [&](Window& target) -> Status {
    size = target.size();
    return {};
  });
  return size;
}

void varve_window_free(varve_window_t* window) {
  (void)HandleTable::of_process().close<WindowRecord>(to_token(window));
}

}  // extern "C"
