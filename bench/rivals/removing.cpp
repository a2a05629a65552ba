// The workloads that remove: deletion of a tenth of the entries by one tag, and the compaction
// after it. Every engine deletes in one step that is durable when it answers. What the load has not
// yet written to disk is written before, so that nobody pays for it here.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "bench_run.h"

namespace varve::bench {

namespace {

void sync_path(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fsync(file) != 0) give_up(path.string() + " could not be synced");
  ::close(file);
}

void sync_all(const std::filesystem::path& directory) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    sync_path(file.path());
  }
  sync_path(directory);
}

std::unique_ptr<Rival> opened(const RivalEntry& rival, const std::filesystem::path& directory) {
  auto store = rival.make();
  store->open(directory, true);
  return store;
}

// What must be found before the deletion and must not be found after it: entries of the tag, a
// query for each of their types, and one of them by the word that no other entry has.
std::vector<std::string> answers_about_deleted(const Run& run, Rival* store) {
  std::set<std::string> types;
  for (const size_t number : run.deleted.numbers) types.insert(run.workload.head(number).type);
  std::vector<std::string> answers;
  for (const auto& type : types) {
    const TaggedQuery query = {run.deleted.tag, type, entry_time_ms(0),
                               entry_time_ms(run.options.entry_count)};
    store->find_tagged(query, &answers.emplace_back());
  }
  const TextQuery query = {{unique_word_of(run.deleted.numbers.front())}, false};
  if (!store->find_text(query, &answers.emplace_back())) answers.pop_back();
  return answers;
}

void check_deleted_is_found(const Run& run, Rival* store, const std::string& rival) {
  for (const auto& answer : answers_about_deleted(run, store)) {
    if (numbers_in(answer).empty()) give_up(rival + " does not find what is to be deleted");
  }
}

// Nothing that was deleted is found, and what was not is there.
void check_after(const Run& run, Rival* store, const std::string& rival, const char* work) {
  const auto& deleted = run.deleted.numbers;
  std::string found;
  for (const auto& answer : answers_about_deleted(run, store)) found += answer;
  if (!numbers_in(found).empty()) give_up(rival + " finds what was deleted, after " + work);
  found.clear();
  store->find_ranked(run.queries.ranked.front(), &found);
  for (const size_t number : numbers_in(found)) {
    if (!std::binary_search(deleted.begin(), deleted.end(), number)) continue;
    give_up(rival + " ranks what was deleted, after " + work);
  }
  size_t kept = 0;
  while (kept < deleted.size() && deleted[kept] == kept) ++kept;
  if (kept < run.options.entry_count && store->get(entry_id(kept)) < run.options.body_bytes) {
    give_up(rival + " has lost an entry, after " + work);
  }
}

void measure_delete(Run* run, Rival* store, const RivalEntry& rival) {
  check_deleted_is_found(*run, store, rival.name);
  const auto start = Steady::now();
  const size_t count = store->delete_tagged(run->deleted.tag);
  const double time_us = microseconds_since(start);
  if (count != run->deleted.numbers.size()) {
    give_up(rival.name + " deleted " + std::to_string(count) + " entries");
  }
  if (run->options.wants("delete")) {
    run->figures.note("delete by tag, a tenth of the entries, ms", rival.name, time_us / 1000);
  }
  check_after(*run, store, rival.name, "deleting");
}

// A copy gives back no space before it is in the store's place, durably, and what was there is
// gone. To open it there is not timed. The other engines have done all this by themselves.
void put_in_place(const std::filesystem::path& copy, const std::filesystem::path& directory) {
  const auto old = directory.parent_path() / "old";
  std::filesystem::rename(directory, old);
  std::filesystem::rename(copy, directory);
  sync_path(directory.parent_path());
  std::filesystem::remove_all(old);
}

// Closes the store.
void measure_compact(Run* run, Rival* store, const RivalEntry& rival,
                     const std::filesystem::path& directory) {
  const auto copy = run->fresh_directory(run->workspace() / "copy");
  const auto start = Steady::now();
  store->compact(copy);
  const bool is_copied = !std::filesystem::is_empty(copy);
  if (is_copied) {
    sync_all(copy);
    store->close();
    put_in_place(copy, directory);
  }
  run->figures.note("compact after it, ms", rival.name, microseconds_since(start) / 1000);
  if (!is_copied) store->close();
}

}  // namespace

void measure_removing(Run* run, const RivalEntry& rival) {
  if (!run->options.wants("delete") && !run->options.wants("compact")) return;
  const auto directory = run->fresh_directory(run->workspace() / "fresh");
  auto store = rival.make();
  store->open(directory, false);
  load_all(*run, store.get());
  store->close();
  sync_all(directory);
  store = opened(rival, directory);
  measure_delete(run, store.get(), rival);
  if (run->options.wants("compact")) {
    measure_compact(run, store.get(), rival, directory);
    store = opened(rival, directory);
    check_after(*run, store.get(), rival.name, "compacting");
  }
  store->close();
  std::filesystem::remove_all(run->workspace() / "copy");
  std::filesystem::remove_all(directory);
}

}  // namespace varve::bench
