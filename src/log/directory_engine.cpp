#include "log/directory_engine.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/ids.h"
#include "io/rules.h"
#include "log/atomic_file.h"

namespace varve::log {

namespace {

constexpr int64_t kUnlockedLeftOverMs = 3'600'000;  // no maker takes so long to lock it
constexpr int kForeignDepthMax = 64;                // of directories that somebody made in ours

// Keeps the first failure of several removals. What somebody else has removed is none.
class Removals {
 public:
  void note(Status removed) {
    if (first_.ok() && removed.code() != Code::kNotFound) first_ = std::move(removed);
  }
  [[nodiscard]] Status first() && { return std::move(first_); }

 private:
  Status first_;
};

// A file, or a directory with all that is in it.
Status remove_item(io::Directory& parent, const io::DirectoryItem& item, int depth_max) {
  if (item.kind != io::FileKind::kDirectory) return parent.remove(item.name);
  Removals removals;
  if (depth_max > 0) {
    VARVE_TRY_ASSIGN(const auto directory, parent.open_directory(item.name));
    VARVE_TRY_ASSIGN(const auto items, directory->list());
    for (const auto& inner : items) removals.note(remove_item(*directory, inner, depth_max - 1));
  }
  removals.note(parent.remove_directory(item.name));
  return std::move(removals).first();
}

// Whether there is more in the directory than a lock file.
Result<bool> has_contents(io::Directory& parent, std::string_view name) {
  VARVE_TRY_ASSIGN(const auto directory, parent.open_directory(name));
  VARVE_TRY_ASSIGN(const auto items, directory->list());
  return std::any_of(items.begin(), items.end(),
                     [](const auto& item) { return item.name != kLockFile; });
}

// Unlike holds_session() a failure where it cannot be told, since what stays must be said to stay.
Result<bool> still_has_log(io::Directory& directory) {
  VARVE_TRY_ASSIGN(const auto metadata, directory.find(kMetadataFile));
  VARVE_TRY_ASSIGN(const auto entries, directory.find(kEntriesFile));
  return metadata || entries;
}

// Reading it again will not help.
Status as_corruption(const Status& failure) {
  return {Code::kCorruption, failure.message(), failure.place()};
}

}  // namespace

Result<std::vector<std::string>> session_ids_in(io::Directory& sessions) {
  VARVE_TRY_ASSIGN(const auto items, sessions.list());
  std::vector<std::string> ids;
  for (const auto& item : items) {
    if (item.kind == io::FileKind::kDirectory && is_valid_id(item.name)) ids.push_back(item.name);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::unique_ptr<DirectoryEngine>> DirectoryEngine::open(std::string_view path,
                                                               const Environment& environment,
                                                               uint64_t lock_timeout_ms,
                                                               const Accept& accept) {
  auto root = environment.file_system->open_root(path, true);
  if (root.code() == Code::kReadOnly) {
    auto existing = environment.file_system->open_root(path, false);
    // For a missing directory the answer stays why it could not be created.
    if (existing.code() != Code::kNotFound) root = std::move(existing);
  }
  if (!root.ok()) return std::move(root).status();
  if (accept) VARVE_TRY(accept(**root));
  std::unique_ptr<DirectoryEngine> engine(
      new DirectoryEngine(*std::move(root), environment, lock_timeout_ms));
  // Once, and not again for each session that is opened: it is read from a file.
  if (!environment.boot_id) engine->environment_.boot_id = environment.file_system->boot_id();
  VARVE_TRY(engine->open_folders());
  if (engine->writable_) engine->sweep_left_overs();
  return engine;
}

// In this order, each durable before the next: a process that finds the second may rely on the
// first, even if its maker was killed before the sync. Nothing durable depends on the third.
Status DirectoryEngine::open_folders() {
  VARVE_TRY(open_folder("sessions", &sessions_));
  VARVE_TRY(open_folder("indices", &indices_));
  VARVE_TRY(open_folder("tmp", &temporary_));
  if (indices_) {
    registry_ = std::make_unique<Registry>(*indices_, *environment_.clock, *environment_.random,
                                           [this] { return collect_rows(); });
  }
  if (sessions_) {
    const auto own = sessions_->self_info();
    has_link_counts_ = own.ok() && own->link_count > 0;
    const auto in_capitals = root_->find("SESSIONS");
    may_fold_case_ = in_capitals.ok() && in_capitals->has_value();
  }
  return {};
}

Status DirectoryEngine::open_folder(std::string_view name, std::unique_ptr<io::Directory>* folder) {
  auto opened = root_->open_directory(name);
  if (opened.code() == Code::kNotFound && writable_) {
    Status made = root_->make_directory(name, 0700);
    if (made.code() == Code::kReadOnly) {
      writable_ = false;
      return {};
    }
    if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
    VARVE_TRY(root_->sync());
    opened = root_->open_directory(name);
  }
  if (opened.code() == Code::kNotFound && !writable_) return {};  // read-only, and not there
  if (!opened.ok()) return std::move(opened).status();
  *folder = *std::move(opened);
  return {};
}

Status DirectoryEngine::refuse_if_read_only() const {
  if (writable_) return {};  // then all folders exist
  return io::no_permission_to_write("the store", root_->path_of(""));
}

// Of a store that is removed while it is open, its folders stay open, and seem to be empty.
Status DirectoryEngine::refuse_if_removed() {
  if (!has_link_counts_) return {};
  for (io::Directory* folder : {sessions_.get(), indices_.get(), temporary_.get()}) {
    if (folder == nullptr) continue;
    VARVE_TRY_ASSIGN(const io::FileInfo own, folder->self_info());
    if (own.link_count > 0) continue;
    Place place;
    place.path = folder->path_of("");
    place.os_errno = ENOENT;
    std::string message =
        "the directory '" + io::without_end_slashes(place.path) +
        "' was removed while the store was open; close the store and open it again";
    return {Code::kIo, std::move(message), std::move(place)};
  }
  return {};
}

// --- create and open -----------------------------------------------------------------------------

Status DirectoryEngine::make_session(io::Directory& directory, std::string_view metadata) {
  VARVE_TRY(directory.open(kEntriesFile, io::OpenMode::kCreateExclusive, 0600));
  // Each call asks it for new lines, and asking a file costs a third of asking for a missing name.
  VARVE_TRY(directory.open(kTombstonesFile, io::OpenMode::kCreateExclusive, 0600));
  VARVE_TRY_ASSIGN(auto file, directory.open(kMetadataFile, io::OpenMode::kCreateExclusive, 0600));
  VARVE_TRY(file->append(metadata));
  VARVE_TRY(file->sync_data());
  return directory.sync();
}

Status DirectoryEngine::lock_and_fill(std::string_view name, const Fill& fill,
                                      std::unique_ptr<io::File>* lock) {
  VARVE_TRY_ASSIGN(const auto directory, temporary_->open_directory(name));
  VARVE_TRY_ASSIGN(*lock, directory->open(kLockFile, io::OpenMode::kUpdateOrCreate, 0644));
  VARVE_TRY_ASSIGN(const bool held, (*lock)->try_lock());
  if (!held) return {Code::kBusy, "another process takes it for a left-over"};
  return fill(*directory);
}

// Until its lock is held, another process that opens the store may take the new directory for a
// left-over and remove it. Then make another one.
Status DirectoryEngine::stage_session(const Fill& fill, std::string* name,
                                      std::unique_ptr<io::File>* lock) {
  constexpr int kAttemptsMax = 3;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    *name = temporary_name("new", *environment_.random);
    VARVE_TRY(temporary_->make_directory(*name, 0700));
    Status status = lock_and_fill(*name, fill, lock);
    if (status.ok()) return {};
    lock->reset();
    remove_tree(*temporary_, *name);
    if (status.code() != Code::kNotFound && status.code() != Code::kBusy) return status;
  }
  return {Code::kBusy, "other processes are opening the store over and over; try again later"};
}

Status DirectoryEngine::refuse_if_taken(std::string_view session_id) {
  VARVE_TRY(refuse_if_other_case(session_id));
  return sessions_->info(session_id).ok() ? already_there(session_id) : Status();
}

// Where the name leads to the session of another id: to make one there would replace that.
Status DirectoryEngine::refuse_if_other_case(std::string_view session_id) {
  if (!may_fold_case_ || !sessions_->info(session_id).ok()) return {};
  VARVE_TRY_ASSIGN(const bool is_listed, is_listed_so(session_id));
  if (is_listed) return {};
  return {Code::kUnsupported,
          "there can be no session '" + std::string(session_id) +
              "' beside one whose id differs in upper and lower case only: this file system does "
              "not tell them apart; use another id, or put the store on another file system",
          {.path = sessions_->path_of(session_id), .member = "session_id"}};
}

// Whether a name in sessions/ is the id, letter for letter. Asking for the name does not tell that
// where upper and lower case are one.
Result<bool> DirectoryEngine::is_listed_so(std::string_view session_id) {
  VARVE_TRY_ASSIGN(const auto items, sessions_->list());
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.name == session_id; });
}

Result<std::unique_ptr<SessionStorage>> DirectoryEngine::create(const SessionRow& row,
                                                                std::string_view metadata) {
  VARVE_TRY(refuse_if_read_only());
  VARVE_TRY(refuse_if_removed());
  VARVE_TRY(refuse_if_taken(row.session_id));
  std::string temporary;
  std::unique_ptr<io::File> lock;
  const auto fill = [&](io::Directory& directory) { return make_session(directory, metadata); };
  VARVE_TRY(stage_session(fill, &temporary, &lock));
  bool is_nameless = true;
  const auto give_name = [&]() -> Status {
    VARVE_TRY(temporary_->move_to(temporary, *sessions_, row.session_id));
    Status synced = sessions_->sync();
    if (!synced.ok()) is_nameless = take_back(row.session_id, temporary);
    return synced;
  };
  // Of two that make it at once, the slower leaves no row, which would be the newest.
  const auto is_taken = [&] { return refuse_if_taken(row.session_id); };
  const Status status = registry_->add(row, deadline_us(), give_name, is_taken);
  if (!status.ok()) {
    if (is_nameless) remove_tree(*temporary_, temporary);
    return status.code() == Code::kAlreadyExists ? already_there(row.session_id) : status;
  }
  // Nobody writes to it yet: what cannot be opened, as for want of descriptors, need not stay.
  auto opened = open(row.session_id);
  if (!opened.ok() && take_back(row.session_id, temporary)) remove_tree(*temporary_, temporary);
  return opened;
}

// Undoes a failed create: nobody wrote to the session, since we hold its lock. False: a power loss
// may bring the name back, so the directory must stay whole.
bool DirectoryEngine::take_back(std::string_view session_id, std::string_view temporary) {
  return sessions_->move_to(session_id, *temporary_, temporary).ok() && sessions_->sync().ok();
}

Result<std::unique_ptr<io::Directory>> DirectoryEngine::open_session_directory(
    std::string_view session_id) {
  if (!sessions_) return no_session(session_id);
  auto directory = sessions_->open_directory(session_id);
  if (directory.code() == Code::kNotFound) return no_session(session_id);
  if (!directory.ok() || !may_fold_case_) return directory;
  VARVE_TRY_ASSIGN(const bool is_listed, is_listed_so(session_id));
  return is_listed ? std::move(directory) : no_session(session_id);
}

Result<std::unique_ptr<DirectoryStorage>> DirectoryEngine::open_storage(
    std::string_view session_id) {
  VARVE_TRY_ASSIGN(auto directory, open_session_directory(session_id));
  // The maker may have been killed before the name was durable.
  return DirectoryStorage::open(std::move(directory), environment_,
                                {sessions_.get(), std::string(session_id)});
}

Result<std::unique_ptr<SessionStorage>> DirectoryEngine::open(std::string_view session_id) {
  VARVE_TRY_ASSIGN(auto storage, open_storage(session_id));
  return std::unique_ptr<SessionStorage>(std::move(storage));
}

Result<bool> DirectoryEngine::is_name_without_session(std::string_view session_id) {
  const auto directory = open_session_directory(session_id);
  if (directory.code() == Code::kNotFound) return false;
  if (!directory.ok()) return directory.status();
  if (holds_session(**directory)) return false;
  // A session that is being deleted loses its name before its files.
  VARVE_TRY_ASSIGN(const io::FileInfo own, (*directory)->self_info());
  VARVE_TRY_ASSIGN(const auto named, sessions_->find(session_id));
  return named && named->identity == own.identity;
}

// --- drop ----------------------------------------------------------------------------------------

// Whoever replaces or deletes the session while we wait for its lock leaves us one without a name.
Status DirectoryEngine::drop(std::string_view session_id, const DropWanted& wanted) {
  VARVE_TRY(refuse_if_read_only());
  const int64_t until_us = deadline_us();
  constexpr int kAttemptsMax = 8;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    auto storage = open_storage(session_id);
    if (storage.code() == Code::kNotFound) {
      const auto is_settled = drop_without_session(session_id, until_us);
      if (is_settled.code() == Code::kNotFound) return no_session(session_id);
      VARVE_TRY(is_settled);
      if (*is_settled) return {};
      continue;
    }
    if (!storage.ok()) return std::move(storage).status();
    Status locked = (*storage)->lock(until_us, "delete session", nullptr);
    if (locked.code() == Code::kNotFound) continue;
    VARVE_TRY(std::move(locked));
    Status status = drop_locked(**storage, session_id, wanted, until_us);
    return status.code() == Code::kNotFound ? no_session(session_id) : status;
  }
  return {Code::kBusy,
          "session '" + std::string(session_id) + "' keeps being replaced by others; try again"};
}

// The list tells of it first, so that nobody takes the session for a lost one: whoever is killed in
// between drops it again.
Status DirectoryEngine::drop_locked(DirectoryStorage& storage, std::string_view session_id,
                                    const DropWanted& wanted, int64_t deadline_us) {
  const std::string temporary = temporary_name("deleted", *environment_.random);
  bool has_its_name = true;
  const auto take = [&](bool must_make_room) -> Status {
    // Open handles take the session's name for durable and theirs. If we are killed after the move,
    // nothing else tells them that the next sweep removes what they write.
    VARVE_TRY(storage.suspect_names());
    VARVE_TRY(take_name(session_id, temporary, &has_its_name));
    if (must_make_room) remove_tree(*temporary_, temporary);
    return {};
  };
  Status status = agree_to_drop(storage, wanted);
  if (status.ok()) status = registry_->drop(session_id, deadline_us, take);
  if (status.ok()) remove_tree(*temporary_, temporary);
  if (has_its_name) storage.clear_suspicion();
  storage.unlock();
  return status;
}

// A directory that holds no session (made by hand or half copied) has no lock. False: a session has
// the name by now, which may have writers.
Result<bool> DirectoryEngine::drop_without_session(std::string_view session_id,
                                                   int64_t deadline_us) {
  VARVE_TRY(open_session_directory(session_id));
  const std::string temporary = temporary_name("deleted", *environment_.random);
  const auto take = [&](bool must_make_room) -> Status {
    VARVE_TRY_ASSIGN(const auto directory, open_session_directory(session_id));
    if (holds_session(*directory)) return {Code::kAlreadyExists, "it is a session by now"};
    bool has_its_name = true;
    VARVE_TRY(take_name(session_id, temporary, &has_its_name));
    if (must_make_room) remove_tree(*temporary_, temporary);
    return {};
  };
  Status status = registry_->drop(session_id, deadline_us, take);
  if (status.code() == Code::kAlreadyExists) return false;
  VARVE_TRY(std::move(status));
  remove_tree(*temporary_, temporary);
  return true;
}

// Moves it away, durably.
Status DirectoryEngine::take_name(std::string_view session_id, std::string_view temporary,
                                  bool* has_its_name) {
  VARVE_TRY(sessions_->move_to(session_id, *temporary_, temporary));
  *has_its_name = false;
  Status synced = sessions_->sync();
  if (synced.ok()) return {};
  *has_its_name = put_back(temporary, session_id);
  if (*has_its_name) return synced;
  return {Code::kUnknown,
          "the outcome is unknown: the session has lost its name, or a power loss may take it: " +
              synced.message(),
          synced.place()};
}

// Gives back its name to what was moved away, durably; false: a power loss may take it again.
bool DirectoryEngine::put_back(std::string_view temporary, std::string_view session_id) {
  return temporary_->move_to(temporary, *sessions_, session_id).ok() && sessions_->sync().ok();
}

// Best effort: what cannot be removed is left to the next sweep.
void DirectoryEngine::remove_tree(io::Directory& parent, std::string_view name) {
  try {
    (void)remove_whole(parent, name).ok();
  } catch (const std::bad_alloc&) {
    // The session has already lost its name.
  }
}

// Open handles read the whole session until the log goes, and are then told that it was deleted. A
// log without its tombstones would show deleted entries, one without its lock would take new ones:
// both stay while the log cannot be removed. Without metadata.json and entries there is no session.
Status DirectoryEngine::remove_whole(io::Directory& parent, std::string_view name) {
  // With nothing in it, it goes without a descriptor, of which there may be none. It must: a sweep
  // leaves empty ones to their makers.
  if (parent.remove_directory(name).ok()) return {};
  Removals removals;
  {
    VARVE_TRY_ASSIGN(const auto directory, parent.open_directory(name));
    VARVE_TRY_ASSIGN(const auto items, directory->list());
    for (const auto first : {kMetadataFile, kEntriesFile}) removals.note(directory->remove(first));
    for (const bool is_without_log : {false, true}) {
      if (is_without_log) {
        VARVE_TRY_ASSIGN(const bool has_log, still_has_log(*directory));
        if (has_log) return std::move(removals).first();
      }
      for (const auto& item : items) {
        if (item.name == kLockFile || (item.name == kTombstonesFile) != is_without_log) continue;
        removals.note(remove_item(*directory, item, kForeignDepthMax));
      }
    }
    removals.note(directory->remove(kLockFile));
  }
  removals.note(parent.remove_directory(name));
  return std::move(removals).first();
}

void DirectoryEngine::sweep_left_overs() {
  const auto items = temporary_->list();
  if (!items.ok()) return;
  for (const auto& item : *items) {
    if (item.kind == io::FileKind::kDirectory) (void)sweep_one(item.name, false).ok();
  }
}

// Those with nothing in them stay: their makers may be about to lock them. Who fills one has locked
// it before: where no lock is left, as after a power loss, nobody makes it any more.
Status DirectoryEngine::remove_left_overs() {
  VARVE_TRY(refuse_if_read_only());
  VARVE_TRY_ASSIGN(const auto items, temporary_->list());
  Removals removals;
  for (const auto& item : items) {
    if (item.kind != io::FileKind::kDirectory) continue;
    auto filled = has_contents(*temporary_, item.name);
    if (filled.ok() && !*filled) continue;
    removals.note(filled.ok() ? sweep_one(item.name, true) : std::move(filled).status());
  }
  registry_->remove_left_overs();
  return std::move(removals).first();
}

// Nothing is removed while the maker lives. `is_filled`: it was seen to have contents.
Status DirectoryEngine::sweep_one(std::string_view name, bool is_filled) {
  VARVE_TRY_ASSIGN(const auto directory, temporary_->open_directory(name));
  const auto lock = directory->info(kLockFile);
  std::unique_ptr<io::File> lock_file;  // holds the lock until everything is removed
  if (lock.code() == Code::kNotFound && !is_filled) {
    VARVE_TRY_ASSIGN(const io::FileInfo self, directory->self_info());
    if (environment_.clock->now_ms() - self.modified_ms < kUnlockedLeftOverMs) {
      return {};  // its maker may be about to lock it
    }
  } else {
    VARVE_TRY_ASSIGN(lock_file, directory->open(kLockFile, io::OpenMode::kUpdateOrCreate, 0644));
    VARVE_TRY_ASSIGN(const bool held, lock_file->try_lock());
    if (!held) return {};  // its maker is alive
  }
  // After a power loss it may have its old name back, and must then be complete.
  VARVE_TRY(sessions_->sync());
  VARVE_TRY(indices_->sync());
  return remove_whole(*temporary_, name);
}

// --- documents --------------------------------------------------------------------------------

bool DirectoryEngine::is_kept_in(io::Directory& directory) {
  const auto own = root_->self_info();
  const auto other = directory.self_info();
  return own.ok() && other.ok() && own->identity == other->identity;
}

Result<std::string> DirectoryEngine::session_document(std::string_view session_id,
                                                      std::string_view name) {
  const auto directory = open_session_directory(session_id);
  if (io::is_not_a_directory(directory.status())) return as_corruption(directory.status());
  if (!directory.ok()) return directory.status();
  auto text = read_file(**directory, name, kDocumentBytesMax);
  if (text.code() == Code::kSizeLimit || io::is_not_a_file(text.status())) {
    return as_corruption(text.status());
  }
  return text;
}

Result<std::string> DirectoryEngine::store_document(std::string_view name) {
  return read_file(*root_, name, kDocumentBytesMax);
}

}  // namespace varve::log
