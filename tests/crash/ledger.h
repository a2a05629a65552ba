// What a program was promised by the answers it got, and whether a store still keeps it.
//
// The invariants, by the names that violations carry:
//   ACK      what was answered with success is there
//   NOGHOST  nothing is there that was never submitted, or that was answered with an error
//   NORES    an entry whose delete was answered with success never comes back
//   CANARY   no word of an entry that was purged is in any file, and no number of a vector that
//            went before a purge
//   BATCH    a batch is there as a whole or not at all
//   ORDER    entries of one session stand in the order they were submitted
//   LIST     a session that opens is listed
//   OPEN     a store and its sessions open
//   ALARM    a plain power loss is not reported as damage
//   IDEMP    opening twice gives what opening once gave
//   TIDY     no temporary file of a session outlives the next writer
//   APPEND   a recovered session takes new entries, and keeps them through the next power loss
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/simulated.h"
#include "store/store.h"

namespace varve::crash {

enum class Promise : uint8_t {
  kAsked,    // no answer yet: it may be there or not
  kGiven,    // answered with success
  kRefused,  // answered with an error: it must not be there
  kUnknown,  // answered with an error that says that the outcome is unknown
};

struct EntryPromise {
  std::string content;
  Promise added = Promise::kAsked;          // through a power loss
  Promise added_visibly = Promise::kAsked;  // through the death of the process
  std::optional<Promise> removed;           // nothing: nobody asked for it
  bool purged = false;                      // a purge after its removal was answered with success
  // Of its vectors, by number, 0 being none: all that were given, which of them it may have, and
  // which of them no file may have.
  std::vector<uint32_t> given_vectors{0};
  std::vector<uint32_t> vectors{0};
  std::vector<uint32_t> purged_vectors;
  size_t batch = 0;  // entries of one batch have one number; 0: none
};

struct SessionPromise {
  Promise created = Promise::kAsked;
  std::optional<Promise> dropped;
  std::vector<std::string> order;  // ids, as submitted
  std::map<std::string, EntryPromise> entries;
  std::vector<std::string> titles{""};  // which of these the metadata may say
};

using Ledger = std::map<std::string, SessionPromise>;

// Violations found: counted by invariant, the first few in words.
class Findings {
 public:
  void add(std::string_view invariant, std::string_view what);
  // Put before what is added from now on.
  void set_context(std::string context) { context_ = std::move(context); }
  [[nodiscard]] size_t count() const { return total_; }
  [[nodiscard]] size_t count(std::string_view invariant) const;
  [[nodiscard]] std::string text() const;

 private:
  std::string context_;
  size_t total_ = 0;
  std::map<std::string, size_t, std::less<>> by_invariant_;
  std::vector<std::string> first_;
};

// What became of the machine before we look.
enum class Loss : uint8_t { kPower, kProcess };

struct Demands {
  Loss loss = Loss::kPower;
  bool no_alarm = true;  // ALARM is asked for
};

inline constexpr std::string_view kRoot = "store";

// The text that is submitted as the entry `id` with this content.
std::string entry_text(std::string_view id, std::string_view content);

// A word that is in the content of the entry `id` and nowhere else, folded and stemmed; and what is
// searched for: without its beginning, which index.bin may write once for several words.
std::string word_of(std::string_view id);
std::string canary_of(std::string_view id);
// The files that hold it, in any case.
std::vector<std::string> files_with_canary(const io::SimulatedFileSystem& disk,
                                           std::string_view id);

// Four numbers that stand for nothing else.
std::vector<float> vector_of(std::string_view id, uint32_t number);
// The vector that an entry has, of those up to `number_max`; 0: none.
Result<uint32_t> vector_shown(session::Session& session, const std::string& id,
                              uint32_t number_max);

// What a session shows: ids and contents, in order.
struct Shown {
  std::vector<std::pair<std::string, std::string>> entries;
  [[nodiscard]] const std::string* content(std::string_view id) const;
  friend bool operator==(const Shown&, const Shown&) = default;
};
Result<Shown> shown_by(session::Session& session);

// Compares one session with what was promised about it.
void check_session(session::Session& session, const std::string& id, const SessionPromise& promise,
                   const Demands& demands, Findings& findings);

// Where a store lies after a restart, and what a check asks of that place besides.
struct Place {
  io::FileSystem& file_system;
  // Of all files that are there, the bytes by their paths.
  std::function<std::map<std::string, std::string>()> files;
  // The place after one more restart; what it gives lives until this object goes.
  std::function<io::FileSystem&()> restart;
};

// Opens the store as after a restart and checks all invariants, the last three by reopening,
// adding, and restarting once more.
void check_place(const Place& place, const Ledger& ledger, const Demands& demands,
                 Findings& findings);

// The same for a simulated disk, whose restarts are power losses.
void check_disk(io::SimulatedFileSystem& disk, const Ledger& ledger, const Demands& demands,
                Findings& findings);

}  // namespace varve::crash
