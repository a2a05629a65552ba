#include "session/metadata/decay_config.h"

#include <string>
#include <utility>

#include "base/ids.h"
#include "json/object_reader.h"

namespace varve::session {

namespace {

constexpr double kHoursMin = 1e-6;
constexpr double kHoursMax = 1e9;

class DecayReader {
 public:
  DecayReader(std::string_view text, UnknownMembers unknown, decay::Rules* rules)
      : text_(text), unknown_(unknown), rules_(rules) {}

  Status read(json::Value config) {
    json::ObjectReader reader(text_, config);
    reader.read_bool("enabled", &rules_->enabled);
    double minutes = 0;
    reader.read_double("update_interval_minutes", &minutes, 0, kHoursMax);
    decay::Rule common;
    common.curve = rules_->common_curve;
    read_rule(reader, &common);
    rules_->common_curve = common.curve;
    for (auto& [type, rule] : rules_->by_type) apply(config, common, &rule);
    apply(config, common, &rules_->fallback);
    reader.read_double("default_half_life_hours", &rules_->fallback.half_life_hours, kHoursMin,
                       kHoursMax);
    if (const auto types = reader.read_object("type_specific")) read_types(reader, *types);
    return finish(reader);
  }

 private:
  Status finish(json::ObjectReader& reader) const {
    if (unknown_ == UnknownMembers::kPassedOver) reader.allow_unknown();
    Status status = reader.finish();
    return status.ok() ? failure_ : status;
  }

  void read_rule(json::ObjectReader& reader, decay::Rule* rule) {
    reader.read_double("half_life_hours", &rule->half_life_hours, kHoursMin, kHoursMax);
    reader.read_double("min_decay_factor", &rule->factor_min, 0, 1);
    std::string name(decay::curve_name(rule->curve));
    reader.read_string("curve", &name);
    if (const auto* curve = decay::find_curve(name)) {
      rule->curve = *curve;
    } else if (const auto value = reader.read_any("curve")) {
      reader.fail(*value, "must be exponential, linear, step or none");
    }
  }

  // Applies what was given for all types to one type. An exempt one has no curve until
  // type_specific gives it one; a type whose curve is "none" for all types is not exempt.
  static void apply(json::Value config, const decay::Rule& given, decay::Rule* rule) {
    if (!config.is_object()) return;
    if (config.find("min_decay_factor")) rule->factor_min = given.factor_min;
    if (config.find("half_life_hours")) rule->half_life_hours = given.half_life_hours;
    if (!rule->is_exempt && config.find("curve")) rule->curve = given.curve;
  }

  // A type decays if its curve says so, or if it is given a half-life and no curve.
  static bool is_to_decay(json::Value given, const decay::Rule& rule) {
    if (rule.curve != decay::Curve::kNone) return true;
    return given.is_object() && given.find("half_life_hours") && !given.find("curve");
  }

  void set_decays(bool decays, json::Value given, decay::Rule* rule) const {
    if (!decays) {
      rule->curve = decay::Curve::kNone;
      const bool is_said =
          given.is_object() && (given.find("curve") || given.find("decay_enabled"));
      rule->is_exempt = rule->is_exempt || is_said;
      return;
    }
    rule->is_exempt = false;
    if (rule->curve != decay::Curve::kNone) return;
    const bool has_common = rules_->common_curve != decay::Curve::kNone;
    rule->curve = has_common ? rules_->common_curve : decay::Curve::kExponential;
  }

  void read_types(json::ObjectReader& parent, json::Value types) {
    types.for_each_member([&](std::string_view type, json::Value value) {
      if (!is_valid_type(type)) parent.fail(value, "is not a type: [a-z][a-z0-9_]{0,31}");
      json::ObjectReader reader(text_, value);
      const auto known = rules_->by_type.find(type);
      decay::Rule rule = known == rules_->by_type.end() ? rules_->fallback : known->second;
      read_rule(reader, &rule);
      bool decays = is_to_decay(value, rule);
      reader.read_bool("decay_enabled", &decays);
      set_decays(decays, value, &rule);
      Status status = finish(reader);
      if (failure_.ok()) failure_ = std::move(status);
      rules_->by_type[std::string(type)] = rule;
      return true;
    });
  }

  std::string_view text_;
  UnknownMembers unknown_;
  decay::Rules* rules_;
  Status failure_;  // of a type
};

}  // namespace

Status read_decay_config(std::string_view text, json::Value config, UnknownMembers unknown,
                         decay::Rules* rules) {
  decay::Rules changed = *rules;
  VARVE_TRY(DecayReader(text, unknown, &changed).read(config));
  *rules = std::move(changed);
  return {};
}

std::optional<decay::Rules> own_decay_rules(const json::Tree& metadata,
                                            const decay::Rules& of_store) {
  const json::Tree* config = metadata.get("decay_config");
  if (config == nullptr || !config->is_object() || config->members().empty()) return std::nullopt;
  const std::string text = config->canonical();
  json::Document document;
  decay::Rules rules = of_store;
  // It was checked when it was set, but may have been edited by hand since.
  const bool is_right =
      document.parse(text).ok() &&
      read_decay_config(text, document.root(), UnknownMembers::kPassedOver, &rules).ok();
  return is_right ? std::optional(std::move(rules)) : std::nullopt;
}

}  // namespace varve::session
