// Functions of JavaScript that the library calls.
//
// The library gets a number as user_data, never an address: a number that is no longer known is
// answered without harm, whatever thread it comes from. JavaScript runs on one thread only, so a
// call from any other thread
//   notice  is queued for it
//   status  is queued for it, and waits for the answer; while JavaScript is itself in a call of the
//           library, and may wait for this very thread, it takes the answer before for the answer,
//           and so it does while the process exits
//   value   answers with the value it gave last (it is asked once when it is registered)
//   fill    fails
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 8
#endif
#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace varve_node {

/** A JavaScript exception is pending; unwinds to where JavaScript called. */
struct Thrown {};

void check(napi_env env, napi_status status);
[[noreturn]] void throw_type_error(napi_env env, const std::string& message);

/** What a callback answers: nothing; 0 to go on; a value; a status, and a value in its out. */
enum class CallbackKind { notice, status, value, fill };

using CallbackValue = std::variant<double, std::string>;

/** Prepares this thread of JavaScript; once for each. */
void open_environment(napi_env env);
/** While it lives, this thread is in a call of the library, and no other thread waits for it. */
class InLibrary {
 public:
  InLibrary();
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;
  ~InLibrary();
};

/** Calls what other threads have queued. */
void deliver_notices(napi_env env);
/** Drops the callbacks that were registered with a handle. */
void forget_callbacks(napi_env env, const void* handle);
/** Takes what a callback threw when it failed; null when it threw nothing. */
napi_value cause_of(napi_env env, uintptr_t failure);

/** Notes that a callback failed during a call on this thread; calls may nest. */
class CallbackFailures {
 public:
  CallbackFailures();
  CallbackFailures(const CallbackFailures&) = delete;
  CallbackFailures& operator=(const CallbackFailures&) = delete;
  ~CallbackFailures();
  /** The number of the last failure; 0 when there was none. */
  uintptr_t last() const;

 private:
  uintptr_t outer_;
};

/** A function being registered: kept once the library has taken it, else dropped. */
class Registration {
 public:
  Registration() = default;
  Registration(napi_env env, napi_value function, CallbackKind kind, const void* handle);
  /** Takes the function of the handle away. */
  static Registration none(const void* handle);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  Registration(Registration&& other) noexcept { *this = std::move(other); }
  Registration& operator=(Registration&& other) noexcept;
  ~Registration();

  bool given() const { return id_ != 0; }
  void* user_data() const { return reinterpret_cast<void*>(id_); }
  /** Replaces what was registered with this handle by this function before. */
  void keep(napi_env env, const char* registrar);

 private:
  uintptr_t id_ = 0;
  const void* handle_ = nullptr;
};

/** One call of a callback by the library. */
class CallbackCall {
 public:
  explicit CallbackCall(void* user_data) : id_(reinterpret_cast<uintptr_t>(user_data)) {}
  void add(double value) { arguments_.emplace_back(value); }
  void add(const char* text, size_t size) { arguments_.emplace_back(std::string(text, size)); }
  void add(const char* text) { arguments_.emplace_back(std::string(text)); }

  void tell() { answer(); }
  int32_t hear() { return answer() == 0 ? 0 : 1; }
  template <class Value>
  Value ask() {
    return static_cast<Value>(answer());
  }
  template <class Value>
  int32_t fill(Value* out) {
    bool failed = false;
    uint64_t given = answer(&failed);
    if (!failed) {
      *out = static_cast<Value>(given);
    }
    return failed ? 1 : 0;
  }

 private:
  /** The 64 bits of what was answered. */
  uint64_t answer(bool* failed = nullptr) noexcept;

  uintptr_t id_;
  std::vector<CallbackValue> arguments_;
};

}  // namespace varve_node
