#include "client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <system_error>

namespace varve_test {
namespace {

template <typename Call>
Outcome outcome_of(Call&& call) {
  ErrorOut error;
  return error.outcome(call(error.out()));
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "varve_capi_XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

HeldLock::HeldLock(const std::string& session_directory)
    : descriptor_(::open((session_directory + "/lock").c_str(), O_RDWR | O_CLOEXEC)) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0;
  lock.l_len = 1;
  EXPECT_EQ(::fcntl(descriptor_, F_OFD_SETLK, &lock), 0);
}

HeldLock::~HeldLock() { ::close(descriptor_); }

json::object Outcome::details() const {
  boost::system::error_code fault;
  const json::value value = json::parse(details_text, fault);
  EXPECT_FALSE(fault.failed()) << details_text;
  return value.is_object() ? value.get_object() : json::object();
}

std::string Outcome::detail(std::string_view member) const {
  const json::object all = details();
  const json::value* const value = all.if_contains(member);
  if (value == nullptr) return {};
  return value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
}

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << varve_status_name(outcome.status) << ": " << outcome.message << " "
             << outcome.details_text;
}

Outcome ErrorOut::outcome(varve_status_t status) const {
  EXPECT_EQ(varve_error_status(error_), status);
  EXPECT_EQ(error_ == nullptr, status == VARVE_OK);
  const Outcome outcome{status, varve_error_message(error_), varve_error_details(error_)};
  EXPECT_EQ(outcome.message.empty(), status == VARVE_OK);
  EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
  return outcome;
}

json::value Answer::value() const {
  EXPECT_TRUE(ok()) << outcome;
  boost::system::error_code fault;
  json::value parsed = json::parse(text, fault);
  EXPECT_FALSE(fault.failed()) << text;
  return parsed;
}

json::object Answer::object() const {
  const json::value parsed = value();
  EXPECT_TRUE(parsed.is_object()) << text;
  return parsed.is_object() ? parsed.get_object() : json::object();
}

std::string Results::text() const {
  const char* json = nullptr;
  size_t len = 0;
  const Outcome outcome = outcome_of(
      [&](varve_error_t** error) { return varve_results_json(results_, &json, &len, error); });
  EXPECT_TRUE(outcome.ok()) << outcome;
  return json == nullptr ? std::string() : std::string(json, len);
}

json::object Results::object() const {
  EXPECT_TRUE(ok()) << outcome_;
  return Answer{{}, text()}.object();
}

json::array Results::list() const { return object().at("results").as_array(); }

std::string Results::ids() const {
  std::string ids;
  for (const json::value& result : list()) {
    if (!ids.empty()) ids.push_back(' ');
    ids.append(result.at("entry").at("id").as_string());
  }
  return ids;
}

std::string Results::next() const {
  const json::object all = object();
  const json::value& next = all.at("next");
  return next.is_string() ? std::string(next.get_string()) : std::string();
}

Store::Store(std::string_view uri, std::string_view config) {
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_store_open(uri.data(), uri.size(), config.data(), config.size(), &store_, error);
  });
  EXPECT_TRUE(outcome.ok()) << outcome;
}

Outcome Store::try_open(std::string_view uri, std::string_view config) {
  varve_store_t* store = nullptr;
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_store_open(uri.data(), uri.size(), config.data(), config.size(), &store, error);
  });
  EXPECT_EQ(store != nullptr, outcome.ok());
  varve_store_close(store);
  return outcome;
}

void Store::close() { varve_store_close(std::exchange(store_, nullptr)); }

Answer Store::sessions(std::string_view filter) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_store_sessions(store_, filter.data(), filter.size(), text, len, error);
  });
}

Answer Store::stats() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_store_stats(store_, text, len, error);
  });
}

Answer Store::metrics() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_store_metrics(store_, text, len, error);
  });
}

Results Store::query(std::string_view query) const {
  varve_results_t* results = nullptr;
  Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_store_query(store_, query.data(), query.size(), &results, error);
  });
  EXPECT_EQ(results != nullptr, outcome.ok());
  return {std::move(outcome), results};
}

Outcome Store::sync() const {
  return outcome_of([&](varve_error_t** error) { return varve_store_sync(store_, error); });
}

Outcome Store::delete_session(std::string_view id) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_store_delete_session(store_, id.data(), id.size(), error);
  });
}

Outcome Store::set_log(int32_t level, varve_log_fn function, void* user_data) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_store_set_log(store_, level, function, user_data, error);
  });
}

Outcome Store::set_clock(varve_clock_fn function, void* user_data) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_store_set_clock(store_, function, user_data, error);
  });
}

Outcome Store::set_token_counter(varve_token_fn function, void* user_data) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_store_set_token_counter(store_, function, user_data, error);
  });
}

Outcome Store::try_create(std::string_view options) const {
  varve_session_t* session = nullptr;
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_create(store_, options.data(), options.size(), &session, error);
  });
  EXPECT_EQ(session != nullptr, outcome.ok());
  varve_session_close(session);
  return outcome;
}

Outcome Store::try_open_session(std::string_view id) const {
  varve_session_t* session = nullptr;
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_open(store_, id.data(), id.size(), &session, error);
  });
  EXPECT_EQ(session != nullptr, outcome.ok());
  varve_session_close(session);
  return outcome;
}

Session::Session(const Store& store, std::string_view options) {
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_create(store.get(), options.data(), options.size(), &session_, error);
  });
  EXPECT_TRUE(outcome.ok()) << outcome;
}

Session Session::open(const Store& store, std::string_view id) {
  Session session;
  const Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_open(store.get(), id.data(), id.size(), &session.session_, error);
  });
  EXPECT_TRUE(outcome.ok()) << outcome;
  return session;
}

void Session::close() { varve_session_close(std::exchange(session_, nullptr)); }

std::string Session::id() const {
  const char* const id = varve_session_id(session_);
  EXPECT_NE(id, nullptr);
  return id == nullptr ? "" : id;
}

Answer Session::add(std::string_view text) const {
  return answer_of([&](char** id, size_t* len, varve_error_t** error) {
    return varve_session_add(session_, text.data(), text.size(), id, len, error);
  });
}

Answer Session::add_batch(std::string_view entries) const {
  return answer_of([&](char** ids, size_t* len, varve_error_t** error) {
    return varve_session_add_batch(session_, entries.data(), entries.size(), ids, len, error);
  });
}

Answer Session::get(std::string_view id) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_get(session_, id.data(), id.size(), text, len, error);
  });
}

Outcome Session::remove(std::string_view id, std::string_view reason) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_session_delete(session_, id.data(), id.size(), reason.data(), reason.size(),
                                error);
  });
}

Results Session::query(std::string_view query) const {
  varve_results_t* results = nullptr;
  Outcome outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_query(session_, query.data(), query.size(), &results, error);
  });
  EXPECT_EQ(results != nullptr, outcome.ok());
  return {std::move(outcome), results};
}

Count Session::count(std::string_view query) const {
  Count counted;
  counted.outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_count(session_, query.data(), query.size(), &counted.count, error);
  });
  return counted;
}

Count Session::remove_where(std::string_view query, std::string_view reason) const {
  Count removed;
  removed.outcome = outcome_of([&](varve_error_t** error) {
    return varve_session_delete_where(session_, query.data(), query.size(), reason.data(),
                                      reason.size(), &removed.count, error);
  });
  return removed;
}

Answer Session::tags() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_tags(session_, text, len, error);
  });
}

Answer Session::context(std::string_view request) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_context_build(session_, request.data(), request.size(), text, len, error);
  });
}

Answer Session::record(std::string_view kind, std::string_view payload) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_context_record(session_, kind.data(), kind.size(), payload.data(), payload.size(),
                                text, len, error);
  });
}

Answer Session::metadata() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_metadata(session_, text, len, error);
  });
}

Outcome Session::update(std::string_view patch) const {
  return outcome_of([&](varve_error_t** error) {
    return varve_session_update(session_, patch.data(), patch.size(), error);
  });
}

Outcome Session::sync() const {
  return outcome_of([&](varve_error_t** error) { return varve_session_sync(session_, error); });
}

Answer Session::stats() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_stats(session_, text, len, error);
  });
}

Answer Session::files() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_files(session_, text, len, error);
  });
}

Answer Session::verify(std::string_view options) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_verify(session_, options.data(), options.size(), text, len, error);
  });
}

Answer Session::repair(std::string_view options) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_repair(session_, options.data(), options.size(), text, len, error);
  });
}

Answer Session::rebuild_index(std::string_view options) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_rebuild_index(session_, options.data(), options.size(), text, len, error);
  });
}

Answer Session::index() const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_index(session_, text, len, error);
  });
}

Answer Session::export_text(std::string_view format) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_export(session_, format.data(), format.size(), text, len, error);
  });
}

Answer Session::import_lines(std::string_view lines) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_import(session_, lines.data(), lines.size(), text, len, error);
  });
}

Answer Session::export_file(std::string_view path, std::string_view options) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_export_file(session_, path.data(), path.size(), options.data(),
                                     options.size(), text, len, error);
  });
}

Answer Session::import_file(std::string_view path, std::string_view options) const {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_import_file(session_, path.data(), path.size(), options.data(),
                                     options.size(), text, len, error);
  });
}

Outcome Session::set_progress(varve_progress_fn receiver, void* user_data) const {
  ErrorOut error;
  return error.outcome(varve_session_set_progress(session_, receiver, user_data, error.out()));
}

std::string entry(std::string_view id, std::string_view content) {
  json::object object;
  if (!id.empty()) object["id"] = id;
  object["type"] = "finding";
  object["content"] = content;
  return json::serialize(object);
}

std::vector<std::string> missing_members(const json::object& object,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!object.contains(name)) missing.push_back(name);
  }
  return missing;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good()) << path;
}

}  // namespace varve_test
