#include "store/user_sessions.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

using Ids = std::vector<std::string>;

class UserSessionsTest : public testing::Test {
 protected:
  std::unique_ptr<log::DirectoryEngine> open() {
    auto engine = log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 100);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return *std::move(engine);
  }
  static std::string metadata(const std::string& id, const std::string& user, int day) {
    return R"({"session_id":")" + id + R"(","user_id":")" + user + R"(","created_at":"2026-01-)" +
           std::to_string(day) + R"(T00:00:00.000Z"})";
  }
  void create(log::Engine& engine, const std::string& id, const std::string& user) {
    const auto created = engine.create({id, user, "", clock_.now_ms()}, metadata(id, user, 20));
    ASSERT_TRUE(created.ok()) << created.status().message();
  }
  Ids of(const std::string& user) {
    const auto ids = sessions_.of(*engine_, user);
    EXPECT_TRUE(ids.ok()) << ids.status().message();
    return ids.ok() ? *ids : Ids();
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<log::DirectoryEngine> engine_ = open();
  UserSessions sessions_;
};

TEST_F(UserSessionsTest, AreThoseOfAllRowsHoweverTheyCame) {
  EXPECT_EQ(of("ann"), Ids());
  const auto other = open();
  create(*engine_, "a1", "ann");
  create(*other, "a2", "ann");
  create(*other, "b1", "bee");
  create(*engine_, "nobodys", "");
  EXPECT_EQ(of("ann"), (Ids{"a1", "a2"}));
  EXPECT_EQ(of("bee"), Ids{"b1"});
  EXPECT_EQ(of(""), Ids());
  create(*other, "a3", "ann");
  EXPECT_EQ(of("ann"), (Ids{"a1", "a2", "a3"}));
  ASSERT_TRUE(other->drop("a2", {}).ok());
  create(*other, "a2", "bee");
  EXPECT_EQ(of("ann"), (Ids{"a1", "a2", "a3"}));
  EXPECT_EQ(of("bee"), (Ids{"a2", "b1"}));
  ASSERT_TRUE(other->rescan().ok());
  create(*other, "a1b", "ann");
  EXPECT_EQ(of("ann"), (Ids{"a1", "a1b", "a3"}));
  EXPECT_EQ(of("bee"), (Ids{"a2", "b1"}));
}

TEST_F(UserSessionsTest, AreEachToldOnce) {
  for (int i = 0; i < 3; ++i) {
    create(*engine_, "a", "ann");
    ASSERT_TRUE(engine_->drop("a", {}).ok());
  }
  EXPECT_EQ(of("ann"), Ids{"a"});
}

// Where there is no list and none may be made, a session that came later may stand behind others.
TEST_F(UserSessionsTest, WithoutAListAreReadEachTime) {
  create(*engine_, "b", "ann");
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  disk_.set_read_only(true);
  engine_ = open();
  EXPECT_EQ(of("ann"), Ids{"b"});
  disk_.set_read_only(false);
  const auto session = disk_.open_root("store/sessions/a", true);
  ASSERT_TRUE(session.ok()) << session.status().message();
  disk_.write_file("store/sessions/a/metadata.json", metadata("a", "ann", 10));
  disk_.set_read_only(true);
  EXPECT_EQ(of("ann"), (Ids{"a", "b"}));
}

TEST_F(UserSessionsTest, AFailureIsToldAndTriedAgain) {
  create(*engine_, "a", "ann");
  EXPECT_EQ(of("ann"), Ids{"a"});
  create(*engine_, "b", "ann");
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != "sessions.jsonl") return std::nullopt;
    return io::Fault{EIO, std::nullopt};
  });
  EXPECT_EQ(sessions_.of(*engine_, "ann").code(), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_EQ(of("ann"), (Ids{"a", "b"}));
}

// Each creation read the list of all sessions from its end to its beginning.
TEST(CreatingSessions, OfALimitedUserCostsTheSameHoweverManyThereAre) {
  io::SimulatedFileSystem disk;
  test::ManualClock clock;
  test::SeededRandom random;
  const auto store =
      *Store::open("store", R"({"storage":{"max_user_sessions":2000}})", {&disk, &clock, &random});
  int list_opens = 0;
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    if (is_open && operation.name == "sessions.jsonl") list_opens += 1;
    return std::nullopt;
  });
  int number = 0;
  const auto opens_of_next = [&] {
    list_opens = 0;
    const std::string user = "u" + std::to_string(number++ % 7);
    EXPECT_TRUE(store->create_session(R"({"user_id":")" + user + "\"}").ok());
    return list_opens;
  };
  for (int i = 0; i < 10; ++i) (void)opens_of_next();
  const int few = opens_of_next();
  EXPECT_GT(few, 0);
  for (size_t i = 0; i < 3 * log::Engine::kRowsAtATime; ++i) (void)opens_of_next();
  EXPECT_EQ(opens_of_next(), few);
}

}  // namespace
}  // namespace varve::store
