// A newer varve writes into a session that this one has open: what every call answers then is what
// its header names, or what base.h says of all functions.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "all_calls.h"
#include "client.h"
#include "headers.h"

namespace varve_test {
namespace {

// What the second convention of base.h says of every function that takes a session.
std::set<std::string> codes_of_all() {
  const std::string text = source_file("include/varve/base.h");
  const size_t start = text.find("\n *  2. ");
  return words_with_prefix(text.substr(start, text.find("\n *  3. ") - start), "VARVE_");
}

void append_a_newer_line(const std::string& session_directory) {
  std::ofstream(session_directory + "/memory.jsonl", std::ios::app)
      << R"({"content":1,"id":"newer","schema_version":2,)"
         R"("timestamp":"2026-01-10T14:23:46Z","type":"finding"})"
         "\n";
}

void replace_metadata_by_newer(const std::string& session_directory) {
  std::ofstream(session_directory + "/metadata.json") << R"({"session_id":"s","version":2})";
}

// How many calls were refused.
int expect_documented(const std::function<void(const std::string&)>& write_newer) {
  const std::set<std::string> of_all = codes_of_all();
  int refused = 0;
  for (const Call& call : all_calls()) {
    if (call.takes == Takes::kWindow) continue;
    SCOPED_TRACE(call.name);
    const TempDirectory directory;
    const Store store(directory.path(), R"({"durability":"os"})");
    const Session session(store, R"({"session_id":"s"})");
    EXPECT_TRUE(session.add(R"({"type":"finding","content":"tea"})").ok());
    const OpenHandles handles(store.get(), session.get());
    write_newer(directory.path() + "/sessions/s");
    Outs outs;
    const varve_status_t status = call.run(handles.of(call.takes), outs);
    const std::string name = varve_status_name(status);
    const bool is_of_all = call.takes == Takes::kSession && of_all.contains(name);
    EXPECT_TRUE(status == VARVE_OK || is_of_all || all_documented_errors(call.name).contains(name))
        << name << ": " << varve_error_message(outs.error);
    refused += status == VARVE_FORMAT_VERSION ? 1 : 0;
    if (call.gives == Gives::kText && status == VARVE_OK) varve_free(outs.text);
    if (call.gives == Gives::kSession) varve_session_close(outs.session);
    if (call.gives == Gives::kMemory) varve_memory_close(outs.memory);
    if (call.gives == Gives::kResults) varve_results_free(outs.results);
    varve_error_free(outs.error);
  }
  return refused;
}

// A session that another store handle, and then a newer varve, wrote to.
class NewerVersionOfAnother : public testing::Test {
 protected:
  NewerVersionOfAnother() {
    EXPECT_TRUE(session_.add(entry("first")).ok());
    EXPECT_TRUE(Session::open(other_, "s").add(entry("second")).ok());
    replace_metadata_by_newer(directory_.path() + "/sessions/s");
  }

  const TempDirectory directory_;
  const Store store_{directory_.path(), R"({"durability":"os"})"};
  const Session session_{store_, R"({"session_id":"s"})"};
  const Store other_{directory_.path(), R"({"durability":"os"})"};
};

// What the rest of the session means by now, this version does not know.
TEST_F(NewerVersionOfAnother, IsNotWrittenToAnyMore) {
  EXPECT_EQ(session_.add(entry("third")).outcome.status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.import_lines(entry("third")).outcome.status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.record("user_message", R"("tea")").outcome.status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.remove("first").status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.remove_where("{}").outcome.status, VARVE_FORMAT_VERSION);
  varve_session_t* const session = session_.get();
  const size_t all = VARVE_NUL_TERMINATED;
  EXPECT_EQ(varve_kv_set(session, "k", all, "v", all, nullptr), VARVE_FORMAT_VERSION);
  EXPECT_EQ(varve_transcript_append(session, "u", all, "x", all, nullptr), VARVE_FORMAT_VERSION);
  const float values[] = {1, 2};
  EXPECT_EQ(varve_session_put_vector(session, "first", all, values, 2, nullptr),
            VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.count().count, 2U);
}

// What was answered before is kept all the same.
TEST_F(NewerVersionOfAnother, IsStillMadeDurable) {
  EXPECT_FALSE(session_.stats().object().at("durable").as_bool());
  EXPECT_EQ(session_.sync().status, VARVE_FORMAT_VERSION);
  EXPECT_TRUE(session_.stats().object().at("durable").as_bool());
}

TEST_F(NewerVersionOfAnother, TellsNothingOfWhatItsMetadataWere) {
  EXPECT_EQ(session_.metadata().outcome.status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(session_.export_text("json").outcome.status, VARVE_FORMAT_VERSION);
  EXPECT_TRUE(session_.export_text("jsonl").ok());
}

TEST_F(NewerVersionOfAnother, IsNotOpenedOnceMore) {
  EXPECT_EQ(store_.try_open_session("s").status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(store_.try_create(R"({"session_id":"s","if_exists":"open"})").status,
            VARVE_FORMAT_VERSION);
}

// The place is one in the log, whatever was asked.
TEST(NewerVersion, OfALineIsToldWithThePlaceOfTheLine) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  append_a_newer_line(directory.path() + "/sessions/s");
  for (const Outcome& outcome :
       {session.context().outcome, session.record("user_message", R"("tea")").outcome,
        session.record("tool_result", R"({"name":"t","result":1})").outcome,
        session.add(entry("tea")).outcome}) {
    EXPECT_EQ(outcome.status, VARVE_FORMAT_VERSION);
    EXPECT_EQ(outcome.detail("member"), "schema_version") << outcome;
    EXPECT_EQ(outcome.detail("offset"), "0") << outcome;
  }
}

TEST(NewerVersion, InTheLogOfAnOpenSessionIsRefusedAsDocumented) {
  EXPECT_GT(expect_documented(append_a_newer_line), 30);
}

TEST(NewerVersion, InTheMetadataOfAnOpenSessionIsRefusedAsDocumented) {
  EXPECT_GE(expect_documented(replace_metadata_by_newer), 3);
}

}  // namespace
}  // namespace varve_test
