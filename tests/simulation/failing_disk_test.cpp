// Processes on a disk that for a while does not take entries, with integrity.io_failure "buffer":
// who keeps some in memory, who sees them, who waits, and when they are on the disk or lost. Each
// answer is compared with a model; a seed decides everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dice.h"
#include "json/tree.h"
#include "process.h"
#include "session/upkeep/compaction.h"
#include "support/counted.h"
#include "support/exported_text.h"

namespace varve::simulation {
namespace {

using io::OperationKind;
using Ids = std::vector<std::string>;

constexpr uint64_t kSeedsOfFailingDisks = 150;
constexpr size_t kProcesses = 3;
constexpr int kStepsOfARun = 120;
constexpr const char* kConfig =
    R"({"concurrency":{"lock_timeout_ms":0},"integrity":{"io_failure":"buffer"}})";

enum class Trouble { kNone, kFull, kFullInPart, kNoSync };

// Of one session, of durability "commit".
struct Model {
  Ids on_disk;
  Ids held;  // answered, and not on the disk
  std::optional<size_t> holder;
  std::set<std::string> deleted;

  [[nodiscard]] Ids seen_by(std::optional<size_t> slot) const {
    Ids ids = on_disk;
    if (slot && holder == slot) ids.insert(ids.end(), held.begin(), held.end());
    std::erase_if(ids, [&](const auto& id) { return deleted.contains(id); });
    return ids;
  }
  void take_held() {
    on_disk.insert(on_disk.end(), held.begin(), held.end());
    lose_held();
  }
  void lose_held() {
    held.clear();
    holder.reset();
  }
};

class FailingDiskRun {
 public:
  explicit FailingDiskRun(uint64_t seed) : dice_(seed), processes_(kProcesses) {
    disk_ = std::make_unique<io::SimulatedFileSystem>();
    watch();
    EXPECT_TRUE(process(0).open_store(kConfig).ok());
    EXPECT_TRUE(process(0).create(R"({"session_id":"s"})", "s").ok());
  }
  ~FailingDiskRun() {
    disk_->set_fault_hook({});
    for (const auto& process : processes_) {
      if (process) process->die();
    }
  }

  std::string run() {
    for (int i = 0; i < kStepsOfARun && violation_.empty(); ++i) step();
    become(Trouble::kNone);
    for (slot_ = 0; slot_ < kProcesses && violation_.empty(); ++slot_) sync();
    for (slot_ = 0; slot_ < kProcesses && violation_.empty(); ++slot_) look();
    if (violation_.empty()) return {};
    std::string text = violation_ + "\n";
    const size_t first = trace_.size() - std::min<size_t>(trace_.size(), 15);
    for (size_t i = first; i < trace_.size(); ++i) text += trace_[i] + "\n";
    return text;
  }

 private:
  void watch() {
    disk_->set_fault_hook([this](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.name != "memory.jsonl") return std::nullopt;
      const bool appends = operation.kind == OperationKind::kAppend;
      if (trouble_ == Trouble::kFull && appends) return io::Fault{ENOSPC, std::nullopt};
      if (trouble_ == Trouble::kFullInPart && appends) return io::Fault{ENOSPC, 7};
      const bool syncs = operation.kind == OperationKind::kSyncData;
      if (trouble_ == Trouble::kNoSync && syncs) return io::Fault{EIO, std::nullopt};
      return std::nullopt;
    });
  }
  void become(Trouble trouble) {
    trouble_ = trouble;
    trace_.push_back("the disk: " + std::to_string(static_cast<int>(trouble)));
  }
  SimulatedProcess& process(size_t slot) {
    auto& process = processes_[slot];
    if (!process) {
      process = std::make_unique<SimulatedProcess>(*disk_, next_process_id_++, dice_.seed(), clock_,
                                                   crash::Sabotage::kNone);
    }
    return *process;
  }
  session::Session& session() {
    SimulatedProcess& mine = process(slot_);
    Status opened = mine.open_store(kConfig);
    if (opened.ok()) opened = mine.open("s");
    EXPECT_TRUE(opened.ok()) << opened.message();
    return *mine.find("s");
  }

  void step() {
    clock_.jump(dice_.between(0, 2000));
    slot_ = dice_.below(kProcesses);
    const size_t choice = dice_.below(60);
    if (choice < 6) return become(static_cast<Trouble>(dice_.below(4)));
    if (choice < 24) return add();
    if (choice < 28) return remove();
    if (choice < 40) return look();
    if (choice < 44) return sync();
    if (choice < 48) return sync_store();
    if (choice < 51) return compact();
    if (choice < 53) return set_title();
    if (choice < 55) return put_vector();
    if (choice < 56) return back_up();
    if (choice < 58) return close();
    if (choice < 59) return kill();
    lose_power();
  }

  [[nodiscard]] bool is_mine() const { return model_.holder == slot_; }
  [[nodiscard]] bool is_anothers() const { return model_.holder && !is_mine(); }
  [[nodiscard]] bool works() const { return trouble_ == Trouble::kNone; }

  // Whether the call was answered with ok, which it had to be unless another process waits for the
  // disk; `may_fail`: or unless it cannot write what this one keeps.
  bool is_done(const std::string& what, const Status& status, bool may_fail) {
    trace_.push_back("p" + std::to_string(slot_) + " " + what + " -> " +
                     std::string(code_name(status.code())) + " " + status.message());
    const bool is_busy = status.code() == Code::kBusy;
    const bool is_of_disk = status.code() == Code::kIo || status.code() == Code::kNoSpace;
    if (is_anothers() != is_busy) fail("another process keeps entries, or not");
    if (is_of_disk != (may_fail && is_mine() && !works())) fail("what is kept was written, or not");
    if (!status.ok() && !is_busy && !is_of_disk) fail("an error for no reason");
    if (status.ok() && is_mine() && works()) model_.take_held();
    return status.ok();
  }

  void add() {
    const std::string id = "e" + std::to_string(next_number_++);
    const Status added =
        session().add(R"({"type":"finding","content":"tea","id":")" + id + "\"}").status();
    if (!is_done("add " + id, added, false)) return;
    if (works()) {
      model_.on_disk.push_back(id);
    } else {
      model_.held.push_back(id);
      model_.holder = slot_;
    }
  }

  // A deletion needs no place behind what is kept.
  void remove() {
    const Ids ids = model_.seen_by(slot_);
    if (ids.empty()) return;
    const std::string id = dice_.pick(ids);
    if (is_done("delete " + id, session().remove(id, ""), false)) model_.deleted.insert(id);
  }

  void sync() { (void)is_done("sync", session().sync(), true); }

  // It is about what this process answered, and waits for no other.
  void sync_store() {
    (void)session();
    const Status synced = process(slot_).store()->sync();
    if (!is_anothers()) return void(is_done("sync the store", synced, true));
    if (!synced.ok()) fail("a sync of what is durable: " + synced.message());
  }

  void compact() { (void)is_done("compact", session().compact({}).status(), true); }

  void set_title() { (void)is_done("update", session().update(R"({"title":"new"})"), true); }

  void put_vector() {
    const Ids ids = model_.seen_by(slot_);
    if (ids.empty()) return;
    const std::vector<float> values = {1, 2};
    (void)is_done("put a vector", session().put_vector(dice_.pick(ids), values), true);
  }

  // A copy is of what is on the disk, which takes what this process keeps: it is well meanwhile.
  void back_up() {
    (void)session();
    const std::string path = "copy" + std::to_string(next_number_++);
    const auto trouble = std::exchange(trouble_, Trouble::kNone);
    const auto report = process(slot_).store()->back_up(path, "");
    trouble_ = trouble;
    if (!report.ok()) return fail("not backed up: " + report.status().message());
    if (is_mine()) model_.take_held();
    SimulatedProcess reader(*disk_, next_process_id_++, dice_.seed(), clock_,
                            crash::Sabotage::kNone);
    Status opened = reader.open_store(kConfig, path);
    if (opened.ok()) opened = reader.open("s");
    if (!opened.ok()) return fail("the copy does not open: " + opened.message());
    compare("the copy", *reader.find("s"), model_.seen_by(std::nullopt));
  }

  void look() {
    session::Session& mine = session();
    compare("export", mine, model_.seen_by(slot_));
    const auto stats = mine.stats();
    if (!stats.ok()) return fail("no stats: " + stats.status().message());
    if (stats->get_bool("durable") == is_mine()) fail("stats tell of what is not durable, or not");
    if ((stats->get_count("undurable_bytes") > 0) != is_mine()) fail("stats count it, or not");
    const auto verified = mine.verify();
    // What looks torn would be looked at under the lock.
    const bool is_sound = verified.ok() && verified->get_bool("ok");
    if (!is_sound) fail("verify: " + (verified.ok() ? verified->canonical() : "not done"));
  }

  void compare(const std::string& what, session::Session& of, const Ids& expected) {
    const auto text = exported_text(of, "jsonl");
    if (!text.ok()) return fail(what + ": " + text.status().message());
    Ids ids;
    int64_t last_seq = 0;
    for (size_t start = 0; start < text->size();) {
      const size_t end = text->find('\n', start);
      const auto entry = json::Tree::parse(text->substr(start, end - start));
      start = end + 1;
      ids.push_back(entry->get_string("id"));
      if (entry->get_int64("seq") <= last_seq) fail(ids.back() + " has an old number");
      last_seq = entry->get_int64("seq");
    }
    trace_.push_back("p" + std::to_string(slot_) + " " + what);
    for (const std::string& id : ids) trace_.back() += " " + id;
    if (ids == expected) return;
    std::string message = "it should be";
    for (const std::string& id : expected) message += " " + id;
    fail(message);
  }

  // What is kept is written now, or lost.
  void close() {
    trace_.push_back("p" + std::to_string(slot_) + " closes");
    process(slot_).close("s");
    if (is_mine() && works()) model_.take_held();
    if (is_mine()) model_.lose_held();
  }

  void kill() {
    trace_.push_back("p" + std::to_string(slot_) + " is killed");
    process(slot_).die();
    processes_[slot_].reset();
    if (is_mine()) model_.lose_held();
  }

  void lose_power() {
    trace_.emplace_back("power fails");
    auto next = disk_->crash();
    for (slot_ = 0; slot_ < kProcesses; ++slot_) kill();
    disk_->set_fault_hook({});
    disk_ = std::move(next);
    watch();
  }

  void fail(const std::string& what) {
    if (violation_.empty()) violation_ = what;
    trace_.push_back("*** " + what);
  }

  Dice dice_;
  VirtualClock clock_;
  std::unique_ptr<io::SimulatedFileSystem> disk_;
  std::vector<std::unique_ptr<SimulatedProcess>> processes_;
  int64_t next_process_id_ = 2001;
  Trouble trouble_ = Trouble::kNone;
  Model model_;
  size_t slot_ = 0;
  uint64_t next_number_ = 1;
  std::vector<std::string> trace_;
  std::string violation_;
};

TEST(FailingDisks, NoAnswerDiffersFromTheModel) {
  const char* first = std::getenv("VARVE_SIMULATION_FIRST");
  const char* count = std::getenv("VARVE_SIMULATION_SEEDS");
  const uint64_t begin = first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
  const uint64_t seeds =
      count == nullptr ? kSeedsOfFailingDisks : std::strtoull(count, nullptr, 10);
  int failures = 0;
  for (uint64_t seed = begin; seed < begin + seeds && failures < 3; ++seed) {
    const std::string violation = FailingDiskRun(seed).run();
    failures += violation.empty() ? 0 : 1;
    EXPECT_EQ(violation, "") << "seed " << seed;
  }
  test::counted("seeds", seeds);
}

}  // namespace
}  // namespace varve::simulation
