#include "session/vectors/vector_check.h"

#include <set>
#include <string>
#include <vector>

namespace varve::session {

json::Tree VectorCheck::tree() const {
  json::Tree tree = json::Tree::object();
  tree.set("dimension", json::Tree::integer_unsigned(dimension));
  tree.set("records", json::Tree::integer_unsigned(record_count));
  tree.set("entries", json::Tree::integer_unsigned(entry_count));
  tree.set("damaged", json::Tree::integer_unsigned(damaged_count));
  return tree;
}

Result<VectorCheck> check_vectors(Core& core, const VectorProblem& problem, const Step& step) {
  VectorCheck found;
  VARVE_TRY_ASSIGN(found.tail, core.storage->vectors_tail());
  auto dimension = core.vectors.file().dimension(found.tail);
  if (dimension.code() == Code::kCorruption || dimension.code() == Code::kFormatVersion) {
    problem(0, found.tail.bytes, dimension.status().message());
    found.damaged_count = dimension.code() == Code::kCorruption ? 1 : 0;
    return found;
  }
  VARVE_TRY(dimension);
  found.dimension = *dimension;
  if (found.dimension == 0) return found;
  const uint64_t length = embedding::record_bytes(found.dimension);
  const int64_t now_ms = core.context.clock->now_ms();
  std::set<std::string, std::less<>> live;
  std::vector<uint64_t> damaged;  // since the last whole record
  found.torn_offset = embedding::kHeaderBytes;
  const auto look = [&](const VectorFile::Scanned& scanned) -> Status {
    VARVE_TRY(step(scanned.offset + length));
    if (!scanned.record) {
      damaged.push_back(scanned.offset);
      return {};
    }
    for (const uint64_t offset : damaged) {
      problem(offset, length, "a vector is damaged and is ignored; repair moves it to quarantine");
    }
    found.damaged_count += damaged.size();
    damaged.clear();
    found.record_count += 1;
    found.torn_offset = scanned.offset + length;
    const std::shared_lock lock(core.index_mutex);
    const auto row = core.index.find(scanned.record->id);
    if (row && core.index.is_live(*row, now_ms)) live.emplace(scanned.record->id);
    return {};
  };
  VARVE_TRY(core.vectors.file().scan(found.tail, found.dimension, 0, look));
  found.entry_count = live.size();
  found.torn_bytes = found.tail.bytes - found.torn_offset;
  return found;
}

Result<bool> is_damaged(VectorFile& file, const log::VectorsTail& tail) {
  const auto dimension = file.dimension(tail);
  if (dimension.code() == Code::kCorruption) return true;
  if (dimension.code() == Code::kFormatVersion) return false;
  VARVE_TRY(dimension);
  bool is_any = false;
  bool is_last = false;
  const auto look = [&](const VectorFile::Scanned& scanned) {
    is_any = is_any || (is_last && scanned.record);
    is_last = !scanned.record;
    return Status();
  };
  if (*dimension > 0) VARVE_TRY(file.scan(tail, *dimension, 0, look));
  return is_any;
}

namespace {

bool keeps_every(std::string_view /*id*/) { return true; }

// What tells that the log lost entries. Which ones is not known where it was the id that was
// damaged.
struct Loss {
  bool is_of_end = false;  // of entries that were durable, until the next one is added
  DamagedLines::State damage;
};

Loss known_loss(const Core& core) {
  const std::shared_lock lock(core.index_mutex);
  return {core.rolled_back_count() > 0, core.damaged_lines.state()};
}

// Selects the vectors of entries that the log has, by an index that was read from the log: rows of
// index.bin are not compared with anything here. Those of damaged lines whose ids are known stay: a
// repair may accept such a line, and until then nobody gets its id.
Result<VectorFile::Selection> select_of_log(Core& core) {
  if (!core.is_index_from_log()) {
    VARVE_TRY(core.rebuild());
    VARVE_TRY(core.catch_up_as_writer(true));  // it knows that no batch is being written
  }
  VARVE_TRY_ASSIGN(const auto damaged, core.damaged_lines.ids());
  uint64_t epoch = 0;
  {
    const std::shared_lock lock(core.index_mutex);
    epoch = core.index_epoch;
  }
  bool knows_rows = true;
  auto selection = core.vectors.file().select([&](std::string_view id) {
    if (damaged && damaged->contains(id)) return true;
    const std::shared_lock lock(core.index_mutex);
    knows_rows = knows_rows && core.has_rows_of(epoch);
    return core.index.find(id).has_value();
  });
  if (!knows_rows) return Status(Code::kConflict, "the index was made anew");
  return selection;
}

// Drops those of ids that are free. kFormatVersion: nobody here can read any of them.
Status drop_vectors_of_none(Core& core) {
  const auto selection = select_of_log(core);
  // A damaged header cannot be read either; repair sets the file aside.
  if (selection.code() == Code::kCorruption) return {};
  VARVE_TRY(selection);
  // Where there are none any more, that may not be durable yet.
  if (!selection->drops() && selection->dimension != 0) return {};
  log::Quarantining quarantine(*core.storage, core.context.clock->now_ms());
  VARVE_TRY(VectorFile::set_aside(*selection, quarantine));
  VARVE_TRY(core.vectors.file().rewrite(*selection));
  core.vectors.look();
  return {};
}

}  // namespace

Status drop_stray_vectors(Core& core) {
  const bool is_noted = core.metadata.may_have_stray_vectors();
  const Loss loss = known_loss(core);
  const bool is_new_damage = loss.damage && loss.damage != core.damage_without_strays;
  if (!is_noted && !loss.is_of_end && !is_new_damage) return {};
  core.vectors.look();
  if (!is_noted && core.vectors.size_bytes() == 0) return {};
  Status dropped = drop_vectors_of_none(core);
  if (!dropped.ok() && dropped.code() != Code::kFormatVersion) return dropped;
  core.damage_without_strays = known_loss(core).damage;
  if (!is_noted || !dropped.ok()) return {};
  return core.metadata_file.save(log::DocumentDurability::kContent, [](Metadata& metadata) {
    metadata.tree().erase(kStrayVectors);
    return Status();
  });
}

Result<uint64_t> count_vector_damage(Core& core) {
  const auto selection = core.vectors.file().select(keeps_every);
  if (selection.code() == Code::kCorruption) return 1;  // the file as a whole
  if (selection.code() == Code::kFormatVersion) return 0;
  VARVE_TRY(selection);
  return selection->damage_count();
}

Result<bool> repair_vectors(Core& core) {
  const int64_t now_ms = core.context.clock->now_ms();
  VectorFile& file = core.vectors.file();
  auto selection = file.select(keeps_every);
  if (selection.code() == Code::kCorruption) {
    VARVE_TRY(file.set_all_aside(now_ms));
    core.vectors.look();
    return true;
  }
  if (selection.code() == Code::kFormatVersion) return false;  // of a newer version: not touched
  VARVE_TRY(selection);
  if (selection->damage_count() == 0) return false;
  log::Quarantining quarantine(*core.storage, now_ms);
  VARVE_TRY(VectorFile::set_aside(*selection, quarantine));
  VARVE_TRY(file.rewrite(*selection));
  core.vectors.look();
  return true;
}

}  // namespace varve::session
