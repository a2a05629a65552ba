// What processes do: each step is one call, and its answer is compared with the model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "query_spec.h"
#include "world.h"

namespace varve::simulation {

class Steps {
 public:
  explicit Steps(World& world);

  void create(SessionModel& model);  // by process 0
  void take();                       // one at random
  // Everything that a session shows.
  void look(size_t slot, SessionModel& model);

 private:
  // Begins the call, with the session open; nothing, and the call is over, when that failed.
  session::Session* begin(SessionModel& model, std::string text);
  void end();
  // Who writes to a session that another process has for itself is refused.
  void check_lock(const SessionModel& model, Outcome outcome);
  // What the call that has begun may have done when another one comes in between.
  void in_flight(SessionModel& model, std::vector<ModelEntry> entries);
  template <typename State, typename Change>
  void in_flight(SessionModel& model, Worlds<State>& worlds, const Change& change) {
    if (is_inside_ || model.settings.id != outer_session_) return;
    before_inside_ = [&worlds, change] { worlds.change(Outcome::kUncertain, false, change); };
  }
  void call_inside();
  void take_of(SessionModel& model, size_t choice);
  // Those that no other call comes in between.
  void take_alone(SessionModel& model);
  [[nodiscard]] int64_t process_id() { return world_.caller().id(); }
  Mishap random_mishap();

  // entry_steps.cpp
  ModelEntry random_entry(const SessionModel& model);
  ModelEntry* random_known(SessionModel& model);
  void add(SessionModel& model);
  void add_batch(SessionModel& model);
  void add_again(SessionModel& model);
  void remove(SessionModel& model);
  void remove_where(SessionModel& model);
  void put_vector(SessionModel& model);

  // read_steps.cpp
  void get(SessionModel& model);
  void query(SessionModel& model);
  void query_store(SessionModel& model);
  void query_vectors(SessionModel& model);
  void count(SessionModel& model);
  void export_all(SessionModel& model);
  void turn_pages(SessionModel& model);
  void check_line(const SessionModel& model, ModelEntry& entry, const std::string& line);
  // Whether the given entries are what the model shows of those that match; settles what was open.
  void check_shown(SessionModel& model, const QuerySpec& spec, const std::vector<std::string>& ids);

  // lifecycle_steps.cpp
  void drop(SessionModel& model);
  void make_again(SessionModel& model);
  void expect_stale(SessionModel& model);
  void back_up();
  void check_copy(SessionModel model);
  void restore(SessionModel& model);
  Outcome restore_once(const SessionModel& copy, Mishap mishap);
  void close_everywhere(const std::string& id);

  // store_steps.cpp
  void set_key(SessionModel& model);
  void get_key(SessionModel& model);
  void delete_key(SessionModel& model);
  void list_keys(SessionModel& model);
  void append_turn(SessionModel& model);
  void last_turns(SessionModel& model, uint64_t count);
  void set_title(SessionModel& model);
  void set_durability(SessionModel& model);
  void get_title(SessionModel& model);

  // upkeep_steps.cpp
  void sync(SessionModel& model);
  void sync_store(SessionModel& model);
  void compact(SessionModel& model, bool purge);
  void rebuild(SessionModel& model);
  void verify(SessionModel& model);
  void close(SessionModel& model);
  void close_store(SessionModel& model);

  World& world_;
  Dice& dice_;
  size_t slot_ = 0;
  Mishap mishap_;  // of the next call
  // Of the outer call.
  std::string outer_session_;
  std::vector<ModelEntry> in_flight_;
  std::function<void()> before_inside_;
  bool is_inside_ = false;
  bool was_held_ = false;         // by another process, when the call began
  bool was_interrupted_ = false;  // by a call of another process
  uint64_t next_number_ = 1;
  std::map<std::string, SessionModel> copies_;  // what the backup is known to hold
};

}  // namespace varve::simulation
