// A memory in three tiers, as a careful C++ program would hold it.
#pragma once

#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <string_view>

#include "client.h"

namespace varve_test {

class Memory {
 public:
  explicit Memory(const Store& store, std::string_view options = {}) {
    ErrorOut error;
    const Outcome opened = error.outcome(
        varve_memory_open(store.get(), options.data(), options.size(), &memory_, error.out()));
    EXPECT_TRUE(opened.ok()) << opened;
  }
  ~Memory() { close(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] varve_memory_t* get() const { return memory_; }
  void close() {
    varve_memory_close(memory_);
    memory_ = nullptr;
  }
  [[nodiscard]] Answer record(std::string_view session, std::string_view message) const {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_memory_record(memory_, session.data(), session.size(), message.data(),
                                 message.size(), text, len, error);
    });
  }
  [[nodiscard]] Answer say(std::string_view session, std::string_view role,
                           std::string_view content) const {
    return record(session, json::serialize(json::object{{"role", role}, {"content", content}}));
  }
  [[nodiscard]] Answer context(std::string_view session, uint64_t max_tokens = 0) const {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_memory_context(memory_, session.data(), session.size(), max_tokens, text, len,
                                  error);
    });
  }
  [[nodiscard]] std::string source(std::string_view session) const {
    return context(session).object().at("source").as_string().c_str();
  }
  // Contents of the context in order, with blanks between.
  [[nodiscard]] std::string contents(std::string_view session, uint64_t max_tokens = 0) const {
    std::string all;
    const json::object context_of = context(session, max_tokens).object();
    for (const auto& entry : context_of.at("entries").as_array()) {
      if (!all.empty()) all += ' ';
      all += entry.at("content").as_string().c_str();
    }
    return all;
  }
  [[nodiscard]] Outcome load(std::string_view session) const {
    ErrorOut error;
    return error.outcome(varve_memory_load(memory_, session.data(), session.size(), error.out()));
  }
  [[nodiscard]] Outcome save(std::string_view session) const {
    ErrorOut error;
    return error.outcome(varve_memory_save(memory_, session.data(), session.size(), error.out()));
  }
  void clear() const { EXPECT_EQ(varve_memory_clear(memory_, nullptr), VARVE_OK); }
  [[nodiscard]] Answer remember(std::string_view message) const {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_memory_store(memory_, message.data(), message.size(), text, len, error);
    });
  }
  [[nodiscard]] Results search(std::string_view query = {}) const {
    ErrorOut error;
    varve_results_t* results = nullptr;
    Outcome outcome = error.outcome(
        varve_memory_search(memory_, query.data(), query.size(), &results, error.out()));
    return {std::move(outcome), results};
  }
  [[nodiscard]] Outcome remove(std::string_view id, std::string_view reason = {}) const {
    ErrorOut error;
    return error.outcome(varve_memory_delete(memory_, id.data(), id.size(), reason.data(),
                                             reason.size(), error.out()));
  }

 private:
  varve_memory_t* memory_ = nullptr;
};

// Says m1, m2 and so on in a session.
inline void fill(const Memory& memory, std::string_view session, int count) {
  for (int i = 1; i <= count; ++i) {
    ASSERT_TRUE(memory.say(session, "user", "m" + std::to_string(i)).ok());
  }
}

}  // namespace varve_test
