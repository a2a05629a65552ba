// Opens a store that varve_rivals has made, does one thing, ends. VARVE_OPENED_RIVALS is the
// function of the one engine that is linked.
//
//   varve_rivals_open_ENGINE NAME DIRECTORY get ID
//   varve_rivals_open_ENGINE NAME DIRECTORY text WORD...
//   varve_rivals_open_ENGINE NAME DIRECTORY memory ID WORD...
//       both, and prints by how many bytes this process' own memory has grown
//   varve_rivals_open_ENGINE NAME DIRECTORY add durable|buffered FIRST COUNT BODY_BYTES
//       writes a byte when it is ready, waits for one, adds, writes one when all are added
//
// Exits 0 when something was found or all was added, kCannot when the engine cannot, 1 otherwise.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "rival.h"

namespace varve::bench {

namespace {

using Arguments = std::vector<std::string>;  // behind the command

// Pages of files, which other processes and the kernel share, are not in it.
long own_memory_kb() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("RssAnon:")) return std::strtol(line.c_str() + 8, nullptr, 10);
  }
  give_up("/proc/self/status does not tell RssAnon");
}

int get_one(Rival& store, const Arguments& arguments) {
  return store.get(arguments.at(0)) > 0 ? 0 : 1;
}

int find_words(Rival& store, const Arguments& arguments) {
  std::string answer;
  if (!store.find_text({arguments, false}, &answer)) return kCannot;
  return answer.empty() ? 1 : 0;
}

int tell_memory(Rival& store, const std::string& directory, const Arguments& arguments) {
  const long before_kb = own_memory_kb();
  store.open(directory, false);
  std::string answer;
  const bool found = store.get(arguments.at(0)) > 0;
  store.find_text({{arguments.begin() + 1, arguments.end()}, false}, &answer);
  std::printf("%ld\n", (own_memory_kb() - before_kb) * 1024);
  std::fflush(stdout);
  return found ? 0 : 1;
}

void tell_and_wait() {
  char byte = 'r';
  if (write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1) {
    give_up("nobody waits for what is added here");
  }
}

int add_all(Rival& store, const std::string& directory, const Arguments& arguments) {
  const auto number = [&](size_t at) {
    return std::strtoull(arguments.at(at).c_str(), nullptr, 10);
  };
  const auto entries = Workload(number(3)).entries(number(1), number(2));
  store.open(directory, arguments.at(0) == "durable");
  tell_and_wait();
  for (const auto& entry : entries) store.add(entry);
  tell_and_wait();
  store.close();
  return 0;
}

int run(Rival& store, const std::string& directory, const std::string& command,
        const Arguments& arguments) {
  if (command == "memory") return tell_memory(store, directory, arguments);
  if (command == "add") return add_all(store, directory, arguments);
  store.open(directory, false);
  return command == "get" ? get_one(store, arguments) : find_words(store, arguments);
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  using namespace varve::bench;
  if (argc < 5) give_up("NAME DIRECTORY COMMAND, as the source says");
  for (const auto& rival : VARVE_OPENED_RIVALS()) {
    if (rival.name != argv[1]) continue;
    auto store = rival.make();
    // As a process that is done or killed: closing, which may tidy up, is not what is waited for.
    _exit(run(*store, argv[2], argv[3], {argv + 4, argv + argc}));
  }
  give_up(std::string("no engine ") + argv[1]);
}
