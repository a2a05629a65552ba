// The workloads of those who add at the same time: threads to one open store, processes to one
// directory. They start together; the time is from then until the last has added its last.
#include <algorithm>
#include <filesystem>
#include <thread>

#include "bench_run.h"
#include "child.h"

namespace varve::bench {

namespace {

constexpr size_t kThreadCount = 8;
constexpr size_t kSharedDurableAdds = 800;  // in all
constexpr size_t kProcessCount = 4;
constexpr size_t kSharedBufferedAdds = 8000;

using Store = std::unique_ptr<Rival>;

// All that was added is there. Another object, so that nothing comes from somebody's memory.
void check_added(const RivalEntry& rival, const std::filesystem::path& directory, size_t count) {
  Store store = rival.make();
  store->open(directory, true);
  for (size_t i = 0; i < count; ++i) {
    if (store->get(entry_id(i)) == 0) give_up(rival.name + " has lost " + entry_id(i));
  }
  store->close();
}

// One for all threads, or one for each where the engine wants it so.
std::vector<Store> opened_for_threads(const RivalEntry& rival,
                                      const std::filesystem::path& directory, size_t count) {
  std::vector<Store> stores;
  do {
    stores.push_back(rival.make());
    stores.back()->open(directory, true);
  } while (!stores.back()->adds_from_threads() && stores.size() < count);
  return stores;
}

double entries_per_second(const Run& run, const RivalEntry& rival, size_t thread_count) {
  const auto directory = run.fresh_directory(run.workspace() / "fresh");
  const size_t share = std::min(kSharedDurableAdds, run.options.entry_count) / thread_count;
  std::vector<Store> stores = opened_for_threads(rival, directory, thread_count);
  const auto entries = run.workload.entries(0, share * thread_count);
  const auto add_share = [&](size_t thread) {
    Rival& store = *stores[thread % stores.size()];
    for (size_t i = 0; i < share; ++i) store.add(entries[thread * share + i]);
  };
  const auto start = Steady::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < thread_count; ++i) threads.emplace_back(add_share, i);
  for (auto& thread : threads) thread.join();
  const double time_us = microseconds_since(start);
  for (const auto& store : stores) store->close();
  check_added(rival, directory, entries.size());
  return 1e6 * static_cast<double>(entries.size()) / time_us;
}

void measure_threads(Run* run, const RivalEntry& rival) {
  const Store probe = rival.make();
  if (!probe->adds_from_threads() && !probe->adds_from_others()) return;
  const double alone = entries_per_second(*run, rival, 1);
  const double together = entries_per_second(*run, rival, kThreadCount);
  run->figures.note("durable adds by 1 thread, entries/s", rival.name, alone);
  run->figures.note("durable adds by 8 threads, entries/s", rival.name, together);
  run->figures.note("durable adds, 8 threads for 1", rival.name, together / alone);
}

void measure_processes(Run* run, const RivalEntry& rival, const char* durability, size_t count) {
  if (!rival.make()->adds_from_others()) return;
  const auto directory = run->fresh_directory(run->workspace() / "fresh");
  Store store = rival.make();
  store->open(directory, true);  // makes it, so that nobody is measured by who comes first
  store->close();
  const size_t share = std::min(count, run->options.entry_count) / kProcessCount;
  std::vector<std::unique_ptr<Child>> children;
  for (size_t i = 0; i < kProcessCount; ++i) {
    children.push_back(std::make_unique<Child>(
        opener_arguments(rival, directory,
                         {"add", durability, std::to_string(i * share), std::to_string(share),
                          std::to_string(run->options.body_bytes)})));
  }
  for (const auto& child : children) child->await();
  const auto start = Steady::now();
  for (const auto& child : children) child->go();
  for (const auto& child : children) child->await();
  const double time_us = microseconds_since(start);
  for (const auto& child : children) child->go();
  for (const auto& child : children) {
    if (child->exit_status() != 0) give_up(rival.name + ": a process could not add");
  }
  check_added(rival, directory, share * kProcessCount);
  run->figures.note(std::string(durability) + " adds by 4 processes, entries/s", rival.name,
                    1e6 * static_cast<double>(share * kProcessCount) / time_us);
}

}  // namespace

void measure_sharing(Run* run, const RivalEntry& rival) {
  if (run->options.wants("threads")) measure_threads(run, rival);
  if (run->options.wants("processes")) {
    measure_processes(run, rival, "buffered", kSharedBufferedAdds);
    measure_processes(run, rival, "durable", kSharedDurableAdds);
  }
  std::filesystem::remove_all(run->workspace() / "fresh");
}

}  // namespace varve::bench
