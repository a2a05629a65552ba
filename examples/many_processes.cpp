// Four processes add to one session at the same time; every entry is there exactly once.
//
//   many_processes [DIRECTORY]
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <string_view>
#include <varve/varve.hpp>

namespace {

constexpr int kProcesses = 4;
constexpr int kEntries = 250;

// Each process opens the store for itself: handles do not survive a fork.
void work(std::string_view directory, std::string_view session_id, int process) {
  const varve::Store store(directory, R"({"durability":"interval"})");
  const varve::Session session = store.open_session(session_id);
  const std::string number = std::to_string(process);
  for (int step = 0; step < kEntries; step++) {
    session.add(R"({"type":"observation","content":{"process":)" + number + R"(,"step":)" +
                std::to_string(step) + "}}");
  }
}

// Whether the work of all of them was done.
bool all_ended_well() {
  bool well = true;
  for (int process = 0; process < kProcesses; process++) {
    int status = -1;
    well = wait(&status) > 0 && status == 0 && well;
  }
  return well;
}

void tell(const varve::Session& session) {
  for (int process = 0; process < kProcesses; process++) {
    const std::string number = std::to_string(process);
    std::cout << "process " << number << ": "
              << session.count(R"({"content":{"process":)" + number + "}}") << " entries\n";
  }
  std::cout << session.verify() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view directory = argc > 1 ? argv[1] : "memory";
  try {
    const std::string id = varve::Store(directory).create_session().id();
    for (int process = 0; process < kProcesses; process++) {
      if (fork() == 0) {
        work(directory, id, process);
        return 0;
      }
    }
    const bool done = all_ended_well();
    const varve::Store store(directory);
    tell(store.open_session(id));
    return done ? 0 : 1;
  } catch (const varve::Error& error) {
    std::cerr << error.name() << ": " << error.what() << ' ' << error.details() << '\n';
    return 1;
  }
}
