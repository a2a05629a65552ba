#include "bench_store.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "give_up.h"

namespace varve::bench {

namespace {

constexpr const char* kSessionId = "bench";
constexpr size_t kFillEntryCount = 20'000;  // at once, so that a gigabyte needs no memory

std::string taken(char* text, size_t size) {
  std::string copy(text, size);
  varve_free(text);
  return copy;
}

}  // namespace

std::string without_id(const WorkloadEntry& entry) {
  return "{" + entry.json.substr(entry.json.find("\"type\""));
}

BenchDirectory::BenchDirectory(const std::filesystem::path& parent) {
  const auto within = parent.empty() ? std::filesystem::temp_directory_path() : parent;
  std::string name = (within / "varve-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) give_up(name + " could not be made");
  path_ = name;
}

BenchDirectory::~BenchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

BenchStore::BenchStore(const std::string& durability, const std::filesystem::path& parent)
    : directory_(parent), durability_(durability) {
  open_store();
}

void BenchStore::open_store() {
  const std::string config = store_config(durability_.c_str(), threads_);
  const std::string path = directory_.path().string();
  varve_error_t* error = nullptr;
  check(varve_store_open(path.data(), path.size(), config.data(), config.size(), &store_, &error),
        error, "open store");
  open_session();
}

void BenchStore::use_threads(int threads) {
  if (threads == threads_) return;
  threads_ = threads;
  close();
  open_store();
}

void BenchStore::open_session() {
  if (varve_session_open(store_, kSessionId, VARVE_NUL_TERMINATED, &session_, nullptr) ==
      VARVE_OK) {
    return;
  }
  varve_error_t* error = nullptr;
  check(varve_session_create(store_, R"({"session_id":"bench"})", VARVE_NUL_TERMINATED, &session_,
                             &error),
        error, "create session");
}

void BenchStore::close_session() { varve_session_close(std::exchange(session_, nullptr)); }

void BenchStore::close() {
  close_session();
  varve_store_close(std::exchange(store_, nullptr));
}

void BenchStore::fill(const Workload& workload, size_t entry_count) {
  for (size_t first = 0; first < entry_count; first += kFillEntryCount) {
    std::string lines;
    const size_t end = std::min(entry_count, first + kFillEntryCount);
    for (size_t i = first; i < end; ++i) lines += workload.entry(i).json + "\n";
    add_batch(lines);
  }
}

void BenchStore::add(std::string_view entry_json) {
  varve_error_t* error = nullptr;
  check(varve_session_add(session_, entry_json.data(), entry_json.size(), nullptr, nullptr, &error),
        error, "add");
}

void BenchStore::add_batch(std::string_view lines) {
  varve_error_t* error = nullptr;
  check(varve_session_add_batch(session_, lines.data(), lines.size(), nullptr, nullptr, &error),
        error, "add batch");
}

size_t BenchStore::get(const std::string& id) {
  char* text = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  check(varve_session_get(session_, id.data(), id.size(), &text, &size, &error), error, "get");
  varve_free(text);
  return size;
}

size_t BenchStore::query(const std::string& query_json) {
  varve_results_t* results = nullptr;
  varve_error_t* error = nullptr;
  check(varve_session_query(session_, query_json.data(), query_json.size(), &results, &error),
        error, "query");
  const char* json = nullptr;
  size_t size = 0;
  check(varve_results_json(results, &json, &size, &error), error, "results");
  const size_t count = varve_results_count(results);
  varve_results_free(results);
  return count;
}

uint64_t BenchStore::count(const std::string& query_json) {
  uint64_t count = 0;
  varve_error_t* error = nullptr;
  check(varve_session_count(session_, query_json.data(), query_json.size(), &count, &error), error,
        "count");
  return count;
}

std::string BenchStore::context(const std::string& request) {
  char* text = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  check(varve_context_build(session_, request.data(), request.size(), &text, &size, &error), error,
        "context");
  return taken(text, size);
}

uint64_t BenchStore::delete_where(const std::string& query_json) {
  constexpr std::string_view kReason = "bench";
  uint64_t count = 0;
  varve_error_t* error = nullptr;
  check(varve_session_delete_where(session_, query_json.data(), query_json.size(), kReason.data(),
                                   kReason.size(), &count, &error),
        error, "delete");
  return count;
}

void BenchStore::compact() {
  varve_error_t* error = nullptr;
  check(varve_session_compact(session_, nullptr, 0, nullptr, nullptr, &error), error, "compact");
}

void BenchStore::purge() {
  varve_error_t* error = nullptr;
  check(varve_session_purge(session_, nullptr, 0, nullptr, nullptr, &error), error, "purge");
}

void BenchStore::rebuild() {
  varve_error_t* error = nullptr;
  check(varve_session_rebuild_index(session_, nullptr, 0, nullptr, nullptr, &error), error,
        "rebuild");
}

std::string BenchStore::stats() {
  char* text = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  check(varve_session_stats(session_, &text, &size, &error), error, "stats");
  return taken(text, size);
}

std::filesystem::path BenchStore::session_directory() const {
  return directory_.path() / "sessions" / kSessionId;
}

size_t BenchStore::log_bytes() const {
  return std::filesystem::file_size(session_directory() / "memory.jsonl");
}

}  // namespace varve::bench
