// A store of so many sessions that it has a catalog, for the tests of that.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/simulated.h"
#include "json/tree.h"
#include "store/catalog.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {

using CatalogIds = std::set<std::string>;

inline constexpr size_t kMany = kSessionsWorthCatalog + 8;
inline constexpr std::string_view kCatalogLog = "store/indices/catalog/memory.jsonl";
inline const std::string kRare = R"("tags":{"include":["rare"]})";

inline std::string session_name(size_t number) { return "s" + std::to_string(number); }

class CatalogFixture : public testing::Test {
 protected:
  // A process of its own.
  std::shared_ptr<Store> open(io::SimulatedFileSystem& files, std::string_view path = "store") {
    auto opened = Store::open(path, R"({"threads":1})", {&files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  void make(Store& store, const std::string& id, const std::string& more = {}) {
    const auto made = store.create_session(R"({"session_id":")" + id + "\"" + more + "}");
    ASSERT_TRUE(made.ok()) << made.status().message();
    clock_.advance_ms(1);
  }
  static Status try_to_add(Store& store, const std::string& session, const std::string& id,
                           const std::string& tag) {
    VARVE_TRY_ASSIGN(const auto opened, store.open_session(session));
    return opened
        ->add(R"({"id":")" + id + R"(","type":"finding","content":"x","tags":[")" + tag + "\"]}")
        .status();
  }
  static void add(Store& store, const std::string& session, const std::string& id,
                  const std::string& tag) {
    const Status added = try_to_add(store, session, id, tag);
    ASSERT_TRUE(added.ok()) << added.message();
  }
  // Sessions with one entry each, the first two of which have the tag.
  void make_many(Store& store, size_t count = kMany) {
    for (size_t i = 0; i < count; ++i) {
      const std::string user = i % 2 == 0 ? "ann" : "bob";
      make(store, session_name(i), R"(,"user_id":")" + user + "\"");
      add(store, session_name(i), "first-" + session_name(i), i < 2 ? "rare.kind" : "common");
    }
  }
  // Of the sessions that make_many() made for a user, as JSON.
  static std::string names_of(std::string_view user) {
    std::string names;
    for (size_t i = user == "ann" ? 0 : 1; i < kMany; i += 2) {
      names += (names.empty() ? "[\"" : ",\"") + session_name(i) + "\"";
    }
    return names + "]";
  }
  struct Answer {
    CatalogIds ids;
    int64_t session_count = -1;  // that were looked at
    friend void PrintTo(const Answer& answer, std::ostream* out) {
      for (const auto& id : answer.ids) *out << id << " ";
      *out << "of " << answer.session_count;
    }
  };
  static Answer ask(Store& store, const std::string& conditions) {
    const auto found = store.query("{" + conditions + R"(,"limit":1000,"explain":true})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    Answer answer;
    if (!found.ok()) return answer;
    EXPECT_TRUE(found->left_out.ok()) << found->left_out.message();
    for (const auto& result : found->results) answer.ids.insert(result.id());
    answer.session_count = json::Tree::parse(found->explanation)->get_int64("sessions");
    return answer;
  }
  static int64_t count_of(Store& store, const std::string& conditions = kRare) {
    return ask(store, conditions).session_count;
  }
  // With every session named there is nothing to choose.
  static CatalogIds asked_of_all(Store& store, const std::string& conditions) {
    const auto listed = store.sessions(R"({"limit":1000})");
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::string names;
    for (const auto& row : listed->get("sessions")->items()) {
      names += (names.empty() ? "\"" : ",\"") + row.get_string("session_id") + "\"";
    }
    if (names.empty()) return {};
    return ask(store, conditions + R"(,"session_ids":[)" + names + "]").ids;
  }

  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_disk_ = disk_.process(2002);
  test::ManualClock clock_;
  test::SeededRandom random_;
};

}  // namespace varve::store
