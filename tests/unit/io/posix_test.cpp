#include "io/posix.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "child_process.h"
#include "temporary_directory.h"

namespace varve::io {
namespace {

constexpr OpenMode kOpeningModes[] = {OpenMode::kRead, OpenMode::kAppend, OpenMode::kAppendOrCreate,
                                      OpenMode::kUpdateOrCreate};

// Is descriptor `number` of this process open on something below `directory`?
bool leads_into(int number, const std::string& directory) {
  std::error_code failure;
  const auto target =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), failure);
  return !failure && target.string().starts_with(directory);
}

TEST(PosixProcesses, OnlyOneThatHasEndedSurelyDoesNotRun) {
  const PosixFileSystem files;
  EXPECT_TRUE(files.may_run(::getpid()));
  EXPECT_TRUE(files.may_run(1)) << "one that this one may not end";
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  EXPECT_FALSE(files.may_run(ended));
  // To the kernel these mean a group of processes, or all.
  for (const int64_t none : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_FALSE(files.may_run(none)) << none;
  }
}

class PosixFiles : public testing::Test {
 protected:
  void SetUp() override { root_ = open_root(); }

  std::unique_ptr<Directory> open_root() {
    auto opened = PosixFileSystem().open_root(temporary_.path(), false);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void expect_refused(Directory& directory, std::string_view name, OpenMode mode,
                      std::string_view what) {
    const Status status = directory.open(name, mode).status();
    EXPECT_EQ(status.code(), Code::kIo) << status.message();
    EXPECT_NE(status.place().os_errno, 0);
    EXPECT_NE(status.message().find("it is " + std::string(what)), std::string::npos)
        << status.message();
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<Directory> root_;
};

TEST_F(PosixFiles, ASymbolicLinkIsRefusedWhereverItPoints) {
  put_file(temporary_.path_of("target"), "secret");
  ASSERT_EQ(::symlink("target", temporary_.path_of("inside").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", temporary_.path_of("outside").c_str()), 0);
  ASSERT_EQ(::symlink("absent", temporary_.path_of("dangling").c_str()), 0);
  for (const char* name : {"inside", "outside", "dangling"}) {
    for (const OpenMode mode : kOpeningModes) {
      expect_refused(*root_, name, mode, "a symbolic link");
    }
    EXPECT_EQ(root_->open(name, OpenMode::kCreateExclusive).code(), Code::kAlreadyExists);
    EXPECT_EQ(root_->info(name)->kind, FileKind::kOther);
  }
  EXPECT_EQ(root_->info("absent").code(), Code::kNotFound);
  EXPECT_EQ(bytes_of(temporary_.path_of("target")), "secret");
}

TEST_F(PosixFiles, AFifoIsRefusedWithoutWaitingForItsOtherEnd) {
  ASSERT_EQ(::mkfifo(temporary_.path_of("fifo").c_str(), 0600), 0);
  for (const OpenMode mode : kOpeningModes) expect_refused(*root_, "fifo", mode, "a FIFO");
}

// As a file server has for a client that keeps the file in its memory. It gives the lease back when
// somebody opens the file in a way that the lease rules out.
TEST_F(PosixFiles, AFileThatAnotherHasALeaseOnIsOpenedWhenItIsGivenBack) {
  const std::string path = temporary_.path_of("log");
  for (const int lease : {F_RDLCK, F_WRLCK}) {
    put_file(path, "x");
    Pipe taken;
    ChildProcess server([&] {
      sigset_t calling_in;
      sigemptyset(&calling_in);
      sigaddset(&calling_in, SIGIO);
      CHILD_EXPECT(::sigprocmask(SIG_BLOCK, &calling_in, nullptr) == 0);
      const int file = ::open(path.c_str(), O_RDONLY);
      CHILD_EXPECT(::fcntl(file, F_SETLEASE, lease) == 0);
      CHILD_EXPECT(taken.send());
      int signal = 0;
      CHILD_EXPECT(::sigwait(&calling_in, &signal) == 0);
      return ::fcntl(file, F_SETLEASE, F_UNLCK) == 0;
    });
    if (!taken.receive()) GTEST_SKIP() << "files of the temporary directory cannot be leased";
    if (lease == F_WRLCK) {
      EXPECT_TRUE(PosixFileSystem().open_file(path).ok());
    } else {
      const auto opened = root_->open("log", OpenMode::kAppend);
      EXPECT_TRUE(opened.ok()) << opened.status().message();
    }
    EXPECT_TRUE(server.succeeded());
  }
}

TEST_F(PosixFiles, ADeviceIsRefused) {
  auto devices = *PosixFileSystem().open_root("/dev", false);
  for (const OpenMode mode : kOpeningModes) expect_refused(*devices, "null", mode, "a device");
}

TEST_F(PosixFiles, ASocketIsRefused) {
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = temporary_.path_of("socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(server, name, sizeof(address)), 0);
  for (const OpenMode mode : kOpeningModes) expect_refused(*root_, "socket", mode, "a socket");
  ::close(server);
}

TEST_F(PosixFiles, AFifoIsNoFileToRead) {
  const std::string path = temporary_.path_of("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Status refused = PosixFileSystem().open_file(path).status();
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_NE(refused.message().find("it is a FIFO, not a regular file"), std::string::npos);
}

// A group that shares a store owns what any of its members makes in it.
TEST_F(PosixFiles, ADirectoryBelongsToTheGroupOfTheOneItIsMadeIn) {
  ASSERT_EQ(::chmod(temporary_.path().c_str(), 02770), 0);
  const mode_t before = ::umask(0077);
  const Status made = root_->make_directory("shared", 0770);
  ::umask(before);
  ASSERT_TRUE(made.ok()) << made.message();
  EXPECT_EQ(root_->info("shared")->permissions, 02770U);
}

TEST_F(PosixFiles, ALinkInPlaceOfADirectoryIsRefused) {
  ASSERT_EQ(::symlink("/etc", temporary_.path_of("sessions").c_str()), 0);
  const Status status = root_->open_directory("sessions").status();
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find("it is a symbolic link, not a directory"), std::string::npos)
      << status.message();
}

TEST_F(PosixFiles, ALinkInTheRootPathIsTheUsersChoice) {
  ASSERT_EQ(::mkdir(temporary_.path_of("real").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("real", temporary_.path_of("link").c_str()), 0);
  for (const bool create : {false, true}) {
    auto root = PosixFileSystem().open_root(temporary_.path_of("link"), create);
    ASSERT_TRUE(root.ok()) << root.status().message();
    EXPECT_EQ((*root)->self_info()->identity, root_->info("real")->identity);
  }
}

TEST_F(PosixFiles, ADanglingLinkAsRootIsAnErrorNotALoop) {
  ASSERT_EQ(::symlink("absent", temporary_.path_of("link").c_str()), 0);
  EXPECT_EQ(PosixFileSystem().open_root(temporary_.path_of("link"), true).code(), Code::kNotFound);
}

TEST_F(PosixFiles, RelativeRootsAreMadeBelowTheWorkingDirectory) {
  const bool made = succeeds_in_child([&] {
    CHILD_EXPECT(::chdir(temporary_.path().c_str()) == 0);
    ::umask(0777);
    auto root = PosixFileSystem().open_root("./a/../a/b", true);
    CHILD_EXPECT(root.ok());
    CHILD_EXPECT((*root)->open("file", OpenMode::kAppendOrCreate).ok());
    return true;
  });
  ASSERT_TRUE(made);
  EXPECT_EQ(root_->info("a")->permissions & 0777U, 0700U);
  EXPECT_EQ((*root_->open_directory("a"))->info("b")->permissions & 0777U, 0700U);
  EXPECT_TRUE(std::filesystem::exists(temporary_.path_of("a/b/file")));
}

TEST_F(PosixFiles, ARootIsNotGivenBeforeTheNamesThatItMadeAreSynced) {
  struct Case {
    const char* path;
    int os_errno;
    bool ok;
  };
  ASSERT_TRUE(root_->make_directory("made").ok());
  for (const Case& tried :
       {Case{"made/more", EDQUOT, false}, Case{"made/new", EIO, false},
        Case{"made/other", EROFS, false}, Case{"made", EIO, true}, Case{"made", EROFS, true}}) {
    const std::string whole = temporary_.path_of(tried.path);
    EXPECT_TRUE(succeeds_in_child([&] {
      CHILD_EXPECT(deny_system_call(SYS_fsync, tried.os_errno));
      const Status status = PosixFileSystem().open_root(whole, true).status();
      CHILD_EXPECT(status.ok() == tried.ok);
      CHILD_EXPECT(tried.ok || status.place().os_errno == tried.os_errno);
      CHILD_EXPECT(tried.ok || status.message().starts_with("cannot sync the directory above"));
      // First the name of what was there: a new one below it would hang on it.
      CHILD_EXPECT(tried.ok || tried.os_errno == EROFS || !std::filesystem::exists(whole));
      return true;
    })) << tried.path;
  }
}

TEST_F(PosixFiles, ARootThatWasThereHasItsNameSyncedByTheFirstSyncBelowIt) {
  ASSERT_TRUE(root_->make_directory("made").ok());
  ASSERT_TRUE((*root_->open_directory("made"))->make_directory("below").ok());
  const std::string path = temporary_.path_of("made");
  EXPECT_TRUE(succeeds_in_child([&] {
    auto root = PosixFileSystem().open_root(path, true);
    CHILD_EXPECT(root.ok() && (*root)->sync().ok());
    auto other = PosixFileSystem().open_root(path, true);
    CHILD_EXPECT(other.ok());
    CHILD_EXPECT(deny_system_call(SYS_fsync, EIO));
    // Of the first one it is done; what fails is its own.
    CHILD_EXPECT((*root)->sync().message().starts_with("cannot sync the directory '"));
    auto below = (*other)->open_directory("below");
    CHILD_EXPECT(below.ok());
    CHILD_EXPECT((*below)->sync().message().starts_with("cannot sync the directory above"));
    CHILD_EXPECT((*other)->sync().message().starts_with("cannot sync the directory above"));
    return true;
  }));
}

TEST_F(PosixFiles, ANameThatCouldNotBeSyncedForWantOfADescriptorIsSyncedLater) {
  ASSERT_TRUE(root_->make_directory("made").ok());
  EXPECT_TRUE(succeeds_in_child([&] {
    auto root = PosixFileSystem().open_root(temporary_.path_of("made"), true);
    CHILD_EXPECT(root.ok());
    rlimit limit{};
    CHILD_EXPECT(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit none{3, limit.rlim_max};
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHILD_EXPECT((*root)->sync().place().os_errno == EMFILE);
    CHILD_EXPECT((*root)->sync().message().starts_with("cannot sync the directory above"));
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_EXPECT((*root)->sync().ok());
    // And was, by this call: from now on it is not asked for any more.
    CHILD_EXPECT(deny_system_call(SYS_fsync, EIO));
    CHILD_EXPECT((*root)->sync().message().starts_with("cannot sync the directory '"));
    return true;
  }));
}

// What is denied here is denied for the root itself, too, which says so of itself.
TEST_F(PosixFiles, OnlyADirectoryThatIsNotOursExcusesTheSyncOfAName) {
  ASSERT_TRUE(root_->make_directory("made").ok());
  for (const int os_errno : {EIO, ENOSPC, EDQUOT, ENOMEM, EROFS, EPERM, EACCES, EINVAL}) {
    const bool is_excused =
        os_errno == EROFS || os_errno == EPERM || os_errno == EACCES || os_errno == EINVAL;
    EXPECT_TRUE(succeeds_in_child([&] {
      auto root = PosixFileSystem().open_root(temporary_.path_of("made"), true);
      CHILD_EXPECT(root.ok());
      CHILD_EXPECT(deny_system_call(SYS_fsync, os_errno));
      for (int i = 0; i < 2; ++i) {
        const Status status = (*root)->sync();
        CHILD_EXPECT(status.place().os_errno == os_errno);
        CHILD_EXPECT(status.message().starts_with(is_excused ? "cannot sync the directory '"
                                                             : "cannot sync the directory above"));
      }
      return true;
    })) << os_errno;
  }
}

TEST_F(PosixFiles, HardLinksAreCounted) {
  put_file(temporary_.path_of("file"), "x");
  ASSERT_EQ(::link(temporary_.path_of("file").c_str(), temporary_.path_of("again").c_str()), 0);
  EXPECT_EQ(root_->info("file")->link_count, 2U);
  EXPECT_EQ(root_->info("file")->identity, root_->info("again")->identity);
}

TEST_F(PosixFiles, WhatRootMakesInAFolderOfAStoreBelongsToTheOwnerOfTheFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  constexpr uid_t kUser = 4711;
  constexpr gid_t kGroup = 4712;
  const auto belongs_to = [&](const std::string& name, uid_t user, gid_t group) {
    struct stat status {};
    EXPECT_EQ(::stat(temporary_.path_of(name).c_str(), &status), 0) << name;
    return status.st_uid == user && status.st_gid == group;
  };
  ASSERT_TRUE(root_->make_directory("sessions").ok());
  ASSERT_EQ(::chown(temporary_.path().c_str(), kUser, kGroup), 0);
  ASSERT_EQ(::chown(temporary_.path_of("sessions").c_str(), kUser, kGroup), 0);
  const auto sessions = *root_->open_directory("sessions");
  ASSERT_TRUE(sessions->make_directory("s").ok());
  ASSERT_TRUE((*sessions->open_directory("s"))->open("log", OpenMode::kCreateExclusive).ok());
  ASSERT_TRUE(sessions->open("lock", OpenMode::kUpdateOrCreate).ok());
  for (const std::string name : {"sessions/s", "sessions/s/log", "sessions/lock"}) {
    EXPECT_TRUE(belongs_to(name, kUser, kGroup)) << name;
  }
  // An export or a first backup, which anybody's directory may hold.
  ASSERT_TRUE(root_->open("export", OpenMode::kCreateExclusive).ok());
  ASSERT_TRUE(root_->make_directory("copy").ok());
  EXPECT_TRUE(belongs_to("export", 0, 0));
  EXPECT_TRUE(belongs_to("copy", 0, 0));
}

TEST_F(PosixFiles, ARefusedPermissionIsToldWithTheWholePath) {
  put_file(temporary_.path_of("memory.jsonl"), "x");
  ASSERT_EQ(::chmod(temporary_.path_of("memory.jsonl").c_str(), 0), 0);
  ASSERT_EQ(::chmod(temporary_.path().c_str(), 0755), 0);
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(drop_privileges());
    const Status status = root_->open("memory.jsonl", OpenMode::kRead).status();
    CHILD_EXPECT(status.code() == Code::kIo);  // kReadOnly: who wants to write
    CHILD_EXPECT(status.place().os_errno == EACCES);
    CHILD_EXPECT(status.message() ==
                 "cannot open '" + temporary_.path_of("memory.jsonl") + "': Permission denied");
    CHILD_EXPECT(root_->open("memory.jsonl", OpenMode::kAppend).code() == Code::kReadOnly);
    return true;
  }));
}

TEST_F(PosixFiles, DescriptorsAreAboveTheStandardOnes) {
  put_file(temporary_.path_of("file"), "x");
  EXPECT_TRUE(succeeds_in_child([&] {
    for (const int number : {0, 1, 2}) ::close(number);
    auto root = *PosixFileSystem().open_root(temporary_.path_of("new/root"), true);
    auto reader = root_->open("file", OpenMode::kRead);
    auto writer = root->open("log", OpenMode::kAppendOrCreate);
    auto lock = root->open("lock", OpenMode::kUpdateOrCreate);
    auto below = root_->open_directory("new");
    if (!reader.ok() || !writer.ok() || !lock.ok() || !below.ok()) return false;
    for (const int number : {0, 1, 2}) {
      if (::fcntl(number, F_GETFD) != -1) return false;
    }
    for (int number = 3; number < 64; ++number) {  // the moved ones too
      const int flags = ::fcntl(number, F_GETFD);
      if (flags != -1 && leads_into(number, temporary_.path()) && (flags & FD_CLOEXEC) == 0) {
        return false;
      }
    }
    return (*writer)->append("y").ok();
  }));
  EXPECT_EQ(bytes_of(temporary_.path_of("new/root/log")), "y");
}

TEST_F(PosixFiles, DescriptorsAreClosedByExec) {
  auto log = root_->open("log", OpenMode::kAppendOrCreate);
  auto lock = root_->open("lock", OpenMode::kUpdateOrCreate);
  int open_count = 0;
  for (int number = 3; number < 256; ++number) {
    if (!leads_into(number, temporary_.path())) continue;
    ++open_count;
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0) << number;
  }
  EXPECT_EQ(open_count, 3);
}

TEST_F(PosixFiles, AShortWriteGoesOnUntilTheErrorAndLeavesItsPart) {
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(::signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    const rlimit limit{10, 10};
    CHILD_EXPECT(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    auto log = *root_->open("log", OpenMode::kAppendOrCreate);
    CHILD_EXPECT(log->append("0123").ok());
    const Status status = log->append("456789too much");
    CHILD_EXPECT(status.code() == Code::kIo);
    CHILD_EXPECT(status.place().os_errno == EFBIG);
    CHILD_EXPECT(log->truncate(4).ok());
    CHILD_EXPECT(log->append("ab").ok());
    auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
    CHILD_EXPECT(lock->write_at(8, "0123").place().os_errno == EFBIG);
    return true;
  }));
  EXPECT_EQ(bytes_of(temporary_.path_of("log")), "0123ab");
  EXPECT_EQ(root_->info("lock")->size_bytes, 10U);
}

TEST_F(PosixFiles, AWriteOfNothingIsAnErrorNotALoop) {
  EXPECT_TRUE(succeeds_in_child([&] {
    auto log = *root_->open("log", OpenMode::kAppendOrCreate);
    CHILD_EXPECT(deny_system_call(SYS_write, 0));
    return log->append("x").place().os_errno == EIO;
  }));
}

TEST_F(PosixFiles, OffsetsBeyondTheKernelsAreErrors) {
  auto file = *root_->open("lock", OpenMode::kUpdateOrCreate);
  constexpr uint64_t kHuge = ~uint64_t{0};
  std::string buffer(4, ' ');
  EXPECT_EQ(file->read_at(kHuge, buffer).status().place().os_errno, EOVERFLOW);
  EXPECT_EQ(file->write_at(kHuge, "x").place().os_errno, EFBIG);
  EXPECT_EQ(file->truncate(kHuge).place().os_errno, EFBIG);
  EXPECT_EQ(file->info()->size_bytes, 0U);
}

TEST_F(PosixFiles, RefusesLinksWithoutOpenat2Too) {
  put_file(temporary_.path_of("file"), "x");
  ASSERT_EQ(::symlink("file", temporary_.path_of("link").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", temporary_.path_of("directory").c_str()), 0);
  // EPERM, EACCES, EINVAL: of a sandbox. EXDEV: what was found was moved away meanwhile.
  for (const int os_errno : {ENOSYS, EPERM, EACCES, EINVAL, EXDEV}) {
    EXPECT_TRUE(succeeds_in_child([&] {
      CHILD_EXPECT(deny_system_call(SYS_openat2, os_errno));
      CHILD_EXPECT(root_->open("file", OpenMode::kRead).ok());
      CHILD_EXPECT(root_->open("new" + std::to_string(os_errno), OpenMode::kCreateExclusive).ok());
      const Status link = root_->open("link", OpenMode::kRead).status();
      CHILD_EXPECT(link.message().find("a symbolic link") != std::string::npos);
      const Status directory = root_->open_directory("directory").status();
      CHILD_EXPECT(directory.message().find("a symbolic link") != std::string::npos);
      return true;
    })) << os_errno;
  }
}

TEST_F(PosixFiles, MovesWithoutReplacingWhereTheKernelCannotPromiseIt) {
  ASSERT_TRUE(root_->make_directory("trash").ok());
  auto trash = *root_->open_directory("trash");
  put_file(temporary_.path_of("trash/taken"), "theirs");
  for (const int os_errno : {ENOSYS, EINVAL, EOPNOTSUPP, EPERM, EACCES}) {
    put_file(temporary_.path_of("file"), "mine");
    const std::string kept = "kept" + std::to_string(os_errno);
    EXPECT_TRUE(succeeds_in_child([&] {
      CHILD_EXPECT(deny_system_call(SYS_renameat2, os_errno));
      CHILD_EXPECT(root_->move_to("file", *trash, "taken").code() == Code::kAlreadyExists);
      CHILD_EXPECT(root_->move_to("file", *trash, kept).ok());
      CHILD_EXPECT(root_->move_to("file", *trash, "gone").code() == Code::kNotFound);
      return true;
    })) << os_errno;
    EXPECT_EQ(bytes_of(temporary_.path_of("trash/" + kept)), "mine");
    EXPECT_EQ(bytes_of(temporary_.path_of("trash/taken")), "theirs");
  }
}

TEST_F(PosixFiles, WhereDirectoriesCannotBeSwappedSaysSo) {
  ASSERT_TRUE(root_->make_directory("one").ok());
  ASSERT_TRUE(root_->make_directory("two").ok());
  // EPERM, EACCES: of a sandbox; for one of a file system see WhereDirectoriesMayNotBeSwapped….
  for (const int os_errno : {EINVAL, ENOSYS, EOPNOTSUPP, EIO, EPERM, EACCES}) {
    EXPECT_TRUE(succeeds_in_child([&] {
      CHILD_EXPECT(deny_system_call(SYS_renameat2, os_errno));
      const Status refused = root_->exchange("one", *root_, "two");
      CHILD_EXPECT(refused.code() == (os_errno == EIO ? Code::kIo : Code::kUnsupported));
      const bool is_of_sandbox = os_errno == EPERM || os_errno == EACCES;
      CHILD_EXPECT(refused.place().os_errno == (is_of_sandbox ? ENOSYS : os_errno));
      CHILD_EXPECT(refused.place().path == temporary_.path_of("two"));
      CHILD_EXPECT(refused.message().find("swap") != std::string::npos);
      return true;
    })) << os_errno;
  }
}

// As folders that a virtual machine shares with its host may be.
TEST_F(PosixFiles, WhereDirectoriesCannotBeSyncedSaysSo) {
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(deny_system_call(SYS_fsync, EINVAL));
    const Status refused = root_->sync();
    const Status unmade = PosixFileSystem().open_root(temporary_.path_of("a/b"), true).status();
    for (const Status* failure : {&refused, &unmade}) {
      CHILD_EXPECT(failure->code() == Code::kUnsupported);
      CHILD_EXPECT(failure->place().os_errno == EINVAL);
      CHILD_EXPECT(failure->message().find("put the store on another") != std::string::npos);
    }
    return true;
  }));
}

TEST_F(PosixFiles, WhereDirectoriesMayNotBeSwappedIsNoLackOfASwap) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make what another user may not move";
  ASSERT_TRUE(root_->make_directory("one").ok());
  ASSERT_TRUE(root_->make_directory("two").ok());
  ASSERT_EQ(::chmod(temporary_.path().c_str(), 01777), 0);  // each moves only what is theirs
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(drop_privileges());
    const Status refused = root_->exchange("one", *root_, "two");
    CHILD_EXPECT(refused.code() == Code::kReadOnly);
    CHILD_EXPECT(refused.place().os_errno == EPERM);
    return true;
  }));
}

TEST_F(PosixFiles, EveryFailedSystemCallIsTold) {
  struct Case {
    long number;
    int os_errno;
    Code code;
    std::string action;
    Status (*attempt)(Directory&, File&);
  };
  const Case cases[] = {
      {SYS_pread64, EIO, Code::kIo, "cannot read",
       [](Directory&, File& file) {
         std::string buffer(4, ' ');
         return file.read_at(0, buffer).status();
       }},
      {SYS_pwrite64, ENOSPC, Code::kNoSpace, "cannot write",
       [](Directory&, File& file) { return file.write_at(0, "x"); }},
      {SYS_ftruncate, EIO, Code::kIo, "cannot truncate",
       [](Directory&, File& file) { return file.truncate(1); }},
      {SYS_fdatasync, EIO, Code::kIo, "cannot sync",
       [](Directory&, File& file) { return file.sync_data(); }},
      {SYS_fsync, EDQUOT, Code::kNoSpace, "cannot sync the directory",
       [](Directory& root, File&) { return root.sync(); }},
      {SYS_fstatfs, EIO, Code::kIo, "cannot ask for the free space of",
       [](Directory& root, File&) { return root.free_bytes().status(); }},
      {SYS_getdents64, EIO, Code::kIo, "cannot list",
       [](Directory& root, File&) { return root.list().status(); }},
      {SYS_unlinkat, EROFS, Code::kReadOnly, "cannot remove",
       [](Directory& root, File&) { return root.remove("lock"); }},
      {SYS_mkdirat, EROFS, Code::kReadOnly, "cannot make the directory",
       [](Directory& root, File&) { return root.make_directory("new"); }},
      {SYS_fchmod, EIO, Code::kIo, "cannot set the permissions of",
       [](Directory& root, File&) {
         ::umask(0777);
         return root.open("new", OpenMode::kAppendOrCreate).status();
       }},
      {SYS_openat2, EMFILE, Code::kIo, "cannot open",
       [](Directory& root, File&) { return root.open("lock", OpenMode::kRead).status(); }},
  };
  put_file(temporary_.path_of("lock"), "x");
  for (const Case& tried : cases) {
    EXPECT_TRUE(succeeds_in_child([&] {
      auto own = *root_->open("lock", OpenMode::kUpdateOrCreate);
      CHILD_EXPECT(deny_system_call(tried.number, tried.os_errno));
      const Status status = tried.attempt(*root_, *own);
      CHILD_EXPECT(status.code() == tried.code);
      CHILD_EXPECT(status.place().os_errno == tried.os_errno);
      CHILD_EXPECT(status.message().starts_with(tried.action + " '" + temporary_.path()));
      return true;
    })) << tried.action;
  }
  EXPECT_EQ(root_->info("new").code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::io
