// Handles that are closed, NULL, garbage or of another type, for every function that takes one.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "all_calls.h"
#include "client.h"
#include "headers.h"

namespace varve_test {
namespace {

void* pointer(uint64_t value) { return reinterpret_cast<void*>(static_cast<uintptr_t>(value)); }

void expect_refused(const Call& call, void* handle, const char* what) {
  SCOPED_TRACE(std::string(call.name) + " with a handle that is " + what);
  Outs outs;
  EXPECT_EQ(call.run(handle, outs), VARVE_BAD_HANDLE);
  EXPECT_EQ(varve_error_status(outs.error), VARVE_BAD_HANDLE);
  EXPECT_STRNE(varve_error_message(outs.error), "");
  varve_error_free(outs.error);
  if (call.gives == Gives::kText) {
    EXPECT_EQ(outs.text, nullptr);
    EXPECT_EQ(outs.len, 0U);
  }
  if (call.gives == Gives::kSession) {
    EXPECT_EQ(outs.session, nullptr);
  }
  if (call.gives == Gives::kMemory) {
    EXPECT_EQ(outs.memory, nullptr);
  }
  if (call.gives == Gives::kResults) {
    EXPECT_EQ(outs.results, nullptr);
  }
  if (call.gives == Gives::kCount) {
    EXPECT_EQ(outs.count, 0U);
  }
  EXPECT_EQ(call.run_without_outs(handle, outs), VARVE_BAD_HANDLE);
}

// Every function that takes a handle and can fail, as the headers declare it.
std::set<std::string> declared_calls() {
  std::set<std::string> names;
  for (const Function& function : declared_functions()) {
    const std::string& text = function.declaration;
    const std::string arguments = text.substr(std::min(text.find('('), text.size()));
    bool takes_handle = false;
    for (const char* handle :
         {"store_t *store,", "session_t *session,", "window_t *window,", "memory_t *memory,"}) {
      takes_handle |= arguments.find(std::string("varve_") + handle) != std::string::npos;
    }
    if (takes_handle && text.find("error_out") != std::string::npos) names.insert(function.name);
  }
  return names;
}

TEST(Handles, TableOfCallsIsComplete) {
  std::set<std::string> listed;
  for (const Call& call : all_calls()) listed.insert(call.name);
  EXPECT_EQ(listed, declared_calls());
  EXPECT_EQ(listed.size(), all_calls().size());
}

TEST(Handles, NullIsRefused) {
  for (const Call& call : all_calls()) expect_refused(call, nullptr, "NULL");
  EXPECT_EQ(varve_session_id(nullptr), nullptr);
}

TEST(Handles, GarbageIsRefused) {
  const Store store;
  std::vector<uint64_t> values = {1, 2, 8, 4096, UINT64_MAX, UINT64_MAX - 1, INT64_MAX, 0xDEADBEEF};
  values.push_back(reinterpret_cast<uintptr_t>(&store));  // an address that can be read
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) values.push_back(random());
  const auto open = reinterpret_cast<uintptr_t>(store.get());
  for (const int bit : {0, 1, 4, 20, 28, 40, 56, 63}) values.push_back(open ^ uint64_t{1} << bit);
  for (const uint64_t value : values) {
    for (const Call& call : all_calls()) expect_refused(call, pointer(value), "garbage");
    EXPECT_EQ(varve_session_id(static_cast<varve_session_t*>(pointer(value))), nullptr);
    varve_store_close(static_cast<varve_store_t*>(pointer(value)));
    varve_session_close(static_cast<varve_session_t*>(pointer(value)));
    varve_error_free(static_cast<varve_error_t*>(pointer(value)));
    varve_results_free(static_cast<varve_results_t*>(pointer(value)));
    varve_window_free(static_cast<varve_window_t*>(pointer(value)));
    varve_memory_close(static_cast<varve_memory_t*>(pointer(value)));
    EXPECT_EQ(varve_window_size(static_cast<varve_window_t*>(pointer(value))), 0U);
  }
  EXPECT_TRUE(store.stats().ok());
}

TEST(Handles, AnotherTypeIsRefused) {
  const Store store;
  const Session session(store);
  const OpenHandles handles(store.get(), session.get());
  varve_error_t* error = nullptr;
  EXPECT_EQ(varve_store_sync(nullptr, &error), VARVE_BAD_HANDLE);
  for (const Call& call : all_calls()) {
    expect_refused(call, error, "an error");
    if (call.takes != Takes::kSession) expect_refused(call, session.get(), "a session");
    if (call.takes != Takes::kStore) expect_refused(call, store.get(), "a store");
    if (call.takes != Takes::kWindow) expect_refused(call, handles.of(Takes::kWindow), "a window");
    if (call.takes != Takes::kMemory) expect_refused(call, handles.of(Takes::kMemory), "a memory");
  }
  EXPECT_EQ(varve_window_size(reinterpret_cast<varve_window_t*>(store.get())), 0U);
  varve_error_t* of_window = nullptr;
  auto* const no_store = static_cast<varve_store_t*>(handles.of(Takes::kWindow));
  EXPECT_EQ(varve_store_sync(no_store, &of_window), VARVE_BAD_HANDLE);
  EXPECT_STREQ(varve_error_message(of_window),
               "this is a handle of type window; a store is needed");
  varve_error_free(of_window);
  EXPECT_EQ(varve_session_id(reinterpret_cast<varve_session_t*>(store.get())), nullptr);
  // Neither do close and free take what is not theirs.
  varve_store_close(reinterpret_cast<varve_store_t*>(session.get()));
  varve_session_close(reinterpret_cast<varve_session_t*>(store.get()));
  varve_error_free(reinterpret_cast<varve_error_t*>(session.get()));
  varve_window_free(reinterpret_cast<varve_window_t*>(session.get()));
  varve_memory_close(reinterpret_cast<varve_memory_t*>(session.get()));
  EXPECT_TRUE(session.stats().ok());
  EXPECT_TRUE(store.stats().ok());
  varve_error_free(error);
}

TEST(Handles, ClosedIsRefused) {
  Store store;
  Session session(store);
  varve_session_t* const closed_session = session.get();
  varve_store_t* const closed_store = store.get();
  session.close();
  for (const Call& call : all_calls()) {
    if (call.takes == Takes::kSession) expect_refused(call, closed_session, "closed");
  }
  EXPECT_EQ(varve_session_id(closed_session), nullptr);
  varve_window_t* window = nullptr;
  ASSERT_EQ(varve_window_new(1, &window, nullptr), VARVE_OK);
  varve_window_free(window);
  for (const Call& call : all_calls()) {
    if (call.takes == Takes::kWindow) expect_refused(call, window, "freed");
  }
  EXPECT_EQ(varve_window_size(window), 0U);
  varve_window_free(window);  // a second time
  store.close();
  for (const Call& call : all_calls()) {
    if (call.takes == Takes::kStore) expect_refused(call, closed_store, "closed");
  }
}

TEST(Handles, ClosingTwiceIsHarmless) {
  const Store other;
  const Session other_session(other);
  Store store;
  Session session(store);
  varve_session_t* const closed_session = session.get();
  varve_store_t* const closed_store = store.get();
  session.close();
  varve_session_close(closed_session);
  store.close();
  varve_store_close(closed_store);
  varve_session_close(closed_session);
  EXPECT_TRUE(other_session.add(entry("a")).ok());
}

TEST(Handles, ClosingTheStoreClosesItsSessions) {
  const TempDirectory directory;
  Store store(directory.path());
  Session first(store, R"({"session_id":"first"})");
  Session again = Session::open(store, "first");
  Session second(store, R"({"session_id":"second"})");
  ASSERT_TRUE(first.add(entry("a")).ok());
  store.close();
  for (const Session* session : {&first, &again, &second}) {
    for (const Call& call : all_calls()) {
      if (call.takes == Takes::kSession) expect_refused(call, session->get(), "of a closed store");
    }
  }
  // What was acknowledged is there.
  const Store reopened(directory.path());
  EXPECT_TRUE(Session::open(reopened, "first").get("a").ok());
}

TEST(Handles, OfOneStoreOutliveAnother) {
  const Store kept;
  const Session session(kept);
  { const Store closed; }
  EXPECT_TRUE(session.add(entry("a")).ok());
}

TEST(Handles, TwoHandlesOfOneSessionShareItsEntries) {
  const Store store;
  Session one(store, R"({"session_id":"s"})");
  const Session two = Session::open(store, "s");
  EXPECT_NE(one.get(), two.get());
  ASSERT_TRUE(one.add(entry("a")).ok());
  EXPECT_TRUE(two.get("a").ok());
  one.close();
  EXPECT_TRUE(two.get("a").ok());
  EXPECT_TRUE(two.add(entry("b")).ok());
}

TEST(Handles, ErrorsAreCheckedToo) {
  varve_error_t* error = nullptr;
  ASSERT_EQ(varve_store_sync(nullptr, &error), VARVE_BAD_HANDLE);
  varve_error_free(error);
  EXPECT_EQ(varve_error_status(error), VARVE_BAD_HANDLE);
  EXPECT_STREQ(varve_error_message(error), "");
  EXPECT_STREQ(varve_error_details(error), "{}");
  varve_error_free(error);  // a second time
  for (const uint64_t value : {uint64_t{1}, UINT64_MAX, uint64_t{0x5600000010000003}}) {
    auto* const foreign = static_cast<varve_error_t*>(pointer(value));
    EXPECT_EQ(varve_error_status(foreign), VARVE_BAD_HANDLE);
    EXPECT_STREQ(varve_error_message(foreign), "");
    EXPECT_STREQ(varve_error_details(foreign), "{}");
  }
  EXPECT_EQ(varve_error_status(nullptr), VARVE_OK);
  EXPECT_STREQ(varve_error_message(nullptr), "");
  EXPECT_STREQ(varve_error_details(nullptr), "{}");
}

TEST(Handles, HandleOutsMayNotBeNull) {
  const Store store;
  ErrorOut open_error;
  const Outcome opened = open_error.outcome(
      varve_store_open("memory:", VARVE_NUL_TERMINATED, nullptr, 0, nullptr, open_error.out()));
  EXPECT_EQ(opened.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(opened.detail("member"), "store_out");
  ErrorOut create_error;
  const Outcome created = create_error.outcome(
      varve_session_create(store.get(), nullptr, 0, nullptr, create_error.out()));
  EXPECT_EQ(created.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(created.detail("member"), "session_out");
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());  // none was made
  ErrorOut session_error;
  EXPECT_EQ(
      session_error.outcome(varve_session_open(store.get(), "s", 1, nullptr, session_error.out()))
          .status,
      VARVE_INVALID_ARGUMENT);
  ErrorOut window_error;
  const Outcome made = window_error.outcome(varve_window_new(1, nullptr, window_error.out()));
  EXPECT_EQ(made.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(made.detail("member"), "window_out");
}

}  // namespace
}  // namespace varve_test
