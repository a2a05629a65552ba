#include "index/posting_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "index/varint.h"

namespace varve::index {

namespace {

constexpr uint32_t kBitsMax = 32;
constexpr uint32_t kExceptionsMax = 3;
constexpr uint32_t kExceptionsShift = 6;  // of how many there are, above the bits
constexpr uint8_t kBitsMask = (1 << kExceptionsShift) - 1;
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr uint32_t kEight = 8;  // numbers are packed together: whole bytes

using Numbers = std::array<uint32_t, kBlockRows>;

constexpr size_t bytes_of(uint32_t count, uint32_t bits) { return (size_t{count} * bits + 7) / 8; }

constexpr uint64_t mask_of(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

// --- packing -------------------------------------------------------------------------------------

struct Packing {
  uint32_t bits = 0;
  uint32_t exception_count = 0;
};

// How many of the numbers need more bits.
uint32_t count_longer(std::span<const uint32_t> numbers, uint32_t bits) {
  if (bits >= kBitsMax) return 0;
  uint32_t count = 0;
  for (const uint32_t number : numbers) count += (number >> bits) != 0 ? 1U : 0U;
  return count;
}

// What exceptions of which so many need more bits take.
size_t exception_bytes(std::span<const uint32_t> numbers, uint32_t bits, uint32_t longer_count) {
  constexpr uint32_t kVarintBits = 7;  // in a byte
  size_t bytes = longer_count;
  for (uint32_t left = longer_count; left > 0; left = count_longer(numbers, bits)) {
    bytes += left;
    bits += kVarintBits;
  }
  return bytes;
}

// The one that takes the fewest bytes: from the bits of the largest number down.
Packing best_packing(std::span<const uint32_t> numbers) {
  uint32_t any = 0;
  for (const uint32_t number : numbers) any |= number;
  const auto count = static_cast<uint32_t>(numbers.size());
  Packing best{static_cast<uint32_t>(std::bit_width(any)), 0};
  size_t best_bytes = bytes_of(count, best.bits);
  for (uint32_t bits = best.bits; bits-- > 0;) {
    const uint32_t longer_count = count_longer(numbers, bits);
    if (longer_count > kExceptionsMax) break;
    const size_t bytes = bytes_of(count, bits) + exception_bytes(numbers, bits, longer_count);
    if (bytes >= best_bytes) continue;
    best = {bits, longer_count};
    best_bytes = bytes;
  }
  return best;
}

// Eight numbers of `kBits` bits make kBits bytes; all shifts are known when this is compiled.
template <uint32_t kBits>
void pack_eights(const uint32_t* numbers, uint32_t eight_count, char* at) {
  constexpr uint32_t kWordBits = 64;
  constexpr uint64_t kMask = mask_of(kBits);
  for (; eight_count > 0; --eight_count, at += kBits, numbers += kEight) {
    std::array<uint64_t, kBits / kEight + 2> words{};
    for (uint32_t i = 0; i < kEight; ++i) {
      const uint64_t number = numbers[i] & kMask;
      const uint32_t first_bit = i * kBits;
      const uint32_t shift = first_bit % kWordBits;
      words[first_bit / kWordBits] |= number << shift;
      words[first_bit / kWordBits + 1] |= number >> 1 >> (kWordBits - 1 - shift);
    }
    std::memcpy(at, words.data(), kBits);
  }
}

// Eight numbers of `kBits` bits take kBits bytes.
template <uint32_t kBits>
void unpack_eights(const char* at, uint32_t eight_count, uint32_t* out) {
  constexpr uint64_t kMask = mask_of(kBits);
  for (; eight_count > 0; --eight_count, at += kBits, out += kEight) {
    for (uint32_t i = 0; i < kEight; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, at + i * kBits / 8, kWordBytes);
      out[i] = static_cast<uint32_t>(word >> i * kBits % 8 & kMask);
    }
  }
}

struct BitCodec {
  void (*pack)(const uint32_t* numbers, uint32_t eight_count, char* at);
  void (*unpack)(const char* at, uint32_t eight_count, uint32_t* out);
};

template <uint32_t... kBits>
constexpr std::array<BitCodec, sizeof...(kBits)> codecs_of(
    std::integer_sequence<uint32_t, kBits...>) {
  return {BitCodec{pack_eights<kBits>, unpack_eights<kBits>}...};
}

// For each number of bits.
constexpr auto kCodecs = codecs_of(std::make_integer_sequence<uint32_t, kBitsMax + 1>());

constexpr uint32_t eights_in(uint32_t count) { return (count + kEight - 1) / kEight; }

// Behind the last number, up to a multiple of eight, there are zeros.
void append_bits(const Numbers& numbers, uint32_t count, uint32_t bits, std::string* out) {
  std::array<char, bytes_of(kBlockRows, kBitsMax)> packed;
  kCodecs[bits].pack(numbers.data(), eights_in(count), packed.data());
  out->append(packed.data(), bytes_of(count, bits));
}

void append_exceptions(std::span<const uint32_t> numbers, const Packing& packing,
                       std::string* out) {
  if (packing.exception_count == 0) return;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint32_t above = numbers[i] >> packing.bits;
    if (above == 0) continue;
    out->push_back(static_cast<char>(i));
    append_varint(out, above);
  }
}

// --- unpacking -----------------------------------------------------------------------------------

bool take_packing(std::string_view* bytes, Packing* packing) {
  if (bytes->empty()) return false;
  const auto byte = static_cast<uint8_t>(bytes->front());
  packing->bits = byte & kBitsMask;
  packing->exception_count = byte >> kExceptionsShift;
  bytes->remove_prefix(1);
  return packing->bits <= kBitsMax;
}

bool take_bits(std::string_view* bytes, uint32_t bits, uint32_t count, Numbers* numbers) {
  const size_t byte_count = bytes_of(count, bits);
  if (byte_count > bytes->size()) return false;
  // Behind the last byte there may be no memory of ours.
  std::array<char, bytes_of(kBlockRows, kBitsMax) + kWordBytes> padded;
  std::memcpy(padded.data(), bytes->data(), byte_count);
  kCodecs[bits].unpack(padded.data(), eights_in(count), numbers->data());
  bytes->remove_prefix(byte_count);
  return true;
}

bool take_exceptions(std::string_view* bytes, const Packing& packing, uint32_t count,
                     Numbers* numbers) {
  for (uint32_t i = 0; i < packing.exception_count; ++i) {
    if (bytes->empty()) return false;
    const auto which = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    uint64_t above = 0;
    if (which >= count || !take_varint(bytes, &above)) return false;
    if (above > uint64_t{UINT32_MAX} >> packing.bits) return false;
    (*numbers)[which] |= static_cast<uint32_t>(above << packing.bits);
  }
  return true;
}

// From distances less one to rows; false when the last, and so perhaps others, is none. Four at a
// time, so that only each fourth waits for the one before.
bool add_up_rows(uint32_t row_before, uint32_t count, Numbers* numbers) {
  constexpr uint32_t kTogether = 4;
  uint32_t* const rows = numbers->data();
  uint64_t row = row_before == kNoRow ? UINT64_MAX : row_before;  // -1
  uint32_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    const uint64_t first = uint64_t{rows[i]} + 1;
    const uint64_t second = first + rows[i + 1] + 1;
    const uint64_t third = second + rows[i + 2] + 1;
    const uint64_t fourth = third + rows[i + 3] + 1;
    rows[i] = static_cast<uint32_t>(row + first);
    rows[i + 1] = static_cast<uint32_t>(row + second);
    rows[i + 2] = static_cast<uint32_t>(row + third);
    row += fourth;
    rows[i + 3] = static_cast<uint32_t>(row);
  }
  for (; i < count; ++i) {
    row += uint64_t{rows[i]} + 1;
    rows[i] = static_cast<uint32_t>(row);
  }
  return row < kNoRow;
}

}  // namespace

// --- plain ---------------------------------------------------------------------------------------

namespace {

struct PlainPosting {
  uint64_t distance = 0;  // 0: it is none
  uint32_t frequency = 1;
};

constexpr size_t kShortBytes = 3;

// One of kShortBytes at most, as nearly all are, where there are so many bytes. How many it takes;
// 0 when it takes more.
uint32_t read_short(const char* bytes, PlainPosting* posting) {
  const auto byte = [bytes](uint32_t i) { return static_cast<uint8_t>(bytes[i]); };
  uint32_t value = byte(0);
  uint32_t taken_bytes = 1;
  if (value >= 0x80) {
    if (byte(1) >= 0x80) return 0;
    value = (value & 0x7F) | uint32_t{byte(1)} << 7;
    taken_bytes = 2;
  }
  const uint32_t has_frequency = value & 1;
  const uint32_t more = byte(taken_bytes) & (0 - has_frequency);
  if (more >= 0x80) return 0;
  *posting = {value >> 1, 1 + has_frequency + more};
  return taken_bytes + has_frequency;
}

bool take_plain(std::string_view* bytes, PlainPosting* posting) {
  if (bytes->size() >= kShortBytes) {
    const uint32_t taken_bytes = read_short(bytes->data(), posting);
    bytes->remove_prefix(taken_bytes);
    if (taken_bytes > 0) return true;
  }
  uint64_t value = 0;
  uint64_t more = 0;  // frequency beyond 2
  if (!take_varint(bytes, &value)) return false;
  const bool has_frequency = (value & 1) != 0;
  if (has_frequency && (!take_varint(bytes, &more) || more > UINT32_MAX - 2)) return false;
  *posting = {value >> 1, has_frequency ? static_cast<uint32_t>(more) + 2 : 1};
  return true;
}

}  // namespace

uint32_t decode_plain(std::string_view bytes, uint32_t row_before, uint32_t count,
                      DecodedBlock* out) {
  uint64_t row = row_before == kNoRow ? UINT64_MAX : row_before;  // -1
  for (uint32_t i = 0; i < count; ++i) {
    PlainPosting posting;
    if (!take_plain(&bytes, &posting)) return i;
    row += posting.distance;
    if (posting.distance == 0 || row >= kNoRow) return i;
    out->rows[i] = static_cast<uint32_t>(row);
    out->frequencies[i] = posting.frequency;
  }
  return count;
}

// --- packed --------------------------------------------------------------------------------------

void append_packed(uint32_t row_before, std::span<const uint32_t> rows,
                   std::span<const uint32_t> frequencies, std::string* out) {
  std::array<Numbers, 2> columns;
  const auto count = static_cast<uint32_t>(rows.size());
  for (uint32_t i = 0; i < count; ++i) {
    columns[0][i] = rows[i] - row_before - 1;  // from kNoRow, that is -1, to the first
    columns[1][i] = frequencies[i] - 1;
    row_before = rows[i];
  }
  std::array<Packing, 2> packings;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::fill(columns[i].begin() + count, columns[i].begin() + eights_in(count) * kEight, 0);
    packings[i] = best_packing(std::span(columns[i]).first(count));
    out->push_back(
        static_cast<char>(packings[i].bits | packings[i].exception_count << kExceptionsShift));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    append_bits(columns[i], count, packings[i].bits, out);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    append_exceptions(std::span(columns[i]).first(count), packings[i], out);
  }
}

void append_block(uint32_t row_before, std::span<const uint32_t> rows,
                  std::span<const uint32_t> frequencies, std::string* out) {
  if (rows.size() >= kPackedRowsMin) return append_packed(row_before, rows, frequencies, out);
  std::array<char, kPackedRowsMin * kPlainPostingBytesMax> written;
  char* at = written.data();
  for (size_t i = 0; i < rows.size(); ++i) {
    at = write_plain(at, rows[i] - row_before, frequencies[i]);  // from kNoRow, that is -1
    row_before = rows[i];
  }
  out->append(written.data(), at);
}

uint32_t decode_packed(std::string_view bytes, uint32_t row_before, uint32_t count,
                       DecodedBlock* out) {
  Packing distance;
  Packing frequency;
  if (!take_packing(&bytes, &distance) || !take_packing(&bytes, &frequency)) return 0;
  if (!take_bits(&bytes, distance.bits, count, &out->rows)) return 0;
  if (!take_bits(&bytes, frequency.bits, count, &out->frequencies)) return 0;
  if (!take_exceptions(&bytes, distance, count, &out->rows)) return 0;
  if (!take_exceptions(&bytes, frequency, count, &out->frequencies)) return 0;
  if (!bytes.empty()) return 0;
  if (frequency.bits == kBitsMax || frequency.exception_count > 0) {
    const auto* const begin = out->frequencies.data();
    if (std::find(begin, begin + count, UINT32_MAX) != begin + count) return 0;
  }
  for (uint32_t i = 0; i < count; ++i) out->frequencies[i] += 1;
  return add_up_rows(row_before, count, &out->rows) ? count : 0;
}

}  // namespace varve::index
