// Backup and restore of sessions of which files beside the log are damaged.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "backup_rig.h"

namespace varve::store {
namespace {

const std::string kHere = "store/sessions/notes/";
const std::string kCopied = "copy/sessions/notes/";

class DamagedDocuments : public BackupFixture {
 protected:
  // A store whose session has an entry, a key, a turn and two vectors, and a copy of it.
  void SetUp() override {
    store_ = open("store");
    auto notes = create(*store_, "notes");
    add(*notes, {"a", "b"});
    ASSERT_TRUE(notes->kv_set("key", "value").ok());
    ASSERT_TRUE(notes->transcript_append("user", "hello").ok());
    ASSERT_TRUE(notes->transcript_append("assistant", "good morning").ok());
    ASSERT_TRUE(notes->put_vector("a", std::vector<float>{1, 0}).ok());
    ASSERT_TRUE(notes->put_vector("b", std::vector<float>{0, 1}).ok());
    notes->close();
    notes.reset();
    backed_up(*store_);
  }
  static Texts reasons(const json::Tree& report) {
    Texts found;
    for (const auto& problem : report.get("problems")->items()) {
      found.push_back(problem.get_string("reason"));
    }
    return found;
  }
  // Not its end: that would pass for a torn one.
  void damage(const std::string& path) {
    std::string bytes = file(path);
    char& byte = bytes[bytes.size() / 3];
    byte = byte == '\0' ? '\1' : '\0';
    disk_.write_file(path, bytes);
  }
  static Texts told(const std::string& names) {
    return {"damage in " + names + " was copied as it is"};
  }

  std::shared_ptr<Store> store_;
};

const std::string kAll = "kv.json, transcript.md, vectors.bin";
const Texts kNames = {"kv.json", "transcript.md", "vectors.bin"};

TEST_F(DamagedDocuments, AreToldByABackupThatExtendsTheCopy) {
  for (const std::string& name : kNames) damage(kHere + name);
  const json::Tree report = backed_up(*store_);
  EXPECT_EQ(report.get_int64("appended"), 1);
  EXPECT_EQ(reasons(report), told(kAll));
  EXPECT_EQ(reasons(backed_up(*store_)), Texts());  // nothing new is copied
}

TEST_F(DamagedDocuments, AreToldByABackupThatCopiesTheSessionWhole) {
  for (const std::string& name : kNames) {
    SCOPED_TRACE(name);
    damage(kHere + name);
    const auto report = store_->back_up("another-" + name, {});
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(reasons(*report), told(name));
    disk_.write_file(kHere + name, file(kCopied + name));
  }
}

TEST_F(DamagedDocuments, AreToldByARestore) {
  for (const std::string& name : kNames) damage(kCopied + name);
  const auto other = open("other");
  EXPECT_EQ(reasons(restored(*other)), told(kAll));
  EXPECT_EQ(alive(*other, "notes"), (Texts{"a", "b"}));
}

TEST_F(DamagedDocuments, OfACopyDoNotReplaceThoseOfAWholeSession) {
  for (const std::string& name : kNames) {
    SCOPED_TRACE(name);
    const std::string whole = file(kHere + name);
    damage(kCopied + name);
    EXPECT_EQ(store_->restore("copy", R"({"overwrite":true})").code(), Code::kCorruption);
    EXPECT_EQ(file(kHere + name), whole);
    disk_.write_file(kCopied + name, whole);
  }
}

TEST_F(DamagedDocuments, OfACopyReplaceASessionThatIsDamaged) {
  damage(kCopied + "kv.json");
  damage(kHere + "transcript.md");
  EXPECT_EQ(reasons(restored(*store_, R"({"overwrite":true})")), told("kv.json"));
  EXPECT_EQ(file(kHere + "transcript.md"), file(kCopied + "transcript.md"));
}

TEST_F(DamagedDocuments, OfLostMetadataABackupTells) {
  const std::string whole = file(kHere + "metadata.json");
  for (const std::string text : {"", "damaged"}) {
    disk_.write_file(kHere + "metadata.json", text);
    EXPECT_EQ(reasons(backed_up(*store_)),
              Texts{"its metadata.json is missing or cannot be read, and so are title, ttl_hours "
                    "and settings in the copy"});
    disk_.write_file(kHere + "metadata.json", whole);
    EXPECT_EQ(reasons(backed_up(*store_)), Texts());
  }
}

}  // namespace
}  // namespace varve::store
