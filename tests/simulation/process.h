// A simulated process: its own view of the disk, its own randomness, its store and its sessions.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "environment.h"
#include "io/simulated.h"
#include "ledger.h"
#include "sabotage.h"
#include "store/store.h"
#include "virtual_clock.h"

namespace varve::simulation {

class SimulatedProcess {
 public:
  SimulatedProcess(const io::SimulatedFileSystem& disk, int64_t process_id, uint64_t seed,
                   VirtualClock& clock, crash::Sabotage defect, bool is_exclusive = false);
  ~SimulatedProcess();
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;

  [[nodiscard]] int64_t id() const { return id_; }
  [[nodiscard]] bool is_alive() const { return is_alive_; }
  // What is still held answers, and does nothing. In the middle of a call, too.
  void die();

  Status open_store(const std::string& config, std::string_view root = crash::kRoot);
  [[nodiscard]] store::Store* store() { return store_.get(); }
  // Nothing when the store is not open.
  Status create(const std::string& options, const std::string& session);
  Status open(const std::string& session);
  [[nodiscard]] session::Session* find(const std::string& session);
  // Whether it keeps others from writing to this session.
  [[nodiscard]] bool holds(const std::string& session) const;
  // Saves what there is to save.
  void close(const std::string& session);
  void close_store();

  // Sessions whose handle met a failure of the disk: they may refuse to write.
  std::set<std::string> wounded;

 private:
  int64_t id_;
  bool is_alive_ = true;
  const bool is_exclusive_;
  std::unique_ptr<io::SimulatedFileSystem> own_;
  crash::SabotagedFileSystem file_system_;
  crash::TestRandom random_;
  store::Store::Environment environment_;
  std::shared_ptr<store::Store> store_;
  std::map<std::string, std::shared_ptr<session::Session>> sessions_;
};

}  // namespace varve::simulation
