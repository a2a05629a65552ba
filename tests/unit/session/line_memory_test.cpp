#include "session/entry/line_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "session/entry/entry_line.h"
#include "support/sizes.h"

namespace varve::session {
namespace {

using test::kMegabyte;

struct Taken {
  char* cell;
  size_t size_bytes;
  char mark;
};

bool is_whole(const Taken& one) {
  return std::all_of(one.cell, one.cell + one.size_bytes,
                     [&](char byte) { return byte == one.mark; });
}

// More than the chunks from the heap and two pages hold, of all sizes, given back in any order.
TEST(LineMemory, CellsDoNotOverlapWhateverIsTakenAndGivenBack) {
  const auto memory = LineMemory::make();
  std::mt19937 random(3);
  std::vector<Taken> all;
  size_t taken_bytes = 0;
  for (int round = 0; taken_bytes < 8 * kMegabyte; ++round) {
    if (!all.empty() && random() % 3 == 0) {
      std::swap(all[random() % all.size()], all.back());
      ASSERT_TRUE(is_whole(all.back())) << round;
      taken_bytes -= all.back().size_bytes;
      memory->give_back(all.back().cell, all.back().size_bytes);
      all.pop_back();
    }
    const size_t size_bytes = 1 + random() % (random() % 4 == 0 ? LineMemory::kBytesMax : 2000);
    auto* const cell = static_cast<char*>(memory->take(size_bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(cell) % 64, 0u);
    all.push_back({cell, size_bytes, static_cast<char>(random())});
    std::memset(cell, all.back().mark, size_bytes);
    taken_bytes += size_bytes;
  }
  EXPECT_TRUE(std::ranges::all_of(all, is_whole));
  EXPECT_GE(memory->memory_bytes(), taken_bytes);
  for (const Taken& one : all) memory->give_back(one.cell, one.size_bytes);
}

TEST(LineMemory, TakesAnEighthMoreThanItsLinesAtMost) {
  for (size_t size_bytes = 1024; size_bytes <= LineMemory::kBytesMax; size_bytes += 64) {
    const auto memory = LineMemory::make();
    memory->give_back(memory->take(size_bytes), size_bytes);
    EXPECT_LE(memory->memory_bytes(), size_bytes + size_bytes / 8) << size_bytes;
  }
}

TEST(LineMemory, ACellIsUsedAgain) {
  const auto memory = LineMemory::make();
  std::mt19937 random(5);
  std::vector<Taken> all;
  for (size_t i = 0; i < 100; ++i) {
    all.push_back({static_cast<char*>(memory->take(300)), 300, 0});
  }
  const uint64_t before_bytes = memory->memory_bytes();
  for (int i = 0; i < 10'000; ++i) {
    Taken& one = all[random() % all.size()];
    memory->give_back(one.cell, one.size_bytes);
    one.size_bytes = 257 + random() % 64;  // of the same cells
    one.cell = static_cast<char*>(memory->take(one.size_bytes));
  }
  EXPECT_EQ(memory->memory_bytes(), before_bytes);
  for (const Taken& one : all) memory->give_back(one.cell, one.size_bytes);
}

// Whether the kernel was asked for huge pages where `address` is: a flag of its mapping.
bool is_huge_wished(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_there = begin <= wanted && wanted < end;
    } else if (is_there && line.starts_with("VmFlags:")) {
      return (line + " ").find(" hg ") != std::string::npos;
    }
  }
  return false;
}

TEST(LineMemory, AsksForHugePagesWhenItIsLarge) {
  const bool has_system_any =
      std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto memory = LineMemory::make();
  std::vector<void*> cells;
  for (size_t i = 0; i < 4 * kMegabyte / 1024; ++i) cells.push_back(memory->take(1024));
  EXPECT_EQ(is_huge_wished(cells.back()), has_system_any);
  EXPECT_FALSE(is_huge_wished(cells.front())) << "a few lines take no huge page";
  for (void* const cell : cells) memory->give_back(cell, 1024);
}

// The address sanitizer sees a line in memory that is gone, and memory that nobody gives back.
TEST(LineMemory, LivesAsLongAsItsLastLine) {
  auto memory = LineMemory::make();
  EntryLine first("first", *memory);
  EntryLine second(std::string(1000, 'x'), *memory);
  EXPECT_GT(memory->memory_bytes(), 1000u);
  memory.reset();
  EXPECT_EQ(*first, "first");
  first = second;
  EXPECT_EQ(*first, std::string(1000, 'x'));
  second = EntryLine();
  EXPECT_EQ((*first).data()[first.size()], '\0');
}

TEST(LineMemory, LongLinesAreTheHeaps) {
  const auto memory = LineMemory::make();
  const EntryLine line(std::string(LineMemory::kBytesMax, 'x'), *memory);  // and its head
  EXPECT_EQ(*line, std::string(LineMemory::kBytesMax, 'x'));
  EXPECT_EQ(memory->memory_bytes(), 0u);
}

TEST(LineMemory, ThreadsTakeAndGiveBackAtOnce) {
  auto memory = LineMemory::make();
  std::vector<std::thread> threads;
  for (char mark = 'a'; mark < 'e'; ++mark) {
    threads.emplace_back([&memory, mark] {
      std::vector<EntryLine> lines(50);
      for (size_t round = 0; round < 2000; ++round) {
        EntryLine& line = lines[round % lines.size()];
        EXPECT_TRUE(!line || *line == std::string(line.size(), mark));
        line = EntryLine(std::string(round % 700, mark), *memory);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  memory.reset();
}

}  // namespace
}  // namespace varve::session
