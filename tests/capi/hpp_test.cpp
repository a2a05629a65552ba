// varve.hpp: what it adds to the C functions, namely ends, failures and callbacks.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <varve/varve.hpp>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

constexpr std::string_view kTea = R"({"id":"tea","type":"finding","content":"tea, not coffee"})";

static_assert(!std::is_copy_constructible_v<varve::Store>);
static_assert(!std::is_copy_assignable_v<varve::Session>);
static_assert(std::is_nothrow_move_constructible_v<varve::Store>);
static_assert(std::is_nothrow_move_assignable_v<varve::Store>);
static_assert(std::is_nothrow_move_constructible_v<varve::checked::Session>);
static_assert(std::is_nothrow_move_assignable_v<varve::Results>);
static_assert(!std::is_constructible_v<varve::checked::Store, std::string_view>);

// The status that `call` throws; VARVE_OK when it does not.
template <typename Call>
varve_status_t thrown(Call&& call) {
  try {
    call();
  } catch (const varve::Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return VARVE_OK;
}

TEST(Hpp, RemembersAndFinds) {
  const varve::Store store("memory:");
  const varve::Session session = store.create_session(R"({"session_id":"s"})");
  EXPECT_EQ(session.id(), "s");
  EXPECT_EQ(session.add(kTea), "tea");
  const std::array<std::string_view, 2> more = {R"({"id":"a","type":"finding","content":1})",
                                                R"({"id":"b","type":"finding","content":2})"};
  EXPECT_EQ(session.add_batch(more), R"(["a","b"])");
  EXPECT_NE(session.get("tea").find("not coffee"), std::string::npos);
  const varve::Results found = session.query(R"({"text":"coffee"})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.entries().front(), session.get("tea"));
  EXPECT_EQ(found.entry(0), session.get("tea"));
  EXPECT_GT(found.score(0), 0);
  EXPECT_EQ(found.json().substr(0, 12), R"({"results":[)");
  EXPECT_EQ(session.count(), 3U);
  EXPECT_EQ(store.query(R"({"ids":["a"]})").size(), 1U);
  session.remove("a", "not needed");
  EXPECT_EQ(session.remove_where(R"({"ids":["b"]})"), 1U);
  EXPECT_EQ(session.count(), 1U);
  EXPECT_TRUE(session.query(R"({"ids":["a"]})").empty());
}

// Before C++23, what `session.query()` gives is gone when such a loop begins.
TEST(Hpp, TextsOfResultsWithoutANameStay) {
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  session.add(kTea);
  std::vector<std::string> seen;
  for (const auto& entry : session.query().entries()) seen.emplace_back(entry);
  const auto first = session.query().entry(0);
  const auto page = session.query().json();
  static_assert(std::is_same_v<decltype(first), const std::string>);
  static_assert(std::is_same_v<decltype(page), const std::string>);
  EXPECT_EQ(seen, std::vector<std::string>{session.get("tea")});
  EXPECT_EQ(first, seen.front());
  EXPECT_NE(page.find(first), std::string::npos);
  // Nor is it a view of what is gone by accident.
  using Views = std::vector<std::string_view>;
  static_assert(!std::is_constructible_v<Views, decltype(session.query().entries())>);

  const auto opened = varve::checked::Store::open("memory:").value();
  const auto checked = opened.create_session();
  EXPECT_EQ(checked->query().value().entries(), std::vector<std::string>());
  EXPECT_EQ(checked->query().value().entry(0).error().status(), VARVE_INVALID_ARGUMENT);
}

TEST(Hpp, EntriesOfABatchComeInWhatTheCallerHas) {
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  const std::string_view of_a = R"({"id":"a","type":"finding","content":1})";
  const std::string_view of_b = R"({"id":"b","type":"finding","content":2})";
  // In braces they must not be taken for the two ends of one text.
  EXPECT_EQ(session.add_batch({R"({"id":"c","type":"finding","content":3})",
                               R"({"id":"d","type":"finding","content":4})"}),
            R"(["c","d"])");
  EXPECT_EQ(session.add_batch(std::vector<std::string>{std::string(of_a)}), R"(["a"])");
  EXPECT_EQ(session.add_batch(std::vector{of_b}), R"(["b"])");
  EXPECT_EQ(session.add_batch({}), "[]");
  EXPECT_EQ(session.count(), 4U);
}

TEST(Hpp, PagesFollowOneAnother) {
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  for (const char* id : {"a", "b", "c"}) {
    session.add(R"({"id":")" + std::string(id) + R"(","type":"finding","content":1})");
  }
  std::vector<std::string> pages;
  for (std::string after;;) {
    const varve::Results page =
        session.query(R"({"sort_by":"time","order":"asc","limit":2)" + after + "}");
    pages.push_back(std::to_string(page.size()));
    if (page.next().empty()) break;
    after = R"(,"after":)" + varve::json_string(page.next());
  }
  EXPECT_EQ(pages, (std::vector<std::string>{"2", "1"}));
}

TEST(Hpp, AnyTextBecomesJson) {
  EXPECT_EQ(varve::json_string("say \"tea\\coffee\"\n\x1f"),
            R"("say \"tea\\coffee\"\u000a\u001f")");
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  const std::string said = "\"quoted\" \\ \t, \xc3\xa9 and NUL: " + std::string(1, '\0');
  const std::string id =
      session.add(R"({"type":"message","content":)" + varve::json_string(said) + "}");
  EXPECT_EQ(json::parse(session.get(id)).at("content").as_string(), said);
}

TEST(Hpp, AConstantResultCanBeRead) {
  const varve::checked::Store store = varve::checked::Store::open("memory:").value();
  const auto session = store.session("s");
  ASSERT_TRUE(session);
  const varve::checked::Result<std::string> id = session->add(kTea);
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, "tea");
  EXPECT_EQ(id->size(), 3U);
  EXPECT_EQ(id.value(), "tea");
  EXPECT_EQ((*session).count().value(), 1U);
  EXPECT_EQ(id.value_or("none"), "tea");
  EXPECT_EQ(session->add(R"({"id":"b","type":"finding","content":2})").value_or("none"), "b");
  const auto missing = session.value().get("coffee");
  EXPECT_EQ(missing.value_or("none"), "none");
  EXPECT_EQ(thrown([&] { (void)missing.value(); }), VARVE_NOT_FOUND);
}

TEST(Hpp, ASessionIsOpenedOrMade) {
  const TempDirectory directory;
  const std::string place = directory.path() + "/store";
  varve::Store(place).session("s", R"({"user_id":"ann","title":"Kitchen"})").add(kTea);
  const varve::Store store(place);
  for (const char* options :
       {"", " ", "{}", " { \n} ", R"({"user_id":"ann"} )", R"({"preferences":{"a":{}}})"}) {
    const varve::Session session = store.session("s", options);
    EXPECT_EQ(session.count(), 1U) << options;
    EXPECT_NE(session.metadata().find(R"("title":"Kitchen")"), std::string::npos);
  }
  EXPECT_EQ(thrown([&] { (void)store.session("s", R"({"user_id":"bo"})"); }), VARVE_ALREADY_EXISTS);
  EXPECT_NE(store.sessions().find(R"("next":null)"), std::string::npos);

  const varve::checked::Store checked = varve::checked::Store::open(place).value();
  EXPECT_EQ(checked.session("s").value().count().value(), 1U);
  EXPECT_EQ(checked.session("s", R"({"agent_id":"a"})").error().status(), VARVE_ALREADY_EXISTS);
}

TEST(Hpp, WhatIsWrongInOptionsOfASessionIsToldAtItsPlace) {
  const varve::checked::Store store = varve::checked::Store::open("memory:").value();
  for (const char* options : {"[]", "{", "}", "x", "\"{}\"", "[}", "{]", R"({"user_id":"a",})",
                              R"({"title":"a}", R"({"preferences":{})", "{}{}", R"({"title":"\"})",
                              R"({"session_id":"other"})", R"({"if_exists":"fail"})"}) {
    const auto answer = store.session("s", options);
    ASSERT_FALSE(answer) << options;
    EXPECT_EQ(answer.error().status(), VARVE_INVALID_ARGUMENT) << options;
  }
  const auto misspelt = store.session("s", R"({"title":"a","user":"ann"})");
  EXPECT_NE(std::string_view(misspelt.error().details()).find(R"("offset":20)"),
            std::string_view::npos)
      << misspelt.error().details();
  for (const std::string_view id :
       {std::string_view("a\"b"), std::string_view("a\\"), std::string_view("a\0b", 3),
        std::string_view("\x1f"), std::string_view("\xff"), std::string_view()}) {
    EXPECT_EQ(store.session(id).error().status(), VARVE_INVALID_ARGUMENT);
  }
  EXPECT_NE(store.sessions().value().find(R"("sessions":[])"), std::string::npos);
}

TEST(Hpp, WindowAndMemory) {
  const varve::Window window(2);
  for (const char* message :
       {R"({"content":"a"})", R"({"content":"b"})", R"({"role":"user","content":"c"})"}) {
    window.add(message);
  }
  EXPECT_EQ(window.size(), 2U);
  EXPECT_EQ(window.text(), "entry: b\nuser: c\n");
  EXPECT_EQ(window.recent(0), "[]");
  window.clear();
  EXPECT_EQ(window.recent(), "[]");
  const varve::Store store("memory:");
  const varve::Memory memory = store.open_memory(R"({"user_id":"ada"})");
  const std::string id = memory.record("chat", R"({"role":"user","content":"Hello"})");
  memory.load("chat");
  memory.save("chat");
  EXPECT_NE(memory.context("chat").find(id), std::string::npos);
  memory.clear();
  memory.store(R"({"content":"likes tea"})");
  EXPECT_EQ(memory.search(R"({"text":"tea"})").size(), 1U);
  memory.remove(id);
  EXPECT_EQ(memory.search().size(), 1U);
}

TEST(Hpp, EveryFunctionOfASessionIsReached) {
  const TempDirectory directory;
  const varve::Store store(directory.path() + "/store");
  varve::Session session = store.create_session();
  session.add(kTea);
  session.update(R"({"title":"drinks"})");
  EXPECT_NE(session.metadata().find("drinks"), std::string::npos);
  session.sync();
  const std::string file = directory.path() + "/out.jsonl";
  for (const std::string& answer :
       {session.tags(), session.stats(), session.files(), session.verify(), session.repair(),
        session.compact(), session.purge(), session.migrate(), session.rebuild_index(),
        session.index(), session.export_text("json"), session.import_text(kTea),
        session.export_file(file), session.import_file(file)}) {
    EXPECT_EQ(answer.substr(0, 1), "{");
  }
  for (const std::string& answer :
       {store.sessions(), store.sweep(), store.stats(), store.usage(),
        store.backup(directory.path() + "/copy"),
        store.restore(directory.path() + "/copy", R"({"overwrite":true})")}) {
    EXPECT_EQ(answer.substr(0, 1), "{");
  }
  EXPECT_NE(store.metrics().find("# HELP"), std::string::npos);
  store.sync();
  EXPECT_EQ(thrown([&] { session.sync(); }), VARVE_NOT_FOUND);  // it was replaced
  session = store.open_session(store.open_session(session.id()).id());
  store.delete_session(session.id());
}

TEST(Hpp, FailuresAreThrownWithTheirPlace) {
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  try {
    session.add(R"({"type":"finding","content":1,"importance":7})");
    FAIL() << "an importance of 7 was taken";
  } catch (const varve::Error& error) {
    EXPECT_EQ(error.status(), VARVE_INVALID_ARGUMENT);
    EXPECT_STREQ(error.name(), "VARVE_INVALID_ARGUMENT");
    EXPECT_NE(error.details().find(R"("member":"importance")"), std::string::npos);
  }
  EXPECT_EQ(thrown([&] { (void)session.get("none"); }), VARVE_NOT_FOUND);
  EXPECT_EQ(thrown([&] { (void)session.query("{"); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { (void)session.query().entry(0); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { (void)session.query().score(0); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { session.update("[]"); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { (void)store.open_session("none"); }), VARVE_NOT_FOUND);
  EXPECT_EQ(thrown([&] { (void)store.open_memory("[]"); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([] { varve::Store("nowhere://x"); }), VARVE_UNSUPPORTED);
  EXPECT_EQ(thrown([] { varve::Window(0); }), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([] { varve::Window(-1); }), VARVE_INVALID_ARGUMENT);
}

TEST(Hpp, ANegativeCapacityIsToldAsItWasGiven) {
  const auto window = varve::checked::Window::make(-5);
  ASSERT_FALSE(window);
  EXPECT_EQ(window.error().status(), VARVE_INVALID_ARGUMENT);
  EXPECT_STREQ(window.error().what(), "capacity is -5; a window keeps 1 message or more");
  EXPECT_EQ(window.error().details(), R"({"member":"capacity"})");
  try {
    const varve::Window thrown(-5);
    FAIL() << "a window of -5 messages was made";
  } catch (const varve::Error& error) {
    EXPECT_STREQ(error.what(), window.error().what());
  }
}

TEST(Hpp, CheckedClassesAnswerWithResults) {
  varve::checked::Result<varve::checked::Store> store = varve::checked::Store::open("memory:");
  ASSERT_TRUE(store);
  auto session = store->create_session();
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->add(kTea).value(), "tea");
  const auto missing = session->get("none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().status(), VARVE_NOT_FOUND);
  EXPECT_EQ(session->get("none").value_or("nothing"), "nothing");
  EXPECT_EQ(thrown([&] { (void)session->get("none").value(); }), VARVE_NOT_FOUND);
  EXPECT_TRUE(session->update(R"({"title":"x"})"));
  EXPECT_EQ(session->update("[]").error().status(), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { session->update("[]").value(); }), VARVE_INVALID_ARGUMENT);
  auto found = session->query(R"({"text":"tea"})");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1U);
  EXPECT_EQ(found->entry(1).error().status(), VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(*session->count(), 1U);
  EXPECT_EQ(varve::checked::Store::open("nowhere://x").error().status(), VARVE_UNSUPPORTED);
  EXPECT_EQ(varve::checked::Window::make(0).error().status(), VARVE_INVALID_ARGUMENT);
  EXPECT_TRUE(varve::checked::Window::make(1).value().add(R"({"content":"a"})"));
}

TEST(Hpp, WhatIsMovedFromHasNoHandle) {
  const TempDirectory directory;
  varve::Store store(directory.path() + "/one");
  varve::Session session = store.create_session(R"({"session_id":"s"})");
  varve::Session moved = std::move(session);
  EXPECT_EQ(moved.add(kTea), "tea");
  EXPECT_EQ(session.handle(), nullptr);  // NOLINT: that is what is tested
  EXPECT_EQ(thrown([&] { session.sync(); }), VARVE_BAD_HANDLE);
  EXPECT_EQ(session.id(), "");
  EXPECT_EQ(thrown([&] {
              session.set_progress([](std::string_view, uint64_t, uint64_t) { return true; });
            }),
            VARVE_BAD_HANDLE);
  varve::Store taken = std::move(store);
  EXPECT_EQ(thrown([&] { store.sync(); }), VARVE_BAD_HANDLE);  // NOLINT
  EXPECT_EQ(thrown([&] { store.set_clock([] { return int64_t{0}; }); }), VARVE_BAD_HANDLE);
  taken = varve::Store(directory.path() + "/two");  // closes the other one, and its sessions
  EXPECT_EQ(thrown([&] { moved.sync(); }), VARVE_BAD_HANDLE);
  EXPECT_EQ(thrown([&] { (void)taken.open_session("s"); }), VARVE_NOT_FOUND);
}

TEST(Hpp, AFailureThatWasMovedFromStillTells) {
  varve::Error error(VARVE_IO, "cannot read", R"({"path":"a"})");
  const varve::Error taken = std::move(error);
  EXPECT_EQ(taken.details(), R"({"path":"a"})");
  EXPECT_EQ(error.details(), taken.details());  // NOLINT: that is what is tested
  EXPECT_STREQ(error.what(), "cannot read");
  auto refused = varve::checked::Window::make(0);
  const auto moved = std::move(refused);
  EXPECT_FALSE(refused);  // NOLINT
  EXPECT_EQ(refused.error().details(), moved.error().details());
}

TEST(Hpp, FunctionsMoveWithTheStoreThatIsAssigned) {
  const auto held_by_first = std::make_shared<int>();
  const auto held_by_second = std::make_shared<int>();
  varve::Store store("memory:");
  store.set_log(VARVE_LOG_INFO, [held_by_first](int32_t, std::string_view) {});
  varve::Store second("memory:");
  second.set_log(VARVE_LOG_INFO, [held_by_second](int32_t, std::string_view) {});
  store = std::move(second);
  EXPECT_EQ(held_by_first.use_count(), 1);
  ASSERT_EQ(held_by_second.use_count(), 2);
  const auto held_by_third = std::make_shared<int>();
  store.set_log(VARVE_LOG_INFO, [held_by_third](int32_t, std::string_view) {});
  EXPECT_EQ(held_by_second.use_count(), 1);
}

// Told while the functions are still there.
TEST(Hpp, TheEndOfAStoreIsToldToItsFunction) {
  std::string last;
  {
    varve::Store store("memory:");
    varve_session_t* left_open = nullptr;
    ASSERT_EQ(varve_session_create(store.handle(), nullptr, 0, &left_open, nullptr), VARVE_OK);
    store.set_log(VARVE_LOG_INFO, [&](int32_t, std::string_view line) { last = line; });
  }
  EXPECT_NE(last.find("session closed"), std::string::npos) << last;
}

TEST(Hpp, AStoreIsOpenedWithItsConfiguration) {
  EXPECT_EQ(thrown([] { varve::Store("memory:", R"({"durability":"never"})"); }),
            VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(varve::checked::Store::open("memory:", "[]").error().status(), VARVE_INVALID_ARGUMENT);
}

TEST(Hpp, LogLinesReachTheirFunctionAndMayBeLost) {
  std::vector<std::string> lines;
  {
    varve::Store store("memory:");
    store.set_log(VARVE_LOG_INFO, [&](int32_t, std::string_view line) {
      lines.emplace_back(line);
      throw 7;
    });
    varve::Store moved = std::move(store);  // the function moves with it
    (void)moved.create_session();
    ASSERT_FALSE(lines.empty());
    EXPECT_NE(lines.front().find("session created"), std::string::npos);
    const size_t count = lines.size();
    moved.set_log(VARVE_LOG_INFO, nullptr);
    (void)moved.create_session();
    EXPECT_EQ(lines.size(), count);
  }
}

TEST(Hpp, AClockThatThrowsIsNotAsked) {
  varve::Store store("memory:");
  store.set_clock([] { return int64_t{0}; });
  const varve::Session early = store.create_session(R"({"session_id":"early"})");
  EXPECT_NE(early.metadata().find(R"("created_at":"1970-01-01T00:00:00.000Z")"), std::string::npos);
  store.set_clock([]() -> int64_t { throw std::runtime_error("no time"); });
  const varve::Session late = store.create_session();
  EXPECT_EQ(late.metadata().find(R"("created_at":"1970)"), std::string::npos);
  store.set_clock(nullptr);
}

TEST(Hpp, TokensAreCountedByTheProgram) {
  varve::Store store("memory:");
  varve::Session session = store.create_session();
  session.record("user_message", R"({"content":"Ann drinks tea"})");
  store.set_token_counter([](std::string_view text) { return uint64_t{text.empty() ? 0U : 7U}; });
  varve::Store moved = std::move(store);  // the function moves with it
  EXPECT_NE(session.build_context().find(R"("token_count":7)"), std::string::npos);
  moved.set_token_counter([](std::string_view) -> uint64_t { throw 7; });
  EXPECT_EQ(thrown([&] { (void)session.build_context(); }), VARVE_CALLBACK);
  moved.set_token_counter(nullptr);
  EXPECT_EQ(session.build_context().find(R"("token_count":7,)"), std::string::npos);
}

TEST(Hpp, ProgressStopsAnOperation) {
  const varve::Store store("memory:");
  varve::Session session = store.create_session();
  session.add(kTea);
  std::string operation;
  session.set_progress([&](std::string_view name, uint64_t, uint64_t) {
    operation = name;
    return true;
  });
  EXPECT_NE(session.export_text("json"), "");
  EXPECT_EQ(operation, "export");
  session.set_progress([](std::string_view, uint64_t, uint64_t) { return false; });
  EXPECT_EQ(thrown([&] { (void)session.export_text("json"); }), VARVE_CALLBACK);
  session.set_progress([](std::string_view, uint64_t, uint64_t) -> bool { throw 7; });
  EXPECT_EQ(thrown([&] { (void)session.verify(); }), VARVE_CALLBACK);
  varve::Session moved = std::move(session);  // the function moves with it
  EXPECT_EQ(thrown([&] { (void)moved.verify(); }), VARVE_CALLBACK);
  moved.set_progress(nullptr);
  EXPECT_NE(moved.verify(), "");
}

// A program may give a function for each operation, as long as it runs.
TEST(Hpp, FunctionsThatWereReplacedAreGone) {
  varve::Store store("memory:");
  varve::Session session = store.create_session();
  const auto held = std::make_shared<int>();
  for (int i = 0; i < 100; i++) {
    store.set_log(VARVE_LOG_INFO, [held](int32_t, std::string_view) {});
    store.set_clock([held] { return int64_t{0}; });
    store.set_token_counter([held](std::string_view) { return uint64_t{1}; });
    session.set_progress([held](std::string_view, uint64_t, uint64_t) { return true; });
  }
  EXPECT_EQ(held.use_count(), 1 + 4);
}

TEST(Hpp, AFunctionThatReplacesItselfStaysUntilItReturns) {
  varve::Store store("memory:");
  auto held = std::make_shared<std::string>("held by the first");
  const std::weak_ptr<std::string> seen = held;
  std::vector<std::string> told;
  store.set_log(VARVE_LOG_INFO, [&told, &store, held = std::move(held)](int32_t, std::string_view) {
    store.set_log(VARVE_LOG_INFO,
                  [&told](int32_t, std::string_view) { told.emplace_back("by the second"); });
    told.push_back(*held);
  });
  (void)store.create_session();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), "held by the first");
  EXPECT_TRUE(seen.expired());
  (void)store.create_session();
  EXPECT_EQ(told.back(), "by the second");
}

TEST(Hpp, AFunctionThatIsRefusedDoesNotReplaceTheOneBefore) {
  varve::Store store("memory:");
  int told = 0;
  store.set_log(VARVE_LOG_INFO, [&told](int32_t, std::string_view) { told++; });
  const auto held = std::make_shared<int>();
  EXPECT_EQ(thrown([&] { store.set_log(99, [held](int32_t, std::string_view) {}); }),
            VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(held.use_count(), 1);
  (void)store.create_session();
  EXPECT_GT(told, 0);
}

// The audit log says why each entry went.
TEST(Hpp, ReasonsOfDeletionsAreKept) {
  const TempDirectory directory;
  const std::string place = directory.path() + "/store";
  const varve::Store store(place);
  const varve::Session session = store.create_session(R"({"session_id":"s","user_id":"ann"})");
  for (const std::string id : {"a", "b", "c"}) {
    session.add(R"({"type":"finding","content":1,"id":")" + id + "\"}");
  }
  session.remove("a", "asked for");
  session.remove_where(R"({"ids":["b"]})", "too old");
  store.open_memory(R"({"user_id":"ann"})").remove("c", "wrong");
  const std::string log = read_file(place + "/sessions/s/tombstones.jsonl");
  for (const char* reason : {"asked for", "too old", "wrong"}) {
    EXPECT_NE(log.find(varve::json_string(reason)), std::string::npos) << reason;
  }
}

TEST(Hpp, TextMayHoldNulAndBeEmpty) {
  const varve::Window window(3);
  window.add(std::string_view("{\"content\":\"a\"}\0x", 15));  // ends before the NUL
  EXPECT_EQ(thrown([&] { window.add({}); }), VARVE_INVALID_ARGUMENT);
  const varve::Store store("memory:");
  const varve::Session session = store.create_session(std::string_view());
  EXPECT_EQ(session.query(std::string_view()).size(), 0U);
}

}  // namespace
}  // namespace varve_test
