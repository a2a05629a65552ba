#include "session/metadata/metadata_file.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "log/quarantine.h"
#include "session/core.h"
#include "session/metadata/expiry.h"

namespace varve::session {

Result<Metadata> MetadataFile::read() {
  auto text = core_.storage->get_document(log::kMetadataFile);
  if (text.code() == Code::kNotFound) {
    VARVE_TRY(core_.storage->check_name());  // it is the first file to go when a session is removed
    return Status(Code::kCorruption, "it is missing");
  }
  if (!text.ok()) return std::move(text).status();
  auto parsed = Metadata::parse(*text, core_.id);
  if (!parsed.ok() && parsed.code() != Code::kFormatVersion) {
    return Status(Code::kCorruption, parsed.status().message());
  }
  if (!parsed.ok()) {
    return std::move(parsed).status().in_file(core_.storage->name_of_document(log::kMetadataFile));
  }
  return parsed;
}

// Read under the lock, so that older metadata cannot replace what another thread wrote meanwhile,
// or what belongs to a log that was replaced.
Status MetadataFile::refresh() {
  const std::unique_lock lock(core_.index_mutex);
  VARVE_TRY_ASSIGN(Metadata fresh, read());
  core_.set_metadata(std::move(fresh));
  // Fewer: another process has accepted a loss. More may be of deletions that were not read yet.
  core_.durable_tombstones_seen =
      std::min(core_.durable_tombstones_seen, core_.metadata.value().durable_tombstones());
  return {};
}

// Marked as it was before it was read: one that is put meanwhile has another mark.
Status MetadataFile::refresh_if_other() {
  const uint64_t mark = core_.storage->document_mark(log::kMetadataFile);
  if (mark != 0 && mark == mark_) return {};
  Status refreshed = refresh();
  if (!refreshed.ok() && refreshed.code() != Code::kCorruption) return refreshed;
  mark_ = mark;
  return {};
}

Status MetadataFile::look() {
  Status refreshed = refresh_if_other();
  return refreshed.code() == Code::kFormatVersion ? std::move(refreshed) : Status();
}

Status MetadataFile::follow() {
  is_doubted_ = is_doubted_ || core_.storage->was_locked_by_others();
  if (!is_doubted_) return {};
  Status refreshed = refresh_if_other();
  if (!refreshed.ok()) {
    core_.durability = log::Durability::kCommit;  // which it may say by now
    return refreshed.code() == Code::kFormatVersion ? std::move(refreshed) : Status();
  }
  is_doubted_ = false;
  core_.follow_durability();
  return {};
}

void MetadataFile::count_into(json::Tree& tree) const {
  const std::shared_lock lock(core_.index_mutex);
  count_types(core_.index.type_counts(), tree);
  tree.set("total_entries", json::Tree::integer_unsigned(core_.index.undeleted_count()));
  tree.set("total_size_bytes", json::Tree::integer_unsigned(core_.size.bytes_now()));
}

Result<json::Tree> MetadataFile::described() {
  Status refreshed = refresh();  // another process may have changed it
  if (refreshed.code() == Code::kFormatVersion) return refreshed;
  json::Tree tree;
  {
    const std::shared_lock lock(core_.index_mutex);
    tree = core_.metadata.tree();
  }
  count_into(tree);
  return tree;
}

Status MetadataFile::save(log::DocumentDurability kept,
                          const std::function<Status(Metadata&)>& change) {
  // Another process may have changed the file since we read it: the file counts.
  Metadata fresh;
  {
    const std::shared_lock lock(core_.index_mutex);
    fresh = core_.metadata.value();
  }
  auto text = core_.storage->get_document(log::kMetadataFile);
  if (text.ok()) {
    auto parsed = Metadata::parse(*text, core_.id);
    if (parsed.ok()) {
      fresh = *std::move(parsed);
    } else if (parsed.code() == Code::kFormatVersion) {
      return std::move(parsed).status().in_file(
          core_.storage->name_of_document(log::kMetadataFile));
    } else {
      VARVE_TRY(log::quarantine_bytes(
          *core_.storage, *text, 0,
          {log::kMetadataFile, "it could not be read", core_.context.clock->now_ms()}));
    }
  } else if (text.code() != Code::kNotFound) {
    return std::move(text).status();
  }
  if (change) VARVE_TRY(change(fresh));
  count_into(fresh.tree());
  const int64_t accessed_ms =
      last_accessed_ms(fresh.tree(), last_write_ms_.load(), core_.context.clock->now_ms());
  fresh.tree().set("last_accessed", json::Tree::string(format_rfc3339(accessed_ms)));
  // Nothing may fail after the file is written.
  CurrentMetadata::Facts facts = core_.metadata.facts_of(fresh);
  VARVE_TRY(core_.storage->put_document(log::kMetadataFile, fresh.encode(), kept));
  const std::unique_lock lock(core_.index_mutex);
  core_.metadata.set(std::move(fresh), std::move(facts));
  return {};
}

}  // namespace varve::session
