// A store on disk that is made once and copied for each run of a sweep, with what is open in it,
// and where a call puts its answer.
#pragma once

#include <varve/varve.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace varve::crash {

inline constexpr size_t kNul = VARVE_NUL_TERMINATED;

// What a call of the ABI writes; freed with it.
struct Outs {
  char* text = nullptr;
  size_t len = 0;
  const char* borrowed = nullptr;
  uint64_t count = 0;
  double score = 0;
  varve_store_t* store = nullptr;
  varve_session_t* session = nullptr;
  varve_memory_t* memory = nullptr;
  varve_window_t* window = nullptr;
  varve_results_t* results = nullptr;
  varve_error_t* error = nullptr;

  Outs() = default;
  ~Outs();
  Outs(const Outs&) = delete;
  Outs& operator=(const Outs&) = delete;
};

// The session "s" has the entries a, b, c and e, of which c refers to a; of "gone" a tombstone; the
// key "k", two turns of transcript, and vectors of a and b. There are "t" with an entry, "old" of
// version 0, and "r", which is in the backup alone.
class Ground {
 public:
  // From a copy of the template; `config` is the store's.
  explicit Ground(const char* config);
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  void open();
  void close();
  // As open() and open(name), memory, window and results of a query besides.
  void open_all();
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  // A file of the session "s".
  [[nodiscard]] std::string session_file(const std::string& name) const {
    return path("store/sessions/s/" + name);
  }
  varve_session_t* open_session(const char* id);
  void open_memory();

  // Made beforehand: a call that is swept has no memory for them.
  struct Paths {
    std::string store;
    std::string fresh;  // nothing is there
    std::string copy;   // nor here
    std::string backup;
    std::string out;
    std::string in;
  };
  Paths paths;
  varve_store_t* store = nullptr;
  varve_session_t* session = nullptr;  // "s"
  varve_session_t* old = nullptr;
  varve_memory_t* memory = nullptr;
  varve_window_t* window = nullptr;
  varve_results_t* results = nullptr;
  varve_error_t* error = nullptr;

 private:
  const char* config_;
  std::string root_;
};

// What a call changes when it is answered with success, and only then.
struct Effect {
  std::set<std::string> adds;  // ids in "s"
  std::set<std::string> removes;
  // Not: some of it may be there when memory ended; when the disk or the system refused.
  bool is_whole = true;
  bool is_whole_on_disk = true;
  bool is_in_memory = false;  // gone when everything is closed
  // Whether what else it changes is there; nothing: there is nothing else.
  std::function<bool(Ground&)> is_done;

  [[nodiscard]] bool lasts() const {
    return !adds.empty() || !removes.empty() || (is_done && !is_in_memory);
  }
};

// One function of the ABI, called once.
struct SweptCall {
  const char* function = "";
  const char* variant = "";
  // Without a limit, before everything is opened.
  void (*prepare)(Ground&) = nullptr;
  varve_status_t (*run)(Ground&, Outs&) = nullptr;
  Effect effect;
  bool same_text = false;         // the answer is the same text each time
  bool is_without_files = false;  // asks nothing of the operating system
  bool leaves_out = false;        // is answered without what cannot be read

  SweptCall& named(const char* what) {
    variant = what;
    return *this;
  }
  SweptCall& after(void (*preparation)(Ground&)) {
    prepare = preparation;
    return *this;
  }
  SweptCall& that(Effect changes) {
    effect = std::move(changes);
    return *this;
  }
  SweptCall& without_files() {
    is_without_files = true;
    return *this;
  }
  SweptCall& leaving_out() {
    leaves_out = true;
    return *this;
  }
  SweptCall& always_the_same() {
    same_text = true;
    return *this;
  }
};

inline void PrintTo(const SweptCall& call, std::ostream* out) { *out << call.function; }

const std::vector<SweptCall>& swept_calls();
// Functions that need no memory at all.
const std::vector<SweptCall>& calls_without_memory();

// The text of an entry in the session "s", or nothing.
std::optional<std::string> entry_of(varve_session_t* session, const std::string& id);

}  // namespace varve::crash
