// Backup: what is in a copy, what a second one copies, and what is refused.
#include "store/backup.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backup_rig.h"
#include "log/directory_storage.h"

namespace varve::store {
namespace {

class BackupTest : public BackupFixture {
 protected:
  static void expect_counts(const json::Tree& report, int copied, int appended, int unchanged,
                            int removed) {
    EXPECT_EQ(report.get_int64("copied"), copied) << report.canonical();
    EXPECT_EQ(report.get_int64("appended"), appended) << report.canonical();
    EXPECT_EQ(report.get_int64("unchanged"), unchanged) << report.canonical();
    EXPECT_EQ(report.get_int64("removed"), removed) << report.canonical();
    EXPECT_EQ(report.get_int64("sessions"), copied + appended + unchanged) << report.canonical();
    EXPECT_TRUE(report.get("problems")->items().empty()) << report.canonical();
  }

  Code refusal(Store& store, std::string_view path, std::string_view options = {}) {
    const auto report = store.back_up(path, options);
    EXPECT_FALSE(report.ok());
    return report.code();
  }
};

TEST_F(BackupTest, OfChosenSessionsLeavesTheConfigurationOfACopyAlone) {
  disk_.write_file("store/config.json", R"({"durability":"os"})");
  const auto store = open("store");
  for (const std::string id : {"notes", "other"}) add(*create(*store, id), {"a"});
  backed_up(*store, R"({"sessions":["notes"]})");
  EXPECT_FALSE(disk_.exists("copy/config.json"));
  backed_up(*store);
  disk_.write_file("store/config.json", R"({"durability":"interval"})");
  backed_up(*store, R"({"sessions":["notes"]})");
  EXPECT_EQ(file("copy/config.json"), R"({"durability":"os"})");
}

TEST_F(BackupTest, IsAStoreWithTheSameSessionsEntriesAndDeletions) {
  disk_.write_file("store/config.json", R"({"durability":"os"})");
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  create(*store, "empty");
  add(*notes, {"a", "b", "c"});
  ASSERT_TRUE(notes->remove("b", "asked for").ok());
  ASSERT_TRUE(notes->update(R"({"title":"Kept"})").ok());

  const json::Tree report = backed_up(*store);
  expect_counts(report, 2, 0, 0, 0);
  EXPECT_EQ(report.get_int64("entries"), 3);
  for (const char* name : {"memory.jsonl", "tombstones.jsonl", "metadata.json"}) {
    const std::string path = std::string("/sessions/notes/") + name;
    EXPECT_EQ(file("copy" + path), file("store" + path));
  }
  EXPECT_EQ(file("copy/config.json"), R"({"durability":"os"})");
  EXPECT_FALSE(disk_.exists("copy/sessions/notes/index.bin"));

  const auto copy = open("copy");
  EXPECT_EQ(alive(*copy, "notes"), (Texts{"a", "c"}));
  EXPECT_EQ(alive(*copy, "empty"), Texts{});
  EXPECT_TRUE(is_sound(*copy, "notes"));
  EXPECT_EQ(found(*copy, "notes", "content"), (Texts{"a", "c"}));
  EXPECT_EQ((*copy->open_session("notes"))->metadata()->get_string("title"), "Kept");
  const auto listed = copy->sessions({});
  EXPECT_EQ(listed->get("sessions")->items().size(), 2U);
}

TEST_F(BackupTest, SaysNothingMoreOfASessionThatItRemoved) {
  const auto store = open("store");
  create(*store, "notes");
  create(*store, "other");
  backed_up(*store);
  ASSERT_NE(file("copy/backup.json").find("\"notes\""), std::string::npos);
  ASSERT_TRUE(store->delete_session("notes").ok());
  backed_up(*store);
  EXPECT_EQ(file("copy/backup.json").find("\"notes\""), std::string::npos);
}

TEST_F(BackupTest, FollowsTheSettingsAndTheirEnd) {
  const auto store = open("store");
  create(*store, "notes");
  for (const std::string_view settings : {R"({"durability":"os"})", R"({"durability":"commit"})"}) {
    disk_.write_file("store/config.json", settings);
    backed_up(*store);
    EXPECT_EQ(file("copy/config.json"), settings);
  }
  ASSERT_TRUE((*disk_.open_root("store", false))->remove("config.json").ok());
  backed_up(*store);
  EXPECT_FALSE(disk_.exists("copy/config.json"));
}

TEST_F(BackupTest, ASecondOneCopiesOnlyWhatWasAppended) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  create(*store, "quiet");
  add(*notes, {"a", "b"});
  backed_up(*store);
  const std::string before = file("copy/sessions/notes/memory.jsonl");

  add(*notes, {"c"});
  ASSERT_TRUE(notes->remove("a", "").ok());
  const json::Tree report = backed_up(*store);
  expect_counts(report, 0, 1, 1, 0);
  EXPECT_EQ(report.get_int64("entries"), 1);
  const std::string after = file("copy/sessions/notes/memory.jsonl");
  EXPECT_TRUE(after.starts_with(before));
  EXPECT_EQ(report.get_int64("bytes"),
            static_cast<int64_t>(after.size() - before.size() +
                                 file("copy/sessions/notes/tombstones.jsonl").size()));
  EXPECT_EQ(alive("copy", "notes"), (Texts{"b", "c"}));

  expect_counts(backed_up(*store), 0, 0, 2, 0);
}

// Otherwise a line of it that goes bad would make the others an unfinished batch.
TEST_F(BackupTest, KnowsThatTheLastBatchIsWhole) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  const auto add_batch = [&](const std::string& name) {
    std::string lines;
    for (const char* number : {"1", "2", "3"}) lines += text_of(name + number, "tea") + "\n";
    ASSERT_TRUE(notes->add_batch(lines).ok());
  };
  const auto with_damage_in = [&](const std::string& id) {
    const std::string path = "copy/sessions/notes/memory.jsonl";
    std::string log = file(path);
    log[log.find("\"id\":\"" + id + "\"") - 5] ^= 1;
    disk_.write_file(path, log);
  };
  add_batch("a");
  backed_up(*store);
  const std::string whole = file("copy/sessions/notes/memory.jsonl");
  with_damage_in("a2");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a1", "a3"})) << "copied whole";
  const auto other = open("other");
  restored(*other);
  EXPECT_EQ(alive(*other, "notes"), (Texts{"a1", "a3"})) << "restored";
  disk_.write_file("copy/sessions/notes/memory.jsonl", whole);
  expect_counts(backed_up(*store), 0, 0, 1, 0);

  add_batch("b");
  expect_counts(backed_up(*store), 0, 1, 0, 0);
  with_damage_in("b2");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a1", "a2", "a3", "b1", "b3"})) << "appended";
  restored(*other, R"({"overwrite":true})");
  EXPECT_EQ(alive(*other, "notes"), (Texts{"a1", "a2", "a3", "b1", "b3"})) << "restored again";
}

// It is copied as it is, and cannot say what was durable.
TEST_F(BackupTest, KnowsThatTheLastBatchIsWholeWithoutMetadataToo) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  std::string lines;
  for (const char* id : {"a", "b", "c"}) lines += text_of(id, "tea") + "\n";
  ASSERT_TRUE(notes->add_batch(lines).ok());
  const std::string path = "store/sessions/notes/metadata.json";
  const std::string edited = "{\n  \"by\": \"hand\"," + file(path).substr(1);
  backed_up(*store);
  for (const std::string& metadata : {edited, std::string("{")}) {  // added to, then copied whole
    SCOPED_TRACE(metadata);
    disk_.write_file(path, metadata);
    backed_up(*store);
    EXPECT_EQ(file("copy/sessions/notes/metadata.json"), metadata);
    std::string log = file("copy/sessions/notes/memory.jsonl");
    log[log.find("\"id\":\"b\"") - 5] ^= 1;
    disk_.write_file("copy/sessions/notes/memory.jsonl", log);
    EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "c"}));
  }
  const auto other = open("other");
  restored(*other);
  EXPECT_EQ(alive(*other, "notes"), (Texts{"a", "c"}));
}

// A copy whose log lost its end says so, also where it is restored.
TEST_F(BackupTest, KnowsHowFarItsLogGoes) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  const std::string log = file("copy/sessions/notes/memory.jsonl");
  disk_.write_file("copy/sessions/notes/memory.jsonl", log.substr(0, log.find('\n') + 1));
  const auto other = open("other");
  restored(*other);
  EXPECT_EQ(alive(*other, "notes"), Texts{"a"});
  const auto report = (*other->open_session("notes"))->verify();
  EXPECT_FALSE(report->get_bool("ok", true));
}

TEST_F(BackupTest, TakesChangedMetadataAndQuarantine) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  ASSERT_TRUE(notes->update(R"({"title":"Later"})").ok());
  disk_.write_file("store/sessions/notes/quarantine.jsonl", "{\"bytes\":\"\"}\n");
  expect_counts(backed_up(*store), 0, 1, 0, 0);
  const auto copied = json::Tree::parse(file("copy/sessions/notes/metadata.json"));
  EXPECT_EQ(copied->get_string("title"), "Later");
  EXPECT_EQ(copied->get_int64("durable_seq"), 1);
  EXPECT_EQ(file("copy/sessions/notes/quarantine.jsonl"), "{\"bytes\":\"\"}\n");
  // A purge takes it away: then the copy is made anew, without.
  const auto sessions = *disk_.open_root("store/sessions/notes", false);
  ASSERT_TRUE(sessions->remove("quarantine.jsonl").ok());
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  EXPECT_FALSE(disk_.exists("copy/sessions/notes/quarantine.jsonl"));
}

TEST_F(BackupTest, KnowsTheGenerationOfMetadataWithAByteOrderMark) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  const std::string path = "store/sessions/notes/metadata.json";
  disk_.write_file(path, "\xEF\xBB\xBF" + file(path));
  backed_up(*store);
  const auto manifest = json::Tree::parse(file("copy/backup.json"));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->get("sessions")->items()[0].get_int64("generation"), 1);
}

TEST_F(BackupTest, IsNotStoppedByWhatIsNoFileOfASession) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  const auto folder = *disk_.open_root("store/sessions/notes", false);
  ASSERT_TRUE(folder->make_directory("mine", 0700).ok());
  disk_.write_file("store/sessions/notes/mine.txt", "x");
  disk_.plant_other("store/sessions/notes/link");
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  expect_counts(backed_up(*store), 0, 0, 1, 0);
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
  EXPECT_FALSE(disk_.exists("copy/sessions/notes/mine.txt"));
}

TEST_F(BackupTest, LeavesALargeQuarantineOutAndTellsIt) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  disk_.write_file("store/sessions/notes/quarantine.jsonl",
                   std::string(static_cast<size_t>(log::kDocumentBytesMax) + 1, 'x'));
  const auto report = store->back_up("copy", "");
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto& problems = report->get("problems")->items();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].get_bool("copied"));
  EXPECT_EQ(problems[0].get_string("reason"),
            "quarantine.jsonl was left out: it has 67108865 bytes");
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
  EXPECT_FALSE(disk_.exists("copy/sessions/notes/quarantine.jsonl"));
}

TEST_F(BackupTest, CopiesAReplacedLogWhole) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a", "secret", "c"});
  backed_up(*store);
  ASSERT_TRUE((*store->open_session("notes"))->remove("secret", "").ok());
  compact("store", "notes", disk_);
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "c"}));
  EXPECT_EQ(file("copy/sessions/notes/memory.jsonl").find("secret"), std::string::npos);
  EXPECT_EQ(file("copy/sessions/notes/tombstones.jsonl"), "");
}

TEST_F(BackupTest, DoesNotTrustASizeAlone) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a", "b"});
  backed_up(*store);
  // Another log of the same length and one line more: as after a disk that lost its end.
  std::string log = file("store/sessions/notes/memory.jsonl");
  ASSERT_TRUE(store->delete_session("notes").ok());
  add(*create(*store, "notes"), {"a", "x", "y"});
  ASSERT_EQ(file("store/sessions/notes/memory.jsonl").size() * 2, log.size() * 3);
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "x", "y"}));
}

TEST_F(BackupTest, MakesADamagedCopyAnew) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  backed_up(*store);
  const std::string right = file("copy/sessions/notes/memory.jsonl");
  for (const std::string& wrong :
       {right + "half a li", right.substr(0, right.size() - 9), std::string(right.size(), 'x')}) {
    disk_.write_file("copy/sessions/notes/memory.jsonl", wrong);
    expect_counts(backed_up(*store), 1, 0, 0, 0);
    EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), right);
  }
  disk_.write_file("copy/backup.json", "{\"version\":1,\"sessions\":[]}");
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  disk_.write_file("copy/backup.json", "what is this");
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  expect_counts(backed_up(*store), 0, 0, 1, 0);
}

TEST_F(BackupTest, RemovesSessionsThatWereDeletedUnlessToldNotTo) {
  const auto store = open("store");
  add(*create(*store, "one"), {"a"});
  add(*create(*store, "two"), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("one").ok());
  expect_counts(backed_up(*store, R"({"delete_missing":false})"), 0, 0, 1, 0);
  EXPECT_EQ(alive("copy", "one"), Texts{"a"});
  expect_counts(backed_up(*store, R"({"sessions":["two"]})"), 0, 0, 1, 0);
  EXPECT_EQ(alive("copy", "one"), Texts{"a"});
  expect_counts(backed_up(*store), 0, 0, 1, 1);
  EXPECT_FALSE(disk_.exists("copy/sessions/one"));
}

// Not the ones that it had in an earlier life, either.
TEST_F(BackupTest, ItsListDoesNotKeepWhoseTheRemovedSessionsWere) {
  const auto store = open("store");
  const auto create_of = [&](std::string_view id, std::string_view user) {
    ASSERT_TRUE(store
                    ->create_session(R"({"session_id":")" + std::string(id) + R"(","user_id":")" +
                                     std::string(user) + "\"}")
                    .ok());
  };
  create_of("kept", "ann");
  create_of("gone", "bob");
  create_of("again", "cid");
  const auto expect_list = [&](const Texts& there, const Texts& removed) {
    const std::string list = file("copy/indices/sessions.jsonl");
    for (const auto& word : there) EXPECT_NE(list.find(word), std::string::npos) << word;
    for (const auto& word : removed) EXPECT_EQ(list.find(word), std::string::npos) << word;
  };
  backed_up(*store);
  expect_list({"kept", "ann", "gone", "bob", "again", "cid"}, {});
  ASSERT_TRUE(store->delete_session("gone").ok());
  backed_up(*store);
  expect_list({"kept", "ann", "again", "cid"}, {"gone", "bob"});
  ASSERT_TRUE(store->delete_session("again").ok());
  clock_.advance_ms(1);
  create_of("again", "dan");
  backed_up(*store);
  expect_list({"kept", "ann", "again", "dan"}, {"gone", "bob", "cid"});
}

// A store at a wrong path, or on a disk that is not mounted, is opened as an empty one.
TEST_F(BackupTest, OfAStoreThatNeverHadItsSessionsIsRefusedUntilItIsWanted) {
  {
    const auto store = open("store");
    add(*create(*store, "one"), {"a"});
    backed_up(*store);
  }
  const auto wrong = open("wrong");
  EXPECT_EQ(refusal(*wrong, "copy"), Code::kInvalidArgument);
  create(*wrong, "others");
  EXPECT_EQ(refusal(*wrong, "copy"), Code::kInvalidArgument);
  EXPECT_FALSE(disk_.exists("copy/sessions/others"));
  EXPECT_EQ(alive("copy", "one"), Texts{"a"});
  expect_counts(backed_up(*wrong, R"({"delete_missing":false})"), 1, 0, 0, 0);
  EXPECT_EQ(alive("copy", "one"), Texts{"a"});
}

TEST_F(BackupTest, OfAnotherStoreRemovesWhatItNeverHadWhenThatIsWanted) {
  {
    const auto store = open("store");
    add(*create(*store, "one"), {"a"});
    backed_up(*store);
  }
  expect_counts(backed_up(*open("wrong"), R"({"delete_missing":true})"), 0, 0, 0, 1);
  EXPECT_FALSE(disk_.exists("copy/sessions/one"));
}

TEST_F(BackupTest, OfAStoreWhoseSessionsAreAllDeletedRemovesThem) {
  const auto store = open("store");
  add(*create(*store, "one"), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("one").ok());
  expect_counts(backed_up(*store), 0, 0, 0, 1);
  EXPECT_FALSE(disk_.exists("copy/sessions/one"));
}

TEST_F(BackupTest, CopiesOnlyTheSessionsThatAreNamed) {
  const auto store = open("store");
  add(*create(*store, "one"), {"a"});
  add(*create(*store, "two"), {"a"});
  expect_counts(backed_up(*store, R"({"sessions":["two"]})"), 1, 0, 0, 0);
  EXPECT_FALSE(disk_.exists("copy/sessions/one"));
  EXPECT_EQ(refusal(*store, "copy", R"({"sessions":["two","three"]})"), Code::kNotFound);
  EXPECT_EQ(refusal(*store, "copy", R"({"sesions":["two"]})"), Code::kInvalidArgument);
  EXPECT_EQ(refusal(*store, "copy", R"({"sessions":[]})"), Code::kInvalidArgument);
  EXPECT_FALSE(disk_.exists("copy/sessions/one"));
}

TEST_F(BackupTest, SessionsThatTheListDoesNotKnowAreCopiedToo) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  disk_.write_file("store/indices/sessions.jsonl", "");
  expect_counts(backed_up(*store), 1, 0, 0, 0);
}

TEST_F(BackupTest, RefusesTheStoreItselfAndWhatIsInsideIt) {
  const auto store = open("store");
  create(*store, "notes");
  for (const char* path :
       {"store", "./store/", "store/sessions", "store/sessions/notes/x", "store/new", "/store"}) {
    const Status refused = store->back_up(path, "").status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << path;
    EXPECT_EQ(refused.place().path, path);
    EXPECT_NE(refused.message().find("'" + std::string(path) + "'"), std::string::npos);
  }
  EXPECT_EQ(refusal(*store, ""), Code::kInvalidArgument);
  EXPECT_EQ(refusal(*store, std::string_view("a\0b", 3)), Code::kInvalidArgument);
  EXPECT_FALSE(disk_.exists("store/new"));
  EXPECT_FALSE(disk_.exists("store/backup.json"));
  // A backup that is used as a store is a store.
  backed_up(*store);
  EXPECT_EQ(refusal(*open("copy"), "copy"), Code::kInvalidArgument);
}

TEST_F(BackupTest, RefusesADirectoryOfSomethingElse) {
  const auto store = open("store");
  create(*store, "notes");
  disk_.write_file("photos/cat.jpg", "meow");
  const Status refused = store->back_up("photos", "").status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_TRUE(refused.message().starts_with("the directory 'photos' is not empty"));
  EXPECT_FALSE(disk_.exists("photos/backup.json"));
  open("other");
  EXPECT_EQ(refusal(*store, "other"), Code::kInvalidArgument);
  // What a killed first backup leaves is no reason.
  disk_.write_file("started/backup.json.tmp-0011223344556677", "{");
  disk_.write_file("started/lock", "");
  expect_counts(backed_up(*store, {}, "started"), 1, 0, 0, 0);
  EXPECT_FALSE(disk_.exists("started/backup.json.tmp-0011223344556677"));
}

TEST_F(BackupTest, RefusesABackupOfANewerVersionAndLeavesItAsItIs) {
  const auto store = open("store");
  create(*store, "notes");
  disk_.write_file("copy/backup.json", R"({"version":2})");
  const Status refused = store->back_up("copy", "").status();
  EXPECT_EQ(refused.code(), Code::kFormatVersion);
  EXPECT_TRUE(refused.message().starts_with("copy/backup.json is of version 2;"));
  EXPECT_EQ(file("copy/backup.json"), R"({"version":2})");
  EXPECT_FALSE(disk_.exists("copy/sessions"));
}

TEST_F(BackupTest, OneAtATimeIntoADirectory) {
  const auto store = open("store");
  create(*store, "notes");
  backed_up(*store);
  const auto root = *disk_.open_root("copy", false);
  const auto lock = *root->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  EXPECT_EQ(refusal(*store, "copy"), Code::kBusy);
  ASSERT_TRUE(lock->unlock().ok());
  expect_counts(backed_up(*store), 0, 0, 1, 0);
}

TEST_F(BackupTest, ASessionThatCannotBeReadKeepsItsCopyAndIsAProblem) {
  const auto store = open("store");
  add(*create(*store, "bad"), {"a"});
  const auto good = create(*store, "good");
  backed_up(*store);
  add(*good, {"b"});
  disk_.write_file("store/sessions/bad/metadata.json", R"({"version":2})");
  const json::Tree report = backed_up(*open("store"));
  EXPECT_EQ(report.get_int64("appended"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 1U) << report.canonical();
  const json::Tree& problem = report.get("problems")->items()[0];
  EXPECT_EQ(problem.get_string("session_id"), "bad");
  EXPECT_FALSE(problem.get_bool("copied", true));
  EXPECT_EQ(alive("copy", "bad"), Texts{"a"});
  EXPECT_EQ(file("store/sessions/bad/metadata.json"), R"({"version":2})");
}

TEST_F(BackupTest, DamagedLinesAreCopiedAsTheyAreAndTold) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  const std::string damaged =
      "no line\n" + file("store/sessions/notes/memory.jsonl") + "{\"no\":\"entry\"}\n{\"half\":";
  disk_.write_file("store/sessions/notes/memory.jsonl", damaged);
  const json::Tree report = backed_up(*store);
  EXPECT_EQ(report.get_int64("copied"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 1U);
  EXPECT_TRUE(report.get("problems")->items()[0].get_bool("copied"));
  EXPECT_EQ(report.get("problems")->items()[0].get_string("reason"),
            "2 damaged lines were copied as they are");
  // Not the torn tail: nobody knows yet what becomes of it.
  EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), damaged.substr(0, damaged.size() - 8));
}

TEST_F(BackupTest, AMemoryStoreCanBeCopied) {
  const auto store = open("memory:");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b"});
  ASSERT_TRUE(notes->remove("a", "").ok());
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  add(*notes, {"c"});
  expect_counts(backed_up(*store), 0, 1, 0, 0);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"b", "c"}));
}

TEST_F(BackupTest, ManyBatchesInASmallLogAreCopiedWhole) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  const auto add_batches = [&](const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string id = name + std::to_string(i);
      ASSERT_TRUE(
          notes->add_batch("[" + text_of(id + "x", "1") + "," + text_of(id + "y", "2") + "]").ok());
    }
  };
  add_batches("few", 3);
  expect_counts(backed_up(*store), 0, 1, 0, 0);
  add_batches("many", 17);
  expect_counts(backed_up(*store), 1, 0, 0, 0);
  EXPECT_EQ(alive("copy", "notes").size(), 41U);
}

// A full disk ends the backup with its own failure, and leaves what was copied before.
TEST_F(BackupTest, AFullDiskIsToldAndTheCopyStays) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  const std::string big(20000, 'x');
  ASSERT_TRUE(notes->add(text_of("big", big)).ok());
  ASSERT_TRUE(notes->sync().ok());
  uint64_t used = 0;
  for (const auto& path : disk_.list_all()) {
    if (!path.ends_with('/')) used += disk_.read_file(path)->size();
  }
  disk_.set_capacity_bytes(used + 10000);
  EXPECT_EQ(refusal(*store, "copy"), Code::kNoSpace);
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
  disk_.set_capacity_bytes(std::nullopt);
  backed_up(*store);
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "big"}));
}

// --- while others work ---------------------------------------------------------------------------

// Before each of the backup's operations in turn, another process deletes, adds and compacts.
// What was acknowledged before is there; what was deleted before is not, whatever was replaced.
TEST_F(BackupTest, WhateverOthersDoInBetweenNothingComesBackAndNothingIsLost) {
  for (const bool compacts : {false, true}) {
    int64_t moments = 0;
    for (bool happened = true; happened;) {
      happened = false;
      const int64_t wanted = moments + 1;
      const std::string number = std::to_string(wanted) + (compacts ? "c" : "");
      const std::string root = "store" + number;
      const std::string target = "copy" + number;
      const auto own = disk_.process(1);
      const auto other = disk_.process(2);
      const auto writer = open(root, other.get());
      const auto notes = create(*writer, "notes");
      add(*notes, {"kept", "dead", "later", "last"});
      ASSERT_TRUE(notes->remove("dead", "").ok());
      const auto store = open(root, own.get());
      int64_t seen = 0;
      disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        if (operation.process_id != 1 || ++seen != wanted) return std::nullopt;
        happened = true;
        EXPECT_TRUE(notes->remove("later", "").ok());
        if (compacts) compact(root, "notes", *other);
        add(*notes, {"new"});
        return std::nullopt;
      });
      backed_up(*store, {}, target);
      disk_.set_fault_hook({});
      const Texts ids = alive(target, "notes");
      const auto has = [&](const char* id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
      };
      ASSERT_TRUE(has("kept") && has("last")) << "at operation " << wanted;
      ASSERT_FALSE(has("dead")) << "at operation " << wanted;
      ASSERT_TRUE(!has("new") || !has("later")) << "at operation " << wanted;
      if (!happened) break;
      moments += 1;
      backed_up(*store, {}, target);
      ASSERT_EQ(alive(target, "notes"), (Texts{"kept", "last", "new"})) << "at " << wanted;
    }
    EXPECT_GT(moments, 20);
  }
}

}  // namespace
}  // namespace varve::store
