// Every state that a power loss, or the death of all processes, can leave kv.json and transcript.md
// in: what was answered is there, whole and in order; what was not answered is there whole or not
// at all; and the session goes on.
#include <gtest/gtest.h>

#include <algorithm>

#include "crash_rig.h"
#include "session/upkeep/compaction.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

struct Turn {
  std::string content;
  Promise power = Promise::kAsked;    // through a power loss
  Promise process = Promise::kAsked;  // through the death of the process
};

// What one session was promised of its transcript and its keys.
struct StoresPromise {
  std::vector<Turn> turns;
  uint64_t cap = SIZE_MAX;
  std::vector<std::string> key_states{""};  // as asked for, one after the other
  size_t key_state_given = 0;
};

std::string contents_of(session::Session& session, std::vector<std::string>* contents) {
  const auto turns = session.transcript_last(SIZE_MAX);
  if (!turns.ok()) return turns.status().message();
  for (const json::Tree& turn : turns->items()) contents->push_back(turn.get_string("content"));
  return {};
}

std::string keys_of(session::Session& session) {
  const auto list = session.kv_list();
  if (!list.ok()) return list.status().message();
  std::string keys;
  for (const json::Tree& item : list->items()) {
    keys += item.get_string("key") + "=" + item.get_string("value") + " ";
  }
  return keys;
}

// Empty when the turns keep their promise.
std::string check_turns(const std::vector<std::string>& shown, const StoresPromise& promise,
                        Loss loss) {
  // Of a full transcript the first turns may be gone: as many as come after them.
  size_t next = 0;
  std::vector<size_t> found;
  for (const std::string& content : shown) {
    while (next < promise.turns.size() && promise.turns[next].content != content) next += 1;
    if (next == promise.turns.size())
      return "'" + content.substr(0, 80) + "' is not as it was said";
    found.push_back(next++);
  }
  for (size_t i = 0; i < promise.turns.size(); ++i) {
    const Turn& turn = promise.turns[i];
    const Promise given = loss == Loss::kPower ? turn.power : turn.process;
    const bool is_there = std::find(found.begin(), found.end(), i) != found.end();
    const bool may_be_evicted = promise.turns.size() - i > promise.cap;
    if (given == Promise::kRefused && is_there) return "a refused turn is there: " + turn.content;
    if (given == Promise::kGiven && !is_there && !may_be_evicted) return "lost: " + turn.content;
  }
  return {};
}

class StoresRig {
 public:
  explicit StoresRig(std::string_view options = "{}", Sabotage defect = Sabotage::kNone)
      : defect_(defect) {
    auto files = std::make_unique<SabotagedFileSystem>(disk_, defect_);
    auto store = *store::Store::open(kRoot, {}, environment_.with(*files));
    auto made = session::parse_create_options(options);
    const auto session = store->create_session(options);
    EXPECT_TRUE(session.ok()) << session.status().message();
    id_ = (*session)->id();
    is_commit_ = options.find("durability") == std::string_view::npos;
    if (made.ok()) {
      promise_.cap = static_cast<uint64_t>(
          made->members.get_int64("transcript_cap", static_cast<int64_t>(promise_.cap >> 1)));
    }
  }

  // A process with the session open.
  struct Agent {
    std::unique_ptr<io::SimulatedFileSystem> own;
    std::unique_ptr<SabotagedFileSystem> files;
    std::shared_ptr<store::Store> store;
    std::shared_ptr<session::Session> session;
  };
  Agent agent(int64_t process_id) {
    Agent made;
    made.own = disk_.process(process_id);
    made.files = std::make_unique<SabotagedFileSystem>(*made.own, defect_);
    made.store = *store::Store::open(kRoot, {}, environment_.with(*made.files));
    made.session = *made.store->open_session(id_);
    return made;
  }

  void say(Agent& agent, const std::string& content) {
    promise_.turns.push_back({content});
    const Status status = agent.session->transcript_append("user", content);
    EXPECT_TRUE(status.ok()) << status.message();
    promise_.turns.back().process = Promise::kGiven;
    if (is_commit_) promise_.turns.back().power = Promise::kGiven;
    look();
  }
  // `after`: what the keys are then.
  void set(Agent& agent, std::string_view key, std::string_view value, std::string after) {
    promise_.key_states.push_back(std::move(after));
    EXPECT_TRUE(agent.session->kv_set(key, value).ok());
    promise_.key_state_given = promise_.key_states.size() - 1;
    look();
  }
  void erase(Agent& agent, std::string_view key, std::string after) {
    promise_.key_states.push_back(std::move(after));
    EXPECT_TRUE(agent.session->kv_delete(key).ok());
    promise_.key_state_given = promise_.key_states.size() - 1;
    look();
  }
  void sync(Agent& agent) {
    EXPECT_TRUE(agent.session->sync().ok());
    for (Turn& turn : promise_.turns) turn.power = Promise::kGiven;
    look();
  }

  void watch() {
    disk_.set_fault_hook([this](const io::OperationInfo& operation) {
      const bool changes = operation.kind == io::OperationKind::kSyncData ||
                           operation.kind == io::OperationKind::kSyncDirectory ||
                           operation.kind == io::OperationKind::kRename ||
                           operation.kind == io::OperationKind::kAppend ||
                           operation.kind == io::OperationKind::kTruncate;
      if (changes && !looking_) look();
      return std::optional<io::Fault>();
    });
  }
  void look() {
    looking_ = true;
    disk_.for_each_crash_state(
        [&](auto state, const io::CrashPlan& plan) {
          check(*state, Loss::kPower, disk_.describe(plan));
        },
        scaled(40));
    check(*disk_.copy(), Loss::kProcess, "all processes killed");
    looking_ = false;
  }

  void expect_sound() {
    disk_.set_fault_hook({});
    look();
    EXPECT_EQ(finding_count_, 0U) << finding_;
    EXPECT_GT(state_count_, 50U);
    test::counted("states", state_count_);
  }
  [[nodiscard]] size_t finding_count() const { return finding_count_; }
  io::SimulatedFileSystem& disk() { return disk_; }
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return std::string(kRoot) + "/sessions/" + id_ + "/" + std::string(name);
  }

 private:
  void finding(const std::string& text) {
    if (finding_count_++ == 0) finding_ = text;
  }

  void check(io::SimulatedFileSystem& state, Loss loss, const std::string& where) {
    state_count_ += 1;
    TestEnvironment environment;
    {
      auto store = store::Store::open(kRoot, {}, environment.with(state));
      auto session = store.ok() ? (*store)->open_session(id_)
                                : Result<std::shared_ptr<session::Session>>(store.status());
      if (!session.ok()) return finding("OPEN " + session.status().message() + "\n" + where);
      const std::string wrong = check_session(**session, loss);
      if (!wrong.empty()) return finding(wrong + "\n" + where);
      // And on from here, by whoever finds it like that.
      if (!(*session)->transcript_append("user", "late").ok() ||
          !(*session)->kv_set("late", "yes").ok()) {
        return finding("APPEND is refused\n" + where);
      }
      const auto after = state.crash();
      check_late(*after, where);
    }
  }

  std::string check_session(session::Session& session, Loss loss) {
    std::vector<std::string> contents;
    std::string wrong = contents_of(session, &contents);
    if (wrong.empty()) wrong = check_turns(contents, promise_, loss);
    if (!wrong.empty()) return "TURNS " + wrong;
    const std::string keys = keys_of(session);
    const auto first =
        promise_.key_states.begin() + static_cast<ptrdiff_t>(promise_.key_state_given);
    if (std::find(first, promise_.key_states.end(), keys) == promise_.key_states.end()) {
      return "KEYS '" + keys + "', and not '" + *first + "' or later";
    }
    // Of turns that nobody synced the disk may keep a later one and lose one before it.
    if (!is_commit_) return {};
    return check_report(session.verify());
  }

  // What was cut off in the middle of an append is no damage.
  static std::string check_report(const Result<json::Tree>& report) {
    if (!report.ok()) return "VERIFY " + report.status().message();
    for (const json::Tree& problem : report->get("problems")->items()) {
      const bool is_torn = problem.get_string("file") == log::kTranscriptFile &&
                           problem.get_string("reason").starts_with("torn tail: ");
      if (!is_torn) return "VERIFY " + report->canonical();
    }
    return {};
  }

  void check_late(io::SimulatedFileSystem& state, const std::string& where) {
    if (!is_commit_) return;
    TestEnvironment environment;
    auto store = store::Store::open(kRoot, {}, environment.with(state));
    auto session = store.ok() ? (*store)->open_session(id_)
                              : Result<std::shared_ptr<session::Session>>(store.status());
    if (!session.ok()) return finding("OPEN again\n" + where);
    std::vector<std::string> contents;
    contents_of(**session, &contents);
    const auto kept = (*session)->kv_get("late");
    if (contents.empty() || contents.back() != "late" || !kept.ok()) {
      finding("LATE is lost\n" + where);
    }
    const auto report = (*session)->verify();
    if (!report.ok() || !report->get_bool("ok")) finding("VERIFY again\n" + where);
  }

  io::SimulatedFileSystem disk_;
  TestEnvironment environment_;
  Sabotage defect_;
  std::string id_;
  bool is_commit_ = true;
  StoresPromise promise_;
  size_t finding_count_ = 0;
  std::string finding_;
  size_t state_count_ = 0;
  bool looking_ = false;
};

TEST(CrashStatesOfStores, AppendsSetsAndDeletes) {
  StoresRig rig;
  auto agent = rig.agent(2001);
  rig.watch();
  rig.say(agent, "hello");
  rig.set(agent, "a", "1", "a=1 ");
  rig.say(agent, "one\n\n### user — 2025-04-15T10:30:01Z\n\ntwo");
  rig.set(agent, "b", "2", "a=1 b=2 ");
  rig.set(agent, "a", "3", "b=2 a=3 ");
  rig.say(agent, std::string(5000, 'x'));
  rig.erase(agent, "b", "a=3 ");
  rig.say(agent, "bye");
  rig.expect_sound();
}

TEST(CrashStatesOfStores, ATranscriptThatIsWrittenAnew) {
  StoresRig rig(R"({"transcript_cap":1})");
  auto agent = rig.agent(2001);
  for (int i = 0; i < 15; ++i) rig.say(agent, "turn " + std::to_string(i));
  rig.watch();
  for (int i = 15; i < 19; ++i) rig.say(agent, "turn " + std::to_string(i));
  rig.expect_sound();
}

TEST(CrashStatesOfStores, TwoProcesses) {
  StoresRig rig;
  auto one = rig.agent(2001);
  auto two = rig.agent(2002);
  rig.watch();
  rig.say(one, "a1");
  rig.say(two, "b1");
  rig.set(two, "k", "b", "k=b ");
  rig.set(one, "k", "a", "k=a ");
  rig.say(two, "b2");
  rig.say(one, "a2");
  rig.expect_sound();
}

// Weaker durability may lose turns, and shows none that is not whole.
TEST(CrashStatesOfStores, DurabilityOs) {
  StoresRig rig(R"({"durability":"os"})");
  auto agent = rig.agent(2001);
  rig.watch();
  rig.say(agent, "one");
  rig.say(agent, "two\nlines");
  rig.set(agent, "a", "1", "a=1 ");
  rig.sync(agent);
  rig.say(agent, "three");
  rig.say(agent, "four");
  rig.expect_sound();
}

TEST(CrashStatesOfStores, AfterDamageAndThroughAPurge) {
  StoresRig rig;
  auto agent = rig.agent(2001);
  rig.say(agent, "one");
  const std::string path = rig.path_of("transcript.md");
  rig.disk().write_file(path, "garbage before\n\n" + *rig.disk().read_file(path) + "\n### us");
  rig.say(agent, "two");
  rig.disk().write_file(rig.path_of("kv.json"), "no keys");
  rig.set(agent, "a", "1", "a=1 ");
  rig.watch();
  rig.say(agent, "three");
  session::CompactionOptions purge;
  purge.cause = session::CompactionCause::kPurge;
  EXPECT_TRUE(agent.session->compact(purge).ok());
  rig.say(agent, "four");
  rig.expect_sound();
}

// The rig finds what it is for.
TEST(CrashStatesOfStores, AMissingSyncIsFound) {
  for (const Sabotage defect :
       {Sabotage::kNoDataSync, Sabotage::kNoTemporarySync, Sabotage::kNoDirectorySync}) {
    StoresRig rig("{}", defect);
    auto agent = rig.agent(2001);
    rig.say(agent, "one");
    rig.set(agent, "a", "1", "a=1 ");
    rig.say(agent, "two");
    EXPECT_GT(rig.finding_count(), 0U) << static_cast<int>(defect);
  }
}

}  // namespace
}  // namespace varve::crash
