// What only a session in memory has to get right; storage_test.cpp has what every storage does.
#include "log/memory_storage.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "log/memory_engine.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

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

// Looking at it, as who is about to wait does, drops a session.
class ClockThatDrops final : public Clock {
 public:
  int64_t now_ms() override { return 0; }
  int64_t monotonic_us() override {
    MemoryEngine* const from = std::exchange(engine, nullptr);
    if (from != nullptr) was_dropped = from->drop("s", {}).ok();
    return 0;
  }
  void sleep_us(int64_t) override {}

  MemoryEngine* engine = nullptr;
  bool was_dropped = false;
};

TEST(InMemory, OneThatGoesBeforeItIsLockedIsNotReplaced) {
  ClockThatDrops clock;
  MemoryEngine engine(clock);
  const auto text = [](Sink& sink) { return sink.append("new\n"); };
  const SessionContents contents{text, {}, text, text};
  const SessionRow row{"s", "", "", 0};
  ASSERT_TRUE(engine.create(row, "{}").ok());
  clock.engine = &engine;
  EXPECT_EQ(engine.install(row, contents, Existing::kSwap).code(), Code::kConflict);
  ASSERT_TRUE(clock.was_dropped) << "or nothing is tested";
  EXPECT_EQ(engine.open("s").code(), Code::kNotFound);
  EXPECT_TRUE(engine.install(row, contents, Existing::kSwap).ok());
}

TEST(InMemory, ADocumentThatIsPutHasAnotherMark) {
  test::ManualClock clock;
  MemoryEngine engine(clock);
  auto storage = *engine.create({"s", "", "", 0}, "{}");
  const uint64_t first = storage->document_mark("d");
  EXPECT_NE(first, 0u);
  ASSERT_TRUE(storage->put_document("d", "1", DocumentDurability::kNone).ok());
  const uint64_t second = storage->document_mark("d");
  EXPECT_NE(second, first);
  ASSERT_TRUE(storage->put_document("other", "1", DocumentDurability::kNone).ok());
  EXPECT_EQ(storage->document_mark("d"), second);
  ASSERT_TRUE(storage->remove_document("d").ok());
  EXPECT_NE(storage->document_mark("d"), second);
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
  ASSERT_TRUE(engine.drop("s", {}).ok());
  EXPECT_EQ(dropped->read(0, bytes).code(), Code::kGone);
  EXPECT_EQ(storage->vectors_tail().code(), Code::kNotFound);
}

constexpr std::string_view kLongId = "an-id-that-does-not-fit-into-a-string-without-an-allocation";

// Does something to a session as often as it needs allocations, another of which fails each time.
// Whatever becomes of the session, nobody is left with its lock, and its id can be opened or made.
class WithoutMemory : public testing::Test {
 protected:
  template <typename Do>
  void expect_free_after(Do&& do_it) {
    for (int64_t allowed = 0, is_met = 1; is_met != 0; ++allowed) {
      MemoryEngine engine(clock_);
      const auto storage = *engine.create(row_, "{}");
      {
        const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
        try {
          (void)do_it(engine).ok();
        } catch (const std::bad_alloc&) {
        }
        is_met = limit.was_met() ? 1 : 0;
      }
      const Status locked = storage->lock(clock_.monotonic_us(), "write", nullptr);
      EXPECT_NE(locked.code(), Code::kBusy) << "after " << allowed << " allocations";
      storage->unlock();
      const bool is_gone = engine.open(kLongId).code() == Code::kNotFound;
      EXPECT_EQ(engine.create(row_, "{}").ok(), is_gone) << allowed;
    }
  }

  test::ManualClock clock_;
  const SessionRow row_{std::string(kLongId), "", "", 0};
};

TEST_F(WithoutMemory, ADeletionLeavesNoLockBehind) {
  expect_free_after([](MemoryEngine& engine) { return engine.drop(kLongId, {}); });
  expect_free_after([](MemoryEngine& engine) {
    return engine.drop(kLongId, [](SessionStorage& storage) -> Result<bool> {
      return storage.get_document(kMetadataFile)->empty();
    });
  });
}

TEST_F(WithoutMemory, ARestoreLeavesNoLockBehind) {
  expect_free_after([](MemoryEngine& engine) {
    SessionContents contents;
    contents.entries = [](Sink& sink) { return sink.append("one\n"); };
    contents.metadata = [](Sink& sink) { return sink.append("{}"); };
    contents.tombstones = [](Sink& sink) { return sink.append(std::string(100, ' ') + "\n"); };
    return engine.install({std::string(kLongId), "", "", 0}, contents, Existing::kSwap);
  });
}

TEST(InMemory, ASessionThatCouldNotBeMadeIsNotThere) {
  test::ManualClock clock;
  const SessionRow row{std::string(kLongId), "", "", 0};
  SessionContents contents;
  contents.entries = contents.tombstones = [](Sink&) { return Status(); };
  for (const bool by_install : {false, true}) {
    for (int64_t allowed = 0, is_met = 1; is_met != 0; ++allowed) {
      MemoryEngine engine(clock);
      {
        const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
        try {
          (void)(by_install ? engine.install(row, contents, Existing::kRefuse)
                            : engine.create(row, "{}").status())
              .ok();
        } catch (const std::bad_alloc&) {
        }
        is_met = limit.was_met() ? 1 : 0;
      }
      EXPECT_EQ(engine.create(row, "{}").ok(), is_met != 0)
          << (by_install ? "installed" : "created") << " after " << allowed << " allocations";
    }
  }
}

}  // namespace
}  // namespace varve::log
