// What a careful C++ program would write around the ABI, for tests.
#pragma once

#include <varve/varve.h>

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve_test {

namespace json = boost::json;

inline constexpr size_t kNul = VARVE_NUL_TERMINATED;

// A directory of its own, removed with everything in it.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Holds a session's lock as another process would, for as long as it lives.
class HeldLock {
 public:
  explicit HeldLock(const std::string& session_directory);
  ~HeldLock();
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

 private:
  int descriptor_;
};

// A status with what its error object says.
struct Outcome {
  varve_status_t status = VARVE_OK;
  std::string message;
  std::string details_text;

  [[nodiscard]] bool ok() const { return status == VARVE_OK; }
  [[nodiscard]] json::object details() const;
  // "" when absent.
  [[nodiscard]] std::string detail(std::string_view member) const;
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

// Where a call puts its error: `outcome(varve_x(…, error.out()))`.
class ErrorOut {
 public:
  ErrorOut() = default;
  ~ErrorOut() { varve_error_free(error_); }
  ErrorOut(const ErrorOut&) = delete;
  ErrorOut& operator=(const ErrorOut&) = delete;

  varve_error_t** out() { return &error_; }
  // Also checks that the error object agrees with the status.
  Outcome outcome(varve_status_t status) const;

 private:
  varve_error_t* error_ = nullptr;
};

// An owned text and its outcome.
struct Answer {
  Outcome outcome;
  std::string text;

  [[nodiscard]] bool ok() const { return outcome.ok(); }
  [[nodiscard]] json::value value() const;    // null, and a test failure, when it is not JSON
  [[nodiscard]] json::object object() const;  // likewise for what is not an object
};

// Calls `call(char**, size_t*, varve_error_t**)` and takes what it gives.
template <typename Call>
Answer answer_of(Call&& call) {
  ErrorOut error;
  char* text = nullptr;
  size_t len = 0;
  Answer answer;
  answer.outcome = error.outcome(call(&text, &len, error.out()));
  if (text != nullptr) answer.text.assign(text, len);
  varve_free(text);
  return answer;
}

// What a query found.
class Results {
 public:
  Results(Outcome outcome, varve_results_t* results)
      : outcome_(std::move(outcome)), results_(results) {}
  Results(Results&& other) noexcept
      : outcome_(std::move(other.outcome_)), results_(std::exchange(other.results_, nullptr)) {}
  Results& operator=(Results&&) = delete;
  ~Results() { varve_results_free(results_); }

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] bool ok() const { return outcome_.ok(); }
  [[nodiscard]] varve_results_t* get() const { return results_; }
  [[nodiscard]] size_t count() const { return varve_results_count(results_); }
  [[nodiscard]] std::string text() const;  // all of it, as JSON
  [[nodiscard]] json::object object() const;
  [[nodiscard]] json::array list() const;  // "results" of it
  // Entry ids in order, with blanks between.
  [[nodiscard]] std::string ids() const;
  [[nodiscard]] std::string next() const;  // "" on the last page

 private:
  Outcome outcome_;
  varve_results_t* results_;
};

// How many, and its outcome.
struct Count {
  Outcome outcome;
  uint64_t count = 0;
};

class Session;

class Store {
 public:
  explicit Store(std::string_view uri = "memory:", std::string_view config = {});
  ~Store() { close(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  static Outcome try_open(std::string_view uri, std::string_view config = {});

  varve_store_t* get() const { return store_; }
  void close();
  Answer sessions(std::string_view filter = {}) const;
  Answer stats() const;
  Answer metrics() const;
  Results query(std::string_view query = {}) const;
  Outcome sync() const;
  Outcome delete_session(std::string_view id) const;
  Outcome set_log(int32_t level, varve_log_fn function, void* user_data) const;
  Outcome set_clock(varve_clock_fn function, void* user_data) const;
  Outcome set_token_counter(varve_token_fn function, void* user_data) const;
  Outcome try_create(std::string_view options) const;
  Outcome try_open_session(std::string_view id) const;

 private:
  varve_store_t* store_ = nullptr;
};

class Session {
 public:
  explicit Session(const Store& store, std::string_view options = {});  // creates
  static Session open(const Store& store, std::string_view id);
  Session(Session&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  Session& operator=(Session&&) = delete;
  ~Session() { close(); }

  varve_session_t* get() const { return session_; }
  void close();
  std::string id() const;
  Answer add(std::string_view entry) const;
  Answer add_batch(std::string_view entries) const;
  Answer get(std::string_view id) const;
  Outcome remove(std::string_view id, std::string_view reason = {}) const;
  Results query(std::string_view query = {}) const;
  Count count(std::string_view query = {}) const;
  Count remove_where(std::string_view query, std::string_view reason = {}) const;
  Answer tags() const;
  Answer context(std::string_view request = {}) const;
  Answer record(std::string_view kind, std::string_view payload) const;
  Answer metadata() const;
  Outcome update(std::string_view patch) const;
  Outcome sync() const;
  Answer stats() const;
  Answer files() const;
  Answer verify(std::string_view options = {}) const;
  Answer repair(std::string_view options = {}) const;
  Answer rebuild_index(std::string_view options = {}) const;
  Answer index() const;
  Answer export_text(std::string_view format) const;
  Answer import_lines(std::string_view lines) const;
  Answer export_file(std::string_view path, std::string_view options = {}) const;
  Answer import_file(std::string_view path, std::string_view options = {}) const;
  Outcome set_progress(varve_progress_fn receiver, void* user_data) const;

 private:
  Session() = default;
  varve_session_t* session_ = nullptr;
};

// {"id":ID,"type":"finding","content":CONTENT}; without an id when it is empty.
std::string entry(std::string_view id, std::string_view content = "tea, not coffee");

// The names of an object's members that are missing from it.
std::vector<std::string> missing_members(const json::object& object,
                                         const std::vector<std::string>& names);

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);

}  // namespace varve_test
