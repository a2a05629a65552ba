#include "store/kept_sessions.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>

#include "store_query_rig.h"

namespace varve::store {
namespace {

using SessionPointer = KeptSessions::SessionPointer;

constexpr size_t kEnough = 100;
constexpr uint64_t kNoLimit = UINT64_MAX;

class KeptSessionsTest : public testing::Test {
 protected:
  // A pointer to the session of that id.
  SessionPointer pointer(const std::string& id) {
    if (!pointers_.contains(id)) make(id);
    return pointers_.at(id).lock();
  }
  SessionPointer make(const std::string& id) { return make(id, &rig_); }
  SessionPointer make(const std::string& id, AskedSessions* rig) {
    session::Session& session = rig->make(id);
    SessionPointer made(&session, [this](session::Session* gone) { closed_ += gone->id(); });
    pointers_[id] = made;
    held_.push_back(made);
    return made;
  }
  // A query of these sessions, which nobody else holds afterwards.
  void ask(const std::string& ids, size_t count_max) {
    for (const char id : ids) ask_one(id, count_max);
    kept_.trim(count_max, kNoLimit);
  }
  void ask_one(char id, size_t count_max) {
    auto session = pointers_.contains({id}) ? pointers_.at({id}).lock() : nullptr;
    kept_.keep(session ? session : make({id}), count_max);
    held_.clear();
  }
  [[nodiscard]] std::string kept() const {
    std::string ids;
    for (const auto& session : kept_.sessions()) ids += session->id();
    return ids;
  }

  AskedSessions rig_;
  std::string closed_;  // one id behind the other
  std::map<std::string, std::weak_ptr<session::Session>> pointers_;
  std::vector<SessionPointer> held_;
  KeptSessions kept_;
};

TEST_F(KeptSessionsTest, WhatWasAskedStaysOpen) {
  ask("abc", kEnough);
  EXPECT_EQ(kept(), "abc");
  ask("b", kEnough);
  EXPECT_EQ(kept(), "acb") << "the least recently asked first";
  EXPECT_EQ(closed_, "");
}

TEST_F(KeptSessionsTest, TheLeastRecentlyAskedMakesRoom) {
  ask("abc", 3);
  ask("a", 3);
  ask("d", 3);
  EXPECT_EQ(kept(), "cad");
  EXPECT_EQ(closed_, "b");
}

// Of a query of more sessions than stay, those that stay are there when it is asked again, whatever
// the order in which it asks them.
TEST_F(KeptSessionsTest, ManySessionsDoNotPushEachOtherOut) {
  ask("abcde", 3);
  EXPECT_EQ(kept(), "cde");
  for (const std::string query : {"abcde", "edcba", "bedac"}) {
    const std::string before = kept();
    closed_.clear();
    for (const char id : query) {
      ask_one(id, 3);
      EXPECT_EQ(closed_, "") << "before the query ends";
    }
    kept_.trim(3, kNoLimit);
    EXPECT_EQ(kept(), query.substr(2)) << "the last that were asked";
  }
}

TEST_F(KeptSessionsTest, UntilAQueryEndsThereAreTwiceAsManyAtMost) {
  for (const char id : std::string("abcdef")) ask_one(id, 2);
  EXPECT_EQ(kept(), "abcd");
  EXPECT_EQ(closed_, "ef");
  ask_one('a', 2);
  EXPECT_EQ(kept(), "bcda") << "who is known needs no place";
}

TEST_F(KeptSessionsTest, FewerPlacesThanBefore) {
  ask("abcd", kEnough);
  ask("e", 2);
  EXPECT_EQ(kept(), "cd") << "there was no place for another";
  EXPECT_EQ(closed_, "eab");
  ask("e", 2);
  EXPECT_EQ(kept(), "de");
  ask("f", 0);
  EXPECT_EQ(kept(), "");
}

TEST_F(KeptSessionsTest, ANewSessionOfTheSameIdTakesThePlaceOfTheOld) {
  ask("ab", 2);
  AskedSessions other_rig;
  auto anew = make("a", &other_rig);
  EXPECT_EQ(closed_, "");
  kept_.keep(anew, 2);
  EXPECT_EQ(closed_, "a");
  EXPECT_EQ(kept(), "ba");
  EXPECT_EQ(kept_.sessions().back(), anew);
  kept_.clear();
  held_.clear();
  anew.reset();  // before its session is gone
}

TEST_F(KeptSessionsTest, TrimsFromTheLeastRecentlyAskedOn) {
  ask("abc", kEnough);
  uint64_t bytes = 0;
  for (const auto& session : kept_.sessions()) bytes += session->memory_bytes();
  const uint64_t of_a = pointer("a")->memory_bytes();
  ASSERT_GT(of_a, 1u);
  kept_.trim(kEnough, bytes);
  EXPECT_EQ(kept(), "abc");
  kept_.trim(kEnough, bytes - 1);
  EXPECT_EQ(kept(), "bc");
  kept_.trim(kEnough, bytes - of_a - 1);
  EXPECT_EQ(kept(), "c");
  kept_.trim(kEnough, 0);
  EXPECT_EQ(kept(), "");
  EXPECT_EQ(closed_, "abc");
}

TEST_F(KeptSessionsTest, LetsGoOfOneOrAll) {
  ask("abc", kEnough);
  kept_.let_go("b");
  kept_.let_go("nobody");
  EXPECT_EQ(closed_, "b");
  EXPECT_EQ(kept(), "ac");
  EXPECT_TRUE(kept_.clear());
  EXPECT_EQ(closed_, "bac");
  EXPECT_EQ(kept(), "");
  EXPECT_FALSE(kept_.clear());
  ask("a", kEnough);
  EXPECT_EQ(kept(), "a");
}

TEST_F(KeptSessionsTest, WhoStillUsesASessionKeepsIt) {
  const auto used = pointer("a");
  ask("ab", kEnough);
  kept_.clear();
  EXPECT_EQ(closed_, "b");
}

TEST_F(KeptSessionsTest, ForWantOfDescriptorsItIsTriedOnceMoreWithoutThem) {
  int tried = 0;
  Status answer;
  const auto open = [&]() -> Result<int> {
    ++tried;
    return answer.ok() ? Result<int>(tried) : Result<int>(answer);
  };
  for (const int os_errno : {EMFILE, ENFILE}) {
    Place place;
    place.os_errno = os_errno;
    answer = Status(Code::kIo, "Too many open files", place);
    tried = 0;
    EXPECT_FALSE(kept_.with_descriptors(open).ok());
    EXPECT_EQ(tried, 1) << "none is kept that could be closed";
    ask("ab", kEnough);
    EXPECT_FALSE(kept_.with_descriptors(open).ok());
    EXPECT_EQ(tried, 3);
    EXPECT_EQ(kept(), "");
  }
  ask("ab", kEnough);
  answer = Status(Code::kIo, "something else");
  EXPECT_FALSE(kept_.with_descriptors(open).ok());
  answer = {};
  EXPECT_TRUE(kept_.with_descriptors(open).ok());
  EXPECT_EQ(kept(), "ab");
}

}  // namespace
}  // namespace varve::store
