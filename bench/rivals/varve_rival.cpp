#include <varve/varve.h>

#include <string_view>

#include "check.h"
#include "query_json.h"
#include "rival.h"

namespace varve::bench {

namespace {

constexpr int kThreads = 2;  // of a compaction, as LMDB's copy has them, and RocksDB

class VarveRival final : public Rival {
 public:
  void use_alone() override { is_alone_ = true; }

  void open(const std::string& directory, bool durable) override {
    std::string config = store_config(durable ? "commit" : "os", kThreads);
    if (is_alone_) config.replace(0, 1, R"({"concurrency":{"exclusive":true},)");
    varve_error_t* error = nullptr;
    check(varve_store_open(directory.data(), directory.size(), config.data(), config.size(),
                           &store_, &error),
          error, "open store");
    const varve_status_t opened =
        varve_session_open(store_, "bench", VARVE_NUL_TERMINATED, &session_, nullptr);
    if (opened == VARVE_OK) return;
    check(varve_session_create(store_, "{\"session_id\":\"bench\"}", VARVE_NUL_TERMINATED,
                               &session_, &error),
          error, "create session");
  }

  void add(const WorkloadEntry& entry) override {
    varve_error_t* error = nullptr;
    check(
        varve_session_add(session_, entry.json.data(), entry.json.size(), nullptr, nullptr, &error),
        error, "add");
  }

  void add_all(const std::vector<WorkloadEntry>& entries) override {
    std::string lines;
    for (const auto& entry : entries) lines += entry.json + "\n";
    varve_error_t* error = nullptr;
    check(varve_session_add_batch(session_, lines.data(), lines.size(), nullptr, nullptr, &error),
          error, "add batch");
  }

  size_t get(const std::string& id) override {
    char* text = nullptr;
    size_t size = 0;
    varve_error_t* error = nullptr;
    check(varve_session_get(session_, id.data(), id.size(), &text, &size, &error), error, "get");
    varve_free(text);
    return size;
  }

  size_t delete_tagged(const std::string& tag) override {
    const std::string query = "{\"tags\":{\"include\":[\"" + tag + "\"]}}";
    constexpr std::string_view kReason = "bench";
    uint64_t count = 0;
    varve_error_t* error = nullptr;
    check(varve_session_delete_where(session_, query.data(), query.size(), kReason.data(),
                                     kReason.size(), &count, &error),
          error, "delete");
    return count;
  }

  void compact(const std::string& /*copy_directory*/) override {
    varve_error_t* error = nullptr;
    check(varve_session_compact(session_, nullptr, 0, nullptr, nullptr, &error), error, "compact");
  }

  [[nodiscard]] bool can_rebuild() const override { return true; }

  void rebuild() override {
    varve_error_t* error = nullptr;
    check(varve_session_rebuild_index(session_, nullptr, 0, nullptr, nullptr, &error), error,
          "rebuild");
  }

  bool find_tagged(const TaggedQuery& query, std::string* answer) override {
    return find(json_of(query), answer);
  }

  bool find_text(const TextQuery& query, std::string* answer) override {
    return find(json_of(query), answer);
  }

  bool find_ranked(const RankedQuery& query, std::string* answer) override {
    return find(json_of(query), answer);
  }

  bool build_context(const Question& question, std::string* answer) override {
    const std::string request = json_of(question);
    char* text = nullptr;
    size_t size = 0;
    varve_error_t* error = nullptr;
    check(varve_context_build(session_, request.data(), request.size(), &text, &size, &error),
          error, "context");
    answer->append(text, size);
    varve_free(text);
    return true;
  }

  [[nodiscard]] bool adds_from_threads() const override { return true; }
  [[nodiscard]] bool adds_from_others() const override { return true; }

  void close() override {
    varve_session_close(session_);
    varve_store_close(store_);
  }

 private:
  // The query's JSON is made anew each time, as a user's program would.
  bool find(const std::string& query_json, std::string* answer) {
    varve_error_t* error = nullptr;
    varve_results_t* results = nullptr;
    check(varve_session_query(session_, query_json.data(), query_json.size(), &results, &error),
          error, "query");
    for (size_t i = 0; i < varve_results_count(results); ++i) {
      const char* entry = nullptr;
      size_t size = 0;
      check(varve_results_entry(results, i, &entry, &size, &error), error, "entry");
      answer->append(entry, size);
    }
    varve_results_free(results);
    return true;
  }

  bool is_alone_ = false;
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

}  // namespace

std::vector<RivalEntry> varve_rivals() {
  return {{"varve", varve_version(), "varve_rivals_open_varve",
           [] { return std::make_unique<VarveRival>(); }}};
}

}  // namespace varve::bench
