// The limits of real file systems: no permission, no space, no descriptors, and what should not be
// where our files are. Each in a child process, which can be limited and must not hang.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "limited_store.h"
#include "unit/io/child_process.h"

namespace varve::crash {
namespace {

namespace fs = std::filesystem;
using varve_test::entry;
using varve_test::Outcome;
using varve_test::read_file;
using varve_test::Session;
using varve_test::Store;
using varve_test::TempDirectory;

constexpr int kNotPermitted = 77;

void expect_reads_work(const Session& session) {
  EXPECT_TRUE(session.get("a1").ok());
  EXPECT_EQ(session.get("gone").outcome.status, VARVE_NOT_FOUND);
  const auto text = session.export_text("jsonl");
  EXPECT_TRUE(text.ok());
  EXPECT_EQ(std::count(text.text.begin(), text.text.end(), '\n'), 2);
  EXPECT_TRUE(session.verify().object().at("ok").as_bool());
  EXPECT_TRUE(session.stats().ok());
}

void expect_refuses_to_write(const Store& store, const Session& session) {
  EXPECT_EQ(session.add(entry("b")).outcome.status, VARVE_READ_ONLY);
  EXPECT_EQ(session.remove("a1").status, VARVE_READ_ONLY);
  EXPECT_EQ(session.update(R"({"title":"t"})").status, VARVE_READ_ONLY);
  EXPECT_EQ(session.repair().outcome.status, VARVE_READ_ONLY);
  EXPECT_EQ(store.try_create(R"({"session_id":"t"})").status, VARVE_READ_ONLY);
  EXPECT_EQ(store.delete_session("s").status, VARVE_READ_ONLY);
}

// --- no permission -------------------------------------------------------------------------------

TEST_F(Limits, ReadOnlyDirectoryCanBeRead) {
  fs::permissions(directory_.path(), fs::perms(0755));
  for (const auto& item : fs::recursive_directory_iterator(root_)) {
    fs::permissions(item.path(), fs::perms(item.is_directory() ? 0555 : 0444));
  }
  fs::permissions(root_, fs::perms(0555));
  const int answer = in_child([&] {
    if (!io::drop_privileges() || ::access(root_.c_str(), R_OK) != 0) return kNotPermitted;
    const Store store(root_);
    const Session session = Session::open(store, "s");
    EXPECT_TRUE(session.stats().object().at("read_only").as_bool());
    expect_reads_work(session);
    expect_refuses_to_write(store, session);
    EXPECT_EQ(Store::try_open(root_ + "/other").status, VARVE_READ_ONLY);
    return 0;
  });
  fs::permissions(root_, fs::perms(0755));
  for (const auto& item : fs::recursive_directory_iterator(root_)) {
    if (item.is_directory()) fs::permissions(item.path(), fs::perms(0755));
  }
  if (answer == kNotPermitted) GTEST_SKIP() << "the temporary directory is closed to other users";
  EXPECT_EQ(answer, 0);
}

// Mounts of its own, seen by nobody else; false where that is not allowed.
bool own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) {
    const uid_t user = ::geteuid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST_F(Limits, ReadOnlyMountCanBeRead) {
  const int answer = in_child([&] {
    const char* const root = root_.c_str();
    if (!own_mounts() || ::mount(root, root, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, root, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return kNotPermitted;
    }
    const Store store(root_);
    const Session session = Session::open(store, "s");
    expect_reads_work(session);
    expect_refuses_to_write(store, session);
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(answer, 0);
}

TEST_F(Limits, MountThatBecomesReadOnlyStopsWritingOnly) {
  const int answer = in_child([&] {
    const char* const root = root_.c_str();
    if (!own_mounts() || ::mount(root, root, nullptr, MS_BIND, nullptr) != 0) return kNotPermitted;
    {
      const Store store(root_);
      const Session session = Session::open(store, "s");
      expect_reads_work(session);
    }
    const Store store(root_);
    if (::mount(nullptr, root, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return kNotPermitted;
    }
    const Session session = Session::open(store, "s");
    expect_reads_work(session);
    EXPECT_EQ(session.add(entry("b")).outcome.status, VARVE_READ_ONLY);
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(answer, 0);
}

// The store of the fixture as the lower layer of an overlay, as a container's image has it.
TEST_F(Limits, SessionOfAnImageCannotBeMovedAndTheAnswerSaysWhy) {
  const int answer = in_child([&] {
    std::string places[3];
    for (size_t number = 0; number < 3; ++number) {
      places[number] = directory_.path() + "/place" + std::to_string(number);
      fs::create_directory(places[number]);
    }
    const std::string options = "lowerdir=" + root_ + ",upperdir=" + places[0] +
                                ",workdir=" + places[1] + ",redirect_dir=off";
    if (!own_mounts() ||
        ::mount("overlay", places[2].c_str(), "overlay", 0, options.c_str()) != 0) {
      return kNotPermitted;
    }
    const Store store(places[2]);
    const Outcome dropped = store.delete_session("s");
    EXPECT_EQ(dropped.status, VARVE_IO) << dropped;
    EXPECT_NE(dropped.message.find("a layer of a container's image"), std::string::npos) << dropped;
    const Session session = Session::open(store, "s");
    expect_reads_work(session);
    EXPECT_TRUE(session.add(entry("b")).ok());
    EXPECT_TRUE(session.remove("a1").ok());
    const Session made(store, R"({"session_id":"made"})");
    EXPECT_TRUE(store.delete_session("made").ok());
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(answer, 0);
}

// --- root --------------------------------------------------------------------------------------

varve_status_t back_up(const Store& store, const std::string& copy) {
  return varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, nullptr, nullptr,
                            nullptr);
}

varve_status_t restore(const Store& store, const std::string& copy, std::string_view options) {
  return varve_store_restore(store.get(), copy.data(), copy.size(), options.data(), options.size(),
                             nullptr, nullptr, nullptr);
}

void expect_work_of_root(const std::string& root, const std::string& copy) {
  const Store store(root);
  const Session session = Session::open(store, "s");
  EXPECT_TRUE(session.add(entry("of_root")).ok());
  EXPECT_TRUE(session.remove("a2").ok());
  EXPECT_TRUE(session.update(R"({"title":"t"})").ok());
  EXPECT_EQ(varve_session_purge(session.get(), nullptr, 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_TRUE(session.rebuild_index().outcome.ok());
  const Session made(store, R"({"session_id":"of_root"})");
  EXPECT_TRUE(made.add(entry("first")).ok());
  EXPECT_TRUE(store.sessions(R"({"rescan":true})").ok());
  EXPECT_EQ(restore(store, copy, R"({"sessions":["restored"]})"), VARVE_OK);
}

// A timer of root's that sweeps, compacts, purges or restores.
TEST_F(Limits, RootLeavesAStoreToItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is told apart from an owner";
  constexpr uid_t kNobody = 65534;
  const std::string copy = directory_.path() + "/copy";
  {
    const Store store(root_);
    const Session session(store, R"({"session_id":"restored"})");
    EXPECT_TRUE(session.add(entry("first")).ok());
    EXPECT_EQ(back_up(store, copy), VARVE_OK);
    EXPECT_TRUE(store.delete_session("restored").ok());
  }
  fs::permissions(directory_.path(), fs::perms(0755));
  ASSERT_EQ(::chown(root_.c_str(), kNobody, kNobody), 0);
  for (const auto& item : fs::recursive_directory_iterator(root_)) {
    ASSERT_EQ(::chown(item.path().c_str(), kNobody, kNobody), 0);
  }
  expect_work_of_root(root_, copy);
  const int answer = in_child([&] {
    if (!io::drop_privileges() || ::access(root_.c_str(), W_OK) != 0) return kNotPermitted;
    const Store store(root_);
    for (const std::string id : {"s", "of_root", "restored"}) {
      const Outcome opened = store.try_open_session(id);
      EXPECT_TRUE(opened.ok()) << opened;
      if (!opened.ok()) continue;
      const Session session = Session::open(store, id);
      EXPECT_TRUE(session.add(entry("later")).ok());
      EXPECT_TRUE(session.verify().object().at("ok").as_bool());
    }
    EXPECT_TRUE(store.try_create(R"({"session_id":"of_owner"})").ok());
    EXPECT_TRUE(store.delete_session("of_root").ok());
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "the temporary directory is closed to other users";
  EXPECT_EQ(answer, 0);
}

// --- no store any more -------------------------------------------------------------------------

// A volume is cleared or a directory tidied up while a program has the store open.
TEST_F(Limits, StoreThatWasRemovedIsNotTakenForAnEmptyOne) {
  const std::string copy = directory_.path() + "/copy";
  const Store store(root_);
  EXPECT_EQ(back_up(store, copy), VARVE_OK);
  fs::remove_all(root_);
  const auto expect_told = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, VARVE_IO) << outcome;
    EXPECT_NE(outcome.message.find("was removed while the store was open"), std::string::npos)
        << outcome;
  };
  for (int remade = 0; remade < 2; ++remade) {
    expect_told(store.try_create(R"({"session_id":"t"})"));
    expect_told(store.sessions().outcome);
    expect_told(store.query("{}").outcome());
    EXPECT_EQ(back_up(store, directory_.path() + "/other"), VARVE_IO) << "and not of nothing";
    EXPECT_EQ(back_up(store, copy), VARVE_IO);
    EXPECT_EQ(restore(store, copy, {}), VARVE_IO);
    EXPECT_TRUE(fs::exists(copy + "/sessions/s/memory.jsonl"));
    const Store another(root_);
    EXPECT_TRUE(another.try_create(R"({"session_id":"u)" + std::to_string(remade) + "\"}").ok());
  }
}

// --- no descriptors ------------------------------------------------------------------------------

void limit(int resource, rlim_t soft) {
  rlimit now{};
  EXPECT_EQ(::getrlimit(static_cast<__rlimit_resource_t>(resource), &now), 0);
  now.rlim_cur = std::min(soft, now.rlim_max);
  EXPECT_EQ(::setrlimit(static_cast<__rlimit_resource_t>(resource), &now), 0);
}

bool is_lack(const Outcome& outcome) { return outcome.ok() || outcome.status == VARVE_IO; }

TEST_F(Limits, TooFewDescriptorsForEveryNumberOfThem) {
  const int answer = in_child([&] {
    std::vector<std::string> added;
    for (rlim_t free = 0; free < 24; ++free) {
      const int lowest = ::dup(0);
      ::close(lowest);
      limit(RLIMIT_NOFILE, static_cast<rlim_t>(lowest) + free);
      const std::string id = "b" + std::to_string(free);
      varve_store_t* store = nullptr;
      varve_session_t* session = nullptr;
      const varve_status_t opened =
          varve_store_open(root_.data(), root_.size(), nullptr, 0, &store, nullptr);
      EXPECT_TRUE(opened == VARVE_OK || opened == VARVE_IO) << varve_status_name(opened);
      if (opened == VARVE_OK) {
        const varve_status_t found = varve_session_open(store, "s", 1, &session, nullptr);
        EXPECT_TRUE(found == VARVE_OK || found == VARVE_IO) << varve_status_name(found);
        if (found == VARVE_OK) {
          const std::string text = entry(id);
          const varve_status_t status =
              varve_session_add(session, text.data(), text.size(), nullptr, nullptr, nullptr);
          EXPECT_TRUE(status == VARVE_OK || status == VARVE_IO) << varve_status_name(status);
          if (status == VARVE_OK) added.push_back(id);
        }
      }
      limit(RLIMIT_NOFILE, 1024);
      varve_session_close(session);
      varve_store_close(store);
    }
    EXPECT_GT(added.size(), 2U);
    EXPECT_LT(added.size(), 24U);
    const Store store(root_);
    const Session session = Session::open(store, "s");
    for (const std::string& id : added) EXPECT_TRUE(session.get(id).ok()) << id;
    const auto stats = session.stats().object();
    EXPECT_EQ(stats.at("entries").to_number<size_t>(), 2 + added.size());
    EXPECT_TRUE(session.verify().object().at("ok").as_bool());
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

TEST_F(Limits, SessionThatCouldNotBeCreatedForWantOfDescriptorsIsNotThere) {
  const int answer = in_child([&] {
    const Store store(root_);
    int refused = 0;
    for (rlim_t free = 0; free < 24; ++free) {
      const std::string options = R"({"session_id":"n)" + std::to_string(free) + R"("})";
      const int lowest = ::dup(0);
      ::close(lowest);
      limit(RLIMIT_NOFILE, static_cast<rlim_t>(lowest) + free);
      const Outcome created = store.try_create(options);
      limit(RLIMIT_NOFILE, 1024);
      EXPECT_TRUE(created.ok() || created.status == VARVE_IO) << created;
      const varve_status_t again = created.ok() ? VARVE_ALREADY_EXISTS : VARVE_OK;
      EXPECT_EQ(store.try_create(options).status, again) << free << ": " << created;
      refused += created.ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 2);
    EXPECT_LT(refused, 24);
    EXPECT_TRUE(fs::is_empty(fs::path(root_) / "tmp"));  // each failure would leave a directory
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

TEST_F(Limits, OpenSessionGoesOnWhenDescriptorsAreBack) {
  const int answer = in_child([&] {
    const Store store(root_);
    const Session session = Session::open(store, "s");
    limit(RLIMIT_NOFILE, 3);
    EXPECT_TRUE(session.get("a1").ok());
    EXPECT_TRUE(is_lack(session.add(entry("b1")).outcome));
    const Outcome update = session.update(R"({"title":"t"})");
    EXPECT_EQ(update.status, VARVE_IO);
    EXPECT_NE(update.details_text.find("errno"), std::string::npos) << update;
    limit(RLIMIT_NOFILE, 1024);
    EXPECT_TRUE(session.update(R"({"title":"t"})").ok());
    EXPECT_TRUE(session.add(entry("b2")).ok());
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

// So many sessions cannot all be open at once.
TEST_F(Limits, QueryAcrossSessionsLeavesNobodyOutForWantOfDescriptors) {
  const int answer = in_child([&] {
    const Store store(root_);
    constexpr size_t kSessionCount = 60;
    for (size_t number = 0; number < kSessionCount; ++number) {
      const std::string options =
          "{\"session_id\":\"of" + std::to_string(number) + R"(","user_id":"u","durability":"os"})";
      const Session session(store, options);
      EXPECT_TRUE(session.add(entry("e" + std::to_string(number), "kettle")).ok());
    }
    for (const rlim_t files : {200U, 60U, 30U}) {
      limit(RLIMIT_NOFILE, files);
      for (const std::string query : {R"({"user_id":"u"})", R"({"user_id":"u","text":"kettle"})"}) {
        const auto found = store.query(query);
        EXPECT_EQ(found.count(), kSessionCount) << query << " with " << files;
      }
    }
    limit(RLIMIT_NOFILE, 1024);
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

// --- no space ------------------------------------------------------------------------------------

// Adds until it is refused with `expected`; the ids that were answered.
std::vector<std::string> fill(const Session& session, varve_status_t expected) {
  std::vector<std::string> added;
  for (int number = 0; number < 10000; ++number) {
    const std::string id = "fill" + std::to_string(number);
    const Outcome outcome = session.add(entry(id, std::string(700, 'x'))).outcome;
    if (outcome.ok()) {
      added.push_back(id);
      continue;
    }
    EXPECT_EQ(outcome.status, expected) << outcome;
    EXPECT_EQ(session.get(id).outcome.status, VARVE_NOT_FOUND);
    return added;
  }
  ADD_FAILURE() << "it never became full";
  return added;
}

void expect_added(const std::string& root, const std::vector<std::string>& added) {
  const Store store(root);
  const Session session = Session::open(store, "s");
  for (const std::string& id : added) EXPECT_TRUE(session.get(id).ok()) << id;
  EXPECT_TRUE(session.verify().object().at("ok").as_bool()) << session.verify().text;
}

TEST_F(Limits, LargestFileSizeIsReached) {
  const int answer = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    std::vector<std::string> added;
    {
      const Store store(root_);
      const Session session = Session::open(store, "s");
      limit(RLIMIT_FSIZE, 20'000);
      added = fill(session, VARVE_IO);
      EXPECT_TRUE(session.get("a1").ok());
      EXPECT_TRUE(session.remove("a2").ok());  // the other file has room
      limit(RLIMIT_FSIZE, RLIM_INFINITY);
      EXPECT_TRUE(session.add(entry("later")).ok());
      added.push_back("later");
    }
    EXPECT_GT(added.size(), 5U);
    expect_added(root_, added);
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

TEST_F(Limits, FullFileSystemRefusesAndRecovers) {
  const int answer = in_child([&] {
    const std::string small = directory_.path() + "/small";
    fs::create_directory(small);
    if (!own_mounts() || ::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k") != 0) {
      return kNotPermitted;
    }
    const std::string root = small + "/store";
    std::vector<std::string> added;
    {
      const Store store(root);
      const Session session(store, R"({"session_id":"s"})");
      EXPECT_TRUE(session.add(entry("first")).ok());
      std::ofstream(small + "/ballast") << std::string(64 << 10, 'b');
      added = fill(session, VARVE_NO_SPACE);
      added.push_back("first");
      EXPECT_TRUE(session.export_text("jsonl").ok());
      EXPECT_EQ(session.update(R"({"title":"too late"})").status, VARVE_NO_SPACE);
      EXPECT_EQ(store.try_create(R"({"session_id":"t"})").status, VARVE_NO_SPACE);
      EXPECT_EQ(store.try_open_session("t").status, VARVE_NOT_FOUND);
      const Outcome removed = session.remove("first");
      EXPECT_TRUE(removed.ok() || removed.status == VARVE_NO_SPACE) << removed;
      if (removed.ok()) added.pop_back();
      // Who opens it now can read it.
      const Store second(root);
      EXPECT_TRUE(Session::open(second, "s").get(added.front()).ok());
      fs::remove(small + "/ballast");
      EXPECT_TRUE(session.add(entry("later")).ok());
      EXPECT_TRUE(session.update(R"({"title":"in time"})").ok());
      EXPECT_TRUE(store.try_create(R"({"session_id":"t"})").ok());
      added.push_back("later");
    }
    EXPECT_GT(added.size(), 50U);
    expect_added(root, added);
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(answer, 0);
}

// No room for another log: compaction and purge are refused and leave everything as it was, what is
// small still fits, and with room again both are done.
TEST_F(Limits, CompactionOnAFullFileSystemIsRefusedAndLaterDone) {
  const int answer = in_child([&] {
    const std::string small = directory_.path() + "/small";
    fs::create_directory(small);
    if (!own_mounts() || ::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=512k") != 0) {
      return kNotPermitted;
    }
    const std::string root = small + "/store";
    const std::string log_path = root + "/sessions/s/memory.jsonl";
    const Store store(root);
    const Session session(store, R"({"session_id":"s"})");
    EXPECT_TRUE(session.add(entry("gone", "zebra")).ok());
    EXPECT_TRUE(session.add(entry("gone_too", "zebra")).ok());
    EXPECT_TRUE(session.remove("gone").ok());
    std::ofstream(small + "/ballast") << std::string(64 << 10, 'b');
    std::vector<std::string> added = fill(session, VARVE_NO_SPACE);
    EXPECT_GT(added.size(), 100U);
    const std::string log = read_file(log_path);
    const auto expect_refused = [&](varve_status_t status) {
      EXPECT_EQ(status, VARVE_NO_SPACE);
      EXPECT_TRUE(read_file(log_path) == log);
      for (const auto& item : fs::directory_iterator(root + "/sessions/s")) {
        EXPECT_EQ(item.path().filename().string().find(".tmp-"), std::string::npos) << item.path();
      }
      expect_added(root, added);
    };
    const auto compact = [&] {
      return varve_session_compact(session.get(), nullptr, 0, nullptr, nullptr, nullptr);
    };
    const auto purge = [&] {
      return varve_session_purge(session.get(), nullptr, 0, nullptr, nullptr, nullptr);
    };
    expect_refused(compact());
    expect_refused(purge());
    fs::remove(small + "/ballast");  // room for metadata, not for another log
    EXPECT_TRUE(session.remove("gone_too").ok());
    expect_refused(compact());
    expect_refused(purge());
    EXPECT_EQ(::mount(nullptr, small.c_str(), nullptr, MS_REMOUNT, "size=2m"), 0);
    EXPECT_EQ(purge(), VARVE_OK);
    EXPECT_EQ(read_file(log_path).find("zebra"), std::string::npos);
    EXPECT_TRUE(session.add(entry("later")).ok());
    added.push_back("later");
    expect_added(root, added);
    return 0;
  });
  if (answer == kNotPermitted) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(answer, 0);
}

}  // namespace
}  // namespace varve::crash
