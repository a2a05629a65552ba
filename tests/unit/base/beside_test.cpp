#include "base/beside.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>

namespace varve {
namespace {

TEST(StartBeside, WorksWhileTheCallerGoesOn) {
  std::latch caller_went_on(1);
  auto working = start_beside(true, [&] {
    caller_went_on.wait();
    return std::this_thread::get_id();
  });
  caller_went_on.count_down();
  EXPECT_NE(working.get(), std::this_thread::get_id());
}

TEST(StartBeside, WithoutAThreadWorksWhenItIsAsked) {
  bool was_done = false;
  auto working = start_beside(false, [&] {
    was_done = true;
    return std::this_thread::get_id();
  });
  EXPECT_FALSE(was_done);
  EXPECT_EQ(working.get(), std::this_thread::get_id());
  EXPECT_TRUE(was_done);
}

TEST(StartBeside, EndsBeforeWhatItWorksOn) {
  bool was_done = false;
  {
    const auto working = start_beside(true, [&] {
      std::this_thread::yield();
      was_done = true;
    });
  }
  EXPECT_TRUE(was_done);
}

TEST(StartBeside, TellsWhatWasThrown) {
  for (const bool in_thread : {false, true}) {
    auto working = start_beside(in_thread, []() -> int { throw std::out_of_range("too far"); });
    EXPECT_THROW((void)working.get(), std::out_of_range);
  }
}

}  // namespace
}  // namespace varve
