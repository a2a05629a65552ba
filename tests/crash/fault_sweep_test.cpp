// The k-th operation on files fails, for every k, once and from then on, with every error there is:
// what was answered stays, what was refused is not there, and the store works again afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "crash_rig.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

using io::OperationKind;

enum class Part : uint8_t { kNothing, kOneByte, kHalf };  // of a write that fails

struct FaultKind {
  const char* name;
  int os_errno;
  Part written;
  std::vector<OperationKind> kinds;  // empty: all
};

// Of each error, the operations that can give it.
const FaultKind kFaultKinds[] = {
    {"EIO", EIO, Part::kNothing, {}},
    {"ENOSPC",
     ENOSPC,
     Part::kNothing,
     {OperationKind::kOpen, OperationKind::kAppend, OperationKind::kWriteAt,
      OperationKind::kSyncData, OperationKind::kSyncDirectory, OperationKind::kRename,
      OperationKind::kMove, OperationKind::kMakeDirectory}},
    {"EDQUOT",
     EDQUOT,
     Part::kNothing,
     {OperationKind::kOpen, OperationKind::kAppend, OperationKind::kSyncData,
      OperationKind::kMakeDirectory}},
    {"EMFILE",
     EMFILE,
     Part::kNothing,
     {OperationKind::kOpenRoot, OperationKind::kOpen, OperationKind::kOpenDirectory,
      OperationKind::kList}},
    {"EACCES",
     EACCES,
     Part::kNothing,
     {OperationKind::kOpenRoot, OperationKind::kOpen, OperationKind::kOpenDirectory,
      OperationKind::kList, OperationKind::kRename, OperationKind::kMove, OperationKind::kRemove,
      OperationKind::kMakeDirectory, OperationKind::kRemoveDirectory}},
    {"EROFS",
     EROFS,
     Part::kNothing,
     {OperationKind::kOpenRoot, OperationKind::kOpen, OperationKind::kAppend,
      OperationKind::kWriteAt, OperationKind::kTruncate, OperationKind::kRename,
      OperationKind::kMove, OperationKind::kMakeDirectory}},
    {"ENOLCK", ENOLCK, Part::kNothing, {OperationKind::kLock}},
    {"EIO after one byte", EIO, Part::kOneByte, {OperationKind::kAppend, OperationKind::kWriteAt}},
    {"ENOSPC after one byte", ENOSPC, Part::kOneByte, {OperationKind::kAppend}},
    {"ENOSPC after half", ENOSPC, Part::kHalf, {OperationKind::kAppend, OperationKind::kWriteAt}},
};

// A fault on a disk: the `number`-th operation of its kinds, and with `sticky` all later ones.
class Injection {
 public:
  Injection(io::SimulatedFileSystem& disk, const FaultKind& kind, uint64_t number, bool sticky)
      : disk_(disk), kind_(kind), number_(number), sticky_(sticky) {
    disk_.set_fault_hook([this](const io::OperationInfo& operation) { return decide(operation); });
  }
  ~Injection() { end(); }
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  void end() { disk_.set_fault_hook({}); }
  [[nodiscard]] bool happened() const { return !where_.empty(); }
  [[nodiscard]] std::string text() const {
    return std::string(kind_.name) + (sticky_ ? " from " : " at ") + where_;
  }

 private:
  std::optional<io::Fault> decide(const io::OperationInfo& operation) {
    const auto& kinds = kind_.kinds;
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), operation.kind) == kinds.end()) {
      return std::nullopt;
    }
    seen_ += 1;
    if (seen_ < number_ || (seen_ > number_ && !sticky_)) return std::nullopt;
    const std::string line = disk_.trace().back();
    if (where_.empty()) where_ = line;
    return io::Fault{kind_.os_errno, written_part(line)};
  }

  // From a line of the trace: "12 append /store/memory.jsonl 27 bytes".
  [[nodiscard]] std::optional<size_t> written_part(const std::string& line) const {
    if (kind_.written == Part::kNothing) return std::nullopt;
    if (kind_.written == Part::kOneByte) return 1;
    const size_t end = line.find(" bytes");
    if (end == std::string::npos) return std::nullopt;  // of another thread, meanwhile
    const size_t begin = line.rfind(' ', end - 1) + 1;
    return std::stoul(line.substr(begin, end - begin)) / 2;
  }

  io::SimulatedFileSystem& disk_;
  const FaultKind& kind_;
  const uint64_t number_;
  const bool sticky_;
  uint64_t seen_ = 0;
  std::string where_;
};

constexpr const char* kLog = "/store/sessions/s/memory.jsonl";

// A session "s" with three entries, everything durable.
std::unique_ptr<io::SimulatedFileSystem> prepared_disk(Ledger& ledger) {
  io::SimulatedFileSystem disk;
  Program agent(disk, ledger);
  agent.open_store();
  agent.create("s");
  agent.add("s", "a1");
  agent.add_batch("s", {"a2", "a3"});
  agent.close_store();
  EXPECT_EQ(agent.failures(), "");
  return disk.crash(disk.keep_all());
}

struct Workload {
  const char* name;
  void (*prepare)(io::SimulatedFileSystem&);
  void (*run)(Program&);
  bool takes_away = false;  // of what was deleted, "a1" is in no file at the end
};
void PrintTo(const Workload& workload, std::ostream* out) { *out << workload.name; }

void as_it_is(io::SimulatedFileSystem&) {}
void with_torn_tail(io::SimulatedFileSystem& disk) {
  disk.write_file(kLog, disk.read_file(kLog).value_or("") + "{\"checksum\":\"sha2");
}
void with_damage(io::SimulatedFileSystem& disk) {
  std::string log = disk.read_file(kLog).value_or("");
  log.insert(log.find('\n') + 1, "not an entry\n");
  disk.write_file(kLog, log);
}
void with_removed_index(io::SimulatedFileSystem& disk) {
  disk.write_file("/store/sessions/s/index.bin", "not an index");
}

void of_version_0(io::SimulatedFileSystem& disk) { make_version_0(disk, "s", {"a1", "a2", "a3"}); }

void begin(Program& agent, std::string_view config = {}) {
  agent.open_store(config);
  agent.open("s");
}

constexpr std::string_view kTwoThreads = R"({"threads":2})";

void compact_twice(Program& agent) {
  agent.remove("s", "a1");
  agent.compact("s");
  agent.add("s", "b1");
  agent.remove("s", "a3");
  agent.compact("s");
  agent.add("s", "b2");
}

const Workload kWorkloads[] = {
    {"Create", as_it_is,
     [](Program& agent) {
       agent.open_store();
       agent.create("t");
       agent.add("t", "t1");
       agent.create("u");
       agent.add("u", "u1");
     }},
    {"Add", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.add("s", "b1");
       agent.add("s", "b2", 700);
       agent.add("s", "b3");
     }},
    {"Batch", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.add_batch("s", {"b1", "b2", "b3"});
       agent.add_batch("s", {"c1", "c2"});
       agent.add("s", "d1");
     }},
    {"Delete", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.remove("s", "a1");
       agent.add("s", "b1");
       agent.remove("s", "b1");
       agent.remove("s", "a2");
     }},
    {"Update", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.update("s", "one");
       agent.add("s", "b1");
       agent.update("s", "two");
     }},
    {"SaveAndReopen", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.add("s", "b1");
       agent.sync("s");
       agent.close("s");
       agent.open("s");
       agent.add("s", "b2");
       agent.close_store();
       begin(agent);
       agent.add("s", "b3");
     }},
    {"TornTail", with_torn_tail,
     [](Program& agent) {
       begin(agent);
       agent.read("s");
       agent.add_batch("s", {"b1", "b2"});
       agent.add("s", "c1");
     }},
    {"Repair", with_damage,
     [](Program& agent) {
       begin(agent);
       agent.repair("s");
       agent.add("s", "b1");
       agent.read("s");
     }},
    {"VerifyAndRebuild", with_removed_index,
     [](Program& agent) {
       begin(agent);
       agent.verify("s");
       agent.rebuild("s");
       agent.read("s");
       agent.add("s", "b1");
     }},
    {"ImportAndExport", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.import_lines("s", {"i1", "i2", "i3", "i4"});
       agent.read("s");
       agent.import_lines("s", {"j1", "j2"});
     }},
    {"Drop", as_it_is,
     [](Program& agent) {
       agent.open_store();
       agent.create("t");
       agent.add("t", "t1");
       agent.drop("t");
       agent.open("s");
       agent.add("s", "b1");
     }},
    {"Relaxed", as_it_is,
     [](Program& agent) {
       agent.open_store();
       agent.create("t", "os");
       agent.add("t", "t1");
       agent.add("t", "t2");
       agent.sync("t");
       agent.remove("t", "t1");
       agent.add("t", "t3");
       agent.sync("t");
     }},
    {"Compact", as_it_is,
     [](Program& agent) {
       begin(agent);
       compact_twice(agent);
     },
     true},
    {"CompactInTwoThreads", as_it_is,
     [](Program& agent) {
       begin(agent, kTwoThreads);
       compact_twice(agent);
     },
     true},
    {"CompactWithDamage", with_damage,
     [](Program& agent) {
       begin(agent);
       agent.remove("s", "a1");
       agent.compact("s");
       agent.add("s", "b1");
     },
     true},
    {"Purge", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.remove("s", "a1");
       agent.purge("s");
       agent.add("s", "b1");
       agent.remove("s", "a2");
       agent.purge("s");
       agent.add("s", "b2");
     },
     true},
    {"Migrate", of_version_0,
     [](Program& agent) {
       begin(agent);
       agent.migrate("s");
       agent.add("s", "b1");
       agent.remove("s", "a1");
       agent.purge("s");
     },
     true},
    {"MigrateByTheFirstWrite", of_version_0,
     [](Program& agent) {
       begin(agent);
       agent.remove("s", "a1");
       agent.add("s", "b1");
       agent.compact("s");
     },
     true},
    {"Vectors", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.put_vector("s", "a1");
       agent.put_vector("s", "a2");
       agent.add("s", "b1");
       agent.put_vector("s", "b1");
       agent.put_vector("s", "a2");
       agent.close("s");
       agent.open("s");
       agent.put_vector("s", "a3");
     }},
    {"VectorsTakenAway", as_it_is,
     [](Program& agent) {
       begin(agent);
       agent.put_vector("s", "a1");
       agent.put_vector("s", "a2");
       agent.put_vector("s", "a2");
       agent.remove("s", "a1");
       agent.compact("s");
       agent.put_vector("s", "a3");
       agent.put_vector("s", "a3");
       agent.purge("s");
       agent.put_vector("s", "a2");
     },
     true},
    {"CompactByItself", as_it_is,
     [](Program& agent) {
       agent.open_store(R"({"storage":{"max_session_size_mb":0.02,"compaction_threshold":0}})");
       agent.open("s");
       agent.remove("s", "a1");
       agent.add("s", "b1", 500);
       agent.remove("s", "a3");
       agent.add("s", "b2", 500);
       agent.add("s", "b3", 500);
     },
     true},
};

// Whether an answer is one that the headers document for this error.
bool is_documented(const Answer& answer, int os_errno) {
  const Status& status = answer.status;
  const std::string& message = status.message();
  switch (status.code()) {
    case Code::kOk:
    case Code::kBadHandle:  // our own: an earlier step failed
    case Code::kIo:
    case Code::kUnknown:  // becomes VARVE_IO
      return true;
    case Code::kNoSpace: return os_errno == ENOSPC || os_errno == EDQUOT;
    case Code::kReadOnly:
      return os_errno == EACCES || os_errno == EROFS ||
             message.find("writing stopped") != std::string::npos;
    case Code::kBusy: return os_errno == EACCES;  // what a held lock may answer
    case Code::kUnsupported: return os_errno == ENOLCK;
    // Of what an earlier step failed to make, or did make when it should not have said so.
    case Code::kNotFound:
      return answer.step.starts_with("open ") || answer.step.starts_with("remove ") ||
             answer.step.starts_with("drop ") || answer.step.starts_with("put ");
    default: return false;
  }
}

class FaultSweep : public testing::TestWithParam<Workload> {
 protected:
  // One run with one fault; false when the workload ends before the fault comes.
  bool run(const FaultKind& kind, uint64_t number, bool sticky) {
    Ledger ledger = ledger_;
    const auto disk = prepared_->crash(prepared_->keep_all());
    Injection injection(*disk, kind, number, sticky);
    Program agent(*disk, ledger);
    GetParam().run(agent);
    const size_t answered = agent.answers().size();
    if (agent.find("s") != nullptr) agent.read("s");  // while it lasts: an error, no wrong answer
    if (!injection.happened()) return false;
    findings_.set_context("  " + injection.text() + "\n" + agent.failures());
    for (size_t i = 0; i < agent.answers().size(); ++i) {
      const Answer& answer = agent.answers()[i];
      if (!is_documented(answer, kind.os_errno)) {
        findings_.add(i < answered ? "STATUS" : "READ", answer.step);
      }
    }
    injection.end();
    check_afterwards(agent, *disk, ledger);
    return true;
  }

  void run_without_fault() {
    Ledger ledger = ledger_;
    const auto disk = prepared_->crash(prepared_->keep_all());
    Program agent(*disk, ledger);
    GetParam().run(agent);
    EXPECT_EQ(agent.failures(), "");
    if (GetParam().takes_away) {
      EXPECT_EQ(files_with_canary(*disk, "a1").size(), 0U);
    }
    check_disk(*disk, ledger, {Loss::kProcess, no_alarm_}, findings_);
  }

  void check_afterwards(Program& agent, io::SimulatedFileSystem& disk, Ledger& ledger) {
    const Demands alive{Loss::kProcess, false};
    for (const auto& [id, promise] : ledger) {
      session::Session* session = agent.find(id);
      if (session != nullptr) check_session(*session, id, promise, alive, findings_);
    }
    const auto lost = disk.crash();
    check_disk(*lost, ledger, {Loss::kPower, no_alarm_}, findings_);
    const auto kept = disk.crash(disk.keep_all());
    check_disk(*kept, ledger, {Loss::kPower, no_alarm_}, findings_);
    write_again(agent, ledger);
    const auto lost_again = disk.crash();
    check_disk(*lost_again, ledger, {Loss::kPower, no_alarm_}, findings_);
    if (GetParam().takes_away) take_away_again(*disk.crash(disk.keep_all()), ledger);
    agent.close_store();
    check_disk(disk, ledger, {Loss::kProcess, no_alarm_}, findings_);
  }

  // Whoever comes next can do all of it, and what was deleted by then is gone for good.
  void take_away_again(io::SimulatedFileSystem& disk, Ledger ledger) {
    {
      Program next(disk, ledger);
      begin(next);
      next.migrate("s");
      next.add("s", "c1");
      next.remove("s", "c1");
      next.compact("s");
      next.purge("s");
      next.read("s");
      if (!next.failures().empty()) findings_.add("LATER", next.failures());
    }
    check_disk(disk, ledger, {Loss::kProcess, no_alarm_}, findings_);
  }

  // The handles that were open during the fault work again, or say that writing stopped.
  void write_again(Program& agent, const Ledger& ledger) {
    const size_t before = agent.answers().size();
    for (const auto& [id, promise] : ledger) {
      if (agent.find(id) == nullptr) continue;
      agent.add(id, "again_" + id);
      if (!GetParam().takes_away) continue;
      agent.compact(id);
      agent.purge(id);
    }
    for (size_t i = before; i < agent.answers().size(); ++i) {
      const Status& status = agent.answers()[i].status;
      if (!status.ok() && status.code() != Code::kReadOnly) {
        findings_.add("STATUS", agent.answers()[i].step + ": " + status.message());
      }
    }
  }

  Ledger ledger_;
  std::unique_ptr<io::SimulatedFileSystem> prepared_;
  Findings findings_;
  bool no_alarm_ = true;
};

TEST_P(FaultSweep, NothingIsLostAndEverythingGoesOn) {
  prepared_ = prepared_disk(ledger_);
  GetParam().prepare(*prepared_);
  no_alarm_ = GetParam().prepare != with_damage;
  run_without_fault();
  size_t case_count = 0;
  const size_t step = std::max<size_t>(1, 100 / scaled(100));
  for (const FaultKind& kind : kFaultKinds) {
    for (const bool sticky : {false, true}) {
      uint64_t number = 1;
      while (run(kind, number, sticky)) {
        case_count += 1;
        number += step;
      }
    }
  }
  EXPECT_EQ(findings_.count(), 0U) << findings_.text();
  EXPECT_GT(case_count, 10U);
  test::counted("faults", case_count);
}

INSTANTIATE_TEST_SUITE_P(All, FaultSweep, testing::ValuesIn(kWorkloads),
                         [](const auto& given) { return std::string(given.param.name); });

// An error says that nothing happened, unless it says that it does not know.
void expect_errors_leave_the_log_alone(std::string_view config) {
  Ledger prepared_ledger;
  const auto prepared = prepared_disk(prepared_ledger);
  size_t failed_count = 0;
  size_t case_count = 0;
  for (const FaultKind& kind : kFaultKinds) {
    for (const bool sticky : {false, true}) {
      bool happened = true;
      for (uint64_t number = 1; happened; ++number) {
        Ledger ledger = prepared_ledger;
        const auto disk = prepared->crash(prepared->keep_all());
        Program agent(*disk, ledger);
        begin(agent, config);
        agent.remove("s", "a1");
        const std::string log = disk->read_file(kLog).value_or("");
        Injection injection(*disk, kind, number, sticky);
        agent.compact("s");
        happened = injection.happened();
        if (happened) case_count += 1;
        const Status& answer = agent.answers().back().status;
        if (answer.ok()) {
          EXPECT_TRUE(disk->read_file(kLog) != log) << injection.text();
        } else if (promise_of(answer) == Promise::kRefused) {
          EXPECT_TRUE(disk->read_file(kLog) == log) << injection.text() << "\n" << agent.failures();
          failed_count += 1;
        }
      }
    }
  }
  EXPECT_GT(failed_count, 50U);
  test::counted("faults", case_count);
}

TEST(FaultSweepOfCompaction, AnErrorLeavesTheLogAsItWas) { expect_errors_leave_the_log_alone({}); }

TEST(FaultSweepOfCompaction, AnErrorInTwoThreadsLeavesTheLogAsItWas) {
  expect_errors_leave_the_log_alone(kTwoThreads);
}

}  // namespace
}  // namespace varve::crash
