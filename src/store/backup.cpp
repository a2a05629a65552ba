#include "store/backup.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/utf8.h"
#include "io/rules.h"
#include "json/object_reader.h"
#include "log/atomic_file.h"
#include "log/directory_engine.h"
#include "log/directory_storage.h"
#include "store/backup_manifest.h"
#include "store/dropped_sessions.h"
#include "store/own_files.h"
#include "store/problem.h"
#include "store/session_backup.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr std::string_view kBackupLock = "lock";
constexpr std::string_view kConfigFile = "config.json";

constexpr std::string_view kIsNoSession =
    "its directory is there, but neither its memory.jsonl nor its metadata.json is; a copy of it "
    "stays as it was: restore it, or remove the directory";

// Where the copies are, upper and lower case are one, and a session has the name already.
bool is_of_the_id(const Status& failure) {
  return failure.code() == Code::kUnsupported && failure.place().member == "session_id";
}

// Something has the name of a file or of a directory of one session.
bool is_of_another_kind(const Status& failure) {
  return io::is_not_a_file(failure) || io::is_not_a_directory(failure);
}

constexpr std::string_view kWasLost =
    "it is gone though nobody dropped it, and its copy stays as it was: restore it, or remove the "
    "copy by \"delete_missing\":true";

// 0 also where it cannot be read.
int64_t known_created_at(log::Engine& engine, const std::string& id) {
  const auto created_at_ms = created_at_of(engine, id);
  return created_at_ms.ok() ? *created_at_ms : 0;
}

struct BackupOptions {
  std::vector<std::string> sessions;   // empty: all
  std::optional<bool> delete_missing;  // not given: those that were dropped, if they were here
};

Result<BackupOptions> parse_backup_options(std::string_view text) {
  BackupOptions options;
  VARVE_TRY(json::read_object(text, [&](json::ObjectReader& reader) {
    reader.refuse_empty({"sessions"}, "is empty; leave it out for all sessions");
    reader.read_strings("sessions", &options.sessions);
    drop_repeats(&options.sessions);
    bool delete_missing = true;
    reader.read_bool("delete_missing", &delete_missing);
    if (reader.read_any("delete_missing")) options.delete_missing = delete_missing;
  }));
  return options;
}

class Backup {
 public:
  Backup(const CopyContext& context, BackupOptions options)
      : context_(context), options_(std::move(options)) {}

  Status open(std::string_view path) {
    VARVE_TRY(choose_sessions());
    VARVE_TRY_ASSIGN(root_, context_.file_system.open_root(path, true));
    VARVE_TRY(claim());
    const log::DirectoryEngine::Environment environment{&context_.file_system, &context_.clock,
                                                        &context_.random};
    VARVE_TRY_ASSIGN(copy_,
                     log::DirectoryEngine::open(path, environment, context_.lock_timeout_ms));
    rows_ = std::make_unique<ListedRows>(*copy_);
    VARVE_TRY_ASSIGN(const auto copied, copy_->session_ids());
    dropped_ = std::make_unique<DroppedSessions>(context_.engine, copied);
    const bool may_remove_all = options_.sessions.empty() && !options_.delete_missing;
    return may_remove_all ? refuse_copies_of_another_store(copied) : Status();
  }

  Status run() {
    Status status = copy_all();
    if (status.ok() && options_.sessions.empty()) status = copy_config();
    if (status.ok() && options_.sessions.empty() && options_.delete_missing.value_or(true)) {
      status = remove_missing();
    }
    // Also after a failure, so that what was copied need not be copied again.
    Status written = manifest_.write(*root_, context_.random, context_.clock.now_ms());
    return status.ok() ? std::move(written) : std::move(status);
  }

  json::Tree report(double duration_ms) && {
    const auto number = [](uint64_t value) { return json::Tree::integer_unsigned(value); };
    json::Tree tree = json::Tree::object();
    tree.set("sessions", number(totals_.copied + totals_.appended + totals_.unchanged));
    tree.set("copied", number(totals_.copied));
    tree.set("appended", number(totals_.appended));
    tree.set("unchanged", number(totals_.unchanged));
    tree.set("removed", number(removed_));
    tree.set("bytes", number(totals_.bytes));
    tree.set("entries", number(totals_.entries));
    tree.set("duration_ms", json::Tree::number(duration_ms));
    tree.set("problems", std::move(problems_));
    return tree;
  }

 private:
  Status choose_sessions() {
    VARVE_TRY_ASSIGN(all_, context_.engine.session_ids());
    for (const std::string& id : options_.sessions) {
      if (!std::binary_search(all_.begin(), all_.end(), id)) {
        return {Code::kNotFound, "there is no session '" + shown(id) + "'"};
      }
    }
    chosen_ = options_.sessions.empty() ? all_ : options_.sessions;
    return {};
  }

  // Makes sure that the directory is ours or becomes so, and that nobody else works on it.
  Status claim() {
    auto manifest = BackupManifest::read(*root_);
    if (!manifest.ok() && manifest.code() != Code::kNotFound) return std::move(manifest).status();
    if (!manifest.ok()) {
      Status empty = refuse_unless_empty();
      // Or another process made it a backup meanwhile.
      if (!empty.ok() && root_->info(kManifestFile).code() == Code::kNotFound) return empty;
    }
    VARVE_TRY_ASSIGN(lock_, root_->open(kBackupLock, io::OpenMode::kUpdateOrCreate, 0644));
    VARVE_TRY_ASSIGN(const bool held, lock_->try_lock());
    if (!held) {
      return Status(Code::kBusy, "another backup into this directory is running")
          .in_file(root_->path_of(kBackupLock));
    }
    // Read again: a process that held the lock before us may have written it.
    manifest = BackupManifest::read(*root_);
    if (!manifest.ok() && manifest.code() != Code::kNotFound) return std::move(manifest).status();
    const bool is_first = !manifest.ok();
    if (!is_first) manifest_ = *std::move(manifest);
    if (manifest_.created_at.empty())
      manifest_.created_at = format_rfc3339(context_.clock.now_ms());
    VARVE_TRY(remove_left_overs());
    if (!is_first) return {};
    return manifest_.write(*root_, context_.random, context_.clock.now_ms());
  }

  Status refuse_unless_empty() {
    VARVE_TRY_ASSIGN(const auto items, root_->list());
    for (const auto& item : items) {
      if (item.name == kBackupLock || log::is_temporary_name(item.name)) continue;
      return Status(Code::kInvalidArgument,
                    "the directory '" + io::without_end_slashes(root_->path_of("")) +
                        "' is not empty, and it is not a backup: it has no backup.json; "
                        "give a new or empty directory, or that of an earlier backup")
          .in_file(root_->path_of(item.name));
    }
    return {};
  }

  // A wrong path, or a disk that is not mounted, opens as a store that never had any of the
  // sessions in the backup: all copies would go.
  Status refuse_copies_of_another_store(const std::vector<std::string>& copied) {
    // An empty store may have made some of the sessions anew.
    const auto has_copy = [&](const std::string& id, int64_t created_at_ms) {
      if (!std::binary_search(copied.begin(), copied.end(), id)) return false;
      const int64_t copied_ms = known_created_at(*copy_, id);
      return copied_ms == created_at_ms || copied_ms == 0 || created_at_ms == 0;
    };
    const auto is_copied = [&](const std::string& id) {
      return has_copy(id, known_created_at(context_.engine, id));
    };
    if (copied.empty() || std::any_of(all_.begin(), all_.end(), is_copied)) return {};
    bool was_here = false;
    RowVisitor visitor;
    visitor.begin = [&] { was_here = false; };
    visitor.visit = [&](const RowAt& at) {
      was_here = has_copy(at.row.session_id, at.row.created_at_ms);
      return !was_here;
    };
    VARVE_TRY(for_each_row(context_.engine, {}, visitor));
    if (was_here) return {};
    return {Code::kInvalidArgument,
            "the backup has sessions, and this store never had any of them, so it is another store "
            "or an empty one that was opened by mistake; give \"delete_missing\":true to remove "
            "the copies, or false to keep them",
            {.path = root_->path_of(""), .member = "delete_missing"}};
  }

  Status remove_left_overs() {
    VARVE_TRY_ASSIGN(const auto items, root_->list());
    for (const auto& item : items) {
      if (log::is_temporary_name(item.name)) (void)root_->remove(item.name).ok();
    }
    return {};
  }

  Status copy_all() {
    for (const std::string& id : chosen_) {
      const auto known = manifest_.sessions.find(id);
      SessionBackup session(context_, *copy_, *rows_, id);
      if (known != manifest_.sessions.end()) session.set_known(known->second);
      if (!options_.delete_missing.value_or(false)) session.replace_only(*dropped_);
      Status status = session.run(&totals_);
      if (status.ok()) {
        manifest_.sessions[id] = session.copied();
        if (!session.remark().empty()) problems_.push(problem(id, session.remark(), Copied::kYes));
        continue;
      }
      const bool is_of_the_copy = session.source_failure().ok() && !is_of_the_id(status);
      if (is_of_the_copy && is_of_another_kind(status)) {
        const std::string reason = status.message() + "; move it away, or remove this copy";
        problems_.push(problem(id, reason, Copied::kNo));
      } else if (is_of_the_copy) {
        return std::move(status).with_context("session '" + id + "' was not copied");
      } else if (status.code() == Code::kNotFound) {
        gone_.insert(id);
      } else {
        problems_.push(problem(id, status.message(), Copied::kNo));
      }
    }
    return gone_.empty() ? Status() : keep_copies_of_lost();
  }

  // A session that was deleted while we worked counts as missing. But a deletion takes the
  // directory first: one that is still there has lost what makes it a session.
  Status keep_copies_of_lost() {
    VARVE_TRY_ASSIGN(const auto present, context_.engine.session_ids());
    VARVE_TRY_ASSIGN(const auto copied, copy_->session_ids());
    std::erase_if(gone_, [&](const std::string& id) {
      if (!std::binary_search(present.begin(), present.end(), id)) return false;
      const bool is_meant = !options_.sessions.empty() ||
                            std::binary_search(copied.begin(), copied.end(), id) ||
                            has_files_of_a_session(id);
      // Or it was created again meanwhile.
      const auto is_lost = context_.engine.is_name_without_session(id);
      if (is_meant && is_lost.ok() && *is_lost) {
        problems_.push(problem(id, kIsNoSession, Copied::kNo));
      }
      return true;
    });
    return {};
  }

  // Unlike a directory that somebody made by hand: whoever makes a session makes these.
  bool has_files_of_a_session(const std::string& id) {
    return std::ranges::any_of(
        std::array{log::kLockFile, log::kTombstonesFile}, [&](std::string_view name) {
          return context_.engine.session_document(id, name).code() != Code::kNotFound;
        });
  }

  // Whether something else than a directory has the session's name, such as a link.
  Status what_has_the_name(const std::string& id) {
    if (std::binary_search(all_.begin(), all_.end(), id)) return {};
    Status looked = context_.engine.session_document(id, log::kMetadataFile).status();
    return looked.code() == Code::kNotFound ? Status() : looked;
  }

  // Why the copy of a session that is not there any more stays; empty: it goes.
  Result<std::string> reason_to_keep(const std::string& id) {
    const Status other = what_has_the_name(id);
    if (!other.ok()) return other.message() + "; its copy stays as it was";
    if (options_.delete_missing) return std::string();
    const int64_t created_at_ms = known_created_at(*copy_, id);
    VARVE_TRY_ASSIGN(const bool was_dropped, dropped_->has(id, created_at_ms));
    return std::string(was_dropped ? "" : kWasLost);
  }

  Status copy_config() {
    const auto own = context_.engine.store_document(kConfigFile);
    if (!own.ok() && own.code() != Code::kNotFound) return own.status();
    const auto copy = copy_->store_document(kConfigFile);
    if (!copy.ok() && copy.code() != Code::kNotFound) return copy.status();
    if (own.ok() == copy.ok() && (!own.ok() || *own == *copy)) return {};
    if (own.ok()) return log::replace_file(*root_, kConfigFile, context_.random, {}, *own);
    VARVE_TRY(root_->remove(kConfigFile));
    return root_->sync();
  }

  Status remove_missing() {
    VARVE_TRY_ASSIGN(const auto copied, copy_->session_ids());
    // Again: what was dropped while we worked is told by now, and another may be back.
    VARVE_TRY_ASSIGN(const auto present, context_.engine.session_ids());
    dropped_ = std::make_unique<DroppedSessions>(context_.engine, copied);
    std::vector<std::string> removed;
    for (const std::string& id : copied) {
      if (std::binary_search(present.begin(), present.end(), id)) continue;
      if (!gone_.contains(id) && std::binary_search(all_.begin(), all_.end(), id)) continue;
      VARVE_TRY_ASSIGN(const std::string reason, reason_to_keep(id));
      if (!reason.empty()) {
        problems_.push(problem(id, reason, Copied::kNo));
        continue;
      }
      removed.push_back(id);
      manifest_.sessions.erase(id);
    }
    // First, so that it never names a copy that is not there.
    if (!removed.empty()) {
      VARVE_TRY(manifest_.write(*root_, context_.random, context_.clock.now_ms()));
    }
    for (const std::string& id : removed) {
      Status dropped = copy_->drop(id, {});
      if (!dropped.ok() && dropped.code() != Code::kNotFound) return dropped;
      removed_ += 1;
    }
    return forget_rows_of_removed();
  }

  // A list keeps the rows of sessions that were removed, which say whose they were.
  Status forget_rows_of_removed() {
    VARVE_TRY_ASSIGN(const auto copied, copy_->session_ids());
    bool is_outdated = false;
    std::unordered_set<std::string> told;
    RowVisitor visitor;
    visitor.begin = [&] {
      is_outdated = false;
      told.clear();
    };
    visitor.visit = [&](const RowAt& at) {
      const std::string& id = at.row.session_id;
      const bool is_there = std::binary_search(copied.begin(), copied.end(), id);
      is_outdated = !is_there || !told.insert(id).second;  // or of an earlier life
      return !is_outdated;
    };
    VARVE_TRY(for_each_row(*copy_, {}, visitor));
    return is_outdated ? copy_->rescan() : Status();
  }

  const CopyContext& context_;
  const BackupOptions options_;
  std::vector<std::string> all_;  // ids of the store, sorted
  std::vector<std::string> chosen_;
  std::set<std::string> gone_;
  std::unique_ptr<io::Directory> root_;
  std::unique_ptr<io::File> lock_;
  std::unique_ptr<log::DirectoryEngine> copy_;
  std::unique_ptr<ListedRows> rows_;  // of the copy
  std::unique_ptr<DroppedSessions> dropped_;
  BackupManifest manifest_;
  BackupTotals totals_;
  uint64_t removed_ = 0;
  json::Tree problems_ = json::Tree::array();
};

}  // namespace

void drop_repeats(std::vector<std::string>* ids) {
  std::unordered_set<std::string> told;
  std::erase_if(*ids, [&](const std::string& id) { return !told.insert(id).second; });
}

Status check_path(std::string_view path, std::string_view member) {
  if (path.empty()) {
    return {Code::kInvalidArgument, "the path is empty", {.member = std::string(member)}};
  }
  if (path.find('\0') != std::string_view::npos) {
    return {Code::kInvalidArgument,
            "the path has a NUL in it, which no path can have",
            {.member = std::string(member)}};
  }
  return {};
}

Result<json::Tree> back_up(const CopyContext& context, std::string_view path,
                           std::string_view options) {
  VARVE_TRY(check_path(path, "path"));
  VARVE_TRY_ASSIGN(BackupOptions parsed, parse_backup_options(options));
  if (is_inside(context.file_system, context.engine, path)) {
    return Status(Code::kInvalidArgument,
                  "a store cannot be backed up into itself: '" + std::string(path) +
                      "' is its directory or in it; give a directory outside",
                  {.path = std::string(path), .member = "path"});
  }
  const int64_t start_us = context.clock.monotonic_us();
  Backup backup(context, std::move(parsed));
  VARVE_TRY(backup.open(path));
  VARVE_TRY(backup.run());
  const int64_t duration_us = context.clock.monotonic_us() - start_us;
  return std::move(backup).report(static_cast<double>(duration_us) / 1000.0);
}

}  // namespace varve::store
