#include "index/section_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "index/segment.h"
#include "text_view.h"

namespace varve::index {
namespace {

constexpr uint64_t kBytes = 20 * kSnapshotBlockBytes + 100;

std::string made_up(uint64_t size) {
  std::mt19937 generator(5);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

class SectionBytesOfAFile : public testing::Test {
 protected:
  void put(std::string_view bytes) {
    std::array<SectionContent, kSectionCount> sections;
    sections[kFacets] = {bytes};
    file_ = assemble_snapshot({}, sections);
  }
  std::shared_ptr<SectionBytes> open() {
    auto file = SnapshotFile::open(std::make_unique<TextView>(file_));
    EXPECT_TRUE(file.ok());
    return std::make_shared<SectionBytes>(*std::move(file), kFacets);
  }

  std::string file_;
};

TEST_F(SectionBytesOfAFile, AnyPartIsWhatIsThereAndStays) {
  const std::string right = made_up(kBytes);
  put(right);
  const auto bytes = open();
  ASSERT_EQ(bytes->size(), kBytes);
  EXPECT_EQ(bytes->memory_bytes(), 0u);
  std::mt19937 generator(1);
  const std::string_view first = bytes->view(0, 5);
  for (int round = 0; round < 200; ++round) {
    const uint64_t offset = generator() % kBytes;
    const uint64_t length = generator() % (kBytes - offset) / 8;
    ASSERT_EQ(bytes->view(offset, length), right.substr(offset, length));
  }
  EXPECT_EQ(first, right.substr(0, 5));
  EXPECT_EQ(bytes->view(kBytes, 0).size(), 0u);
  ASSERT_TRUE(bytes->read_all().ok());
  EXPECT_EQ(bytes->view(0, kBytes), right);
  EXPECT_EQ(bytes->view(0, 5).data(), first.data());
  EXPECT_EQ(bytes->memory_bytes(), kBytes);
  EXPECT_FALSE(bytes->is_damaged());
}

TEST_F(SectionBytesOfAFile, OnlyWhatIsAskedForTakesMemory) {
  put(made_up(kBytes));
  const auto bytes = open();
  EXPECT_EQ(bytes->view(kSnapshotBlockBytes + 7, 10).size(), 10u);
  EXPECT_EQ(bytes->memory_bytes(), kSnapshotBlockBytes);
  EXPECT_EQ(bytes->view(kBytes - 1, 1).size(), 1u);
  EXPECT_EQ(bytes->memory_bytes(), kSnapshotBlockBytes + 100);
}

TEST_F(SectionBytesOfAFile, DamageIsToldWhenItIsMetAndRemembered) {
  const std::string right = made_up(kBytes);
  put(right);
  file_[file_.find(right) + 3 * kSnapshotBlockBytes] ^= 1;
  const auto bytes = open();
  EXPECT_EQ(bytes->view(0, 10).size(), 10u);
  EXPECT_FALSE(bytes->is_damaged());
  EXPECT_EQ(bytes->view(2 * kSnapshotBlockBytes, 2 * kSnapshotBlockBytes).data(), nullptr);
  EXPECT_TRUE(bytes->is_damaged());
  EXPECT_EQ(bytes->read_all().code(), Code::kCorruption);
  EXPECT_EQ(bytes->view(0, 10), right.substr(0, 10));
}

TEST_F(SectionBytesOfAFile, ManyThreadsMayRead) {
  const std::string right = made_up(kBytes);
  put(right);
  const auto bytes = open();
  std::vector<std::thread> threads;
  std::atomic<int> wrong_count{0};
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 generator(thread);
      for (int round = 0; round < 300; ++round) {
        const uint64_t offset = generator() % (kBytes - 100);
        if (bytes->view(offset, 100) != std::string_view(right).substr(offset, 100)) ++wrong_count;
      }
      if (!bytes->read_all().ok()) ++wrong_count;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong_count.load(), 0);
  EXPECT_EQ(bytes->memory_bytes(), kBytes) << "no block twice";
}

// --- a dictionary in it --------------------------------------------------------------------------

std::string key_of(int number) { return "key" + std::to_string(100'000 + number); }

std::string value_of(int number) { return std::string(40, char('a' + number % 26)); }

std::string large_dictionary() {
  SegmentBuilder builder;
  for (int i = 0; i < 20'000; ++i) builder.add(key_of(i), value_of(i));
  return builder.encode();
}

TEST_F(SectionBytesOfAFile, ALookUpReadsWhatItLooksAt) {
  put(large_dictionary());
  const auto bytes = open();
  const auto segment = Segment::open(bytes);
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(segment->find(key_of(12'345)), value_of(12'345));
  EXPECT_EQ(segment->find("missing").data(), nullptr);
  EXPECT_LT(segment->memory_bytes(), 40 * kSnapshotBlockBytes);
  EXPECT_GT(bytes->size(), 100 * kSnapshotBlockBytes);
  EXPECT_FALSE(segment->is_damaged());
}

TEST_F(SectionBytesOfAFile, InAnyStateItFindsWhatAWholeOneFinds) {
  put(large_dictionary());
  auto whole = Segment::open(open());
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(whole->load_whole().ok());
  const auto lazy = Segment::open(open());
  std::mt19937 generator(9);
  for (int round = 0; round < 3000; ++round) {
    const std::string key = key_of(static_cast<int>(generator() % 21'000));
    ASSERT_EQ(lazy->find(key), whole->find(key));
    const SegmentCursor at(*lazy, key);
    const SegmentCursor expected(*whole, key);
    ASSERT_EQ(at.at_end(), expected.at_end());
    ASSERT_TRUE(at.at_end() || (at.key() == expected.key() && at.value() == expected.value()));
  }
}

TEST_F(SectionBytesOfAFile, DamageOfADictionaryIsFoundByItsReader) {
  const std::string right = large_dictionary();
  put(right);
  const size_t section_at = file_.find(right);
  for (size_t block = 1; block < right.size() / kSnapshotBlockBytes; block += 7) {
    file_[section_at + block * kSnapshotBlockBytes] ^= 1;
    auto segment = Segment::open(open());
    ASSERT_TRUE(segment.ok());
    for (int i = 0; i < 20'000; i += 50) {
      const bool is_right = segment->find(key_of(i)) == value_of(i);
      ASSERT_TRUE(is_right || segment->is_damaged());
    }
    EXPECT_EQ(segment->load_whole().code(), Code::kCorruption);
    EXPECT_TRUE(segment->is_damaged());
    file_[section_at + block * kSnapshotBlockBytes] ^= 1;
  }
}

TEST_F(SectionBytesOfAFile, ADictionaryUnderRightHashesIsCheckedWhereItIsLookedAt) {
  const std::string right = large_dictionary();
  const size_t groups = 20'000 / Segment::kGroupKeys;
  const size_t value_starts = 24 + groups * 8;
  const size_t key_starts = value_starts + groups * 8;
  for (const size_t at : {value_starts + 8 * 625, key_starts + 4 * 625}) {  // of key 10,000
    std::string wrong = right;
    wrong.replace(at, 4, std::string(4, '\xFF'));
    put(wrong);
    auto segment = Segment::open(open());
    ASSERT_TRUE(segment.ok());
    for (int i = 0; i < 20'000; i += 7) {
      const std::string_view value = segment->find(key_of(i));
      ASSERT_TRUE(value.size() <= right.size());
    }
    (void)segment->find(key_of(10'000));
    EXPECT_TRUE(segment->is_damaged());
    EXPECT_FALSE(segment->load_whole().ok());
  }
}

}  // namespace
}  // namespace varve::index
