#include "session/vectors/vector_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "session/retries.h"

namespace varve::session {

namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
constexpr std::string_view kTornEnd = "torn tail: a record is not whole";

uint64_t offset_of(uint64_t number, uint64_t record_bytes) {
  return embedding::kHeaderBytes + number * record_bytes;
}

}  // namespace

uint64_t record_count(const log::VectorsTail& tail, uint32_t dimension) {
  if (tail.bytes <= embedding::kHeaderBytes) return 0;
  return (tail.bytes - embedding::kHeaderBytes) / embedding::record_bytes(dimension);
}

Place VectorFile::place() const { return {.path = storage_.name_of(log::Stream::kVectors)}; }

Result<uint32_t> VectorFile::dimension(const log::VectorsTail& tail) {
  if (tail.bytes == 0) return uint32_t{0};
  std::string header(embedding::kHeaderBytes, '\0');
  VARVE_TRY_ASSIGN(const size_t got,
                   storage_.read(log::Stream::kVectors, tail.generation, 0, header));
  header.resize(got);
  auto dimension = embedding::parse_header(header);
  if (dimension.ok()) return dimension;
  if (dimension.code() == Code::kFormatVersion) {
    return Status(Code::kFormatVersion, dimension.status().message(), place());
  }
  return Status(Code::kCorruption,
                "vectors.bin: " + dimension.status().message() +
                    "; let repair move the file to quarantine, then put the vectors again",
                place());
}

Status VectorFile::scan(const log::VectorsTail& tail, uint32_t dimension, uint64_t offset,
                        const Visit& visit) {
  const uint64_t length = embedding::record_bytes(dimension);
  const uint64_t end = offset_of(record_count(tail, dimension), length);
  const uint64_t at_once = std::max<uint64_t>(1, kChunkBytes / length);
  std::string chunk;
  for (uint64_t at = std::max<uint64_t>(offset, embedding::kHeaderBytes); at < end;) {
    chunk.resize(static_cast<size_t>(std::min(end - at, at_once * length)));
    VARVE_TRY_ASSIGN(const size_t got,
                     storage_.read(log::Stream::kVectors, tail.generation, at, chunk));
    for (size_t start = 0; start + length <= got; start += length) {
      const std::string_view bytes = std::string_view(chunk).substr(start, length);
      VARVE_TRY(visit({at + start, embedding::parse_record(bytes, dimension)}));
    }
    if (got < chunk.size()) return {};  // a torn end was cut off meanwhile
    at += got;
  }
  return {};
}

// --- adding --------------------------------------------------------------------------------------

Status VectorFile::put(std::string_view id, std::span<const float> values, bool durable,
                       int64_t now_ms) {
  return while_appended_to(log::kVectorsFile,
                           [&](bool) { return put_once(id, values, durable, now_ms); });
}

Status VectorFile::put_once(std::string_view id, std::span<const float> values, bool durable,
                            int64_t now_ms) {
  VARVE_TRY_ASSIGN(log::VectorsTail tail, storage_.vectors_tail());
  VARVE_TRY_ASSIGN(const uint32_t present, dimension(tail));
  const std::string record = embedding::encode_record(id, values);
  const auto wanted = static_cast<uint32_t>(values.size());
  if (present == 0) return put_first(record, wanted);
  if (present != wanted) {
    Place where;
    where.member = "dimension";
    where.limit = present;
    return {Code::kInvalidArgument,
            "the vector has dimension " + std::to_string(wanted) +
                "; all vectors of this session have dimension " + std::to_string(present),
            std::move(where)};
  }
  if (!(tail == whole_)) {
    VARVE_TRY_ASSIGN(const uint64_t end, whole_end(tail, present));
    if (end < tail.bytes) VARVE_TRY(cut_torn_end(tail, end, now_ms));
    VARVE_TRY_ASSIGN(tail, storage_.vectors_tail());
  }
  VARVE_TRY(storage_.append(log::Stream::kVectors, tail.bytes, record, durable, 0));
  const auto now = storage_.vectors_tail();  // the record is written, whatever this answers
  whole_ = now.ok() ? *now : log::VectorsTail();
  return {};
}

// In one step, so that a file of ours has its header and a record, or does not exist.
Status VectorFile::put_first(std::string_view record, uint32_t dimension) {
  VARVE_TRY(storage_.replace(log::Stream::kVectors, [&](log::Sink& sink) {
    VARVE_TRY(sink.append(embedding::encode_header(dimension)));
    return sink.append(record);
  }));
  whole_ = {};
  return {};
}

Result<uint64_t> VectorFile::whole_end(const log::VectorsTail& tail, uint32_t dimension) {
  const uint64_t length = embedding::record_bytes(dimension);
  std::string bytes(static_cast<size_t>(length), '\0');
  for (uint64_t count = record_count(tail, dimension); count > 0; --count) {
    VARVE_TRY_ASSIGN(const size_t got, storage_.read(log::Stream::kVectors, tail.generation,
                                                     offset_of(count - 1, length), bytes));
    if (got == length && embedding::parse_record(bytes, dimension)) {
      return offset_of(count, length);
    }
  }
  return uint64_t{embedding::kHeaderBytes};
}

// Copied before cut: a crash in between leaves the bytes in both places, never in neither.
Status VectorFile::cut_torn_end(const log::VectorsTail& tail, uint64_t end, int64_t now_ms) {
  log::Quarantining quarantine(storage_, now_ms);
  VARVE_TRY(quarantine.add(
      tail.generation, {{log::Stream::kVectors, end, tail.bytes - end, std::string(kTornEnd)}}));
  return storage_.truncate(log::Stream::kVectors, tail.bytes, end);
}

// --- rewriting -----------------------------------------------------------------------------------

Result<VectorFile::Selection> VectorFile::select(const Keeps& keeps) {
  Selection selection;
  VARVE_TRY_ASSIGN(selection.tail, storage_.vectors_tail());
  VARVE_TRY_ASSIGN(selection.dimension, dimension(selection.tail));
  if (selection.dimension == 0) return selection;
  std::map<std::string, uint64_t, std::less<>> last;  // where the last record of each kept id is
  VARVE_TRY(scan(selection.tail, selection.dimension, 0, [&](const Scanned& scanned) {
    selection.record_count += 1;
    if (!scanned.record) {
      selection.damaged.push_back(scanned.offset);
    } else if (keeps(scanned.record->id)) {
      last[std::string(scanned.record->id)] = scanned.offset;
    }
    return Status();
  }));
  for (const auto& [id, offset] : last) selection.kept.push_back(offset);
  std::sort(selection.kept.begin(), selection.kept.end());
  const uint64_t length = embedding::record_bytes(selection.dimension);
  selection.has_torn_end = selection.tail.bytes != offset_of(selection.record_count, length);
  return selection;
}

Status VectorFile::rewrite(const Selection& selection) {
  whole_ = {};
  if (selection.kept.empty()) return storage_.remove_vectors();
  const uint64_t length = embedding::record_bytes(selection.dimension);
  std::string record(static_cast<size_t>(length), '\0');
  return storage_.replace(log::Stream::kVectors, [&](log::Sink& sink) {
    VARVE_TRY(sink.append(embedding::encode_header(selection.dimension)));
    for (const uint64_t offset : selection.kept) {
      VARVE_TRY_ASSIGN(const size_t got, storage_.read(log::Stream::kVectors,
                                                       selection.tail.generation, offset, record));
      if (got != length || !embedding::parse_record(record, selection.dimension)) {
        Place where = place();
        where.offset = offset;
        return Status(Code::kCorruption,
                      "a vector changed while vectors.bin was rewritten: run verify, then repair",
                      std::move(where));
      }
      VARVE_TRY(sink.append(record));
    }
    return Status();
  });
}

Status VectorFile::set_aside(const Selection& selection, log::Quarantining& quarantine) {
  const uint64_t length = embedding::record_bytes(selection.dimension);
  std::vector<log::Damage> damaged;
  for (const uint64_t offset : selection.damaged) {
    damaged.push_back({log::Stream::kVectors, offset, length, "a damaged vector"});
  }
  if (selection.has_torn_end) {
    const uint64_t end = offset_of(selection.record_count, length);
    damaged.push_back(
        {log::Stream::kVectors, end, selection.tail.bytes - end, std::string(kTornEnd)});
  }
  return quarantine.add(selection.tail.generation, damaged);
}

Status VectorFile::set_all_aside(int64_t now_ms) {
  VARVE_TRY_ASSIGN(const log::VectorsTail tail, storage_.vectors_tail());
  log::Quarantining quarantine(storage_, now_ms);
  VARVE_TRY(quarantine.add(tail.generation,
                           {{log::Stream::kVectors, 0, tail.bytes, "its header is damaged"}}));
  whole_ = {};
  return storage_.remove_vectors();
}

}  // namespace varve::session
