// kv and transcript of one session, used by several real processes at once, some of them killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "capi/client.h"
#include "support/counted.h"
#include "writers.h"

namespace varve::crash {
namespace {

using varve_test::Session;
using varve_test::Store;
using varve_test::TempDirectory;

TEST(StoresProcesses, EveryTurnAndEveryKeyOfKilledWritersIsThere) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  {
    const Store store(root);
    const Session session(store, R"({"session_id":"s","kv_cap":1000000,"transcript_cap":1000000})");
  }
  const size_t turns = std::max<size_t>(30, adds_of_each() / 20);
  std::vector<Writer> writers;
  for (size_t i = 0; i < 4; ++i) {
    writers.emplace_back("talk", root, "w" + std::to_string(i), turns, i == 0 ? kCommit : kOs);
  }
  WorkerProcess reader({"listen", root, "s"});
  std::mt19937 random(5);
  size_t kills = 0;
  run_to_end(writers, 30, [&](const std::vector<Writer*>& active) {
    Writer& victim = *active[random() % active.size()];
    if (!victim.is_done() && victim.kill()) kills += 1;
  });
  reader.close_input();
  std::string looks;
  EXPECT_TRUE(reader.read_line(&looks));
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_GT(kills, 0U);
  test::counted("kills", kills);
  test::counted("answered turns", told_by(writers));
  const Store store(root);
  const Session session = Session::open(store, "s");
  const auto said = varve_test::answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_transcript_last(session.get(), SIZE_MAX, text, len, error);
  });
  std::map<std::string, size_t> last;
  const boost::json::value everything = said.value();
  for (const auto& turn : everything.as_array()) {
    const std::string role(turn.at("role").as_string());
    const std::string content(turn.at("content").as_string());
    const size_t number = std::stoul(content);
    // One that was killed before it told says its last turn once more.
    EXPECT_TRUE(number == last[role] + 1 || number == last[role]) << role << " " << number;
    last[role] = number;
  }
  for (const Writer& writer : writers) {
    EXPECT_EQ(last[writer.name()], turns);
    for (size_t i = 1; i <= turns; ++i) {
      const std::string key = writer.name() + "-" + std::to_string(i);
      char* value = nullptr;
      EXPECT_EQ(varve_kv_get(session.get(), key.data(), key.size(), &value, nullptr, nullptr),
                VARVE_OK)
          << key;
      varve_free(value);
    }
  }
  const auto report = session.verify();
  EXPECT_TRUE(report.object().at("ok").as_bool()) << report.text;
}

}  // namespace
}  // namespace varve::crash
