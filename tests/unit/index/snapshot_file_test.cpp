#include "index/snapshot_file.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "snapshot_editor.h"
#include "text_view.h"

namespace varve::index {
namespace {

std::string random_bytes(size_t size, uint32_t seed) {
  std::mt19937 generator(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

constexpr SnapshotSection kReadSection = kTextTerms;

// A file with one section of these bytes, and another behind and before it.
std::string file_of(std::string_view bytes) {
  std::array<SectionContent, kSectionCount> sections;
  sections[kIds] = {"before"};
  sections[kFacets] = {"near"};
  sections[kReadSection] = {bytes};
  return assemble_snapshot({}, sections);
}

std::shared_ptr<SnapshotFile> opened(std::string_view file, uint64_t* read_bytes = nullptr) {
  auto open = SnapshotFile::open(std::make_unique<TextView>(file, read_bytes));
  EXPECT_TRUE(open.ok());
  return open.ok() ? *open : nullptr;
}

TEST(SnapshotFile, AnyPartIsWhatWasPutThere) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{8191}, size_t{8192}, size_t{8193},
                            size_t{16384}, size_t{40'000}}) {
    const std::string bytes = random_bytes(size, static_cast<uint32_t>(size));
    const std::string file = file_of(bytes);
    const auto snapshot = opened(file);
    ASSERT_EQ(snapshot->length(kReadSection), size);
    std::mt19937 generator(7);
    for (int round = 0; round < 300; ++round) {
      const size_t offset = generator() % (size + 1);
      const size_t length = generator() % (size - offset + 1);
      std::string part(length, 'x');
      ASSERT_TRUE(snapshot->read(kReadSection, offset, part).ok());
      ASSERT_EQ(part, bytes.substr(offset, length)) << offset << " " << length;
    }
    std::string whole(size, 'x');
    ASSERT_TRUE(snapshot->read(kReadSection, 0, whole).ok());
    EXPECT_EQ(whole, bytes);
    std::string before(6, 'x');
    ASSERT_TRUE(snapshot->read(kIds, 0, before).ok());
    EXPECT_EQ(before, "before");
  }
}

TEST(SnapshotFile, NothingOutsideASectionIsGiven) {
  const std::string file = file_of(random_bytes(10'000, 1));
  const auto snapshot = opened(file);
  std::string one(1, 'x');
  EXPECT_EQ(snapshot->read(kReadSection, 10'000, one).code(), Code::kCorruption);
  EXPECT_EQ(snapshot->read(kReadSection, UINT64_MAX, one).code(), Code::kCorruption);
  std::string more(10'001, 'x');
  EXPECT_EQ(snapshot->read(kReadSection, 0, more).code(), Code::kCorruption);
  EXPECT_EQ(snapshot->read(kSeqs, 0, one).code(), Code::kCorruption) << "empty";
}

TEST(SnapshotFile, APartCostsItsBlocks) {
  const std::string file = file_of(random_bytes(4'000'000, 1));
  uint64_t read_bytes = 0;
  const auto snapshot = opened(file, &read_bytes);
  EXPECT_EQ(read_bytes, kSnapshotHeaderBytes);
  std::string part(100, 'x');
  ASSERT_TRUE(snapshot->read(kReadSection, 2'000'000, part).ok());
  const uint64_t hashes = 4'000'000 / kSnapshotBlockBytes * 8 + 8;
  EXPECT_EQ(read_bytes, kSnapshotHeaderBytes + hashes + kSnapshotBlockBytes);
  ASSERT_TRUE(snapshot->read(kReadSection, 3'000'000, part).ok());
  EXPECT_EQ(read_bytes, kSnapshotHeaderBytes + hashes + 2 * kSnapshotBlockBytes);
}

TEST(SnapshotFile, DamageIsFoundByWhoeverReadsItsBlock) {
  const std::string bytes = random_bytes(3 * kSnapshotBlockBytes, 1);
  std::string file = file_of(bytes);
  const size_t section_at = file.find(bytes);
  ASSERT_NE(section_at, file.npos);
  file[section_at + kSnapshotBlockBytes + 5] ^= 1;
  const auto snapshot = opened(file);
  std::string part(10, 'x');
  EXPECT_TRUE(snapshot->read(kReadSection, 100, part).ok());
  EXPECT_TRUE(snapshot->read(kReadSection, 2 * kSnapshotBlockBytes, part).ok());
  EXPECT_EQ(snapshot->read(kReadSection, kSnapshotBlockBytes + 5000, part).code(),
            Code::kCorruption);
  EXPECT_EQ(snapshot->read(kReadSection, kSnapshotBlockBytes - 5, part).code(), Code::kCorruption);
  std::string whole(bytes.size(), 'x');
  EXPECT_EQ(snapshot->read(kReadSection, 0, whole).code(), Code::kCorruption);
}

TEST(SnapshotFile, AWrongHashIsFoundByTheSectionsHash) {
  const std::string bytes = random_bytes(3 * kSnapshotBlockBytes, 1);
  const std::string right = file_of(bytes);
  for (const size_t from_end : {size_t{1}, size_t{9}, size_t{24}}) {
    std::string file = right;
    file[file.size() - from_end] ^= 1;
    const auto snapshot = opened(file);
    std::string part(10, 'x');
    EXPECT_EQ(snapshot->read(kReadSection, 0, part).code(), Code::kCorruption);
    EXPECT_TRUE(snapshot->read(kFacets, 0, std::span(part).first(4)).ok());
  }
}

TEST(SnapshotFile, AFileThatIsShorterThanItSaidIsNoCrash) {
  const std::string right = file_of(random_bytes(20'000, 1));
  for (const size_t size :
       {size_t{0}, size_t{100}, kSnapshotHeaderBytes, size_t{5000}, right.size() - 1}) {
    const auto text = std::string_view(right).substr(0, size);
    const auto open = SnapshotFile::open(std::make_unique<TextView>(text, right.size(), nullptr));
    if (!open.ok()) {
      EXPECT_EQ(open.code(), Code::kCorruption);
      continue;
    }
    std::string part(10, 'x');
    EXPECT_EQ((*open)->read(kReadSection, 15'000, part).code(), Code::kCorruption) << size;
  }
}

TEST(SnapshotFile, ALargerOneThanAnyIsRefused) {
  const std::string right = file_of("x");
  const auto open =
      SnapshotFile::open(std::make_unique<TextView>(right, (uint64_t{8} << 30) + 1, nullptr));
  EXPECT_EQ(open.code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::index
