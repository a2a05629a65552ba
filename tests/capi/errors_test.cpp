// The error parameter of every function, and what error objects say.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "all_calls.h"
#include "client.h"

namespace varve_test {
namespace {

TEST(Errors, EveryCallWritesAllItsOuts) {
  const Store store;
  const Session session(store);  // it has no entries
  const OpenHandles handles(store.get(), session.get());
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    Outs outs;
    const varve_status_t status = call.run(handles.of(call.takes), outs);
    EXPECT_NE(outs.error, Outs::foreign_error());
    EXPECT_EQ(outs.error == nullptr, status == VARVE_OK);
    EXPECT_EQ(varve_error_status(outs.error), status);
    if (call.gives == Gives::kText) {
      EXPECT_NE(outs.text, Outs::foreign_text());
      EXPECT_EQ(outs.text == nullptr, status != VARVE_OK);
      EXPECT_EQ(outs.len, outs.text == nullptr ? 0U : std::char_traits<char>::length(outs.text));
      varve_free(outs.text);
    }
    if (call.gives == Gives::kSession) {
      EXPECT_NE(outs.session, Outs::foreign_session());
      EXPECT_EQ(outs.session == nullptr, status != VARVE_OK);
      varve_session_close(outs.session);
    }
    if (call.gives == Gives::kMemory) {
      EXPECT_NE(outs.memory, Outs::foreign_memory());
      EXPECT_EQ(outs.memory == nullptr, status != VARVE_OK);
      varve_memory_close(outs.memory);
    }
    if (call.gives == Gives::kResults) {
      EXPECT_NE(outs.results, Outs::foreign_results());
      EXPECT_EQ(outs.results == nullptr, status != VARVE_OK);
      varve_results_free(outs.results);
    }
    if (call.gives == Gives::kCount) {
      EXPECT_EQ(outs.count, 0U);  // nothing fits what is asked
    }
    varve_error_free(outs.error);
  }
}

TEST(Errors, NoCallNeedsItsOutsOrItsError) {
  const Store store;
  const Session session(store);  // it has no entries
  const OpenHandles handles(store.get(), session.get());
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    Outs outs;
    const varve_status_t with = call.run(handles.of(call.takes), outs);
    const varve_status_t without = call.run_without_outs(handles.of(call.takes), outs);
    if (call.gives == Gives::kSession || call.gives == Gives::kMemory ||
        call.gives == Gives::kResults) {
      EXPECT_EQ(without, VARVE_INVALID_ARGUMENT);  // a handle's out is needed
    } else {
      EXPECT_TRUE(without == with) << with << " " << without;
    }
    if (call.gives == Gives::kText) varve_free(outs.text);
    if (call.gives == Gives::kSession) varve_session_close(outs.session);
    if (call.gives == Gives::kMemory) varve_memory_close(outs.memory);
    if (call.gives == Gives::kResults) varve_results_free(outs.results);
    varve_error_free(outs.error);
  }
}

TEST(Errors, OpenWritesItsOutsOnFailure) {
  auto* store = reinterpret_cast<varve_store_t*>(0x10);
  varve_error_t* error = Outs::foreign_error();
  EXPECT_EQ(varve_store_open("memory:", VARVE_NUL_TERMINATED, "{", 1, &store, &error),
            VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(store, nullptr);
  EXPECT_EQ(varve_error_status(error), VARVE_INVALID_ARGUMENT);
  varve_error_free(error);
  EXPECT_EQ(varve_store_open("memory:", VARVE_NUL_TERMINATED, "{", 1, &store, nullptr),
            VARVE_INVALID_ARGUMENT);
}

TEST(Errors, NameTheMemberAndItsOffset) {
  const Store store;
  const Session session(store);
  const std::string text = R"({"type":"finding","content":1,"importance":2})";
  const Outcome outcome = session.add(text).outcome;
  EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.detail("member"), "importance");
  EXPECT_EQ(outcome.detail("offset"), std::to_string(text.find("2}")));
  EXPECT_NE(outcome.message.find("importance"), std::string::npos) << outcome;
}

// What is read from a text of its own is still at a place of the text that the caller gave.
TEST(Errors, NameTheMemberOfAnObjectWithinTheTextAndItsOffset) {
  const Store store;
  const Session session(store);
  struct Case {
    const char* text;
    const char* member;
    const char* at;
    std::function<Outcome(std::string_view)> refused;
  };
  const auto create = [&](std::string_view text) { return store.try_create(text); };
  const auto update = [&](std::string_view text) { return session.update(text); };
  const auto write = [&](std::string_view text) { return session.export_text(text).outcome; };
  const auto usage = [&](std::string_view filter) {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
             return varve_store_usage(store.get(), filter.data(), filter.size(), text, len, error);
           })
        .outcome;
  };
  for (const Case& given :
       {Case{R"({"title":"t","decay_config":{"curve":"round"}})", "decay_config.curve",
             R"("round")", create},
        Case{R"({"title":"t","compaction_config":{"threshold":null}})",
             "compaction_config.threshold", "null", create},
        Case{R"({"title":"t","decay_config":{"curve":null,"type_specific":{"Odd":{}}}})",
             "decay_config.type_specific.Odd", R"({"curve)", update},
        Case{R"({"format":"jsonl","query":{"text":"tea","types":"odd"}})", "query.types",
             R"({"text)", write},
        Case{R"({"user_id":"ann","session_ids":["a","-b"]})", "session_ids[1]", R"("-b)", usage}}) {
    const Outcome outcome = given.refused(given.text);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << given.text;
    EXPECT_EQ(outcome.detail("member"), given.member);
    const size_t offset = std::string_view(given.text).find(given.at);
    EXPECT_EQ(outcome.detail("offset"), std::to_string(offset)) << outcome;
  }
}

TEST(Errors, NameThePathOfAFile) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a", "to be damaged")).ok());
  const std::string path = directory.path() + "/sessions/s/memory.jsonl";
  std::string bytes = read_file(path);
  bytes[bytes.find("damaged")] = 'D';
  write_file(path, bytes);
  const Outcome outcome = session.get("a").outcome;
  EXPECT_EQ(outcome.status, VARVE_CORRUPTION);
  EXPECT_EQ(outcome.detail("path"), path);
  EXPECT_EQ(outcome.detail("offset"), "0");
}

TEST(Errors, NameSizeAndLimit) {
  const Store store("memory:", R"({"storage":{"max_entry_size_bytes":1000}})");
  const Session session(store);
  const Outcome outcome = session.add(entry("", std::string(2000, 'x'))).outcome;
  EXPECT_EQ(outcome.status, VARVE_SIZE_LIMIT);
  EXPECT_EQ(outcome.detail("limit"), "1000");
  EXPECT_GT(std::stoul(outcome.detail("size")), 2000U);
}

TEST(Errors, NameTheErrnoOfTheSystem) {
  const TempDirectory directory;
  write_file(directory.path() + "/file", "not a directory");
  const Outcome outcome = Store::try_open(directory.path() + "/file");
  EXPECT_EQ(outcome.status, VARVE_IO);
  EXPECT_NE(outcome.detail("errno"), "");
  EXPECT_EQ(outcome.detail("path"), directory.path() + "/file");
}

TEST(Errors, OutliveTheHandleTheyCameFrom) {
  varve_error_t* error = nullptr;
  {
    const Store store;
    EXPECT_EQ(varve_session_open(store.get(), "", 0, nullptr, &error), VARVE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(varve_error_status(error), VARVE_INVALID_ARGUMENT);
  EXPECT_STRNE(varve_error_message(error), "");
  varve_error_free(error);
}

TEST(Errors, MoveBetweenThreads) {
  varve_error_t* error = nullptr;
  std::thread maker([&] { EXPECT_EQ(varve_store_sync(nullptr, &error), VARVE_BAD_HANDLE); });
  maker.join();
  EXPECT_STREQ(varve_error_message(error), "the store handle is NULL");
  EXPECT_STREQ(varve_error_details(error), "{}");
  varve_error_free(error);
}

TEST(Errors, ManyAtOnceKeepTheirOwnText) {
  std::vector<varve_error_t*> errors(500);
  const Store store;
  const Session session(store);
  for (size_t i = 0; i < errors.size(); ++i) {
    const std::string id = "missing_" + std::to_string(i);
    EXPECT_EQ(varve_session_get(session.get(), id.data(), id.size(), nullptr, nullptr, &errors[i]),
              VARVE_NOT_FOUND);
  }
  for (size_t i = 0; i < errors.size(); ++i) {
    const std::string message = varve_error_message(errors[i]);
    EXPECT_NE(message.find("missing_" + std::to_string(i)), std::string::npos) << message;
    varve_error_free(errors[i]);
  }
}

}  // namespace
}  // namespace varve_test
