// What a session and its store's catalog (store/catalog.h) have to do with each other.
//
// The catalog tells a query across sessions which of them may have what is asked for. It is made
// from what sessions tell of themselves at some moment (take_for_catalog), and whoever writes to a
// session afterwards says so first (CatalogNotes). Both happen under the session's lock, so that no
// entry comes between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace varve::session {

class Core;
class Writer;

// Who writes, as the catalog knows it.
struct ChangingSession {
  std::string_view session_id;
  std::string_view user_id;
  std::string_view agent_id;
  int64_t created_at_ms = 0;
  uint64_t catalogued_count = 0;  // of its storage: a note is of one of them
};

// The store's to implement.
class CatalogNotes {
 public:
  virtual ~CatalogNotes() = default;
  // Durable when this answers ok, whatever the session's durability: entries may survive a power
  // loss that nobody promised them to survive. Ok as well when there is no catalog.
  virtual Status note_change(const ChangingSession& session) = 0;
};

// What the catalog has of a session.
struct CatalogFacts {
  std::vector<std::string> tags;  // of all entries that are there, with the tags above them
  std::string user_id;
  std::string agent_id;
};

// From now on whoever writes to the session notes it first. kBusy at once when somebody writes, and
// when the log ends in what is no entry yet; kNotFound when the session was deleted.
Result<CatalogFacts> take_for_catalog(Core& core, Writer& writer);

}  // namespace varve::session
