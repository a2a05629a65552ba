// The bytes of vectors.bin: a header, and records of one length; docs/format.md#vectors.bin lists
// them. Integers and floats are little-endian, as in memory.
//
// Nothing read is trusted: a record counts only when its hash is right, its id is possible, and its
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
// Returns the dimension. kCorruption; kFormatVersion for a newer version.
Result<uint32_t> parse_header(std::string_view bytes);

[[nodiscard]] uint64_t record_bytes(uint32_t dimension);

std::string encode_record(std::string_view id, std::span<const float> values);

struct Record {
  std::string_view id;
  const char* values = nullptr;  // `dimension` float32 values without alignment
};
// `bytes` are exactly record_bytes(). nullopt when the record is damaged. Borrows the bytes.
std::optional<Record> parse_record(std::string_view bytes, uint32_t dimension);

// Why these values cannot be a vector; empty when they can be.
std::string refusal_of(std::span<const float> values);

}  // namespace varve::embedding
