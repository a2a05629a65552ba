// Runs a fuzz target without libFuzzer: each seed as it is, cut short at every byte, and with every
// byte replaced by awkward ones: of a short seed by all of them, of a long one by one in turn. A
// target with a mutator of its own also runs what that makes of each seed, many times. Fails when
// there is no seed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t size_max, unsigned int seed);
// What a mutator asks libFuzzer for.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace {

constexpr size_t kDamagedBytesMax = 4096;  // of one seed; the rest is only run whole
constexpr size_t kReplacedPerSeed = 800;   // about, but each byte once
constexpr unsigned int kMutationsPerSeed = 300;
constexpr size_t kMutatedBytesMax = size_t{1} << 20;
constexpr char kAwkwardBytes[] = {'\0', '"', '\\', '{', ']', '9', '\x80', '\xff'};

void run(const std::string& input) {
  // A copy of the exact size, so that a sanitizer sees every byte read past the end.
  const std::string copy(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(copy.data()), copy.size());
}

void run_mutated(std::string input, unsigned int seed) {
  if (LLVMFuzzerCustomMutator == nullptr) return;
  const size_t size = input.size();
  input.resize(kMutatedBytesMax);
  input.resize(
      LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(input.data()), size, input.size(), seed));
  run(input);
}

size_t run_with_damages(const std::string& seed) {
  const size_t per_byte =
      std::clamp<size_t>(kReplacedPerSeed / (seed.size() + 1), 1, sizeof(kAwkwardBytes));
  size_t run_count = 1;
  run(seed);
  for (unsigned int i = 0; i < kMutationsPerSeed; ++i) run_mutated(seed, i);
  for (size_t at = 0; at < seed.size() && at < kDamagedBytesMax; ++at) {
    run(seed.substr(0, at));
    std::string damaged = seed;
    for (size_t i = 0; i < per_byte; ++i) {
      damaged[at] = kAwkwardBytes[(at + i) % sizeof(kAwkwardBytes)];
      run(damaged);
    }
    run_count += 1 + per_byte;
  }
  return run_count;
}

}  // namespace

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
  static uint32_t number = 1;
  number = number * 1664525 + 1013904223;  // the same in every run
  if (size > 0) data[(number >> 8) % size] = static_cast<uint8_t>(kAwkwardBytes[number >> 29]);
  return size;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  size_t seed_count = 0;
  size_t run_count = 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string seed((std::istreambuf_iterator<char>(stream)), {});
    run_count += run_with_damages(seed);
    ++seed_count;
  }
  std::printf("%zu seeds, %zu inputs\n", seed_count, run_count);
  return seed_count == 0 ? 1 : 0;
}
