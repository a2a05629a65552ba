#include "embedding/vector_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/ids.h"

namespace varve::embedding {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "VARVEVEC";
constexpr size_t kVersionAt = 8;
constexpr size_t kDimensionAt = 12;
constexpr size_t kReservedAt = 16;
constexpr size_t kHeaderHashAt = 24;

// The parts of a record: hash, length of the id, zeros, id, values.
constexpr size_t kIdLengthAt = 8;
constexpr size_t kIdAt = 16;
constexpr size_t kIdBytes = 128;
constexpr size_t kValuesAt = kIdAt + kIdBytes;

template <typename Number>
void put(std::string* bytes, size_t at, Number value) {
  std::memcpy(bytes->data() + at, &value, sizeof value);
}

template <typename Number>
Number get(std::string_view bytes, size_t at) {
  Number value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

// Whether float32 values at `bytes` are finite and not all zero.
bool is_vector(std::string_view bytes) {
  bool has_direction = false;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    const auto value = get<float>(bytes, at);
    if (!std::isfinite(value)) return false;
    has_direction = has_direction || value != 0;
  }
  return has_direction;
}

}  // namespace

std::string encode_header(uint32_t dimension) {
  std::string bytes(kHeaderBytes, '\0');
  kMagic.copy(bytes.data(), kMagic.size());
  put(&bytes, kVersionAt, kFormatVersion);
  put(&bytes, kDimensionAt, dimension);
  put(&bytes, kHeaderHashAt, hash64(std::string_view(bytes).substr(0, kHeaderHashAt)));
  return bytes;
}

Result<uint32_t> parse_header(std::string_view bytes) {
  const auto damaged = [] { return Status(Code::kCorruption, "its header is damaged"); };
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return damaged();
  if (get<uint64_t>(bytes, kHeaderHashAt) != hash64(bytes.substr(0, kHeaderHashAt))) {
    return damaged();
  }
  const auto version = get<uint32_t>(bytes, kVersionAt);
  if (version > kFormatVersion) {
    return Status(Code::kFormatVersion, "vectors.bin is of version " + std::to_string(version) +
                                            "; this library reads up to " +
                                            std::to_string(kFormatVersion) + ": use a newer varve");
  }
  const auto dimension = get<uint32_t>(bytes, kDimensionAt);
  const bool is_right = version == kFormatVersion && dimension > 0 && dimension <= kDimensionMax &&
                        is_zero(bytes.substr(kReservedAt, kHeaderHashAt - kReservedAt));
  if (!is_right) return damaged();
  return dimension;
}

uint64_t record_bytes(uint32_t dimension) {
  return kValuesAt + sizeof(float) * static_cast<uint64_t>(dimension);
}

std::string encode_record(std::string_view id, std::span<const float> values) {
  std::string bytes(kValuesAt, '\0');
  bytes[kIdLengthAt] = static_cast<char>(id.size());
  id.copy(bytes.data() + kIdAt, kIdBytes);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  put(&bytes, 0, hash64(std::string_view(bytes).substr(kIdLengthAt)));
  return bytes;
}

std::optional<Record> parse_record(std::string_view bytes, uint32_t dimension) {
  if (bytes.size() != record_bytes(dimension)) return std::nullopt;
  if (get<uint64_t>(bytes, 0) != hash64(bytes.substr(kIdLengthAt))) return std::nullopt;
  const size_t id_length = static_cast<uint8_t>(bytes[kIdLengthAt]);
  if (id_length > kIdBytes) return std::nullopt;
  const std::string_view id = bytes.substr(kIdAt, id_length);
  const std::string_view values = bytes.substr(kValuesAt);
  const bool is_right = is_valid_id(id) && is_vector(values) &&
                        is_zero(bytes.substr(kIdLengthAt + 1, kIdAt - kIdLengthAt - 1)) &&
                        is_zero(bytes.substr(kIdAt + id_length, kIdBytes - id_length));
  if (!is_right) return std::nullopt;
  return Record{id, values.data()};
}

std::string refusal_of(std::span<const float> values) {
  if (values.empty() || values.size() > kDimensionMax) {
    return "has " + std::to_string(values.size()) + " numbers; a vector has 1 to " +
           std::to_string(kDimensionMax);
  }
  bool has_direction = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return "has a number that is not finite in float32, at index " + std::to_string(i);
    }
    has_direction = has_direction || values[i] != 0;
  }
  return has_direction ? "" : "is all zeros: it has no direction to compare";
}

}  // namespace varve::embedding
