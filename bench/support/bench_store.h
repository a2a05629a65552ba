// A store in a directory of its own with one session open, for whoever measures varve. Every call
// is checked: what does not succeed ends the program.
#pragma once

#include <varve/varve.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "check.h"
#include "query_json.h"
#include "workload.h"

namespace varve::bench {

// A new, empty directory; removed with what is in it.
class BenchDirectory {
 public:
  // Within `parent`, or where temporary files go (TMPDIR) when that is empty.
  explicit BenchDirectory(const std::filesystem::path& parent = {});
  ~BenchDirectory();
  BenchDirectory(const BenchDirectory&) = delete;
  BenchDirectory& operator=(const BenchDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class BenchStore {
 public:
  // durability: "commit", "interval" or "os".
  explicit BenchStore(const std::string& durability = "os",
                      const std::filesystem::path& parent = {});
  ~BenchStore() { close(); }
  BenchStore(const BenchStore&) = delete;
  BenchStore& operator=(const BenchStore&) = delete;

  void fill(const Workload& workload, size_t entry_count);  // from the workload's first on
  void add(std::string_view entry_json);
  void add_batch(std::string_view lines);
  size_t get(const std::string& id);                // [bytes]
  size_t query(const std::string& query_json);      // results, made into JSON as well
  uint64_t count(const std::string& query_json);    // entries that match
  std::string context(const std::string& request);  // the answer's JSON
  uint64_t delete_where(const std::string& query_json);
  void compact();
  void purge();
  void rebuild();
  [[nodiscard]] std::string stats();

  void close();                   // session and store
  void open_store();              // and what close() closed is open again
  void use_threads(int threads);  // opens it anew where it had another number of them
  void close_session();
  void open_session();

  [[nodiscard]] varve_store_t* store() const { return store_; }
  [[nodiscard]] varve_session_t* session() const { return session_; }
  [[nodiscard]] std::filesystem::path session_directory() const;
  [[nodiscard]] size_t log_bytes() const;

 private:
  BenchDirectory directory_;
  std::string durability_;
  int threads_ = 1;
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

// The entry as given to varve_session_add without its id: each add makes a new one.
std::string without_id(const WorkloadEntry& entry);

}  // namespace varve::bench
