// Sessions that another process ends at any moment of a call on a memory.
#include "memory/memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace
}  // namespace varve::memory
