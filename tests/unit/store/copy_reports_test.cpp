// What a backup and a restore tell of their work, and what stands in the copy meanwhile.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backup_rig.h"
#include "base/version.h"

namespace varve::store {
namespace {

class CopyReports : public BackupFixture {
 protected:
  void SetUp() override {
    store_ = open("store");
    add(*create(*store_, "notes"), {"a", "b"});
  }
  int64_t size_of_copy() {
    size_t size_bytes = 0;
    for (const char* name : {"memory.jsonl", "metadata.json", "tombstones.jsonl"}) {
      size_bytes += file(std::string("copy/sessions/notes/") + name).size();
    }
    return static_cast<int64_t>(size_bytes);
  }
  static std::string problem_of(const json::Tree& report) {
    const auto& problems = report.get("problems")->items();
    EXPECT_EQ(problems.size(), 1U) << report.canonical();
    return problems.empty() ? "" : problems.front().get_string("reason");
  }

  std::shared_ptr<Store> store_;
};

TEST_F(CopyReports, CountWhatWasWrittenAndHowLongItTook) {
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.path == "copy/backup.json") clock_.advance_ms(5);
    return std::nullopt;
  });
  const json::Tree report = backed_up(*store_);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(report.get_int64("bytes"), size_of_copy());
  EXPECT_GE(std::stod(report.get("duration_ms")->text()), 5.0) << report.canonical();
}

TEST_F(CopyReports, TheCopyTellsWhoseFormItHasAndWhenItWasBegunAndChanged) {
  backed_up(*store_);
  clock_.advance_ms(1000);
  add(**store_->open_session("notes"), {"c"});
  backed_up(*store_);
  const auto manifest = json::Tree::parse(file("copy/backup.json"));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->get_int64("version"), 1);
  EXPECT_EQ(manifest->get_string("varve_version"), version_text());
  EXPECT_EQ(manifest->get_string("created_at"), "2026-01-10T14:23:45.678Z");
  EXPECT_EQ(manifest->get_string("updated_at"), "2026-01-10T14:23:46.678Z");
}

TEST_F(CopyReports, OfARestoreTellHowLongItTook) {
  backed_up(*store_);
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.path == "copy/sessions/notes/memory.jsonl") clock_.advance_ms(5);
    return std::nullopt;
  });
  const json::Tree report = restored(*store_, R"({"overwrite":true})");
  disk_.set_fault_hook(nullptr);
  EXPECT_GE(std::stod(report.get("duration_ms")->text()), 5.0) << report.canonical();
}

// What its metadata.json does not tell is written into its `lock`, which others may hold.
TEST_F(CopyReports, ACopyIsLockedWhileItIsMarkedAsDurable) {
  disk_.write_file("store/sessions/notes/metadata.json", "damaged");
  int lock_count = 0;
  bool is_locked = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.path != "copy/sessions/notes/lock") return std::nullopt;
    if (operation.kind == io::OperationKind::kLock) is_locked = true;
    if (operation.kind == io::OperationKind::kUnlock) is_locked = false;
    if (operation.kind == io::OperationKind::kLock) lock_count += 1;
    if (operation.kind == io::OperationKind::kWriteAt) {
      EXPECT_TRUE(is_locked);
    }
    return std::nullopt;
  });
  backed_up(*store_);
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(lock_count, 0);
}

TEST_F(CopyReports, NameASessionOnceThatWasAskedForTwice) {
  backed_up(*store_);
  const json::Tree report = restored(*store_, R"({"sessions":["notes","notes"],"overwrite":true})");
  EXPECT_EQ(report.get_int64("sessions"), 1) << report.canonical();
  EXPECT_EQ(report.get_int64("replaced"), 1) << report.canonical();
}

TEST_F(CopyReports, TellOfDamageInWhatWasAppended) {
  backed_up(*store_);
  add(**store_->open_session("notes"), {"c", "d"});
  std::string log = file("store/sessions/notes/memory.jsonl");
  log.insert(log.find('\n', log.find("content of c")) + 1, "damaged\n");
  disk_.write_file("store/sessions/notes/memory.jsonl", log);
  const json::Tree report = backed_up(*store_);
  EXPECT_EQ(report.get_int64("appended"), 1) << report.canonical();
  EXPECT_EQ(problem_of(report), "1 damaged line was copied as it is");
}

// Whoever is killed then must not leave a copy that is named and not there.
TEST_F(CopyReports, ACopyIsNotNamedAnyMoreWhenItGoes) {
  backed_up(*store_);
  ASSERT_TRUE(store_->delete_session("notes").ok());
  bool has_gone = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kMove &&
        operation.path.ends_with("copy/sessions/notes")) {
      has_gone = true;
      const auto after = disk_.crash()->read_file("copy/backup.json");
      EXPECT_EQ(after.value_or("").find("notes"), std::string::npos);
    }
    return std::nullopt;
  });
  EXPECT_EQ(backed_up(*store_).get_int64("removed"), 1);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(has_gone);
}

// A link to another disk that is away for now, perhaps.
TEST_F(CopyReports, TheCopyOfASessionThatIsSomethingElseNowStaysWhateverIsMissing) {
  backed_up(*store_);
  lose_session("notes");
  disk_.plant_other("store/sessions/notes");
  store_ = open("store");
  const json::Tree report = backed_up(*store_, R"({"delete_missing":true})");
  EXPECT_EQ(report.get_int64("removed"), 0);
  EXPECT_TRUE(problem_of(report).ends_with("; its copy stays as it was")) << report.canonical();
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b"}));
}

}  // namespace
}  // namespace varve::store
