// What becomes of entries over time: expired ones and clocks that are wrong, many references to
// what is gone, sessions that are full.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "base/time.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;

class Lifecycle : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    session_ = disk_.open();
  }
  void add(const std::string& id, const std::string& more = {}) {
    const auto added =
        session_->add(R"({"id":")" + id + R"(","type":"finding","content":"x")" + more + "}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  [[nodiscard]] std::string at(int64_t time_ms) const {
    return R"(,"expires_at":")" + format_rfc3339(time_ms) + "\"";
  }
  std::string ids() {
    std::string found;
    const auto exported = exported_text(*session_, "jsonl");
    EXPECT_TRUE(exported.ok());
    for (const auto line : lines_of(*exported)) {
      found += json::Tree::parse(line.substr(0, line.size() - 1))->get_string("id") + " ";
    }
    return found;
  }
  int64_t compact(std::string_view rule, CompactionCause cause = CompactionCause::kAsked) {
    CompactionOptions options;
    options.cause = cause;
    const auto report = session_->compact(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report->get("dropped")->get_int64(rule, -1) : -1;
  }
  void expect_sound() {
    const auto report = session_->verify();
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

// Of that the others learn when they write, and each of their writes counts from then on.
class LifetimeByAnother : public Lifecycle {
 protected:
  static constexpr int64_t kHourMs = int64_t{3600} * 1000;
  void set_hours(Session& of, int hours) {
    ASSERT_TRUE(of.update(R"({"ttl_hours":)" + std::to_string(hours) + "}").ok());
  }
  bool has_expired() { return *disk_.open(third_.get())->has_expired(); }

  std::unique_ptr<io::SimulatedFileSystem> second_ = disk_.disk.process(4711);
  std::unique_ptr<io::SimulatedFileSystem> third_ = disk_.disk.process(4712);
};

TEST_F(LifetimeByAnother, OneThatIsWrittenToDoesNotExpire) {
  add("before");
  const auto other = disk_.open(second_.get());
  for (const int hours : {100, 1}) {  // at first it had none
    set_hours(*other, hours);
    for (int i = 0; i < 8; ++i) {
      host_.clock.advance_ms(hours * kHourMs / 3);
      add(std::to_string(hours) + "-" + std::to_string(i));
      EXPECT_FALSE(has_expired()) << hours << " " << i;
    }
  }
  host_.clock.advance_ms(2 * kHourMs);
  EXPECT_TRUE(has_expired());
}

TEST_F(LifetimeByAnother, WhatIsAddedWhenItIsOverIsRefused) {
  add("before");
  const auto other = disk_.open(second_.get());
  set_hours(*other, 1);
  host_.clock.advance_ms(2 * kHourMs);
  EXPECT_EQ(session_->add(entry_text("late")).code(), Code::kNotFound);
}

TEST_F(LifetimeByAnother, OneThatItTookAwayEndsNothing) {
  set_hours(*session_, 1);
  const auto other = disk_.open(second_.get());
  set_hours(*other, 0);
  host_.clock.advance_ms(2 * kHourMs);
  add("late");
  EXPECT_FALSE(has_expired());
}

TEST_F(Lifecycle, TenThousandReferencesToWhatIsGone) {
  constexpr int kCount = 10'000;
  std::string batch;
  std::string references;
  for (int i = 0; i < kCount; ++i) {
    const std::string id = "r" + std::to_string(i);
    batch += entry_text(id, "x") + "\n";
    references += (i == 0 ? "\"" : ",\"") + id + "\"";
  }
  ASSERT_TRUE(session_->add_batch(batch).ok());
  ASSERT_EQ(*session_->remove_where(R"({"types":["message"]})", ""), uint64_t{kCount});
  add("all", R"(,"references":[)" + references + "]");
  add("one", R"(,"references":["r7"])");
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(*session_->count(R"({"references":["r9999"]})"), 1U);
    EXPECT_EQ(*session_->count(R"({"references":["r7"]})"), 2U);
    EXPECT_EQ(*session_->count(R"({"references":["r10000"]})"), 0U);
    const auto report = session_->verify(true);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
    EXPECT_EQ(report->get_int64("notes_total"), kCount + 1);
    EXPECT_EQ(report->get("notes")->items().size(), 1000U);
    EXPECT_EQ(ids(), "all one ");
    const auto cause = run == 0 ? CompactionCause::kAsked : CompactionCause::kPurge;
    EXPECT_EQ(compact("deleted", cause), run == 0 ? kCount : 0);
  }
  session_.reset();
  session_ = disk_.open();
  EXPECT_EQ(*session_->count(R"({"references":["r9999"]})"), 1U);
  expect_sound();
}

TEST_F(Lifecycle, AnEntryIsThereUntilTheMomentItExpires) {
  const int64_t now_ms = host_.clock.now_ms();
  add("past", at(now_ms - 1));
  add("now", at(now_ms));
  add("next", at(now_ms + 1));
  EXPECT_EQ(ids(), "next ");
  EXPECT_EQ(session_->get("now").code(), Code::kNotFound);
  EXPECT_EQ(session_->remove("now", "").code(), Code::kNotFound);
  EXPECT_EQ(session_->remove("past", "").code(), Code::kNotFound);
  EXPECT_EQ(*session_->count("{}"), 1U);
  EXPECT_EQ(session_->add(entry_text("past")).code(), Code::kAlreadyExists);
  EXPECT_EQ(compact("expired"), 2);
  EXPECT_EQ(ids(), "next ");
  host_.clock.advance_ms(1);
  EXPECT_EQ(ids(), "");
  EXPECT_EQ(compact("expired"), 1);
  EXPECT_EQ(disk_.bytes("memory.jsonl"), "");
  expect_sound();
}

// By a clock that runs ahead an entry is expired, and comes back when the clock is put right; a
// compaction meanwhile believes the clock, and takes it away for good. Nothing else is lost.
TEST_F(Lifecycle, AClockAYearAheadTakesOnlyWhatExpiresWithinTheYear) {
  const int64_t now_ms = host_.clock.now_ms();
  add("for_ever");
  add("for_a_week", at(now_ms + 7 * kDayMs));
  add("for_two_years", at(now_ms + 730 * kDayMs));
  host_.clock.advance_ms(365 * kDayMs);
  add("of_the_future", at(now_ms + 366 * kDayMs));
  EXPECT_EQ(ids(), "for_ever for_two_years of_the_future ");
  host_.clock.advance_ms(-365 * kDayMs);
  EXPECT_EQ(ids(), "for_ever for_a_week for_two_years of_the_future ") << "nothing was written";
  host_.clock.advance_ms(365 * kDayMs);
  EXPECT_EQ(compact("expired"), 1);
  host_.clock.advance_ms(-365 * kDayMs);
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(ids(), "for_ever for_two_years of_the_future ");
    EXPECT_EQ(session_->get("for_a_week").code(), Code::kNotFound);
    expect_sound();
    session_.reset();
    session_ = disk_.open();
  }
  EXPECT_EQ(compact("expired"), 0);
  add("later");
  EXPECT_EQ(ids(), "for_ever for_two_years of_the_future later ");
}

TEST_F(Lifecycle, EqualTimestampsKeepTheOrderOfTheLog) {
  const std::string same = R"(,"timestamp":"2026-01-01T00:00:00Z")";
  for (const auto id : {"e", "a", "d", "b", "c"}) add(id, same);
  ASSERT_TRUE(session_->remove("d", "").ok());
  const std::string query = R"({"sort_by":"time","limit":10})";
  const auto before = session_->query(query);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(compact("deleted"), 1);
  EXPECT_EQ(ids(), "e a b c ");
  const auto after = session_->query(query);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(before->results.size(), 4U);
  ASSERT_EQ(after->results.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(before->results[i].id(), after->results[i].id());
  expect_sound();
}

TEST_F(Lifecycle, WhatIsNotThereCannotBeDeletedAndLeavesNoTrace) {
  add("a");
  EXPECT_EQ(session_->remove("never", "").code(), Code::kNotFound);
  EXPECT_EQ(disk_.read("tombstones.jsonl").value_or(""), "");
  ASSERT_TRUE(session_->remove("a", "").ok());
  const std::string tombstones = disk_.bytes("tombstones.jsonl");
  EXPECT_EQ(session_->remove("a", "").code(), Code::kNotFound);
  EXPECT_EQ(compact("deleted", CompactionCause::kPurge), 1);
  EXPECT_EQ(session_->remove("a", "").code(), Code::kNotFound);
  EXPECT_EQ(disk_.bytes("tombstones.jsonl"), tombstones);
  EXPECT_TRUE(session_->add(entry_text("never")).ok()) << "it was never used";
}

// --- its end -------------------------------------------------------------------------------------

TEST_F(Lifecycle, AfterASyncACloseHasNothingToSave) {
  add("a");
  ASSERT_TRUE(session_->sync().ok());
  const std::string saved = disk_.bytes("metadata.json");
  EXPECT_EQ(json::Tree::parse(saved)->get_int64("durable_seq"), 1);
  host_.clock.advance_ms(1000);
  session_.reset();
  EXPECT_EQ(disk_.bytes("metadata.json"), saved);
  session_ = disk_.open();
  add("b");
  session_.reset();
  const json::Tree again = *json::Tree::parse(disk_.bytes("metadata.json"));
  EXPECT_EQ(again.get_int64("durable_seq"), 2);
}

class OfAnHour : public Lifecycle {
 protected:
  void SetUp() override {
    host_.context.settings.durability = log::Durability::kOs;
    host_.keep_lines(Level::kWarn, &warnings_);
    CreateOptions options;
    options.members.set("ttl_hours", json::Tree::integer(1));
    disk_.make(options);
    session_ = disk_.open();
    add("a");
    host_.clock.advance_ms(int64_t{2} * 3600 * 1000);
    ASSERT_TRUE(*session_->has_expired());
  }

  std::vector<std::string> warnings_;
};

TEST_F(OfAnHour, WhatWasAnsweredBeforeItsEndBecomesDurableBehindIt) {
  const std::string log = disk_.bytes("memory.jsonl");
  ASSERT_NE(disk_.disk.crash()->read_file(path_of("memory.jsonl")), log) << "or nothing is tested";
  EXPECT_TRUE(session_->flush({}).ok());
  EXPECT_EQ(disk_.disk.crash()->read_file(path_of("memory.jsonl")), log);
}

TEST_F(OfAnHour, ACloseBehindItsEndWritesNothingAndWarnsOfNothing) {
  const SessionFiles before = disk_.files();
  session_.reset();
  const SessionFiles after = disk_.files();
  EXPECT_EQ(after.metadata, before.metadata);
  EXPECT_EQ(after.snapshot, before.snapshot);
  EXPECT_EQ(after.lock, before.lock) << "nobody waits for it either";
  host_.events.deliver();
  EXPECT_EQ(warnings_, std::vector<std::string>());
}

// It may say by now that the session lives on: a file that cannot be read ends none, and a disk
// that does not give it leaves the question open.
TEST_F(OfAnHour, ItEndsOnlyByAMetadataThatCanBeRead) {
  const std::string metadata = disk_.bytes("metadata.json");
  disk_.disk.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kOpen}).on_file("metadata.json"));
  EXPECT_EQ(session_->get("a").code(), Code::kIo);
  EXPECT_EQ(session_->add(entry_text("b")).code(), Code::kIo);
  disk_.disk.set_fault_hook(nullptr);
  disk_.write("metadata.json", "{");
  EXPECT_TRUE(session_->get("a").ok());
  disk_.write("metadata.json", metadata);
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound);
  disk_.write("metadata.json", "{");
  EXPECT_TRUE(session_->add(entry_text("b")).ok());
}

// Two processes fill one session: together they stay below its limit, and what one deletes makes
// room for the other.
TEST(LifecycleAtTheLimit, TwoProcessesShareIt) {
  constexpr uint64_t kLimit = 20'000;
  Host host;
  host.context.settings.session_bytes_max = kLimit;
  SessionDisk disk(host);
  disk.make();
  const auto one_process = disk.disk.process(2001);
  const auto two_process = disk.disk.process(2002);
  const auto one = disk.open(one_process.get());
  const auto two = disk.open(two_process.get());
  int number = 0;
  const auto add = [&](Session& session) {
    return session.add(entry_text("e" + std::to_string(number++), std::string(300, 'x'))).status();
  };
  const auto fill = [&] {
    for (;;) {
      const Status first = add(*one);
      const Status second = add(*two);
      for (const Status* status : {&first, &second}) {
        EXPECT_TRUE(status->ok() || status->code() == Code::kSizeLimit) << status->message();
      }
      EXPECT_LE(disk.bytes("memory.jsonl").size() + disk.bytes("tombstones.jsonl").size(), kLimit);
      if (!first.ok() && !second.ok()) return;
    }
  };
  fill();
  const int fitted = number;
  EXPECT_GT(fitted, 20);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(one->remove("e" + std::to_string(i), "").ok());
  ASSERT_TRUE(add(*two).ok()) << "what the other deleted makes room";
  fill();
  EXPECT_GT(number, fitted + 4);
  for (const auto& session : {one, two}) {
    EXPECT_EQ(session->get("e3").code(), Code::kNotFound);
    EXPECT_TRUE(session->get("e12").ok());
    EXPECT_TRUE(session->verify()->get_bool("ok"));
  }
}

}  // namespace
}  // namespace varve::session
