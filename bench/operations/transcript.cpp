#include "operations.h"

namespace varve::bench {

namespace {

constexpr std::string_view kTurn =
    "What was said in a turn of a conversation: a sentence or two, as people and models say them.";

void append_turn(BenchStore& store) {
  varve_error_t* error = nullptr;
  check(varve_transcript_append(store.session(), "user", VARVE_NUL_TERMINATED, kTurn.data(),
                                kTurn.size(), &error),
        error, "append turn");
}

size_t last_turns(BenchStore& store, size_t count) {
  char* text = nullptr;
  size_t size = 0;
  check(varve_transcript_last(store.session(), count, &text, &size, nullptr), nullptr,
        "last turns");
  varve_free(text);
  return size;
}

void append_turns(benchmark::State& state, const char* durability) {
  BenchStore store(durability);
  for (auto _ : state) append_turn(store);
  if (last_turns(store, 1) < kTurn.size()) give_up("a turn is not there");
  count_work(state, 1, kTurn.size() * static_cast<size_t>(state.iterations()));
}

void tell_turns(benchmark::State& state) {
  const auto turn_count = static_cast<size_t>(state.range(0));
  BenchStore store;
  for (size_t i = 0; i < 2 * turn_count; ++i) append_turn(store);
  size_t bytes = 0;
  for (auto _ : state) bytes += last_turns(store, turn_count);
  if (bytes < kTurn.size() * turn_count * static_cast<size_t>(state.iterations())) {
    give_up("not every turn was told");
  }
  count_work(state, state.range(0), bytes);
}

}  // namespace

void register_transcripts(const Scale& scale) {
  benchmark::RegisterBenchmark("BM_TranscriptAppendDurable", append_turns, "commit")->UseRealTime();
  benchmark::RegisterBenchmark("BM_TranscriptAppendBuffered", append_turns, "os");
  with_sizes(benchmark::RegisterBenchmark("BM_TranscriptLast", tell_turns), "turns",
             scale.of({20, 200}));
}

}  // namespace varve::bench
