#include "store/config.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::store {
namespace {

using log::Durability;

Status read(std::string_view text, Config* config, ConfigSource source = ConfigSource::kGiven) {
  return read_config(text, source, config);
}

TEST(Config, EveryDocumentedMemberIsTaken) {
  Config config;
  const session::Settings& settings = config.settings;
  const Status status = read(
      R"({"version":"1.0",
          "storage":{"root_directory":"./memory","max_session_size_mb":2.5,
                     "max_entry_size_bytes":5000,"compaction_threshold":0.8,"auto_compact":true},
          "concurrency":{"lock_timeout_ms":7000,"max_retries":3,"retry_backoff_ms":100},
          "decay":{"enabled":true,"update_interval_minutes":60,"half_life_hours":168,
                   "min_decay_factor":0.1,"type_specific":{"decision":{"half_life_hours":720}}},
          "performance":{"cache_size":1000,"batch_write_interval_ms":250,"index_in_memory":true,
                         "max_kept_sessions":9},
          "integrity":{"enable_checksums":true,"checksum_algorithm":"sha256"},
          "text":{"language":"english","stop_words":["the"]},
          "durability":"interval","threads":4})",
      &config);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(settings.session_bytes_max, uint64_t{5} << 19);
  EXPECT_EQ(settings.entry_bytes_max, 5000u);
  EXPECT_EQ(settings.lock_timeout_ms, 7000u);
  EXPECT_EQ(settings.batch_write_interval_ms, 250u);
  EXPECT_EQ(settings.kept_sessions_max, 9u);
  EXPECT_EQ(settings.durability, Durability::kInterval);
}

TEST(Config, WhatIsNotGivenStays) {
  Config config;
  session::Settings& settings = config.settings;
  settings.lock_timeout_ms = 77;
  settings.durability = Durability::kOs;
  ASSERT_TRUE(read(R"({"storage":{"max_entry_size_bytes":9}})", &config).ok());
  EXPECT_EQ(settings.lock_timeout_ms, 77u);
  EXPECT_EQ(settings.durability, Durability::kOs);
  EXPECT_EQ(settings.entry_bytes_max, 9u);
  EXPECT_EQ(settings.session_bytes_max, uint64_t{10} << 20);
  ASSERT_TRUE(read("{}", &config).ok());
  EXPECT_EQ(settings.entry_bytes_max, 9u);
}

TEST(Config, UnknownMembersAreRefusedWhenGivenAndPassedOverInTheFile) {
  struct Case {
    std::string text;
    std::string member;
    uint64_t offset;
  };
  for (const Case& unknown :
       {Case{R"({"lock_timeout_ms":1})", "lock_timeout_ms", 19},
        Case{R"({"concurrency":{"lock_timeout_ms":5,"more":1}})", "concurrency.more", 43},
        Case{R"({"storage":{"x":{}}})", "storage.x", 16}}) {
    Config config;
    const session::Settings& settings = config.settings;
    const Status refused = read(unknown.text, &config);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << unknown.text;
    EXPECT_EQ(refused.place().member, unknown.member);
    EXPECT_EQ(refused.place().offset, unknown.offset) << unknown.text;
    EXPECT_EQ(settings.lock_timeout_ms, session::Settings().lock_timeout_ms) << "half applied";
    EXPECT_TRUE(read(unknown.text, &config, ConfigSource::kStored).ok()) << unknown.text;
  }
}

TEST(Config, WrongValuesAreRefusedWhoeverGivesThem) {
  struct Case {
    std::string text;
    std::string member;
  };
  for (const Case& wrong :
       {Case{R"({"durability":"never"})", "durability"}, Case{R"({"durability":1})", "durability"},
        Case{R"({"threads":0})", "threads"}, Case{R"({"threads":1.5})", "threads"},
        Case{R"({"storage":[]})", "storage"}, Case{R"({"storage":null})", "storage"},
        Case{R"({"storage":{"max_session_size_mb":-1}})", "storage.max_session_size_mb"},
        Case{R"({"storage":{"max_entry_size_bytes":-1}})", "storage.max_entry_size_bytes"},
        Case{R"({"storage":{"max_entry_size_bytes":1e9}})", "storage.max_entry_size_bytes"},
        Case{R"({"concurrency":{"lock_timeout_ms":"5"}})", "concurrency.lock_timeout_ms"},
        Case{R"({"concurrency":{"exclusive":"yes"}})", "concurrency.exclusive"},
        Case{R"({"performance":{"batch_write_interval_ms":0}})",
             "performance.batch_write_interval_ms"},
        Case{R"({"integrity":{"enable_checksums":false}})", "integrity.enable_checksums"},
        Case{R"({"integrity":{"recovery":"all"}})", "integrity.recovery"},
        Case{R"({"integrity":{"recovery":true}})", "integrity.recovery"},
        Case{R"({"integrity":{"io_failure":"retry"}})", "integrity.io_failure"},
        Case{R"({"integrity":{"io_failure_buffer_mb":0}})", "integrity.io_failure_buffer_mb"},
        Case{R"({"integrity":{"checksum_algorithm":"md5"}})", "integrity.checksum_algorithm"}}) {
    for (const auto source : {ConfigSource::kGiven, ConfigSource::kStored}) {
      Config config;
      const Status refused = read(wrong.text, &config, source);
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << wrong.text;
      EXPECT_EQ(refused.place().member, wrong.member) << wrong.text;
      EXPECT_TRUE(refused.place().offset.has_value()) << wrong.text;
    }
  }
}

TEST(Config, RecoveryIsOneOfThree) {
  Config config;
  const session::Settings& settings = config.settings;
  EXPECT_EQ(settings.recovery, session::Recovery::kTail);
  ASSERT_TRUE(read(R"({"integrity":{"recovery":"strict"}})", &config).ok());
  EXPECT_EQ(settings.recovery, session::Recovery::kStrict);
  ASSERT_TRUE(read(R"({"integrity":{"enable_checksums":true}})", &config).ok());
  EXPECT_EQ(settings.recovery, session::Recovery::kStrict) << "what is not said stays";
  ASSERT_TRUE(read(R"({"integrity":{"recovery":"salvage"}})", &config).ok());
  EXPECT_EQ(settings.recovery, session::Recovery::kSalvage);
  ASSERT_TRUE(read(R"({"integrity":{"recovery":"tail"}})", &config).ok());
  EXPECT_EQ(settings.recovery, session::Recovery::kTail);
}

TEST(Config, EntriesThatTheDiskDoesNotTakeAreRefusedOrKept) {
  Config config;
  const session::Settings& settings = config.settings;
  ASSERT_TRUE(read("{}", &config).ok());
  EXPECT_EQ(settings.failure_buffer_bytes_max, 0u);
  ASSERT_TRUE(
      read(R"({"integrity":{"io_failure":"buffer","io_failure_buffer_mb":2}})", &config).ok());
  EXPECT_EQ(settings.failure_buffer_bytes_max, uint64_t{2} << 20);
  ASSERT_TRUE(read("{}", &config).ok());
  EXPECT_EQ(settings.failure_buffer_bytes_max, uint64_t{2} << 20) << "what is not said stays";
  ASSERT_TRUE(read(R"({"integrity":{"io_failure":"error"}})", &config).ok());
  EXPECT_EQ(settings.failure_buffer_bytes_max, 0u);
  ASSERT_TRUE(read(R"({"integrity":{"io_failure":"buffer"}})", &config).ok());
  EXPECT_EQ(settings.failure_buffer_bytes_max, uint64_t{2} << 20) << "of the member that stayed";
  Config other;
  ASSERT_TRUE(read(R"({"integrity":{"io_failure":"buffer"}})", &other).ok());
  EXPECT_EQ(other.settings.failure_buffer_bytes_max, uint64_t{16} << 20);
}

// config.json, then what is given at opening: the other members of the first one stay.
TEST(Config, DecayIsOverriddenMemberByMember) {
  Config config;
  const session::Settings& settings = config.settings;
  ASSERT_TRUE(read(R"({"decay":{"default_half_life_hours":50,"curve":"none","type_specific":{
      "decision":{"half_life_hours":5,"min_decay_factor":0.3},
      "summary":{"decay_enabled":false}}}})",
                   &config)
                  .ok());
  EXPECT_EQ(settings.decay.of("message").curve, decay::Curve::kNone);
  ASSERT_TRUE(read(R"({"decay":{"half_life_hours":10,"curve":"linear","type_specific":{
      "decision":{"half_life_hours":6},"summary":{"half_life_hours":7}}}})",
                   &config)
                  .ok());
  EXPECT_EQ(settings.decay.of("message"), (decay::Rule{decay::Curve::kLinear, 10, 0.1}));
  EXPECT_EQ(settings.decay.of("else"), (decay::Rule{decay::Curve::kLinear, 50, 0.1}));
  EXPECT_EQ(settings.decay.of("decision"), (decay::Rule{decay::Curve::kLinear, 6, 0.3}));
  EXPECT_EQ(settings.decay.of("summary").curve, decay::Curve::kNone);
  ASSERT_TRUE(read(R"({"decay":{"min_decay_factor":0.2}})", &config).ok());
  EXPECT_EQ(settings.decay.of("message"), (decay::Rule{decay::Curve::kLinear, 10, 0.2}));
  EXPECT_EQ(settings.decay.of("decision"), (decay::Rule{decay::Curve::kLinear, 6, 0.3}));
}

TEST(Config, ADecayThatIsRefusedChangesNothing) {
  Config config;
  const session::Settings& settings = config.settings;
  EXPECT_FALSE(read(R"({"decay":{"half_life_hours":10,"curve":"x"}})", &config).ok());
  ASSERT_TRUE(read(R"({"decay":{"curve":"step"}})", &config).ok());
  EXPECT_EQ(settings.decay.of("message"), (decay::Rule{decay::Curve::kStep, 168, 0.1}));
}

TEST(Config, TextsThatAreNoConfigurationAreRefused) {
  Config config;
  for (const std::string text :
       {"", "[]", "null", "7", "{", "{\"threads\":1,\"threads\":2}", "{} x", "\xff"}) {
    EXPECT_EQ(read(text, &config).code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(read(text, &config, ConfigSource::kStored).code(), Code::kInvalidArgument) << text;
  }
}

TEST(Config, AnEditorsByteOrderMarkIsPassedOver) {
  Config config;
  const Status status =
      read("\xEF\xBB\xBF{\"durability\":\"os\"}\r\n", &config, ConfigSource::kStored);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(config.settings.durability, Durability::kOs);
}

TEST(Config, OffsetsCountTheByteOrderMark) {
  Config config;
  const Status wrong = read("\xEF\xBB\xBF{\"durability\":1}", &config, ConfigSource::kStored);
  EXPECT_EQ(wrong.place().offset, 17u);
  EXPECT_NE(wrong.message().find("at byte 17"), std::string::npos) << wrong.message();
  EXPECT_EQ(read("\xEF\xBB\xBF{]", &config, ConfigSource::kStored).place().offset, 4u);
}

TEST(Config, ANewerVersionIsRefused) {
  Config config;
  for (const std::string text :
       {R"({"version":"2.0"})", R"({"version":2})", R"({"version":2.5})", R"({"version":"10"})",
        R"({"version":"18446744073709551617.0"})"}) {
    const Status refused = read(text, &config);
    EXPECT_EQ(refused.code(), Code::kFormatVersion) << text;
    EXPECT_TRUE(refused.message().ends_with(": use a newer varve")) << refused.message();
    EXPECT_EQ(refused.place().member, "version");
    EXPECT_EQ(refused.place().offset, 11u);
    EXPECT_EQ(read(text, &config, ConfigSource::kStored).code(), Code::kFormatVersion) << text;
  }
  for (const std::string text :
       {R"({"version":"1.0"})", R"({"version":"1.7"})", R"({"version":1})", R"({"version":"1"})"}) {
    EXPECT_TRUE(read(text, &config).ok()) << text;
  }
}

TEST(Config, WhatIsNoVersionIsAWrongMemberAndNotANewerVersion) {
  Config config;
  for (const std::string value : {"true", "{}", "[]", "null", R"("")", R"("one")", R"("2beta")",
                                  "-1", "0", R"("0.9")", R"(".5")", R"("\u001b[2J")"}) {
    for (const auto source : {ConfigSource::kGiven, ConfigSource::kStored}) {
      const Status refused = read(R"({"version":)" + value + "}", &config, source);
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << value;
      EXPECT_EQ(refused.message(),
                "member 'version': must be a version such as \"1.0\" (at byte 11)");
      EXPECT_EQ(refused.place().member, "version");
    }
  }
}

TEST(Config, OfAVeryLongVersionTheStartIsShown) {
  Config config;
  const Status refused = read(R"({"version":"2.)" + std::string(100'000, '0') + "\"}", &config);
  EXPECT_EQ(refused.code(), Code::kFormatVersion);
  EXPECT_LT(refused.message().size(), 200u);
}

TEST(Config, ANewerVersionWithUnknownMembersIsAVersionProblem) {
  Config config;
  EXPECT_EQ(read(R"({"unknown":{"a":1},"version":"3.0"})", &config).code(), Code::kFormatVersion);
}

TEST(Config, TheFirstSectionThatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"concurrency":{"lock_timeout_ms":-1},"storage":{"kv_cap":-1}})", "storage.kv_cap"},
      {R"({"storage":{"kv_cap":-1},"decay":{"curve":"x"}})", "storage.kv_cap"},
      {R"({"storage":{"kv_cap":-1},"text":{"best":{"role":-1}}})", "storage.kv_cap"},
  };
  for (const auto& [text, member] : cases) {
    Config config;
    EXPECT_EQ(read(text, &config).place().member, member) << text;
  }
}

TEST(Config, TextIsOfALanguageAndHasWeights) {
  Config config;
  const session::Settings& settings = config.settings;
  ASSERT_TRUE(read(R"({"text":{"language":"de","best":{"neighbour":2.5,"answer":0,"stretch":3,
                       "role":1,"date":0.5,"relevance":7,"candidates":250}}})",
                   &config)
                  .ok());
  EXPECT_EQ(settings.text.language, "de");
  EXPECT_FALSE(settings.text.own_stop_words);
  EXPECT_EQ(settings.best.neighbour, 2.5);
  EXPECT_EQ(settings.best.answer, 0);
  EXPECT_EQ(settings.best.stretch, 3);
  EXPECT_EQ(settings.best.role, 1);
  EXPECT_EQ(settings.best.date, 0.5);
  EXPECT_EQ(settings.best.relevance, 7);
  EXPECT_EQ(settings.best.candidate_count, 250u);
  ASSERT_TRUE(read(R"({"text":{"stop_words":[]}})", &config).ok());
  EXPECT_EQ(settings.text.language, "de") << "what is not said stays";
  EXPECT_TRUE(settings.text.own_stop_words);
  const std::pair<const char*, const char*> cases[] = {
      {R"({"text":{"language":"klingon"}})", "text.language"},
      {R"({"text":{"best":{"role":101}}})", "text.best.role"},
      {R"({"text":{"best":{"candidates":0}}})", "text.best.candidates"},
      {R"({"text":{"best":{"luck":1}}})", "text.best.luck"},
      {R"({"text":{"best":7}})", "text.best"},
  };
  for (const auto& [text, member] : cases) {
    const Status refused = read(text, &config);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(refused.place().member, member) << text;
  }
  EXPECT_EQ(settings.best.role, 1) << "half applied";
  EXPECT_TRUE(read(R"({"text":{"best":{"luck":1}}})", &config, ConfigSource::kStored).ok());
}

TEST(Config, ZeroMeansNoLimit) {
  Config config;
  const session::Settings& settings = config.settings;
  ASSERT_TRUE(
      read(R"({"storage":{"max_session_size_mb":0,"max_entry_size_bytes":0}})", &config).ok());
  EXPECT_EQ(settings.session_bytes_max, 0u);
  EXPECT_EQ(settings.entry_bytes_max, 0u);
}

TEST(Config, ALimitOfLessThanAByteIsNotNone) {
  Config config;
  const session::Settings& settings = config.settings;
  ASSERT_TRUE(
      read(R"({"storage":{"max_session_size_mb":1e-9,"max_user_size_mb":1e-9}})", &config).ok());
  EXPECT_EQ(settings.session_bytes_max, 1u);
  EXPECT_EQ(settings.user_bytes_max, 1u);
}

}  // namespace
}  // namespace varve::store
