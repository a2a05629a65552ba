// Allocations that fail one after the other, under queries and adds: the call says so, and what
// comes after it is right.
#include "support/no_memory/no_memory.h"

#include <gtest/gtest.h>
#include <varve/varve.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace varve_test {

namespace {

constexpr size_t kNul = VARVE_NUL_TERMINATED;
constexpr const char* kConfigs[] = {
    R"({"durability":"os","storage":{"max_session_size_mb":0}})",
    R"({"durability":"commit","storage":{"max_session_size_mb":0}})"};

class MemoryEnds : public testing::Test {
 protected:
  MemoryEnds() {
    std::string pattern = (std::filesystem::temp_directory_path() / "varve-memory-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~MemoryEnds() override {
    close();
    std::filesystem::remove_all(directory_);
  }

  void open(bool create, const char* config = kConfigs[0]) {
    ASSERT_EQ(varve_store_open(directory_.c_str(), kNul, config, kNul, &store_, nullptr), 0);
    ASSERT_EQ(create
                  ? varve_session_create(store_, R"({"session_id":"s"})", kNul, &session_, nullptr)
                  : varve_session_open(store_, "s", kNul, &session_, nullptr),
              0);
  }
  void close() {
    varve_session_close(session_);
    varve_store_close(store_);
    session_ = nullptr;
    store_ = nullptr;
  }
  varve_status_t add(const std::string& entry) {
    return varve_session_add(session_, entry.data(), entry.size(), nullptr, nullptr, nullptr);
  }
  bool has(const char* id) {
    return varve_session_get(session_, id, kNul, nullptr, nullptr, nullptr) == VARVE_OK;
  }
  varve_status_t find(const char* query, std::string* ids) {
    varve_results_t* results = nullptr;
    const varve_status_t status = varve_session_query(session_, query, kNul, &results, nullptr);
    ids->clear();
    for (size_t i = 0; i < varve_results_count(results); ++i) {
      const char* json = nullptr;
      size_t length = 0;
      if (varve_results_entry(results, i, &json, &length, nullptr) != VARVE_OK) continue;
      const std::string_view entry(json, length);
      const size_t at = entry.find(R"("id":")") + 6;
      ids->append(entry.substr(at, entry.find('"', at) - at)).append(1, ' ');
    }
    varve_results_free(results);
    return status;
  }

  std::string directory_;
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

TEST_F(MemoryEnds, AnywhereUnderAQueryAndTheNextOneIsRight) {
  constexpr const char* kQuery =
      R"({"text":"kettle \"tea cup\" wo*","tags":{"exclude":["x"]},"limit":20,)"
      R"("now":"2026-01-10T00:00:00Z"})";
  open(true);
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_EQ(add(R"({"id":"e)" + number + R"(","type":"finding","tags":["t.)" + number +
                  R"("],"timestamp":"2026-01-0)" + std::to_string(9 - i % 9) +
                  R"(T00:00:00Z","content":"kettle word)" + number +
                  (i % 3 == 0 ? " tea cup" : " cup of tea") + R"("})"),
              VARVE_OK);
  }
  std::string expected;
  ASSERT_EQ(find(kQuery, &expected), VARVE_OK);
  ASSERT_FALSE(expected.empty());
  close();
  // Without index.bin, so that all of it is made under the query.
  bool was_met = true;
  for (int64_t allowed = 0; was_met; allowed += 1 + allowed / 32) {
    std::filesystem::remove(directory_ + "/sessions/s/index.bin");
    open(false);
    std::string found;
    varve_status_t status = VARVE_OK;
    {
      const NoMemory limit(allowed);
      status = varve_session_count(session_, kQuery, 0, nullptr, nullptr);
      varve_results_t* results = nullptr;
      status = varve_session_query(session_, kQuery, kNul, &results, nullptr);
      varve_results_free(results);
      was_met = limit.was_met();
    }
    EXPECT_TRUE(status == VARVE_OK || status == VARVE_NO_MEMORY) << status;
    ASSERT_EQ(find(kQuery, &found), VARVE_OK) << allowed;
    ASSERT_EQ(found, expected) << "after " << allowed << " allocations";
    close();
  }
}

// Over a megabyte of words gathers, which the last add would index.
TEST_F(MemoryEnds, AnywhereUnderAnAddAndTheAnswerIsTheTruth) {
  std::string words;
  for (int i = 0; i < 30'000; ++i) words += "w" + std::to_string(i % 50) + " ";
  const auto entry = [&](const std::string& id) {
    return R"({"id":")" + id + R"(","type":"finding","content":")" + words + R"("})";
  };
  for (const char* config : kConfigs) {
    bool was_met = true;
    int round = 0;
    for (int64_t allowed = 0; was_met; allowed += 1 + allowed / 8, ++round) {
      open(true, config);
      for (int i = 0; i < 9; ++i) ASSERT_EQ(add(entry("e" + std::to_string(i))), VARVE_OK);
      const std::string last = entry("last");
      varve_status_t status = VARVE_OK;
      {
        const NoMemory limit(allowed);
        status = add(last);
        was_met = limit.was_met();
      }
      EXPECT_EQ(has("last"), status == VARVE_OK) << status << " after " << allowed;
      ASSERT_EQ(varve_store_delete_session(store_, "s", kNul, nullptr), VARVE_OK);
      close();
    }
    EXPECT_GT(round, 10);
  }
}

TEST_F(MemoryEnds, AnywhereUnderADeleteAndTheAnswerIsTheTruth) {
  for (const char* config : kConfigs) {
    bool was_met = true;
    int round = 0;
    for (int64_t allowed = 0; was_met; ++allowed, ++round) {
      open(true, config);
      ASSERT_EQ(add(R"({"id":"a","type":"finding","tags":["t"],"content":"x"})"), VARVE_OK);
      ASSERT_EQ(add(R"({"id":"b","type":"finding","tags":["t"],"content":"y"})"), VARVE_OK);
      varve_status_t status = VARVE_OK;
      {
        const NoMemory limit(allowed);
        status = varve_session_delete_where(session_, R"({"tags":["t"]})", kNul, nullptr, 0,
                                            nullptr, nullptr);
        was_met = limit.was_met();
      }
      EXPECT_EQ(has("a"), status != VARVE_OK) << status << " after " << allowed;
      EXPECT_EQ(has("b"), status != VARVE_OK) << status << " after " << allowed;
      ASSERT_EQ(varve_store_delete_session(store_, "s", kNul, nullptr), VARVE_OK);
      close();
    }
    EXPECT_GT(round, 10);
  }
}

}  // namespace
}  // namespace varve_test
