// Verify, repair, rebuild, index, export, import, and their documented errors.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

class Maintenance : public testing::TestWithParam<bool> {
 protected:
  Maintenance() {
    EXPECT_TRUE(session_
                    .add(R"({"id":"a","type":"finding","content":"tea","tags":["drinks"],)"
                         R"("importance":0.9})")
                    .ok());
    EXPECT_TRUE(session_.add(entry("b", "second")).ok());
    EXPECT_TRUE(session_.add(entry("gone")).ok());
    EXPECT_TRUE(session_.remove("gone").ok());
  }
  TempDirectory directory_;
  Store store_{GetParam() ? "memory:" : directory_.path()};
  Session session_{store_, R"({"session_id":"s"})"};
};
INSTANTIATE_TEST_SUITE_P(, Maintenance, testing::Bool(), [](const auto& instance) {
  return instance.param ? "Memory" : "Directory";
});

TEST_P(Maintenance, VerifyFindsNothingWrong) {
  const json::object report = session_.verify().object();
  EXPECT_EQ(missing_members(report, {"ok", "entries", "deleted", "damaged", "problems",
                                     "problems_total", "checked_bytes", "last_seq"}),
            std::vector<std::string>());
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("entries"), 2);
  EXPECT_EQ(report.at("deleted"), 1);
  EXPECT_EQ(report.at("damaged"), 0);
  EXPECT_TRUE(report.at("problems").as_array().empty());
  EXPECT_EQ(report.at("last_seq"), 3);
  EXPECT_GT(report.at("checked_bytes").as_int64(), 0);
}

TEST_P(Maintenance, VerifyNotesReferencesThatLeadNowhere) {
  ASSERT_TRUE(
      session_.add(R"({"id":"r","type":"finding","content":1,"references":["a","gone","none"]})")
          .ok());
  for (const char* options : {"", "{}", R"({"deep":false})", R"({"deep":true})"}) {
    const json::object report = session_.verify(options).object();
    EXPECT_EQ(report.at("ok"), true) << options;
    EXPECT_EQ(report.at("notes_total"), 2) << options;
    const json::array& notes = report.at("notes").as_array();
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(missing_members(notes[0].as_object(), {"file", "offset", "id", "target", "reason"}),
              std::vector<std::string>());
    EXPECT_EQ(notes[0].at("target"), "gone");
    EXPECT_EQ(notes[1].at("target"), "none");
  }
}

TEST_P(Maintenance, RepairChangesNothingThatIsWhole) {
  const std::string before = session_.export_text("jsonl").text;
  const json::object report = session_.repair().object();
  EXPECT_EQ(missing_members(report, {"entries", "quarantined", "missing", "bytes_before",
                                     "bytes_after", "changed"}),
            std::vector<std::string>());
  EXPECT_EQ(report.at("changed"), false);
  EXPECT_EQ(report.at("quarantined"), 0);
  EXPECT_EQ(report.at("bytes_before"), report.at("bytes_after"));
  EXPECT_EQ(session_.export_text("jsonl").text, before);
}

TEST_P(Maintenance, RebuildReadsTheLogAgain) {
  const json::object report = session_.rebuild_index().object();
  EXPECT_EQ(report.at("entries"), 2);
  EXPECT_TRUE(report.at("duration_ms").is_number());
  EXPECT_TRUE(session_.get("a").ok());
  EXPECT_EQ(session_.get("gone").outcome.status, VARVE_NOT_FOUND);
}

TEST_P(Maintenance, IndexIsReadable) {
  const Answer answer = session_.index();
  const json::object index = answer.object();
  EXPECT_NE(answer.text.find("\n  "), std::string::npos);  // indented
  EXPECT_EQ(missing_members(index, {"version", "last_updated", "entries", "tags", "types"}),
            std::vector<std::string>());
  const json::object& a = index.at("entries").at("a").as_object();
  EXPECT_EQ(
      missing_members(a, {"line_number", "byte_offset", "type", "timestamp", "tags", "importance"}),
      std::vector<std::string>());
  EXPECT_EQ(a.at("byte_offset"), 0);
  EXPECT_EQ(index.at("tags").at("drinks"), json::parse(R"(["a"])"));
  EXPECT_EQ(index.at("types").at("finding"), json::parse(R"(["a","b"])"));
}

TEST_P(Maintenance, ExportsJsonLines) {
  EXPECT_EQ(session_.export_text("jsonl").text,
            session_.get("a").text + "\n" + session_.get("b").text + "\n");
}

TEST_P(Maintenance, ExportsJson) {
  const json::object document = session_.export_text("json").object();
  EXPECT_EQ(document.at("session").at("session_id").as_string(), "s");
  const json::array& entries = document.at("entries").as_array();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0], json::parse(session_.get("a").text));
}

TEST_P(Maintenance, ExportsMarkdown) {
  const std::string text = session_.export_text("markdown").text;
  EXPECT_NE(text.find("tea"), std::string::npos);
  EXPECT_EQ(text.substr(0, 1), "#");
}

TEST_P(Maintenance, ExportKnowsThreeFormats) {
  for (const char* format : {"", "xml", "JSON", "jsonl "}) {
    const Outcome outcome = session_.export_text(format).outcome;
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << format;
    EXPECT_NE(outcome.message.find("markdown"), std::string::npos) << outcome;  // says what is
  }
}

TEST_P(Maintenance, ImportsWhatWasExported) {
  const std::string lines = session_.export_text("jsonl").text;
  const Session copy(store_, R"({"session_id":"copy"})");
  const json::object first = copy.import_lines(lines).object();
  EXPECT_EQ(first.at("added"), 2);
  EXPECT_EQ(first.at("existing"), 0);
  EXPECT_TRUE(first.at("refused").as_array().empty());
  EXPECT_EQ(first.at("refused_total"), 0);
  const json::object again = copy.import_lines(lines).object();
  EXPECT_EQ(again.at("added"), 0);
  EXPECT_EQ(again.at("existing"), 2);
  EXPECT_EQ(copy.get("a").object().at("session_id").as_string(), "copy");
  EXPECT_EQ(copy.verify().object().at("ok"), true);
}

TEST_P(Maintenance, ImportTakesTheGoodAndTellsOfTheBad) {
  std::string forged = session_.get("a").text;
  forged.replace(forged.find("tea"), 3, "gin");
  const Session copy(store_);
  const json::object report =
      copy.import_lines(entry("x") + "\r\n\r\nno json\n" + forged + "\n" + entry("y")).object();
  EXPECT_EQ(report.at("added"), 2);
  EXPECT_EQ(report.at("refused_total"), 2);
  ASSERT_EQ(report.at("refused").as_array().size(), 2U);
  EXPECT_EQ(report.at("refused").at(0).at("line"), 3);
  EXPECT_EQ(report.at("refused").at(1).at("line"), 4);
  EXPECT_NE(std::string(report.at("refused").at(1).at("reason").as_string()).find("checksum"),
            std::string::npos);
}

TEST_P(Maintenance, NamesTheOptionThatIsWrong) {
  const auto expect_named = [](const Outcome& outcome, std::string_view member) {
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << outcome;
    EXPECT_EQ(outcome.detail("member"), member);
  };
  expect_named(session_.verify(R"({"dry_run":true})").outcome, "dry_run");
  expect_named(session_.rebuild_index(R"({"fast":1})").outcome, "fast");
  expect_named(session_.repair(R"({"dry_run":1})").outcome, "dry_run");
  expect_named(session_.repair(R"({"dryrun":true})").outcome, "dryrun");
  expect_named(session_.verify(R"({"deep":1})").outcome, "deep");
  expect_named(session_.verify(R"({"accept_edits":true})").outcome, "accept_edits");
  expect_named(session_.repair(R"({"deep":true})").outcome, "deep");
  expect_named(session_.repair(R"({"accept_edits":"yes"})").outcome, "accept_edits");
  expect_named(session_.rebuild_index(R"({"deep":true})").outcome, "deep");
  for (const char* options : {"[]", "{", "true"}) {
    EXPECT_EQ(session_.verify(options).outcome.status, VARVE_INVALID_ARGUMENT) << options;
    EXPECT_EQ(session_.repair(options).outcome.status, VARVE_INVALID_ARGUMENT) << options;
    EXPECT_EQ(session_.rebuild_index(options).outcome.status, VARVE_INVALID_ARGUMENT) << options;
  }
  EXPECT_TRUE(session_.verify("{}").ok());
  EXPECT_TRUE(session_.repair("{}").ok());
  EXPECT_TRUE(session_.rebuild_index("{}").ok());
}

// It would drop what is alive from a call that says it drops only what is not.
TEST_P(Maintenance, APurgeEvictsNothing) {
  constexpr std::string_view kOptions = R"({"evict_below":2})";
  const Answer refused = answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_purge(session_.get(), kOptions.data(), kOptions.size(), text, len, error);
  });
  EXPECT_EQ(refused.outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.outcome.detail("member"), "evict_below");
  EXPECT_EQ(session_.count().count, 2u);
}

TEST_P(Maintenance, OfWhatIsRelevantToTheLastNothingMayBeLeft) {
  const auto compacted = [&](std::string_view options) {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_session_compact(session_.get(), options.data(), options.size(), text, len,
                                   error);
    });
  };
  const Answer above = compacted(R"({"evict_below":2.1,"dry_run":true})");
  EXPECT_EQ(above.outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(above.outcome.detail("member"), "evict_below");
  EXPECT_TRUE(compacted(R"({"evict_below":2,"dry_run":true})").ok());
}

// A session whose middle line is damaged on disk.
class DamagedSession : public testing::Test {
 protected:
  DamagedSession() {
    {
      const Store store(directory_.path());
      const Session session(store, R"({"session_id":"s"})");
      EXPECT_TRUE(session.add_batch(entry("a") + "\n" + entry("b", "to damage")).ok());
      EXPECT_TRUE(session.add(entry("c")).ok());
    }
    std::string bytes = read_file(path_);
    offset_ = bytes.find('\n') + 1;
    length_ = bytes.find('\n', offset_) + 1 - offset_;
    bytes[bytes.find("to damage")] = 'T';
    write_file(path_, bytes);
  }
  TempDirectory directory_;
  std::string path_ = directory_.path() + "/sessions/s/memory.jsonl";
  size_t offset_ = 0;
  size_t length_ = 0;
};

TEST_F(DamagedSession, VerifyTellsWhere) {
  const Store store(directory_.path());
  const Session session = Session::open(store, "s");
  const json::object report = session.verify().object();
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("damaged"), 1);
  bool is_told = false;
  for (const auto& item : report.at("problems").as_array()) {
    const json::object& problem = item.as_object();
    EXPECT_EQ(missing_members(problem, {"file", "offset", "length", "reason"}),
              std::vector<std::string>());
    EXPECT_EQ(problem.at("file").as_string(), "memory.jsonl");
    is_told = is_told || (problem.at("offset") == offset_ && problem.at("length") == length_);
  }
  EXPECT_TRUE(is_told) << json::serialize(report);
}

TEST_F(DamagedSession, RepairMovesTheLineOut) {
  const Store store(directory_.path());
  const Session session = Session::open(store, "s");
  const std::string before = read_file(path_);
  const json::object dry = session.repair(R"({"dry_run":true})").object();
  EXPECT_EQ(dry.at("quarantined"), 1);
  EXPECT_EQ(dry.at("changed"), false);
  EXPECT_EQ(read_file(path_), before);
  const json::object report = session.repair().object();
  EXPECT_EQ(report.at("quarantined"), 1);
  EXPECT_EQ(report.at("changed"), true);
  EXPECT_EQ(session.verify().object().at("ok"), true);
  EXPECT_TRUE(session.get("a").ok());
  EXPECT_TRUE(session.get("c").ok());
  const std::string quarantine = read_file(directory_.path() + "/sessions/s/quarantine.jsonl");
  EXPECT_NE(quarantine.find("\"offset\":" + std::to_string(offset_)), std::string::npos)
      << quarantine;
}

TEST_F(DamagedSession, OneBadLineFailsOneEntryOnly) {
  const Store store(directory_.path());
  const Session session = Session::open(store, "s");
  EXPECT_TRUE(session.get("a").ok());
  EXPECT_TRUE(session.get("c").ok());
  EXPECT_FALSE(session.get("b").ok());
  EXPECT_EQ(session.stats().object().at("corruption").at("skipped"), 1);
}

TEST_F(DamagedSession, AnEditIsAcceptedWhenThatIsAskedFor) {
  const Store store(directory_.path());
  const Session session = Session::open(store, "s");
  EXPECT_EQ(session.repair(R"({"accept_edits":true,"dry_run":true})").object().at("resealed"), 1);
  const json::object report = session.repair(R"({"accept_edits":true})").object();
  EXPECT_EQ(report.at("resealed"), 1);
  EXPECT_EQ(report.at("quarantined"), 0);
  EXPECT_EQ(report.at("changed"), true);
  EXPECT_EQ(session.get("b").object().at("content"), "To damage");
  EXPECT_EQ(session.get("b").object().at("seq"), 2);
  EXPECT_EQ(session.verify(R"({"deep":true})").object().at("ok"), true);
}

TEST_F(DamagedSession, StrictRecoveryRefusesItAndSaysWhere) {
  const std::string before = read_file(path_);
  {
    const Store store(directory_.path(), R"({"integrity":{"recovery":"strict"}})");
    const Outcome refused = store.try_open_session("s");
    EXPECT_EQ(refused.status, VARVE_CORRUPTION) << refused;
    EXPECT_EQ(refused.detail("path"), path_);
    EXPECT_EQ(refused.detail("offset"), std::to_string(offset_));
    EXPECT_EQ(refused.detail("line"), "2");
  }
  EXPECT_EQ(read_file(path_), before);
  for (const char* recovery : {"tail", "salvage"}) {
    const Store store(directory_.path(),
                      R"({"integrity":{"recovery":")" + std::string(recovery) + "\"}}");
    EXPECT_TRUE(store.try_open_session("s").ok()) << recovery;
  }
}

}  // namespace
}  // namespace varve_test
