// Steps that read entries: every answer is compared with the model as a whole.
#include <algorithm>
#include <map>
#include <set>

#include "base/time.h"
#include "json/tree.h"
#include "steps.h"
#include "support/exported_text.h"

namespace varve::simulation {
namespace {

std::string joined(const std::vector<std::string>& ids) {
  std::string text = "[";
  for (const std::string& id : ids) text += (text.size() > 1 ? " " : "") + id;
  return text + "]";
}

// Whether an open question decides which entries are given.
bool has_open_match(const SessionModel& model, const QuerySpec& spec, int64_t now_ms) {
  return std::any_of(model.entries.begin(), model.entries.end(), [&](const auto& item) {
    return model.shown(item.second, now_ms) == Truth::kMaybe && spec.matches(item.second);
  });
}

std::vector<std::string> expected_ids(SessionModel& model, const QuerySpec& spec, int64_t now_ms,
                                      const std::set<std::string>& given) {
  std::vector<const ModelEntry*> expected;
  for (ModelEntry* entry : model.in_order()) {
    const bool is_open = entry->in_flight || entry->changed_inside || entry->is_fragile;
    const bool is_given = is_open && given.contains(entry->id);
    if ((model.shown(*entry, now_ms) == Truth::kYes || is_given) && spec.matches(*entry)) {
      expected.push_back(entry);
    }
  }
  std::sort(expected.begin(), expected.end(),
            [&](const auto* a, const auto* b) { return spec.precedes(*a, *b); });
  if (spec.limit && expected.size() > *spec.limit) {
    expected.resize(static_cast<size_t>(*spec.limit));
  }
  std::vector<std::string> ids;
  for (const ModelEntry* entry : expected) ids.push_back(entry->id);
  return ids;
}

}  // namespace

void Steps::check_line(const SessionModel& model, ModelEntry& entry, const std::string& line) {
  if (!entry.line.empty()) {
    if (entry.line != line) world_.fail(entry.id + " is another line now: " + line);
    return;
  }
  const auto stored = json::Tree::parse(line);
  const auto given = json::Tree::parse(entry.text());
  if (!stored.ok() || !given.ok()) return world_.fail(entry.id + " is no JSON");
  for (const auto& [name, value] : given->members()) {
    const json::Tree* found = stored->get(name);
    if (found == nullptr || found->canonical() != value.canonical()) {
      return world_.fail(entry.id + " has another '" + name + "': " + line);
    }
  }
  if (stored->get_string("session_id") != model.settings.id) {
    return world_.fail(entry.id + " is another session's");
  }
  entry.line = line;
}

void Steps::check_shown(SessionModel& model, const QuerySpec& spec,
                        const std::vector<std::string>& ids) {
  const int64_t now_ms = world_.clock.now_ms();
  const std::set<std::string> given(ids.begin(), ids.end());
  for (const std::string& id : ids) {
    ModelEntry* entry = model.find(id);
    if (entry == nullptr) return world_.fail(id + " was never added");
    if (!spec.matches(*entry)) return world_.fail(id + " does not match");
    if (model.shown(*entry, now_ms) == Truth::kNo) {
      return world_.fail(id + (entry->removed.now == Truth::kYes ? " was deleted"
                               : entry->expires_ms <= now_ms     ? " has expired"
                                                                 : " was not added"));
    }
  }
  for (ModelEntry* entry : model.in_order()) {
    const Truth shown = model.shown(*entry, now_ms);
    if (shown == Truth::kMaybe && spec.matches(*entry)) {
      model.observe(*entry, given.contains(entry->id));
    }
  }
  // What came or went meanwhile may have been among the first.
  if (spec.limit && has_open_match(model, spec, now_ms)) return;
  const std::vector<std::string> expected = expected_ids(model, spec, now_ms, given);
  const bool is_same = spec.order == QuerySpec::Order::kMatch
                           ? given == std::set<std::string>(expected.begin(), expected.end()) &&
                                 given.size() == ids.size()
                           : ids == expected;
  if (!is_same) world_.fail("it should be " + joined(expected));
}

void Steps::get(SessionModel& model) {
  ModelEntry* known = random_known(model);
  if (known == nullptr) return add(model);
  session::Session* session = begin(model, "get " + known->id);
  if (session == nullptr) return;
  // index.bin may know a line that the power loss left a hole in, until another process mends it.
  const bool may_be_damaged = known->is_fragile;
  const auto line = session->get(known->id);
  const bool may_be_cut = may_be_damaged && line.code() == Code::kCorruption;
  if (may_be_cut) {
    world_.tell("-> " + line.status().message());
  } else if (world_.is_answer(line.status(), {Code::kNotFound})) {
    const Truth shown = model.shown(*known, world_.clock.now_ms());
    if (line.ok()) {
      world_.tell("-> ok");
      if (shown == Truth::kNo) world_.fail("it should not be there");
      check_line(model, *known, *line);
    } else if (shown == Truth::kYes) {
      world_.fail("it should be there");
    }
    if (shown == Truth::kMaybe) model.observe(*known, line.ok());
  }
  end();
}

void Steps::query(SessionModel& model) {
  QuerySpec spec = QuerySpec::random(dice_, model, world_.clock.now_ms());
  if (spec.order == QuerySpec::Order::kMatch ||
      has_open_match(model, spec, world_.clock.now_ms())) {
    spec.limit.reset();
  }
  session::Session* session = begin(model, "query " + spec.text());
  if (session == nullptr) return;
  const auto results = session->query(spec.text());
  if (world_.is_answer(results.status())) {
    std::vector<std::string> ids;
    for (const auto& result : results->results) ids.push_back(result.id());
    world_.tell("-> " + joined(ids));
    check_shown(model, spec, ids);
    for (const auto& result : results->results) {
      ModelEntry* entry = model.find(result.id());
      if (entry != nullptr) check_line(model, *entry, std::string(*result.line));
    }
  }
  end();
}

// Of all sessions, by a tag: which of them have it the catalog tells.
void Steps::query_store(SessionModel& model) {
  QuerySpec spec;
  spec.tag = dice_.pick(Vocabulary::tags());
  if (begin(model, "query of the store " + spec.text()) == nullptr) return;
  const auto results = world_.caller().store()->query(spec.text());
  const Status& left_out = results.ok() ? results->left_out : results.status();
  if (world_.is_answer(results.status()) && world_.is_answer(left_out)) {
    std::map<std::string, std::vector<std::string>> ids;
    for (const auto& result : results->results) {
      ids[results->session_ids[result.session]].push_back(result.id());
    }
    for (SessionModel& each : world_.sessions) {
      world_.tell("-> " + each.settings.id + ": " + joined(ids[each.settings.id]));
      check_shown(each, spec, ids[each.settings.id]);
    }
  }
  end();
}

// All that have one.
void Steps::query_vectors(SessionModel& model) {
  session::Session* session = begin(model, "query by a vector");
  if (session == nullptr) return;
  const auto results = session->query(R"({"vector":[1,2],"limit":1000})");
  if (world_.is_answer(results.status())) {
    std::set<std::string> ids;
    for (const auto& result : results->results) ids.insert(result.id());
    world_.tell("-> " + joined({ids.begin(), ids.end()}));
    if (ids.size() != results->results.size()) world_.fail("an entry comes twice");
    const int64_t now_ms = world_.clock.now_ms();
    for (ModelEntry* entry : model.in_order()) {
      const bool is_found = ids.erase(entry->id) > 0;
      const Truth shown = model.shown_by_vector(*entry, now_ms);
      const bool is_sure = shown == Truth::kYes && !entry->is_fragile;
      if (is_found && shown == Truth::kNo) world_.fail(entry->id + " has no vector, or is gone");
      if (!is_found && is_sure) world_.fail(entry->id + " should be found");
      if (is_found && !entry->is_vector_open) entry->vector.now = Truth::kYes;
    }
    if (!ids.empty()) world_.fail(*ids.begin() + " was never added");
  }
  end();
}

// What is added between two pages is on none of them; nothing is skipped, nothing comes twice.
void Steps::turn_pages(SessionModel& model) {
  QuerySpec spec = QuerySpec::random(dice_, model, world_.clock.now_ms());
  spec.order = QuerySpec::Order::kTime;
  spec.limit = dice_.between(1, 3);
  if (has_open_match(model, spec, world_.clock.now_ms())) return query(model);
  SessionModel before = model;
  const size_t reader = slot_;
  std::vector<std::string> ids;
  std::string after;
  do {
    slot_ = reader;
    session::Session* session = begin(model, "page of " + spec.text() + " after " + after);
    if (session == nullptr) return;
    auto text = *json::Tree::parse(spec.text());
    if (!after.empty()) text.set("after", json::Tree::string(after));
    const auto results = session->query(text.canonical());
    if (!world_.is_answer(results.status())) return end();
    for (const auto& result : results->results) ids.push_back(result.id());
    after = results->next;
    world_.tell("-> " + joined(ids));
    if (after.empty()) {
      spec.limit.reset();
      check_shown(before, spec, ids);
      const std::set<std::string> different(ids.begin(), ids.end());
      if (different.size() != ids.size()) world_.fail("an entry comes twice");
    }
    end();
    slot_ = dice_.below(world_.process_count());
    if (!after.empty() && dice_.one_in(3)) add(model);
  } while (!after.empty() && !world_.failed());
}

void Steps::count(SessionModel& model) {
  const QuerySpec spec = QuerySpec::random(dice_, model, world_.clock.now_ms());
  session::Session* session = begin(model, "count " + spec.conditions());
  if (session == nullptr) return;
  const auto count = session->count(spec.conditions());
  if (world_.is_answer(count.status())) {
    world_.tell("-> " + std::to_string(*count));
    uint64_t least = 0;
    uint64_t most = 0;
    for (const ModelEntry* entry : model.in_order()) {
      const Truth shown = model.shown(*entry, world_.clock.now_ms());
      if (shown == Truth::kNo || !spec.matches(*entry)) continue;
      least += shown == Truth::kYes ? 1 : 0;
      most += 1;
    }
    if (*count < least || *count > most) {
      world_.fail("it should be " + std::to_string(least) + " to " + std::to_string(most));
    }
  }
  end();
}

void Steps::export_all(SessionModel& model) {
  session::Session* session = begin(model, "export");
  if (session == nullptr) return;
  const auto text = exported_text(*session, "jsonl");
  if (world_.is_answer(text.status())) {
    std::vector<std::string> ids;
    int64_t last_seq = 0;
    for (size_t start = 0; start < text->size();) {
      const size_t line_end = text->find('\n', start);
      const std::string line = text->substr(start, line_end - start);
      start = line_end + 1;
      const auto entry = json::Tree::parse(line);
      if (!entry.ok()) {
        world_.fail("a line is no JSON: " + line);
        break;
      }
      ids.push_back(entry->get_string("id"));
      ModelEntry* known = model.find(ids.back());
      if (known != nullptr) check_line(model, *known, line);
      const int64_t seq = entry->get_int64("seq");
      if (seq <= last_seq) world_.fail("seq " + std::to_string(seq) + " does not rise");
      last_seq = seq;
    }
    world_.tell("-> " + joined(ids));
    model.learn_order(ids);
    QuerySpec spec;
    spec.order = QuerySpec::Order::kLog;
    check_shown(model, spec, ids);
  }
  end();
}

}  // namespace varve::simulation
