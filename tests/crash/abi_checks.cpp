#include "abi_checks.h"

#include <gtest/gtest.h>

#include <cctype>

#include "capi/headers.h"

namespace varve::crash {
namespace {

// What is in "s" before any call.
const std::set<std::string> kIds = {"a", "b", "c", "e"};

void check_entries(varve_session_t* session, const Effect& effect, Outcome outcome) {
  for (const auto& id : kIds) {
    EXPECT_TRUE(effect.removes.contains(id) || entry_of(session, id).has_value()) << id;
  }
  EXPECT_FALSE(entry_of(session, "gone").has_value());
  if (outcome == Outcome::kUnknown) return;
  const bool done = outcome == Outcome::kDone;
  for (const auto& id : effect.removes) EXPECT_EQ(entry_of(session, id).has_value(), !done) << id;
  for (const auto& id : effect.adds) EXPECT_EQ(entry_of(session, id).has_value(), done) << id;
}

void check_changes(Ground& ground, const Effect& effect, Outcome outcome) {
  if (ground.session != nullptr) check_entries(ground.session, effect, outcome);
  if (!effect.is_done) return;
  const bool is_done = effect.is_done(ground);
  EXPECT_TRUE(outcome == Outcome::kUnknown || is_done == (outcome == Outcome::kDone)) << is_done;
}

bool write_again(varve_session_t* session, bool may_stop) {
  Outs outs;
  const varve_status_t status =
      varve_session_add(session, R"({"id":"after","type":"note","content":"x"})", kNul, &outs.text,
                        &outs.len, &outs.error);
  EXPECT_TRUE(status == VARVE_OK || (may_stop && says_stopped(status, outs.error)))
      << varve_status_name(status) << ": " << varve_error_message(outs.error);
  EXPECT_EQ(entry_of(session, "after").has_value(), status == VARVE_OK);
  return status == VARVE_OK;
}

// Sessions that the call has nothing to do with, or rewrites only.
void check_other_sessions(Ground& ground, const SweptCall& call) {
  for (const auto& [session, id] :
       {std::pair("t", "ta"), std::pair("old", "o1"), std::pair("old", "o2")}) {
    const bool is_deleted = std::string(call.function) == "varve_store_delete_session";
    if (is_deleted && std::string(session) == "t") continue;
    Outs outs;
    ASSERT_EQ(varve_session_open(ground.store, session, kNul, &outs.session, &outs.error), VARVE_OK)
        << session << ": " << varve_error_message(outs.error);
    EXPECT_TRUE(entry_of(outs.session, id).has_value()) << session << " " << id;
  }
}

// Nothing is damaged that was not before.
void check_whole(Ground& ground, const SweptCall& call) {
  Outs outs;
  ASSERT_EQ(varve_session_verify(ground.session, nullptr, 0, &outs.text, &outs.len, &outs.error),
            VARVE_OK)
      << varve_error_message(outs.error);
  const std::string report(outs.text, outs.len);
  const bool was_damaged = std::string(call.function) == "varve_session_repair";
  EXPECT_TRUE(was_damaged || report.find(R"("ok":true)") != std::string::npos) << report;
}

}  // namespace

std::string answer_of(const Outs& outs) {
  if (outs.text != nullptr) return std::string(outs.text, outs.len);
  std::string ids = std::to_string(outs.count);
  for (size_t i = 0; i < varve_results_count(outs.results); ++i) {
    const char* json = nullptr;
    size_t len = 0;
    EXPECT_EQ(varve_results_entry(outs.results, i, &json, &len, nullptr), VARVE_OK);
    ids += " " + std::string(json, len);
  }
  return ids;
}

void check_refused(const Outs& outs, varve_status_t status) {
  EXPECT_EQ(varve_error_status(outs.error), status);
  EXPECT_EQ(outs.text, nullptr);
  EXPECT_EQ(outs.len, 0U);
  EXPECT_EQ(outs.borrowed, nullptr);
  EXPECT_EQ(outs.count, 0U);
  EXPECT_EQ(outs.results, nullptr);
  EXPECT_EQ(outs.session, nullptr);
  EXPECT_EQ(outs.store, nullptr);
  EXPECT_EQ(outs.memory, nullptr);
  EXPECT_EQ(outs.window, nullptr);
}

bool says_stopped(varve_status_t status, const varve_error_t* error) {
  const std::string message = varve_error_message(error);
  return status == VARVE_READ_ONLY && message.find("writing stopped") != std::string::npos;
}

bool check_open(Ground& ground, const SweptCall& call, Outcome outcome, bool may_stop) {
  if (std::string(call.function) == "varve_store_close") return false;
  check_changes(ground, call.effect, outcome);
  return ground.session != nullptr && write_again(ground.session, may_stop);
}

void check_anew(Ground& ground, const SweptCall& call, Outcome outcome, bool has_after) {
  ground.close();
  ground.open();
  ground.open_memory();
  ground.session = ground.open_session("s");
  ASSERT_NE(ground.session, nullptr);
  if (!call.effect.is_in_memory) check_changes(ground, call.effect, outcome);
  EXPECT_EQ(entry_of(ground.session, "after").has_value(), has_after);
  check_other_sessions(ground, call);
  check_whole(ground, call);
}

std::string test_name(const SweptCall& call) {
  std::string name = call.function;
  if (*call.variant != '\0') name += std::string(" ") + call.variant;
  for (size_t at = name.find_first_of(" _"); at != std::string::npos;
       at = name.find_first_of(" _")) {
    name.erase(at, 1);
    if (at < name.size()) name[at] = static_cast<char>(std::toupper(name[at]));
  }
  return name;
}

void expect_every_function_of_the_headers() {
  std::set<std::string> declared;
  for (const auto& function : varve_test::declared_functions()) declared.insert(function.name);
  std::set<std::string> swept;
  for (const SweptCall& call : swept_calls()) swept.insert(call.function);
  for (const SweptCall& call : calls_without_memory()) {
    EXPECT_TRUE(swept.insert(call.function).second) << call.function;
  }
  EXPECT_GT(declared.size(), 60U);
  EXPECT_EQ(swept, declared);
}

}  // namespace varve::crash
