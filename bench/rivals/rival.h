// Rival: what a user would take instead, behind one small interface, each used as its own
// documentation advises. The same work for all: an entry goes in so that it can be found again by
// id, type, tag and time, and by its words where the engine knows words; it comes back in full.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "give_up.h"
#include "queries.h"
#include "workload.h"

namespace varve::bench {

class Rival {
 public:
  virtual ~Rival() = default;

  // Before open(): no other process opens the store while this one has it.
  virtual void use_alone() {}
  // Opens (and creates) a store in an empty or existing directory.
  // durable: an answered add survives power loss; otherwise it survives the end of the process.
  virtual void open(const std::string& directory, bool durable) = 0;
  virtual void add(const WorkloadEntry& entry) = 0;
  // All or none, in one step.
  virtual void add_all(const std::vector<WorkloadEntry>& entries) = 0;
  // A part of a bulk load, as cheaply as the engine can; nobody reads or adds until the end of it.
  virtual void load(const std::vector<WorkloadEntry>& entries) { add_all(entries); }
  virtual void finish_load() {}
  virtual size_t get(const std::string& id) = 0;  // [bytes] of the entry
  // All entries with the tag, out of every index, in one step. How many they were.
  virtual size_t delete_tagged(const std::string& tag) = 0;
  // Frees the space of what is deleted. An engine that can do so only in a copy makes it in
  // `copy_directory`, which exists and is empty.
  virtual void compact(const std::string& copy_directory) = 0;
  virtual void close() = 0;

  // Who may add at the same time: threads with what one open() has opened; others that have opened
  // the same directory, be they processes or threads with an object each.
  [[nodiscard]] virtual bool adds_from_threads() const { return false; }
  [[nodiscard]] virtual bool adds_from_others() const { return false; }

  // What not every engine can. All indexes from the entries:
  [[nodiscard]] virtual bool can_rebuild() const { return false; }
  virtual void rebuild() {}
  // The find_* append the entries found to `answer`, best first, in full. False: it cannot.
  virtual bool find_tagged(const TaggedQuery&, std::string* /*answer*/) { return false; }
  virtual bool find_text(const TextQuery&, std::string* /*answer*/) { return false; }
  virtual bool find_ranked(const RankedQuery&, std::string* /*answer*/) { return false; }
  // What a model is given for a question: kContextMatches best matches of any of its words and
  // kContextNewest newest entries, read in full. varve also ranks them, counts their tokens and
  // puts the text together.
  virtual bool build_context(const Question&, std::string* /*answer*/) { return false; }
};

constexpr int kCannot = 3;  // exit status of an opener: not this engine

struct RivalEntry {
  std::string name;
  std::string version;
  std::string opener;  // the program that opens this engine and links no other
  std::function<std::unique_ptr<Rival>()> make;
};

// One source file each.
std::vector<RivalEntry> varve_rivals();
std::vector<RivalEntry> sqlite_rivals();
std::vector<RivalEntry> lmdb_rivals();
std::vector<RivalEntry> leveldb_rivals();
std::vector<RivalEntry> rocksdb_rivals();
std::vector<RivalEntry> xapian_rivals();

// What an engine that does not read JSON is given to index as text: varve indexes the same.
std::string indexed_text(const WorkloadEntry& entry);

}  // namespace varve::bench
