#include "session/event_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/environment.h"

namespace varve::session {
namespace {

class Events : public testing::Test {
 protected:
  static void receive(void* data, int32_t level, const char* line, size_t length) {
    auto& self = *static_cast<Events*>(data);
    self.levels_.push_back(level);
    self.lines_.emplace_back(line, length);
    if (self.posts_again_) {
      self.posts_again_ = false;
      self.log_.post(Level::kError, "test", "", "from inside");
    }
  }

  test::ManualClock clock_;
  EventLog log_{clock_};
  std::vector<int32_t> levels_;
  std::vector<std::string> lines_;
  bool posts_again_ = false;
};

TEST_F(Events, ALineIsOneJsonObjectWithTheDocumentedMembers) {
  log_.set_receiver(Level::kDebug, receive, this);
  json::Tree details = json::Tree::object();
  details.set("lines", json::Tree::integer(3));
  log_.post(Level::kWarn, "session", "sess_1", "with \"quotes\"\n", std::move(details));
  EXPECT_TRUE(lines_.empty()) << "delivered before it was asked for";
  log_.deliver();
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(levels_[0], 2);
  EXPECT_EQ(lines_[0], R"({"component":"session","level":"WARN","message":"with \"quotes\"\n",)"
                       R"("metadata":{"lines":3},"session_id":"sess_1",)"
                       R"("timestamp":"2026-01-10T14:23:45.678Z"})");
}

TEST_F(Events, LinesBelowTheLevelAreNotKept) {
  log_.set_receiver(Level::kWarn, receive, this);
  for (const auto level : {Level::kDebug, Level::kInfo, Level::kWarn, Level::kError}) {
    log_.post(level, "test", "", "x");
  }
  log_.deliver();
  EXPECT_EQ(levels_, (std::vector<int32_t>{2, 3}));
  log_.set_receiver(Level::kOff, receive, this);
  log_.post(Level::kError, "test", "", "x");
  log_.deliver();
  EXPECT_EQ(levels_.size(), 2u);
}

TEST_F(Events, NobodyListeningKeepsNothing) {
  log_.post(Level::kError, "test", "", "x");
  log_.set_receiver(Level::kDebug, receive, this);
  log_.post(Level::kError, "test", "", "y");
  log_.set_receiver(Level::kDebug, nullptr, nullptr);
  log_.set_receiver(Level::kDebug, receive, this);
  log_.deliver();
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Events, TheOldestGoWhenThereAreTooMany) {
  log_.set_receiver(Level::kDebug, receive, this);
  for (int i = 0; i < 1500; ++i) log_.post(Level::kInfo, "test", "", std::to_string(i));
  log_.deliver();
  ASSERT_EQ(lines_.size(), 1000u);
  EXPECT_NE(lines_.front().find("\"500\""), std::string::npos);
  EXPECT_NE(lines_.back().find("\"1499\""), std::string::npos);
}

TEST_F(Events, AReceiverMayCauseMoreLines) {
  posts_again_ = true;
  log_.set_receiver(Level::kDebug, receive, this);
  log_.post(Level::kInfo, "test", "", "first");
  log_.deliver();
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_NE(lines_[1].find("from inside"), std::string::npos);
}

}  // namespace
}  // namespace varve::session
