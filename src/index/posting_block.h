// The bytes of one block of a posting list (posting_list.h), in either of two forms.
//
//   plain    for each posting its distance to the row before, times two, plus one when the
//            frequency is above 1, and then the frequency less two; both as varint
//   packed   a byte: how many bits there are for a distance less one, 0 to 32; 64 times how many
//            distances need more, 0 to 3
//            a byte: the same of the frequencies less one
//            the distances less one, then the frequencies less one: so many bits each, low ones
//            first, both from a byte on
//            for each distance, then each frequency, that needs more: a byte that says which one it
//            is, counted from 0, and what is above its bits, as varint
//
// Plain is what a list can be added to at its end; packed takes two thirds of it and is read four
// times as fast, once there are a few postings.
//
// Bytes of a file may be anything: reading is bounds-checked, and rows always rise.
//
// source: numbers of as many bits as nearly all need, with exceptions, are PFOR (Zukowski, Heman,
// Nes and Boncz, ICDE 2006).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "index/varint.h"

namespace varve::index {

inline constexpr uint32_t kBlockRows = 128;
inline constexpr uint32_t kNoRow = UINT32_MAX;  // past the last, or before the first
inline constexpr uint32_t kPackedRowsMin = 8;   // fewer are smaller plain

struct DecodedBlock {
  std::array<uint32_t, kBlockRows> rows;
  std::array<uint32_t, kBlockRows> frequencies;
};

inline constexpr size_t kPlainPostingBytesMax = 10;

// Writes one posting where there is room for kPlainPostingBytesMax. The end of what was written.
// `distance` and `frequency` are at least 1.
inline char* write_plain(char* at, uint32_t distance, uint32_t frequency) {
  at = write_varint(at, uint64_t{distance} << 1 | (frequency > 1 ? 1 : 0));
  return frequency > 1 ? write_varint(at, frequency - 2) : at;
}

// The first `count` postings of plain bytes. `row_before`: kNoRow where there is none. How many
// were decoded: less than `count` when the bytes are not right, or end.
uint32_t decode_plain(std::string_view bytes, uint32_t row_before, uint32_t count,
                      DecodedBlock* out);

// Rising rows, the first above `row_before` (kNoRow: none), as many frequencies, kBlockRows at
// most.
void append_packed(uint32_t row_before, std::span<const uint32_t> rows,
                   std::span<const uint32_t> frequencies, std::string* out);

// The same, in the form that so many have: plain where there are fewer than kPackedRowsMin.
void append_block(uint32_t row_before, std::span<const uint32_t> rows,
                  std::span<const uint32_t> frequencies, std::string* out);

// All of `bytes`, which are `count` postings. `count`, or 0 when they are not right.
uint32_t decode_packed(std::string_view bytes, uint32_t row_before, uint32_t count,
                       DecodedBlock* out);

}  // namespace varve::index
