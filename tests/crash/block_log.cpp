#include "block_log.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace varve::crash {
namespace {

// Goes through the events once; gives the states, or counts them.
class Walk {
 public:
  Walk(DiskImage base, const StateChoice& choice, size_t parts, double share,
       const std::function<void(const BlockState&)>& look)
      : flushed_(std::move(base)),
        random_(choice.seed),
        parts_(parts),
        share_(share),
        look_(look) {}

  void take(const BlockEvent& event) {
    number_ += 1;
    switch (event.kind) {
      case BlockEvent::Kind::kWrite:
        pending_.push_back({event.offset, event.bytes});
        states_of("write");
        torn();
        return;
      case BlockEvent::Kind::kFlush:
        for (const KeptWrite& write : pending_) flushed_.write(write.offset, write.bytes);
        pending_.clear();
        give("flush", {});
        return;
      case BlockEvent::Kind::kAsked: marks_ += 1; return;
      case BlockEvent::Kind::kAnswered:
        marks_ += 1;
        if (!pending_.empty()) give("answer, nothing of what followed the flush", {});
        states_of("answer");
        return;
    }
  }

  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] size_t moments_with_parts() const { return moments_with_parts_; }

 private:
  void states_of(const char* what) {
    give(what, pending_);
    if (pending_.size() < 2) return;  // a part of one write is all of it or nothing
    moments_with_parts_ += 1;
    for (size_t part = 0; part < parts_; ++part) {
      std::vector<KeptWrite> kept;
      for (const KeptWrite& write : pending_) {
        if (random_() % 2 == 0) kept.push_back(write);
      }
      give(std::string(what) + ", a part", std::move(kept));
    }
  }

  void torn() {
    const size_t blocks = pending_.back().bytes.size() / kBlockBytes;
    if (blocks < 2) return;
    std::vector<KeptWrite> kept = pending_;
    kept.back().bytes = kept.back().bytes.substr(0, (1 + random_() % (blocks - 1)) * kBlockBytes);
    give("write, torn", std::move(kept));
  }

  void give(std::string what, std::vector<KeptWrite> kept) {
    count_ += 1;
    const double drawn = static_cast<double>(random_()) / static_cast<double>(random_.max());
    if (!look_ || drawn > share_) return;
    std::string name = "event " + std::to_string(number_) + ": " + std::move(what) + ": " +
                       std::to_string(kept.size()) + " of " + std::to_string(pending_.size());
    look_({std::move(name), marks_, flushed_, std::move(kept)});
  }

  DiskImage flushed_;
  std::vector<KeptWrite> pending_;
  std::mt19937_64 random_;
  const size_t parts_;
  const double share_;
  const std::function<void(const BlockState&)>& look_;
  size_t number_ = 0;
  size_t marks_ = 0;
  size_t count_ = 0;
  size_t moments_with_parts_ = 0;
};

}  // namespace

void DiskImage::write(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const uint64_t at = offset % kBlockBytes;
    const size_t count = std::min<size_t>(bytes.size(), kBlockBytes - at);
    Block& block = blocks_[offset / kBlockBytes];  // zeros when it is new
    std::memcpy(block.data() + at, bytes.data(), count);
    offset += count;
    bytes.remove_prefix(count);
  }
}

void for_each_block_state(const DiskImage& base, const std::vector<BlockEvent>& events,
                          const StateChoice& choice,
                          const std::function<void(const BlockState&)>& look) {
  const std::function<void(const BlockState&)> nobody;
  Walk counting({}, choice, choice.part_min, 1, nobody);
  for (const BlockEvent& event : events) counting.take(event);
  size_t parts = choice.part_min;
  size_t count = counting.count();
  const size_t moments = counting.moments_with_parts();
  if (count < choice.count && moments > 0) {
    const size_t more = (choice.count - count + moments - 1) / moments;
    parts += more;
    count += more * moments;
  }
  if (count == 0) return;
  const double share = static_cast<double>(choice.count) / static_cast<double>(count);
  Walk walk(base, choice, parts, share, look);
  for (const BlockEvent& event : events) walk.take(event);
}

}  // namespace varve::crash
