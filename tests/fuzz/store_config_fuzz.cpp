// Whatever config.json is: it is refused with words and changes no setting, or taken; then what was
// set is in the ranges that docs/format.md tells, reading it again changes nothing, and what is
// right when given at opening is right in the file too.
#include <cstdint>
#include <string_view>
#include <tuple>

#include "require.h"
#include "store/config.h"

namespace {

using varve::Code;
using varve::fuzz::require;
using varve::session::Settings;
using varve::store::Config;
using varve::store::ConfigSource;

// All but the decay rules, which are compared by what they answer.
auto figures_of(const Settings& s) {
  return std::tuple(s.session_bytes_max, s.compaction.automatic, s.compaction.threshold,
                    s.user_bytes_max, s.user_sessions_max, s.entry_bytes_max, s.kv_cap,
                    s.transcript_cap, s.lock_timeout_ms, s.batch_write_interval_ms, s.durability,
                    s.recovery, s.failure_buffer_bytes_max, s.text.language, s.text.stop_words,
                    s.best.neighbour, s.best.candidate_count, s.cached_entries_max, s.threads);
}

void require_ranges(const Settings& s) {
  constexpr uint64_t kMegabytesMax = 1'000'000'000;
  constexpr uint64_t kDayMs = 86'400'000;
  require(s.session_bytes_max <= kMegabytesMax << 20 && s.user_bytes_max <= kMegabytesMax << 20);
  require(s.entry_bytes_max <= uint64_t{128} << 20 && s.user_sessions_max <= 1'000'000'000);
  require(s.kv_cap <= varve::session::kCapMax && s.transcript_cap <= varve::session::kCapMax);
  require(s.compaction.threshold >= 0 && s.compaction.threshold <= 1);
  require(s.lock_timeout_ms <= kDayMs && s.cached_entries_max <= 1'000'000);
  require(s.batch_write_interval_ms >= 1 && s.batch_write_interval_ms <= kDayMs / 24);
  require(s.threads >= 1 && s.threads <= 256);
  require(s.failure_buffer_bytes_max <= uint64_t{4096} << 20);
  require(s.best.neighbour >= 0 && s.best.neighbour <= 100);
  require(s.best.candidate_count >= 1 && s.best.candidate_count <= 100'000);
}

bool read(std::string_view text, ConfigSource source, Config* config) {
  const auto before = figures_of(config->settings);
  const auto status = varve::store::read_config(text, source, config);
  if (status.ok()) return true;
  require(status.code() == Code::kInvalidArgument || status.code() == Code::kFormatVersion);
  require(!status.message().empty() && figures_of(config->settings) == before);
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Config given;
  Config of_file;
  const bool is_right_given = read(text, ConfigSource::kGiven, &given);
  const bool is_right_in_file = read(text, ConfigSource::kStored, &of_file);
  require(is_right_in_file || !is_right_given);
  if (is_right_given) require(figures_of(given.settings) == figures_of(of_file.settings));
  if (!is_right_in_file) return 0;
  require_ranges(of_file.settings);
  Config again = of_file;
  require(read(text, ConfigSource::kStored, &again));
  require(figures_of(again.settings) == figures_of(of_file.settings));
  return 0;
}
