// Opens a store that varve_rivals has filled, asks one thing, ends. VARVE_OPENED_RIVALS is the
// function of the one engine that is linked.
//
//   varve_rivals_open_ENGINE NAME DIRECTORY get ID
//   varve_rivals_open_ENGINE NAME DIRECTORY text WORD...
//
// Exits 0 when something was found, kCannot when the engine cannot, 1 otherwise.
#include <unistd.h>

#include "rival.h"

int main(int argc, char** argv) {
  using namespace varve::bench;
  if (argc < 5) give_up("NAME DIRECTORY get ID, or NAME DIRECTORY text WORD...");
  for (const auto& rival : VARVE_OPENED_RIVALS()) {
    if (rival.name != argv[1]) continue;
    auto store = rival.make();
    store->open(argv[2], false);
    std::string answer;
    if (std::string(argv[3]) == "get") {
      _exit(store->get(argv[4]) > 0 ? 0 : 1);
    }
    if (!store->find_text({{argv + 4, argv + argc}, false}, &answer)) _exit(kCannot);
    // As a process that is done or killed: closing, which may tidy up, is not what is waited for.
    _exit(answer.empty() ? 1 : 0);
  }
  give_up(std::string("no engine ") + argv[1]);
}
