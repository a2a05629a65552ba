// What only a session in memory has to get right; storage_test.cpp has what every storage does.
#include "log/memory_storage.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "log/memory_engine.h"
#include "support/environment.h"

namespace varve::log {
namespace {

// Looking at it, as who waits for a lock does, makes the holder of the lock give it back.
class ClockThatUnlocks final : public Clock {
 public:
  int64_t now_ms() override { return 0; }
  int64_t monotonic_us() override {
    if (holder != nullptr) holder->unlock();
    return 0;
  }
  void sleep_us(int64_t) override {}

  SessionStorage* holder = nullptr;
};

TEST(InMemory, WhoWaitsGetsTheLockWhenItIsGivenBack) {
  ClockThatUnlocks clock;
  auto session = std::make_shared<MemorySession>();
  MemoryStorage first(session, clock);
  MemoryStorage second(session, clock);
  ASSERT_TRUE(first.lock(0, "write", nullptr).ok());
  clock.holder = &first;
  bool waited = false;
  EXPECT_TRUE(second.lock(1'000'000, "write", &waited).ok());
  EXPECT_TRUE(waited);
  EXPECT_EQ(first.lock(0, "write", nullptr).code(), Code::kBusy) << "the second has it now";
}

TEST(InMemory, AViewEndsWithItsDocumentOrItsSession) {
  test::ManualClock clock;
  MemoryEngine engine(clock);
  auto storage = *engine.create({"s", "", "", 0}, "{}");
  const auto put = [&](std::string_view bytes) {
    return storage->put_document("d", bytes, DocumentDurability::kNone);
  };
  std::string bytes(9, ' ');
  ASSERT_TRUE(put("old").ok());
  const auto replaced = *storage->open_document("d");
  ASSERT_TRUE(put("new").ok());
  EXPECT_EQ(replaced->read(0, bytes).code(), Code::kGone);
  const auto dropped = *storage->open_document("d");
  EXPECT_EQ(*dropped->read(0, bytes), 3u);
  EXPECT_EQ(*dropped->read(3, bytes), 0u);
  ASSERT_TRUE(engine.drop("s", clock.monotonic_us(), {}).ok());
  EXPECT_EQ(dropped->read(0, bytes).code(), Code::kGone);
  EXPECT_EQ(storage->vectors_tail().code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::log
