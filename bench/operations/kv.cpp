// Small facts by key. Setting one replaces kv.json and makes it durable, whatever the durability.
#include "operations.h"

namespace varve::bench {

namespace {

constexpr std::string_view kValue =
    "a value of a hundred bytes, as the name of a user, the topic, or what is being worked on may "
    "be one.";

std::string key_of(int64_t number) { return "key" + std::to_string(number); }

void set_key(BenchStore& store, const std::string& key) {
  varve_error_t* error = nullptr;
  check(varve_kv_set(store.session(), key.data(), key.size(), kValue.data(), kValue.size(), &error),
        error, "set key");
}

void set_keys(BenchStore& store, int64_t count) {
  for (int64_t i = 0; i < count; ++i) set_key(store, key_of(i));
}

size_t get_key(BenchStore& store, const std::string& key) {
  char* value = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  check(varve_kv_get(store.session(), key.data(), key.size(), &value, &size, &error), error,
        "get key");
  varve_free(value);
  return size;
}

void kv_set(benchmark::State& state) {
  BenchStore store;
  set_keys(store, state.range(0));
  int64_t next = 0;
  for (auto _ : state) set_key(store, key_of(next++ % state.range(0)));
  if (get_key(store, key_of(0)) != kValue.size()) give_up("a key was not set");
  count_work(state, 1, kValue.size() * static_cast<size_t>(state.iterations()));
}

void kv_get(benchmark::State& state) {
  BenchStore store;
  set_keys(store, state.range(0));
  int64_t next = 0;
  size_t bytes = 0;
  for (auto _ : state) bytes += get_key(store, key_of(next++ % state.range(0)));
  if (bytes != kValue.size() * static_cast<size_t>(state.iterations())) give_up("a value is short");
  count_work(state, 1, bytes);
}

void kv_list(benchmark::State& state) {
  BenchStore store;
  set_keys(store, state.range(0));
  size_t bytes = 0;
  for (auto _ : state) {
    char* text = nullptr;
    size_t size = 0;
    check(varve_kv_list(store.session(), &text, &size, nullptr), nullptr, "list keys");
    bytes += size;
    varve_free(text);
  }
  const auto told = static_cast<size_t>(state.range(0) * state.iterations());
  if (bytes < kValue.size() * told) give_up("not every key is in the list");
  count_work(state, state.range(0), bytes);
}

}  // namespace

void register_keys(const Scale& scale) {
  const auto sizes = scale.of({10, 200});
  with_sizes(benchmark::RegisterBenchmark("BM_KvSet", kv_set), "keys", sizes)->UseRealTime();
  with_sizes(benchmark::RegisterBenchmark("BM_KvGet", kv_get), "keys", sizes);
  with_sizes(benchmark::RegisterBenchmark("BM_KvList", kv_list), "keys", sizes);
}

}  // namespace varve::bench
