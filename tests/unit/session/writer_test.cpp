// The queue of writers: each request has its own outcome, whatever became of the others and of the
// memory, and nobody keeps the lock.
#include "session/writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "session/size_quota.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "support/no_memory/no_memory.h"

namespace varve::session {
namespace {

class Requests : public testing::Test {
 protected:
  void SetUp() override { disk_.make(); }
  // After the settings.
  void open() {
    core_ = std::make_unique<Core>(std::string(kSessionId), *disk_.storage(), host_.context);
    ASSERT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }
  WriteRequest adding(const std::vector<std::string>& ids, const std::string& content = "hello") {
    WriteRequest request;
    for (const std::string& id : ids) {
      entry::DraftOptions options;
      options.session_id = kSessionId;
      options.now_ms = host_.clock.now_ms();
      auto draft = entry::draft(entry_text(id, content), options, ids_, scratch_);
      EXPECT_TRUE(draft.ok()) << draft.status().message();
      request.drafts.push_back(*std::move(draft));
    }
    return request;
  }
  bool is_free_for_others() {
    const auto process = disk_.disk.process(4711);
    const auto other = *disk_.storage(process.get());
    return other->lock(host_.clock.monotonic_us(), "write", nullptr).ok();
  }
  bool has(const std::string& id) { return disk_.open()->get(id).ok(); }

  Host host_;
  SessionDisk disk_{host_};
  IdGenerator ids_{host_.clock, host_.random};
  json::Document scratch_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
};

// Takes everything, and counts it.
class CountingQuota final : public SizeQuota {
 public:
  Status check(const std::string&, uint64_t) override { return {}; }
  void note_growth(const std::string& user_id, int64_t bytes) noexcept override {
    EXPECT_EQ(user_id, "ann");
    noted_bytes += bytes;
  }
  int64_t noted_bytes = 0;
};

TEST(WritesOfAUser, AreAllToldToTheQuotaWithHowMuchLargerTheyMadeTheSession) {
  Host host;
  CountingQuota quota;
  host.context.quota = &quota;
  SessionDisk disk(host);
  CreateOptions options;
  options.user_id = "ann";
  disk.make(options);
  const auto session = disk.open();
  const auto grows_by_what_is_told = [&](std::string_view file, const Status& written) {
    EXPECT_TRUE(written.ok()) << written.message();
    EXPECT_EQ(std::exchange(quota.noted_bytes, 0), disk.bytes(file).size()) << file;
  };
  grows_by_what_is_told("memory.jsonl", session->add(entry_text("a")).status());
  grows_by_what_is_told("vectors.bin", session->put_vector("a", std::vector<float>{1, 2}));
  grows_by_what_is_told("tombstones.jsonl", session->remove("a", "no longer true"));
  grows_by_what_is_told("kv.json", session->kv_set("key", "value"));
  grows_by_what_is_told("transcript.md", session->transcript_append("user", "hello"));

  ASSERT_TRUE(session->kv_set("key", "longer by ten").ok());
  EXPECT_EQ(std::exchange(quota.noted_bytes, 0), 8) << "the file that it replaces is gone";
  const auto bytes_before = static_cast<int64_t>(session->size_bytes());
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  const auto bytes_after = static_cast<int64_t>(session->size_bytes());
  EXPECT_LT(bytes_after, bytes_before);
  EXPECT_EQ(std::exchange(quota.noted_bytes, 0), bytes_after - bytes_before);
}

TEST_F(Requests, AnIdOfOneThatWasRefusedIsFreeForTheNext) {
  open();
  std::vector<WriteRequest> first(1);
  first[0] = adding({"taken"});
  writer_->submit(first);
  ASSERT_TRUE(first[0].status.ok());
  std::vector<WriteRequest> requests;
  requests.push_back(adding({"a"}));
  requests.push_back(adding({"taken"}));
  requests.push_back(adding({"b"}));
  requests.push_back(adding({"b"}));
  requests.push_back(adding({"c", "taken"}));
  requests.push_back(adding({"c"}));
  writer_->submit(requests);
  EXPECT_TRUE(requests[0].status.ok());
  EXPECT_EQ(requests[1].status.code(), Code::kAlreadyExists);
  EXPECT_TRUE(requests[2].status.ok());
  EXPECT_EQ(requests[3].status.code(), Code::kAlreadyExists);
  EXPECT_EQ(requests[4].status.code(), Code::kAlreadyExists);
  EXPECT_TRUE(requests[5].status.ok()) << requests[5].status.message();
  for (const std::string id : {"a", "b", "c"}) EXPECT_TRUE(has(id)) << id;
}

TEST_F(Requests, OneThatIsTooLargeTakesNoIdFromTheOthers) {
  host_.context.settings.session_bytes_max = 5000;
  host_.context.settings.compaction.automatic = false;
  open();
  std::vector<WriteRequest> requests;
  requests.push_back(adding({"a"}, std::string(6000, 'x')));
  requests.push_back(adding({"a"}));
  writer_->submit(requests);
  EXPECT_EQ(requests[0].status.code(), Code::kSizeLimit);
  EXPECT_TRUE(requests[1].status.ok()) << requests[1].status.message();
  EXPECT_TRUE(has("a"));
}

TEST_F(Requests, WhatIsThrownIsAnAnswerAndTheLockIsGivenBack) {
  open();
  const Status defect = writer_->run("test", []() -> Status { throw std::runtime_error("oops"); });
  EXPECT_EQ(defect.code(), Code::kInternal);
  EXPECT_NE(defect.message().find("oops"), std::string::npos) << defect.message();
  EXPECT_TRUE(is_free_for_others());
  const Status unknown = writer_->run("test", []() -> Status { throw 1; });
  EXPECT_EQ(unknown.code(), Code::kInternal);
  EXPECT_NE(unknown.message(), "");
  EXPECT_TRUE(is_free_for_others());
  const Status no_memory = writer_->run("test", []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(no_memory.code(), Code::kNoMemory);
  EXPECT_TRUE(is_free_for_others());
  EXPECT_TRUE(writer_->run("test", [] { return Status(); }).ok());
}

TEST_F(Requests, ACallRunsOnceWithTheTailWholeOrAsItIs) {
  open();
  std::vector<WriteRequest> first(1);
  first[0] = adding({"a"});
  writer_->submit(first);
  const std::string whole = disk_.bytes("memory.jsonl");
  disk_.write("memory.jsonl", whole + "torn");
  int calls = 0;
  size_t size_seen = 0;
  const auto look = [&] {
    calls += 1;
    size_seen = disk_.bytes("memory.jsonl").size();
    return Status();
  };
  ASSERT_TRUE(writer_->run_as_is("look", look).ok());
  EXPECT_EQ(size_seen, whole.size() + 4);
  ASSERT_TRUE(writer_->run("look", look).ok());
  EXPECT_EQ(size_seen, whole.size());
  EXPECT_EQ(calls, 2);
}

TEST_F(Requests, TheLockSaysWhatEachCallIsFor) {
  open();
  const auto process = disk_.disk.process(4711);
  const auto other = *disk_.storage(process.get());
  std::string seen;
  const auto look = [&] {
    seen = other->lock_holder().operation;
    return Status();
  };
  ASSERT_TRUE(writer_->run("one thing", look).ok());
  EXPECT_EQ(seen, "one thing");
  ASSERT_TRUE(writer_->run_as_is("another", look).ok());
  EXPECT_EQ(seen, "another");
}

TEST_F(Requests, SavingTheIndexWaitsHardlyForOthers) {
  open();
  std::vector<WriteRequest> first(1);
  first[0] = adding({"a"});
  writer_->submit(first);
  const auto process = disk_.disk.process(4711);
  const auto other = *disk_.storage(process.get());
  ASSERT_TRUE(other->lock(host_.clock.monotonic_us(), "write", nullptr).ok());
  writer_->save_snapshot(Saving::kAlways);
  EXPECT_LE(host_.clock.slept_us(), 200'000);
  EXPECT_GT(host_.clock.slept_us(), 0) << "it is wanted, and the lock is often free soon";
  EXPECT_EQ(disk_.bytes("index.bin"), "");
  other->unlock();
  writer_->save_snapshot(Saving::kAlways);
  EXPECT_NE(disk_.bytes("index.bin"), "");
}

// Of many at once the queue itself needs memory: it takes all of them or none.
TEST_F(Requests, MemoryThatEndsRefusesThemAndTheQueueGoesOn) {
  open();
  std::vector<WriteRequest> last(1);
  bool was_met = true;
  int refused = 0;
  for (int64_t allowed = 0; was_met && allowed < 40; ++allowed) {
    std::vector<WriteRequest> requests(200);
    for (auto& request : requests) request.kind = WriteRequest::Kind::kDelete;
    {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      writer_->submit(requests);
      was_met = limit.was_met();
    }
    for (const auto& request : requests) {
      ASSERT_TRUE(request.status.ok() || request.status.code() == Code::kNoMemory)
          << request.status.message();
      refused += !request.status.ok();
    }
    ASSERT_TRUE(is_free_for_others()) << "after " << allowed << " allocations";
    ASSERT_TRUE(writer_->run("test", [] { return Status(); }).ok());
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Requests, MetadataThatIsInTheFileIsKnownWhereverMemoryEnds) {
  open();
  bool was_met = true;
  int refused = 0;
  for (int64_t allowed = 0; was_met && allowed < 3000; ++allowed) {
    const std::string title = "a title of some length, number " + std::to_string(allowed);
    const auto change = [&](Metadata& metadata) {
      metadata.tree().set("title", json::Tree::string(title));
      metadata.tree().set("ttl_hours", json::Tree::integer(100));
      return Status();
    };
    const auto save = [&] {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      const Status saved = core_->metadata_file.save(log::DocumentDurability::kContent, change);
      was_met = limit.was_met();
      return saved;
    };
    const Status saved = writer_->run("update", save);
    refused += !saved.ok();
    const bool is_in_file = disk_.bytes("metadata.json").find(title) != std::string::npos;
    EXPECT_EQ(core_->metadata.tree().get_string("title") == title, is_in_file) << allowed;
  }
  EXPECT_FALSE(was_met);
  EXPECT_GT(refused, 0);
}

TEST_F(Requests, MemoryThatEndsInAnAddLeavesTheLockToOthers) {
  open();
  bool was_met = true;
  int refused = 0;
  for (int64_t allowed = 0; was_met && allowed < 300; ++allowed) {
    std::vector<WriteRequest> requests(1);
    const std::string id = "e" + std::to_string(allowed);
    requests[0] = adding({id});
    {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      writer_->submit(requests);
      was_met = limit.was_met();
    }
    refused += !requests[0].status.ok();
    ASSERT_TRUE(requests[0].status.ok() || requests[0].status.code() == Code::kNoMemory)
        << requests[0].status.message();
    ASSERT_TRUE(is_free_for_others()) << "after " << allowed << " allocations";
    ASSERT_EQ(has(id), requests[0].status.ok()) << "after " << allowed << " allocations";
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace varve::session
