// The workloads that store: adds, batches, the bulk load, the rebuilding of indexes.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "bench_run.h"

namespace varve::bench {

namespace {

constexpr size_t kDurableAddCount = 1000;
constexpr size_t kBufferedAddCount = 10'000;
constexpr size_t kFoundAddCount = 500;
constexpr size_t kBatchEntryCount = 100;
constexpr size_t kBatchCount = 50;
constexpr size_t kLoadEntryCount = 20'000;  // made and handed over at once

std::unique_ptr<Rival> opened_fresh(const Run& run, const RivalEntry& rival, bool durable) {
  auto store = rival.make();
  store->open(run.fresh_directory(run.workspace() / "fresh"), durable);
  return store;
}

void measure_adds(Run* run, const RivalEntry& rival, bool durable, size_t count) {
  const auto entries = run->workload.entries(0, std::min(count, run->options.entry_count));
  auto store = opened_fresh(*run, rival, durable);
  const auto times_us = timed(*run, entries.size(), [&](size_t i) { store->add(entries[i]); });
  store->close();
  run->figures.note_percentiles(durable ? "durable add" : "buffered add", rival.name, "us",
                                times_us);
}

// An add whose indexing is put off costs when one asks: here one asks every time, for the one word
// that no other entry has.
void measure_adds_found(Run* run, const RivalEntry& rival) {
  const size_t stored_count = std::min(kBufferedAddCount, run->options.entry_count);
  const auto added =
      run->workload.entries(stored_count, std::min(kFoundAddCount, run->options.entry_count));
  auto store = opened_fresh(*run, rival, false);
  store->load(run->workload.entries(0, stored_count));
  store->finish_load();
  std::string answer;
  if (!store->find_text({{unique_word_of(0)}, false}, &answer)) {
    store->close();
    return;
  }
  std::vector<std::string> answers(added.size());
  const auto times_us = timed(*run, added.size(), [&](size_t i) {
    store->add(added[i]);
    store->find_text({{unique_word_of(stored_count + i)}, false}, &answers[i]);
  });
  store->close();
  for (size_t i = 0; i < times_us.size(); ++i) {
    if (numbers_in(answers[i]) != std::vector<size_t>{stored_count + i}) {
      give_up(rival.name + " did not find an entry just added: " + answers[i]);
    }
  }
  run->figures.note_percentiles("buffered add and text query that finds it", rival.name, "us",
                                times_us);
}

void measure_batches(Run* run, const RivalEntry& rival) {
  const size_t batch_count =
      std::clamp<size_t>(run->options.entry_count / kBatchEntryCount, 1, kBatchCount);
  std::vector<std::vector<WorkloadEntry>> batches;
  for (size_t i = 0; i < batch_count; ++i) {
    batches.push_back(run->workload.entries(i * kBatchEntryCount, kBatchEntryCount));
  }
  auto store = opened_fresh(*run, rival, true);
  const auto times_us = timed(*run, batch_count, [&](size_t i) { store->add_all(batches[i]); });
  store->close();
  run->figures.note("batch of 100, durable, entries/s", rival.name,
                    1e6 * static_cast<double>(kBatchEntryCount) / percentile(times_us, 0.5));
}

// What the file system has set aside: files may have holes, or room to grow.
double bytes_on_disk(const std::filesystem::path& directory) {
  double bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat status {};
    if (stat(file.path().c_str(), &status) == 0)
      bytes += 512.0 * static_cast<double>(status.st_blocks);
  }
  return bytes;
}

}  // namespace

void measure_adding(Run* run, const RivalEntry& rival) {
  if (run->options.wants("add")) {
    measure_adds(run, rival, true, kDurableAddCount);
    measure_adds(run, rival, false, kBufferedAddCount);
    measure_adds_found(run, rival);
  }
  if (run->options.wants("batch")) measure_batches(run, rival);
  std::filesystem::remove_all(run->workspace() / "fresh");
}

Load load_all(const Run& run, Rival* store) {
  Load load;
  for (size_t first = 0; first < run.options.entry_count; first += kLoadEntryCount) {
    const auto entries =
        run.workload.entries(first, std::min(kLoadEntryCount, run.options.entry_count - first));
    for (const auto& entry : entries) load.given_bytes += static_cast<double>(entry.json.size());
    const auto start = Steady::now();
    store->load(entries);
    load.time_us += microseconds_since(start);
  }
  const auto start = Steady::now();
  store->finish_load();
  load.time_us += microseconds_since(start);
  return load;
}

void measure_loading(Run* run, const RivalEntry& rival) {
  auto store = rival.make();
  store->open(run->fresh_directory(run->store_directory(rival)), false);
  const Load load = load_all(*run, store.get());
  store->close();
  const double disk_bytes = bytes_on_disk(run->store_directory(rival));
  if (run->options.wants("load")) {
    run->figures.note("load all, ms", rival.name, load.time_us / 1000);
    run->figures.note("bytes on disk per byte given", rival.name, disk_bytes / load.given_bytes);
  }
  // Who has no rebuild makes the indexes by loading.
  auto probe = rival.make();
  if (run->options.wants("rebuild") && !probe->can_rebuild()) {
    run->figures.note("rebuild all indexes (or load), ms", rival.name, load.time_us / 1000);
  }
}

void measure_rebuilding(Run* run, Rival* store, const RivalEntry& rival) {
  if (!store->can_rebuild()) return;
  const auto start = Steady::now();
  store->rebuild();
  run->figures.note("rebuild all indexes (or load), ms", rival.name,
                    microseconds_since(start) / 1000);
}

}  // namespace varve::bench
