// Rival: what a user would take instead, behind one small interface, each used as its own
// documentation advises. The same work for all: an entry goes in so that it can be found again by
// id, type, tag and time; it comes back by id.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workload.h"

namespace varve::bench {

class Rival {
 public:
  virtual ~Rival() = default;

  // Opens (and creates) a store in an empty or existing directory.
  // durable: an answered add survives power loss.
  virtual void open(const std::string& directory, bool durable) = 0;
  virtual void add(const WorkloadEntry& entry) = 0;
  // All in one step, as cheaply as it can: for loading.
  virtual void add_all(const std::vector<WorkloadEntry>& entries) = 0;
  virtual size_t get(const std::string& id) = 0;  // [bytes] of the entry
  virtual void rebuild() = 0;                     // all indexes, from the entries
  virtual void close() = 0;
};

struct RivalEntry {
  std::string name;
  std::string version;
  std::function<std::unique_ptr<Rival>()> make;
};

RivalEntry varve_rival();
RivalEntry sqlite_rival();
RivalEntry lmdb_rival();

// Ends the program with a message: a benchmark has no use for a failure.
[[noreturn]] void give_up(const std::string& message);

}  // namespace varve::bench
