#include "io/posix_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "child_process.h"
#include "io/posix.h"
#include "support/build_kind.h"
#include "temporary_directory.h"

namespace varve::io {
namespace {

class PosixLock : public testing::Test {
 protected:
  std::unique_ptr<File> open_lock() {
    auto root = PosixFileSystem().open_root(temporary_.path(), false);
    EXPECT_TRUE(root.ok()) << root.status().message();
    auto file = (*root)->open("lock", OpenMode::kUpdateOrCreate);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return *std::move(file);
  }

  bool is_free() { return *open_lock()->try_lock(); }
  // The number of a descriptor of this process that leads to the lock file, or -1.
  int descriptor_of_lock() {
    const std::string path = temporary_.path_of("lock");
    for (int number = 0; number < 1024; ++number) {
      char target[4096];
      const std::string link = "/proc/self/fd/" + std::to_string(number);
      const ssize_t size = ::readlink(link.c_str(), target, sizeof(target));
      if (size > 0 && std::string_view(target, static_cast<size_t>(size)) == path) return number;
    }
    return -1;
  }
  bool has_descriptor_of_lock() { return descriptor_of_lock() >= 0; }

  TemporaryDirectory temporary_;
};

TEST_F(PosixLock, IsNotKeptByAForkedChild) {
  auto file = open_lock();
  ASSERT_TRUE(*file->try_lock());
  Pipe ready;
  Pipe end;
  ChildProcess child([&] {
    CHILD_EXPECT(!has_descriptor_of_lock());
    CHILD_EXPECT(ready.send());
    return end.receive();
  });
  ASSERT_TRUE(ready.receive());
  EXPECT_FALSE(is_free());
  file.reset();
  EXPECT_TRUE(is_free()) << "the child still holds the lock of its parent";
  ASSERT_TRUE(end.send());
  EXPECT_TRUE(child.succeeded());
}

TEST_F(PosixLock, IsNotKeptByAChildForkedBeforeItWasTaken) {
  auto file = open_lock();
  Pipe ready;
  Pipe end;
  ChildProcess child([&] { return ready.send() && end.receive(); });
  ASSERT_TRUE(ready.receive());
  ASSERT_TRUE(*file->try_lock());
  file.reset();
  EXPECT_TRUE(is_free());
  ASSERT_TRUE(end.send());
  EXPECT_TRUE(child.succeeded());
}

TEST_F(PosixLock, CannotBeReleasedByAForkedChild) {
  auto file = open_lock();
  ASSERT_TRUE(*file->try_lock());
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(file->unlock().place().os_errno == EBADF);
    CHILD_EXPECT(file->try_lock().status().place().os_errno == EBADF);
    CHILD_EXPECT(file->write_at(0, "x").place().os_errno == EBADF);
    file.reset();
    CHILD_EXPECT(!*open_lock()->try_lock());
    return true;
  }));
  EXPECT_FALSE(is_free());
  ASSERT_TRUE(file->unlock().ok());
  EXPECT_TRUE(is_free());
}

TEST_F(PosixLock, TheHandleOfAForkedChildClosesNobodyElsesDescriptor) {
  auto file = open_lock();
  EXPECT_TRUE(succeeds_in_child([&] {
    const int number = ::open("/dev/null", O_RDONLY);  // likely the number the hook freed
    file.reset();
    CHILD_EXPECT(::fcntl(number, F_GETFD) != -1);
    return true;
  }));
}

// A child of posix_spawn() has one until it runs exec(): a copy of the descriptor, as here.
TEST_F(PosixLock, IsGivenBackByClosingThoughAnotherDescriptorHasTheOpenFile) {
  auto file = open_lock();
  ASSERT_TRUE(*file->try_lock());
  const Descriptor copy(::fcntl(descriptor_of_lock(), F_DUPFD_CLOEXEC, 3));
  ASSERT_TRUE(copy.is_open());
  file.reset();
  EXPECT_TRUE(is_free());
}

TEST_F(PosixLock, WorksInAForkedChildAndInItsChild) {
  EXPECT_TRUE(succeeds_in_child([&] {
    auto mine = open_lock();
    CHILD_EXPECT(*mine->try_lock());
    CHILD_EXPECT(succeeds_in_child([&] {
      CHILD_EXPECT(!has_descriptor_of_lock());
      CHILD_EXPECT(!*open_lock()->try_lock());
      return true;
    }));
    CHILD_EXPECT(!is_free());
    return true;
  }));
  EXPECT_TRUE(is_free());
}

TEST_F(PosixLock, SurvivesAStoppedHolderAndDiesWithAKilledOne) {
  Pipe ready;
  ChildProcess holder([&] {
    auto file = open_lock();
    CHILD_EXPECT(*file->try_lock());
    CHILD_EXPECT(ready.send());
    for (;;) ::pause();
    return true;
  });
  ASSERT_TRUE(ready.receive());
  EXPECT_FALSE(is_free());
  ASSERT_EQ(::kill(holder.id(), SIGSTOP), 0);
  ASSERT_EQ(holder.wait_for_signal(WUNTRACED), SIGSTOP);
  EXPECT_FALSE(is_free());
  ASSERT_EQ(::kill(holder.id(), SIGKILL), 0);
  ASSERT_EQ(holder.wait_for_signal(0), SIGKILL);
  EXPECT_TRUE(is_free());
}

// docs/format.md: so that other programs can keep writers out, and nothing else.
TEST_F(PosixLock, IsOnTheFirstByte) {
  auto file = open_lock();
  ASSERT_TRUE(*file->try_lock());
  const int other = ::open(temporary_.path_of("lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  for (const off_t byte : {0, 1}) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    EXPECT_EQ(::fcntl(other, F_OFD_SETLK, &lock) == 0, byte == 1) << byte;
  }
  ::close(other);
}

TEST_F(PosixLock, ADescriptorThatWasClosedIsNoBusinessOfAChild) {
  Descriptor descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  {
    const auto no_forks = LockDescriptors::of_process().block_forks();
    LockDescriptors::of_process().add(descriptor);
  }
  LockDescriptors::of_process().close(descriptor);
  EXPECT_FALSE(descriptor.is_open());
  descriptor = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(succeeds_in_child([&] {
    CHILD_EXPECT(::fcntl(descriptor.get(), F_GETFD) != -1);
    return true;
  }));
}

// The sanitizers' allocators take no locks before fork(): the child of a process with another
// thread in them waits for ever. Plain builds have this test.
#ifndef VARVE_TEST_IS_SANITIZED
TEST_F(PosixLock, IsNeverInheritedWhenThreadsOpenWhileOthersFork) {
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::thread opener([&] {
    while (!stop.load()) {
      auto file = open_lock();
      if (*file->try_lock()) rounds.fetch_add(1);
    }
  });
  int leaks = 0;
  for (int i = 0; i < 100; ++i) {
    if (!succeeds_in_child([&] { return !has_descriptor_of_lock(); })) ++leaks;
  }
  while (rounds.load() == 0) std::this_thread::yield();
  stop.store(true);
  opener.join();
  EXPECT_EQ(leaks, 0);
}
#endif

TEST_F(PosixLock, WhereThereAreNoLocksSaysSo) {
  for (const int os_errno : {ENOLCK, EINVAL, ENOSYS}) {
    EXPECT_TRUE(succeeds_in_child([&] {
      auto file = open_lock();
      CHILD_EXPECT(deny_system_call(SYS_fcntl, os_errno, F_OFD_SETLK));
      const Status status = file->try_lock().status();
      CHILD_EXPECT(status.code() == Code::kUnsupported);
      CHILD_EXPECT(status.place().os_errno == os_errno);
      CHILD_EXPECT(status.message().find("cannot lock '" + temporary_.path_of("lock")) == 0);
      CHILD_EXPECT(status.message().find("no locks between processes") != std::string::npos);
      return true;
    })) << os_errno;
  }
  EXPECT_TRUE(succeeds_in_child([&] {
    auto file = open_lock();
    CHILD_EXPECT(deny_system_call(SYS_fcntl, EACCES, F_OFD_SETLK));
    CHILD_EXPECT(!*file->try_lock());
    return true;
  }));
  EXPECT_TRUE(succeeds_in_child([&] {
    auto file = open_lock();
    CHILD_EXPECT(deny_system_call(SYS_fcntl, EIO, F_OFD_SETLK));
    CHILD_EXPECT(file->try_lock().code() == Code::kIo);
    CHILD_EXPECT(file->unlock().code() == Code::kIo);
    return true;
  }));
  EXPECT_TRUE(succeeds_in_child([&] {
    auto file = open_lock();
    CHILD_EXPECT(deny_system_call(SYS_fcntl, ENOLCK, F_OFD_GETLK));
    const Status status = file->is_locked().status();
    CHILD_EXPECT(status.code() == Code::kUnsupported);
    CHILD_EXPECT(status.message().find("no locks between processes") != std::string::npos);
    return true;
  }));
}

// As a child that was forked has them.
TEST_F(PosixLock, OfADescriptorThatIsClosedNothingIsClaimed) {
  const Status answers[] = {try_lock_descriptor(-1, "a/lock").status(),
                            unlock_descriptor(-1, "a/lock"),
                            is_descriptor_locked(-1, "a/lock").status()};
  for (const Status& answer : answers) {
    EXPECT_EQ(answer.code(), Code::kIo);
    EXPECT_EQ(answer.place().os_errno, EBADF);
    EXPECT_NE(answer.message().find("'a/lock'"), std::string::npos) << answer.message();
  }
}

}  // namespace
}  // namespace varve::io
