#include "log/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "support/environment.h"
#include "wrapped_files.h"

namespace varve::log {
namespace {

class Rows : public testing::Test {
 protected:
  void SetUp() override { indices_ = *disk_.open_root("indices", true); }
  Status add(
      const std::string& id, const std::function<Status()>& give_name = [] { return Status(); }) {
    return registry().add({id, "u", "a", test::kStartMs}, clock_.monotonic_us() + 1000, give_name);
  }
  Status drop(const std::string& id) {
    return registry().drop(id, clock_.monotonic_us() + 1000, [](bool) { return Status(); });
  }
  Registry& registry() {
    if (!registry_) registry_ = std::make_unique<Registry>(*indices_, clock_, random_);
    return *registry_;
  }
  std::string rows() { return disk_.read_file("indices/sessions.jsonl").value_or("(none)"); }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::Directory> indices_;
  std::unique_ptr<Registry> registry_;
};

TEST_F(Rows, AreTheDocumentedLines) {
  EXPECT_FALSE(registry().exists());
  ASSERT_TRUE(add("s1").ok());
  EXPECT_TRUE(registry().exists());
  EXPECT_EQ(rows(), R"({"agent_id":"a","created_at":"2026-01-10T14:23:45.678Z","session_id":"s1",)"
                    R"("user_id":"u"})"
                    "\n");
}

TEST_F(Rows, ComeBeforeTheNameAndAreDurableByThen) {
  bool named = false;
  ASSERT_TRUE(add("s1", [&] {
                named = true;
                EXPECT_NE(
                    disk_.crash()->read_file("indices/sessions.jsonl").value_or("").find("s1"),
                    std::string::npos);
                return Status();
              }).ok());
  EXPECT_TRUE(named);
}

TEST_F(Rows, ADropIsDurableWhenItIsTold) {
  ASSERT_TRUE(add("s1").ok());
  ASSERT_TRUE(drop("s1").ok());
  EXPECT_TRUE(disk_.crash()
                  ->read_file("indices/sessions.jsonl")
                  .value_or("")
                  .ends_with(R"({"dropped_at":"2026-01-10T14:23:45.678Z","session_id":"s1"})"
                             "\n"));
}

// Nor does a page begin with them.
TEST_F(Rows, OfDropsAndReturnsAreOnNoPage) {
  ASSERT_TRUE(add("s1").ok());
  SessionRow back{"s1", "u", "a", test::kStartMs};
  back.listed_at = registry().list("", 1)->cursors.front();
  back.was_dropped = true;
  const int64_t deadline_us = clock_.monotonic_us() + 1000;
  ASSERT_TRUE(drop("s1").ok());
  ASSERT_TRUE(registry().add(back, deadline_us, [] { return Status(); }).ok());
  ASSERT_TRUE(add("s2").ok());
  ASSERT_TRUE(drop("s2").ok());
  EXPECT_EQ(std::ranges::count(rows(), '\n'), 5);
  std::string ids;
  const auto page = *registry().list("", 10);
  for (const auto& row : page.rows) ids += row.session_id + " ";
  EXPECT_EQ(ids, "s2 s1 ");
  const auto lives = *registry().lives([](const std::string&) { return true; });
  ASSERT_EQ(lives.undropped.size(), 1U);
  EXPECT_EQ(lives.undropped.front().session_id, "s1");
  EXPECT_EQ(lives.dropped_at_ms.size(), 2U);
}

TEST_F(Rows, AFailureToGiveTheNameIsTheAnswer) {
  EXPECT_EQ(add("s1", [] { return Status(Code::kAlreadyExists, "taken"); }).code(),
            Code::kAlreadyExists);
  ASSERT_TRUE(add("s2").ok()) << "the lock was not given back";
}

TEST_F(Rows, ARowThatCannotBeWrittenGivesNoName) {
  for (const auto kind : {io::OperationKind::kAppend, io::OperationKind::kSyncData}) {
    disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {kind}).on_file("sessions.jsonl"));
    EXPECT_EQ(add("s1",
                  [] {
                    ADD_FAILURE() << "named without a row";
                    return Status();
                  })
                  .code(),
              Code::kNoSpace);
    disk_.set_fault_hook(nullptr);
  }
  ASSERT_TRUE(add("s2").ok());
  EXPECT_EQ(registry().list("", 10)->rows.front().session_id, "s2");
}

TEST_F(Rows, ARowThatIsHalfWrittenIsCutOffAgain) {
  ASSERT_TRUE(add("s1").ok());
  const std::string before = rows();
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend})
                           .on_file("sessions.jsonl")
                           .after_bytes(5));
  EXPECT_EQ(add("s2").code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(rows(), before);
}

TEST_F(Rows, AListWhoseSyncFailedIsMadeAnewInsteadOfBelieved) {
  ASSERT_TRUE(add("s1").ok());
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {io::OperationKind::kSyncData}).on_file("sessions.jsonl"));
  EXPECT_EQ(add("s2").code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_FALSE(registry().exists());
}

TEST_F(Rows, AnotherProcessCreatingIsBusyAtTheDeadline) {
  const auto other = disk_.process(4711);
  auto lock = *(*other->open_root("indices", false))->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  const int64_t start_us = clock_.monotonic_us();
  EXPECT_EQ(add("s1").code(), Code::kBusy);
  EXPECT_EQ(clock_.monotonic_us(), start_us + 1000);
  EXPECT_EQ(rows(), "(none)");
  EXPECT_TRUE(registry().list("", 10).ok()) << "listing needs no lock";
  other->kill();
  EXPECT_TRUE(add("s1").ok());
}

// A page of a list of several blocks, each call on files failing in turn.
TEST_F(Rows, AListThatCannotBeReadIsAnErrorAndNoShorterList) {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z","session_id":"s)" +
            std::to_string(i) + "\",\"user_id\":\"\"}\n";
  }
  disk_.write_file("indices/sessions.jsonl", text);
  uint64_t failures = 0;
  for (uint64_t step = 1;; ++step) {
    const io::FailNth fault(step, EIO);
    disk_.set_fault_hook(fault);
    const auto page = registry().list("", 1000);
    disk_.set_fault_hook(nullptr);
    if (fault.matched() < step) {
      ASSERT_TRUE(page.ok());
      EXPECT_EQ(page->rows.size(), 500u);
      break;
    }
    failures += 1;
    EXPECT_EQ(page.code(), Code::kIo) << "step " << step;
    EXPECT_NE(page.status().message().find("sessions.jsonl"), std::string::npos);
  }
  EXPECT_GE(failures, 5u) << "open, examine, and a read for each block";
}

// Another process is about to cut off a row that its disk did not take. Of a row that takes several
// reads, any may come too late.
TEST_F(Rows, AreReadWhileOneThatWasHalfAppendedIsCutOff) {
  for (const std::string id : {"s1", "s2", "s3"}) ASSERT_TRUE(add(id).ok());
  const std::string whole = rows();
  for (const size_t torn_bytes : {size_t{5}, size_t{20'000}, size_t{200'000}}) {
    uint64_t last = 1;
    for (uint64_t step = 1; step <= last; ++step) {
      SCOPED_TRACE(std::to_string(torn_bytes) + " bytes, before read " + std::to_string(step));
      disk_.write_file("indices/sessions.jsonl", whole + std::string(torn_bytes, 'x'));
      uint64_t reads = 0;
      disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        if (operation.kind == io::OperationKind::kRead && ++reads == step) {
          disk_.write_file("indices/sessions.jsonl", whole);
        }
        return std::nullopt;
      });
      const auto page = registry().list("", 10);
      disk_.set_fault_hook(nullptr);
      last = reads;
      ASSERT_GT(last, 0U);
      ASSERT_TRUE(page.ok()) << page.status().message();
      ASSERT_EQ(page->rows.size(), 3U);
      EXPECT_EQ(page->rows.front().session_id, "s3");
      EXPECT_TRUE(page->at_end);
      EXPECT_EQ(registry().list(page->cursors.front(), 10)->rows.size(), 2U);
    }
  }
}

// Twice rebuilt, a list may have the inode number of the first one again.
TEST_F(Rows, ACursorIsNotTakenForOneOfAListWithTheSameInode) {
  for (const std::string id : {"s1", "s2", "s3"}) ASSERT_TRUE(add(id).ok());
  const auto page = registry().list("", 1);
  ASSERT_EQ(page->rows.front().session_id, "s3");
  const std::string& cursor = page->cursors.front();
  EXPECT_EQ(registry().list(cursor, 10)->rows.size(), 2U);
  const auto inode = [&] { return indices_->info("sessions.jsonl")->identity.inode; };
  const uint64_t inode_before = inode();
  const std::string all = rows();
  const std::string without_first = all.substr(all.find('\n') + 1);
  for (const std::string& rebuilt : {without_first, all.substr(0, 10), std::string()}) {
    disk_.write_file("indices/sessions.jsonl", rebuilt);
    ASSERT_EQ(inode(), inode_before) << "or nothing is tested";
    EXPECT_EQ(registry().list(cursor, 10).code(), Code::kInvalidArgument) << rebuilt;
  }
}

// Who appended the last one was killed before its line end.
TEST_F(Rows, ACursorOfARowWithoutALineEndIsOfThatRow) {
  for (const std::string id : {"s1", "s2"}) ASSERT_TRUE(add(id).ok());
  const std::string all = rows();
  disk_.write_file("indices/sessions.jsonl", all.substr(0, all.size() - 1));
  const auto page = registry().list("", 1);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->rows.front().session_id, "s2");
  const auto next = registry().list(page->cursors.front(), 10);
  ASSERT_TRUE(next.ok()) << next.status().message();
  ASSERT_EQ(next->rows.size(), 1U);
  EXPECT_EQ(next->rows.front().session_id, "s1");
  ASSERT_TRUE(add("s3").ok());
  EXPECT_TRUE(registry().list(page->cursors.front(), 10).ok()) << "the line end came with the next";
}

TEST_F(Rows, ReplacingManyOnAFullDiskLeavesTheOldOnes) {
  ASSERT_TRUE(add("old").ok());
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend}));
  const Status failed = registry().replace(clock_.monotonic_us(), [] {
    return Result<std::vector<SessionRow>>(
        std::vector<SessionRow>(3, {"s", std::string(size_t{1} << 20, 'u'), "", 1}));
  });
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(failed.code(), Code::kNoSpace);
  const auto page = registry().list("", 10);
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].session_id, "old");
}

TEST_F(Rows, ReplacingThemIsOneStep) {
  ASSERT_TRUE(add("old").ok());
  const Status failed = registry().replace(clock_.monotonic_us(), [] {
    return Result<std::vector<SessionRow>>(Status(Code::kIo, "on purpose"));
  });
  EXPECT_EQ(failed.code(), Code::kIo);
  EXPECT_EQ(registry().list("", 10)->rows[0].session_id, "old");
  ASSERT_TRUE(registry()
                  .replace(clock_.monotonic_us(),
                           [] {
                             return Result<std::vector<SessionRow>>(
                                 std::vector<SessionRow>{{"s1", "", "", 1}, {"s2", "", "", 2}});
                           })
                  .ok());
  const auto page = registry().list("", 10);
  ASSERT_EQ(page->rows.size(), 2u);
  EXPECT_EQ(page->rows[0].session_id, "s2");
}

// Rows of sessions that are installed again.
class ListedRow : public Rows {
 protected:
  SessionRow listed() {
    SessionRow row{"s1", "u", "a", test::kStartMs};
    row.listed_at = registry().list("", 10)->cursors.back();
    return row;
  }
  Status add_row(const SessionRow& row) {
    return registry().add(row, clock_.monotonic_us() + 1000, [] { return Status(); });
  }
};

TEST_F(ListedRow, IsNotAppendedAgain) {
  ASSERT_TRUE(add("s1").ok());
  ASSERT_TRUE(add("s2").ok());
  const std::string before = rows();
  ASSERT_TRUE(add_row(listed()).ok());
  EXPECT_EQ(rows(), before);
}

TEST_F(ListedRow, IsAppendedWhenTheListWasRebuiltWithoutIt) {
  ASSERT_TRUE(add("s1").ok());
  const SessionRow row = listed();
  disk_.write_file("indices/sessions.jsonl", "");
  ASSERT_TRUE(add_row(row).ok());
  EXPECT_NE(rows().find("s1"), std::string::npos);
  ASSERT_TRUE(registry()
                  .replace(clock_.monotonic_us(),
                           [] {
                             return Result<std::vector<SessionRow>>(
                                 std::vector<SessionRow>{{"s2", "u", "a", 1}});
                           })
                  .ok());
  ASSERT_TRUE(add_row(row).ok());
  EXPECT_NE(rows().find("s1"), std::string::npos);
}

TEST_F(ListedRow, IsAppendedWhereThereIsNoListAnyMore) {
  ASSERT_TRUE(add("s1").ok());
  const SessionRow row = listed();
  const std::string before = rows();
  ASSERT_TRUE(indices_->remove("sessions.jsonl").ok());
  ASSERT_TRUE(add_row(row).ok());
  EXPECT_EQ(rows(), before);
}

// Where it was listed stands what the session was, which is not what it is to be.
TEST_F(ListedRow, IsAppendedWhenTheSessionIsToHaveAnotherOwner) {
  for (const std::string owner : {"v", "somebody with a longer name"}) {
    disk_.write_file("indices/sessions.jsonl", "");
    ASSERT_TRUE(add("s1").ok());
    SessionRow row = listed();
    row.user_id = owner;
    ASSERT_TRUE(add_row(row).ok());
    const auto page = registry().list("", 10);
    ASSERT_EQ(page->rows.size(), 2U) << owner;
    EXPECT_EQ(page->rows.front().user_id, owner);
  }
}

TEST_F(ListedRow, IsDurableBeforeTheNameAlsoWhenItsWriterWasKilledBeforeTheSync) {
  ASSERT_TRUE(add("s0").ok());
  const auto other = disk_.process(4711);
  other->set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncData) other->kill();
    return std::nullopt;
  });
  const auto indices = *other->open_root("indices", false);
  Registry killed(*indices, clock_, random_);
  EXPECT_FALSE(
      killed.add({"s1", "u", "a", test::kStartMs}, clock_.monotonic_us(), [] { return Status(); })
          .ok());
  SessionRow row{"s1", "u", "a", test::kStartMs};
  row.listed_at = registry().list("", 10)->cursors.front();
  ASSERT_EQ(registry().list("", 10)->rows.front().session_id, "s1");
  ASSERT_TRUE(add_row(row).ok());
  const std::string durable = disk_.crash()->read_file("indices/sessions.jsonl").value_or("");
  EXPECT_NE(durable.find("s1"), std::string::npos);
}

// A file that holds `text` and, behind it, a hole: on a disk that takes no room.
class FileWithHole final : public io::File {
 public:
  struct Read {
    uint64_t offset = 0;
    size_t size = 0;
  };
  FileWithHole(const std::string& text, uint64_t size_bytes, std::vector<Read>* reads)
      : text_(text), size_bytes_(size_bytes), reads_(reads) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    reads_->push_back({offset, out.size()});
    const uint64_t end = std::min<uint64_t>(size_bytes_, offset + out.size());
    const size_t got = offset < end ? static_cast<size_t>(end - offset) : 0;
    std::fill_n(out.begin(), got, '\0');
    if (offset < text_.size()) text_.copy(out.data(), got, offset);
    return got;
  }
  Result<io::FileInfo> info() override {
    io::FileInfo info;
    info.size_bytes = size_bytes_;
    return info;
  }
  Status append(std::string_view) override { return {}; }
  Status write_at(uint64_t, std::string_view) override { return {}; }
  Status truncate(uint64_t) override { return {}; }
  Status sync_data() override { return {}; }
  Result<bool> try_lock() override { return true; }
  Status unlock() override { return {}; }
  Result<bool> is_locked() override { return false; }

 private:
  const std::string& text_;
  uint64_t size_bytes_;
  std::vector<Read>* reads_;
};

class IndicesWithHole final : public WrappedDirectory {
 public:
  using WrappedDirectory::WrappedDirectory;
  Result<std::unique_ptr<io::File>> open(std::string_view, io::OpenMode, uint32_t) override {
    return std::unique_ptr<io::File>(std::make_unique<FileWithHole>(text, size_bytes, &reads));
  }
  std::string text;
  uint64_t size_bytes = 0;
  std::vector<FileWithHole::Read> reads;

 private:
  std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory>) override { return nullptr; }
};

// The half of it was read at once.
TEST_F(Rows, AreReadPastAHoleWithoutTheMemoryForIt) {
  ASSERT_TRUE(add("s1").ok());
  ASSERT_TRUE(add("s2").ok());
  IndicesWithHole indices(std::move(indices_));
  indices.text = rows();
  indices.size_bytes = uint64_t{256} << 20;
  Registry registry(indices, clock_, random_);
  const auto page = registry.list({}, 10);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->rows.size(), 2U);
  EXPECT_EQ(page->rows[0].session_id, "s2");
  EXPECT_EQ(page->rows[1].session_id, "s1");
  for (const auto& read : indices.reads) EXPECT_LE(read.size, size_t{64} << 20);
  // A cursor into the hole is read no further than a row may reach.
  const std::string& cursor = page->cursors[0];
  const std::string inode = cursor.substr(0, cursor.find(':'));
  EXPECT_EQ(registry.list(inode + ":" + std::to_string(indices.text.size()) + ":1", 10).code(),
            Code::kInvalidArgument);
}

// Also when it begins where a read does, of all that is read before it is given up.
TEST_F(Rows, BesideALineThatIsTooLongAreFound) {
  const std::string before = "{\"session_id\":\"s1\"}\n";
  const std::string behind = "\n{\"session_id\":\"s2\"}\n";
  size_t line_bytes = size_t{72} << 20;
  for (int round = 0; round < 2; ++round) {
    IndicesWithHole indices(*disk_.open_root("others", true));
    indices.text = before + std::string(line_bytes, 'x') + behind;
    indices.size_bytes = indices.text.size();
    Registry registry(indices, clock_, random_);
    const auto page = registry.list({}, 10);
    ASSERT_TRUE(page.ok()) << page.status().message();
    ASSERT_EQ(page->rows.size(), 2U);
    EXPECT_EQ(page->rows[0].session_id, "s2");
    EXPECT_EQ(page->rows[1].session_id, "s1");
    EXPECT_TRUE(page->at_end);
    const auto& reads = indices.reads;
    const auto again = std::adjacent_find(
        reads.begin(), reads.end(), [](const auto& a, const auto& b) { return b.size < a.size; });
    ASSERT_NE(again, reads.end()) << "all of it was kept";
    line_bytes = indices.text.size() - again->offset - behind.size();
  }
}

}  // namespace
}  // namespace varve::log
