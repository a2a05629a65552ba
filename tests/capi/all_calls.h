// Every function of the ABI that takes a handle of something open, and can fail, in one table, so
// that what holds for all of them is tested for all of them.
#pragma once

#include <varve/varve.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve_test {

// What a call writes, with values in it that no call may leave behind.
struct Outs {
  static char* foreign_text() { return reinterpret_cast<char*>(0x10); }
  static varve_session_t* foreign_session() { return reinterpret_cast<varve_session_t*>(0x10); }
  static varve_memory_t* foreign_memory() { return reinterpret_cast<varve_memory_t*>(0x10); }
  static varve_results_t* foreign_results() { return reinterpret_cast<varve_results_t*>(0x10); }
  static varve_error_t* foreign_error() { return reinterpret_cast<varve_error_t*>(0x10); }

  char* text = foreign_text();
  size_t len = 99;
  varve_session_t* session = foreign_session();
  varve_memory_t* memory = foreign_memory();
  varve_results_t* results = foreign_results();
  uint64_t count = 99;
  varve_error_t* error = foreign_error();
};

enum class Takes { kStore, kSession, kWindow, kMemory };
enum class Gives { kNothing, kText, kSession, kMemory, kResults, kCount };

struct Call {
  const char* name;
  Takes takes;
  Gives gives;
  // With arguments that are fine as long as the handle is.
  varve_status_t (*run)(void* handle, Outs& outs);
  // The same without any out that may be NULL.
  varve_status_t (*run_without_outs)(void* handle, Outs& outs);
};

const std::vector<Call>& all_calls();

// An open handle for every call.
class OpenHandles {
 public:
  OpenHandles(varve_store_t* store, varve_session_t* session);
  ~OpenHandles();
  OpenHandles(const OpenHandles&) = delete;
  OpenHandles& operator=(const OpenHandles&) = delete;

  [[nodiscard]] void* of(Takes takes) const;

 private:
  varve_store_t* store_;      // not ours
  varve_session_t* session_;  // not ours
  varve_window_t* window_ = nullptr;
  varve_memory_t* memory_ = nullptr;
};

}  // namespace varve_test
