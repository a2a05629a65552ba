// Processes that are killed before each of their operations: those that live go on, are answered,
// and keep what they were answered.
#include <gtest/gtest.h>

#include "crash_rig.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

using Process = CrashRig::Process;
using Workload = void (*)(CrashRig&);

// Process 2001 dies before its k-th operation, for every k; 2002 goes on and is answered. Nothing
// that the dead left half done may take the answers of the living with it.
void kill_everywhere(Workload first, void (*second)(Process&)) {
  size_t state_count = 0;
  uint64_t kill_at = 1;
  for (bool was_killed = true; was_killed; ++kill_at) {
    CrashRig rig;
    rig.kill_before(2001, kill_at);
    first(rig);
    was_killed = rig.bury();
    Process survivor = rig.process(2002);
    second(survivor);
    EXPECT_EQ(survivor->failures(), "");
    rig.look(120);
    state_count += rig.state_count();
    ASSERT_EQ(rig.findings().count(), 0U)
        << "killed before operation " << kill_at << ": " << rig.findings().text();
  }
  EXPECT_GT(kill_at, 10U);
  test::counted("states", state_count);
  test::counted("simulated kills", kill_at - 1);
}

TEST(CrashStatesOfKilled, MakerOfTheStore) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process agent = rig.process(2001);
        agent->open_store();
        agent->create("s");
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->create("t");
        survivor->add("t", "z1");
      });
}

TEST(CrashStatesOfKilled, MakerOfTheSession) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process agent = rig.process(2001);
        agent->open_store();
        agent->create("s");
        agent->add("s", "a1");
      },
      [](Process& survivor) {
        survivor->open_store();
        const bool made = survivor->try_open("s");
        if (!made) survivor->create("s");
        survivor->add("s", "z1");
      });
}

// A relaxed delete by a process that is gone: whoever syncs the session makes it durable too.
TEST(CrashStatesOfKilled, RelaxedWriterBeforeASync) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process other = rig.process(2003);
        other->open_store();
        other->create("s", "os");
        other->add("s", "a1");
        other->add("s", "a2");
        other->sync("s");
        Process agent = rig.process(2001);
        agent->open_store(R"({"durability":"os"})");
        agent->open("s");
        agent->add("s", "b1");
        agent->remove("s", "a1");
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->open("s");
        survivor->sync("s");
      });
}

// Whoever opens the store tidies up what dead makers left behind, and leaves the living alone.
TEST(CrashStatesOfKilled, TidyingWhileASessionIsMade) {
  uint64_t number = 1;
  for (bool happened = true; happened; ++number) {
    happened = false;
    CrashRig rig;
    uint64_t seen = 0;
    rig.disk().set_fault_hook([&](const io::OperationInfo& operation) {
      if (operation.process_id == 2001 && ++seen == number) {
        happened = true;
        Process other = rig.process(2002);
        other->open_store();
      }
      return std::optional<io::Fault>();
    });
    Process maker = rig.process(2001);
    maker->open_store();
    maker->create("s");
    if (maker->find("s") == nullptr) {
      EXPECT_EQ(maker->answers().back().status.code(), Code::kBusy) << maker->failures();
      maker->create("s");
    }
    maker->add("s", "a1");
    rig.disk().set_fault_hook({});
    EXPECT_EQ(maker->answers().back().status.code(), Code::kOk) << maker->failures();
    rig.look(100);
    ASSERT_EQ(rig.findings().count(), 0U)
        << "tidied before operation " << number << ": " << rig.findings().text();
  }
  EXPECT_GT(number, 20U);
}

TEST(CrashStatesOfKilled, Writer) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process other = rig.process(2003);
        other->open_store();
        other->create("s");
        other->add_batch("s", {"a1", "a2", "a3"});
        Process agent = rig.process(2001);
        agent->open_store();
        agent->open("s");
        agent->add_batch("s", {"b1", "b2"});
        agent->remove("s", "a1");
        agent->update("s", "title");
        agent->close_store();
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->open("s");
        survivor->add("s", "z1");
        survivor->remove("s", "a2");
        survivor->update("s", "last title");
      });
}

TEST(CrashStatesOfKilled, Compactor) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process other = rig.process(2003);
        other->open_store();
        other->create("s");
        other->add_batch("s", {"a1", "a2", "a3"});
        other->sync("s");
        Process agent = rig.process(2001);
        agent->open_store();
        agent->open("s");
        agent->remove("s", "a1");
        agent->compact("s");
        agent->add("s", "b1");
        agent->close_store();
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->open("s");
        survivor->add("s", "z1");
        survivor->remove("s", "a2");
        survivor->compact("s");
      });
}

// A purge that was killed promises nothing; the next one keeps its promise.
TEST(CrashStatesOfKilled, Purger) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process other = rig.process(2003);
        other->open_store();
        other->create("s");
        other->add("s", "a1");
        other->add("s", "a2");
        other->sync("s");
        other->remove("s", "a1");
        Process agent = rig.process(2001);
        agent->open_store();
        agent->open("s");
        agent->purge("s");
        agent->close_store();
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->open("s");
        survivor->purge("s");
        survivor->add("s", "z1");
      });
}

TEST(CrashStatesOfKilled, Migrator) {
  kill_everywhere(
      [](CrashRig& rig) {
        {
          Process maker = rig.process(2003);
          maker->open_store();
          maker->create("s");
          for (const char* id : {"a1", "a2", "a3"}) maker->add("s", id);
          maker->close_store();
        }
        make_version_0(rig.disk(), "s", {"a1", "a2", "a3"});
        Process agent = rig.process(2001);
        agent->open_store();
        agent->open("s");
        agent->remove("s", "a1");
        agent->migrate("s");
        agent->close_store();
      },
      [](Process& survivor) {
        survivor->open_store();
        survivor->open("s");
        survivor->migrate("s");
        survivor->add("s", "z1");
        survivor->purge("s");
      });
}

TEST(CrashStatesOfKilled, WriterWithAnotherOneOpen) {
  kill_everywhere(
      [](CrashRig& rig) {
        Process agent = rig.process(2001);
        Process other = rig.process(2003);
        agent->open_store();
        agent->create("s");
        agent->add("s", "a1");
        other->open_store();
        if (!other->try_open("s")) return;
        other->add("s", "c1");
        agent->remove("s", "a1");
        agent->add("s", "a2");
        if (other->failures().empty()) other->remove("s", "c1");
      },
      [](Process& survivor) {
        survivor->open_store();
        if (!survivor->try_open("s")) survivor->create("s");
        survivor->add("s", "z1");
      });
}

}  // namespace
}  // namespace varve::crash
