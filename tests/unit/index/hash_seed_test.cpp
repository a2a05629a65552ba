// Keys that somebody chose so that they share a place in a table: who chose them for one seed has
// not chosen them for another.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "index/dictionary.h"
#include "index/short_word_table.h"

namespace varve::index {
namespace {

constexpr uint64_t kKnown = 0;
constexpr uint64_t kSecret = 0x6A09E667F3BCC908;
constexpr size_t kChosen = 64;

using Hash = std::function<uint64_t(const std::string& key)>;

// A table of 256 places takes the lowest bits of a hash, or the highest.
uint64_t low_place(uint64_t hash) { return hash & 0xFF; }
uint64_t high_place(uint64_t hash) { return hash >> 56; }

// How many places the keys have by `hash` that share one by `chosen_for`.
size_t places_of_chosen(uint64_t (*place_of)(uint64_t), const Hash& chosen_for, const Hash& hash,
                        const std::string& beginning) {
  std::set<uint64_t> places;
  size_t chosen = 0;
  for (uint32_t i = 0; chosen < kChosen; ++i) {
    const std::string key = beginning + std::to_string(i);
    if (place_of(chosen_for(key)) != 7) continue;
    chosen += 1;
    places.insert(place_of(hash(key)));
  }
  return places.size();
}

void expect_spread(uint64_t (*place_of)(uint64_t), const std::function<Hash(uint64_t)>& hash_with,
                   const std::string& beginning) {
  const Hash known = hash_with(kKnown);
  const Hash secret = hash_with(kSecret);
  ASSERT_EQ(places_of_chosen(place_of, known, known, beginning), 1u);
  // Some 57 of 64 by chance.
  EXPECT_GT(places_of_chosen(place_of, known, secret, beginning), 45u) << beginning;
}

TEST(HashSeed, SpreadsShortWordsThatWereChosenForAnother) {
  const auto hash_with = [](uint64_t seed) -> Hash {
    return [table = ShortWordTable<uint32_t>(seed)](const std::string& word) {
      return table.hash_of(text::short_word_of(word));
    };
  };
  for (const std::string beginning : {"", "remember"}) {  // in the first eight bytes, and behind
    expect_spread(low_place, hash_with, beginning);
  }
}

TEST(HashSeed, SpreadsKeysThatWereChosenForAnother) {
  const auto hash_with = [](uint64_t seed) -> Hash {
    return [hash = KeyHash{seed}](const std::string& key) { return hash(key); };
  };
  for (const size_t length : {1U, 10U, 40U, 150U, 300U}) {
    expect_spread(low_place, hash_with, std::string(length, 's'));
    expect_spread(high_place, hash_with, std::string(length, 's'));
  }
}

}  // namespace
}  // namespace varve::index
