// A program that uses a store and keeps book of what it was promised.
//
// Several of them may share one ledger: processes on one disk. A step that is not answered with
// success is no failure here; the ledger says what it means, and `answers` keeps the status.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "environment.h"
#include "ledger.h"

namespace varve::crash {

struct Answer {
  std::string step;  // "add a3"
  Status status;
};

class Program {
 public:
  // Both must outlive it. `changed` is called after every answer, when the ledger is up to date;
  // `asked` before the library is, when the ledger says what is about to be asked of it.
  Program(io::FileSystem& file_system, Ledger& ledger, std::function<void()> changed = {},
          std::function<void()> asked = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void open_store(std::string_view config = {});
  void close_store();
  void create(const std::string& session, std::string_view durability = {});
  void open(const std::string& session);
  bool try_open(const std::string& session);  // false, and no answer noted, when there is none
  void close(const std::string& session);
  void drop(const std::string& session);

  void add(const std::string& session, const std::string& id, size_t content_bytes = 60);
  void add_batch(const std::string& session, const std::vector<std::string>& ids,
                 size_t content_bytes = 60);
  void import_lines(const std::string& session, const std::vector<std::string>& ids);
  void remove(const std::string& session, const std::string& id);
  // Its next vector: the first, the second ...
  void put_vector(const std::string& session, const std::string& id);
  void update(const std::string& session, const std::string& title);
  void sync(const std::string& session);
  void repair(const std::string& session);
  void compact(const std::string& session);
  void purge(const std::string& session);
  void migrate(const std::string& session);
  void verify(const std::string& session);
  void rebuild(const std::string& session);
  void read(const std::string& session);  // export and a get of each entry

  [[nodiscard]] session::Session* find(const std::string& session);
  [[nodiscard]] const std::vector<Answer>& answers() const { return answers_; }
  // Of the answers, those that are not a success, in words.
  [[nodiscard]] std::string failures() const;

 private:
  void ask();
  void answer(std::string step, Status status);
  EntryPromise& submit(const std::string& session, const std::string& id, size_t content_bytes);
  void settle_added(const std::string& session, const std::vector<std::string>& ids,
                    const Status& status);
  [[nodiscard]] bool is_durable_at_once(const std::string& session) const;

  Ledger& ledger_;
  std::function<void()> changed_;
  std::function<void()> asked_;
  TestEnvironment environment_;
  store::Store::Environment view_;
  std::shared_ptr<store::Store> store_;
  std::map<std::string, std::shared_ptr<session::Session>> sessions_;
  std::map<std::string, std::string> durability_;  // of sessions made with another than "commit"
  std::vector<Answer> answers_;
};

// What a program writes into an entry; holds word_of(id), in the plural and with a capital.
std::string content_of(const std::string& id, size_t bytes);

// Makes the log of a session that nobody has open one of version 0 with these entries and nothing
// beside it but the metadata of that time.
void make_version_0(io::SimulatedFileSystem& disk, const std::string& session,
                    const std::vector<std::string>& ids);

// What an error says about whether what was asked for happened.
Promise promise_of(const Status& status);

}  // namespace varve::crash
