// What varve.hpp is made of: failures, results, handles that close themselves, callbacks.
#ifndef VARVE_RESULT_HPP
#define VARVE_RESULT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "varve/varve.h"

namespace varve {
// Keeps every name here apart from the library's own, when a program links libvarve.a.
inline namespace wrapper {

// A failure: what() is the message for a person.
class Error : public std::runtime_error {
 public:
  Error(varve_status_t status, const std::string &message, std::string details = "{}")
      : std::runtime_error(message),
        status_(status),
        details_(std::make_shared<const std::string>(std::move(details))) {}
  // A move copies: what was moved from tells of the failure, too. Nothing is allocated for it.
  Error(const Error &) = default;
  Error &operator=(const Error &) = default;

  [[nodiscard]] varve_status_t status() const noexcept { return status_; }
  // The name of the status, "VARVE_NOT_FOUND" for example.
  [[nodiscard]] const char *name() const noexcept { return varve_status_name(status_); }
  // Where it failed: the JSON of varve_error_details.
  [[nodiscard]] const std::string &details() const noexcept { return *details_; }

 private:
  varve_status_t status_;
  std::shared_ptr<const std::string> details_;
};

// A value or an Error, as std::expected of C++23 would be.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  // The value; throws the Error when there is none.
  [[nodiscard]] T &value() & {
    check();
    return std::get<0>(state_);
  }
  [[nodiscard]] const T &value() const & {
    check();
    return std::get<0>(state_);
  }
  [[nodiscard]] T &&value() && {
    check();
    return std::get<0>(std::move(state_));
  }
  // Only when has_value().
  [[nodiscard]] T &operator*() &noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T &operator*() const &noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] T &&operator*() &&noexcept { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T *operator->() noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] const T *operator->() const noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] T value_or(T other) const & {
    return has_value() ? std::get<0>(state_) : std::move(other);
  }
  [[nodiscard]] T value_or(T other) && {
    return has_value() ? std::get<0>(std::move(state_)) : std::move(other);
  }
  // Only when !has_value().
  [[nodiscard]] const Error &error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  void check() const {
    if (!has_value()) throw error();
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  // Throws the Error when there is one.
  void value() const {
    if (!has_value()) throw error();
  }
  // Only when !has_value().
  [[nodiscard]] const Error &error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<std::monostate, Error> state_;
};

// How functions report failure: the parameter of every class below.
struct Throwing {
  template <typename T>
  using Answer = T;
  template <typename T>
  [[noreturn]] static T fail(Error error) {
    throw Error(std::move(error));
  }
};
struct Returning {
  template <typename T>
  using Answer = Result<T>;
  template <typename T>
  static Result<T> fail(Error error) {
    return Result<T>(std::move(error));
  }
};

// Any UTF-8 text as a JSON string, quotes and all: so that what somebody said can stand in an entry
// or a query, whatever characters it has.
inline std::string json_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      quoted += "\\u00";
      quoted += kDigits[byte / 16];
      quoted += kDigits[byte % 16];
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

namespace detail {

struct FreeText {
  void operator()(char *text) const noexcept { varve_free(text); }
};

// Where a call puts its error.
class ErrorOut {
 public:
  ErrorOut() = default;
  ~ErrorOut() { varve_error_free(error_); }
  ErrorOut(const ErrorOut &) = delete;
  ErrorOut &operator=(const ErrorOut &) = delete;

  varve_error_t **out() noexcept { return &error_; }
  [[nodiscard]] Error make(varve_status_t status) const {
    return {status, varve_error_message(error_), varve_error_details(error_)};
  }

 private:
  varve_error_t *error_ = nullptr;
};

// The function of one kind that a store or session has. The library is given the address of the
// slot, which stays while the handle is open, though the function be replaced: another thread may
// be inside the one before, which goes when that thread has left it.
template <typename Function>
class Slot {
 public:
  [[nodiscard]] std::shared_ptr<Function> get() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return function_;
  }
  // Gives back the one before.
  std::shared_ptr<Function> replace(std::shared_ptr<Function> function) {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::swap(function_, function);
    return function;
  }
  // Puts the one before in its place again, unless another thread has replaced `refused` already.
  void take_back(const std::shared_ptr<Function> &refused, std::shared_ptr<Function> before) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (function_ == refused) std::swap(function_, before);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Function> function_;  // guarded by mutex_
};

// A handle that `close` closes, and the three shapes of calls with it: `function` is one of the
// ABI's, `arguments` are those between its handle and its outs.
template <typename Policy, typename Handle, void (*close)(Handle *)>
class Object {
 public:
  template <typename T>
  using Answer = typename Policy::template Answer<T>;

  explicit Object(Handle *handle) noexcept : handle_(handle) {}  // takes it over
  // For calls of the C headers. The object keeps the handle.
  [[nodiscard]] Handle *handle() const noexcept { return handle_.get(); }

 protected:
  template <typename Function, typename... Arguments>
  Answer<void> tell(Function function, Arguments... arguments) const {
    ErrorOut error;
    const varve_status_t status = function(handle(), arguments..., error.out());
    if (status != VARVE_OK) return Policy::template fail<void>(error.make(status));
    return Answer<void>();
  }

  template <typename Function, typename... Arguments>
  Answer<std::string> ask(Function function, Arguments... arguments) const {
    ErrorOut error;
    char *text = nullptr;
    size_t len = 0;
    const varve_status_t status = function(handle(), arguments..., &text, &len, error.out());
    const std::unique_ptr<char, FreeText> owned(text);
    if (status != VARVE_OK) return Policy::template fail<std::string>(error.make(status));
    return std::string(text, len);
  }

  // A number, or a handle of what `Made` wraps.
  template <typename Made, typename Out, typename Function, typename... Arguments>
  Answer<Made> make(Function function, Arguments... arguments) const {
    ErrorOut error;
    Out out{};
    const varve_status_t status = function(handle(), arguments..., &out, error.out());
    if (status != VARVE_OK) return Policy::template fail<Made>(error.make(status));
    return Made(out);
  }

  // Has the library call `function` from the slot, or nothing when it is empty. What the library
  // refuses does not take the place of the function before.
  template <typename Function, typename Trampoline, typename Setter, typename... Arguments>
  Answer<void> hear(Slot<Function> *slot, Function function, Trampoline *trampoline, Setter set,
                    Arguments... arguments) const {
    if (!function || slot == nullptr) {
      return tell(set, arguments..., static_cast<Trampoline *>(nullptr), nullptr);
    }
    ErrorOut error;
    const auto given = std::make_shared<Function>(std::move(function));
    const auto before = slot->replace(given);
    const varve_status_t status = set(handle(), arguments..., trampoline, slot, error.out());
    if (status == VARVE_OK) return Answer<void>();
    slot->take_back(given, before);
    return Policy::template fail<void>(error.make(status));
  }

 private:
  struct Close {
    void operator()(Handle *handle) const noexcept { close(handle); }
  };
  std::unique_ptr<Handle, Close> handle_;
};

// `items` are JSON texts, in any container.
inline std::string json_array(const auto &items) {
  std::string array = "[";
  for (const std::string_view item : items) {
    if (array.size() > 1) array += ',';
    array += item;
  }
  return array + ']';
}

// The options that open or create a session. They are appended to the given ones, so that the place
// in an error is the caller's; what is not an object is left to the library to refuse.
inline std::string open_or_make(std::string_view id, std::string_view options) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = options.find_first_not_of(kSpace);
  const size_t last = options.find_last_not_of(kSpace);
  const bool is_given = first != std::string_view::npos;
  if (is_given && (options[first] != '{' || options[last] != '}')) return std::string(options);
  std::string text(is_given ? options.substr(0, last) : "{");
  const bool has_members = is_given && text.find_last_not_of(kSpace) != first;
  if (has_members) text += ',';
  return text + R"("session_id":)" + json_string(id) + R"(,"if_exists":"open"})";
}

using LogFunction = std::function<void(int32_t level, std::string_view json_line)>;
using ClockFunction = std::function<int64_t()>;
using TokenFunction = std::function<uint64_t(std::string_view text)>;
using ProgressFunction =
    std::function<bool(std::string_view operation, uint64_t done, uint64_t total)>;

inline void call_log(void *slot, int32_t level, const char *json_line, size_t len) noexcept {
  try {
    const auto function = static_cast<Slot<LogFunction> *>(slot)->get();
    (*function)(level, {json_line, len});
  } catch (...) {  // the line is lost
  }
}

inline int64_t call_clock(void *slot) noexcept {
  try {
    const auto function = static_cast<Slot<ClockFunction> *>(slot)->get();
    return (*function)();
  } catch (...) {
    using std::chrono::duration_cast;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return duration_cast<std::chrono::milliseconds>(now).count();
  }
}

inline int32_t call_tokens(void *slot, const char *text, size_t len,
                           uint64_t *tokens_out) noexcept {
  try {
    const auto function = static_cast<Slot<TokenFunction> *>(slot)->get();
    *tokens_out = (*function)({text, len});
    return 0;
  } catch (...) {
    return 1;
  }
}

inline int32_t call_progress(void *slot, const char *operation, uint64_t done,
                             uint64_t total) noexcept {
  try {
    const auto function = static_cast<Slot<ProgressFunction> *>(slot)->get();
    return (*function)(operation, done, total) ? 0 : 1;
  } catch (...) {
    return 1;
  }
}

}  // namespace detail

}  // namespace wrapper
}  // namespace varve

#endif
