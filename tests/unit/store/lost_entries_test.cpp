// Backup and restore of sessions whose log has lost entries.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "backup_rig.h"
#include "session/upkeep/compaction.h"

namespace varve::store {
namespace {

constexpr std::string_view kAtTheEnd =
    "entries that were durable are missing at the end of its log";
constexpr std::string_view kInTheMiddle = "1 entry is missing in the middle of its log";
constexpr std::string_view kNothing =
    "no entry of it can be read any more, so its copy stays as it was: restore it from the copy, "
    "or accept the loss by a repair";
const std::string kLog = "store/sessions/notes/memory.jsonl";

class LostEntries : public BackupFixture {
 protected:
  // A store whose session has a, b and c, and a copy of it.
  void SetUp() override {
    store_ = open("store");
    auto notes = create(*store_, "notes");
    add(*notes, {"a", "b", "c"});
    notes->close();
    notes.reset();
    backed_up(*store_);
  }
  static void expect_problem(const json::Tree& report, std::string_view reason, bool copied) {
    const auto& problems = report.get("problems")->items();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].get_string("reason"), reason);
    EXPECT_EQ(problems[0].get_bool("copied"), copied);
  }
  void cut(const std::string& path) {
    const std::string log = file(path);
    disk_.write_file(path, log.substr(0, log.find('\n') + 1));
  }
  // Where the line of this number begins, from 0.
  static size_t begin_of(const std::string& log, int number) {
    size_t begin = 0;
    for (int i = 0; i < number; ++i) begin = log.find('\n', begin) + 1;
    return begin;
  }
  void take_out(const std::string& path, int number) {
    std::string log = file(path);
    const size_t begin = begin_of(log, number);
    disk_.write_file(path, log.erase(begin, begin_of(log, number + 1) - begin));
  }

  std::shared_ptr<Store> store_;
};

TEST_F(LostEntries, AtTheEndAreToldByABackup) {
  cut(kLog);
  expect_problem(backed_up(*store_), kAtTheEnd, true);
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
}

TEST_F(LostEntries, AtTheEndAreToldByARestore) {
  cut("copy/sessions/notes/memory.jsonl");
  const auto other = open("other");
  expect_problem(restored(*other), kAtTheEnd, true);
  EXPECT_EQ(alive(*other, "notes"), Texts{"a"});
}

TEST_F(LostEntries, InTheMiddleAreToldByABackup) {
  take_out(kLog, 1);
  expect_problem(backed_up(*store_), kInTheMiddle, true);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "c"}));
}

TEST_F(LostEntries, InTheMiddleAreToldByARestore) {
  take_out("copy/sessions/notes/memory.jsonl", 1);
  const auto other = open("other");
  expect_problem(restored(*other), kInTheMiddle, true);
  EXPECT_EQ(alive(*other, "notes"), (Texts{"a", "c"}));
}

TEST_F(LostEntries, InTheMiddleOfACopyTheWholeSessionStays) {
  take_out("copy/sessions/notes/memory.jsonl", 1);
  EXPECT_EQ(store_->restore("copy", R"({"overwrite":true})").code(), Code::kCorruption);
  EXPECT_EQ(alive(*store_, "notes"), (Texts{"a", "b", "c"}));
}

// The copy is extended then, and only what was added is read at first.
TEST_F(LostEntries, OfThoseAddedSinceAreTold) {
  add(**store_->open_session("notes"), {"d", "e", "f"});
  const std::string whole = file(kLog);
  disk_.write_file(kLog, whole.substr(0, begin_of(whole, 3)));
  expect_problem(backed_up(*store_), kAtTheEnd, true);
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());  // nothing more
}

TEST_F(LostEntries, OfThoseAddedSinceTheFirstIsTold) {
  add(**store_->open_session("notes"), {"d", "e", "f"});
  take_out(kLog, 3);
  const json::Tree report = backed_up(*store_);
  expect_problem(report, kInTheMiddle, true);
  EXPECT_EQ(report.get_int64("appended"), 1);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c", "e", "f"}));
}

TEST_F(LostEntries, OfThoseAddedSinceOneInBetweenIsTold) {
  add(**store_->open_session("notes"), {"d", "e", "f"});
  take_out(kLog, 4);
  expect_problem(backed_up(*store_), kInTheMiddle, true);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c", "d", "f"}));
}

TEST_F(LostEntries, GapsThatAreLegalAreNoProblem) {
  const auto notes = *store_->open_session("notes");
  ASSERT_TRUE(notes->remove_where(R"({"ids":["b"]})", "").ok());
  ASSERT_TRUE(notes->compact({.cause = session::CompactionCause::kPurge}).ok());
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
  add(*notes, {"d"});
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
  EXPECT_TRUE(restored(*store_, R"({"overwrite":true})").get("problems")->items().empty());
}

TEST_F(LostEntries, ASessionThatHasLostAllDoesNotReplaceItsCopy) {
  const std::string whole = file(kLog);
  const auto lose = {std::string(), std::string(whole.size(), '\0'), std::string("garbage\n")};
  for (const std::string& left : lose) {
    SCOPED_TRACE(left.substr(0, 1));
    disk_.write_file(kLog, left);
    const json::Tree report = backed_up(*store_);
    expect_problem(report, kNothing, false);
    EXPECT_EQ(report.get_int64("copied"), 0);
    EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c"}));
  }
  restored(*store_, R"({"overwrite":true})");
  EXPECT_EQ(alive(*store_, "notes"), (Texts{"a", "b", "c"}));
}

TEST_F(LostEntries, NorWithoutItsMetadata) {
  disk_.write_file(kLog, "");
  disk_.write_file("store/sessions/notes/metadata.json", "damaged");
  disk_.write_file(kLog, "garbage\n");
  expect_problem(backed_up(*store_), kNothing, false);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c"}));
}

TEST_F(LostEntries, WhatIsGoneOnPurposeLeavesTheCopy) {
  {
    const auto notes = *store_->open_session("notes");
    ASSERT_TRUE(notes->remove_where("{}", "").ok());
    ASSERT_TRUE(notes->compact({.cause = session::CompactionCause::kPurge}).ok());
  }
  disk_.write_file(kLog, R"({"half of a first )");
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
  EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), "");
}

TEST_F(LostEntries, ARepairAcceptsTheLoss) {
  disk_.write_file(kLog, "");
  expect_problem(backed_up(*store_), kNothing, false);
  const auto notes = *store_->open_session("notes");
  ASSERT_TRUE(notes->repair(false).ok());
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
  EXPECT_EQ(alive("copy", "notes"), Texts{});
}

TEST_F(LostEntries, OfAnotherSessionOfTheSameIdNothingStays) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  clock_.advance_ms(1000);
  create(*store_, "notes");
  disk_.write_file(kLog, "garbage\n{}\n");
  EXPECT_EQ(backed_up(*store_).get_int64("copied"), 1);
  EXPECT_EQ(alive("copy", "notes"), Texts{});
}

// Of deletions that are missing: what they deleted must not come back in the copy as well.
class LostDeletions : public LostEntries {
 protected:
  void SetUp() override {
    LostEntries::SetUp();
    const auto notes = *store_->open_session("notes");
    ASSERT_TRUE(notes->remove("a", "").ok());
    ASSERT_TRUE(notes->remove("b", "").ok());
    notes->close();
  }
};

const std::string kDead = "store/sessions/notes/tombstones.jsonl";

TEST_F(LostDeletions, ThatTheCopyHasLeaveItAsItWas) {
  backed_up(*store_);
  const std::string whole = file(kDead);
  disk_.write_file(kDead, whole.substr(0, whole.find('\n') + 1));
  expect_problem(backed_up(*store_),
                 "deletions of it are missing that its copy has, so the copy stays as it was: put "
                 "its tombstones.jsonl back from the copy, or accept the loss by a repair",
                 false);
  EXPECT_EQ(alive("copy", "notes"), Texts{"c"});
  disk_.write_file(kDead, file("copy/sessions/notes/tombstones.jsonl"));
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
}

// Others that were made since are as many, and do not stand for them.
TEST_F(LostDeletions, ThatTheCopyHasLeaveItAsItWasWhateverElseWasDeleted) {
  backed_up(*store_);
  const std::string whole = file(kDead);
  disk_.write_file(kDead, whole.substr(0, whole.find('\n') + 1));
  ASSERT_TRUE((*store_->open_session("notes"))->remove("c", "").ok());
  EXPECT_FALSE(backed_up(*store_).get("problems")->items().empty());
  EXPECT_EQ(alive("copy", "notes"), Texts{"c"});
  ASSERT_TRUE((*store_->open_session("notes"))->remove("b", "").ok());  // deleted again
  backed_up(*store_);
  EXPECT_EQ(alive("copy", "notes"), Texts{});
}

// It may be the only one that has what the session lost.
TEST_F(LostDeletions, ACopyThatCannotBeReadJustNowIsNotReplaced) {
  backed_up(*store_);
  const std::string copy = "copy/sessions/notes/";
  const std::string log = file(copy + "memory.jsonl");
  const std::string dead = file(copy + "tombstones.jsonl");
  for (const std::string& lost : {kDead, kLog}) {
    const std::string whole = file(lost);
    disk_.write_file(lost, "");
    bool has_failed = true;
    int moment = 0;
    for (; has_failed && !HasFailure(); ++moment) {
      SCOPED_TRACE(lost + ", moment " + std::to_string(moment));
      has_failed = false;
      int left = moment;
      disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        const bool is_reading = operation.kind == io::OperationKind::kOpen ||
                                operation.kind == io::OperationKind::kRead;
        const bool is_of_copy = operation.path.find(copy) != std::string::npos;
        if (has_failed || !is_reading || !is_of_copy || left-- != 0) return std::nullopt;
        has_failed = true;
        return io::Fault{EIO, std::nullopt};
      });
      (void)store_->back_up("copy", "").ok();
      disk_.set_fault_hook({});
      EXPECT_EQ(file(copy + "memory.jsonl"), log);
      EXPECT_EQ(file(copy + "tombstones.jsonl"), dead);
    }
    EXPECT_GT(moment, 5) << "hardly any reads";
    disk_.write_file(lost, whole);
  }
}

TEST_F(LostDeletions, ThatARepairAcceptedAreGoneFromTheCopy) {
  backed_up(*store_);
  disk_.write_file(kDead, "");
  ASSERT_TRUE((*store_->open_session("notes"))->repair(false).ok());
  EXPECT_TRUE(backed_up(*store_).get("problems")->items().empty());
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c"}));
}

TEST_F(LostDeletions, ThatNoCopyHasAreTold) {
  disk_.write_file(kDead, "");
  expect_problem(backed_up(*store_), "2 deletions are missing, and what they deleted may be back",
                 true);
  const auto other = open("other");
  expect_problem(restored(*other), "2 deletions are missing, and what they deleted may be back",
                 true);
  EXPECT_FALSE((*other->open_session("notes"))->verify()->get_bool("ok"));
}

TEST_F(LostDeletions, OfACopyItDoesNotReplaceTheSession) {
  backed_up(*store_);
  disk_.write_file("copy/sessions/notes/tombstones.jsonl", "");
  EXPECT_EQ(store_->restore("copy", R"({"overwrite":true})").code(), Code::kCorruption);
  EXPECT_EQ(alive(*store_, "notes"), Texts{"c"});
}

}  // namespace
}  // namespace varve::store
