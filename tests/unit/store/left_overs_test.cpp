// What a killed restore or deletion left in tmp/, beside programs that have the store open.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backup_rig.h"
#include "session/upkeep/compaction.h"

namespace varve::store {
namespace {

constexpr std::string_view kLeftOver = "store/tmp/new.tmp-0123456789abcdef";

Status purge(session::Session& session) {
  session::CompactionOptions options;
  options.cause = session::CompactionCause::kPurge;
  return session.compact(options).status();
}

class LeftOvers : public BackupFixture {
 protected:
  void SetUp() override {
    store_ = open("store");
    session_ = create(*store_, "notes");
    add(*session_, {"a", "b"});
    ASSERT_TRUE(session_->remove("a", "").ok());
    // As a restore of an older backup makes it, which has the deleted entry.
    maker_ = disk_.process(4711);
    const auto temporary = *(*maker_->open_root("store", false))->open_directory("tmp");
    ASSERT_TRUE(temporary->make_directory("new.tmp-0123456789abcdef").ok());
    const auto directory = *temporary->open_directory("new.tmp-0123456789abcdef");
    lock_ = *directory->open("lock", io::OpenMode::kUpdateOrCreate);
    ASSERT_TRUE(*lock_->try_lock());
    const auto log = *directory->open("memory.jsonl", io::OpenMode::kCreateExclusive);
    ASSERT_TRUE(log->append(text_of("a", "content of a")).ok());
  }
  [[nodiscard]] bool is_left() const { return disk_.exists(std::string(kLeftOver)); }

  std::shared_ptr<Store> store_;
  std::shared_ptr<session::Session> session_;
  std::unique_ptr<io::SimulatedFileSystem> maker_;
  std::unique_ptr<io::File> lock_;
};

TEST_F(LeftOvers, OfAKilledRestoreGoWithAPurge) {
  maker_->kill();
  ASSERT_TRUE(purge(*session_).ok());
  EXPECT_FALSE(is_left());
}

// As a power loss may leave it: of the files that were made, any may have reached the disk.
TEST_F(LeftOvers, OfWhichNoLockIsLeftGoWithAPurge) {
  maker_->kill();
  disk_.set_now_ms(clock_.now_ms());
  ASSERT_TRUE((*disk_.open_root(kLeftOver, false))->remove("lock").ok());
  ASSERT_TRUE(purge(*session_).ok());
  EXPECT_FALSE(is_left());
}

TEST_F(LeftOvers, GoWithASweep) {
  maker_->kill();
  ASSERT_TRUE(store_->sweep().ok());
  EXPECT_FALSE(is_left());
}

TEST_F(LeftOvers, GoWithADeletionOfASession) {
  maker_->kill();
  ASSERT_TRUE(store_->delete_session("notes").ok());
  EXPECT_FALSE(is_left());
}

TEST_F(LeftOvers, OfAKilledRebuildOfTheListGoUnlessSomebodyRebuildsIt) {
  const std::string list = "store/indices/sessions.jsonl.tmp-0123456789abcdef";
  disk_.write_file(list, "a row");
  const auto indices =
      *(*disk_.process(4712)->open_root("store", false))->open_directory("indices");
  const auto lock = *indices->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  ASSERT_TRUE(store_->sweep().ok());
  EXPECT_TRUE(disk_.exists(list));
  ASSERT_TRUE(lock->unlock().ok());
  ASSERT_TRUE(store_->sweep().ok());
  EXPECT_FALSE(disk_.exists(list));
}

TEST_F(LeftOvers, OfALivingProcessAreNone) {
  ASSERT_TRUE(purge(*session_).ok());
  ASSERT_TRUE(store_->sweep().ok());
  ASSERT_TRUE(store_->delete_session("notes").ok());
  EXPECT_TRUE(is_left());
}

// A disk may refuse to remove some files and remove the others. Who has the session open must then
// not find what was deleted there, nor add to what a sweep removes.
TEST_F(LeftOvers, OfADeletionThatTheLogStayedBehindOfAreNoSession) {
  const auto process = disk_.process(4712);
  const auto other = open("store", process.get());
  const auto handle = *other->open_session("notes");
  ASSERT_TRUE(handle->add(text_of("c", "content of c")).ok());
  ASSERT_EQ(handle->get("a").code(), Code::kNotFound);
  disk_.set_fault_hook([](const io::OperationInfo& done) -> std::optional<io::Fault> {
    const bool is_refused = done.name == "metadata.json" || done.name == "memory.jsonl";
    if (!is_refused || done.kind != io::OperationKind::kRemove) return std::nullopt;
    return io::Fault{EIO};
  });
  ASSERT_TRUE(store_->delete_session("notes").ok());
  EXPECT_EQ(handle->get("a").code(), Code::kNotFound);
  for (const std::string id : {"d", "e", "f"}) {
    EXPECT_FALSE(handle->add(text_of(id, "content of " + id)).ok()) << id;
  }
  disk_.set_fault_hook({});
  const auto left = *(*disk_.open_root("store", false))->open_directory("tmp");
  ASSERT_EQ(left->list()->size(), 2U);  // and that of the killed restore
  ASSERT_TRUE(store_->sweep().ok());
  EXPECT_EQ(left->list()->size(), 1U);
  EXPECT_EQ(handle->get("c").code(), Code::kNotFound);
}

TEST_F(LeftOvers, ThatCannotBeRemovedMakeAPurgeFail) {
  maker_->kill();
  disk_.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kRemove}).on_file("memory.jsonl"));
  const auto log = [&] { return disk_.read_file("store/sessions/notes/memory.jsonl").value(); };
  ASSERT_NE(log().find("content of a"), std::string::npos);
  EXPECT_EQ(purge(*session_).code(), Code::kIo);
  EXPECT_EQ(log().find("content of a"), std::string::npos) << "the session itself is purged";
  EXPECT_TRUE(session_->get("b").ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(purge(*session_).ok());
  EXPECT_FALSE(is_left());
}

TEST_F(LeftOvers, OfWhichOneCannotBeRemovedMakeAPurgeFailAndTheOthersGo) {
  maker_->kill();
  const std::string later = "store/tmp/new.tmp-fedcba9876543210";
  disk_.write_file(later + "/lock", "");
  disk_.write_file(later + "/transcript.md", "content of a");
  disk_.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kRemove}).on_file("memory.jsonl"));
  EXPECT_EQ(purge(*session_).code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(is_left());
  EXPECT_FALSE(disk_.exists(later));
}

// A copy of a store, on a medium that cannot be written, has no tmp/ where nobody copied it.
TEST_F(LeftOvers, AreNotLookedForWhereNothingCanBeWritten) {
  create(*open("copy"), "notes");
  ASSERT_TRUE((*disk_.open_root("copy", false))->remove_directory("tmp").ok());
  disk_.set_read_only(true);
  const auto copy = open("copy");
  EXPECT_EQ(copy->sweep().code(), Code::kOk);
  EXPECT_EQ(copy->delete_session("notes").code(), Code::kReadOnly);
  EXPECT_TRUE(copy->open_session("notes").ok());
}

// Its maker may be about to lock it, and has written nothing yet.
TEST_F(LeftOvers, WithoutContentsStayUntilTheStoreIsOpened) {
  maker_->kill();
  const auto directory = *disk_.open_root(kLeftOver, false);
  ASSERT_TRUE(directory->remove("memory.jsonl").ok());
  ASSERT_TRUE(purge(*session_).ok());
  EXPECT_TRUE(is_left());
  open("store");
  EXPECT_FALSE(is_left());
}

}  // namespace
}  // namespace varve::store
