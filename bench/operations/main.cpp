// varve_bench: varve's operations through the C ABI, with Google Benchmark. Beside its options:
//
//   --tiny   every benchmark with its least work, as the tests run it
//
// Exits 1 when a benchmark did not do its work, or when the filter leaves none.
#include <cstring>

#include "operations.h"

namespace {

using varve::bench::Scale;

// Takes `option` out of the arguments. False: it was not there.
bool take_option(int* count, char** arguments, const char* option) {
  for (int i = 1; i < *count; ++i) {
    if (std::strcmp(arguments[i], option) != 0) continue;
    for (int j = i; j < *count; ++j) arguments[j] = arguments[j + 1];
    --*count;
    return true;
  }
  return false;
}

void register_all(const Scale& scale) {
  using namespace varve::bench;
  register_adds(scale);
  register_batches(scale);
  register_gets(scale);
  register_queries(scale);
  register_texts(scale);
  register_vectors(scale);
  register_contexts(scale);
  register_opens(scale);
  register_rebuilds(scale);
  register_removals(scale);
  register_keys(scale);
  register_transcripts(scale);
  register_sessions(scale);
  register_calls(scale);
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_tiny = take_option(&argc, argv, "--tiny");
  register_all(Scale(is_tiny));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const size_t run_count = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return run_count > 0 ? 0 : 1;
}
