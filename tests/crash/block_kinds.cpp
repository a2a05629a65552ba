// What a campaign runs on a real file system.
#include <algorithm>
#include <cstdlib>

#include "block_kinds.h"

namespace varve::crash {

size_t block_share(size_t count) {
  const char* text = std::getenv("VARVE_BLOCK_SCALE");
  const size_t percent = text == nullptr ? 100 : std::strtoul(text, nullptr, 10);
  return std::max<size_t>(1, count * percent / 100);
}

namespace {

// A new store, and everything that changes what the disk holds.
void fill(Program& agent) {
  agent.open_store();
  agent.create("s");
  agent.add("s", "a1");
  agent.add("s", "a2", 9000);
  agent.add_batch("s", {"b1", "b2", "b3"}, 700);
  agent.remove("s", "a1");
  agent.update("s", "first");
  agent.sync("s");
  agent.create("t");
  agent.add("t", "x1", 300);
  agent.put_vector("s", "b1");
}

void reopen_and_go_on(Program& agent) {
  agent.close("s");
  agent.open("s");
  agent.add("s", "a3", 5000);
  agent.rebuild("s");
  agent.close_store();
  agent.open_store();
  agent.open("s");
  agent.open("t");
  agent.add("t", "x2");
  agent.remove("s", "b2");
  agent.put_vector("s", "b1");
}

void compact_purge_and_drop(Program& agent) {
  agent.compact("s");
  agent.add("s", "a4");
  agent.update("s", "second");
  agent.remove("s", "a3");
  agent.purge("s");
  agent.add_batch("s", {"c1", "c2"}, 2500);
  agent.remove("s", "c1");
  agent.compact("s");
  agent.add("s", "a5");
  agent.drop("t");
  agent.create("t");
  agent.add("t", "z1");
  agent.add("s", "a6", 100);
}

}  // namespace

void change_everything(Program& agent) {
  fill(agent);
  reopen_and_go_on(agent);
  compact_purge_and_drop(agent);
}

}  // namespace varve::crash
