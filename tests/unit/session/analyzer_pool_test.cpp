#include "session/query/analyzer_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "session/core.h"
#include "session_disk.h"

namespace varve::session {
namespace {

TEST(AnalyzerPool, OneThatWasGivenBackIsUsedAgain) {
  AnalyzerPool pool(text::Settings{});
  auto first = pool.take();
  const text::Analyzer* const address = first.get();
  pool.give_back(std::move(first));
  EXPECT_EQ(pool.take().get(), address);
}

TEST(AnalyzerPool, TwoThatAreInUseAreTwo) {
  AnalyzerPool pool(text::Settings{});
  const auto first = pool.take();
  const auto second = pool.take();
  EXPECT_NE(first.get(), second.get());
}

TEST(AnalyzerPool, GivesAnalyzersOfItsLanguage) {
  text::Settings none;
  none.language = "none";
  AnalyzerPool pool(none);
  EXPECT_EQ(pool.take()->stem("running"), "running");
  AnalyzerPool english(text::Settings{});
  EXPECT_EQ(english.take()->stem("running"), "run");
}

TEST(AnalyzerPool, KeepsNoMoreThanEightIdle) {
  AnalyzerPool pool(text::Settings{});
  std::vector<std::unique_ptr<text::Analyzer>> used;
  for (int i = 0; i < 9; ++i) used.push_back(pool.take());
  const text::Analyzer* const eighth = used[7].get();
  for (auto& analyzer : used) pool.give_back(std::move(analyzer));
  EXPECT_EQ(pool.take().get(), eighth) << "the ninth was let go";
}

TEST(AnalyzerPool, OfAStoreIsThatOfAllItsSessions) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  AnalyzerPool pool(host.context.settings.text);
  Context context = host.context;
  context.analyzers = &pool;
  const Core one(std::string(kSessionId), *disk.storage(), context);
  const Core other(std::string(kSessionId), *disk.storage(), context);
  const Core alone(std::string(kSessionId), *disk.storage(), host.context);
  EXPECT_EQ(&one.analyzers, &pool);
  EXPECT_EQ(&other.analyzers, &pool);
  EXPECT_NE(&alone.analyzers, &pool) << "it has its own";
}

}  // namespace
}  // namespace varve::session
