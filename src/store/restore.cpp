// Restores sessions from a backup, or from any directory that is a store.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/utf8.h"
#include "json/object_reader.h"
#include "log/atomic_file.h"
#include "log/directory_engine.h"
#include "log/memory_storage.h"
#include "log/registry.h"
#include "session/metadata/expiry.h"
#include "session/metadata/metadata.h"
#include "session/retries.h"
#include "store/backup.h"
#include "store/backup_manifest.h"
#include "store/catalog.h"
#include "store/problem.h"
#include "store/session_list.h"
#include "store/session_rows.h"
#include "store/session_source.h"

namespace varve::store {

namespace {

constexpr std::string_view kSessionsFolder = "sessions";
constexpr std::string_view kIndicesFolder = "indices";

constexpr std::string_view kMetadataIsLost =
    "its metadata.json in the backup is missing or cannot be read: title, ttl_hours and settings "
    "are lost; user and agent are those of the list of sessions";
// Why a session is not replaced.
constexpr std::string_view kCopyIsLost =
    "no entry of its copy can be read, so the session that is here stays; to have the copy "
    "nevertheless, delete the session first";
constexpr std::string_view kCopyIsMissing =
    "its copy is not in the backup any more, though backup.json names it";
constexpr std::string_view kCopyIsDamaged =
    "its copy is damaged and the session that is here is not, so this one stays; to have what is "
    "left of the copy nevertheless, repair the session in the backup first";

struct RestoreOptions {
  std::vector<std::string> sessions;  // empty: all
  bool overwrite = false;
  std::string tombstones_from;  // a store's directory; empty: none
};

Result<RestoreOptions> parse_restore_options(std::string_view text) {
  RestoreOptions options;
  bool has_tombstones = false;
  VARVE_TRY(json::read_object(text, [&](json::ObjectReader& reader) {
    // A caller that found no session to restore does not mean all of them.
    reader.refuse_empty({"sessions"}, "is empty; leave it out for all sessions");
    reader.read_strings("sessions", &options.sessions);
    drop_repeats(&options.sessions);
    reader.read_bool("overwrite", &options.overwrite);
    reader.read_string("tombstones_from", &options.tombstones_from);
    has_tombstones = reader.read_any("tombstones_from").has_value();
  }));
  if (has_tombstones) VARVE_TRY(check_path(options.tombstones_from, "tombstones_from"));
  return options;
}

// A store that is only read: nothing in it is created or tidied.
class ReadOnlyStore {
 public:
  static Result<ReadOnlyStore> open(const CopyContext& context, std::string_view path) {
    ReadOnlyStore store;
    VARVE_TRY_ASSIGN(store.root_, context.file_system.open_root(path, false));
    auto sessions = store.root_->open_directory(kSessionsFolder);
    if (sessions.code() == Code::kNotFound) {
      return Status(Code::kNotFound,
                    "there is no backup and no store in '" + std::string(path) + "'")
          .in_file(path);
    }
    if (!sessions.ok()) return std::move(sessions).status();
    store.sessions_ = *std::move(sessions);
    auto manifest = BackupManifest::read(*store.root_);
    if (manifest.code() == Code::kFormatVersion) return manifest.status();
    if (manifest.ok()) store.manifest_ = *std::move(manifest);
    store.environment_ = {&context.file_system, &context.clock, &context.random};
    store.recovery_ = context.recovery;
    return store;
  }

  [[nodiscard]] io::Directory& root() const { return *root_; }

  Result<std::vector<std::string>> ids() const { return log::session_ids_in(*sessions_); }
  // Empty where there is none.
  [[nodiscard]] const BackupManifest& manifest() const { return manifest_; }

  // kNotFound when there is none.
  Result<std::unique_ptr<SessionSource>> session(const std::string& id) const {
    VARVE_TRY_ASSIGN(auto directory, sessions_->open_directory(id));
    VARVE_TRY_ASSIGN(auto storage, log::DirectoryStorage::open(std::move(directory), environment_));
    auto source = std::make_unique<SessionSource>(std::move(storage), recovery_);
    VARVE_TRY(source->hold_still());
    return source;
  }

  // Of a session of which nothing else may be left; kNotFound when there are none.
  Result<std::string> tombstones_of(const std::string& id) const {
    VARVE_TRY_ASSIGN(const auto directory, sessions_->open_directory(id));
    return log::read_file(*directory, log::kTombstonesFile, log::kDocumentBytesMax);
  }

  // The valid row of the session in its list; nothing where there is none.
  Result<log::ValidRows> listed(const std::string& id) const {
    const auto indices = root_->open_directory(kIndicesFolder);
    if (indices.code() == Code::kNotFound) return log::ValidRows();
    if (!indices.ok()) return indices.status();
    log::Registry registry(**indices, *environment_.clock, *environment_.random);
    return registry.valid_rows({id});
  }

 private:
  ReadOnlyStore() = default;

  std::unique_ptr<io::Directory> root_;
  std::unique_ptr<io::Directory> sessions_;
  BackupManifest manifest_;
  log::DirectoryStorage::Environment environment_;
  session::Recovery recovery_ = session::Recovery::kTail;
};

// Writes a session's tombstones, and then those that only other copies of the session have.
class TombstoneUnion {
 public:
  explicit TombstoneUnion(log::Sink& sink) : sink_(sink) {}

  Status begin(SessionSource& source, uint64_t end) {
    VARVE_TRY(source.copy(log::Stream::kTombstones, 0, end, sink_));
    return source
        .for_each_tombstone([&](const std::string& id, std::string_view) {
          known_.insert(id);
          return Status();
        })
        .status();
  }

  Status add(SessionSource& other) {
    const auto add_one = [&](const std::string& id, std::string_view line) {
      if (!known_.insert(id).second) return Status();
      added_ += 1;
      added_bytes_ += line.size();
      return sink_.append(line);
    };
    VARVE_TRY_ASSIGN(const uint64_t damaged, other.for_each_tombstone(add_one));
    damaged_ += damaged;
    expected_ = std::max(expected_, other.durable().tombstone_count);
    return {};
  }

  // Those of a copy that has lost its log and its metadata, and so is no session any more.
  Status add_text(const Result<std::string>& tombstones, Clock& clock) {
    if (tombstones.code() == Code::kNotFound) return {};
    VARVE_TRY(tombstones);
    const auto kept = std::make_shared<log::MemorySession>();
    kept->tombstones = *tombstones;
    SessionSource source(std::make_unique<log::MemoryStorage>(kept, clock),
                         session::Recovery::kTail);
    VARVE_TRY(source.hold_still());
    return add(source);
  }

  [[nodiscard]] uint64_t added() const { return added_; }
  [[nodiscard]] uint64_t added_bytes() const { return added_bytes_; }
  // Deletions of other copies that cannot be read or are missing: nobody knows what they deleted.
  [[nodiscard]] uint64_t unknown() const {
    return std::max(damaged_, expected_ - std::min<uint64_t>(expected_, known_.size()));
  }

 private:
  log::Sink& sink_;
  std::unordered_set<std::string> known_;
  uint64_t added_ = 0;
  uint64_t added_bytes_ = 0;
  uint64_t damaged_ = 0;
  uint64_t expected_ = 0;  // so many the copy that had most of them had
};

class Restore {
 public:
  Restore(const CopyContext& context, const RestoreOptions& options, const RestoreSteps& steps)
      : context_(context), options_(options), steps_(steps), rows_(context.engine) {}

  Status open(std::string_view path) {
    VARVE_TRY_ASSIGN(ReadOnlyStore backup, ReadOnlyStore::open(context_, path));
    backup_.emplace(std::move(backup));
    if (context_.engine.is_kept_in(backup_->root())) {
      return Status(Code::kInvalidArgument, "a store cannot be restored from itself: '" +
                                                std::string(path) +
                                                "' is its own directory; give that of a backup")
          .in_file(path);
    }
    if (!options_.tombstones_from.empty()) {
      VARVE_TRY_ASSIGN(ReadOnlyStore other,
                       ReadOnlyStore::open(context_, options_.tombstones_from));
      others_.emplace(std::move(other));
    }
    return choose_sessions();
  }

  // What is wrong with one session, in the backup or here, does not keep the others out.
  Status run() {
    Status first;
    for (const std::string& id : chosen_) {
      Status source_failure;
      Status status = restore_one(id, &source_failure);
      if (status.ok()) {
        restored_ += 1;
        continue;
      }
      const std::string reason = source_failure.ok() ? status.message() : source_failure.message();
      const bool ends = source_failure.ok() && is_of_store(status.code());
      status = std::move(status).with_context("session '" + id + "' was not restored");
      if (ends) return status;
      problems_.push(problem(id, reason, Copied::kNo));
      if (first.ok()) first = std::move(status);
    }
    return restored_ == 0 ? std::move(first) : Status();
  }

  json::Tree report(double duration_ms) && {
    const auto number = [](uint64_t value) { return json::Tree::integer_unsigned(value); };
    json::Tree tree = json::Tree::object();
    tree.set("sessions", number(restored_));
    tree.set("replaced", number(replaced_));
    tree.set("returned", std::move(returned_));
    tree.set("entries", number(entries_));
    tree.set("deletions_reapplied", number(reapplied_));
    tree.set("bytes", number(bytes_));
    tree.set("duration_ms", json::Tree::number(duration_ms));
    tree.set("problems", std::move(problems_));
    return tree;
  }

 private:
  Status choose_sessions() {
    VARVE_TRY_ASSIGN(const auto there, backup_->ids());
    for (const std::string& id : options_.sessions) {
      if (!std::binary_search(there.begin(), there.end(), id)) {
        return {Code::kNotFound, "the backup has no session '" + shown(id) + "'"};
      }
    }
    chosen_ = options_.sessions.empty() ? there : options_.sessions;
    if (options_.sessions.empty()) note_lost_copies(there);
    if (options_.overwrite) return {};
    VARVE_TRY_ASSIGN(const auto present, context_.engine.session_ids());
    for (const std::string& id : chosen_) {
      if (!std::binary_search(present.begin(), present.end(), id)) continue;
      VARVE_TRY_ASSIGN(const bool is_over, is_over_here(id));
      if (is_over) continue;
      return {Code::kAlreadyExists, "a session '" + id +
                                        "' exists already; nothing was restored (with "
                                        "\"overwrite\" it is replaced)"};
    }
    return {};
  }

  // Whether it would fail for the next session, too.
  static bool is_of_store(Code code) { return is_of_environment(code) || code == Code::kReadOnly; }

  // Copies that were made, and of which no directory is left.
  void note_lost_copies(const std::vector<std::string>& there) {
    for (const auto& [id, copied] : backup_->manifest().sessions) {
      if (std::binary_search(there.begin(), there.end(), id)) continue;
      problems_.push(problem(id, kCopyIsMissing, Copied::kNo));
    }
  }

  // An expired session is gone for everybody, so its id is free. Its deletions count all the same.
  Result<bool> is_over_here(const std::string& id) {
    auto storage = context_.engine.open(id);
    if (storage.code() == Code::kNotFound) return false;  // install() says what has the name
    if (!storage.ok()) return std::move(storage).status();
    VARVE_TRY_ASSIGN(const bool is_over, is_over_now(id, **storage));
    if (is_over) over_.insert(id);
    return is_over;
  }

  // Not one that has lost its metadata.json: it can be opened.
  Result<bool> is_over_now(const std::string& id, log::SessionStorage& storage) {
    auto is_over = session::has_expired(storage, id, context_.clock.now_ms());
    return is_over.code() == Code::kNotFound ? Result<bool>(false) : std::move(is_over);
  }

  Status restore_one(const std::string& id, Status* source_failure) {
    Status status;
    for (int i = 0; i < session::kReplacedMax; ++i) {
      status = try_to_restore(id, source_failure);
      if (status.code() != Code::kGone && status.code() != Code::kConflict) return status;
    }
    if (status.code() == Code::kConflict) {
      return {Code::kBusy, "it is created and deleted over and over by others; try again later"};
    }
    *source_failure = {Code::kBusy, "the backup keeps being changed; try again"};
    return *source_failure;
  }

  Status try_to_restore(const std::string& id, Status* source_failure) {
    auto opened = backup_->session(id);
    if (!opened.ok()) {
      *source_failure = opened.status();
      return *source_failure;
    }
    SessionSource& source = **opened;
    if (has_expired(id, source)) {
      *source_failure = {Code::kNotFound, "it has expired (ttl_hours)"};
      return *source_failure;
    }
    auto scanned = source.scan(0, 0);
    auto damaged = source.damaged_documents();
    if (!scanned.ok() || !damaged.ok()) {
      *source_failure = source.failure();
      return scanned.ok() ? std::move(damaged).status() : std::move(scanned).status();
    }
    const bool is_log_whole = !source.has_lost_any(*scanned);
    if (!is_log_whole || !damaged->empty()) {
      VARVE_TRY_ASSIGN(const std::string_view reason,
                       reason_to_keep(id, source, *scanned, is_log_whole));
      if (!reason.empty()) {
        *source_failure = {Code::kCorruption, std::string(reason)};
        return *source_failure;
      }
    }
    Status status = install(id, source, *scanned);
    *source_failure = source.failure();
    VARVE_TRY(std::move(status));
    std::string loss = source.loss_remark(*scanned);
    add_remark(documents_remark(*damaged), &loss);
    if (!loss.empty()) problems_.push(problem(id, loss, Copied::kYes));
    const auto alive = steps_.refresh(id);
    if (alive.ok()) entries_ += *alive;
    // Not when it was dropped meanwhile, or its time is over now.
    if (!alive.ok() && alive.code() != Code::kNotFound) note_restored_but(id, alive.status());
    return {};
  }

  // Why a copy that has lost something does not replace the session that is here: "overwrite" means
  // by what the backup had. Empty: it does, since no more would be lost. `is_log_whole`: what is
  // damaged of the copy are its documents.
  Result<std::string_view> reason_to_keep(const std::string& id, const SessionSource& copy,
                                          const SourceScan& scan, bool is_log_whole) {
    constexpr std::string_view kNone;
    if (!options_.overwrite) return kNone;
    auto storage = context_.engine.open(id);
    if (storage.code() == Code::kNotFound) return kNone;
    if (!storage.ok()) return std::move(storage).status();
    VARVE_TRY_ASSIGN(const bool is_over, is_over_now(id, **storage));
    if (is_over) return kNone;  // nobody can open it
    SessionSource present(*std::move(storage));
    const Status held = present.hold_still();
    if (held.code() == Code::kNotFound) return kNone;
    VARVE_TRY(held);
    if (is_log_whole) {
      const auto damaged = present.damaged_documents();
      if (!damaged.ok() || !damaged->empty()) return kNone;
    } else {
      if (present.tail().entries_bytes == 0) return kNone;
      if (copy.has_lost_all(scan)) return kCopyIsLost;
    }
    const auto here = present.scan(0, 0);
    return here.ok() && !present.has_lost_any(*here) ? kCopyIsDamaged : kNone;
  }

  // What comes after a session took its place does not undo that.
  void note_restored_but(const std::string& id, const Status& failure) {
    problems_.push(problem(id, "it is restored, but: " + failure.message(), Copied::kYes));
  }

  void note_unknown_deletions(const std::string& id, uint64_t count) {
    const std::string deletions =
        count == 1 ? "1 deletion to apply is missing or cannot be read"
                   : std::to_string(count) + " deletions to apply are missing or cannot be read";
    problems_.push(
        problem(id, deletions + ": look whether what was deleted is back, and delete it again",
                Copied::kYes));
  }

  // Nobody could open it, and it must not take the place of a session that lives.
  [[nodiscard]] bool has_expired(const std::string& id, const SessionSource& source) const {
    const auto metadata = session::Metadata::parse(source.metadata(), id);
    return metadata.ok() && session::has_expired(metadata->tree(), context_.clock.now_ms());
  }

  Status install(const std::string& id, SessionSource& source, const SourceScan& scan) {
    log::SessionContents contents;
    contents.entries = [&](log::Sink& sink) {
      return source.copy(log::Stream::kEntries, 0, scan.entries_end, sink);
    };
    uint64_t reapplied = 0;
    uint64_t reapplied_bytes = 0;
    uint64_t unknown = 0;
    bool replaces = false;
    contents.tombstones = [&](log::Sink& sink) -> Status {
      TombstoneUnion all(sink);
      VARVE_TRY(all.begin(source, scan.tombstones_end));
      VARVE_TRY_ASSIGN(replaces, add_deletions_of_present(id, all));
      VARVE_TRY(add_deletions_of_others(id, all));
      reapplied = all.added();
      reapplied_bytes = all.added_bytes();
      unknown = all.unknown();
      return {};
    };
    VARVE_TRY_ASSIGN(const auto names, source.documents());
    for (const std::string& name : names) {
      contents.documents.emplace_back(
          name, [&source, name](log::Sink& sink) { return source.copy_document(name, sink); });
    }
    VARVE_TRY_ASSIGN(const session::Metadata described, described_by(id, source));
    contents.metadata = [&](log::Sink& sink) -> Status {
      VARVE_TRY_ASSIGN(const std::string metadata, metadata_of(id, source, described));
      return sink.append(metadata);
    };
    const bool may_replace = options_.overwrite || over_.contains(id);
    const auto existing = may_replace ? log::Existing::kSwap : log::Existing::kRefuse;
    if (may_replace) VARVE_TRY(steps_.make_way(id));
    VARVE_TRY_ASSIGN(const log::SessionRow row, rows_.placed(log::row_of(id, described.tree())));
    VARVE_TRY(
        install_as_changed(id, [&] { return context_.engine.install(row, contents, existing); }));
    if (replaces) {
      replaced_ += 1;
    } else if (!row.listed_at.empty()) {
      returned_.push(json::Tree::string(id));
    }
    if (unknown > 0) note_unknown_deletions(id, unknown);
    if (has_lost_metadata(id, source)) problems_.push(problem(id, kMetadataIsLost, Copied::kYes));
    reapplied_ += reapplied;
    bytes_ += scan.entries_end + scan.tombstones_end + reapplied_bytes;
    return {};
  }

  // Tells the catalog before and after installing.
  Status install_as_changed(const std::string& id, const std::function<Status()>& install) {
    if (context_.catalog == nullptr) return install();
    VARVE_TRY_ASSIGN(const std::string mark, context_.catalog->begin_restore(id));
    Status installed = install();
    const Status told = context_.catalog->end_restore(id, mark);
    if (installed.ok() && !told.ok()) {
      note_restored_but(
          id, {told.code(), told.message() + "; queries across sessions may miss its entries "
                                             "until the list is rebuilt (\"rescan\")"});
    }
    return installed;
  }

  // Called while no writer can change the present session. False: there is none. kAlreadyExists:
  // one that had expired was created anew, or is in use again.
  Result<bool> add_deletions_of_present(const std::string& id, TombstoneUnion& all) {
    auto storage = context_.engine.open(id);
    if (storage.code() == Code::kNotFound) {
      VARVE_TRY(
          all.add_text(context_.engine.session_document(id, log::kTombstonesFile), context_.clock));
      return false;
    }
    if (!storage.ok()) return std::move(storage).status();
    if (!options_.overwrite) {
      VARVE_TRY_ASSIGN(const bool is_over, is_over_now(id, **storage));
      if (!is_over) return Status(Code::kAlreadyExists, "the session exists again");
    }
    SessionSource present(*std::move(storage));
    VARVE_TRY(present.hold_still());
    VARVE_TRY(all.add(present));
    return true;
  }

  Status add_deletions_of_others(const std::string& id, TombstoneUnion& all) {
    if (!others_) return {};
    auto other = others_->session(id);
    if (other.code() == Code::kNotFound) {
      return all.add_text(others_->tombstones_of(id), context_.clock);
    }
    if (!other.ok()) return std::move(other).status();
    return all.add(**other);
  }

  [[nodiscard]] static bool has_lost_metadata(const std::string& id, const SessionSource& source) {
    return !session::Metadata::parse(source.metadata(), id).ok();
  }

  // The backup's metadata. Where they cannot be read, whose the session is stands in the backup's
  // list, or in that of this store: without an owner, the owner would not find it any more.
  Result<session::Metadata> described_by(const std::string& id, const SessionSource& source) const {
    auto metadata = session::Metadata::parse(source.metadata(), id);
    if (metadata.ok()) return metadata;
    VARVE_TRY_ASSIGN(auto listed, backup_->listed(id));
    // Without a time, its maker knew no more of it.
    if (listed.empty() || listed.begin()->second.created_at_ms == 0) {
      VARVE_TRY_ASSIGN(listed, context_.engine.valid_rows({id}));
    }
    std::optional<log::SessionRow> row;
    if (!listed.empty()) row = std::move(listed.begin()->second);
    return session::Metadata::recovered(id, context_.clock.now_ms(), row);
  }

  // With a generation above every present one: a reader that knows another log by its generation
  // must not take this one for it.
  Result<std::string> metadata_of(const std::string& id, const SessionSource& source,
                                  session::Metadata metadata) {
    const int64_t now_ms = context_.clock.now_ms();
    uint64_t generation = metadata.generation();
    const auto present = context_.engine.session_document(id, log::kMetadataFile);
    if (is_of_environment(present.code())) return present.status();
    if (present.ok()) {
      const auto parsed = session::Metadata::parse(*present, id);
      if (parsed.ok()) generation = std::max(generation, parsed->generation());
    }
    metadata.tree().set("generation", json::Tree::integer_unsigned(generation + 1));
    metadata.tree().set("restored_at", json::Tree::string(format_rfc3339(now_ms)));
    const uint64_t durable_seq = std::max(metadata.durable_seq(), source.durable_seq());
    metadata.tree().set("durable_seq", json::Tree::integer_unsigned(durable_seq));
    return metadata.encode();
  }

  const CopyContext& context_;
  const RestoreOptions& options_;
  const RestoreSteps& steps_;
  std::optional<ReadOnlyStore> backup_;
  std::optional<ReadOnlyStore> others_;
  ListedRows rows_;
  std::vector<std::string> chosen_;
  std::unordered_set<std::string> over_;  // present, but their time is over
  uint64_t restored_ = 0;
  uint64_t replaced_ = 0;
  json::Tree returned_ = json::Tree::array();  // ids that are in the list, and were not here
  uint64_t entries_ = 0;
  uint64_t reapplied_ = 0;
  uint64_t bytes_ = 0;
  json::Tree problems_ = json::Tree::array();
};

}  // namespace

Result<json::Tree> restore(const CopyContext& context, std::string_view path,
                           std::string_view options_text, const RestoreSteps& steps) {
  VARVE_TRY(check_path(path, "path"));
  VARVE_TRY_ASSIGN(const RestoreOptions options, parse_restore_options(options_text));
  const int64_t start_us = context.clock.monotonic_us();
  Restore work(context, options, steps);
  VARVE_TRY(work.open(path));
  VARVE_TRY(work.run());
  const int64_t duration_us = context.clock.monotonic_us() - start_us;
  return std::move(work).report(static_cast<double>(duration_us) / 1000.0);
}

}  // namespace varve::store
