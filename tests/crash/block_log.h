// What a disk was told, in order, and every state that a power loss could leave on it.
//
// A disk keeps what it was told before its last flush. Of what came after it, any part may be
// there: the states of a moment are all of it, nothing of it, random parts of it, and all of it but
// the end of the last write.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace varve::crash {

// A file system that is promised less than whole pages tears its own journal.
inline constexpr size_t kBlockBytes = 4096;

struct BlockEvent {
  enum class Kind : uint64_t {
    kWrite,
    kFlush,
    kAsked,     // a mark: the program is about to ask for something
    kAnswered,  // a mark: the program was answered
  };
  Kind kind = Kind::kWrite;
  uint64_t offset = 0;
  std::string bytes;
};

// The bytes of a disk; most are zeros.
class DiskImage {
 public:
  using Block = std::array<char, kBlockBytes>;

  void write(uint64_t offset, std::string_view bytes);
  // By their numbers; those that are not there are zeros.
  [[nodiscard]] const std::map<uint64_t, Block>& blocks() const { return blocks_; }

 private:
  std::map<uint64_t, Block> blocks_;
};

// A write, or the part of it that is there.
struct KeptWrite {
  uint64_t offset = 0;
  std::string_view bytes;
};

struct BlockState {
  std::string name;
  size_t marks = 0;  // how many marks came before
  const DiskImage& flushed;
  std::vector<KeptWrite> kept;  // since the flush, in order
};

struct StateChoice {
  size_t count = 0;     // about so many states; random parts are added, or states left out, for it
  size_t part_min = 2;  // random parts of what a moment left, at least, before states are left out
  uint64_t seed = 1;
};

// Gives the states after each write, flush and answer. `base` is the disk before the first event;
// what a state refers to lives until `look` returns. The same arguments give the same states.
void for_each_block_state(const DiskImage& base, const std::vector<BlockEvent>& events,
                          const StateChoice& choice,
                          const std::function<void(const BlockState&)>& look);

}  // namespace varve::crash
