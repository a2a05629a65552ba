// What one session must say: entries, keys, transcript and title, kept without anything of the
// library's.
//
// A fact is known, or it may be so until somebody looks: an answer that shows it settles it. What
// nobody was promised to survive a power loss is open again after one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worlds.h"

namespace varve::simulation {

enum class Truth : uint8_t { kNo, kMaybe, kYes };

struct Fact {
  Truth now = Truth::kNo;
  bool is_durable = false;
  int64_t process_id = 0;  // who wrote it

  void set(Outcome outcome, bool durable, int64_t process);
  void lose_power();
};

struct ModelEntry {
  std::string id;
  std::string type;
  std::vector<std::string> words;  // the message
  int64_t number = 0;              // beside the message
  std::vector<std::string> tags;
  double importance = 0.5;
  int64_t timestamp_ms = 0;
  int64_t expires_ms = std::numeric_limits<int64_t>::max();
  uint64_t position = 0;  // in the log
  uint64_t batch = 0;     // entries with one number are there together or not at all; 0: none
  Fact added;
  Fact removed;
  Fact vector;  // whether it has one
  // The call in which another one is made puts one, or that other one does.
  bool is_vector_open = false;
  std::string line;  // as it was first seen
  // It may be seen as it is and as it was: the call in which another one is made changes it, or
  // that other one has.
  bool in_flight = false;
  // Of a log that nothing was promised about when the power failed: what index.bin shows of it, and
  // the log, need not be the same until the log is written anew.
  bool is_fragile = false;
  bool changed_inside = false;

  [[nodiscard]] std::string text() const;  // to be submitted
};

struct SessionSettings {
  std::string id;
  std::string durability = "commit";
  uint64_t kv_cap = 200;
  uint64_t transcript_cap = 500;
  bool is_limited = false;  // in size
  bool salvages = false;    // what is whole of a batch that ends too early

  [[nodiscard]] bool commits() const { return durability == "commit"; }
  [[nodiscard]] std::string create_options() const;
};

// What a step inside another one's call changed.
struct Inside {
  bool keys = false;
  bool transcript = false;
  bool title = false;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

class SessionModel {
 public:
  explicit SessionModel(SessionSettings session_settings);

  [[nodiscard]] Truth shown(const ModelEntry& entry, int64_t now_ms) const;
  // Somebody looked for an entry of which it was not known. Nothing else is changed.
  void observe(ModelEntry& entry, bool is_seen);

  void note_added(std::vector<ModelEntry> added, Outcome outcome, int64_t process_id);
  // Its entry is there, and was made durable first.
  void note_vector(ModelEntry& entry, Outcome outcome, int64_t process_id);
  // Whether a query by a vector finds it.
  [[nodiscard]] Truth shown_by_vector(const ModelEntry& entry, int64_t now_ms) const;
  void note_removed(ModelEntry& entry, Outcome outcome, int64_t process_id);
  // The same where nobody can tell whether the entry was there.
  void note_removed_if_there(ModelEntry& entry, Outcome outcome, int64_t process_id);
  // The log without deleted and expired entries.
  void note_compacted(Outcome outcome, int64_t now_ms);
  // A call begins in the middle of another one, which may have done already what `in_flight` is.
  void begin_inside(std::vector<ModelEntry> in_flight);
  void end_inside();
  void end_call();  // of the outer one
  // Changes of keys, transcript or title; `inside`: which of these the other call changed, too.
  template <typename State, typename Change>
  void change(Worlds<State>& worlds, bool Inside::*which, Outcome outcome, bool durable,
              const Change& change) {
    if (is_inside_ && outcome != Outcome::kRefused) inside.*which = true;
    // In which order, nobody knows.
    const bool is_open = !is_inside_ && inside.*which && outcome == Outcome::kDone;
    worlds.change(is_open ? Outcome::kUncertain : outcome, durable, change);
  }
  // Of one process, or of all.
  void make_durable(std::optional<int64_t> process_id);
  // A handle of this process went without syncing: the next one does not know of what it wrote.
  void disown(int64_t process_id);
  void lose_power();
  // Whether a power loss may cut what was written: nobody was told that it is durable.
  [[nodiscard]] bool has_writes_to_lose() const;
  // Replaced by what `copy` was when it was backed up, but for what was deleted since.
  void restore(SessionModel copy);

  // Where two processes added at once, the log tells in which order.
  void learn_order(const std::vector<std::string>& ids);
  // In the order of the log.
  [[nodiscard]] std::vector<ModelEntry*> in_order();
  ModelEntry* find(const std::string& id);

  SessionSettings settings;
  std::map<std::string, ModelEntry> entries;
  Worlds<Pairs> keys;        // the one that was set longest ago first
  Worlds<Pairs> transcript;  // role and content
  Worlds<std::string> title;
  bool is_transcript_open = false;  // nothing is known of it but what somebody sees next
  Inside inside;
  // Entries from this position on may stand in another order: two processes added at once.
  std::optional<uint64_t> order_open_from;
  bool may_be_damaged = false;  // by a power loss that nothing was promised to survive

 private:
  uint64_t next_position_ = 1;
  uint64_t next_batch_ = 1;
  bool is_inside_ = false;
  struct Documents {
    Worlds<Pairs> keys;
    Worlds<Pairs> transcript;
    Worlds<std::string> title;
    bool is_transcript_open;
  };
  std::optional<Documents> before_inside_;
  std::optional<uint64_t> added_inside_from_;
};

}  // namespace varve::simulation
