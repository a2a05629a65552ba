// Steps on what a session has beside its log: keys, transcript, title.
#include <algorithm>

#include "json/tree.h"
#include "steps.h"

namespace varve::simulation {
namespace {

const std::vector<std::string> kKeys = {"color", "size", "topic", "place", "mood"};
const std::vector<std::string> kDurabilities = {"commit", "commit", "interval", "os"};

// The last so many.
Pairs end_of(const Pairs& pairs, uint64_t count) {
  if (pairs.size() <= count) return pairs;
  return {pairs.end() - static_cast<std::ptrdiff_t>(count), pairs.end()};
}

bool has_key(const Pairs& pairs, const std::string& key) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return pair.first == key; });
}

Pairs without_key(Pairs pairs, const std::string& key) {
  std::erase_if(pairs, [&](const auto& pair) { return pair.first == key; });
  return pairs;
}

Pairs read_pairs(const json::Tree& list, std::string_view first, std::string_view second) {
  Pairs pairs;
  for (const json::Tree& item : list.items()) {
    pairs.emplace_back(item.get_string(first), item.get_string(second));
  }
  return pairs;
}

std::string shown(const Pairs& pairs) {
  std::string text = "{";
  for (const auto& [name, value] : pairs) {
    text += (text.size() > 1 ? ", " : "") + name + ": " + value;
  }
  return text + "}";
}

}  // namespace

void Steps::set_key(SessionModel& model) {
  const std::string key = dice_.pick(kKeys);
  const std::string value = "value " + std::to_string(next_number_++);
  session::Session* session = begin(model, "set " + key + " to " + value);
  if (session == nullptr) return;
  const auto change = [&](const Pairs& pairs) {
    Pairs changed = without_key(pairs, key);
    changed.emplace_back(key, value);
    return end_of(changed, model.settings.kv_cap);
  };
  in_flight(model, model.keys, change);
  const Status status = session->kv_set(key, value);
  const Outcome outcome = model.settings.is_limited
                              ? world_.outcome_of(status, model.settings.id, {Code::kSizeLimit})
                              : world_.outcome_of(status, model.settings.id);
  check_lock(model, outcome);
  model.change(model.keys, &Inside::keys, outcome, true, change);
  end();
}

void Steps::get_key(SessionModel& model) {
  const std::string key = dice_.pick(kKeys);
  session::Session* session = begin(model, "get key " + key);
  if (session == nullptr) return;
  const auto value = session->kv_get(key);
  if (world_.is_answer(value.status(), {Code::kNotFound})) {
    if (value.ok()) world_.tell("-> " + *value);
    const bool is_right = model.inside.keys || model.keys.observe([&](const Pairs& pairs) {
      if (!value.ok()) return !has_key(pairs, key);
      return std::find(pairs.begin(), pairs.end(), Pairs::value_type(key, *value)) != pairs.end();
    });
    if (!is_right) world_.fail("it should be of " + shown(model.keys.now().front()));
  }
  end();
}

void Steps::delete_key(SessionModel& model) {
  const std::string key = dice_.pick(kKeys);
  session::Session* session = begin(model, "delete key " + key);
  if (session == nullptr) return;
  const auto change = [&](const Pairs& pairs) { return without_key(pairs, key); };
  in_flight(model, model.keys, change);
  const Status status = session->kv_delete(key);
  const Outcome outcome = world_.outcome_of(status, model.settings.id, {Code::kNotFound});
  const bool is_missing = status.code() == Code::kNotFound && !world_.was_disturbed();
  if (outcome == Outcome::kDone || is_missing) {
    const bool is_right = model.inside.keys || model.keys.observe([&](const Pairs& pairs) {
      return has_key(pairs, key) == (outcome == Outcome::kDone);
    });
    if (!is_right) world_.fail("keys should be " + shown(model.keys.now().front()));
  }
  model.change(model.keys, &Inside::keys, outcome, true, change);
  end();
}

void Steps::list_keys(SessionModel& model) {
  session::Session* session = begin(model, "list keys");
  if (session == nullptr) return;
  const auto list = session->kv_list();
  if (world_.is_answer(list.status())) {
    const Pairs pairs = read_pairs(*list, "key", "value");
    world_.tell("-> " + shown(pairs));
    const bool is_right = model.inside.keys ||
                          model.keys.observe([&](const Pairs& may_be) { return may_be == pairs; });
    if (!is_right) world_.fail("it should be " + shown(model.keys.now().front()));
  }
  end();
}

void Steps::append_turn(SessionModel& model) {
  const std::string role = dice_.one_in(2) ? "user" : "assistant";
  std::string content = "turn " + std::to_string(next_number_++);
  if (dice_.one_in(4)) content += "\n### user\n\nmore  ";
  session::Session* session = begin(model, "append " + role + " turn");
  if (session == nullptr) return;
  const auto change = [&](const Pairs& pairs) {
    Pairs changed = pairs;
    changed.emplace_back(role, content);
    return end_of(changed, model.settings.transcript_cap);
  };
  in_flight(model, model.transcript, change);
  const Status status = session->transcript_append(role, content);
  const Outcome outcome = model.settings.is_limited
                              ? world_.outcome_of(status, model.settings.id, {Code::kSizeLimit})
                              : world_.outcome_of(status, model.settings.id);
  check_lock(model, outcome);
  model.change(model.transcript, &Inside::transcript, outcome, model.settings.commits(), change);
  end();
}

void Steps::last_turns(SessionModel& model, uint64_t count) {
  if (model.is_transcript_open) count = 1000;
  session::Session* session = begin(model, "last " + std::to_string(count) + " turns");
  if (session == nullptr) return;
  const auto list = session->transcript_last(count);
  if (world_.is_answer(list.status())) {
    const Pairs pairs = read_pairs(*list, "role", "content");
    world_.tell("-> " + shown(pairs));
    if (model.is_transcript_open && !model.inside.transcript) {
      model.transcript = Worlds<Pairs>(pairs);
      model.is_transcript_open = false;
    }
    const bool is_right =
        model.inside.transcript || model.transcript.observe([&](const Pairs& may_be) {
          return end_of(may_be, count) == pairs;
        });
    if (!is_right) {
      world_.fail("it should be " + shown(end_of(model.transcript.now().front(), count)));
    }
  }
  end();
}

void Steps::set_title(SessionModel& model) {
  const std::string title = "title " + std::to_string(next_number_++);
  session::Session* session = begin(model, "set title to " + title);
  if (session == nullptr) return;
  const auto change = [&](const std::string&) { return title; };
  in_flight(model, model.title, change);
  json::Tree patch = json::Tree::object();
  patch.set("title", json::Tree::string(title));
  const Outcome outcome = world_.outcome_of(session->update(patch.canonical()), model.settings.id);
  // A rename that was made and not synced may stay or go.
  const Outcome seen =
      outcome == Outcome::kRefused && world_.was_disturbed() ? Outcome::kUncertain : outcome;
  model.change(model.title, &Inside::title, seen, true, change);
  end();
}

// It holds for every process from its next write on. What was answered before a change to "commit"
// is durable when that is answered.
void Steps::set_durability(SessionModel& model) {
  const bool is_strict = world_.store_config.find("strict") != std::string::npos;
  const std::string wanted = is_strict ? "commit" : dice_.pick(kDurabilities);
  session::Session* session = begin(model, "set durability to " + wanted);
  if (session == nullptr) return;
  const Status status = session->update(R"({"durability":")" + wanted + "\"}");
  const Outcome outcome = world_.outcome_of(status, model.settings.id);
  const bool is_sure = outcome == Outcome::kDone && !world_.was_disturbed();
  if (is_sure || wanted != "commit") model.settings.durability = wanted;  // or less is promised
  if (is_sure && model.settings.commits()) model.make_durable(std::nullopt);
  end();
}

void Steps::get_title(SessionModel& model) {
  session::Session* session = begin(model, "get title");
  if (session == nullptr) return;
  const auto metadata = session->metadata();
  if (world_.is_answer(metadata.status())) {
    const std::string title = metadata->get_string("title");
    world_.tell("-> " + title);
    const bool is_right = model.inside.title || model.title.observe([&](const std::string& may_be) {
      return may_be == title;
    });
    if (!is_right) world_.fail("it should be " + model.title.now().front());
  }
  end();
}

}  // namespace varve::simulation
