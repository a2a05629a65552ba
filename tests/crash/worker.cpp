// A process of the multi-process tests: uses the public ABI like any program would.
//
//   crash_worker add ROOT SESSION NAME FIRST LAST CONFIG
//       adds NAME-FIRST … NAME-LAST and writes each id to standard output once it is answered
//   crash_worker batch ROOT SESSION NAME FIRST LAST CONFIG
//       the same, in batches of eight from FIRST on
//   crash_worker churn ROOT SESSION NAME FIRST LAST CONFIG
//       the same, and deletes each odd one when the even one behind it is there; reads both
//   crash_worker read ROOT SESSION
//       exports over and over until standard input ends; checks every export
//   crash_worker survey ROOT SESSION
//       the same for what churn writes
//   crash_worker maintain ROOT SESSION CONFIG
//       compacts and purges over and over until standard input ends
//   crash_worker once ROOT SESSION OPERATION [DIRECTORY]
//       does one thing: compact, purge, migrate, or backup
//   crash_worker delete ROOT SESSION NAME FIRST LAST
//       deletes NAME-FIRST … NAME-LAST, those that are there; writes how many were
//   crash_worker look ROOT SESSION ID
//       reads the entry, writes "seen" and stops itself; then the entry must be gone, and adding
//       must work
//   crash_worker backup ROOT DIRECTORY
//       backs up over and over, and writes "done" each time it is answered
//   crash_worker talk ROOT SESSION NAME FIRST LAST CONFIG
//       as add, but says the number in the transcript and sets the id as a key
//   crash_worker listen ROOT SESSION
//       reads the transcript over and over until standard input ends; no turn is ever cut or gone
//   crash_worker hold FILE
//       takes the kernel's lock on FILE, says so, and stops itself
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

// From 20 bytes to 4 KiB, so that lines meet the ends of pages in every way. Odd ones say zebra.
std::string entry_of(const std::string& id, size_t number) {
  const std::string content(20 + number * 37 % 200 + (number % 50 == 0 ? 4000 : 0), 'x');
  return R"({"id":")" + id + R"(","type":"finding","content":")" +
         (number % 2 == 1 ? "zebra " : "horse ") + content + R"("})";
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

  [[nodiscard]] varve_session_t* get() const { return session_; }
  [[nodiscard]] varve_store_t* store() const { return store_; }

 private:
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

// What is `known` may have been done by the process before, which died before it could tell.
int add_one(varve_session_t* session, const std::string& id, size_t number, bool known) {
  const std::string entry = entry_of(id, number);
  varve_error_t* error = nullptr;
  const varve_status_t status =
      varve_session_add(session, entry.data(), entry.size(), nullptr, nullptr, &error);
  if (status != VARVE_OK && !(known && status == VARVE_ALREADY_EXISTS)) {
    return fail(status, "add", error);
  }
  varve_error_free(error);
  return 0;
}

int delete_one(varve_session_t* session, const std::string& id, bool known) {
  varve_error_t* error = nullptr;
  const varve_status_t status =
      varve_session_delete(session, id.data(), id.size(), nullptr, 0, &error);
  if (status != VARVE_OK && !(known && status == VARVE_NOT_FOUND)) {
    return fail(status, "delete", error);
  }
  varve_error_free(error);
  return 0;
}

int expect_get(varve_session_t* session, const std::string& id, varve_status_t expected) {
  char* text = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  const varve_status_t status =
      varve_session_get(session, id.data(), id.size(), &text, &size, &error);
  const bool right = text == nullptr ||
                     std::string_view(text, size).find('"' + id + '"') != std::string_view::npos;
  varve_free(text);
  if (status != expected) return fail(status, "get " + id, error);
  varve_error_free(error);
  return right ? 0 : kWrongAnswer;
}

constexpr size_t kBatchCount = 8;

// All of a batch or nothing of it: one that is `known` is there as a whole, or not yet.
int add_batch(varve_session_t* session, const std::vector<std::string>& ids, size_t first,
              bool known) {
  std::string lines;
  for (size_t i = 0; i < ids.size(); ++i) lines += entry_of(ids[i], first + i) + "\n";
  varve_error_t* error = nullptr;
  const varve_status_t status =
      varve_session_add_batch(session, lines.data(), lines.size(), nullptr, nullptr, &error);
  if (known && status == VARVE_ALREADY_EXISTS) {
    varve_error_free(error);
    for (const std::string& id : ids) {
      if (const int failed = expect_get(session, id, VARVE_OK)) return failed;
    }
    return 0;
  }
  return status == VARVE_OK ? 0 : fail(status, "add a batch", error);
}

int batch(const std::vector<const char*>& arguments) {
  const std::string name = arguments[2];
  const size_t first = std::strtoul(arguments[3], nullptr, 10);
  const size_t last = std::strtoul(arguments[4], nullptr, 10);
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], arguments[5])) return failed;
  for (size_t start = first; start <= last; start += kBatchCount) {
    std::vector<std::string> ids;
    std::string told;
    for (size_t number = start; number < start + kBatchCount && number <= last; ++number) {
      ids.push_back(name + "-" + std::to_string(number));
      told += (told.empty() ? "" : "\n") + ids.back();
    }
    if (const int failed = add_batch(session.get(), ids, start, start == first)) return failed;
    if (!say(told)) return kWrongAnswer;
  }
  return 0;
}

int add(const std::vector<const char*>& arguments, bool churns) {
  const std::string name = arguments[2];
  const size_t first = std::strtoul(arguments[3], nullptr, 10);
  const size_t last = std::strtoul(arguments[4], nullptr, 10);
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], arguments[5])) return failed;
  for (size_t number = first; number <= last; ++number) {
    const std::string id = name + "-" + std::to_string(number);
    const bool known = number == first;
    if (const int failed = add_one(session.get(), id, number, known)) return failed;
    if (churns && number % 2 == 0) {
      const std::string odd = name + "-" + std::to_string(number - 1);
      if (const int failed = delete_one(session.get(), odd, known)) return failed;
      if (const int failed = expect_get(session.get(), odd, VARVE_NOT_FOUND)) return failed;
    }
    if (churns) {
      if (const int failed = expect_get(session.get(), id, VARVE_OK)) return failed;
    }
    if (!say(id)) return kWrongAnswer;
  }
  return 0;
}

// Calls visit(name, number) for each line of an export; false when a line is not whole, or it is.
template <typename Visit>
bool for_each_id(std::string_view text, Visit visit) {
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
    if (!visit(id.substr(0, dash), std::strtoul(id.c_str() + dash + 1, nullptr, 10))) return false;
  }
  return true;
}

// The numbers of each writer from 1 without a gap, and nothing gone that was there before.
bool check_export(std::string_view text, std::map<std::string, size_t>* counts) {
  std::map<std::string, size_t> found;
  const bool right = for_each_id(
      text, [&](const std::string& name, size_t number) { return number == ++found[name]; });
  if (!right) return false;
  for (const auto& [name, count] : *counts) {
    if (found[name] < count) return false;
  }
  *counts = std::move(found);
  return true;
}

// Of each writer all even numbers up to the last one and no odd one, but perhaps the last or the
// one before it; and nothing even gone that was there before.
bool check_churned(std::string_view text, std::map<std::string, size_t>* evens) {
  struct Seen {
    size_t even = 0;
    size_t odd = 0;
  };
  std::map<std::string, Seen> found;
  const bool right = for_each_id(text, [&](const std::string& name, size_t number) {
    Seen& seen = found[name];
    if (number % 2 == 1) return seen.odd == 0 && (seen.odd = number) == seen.even + 1;
    const bool follows = number == seen.even + 2;
    seen.even = number;
    return follows && (seen.odd == 0 || seen.odd == number - 1);
  });
  if (!right) return false;
  for (const auto& [name, even] : *evens) {
    if (found[name].even < even) return false;
  }
  for (const auto& [name, seen] : found) (*evens)[name] = seen.even;
  return true;
}

using Check = bool(std::string_view text, std::map<std::string, size_t>* counts);

int read(const std::vector<const char*>& arguments, Check check) {
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
    const bool right = check(std::string_view(text, size), &counts);
    varve_free(text);
    if (!right) {
      std::fprintf(stderr, "a wrong line was read\n");
      return kWrongAnswer;
    }
    exports += 1;
  } while (::poll(&input, 1, 20) == 0);
  return say(std::to_string(exports)) ? 0 : kWrongAnswer;
}

int do_one(const OpenSession& open, std::string_view operation, const char* directory) {
  varve_error_t* error = nullptr;
  varve_status_t status = VARVE_INVALID_ARGUMENT;
  varve_session_t* session = open.get();
  if (operation == "compact") {
    status = varve_session_compact(session, nullptr, 0, nullptr, nullptr, &error);
  } else if (operation == "purge") {
    status = varve_session_purge(session, nullptr, 0, nullptr, nullptr, &error);
  } else if (operation == "migrate") {
    status = varve_session_migrate(session, nullptr, 0, nullptr, nullptr, &error);
  } else if (operation == "backup") {
    status =
        varve_store_backup(open.store(), directory, kNul, nullptr, 0, nullptr, nullptr, &error);
  }
  return status == VARVE_OK ? 0 : fail(status, operation, error);
}

int once(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], "")) return failed;
  return do_one(session, arguments[2], arguments.back());
}

int maintain(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], arguments[2])) return failed;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  size_t rounds = 0;
  do {
    if (const int failed = do_one(session, "compact", nullptr)) return failed;
    if (const int failed = do_one(session, "purge", nullptr)) return failed;
    rounds += 1;
  } while (::poll(&input, 1, 5) == 0);
  return say(std::to_string(rounds)) ? 0 : kWrongAnswer;
}

int delete_all(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], "")) return failed;
  const size_t last = std::strtoul(arguments[4], nullptr, 10);
  size_t count = 0;
  for (size_t number = std::strtoul(arguments[3], nullptr, 10); number <= last; ++number) {
    const std::string id = std::string(arguments[2]) + "-" + std::to_string(number);
    const varve_status_t status =
        varve_session_delete(session.get(), id.data(), id.size(), nullptr, 0, nullptr);
    if (status != VARVE_OK && status != VARVE_NOT_FOUND) return fail(status, "delete", nullptr);
    if (status == VARVE_OK) count += 1;
  }
  return say(std::to_string(count)) ? 0 : kWrongAnswer;
}

int look(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], "")) return failed;
  const std::string id = arguments[2];
  if (const int failed = expect_get(session.get(), id, VARVE_OK)) return failed;
  if (!say("seen") || ::raise(SIGSTOP) != 0) return kWrongAnswer;
  if (const int failed = expect_get(session.get(), id, VARVE_NOT_FOUND)) return failed;
  char* text = nullptr;
  size_t size = 0;
  varve_error_t* error = nullptr;
  const varve_status_t status =
      varve_session_export(session.get(), "jsonl", kNul, &text, &size, &error);
  if (status != VARVE_OK) return fail(status, "export", error);
  const bool is_there = std::string_view(text, size).find('"' + id + '"') != std::string_view::npos;
  varve_free(text);
  if (is_there) return kWrongAnswer;
  return add_one(session.get(), "after-2", 2, false);
}

int back_up(const std::vector<const char*>& arguments) {
  varve_store_t* store = nullptr;
  varve_error_t* error = nullptr;
  varve_status_t status = varve_store_open(arguments[0], kNul, nullptr, 0, &store, &error);
  if (status != VARVE_OK) return fail(status, "open the store", error);
  for (;;) {
    status = varve_store_backup(store, arguments[1], kNul, nullptr, 0, nullptr, nullptr, &error);
    if (status != VARVE_OK) return fail(status, "back up", error);
    if (!say("done")) return kWrongAnswer;
  }
}

int talk(const std::vector<const char*>& arguments) {
  const std::string name = arguments[2];
  const size_t last = std::strtoul(arguments[4], nullptr, 10);
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], arguments[5])) return failed;
  for (size_t number = std::strtoul(arguments[3], nullptr, 10); number <= last; ++number) {
    const std::string id = name + "-" + std::to_string(number);
    const std::string content =
        std::to_string(number) + "\n\n### user\n" + std::string(number * 37 % 5000, 'x') + "\nend";
    varve_error_t* error = nullptr;
    varve_status_t status = varve_transcript_append(session.get(), name.data(), name.size(),
                                                    content.data(), content.size(), &error);
    if (status != VARVE_OK) return fail(status, "append to the transcript", error);
    status = varve_kv_set(session.get(), id.data(), id.size(), "x", 1, &error);
    if (status != VARVE_OK) return fail(status, "set a key", error);
    if (!say(id)) return kWrongAnswer;
  }
  return 0;
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    count += 1;
  }
  return count;
}

int listen(const std::vector<const char*>& arguments) {
  OpenSession session;
  if (const int failed = session.open(arguments[0], arguments[1], "")) return failed;
  size_t turns = 0;
  size_t looks = 0;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  do {
    char* text = nullptr;
    size_t size = 0;
    varve_error_t* error = nullptr;
    const varve_status_t status =
        varve_transcript_last(session.get(), SIZE_MAX, &text, &size, &error);
    if (status != VARVE_OK) return fail(status, "read the transcript", error);
    const std::string_view said(text, size);
    const size_t count = count_of(said, "\"content\":\"");
    const bool right = count >= turns && count == count_of(said, "\\nend\",\"role\":");
    varve_free(text);
    if (!right) return kWrongAnswer;
    turns = count;
    looks += 1;
  } while (::poll(&input, 1, 5) == 0);
  return say(std::to_string(looks)) ? 0 : kWrongAnswer;
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
  const size_t given = arguments.size();
  if (command == "add" && given == 6) return add(arguments, false);
  if (command == "batch" && given == 6) return batch(arguments);
  if (command == "churn" && given == 6) return add(arguments, true);
  if (command == "read" && given == 2) return read(arguments, check_export);
  if (command == "survey" && given == 2) return read(arguments, check_churned);
  if (command == "maintain" && given == 3) return maintain(arguments);
  if (command == "once" && (given == 3 || given == 4)) return once(arguments);
  if (command == "delete" && given == 5) return delete_all(arguments);
  if (command == "look" && given == 3) return look(arguments);
  if (command == "backup" && given == 2) return back_up(arguments);
  if (command == "talk" && given == 6) return talk(arguments);
  if (command == "listen" && given == 2) return listen(arguments);
  if (command == "hold" && given == 1) return hold(arguments);
  std::fprintf(stderr, "unknown command\n");
  return kWrongAnswer;
}
