// The k-th call on files fails, once and from then on, under upkeep of a session: what is alive
// stays, what was deleted stays deleted, and the session works again. tests/crash/fault_sweep_test
// does the same to whole programs.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr size_t kLargeBytes = 600'000;  // two are more than a copy takes at once

struct UpkeepGround {
  UpkeepGround() {
    disk.make();
    const auto first = disk.open();
    EXPECT_TRUE(first->add(entry_text("a", "tea")).ok());
    EXPECT_TRUE(first->add(entry_text("dead")).ok());
    EXPECT_TRUE(first->add(entry_text("b", "coffee")).ok());
    EXPECT_TRUE(first
                    ->add(R"({"id":"old","type":"finding","content":"x","importance":0.04,)"
                          R"("timestamp":"2020-01-01T00:00:00Z"})")
                    .ok());
    EXPECT_TRUE(first->remove("dead", "told to").ok());
    const std::vector<float> vector = {1.0F, 0.0F};
    EXPECT_TRUE(first->put_vector("a", vector).ok());
    EXPECT_TRUE(first->put_vector("b", vector).ok());
  }
  void add_large() {
    const auto writer = disk.open();
    for (const std::string id : {"large_1", "large_2", "large_3"}) {
      EXPECT_TRUE(writer->add(entry_text(id, std::string(kLargeBytes, 'x'))).ok());
    }
    EXPECT_TRUE(writer->remove("large_2", "").ok());
  }
  void change(std::string_view name, const std::function<void(std::string&)>& to) {
    std::string text = disk.bytes(name);
    to(text);
    disk.write(name, text);
  }
  // A line between others that is no entry, one that was edited, and blank ones at the end.
  void damage() {
    change(log::kEntriesFile, [](std::string& text) {
      text.insert(text.find('\n') + 1, "no entry\n");
      text.replace(text.find("coffee"), 6, "barley");
      text += "\n\n";
    });
    disk.remove("index.bin");
  }
  void damage_tombstones() {
    change(log::kTombstonesFile,
           [](std::string& text) { text = "no tombstone\n" + text + "{\"to"; });
  }

  Host host;
  SessionDisk disk{host};
  std::shared_ptr<Session> session;
};

struct Upkeep {
  const char* name;
  void (*prepare)(UpkeepGround&);
  Status (*run)(UpkeepGround&);
  std::string ids;  // those that are alive afterwards, whatever happened
};
void PrintTo(const Upkeep& upkeep, std::ostream* out) { *out << upkeep.name; }

void as_it_was(UpkeepGround&) {}
Status compact_as(UpkeepGround& ground, const CompactionOptions& options) {
  return ground.session->compact(options).status();
}

const Upkeep kUpkeeps[] = {
    {"Open", as_it_was, [](UpkeepGround& ground) { return ground.disk.try_open().status(); },
     "a b old "},
    {"OpenWithoutIndex", [](UpkeepGround& ground) { ground.disk.remove("index.bin"); },
     [](UpkeepGround& ground) { return ground.disk.try_open().status(); }, "a b old "},
    {"Get", as_it_was, [](UpkeepGround& ground) { return ground.session->get("a").status(); },
     "a b old "},
    {"GetMany", as_it_was,
     [](UpkeepGround& ground) {
       Status last;
       for (int i = 0; i < 4 && last.ok(); ++i) last = ground.session->get("b").status();
       return last;
     },
     "a b old "},
    {"Query", as_it_was,
     [](UpkeepGround& ground) { return ground.session->query(R"({"text":"tea"})").status(); },
     "a b old "},
    {"Export", as_it_was,
     [](UpkeepGround& ground) { return exported_text(*ground.session, "jsonl").status(); },
     "a b old "},
    {"Compact", [](UpkeepGround& ground) { ground.damage(); },
     [](UpkeepGround& ground) { return compact_as(ground, {}); }, "a old "},
    {"CompactByIndex", as_it_was, [](UpkeepGround& ground) { return compact_as(ground, {}); },
     "a b old "},
    {"CompactMuch", [](UpkeepGround& ground) { ground.add_large(); },
     [](UpkeepGround& ground) { return compact_as(ground, {}); }, "a b large_1 large_3 old "},
    {"CompactOnlyVectors",
     [](UpkeepGround& ground) {
       const auto session = ground.disk.open();
       EXPECT_TRUE(session->compact({}).ok());
       EXPECT_TRUE(session->put_vector("a", std::vector<float>{0.0F, 1.0F}).ok());
     },
     [](UpkeepGround& ground) { return compact_as(ground, {}); }, "a b old "},
    {"CompactInADryRun", [](UpkeepGround& ground) { ground.damage(); },
     [](UpkeepGround& ground) {
       CompactionOptions options;
       options.dry_run = true;
       return compact_as(ground, options);
     },
     "a old "},
    {"Evict", as_it_was,
     [](UpkeepGround& ground) {
       CompactionOptions options;
       options.evict_below = 0.05;
       return compact_as(ground, options);
     },
     "a b "},
    {"Purge", [](UpkeepGround& ground) { ground.damage(); },
     [](UpkeepGround& ground) {
       CompactionOptions options;
       options.cause = CompactionCause::kPurge;
       return compact_as(ground, options);
     },
     "a old "},
    {"RepairInADryRun", [](UpkeepGround& ground) { ground.damage(); },
     [](UpkeepGround& ground) { return ground.session->repair(true, true).status(); }, "a old "},
    {"Repair",
     [](UpkeepGround& ground) {
       ground.damage();
       ground.damage_tombstones();
       ground.disk.write(log::kMetadataFile, "{");
     },
     [](UpkeepGround& ground) { return ground.session->repair(false).status(); }, "a old "},
    {"RepairAcceptingEdits",
     [](UpkeepGround& ground) {
       ground.add_large();
       ground.damage();
     },
     [](UpkeepGround& ground) { return ground.session->repair(false, true).status(); },
     "a large_1 large_3 old "},
    {"Rebuild", as_it_was,
     [](UpkeepGround& ground) { return ground.session->rebuild_index().status(); }, "a b old "},
    {"Update", [](UpkeepGround& ground) { ground.disk.write(log::kMetadataFile, "{"); },
     [](UpkeepGround& ground) { return ground.session->update(R"({"metadata":{"x":1}})"); },
     "a b old "},
    {"AddBehindTornTombstones", [](UpkeepGround& ground) { ground.damage_tombstones(); },
     [](UpkeepGround& ground) { return ground.session->add(entry_text("c")).status(); },
     "a b old "},
};

class SessionFaults : public testing::TestWithParam<Upkeep> {
 protected:
  // One run with one fault; false when the work ends before the fault comes.
  bool run(uint64_t number, bool sticky) {
    SCOPED_TRACE("call " + std::to_string(number) + (sticky ? " and later ones" : ""));
    UpkeepGround ground;
    GetParam().prepare(ground);
    ground.session = ground.disk.open();
    const io::FailNth fault(number, EIO, sticky);
    ground.disk.disk.set_fault_hook(fault);
    const Status answer = GetParam().run(ground);
    ground.disk.disk.set_fault_hook(nullptr);
    const bool happened = fault.matched() >= number;
    if (!happened) {
      EXPECT_TRUE(answer.ok()) << answer.message();
    } else if (!answer.ok()) {
      EXPECT_TRUE(answer.code() == Code::kIo || answer.code() == Code::kUnknown)
          << answer.message();
      EXPECT_EQ(answer.place().os_errno, EIO) << answer.message();
    }
    expect_what_is_alive(*ground.session, "in the same process");
    const auto lost = ground.disk.disk.crash();
    expect_what_is_alive(*ground.disk.open(lost.get()), "after a power loss");
    const auto next = ground.disk.disk.process(99);
    ground.session.reset();
    const auto session = ground.disk.open(next.get());
    expect_what_is_alive(*session, "in the next process");
    EXPECT_TRUE(session->add(entry_text("next")).ok());
    EXPECT_TRUE(session->get("next").ok());
    return happened;
  }

  static void expect_what_is_alive(Session& session, std::string_view where) {
    std::string ids;
    for (const std::string id : {"a", "b", "dead", "large_1", "large_2", "large_3", "old"}) {
      if (session.get(id).ok()) ids += id + " ";
    }
    const std::string& expected = GetParam().ids;
    // What an eviction or an accepted edit is to change may have been changed or not.
    const bool has_choice = ids.size() != expected.size() &&
                            (std::string_view(GetParam().name) == "Evict" ||
                             std::string_view(GetParam().name) == "RepairAcceptingEdits");
    if (has_choice) {
      for (const std::string id : {"a ", "large_1 ", "large_3 "}) {
        EXPECT_EQ(ids.find(id) != std::string::npos, expected.find(id) != std::string::npos);
      }
      EXPECT_EQ(ids.find("dead"), std::string::npos) << where;
    } else {
      EXPECT_EQ(ids, expected) << where;
    }
  }
};

TEST_P(SessionFaults, KeepWhatIsAliveAndNothingElse) {
  uint64_t count = 0;
  const bool is_slow = GetParam().ids.find("large") != std::string::npos;
  for (const bool sticky : {false, true}) {
    if (sticky && is_slow) continue;
    for (uint64_t number = 1; run(number, sticky); ++number) count += 1;
  }
  EXPECT_GT(count, 0u) << "no call on files was made";
}

INSTANTIATE_TEST_SUITE_P(All, SessionFaults, testing::ValuesIn(kUpkeeps),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::session
