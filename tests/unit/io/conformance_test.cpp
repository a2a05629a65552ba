// What both file systems must do alike.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include "io/posix.h"
#include "io/simulated.h"
#include "temporary_directory.h"

namespace varve::io {
namespace {

class PosixBackend {
 public:
  FileSystem& files() { return files_; }
  std::string root_path() const { return temporary_.path_of("root"); }

 private:
  TemporaryDirectory temporary_;
  PosixFileSystem files_;
};

class SimulatedBackend {
 public:
  FileSystem& files() { return files_; }
  std::string root_path() const { return "/somewhere/root"; }

 private:
  SimulatedFileSystem files_;
};

struct BackendNames {
  template <typename T>
  static std::string GetName(int index) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return index == 0 ? "Posix" : "Simulated";
  }
};

template <typename Backend>
class FileSystemConformance : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = backend_.files().open_root(backend_.root_path(), true);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    root_ = *std::move(opened);
  }

  std::unique_ptr<File> open(std::string_view name, OpenMode mode, uint32_t permissions = 0600) {
    auto opened = root_->open(name, mode, permissions);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void put(std::string_view name, std::string_view bytes) {
    auto file = open(name, OpenMode::kAppendOrCreate);
    ASSERT_TRUE(file->truncate(0).ok());
    ASSERT_TRUE(file->append(bytes).ok());
  }
  static std::string read(File& file, uint64_t offset = 0, size_t size = 100) {
    std::string bytes(size, '?');
    auto count = file.read_at(offset, bytes);
    EXPECT_TRUE(count.ok()) << count.status().message();
    bytes.resize(count.ok() ? *count : 0);
    return bytes;
  }
  std::string read(std::string_view name) { return read(*open(name, OpenMode::kRead)); }

  std::string path_of(std::string_view name) const {
    return backend_.root_path() + "/" + std::string(name);
  }
  void expect_failure(const Status& status, Code code, int os_errno, std::string_view text) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_EQ(status.place().os_errno, os_errno) << status.message();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  Backend backend_;
  std::unique_ptr<Directory> root_;
};

using Backends = testing::Types<PosixBackend, SimulatedBackend>;
TYPED_TEST_SUITE(FileSystemConformance, Backends, BackendNames);

TYPED_TEST(FileSystemConformance, AFileOfTheUsersIsOpenedByItsPath) {
  this->put("notes", "content");
  auto& files = this->backend_.files();
  auto file = files.open_file(this->path_of("notes"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(this->read(**file), "content");
  EXPECT_EQ((*file)->append("x").code(), Code::kInvalidArgument);
  EXPECT_EQ(files.open_file(this->path_of("absent")).code(), Code::kNotFound);
  EXPECT_EQ(files.open_file(this->path_of("absent/notes")).code(), Code::kNotFound);
  ASSERT_TRUE(this->root_->make_directory("folder").ok());
  const auto refused = files.open_file(this->path_of("folder"));
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_NE(refused.status().message().find("a directory"), std::string::npos);
  EXPECT_EQ(files.open_file("").code(), Code::kInvalidArgument);
  EXPECT_EQ(files.open_file(std::string("a\0b", 3)).code(), Code::kInvalidArgument);
}

TYPED_TEST(FileSystemConformance, ReadAndAppendNeedAnExistingFile) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kAppend}) {
    this->expect_failure(this->root_->open("absent", mode).status(), Code::kNotFound, ENOENT,
                         "cannot open '" + this->path_of("absent") + "': No such file");
  }
  EXPECT_EQ(this->root_->info("absent").code(), Code::kNotFound);
}

TYPED_TEST(FileSystemConformance, FindingANameThatIsNotThereIsNoFailure) {
  const auto absent = this->root_->find("absent");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->has_value());
  const std::string longest(255, 'n');
  ASSERT_TRUE(this->open(longest, OpenMode::kAppendOrCreate)->append("12345").ok());
  const auto there = this->root_->find(longest);
  ASSERT_TRUE(there.ok());
  ASSERT_TRUE(there->has_value());
  EXPECT_EQ((*there)->size_bytes, 5U);
  EXPECT_EQ((*there)->identity, this->root_->info(longest)->identity);
  EXPECT_EQ(this->root_->find(longest + "n").code(), Code::kInvalidArgument);
  EXPECT_EQ(this->root_->find("a/b").code(), Code::kInvalidArgument);
}

TYPED_TEST(FileSystemConformance, CreatingModesMakeAnEmptyFileAndKeepAnExistingOne) {
  for (const OpenMode mode : {OpenMode::kAppendOrCreate, OpenMode::kUpdateOrCreate}) {
    const std::string name = "file" + std::to_string(static_cast<int>(mode));
    EXPECT_EQ(this->read(*this->open(name, mode)), "");
    this->put(name, "content");
    EXPECT_EQ(this->read(*this->open(name, mode)), "content");
  }
}

TYPED_TEST(FileSystemConformance, ExclusiveCreationRefusesAnExistingName) {
  auto file = this->open("temporary", OpenMode::kCreateExclusive);
  ASSERT_TRUE(file->append("x").ok());
  this->expect_failure(this->root_->open("temporary", OpenMode::kCreateExclusive).status(),
                       Code::kAlreadyExists, EEXIST, "temporary");
  EXPECT_EQ(this->read("temporary"), "x");
}

TYPED_TEST(FileSystemConformance, AppendWritesAtTheEndWhoeverElseWrote) {
  auto first = this->open("log", OpenMode::kAppendOrCreate);
  auto second = this->open("log", OpenMode::kAppend);
  ASSERT_TRUE(first->append("one ").ok());
  ASSERT_TRUE(second->append("two ").ok());
  ASSERT_TRUE(first->append("three").ok());
  ASSERT_TRUE(first->append("").ok());
  EXPECT_EQ(this->read(*second), "one two three");
  EXPECT_EQ(first->info()->size_bytes, 13U);
}

TYPED_TEST(FileSystemConformance, WhereAnAppendEndedIsNotBeforeItsBytes) {
  auto first = this->open("log", OpenMode::kAppendOrCreate);
  auto second = this->open("log", OpenMode::kAppend);
  EXPECT_EQ(*first->size_bytes(), 0U);
  ASSERT_TRUE(first->append("one ").ok());
  EXPECT_EQ(*first->append_end(), 4U);
  ASSERT_TRUE(second->append("two ").ok());
  EXPECT_EQ(*second->append_end(), 8U);
  EXPECT_EQ(*first->size_bytes(), 8U);
  ASSERT_TRUE(first->append("three").ok());
  EXPECT_EQ(*first->append_end(), 13U);
  ASSERT_TRUE(first->append("!").ok());
  EXPECT_GE(*second->append_end(), 8U);
  EXPECT_EQ(*second->size_bytes(), 14U);
  ASSERT_TRUE(second->truncate(4).ok());
  ASSERT_TRUE(first->append("more").ok()) << "at the end, whatever was asked";
  EXPECT_EQ(*first->append_end(), 8U);
  EXPECT_EQ(this->read(*second), "one more");
}

TYPED_TEST(FileSystemConformance, AppendTakesMoreThanOnePage) {
  std::string large(3'000'000, 'a');
  large.back() = 'z';
  auto file = this->open("log", OpenMode::kAppendOrCreate);
  ASSERT_TRUE(file->append("head").ok());
  ASSERT_TRUE(file->append(large).ok());
  std::string bytes(large.size() + 10, '?');
  const auto count = file->read_at(4, bytes);
  ASSERT_TRUE(count.ok());
  ASSERT_EQ(*count, large.size());
  bytes.resize(*count);
  EXPECT_TRUE(bytes == large);
}

TYPED_TEST(FileSystemConformance, ReadGivesFewerBytesOnlyAtTheEnd) {
  this->put("file", "0123456789");
  auto file = this->open("file", OpenMode::kRead);
  EXPECT_EQ(this->read(*file, 0, 4), "0123");
  EXPECT_EQ(this->read(*file, 8, 4), "89");
  EXPECT_EQ(this->read(*file, 10, 4), "");
  EXPECT_EQ(this->read(*file, 99, 4), "");
  EXPECT_EQ(this->read(*file, 3, 0), "");
}

TYPED_TEST(FileSystemConformance, UpdateWritesAnywhereAndFillsTheGapWithZeros) {
  auto file = this->open("lock", OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(file->write_at(0, "abcdef").ok());
  ASSERT_TRUE(file->write_at(2, "XY").ok());
  ASSERT_TRUE(file->write_at(8, "z").ok());
  EXPECT_EQ(this->read(*file), std::string("abXYef\0\0z", 9));
  ASSERT_TRUE(file->sync_data().ok());
}

TYPED_TEST(FileSystemConformance, TruncateShortensAndLengthensAndAppendContinuesThere) {
  auto file = this->open("log", OpenMode::kAppendOrCreate);
  ASSERT_TRUE(file->append("0123456789").ok());
  ASSERT_TRUE(file->truncate(3).ok());
  ASSERT_TRUE(file->append("x").ok());
  EXPECT_EQ(this->read(*file), "012x");
  ASSERT_TRUE(file->truncate(6).ok());
  EXPECT_EQ(this->read(*file), std::string("012x\0\0", 6));
}

TYPED_TEST(FileSystemConformance, AHandleDoesOnlyWhatItWasOpenedFor) {
  this->put("file", "x");
  auto reader = this->open("file", OpenMode::kRead);
  auto appender = this->open("file", OpenMode::kAppend);
  auto updater = this->open("file", OpenMode::kUpdateOrCreate);
  for (const Status& status :
       {reader->append("y"), reader->write_at(0, "y"), reader->truncate(0), reader->unlock(),
        reader->try_lock().status(), appender->write_at(0, "y"), appender->try_lock().status(),
        updater->append("y")}) {
    this->expect_failure(status, Code::kInvalidArgument, EBADF, "was not opened for that");
  }
  EXPECT_EQ(this->read("file"), "x");
}

TYPED_TEST(FileSystemConformance, RenameReplacesAndOpenHandlesKeepTheirFile) {
  this->put("log", "old");
  this->put("log.tmp", "new");
  auto before = this->open("log", OpenMode::kRead);
  ASSERT_TRUE(this->root_->rename("log.tmp", "log").ok());
  EXPECT_EQ(this->read("log"), "new");
  EXPECT_EQ(this->read(*before), "old");
  EXPECT_EQ(before->info()->link_count, 0U);
  EXPECT_EQ(this->root_->info("log.tmp").code(), Code::kNotFound);
  EXPECT_NE(before->info()->identity, this->root_->info("log")->identity);
  this->expect_failure(
      this->root_->rename("absent", "log"), Code::kNotFound, ENOENT,
      "cannot rename '" + this->path_of("absent") + "' to '" + this->path_of("log") + "'");
  EXPECT_TRUE(this->root_->sync().ok());
}

TYPED_TEST(FileSystemConformance, RenameRefusesToMixFilesAndDirectories) {
  this->put("file", "x");
  ASSERT_TRUE(this->root_->make_directory("empty").ok());
  ASSERT_TRUE(this->root_->make_directory("full").ok());
  auto full = *this->root_->open_directory("full");
  ASSERT_TRUE(full->open("inside", OpenMode::kAppendOrCreate).ok());
  EXPECT_EQ(this->root_->rename("file", "empty").place().os_errno, EISDIR);
  EXPECT_EQ(this->root_->rename("empty", "file").place().os_errno, ENOTDIR);
  EXPECT_EQ(this->root_->rename("empty", "full").place().os_errno, ENOTEMPTY);
  EXPECT_TRUE(this->root_->rename("full", "empty").ok());
  EXPECT_TRUE((*this->root_->open_directory("empty"))->info("inside").ok());
}

TYPED_TEST(FileSystemConformance, MoveToTakesAFileOrDirectoryAndNeverReplaces) {
  ASSERT_TRUE(this->root_->make_directory("session").ok());
  ASSERT_TRUE(this->root_->make_directory("trash").ok());
  auto trash = *this->root_->open_directory("trash");
  this->put("file", "mine");
  ASSERT_TRUE(trash->open("taken", OpenMode::kAppendOrCreate).ok());

  this->expect_failure(this->root_->move_to("file", *trash, "taken"), Code::kAlreadyExists, EEXIST,
                       "taken");
  EXPECT_EQ(this->read("file"), "mine");
  ASSERT_TRUE(this->root_->move_to("file", *trash, "kept").ok());
  EXPECT_EQ(this->root_->info("file").code(), Code::kNotFound);
  EXPECT_EQ(trash->info("kept")->size_bytes, 4U);

  ASSERT_TRUE(this->root_->move_to("session", *trash, "session").ok());
  EXPECT_EQ(trash->info("session")->kind, FileKind::kDirectory);
  EXPECT_EQ(this->root_->info("session").code(), Code::kNotFound);
  this->expect_failure(this->root_->move_to("session", *trash, "other"), Code::kNotFound, ENOENT,
                       "session");
}

TYPED_TEST(FileSystemConformance, ExchangeSwapsTwoNamesAndNeedsBoth) {
  ASSERT_TRUE(this->root_->make_directory("session").ok());
  ASSERT_TRUE(this->root_->make_directory("staging").ok());
  auto staging = *this->root_->open_directory("staging");
  ASSERT_TRUE(staging->make_directory("made").ok());
  ASSERT_TRUE((*staging->open_directory("made"))->open("new", OpenMode::kAppendOrCreate).ok());
  ASSERT_TRUE(
      (*this->root_->open_directory("session"))->open("old", OpenMode::kAppendOrCreate).ok());

  ASSERT_TRUE(staging->exchange("made", *this->root_, "session").ok());
  EXPECT_TRUE((*this->root_->open_directory("session"))->info("new").ok());
  EXPECT_TRUE((*staging->open_directory("made"))->info("old").ok());

  this->expect_failure(staging->exchange("made", *this->root_, "absent"), Code::kNotFound, ENOENT,
                       "made");
  this->expect_failure(staging->exchange("absent", *this->root_, "session"), Code::kNotFound,
                       ENOENT, "absent");
}

TYPED_TEST(FileSystemConformance, RemoveTakesFilesAndRemoveDirectoryEmptyDirectories) {
  this->put("file", "x");
  ASSERT_TRUE(this->root_->make_directory("directory").ok());
  auto directory = *this->root_->open_directory("directory");
  ASSERT_TRUE(directory->open("inside", OpenMode::kAppendOrCreate).ok());

  this->expect_failure(this->root_->remove("directory"), Code::kIo, EISDIR, "directory");
  this->expect_failure(this->root_->remove_directory("file"), Code::kIo, ENOTDIR, "file");
  this->expect_failure(this->root_->remove_directory("directory"), Code::kIo, ENOTEMPTY,
                       "directory");
  ASSERT_TRUE(directory->remove("inside").ok());
  ASSERT_TRUE(this->root_->remove_directory("directory").ok());
  ASSERT_TRUE(this->root_->remove("file").ok());
  EXPECT_EQ(this->root_->remove("file").code(), Code::kNotFound);
  EXPECT_TRUE(this->root_->list()->empty());
  EXPECT_EQ(directory->open("late", OpenMode::kAppendOrCreate).code(), Code::kNotFound);
}

TYPED_TEST(FileSystemConformance, ListTellsNamesAndKindsEachTime) {
  this->put("b", "x");
  this->put(".hidden", "x");
  ASSERT_TRUE(this->root_->make_directory("a").ok());
  for (int round = 0; round < 2; ++round) {
    auto items = *this->root_->list();
    std::sort(items.begin(), items.end(),
              [](const auto& left, const auto& right) { return left.name < right.name; });
    ASSERT_EQ(items.size(), 3U);
    EXPECT_EQ(items[0].name, ".hidden");
    EXPECT_EQ(items[1].name, "a");
    EXPECT_EQ(items[1].kind, FileKind::kDirectory);
    EXPECT_EQ(items[2].name, "b");
    EXPECT_EQ(items[2].kind, FileKind::kRegular);
  }
}

TYPED_TEST(FileSystemConformance, InfoDescribesTheSameFileByNameAndByHandle) {
  this->put("file", "12345");
  this->put("other", "");
  auto file = this->open("file", OpenMode::kRead);
  const FileInfo by_handle = *file->info();
  const FileInfo by_name = *this->root_->info("file");
  EXPECT_EQ(by_handle.identity, by_name.identity);
  EXPECT_NE(by_handle.identity, this->root_->info("other")->identity);
  EXPECT_EQ(by_name.kind, FileKind::kRegular);
  EXPECT_EQ(by_name.size_bytes, 5U);
  EXPECT_EQ(by_name.link_count, 1U);
  EXPECT_EQ(by_name.permissions, 0600U);
  EXPECT_GT(by_name.modified_ms, int64_t{1'600'000'000'000});
  EXPECT_EQ(this->root_->self_info()->kind, FileKind::kDirectory);
  EXPECT_EQ(this->root_->self_info()->permissions, 0700U);
}

// Where a file has a stamp, it has another one, or another size, after everything that changes it
// or its name.
TYPED_TEST(FileSystemConformance, AStampEndsWithEveryChange) {
  this->put("file", "12345");
  this->put("other", "1");
  auto file = this->open("file", OpenMode::kAppend);
  FileInfo before = **this->root_->find("file");
  const auto expect_change = [&](const char* what) {
    const FileInfo now = *file->info();
    EXPECT_TRUE(now.change_stamp == 0 || now.change_stamp != before.change_stamp ||
                now.size_bytes != before.size_bytes)
        << what;
    before = now;
  };
  EXPECT_EQ(file->info()->change_stamp, before.change_stamp) << "nothing happened";
  ASSERT_TRUE(file->append("6").ok());
  expect_change("append");
  ASSERT_TRUE(file->truncate(2).ok());
  expect_change("truncate");
  ASSERT_TRUE(this->root_->rename("file", "name").ok());
  expect_change("rename");
  ASSERT_TRUE(this->root_->exchange("name", *this->root_, "other").ok());
  expect_change("exchange");
  ASSERT_TRUE(this->root_->rename("name", "other").ok());
  expect_change("replaced");
  EXPECT_EQ(before.change_stamp, 0U) << "it has no name";
}

TYPED_TEST(FileSystemConformance, PermissionsAreExactWhateverTheUmask) {
  struct Case {
    mode_t umask;
    uint32_t permissions;
  };
  int number = 0;
  for (const auto& [mask, permissions] :
       {Case{0777, 0600}, Case{0777, 0640}, Case{0022, 0666}, Case{0, 0600}}) {
    const std::string file = "file" + std::to_string(++number);
    const std::string directory = "directory" + std::to_string(number);
    const mode_t before = ::umask(mask);
    const bool opened = this->root_->open(file, OpenMode::kAppendOrCreate, permissions).ok();
    const Status made = this->root_->make_directory(directory, permissions | 0100);
    ::umask(before);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(made.ok()) << made.message();
    EXPECT_EQ(this->root_->info(file)->permissions, permissions);
    EXPECT_EQ(this->root_->info(directory)->permissions & 0777U, permissions | 0100);
  }
}

TYPED_TEST(FileSystemConformance, AnExistingFileKeepsItsPermissions) {
  this->open("file", OpenMode::kAppendOrCreate, 0640);
  this->open("file", OpenMode::kAppendOrCreate, 0600);
  EXPECT_EQ(this->root_->info("file")->permissions, 0640U);
}

TYPED_TEST(FileSystemConformance, ADirectoryInPlaceOfAFileIsRefusedAndNamed) {
  ASSERT_TRUE(this->root_->make_directory("memory.jsonl").ok());
  for (const OpenMode mode :
       {OpenMode::kRead, OpenMode::kAppend, OpenMode::kAppendOrCreate, OpenMode::kUpdateOrCreate}) {
    this->expect_failure(this->root_->open("memory.jsonl", mode).status(), Code::kIo, EISDIR,
                         "it is a directory, not a regular file");
  }
}

TYPED_TEST(FileSystemConformance, AFileInPlaceOfADirectoryIsRefusedAndNamed) {
  this->put("sessions", "x");
  this->expect_failure(this->root_->open_directory("sessions").status(), Code::kIo, ENOTDIR,
                       "it is a regular file, not a directory");
  EXPECT_EQ(this->root_->open_directory("absent").code(), Code::kNotFound);
  EXPECT_EQ(this->root_->make_directory("sessions").code(), Code::kAlreadyExists);
}

TYPED_TEST(FileSystemConformance, NamesMustBeOneComponent) {
  auto other = *this->backend_.files().open_root(this->backend_.root_path(), false);
  this->put("fine", "x");
  const std::string too_long(256, 'n');
  for (const std::string_view name :
       {std::string_view(""), std::string_view("."), std::string_view(".."),
        std::string_view("a/b"), std::string_view("/etc"), std::string_view("a/"),
        std::string_view("nul\0byte", 8), std::string_view(too_long)}) {
    Directory& root = *this->root_;
    for (const Status& status :
         {root.open(name, OpenMode::kAppendOrCreate).status(), root.info(name).status(),
          root.rename(name, "x"), root.rename("fine", name), root.move_to(name, *other, "x"),
          root.move_to("fine", *other, name), root.remove(name), root.make_directory(name),
          root.open_directory(name).status(), root.remove_directory(name)}) {
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << name << ": " << status.message();
    }
  }
  EXPECT_TRUE(this->root_->open(std::string(255, 'n'), OpenMode::kAppendOrCreate).ok());
  EXPECT_EQ(this->read("fine"), "x");
}

TYPED_TEST(FileSystemConformance, RootIsMadeWithAllLevelsOnlyWhenAskedTo) {
  const std::string deep = this->path_of("one/two//three/");
  FileSystem& files = this->backend_.files();
  this->expect_failure(files.open_root(deep, false).status(), Code::kNotFound, ENOENT, "three");
  ASSERT_TRUE(files.open_root(deep, true).ok());
  ASSERT_TRUE(files.open_root(deep, true).ok());
  ASSERT_TRUE(files.open_root(deep, false).ok());
  EXPECT_EQ(this->root_->info("one")->permissions & 0777U, 0700U);
  auto one = *this->root_->open_directory("one");
  EXPECT_EQ((*one->open_directory("two"))->info("three")->kind, FileKind::kDirectory);
}

TYPED_TEST(FileSystemConformance, RootThatIsAFileOrHasOneInItsPathIsRefused) {
  this->put("file", "x");
  FileSystem& files = this->backend_.files();
  for (const bool create : {false, true}) {
    this->expect_failure(files.open_root(this->path_of("file"), create).status(), Code::kIo,
                         ENOTDIR, "it is a regular file, not a directory");
    EXPECT_FALSE(files.open_root(this->path_of("file/below"), create).ok());
    EXPECT_EQ(files.open_root("", create).code(), Code::kInvalidArgument);
    EXPECT_EQ(files.open_root(std::string_view("a\0b", 3), create).code(), Code::kInvalidArgument);
  }
}

TYPED_TEST(FileSystemConformance, PathsInMessagesStartAtTheRoot) {
  ASSERT_TRUE(this->root_->make_directory("session").ok());
  auto session = *this->root_->open_directory("session");
  EXPECT_EQ(this->root_->path_of("lock"), this->path_of("lock"));
  EXPECT_EQ(session->path_of("log"), this->path_of("session/log"));
  const Status status = session->open("log", OpenMode::kRead).status();
  EXPECT_EQ(status.place().path, this->path_of("session/log"));
}

TYPED_TEST(FileSystemConformance, ALockExcludesEveryOtherHandle) {
  auto first = this->open("lock", OpenMode::kUpdateOrCreate);
  auto second = this->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_TRUE(*first->try_lock());
  EXPECT_TRUE(*first->try_lock());
  EXPECT_FALSE(*second->try_lock());
  ASSERT_TRUE(second->unlock().ok());
  EXPECT_FALSE(*second->try_lock());
  ASSERT_TRUE(first->unlock().ok());
  EXPECT_TRUE(*second->try_lock());
  second.reset();
  EXPECT_TRUE(*first->try_lock());
}

TYPED_TEST(FileSystemConformance, WhetherALockIsHeldIsSeenByEveryOtherHandleInAnyMode) {
  auto holder = this->open("lock", OpenMode::kUpdateOrCreate);
  auto reader = this->open("lock", OpenMode::kRead);
  auto writer = this->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_FALSE(*reader->is_locked());
  ASSERT_TRUE(*holder->try_lock());
  EXPECT_TRUE(*reader->is_locked());
  EXPECT_TRUE(*writer->is_locked());
  EXPECT_FALSE(*holder->is_locked()) << "by another";
  reader.reset();
  EXPECT_FALSE(*writer->try_lock()) << "looking must not free it";
  ASSERT_TRUE(holder->unlock().ok());
  EXPECT_FALSE(*writer->is_locked());
  EXPECT_TRUE(*writer->try_lock()) << "looking must not take it";
}

TYPED_TEST(FileSystemConformance, ThatSomebodyWaitsIsSeenByEveryOtherHandleAndExcludesNobody) {
  auto first = this->open("lock", OpenMode::kUpdateOrCreate);
  auto second = this->open("lock", OpenMode::kUpdateOrCreate);
  auto third = this->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_FALSE(first->is_another_waiting());
  first->tell_waiting(true);
  EXPECT_FALSE(first->is_another_waiting()) << "another";
  EXPECT_TRUE(second->is_another_waiting());
  second->tell_waiting(true);
  EXPECT_TRUE(first->is_another_waiting());
  EXPECT_FALSE(*third->is_locked());
  EXPECT_TRUE(*third->try_lock());
  ASSERT_TRUE(third->unlock().ok());
  EXPECT_TRUE(third->is_another_waiting()) << "the lock has nothing to do with it";
  first->tell_waiting(false);
  EXPECT_TRUE(third->is_another_waiting());
  second.reset();
  EXPECT_FALSE(third->is_another_waiting()) << "whoever ended does not wait";
}

TYPED_TEST(FileSystemConformance, UnrelatedOpenAndCloseKeepsTheLock) {
  auto holder = this->open("lock", OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*holder->try_lock());
  this->open("lock", OpenMode::kRead);
  this->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_FALSE(*this->open("lock", OpenMode::kUpdateOrCreate)->try_lock());
}

TYPED_TEST(FileSystemConformance, SaysWhoAndWhereWeAre) {
  EXPECT_GT(this->backend_.files().process_id(), 0);
  EXPECT_FALSE(this->backend_.files().boot_id().empty());
  EXPECT_EQ(this->backend_.files().boot_id(), this->backend_.files().boot_id());
  EXPECT_GT(*this->root_->free_bytes(), 0U);
}

}  // namespace
}  // namespace varve::io
