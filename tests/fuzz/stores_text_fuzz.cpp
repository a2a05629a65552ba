// Whatever the bytes are: as kv.json and as transcript.md they are read without harm; what was read
// can be written and read back as it is; and an append to a transcript that ends whole adds one
// entry and changes none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stores/kv_text.h"
#include "stores/transcript_text.h"

namespace {

void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::abort();
}

void check_kv(std::string_view text) {
  const auto read = varve::stores::parse_kv(text);
  const std::string written = varve::stores::format_kv(200, read.entries);
  const auto again = varve::stores::parse_kv(written);
  require(again.damage.empty() && again.entries == read.entries);
}

void check_transcript(std::string_view text) {
  const auto read = varve::stores::parse_transcript(text);
  uint64_t end = 0;
  for (const auto& range : read.damaged) {
    require(range.length > 0 && range.offset >= end && !range.reason.empty());
    end = range.offset + range.length;
  }
  require(end + read.torn_bytes <= text.size());
  const std::string written = varve::stores::format_transcript(read.entries);
  const auto again = varve::stores::parse_transcript(written);
  require(again.entries == read.entries && again.ends_whole && again.damaged.empty());
  if (!read.ends_whole) return;
  auto entries = read.entries;
  entries.push_back({"user", std::string(text.substr(0, 64)), "2025-04-15T10:30:01Z"});
  const std::string separator = text.empty() ? "" : "\n";
  const std::string added =
      std::string(text) + separator + varve::stores::format_entry(entries.back());
  const auto longer = varve::stores::parse_transcript(added);
  // Bytes that are not UTF-8 never get so far as to be appended.
  if (longer.torn_bytes == 0) require(longer.entries == entries && longer.ends_whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_kv(text);
  check_transcript(text);
  return 0;
}
