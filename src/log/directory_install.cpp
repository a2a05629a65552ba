// Installs sessions with their contents: made under tmp/ and put in place in one step.
#include <utility>

#include "log/atomic_file.h"
#include "log/directory_engine.h"

namespace varve::log {

namespace {

// Writes what does not depend on the session that is replaced. No name is durable yet.
Status write_contents(io::Directory& directory, const SessionContents& contents) {
  VARVE_TRY(write_new_file(directory, kEntriesFile, {}, contents.entries));
  for (const auto& [name, produce] : contents.documents) {
    VARVE_TRY(write_new_file(directory, name, {}, produce));
  }
  return {};
}

Status write_rest(io::Directory& directory, const SessionContents& contents) {
  if (contents.metadata) {
    VARVE_TRY(write_new_file(directory, kMetadataFile, {}, contents.metadata));
  }
  VARVE_TRY(write_new_file(directory, kTombstonesFile, {}, contents.tombstones));
  return directory.sync();
}

}  // namespace

// The names are exchanged already; exchanges them back when that cannot be made durable.
Status DirectoryEngine::sync_exchange(const std::string& temporary, const std::string& session_id,
                                      Staged* staged) {
  *staged = Staged::kOld;
  Status synced = sessions_->sync();
  if (synced.ok()) return {};
  if (temporary_->exchange(temporary, *sessions_, session_id).ok()) {
    *staged = sessions_->sync().ok() ? Staged::kNew : Staged::kUnknown;
  }
  return synced;
}

// For file systems that cannot swap two directories.
Status DirectoryEngine::replace_by_moves(const std::string& temporary,
                                         const std::string& session_id, Staged* staged) {
  const std::string old = temporary_name("deleted", *environment_.random);
  Status moved = sessions_->move_to(session_id, *temporary_, old);
  if (!moved.ok() && moved.code() != Code::kNotFound) return moved;
  Status named = temporary_->move_to(temporary, *sessions_, session_id);
  if (!named.ok()) {
    if (moved.ok() && !put_back(old, session_id)) *staged = Staged::kUnknown;
    return named;
  }
  Status synced = sessions_->sync();
  if (synced.ok()) {
    remove_tree(*temporary_, old);
  } else {
    *staged = Staged::kUnknown;
  }
  return synced;
}

// Swaps or moves the staged directory to its name, durably.
Status DirectoryEngine::give_name(const std::string& temporary, const std::string& session_id,
                                  Existing existing, Staged* staged) {
  if (existing != Existing::kRefuse) {
    Status swapped = temporary_->exchange(temporary, *sessions_, session_id);
    if (swapped.ok()) return sync_exchange(temporary, session_id, staged);
    if (swapped.code() == Code::kUnsupported && existing == Existing::kSwapOrMove) {
      return replace_by_moves(temporary, session_id, staged);
    }
    if (swapped.code() != Code::kNotFound) return swapped;
  }
  VARVE_TRY(temporary_->move_to(temporary, *sessions_, session_id));
  Status synced = sessions_->sync();
  if (!synced.ok() && !take_back(session_id, temporary)) *staged = Staged::kUnknown;
  return synced;
}

// Keeps the writers of a present session out. Null: there is none.
Result<std::unique_ptr<DirectoryStorage>> DirectoryEngine::lock_present(
    const std::string& session_id) {
  auto opened = open_storage(session_id);
  // A directory that holds no session has no writer to wait for.
  if (opened.code() == Code::kNotFound) return std::unique_ptr<DirectoryStorage>();
  if (!opened.ok()) return opened;
  Status locked = (*opened)->lock(deadline_us(), "restore", nullptr);
  if (locked.code() == Code::kNotFound) return changed_meanwhile(session_id);
  VARVE_TRY(std::move(locked));
  return opened;
}

// With the registry's lock held, without which no session gets a name.
Status DirectoryEngine::refuse_if_present(const std::string& session_id) {
  VARVE_TRY(refuse_if_other_case(session_id));
  const auto directory = open_session_directory(session_id);
  if (directory.code() == Code::kNotFound) return {};
  if (!directory.ok()) return directory.status();
  return holds_session(**directory) ? changed_meanwhile(session_id) : Status();
}

// Whether the session that is there is another than the row's, so that it ends. One that has lost
// its metadata.json does; of one that the disk does not give now nobody knows.
Result<bool> DirectoryEngine::ends_present(const SessionRow& row) {
  VARVE_TRY_ASSIGN(const auto present, described_row(row.session_id));
  return !present || present->created_at_ms != row.created_at_ms;
}

Status DirectoryEngine::put_in_place(const std::string& temporary, SessionRow row,
                                     const SessionContents& contents, Existing existing,
                                     DirectoryStorage* present, Staged* staged) {
  VARVE_TRY_ASSIGN(auto directory, temporary_->open_directory(temporary));
  VARVE_TRY(write_rest(*directory, contents));
  if (present != nullptr) {
    VARVE_TRY_ASSIGN(row.ends_another, ends_present(row));
    // As in drop(): handles that are open then check whether the name is still theirs.
    VARVE_TRY(present->suspect_names());
  } else {
    row.was_dropped = true;  // maybe since the caller read the list
  }
  const auto is_refused = [&]() -> Status {
    if (existing == Existing::kRefuse) return refuse_if_taken(row.session_id);
    // One that appeared since may have writers, and deletions that the new one does not know.
    return present != nullptr ? Status() : refuse_if_present(row.session_id);
  };
  const auto name = [&] { return give_name(temporary, row.session_id, existing, staged); };
  return registry_->add(row, deadline_us(), name, is_refused);
}

Status DirectoryEngine::install(const SessionRow& row, const SessionContents& contents,
                                Existing existing) {
  VARVE_TRY(refuse_if_read_only());
  VARVE_TRY(refuse_if_removed());
  if (existing == Existing::kRefuse) VARVE_TRY(refuse_if_taken(row.session_id));
  std::string temporary;
  std::unique_ptr<io::File> lock;
  const auto fill = [&](io::Directory& directory) { return write_contents(directory, contents); };
  VARVE_TRY(stage_session(fill, &temporary, &lock));
  std::unique_ptr<DirectoryStorage> present;
  Status status;
  if (existing != Existing::kRefuse) {
    auto locked = lock_present(row.session_id);
    status = locked.status();
    if (status.ok()) present = *std::move(locked);
  }
  Staged staged = Staged::kNew;
  if (status.ok()) {
    status = put_in_place(temporary, row, contents, existing, present.get(), &staged);
  }
  // The old session is removed only when it is known to be replaced for good.
  const bool is_clear = staged == (status.ok() ? Staged::kOld : Staged::kNew);
  if (is_clear) remove_tree(*temporary_, temporary);
  if (present) {
    if (is_clear && !status.ok()) present->clear_suspicion();
    present->unlock();
  }
  return status.code() == Code::kAlreadyExists ? already_there(row.session_id) : status;
}

}  // namespace varve::log
