// What connects a session with its store's catalog (store/catalog.h).
//
// The catalog tells a query across sessions which sessions may have what is asked for. It is made
// from what each session says of itself at some moment (take_for_catalog). Whoever writes to the
// session afterwards notes that first (CatalogNotes). Both happen under the session's lock, so no
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

// The session that is written to, as the catalog knows it.
struct ChangingSession {
  std::string_view session_id;
  std::string_view user_id;
  std::string_view agent_id;
  int64_t created_at_ms = 0;
  uint64_t catalogued_count = 0;  // of its storage; a note is valid for one count
};

// Implemented by the store.
class CatalogNotes {
 public:
  virtual ~CatalogNotes() = default;
  // Durable when this answers ok, whatever the session's durability: an entry may survive a power
  // loss although nobody promised it. Also ok when there is no catalog.
  virtual Status note_change(const ChangingSession& session) = 0;
};

// What the catalog keeps of a session.
struct CatalogFacts {
  std::vector<std::string> tags;  // of all entries in the session, with the tags above them
  std::string user_id;
  std::string agent_id;
};

// From now on, whoever writes to the session notes it first. kBusy at once when somebody writes or
// the log ends in an incomplete entry; kNotFound when the session was deleted.
Result<CatalogFacts> take_for_catalog(Core& core, Writer& writer);

}  // namespace varve::session
