// What crossing the ABI costs by itself: no work but that of the boundary.
#include <array>

#include "operations.h"

namespace varve::bench {

namespace {

void call_version(benchmark::State& state) {
  uint32_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(number = varve_abi_version());
  if (number != VARVE_ABI_VERSION) give_up("the library is of another version");
  count_work(state, 1, 0);
}

// A handle is looked up, nothing else.
void call_session_id(benchmark::State& state) {
  BenchStore store;
  const char* id = nullptr;
  for (auto _ : state) benchmark::DoNotOptimize(id = varve_session_id(store.session()));
  if (std::string(id) != "bench") give_up("a session has another id");
  count_work(state, 1, 0);
}

// The same for a handle that is none, which must be found out without touching it.
void call_bad_handle(benchmark::State& state) {
  alignas(16) std::array<char, 64> bytes{};
  auto* const no_session = reinterpret_cast<varve_session_t*>(bytes.data());
  const char* id = "";
  for (auto _ : state) benchmark::DoNotOptimize(id = varve_session_id(no_session));
  if (id != nullptr) give_up("what is no handle was taken for one");
  count_work(state, 1, 0);
}

// A refused argument: the error object with its message is made and freed.
void call_refused(benchmark::State& state) {
  BenchStore store;
  varve_status_t status = VARVE_OK;
  for (auto _ : state) {
    varve_error_t* error = nullptr;
    status = varve_session_add(store.session(), "{", 1, nullptr, nullptr, &error);
    varve_error_free(error);
  }
  if (status != VARVE_INVALID_ARGUMENT) give_up("half an object was taken for an entry");
  count_work(state, 1, 0);
}

}  // namespace

void register_calls(const Scale&) {
  benchmark::RegisterBenchmark("BM_CallVersion", call_version);
  benchmark::RegisterBenchmark("BM_CallSessionId", call_session_id);
  benchmark::RegisterBenchmark("BM_CallBadHandle", call_bad_handle);
  benchmark::RegisterBenchmark("BM_CallRefused", call_refused);
}

}  // namespace varve::bench
