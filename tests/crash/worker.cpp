// A process of the multi-process tests: uses the public ABI like any program would.
//
//   crash_worker add ROOT SESSION NAME FIRST LAST CONFIG   adds NAME-FIRST … NAME-LAST and writes
//   each
//                                                          id to standard output once it is
//                                                          answered
//   crash_worker read ROOT SESSION                         exports over and over until standard
//   input
//                                                          ends; checks every export
//   crash_worker hold FILE                                 takes the kernel's lock on FILE, says
//   so,
//                                                          and stops itself
//
// Exit code: 0, or 10 and the status of the call that failed, or 1 for a wrong answer.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <varve/varve.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kNul = VARVE_NUL_TERMINATED;
constexpr int kWrongAnswer = 1;

int fail(varve_status_t status, std::string_view what, varve_error_t* error) {
  std::fprintf(stderr, "%.*s: %s: %s\n", static_cast<int>(what.size()), what.data(),
               varve_status_name(status), varve_error_message(error));
  varve_error_free(error);
  return 10 + status;
}

bool say(const std::string& line) {
  const std::string text = line + "\n";
  return ::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// From 20 bytes to 4 KiB, so that lines meet the ends of pages in every way.
std::string entry_of(const std::string& id, size_t number) {
  const std::string content(20 + number * 37 % 200 + (number % 50 == 0 ? 4000 : 0), 'x');
  return R"({"id":")" + id + R"(","type":"finding","content":")" + content + R"("})";
}

class OpenSession {
 public:
  int open(const char* root, const char* session, const char* config) {
    varve_error_t* error = nullptr;
    varve_status_t status = varve_store_open(root, kNul, config, kNul, &store_, &error);
    if (status != VARVE_OK) return fail(status, "open the store", error);
    status = varve_session_open(store_, session, kNul, &session_, &error);
    return status == VARVE_OK ? 0 : fail(status, "open the session", error);
  }
  ~OpenSession() {
    varve_session_close(session_);
    varve_store_close(store_);
  }
  OpenSession() = default;
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  varve_session_t* get() { return session_; }

 private:
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

int add(const std::vector<const char*>& arguments) {
  const std::string name = arguments[2];
  const size_t first = std::strtoul(arguments[3], nullptr, 10);
  const size_t last = std::strtoul(arguments[4], nullptr, 10);
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], arguments[5])) return failed;
  for (size_t number = first; number <= last; ++number) {
    const std::string id = name + "-" + std::to_string(number);
    const std::string entry = entry_of(id, number);
    varve_error_t* error = nullptr;
    const varve_status_t status =
        varve_session_add(session.get(), entry.data(), entry.size(), nullptr, nullptr, &error);
    // The first one may have been added by the process before, which died before it could tell.
    const bool known = status == VARVE_ALREADY_EXISTS && number == first;
    if (status != VARVE_OK && !known) return fail(status, "add", error);
    varve_error_free(error);
    if (!say(id)) return kWrongAnswer;
  }
  return 0;
}

// One export: every line whole and right, the numbers of each writer from 1 without a gap, and
// nothing gone that was there before.
bool check_export(std::string_view text, std::map<std::string, size_t>* counts) {
  std::map<std::string, size_t> found;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t begin = line.find("\"id\":\"");
    if (!line.starts_with('{') || !line.ends_with('}') || begin == std::string_view::npos) {
      return false;
    }
    const std::string id(line.substr(begin + 6, line.find('"', begin + 6) - begin - 6));
    const size_t dash = id.rfind('-');
    if (dash == std::string::npos) return false;
    const size_t number = std::strtoul(id.c_str() + dash + 1, nullptr, 10);
    if (number != ++found[id.substr(0, dash)]) return false;
  }
  for (const auto& [name, count] : *counts) {
    if (found[name] < count) return false;
  }
  *counts = std::move(found);
  return true;
}

int read(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], "")) return failed;
  std::map<std::string, size_t> counts;
  size_t exports = 0;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  do {
    char* text = nullptr;
    size_t size = 0;
    varve_error_t* error = nullptr;
    const varve_status_t status =
        varve_session_export(session.get(), "jsonl", kNul, &text, &size, &error);
    if (status != VARVE_OK) return fail(status, "export", error);
    const bool right = check_export(std::string_view(text, size), &counts);
    varve_free(text);
    if (!right) {
      std::fprintf(stderr, "a wrong line was read\n");
      return kWrongAnswer;
    }
    exports += 1;
  } while (::poll(&input, 1, 20) == 0);
  return say(std::to_string(exports)) ? 0 : kWrongAnswer;
}

// As any program may: the lock is the kernel's, on the first byte of the file.
int hold(const std::vector<const char*>& arguments) {
  const int file = ::open(arguments[0], O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (file < 0 || ::fcntl(file, F_OFD_SETLKW, &lock) != 0) return kWrongAnswer;
  if (!say("held")) return kWrongAnswer;
  return ::raise(SIGSTOP) == 0 ? 0 : kWrongAnswer;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<const char*> arguments(values + (count > 2 ? 2 : count), values + count);
  const std::string_view command = count > 1 ? values[1] : "";
  if (command == "add" && arguments.size() == 6) return add(arguments);
  if (command == "read" && arguments.size() == 2) return read(arguments);
  if (command == "hold" && arguments.size() == 1) return hold(arguments);
  std::fprintf(stderr, "unknown command\n");
  return kWrongAnswer;
}
