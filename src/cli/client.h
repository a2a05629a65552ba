// The C ABI with destructors: stores, sessions and texts that clean up after themselves.
#pragma once

#include <varve/varve.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/failure.h"

namespace varve::cli {

// Text that the library gave to the caller.
class Text {
 public:
  Text() = default;
  Text(char* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::string str() const { return std::string(view()); }

 private:
  struct Free {
    void operator()(char* text) const { varve_free(text); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

// The answer to a query.
class Results {
 public:
  explicit Results(varve_results_t* handle) : handle_(handle) {}

  [[nodiscard]] size_t count() const { return varve_results_count(handle_.get()); }
  // The text lives as long as this object.
  Result<std::string_view> json();

 private:
  struct Free {
    void operator()(varve_results_t* results) const { varve_results_free(results); }
  };
  std::unique_ptr<varve_results_t, Free> handle_;
};

class Session {
 public:
  explicit Session(varve_session_t* handle) : handle_(handle) {}

  [[nodiscard]] std::string id() const;

  Result<Text> add(std::string_view entry);  // returns the id
  Result<Text> add_batch(std::string_view entries);
  Result<Text> get(std::string_view id);
  Outcome remove(std::string_view id, std::string_view reason);

  Result<Results> query(std::string_view query);
  Result<uint64_t> count(std::string_view query);
  Result<uint64_t> remove_where(std::string_view query, std::string_view reason);
  Result<Text> tags();
  Result<Text> build_context(std::string_view request);

  Outcome kv_set(std::string_view key, std::string_view value);
  Result<Text> kv_get(std::string_view key);
  Outcome kv_delete(std::string_view key);
  Result<Text> kv_list();
  Outcome transcript_append(std::string_view role, std::string_view content);
  Result<Text> transcript_last(size_t count);

  Result<Text> metadata();
  Outcome update(std::string_view patch);
  Result<Text> stats();
  Result<Text> files();

  Result<Text> verify(std::string_view options);
  Result<Text> repair(std::string_view options);
  Result<Text> compact(std::string_view options);
  Result<Text> purge(std::string_view options);
  Result<Text> migrate(bool dry_run);
  Result<Text> index();
  Result<Text> rebuild_index();
  Result<Text> export_as(std::string_view format);  // a format's name, or options
  Result<Text> export_file(std::string_view path, std::string_view options);
  Result<Text> import_file(std::string_view path, std::string_view options);
  // `user_data` must outlive the session.
  Outcome set_progress(varve_progress_fn receiver, void* user_data);

 private:
  struct Close {
    void operator()(varve_session_t* session) const { varve_session_close(session); }
  };
  std::unique_ptr<varve_session_t, Close> handle_;
};

class Store {
 public:
  static Result<Store> open(std::string_view uri, std::string_view config);

  Result<Text> sessions(std::string_view filter);
  Result<Text> stats();
  Result<Text> usage(std::string_view filter);
  Result<Text> metrics();
  Result<Text> sweep();
  Result<Results> query(std::string_view query);
  Result<Session> open_session(std::string_view id);
  Result<Session> create_session(std::string_view options);
  Outcome delete_session(std::string_view id);
  Result<Text> backup(std::string_view path, std::string_view options);
  Result<Text> restore(std::string_view path, std::string_view options);
  // `user_data` must outlive the store.
  Outcome set_log(int32_t level, varve_log_fn receiver, void* user_data);

 private:
  explicit Store(varve_store_t* handle) : handle_(handle) {}
  struct Close {
    void operator()(varve_store_t* store) const { varve_store_close(store); }
  };
  std::unique_ptr<varve_store_t, Close> handle_;
};

}  // namespace varve::cli
