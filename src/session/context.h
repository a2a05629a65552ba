// What a session needs from its store. All of it must outlive the session.
#pragma once

#include "base/environment.h"
#include "io/file_system.h"
#include "session/counters.h"
#include "session/event_log.h"
#include "session/settings.h"
#include "session/size_quota.h"
#include "session/store_services.h"

namespace varve::session {

class AnalyzerPool;
class CatalogNotes;

struct Context {
  Clock* clock = nullptr;
  Random* random = nullptr;
  EventLog* events = nullptr;
  Counters* counters = nullptr;
  Settings settings;
  io::FileSystem* file_system = nullptr;  // for files outside the store: export, import
  SizeQuota* quota = nullptr;             // null: none
  CatalogNotes* catalog = nullptr;        // null: none
  AnalyzerPool* analyzers = nullptr;      // of these settings; null: the session has its own
  StoreServices* store = nullptr;         // null: it is on its own
};

}  // namespace varve::session
