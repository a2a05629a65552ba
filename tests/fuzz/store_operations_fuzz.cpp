// Whatever is done with a store on a disk, in whatever order, by two processes, with files damaged
// from outside, processes killed and power lost between and within operations: after each of them
// the session shows what a map would, no more and no less; and with nothing damaged from outside
// verify finds nothing.
//
// An input is operations, each a byte and its arguments. Power may fail within any: then its
// effect is there, or nothing of it is.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "input_bytes.h"
#include "io/simulated.h"
#include "json/canonical.h"
#include "require.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "store_model.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace {

using varve::Code;
using varve::Status;
using varve::fuzz::InputBytes;
using varve::fuzz::require;
using varve::fuzz::Shown;
using varve::fuzz::StoreModel;
using varve::io::CrashPlan;
using varve::io::OperationKind;
using varve::io::SimulatedFileSystem;
using varve::json::Tree;
using varve::session::Session;
using varve::store::Store;

constexpr int kOperationsMax = 24;
constexpr int64_t kExpiryMs = 60'000;
constexpr std::array<std::string_view, 6> kIds = {"a", "b", "c", "d", "e", "f"};
constexpr std::array<std::string_view, 3> kKeys = {"k", "key", "\xc3\xa9"};
constexpr std::string_view kFolder = "store/sessions/s/";

constexpr std::array<std::string_view, 6> kNoLines = {"nonsense\n", "{\"id\":\"x\"}\n", "\n",
                                                      "[]\n",       "{\"id\":\"a\",",   "\xff\xff"};
constexpr std::array<std::string_view, 5> kNoMetadata = {"", "{", "[]", "\xff",
                                                         R"({"session_id":"other"})"};

// A process that has the store open.
struct Process {
  Process(SimulatedFileSystem& disk, int64_t id, varve::Clock& clock, varve::Random& random)
      : own(disk.process(id)), environment{own.get(), &clock, &random} {
    auto opened = Store::open("store", "", environment);
    require(opened.ok());
    store = *std::move(opened);
    auto found = store->open_session("s");
    if (found.code() == Code::kNotFound) found = store->create_session(R"({"session_id":"s"})");
    require(found.ok());
    session = *std::move(found);
  }
  ~Process() {
    session.reset();
    store->close();
  }

  std::unique_ptr<SimulatedFileSystem> own;
  Store::Environment environment;
  std::shared_ptr<Store> store;
  std::shared_ptr<Session> session;
};

Shown shown_by(Session& session) {
  Shown shown;
  const auto text = exported_text(session, "jsonl");
  const auto kv = session.kv_list();
  const auto transcript = session.transcript_last(UINT64_MAX);
  require(text.ok() && kv.ok() && transcript.ok());
  for (size_t at = 0; at < text->size();) {
    const size_t end = text->find('\n', at);
    const auto entry = Tree::parse(std::string_view(*text).substr(at, end - at));
    require(entry.ok());
    shown.entries.emplace_back(entry->get_string("id"), entry->get("content")->canonical());
    at = end + 1;
  }
  for (const auto& item : kv->items()) {
    shown.kv.emplace_back(item.get_string("key"), item.get_string("value"));
  }
  for (const auto& item : transcript->items()) {
    shown.transcript.emplace_back(item.get_string("role"), item.get_string("content"));
  }
  return shown;
}

std::string entry_of(std::string_view id, const Tree& content, bool expires) {
  Tree entry = Tree::object();
  entry.set("id", Tree::string(id));
  entry.set("type", Tree::string("note"));
  entry.set("content", content);
  if (expires) entry.set("ttl_seconds", Tree::integer(kExpiryMs / 1000));
  return entry.canonical();
}

// Any subset of what is pending reaches the disk, and the last of it perhaps in part.
CrashPlan plan_of(const SimulatedFileSystem& disk, uint64_t choice) {
  CrashPlan plan;
  const auto pending = disk.pending();
  for (size_t i = 0; i < pending.size(); ++i) {
    if ((choice >> (i % 48) & 1) != 0) plan.kept.push_back(i);
  }
  const uint64_t tear = choice >> 48;
  if (plan.kept.empty()) return plan;
  const auto& last = pending[plan.kept.back()];
  if (last.kind != OperationKind::kWriteAt || last.size_bytes == 0) return plan;
  plan.torn = plan.kept.back();
  plan.tear = static_cast<varve::io::Tear>(tear % 6);
  plan.tear_at = static_cast<size_t>((tear >> 3) % (last.size_bytes + 1));
  plan.garbage_seed = choice;
  return plan;
}

class Machine {
 public:
  explicit Machine(InputBytes& input) : input_(input) { boot(); }

  void run() {
    for (int i = 0; i < kOperationsMax && !input_.empty(); ++i) step();
    verify();
    restart();
    require(shown() == expected());
    require(session().rebuild_index().ok());
    require(shown() == expected());
    verify();
  }

 private:
  void step() {
    const uint8_t choice = input_.byte();
    const bool loses_power = choice >= 0xC0;
    const StoreModel before = model_;
    const std::set<std::string> undecided = undecided_;
    if (loses_power) lose_power_within();
    operate(choice % 22);
    if (loses_power) {
      disk_->set_fault_hook(nullptr);
      // It was over sooner: the power fails behind it.
      if (crashed_ == nullptr) lose_power();
      const StoreModel after = model_;
      processes_ = {};
      disk_ = std::move(crashed_);
      is_damaged_ = is_damaged_ || was_damaged_;  // a repair that power cut short repaired nothing
      boot();
      const Shown now = shown();
      const bool is_as_after = now == after.shown(clock_.now_ms());
      require(is_as_after || now == before.shown(clock_.now_ms()));
      model_ = is_as_after ? after : before;
      may_be_torn_ = true;
      if (is_as_after) settle(before);
      // What the operation has decided may be lost with it.
      for (const auto& id : undecided) {
        if (!model_.is_used(id)) undecided_.insert(id);
      }
      verify();
    }
    require(shown() == expected());
  }

  // Where both look the same, an id may be free or not: told by asking for it.
  void settle(const StoreModel& before) {
    for (const auto name : kIds) {
      const std::string id(name);
      if (before.is_used(id) == model_.is_used(id)) continue;
      if (before.shown(clock_.now_ms()) == expected()) undecided_.insert(id);
    }
  }

  void operate(uint8_t operation) {
    switch (operation) {
      case 0:
      case 1:
      case 2: return add(0, false);
      case 3: return add(1, false);
      case 4: return add(0, true);
      case 5: return add_batch();
      case 6: return remove(0);
      case 7: return remove(1);
      case 8: return get();
      case 9: return restart();
      case 10: return kill();
      case 11: return compact(varve::session::CompactionCause::kAsked, 0);
      case 12: return compact(varve::session::CompactionCause::kAsked, 1);
      case 13: return compact(varve::session::CompactionCause::kPurge, 0);
      case 14: return repair();
      case 15: return set();
      case 16: return say();
      case 17: return clock_.advance_ms(kExpiryMs / 2);
      case 18: return plant_index();
      case 19: return plant_lines();
      case 20: return plant_metadata();
      default: return write_by_hand();
    }
  }

  // --- operations of the library
  // ------------------------------------------------------------------

  std::string id() { return std::string(kIds[input_.below(kIds.size())]); }

  // Any JSON value, else a text.
  Tree content() {
    const std::string_view text = input_.text();
    auto parsed = Tree::parse(text);
    if (parsed.ok()) return *std::move(parsed);
    std::string shown;
    for (const char c : text) shown += static_cast<char>('!' + static_cast<uint8_t>(c) % 90);
    return Tree::string(shown);
  }

  void add(size_t process, bool expires) {
    const std::string name = id();
    const Tree value = content();
    const auto added = session(process).add(entry_of(name, value, expires));
    if (undecided_.contains(name) && !added.ok()) return;
    undecided_.erase(name);
    if (model_.is_used(name)) return require(added.code() == Code::kAlreadyExists);
    require(added.ok());
    model_.add(name, value.canonical(), expires ? clock_.now_ms() + kExpiryMs : INT64_MAX);
  }

  void add_batch() {
    const uint8_t mask = input_.below(1 << kIds.size());
    const Tree value = content();
    std::string lines;
    StoreModel after = model_;
    bool is_fine = mask != 0;
    for (size_t i = 0; i < kIds.size(); ++i) {
      if ((mask >> i & 1) == 0) continue;
      const std::string name(kIds[i]);
      if (undecided_.contains(name)) return;
      lines += entry_of(name, value, false) + "\n";
      is_fine = is_fine && !model_.is_used(name);
      after.add(name, value.canonical());
    }
    const auto added = session().add_batch(lines);
    if (mask == 0) return;
    require(is_fine ? added.ok() : added.code() == Code::kAlreadyExists);
    if (is_fine) model_ = after;
  }

  void remove(size_t process) {
    const std::string name = id();
    const Status removed = session(process).remove(name, "");
    if (!model_.is_alive(name, clock_.now_ms())) return require(removed.code() == Code::kNotFound);
    require(removed.ok());
    model_.remove(name);
  }

  void get() {
    const std::string name = id();
    const auto line = session().get(name);
    if (!model_.is_alive(name, clock_.now_ms())) return require(line.code() == Code::kNotFound);
    require(line.ok());
    require(Tree::parse(*line)->get("content")->canonical() == model_.content(name));
    require(*session().count("{}") == expected().entries.size());
  }

  void compact(varve::session::CompactionCause cause, size_t process) {
    varve::session::CompactionOptions options;
    options.cause = cause;
    require(session(process).compact(options).ok());
    model_.compact(clock_.now_ms());
    undecided_.clear();
  }

  void repair() {
    require(session().repair(false).ok());
    is_damaged_ = may_be_torn_ = false;
    verify();
  }

  void set() {
    const std::string key(kKeys[input_.below(kKeys.size())]);
    const std::string value = content().canonical();
    if (input_.below(4) == 0) {
      const Status gone = session().kv_delete(key);
      const bool was_there = model_.forget(key);
      return require(was_there ? gone.ok() : gone.code() == Code::kNotFound);
    }
    require(session(input_.below(2)).kv_set(key, value).ok());
    model_.set(key, value);
  }

  void say() {
    const std::string text = content().canonical();
    require(session(input_.below(2)).transcript_append("user", text).ok());
    model_.say("user", text);
  }

  void verify() {
    const auto report = session().verify(true);
    require(report.ok());
    if (is_damaged_) return;
    require(report->get_bool("ok") || may_be_torn_);
    for (const Tree& problem : report->get("problems")->items()) {
      require(problem.get_string("reason").starts_with("torn tail"));
    }
  }

  // --- from outside
  // -------------------------------------------------------------------------------

  void restart() {
    processes_ = {};
    start(0);
  }

  void kill() {
    for (const auto& process : processes_) {
      if (process) process->own->kill();
    }
    restart();
  }

  // Changes a file while nobody has it open.
  void edit(std::string_view name, const std::function<void(std::string&)>& change) {
    processes_ = {};
    const std::string path = std::string(kFolder) + std::string(name);
    std::string bytes = disk_->read_file(path).value_or("");
    change(bytes);
    disk_->write_file(path, bytes);
    start(0);
  }

  void plant_index() {
    const std::string_view planted = input_.text();
    const size_t at = input_.byte();
    edit("index.bin", [&](std::string& bytes) {
      bytes.replace(std::min(at, bytes.size()), planted.size(), planted);
    });
  }

  void plant_lines() {
    edit("memory.jsonl",
         [&](std::string& bytes) { bytes += kNoLines[input_.below(kNoLines.size())]; });
    is_damaged_ = true;
  }

  void plant_metadata() {
    edit("metadata.json",
         [&](std::string& bytes) { bytes = kNoMetadata[input_.below(kNoMetadata.size())]; });
    is_damaged_ = true;
  }

  void write_by_hand() {
    const std::string name = id();
    const Tree value = content();
    if (undecided_.contains(name)) return;
    edit("memory.jsonl", [&](std::string& bytes) {
      if (!bytes.empty() && bytes.back() != '\n') return;  // it would be part of a torn line
      bytes += R"({ "timestamp":"2026-01-10T14:00:00Z","type":"note","id":")" + name +
               R"(","content":)" + value.canonical() + "}\n";
      if (model_.is_used(name)) {
        is_damaged_ = true;  // an id a second time
      } else {
        model_.add(name, value.canonical());
      }
    });
  }

  // --- the machine
  // --------------------------------------------------------------------------------

  void boot() {
    if (disk_ == nullptr) disk_ = std::make_unique<SimulatedFileSystem>();
    start(0);
  }
  void start(size_t process) {
    const auto id = static_cast<int64_t>(2001 + process);
    processes_[process] = std::make_unique<Process>(*disk_, id, clock_, random_);
  }
  Session& session(size_t process = 0) {
    if (processes_[process] == nullptr) start(process);
    return *processes_[process]->session;
  }

  void lose_power_within() {
    const uint64_t at = input_.below(32);
    power_choice_ = input_.number();
    uint64_t seen = 0;
    disk_->set_fault_hook([this, at, seen](const auto&) mutable {
      if (seen++ == at) lose_power();
      return std::nullopt;
    });
  }
  void lose_power() {
    crashed_ = disk_->crash(plan_of(*disk_, power_choice_));
    was_damaged_ = is_damaged_;
  }

  Shown shown() { return shown_by(session()); }
  [[nodiscard]] Shown expected() { return model_.shown(clock_.now_ms()); }

  InputBytes& input_;
  varve::test::ManualClock clock_;
  varve::test::SeededRandom random_;
  std::unique_ptr<SimulatedFileSystem> disk_;
  std::unique_ptr<SimulatedFileSystem> crashed_;  // as the power failed within an operation
  uint64_t power_choice_ = 0;
  std::array<std::unique_ptr<Process>, 2> processes_;
  StoreModel model_;
  std::set<std::string> undecided_;  // ids of which a lost compaction may have freed
  bool is_damaged_ = false;          // from outside
  bool was_damaged_ = false;         // when the power failed
  bool may_be_torn_ = false;         // by lost power: verify reports a tail, and nothing else
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  InputBytes input(data, size);
  Machine(input).run();
  return 0;
}
