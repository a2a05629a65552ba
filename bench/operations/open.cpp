// Opening: what is in the page cache (warm), and what is on the disk (cold).
#include <fcntl.h>

#include <unistd.h>
#include <filesystem>

#include "operations.h"
#include "query_json.h"

namespace varve::bench {

namespace {

void open_session(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  store.close_session();  // saves the index
  store.open_session();
  size_t bytes = 0;
  for (auto _ : state) {
    store.close_session();
    store.open_session();
    bytes += store.get(entry_id(entry_count / 2));
  }
  if (bytes < static_cast<size_t>(state.iterations()) * kBodyBytes) give_up("too little was read");
  count_work(state, 1, 0);
}

// The kernel's copies of the files go, as far as they are on the disk.
void forget_pages(const std::filesystem::path& directory) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (!file.is_regular_file()) continue;
    const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) give_up(file.path().string() + " could not be opened");
    ::fsync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
  }
}

// Store, session, one get and one query by words.
void open_store(benchmark::State& state, bool is_cold) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  const std::string query = json_of(TextQuery{{unique_word_of(entry_count / 2)}, false});
  for (auto _ : state) {
    state.PauseTiming();
    store.close();
    if (is_cold) forget_pages(store.session_directory());
    state.ResumeTiming();
    store.open_store();
    if (store.query(query) != 1) give_up("a session that was opened does not find its entry");
  }
  count_work(state, 1, 0);
}

}  // namespace

void register_opens(const Scale& scale) {
  const auto sizes = scale.of({1'000, 10'000, 100'000});
  with_sizes(benchmark::RegisterBenchmark("BM_OpenSessionAndGet", open_session), "entries", sizes)
      ->Unit(benchmark::kMicrosecond);
  with_sizes(benchmark::RegisterBenchmark("BM_OpenStoreAndFindWarm", open_store, false), "entries",
             sizes)
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
  with_sizes(benchmark::RegisterBenchmark("BM_OpenStoreAndFindCold", open_store, true), "entries",
             sizes)
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime()
      ->Iterations(5);
}

}  // namespace varve::bench
