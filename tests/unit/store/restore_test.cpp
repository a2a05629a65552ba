// Restore: what comes back, and what must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "backup_rig.h"
#include "session/upkeep/compaction.h"
#include "store/backup.h"

namespace varve::store {
namespace {

class RestoreTest : public BackupFixture {
 protected:
  Code refusal(Store& store, std::string_view options = {}, std::string_view path = "copy") {
    const auto report = store.restore(path, options);
    EXPECT_FALSE(report.ok());
    return report.code();
  }
};

TEST_F(RestoreTest, BringsADroppedSessionBack) {
  const auto store = open("store");
  {
    const auto notes = create(*store, "notes");
    add(*notes, {"a", "b", "c"});
    ASSERT_TRUE(notes->remove("b", "").ok());
    ASSERT_TRUE(notes->update(R"({"title":"Mine"})").ok());
  }
  backed_up(*store);
  const size_t bytes = file("copy/sessions/notes/memory.jsonl").size() +
                       file("copy/sessions/notes/tombstones.jsonl").size();
  ASSERT_TRUE(store->delete_session("notes").ok());
  const json::Tree report = restored(*store);
  EXPECT_EQ(report.get_count("bytes"), bytes);
  EXPECT_EQ(report.get_int64("sessions"), 1);
  EXPECT_EQ(report.get_int64("replaced"), 0);
  EXPECT_EQ(report.get_int64("entries"), 2);
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 0);
  EXPECT_EQ(alive(*store, "notes"), (Texts{"a", "c"}));
  EXPECT_TRUE(is_sound(*store, "notes"));
  const auto session = *store->open_session("notes");
  EXPECT_EQ(session->metadata()->get_string("title"), "Mine");
  EXPECT_EQ(session->metadata()->get_string("restored_at"), "2026-01-10T14:23:45.678Z");
  const auto listed = *store->sessions({});
  ASSERT_EQ(listed.get("sessions")->items().size(), 1U);
  EXPECT_EQ(listed.get("sessions")->items()[0].get_int64("total_entries"), 2);
  add(*session, {"d"});
  EXPECT_EQ(alive("store", "notes"), (Texts{"a", "c", "d"}));
}

// Only entries have deletions that a restore knows.
TEST_F(RestoreTest, KeysTurnsAndTitleAreThoseOfTheBackup) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  ASSERT_TRUE(notes->kv_set("drink", "tea").ok());
  ASSERT_TRUE(notes->transcript_append("user", "Tea, please.").ok());
  ASSERT_TRUE(notes->update(R"({"title":"Tea"})").ok());
  backed_up(*store);
  ASSERT_TRUE(notes->kv_delete("drink").ok());
  ASSERT_TRUE(notes->update(R"({"title":null,"transcript_cap":0})").ok());
  restored(*store, R"({"overwrite":true})");
  const auto session = *store->open_session("notes");
  EXPECT_EQ(*session->kv_get("drink"), "tea");
  EXPECT_EQ(session->transcript_last(1)->items()[0].get_string("content"), "Tea, please.");
  EXPECT_EQ(session->metadata()->get_string("title"), "Tea");
}

// It is in its place, though nobody can open it there before a repair.
TEST_F(RestoreTest, OfADamagedSessionIsNoFailureThoughRecoveryIsStrict) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a", "b"});
  backed_up(*store);
  const std::string log = file("copy/sessions/notes/memory.jsonl");
  disk_.write_file("copy/sessions/notes/memory.jsonl", "x" + log.substr(1));
  const auto strict =
      Store::open("other", R"({"integrity":{"recovery":"strict"}})", {&disk_, &clock_, &random_});
  ASSERT_TRUE(strict.ok());
  const json::Tree report = restored(**strict);
  EXPECT_EQ(report.get_int64("sessions"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 2U);
  const json::Tree& told = report.get("problems")->items()[1];
  EXPECT_EQ(told.get_string("session_id"), "notes");
  EXPECT_NE(told.get_string("reason").find("it is restored, but"), std::string::npos);
  EXPECT_EQ(alive("other", "notes"), Texts{"b"});
}

// "overwrite" means: by what the backup has. It was no longer there.
TEST_F(RestoreTest, ACopyOfWhichNothingCanBeReadDoesNotReplaceASession) {
  const auto store = open("store");
  const auto session = create(*store, "notes");
  add(*session, {"a", "b"});
  add(*create(*store, "other"), {"c"});
  ASSERT_TRUE(session->sync().ok());
  backed_up(*store);
  const std::string log = file("copy/sessions/notes/memory.jsonl");
  for (const std::string& left : {std::string(), std::string(log.size(), '\0'),
                                  "x" + log.substr(1, log.find('\n')) + "junk\n"}) {
    disk_.write_file("copy/sessions/notes/memory.jsonl", left);
    const json::Tree report = restored(*store, R"({"overwrite":true})");
    EXPECT_EQ(report.get_int64("sessions"), 1);
    ASSERT_EQ(report.get("problems")->items().size(), 1U);
    const json::Tree& told = report.get("problems")->items()[0];
    EXPECT_EQ(told.get_string("session_id"), "notes");
    EXPECT_FALSE(told.get_bool("copied", true));
    EXPECT_NE(told.get_string("reason").find("delete the session first"), std::string::npos)
        << told.get_string("reason");
    EXPECT_EQ(refusal(*store, R"({"overwrite":true,"sessions":["notes"]})"), Code::kCorruption);
    EXPECT_EQ(alive(*store, "notes"), (Texts{"a", "b"}));
  }
  ASSERT_TRUE(store->delete_session("notes").ok());
  EXPECT_EQ(restored(*store, R"({"sessions":["notes"]})").get_int64("sessions"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{});
}

TEST_F(RestoreTest, ACopyThatIsEmptyAndWholeReplacesASession) {
  const auto store = open("store");
  const auto session = create(*store, "notes");
  backed_up(*store);
  add(*session, {"a"});
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("replaced"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{});
}

// What was deleted and purged is no loss, and what can be read of a copy may be all there is.
TEST_F(RestoreTest, ACopyThatIsPurgedOrPartlyReadReplacesASession) {
  const auto store = open("store");
  const auto session = create(*store, "purged");
  add(*session, {"a"});
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->compact({session::CompactionCause::kPurge}).ok());
  add(*create(*store, "partly"), {"a", "b"});
  backed_up(*store);
  const std::string log = file("copy/sessions/partly/memory.jsonl");
  disk_.write_file("copy/sessions/partly/memory.jsonl", "x" + log.substr(1));
  disk_.write_file("store/sessions/partly/memory.jsonl", log.substr(0, log.size() - 1));
  add(*session, {"c"});
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("replaced"), 2);
  EXPECT_EQ(alive(*store, "purged"), Texts{});
  EXPECT_EQ(alive(*store, "partly"), Texts{"b"});
}

// What it would lose it has here.
TEST_F(RestoreTest, ADamagedCopyDoesNotReplaceASessionThatIsWhole) {
  const auto store = open("store");
  const auto session = create(*store, "notes");
  add(*session, {"a", "b"});
  ASSERT_TRUE(session->sync().ok());
  backed_up(*store);
  const std::string log = file("copy/sessions/notes/memory.jsonl");
  const std::string first = log.substr(0, log.find('\n') + 1);
  for (const std::string& left : {first, first + "torn", "x" + log.substr(1)}) {
    disk_.write_file("copy/sessions/notes/memory.jsonl", left);
    EXPECT_EQ(refusal(*store, R"({"overwrite":true})"), Code::kCorruption);
    EXPECT_EQ(alive(*store, "notes"), (Texts{"a", "b"}));
  }
  add(*create(*store, "other"), {"c"});
  ASSERT_TRUE((*open("copy")->open_session("notes"))->repair(false).ok());
  const json::Tree report = restored(*store, R"({"overwrite":true})");
  EXPECT_EQ(report.get_int64("replaced"), 1);
  EXPECT_TRUE(report.get("problems")->items().empty()) << report.canonical();
  EXPECT_EQ(alive(*store, "notes"), Texts{"b"});
}

// Nobody can open it any more, and the next sweep removes it.
TEST_F(RestoreTest, ADamagedCopyReplacesASessionThatHasExpired) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  const std::string log = file("copy/sessions/notes/memory.jsonl");
  disk_.write_file("copy/sessions/notes/memory.jsonl", "x" + log.substr(1));
  ASSERT_TRUE(notes->update(R"({"ttl_hours":1})").ok());
  clock_.advance_ms(2 * 3'600'000);
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("replaced"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"b"});
}

TEST_F(RestoreTest, IntoAnotherStoreAndIntoMemory) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a", "b"});
  backed_up(*store);
  for (const char* target : {"elsewhere", "memory:"}) {
    const auto other = open(target);
    restored(*other);
    EXPECT_EQ(alive(*other, "notes"), (Texts{"a", "b"})) << target;
    EXPECT_TRUE(is_sound(*other, "notes")) << target;
  }
}

TEST_F(RestoreTest, RefusesASessionThatExistsAndThenRestoresNothing) {
  const auto store = open("store");
  add(*create(*store, "one"), {"a"});
  add(*create(*store, "two"), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("one").ok());
  EXPECT_EQ(refusal(*store), Code::kAlreadyExists);
  EXPECT_EQ(store->open_session("one").code(), Code::kNotFound);
  EXPECT_EQ(restored(*store, R"({"sessions":["one"]})").get_int64("sessions"), 1);
  EXPECT_EQ(alive(*store, "one"), Texts{"a"});
}

TEST_F(RestoreTest, AnExpiredSessionMakesWayAndItsDeletionsAreKept) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"kept", "forgotten"});
  backed_up(*store);
  ASSERT_TRUE(notes->remove("forgotten", "asked for by Ann").ok());
  ASSERT_TRUE(notes->update(R"({"ttl_hours":1})").ok());
  clock_.advance_ms(2 * 3'600'000);
  ASSERT_EQ(store->open_session("notes").code(), Code::kNotFound);

  const json::Tree report = restored(*store);
  EXPECT_EQ(report.get_int64("replaced"), 1);
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"kept"});
  EXPECT_EQ(refusal(*store), Code::kAlreadyExists) << "it lives again";
}

// Between the look that finds it expired and the moment at which the restored one takes its name.
TEST_F(RestoreTest, AnExpiredSessionThatIsCreatedAnewMeanwhileIsNotReplaced) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"old"});
  backed_up(*store);
  ASSERT_TRUE(notes->update(R"({"ttl_hours":1})").ok());
  clock_.advance_ms(2 * 3'600'000);
  const auto process = disk_.process(7);
  const auto other = open("store", process.get());
  bool is_created = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_staged = operation.path.find("/tmp/new.tmp-") != std::string::npos;
    if (!is_staged || operation.name != "memory.jsonl") return std::nullopt;
    disk_.set_fault_hook({});
    add(*create(*other, "notes"), {"new"});
    is_created = true;
    return std::nullopt;
  });
  EXPECT_EQ(refusal(*store), Code::kAlreadyExists);
  ASSERT_TRUE(is_created);
  EXPECT_EQ(alive(*store, "notes"), Texts{"new"});
}

TEST_F(RestoreTest, ASessionWithoutItsMetadataExists) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  const auto directory = (*disk_.open_root("store", false))->open_directory("sessions");
  ASSERT_TRUE((*(*directory)->open_directory("notes"))->remove("metadata.json").ok());
  EXPECT_EQ(refusal(*store), Code::kAlreadyExists);
}

TEST_F(RestoreTest, NoSessionIsNotEverySession) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  add(*notes, {"b"});
  EXPECT_EQ(refusal(*store, R"({"sessions":[],"overwrite":true})"), Code::kInvalidArgument);
  EXPECT_EQ(alive(*store, "notes"), (Texts{"a", "b"}));
}

// Between the look at what is there and the moment at which the restored one takes its name.
TEST_F(RestoreTest, OneThatIsCreatedMeanwhileIsWaitedForAndItsDeletionsAreKept) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"kept", "forgotten"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("notes").ok());
  const auto process = disk_.process(7);
  const auto other = open("store", process.get());
  std::shared_ptr<session::Session> appeared;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_staged = operation.path.find("/tmp/new.tmp-") != std::string::npos;
    if (!is_staged || operation.name != "tombstones.jsonl") return std::nullopt;
    disk_.set_fault_hook({});
    appeared = create(*other, "notes");
    add(*appeared, {"forgotten"});
    EXPECT_TRUE(appeared->remove("forgotten", "asked for by Ann").ok());
    return std::nullopt;
  });
  const json::Tree report = restored(*store, R"({"overwrite":true})");
  ASSERT_TRUE(appeared);
  EXPECT_EQ(report.get_int64("replaced"), 1);
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"kept"});
  EXPECT_TRUE(is_sound(*store, "notes"));
  EXPECT_EQ(appeared->add(text_of("lost", "1")).code(), Code::kNotFound);
}

TEST_F(RestoreTest, OneThatIsCreatedOverAndOverIsNotReplaced) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("notes").ok());
  const auto process = disk_.process(7);
  const auto other = open("store", process.get());
  bool is_busy = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (is_busy) return std::nullopt;
    is_busy = true;  // what the other process does comes here, too
    const bool is_staged = operation.kind == io::OperationKind::kOpen &&
                           operation.path.find("/tmp/new.tmp-") != std::string::npos;
    if (is_staged && operation.name == "tombstones.jsonl") create(*other, "notes");
    if (is_staged && operation.name == "lock") (void)other->delete_session("notes").ok();
    is_busy = false;
    return std::nullopt;
  });
  const auto report = store->restore("copy", R"({"overwrite":true})");
  disk_.set_fault_hook({});
  EXPECT_EQ(report.code(), Code::kBusy);
  EXPECT_EQ(report.status().message(),
            "session 'notes' was not restored: it is created and deleted over and over by others; "
            "try again later");
  EXPECT_EQ(alive(*store, "notes"), Texts{});
}

TEST_F(RestoreTest, TextQueriesDoNotFindWhatWasForgotten) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  ASSERT_TRUE(notes->add(text_of("kept", "the harbour at night")).ok());
  ASSERT_TRUE(notes->add(text_of("forgotten", "the harbour of secrets")).ok());
  EXPECT_EQ(found(*store, "notes", "harbour"), (Texts{"forgotten", "kept"}));
  backed_up(*store);
  ASSERT_TRUE(notes->remove("forgotten", "").ok());
  restored(*store, R"({"overwrite":true})");
  EXPECT_EQ(found(*store, "notes", "harbour"), Texts{"kept"});
  EXPECT_EQ(found(*store, "notes", "secrets"), Texts{});
  const auto reopened = open("store");
  EXPECT_EQ(found(*reopened, "notes", "secrets"), Texts{});
}

TEST_F(RestoreTest, DeletionsOfAnotherCopyAreApplied) {
  const auto store = open("store");
  {
    const auto notes = create(*store, "notes");
    add(*notes, {"kept", "forgotten"});
    backed_up(*store, {}, "old");
    ASSERT_TRUE(notes->remove("forgotten", "").ok());
  }
  backed_up(*store, {}, "new");
  ASSERT_TRUE(store->delete_session("notes").ok());
  const json::Tree report = restored(*store, R"({"tombstones_from":"new"})", "old");
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"kept"});
  // A copy that does not know the session has nothing to say.
  ASSERT_TRUE(store->delete_session("notes").ok());
  open("strange");
  restored(*store, R"({"tombstones_from":"strange"})", "old");
  EXPECT_EQ(alive(*store, "notes"), (Texts{"kept", "forgotten"}));
  EXPECT_EQ(refusal(*store, R"({"overwrite":true,"tombstones_from":"nowhere"})", "old"),
            Code::kNotFound);
  EXPECT_EQ(refusal(*store, R"({"overwrite":true,"tombstones_from":""})", "old"),
            Code::kInvalidArgument);
}

TEST_F(RestoreTest, IsANewGenerationSoThatTheNextBackupCopiesItWhole) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  backed_up(*store, {}, "kept");
  restored(*store, R"({"overwrite":true})", "kept");
  EXPECT_EQ((*store->open_session("notes"))->stats()->get_int64("generation"), 2);
  EXPECT_EQ(backed_up(*store).get_int64("copied"), 1);
}

TEST_F(RestoreTest, IsANewGenerationAlsoBesideACompactionThatComesWhileItCopies) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  ASSERT_TRUE(notes->remove("a", "").ok());
  const auto process = disk_.process(7);
  const auto other = open("store", process.get());
  bool was_compacted = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_staged = operation.path.find("/tmp/new.tmp-") != std::string::npos;
    if (!is_staged || operation.name != "memory.jsonl") return std::nullopt;
    disk_.set_fault_hook({});
    const auto compacted = (*other->open_session("notes"))->compact({});
    was_compacted = compacted.ok();
    return std::nullopt;
  });
  restored(*store, R"({"overwrite":true})");
  ASSERT_TRUE(was_compacted);
  EXPECT_EQ((*store->open_session("notes"))->stats()->get_int64("generation"), 3);
}

TEST_F(RestoreTest, IsANewGenerationAlsoFromACopyWhoseOwnIsNotBelieved) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  ASSERT_TRUE(notes->remove("a", "").ok());
  ASSERT_TRUE(notes->compact({}).ok());
  const std::string path = "copy/sessions/notes/metadata.json";
  std::string metadata = file(path);
  constexpr std::string_view kOwn = "\"generation\": 1,";
  const size_t at = metadata.find(kOwn);
  ASSERT_NE(at, std::string::npos) << metadata;
  disk_.write_file(path, metadata.replace(at, kOwn.size(), "\"generation\": 9007199254740992,"));
  restored(*store, R"({"overwrite":true})");
  EXPECT_EQ((*store->open_session("notes"))->stats()->get_int64("generation"), 3);
}

TEST_F(RestoreTest, RefusesWhatIsNoBackupAndTheStoreItself) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  const Status refused = store->restore("store", R"({"overwrite":true})").status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("'store'"), std::string::npos);
  EXPECT_EQ(refused.place().path, "store");
  EXPECT_EQ(refusal(*store, {}, "nowhere"), Code::kNotFound);
  EXPECT_FALSE(disk_.exists("nowhere"));
  disk_.write_file("photos/cat.jpg", "meow");
  EXPECT_EQ(refusal(*store, {}, "photos"), Code::kNotFound);
  EXPECT_EQ(refusal(*store, R"({"sessions":["other"]})"), Code::kNotFound);
  EXPECT_EQ(refusal(*store, R"({"over_write":true})"), Code::kInvalidArgument);
  disk_.write_file("copy/backup.json", R"({"version":2})");
  EXPECT_EQ(refusal(*store, R"({"overwrite":true})"), Code::kFormatVersion);
}

TEST_F(RestoreTest, OneUnreadableSessionDoesNotKeepTheOthersOut) {
  const auto store = open("store");
  add(*create(*store, "bad"), {"a"});
  add(*create(*store, "good"), {"a"});
  backed_up(*store);
  disk_.write_file("copy/sessions/bad/metadata.json", R"({"version":2})");
  const auto other = open("other");
  const json::Tree report = restored(*other);
  EXPECT_EQ(report.get_int64("sessions"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 1U);
  EXPECT_EQ(report.get("problems")->items()[0].get_string("session_id"), "bad");
  EXPECT_EQ(alive(*other, "good"), Texts{"a"});
  EXPECT_EQ(refusal(*open("third"), R"({"sessions":["bad"]})"), Code::kFormatVersion);
}

TEST_F(RestoreTest, ABackupIsOnlyRead) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  const auto state = [&] {
    std::string text;
    for (const auto& path : disk_.list_all()) {
      if (path.find("copy/") != std::string::npos) text += path + "=" + file(path) + "\n";
    }
    return text;
  };
  const std::string before = state();
  restored(*open("other"));
  EXPECT_EQ(state(), before);
}

TEST_F(RestoreTest, AFailedSwapIsToldAndNothingChanges) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  add(*notes, {"b"});
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kMove) return io::Fault{EIO, std::nullopt};
    return std::nullopt;
  });
  EXPECT_EQ(refusal(*store, R"({"overwrite":true})"), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_EQ(alive(*store, "notes"), (Texts{"a", "b"}));
  EXPECT_TRUE(notes->add(text_of("c", "1")).ok());
  const auto items = (*disk_.open_root("store/tmp", false))->list();
  EXPECT_TRUE(items->empty());
}

TEST_F(RestoreTest, ASessionThatHasExpiredIsLeftOutAndTheOthersComeBack) {
  const auto store = open("store");
  add(*create(*store, "a"), {"1"});
  add(**store->create_session(R"({"session_id":"brief","ttl_hours":1})"), {"1"});
  add(*create(*store, "z"), {"1"});
  backed_up(*store);
  clock_.advance_ms(3'600'000);

  const auto other = open("other");
  const json::Tree report = restored(*other);
  EXPECT_EQ(report.get_int64("sessions"), 2);
  EXPECT_EQ(report.get_int64("entries"), 2);
  ASSERT_EQ(report.get("problems")->items().size(), 1U);
  const json::Tree& problem = report.get("problems")->items()[0];
  EXPECT_EQ(problem.get_string("session_id"), "brief");
  EXPECT_EQ(problem.get_string("reason"), "it has expired (ttl_hours)");
  EXPECT_FALSE(problem.get_bool("copied"));
  EXPECT_EQ(alive(*other, "a"), Texts{"1"});
  EXPECT_EQ(alive(*other, "z"), Texts{"1"});
  EXPECT_FALSE(disk_.exists("other/sessions/brief"));
  EXPECT_EQ(refusal(*open("third"), R"({"sessions":["brief"]})"), Code::kNotFound);
}

TEST_F(RestoreTest, AnExpiredCopyDoesNotTakeThePlaceOfASessionThatLives) {
  const auto store = open("store");
  const auto brief = *store->create_session(R"({"session_id":"brief","ttl_hours":1})");
  add(*brief, {"1"});
  backed_up(*store);
  ASSERT_TRUE(brief->update(R"({"ttl_hours":0})").ok());
  clock_.advance_ms(3'600'000);
  EXPECT_EQ(refusal(*store, R"({"overwrite":true})"), Code::kNotFound);
  EXPECT_EQ(alive(*store, "brief"), Texts{"1"});
}

TEST_F(RestoreTest, ASessionThatIsNamedTwiceIsCopiedOnce) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  const std::string twice = R"({"sessions":["notes","notes"]})";
  EXPECT_EQ(backed_up(*store, twice).get_int64("sessions"), 1);
  const json::Tree report = restored(*open("other"), twice);
  EXPECT_EQ(report.get_int64("sessions"), 1);
  EXPECT_EQ(report.get_int64("entries"), 1);
}

TEST_F(RestoreTest, ARestoredSessionIsOnOnePageOfTheList) {
  const auto source = open("store");
  for (const char* id : {"one", "two", "three"}) add(*create(*source, id), {"a"});
  backed_up(*source);
  for (const char* target : {"store", "memory:"}) {
    const auto store = target == std::string("store") ? source : open(target);
    restored(*store, R"({"overwrite":true})");
    ASSERT_TRUE(store->delete_session("one").ok());
    restored(*store, R"({"sessions":["one"]})");
    Texts listed;
    for (std::string after;;) {
      const auto page = *store->sessions(R"({"limit":1)" + after + "}");
      for (const auto& item : page.get("sessions")->items()) {
        listed.push_back(item.get_string("session_id"));
      }
      if (page.get("next")->is_null()) break;
      after = R"(,"after":")" + page.get_string("next") + "\"";
    }
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, (Texts{"one", "three", "two"})) << target;
  }
}

TEST_F(RestoreTest, WholeCopiesDoNotMakeTheListOfABackupLonger) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  const std::string before = file("copy/indices/sessions.jsonl");
  for (int night = 0; night < 3; ++night) {
    ASSERT_TRUE(notes->compact({session::CompactionCause::kPurge}).ok());
    EXPECT_EQ(backed_up(*store).get_int64("copied"), 1);
  }
  EXPECT_EQ(file("copy/indices/sessions.jsonl"), before);
}

TEST_F(RestoreTest, ASessionThatCannotTakeItsPlaceDoesNotKeepTheOthersOut) {
  const auto store = open("store");
  for (const std::string id : {"a", "b", "c"}) add(*create(*store, id), {"1"});
  backed_up(*store);
  for (const std::string id : {"a", "b", "c"}) add(**store->open_session(id), {"2"});
  const auto process = disk_.process(77);
  const auto engine = log::DirectoryEngine::open("store", {process.get(), &clock_, &random_}, 1000);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const auto writer = *(*engine)->open("b");
  ASSERT_TRUE(writer->lock(clock_.monotonic_us(), "write", nullptr).ok());
  EXPECT_EQ(refusal(*store, R"({"overwrite":true,"sessions":["b"]})"), Code::kBusy);
  const json::Tree report = restored(*store, R"({"overwrite":true})");
  writer->unlock();
  EXPECT_EQ(report.get_int64("sessions"), 2);
  ASSERT_EQ(report.get("problems")->items().size(), 1U);
  const json::Tree& problem = report.get("problems")->items()[0];
  EXPECT_EQ(problem.get_string("session_id"), "b");
  EXPECT_NE(problem.get_string("reason").find("lock"), std::string::npos);
  EXPECT_EQ(problem.get_bool("copied", true), false);
  for (const std::string id : {"a", "c"}) EXPECT_EQ(alive(*store, id), Texts{"1"});
  EXPECT_EQ(alive(*store, "b"), (Texts{"1", "2"}));
}

TEST_F(RestoreTest, EndsWhereTheDiskFailsAndKeepsWhatCameBefore) {
  const auto store = open("store");
  for (const std::string id : {"a", "b", "c"}) add(*create(*store, id), {"1"});
  backed_up(*store);
  for (const std::string id : {"a", "b", "c"}) add(**store->open_session(id), {"2"});
  int moves = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_swap = operation.kind == io::OperationKind::kMove;
    return is_swap && ++moves == 2 ? std::optional(io::Fault{EIO, std::nullopt}) : std::nullopt;
  });
  EXPECT_EQ(refusal(*store, R"({"overwrite":true})"), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_EQ(alive(*store, "a"), Texts{"1"});
  for (const std::string id : {"b", "c"}) EXPECT_EQ(alive(*store, id), (Texts{"1", "2"}));
}

}  // namespace
}  // namespace varve::store
