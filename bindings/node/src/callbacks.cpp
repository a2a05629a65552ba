#include "callbacks.h"

#include "handles.h"

#include <variant>
#include <limits>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace varve_node {
namespace {

/** What a function gave, as 64 bits, or by which number to find what it threw; 0: it did not. */
struct Answer {
  uint64_t value = 0;
  uintptr_t failure = 0;
};

/** What a thread waits for. */
struct Reply {
  bool given = false;
  bool waited_for = true;
  Answer answer;
};

struct Notice {
  uintptr_t callback = 0;
  std::vector<CallbackValue> arguments;
  std::shared_ptr<Reply> reply;  // null when nobody waits
};

/** One thread of JavaScript: the main one, or a worker. */
struct Environment {
  napi_env env = nullptr;
  std::thread::id thread;
  std::atomic<bool> closed{false};
  std::atomic<bool> exiting{false};  // the process ends once JavaScript has heard of it
  std::atomic<int> calls{0};         // of the library, that this thread is in
  std::atomic<int> waiting{0};       // threads that wait for a reply
  std::condition_variable changed;
  std::mutex mutex;  // guards what follows, and the replies
  std::deque<Notice> notices;
  napi_threadsafe_function wake = nullptr;
  // What functions threw that nobody has taken yet, by the failure's number. Home thread only.
  std::unordered_map<uintptr_t, napi_ref> causes;
};
using SharedEnvironment = std::shared_ptr<Environment>;

struct Callback {
  SharedEnvironment home;
  CallbackKind kind;
  const void* handle;
  std::string registrar;
  std::atomic<uint64_t> last{0};
  std::atomic<uintptr_t> last_failure{0};
  napi_ref function = nullptr;  // of the home thread only
};

/** Every callback of the process by its number. Never destroyed: threads may outlive main(). */
struct Table {
  std::mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Callback>> callbacks;
  uintptr_t next = 1;
};

Table& table() {
  static Table& only = *new Table;
  return only;
}

std::atomic<uintptr_t> failure_count{0};
thread_local uintptr_t failure_here = 0;  // of a callback during the present call
thread_local std::vector<Environment*> here;  // more than one when the addon is loaded anew

std::shared_ptr<Callback> find(uintptr_t id) {
  std::lock_guard<std::mutex> lock(table().mutex);
  auto found = table().callbacks.find(id);
  return found == table().callbacks.end() ? nullptr : found->second;
}

SharedEnvironment environment_of(napi_env env) {
  void* data = nullptr;
  if (napi_get_instance_data(env, &data) != napi_ok || data == nullptr) {
    return nullptr;
  }
  return *static_cast<SharedEnvironment*>(data);
}

void drop_reference(napi_env env, napi_ref& reference) {
  if (reference != nullptr) {
    napi_delete_reference(env, reference);
    reference = nullptr;
  }
}

void drop_cause(Environment& home, uintptr_t failure) {
  if (auto cause = home.causes.extract(failure)) {
    drop_reference(home.env, cause.mapped());
  }
}

/** Removes the callbacks of this thread for which `goes(id, callback)`. */
template <class Predicate>
void remove(Environment& home, Predicate goes) {
  std::vector<std::shared_ptr<Callback>> gone;
  {
    std::lock_guard<std::mutex> lock(table().mutex);
    auto& callbacks = table().callbacks;
    for (auto at = callbacks.begin(); at != callbacks.end();) {
      bool is_gone = at->second->home.get() == &home && goes(at->first, *at->second);
      if (is_gone) {
        gone.push_back(at->second);
      }
      at = is_gone ? callbacks.erase(at) : std::next(at);
    }
  }
  for (auto& callback : gone) {
    drop_reference(home.env, callback->function);
    drop_cause(home, callback->last_failure.exchange(0));
  }
}

void close_environment(void* data) {
  auto& home = **static_cast<SharedEnvironment*>(data);
  {
    std::lock_guard<std::mutex> lock(home.mutex);
    home.closed = true;
    home.notices.clear();
  }
  home.changed.notify_all();
  here.erase(std::remove(here.begin(), here.end(), &home), here.end());
  // A store that others still use goes on with the time that this thread's clock told last.
  remove(home,
         [](uintptr_t, const Callback& callback) { return callback.kind != CallbackKind::value; });
  const auto closed = close_opened();  // nobody waits for an answer of this thread any more
  remove(home, [&](uintptr_t, const Callback& callback) {
    return std::find(closed.begin(), closed.end(), callback.handle) != closed.end();
  });
}

napi_value to_js(napi_env env, const CallbackValue& value) {
  napi_value result = nullptr;
  if (const double* number = std::get_if<double>(&value)) {
    check(env, napi_create_double(env, *number, &result));
  } else {
    const std::string& text = std::get<std::string>(value);
    check(env, napi_create_string_utf8(env, text.data(), text.size(), &result));
  }
  return result;
}

/** Keeps the pending exception, in an object: a thrown value need not be one. */
uintptr_t keep_cause(Environment& home) {
  uintptr_t failure = ++failure_count;
  napi_env env = home.env;
  napi_value thrown = nullptr;
  napi_value box = nullptr;
  napi_ref cause = nullptr;
  if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok &&
      napi_create_object(env, &box) == napi_ok &&
      napi_set_named_property(env, box, "cause", thrown) == napi_ok &&
      napi_create_reference(env, box, 1, &cause) == napi_ok) {
    home.causes.emplace(failure, cause);
  }
  return failure;
}

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 2 * kTwoTo63;

/** Refuses what the integer that C gets does not hold: uint64_t of a counter, else int64_t. */
[[noreturn]] void refuse_range(napi_env env, CallbackKind kind) {
  throw_type_error(env, kind == CallbackKind::fill
                            ? "a callback of varve that counts must give 0 or more, below 2^64"
                            : "a callback of varve must give a number from -2^63 to below 2^63");
}

uint64_t bits_of_bigint(napi_env env, napi_value bigint, CallbackKind kind) {
  uint64_t count = 0;
  int64_t number = 0;
  bool fits = false;
  if (kind == CallbackKind::fill) {
    check(env, napi_get_value_bigint_uint64(env, bigint, &count, &fits));
  } else {
    check(env, napi_get_value_bigint_int64(env, bigint, &number, &fits));
    count = static_cast<uint64_t>(number);
  }
  if (!fits) {
    refuse_range(env, kind);
  }
  return count;
}

uint64_t bits_of_number(napi_env env, double number, CallbackKind kind) {
  bool counts = kind == CallbackKind::fill;
  if (std::isnan(number)) {
    throw_type_error(env, "a callback of varve must give a number");
  }
  if (counts ? !(number >= 0 && number < kTwoTo64) : !(number >= -kTwoTo63 && number < kTwoTo63)) {
    refuse_range(env, kind);
  }
  if (kind == CallbackKind::status) {
    return number == 0 ? 0 : 1;  // 0.5 is no 0
  }
  return counts ? static_cast<uint64_t>(number)
                : static_cast<uint64_t>(static_cast<int64_t>(number));
}

uint64_t bits_of(napi_env env, napi_value answer, CallbackKind kind) {
  napi_valuetype type = napi_undefined;
  check(env, napi_typeof(env, answer, &type));
  if (kind == CallbackKind::notice || (kind == CallbackKind::status && type != napi_number)) {
    return 0;
  }
  if (type == napi_bigint) {
    return bits_of_bigint(env, answer, kind);
  }
  double number = std::numeric_limits<double>::quiet_NaN();
  if (type == napi_number) {
    check(env, napi_get_value_double(env, answer, &number));
  }
  return bits_of_number(env, number, kind);
}

/** Calls the function, on its own thread. What it throws is kept. */
Answer invoke(Callback& callback, const std::vector<CallbackValue>& arguments) {
  napi_env env = callback.home->env;
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) {
    return {1, ++failure_count};
  }
  Answer answer;
  try {
    std::vector<napi_value> values;
    for (const CallbackValue& value : arguments) {
      values.push_back(to_js(env, value));
    }
    napi_value function = nullptr;
    napi_value receiver = nullptr;
    napi_value result = nullptr;
    check(env, napi_get_reference_value(env, callback.function, &function));
    check(env, napi_get_undefined(env, &receiver));
    check(env, napi_call_function(env, receiver, function, values.size(), values.data(), &result));
    answer.value = bits_of(env, result, callback.kind);
  } catch (const Thrown&) {
    answer = {1, keep_cause(*callback.home)};
  }
  napi_close_handle_scope(env, scope);
  return answer;
}

/** A notice from another thread. What a receiver of notices throws has no caller to go to. */
Answer deliver(const Notice& notice) {
  auto callback = find(notice.callback);
  if (callback == nullptr) {
    return {};
  }
  Answer answer = invoke(*callback, notice.arguments);
  if (callback->kind == CallbackKind::notice && answer.failure != 0) {
    napi_env env = callback->home->env;
    napi_value cause = cause_of(env, answer.failure);
    if (cause != nullptr) {
      napi_fatal_exception(env, cause);
    }
  }
  return answer;
}

/** Hands the answer to who waits for it, else keeps it for the next call. */
void reply(Environment& home, const Notice& notice, const Answer& answer) {
  uintptr_t nobodys = 0;
  {
    std::lock_guard<std::mutex> lock(home.mutex);
    if (notice.reply != nullptr && notice.reply->waited_for) {
      notice.reply->given = true;
      notice.reply->answer = answer;
      home.changed.notify_all();
    } else if (auto callback = find(notice.callback)) {
      callback->last = answer.value;
      nobodys = callback->last_failure.exchange(answer.failure);
    } else {
      nobodys = answer.failure;
    }
  }
  drop_cause(home, nobodys);
}

void deliver_all(Environment& home) {
  std::deque<Notice> notices;
  {
    std::lock_guard<std::mutex> lock(home.mutex);
    notices.swap(home.notices);
  }
  for (const Notice& notice : notices) {
    napi_handle_scope scope = nullptr;
    if (napi_open_handle_scope(home.env, &scope) == napi_ok) {
      Answer answer = deliver(notice);
      napi_close_handle_scope(home.env, scope);
      reply(home, notice, answer);
    }
  }
}

/** Queues a notice; the mutex is held. False when nobody will ever look at it. */
bool post_locked(Environment& home, Notice notice) {
  if (home.closed || home.wake == nullptr) {
    return false;
  }
  home.notices.push_back(std::move(notice));
  napi_call_threadsafe_function(home.wake, nullptr, napi_tsfn_nonblocking);
  return true;
}

void post(Environment& home, Notice notice) {
  std::lock_guard<std::mutex> lock(home.mutex);
  post_locked(home, std::move(notice));
}

/** Queues a notice and waits for the answer; the one before when it cannot be waited for. */
Answer wait_for_answer(Callback& callback, Notice notice) {
  Environment& home = *callback.home;
  auto reply = std::make_shared<Reply>();
  notice.reply = reply;
  std::unique_lock<std::mutex> lock(home.mutex);
  home.waiting++;  // before `calls` is looked at: InLibrary does it the other way round
  if (post_locked(home, std::move(notice))) {
    home.changed.wait(lock, [&] {
      return reply->given || home.closed || home.exiting || home.calls > 0;
    });
  }
  home.waiting--;
  reply->waited_for = false;
  return reply->given ? reply->answer
                      : Answer{callback.last.exchange(0), callback.last_failure.exchange(0)};
}

void wake_ended(napi_env, void*, void* context) {
  auto* home = static_cast<SharedEnvironment*>(context);
  {
    std::lock_guard<std::mutex> lock((*home)->mutex);
    (*home)->wake = nullptr;
  }
  delete home;
}

void woken(napi_env env, napi_value, void* context, void*) {
  if (env != nullptr) {
    deliver_all(**static_cast<SharedEnvironment*>(context));
  }
}

/** Called when the process exits: Node then waits for its threads, so none may wait for Node. */
napi_value let_go(napi_env env, napi_callback_info) {
  if (SharedEnvironment home = environment_of(env)) {
    std::lock_guard<std::mutex> lock(home->mutex);
    home->exiting = true;
    home->changed.notify_all();
  }
  return nullptr;
}

/**
 * process.prependOnceListener('exit', let_go): process.exit() runs no clean-up hook on the main
 * thread. First, because of listeners behind one that throws, or that exits, none is called. A
 * runtime without such a process does without.
 */
void hear_of_exit(napi_env env) {
  napi_value object = nullptr;
  napi_value listen = nullptr;
  napi_value arguments[2] = {nullptr, nullptr};
  try {
    check(env, napi_get_global(env, &object));
    check(env, napi_get_named_property(env, object, "process", &object));
    check(env, napi_get_named_property(env, object, "prependOnceListener", &listen));
    check(env, napi_create_string_utf8(env, "exit", NAPI_AUTO_LENGTH, &arguments[0]));
    check(env,
          napi_create_function(env, "letGo", NAPI_AUTO_LENGTH, let_go, nullptr, &arguments[1]));
    check(env, napi_call_function(env, object, listen, 2, arguments, nullptr));
  } catch (const Thrown&) {
    napi_get_and_clear_last_exception(env, &object);
  }
}

/** Lets other threads wake this one; does not keep the process running. */
void make_wake(const SharedEnvironment& home) {
  if (home->wake != nullptr) {
    return;
  }
  napi_env env = home->env;
  napi_value name = nullptr;
  napi_threadsafe_function wake = nullptr;
  check(env, napi_create_string_utf8(env, "varve", NAPI_AUTO_LENGTH, &name));
  check(env, napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, wake_ended,
                                             new SharedEnvironment(home), woken, &wake));
  check(env, napi_unref_threadsafe_function(env, wake));
  {
    std::lock_guard<std::mutex> lock(home->mutex);
    home->wake = wake;
  }
  hear_of_exit(env);
}

/** Whether this is the thread of JavaScript that may be called on. */
bool is_home(const Environment& home) {
  return home.thread == std::this_thread::get_id() && !home.closed;
}

/** The last failure of a call is what its error tells of. */
void note_failure(Environment& home, uintptr_t failure) {
  uintptr_t before = std::exchange(failure_here, failure);
  if (is_home(home)) {
    drop_cause(home, before);
  }
}

uintptr_t add_to_table(std::shared_ptr<Callback> callback) {
  std::lock_guard<std::mutex> lock(table().mutex);
  uintptr_t id = table().next++;
  table().callbacks.emplace(id, std::move(callback));
  return id;
}

}  // namespace

void open_environment(napi_env env) {
  auto* home = new SharedEnvironment(std::make_shared<Environment>());
  (*home)->env = env;
  (*home)->thread = std::this_thread::get_id();
  here.push_back(home->get());
  check(env, napi_set_instance_data(
                 env, home,
                 [](napi_env, void* data, void*) { delete static_cast<SharedEnvironment*>(data); },
                 nullptr));
  check(env, napi_add_env_cleanup_hook(env, close_environment, home));
}

InLibrary::InLibrary() {
  for (Environment* home : here) {
    if (home->calls++ == 0 && home->waiting > 0) {
      std::lock_guard<std::mutex> lock(home->mutex);
      home->changed.notify_all();
    }
  }
}

InLibrary::~InLibrary() {
  for (Environment* home : here) {
    home->calls--;
  }
}

void deliver_notices(napi_env env) {
  if (SharedEnvironment home = environment_of(env)) {
    deliver_all(*home);
  }
}

void forget_callbacks(napi_env env, const void* handle) {
  if (SharedEnvironment home = environment_of(env)) {
    remove(*home, [&](uintptr_t, const Callback& callback) { return callback.handle == handle; });
  }
}

napi_value cause_of(napi_env env, uintptr_t failure) {
  SharedEnvironment home = environment_of(env);
  napi_value box = nullptr;
  napi_value cause = nullptr;
  if (home == nullptr || home->causes.count(failure) == 0 ||
      napi_get_reference_value(env, home->causes[failure], &box) != napi_ok ||
      napi_get_named_property(env, box, "cause", &cause) != napi_ok) {
    return nullptr;
  }
  drop_cause(*home, failure);
  return cause;
}

CallbackFailures::CallbackFailures() : outer_(failure_here) { failure_here = 0; }
CallbackFailures::~CallbackFailures() { failure_here = outer_; }
uintptr_t CallbackFailures::last() const { return failure_here; }

Registration::Registration(napi_env env, napi_value function, CallbackKind kind, const void* handle)
    : handle_(handle) {
  auto callback = std::make_shared<Callback>();
  callback->home = environment_of(env);
  callback->kind = kind;
  callback->handle = handle;
  make_wake(callback->home);
  check(env, napi_create_reference(env, function, 1, &callback->function));
  Answer first;
  if (kind == CallbackKind::value) {
    first = invoke(*callback, {});
  }
  if (first.failure != 0) {
    napi_throw(env, cause_of(env, first.failure));
    drop_reference(env, callback->function);
    throw Thrown{};
  }
  callback->last = first.value;
  id_ = add_to_table(std::move(callback));
}

Registration Registration::none(const void* handle) {
  Registration nothing;
  nothing.handle_ = handle;
  return nothing;
}

Registration& Registration::operator=(Registration&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(handle_, other.handle_);
  return *this;
}

Registration::~Registration() {
  auto callback = find(id_);
  if (callback != nullptr && callback->registrar.empty()) {
    remove(*callback->home, [&](uintptr_t id, const Callback&) { return id == id_; });
  }
}

void Registration::keep(napi_env env, const char* registrar) {
  remove(*environment_of(env), [&](uintptr_t, const Callback& callback) {
    return callback.handle == handle_ && callback.registrar == registrar;
  });
  if (auto callback = find(id_)) {
    callback->registrar = registrar;
  }
}

uint64_t CallbackCall::answer(bool* failed) noexcept {
  auto callback = find(id_);
  if (callback == nullptr) {
    if (failed != nullptr) {
      *failed = true;
    }
    return 0;
  }
  Environment& home = *callback->home;
  Answer answer;
  bool done = true;
  if (is_home(home)) {
    answer = invoke(*callback, arguments_);
    done = answer.failure == 0;
    if (callback->kind == CallbackKind::value && done) {
      callback->last = answer.value;
    } else if (callback->kind == CallbackKind::value) {
      answer.value = callback->last;
    }
  } else if (callback->kind == CallbackKind::value) {
    answer.value = callback->last;
  } else if (callback->kind == CallbackKind::fill) {
    done = false;
  } else if (callback->kind == CallbackKind::status) {
    answer = wait_for_answer(*callback, {id_, std::move(arguments_), nullptr});
    done = answer.value == 0;
  } else {
    post(home, {id_, std::move(arguments_), nullptr});
  }
  if (!done) {
    note_failure(home, answer.failure != 0 ? answer.failure : ++failure_count);
  }
  if (failed != nullptr) {
    *failed = !done;
  }
  return answer.value;
}

}  // namespace varve_node
