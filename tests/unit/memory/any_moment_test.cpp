// What another process or thread does at any moment of a call on a memory.
#include "memory/memory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "unit/store/catalog_rig.h"

namespace varve::memory {
namespace {

class MemoryAtAnyMoment : public store::CatalogFixture {
 protected:
  // Gets the id of an entry that is in both sessions, "s" and "twin".
  using Step = std::function<void(const std::string& id)>;

  void SetUp() override {
    store_ = open(disk_);
    other_ = open(*other_disk_);
    memory_ = std::make_unique<Memory>(*store_, MemoryOptions{.user_id = "ann", .agent_id = {}});
  }
  void record(const std::string& session, const std::string& id) {
    const auto recorded = memory_->record(session, R"({"content":"tea","id":")" + id + "\"}");
    EXPECT_TRUE(recorded.ok()) << id << ": " << recorded.status().message();
  }
  // Before the first operation on files of `call` another process deletes "s", then, with a new
  // one, before the second, until there are no more.
  void run(const Step& call) {
    uint64_t count = 1;
    for (uint64_t nth = 1; count >= nth && !HasFailure(); ++nth) {
      const std::string id = "a" + std::to_string(nth);
      record("twin", id);
      record("s", id);
      count = 0;
      disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        const bool is_ours = operation.process_id != other_disk_->process_id();
        if (is_ours && ++count == nth) (void)other_->delete_session("s").ok();
        return {};
      });
      call(id);
      disk_.set_fault_hook({});
    }
  }

  std::shared_ptr<store::Store> store_;
  std::shared_ptr<store::Store> other_;
  std::unique_ptr<Memory> memory_;
};

TEST_F(MemoryAtAnyMoment, AMessageIsRecordedInANewOne) {
  run([&](const std::string& id) { record("s", "b-" + id); });
}

// Its call may go with the session, between the moment it is found and the one the result is added.
TEST_F(MemoryAtAnyMoment, AResultIsRecordedInANewOne) {
  run([&](const std::string& id) {
    const std::string call = R"({"role":"assistant","content":"","tool_calls":[{"id":"c"}]})";
    EXPECT_TRUE(memory_->record("s", call).ok());
    const auto result = memory_->record(
        "s", R"({"role":"tool","tool_call_id":"c","content":"x","id":"b-)" + id + "\"}");
    EXPECT_TRUE(result.ok()) << id << ": " << result.status().message();
  });
}

// What is recorded while the log cannot be read is there; the context of a conversation that a
// program goes on with is the whole of it, then and later.
TEST_F(MemoryAtAnyMoment, AConversationWhoseLogCannotBeReadIsNotForgotten) {
  for (const std::string id : {"a", "b"}) record("s", id);
  Memory next(*other_, MemoryOptions{.user_id = "ann", .agent_id = {}});
  const auto record_next = [&](const std::string& id) {
    return next.record("s", R"({"content":"tea","id":")" + id + "\"}").ok();
  };
  const auto ids = [&] {
    std::string all;
    const auto context = next.context("s", 0);
    EXPECT_TRUE(context.ok()) << context.status().message();
    for (const auto& entry : context->get("entries")->items()) all += entry.get_string("id") + " ";
    return all;
  };
  bool is_added = false;
  int failure_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != "memory.jsonl") return {};
    is_added = is_added || operation.kind == io::OperationKind::kAppend;
    if (!is_added || operation.kind != io::OperationKind::kRead) return {};
    ++failure_count;
    return io::Fault{EIO};
  });
  EXPECT_TRUE(record_next("c"));
  disk_.set_fault_hook({});
  ASSERT_GT(failure_count, 0) << "or it is no test";
  EXPECT_EQ(ids(), "a b c ");
  EXPECT_TRUE(record_next("d"));
  EXPECT_EQ(ids(), "a b c d ");
}

TEST_F(MemoryAtAnyMoment, AContextIsOfNoEntries) {
  run([&](const std::string& id) {
    const auto context = memory_->context("s", 0);
    EXPECT_TRUE(context.ok()) << id << ": " << context.status().message();
  });
}

TEST_F(MemoryAtAnyMoment, AnEntryIsDeletedInTheOtherThatHasIt) {
  run([&](const std::string& id) {
    const Status removed = memory_->remove(id, "");
    EXPECT_TRUE(removed.ok()) << id << ": " << removed.message();
  });
}

// Calls a function whenever a call begins or ends, which asks for this time.
class WatchedClock : public test::ManualClock {
 public:
  std::function<void()> watch;
  int64_t monotonic_us() override {
    if (const auto seen = std::exchange(watch, {})) {  // what it does itself is not watched
      seen();
      watch = seen;
    }
    return test::ManualClock::monotonic_us();
  }
};

class MemoryBesideAnother : public testing::Test {
 protected:
  using Call = std::function<void(Memory& memory)>;

  // Does `other` at the first moment of `call`, then, in another store, at the second, until
  // there are no more. The window of two has both entries each time.
  void run(const Call& call, const Call& other) {
    for (uint64_t count = 1, nth = 1; count >= nth && !HasFailure(); ++nth) {
      auto store = store::Store::open("memory:", {}, {&disk_, &clock_, &random_});
      ASSERT_TRUE(store.ok()) << store.status().message();
      Memory memory(**store, MemoryOptions{.user_id = {}, .agent_id = {}, .window = 2});
      record(memory, "first");
      count = 0;
      clock_.watch = [&] {
        if (++count == nth) other(memory);
      };
      call(memory);
      clock_.watch = {};
      if (count < nth) other(memory);
      EXPECT_EQ(ids_in_context(memory), "first second ") << "at moment " << nth;
    }
  }
  static void record(Memory& memory, const std::string& id) {
    const auto recorded = memory.record("s", R"({"content":"tea","id":")" + id + "\"}");
    EXPECT_TRUE(recorded.ok()) << recorded.status().message();
  }
  static void record_second(Memory& memory) { record(memory, "second"); }
  static void load(Memory& memory) {
    const Status loaded = memory.load("s");
    EXPECT_TRUE(loaded.ok()) << loaded.message();
  }
  static std::string ids_in_context(Memory& memory) {
    const auto context = memory.context("s", 0);
    if (!context.ok()) return context.status().message();
    std::string ids;
    for (const auto& entry : context->get("entries")->items()) ids += entry.get_string("id") + ' ';
    return ids;
  }

  io::SimulatedFileSystem disk_;
  WatchedClock clock_;
  test::SeededRandom random_;
};

TEST_F(MemoryBesideAnother, ALoadKeepsWhatIsRecordedMeanwhile) { run(load, record_second); }

TEST_F(MemoryBesideAnother, WhatALoadHasFoundTakesNoSecondPlace) { run(record_second, load); }

}  // namespace
}  // namespace varve::memory
