// What a forked child may and may not do with the library.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/varve.h>

#include <atomic>
#include <string>
#include <thread>

#include "all_calls.h"
#include "client.h"
#include "support/build_kind.h"

namespace varve_test {
namespace {

// 0 when `child` answers true in a forked child.
template <typename Child>
int run_in_child(Child child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child() ? 0 : 1);
  int state = 0;
  EXPECT_EQ(::waitpid(pid, &state, 0), pid);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

TEST(Fork, EveryCallWithAHandleOfTheParentAnswersForked) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store);
  const OpenHandles handles(store.get(), session.get());
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    EXPECT_EQ(run_in_child([&] {
                void* const handle = handles.of(call.takes);
                Outs outs;
                if (call.run(handle, outs) != VARVE_FORKED) return false;
                if (varve_error_status(outs.error) != VARVE_FORKED) return false;
                return call.run_without_outs(handle, outs) == VARVE_FORKED;
              }),
              0);
  }
  EXPECT_EQ(run_in_child([&] { return varve_session_id(session.get()) == nullptr; }), 0);
}

TEST(Fork, ClosingInTheChildLeavesTheParentAlone) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"durability":"interval"})");
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  const std::string before = session.files().text;
  EXPECT_EQ(run_in_child([&] {
              varve_session_close(session.get());
              varve_store_close(store.get());
              varve_session_close(session.get());
              return varve_store_sync(store.get(), nullptr) == VARVE_BAD_HANDLE;
            }),
            0);
  EXPECT_EQ(session.files().text, before);  // nothing was flushed or saved
  EXPECT_TRUE(session.add(entry("b")).ok());
  EXPECT_TRUE(session.get("a").ok());
}

TEST(Fork, ChildOpensTheStoreAnew) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("of_the_parent")).ok());
  EXPECT_EQ(run_in_child([&] {
              const Store own(directory.path());
              const Session again = Session::open(own, "s");
              return again.get("of_the_parent").ok() && again.add(entry("of_the_child")).ok();
            }),
            0);
  EXPECT_TRUE(session.get("of_the_child").ok());
  EXPECT_TRUE(session.add(entry("again_of_the_parent")).ok());
  EXPECT_EQ(session.verify().object().at("ok"), true);
}

TEST(Fork, ErrorsOfTheParentAreForkedToo) {
  varve_error_t* error = nullptr;
  EXPECT_EQ(varve_store_sync(nullptr, &error), VARVE_BAD_HANDLE);
  EXPECT_EQ(run_in_child([&] {
              if (varve_error_status(error) != VARVE_FORKED) return false;
              varve_error_free(error);
              return varve_error_status(error) == VARVE_BAD_HANDLE;
            }),
            0);
  EXPECT_EQ(varve_error_status(error), VARVE_BAD_HANDLE);  // the code it carries
  EXPECT_STREQ(varve_error_message(error), "the store handle is NULL");
  varve_error_free(error);
}

// The sanitizers' allocators take no locks before fork(): the child of a process with another
// thread in them waits for ever. Plain builds have this test.
#ifndef VARVE_TEST_IS_SANITIZED
TEST(Fork, WhileOtherThreadsWork) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"durability":"os"})");
  const Session session(store);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      EXPECT_EQ(varve_session_add(session.get(), R"({"type":"finding","content":1})", kNul, nullptr,
                                  nullptr, nullptr),
                VARVE_OK);
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(run_in_child([&] {
                if (varve_session_sync(session.get(), nullptr) != VARVE_FORKED) return false;
                varve_session_close(session.get());  // must not wait for the parent's threads
                varve_store_close(store.get());
                const Store own("memory:");
                return Session(own).add(entry("x")).ok();
              }),
              0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(session.verify().object().at("ok"), true);
}
#endif

// A child that lives on must not keep the parent's lock once the parent has let go of it.
TEST(Fork, ChildDoesNotKeepTheLockOfItsParent) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  int gate[2] = {-1, -1};
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(gate[1]);
    char byte = 0;
    ::_exit(::read(gate[0], &byte, 1) == 0 ? 0 : 1);  // until the parent is done
  }
  ::close(gate[0]);
  const Store other(directory.path(), R"({"concurrency":{"lock_timeout_ms":2000}})");
  EXPECT_TRUE(Session::open(other, "s").add(entry("b")).ok());
  EXPECT_TRUE(session.add(entry("c")).ok());
  ::close(gate[1]);
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
}

}  // namespace
}  // namespace varve_test
