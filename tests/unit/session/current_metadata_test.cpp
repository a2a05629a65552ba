#include "session/metadata/current_metadata.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace varve::session {
namespace {

constexpr int64_t kCreatedMs = 1'768'000'000'000;
constexpr int64_t kHourMs = 3'600'000;

Metadata metadata_with(std::string_view patch) {
  CreateOptions options;
  options.session_id = "kitchen";
  Metadata made = Metadata::make(options, kCreatedMs);
  EXPECT_TRUE(made.apply_patch(patch).ok());
  return made;
}

TEST(CurrentMetadata, WhatTheSessionDoesNotSayIsTheStores) {
  Settings settings;
  settings.compaction.threshold = 0.5;
  CurrentMetadata current(settings);
  current.set(metadata_with("{}"));
  EXPECT_EQ(current.decay_rules()->of("finding"), settings.decay.of("finding"));
  EXPECT_EQ(current.compaction_policy().threshold, 0.5);
  EXPECT_TRUE(current.compaction_policy().automatic);
  EXPECT_EQ(current.expiry_ms(), kNeverDue);
  EXPECT_EQ(current.renewal().from_ms, kNeverDue);
  EXPECT_FALSE(current.may_have_stray_vectors());
}

TEST(CurrentMetadata, WhatTheSessionSaysComesFirst) {
  const Settings settings;
  CurrentMetadata current(settings);
  current.set(metadata_with(R"({"decay_config":{"half_life_hours":1},"ttl_hours":2,)"
                            R"("compaction_config":{"auto_compact":false,"threshold":0.7}})"));
  EXPECT_EQ(current.decay_rules()->of("finding").half_life_hours, 1);
  EXPECT_FALSE(current.compaction_policy().automatic);
  EXPECT_EQ(current.compaction_policy().threshold, 0.7);
  EXPECT_EQ(current.expiry_ms(), kCreatedMs + 2 * kHourMs);
  EXPECT_EQ(current.renewal().from_ms, kCreatedMs + kHourMs / 4);
  EXPECT_EQ(current.renewal().below_ms, kCreatedMs - 24 * kHourMs);
}

TEST(CurrentMetadata, WhatRecoveryReliesOnIsKnownAsSoonAsItIsSet) {
  const Settings settings;
  CurrentMetadata current(settings);
  Metadata compacted = metadata_with("{}");
  compacted.tree().set("compacted_through_seq", json::Tree::integer(41));
  compacted.tree().set(kStrayVectors, json::Tree::boolean(true));
  const auto facts = current.facts_of(compacted);
  EXPECT_EQ(current.compacted_through_seq(), 0U) << "not before it is set";
  current.set(std::move(compacted), facts);
  EXPECT_EQ(current.compacted_through_seq(), 41U);
  EXPECT_TRUE(current.may_have_stray_vectors());
}

}  // namespace
}  // namespace varve::session
