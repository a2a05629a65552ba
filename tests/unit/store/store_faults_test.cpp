// The k-th call on files fails, once and from then on, under everything that a store does: what is
// told is the failure and nothing worse, each session is as it was or as it is to be, what was
// forgotten stays so, and the next process does all of it and leaves nothing behind.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "store_faults_rig.h"
#include "support/build_kind.h"

namespace varve::store {
namespace {

// What was answered, and whether it says itself that something is missing in it.
struct Told {
  std::string text;
  bool is_partial = false;
};

struct StoreWork {
  const char* name;
  void (*prepare)(FaultGround&);
  Result<Told> (*run)(FaultGround&);
  const char* answer;  // of a run without a fault
};
void PrintTo(const StoreWork& work, std::ostream* out) { *out << work.name; }

void as_it_stands(FaultGround&) {}

Result<Told> listed_by(FaultGround& ground, const std::string& filter) {
  std::string ids;
  for (std::string after = "null"; !after.empty();) {
    VARVE_TRY_ASSIGN(const json::Tree page,
                     ground.store->sessions("{" + filter + "\"after\":" + after + "}"));
    for (const auto& row : page.get("sessions")->items()) {
      ids += row.get_string("session_id") + " ";
      ids += std::to_string(row.get_int64("total_entries")) + " ";
    }
    after = page.get("next")->is_null() ? "" : page.get("next")->canonical();
  }
  return Told{ids, false};
}

// All pages. Sessions that are left out are told to the log.
Result<Told> queried_by(FaultGround& ground, const std::string& query) {
  int left_out_count = 0;
  ground.store->set_log(
      session::Level::kWarn,
      [](void* count, int32_t, const char* line, size_t len) {
        const std::string_view text(line, len);
        *static_cast<int*>(count) += text.find("left out") != text.npos ? 1 : 0;
      },
      &left_out_count);
  Told told;
  Status status;
  for (std::string after = "}"; !after.empty() && status.ok();) {
    auto page = ground.store->query("{" + query + ",\"limit\":2" + after);
    status = page.status();
    if (!page.ok()) break;
    for (const auto& result : page->results) told.text += result.id() + " ";
    after = page->next.empty() ? "" : ",\"after\":\"" + page->next + "\"}";
  }
  ground.store->deliver_events();
  ground.store->set_log(session::Level::kOff, nullptr, nullptr);
  told.is_partial = left_out_count > 0;
  return status.ok() ? Result<Told>(std::move(told)) : Result<Told>(std::move(status));
}

// The named figures of a report, and whether it has problems.
Told of_report(const json::Tree& report, const std::vector<std::string>& members) {
  Told told;
  for (const auto& member : members) {
    told.text += member + " " + std::to_string(report.get_int64(member)) + " ";
  }
  const json::Tree* problems = report.get("problems");
  told.is_partial = problems != nullptr && !problems->items().empty();
  return told;
}

Result<Told> backed_up_as(FaultGround& ground, const std::string& options = {}) {
  VARVE_TRY_ASSIGN(const json::Tree report, ground.store->back_up("copy", options));
  return of_report(report, {"sessions", "removed"});
}
Result<Told> restored_as(FaultGround& ground, const std::string& options) {
  VARVE_TRY_ASSIGN(const json::Tree report, ground.store->restore("copy", options));
  return of_report(report, {"sessions", "entries"});
}

void add_to_all(FaultGround& ground) {
  FaultGround::add(*ground.session("other"), "later", "tea");
  const auto notes = ground.session("notes");
  EXPECT_TRUE(notes
                  ->add_batch(R"([{"id":"e","type":"finding","content":"tea"},)"
                              R"({"id":"f","type":"finding","content":"3"}])")
                  .ok());
  EXPECT_TRUE(notes->kv_set("key", "another").ok());
  EXPECT_TRUE(notes->remove("b", "").ok());
}

void with_a_backup(FaultGround& ground) { EXPECT_TRUE(ground.store->back_up("copy", {}).ok()); }

// Appended to, replaced, gone, new, and another configuration since.
void with_an_old_backup(FaultGround& ground) {
  FaultGround::create(*ground.store, R"({"session_id":"gone"})");
  with_a_backup(ground);
  EXPECT_TRUE(ground.store->delete_session("gone").ok());
  add_to_all(ground);
  EXPECT_TRUE(ground.session("brief")->remove("x", "").ok());
  EXPECT_TRUE(ground.session("brief")->compact({}).ok());
  FaultGround::add(*FaultGround::create(*ground.store, R"({"session_id":"young"})"), "y", "tea");
  ground.disk->write_file("store/config.json", R"({"threads":1,"durability":"commit"})");
}

void with_a_backup_and_a_config_that_went(FaultGround& ground) {
  with_a_backup(ground);
  EXPECT_TRUE((*ground.disk->open_root("store", false))->remove("config.json").ok());
}

// The backup knows what was deleted and added since.
void with_a_backup_and_deletions_since(FaultGround& ground) {
  FaultGround::add(*ground.session("notes"), "later", "tea");
  with_a_backup(ground);
  EXPECT_TRUE(ground.session("notes")->remove("later", "asked for").ok());
  EXPECT_TRUE(ground.session("notes")->kv_set("key", "newer").ok());
}

void with_deletions_in_another_copy(FaultGround& ground) {
  FaultGround::add(*ground.session("notes"), "later", "tea");
  with_a_backup(ground);
  EXPECT_TRUE(ground.session("notes")->remove("later", "asked for").ok());
  EXPECT_TRUE(ground.store->back_up("wiser", {}).ok());
  for (const char* id : {"notes", "other", "brief"}) {
    EXPECT_TRUE(ground.store->delete_session(id).ok());
  }
}

Result<Told> opened_as(FaultGround& ground, const std::string& path) {
  VARVE_TRY_ASSIGN(ground.store, ground.try_open(path, R"({"storage":{"kv_cap":9}})"));
  VARVE_TRY_ASSIGN(const json::Tree page, ground.store->sessions({}));
  return Told{std::to_string(page.get("sessions")->items().size()), false};
}

Result<Told> created_as(FaultGround& ground, const std::string& options) {
  VARVE_TRY_ASSIGN(const auto session, ground.store->create_session(options));
  return Told{session->id(), false};
}

Result<Told> removed_everywhere(FaultGround& ground, const std::string& query) {
  Told told;
  for (const char* id : {"notes", "other"}) {
    VARVE_TRY_ASSIGN(const auto session, ground.store->open_session(id));
    VARVE_TRY(session->remove_where(query, "told to"));
    VARVE_TRY_ASSIGN(const uint64_t left, session->count(query));
    told.text += std::to_string(left) + " ";
  }
  return told;
}

const StoreWork kStoreWorks[] = {
    {"Open", as_it_stands, [](FaultGround& ground) { return opened_as(ground, "store"); }, "2"},
    {"OpenANewOne", as_it_stands, [](FaultGround& ground) { return opened_as(ground, "empty"); },
     "0"},
    {"Create", as_it_stands,
     [](FaultGround& ground) {
       return created_as(ground, R"({"session_id":"young","user_id":"u"})");
     },
     "young"},
    {"CreateOverAnExpiredOne", as_it_stands,
     [](FaultGround& ground) { return created_as(ground, R"({"session_id":"brief"})"); }, "brief"},
    {"List", as_it_stands, [](FaultGround& ground) { return listed_by(ground, R"("limit":1,)"); },
     "other 2 notes 4 "},
    {"ListOfOne", as_it_stands,
     [](FaultGround& ground) { return listed_by(ground, R"("user_id":"u","agent_id":"x",)"); },
     "notes 4 "},
    {"ListAnew", as_it_stands,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY(listed_by(ground, R"("rescan":true,)"));
       return listed_by(ground, "");
     },
     "other 2 notes 4 "},
    {"Stats", as_it_stands,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY_ASSIGN(const auto notes, ground.store->open_session("notes"));
       VARVE_TRY_ASSIGN(const json::Tree figures, ground.store->stats());
       VARVE_TRY(ground.store->metrics());
       return of_report(figures, {"sessions_open"});
     },
     "sessions_open 1 "},
    {"Usage", as_it_stands,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY_ASSIGN(const json::Tree sums, ground.store->usage(R"({"user_id":"u"})"));
       Told told = of_report(*sums.get("total"), {"entries", "input_tokens"});
       told.is_partial = !sums.get("problems")->items().empty();
       return told;
     },
     "entries 1 input_tokens 5 "},
    {"UsageOfNamedOnes", as_it_stands,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY_ASSIGN(const json::Tree sums,
                        ground.store->usage(R"({"agent_id":"x","session_ids":["notes","other"]})"));
       Told told = of_report(*sums.get("total"), {"entries", "input_tokens"});
       told.is_partial = !sums.get("problems")->items().empty();
       return told;
     },
     "entries 1 input_tokens 5 "},
    {"QueryWords", as_it_stands,
     [](FaultGround& ground) { return queried_by(ground, R"("text":"tea","sort_by":"match")"); },
     "o c a "},
    {"QueryTags", as_it_stands,
     [](FaultGround& ground) {
       return queried_by(ground, R"("tags":{"include":["t"]},"user_id":"u")");
     },
     "a "},
    {"QueryWordsAndVectors", as_it_stands,
     [](FaultGround& ground) {
       return queried_by(ground, R"("text":"tea","vector":[1,0],"session_ids":["notes"])");
     },
     "c a "},
    {"DeleteWhereInAll", as_it_stands,
     [](FaultGround& ground) { return removed_everywhere(ground, R"({"text":"tea"})"); }, "0 0 "},
    {"Sweep", as_it_stands,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY_ASSIGN(const json::Tree report, ground.store->sweep());
       return of_report(report, {});
     },
     ""},
    {"Backup", as_it_stands, [](FaultGround& ground) { return backed_up_as(ground); },
     "sessions 3 removed 0 "},
    {"BackupOfOne", with_an_old_backup,
     [](FaultGround& ground) { return backed_up_as(ground, R"({"sessions":["notes"]})"); },
     "sessions 1 removed 0 "},
    {"BackupAgain", with_an_old_backup, [](FaultGround& ground) { return backed_up_as(ground); },
     "sessions 4 removed 1 "},
    {"BackupWithoutAConfig", with_a_backup_and_a_config_that_went,
     [](FaultGround& ground) { return backed_up_as(ground); }, "sessions 3 removed 0 "},
    {"RestoreIntoAnEmptyStore", with_a_backup,
     [](FaultGround& ground) -> Result<Told> {
       VARVE_TRY_ASSIGN(ground.store, ground.try_open("empty"));
       return restored_as(ground, R"({"sessions":["notes","other"],"overwrite":true})");
     },
     "sessions 2 entries 5 "},
    {"RestoreOverWhatIsThere", with_a_backup_and_deletions_since,
     [](FaultGround& ground) {
       return restored_as(ground, R"({"sessions":["notes"],"overwrite":true})");
     },
     "sessions 1 entries 4 "},
    {"RestoreWithDeletionsOfAnotherCopy", with_deletions_in_another_copy,
     [](FaultGround& ground) {
       return restored_as(
           ground, R"({"sessions":["notes","other"],"overwrite":true,"tombstones_from":"wiser"})");
     },
     "sessions 2 entries 5 "},
};

struct FaultOfFiles {
  const char* name;
  int os_errno;
  bool sticky;
  Code code;
};
const FaultOfFiles kFaultsOfFiles[] = {{"EIO", EIO, false, Code::kIo},
                                       {"EIO from then on", EIO, true, Code::kIo},
                                       {"ENOSPC", ENOSPC, false, Code::kNoSpace}};

class StoreFaults : public testing::TestWithParam<StoreWork> {
 protected:
  void SetUp() override {
    prepared_.emplace(GetParam().prepare);
    before_ = told::of_disk(*prepared_->disk, prepared_->clock.now_ms());
    FaultGround ground(*prepared_);
    ground.store = ground.open();
    const auto answer = GetParam().run(ground);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(answer->text, GetParam().answer);
    EXPECT_FALSE(answer->is_partial);
    after_ = told::of_disk(*ground.disk, ground.clock.now_ms());
  }

  // One run with one fault; false when the work ends before the fault comes.
  bool run(uint64_t number, const FaultOfFiles& kind) {
    FaultGround ground(*prepared_);
    ground.process = ground.disk->process(7);
    ground.store = ground.open();
    const io::FailNth fault(number, kind.os_errno, kind.sticky);
    ground.disk->set_fault_hook(fault);
    const auto answer = GetParam().run(ground);
    ground.disk->set_fault_hook(nullptr);
    SCOPED_TRACE("call " + std::to_string(number) + " fails with " + kind.name);
    const bool happened = fault.matched() >= number;
    expect_right_answer(answer, kind, happened);
    const bool is_done = answer.ok() && !answer->is_partial;
    const StoreState& allowed = is_done ? after_ : before_;
    const int64_t now_ms = ground.clock.now_ms();
    told::expect_old_or_new(told::of_disk(*ground.disk, now_ms), allowed, after_, "at once");
    told::expect_old_or_new(told::of_disk(*ground.disk->crash(), now_ms), allowed, after_,
                            "after a power loss");
    ground.store.reset();
    ground.process->kill();
    expect_done_by_the_next_one(ground);
    return happened;
  }

  static void expect_right_answer(const Result<Told>& answer, const FaultOfFiles& kind,
                                  bool happened) {
    if (!answer.ok()) {
      EXPECT_TRUE(happened);
      // Whether what could not be synced will last is not known; to a host both are failures of
      // I/O.
      EXPECT_TRUE(answer.code() == kind.code || answer.code() == Code::kUnknown)
          << answer.status().message();
    } else if (answer->is_partial) {
      EXPECT_TRUE(happened);
    } else {
      EXPECT_EQ(answer->text, GetParam().answer);
    }
  }

  // Another process does the same, with nothing in its way.
  void expect_done_by_the_next_one(FaultGround& ground) {
    ground.process = ground.disk->process(8);
    ground.store = ground.open();
    const auto again = GetParam().run(ground);
    const bool is_there = again.code() == Code::kAlreadyExists;  // the failed one made it
    EXPECT_TRUE(is_there || again.ok()) << again.status().message();
    EXPECT_FALSE(again.ok() && again->is_partial);
    told::expect_old_or_new(told::of_disk(*ground.disk, ground.clock.now_ms()), after_, after_,
                            "done again");
    for (const std::string root : {"store", "empty"}) told::write_to_all(ground, root);
    EXPECT_EQ(told::left_overs(*ground.disk), "");
  }

  std::optional<FaultGround> prepared_;
  StoreState before_;
  StoreState after_;
};

TEST_P(StoreFaults, LeaveEachSessionOldOrNewAndNothingElse) {
  for (const FaultOfFiles& kind : kFaultsOfFiles) {
    if (!test::kFastBuild && &kind != &kFaultsOfFiles[0]) break;
    uint64_t count = 0;
    for (uint64_t number = 1; run(number, kind) && !HasFailure(); ++number) count += 1;
    EXPECT_GT(count, 0u) << "no call on files was made";
  }
}

INSTANTIATE_TEST_SUITE_P(All, StoreFaults, testing::ValuesIn(kStoreWorks),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::store
