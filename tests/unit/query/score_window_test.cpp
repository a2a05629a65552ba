#include "query/score_window.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace varve::query {
namespace {

using Scores = std::vector<std::pair<uint32_t, double>>;

Scores take(ScoreWindow& window) {
  Scores taken;
  window.take([&](uint32_t row, double score) { taken.emplace_back(row, score); });
  return taken;
}

TEST(ScoreWindow, GivesWhatWasAddedInRisingOrderAndIsEmptyThen) {
  const auto window = std::make_unique<ScoreWindow>();
  EXPECT_EQ(take(*window), Scores());
  window->start(1000);
  window->add(1000 + ScoreWindow::kRows - 1, 2);
  window->add(1000, 0.5);
  window->add(1064, 1);
  window->add(1000, 0.25);
  EXPECT_EQ(take(*window), (Scores{{1000, 0.75}, {1064, 1}, {1000 + ScoreWindow::kRows - 1, 2}}));
  EXPECT_EQ(take(*window), Scores());
  window->start(0);
  window->add(0, 4);
  EXPECT_EQ(take(*window), (Scores{{0, 4}})) << "nothing is left of another window";
}

TEST(ScoreWindow, KnowsWhatWasAddedTo) {
  const auto window = std::make_unique<ScoreWindow>();
  window->start(500);
  window->add(500, 0);
  window->add(564, 1);
  for (uint32_t row = 500; row < 700; ++row) EXPECT_EQ(window->has(row), row == 500 || row == 564);
  take(*window);
  EXPECT_FALSE(window->has(500));
}

TEST(ScoreWindow, AddsUpLikeAMap) {
  const auto window = std::make_unique<ScoreWindow>();
  std::mt19937 random(1);
  for (uint32_t first_row = 0; first_row < 10 * ScoreWindow::kRows;
       first_row += ScoreWindow::kRows) {
    std::map<uint32_t, double> expected;
    window->start(first_row);
    for (size_t n = random() % 3000; n > 0; --n) {
      const uint32_t row = first_row + static_cast<uint32_t>(random() % ScoreWindow::kRows);
      const auto part = static_cast<double>(random() % 100);
      expected[row] += part;
      window->add(row, part);
    }
    EXPECT_EQ(take(*window), Scores(expected.begin(), expected.end()));
  }
}

// Also those that reach it bit by bit, and once each.
TEST(ScoreWindow, NotesTheRowsThatReachTheFloor) {
  const auto window = std::make_unique<ScoreWindow>();
  std::mt19937 random(2);
  for (uint32_t round = 0; round < 200; ++round) {
    const uint32_t first_row = round * ScoreWindow::kRows;
    const auto floor = static_cast<double>(1 + random() % 200);
    window->start(first_row, floor);
    std::map<uint32_t, double> expected;
    for (size_t n = random() % 5000; n > 0; --n) {
      const uint32_t row = first_row + static_cast<uint32_t>(random() % ScoreWindow::kRows);
      const auto part = static_cast<double>(random() % 100);
      expected[row] += part;
      window->add(row, part);
    }
    std::erase_if(expected, [&](const auto& one) { return one.second < floor; });
    Scores taken;
    window->take_reached([&](uint32_t row, double score) { taken.emplace_back(row, score); });
    EXPECT_EQ(taken, Scores(expected.begin(), expected.end()));
  }
  window->start(0);
  EXPECT_EQ(take(*window), Scores()) << "nothing is left";
}

TEST(ScoreWindow, HasRoomForEveryRowToReachTheFloor) {
  const auto window = std::make_unique<ScoreWindow>();
  window->start(0, 2);
  for (int time = 0; time < 3; ++time) {
    for (uint32_t row = 0; row < ScoreWindow::kRows; ++row) window->add(row, 1);
  }
  uint32_t next = 0;
  window->take_reached([&](uint32_t row, double score) {
    EXPECT_EQ(row, next++);
    EXPECT_EQ(score, 3);
  });
  EXPECT_EQ(next, ScoreWindow::kRows);
}

}  // namespace
}  // namespace varve::query
