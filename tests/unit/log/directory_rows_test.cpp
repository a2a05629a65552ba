// The list of sessions: its pages, what it is made from anew, and a store without it.
#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "directories.h"

namespace varve::log {
namespace {

TEST_F(Directories, ATornRowHidesNoSession) {
  create("s1");
  create("s2");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const size_t second = rows.find('\n') + 1;
  for (size_t cut = second; cut < rows.size(); ++cut) {
    disk_.write_file("store/indices/sessions.jsonl", rows.substr(0, cut));
    const std::string id = "after" + std::to_string(cut);
    create(id);
    const auto ids = listed();
    const auto is_listed = [&](const std::string& one) {
      return std::count(ids.begin(), ids.end(), one) == 1;
    };
    EXPECT_TRUE(is_listed(id)) << cut;
    EXPECT_TRUE(is_listed("s1")) << cut;
    EXPECT_TRUE(cut == second || is_listed("s2")) << cut;
  }
}

TEST_F(Directories, DamagedAndForeignRowsArePassedOver) {
  create("s1");
  const std::string row = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file(
      "store/indices/sessions.jsonl",
      "\n" + row + std::string(300, '\0') + "\nnot json\n{}\n[]\n\n" + "{\"session_id\":7}\n");
  create("s2");
  EXPECT_EQ(listed(), (std::vector<std::string>{"s2", "s1"}));
  for (size_t limit = 1; limit <= 3; ++limit) {
    const auto page = engine_->list("", limit);
    EXPECT_EQ(page->rows.size(), std::min<size_t>(limit, 2));
  }
}

TEST_F(Directories, RowsAcrossBlocksAreReadBackwards) {
  std::vector<std::string> expected;
  std::string rows;
  for (int i = 0; i < 2000; ++i) {
    const std::string id = "s" + std::to_string(i);
    rows += R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z","session_id":")" + id +
            R"(","user_id":")" + std::string(static_cast<size_t>(i * 7 % 90), 'u') + "\"}\n";
    expected.insert(expected.begin(), id);
  }
  disk_.write_file("store/indices/sessions.jsonl", rows);
  for (const size_t limit : {1u, 97u, 5000u}) {
    std::vector<std::string> ids;
    std::string after;
    for (bool done = false; !done;) {
      const auto page = engine_->list(after, limit);
      ASSERT_TRUE(page.ok());
      for (const auto& row : page->rows) ids.push_back(row.session_id);
      done = page->at_end;
      if (!done) after = page->cursors.back();
    }
    EXPECT_TRUE(ids == expected) << limit;
  }
}

TEST_F(Directories, APageReadsThePageOnly) {
  std::string rows;
  for (int i = 0; i < 20'000; ++i) {
    rows += R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z","session_id":"s)" +
            std::to_string(i) + "\",\"user_id\":\"\"}\n";
  }
  disk_.write_file("store/indices/sessions.jsonl", rows);
  disk_.clear_trace();
  ASSERT_EQ(engine_->list("", 100)->rows.size(), 100u);
  EXPECT_LT(disk_.trace().size(), 10u) << "operations for one page of 100 rows of 20,000";
}

TEST_F(Directories, ACursorOfARebuiltRegistryIsRefused) {
  for (int i = 0; i < 4; ++i) create("s" + std::to_string(i));
  const auto page = engine_->list("", 2);
  ASSERT_TRUE(engine_->rescan().ok());
  const auto next = engine_->list(page->cursors.back(), 2);
  EXPECT_EQ(next.code(), Code::kInvalidArgument);
  EXPECT_EQ(next.status().place().member, "after");
}

TEST_F(Directories, RescanFindsWhatWasCopiedInAndForgetsWhatIsGone) {
  create("s1", "first");
  create("s2");
  ASSERT_TRUE(engine_->drop("s2", {}).ok());
  disk_.write_file("store/sessions/copied/metadata.json",
                   metadata_of("copied", "someone", "2020-01-01T00:00:00Z"));
  disk_.write_file("store/sessions/copied/memory.jsonl", "");
  disk_.write_file("store/sessions/bad id/metadata.json", "{}");
  disk_.write_file("store/sessions/a file", "");
  disk_.write_file("store/sessions/damaged/metadata.json", "{\"user");
  ASSERT_TRUE(engine_->rescan().ok());
  EXPECT_EQ(listed(), (std::vector<std::string>{"s1", "copied", "damaged"}));
  const auto page = engine_->list("", 10);
  EXPECT_EQ(page->rows[0].user_id, "first");
  EXPECT_EQ(page->rows[1].user_id, "someone");
}

TEST_F(Directories, RescanKeepsTheRowOfASessionWhoseMetadataIsLost) {
  create("damaged", "before");
  ASSERT_TRUE(engine_->drop("damaged", {}).ok());
  clock_.advance_ms(1);
  const int64_t made_at_ms = clock_.now_ms();
  for (const auto* id : {"damaged", "missing", "whole"}) create(id, std::string("user of ") + id);
  disk_.write_file("store/sessions/damaged/metadata.json", "{\"user");
  ASSERT_TRUE((*disk_.open_root("store/sessions/missing", false))->remove("metadata.json").ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(engine_->rescan().ok());
    const auto page = engine_->list("", 10);
    ASSERT_EQ(page->rows.size(), 3u);
    for (const SessionRow& row : page->rows) {
      EXPECT_EQ(row.user_id, "user of " + row.session_id);
      if (row.session_id == "whole") continue;  // the list says what its metadata say
      EXPECT_EQ(row.agent_id, "a");
      EXPECT_EQ(row.created_at_ms, made_at_ms);
    }
  }
}

TEST_F(Directories, ALostRegistryIsMadeAnew) {
  create("s1");
  create("s2");
  auto indices = *(*disk_.open_root("store", false))->open_directory("indices");
  ASSERT_TRUE(indices->remove("sessions.jsonl").ok());
  EXPECT_EQ(listed().size(), 2u);
  ASSERT_TRUE(indices->remove("sessions.jsonl").ok());
  create("s3");
  EXPECT_EQ(listed().size(), 3u) << "creating first lost the older ones";
}

TEST_F(Directories, ARegistryOfWhichNoRowIsLeftIsMadeAnew) {
  create("s1");
  create("s2");
  for (const std::string& damaged :
       {std::string(), std::string(9000, '\0'), std::string("x\n{}\n")}) {
    disk_.write_file("store/indices/sessions.jsonl", damaged);
    EXPECT_EQ(listed().size(), 2u);
    disk_.write_file("store/indices/sessions.jsonl", damaged);
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    EXPECT_EQ(listed().size(), 2u);
  }
  disk_.write_file("store/indices/sessions.jsonl", "");
  create("s3");
  EXPECT_EQ(listed().size(), 3u) << "creating first lost the older ones";
}

TEST_F(Directories, ALineOfTheListThatCannotBeReadHidesNoSession) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const size_t second = rows.find('\n') + 1;
  const size_t third = rows.find('\n', second) + 1;
  for (const std::string& damaged : {std::string("garbage\n"), std::string(99, '\0') + "\n"}) {
    const std::string text = rows.substr(0, second) + damaged + rows.substr(third);
    disk_.write_file("store/indices/sessions.jsonl", text);
    EXPECT_EQ(listed(), (std::vector<std::string>{"s3", "s2", "s1"}));
    const std::string mended = *disk_.read_file("store/indices/sessions.jsonl");
    EXPECT_EQ(mended.find(damaged), std::string::npos);
    disk_.write_file("store/indices/sessions.jsonl", text);
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    EXPECT_EQ(*disk_.read_file("store/indices/sessions.jsonl"), mended)
        << "or it is hidden for good";
  }
  const std::string torn = rows + "{\"agent_id\":";
  disk_.write_file("store/indices/sessions.jsonl", torn);
  EXPECT_EQ(listed().size(), 3u);
  EXPECT_EQ(*disk_.read_file("store/indices/sessions.jsonl"), torn) << "somebody appends a row";
}

// The row of a session is written before the session has its name, so whoever was killed in between
// left a newer row of that id.
TEST_F(Directories, OfSeveralRowsTheOneThatTheMetadataFitsStays) {
  create("s", "owner");
  clock_.advance_ms(1);
  create("t");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const std::string killed =
      R"({"agent_id":"","created_at":"2020-01-01T00:00:00.000Z","session_id":"s","user_id":"no"})";
  for (const bool has_metadata : {true, false}) {
    disk_.write_file("store/indices/sessions.jsonl", rows + killed + "\n" + killed + "\n");
    if (!has_metadata) disk_.write_file("store/sessions/s/metadata.json", "damaged");
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    const auto page = engine_->list("", 10);
    ASSERT_EQ(page->rows.size(), 2u);
    const SessionRow& of_s = page->rows[has_metadata ? 1 : 0];
    EXPECT_EQ(of_s.session_id, "s");
    EXPECT_EQ(of_s.user_id, has_metadata ? "owner" : "no") << "else the newest";
  }
}

TEST_F(Directories, OfSeveralRowsThatTheMetadataFitsTheNewestStays) {
  create("s");
  const std::string row = *disk_.read_file("store/indices/sessions.jsonl");
  create("t");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file("store/indices/sessions.jsonl", rows + row + row);
  uint64_t read_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    if (is_open && operation.name == "metadata.json") read_count += 1;
    return std::nullopt;
  });
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(listed(), (std::vector<std::string>{"s", "t"})) << "the latest first";
  EXPECT_EQ(read_count, 1U) << "however often the id was used";
}

// The row that is taken for the valid one could be a killed restore's, for good.
TEST_F(Directories, OfSeveralRowsAllStayWhereTheMetadataCannotBeRead) {
  create("s");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file("store/indices/sessions.jsonl", rows + rows);
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {io::OperationKind::kOpen}).on_file("metadata.json"));
  EXPECT_EQ(engine_->remove_dead_rows().code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(disk_.read_file("store/indices/sessions.jsonl"), rows + rows);
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(disk_.read_file("store/indices/sessions.jsonl"), rows);
}

TEST_F(Directories, WithoutAListTheDeadRowsOfItHideNobody) {
  create("s");
  create("t");
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed().size(), 2u);
}

TEST_F(Directories, ASessionWithoutARowGetsNone) {
  create("s");
  disk_.write_file("store/sessions/copied/metadata.json",
                   metadata_of("copied", "someone", "2020-01-01T00:00:00Z"));
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed(), (std::vector<std::string>{"s"})) << "that is what a rescan is for";
}

TEST_F(Directories, WithoutPermissionToWriteSessionsAreListedWithoutTheirList) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  const std::string list = "store/indices/sessions.jsonl";
  const std::string rows = disk_.read_file(list).value();
  const std::vector<std::string> newest_first = {"s3", "s2", "s1"};
  for (const std::string& text :
       {std::string("removed"), std::string(), std::string("damaged\n")}) {
    disk_.set_read_only(false);
    disk_.write_file(list, text);
    if (text == "removed") {
      ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
    }
    disk_.set_read_only(true);
    engine_ = open();
    ASSERT_NE(engine_, nullptr);
    EXPECT_EQ(listed(), newest_first) << text;
    std::string after;
    std::vector<std::string> by_page;
    for (bool at_end = false; !at_end;) {
      const auto page = engine_->list(after, 1);
      ASSERT_TRUE(page.ok()) << page.status().message();
      ASSERT_EQ(page->rows.size(), 1u);
      EXPECT_EQ(page->rows[0].user_id, "u");
      by_page.push_back(page->rows[0].session_id);
      after = page->cursors[0];
      at_end = page->at_end;
    }
    EXPECT_EQ(by_page, newest_first) << text;
  }
  disk_.set_read_only(false);
  disk_.write_file(list, rows);
  EXPECT_EQ(engine_->list("collected:0:s2", 1).code(), Code::kInvalidArgument) << "of no list";
}

// Each page of a long list took a read for each session.
TEST_F(Directories, WithoutPermissionToWriteAllPagesAreOfRowsCollectedOnce) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  disk_.set_read_only(true);
  engine_ = open();
  ASSERT_NE(engine_, nullptr);
  size_t read_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    if (is_open && operation.name == "metadata.json") read_count += 1;
    return std::nullopt;
  });
  std::string after;
  for (const size_t read_at_most : {3u, 3u, 3u, 6u}) {  // the fourth is a first page again
    const auto page = engine_->list(after, 1);
    ASSERT_TRUE(page.ok()) << page.status().message();
    ASSERT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(read_count, read_at_most);
    after = page->at_end ? std::string() : page->cursors[0];
  }
}

TEST_F(Directories, WithoutPermissionToWriteACursorIsOfAPageThatWasGiven) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  disk_.set_read_only(true);
  engine_ = open();
  ASSERT_NE(engine_, nullptr);
  for (const std::string after : {"0", "collected:", "collected:s2", "collected:5", "collected:5s2",
                                  "collected:99999999999999999999:s2"}) {
    EXPECT_EQ(engine_->list(after, 1).code(), Code::kInvalidArgument) << after;
  }
  const auto first = engine_->list("", 1);
  ASSERT_TRUE(first.ok()) << first.status().message();
  engine_ = open();  // which has collected nothing yet
  const auto rest = engine_->list(first->cursors[0], 9);
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  ASSERT_EQ(rest->rows.size(), 2u);
  EXPECT_EQ(rest->rows[0].session_id, "s2");
  EXPECT_TRUE(engine_->list("", 0)->rows.empty());
}

TEST_F(Directories, APageOfNoRowsAndABlankLineAreNoReasonToMakeTheListAnew) {
  create("s1");
  const std::string list = "store/indices/sessions.jsonl";
  const std::string rows = "\n" + disk_.read_file(list).value() + "\n";
  disk_.write_file(list, rows);
  const auto page = engine_->list("", 1);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->rows.size(), 1u);
  const auto behind = engine_->list(page->cursors[0], 9);
  ASSERT_TRUE(behind.ok()) << behind.status().message();
  EXPECT_TRUE(behind->rows.empty());
  EXPECT_TRUE(engine_->list("", 0)->rows.empty());
  EXPECT_EQ(disk_.read_file(list), rows);
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != "sessions.jsonl") return std::nullopt;
    return io::Fault{EIO, std::nullopt};
  });
  EXPECT_EQ(engine_->list("collected:5:s1", 9).code(), Code::kIo)
      << "which list it is of is unknown";
  disk_.set_fault_hook({});
}

// Whichever operation the disk refuses: nobody may take a part of the sessions for all of them.
// An empty page would hide them.
TEST_F(Directories, SessionsThatCannotBeReadForALostListAreAFailure) {
  create("s1");
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  disk_.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kOpen}).on_file("metadata.json"));
  EXPECT_EQ(engine_->list("", 10).code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(engine_->list("", 10)->rows.size(), 1u);
}

TEST_F(Directories, AListThatCannotBeMadeIsNoShorterOne) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  const std::string list = "store/indices/sessions.jsonl";
  const std::string rows = disk_.read_file(list).value();
  disk_.write_file("store/sessions/s2/metadata.json", "damaged");
  for (const std::string& text : {rows, std::string(), rows + "damaged\n"}) {
    for (const bool is_read_only : {false, true}) {
      size_t operations = 1;
      for (size_t refused = 0; refused < operations; ++refused) {
        disk_.set_read_only(false);
        disk_.write_file(list, text);
        disk_.set_read_only(is_read_only);
        engine_ = open();
        ASSERT_NE(engine_, nullptr);
        operations = 0;
        disk_.set_fault_hook([&](const io::OperationInfo&) -> std::optional<io::Fault> {
          if (operations++ != refused) return std::nullopt;
          return io::Fault{EIO, std::nullopt};
        });
        const auto page = engine_->list("", 10);
        disk_.set_fault_hook({});
        ASSERT_LT(operations, 1000u) << "else this does not end";
        const bool has_all = page.ok() && page->rows.size() == 3;
        EXPECT_TRUE(has_all || page.code() == Code::kIo) << text << refused;
      }
      EXPECT_GT(operations, 1u);
    }
  }
}

TEST_F(Directories, WithoutPermissionToWriteSessionsAreListedWithoutTheFolderOfLists) {
  disk_.write_file("bare/sessions/s/metadata.json",
                   metadata_of("s", "u", "2026-01-10T14:23:45.678Z"));
  disk_.set_read_only(true);
  auto engine = DirectoryEngine::open("bare", {&disk_, &clock_, &random_}, kLockTimeoutMs);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const auto page = (*engine)->list("", 10);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].user_id, "u");
}

}  // namespace
}  // namespace varve::log
