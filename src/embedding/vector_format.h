// The bytes of vectors.bin: a header, and records of one length. docs/format.md#vectors.bin has
// them one by one. Integers and floats are little-endian, as they lie in memory.
//
// Nothing read is trusted: a record counts when its hash is right, its id could be one, and its
// values are finite and not all zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace varve::embedding {

inline constexpr size_t kHeaderBytes = 32;
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint32_t kDimensionMax = 16384;  // 65,536 bytes

std::string encode_header(uint32_t dimension);
// The dimension. kCorruption; kFormatVersion when it is of a newer version.
Result<uint32_t> parse_header(std::string_view bytes);

[[nodiscard]] uint64_t record_bytes(uint32_t dimension);

std::string encode_record(std::string_view id, std::span<const float> values);

struct Record {
  std::string_view id;
  const char* values = nullptr;  // float32, `dimension` of them, of no alignment
};
// Of exactly record_bytes(); nullopt when it is damaged. Borrows the bytes.
std::optional<Record> parse_record(std::string_view bytes, uint32_t dimension);

// Why these values cannot be a vector; empty when they can.
std::string refusal_of(std::span<const float> values);

}  // namespace varve::embedding
