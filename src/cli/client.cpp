#include "cli/client.h"

namespace varve::cli {
namespace {

// Takes over the error object of a failed call.
Failure take_failure(varve_status_t status, varve_error_t* error) {
  Failure failure;
  failure.status = status;
  failure.message = varve_error_message(error);
  failure.details = varve_error_details(error);
  if (failure.message.empty()) failure.message = varve_status_name(status);
  varve_error_free(error);
  return failure;
}

template <typename Call>
Outcome run(Call&& call) {
  varve_error_t* error = nullptr;
  const varve_status_t status = call(&error);
  if (status == VARVE_OK) return std::nullopt;
  return take_failure(status, error);
}

template <typename Call>
Result<Text> run_for_text(Call&& call) {
  char* text = nullptr;
  size_t text_len = 0;
  varve_error_t* error = nullptr;
  const varve_status_t status = call(&text, &text_len, &error);
  Text owned(text, text_len);
  if (status != VARVE_OK) return take_failure(status, error);
  return owned;
}

template <typename Call>
Result<uint64_t> run_for_count(Call&& call) {
  uint64_t count = 0;
  Outcome outcome = run([&](varve_error_t** error) { return call(&count, error); });
  if (outcome) return *std::move(outcome);
  return count;
}

template <typename Call>
Result<Results> run_for_results(Call&& call) {
  varve_results_t* results = nullptr;
  Outcome outcome = run([&](varve_error_t** error) { return call(&results, error); });
  if (outcome) return *std::move(outcome);
  return Results(results);
}

}  // namespace

Result<std::string_view> Results::json() {
  const char* text = nullptr;
  size_t text_len = 0;
  Outcome outcome = run([&](varve_error_t** error) {
    return varve_results_json(handle_.get(), &text, &text_len, error);
  });
  if (outcome) return *std::move(outcome);
  return std::string_view(text, text_len);
}

std::string Session::id() const {
  const char* id = varve_session_id(handle_.get());
  return id == nullptr ? std::string() : std::string(id);
}

Result<Text> Session::add(std::string_view entry) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_add(handle_.get(), entry.data(), entry.size(), out, len, error);
  });
}

Result<Text> Session::add_batch(std::string_view entries) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_add_batch(handle_.get(), entries.data(), entries.size(), out, len, error);
  });
}

Result<Text> Session::get(std::string_view id) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_get(handle_.get(), id.data(), id.size(), out, len, error);
  });
}

Outcome Session::remove(std::string_view id, std::string_view reason) {
  return run([&](varve_error_t** error) {
    return varve_session_delete(handle_.get(), id.data(), id.size(), reason.data(), reason.size(),
                                error);
  });
}

Result<Results> Session::query(std::string_view query) {
  return run_for_results([&](varve_results_t** out, varve_error_t** error) {
    return varve_session_query(handle_.get(), query.data(), query.size(), out, error);
  });
}

Result<uint64_t> Session::count(std::string_view query) {
  return run_for_count([&](uint64_t* out, varve_error_t** error) {
    return varve_session_count(handle_.get(), query.data(), query.size(), out, error);
  });
}

Result<uint64_t> Session::remove_where(std::string_view query, std::string_view reason) {
  return run_for_count([&](uint64_t* out, varve_error_t** error) {
    return varve_session_delete_where(handle_.get(), query.data(), query.size(), reason.data(),
                                      reason.size(), out, error);
  });
}

Result<Text> Session::tags() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_tags(handle_.get(), out, len, error);
  });
}

Outcome Session::kv_set(std::string_view key, std::string_view value) {
  return run([&](varve_error_t** error) {
    return varve_kv_set(handle_.get(), key.data(), key.size(), value.data(), value.size(), error);
  });
}

Result<Text> Session::kv_get(std::string_view key) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_kv_get(handle_.get(), key.data(), key.size(), out, len, error);
  });
}

Outcome Session::kv_delete(std::string_view key) {
  return run([&](varve_error_t** error) {
    return varve_kv_delete(handle_.get(), key.data(), key.size(), error);
  });
}

Result<Text> Session::kv_list() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_kv_list(handle_.get(), out, len, error);
  });
}

Outcome Session::transcript_append(std::string_view role, std::string_view content) {
  return run([&](varve_error_t** error) {
    return varve_transcript_append(handle_.get(), role.data(), role.size(), content.data(),
                                   content.size(), error);
  });
}

Result<Text> Session::transcript_last(size_t count) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_transcript_last(handle_.get(), count, out, len, error);
  });
}

Result<Text> Session::build_context(std::string_view request) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_context_build(handle_.get(), request.data(), request.size(), out, len, error);
  });
}

Result<Text> Session::metadata() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_metadata(handle_.get(), out, len, error);
  });
}

Outcome Session::update(std::string_view patch) {
  return run([&](varve_error_t** error) {
    return varve_session_update(handle_.get(), patch.data(), patch.size(), error);
  });
}

Result<Text> Session::stats() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_stats(handle_.get(), out, len, error);
  });
}

Result<Text> Session::files() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_files(handle_.get(), out, len, error);
  });
}

Result<Text> Session::verify(std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_verify(handle_.get(), options.data(), options.size(), out, len, error);
  });
}

Result<Text> Session::repair(std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_repair(handle_.get(), options.data(), options.size(), out, len, error);
  });
}

Result<Text> Session::compact(std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_compact(handle_.get(), options.data(), options.size(), out, len, error);
  });
}

Result<Text> Session::purge(std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_purge(handle_.get(), options.data(), options.size(), out, len, error);
  });
}

Result<Text> Session::migrate(bool dry_run) {
  const std::string_view options = dry_run ? "{\"dry_run\":true}" : "{}";
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_migrate(handle_.get(), options.data(), options.size(), out, len, error);
  });
}

Result<Text> Session::index() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_index(handle_.get(), out, len, error);
  });
}

Result<Text> Session::rebuild_index() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_rebuild_index(handle_.get(), nullptr, 0, out, len, error);
  });
}

Result<Text> Session::export_as(std::string_view format) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_export(handle_.get(), format.data(), format.size(), out, len, error);
  });
}

Result<Text> Session::export_file(std::string_view path, std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_export_file(handle_.get(), path.data(), path.size(), options.data(),
                                     options.size(), out, len, error);
  });
}

Result<Text> Session::import_file(std::string_view path, std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_session_import_file(handle_.get(), path.data(), path.size(), options.data(),
                                     options.size(), out, len, error);
  });
}

Outcome Session::set_progress(varve_progress_fn receiver, void* user_data) {
  return run([&](varve_error_t** error) {
    return varve_session_set_progress(handle_.get(), receiver, user_data, error);
  });
}

Result<Store> Store::open(std::string_view uri, std::string_view config) {
  varve_store_t* store = nullptr;
  Outcome outcome = run([&](varve_error_t** error) {
    return varve_store_open(uri.data(), uri.size(), config.data(), config.size(), &store, error);
  });
  if (outcome) return *std::move(outcome);
  return Store(store);
}

Result<Text> Store::sessions(std::string_view filter) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_sessions(handle_.get(), filter.data(), filter.size(), out, len, error);
  });
}

Result<Text> Store::stats() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_stats(handle_.get(), out, len, error);
  });
}

Result<Text> Store::usage(std::string_view filter) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_usage(handle_.get(), filter.data(), filter.size(), out, len, error);
  });
}

Result<Text> Store::metrics() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_metrics(handle_.get(), out, len, error);
  });
}

Result<Text> Store::sweep() {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_sweep(handle_.get(), out, len, error);
  });
}

Result<Results> Store::query(std::string_view query) {
  return run_for_results([&](varve_results_t** out, varve_error_t** error) {
    return varve_store_query(handle_.get(), query.data(), query.size(), out, error);
  });
}

Result<Session> Store::open_session(std::string_view id) {
  varve_session_t* session = nullptr;
  Outcome outcome = run([&](varve_error_t** error) {
    return varve_session_open(handle_.get(), id.data(), id.size(), &session, error);
  });
  if (outcome) return *std::move(outcome);
  return Session(session);
}

Result<Session> Store::create_session(std::string_view options) {
  varve_session_t* session = nullptr;
  Outcome outcome = run([&](varve_error_t** error) {
    return varve_session_create(handle_.get(), options.data(), options.size(), &session, error);
  });
  if (outcome) return *std::move(outcome);
  return Session(session);
}

Outcome Store::delete_session(std::string_view id) {
  return run([&](varve_error_t** error) {
    return varve_store_delete_session(handle_.get(), id.data(), id.size(), error);
  });
}

Result<Text> Store::backup(std::string_view path, std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_backup(handle_.get(), path.data(), path.size(), options.data(),
                              options.size(), out, len, error);
  });
}

Result<Text> Store::restore(std::string_view path, std::string_view options) {
  return run_for_text([&](char** out, size_t* len, varve_error_t** error) {
    return varve_store_restore(handle_.get(), path.data(), path.size(), options.data(),
                               options.size(), out, len, error);
  });
}

Outcome Store::set_log(int32_t level, varve_log_fn receiver, void* user_data) {
  return run([&](varve_error_t** error) {
    return varve_store_set_log(handle_.get(), level, receiver, user_data, error);
  });
}

}  // namespace varve::cli
