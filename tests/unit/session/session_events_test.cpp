#include "session/session_events.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "log/memory_storage.h"
#include "support/environment.h"

namespace varve::session {
namespace {

// A storage that says what a test wants of what no disk has.
class FailingStorage final : public log::MemoryStorage {
 public:
  explicit FailingStorage(Clock& clock)
      : MemoryStorage(std::make_shared<log::MemorySession>(), clock) {}
  [[nodiscard]] log::Undurable undurable() const override { return kept; }
  log::Undurable kept;
};

class SessionEventsTest : public testing::Test {
 protected:
  SessionEventsTest() { log_.set_receiver(Level::kDebug, receive, this); }
  static void receive(void* data, int32_t, const char* line, size_t length) {
    static_cast<SessionEventsTest*>(data)->lines_.emplace_back(line, length);
  }
  // What was posted since this was last asked.
  std::vector<std::string> lines() {
    log_.deliver();
    return std::exchange(lines_, {});
  }

  test::ManualClock clock_;
  EventLog log_{clock_};
  Counters counters_;
  SessionEvents events_{"kitchen", log_, counters_};
  std::vector<std::string> lines_;
};

TEST_F(SessionEventsTest, ALineNamesTheSession) {
  events_.post(Level::kInfo, "session opened");
  const auto posted = lines();
  ASSERT_EQ(posted.size(), 1U);
  EXPECT_NE(posted[0].find(R"("session_id":"kitchen")"), std::string::npos) << posted[0];
}

TEST_F(SessionEventsTest, AFailureOfTheDiskIsCountedAndToldWithItsPlace) {
  Place place;
  place.path = "memory.jsonl";
  place.offset = 17;
  place.os_errno = EIO;
  events_.note_failure(Status(Code::kIo, "the disk is gone", place), "an add failed");
  EXPECT_EQ(counters_.io_errors, 1U);
  EXPECT_EQ(counters_.corruption_errors, 0U);
  const auto posted = lines();
  ASSERT_EQ(posted.size(), 1U);
  EXPECT_NE(posted[0].find(R"("metadata":{"errno":5,"file":"memory.jsonl","offset":17,)"
                           R"("reason":"the disk is gone"})"),
            std::string::npos)
      << posted[0];
}

TEST_F(SessionEventsTest, ADiskThatIsFullOrReadOnlyAndAnUnknownOutcomeAreFailuresOfTheDiskToo) {
  for (const Code code : {Code::kNoSpace, Code::kReadOnly, Code::kUnknown}) {
    events_.note_failure(Status(code, "the disk is gone"), "an add failed");
    const auto posted = lines();
    ASSERT_EQ(posted.size(), 1U);
    EXPECT_NE(posted[0].find(R"("level":"ERROR")"), std::string::npos) << posted[0];
  }
  EXPECT_EQ(counters_.io_errors, 3U);
}

TEST_F(SessionEventsTest, DamageIsCountedAsSuchAndACallersMistakeIsNot) {
  events_.note_failure(Status(Code::kCorruption, "a line is damaged"), "a get failed");
  events_.note_failure(Status(Code::kNotFound, "no such entry"), "a get failed");
  EXPECT_EQ(counters_.corruption_errors, 1U);
  EXPECT_EQ(counters_.io_errors, 0U);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(SessionEventsTest, ASizeNearTheLimitIsToldOnceUntilItIsSmallerAgain) {
  events_.watch_size(900, 1000);
  EXPECT_TRUE(lines().empty());
  events_.watch_size(901, 1000);
  events_.watch_size(950, 1000);
  EXPECT_EQ(lines().size(), 1U);
  events_.watch_size(100, 1000);
  EXPECT_TRUE(lines().empty());
  events_.watch_size(999, 1000);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(SessionEventsTest, ADiskThatTakesNothingIsToldOnceAndThatItTakesItAgain) {
  FailingStorage storage(clock_);
  events_.watch_durability(storage);
  EXPECT_TRUE(lines().empty());
  storage.kept = {100, "no space is left"};
  events_.watch_durability(storage);
  events_.watch_durability(storage);
  auto posted = lines();
  ASSERT_EQ(posted.size(), 1U);
  EXPECT_NE(posted[0].find("no space is left"), std::string::npos) << posted[0];
  EXPECT_EQ(counters_.io_errors, 1U);
  storage.kept = {};
  events_.watch_durability(storage);
  posted = lines();
  ASSERT_EQ(posted.size(), 1U);
  EXPECT_NE(posted[0].find(R"("level":"INFO")"), std::string::npos) << posted[0];
}

}  // namespace
}  // namespace varve::session
