#include "store/config.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/object_reader.h"
#include "session/metadata/decay_config.h"
#include "session/metadata/durability_names.h"
#include "text/stemmer.h"

namespace varve::store {

namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;
constexpr double kWeightMax = 100;
constexpr uint64_t kCandidatesMax = 100'000;
constexpr uint64_t kHourMs = 3'600'000;
constexpr uint64_t kFailureBufferMbMax = 4096;
constexpr uint64_t kMajor = 1;  // of the versions that are read
constexpr size_t kShownBytesMax = 32;

// In bytes. Only 0 is no limit: what is less than a byte must not become that.
uint64_t limit_of(double megabytes) {
  const auto bytes = static_cast<uint64_t>(megabytes * kMegabyte);
  return bytes == 0 && megabytes > 0 ? 1 : bytes;
}

// The number before the first dot: 1 of "1.0" and of 1, 0 of what is no version. Only as far as it
// matters: all from 10 on are 10.
uint64_t major_of(std::string_view version) {
  const std::string_view digits = version.substr(0, version.find('.'));
  uint64_t major = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return 0;
    major = std::min<uint64_t>(major * 10 + static_cast<uint64_t>(c - '0'), 10);
  }
  return major;
}

class ConfigReader {
 public:
  ConfigReader(std::string_view text, ConfigSource source, Config* config)
      : text_(text), source_(source), config_(config), settings_(&config->settings) {}

  Status read(json::Value root) {
    json::ObjectReader reader(text_, root);
    VARVE_TRY(read_version(root));
    (void)reader.read_any("version");
    read_section(reader, "storage", &ConfigReader::read_storage);
    read_section(reader, "concurrency", &ConfigReader::read_concurrency);
    read_decay(reader);
    read_section(reader, "performance", &ConfigReader::read_performance);
    read_section(reader, "integrity", &ConfigReader::read_integrity);
    read_section(reader, "text", &ConfigReader::read_text);
    read_durability(reader);
    reader.read_uint("threads", &settings_->threads, 1, 256);
    Status status = finish(reader);
    return status.ok() ? std::move(failure_) : std::move(status);
  }

 private:
  using Read = void (ConfigReader::*)(json::ObjectReader&);

  Status finish(json::ObjectReader& reader) const {
    if (source_ == ConfigSource::kStored) reader.allow_unknown();
    return reader.finish();
  }

  void read_section(json::ObjectReader& parent, std::string_view name, Read read_members) {
    const auto section = parent.read_object(name);
    if (!section) return;
    json::ObjectReader reader(text_, *section);
    (this->*read_members)(reader);
    Status status = finish(reader);
    if (failure_.ok()) failure_ = std::move(status);
  }

  Status read_version(json::Value root) const {
    const auto version = root.is_object() ? root.find("version") : std::nullopt;
    if (!version) return {};
    const uint64_t major = major_of(version->text());
    if (major == kMajor) return {};
    if (major < kMajor) {
      return json::invalid_at(text_, *version, "must be a version such as \"1.0\"");
    }
    return {Code::kFormatVersion,
            "the configuration is of version " +
                std::string(cut_utf8(version->text(), kShownBytesMax)) +
                "; this library reads version 1.0: use a newer varve",
            {.member = "version", .offset = version->document().offset_of(*version, text_)}};
  }

  void read_storage(json::ObjectReader& reader) {
    std::string root_directory;  // not used: the store has been found already
    reader.read_string("root_directory", &root_directory);
    double megabytes = static_cast<double>(settings_->session_bytes_max) / kMegabyte;
    reader.read_double("max_session_size_mb", &megabytes, 0, 1e9);
    settings_->session_bytes_max = limit_of(megabytes);
    double user_megabytes = static_cast<double>(settings_->user_bytes_max) / kMegabyte;
    reader.read_double("max_user_size_mb", &user_megabytes, 0, 1e9);
    settings_->user_bytes_max = limit_of(user_megabytes);
    reader.read_uint("max_user_sessions", &settings_->user_sessions_max, 0, 1'000'000'000);
    reader.read_uint("max_entry_size_bytes", &settings_->entry_bytes_max, 0, uint64_t{128} << 20);
    reader.read_uint("kv_cap", &settings_->kv_cap, 0, session::kCapMax);
    reader.read_uint("transcript_cap", &settings_->transcript_cap, 0, session::kCapMax);
    reader.read_double("compaction_threshold", &settings_->compaction.threshold, 0, 1);
    reader.read_bool("auto_compact", &settings_->compaction.automatic);
  }

  void read_concurrency(json::ObjectReader& reader) {
    uint64_t ignored = 0;
    reader.read_uint("lock_timeout_ms", &settings_->lock_timeout_ms, 0, 24 * kHourMs);
    bool exclusive = settings_->exclusive;
    reader.read_bool("exclusive", &exclusive);
    // Not from config.json: all who read it would keep each other out.
    if (source_ == ConfigSource::kGiven) settings_->exclusive = exclusive;
    reader.read_uint("max_retries", &ignored, 0, 1000);
    reader.read_uint("retry_backoff_ms", &ignored, 0, kHourMs);
  }

  void read_decay(json::ObjectReader& reader) {
    const auto section = reader.read_object("decay");
    if (!section) return;
    Status status = check_decay(*section);
    if (status.ok()) status = merge_decay(*section);
    if (failure_.ok()) failure_ = std::move(status);
  }

  Status check_decay(json::Value section) const {
    decay::Rules rules = decay::Rules::defaults();
    const auto unknown = source_ == ConfigSource::kGiven ? session::UnknownMembers::kRefused
                                                         : session::UnknownMembers::kPassedOver;
    return session::read_decay_config(text_, section, unknown, &rules);
  }

  // What is for all types would wipe out what an earlier object said of one type. So the members
  // are put together, and the rules made anew of all of them.
  Status merge_decay(json::Value section) {
    config_->decay.merge_patch(json::Tree::from(section));
    const std::string text = config_->decay.canonical();
    json::Document document;
    VARVE_TRY(document.parse(text));
    settings_->decay = decay::Rules::defaults();
    return session::read_decay_config(text, document.root(), session::UnknownMembers::kPassedOver,
                                      &settings_->decay);
  }

  void read_performance(json::ObjectReader& reader) {
    bool index_in_memory = true;
    reader.read_uint("cache_size", &settings_->cached_entries_max, 0, 1'000'000);
    reader.read_uint("max_kept_sessions", &settings_->kept_sessions_max, 0, 1'000'000);
    reader.read_uint("batch_write_interval_ms", &settings_->batch_write_interval_ms, 1, kHourMs);
    reader.read_bool("index_in_memory", &index_in_memory);
  }

  void read_integrity(json::ObjectReader& reader) {
    bool enable_checksums = true;
    reader.read_bool("enable_checksums", &enable_checksums);
    read_recovery(reader);
    read_io_failure(reader);
    std::string algorithm = "sha256";
    reader.read_string("checksum_algorithm", &algorithm);
    if (algorithm != "sha256") {
      reader.fail(*reader.read_any("checksum_algorithm"), "must be \"sha256\"");
    }
    if (!enable_checksums) {
      reader.fail(*reader.read_any("enable_checksums"),
                  "checksums are part of the format and always on");
    }
  }

  void read_recovery(json::ObjectReader& reader) {
    std::string name;
    reader.read_string("recovery", &name);
    if (name == "tail") {
      settings_->recovery = session::Recovery::kTail;
    } else if (name == "strict") {
      settings_->recovery = session::Recovery::kStrict;
    } else if (name == "salvage") {
      settings_->recovery = session::Recovery::kSalvage;
    } else if (const auto value = reader.read_any("recovery")) {
      reader.fail(*value, "must be \"tail\", \"strict\" or \"salvage\"");
    }
  }

  void read_io_failure(json::ObjectReader& reader) {
    std::string name = settings_->failure_buffer_bytes_max > 0 ? "buffer" : "error";
    reader.read_string("io_failure", &name);
    if (name != "error" && name != "buffer") {
      reader.fail(*reader.read_any("io_failure"), "must be \"error\" or \"buffer\"");
    }
    uint64_t& buffer_mb = config_->failure_buffer_mb;
    reader.read_uint("io_failure_buffer_mb", &buffer_mb, 1, kFailureBufferMbMax);
    settings_->failure_buffer_bytes_max = name == "buffer" ? buffer_mb << 20 : 0;
  }

  void read_text(json::ObjectReader& reader) {
    text::Settings& text = settings_->text;
    reader.read_string("language", &text.language);
    if (const auto value = reader.read_any("language");
        value && !text::Stemmer::knows(text.language)) {
      reader.fail(*value, "must be \"none\" or a language that Snowball has, such as \"en\"");
    }
    if (const auto value = reader.read_object("best")) read_weights(*value);
    if (!reader.read_any("stop_words")) return;
    reader.read_strings("stop_words", &text.stop_words);
    text.own_stop_words = true;
  }

  void read_weights(json::Value object) {
    json::ObjectReader reader(text_, object);
    query::BestWeights& weights = settings_->best;
    const std::pair<std::string_view, double*> members[] = {
        {"neighbour", &weights.neighbour}, {"answer", &weights.answer},
        {"stretch", &weights.stretch},     {"role", &weights.role},
        {"date", &weights.date},           {"relevance", &weights.relevance},
    };
    for (const auto& [name, weight] : members) reader.read_double(name, weight, 0, kWeightMax);
    uint64_t count = weights.candidate_count;
    reader.read_uint("candidates", &count, 1, kCandidatesMax);
    weights.candidate_count = static_cast<uint32_t>(count);
    Status status = finish(reader);
    if (failure_.ok()) failure_ = std::move(status);
  }

  void read_durability(json::ObjectReader& reader) {
    std::string name;
    reader.read_string("durability", &name);
    if (const auto durability = session::durability_named(name)) {
      settings_->durability = *durability;
    } else if (const auto value = reader.read_any("durability")) {
      reader.fail(*value, session::kMustBeDurability);
    }
  }

  std::string_view text_;
  ConfigSource source_;
  Config* config_;
  session::Settings* settings_;  // of config_
  Status failure_;               // of a section
};

}  // namespace

Status read_config(std::string_view text, ConfigSource source, Config* config) {
  std::string scratch;
  text = blanked_byte_order_mark(text, &scratch);
  json::Document document;
  VARVE_TRY(document.parse(text));
  Config changed = *config;
  VARVE_TRY(ConfigReader(text, source, &changed).read(document.root()));
  *config = std::move(changed);
  return {};
}

std::string config_path(std::string_view uri) {
  if (uri.starts_with("file:")) uri.remove_prefix(5);
  std::string path(uri);
  if (!path.ends_with('/')) path += '/';
  return path + "config.json";
}

}  // namespace varve::store
