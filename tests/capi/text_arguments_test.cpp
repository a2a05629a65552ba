// Every text argument of every function: NULL, lengths, NUL bytes, UTF-8.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

using Run = std::function<varve_status_t(const char* text, size_t len, varve_error_t** error)>;

struct TextArgument {
  const char* function;
  const char* name;
  bool nullable;
  const char* good;  // a value that the function takes
  Run run;
};

// Of functions that take a store, which outlives them.
std::vector<TextArgument> text_arguments_of_store(const Store& store) {
  varve_store_t* const s = store.get();
  static const TempDirectory directory;
  static const std::string copy = directory.path() + "/copy";
  static const std::string empty = directory.path() + "/empty";
  { const Store made(empty); }
  std::filesystem::remove_all(copy);  // of the store of another test
  return {
      {"varve_store_backup", "path", false, copy.c_str(),
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_backup(s, text, len, nullptr, 0, nullptr, nullptr, error);
       }},
      {"varve_store_backup", "options_json", true, R"({"delete_missing":false})",
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_backup(s, copy.c_str(), copy.size(), text, len, nullptr, nullptr,
                                   error);
       }},
      {"varve_store_restore", "path", false, empty.c_str(),
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_restore(s, text, len, nullptr, 0, nullptr, nullptr, error);
       }},
      {"varve_store_restore", "options_json", true, R"({"overwrite":true})",
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_restore(s, empty.c_str(), empty.size(), text, len, nullptr, nullptr,
                                    error);
       }},
      {"varve_store_open", "uri", false, "memory:",
       [](const char* text, size_t len, varve_error_t** error) {
         varve_store_t* opened = nullptr;
         const auto status = varve_store_open(text, len, nullptr, 0, &opened, error);
         varve_store_close(opened);
         return status;
       }},
      {"varve_store_open", "config_json", true, R"({"durability":"os"})",
       [](const char* text, size_t len, varve_error_t** error) {
         varve_store_t* opened = nullptr;
         const auto status =
             varve_store_open("memory:", VARVE_NUL_TERMINATED, text, len, &opened, error);
         varve_store_close(opened);
         return status;
       }},
      {"varve_store_sessions", "filter_json", true, R"({"limit":1})",
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_sessions(s, text, len, nullptr, nullptr, error);
       }},
      {"varve_store_delete_session", "id", false, "doomed",
       [s](const char* text, size_t len, varve_error_t** error) {
         varve_session_t* doomed = nullptr;
         const auto made = varve_session_create(s, R"({"session_id":"doomed"})",
                                                VARVE_NUL_TERMINATED, &doomed, nullptr);
         EXPECT_TRUE(made == VARVE_OK || made == VARVE_ALREADY_EXISTS);
         varve_session_close(doomed);
         return varve_store_delete_session(s, text, len, error);
       }},
      {"varve_session_create", "options_json", true, R"({"title":"x"})",
       [s](const char* text, size_t len, varve_error_t** error) {
         varve_session_t* made = nullptr;
         const auto status = varve_session_create(s, text, len, &made, error);
         varve_session_close(made);
         return status;
       }},
      {"varve_session_open", "id", false, "s",
       [s](const char* text, size_t len, varve_error_t** error) {
         varve_session_t* opened = nullptr;
         const auto status = varve_session_open(s, text, len, &opened, error);
         varve_session_close(opened);
         return status;
       }},
  };
}

// Of functions that take a session (holding an entry "a" before each run), which outlives them.
std::vector<TextArgument> text_arguments_of_session(const Session& session) {
  varve_session_t* const m = session.get();
  return {
      {"varve_session_update", "patch_json", false, R"({"title":"y"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_update(m, text, len, error);
       }},
      {"varve_session_add", "entry_json", false, R"({"type":"finding","content":1})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_add(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_add_batch", "entries", false, R"([{"type":"finding","content":1}])",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_add_batch(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_get", "id", false, "a",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_get(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_delete", "id", false, "b",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_delete(m, text, len, nullptr, 0, error);
       }},
      {"varve_session_delete", "reason", true, "because",
       [m](const char* text, size_t len, varve_error_t** error) {
         char* id = nullptr;
         size_t id_len = 0;
         EXPECT_EQ(varve_session_add(m, R"({"type":"finding","content":1})", VARVE_NUL_TERMINATED,
                                     &id, &id_len, nullptr),
                   VARVE_OK);
         const auto status = varve_session_delete(m, id, id_len, text, len, error);
         varve_free(id);
         return status;
       }},
      {"varve_session_verify", "options_json", true, "{}",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_verify(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_compact", "options_json", true, R"({"dry_run":true,"evict_below":0.5})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_compact(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_purge", "options_json", true, R"({"dry_run":true})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_purge(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_migrate", "options_json", true, R"({"dry_run":true})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_migrate(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_repair", "options_json", true, R"({"dry_run":true})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_repair(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_rebuild_index", "options_json", true, "{}",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_rebuild_index(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_export", "format", false, "json",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_export(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_import", "jsonl", false, R"({"type":"finding","content":1})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_import(m, text, len, nullptr, nullptr, error);
       }},
  };
}

// Of functions that find entries, in a session with an entry "a".
std::vector<TextArgument> text_arguments_of_queries(const Store& store, const Session& session) {
  varve_store_t* const s = store.get();
  varve_session_t* const m = session.get();
  return {
      {"varve_store_query", "query_json", true, R"({"user_id":"ann"})",
       [s](const char* text, size_t len, varve_error_t** error) {
         varve_results_t* results = nullptr;
         const auto status = varve_store_query(s, text, len, &results, error);
         varve_results_free(results);
         return status;
       }},
      {"varve_store_usage", "filter_json", true, R"({"user_id":"ann"})",
       [s](const char* text, size_t len, varve_error_t** error) {
         return varve_store_usage(s, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_query", "query_json", true, R"({"text":"tea"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         varve_results_t* results = nullptr;
         const auto status = varve_session_query(m, text, len, &results, error);
         varve_results_free(results);
         return status;
       }},
      {"varve_session_count", "query_json", true, R"({"text":"tea"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_count(m, text, len, nullptr, error);
       }},
      {"varve_session_delete_where", "query_json", false, R"({"ids":["none"]})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_delete_where(m, text, len, nullptr, 0, nullptr, error);
       }},
      {"varve_session_delete_where", "reason", true, "because",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_delete_where(m, R"({"ids":["none"]})", VARVE_NUL_TERMINATED, text,
                                           len, nullptr, error);
       }},
      {"varve_context_build", "request_json", true, R"({"question":"tea"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_context_build(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_session_put_vector", "id", false, "a",
       [m](const char* text, size_t len, varve_error_t** error) {
         const float values[] = {1, 2};
         return varve_session_put_vector(m, text, len, values, 2, error);
       }},
  };
}

std::vector<TextArgument> text_arguments_of_conversations(const Session& session) {
  varve_session_t* const m = session.get();
  return {
      {"varve_context_record", "kind", false, "user_message",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_context_record(m, text, len, R"("hello")", VARVE_NUL_TERMINATED, nullptr,
                                     nullptr, error);
       }},
      {"varve_context_record", "payload_json", false, R"({"content":"hello"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_context_record(m, "event", VARVE_NUL_TERMINATED, text, len, nullptr, nullptr,
                                     error);
       }},
      {"varve_kv_set", "key", false, "k",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_kv_set(m, text, len, "v", 1, error);
       }},
      {"varve_kv_set", "value", false, "v",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_kv_set(m, "k", 1, text, len, error);
       }},
      {"varve_kv_get", "key", false, "working_memory",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_kv_get(m, text, len, nullptr, nullptr, error);
       }},
      {"varve_kv_delete", "key", false, "gone",
       [m](const char* text, size_t len, varve_error_t** error) {
         EXPECT_EQ(varve_kv_set(m, "gone", 4, "v", 1, nullptr), VARVE_OK);
         return varve_kv_delete(m, text, len, error);
       }},
      {"varve_transcript_append", "role", false, "user",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_transcript_append(m, text, len, "hello", 5, error);
       }},
      {"varve_transcript_append", "content", false, "hello",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_transcript_append(m, "user", 4, text, len, error);
       }},
  };
}

std::vector<TextArgument> text_arguments_of_files(const Session& session) {
  varve_session_t* const m = session.get();
  static const TempDirectory directory;
  static const std::string out = directory.path() + "/out.jsonl";
  static const std::string in = directory.path() + "/in.jsonl";
  write_file(in, R"({"id":"a","type":"finding","content":"tea, not coffee"})");
  return {
      {"varve_session_export_file", "path", false, out.c_str(),
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_export_file(m, text, len, R"({"overwrite":true})",
                                          VARVE_NUL_TERMINATED, nullptr, nullptr, error);
       }},
      {"varve_session_export_file", "options_json", true, R"({"format":"json"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         std::filesystem::remove(out);
         return varve_session_export_file(m, out.c_str(), VARVE_NUL_TERMINATED, text, len, nullptr,
                                          nullptr, error);
       }},
      {"varve_session_import_file", "path", false, in.c_str(),
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_import_file(m, text, len, nullptr, 0, nullptr, nullptr, error);
       }},
      {"varve_session_import_file", "options_json", true, R"({"format":"jsonl"})",
       [m](const char* text, size_t len, varve_error_t** error) {
         return varve_session_import_file(m, in.c_str(), VARVE_NUL_TERMINATED, text, len, nullptr,
                                          nullptr, error);
       }},
  };
}

// Of functions that take a memory or a window, which outlive them.
std::vector<TextArgument> text_arguments_of_memories(const Store& store, varve_memory_t* memory,
                                                     varve_window_t* window) {
  varve_store_t* const s = store.get();
  static constexpr const char* kMessage = R"({"content":"hello"})";
  return {
      {"varve_memory_open", "options_json", true, R"({"user_id":"ann"})",
       [s](const char* text, size_t len, varve_error_t** error) {
         varve_memory_t* opened = nullptr;
         const auto status = varve_memory_open(s, text, len, &opened, error);
         varve_memory_close(opened);
         return status;
       }},
      {"varve_memory_record", "session_id", false, "chat",
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_record(memory, text, len, kMessage, VARVE_NUL_TERMINATED, nullptr,
                                    nullptr, error);
       }},
      {"varve_memory_record", "entry_json", false, kMessage,
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_record(memory, "chat", 4, text, len, nullptr, nullptr, error);
       }},
      {"varve_memory_context", "session_id", false, "chat",
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_context(memory, text, len, 0, nullptr, nullptr, error);
       }},
      {"varve_memory_load", "session_id", false, "s",
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_load(memory, text, len, error);
       }},
      {"varve_memory_save", "session_id", false, "s",
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_save(memory, text, len, error);
       }},
      {"varve_memory_store", "entry_json", false, kMessage,
       [memory](const char* text, size_t len, varve_error_t** error) {
         return varve_memory_store(memory, text, len, nullptr, nullptr, error);
       }},
      {"varve_memory_search", "query_json", true, R"({"text":"tea"})",
       [memory](const char* text, size_t len, varve_error_t** error) {
         varve_results_t* results = nullptr;
         const auto status = varve_memory_search(memory, text, len, &results, error);
         varve_results_free(results);
         return status;
       }},
      {"varve_memory_delete", "reason", true, "because",
       [memory](const char* text, size_t len, varve_error_t** error) {
         char* id = nullptr;
         EXPECT_EQ(
             varve_memory_store(memory, kMessage, VARVE_NUL_TERMINATED, &id, nullptr, nullptr),
             VARVE_OK);
         const auto status =
             varve_memory_delete(memory, id, VARVE_NUL_TERMINATED, text, len, error);
         varve_free(id);
         return status;
       }},
      {"varve_window_add", "entry_json", false, kMessage,
       [window](const char* text, size_t len, varve_error_t** error) {
         return varve_window_add(window, text, len, error);
       }},
  };
}

class TextArguments : public testing::Test {
 protected:
  TextArguments() {
    EXPECT_TRUE(session_.add(entry("a")).ok());
    EXPECT_TRUE(session_.add(entry("b")).ok());
    EXPECT_EQ(varve_memory_open(store_.get(), nullptr, 0, &memory_, nullptr), VARVE_OK);
    EXPECT_EQ(varve_window_new(20, &window_, nullptr), VARVE_OK);
  }
  ~TextArguments() override {
    varve_memory_close(memory_);
    varve_window_free(window_);
  }
  Outcome run(const TextArgument& argument, const char* text, size_t len) const {
    ErrorOut error;
    return error.outcome(argument.run(text, len, error.out()));
  }
  Outcome run(const TextArgument& argument, std::string_view text) const {
    return run(argument, text.data(), text.size());
  }
  [[nodiscard]] std::vector<TextArgument> arguments() const {
    std::vector<TextArgument> all;
    for (auto& some : {text_arguments_of_store(store_), text_arguments_of_session(session_),
                       text_arguments_of_queries(store_, session_),
                       text_arguments_of_conversations(session_), text_arguments_of_files(session_),
                       text_arguments_of_memories(store_, memory_, window_)}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  Store store_;
  Session session_{store_, R"({"session_id":"s"})"};
  varve_memory_t* memory_ = nullptr;
  varve_window_t* window_ = nullptr;
};

#define TRACE(argument) SCOPED_TRACE(std::string(argument.function) + " " + argument.name)

TEST_F(TextArguments, MayEndWithANul) {
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const Outcome outcome = run(argument, argument.good, VARVE_NUL_TERMINATED);
    EXPECT_TRUE(outcome.ok()) << outcome;
  }
}

TEST_F(TextArguments, NeedNoNul) {
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const std::string longer = std::string(argument.good) + "\xFF garbage behind the end";
    const Outcome outcome =
        run(argument, std::string_view(longer).substr(0, std::string_view(argument.good).size()));
    EXPECT_TRUE(outcome.ok()) << outcome;
  }
}

TEST_F(TextArguments, NullIsTheEmptyText) {
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const Outcome null = run(argument, nullptr, 0);
    const Outcome empty = run(argument, "", 0);
    EXPECT_EQ(null.status, empty.status) << null << " / " << empty;
    EXPECT_EQ(null.message, empty.message);
    if (argument.nullable) {
      EXPECT_TRUE(null.ok()) << null;
    }
  }
}

TEST_F(TextArguments, NullWithALengthIsRefused) {
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const Outcome outcome = run(argument, nullptr, 3);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), argument.name);
  }
}

TEST_F(TextArguments, NullAndNulTerminatedIsNoneWhereNoneIsAllowed) {
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const Outcome outcome = run(argument, nullptr, VARVE_NUL_TERMINATED);
    EXPECT_EQ(outcome.status, argument.nullable ? VARVE_OK : VARVE_INVALID_ARGUMENT) << outcome;
  }
}

TEST_F(TextArguments, LengthsNoTextCanHaveAreRefused) {
  for (const auto& argument : arguments()) {
    for (const size_t len : {SIZE_MAX - 1, SIZE_MAX / 2 + 1}) {
      TRACE(argument);
      const Outcome outcome = run(argument, argument.good, len);
      EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
      EXPECT_EQ(outcome.detail("member"), argument.name);
    }
  }
}

TEST_F(TextArguments, OnlyUtf8IsTaken) {
  for (const auto& argument : arguments()) {
    if (std::string_view(argument.name) == "jsonl") continue;  // below: refused line by line
    TRACE(argument);
    for (const std::string_view bad : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
      // JSON gets the bytes inside a string, where nothing else is wrong with them.
      std::string text = argument.good;
      const size_t quote = text.rfind('"');
      const size_t at = quote == std::string::npos ? text.size() : quote;
      const bool is_json = std::string_view(argument.name).ends_with("json") ||
                           std::string_view(argument.name) == "entries";
      if (is_json && quote == std::string::npos) text = R"({"x":""})";
      text.insert(is_json && quote == std::string::npos ? 6 : at, bad);
      const Outcome outcome = run(argument, text);
      EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << outcome;
      EXPECT_EQ(outcome.detail("offset"), std::to_string(text.find(bad))) << outcome << text;
    }
  }
}

// But for a path, which a program may look for.
TEST_F(TextArguments, AreNotQuotedAtFullLength) {
  const std::string much(size_t{1} << 20, 'x');
  for (const auto& argument : arguments()) {
    TRACE(argument);
    const std::string_view name = argument.name;
    if (name == "path" || name == "uri") continue;
    for (const std::string& text : {much, "{\"" + much + "\":1}"}) {
      const Outcome outcome = run(argument, text);
      EXPECT_LT(outcome.message.size(), 1000u) << outcome.message.substr(0, 100);
    }
  }
}

TEST_F(TextArguments, ImportRefusesTheLineThatIsNotUtf8) {
  const std::string lines =
      entry("c") + "\n{\"type\":\"finding\",\"content\":\"\xFF\"}\n" + entry("d");
  const json::object report = session_.import_lines(lines).object();
  EXPECT_EQ(report.at("added"), 2);
  ASSERT_EQ(report.at("refused").as_array().size(), 1U);
  EXPECT_EQ(report.at("refused").at(0).at("line"), 2);
}

TEST_F(TextArguments, RawNulBytesAreRefused) {
  for (const auto& argument : arguments()) {
    const std::string_view name = argument.name;
    // One refuses the line, the others keep the text.
    if (name == "jsonl" || name == "reason" || name == "value" || name == "content") continue;
    if (std::string_view(argument.function).starts_with("varve_kv_")) continue;
    TRACE(argument);
    std::string text = argument.good;
    text.insert(text.size() / 2, 1, '\0');
    const Outcome outcome = run(argument, text);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << outcome;
  }
}

TEST_F(TextArguments, EscapedNulInContentIsKept) {
  const std::string id = session_.add(R"({"type":"finding","content":"a\u0000b"})").text;
  const Answer line = session_.get(id);
  EXPECT_EQ(line.object().at("content").as_string(), std::string_view("a\0b", 3));
}

TEST_F(TextArguments, NulInAReasonIsKept) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.remove("a", std::string_view("x\0y", 3)).ok());
  const std::string audit = read_file(directory.path() + "/sessions/s/tombstones.jsonl");
  EXPECT_NE(audit.find(R"("reason":"x\u0000y")"), std::string::npos) << audit;
}

TEST_F(TextArguments, AnswersEndWithANul) {
  char* text = nullptr;
  size_t len = 0;
  ASSERT_EQ(
      varve_session_export(session_.get(), "markdown", VARVE_NUL_TERMINATED, &text, &len, nullptr),
      VARVE_OK);
  EXPECT_EQ(std::char_traits<char>::length(text), len);
  varve_free(text);
}

TEST_F(TextArguments, EitherHalfOfAnAnswerMayBeUnwanted) {
  char* text = nullptr;
  size_t len = 0;
  ASSERT_EQ(varve_session_get(session_.get(), "a", 1, &text, nullptr, nullptr), VARVE_OK);
  ASSERT_EQ(varve_session_get(session_.get(), "a", 1, nullptr, &len, nullptr), VARVE_OK);
  EXPECT_EQ(std::char_traits<char>::length(text), len);
  varve_free(text);
}

}  // namespace
}  // namespace varve_test
