#include "runtime.h"

#include "text.h"

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>

namespace varve_node {

Basics basics;

namespace {

constexpr double kSafeInteger = 9007199254740991.0;  // Number.MAX_SAFE_INTEGER

napi_valuetype type_of(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  check(env, napi_typeof(env, value, &type));
  return type;
}

void set(napi_env env, napi_value object, const char* name, napi_value value) {
  check(env, napi_set_named_property(env, object, name, value));
}

/** Whether a string that has U+FFFD in UTF-8 came by it honestly. */
bool has_lone_surrogate(napi_env env, napi_value string) {
  size_t length = 0;
  check(env, napi_get_value_string_utf16(env, string, nullptr, 0, &length));
  std::u16string units(length, u'\0');
  check(env, napi_get_value_string_utf16(env, string, units.data(), length + 1, &length));
  for (size_t i = 0; i < length; i++) {
    bool high = units[i] >= 0xD800 && units[i] < 0xDC00;
    bool low = units[i] >= 0xDC00 && units[i] < 0xE000;
    bool paired = high && i + 1 < length && units[i + 1] >= 0xDC00 && units[i + 1] < 0xE000;
    if (paired) {
      i++;
    } else if (high || low) {
      return true;
    }
  }
  return false;
}

/** The string in UTF-8: in one go when it is short. */
std::string utf8_of(napi_env env, napi_value string) {
  std::array<char, 1024> small;
  size_t size = 0;
  check(env, napi_get_value_string_utf8(env, string, small.data(), small.size(), &size));
  if (size + 4 < small.size()) {  // else the end may be missing
    return std::string(small.data(), size);
  }
  check(env, napi_get_value_string_utf8(env, string, nullptr, 0, &size));
  std::string text(size, '\0');
  check(env, napi_get_value_string_utf8(env, string, text.data(), size + 1, &size));
  return text;
}

struct TypedArray {
  napi_typedarray_type type = napi_biguint64_array;  // which nothing here takes
  size_t length = 0;
  void* data = nullptr;
};

/** The typed array that the value is, or one without data. */
TypedArray typed_array(napi_env env, napi_value value) {
  TypedArray array;
  bool is_one = false;
  check(env, napi_is_typedarray(env, value, &is_one));
  if (is_one) {
    check(env, napi_get_typedarray_info(env, value, &array.type, &array.length, &array.data,
                                        nullptr, nullptr));
  }
  return array;
}

}  // namespace

void check(napi_env env, napi_status status) {
  if (status == napi_ok) {
    return;
  }
  const napi_extended_error_info* info = nullptr;
  napi_get_last_error_info(env, &info);  // before any other call: that sets it anew
  const char* message = info != nullptr ? info->error_message : nullptr;
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) {
    napi_throw_error(env, nullptr, message != nullptr ? message : "Node-API refused");
  }
  throw Thrown{};
}

void throw_type_error(napi_env env, const std::string& message) {
  napi_throw_type_error(env, "VARVE_INVALID_ARGUMENT", message.c_str());
  throw Thrown{};
}

void throw_cpp(napi_env env) noexcept {
  try {
    throw;
  } catch (const Thrown&) {  // already thrown in JavaScript
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, "VARVE_NO_MEMORY", "not enough memory");
  } catch (const std::exception& error) {
    napi_throw_error(env, "VARVE_INTERNAL", error.what());
  }
}

Arguments::Arguments(napi_env env, napi_callback_info info, const char* function)
    : env_(env), function_(function) {
  size_t count = kMax;
  check(env, napi_get_cb_info(env, info, &count, values_, nullptr, nullptr));
}

void Arguments::refuse(const char* name, const char* expected) const {
  throw_type_error(env_, std::string(function_) + ": " + name + " must be " + expected);
}

Text Arguments::text(size_t index, const char* name, bool nullable) const {
  napi_value value = values_[index];
  napi_valuetype type = type_of(env_, value);
  if (type == napi_string) {
    std::string text = utf8_of(env_, value);
    if (text.find("\xEF\xBF\xBD") != std::string::npos && has_lone_surrogate(env_, value)) {
      refuse(name, "well-formed: it has half of a surrogate pair");
    }
    return Text(std::move(text));
  }
  if (nullable && (type == napi_undefined || type == napi_null)) {
    return Text();
  }
  TypedArray bytes = typed_array(env_, value);
  if (bytes.type != napi_uint8_array) {
    refuse(name, "a string, or UTF-8 in a Uint8Array");
  }
  return Text(std::string(static_cast<const char*>(bytes.data), bytes.length));
}

std::vector<float> Arguments::floats(size_t index, const char* name) const {
  TypedArray array = typed_array(env_, values_[index]);
  if (array.type != napi_float32_array) {
    refuse(name, "a Float32Array");
  }
  const auto* first = static_cast<const float*>(array.data);
  return std::vector<float>(first, first + array.length);
}

Registration Arguments::callback(size_t index, const char* name, CallbackKind kind,
                                 const void* handle) const {
  napi_valuetype type = type_of(env_, values_[index]);
  if (type == napi_undefined || type == napi_null) {
    return Registration::none(handle);
  }
  if (type != napi_function) {
    refuse(name, "a function or null");
  }
  return Registration(env_, values_[index], kind, handle);
}

napi_value Arguments::cancel_flag(size_t index) const {
  napi_valuetype type = type_of(env_, values_[index]);
  if (type == napi_undefined || type == napi_null) {
    return nullptr;
  }
  TypedArray array = typed_array(env_, values_[index]);
  if (array.type != napi_int32_array || array.length == 0) {
    refuse("the last argument", "an Int32Array");
  }
  return values_[index];
}

uintptr_t Arguments::token(size_t index, const char* name) const {
  napi_valuetype type = type_of(env_, values_[index]);
  if (type == napi_undefined || type == napi_null) {
    return 0;
  }
  if (type != napi_bigint) {
    refuse(name, "a handle");
  }
  uint64_t token = 0;
  bool lossless = false;
  check(env_, napi_get_value_bigint_uint64(env_, values_[index], &token, &lossless));
  return static_cast<uintptr_t>(token);
}

double Arguments::real(size_t index, const char* name) const {
  double value = 0;
  if (napi_get_value_double(env_, values_[index], &value) != napi_ok) {
    refuse(name, "a number");
  }
  return value;
}

uint64_t Arguments::integer(size_t index, const char* name, int64_t least, uint64_t most) const {
  if (type_of(env_, values_[index]) == napi_bigint) {
    return big_integer(index, name, least, most);
  }
  double value = real(index, name);
  if (value != std::floor(value) || std::fabs(value) > kSafeInteger ||
      value < static_cast<double>(least) || value > static_cast<double>(most)) {
    refuse(name, "an integer in range; above Number.MAX_SAFE_INTEGER a BigInt");
  }
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}

uint64_t Arguments::big_integer(size_t index, const char* name, int64_t least,
                                uint64_t most) const {
  uint64_t positive = 0;
  int64_t negative = 0;
  bool fits = false;
  check(env_, napi_get_value_bigint_uint64(env_, values_[index], &positive, &fits));
  if (fits && positive <= most) {
    return positive;
  }
  check(env_, napi_get_value_bigint_int64(env_, values_[index], &negative, &fits));
  if (!fits || negative >= 0 || negative < least) {
    refuse(name, "an integer in range");
  }
  return static_cast<uint64_t>(negative);
}

napi_value give_undefined(napi_env env) {
  napi_value value = nullptr;
  check(env, napi_get_undefined(env, &value));
  return value;
}

napi_value give_token(napi_env env, uintptr_t token) {
  napi_value value = nullptr;
  check(env, napi_create_bigint_uint64(env, token, &value));
  return value;
}

napi_value give_text(napi_env env, const char* data, size_t size) {
  napi_value value = nullptr;
  if (data == nullptr) {
    check(env, napi_get_null(env, &value));
  } else if (create_string(env, data, size, &value) != napi_ok) {
    // The only reason here, of which Node-API says "Unknown failure" or "Invalid argument".
    std::string message = "the answer has " + std::to_string(size) +
                          " bytes, more than a string of JavaScript holds: ask for less at a time";
    napi_throw_error(env, "ERR_STRING_TOO_LONG", message.c_str());
    throw Thrown{};
  }
  return value;
}

napi_value give_static_text(napi_env env, const char* text) {
  return give_text(env, text, text == nullptr ? 0 : std::strlen(text));
}

napi_value give_real(napi_env env, double number) {
  napi_value value = nullptr;
  check(env, napi_create_double(env, number, &value));
  return value;
}

napi_value give_signed(napi_env env, int64_t number) {
  napi_value value = nullptr;
  bool safe = std::fabs(static_cast<double>(number)) <= kSafeInteger;
  check(env, safe ? napi_create_double(env, static_cast<double>(number), &value)
                  : napi_create_bigint_int64(env, number, &value));
  return value;
}

napi_value give_unsigned(napi_env env, uint64_t number) {
  napi_value value = nullptr;
  bool safe = static_cast<double>(number) <= kSafeInteger;
  check(env, safe ? napi_create_double(env, static_cast<double>(number), &value)
                  : napi_create_bigint_uint64(env, number, &value));
  return value;
}

void take_error(Outcome& outcome) {
  if (outcome.error != nullptr) {
    outcome.message = basics.error_message(outcome.error);
    outcome.details = basics.error_details(outcome.error);
    basics.error_free(outcome.error);
    outcome.error = nullptr;
  }
}

namespace {
int32_t callback_status = 0;
}

void throw_failure(napi_env env, const Outcome& outcome) {
  bool carried_out = outcome.status == 0;
  int32_t status = carried_out ? callback_status : outcome.status;
  std::string message =
      carried_out ? "a callback threw; the call itself was carried out" : outcome.message;
  napi_value failure = nullptr;
  check(env, napi_create_object(env, &failure));
  set(env, failure, "status", give(env, status));
  set(env, failure, "code", give_static_text(env, basics.status_name(status)));
  set(env, failure, "message", give_text(env, message.data(), message.size()));
  set(env, failure, "details", give_text(env, outcome.details.data(), outcome.details.size()));
  if (napi_value cause = cause_of(env, outcome.callback_failure)) {
    set(env, failure, "cause", cause);
  }
  check(env, napi_throw(env, failure));
  throw Thrown{};
}

namespace {

void execute(napi_env, void* data) {
  auto& job = *static_cast<Job*>(data);
  if (job.cancel_flag == nullptr || __atomic_load_n(job.cancel_flag, __ATOMIC_ACQUIRE) == 0) {
    job.run();
    job.ran = true;
  }
}

void complete(napi_env env, napi_status, void* data) {
  std::unique_ptr<Job> job(static_cast<Job*>(data));
  napi_value value = nullptr;
  bool done = false;
  deliver_notices(env);
  try {
    value = job->ran ? job->settle(env) : give_undefined(env);
    done = true;
  } catch (...) {
    throw_cpp(env);
    napi_get_and_clear_last_exception(env, &value);
  }
  // When the thread is ending, JavaScript cannot run and these answer so: nobody is waiting.
  if (done) {
    napi_resolve_deferred(env, job->deferred, value);
  } else if (value != nullptr) {
    napi_reject_deferred(env, job->deferred, value);
  }
  if (job->cancel_ref != nullptr) {
    napi_delete_reference(env, job->cancel_ref);
  }
  napi_delete_async_work(env, job->work);
}

}  // namespace

napi_value queue(napi_env env, std::unique_ptr<Job> job, napi_value cancel_flag) {
  napi_value promise = nullptr;
  if (cancel_flag != nullptr) {
    job->cancel_flag = static_cast<const int32_t*>(typed_array(env, cancel_flag).data);
    check(env, napi_create_reference(env, cancel_flag, 1, &job->cancel_ref));
  }
  check(env, napi_create_promise(env, &job->deferred, &promise));
  check(env, napi_create_async_work(env, nullptr, give_static_text(env, "varve"), execute, complete,
                                    job.get(), &job->work));
  check(env, napi_queue_async_work(env, job->work));
  job.release();  // complete() owns it
  return promise;
}

namespace {

/** The library of this process. It is loaded once, by whichever thread comes first, and stays. */
struct Loaded {
  std::mutex mutex;
  void* library = nullptr;
};

Loaded& loaded() {
  static Loaded& only = *new Loaded;
  return only;
}

struct LoadResult {
  std::string reason;  // empty when it was loaded
  uint32_t abi_version = 0;
};

/** Opens the library and fills the module's symbols: all of them, or none. */
LoadResult load_library(const std::string& path, const Module& module) {
  std::lock_guard<std::mutex> lock(loaded().mutex);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return {reason != nullptr ? reason : "cannot be opened"};
  }
  auto* version = reinterpret_cast<uint32_t (*)()>(dlsym(library, "varve_abi_version"));
  if (version == nullptr) {
    return {"is not libvarve: it has no varve_abi_version"};
  }
  LoadResult result{"", version()};
  if (result.abi_version != module.abi_version) {
    result.reason = "has ABI version " + std::to_string(result.abi_version) +
                    ", this package needs " + std::to_string(module.abi_version);
    return result;
  }
  if (loaded().library != nullptr && loaded().library != library) {
    result.reason = "another libvarve is loaded in this process already";
    return result;
  }
  std::vector<void*> found;
  for (const Symbol& symbol : module.symbols) {
    found.push_back(dlsym(library, symbol.name));
    if (found.back() == nullptr) {
      result.reason += (result.reason.empty() ? "lacks " : ", ") + std::string(symbol.name);
    }
  }
  if (result.reason.empty() && loaded().library == nullptr) {
    for (size_t i = 0; i < found.size(); i++) {
      *module.symbols[i].place = found[i];
    }
    loaded().library = library;
  }
  return result;
}

napi_value functions_of(napi_env env, const Module& module) {
  napi_value functions = nullptr;
  check(env, napi_create_object(env, &functions));
  const auto add = [&](const std::string& name, napi_callback call) {
    napi_value value = nullptr;
    check(env, napi_create_function(env, name.c_str(), name.size(), call, nullptr, &value));
    set(env, functions, name.c_str(), value);
  };
  for (const Function& function : module.functions) {
    add(function.name, function.now);
    if (function.later != nullptr) {
      add(std::string(function.name) + "_async", function.later);
    }
  }
  return functions;
}

/** mayHaveLongInteger(text). Of each character the low byte is enough: a digit stays one. */
napi_value tell_long_integer(napi_env env, napi_callback_info info) {
  try {
    napi_value text = nullptr;
    size_t count = 1;
    size_t size = 0;
    check(env, napi_get_cb_info(env, info, &count, &text, nullptr, nullptr));
    check(env, napi_get_value_string_latin1(env, text, nullptr, 0, &size));
    std::unique_ptr<char[]> bytes(new char[size + 1]);
    check(env, napi_get_value_string_latin1(env, text, bytes.get(), size + 1, &size));
    napi_value answer = nullptr;
    check(env, napi_get_boolean(env, may_have_long_integer(bytes.get(), size), &answer));
    return answer;
  } catch (...) {
    throw_cpp(env);
    return nullptr;
  }
}

/** closeAtEnd(): what this thread, a worker's, opens from now on is closed when it ends. */
napi_value close_at_end(napi_env env, napi_callback_info) {
  try {
    note_handles();
    return give_undefined(env);
  } catch (...) {
    throw_cpp(env);
    return nullptr;
  }
}

/** load(path): {abiVersion, reason}, or {abiVersion, functions} when it was loaded. */
napi_value load(napi_env env, napi_callback_info info) {
  napi_value path = nullptr;
  size_t count = 1;
  void* data = nullptr;
  try {
    check(env, napi_get_cb_info(env, info, &count, &path, nullptr, &data));
    const auto& module = *static_cast<const Module*>(data);
    LoadResult found = load_library(utf8_of(env, path), module);
    napi_value result = nullptr;
    check(env, napi_create_object(env, &result));
    set(env, result, "abiVersion", give(env, found.abi_version));
    if (found.reason.empty()) {
      callback_status = module.callback_status;
      set(env, result, "functions", functions_of(env, module));
    } else {
      set(env, result, "reason", give_text(env, found.reason.data(), found.reason.size()));
    }
    return result;
  } catch (...) {
    throw_cpp(env);
    return nullptr;
  }
}

}  // namespace

napi_value start(napi_env env, napi_value exports, const Module& module) {
  try {
    open_environment(env);
    napi_value function = nullptr;
    check(env, napi_create_function(env, "load", NAPI_AUTO_LENGTH, load,
                                    const_cast<Module*>(&module), &function));
    set(env, exports, "load", function);
    check(env, napi_create_function(env, "mayHaveLongInteger", NAPI_AUTO_LENGTH,
                                    tell_long_integer, nullptr, &function));
    set(env, exports, "mayHaveLongInteger", function);
    check(env, napi_create_function(env, "closeAtEnd", NAPI_AUTO_LENGTH, close_at_end, nullptr,
                                    &function));
    set(env, exports, "closeAtEnd", function);
  } catch (...) {
    throw_cpp(env);
  }
  return exports;
}

}  // namespace varve_node
