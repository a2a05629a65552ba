// Ids that were used before, users with sessions that are damaged, stores that are closed.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {
namespace {

using io::OperationKind;

class StoreCorners : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view uri, std::string_view config = "",
                              io::FileSystem* files = nullptr) {
    auto opened = Store::open(uri, config, {files == nullptr ? &disk_ : files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  Result<std::shared_ptr<session::Session>> make(Store& store, const std::string& id,
                                                 const std::string& user) {
    clock_.advance_ms(10);
    return store.create_session(R"({"session_id":")" + id + R"(","user_id":")" + user + "\"}");
  }
  void add(Store& store, const std::string& id, const std::string& content = "tea") {
    const auto session = store.open_session(id);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const auto added = (*session)->add(R"({"type":"finding","content":")" + content +
                                       R"(","usage":{"input_tokens":5}})");
    EXPECT_TRUE(added.ok()) << added.status().message();
  }
  static std::string listed(Store& store, const std::string& filter) {
    const auto page = store.sessions(filter);
    if (!page.ok()) return std::string(page.status().message());
    std::string ids;
    for (const auto& row : page->get("sessions")->items()) {
      ids += row.get_string("session_id") + " ";
    }
    return ids;
  }
  // Log lines go there until the store is told otherwise.
  static void tell(Store& store, session::Level level, std::vector<std::string>* lines) {
    store.set_log(
        level,
        [](void* data, int32_t, const char* line, size_t len) {
          static_cast<std::vector<std::string>*>(data)->emplace_back(line, len);
        },
        lines);
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

// A list that is made anew has other cursors: the call would fail, and those of others would, too.
TEST_F(StoreCorners, ARescanFromTheMiddleIsRefusedBeforeItIsMade) {
  const auto store = open("store");
  for (const char* id : {"s1", "s2", "s3"}) ASSERT_TRUE(make(*store, id, "ann").ok());
  const std::string next = store->sessions(R"({"limit":1})")->get_string("next");
  for (const std::string& after : {next, std::string("garbage")}) {
    const auto refused = store->sessions(R"({"rescan":true,"after":")" + after + "\"}");
    EXPECT_EQ(refused.code(), Code::kInvalidArgument);
    EXPECT_EQ(listed(*store, R"({"after":")" + next + "\"}"), "s2 s1 ");
  }
  EXPECT_EQ(listed(*store, R"({"rescan":true,"after":null})"), "s3 s2 s1 ");
}

TEST_F(StoreCorners, ALetterAndAColonAreADirectory) {
  EXPECT_EQ((*open("c:notes")->stats()).get_string("uri"), "c:notes");
  EXPECT_TRUE(disk_.exists("c:notes/sessions"));
  EXPECT_TRUE(open(":odd") != nullptr);
  EXPECT_TRUE(open("folder/with:colon") != nullptr);
}

// Whatever it is: an id that cannot be one, a user, a path.
TEST_F(StoreCorners, AMessageIsNotAsLongAsWhatIsWrong) {
  const std::string much(100'000, 'x');
  const auto store =
      open("store", R"({"storage":{"max_user_sessions":1,"max_user_size_mb":1e-6}})");
  ASSERT_TRUE(make(*store, "first", much).ok());
  const auto first = store->open_session("first");
  const std::string named = R"({"sessions":[")" + much + "\"]}";
  ASSERT_TRUE(open("other")->back_up("copy", "").ok());
  for (const Status& refused :
       {Store::open(much + "://x", "", {&disk_, &clock_, &random_}).status(),
        make(*store, "second", much).status(),
        (*first)->add(R"({"type":"finding","content":"tea"})").status(),
        store->query_of_user(R"({"user_id":")" + much + "\"}", "ann").status(),
        store->query_of_user(R"({"user_id":"ann"})", much).status(),
        store->back_up("copy", named).status(), store->restore("copy", named).status()}) {
    EXPECT_FALSE(refused.ok());
    EXPECT_LT(refused.message().size(), 400u) << refused.message().substr(0, 100);
  }
}

// Another process, between the look at the ttl, by a clock that goes ahead, and the lock.
TEST_F(StoreCorners, AnExpiredSessionThatIsWrittenToAtTheLastMomentKeepsItsId) {
  const auto own = disk_.process(2001);
  const auto store = open("store", "", own.get());
  const auto other = open("store");
  const auto writer = *other->create_session(R"({"session_id":"s1","ttl_hours":1})");
  const int64_t right_ms = clock_.now_ms();
  clock_.advance_ms(7'200'000);
  bool is_written = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_lock = operation.process_id == 2001 && operation.kind == OperationKind::kLock &&
                         operation.path.find("/s1/") != std::string::npos;
    if (is_lock && !std::exchange(is_written, true)) {
      clock_.set_now_ms(right_ms);
      EXPECT_TRUE(writer->add(R"({"id":"a","type":"finding","content":1})").ok());
    }
    return std::nullopt;
  });
  EXPECT_EQ(store->create_session(R"({"session_id":"s1"})").code(), Code::kAlreadyExists);
  disk_.set_fault_hook({});
  EXPECT_TRUE(is_written);
  EXPECT_TRUE((*store->open_session("s1"))->get("a").ok());
}

// A sweep of another process, at the same moment.
TEST_F(StoreCorners, AnExpiredSessionThatAnotherRemovesAtTheLastMomentLeavesItsId) {
  const auto own = disk_.process(2001);
  const auto store = open("store", "", own.get());
  const auto other = open("store");
  ASSERT_TRUE(other->create_session(R"({"session_id":"s1","ttl_hours":1})").ok());
  clock_.advance_ms(7'200'000);
  bool is_removed = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_lock = operation.process_id == 2001 && operation.kind == OperationKind::kLock &&
                         operation.path.find("/s1/") != std::string::npos;
    if (is_lock && !std::exchange(is_removed, true)) {
      EXPECT_EQ(other->sweep()->get_int64("sessions_removed"), 1);
    }
    return std::nullopt;
  });
  const auto made = store->create_session(R"({"session_id":"s1"})");
  disk_.set_fault_hook({});
  EXPECT_TRUE(is_removed);
  EXPECT_TRUE(made.ok()) << made.status().message();
}

TEST_F(StoreCorners, OpeningWhatIsOpenIsToldToWhoWantsDetails) {
  const auto store = open("store");
  const auto session = make(*store, "s1", "u");
  std::vector<std::string> lines;
  tell(*store, session::Level::kDebug, &lines);
  EXPECT_EQ(store->open_session("s1")->get(), session->get());
  store->deliver_events();
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("the session is open already"), std::string::npos);
  store->set_log(session::Level::kOff, nullptr, nullptr);
}

TEST_F(StoreCorners, AnOpenSessionThatCannotBeLookedAtIsNotTakenForDeleted) {
  const auto store = open("store");
  const auto session = make(*store, "s1", "u");
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {OperationKind::kInfo}));
  EXPECT_EQ(store->open_session("s1").code(), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_EQ(store->open_session("s1")->get(), session->get());
}

TEST_F(StoreCorners, AnIdThatWasMadeAnewIsOfWhoMadeItLastAndThereOnce) {
  for (const std::string uri : {"store", "memory:"}) {
    const auto store = open(uri);
    ASSERT_TRUE(make(*store, "s1", "ann").ok());
    add(*store, "s1", "secret of ann");
    ASSERT_TRUE(store->delete_session("s1").ok());
    ASSERT_TRUE(make(*store, "s1", "bob").ok());
    ASSERT_TRUE(store->delete_session("s1").ok());
    ASSERT_TRUE(make(*store, "s1", "bob").ok());
    add(*store, "s1");
    EXPECT_EQ(listed(*store, R"({"user_id":"ann"})"), "") << uri;
    EXPECT_EQ(listed(*store, R"({"user_id":"bob"})"), "s1 ") << uri;
    EXPECT_EQ(listed(*store, ""), "s1 ") << uri;
    EXPECT_EQ(store->query(R"({"text":"tea"})")->results.size(), 1u) << uri;
    EXPECT_EQ(store->query(R"({"text":"secret"})")->results.size(), 0u) << uri;
    EXPECT_EQ(store->usage("")->get("total")->get_int64("entries"), 1) << uri;
    EXPECT_EQ(store->usage(R"({"agent_id":"other"})")->get("total")->get_int64("entries"), 0);
    EXPECT_EQ(store->sweep()->get_int64("sessions_checked"), 1) << uri;
  }
}

TEST_F(StoreCorners, WhoseUsageIsAskedForIsNotLeftEmpty) {
  const auto store = open("store");
  for (const auto& [filter, member] :
       {std::pair{R"({"user_id":""})", "user_id"}, std::pair{R"({"agent_id":""})", "agent_id"},
        std::pair{R"({"session_ids":[]})", "session_ids"}}) {
    const auto refused = store->usage(filter);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << filter;
    EXPECT_EQ(refused.status().place().member, member) << filter;
  }
}

TEST_F(StoreCorners, ANamedSessionIsAskedOnlyForItsUserAndItsAgent) {
  const auto store = open("store");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1","user_id":"ann","agent_id":"x"})").ok());
  add(*store, "s1");
  const auto count = [&](const std::string& who) {
    return store->query(R"({"session_ids":["s1"])" + who + "}")->results.size();
  };
  EXPECT_EQ(count(""), 1u);
  EXPECT_EQ(count(R"(,"user_id":"ann")"), 1u);
  EXPECT_EQ(count(R"(,"agent_id":"x")"), 1u);
  EXPECT_EQ(count(R"(,"user_id":"ann","agent_id":"x")"), 1u);
  EXPECT_EQ(count(R"(,"user_id":"ann","agent_id":"y")"), 0u);
  EXPECT_EQ(count(R"(,"user_id":"bob","agent_id":"x")"), 0u);
}

TEST_F(StoreCorners, ASessionThatIsMadeAnewInTheSameMillisecondIsListedOnce) {
  const auto store = open("store");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store->create_session(R"({"session_id":"s1"})").ok());
    ASSERT_TRUE(store->delete_session("s1").ok());
  }
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1"})").ok());
  EXPECT_EQ(listed(*store, ""), "s1 ");
}

TEST_F(StoreCorners, AUsersSessionsCountOnceAndAlsoWhenTheyAreDamaged) {
  const std::string config = R"({"storage":{"max_user_sessions":3,"max_user_size_mb":0.2}})";
  {
    const auto store = open("store", config);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(make(*store, "s1", "u").ok()) << "the id that was deleted is not counted";
      ASSERT_TRUE(store->delete_session("s1").ok());
    }
    ASSERT_TRUE(make(*store, "s1", "u").ok());
    ASSERT_TRUE(make(*store, "torn", "u").ok());
    ASSERT_TRUE(make(*store, "hidden", "u").ok());
  }
  disk_.write_file("store/sessions/torn/metadata.json", "{\"torn");
  const auto store = open("store", config);
  bool was_hidden = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_hidden = operation.path.ends_with("hidden/metadata.json");
    was_hidden = was_hidden || is_hidden;
    return is_hidden ? std::optional(io::Fault{EIO, std::nullopt}) : std::nullopt;
  });
  const auto refused = make(*store, "s4", "u");
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_TRUE(was_hidden);
  EXPECT_EQ(refused.status().place().size, 4u) << "three are there, whatever they hold";
  disk_.set_fault_hook({});
  add(*store, "s1", std::string(10'000, 'x'));
}

TEST_F(StoreCorners, AQuotaThatCannotBeCountedLetsNothingThrough) {
  const auto store = open("store", R"({"storage":{"max_user_sessions":3}})");
  ASSERT_TRUE(make(*store, "s1", "u").ok());
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {OperationKind::kOpen}).on_file("sessions.jsonl"));
  EXPECT_EQ(make(*store, "s2", "u").code(), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_TRUE(make(*store, "s2", "u").ok());
}

TEST_F(StoreCorners, FiguresCountASessionWhoseMetadataIsDamagedWithoutEntries) {
  {
    const auto store = open("store");
    for (const std::string id : {"whole", "torn"}) {
      ASSERT_TRUE(make(*store, id, "u").ok());
      add(*store, id);
    }
    store->close();
  }
  disk_.write_file("store/sessions/torn/metadata.json", "{\"torn");
  const std::string text = *open("store")->metrics();
  EXPECT_NE(text.find("varve_sessions{store=\"store\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("varve_entries{store=\"store\"} 1\n"), std::string::npos) << text;
}

// --- stores that are closed ----------------------------------------------------------------------

constexpr const char* kSlowly =
    R"({"durability":"interval","performance":{"batch_write_interval_ms":3600000}})";

TEST_F(StoreCorners, ASessionOpenedFromAClosedStoreIsMadeDurableByItsOwnClose) {
  const auto store = open("store", kSlowly);
  ASSERT_TRUE(make(*store, "s1", "u").ok());
  store->close();
  {
    const auto session = *store->open_session("s1");
    ASSERT_TRUE(session->add(R"({"id":"late","type":"finding","content":1})").ok());
    session->close();
  }
  const auto after = disk_.crash();
  const auto again = open("store", "", after.get());
  EXPECT_TRUE((*again->open_session("s1"))->get("late").ok());
}

TEST_F(StoreCorners, WhatTheLastFlushCannotMakeDurableIsTold) {
  const auto store = open("store", kSlowly);
  const auto session = *make(*store, "s1", "u");
  ASSERT_TRUE(session->add(R"({"id":"a","type":"finding","content":1})").ok());
  std::vector<std::string> lines;
  tell(*store, session::Level::kError, &lines);
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {OperationKind::kSyncData}));
  store->close();
  disk_.set_fault_hook({});
  store->deliver_events();
  store->set_log(session::Level::kOff, nullptr, nullptr);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.front().find("\"s1\""), std::string::npos) << lines.front();
  EXPECT_NE(lines.front().find("Input/output error"), std::string::npos) << lines.front();
}

TEST_F(StoreCorners, AnIdThatIsAnothersNowDoesNotCountForWhoHadItBefore) {
  const auto store = open("store", R"({"storage":{"max_user_sessions":1}})");
  ASSERT_TRUE(make(*store, "s1", "ann").ok());
  ASSERT_TRUE(store->delete_session("s1").ok());
  ASSERT_TRUE(make(*store, "s1", "bob").ok());
  EXPECT_TRUE(make(*store, "s2", "ann").ok());
  EXPECT_EQ(make(*store, "s3", "ann").code(), Code::kSizeLimit);
  EXPECT_EQ(make(*store, "s3", "bob").code(), Code::kSizeLimit);
}

TEST_F(StoreCorners, ACallWithNothingToDoTellsThatTheSessionIsGone) {
  const auto store = open("store");
  const auto session = *make(*store, "s1", "ann");
  EXPECT_EQ(*session->add_batch("[]"), "[]");
  EXPECT_EQ(session->import_text("")->get_int64("added"), 0);
  const auto other = open("store");
  ASSERT_TRUE(other->delete_session("s1").ok());
  EXPECT_EQ(session->add_batch("[]").code(), Code::kNotFound);
  EXPECT_EQ(session->import_text("").code(), Code::kNotFound);
  EXPECT_EQ(session->add(R"({"type":"finding","content":1})").status().message(),
            "the session was deleted");
}

TEST_F(StoreCorners, AnExportHasTheMetadataThatAnotherProcessWrote) {
  const auto store = open("store");
  const auto session = *make(*store, "s1", "ann");
  const auto other = open("store");
  ASSERT_TRUE((*other->open_session("s1"))->update(R"({"title":"theirs"})").ok());
  const auto exported = json::Tree::parse(*exported_text(*session, "json"));
  EXPECT_EQ(exported->get("session")->get_string("title"), "theirs");
}

// At once, and not only when the user is counted again. What it replaces no longer does.
TEST_F(StoreCorners, WhatIsRestoredCountsForItsUser) {
  const std::string text(8'000, 'x');
  const auto store = open("store", R"({"storage":{"max_user_size_mb":0.02}})");
  ASSERT_TRUE(make(*store, "large", "u").ok());
  ASSERT_TRUE(make(*store, "small", "u").ok());
  add(*store, "large", text);
  ASSERT_TRUE(store->back_up("copy", "").ok());
  const auto try_to_add = [&] {
    const auto session = *store->open_session("small");
    return session->add(R"({"type":"finding","content":")" + text + "\"}").code();
  };
  ASSERT_TRUE(store->delete_session("large").ok());
  EXPECT_EQ(try_to_add(), Code::kOk);
  ASSERT_TRUE(store->restore("copy", R"({"sessions":["large"]})").ok());
  EXPECT_EQ(try_to_add(), Code::kSizeLimit);
  ASSERT_TRUE(store->restore("copy", R"({"sessions":["small"],"overwrite":true})").ok());
  EXPECT_EQ(try_to_add(), Code::kOk);
}

}  // namespace
}  // namespace varve::store
