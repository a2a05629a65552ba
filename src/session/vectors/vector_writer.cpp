// Writer's part of put_vector.

#include "session/writer.h"

namespace varve::session {

namespace {

// [bytes] What a vector adds to vectors.bin: the first one its header, too.
uint64_t added_bytes(const Core& core, size_t dimension) {
  const uint64_t record = embedding::record_bytes(static_cast<uint32_t>(dimension));
  return core.vectors.size_bytes() > 0 ? record : embedding::kHeaderBytes + record;
}

}  // namespace

Status Writer::put_vector(std::string_view id, std::span<const float> values) {
  return run("put vector", [&] { return put_vector_locked(id, values); });
}

Status Writer::put_vector_locked(std::string_view id, std::span<const float> values) {
  const int64_t now_ms = core_.context.clock->now_ms();
  // What was made of an entry is no reason for an entry to go, which may be its own.
  VARVE_TRY(room_.make(added_bytes(core_, values.size()), Evicts::kNever));
  uint64_t log_bytes = 0;
  {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole_as_writer());
    const auto row = core_.index.find(id);
    if (!row || !core_.index.is_live(*row, now_ms)) {
      return EntryReader::not_found(id, core_.index.was_deleted(id), row.has_value());
    }
    log_bytes = core_.index.coverage.entries_bytes;
  }
  const uint64_t bytes = added_bytes(core_, values.size());
  VARVE_TRY(room_.check(bytes));
  // The entry is made durable first, whatever the durability: if it were lost and its vector not,
  // another entry could get its id, and with it the vector.
  if (core_.storage->durable_mark().entries_bytes < log_bytes) {
    VARVE_TRY(core_.storage->sync(core_.next_seq() - 1));
  }
  const bool durable = core_.is_durable();
  VARVE_TRY(core_.vectors.file().put(id, values, durable, now_ms));
  core_.vectors.look();
  note_written(bytes, durable);
  core_.context.counters->commits += 1;
  return {};
}

}  // namespace varve::session
