#include "session/upkeep/migration.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "entry/reseal.h"
#include "log/quarantine.h"
#include "log/scan.h"
#include "session/retries.h"
#include "session/upkeep/index_rebuild.h"

namespace varve::session {

namespace {

constexpr uint64_t kReadBytes = uint64_t{64} << 10;
constexpr std::string_view kNotAnEntry = "not an entry when the log was migrated";

class Migration {
 public:
  explicit Migration(Core& core) : core_(core), ids_(*core.context.clock, *core.context.random) {}

  // The version of the log; of an empty one, this library's.
  Result<int64_t> look_at_version() {
    std::string line;
    uint64_t offset = 0;
    {
      const std::shared_lock lock(core_.index_mutex);
      tail_ = core_.view.tail;
      if (core_.index.size() == 0) return entry::kSchemaVersion;
      const uint32_t row = telling_row();
      if (row == 0 && core_.index.seq(row) != entry::kNoSeq) return entry::kSchemaVersion;
      const index::Location telling = core_.index.location(row);
      line.resize(static_cast<size_t>(telling.length));
      offset = telling.offset;
    }
    VARVE_TRY_ASSIGN(const size_t got,
                     core_.storage->read(log::Stream::kEntries, tail_.generation, offset, line));
    line.resize(got);
    return entry::schema_version_of(line, scratch_);
  }

  // Finds what will be kept and what does not belong there, by the log alone: rows of index.bin
  // were never compared with it, and a wrong one could make a line look repeated. Words that are
  // indexed stay, as no line gets others.
  Status look() {
    VARVE_TRY(take_rows_from_log(core_));
    {
      const std::shared_lock lock(core_.index_mutex);
      VARVE_TRY(core_.check_whole_as_writer());  // else the new log would end too early
      tail_ = core_.view.tail;
      end_ = core_.index.coverage.entries_bytes;
      last_seq_ = core_.last_seq();
    }
    uint64_t covered = 0;
    VARVE_TRY(scan([&](const log::ScannedEntry& line, bool repeated) {
      VARVE_TRY(note_between(covered, line.offset));
      covered = line.offset + line.length + 1;
      if (repeated) return note_between(line.offset, covered);
      entry_count_ += 1;
      return Status();
    }));
    VARVE_TRY(note_between(covered, end_));
    // Above every number ever given, so that no number means two entries.
    last_seq_ = std::max(last_seq_, entry_count_);
    return {};
  }

  // kConflict when somebody appended meanwhile without the lock. `quarantine`: of all attempts.
  Status run(log::Quarantining& quarantine) {
    VARVE_TRY(quarantine.add(tail_.generation, damaged_));
    VARVE_TRY(core_.metadata_file.save(log::DocumentDurability::kNamed, [&](Metadata& metadata) {
      note_in(metadata);
      return Status();
    }));
    VARVE_TRY(core_.storage->replace(log::Stream::kEntries, end_,
                                     [&](log::Sink& sink) { return write(sink); }));
    VARVE_TRY(core_.rebuild_of_same_words());
    json::Tree details = json::Tree::object();
    details.set("entries", json::Tree::integer_unsigned(entry_count_));
    core_.events.post(Level::kInfo, "migrated from format version 0", std::move(details));
    return {};
  }

  [[nodiscard]] json::Tree report(int64_t version, bool changed) const {
    json::Tree tree = json::Tree::object();
    tree.set("from", json::Tree::integer(version));
    tree.set("to", json::Tree::integer(entry::kSchemaVersion));
    tree.set("changed", json::Tree::boolean(changed));
    tree.set("entries", json::Tree::integer_unsigned(entry_count_));
    tree.set("quarantined", json::Tree::integer_unsigned(damaged_.size()));
    return tree;
  }

 private:
  using Visit = std::function<Status(const log::ScannedEntry&, bool repeated)>;

  // The entry that tells the version of the log: the first with a number, or else the first. Lines
  // written by hand have no number, and one of them is the first when those before it were damaged
  // or compacted away. The index is locked and not empty.
  [[nodiscard]] uint32_t telling_row() const {
    for (uint32_t row = 0; row < core_.index.size(); ++row) {
      if (core_.index.seq(row) != entry::kNoSeq) return row;
    }
    return 0;
  }

  Status scan(const Visit& visit) {
    auto scanned = log::scan_entries(
        *core_.storage, {tail_.generation, 0, end_}, last_seq_,
        [&](const log::ScannedEntry& line) { return visit(line, is_repeated(line)); });
    return std::move(scanned).status();
  }

  bool is_repeated(const log::ScannedEntry& line) const {
    const std::shared_lock lock(core_.index_mutex);
    const auto row = core_.index.find(line.facts->id);
    return row && core_.index.location(*row).offset != line.offset;
  }

  // Blank lines do not count as damage.
  Result<bool> is_blank(uint64_t from, uint64_t to) {
    std::string bytes;
    for (uint64_t at = from; at < to; at += bytes.size()) {
      bytes.resize(static_cast<size_t>(std::min(kReadBytes, to - at)));
      VARVE_TRY_ASSIGN(const size_t got,
                       core_.storage->read(log::Stream::kEntries, tail_.generation, at, bytes));
      bytes.resize(got);
      if (got == 0 || bytes.find_first_not_of(" \t\r\n") != std::string::npos) return false;
    }
    return true;
  }

  Status note_between(uint64_t from, uint64_t to) {
    if (from >= to) return {};
    VARVE_TRY_ASSIGN(const bool blank, is_blank(from, to));
    if (blank) return {};
    if (!damaged_.empty() && damaged_.back().offset + damaged_.back().length == from) {
      damaged_.back().length += to - from;
    } else {
      damaged_.push_back({log::Stream::kEntries, from, to - from, std::string(kNotAnEntry)});
    }
    return {};
  }

  void note_in(Metadata& metadata) const {
    metadata.note_new_log(last_seq_);
    json::Tree& tree = metadata.tree();
    json::Tree migration = json::Tree::object();
    migration.set("from", json::Tree::integer(0));
    migration.set("to", json::Tree::integer(entry::kSchemaVersion));
    migration.set("at", json::Tree::string(format_rfc3339(core_.context.clock->now_ms())));
    json::Tree migrations = json::Tree::array();
    if (const json::Tree* before = tree.get("migrations"); before != nullptr) {
      for (const json::Tree& item : before->items()) {
        // A migration that was killed before the log was replaced is repeated.
        if (item.get_int64("from") != 0) migrations.push(item);
      }
    }
    migrations.push(std::move(migration));
    tree.set("migrations", std::move(migrations));
  }

  Status write(log::Sink& sink) {
    uint64_t seq = last_seq_ - entry_count_;
    return scan([&](const log::ScannedEntry& line, bool repeated) -> Status {
      if (repeated) return {};
      VARVE_TRY_ASSIGN(const std::string sealed,
                       entry::upgrade_line(line.bytes, core_.id, ++seq, ids_, scratch_));
      return sink.append(sealed);
    });
  }

  Core& core_;
  IdGenerator ids_;
  json::Document scratch_;
  log::Tail tail_;
  uint64_t end_ = 0;
  uint64_t last_seq_ = 0;
  uint64_t entry_count_ = 0;
  std::vector<log::Damage> damaged_;
};

// Migrates the log if it is older than this library. Without `quarantine` it only looks, without
// `report` a log that is not older is not read.
Status look_and_migrate(Core& core, log::Quarantining* quarantine, json::Tree* report) {
  Migration migration(core);
  VARVE_TRY_ASSIGN(const int64_t version, migration.look_at_version());
  const bool older = version < entry::kSchemaVersion;
  if (older || report != nullptr) VARVE_TRY(migration.look());
  const bool runs = older && quarantine != nullptr;
  if (runs) VARVE_TRY(migration.run(*quarantine));
  if (report != nullptr) *report = migration.report(version, runs);
  return {};
}

// For the holder of the storage's lock, after catching up.
Status migrate_as_writer(Core& core, json::Tree* report) {
  log::Quarantining quarantine(*core.storage, core.context.clock->now_ms());
  return while_appended_to(log::kEntriesFile, [&](bool again) -> Status {
    if (again) VARVE_TRY(core.catch_up_as_writer(true));
    return look_and_migrate(core, &quarantine, report);
  });
}

}  // namespace

Status migrate_if_older(Core& core, uint64_t* checked_generation) {
  {
    const std::shared_lock lock(core.index_mutex);
    if (*checked_generation == core.view.tail.generation) return {};
  }
  VARVE_TRY(migrate_as_writer(core, nullptr));
  const std::shared_lock lock(core.index_mutex);
  if (core.index.size() > 0) *checked_generation = core.view.tail.generation;
  return {};
}

Result<json::Tree> migrate(Core& core, Writer& writer, bool dry_run) {
  json::Tree report;
  if (dry_run) {
    return while_replaced([&]() -> Result<json::Tree> {
      VARVE_TRY(core.catch_up());
      VARVE_TRY(look_and_migrate(core, nullptr, &report));
      return report;
    });
  }
  VARVE_TRY(writer.run_upkeep("migrate", [&]() -> Status {
    VARVE_TRY(core.catch_up_as_writer());
    return migrate_as_writer(core, &report);
  }));
  writer.save_snapshot(Saving::kAlways);
  return report;
}

}  // namespace varve::session
