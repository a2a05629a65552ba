// Whatever functions of the ABI are called, in whatever order, with handles that are open, closed,
// NULL, made up or of another type, with texts that are NULL, too long, no UTF-8 or no JSON, and
// with outs that are there or not: each answers with a status that is documented, BAD_HANDLE if and
// only if the handle is not an open one of its type; the error says the same as the status; outs
// are written; closing twice is harmless; and when all is closed nothing is left.
//
// An input is calls, each a byte for the function and bytes for its arguments, by their types.
#include <varve/varve.h>

#include <array>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "input_bytes.h"
#include "require.h"

namespace {

using varve::fuzz::InputBytes;
using varve::fuzz::require;

constexpr size_t kNul = VARVE_NUL_TERMINATED;
constexpr const char* kNoPath = "/dev/null/none";  // cannot be
constexpr int kCallsMax = 40;

constexpr const char* kTexts[] = {
    "",
    "{}",
    "a",
    "s",
    "user",
    "jsonl",
    "markdown",
    "user_message",
    "tool_call",
    "id",
    "none",
    R"({"type":"note","content":"red tea"})",
    R"({"id":"a","type":"message","content":{"role":"user","content":"hello"},"tags":["t.u"]})",
    R"([{"id":"b","type":"note","content":1},{"id":"c","type":"note","content":2}])",
    R"({"id":"d","type":"note","content":"gone","ttl_seconds":0.001,"references":["a"]})",
    R"({"role":"user","content":"Hello"})",
    R"({"content":"hello","tool":"x","call_id":"1"})",
    R"({"text":"tea","limit":1,"explain":true})",
    R"({"text":"what tea?","sort_by":"best"})",
    R"({"vector":[1,2],"text":"tea"})",
    R"({"session_id":"s","stores":["kv"],"kv_cap":1})",
    R"({"session_id":"s"})",
    R"({"user_id":"u","agent_id":"g","limit":1})",
    R"({"dry_run":true})",
    R"({"deep":true})",
    R"({"title":"t","ttl_hours":1})",
    R"({"question":"hello","across":{},"budget":{"max_tokens":50}})",
    R"({"storage":{"max_entry_size_bytes":100,"max_user_sessions":1}})",
    R"({"durability":"os","integrity":{"recovery":"strict"}})",
    R"({"format":"json"})",
};

// --- functions with fewer arguments: none may touch a file
// -----------------------------------------

varve_status_t open_memory(const char* config, size_t config_len, varve_store_t** out,
                           varve_error_t** error) {
  return varve_store_open("memory:", kNul, config, config_len, out, error);
}
varve_status_t open_badly(uint8_t which, varve_store_t** out, varve_error_t** error) {
  constexpr std::array<const char*, 6> kUris = {"",      "file:",    "http://x",
                                                kNoPath, "memory:x", "\xff"};
  return varve_store_open(kUris[which % kUris.size()], kNul, nullptr, 0, out, error);
}
varve_status_t back_up(varve_store_t* store, const char* options, size_t options_len, char** out,
                       size_t* len, varve_error_t** error) {
  return varve_store_backup(store, kNoPath, kNul, options, options_len, out, len, error);
}
varve_status_t restore(varve_store_t* store, const char* options, size_t options_len, char** out,
                       size_t* len, varve_error_t** error) {
  return varve_store_restore(store, kNoPath, kNul, options, options_len, out, len, error);
}
varve_status_t export_file(varve_session_t* session, const char* options, size_t options_len,
                           char** out, size_t* len, varve_error_t** error) {
  return varve_session_export_file(session, kNoPath, kNul, options, options_len, out, len, error);
}
varve_status_t import_file(varve_session_t* session, const char* options, size_t options_len,
                           char** out, size_t* len, varve_error_t** error) {
  return varve_session_import_file(session, kNoPath, kNul, options, options_len, out, len, error);
}

void hear_log(void*, int32_t, const char* line, size_t len) { require(std::strlen(line) >= len); }
int64_t tell_time(void*) { return 1'768'055'025'678; }
int32_t count_tokens(void*, const char*, size_t len, uint64_t* tokens_out) {
  *tokens_out = len;
  return len % 7 == 6 ? 1 : 0;
}
int32_t hear_progress(void*, const char*, uint64_t done, uint64_t) { return done % 5 == 4 ? 1 : 0; }

enum class Type { kNone, kStore, kSession, kWindow, kMemory, kResults, kError };

template <typename T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, varve_store_t>) return Type::kStore;
  if constexpr (std::is_same_v<T, varve_session_t>) return Type::kSession;
  if constexpr (std::is_same_v<T, varve_window_t>) return Type::kWindow;
  if constexpr (std::is_same_v<T, varve_memory_t>) return Type::kMemory;
  if constexpr (std::is_same_v<T, varve_results_t>) return Type::kResults;
  if constexpr (std::is_same_v<T, varve_error_t>) return Type::kError;
  return Type::kNone;
}

// The handles that were ever given, and which of them are open.
class Handles {
 public:
  struct Open {
    Type type;
    void* store;  // it is closed with
  };
  void note(void* handle, Type type, void* store) {
    require(!open_.contains(handle));
    open_[handle] = {type, store};
    given_.push_back(handle);
  }
  [[nodiscard]] bool is_open(const void* handle, Type type) const {
    const auto found = open_.find(handle);
    return found != open_.end() && found->second.type == type;
  }
  void close(void* handle, Type type) {
    if (!is_open(handle, type)) return;
    open_.erase(handle);
    if (type != Type::kStore) return;
    std::erase_if(open_, [&](const auto& one) { return one.second.store == handle; });
  }
  void* pick(InputBytes& input) const {
    const uint8_t choice = input.byte();
    if (choice >= 0xF8) return reinterpret_cast<void*>(input.number());
    if (choice >= 0xF0) return nullptr;
    if (given_.empty()) return nullptr;
    return given_[given_.size() - 1 - choice % given_.size()];
  }
  // The newest open one, more often than any other.
  void* pick(InputBytes& input, Type type) const {
    if (input.below(8) == 7) return pick(input);
    for (auto at = given_.rbegin(); at != given_.rend(); ++at) {
      if (is_open(*at, type)) return *at;
    }
    return pick(input);
  }
  [[nodiscard]] std::vector<void*> given() const { return given_; }
  [[nodiscard]] bool none_open() const { return open_.empty(); }

 private:
  std::map<const void*, Open> open_;
  std::vector<void*> given_;
};

// Makes the arguments of one call, by their types, and checks what it left in its outs.
class Call {
 public:
  Call(InputBytes& input, Handles& handles) : input_(input), handles_(handles) {}

  template <typename... Parameters>
  void run(varve_status_t (*function)(Parameters...)) {
    std::tuple<Parameters...> arguments{make<Parameters>()...};  // from left to right
    check(std::apply(function, arguments));
  }

 private:
  template <typename P>
  P make() {
    using Pointed = std::remove_cv_t<std::remove_pointer_t<P>>;
    if constexpr (std::is_same_v<P, const char*>) {
      return text();
    } else if constexpr (std::is_same_v<P, size_t>) {
      return length_or_number();
    } else if constexpr (std::is_same_v<P, varve_log_fn>) {
      return input_.below(2) == 0 ? nullptr : hear_log;
    } else if constexpr (std::is_same_v<P, varve_clock_fn>) {
      return input_.below(2) == 0 ? nullptr : tell_time;
    } else if constexpr (std::is_same_v<P, varve_token_fn>) {
      return input_.below(2) == 0 ? nullptr : count_tokens;
    } else if constexpr (std::is_same_v<P, varve_progress_fn>) {
      return input_.below(2) == 0 ? nullptr : hear_progress;
    } else if constexpr (std::is_same_v<P, void*>) {
      return nullptr;
    } else if constexpr (std::is_same_v<P, const float*>) {
      return input_.below(8) == 0 ? nullptr : kFloats.data();
    } else if constexpr (std::is_same_v<P, uint32_t>) {
      return input_.below(8) == 0 ? UINT32_MAX : input_.below(kFloats.size());
    } else if constexpr (std::is_integral_v<P>) {
      return static_cast<P>(input_.byte());
    } else if constexpr (std::is_same_v<P, varve_error_t**>) {
      return out(&error_);
    } else if constexpr (type_of<Pointed>() != Type::kNone) {
      taken_ = type_of<Pointed>();
      handle_ = handles_.pick(input_, taken_);
      return static_cast<P>(handle_);
    } else {
      return make_out<P>();
    }
  }

  template <typename P>
  P make_out() {
    using Pointed = std::remove_pointer_t<P>;
    if constexpr (std::is_same_v<P, char**>) {
      return out(&text_);
    } else if constexpr (std::is_same_v<P, const char**>) {
      return out(&borrowed_);
    } else if constexpr (std::is_same_v<P, size_t*>) {
      return out(&len_);
    } else if constexpr (std::is_same_v<P, double*>) {
      return out(&figure_);
    } else {
      static_assert(std::is_pointer_v<Pointed>);
      made_type_ = type_of<std::remove_pointer_t<Pointed>>();
      return reinterpret_cast<P>(out(&made_));
    }
  }

  // Not there, once in a while.
  template <typename T>
  T* out(T* place) {
    return input_.below(8) == 7 ? nullptr : place;
  }

  // In memory of its own, so that a byte behind it is noticed.
  const char* text() {
    const uint8_t form = input_.below(16);
    is_text_pending_ = true;
    if (form == 0) return pending_len_ = 0, nullptr;
    if (form == 1) return pending_len_ = kNul, nullptr;
    if (form == 2) return pending_len_ = 7, nullptr;
    if (form == 3) return pending_len_ = kNul - 1, "x";
    std::string copy(form < 6 ? input_.text() : kTexts[input_.below(std::size(kTexts))]);
    const bool is_terminated = form % 2 == 0;
    pending_len_ = is_terminated ? kNul : copy.size();
    texts_.emplace_back(copy.begin(), copy.end());
    if (is_terminated) texts_.back().push_back('\0');
    return texts_.back().empty() ? "" : texts_.back().data();
  }
  size_t length_or_number() {
    if (std::exchange(is_text_pending_, false)) return pending_len_;
    const uint8_t choice = input_.byte();
    return choice == 255 ? SIZE_MAX : choice;
  }

  void check(varve_status_t status) {
    require(std::strcmp(varve_status_name(status), "VARVE_UNKNOWN_STATUS") != 0);
    require(status != VARVE_INTERNAL && status != VARVE_FORKED && status != VARVE_BUSY &&
            status != VARVE_NO_MEMORY && status != VARVE_NO_SPACE);
    const bool has_handle = taken_ == Type::kNone || handles_.is_open(handle_, taken_);
    require((status == VARVE_BAD_HANDLE) == !has_handle);
    if (error_ != foreign<varve_error_t>()) check_error(status);
    if (text_ != foreign<char>()) {
      require((text_ != nullptr) == (status == VARVE_OK));
      const bool has_len = text_ != nullptr && len_ != kForeignLen;
      if (has_len) require(text_[len_] == '\0');
    }
    if (borrowed_ != foreign<char>() && status == VARVE_OK) require(borrowed_ != nullptr);
    if (made_ == foreign<void>()) return free_text();
    require((made_ != nullptr) == (status == VARVE_OK));
    if (made_ != nullptr) {
      const bool is_child = taken_ == Type::kStore && made_type_ != Type::kResults;
      handles_.note(made_, made_type_, is_child ? handle_ : nullptr);
    }
    free_text();
  }
  void free_text() {
    if (text_ != foreign<char>()) varve_free(text_);
  }
  void check_error(varve_status_t status) {
    require((error_ != nullptr) == (status != VARVE_OK));
    if (error_ == nullptr) return;
    require(varve_error_status(error_) == status);
    require(*varve_error_message(error_) != '\0' && *varve_error_details(error_) == '{');
    handles_.note(error_, Type::kError, nullptr);
  }

  // Nothing that a call would write.
  template <typename T>
  static T* foreign() {
    return reinterpret_cast<T*>(0x10);
  }
  static constexpr size_t kForeignLen = SIZE_MAX - 7;
  static constexpr std::array<float, 4> kFloats = {1, -2, 0, 0.5F};

  InputBytes& input_;
  Handles& handles_;
  Type taken_ = Type::kNone;
  void* handle_ = nullptr;
  Type made_type_ = Type::kNone;
  void* made_ = foreign<void>();
  varve_error_t* error_ = foreign<varve_error_t>();
  char* text_ = foreign<char>();
  const char* borrowed_ = foreign<char>();
  size_t len_ = kForeignLen;
  double figure_ = 0;
  bool is_text_pending_ = false;
  size_t pending_len_ = 0;
  std::list<std::vector<char>> texts_;
};

void close_as(Handles& handles, void* handle, uint8_t type) {
  switch (static_cast<Type>(type)) {
    case Type::kStore: varve_store_close(static_cast<varve_store_t*>(handle)); break;
    case Type::kSession: varve_session_close(static_cast<varve_session_t*>(handle)); break;
    case Type::kWindow: varve_window_free(static_cast<varve_window_t*>(handle)); break;
    case Type::kMemory: varve_memory_close(static_cast<varve_memory_t*>(handle)); break;
    case Type::kResults: varve_results_free(static_cast<varve_results_t*>(handle)); break;
    case Type::kError: varve_error_free(static_cast<varve_error_t*>(handle)); break;
    case Type::kNone: return;
  }
  handles.close(handle, static_cast<Type>(type));
}

// Functions that cannot fail.
void look_at(const Handles& handles, void* handle) {
  const char* id = varve_session_id(static_cast<varve_session_t*>(handle));
  require((id != nullptr) == handles.is_open(handle, Type::kSession));
  const size_t found = varve_results_count(static_cast<varve_results_t*>(handle));
  require(found == 0 || handles.is_open(handle, Type::kResults));
  const size_t size = varve_window_size(static_cast<varve_window_t*>(handle));
  require(size == 0 || handles.is_open(handle, Type::kWindow));
  const auto* error = static_cast<const varve_error_t*>(handle);
  const bool is_error = handles.is_open(handle, Type::kError);
  require((*varve_error_message(error) != '\0') == is_error);
  require((varve_error_status(error) > VARVE_BAD_HANDLE) <= is_error);
  require(varve_error_details(error) != nullptr);
}

using Row = void (*)(Call&);
#define ROW(function) [](Call& call) { call.run(function); }
constexpr Row kRows[] = {
    ROW(open_memory),
    ROW(open_badly),
    ROW(back_up),
    ROW(restore),
    ROW(export_file),
    ROW(import_file),
    ROW(varve_store_sync),
    ROW(varve_store_sessions),
    ROW(varve_store_delete_session),
    ROW(varve_store_sweep),
    ROW(varve_store_stats),
    ROW(varve_store_usage),
    ROW(varve_store_metrics),
    ROW(varve_store_set_log),
    ROW(varve_store_set_clock),
    ROW(varve_store_set_token_counter),
    ROW(varve_store_query),
    ROW(varve_session_create),
    ROW(varve_session_open),
    ROW(varve_memory_open),
    ROW(varve_session_metadata),
    ROW(varve_session_update),
    ROW(varve_session_sync),
    ROW(varve_session_stats),
    ROW(varve_session_files),
    ROW(varve_session_add),
    ROW(varve_session_add_batch),
    ROW(varve_session_get),
    ROW(varve_session_delete),
    ROW(varve_session_delete_where),
    ROW(varve_session_query),
    ROW(varve_session_count),
    ROW(varve_session_tags),
    ROW(varve_session_verify),
    ROW(varve_session_repair),
    ROW(varve_session_compact),
    ROW(varve_session_purge),
    ROW(varve_session_migrate),
    ROW(varve_session_rebuild_index),
    ROW(varve_session_index),
    ROW(varve_session_export),
    ROW(varve_session_import),
    ROW(varve_session_set_progress),
    ROW(varve_session_put_vector),
    ROW(varve_kv_set),
    ROW(varve_kv_get),
    ROW(varve_kv_delete),
    ROW(varve_kv_list),
    ROW(varve_transcript_append),
    ROW(varve_transcript_last),
    ROW(varve_window_new),
    ROW(varve_window_add),
    ROW(varve_window_recent),
    ROW(varve_window_text),
    ROW(varve_window_clear),
    ROW(varve_memory_record),
    ROW(varve_memory_context),
    ROW(varve_memory_load),
    ROW(varve_memory_save),
    ROW(varve_memory_clear),
    ROW(varve_memory_store),
    ROW(varve_memory_search),
    ROW(varve_memory_delete),
    ROW(varve_context_build),
    ROW(varve_context_record),
    ROW(varve_results_entry),
    ROW(varve_results_score),
    ROW(varve_results_next),
    ROW(varve_results_json),
};
#undef ROW
constexpr size_t kClose = std::size(kRows);
constexpr size_t kLook = kClose + 1;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  InputBytes input(data, size);
  Handles handles;
  for (int i = 0; i < kCallsMax && !input.empty(); ++i) {
    const size_t function = input.below(kLook + 1);
    if (function == kClose) {
      const uint8_t type = input.below(7);
      close_as(handles, handles.pick(input), type);
    } else if (function == kLook) {
      look_at(handles, handles.pick(input));
    } else {
      Call call(input, handles);
      kRows[function](call);
    }
  }
  for (void* handle : handles.given()) {
    for (uint8_t type = 0; type < 7; ++type) close_as(handles, handle, type);
    for (uint8_t type = 0; type < 7; ++type) close_as(handles, handle, type);
    look_at(handles, handle);
  }
  require(handles.none_open());
  return 0;
}
