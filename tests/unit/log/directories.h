// A directory of sessions on a simulated disk.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_engine.h"
#include "support/environment.h"

namespace varve::log {

inline std::string metadata_of(std::string_view id, std::string_view user,
                               std::string_view created_at) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(id));
  tree.set("user_id", json::Tree::string(user));
  tree.set("created_at", json::Tree::string(created_at));
  return tree.pretty();
}

class Directories : public testing::Test {
 protected:
  static constexpr uint64_t kLockTimeoutMs = 100;

  void SetUp() override {
    engine_ = open();
    ASSERT_NE(engine_, nullptr);
  }
  std::unique_ptr<DirectoryEngine> open(io::SimulatedFileSystem* system = nullptr) {
    io::SimulatedFileSystem* process = system == nullptr ? &disk_ : system;
    auto opened = DirectoryEngine::open("store", {process, &clock_, &random_}, kLockTimeoutMs);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void create(const std::string& id, const std::string& user = "u") {
    const auto created = engine_->create({id, user, "a", clock_.now_ms()},
                                         metadata_of(id, user, "2026-01-10T14:23:45.678Z"));
    ASSERT_TRUE(created.ok()) << created.status().message();
  }
  // What is there of sessions that were deleted, in tmp/.
  std::string deleted() {
    std::string paths;
    for (const auto& path : disk_.list_all()) {
      if (path.find("deleted.tmp-") != std::string::npos) paths += path + "\n";
    }
    return paths;
  }
  std::vector<std::string> listed() {
    std::vector<std::string> ids;
    const auto page = engine_->list("", 1000);
    EXPECT_TRUE(page.ok()) << page.status().message();
    for (const auto& row : page->rows) ids.push_back(row.session_id);
    return ids;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryEngine> engine_;
};

}  // namespace varve::log
