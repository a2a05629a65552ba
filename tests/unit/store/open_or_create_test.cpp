// create_session with if_exists "open": the session of that id, whoever made it.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr std::string_view kEntry = R"({"id":"a","type":"message","content":"hello"})";
constexpr std::string_view kNotes = R"({"session_id":"notes","if_exists":"open"})";

class OpenOrCreate : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { store_ = open(); }

  std::shared_ptr<Store> open() {
    auto opened = Store::open(GetParam(), "", {&disk_, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Everywhere, OpenOrCreate, testing::Values("memory:", "store"),
                         [](const auto& kind) {
                           return kind.param == "memory:" ? "Memory" : "Directory";
                         });

TEST_P(OpenOrCreate, MakesItOnceAndOpensItFromThenOn) {
  const auto made = store_->create_session(kNotes);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_TRUE((*made)->add(kEntry).ok());
  const auto opened = store_->create_session(kNotes);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(*opened, *made);
  EXPECT_TRUE((*opened)->get("a").ok());
}

TEST_P(OpenOrCreate, IsOfThisCallAndNotOfTheSession) {
  const auto made = store_->create_session(kNotes);
  ASSERT_TRUE(made.ok());
  const auto metadata = (*made)->metadata();
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->get("if_exists"), nullptr) << metadata->canonical();
}

TEST_P(OpenOrCreate, LeavesTheOptionsOfAnExistingOneAsTheyAre) {
  ASSERT_TRUE(store_->create_session(R"({"session_id":"notes","title":"first"})").ok());
  const auto opened =
      store_->create_session(R"({"session_id":"notes","if_exists":"open","title":"second"})");
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->metadata()->get_string("title"), "first");
}

TEST_P(OpenOrCreate, RefusesAnothersSession) {
  ASSERT_TRUE(
      store_->create_session(R"({"session_id":"notes","user_id":"ann","agent_id":"cook"})").ok());
  for (const auto* whose : {R"("user_id":"bob")", R"("agent_id":"planner")"}) {
    const auto refused = store_->create_session(
        std::string(R"({"session_id":"notes","if_exists":"open",)") + whose + "}");
    EXPECT_EQ(refused.code(), Code::kAlreadyExists) << whose;
  }
  const auto refused =
      store_->create_session(R"({"session_id":"notes","if_exists":"open","agent_id":"planner"})");
  EXPECT_NE(refused.status().message().find("opened without agent_id"), std::string::npos)
      << "a team finds out how to share one: " << refused.status().message();
  // Whoever names one of the two asks for nothing of the other.
  for (const auto* whose :
       {R"("user_id":"ann","agent_id":"cook")", R"("user_id":"ann")", R"("agent_id":"cook")"}) {
    EXPECT_TRUE(store_
                    ->create_session(std::string(R"({"session_id":"notes","if_exists":"open",)") +
                                     whose + "}")
                    .ok())
        << whose;
  }
}

TEST_P(OpenOrCreate, MakesAnExpiredOneAnew) {
  const std::string hour = R"({"session_id":"notes","if_exists":"open","ttl_hours":1})";
  const auto first = store_->create_session(hour);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE((*first)->add(kEntry).ok());
  clock_.advance_ms(int64_t{2} * 3600 * 1000);
  const auto second = store_->create_session(hour);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ((*second)->get("a").code(), Code::kNotFound);
}

// Somebody's, asked for with an id that is not known, is not anybody's.
TEST_P(OpenOrCreate, WantsAUserAndAnAgentThatAreSomebody) {
  ASSERT_TRUE(store_->create_session(R"({"session_id":"notes","user_id":"ann"})").ok());
  for (const std::string member : {"user_id", "agent_id"}) {
    for (const std::string options : {R"("session_id":"notes","if_exists":"open",)", ""}) {
      const auto refused = store_->create_session("{" + options + "\"" + member + "\":\"\"}");
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << options << member;
      EXPECT_EQ(refused.status().place().member, member);
    }
  }
}

TEST_P(OpenOrCreate, WantsAnIdAndAKnownWord) {
  for (const auto* options : {R"({"if_exists":"open"})", R"({"session_id":"","if_exists":"open"})",
                              R"({"session_id":"notes","if_exists":"replace"})",
                              R"({"session_id":"notes","if_exists":true})"}) {
    EXPECT_EQ(store_->create_session(options).code(), Code::kInvalidArgument) << options;
  }
}

class OpenOrCreateOnDisk : public OpenOrCreate {
 protected:
  // Creates the session in one process, while another does `others_do` before each operation.
  Result<std::shared_ptr<session::Session>> create_beside(
      const std::function<void(Store& others, const io::OperationInfo& operation)>& others_do) {
    const auto own = *Store::open("store", "", {own_disk_.get(), &clock_, &random_});
    const auto others = *Store::open("store", "", {others_disk_.get(), &clock_, &random_});
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.process_id == 1) others_do(*others, operation);
      return std::nullopt;
    });
    auto answer = own->create_session(kNotes);
    disk_.set_fault_hook({});
    return answer;
  }

 private:
  std::unique_ptr<io::SimulatedFileSystem> own_disk_ = disk_.process(1);
  std::unique_ptr<io::SimulatedFileSystem> others_disk_ = disk_.process(2);
};

INSTANTIATE_TEST_SUITE_P(Directory, OpenOrCreateOnDisk, testing::Values("store"));

TEST_P(OpenOrCreateOnDisk, ADirectoryWithoutASessionIsToldAsThat) {
  disk_.write_file("store/sessions/notes/notes.txt", "somebody's");
  const auto refused = store_->create_session(kNotes);
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_NE(refused.status().message().find("without a session in it"), std::string::npos)
      << refused.status().message();
  EXPECT_TRUE(disk_.exists("store/sessions/notes/notes.txt"));
}

// Whenever this call looks for a session to open there is none, and whenever it creates one there
// is: that is no directory without a session.
TEST_P(OpenOrCreateOnDisk, WhatOthersDoAtEachMomentIsNotTakenForADirectory) {
  int made = 0;
  const auto answer = create_beside([&](Store& others, const io::OperationInfo& operation) {
    if (operation.name != "notes") return;
    if (operation.kind == io::OperationKind::kOpenDirectory) {
      (void)others.delete_session("notes");
    } else if (operation.kind == io::OperationKind::kInfo) {
      made += others.create_session(R"({"session_id":"notes"})").ok() ? 1 : 0;
    }
  });
  EXPECT_EQ(answer.code(), Code::kBusy) << answer.status().message();
  EXPECT_GT(made, 1);
  EXPECT_TRUE(store_->create_session(kNotes).ok());
}

// A session that is being deleted has lost its name when its directory is found to be empty.
TEST_P(OpenOrCreateOnDisk, WhatIsJustBeingDeletedIsNotTakenForADirectory) {
  int deleted = 0;
  const auto answer = create_beside([&](Store& others, const io::OperationInfo& operation) {
    if (operation.kind != io::OperationKind::kInfo) return;
    if (operation.name == "notes") {
      (void)others.create_session(R"({"session_id":"notes"})");
    } else if (operation.name == "metadata.json") {
      deleted += others.delete_session("notes").ok() ? 1 : 0;
    }
  });
  EXPECT_NE(answer.code(), Code::kAlreadyExists) << answer.status().message();
  EXPECT_GT(deleted, 1);
}

// Others make and delete it all the time: each call gets a session, or says that it gave up.
TEST_P(OpenOrCreate, WithOthersWhoMakeAndDeleteIt) {
  constexpr int kRounds = 50;
  std::array<std::vector<Code>, 3> codes;
  std::vector<std::thread> threads;
  threads.reserve(codes.size());
  for (auto& own : codes) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        own.push_back(store_->create_session(kNotes).code());
        (void)store_->delete_session("notes");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& own : codes) {
    for (const Code code : own) {
      EXPECT_TRUE(code == Code::kOk || code == Code::kBusy) << static_cast<int>(code);
    }
  }
}

}  // namespace
}  // namespace varve::store
