#include "session/metadata/current_metadata.h"

#include <utility>

#include "session/metadata/decay_config.h"

namespace varve::session {

void CurrentMetadata::set(Metadata fresh) {
  Facts facts = facts_of(fresh);
  set(std::move(fresh), std::move(facts));
}

CurrentMetadata::Facts CurrentMetadata::facts_of(const Metadata& fresh) const {
  const json::Tree& tree = fresh.tree();
  auto own_rules = own_decay_rules(tree, settings_.decay);
  Facts facts;
  facts.decay_rules =
      std::make_shared<const decay::Rules>(own_rules ? *std::move(own_rules) : settings_.decay);
  facts.compacted_through_seq = fresh.compacted_through_seq();
  facts.renewal = session::renewal(tree);
  facts.expiry_ms = session::expiry_ms(tree).value_or(kNeverDue);
  facts.may_have_stray_vectors = tree.get_bool(kStrayVectors);
  return facts;
}

void CurrentMetadata::set(Metadata fresh, Facts facts) noexcept {
  expiry_ms_.store(facts.expiry_ms);
  renews_below_ms_.store(facts.renewal.below_ms);
  renews_from_ms_.store(facts.renewal.from_ms);
  may_have_stray_vectors_.store(facts.may_have_stray_vectors);
  decay_rules_ = std::move(facts.decay_rules);
  compacted_through_seq_ = facts.compacted_through_seq;
  value_ = std::move(fresh);
  damage_.clear();
}

CompactionPolicy CurrentMetadata::compaction_policy() const {
  CompactionPolicy policy = settings_.compaction;
  if (const json::Tree* own = value_.tree().get("compaction_config")) {
    policy.automatic = own->get_bool("auto_compact", policy.automatic);
    policy.threshold = own->get_double("threshold", policy.threshold);
  }
  return policy;
}

}  // namespace varve::session
