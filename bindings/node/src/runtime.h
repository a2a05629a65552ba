// What the generated raw.cpp is made of: arguments, results, calls made at once or on a thread of
// libuv, and callbacks. Of the library it knows only the few functions that every call needs.
//
// A raw function takes its arguments as in the C header, without lengths, outs, user_data and
// error_out. It gives what the out parameter would, and throws {status, code, message, details,
// cause} for anything but VARVE_OK; lib/errors.js makes an Error of that.
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <limits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "callbacks.h"
#include "handles.h"

struct varve_error;

namespace varve_node {

/** What every call needs from the library; set when it is loaded. */
struct Basics {
  const char* (*status_name)(int32_t) = nullptr;
  void (*free_text)(void*) = nullptr;
  const char* (*error_message)(const varve_error*) = nullptr;
  const char* (*error_details)(const varve_error*) = nullptr;
  void (*error_free)(varve_error*) = nullptr;
};
extern Basics basics;

/** Text given by JavaScript, copied: the call may run on another thread. */
class Text {
 public:
  Text() = default;
  explicit Text(std::string text) : text_(std::move(text)), given_(true) {}
  const char* data() const { return given_ ? text_.data() : nullptr; }
  size_t size() const { return text_.size(); }

 private:
  std::string text_;
  bool given_ = false;
};

/** Text that the library gives away. */
struct OwnedText {
  OwnedText() = default;
  OwnedText(const OwnedText&) = delete;
  OwnedText& operator=(const OwnedText&) = delete;
  ~OwnedText() { basics.free_text(data); }
  char* data = nullptr;
  size_t size = 0;
};

/** Text that lives as long as a handle. */
struct BorrowedText {
  const char* data = nullptr;
  size_t size = 0;
};

/** What became of a call. The error's texts are taken on the thread of the call. */
struct Outcome {
  int32_t status = 0;
  varve_error* error = nullptr;
  std::string message, details;
  uintptr_t callback_failure = 0;
};

/** The arguments of one call from JavaScript. A wrong type is a TypeError that names it. */
class Arguments {
 public:
  static constexpr size_t kMax = 8;
  Arguments(napi_env env, napi_callback_info info, const char* function);

  Text text(size_t index, const char* name, bool nullable) const;
  std::vector<float> floats(size_t index, const char* name) const;
  Registration callback(size_t index, const char* name, CallbackKind kind,
                        const void* handle) const;
  /** An Int32Array that is set to non-zero by who no longer wants the call, or null. */
  napi_value cancel_flag(size_t index) const;

  template <class Handle>
  Handle* handle(size_t index, const char* name) const {
    return reinterpret_cast<Handle*>(token(index, name));
  }

  template <class Number>
  Number number(size_t index, const char* name) const {
    if constexpr (std::is_floating_point_v<Number>) {
      return static_cast<Number>(real(index, name));
    } else if constexpr (std::is_signed_v<Number>) {
      return static_cast<Number>(
          integer(index, name, static_cast<int64_t>(std::numeric_limits<Number>::min()),
                  static_cast<uint64_t>(std::numeric_limits<Number>::max())));
    } else {
      return static_cast<Number>(integer(index, name, 0, std::numeric_limits<Number>::max()));
    }
  }

 private:
  uintptr_t token(size_t index, const char* name) const;
  double real(size_t index, const char* name) const;
  uint64_t integer(size_t index, const char* name, int64_t least, uint64_t most) const;
  uint64_t big_integer(size_t index, const char* name, int64_t least, uint64_t most) const;
  [[noreturn]] void refuse(const char* name, const char* expected) const;

  napi_env env_;
  const char* function_;
  napi_value values_[kMax];
};

napi_value give_undefined(napi_env env);
napi_value give_token(napi_env env, uintptr_t token);
napi_value give_text(napi_env env, const char* data, size_t size);
napi_value give_static_text(napi_env env, const char* text);
napi_value give_real(napi_env env, double value);
napi_value give_signed(napi_env env, int64_t value);
napi_value give_unsigned(napi_env env, uint64_t value);

inline napi_value give(napi_env env, const OwnedText& text) {
  return give_text(env, text.data, text.size);
}
inline napi_value give(napi_env env, const BorrowedText& text) {
  return give_text(env, text.data, text.size);
}
inline napi_value give(napi_env env, const char* text) { return give_static_text(env, text); }
template <class Handle>
napi_value give(napi_env env, Handle* handle) {
  return give_token(env, reinterpret_cast<uintptr_t>(handle));
}
template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
napi_value give(napi_env env, Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return give_real(env, value);
  } else if constexpr (std::is_signed_v<Number>) {
    return give_signed(env, value);
  } else {
    return give_unsigned(env, value);
  }
}

/** Takes and gives nothing, and makes no handle that would have to be closed. */
struct AnyCall {
  void read(const Arguments&) {}
  /** What is to be done once it was carried out, also when a callback threw meanwhile. */
  void carried_out(napi_env) {}
  napi_value result(napi_env env) { return give_undefined(env); }
  void discard() {}
};

/** Takes the error's texts and frees it. */
void take_error(Outcome& outcome);
[[noreturn]] void throw_failure(napi_env env, const Outcome& outcome);
/** Throws what a C++ exception says as a JavaScript one. */
void throw_cpp(napi_env env) noexcept;

template <class Call>
void perform(Call& call, Outcome& outcome) {
  CallbackFailures failures;
  call.run(outcome);
  outcome.callback_failure = failures.last();
  if (outcome.status != 0) {
    take_error(outcome);
  }
}

template <class Call>
napi_value finish(napi_env env, Call& call, const Outcome& outcome) {
  if (outcome.status == 0) {
    call.carried_out(env);
  }
  if (outcome.status == 0 && outcome.callback_failure == 0) {
    return call.result(env);
  }
  call.discard();
  throw_failure(env, outcome);
}

template <class Call>
napi_value call_now(napi_env env, napi_callback_info info) {
  try {
    Arguments in(env, info, Call::name);
    Call call;
    Outcome outcome;
    call.read(in);
    {
      InLibrary in_library;
      perform(call, outcome);
    }
    return finish(env, call, outcome);
  } catch (...) {
    throw_cpp(env);
    return nullptr;
  }
}

/** A call that waits for, or is on, a thread of libuv. */
struct Job {
  virtual ~Job() = default;
  virtual void run() = 0;
  virtual napi_value settle(napi_env env) = 0;

  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  napi_ref cancel_ref = nullptr;
  const int32_t* cancel_flag = nullptr;
  bool ran = false;
};

/** Queues the job and gives its promise. */
napi_value queue(napi_env env, std::unique_ptr<Job> job, napi_value cancel_flag);

template <class Call>
napi_value call_later(napi_env env, napi_callback_info info) {
  struct CallJob : Job {
    void run() override { perform(call, outcome); }
    napi_value settle(napi_env env) override { return finish(env, call, outcome); }
    Call call;
    Outcome outcome;
  };
  try {
    Arguments in(env, info, Call::name);
    auto job = std::make_unique<CallJob>();
    job->call.read(in);
    return queue(env, std::move(job), in.cancel_flag(Call::argument_count));
  } catch (...) {
    throw_cpp(env);
    return nullptr;
  }
}

/** One function of the library. */
struct Symbol {
  const char* name;
  void** place;
};

/** One that JavaScript can call; `later`, if it is there, as NAME_async. */
struct Function {
  const char* name;
  napi_callback now;
  napi_callback later;
};
template <class Call>
Function only_now() {
  return {Call::name, call_now<Call>, nullptr};
}
template <class Call>
Function now_or_later() {
  return {Call::name, call_now<Call>, call_later<Call>};
}

struct Module {
  const std::vector<Symbol>& symbols;
  const std::vector<Function>& functions;
  uint32_t abi_version;
  int32_t callback_status;
};

/** Makes the addon's exports: load(path). */
napi_value start(napi_env env, napi_value exports, const Module& module);

}  // namespace varve_node
