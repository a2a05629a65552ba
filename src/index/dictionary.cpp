#include "index/dictionary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace varve::index {

namespace {

// What a key costs besides its bytes: slot, string and buffer, about.
constexpr uint64_t kKeyOverheadBytes = 100;

}  // namespace

PostingBuffer& Dictionary::buffer(std::string_view key) {
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return buffers_[found->second];
  buffers_.emplace_back();
  numbers_.emplace(key, static_cast<uint32_t>(buffers_.size() - 1));
  added_bytes_ += key.size() + kKeyOverheadBytes;
  return buffers_.back();
}

void Dictionary::put(std::string_view key, std::string_view value) {
  if (values_.find(key) != values_.end() || frozen_.find(key).data() != nullptr) return;
  values_.emplace(key, value);
  added_bytes_ += key.size() + value.size() + kKeyOverheadBytes;
}

PostingList Dictionary::find(std::string_view key) const {
  PostingList list;
  const std::string_view encoded = frozen_.find(key);
  if (encoded.data() != nullptr) list.runs[0] = PostingRun(encoded);
  list.runs[1] = added_run(key);
  return list;
}

PostingRun Dictionary::added_run(std::string_view key) const {
  if (numbers_.empty()) return {};
  const auto found = numbers_.find(key);
  return found != numbers_.end() ? PostingRun(buffers_[found->second]) : PostingRun();
}

std::string_view Dictionary::find_value(std::string_view key) const {
  const auto found = values_.find(key);
  return found != values_.end() ? std::string_view(found->second) : frozen_.find(key);
}

void Dictionary::for_each_key(std::string_view prefix,
                              const std::function<bool(std::string_view)>& visit) const {
  for (uint32_t i = frozen_.lower_bound(prefix); i < frozen_.size(); ++i) {
    const std::string_view key = frozen_.key(i);
    if (!key.starts_with(prefix)) break;
    if (!visit(key)) return;
  }
  for (const auto& [key, number] : numbers_) {
    if (!key.starts_with(prefix) || frozen_.find(key).data() != nullptr) continue;
    if (!visit(key)) return;
  }
  for (const auto& [key, value] : values_) {
    if (!key.starts_with(prefix) || frozen_.find(key).data() != nullptr) continue;
    if (!visit(key)) return;
  }
}

std::string Dictionary::encode_list(std::string_view key, const PostingBuffer& added,
                                    const RowLengths& length_of) const {
  std::string out;
  const std::string_view encoded = frozen_.find(key);
  if (encoded.data() == nullptr) {
    added.append_encoded_to(&out);
    return out;
  }
  PostingBuffer joined;
  for (const PostingRun& run : {PostingRun(encoded), PostingRun(added)}) {
    PostingRun::Decoded decoded;
    for (uint32_t block = 0; block < run.block_count(); ++block) {
      const uint32_t count = run.decode(block, &decoded);
      for (uint32_t i = 0; i < count; ++i) {
        joined.add(decoded.rows[i], decoded.frequencies[i], length_of(decoded.rows[i]));
      }
    }
  }
  joined.append_encoded_to(&out);
  return out;
}

std::string Dictionary::encode(const RowLengths& length_of) const {
  if (numbers_.empty() && values_.empty() && frozen_.size() > 0) {
    return std::string(frozen_.bytes());
  }
  std::vector<std::pair<std::string_view, const PostingBuffer*>> added;
  added.reserve(numbers_.size() + values_.size());
  for (const auto& [key, number] : numbers_) added.emplace_back(key, &buffers_[number]);
  for (const auto& [key, value] : values_) added.emplace_back(key, nullptr);
  std::sort(added.begin(), added.end());
  SegmentBuilder builder;
  uint32_t frozen_at = 0;
  const auto copy_frozen_below = [&](const std::string_view* key) {
    for (; frozen_at < frozen_.size(); ++frozen_at) {
      if (key != nullptr && !(frozen_.key(frozen_at) < *key)) return;
      builder.add(frozen_.key(frozen_at), frozen_.value(frozen_at));
    }
  };
  for (const auto& [key, list] : added) {
    copy_frozen_below(&key);
    if (list == nullptr) {
      builder.add(key, find_value(key));
    } else {
      builder.add(key, encode_list(key, *list, length_of));
    }
    if (frozen_at < frozen_.size() && frozen_.key(frozen_at) == key) ++frozen_at;
  }
  copy_frozen_below(nullptr);
  return builder.encode();
}

void Dictionary::for_each_sorted(
    const std::function<void(std::string_view, std::string_view)>& visit) const {
  std::vector<std::string_view> added;
  added.reserve(numbers_.size() + values_.size());
  for (const auto& [key, number] : numbers_) added.emplace_back(key);
  for (const auto& [key, value] : values_) added.emplace_back(key);
  std::sort(added.begin(), added.end());
  uint32_t at = 0;
  for (const std::string_view key : added) {
    for (; at < frozen_.size() && frozen_.key(at) < key; ++at) {
      visit(frozen_.key(at), frozen_.value(at));
    }
    const bool is_frozen = at < frozen_.size() && frozen_.key(at) == key;
    visit(key, is_frozen ? frozen_.value(at++) : std::string_view());
  }
  for (; at < frozen_.size(); ++at) visit(frozen_.key(at), frozen_.value(at));
}

Dictionary Dictionary::renumbered(const Renumbering& rows, const RowLengths& new_length_of,
                                  Renumber& keys) const {
  SegmentBuilder builder;
  builder.reserve(frozen_);
  PostingRun::Decoded decoded;
  std::array<Posting, kBlockRows> staying;
  PostingBuffer kept;  // used again for each key, as are these
  std::string text;
  std::string encoded;
  for_each_sorted([&](std::string_view key, std::string_view frozen) {
    if (keys.has_value(key)) {
      text = key;
      const std::string_view value = frozen.data() != nullptr ? frozen : find_value(key);
      if (keys.keep_value(key, value, &text)) builder.add(text, value);
      return;
    }
    kept.clear();
    const PostingRun frozen_run = frozen.data() != nullptr ? PostingRun(frozen) : PostingRun();
    for (const PostingRun& run : {frozen_run, added_run(key)}) {
      for (uint32_t block = 0; block < run.block_count(); ++block) {
        const uint32_t count = run.decode(block, &decoded);
        size_t stays = 0;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t row = rows.new_row(decoded.rows[i]);
          if (row == kNoRow) continue;
          staying[stays++] = {row, decoded.frequencies[i], new_length_of(row)};
        }
        kept.add({staying.data(), stays});
      }
    }
    if (kept.count() == 0) {
      keys.dropped_list(key);
      return;
    }
    encoded.clear();
    kept.append_encoded_to(&encoded);
    builder.add(key, encoded);
  });
  Dictionary dictionary;
  dictionary.set_frozen(Segment::adopt(builder.encode()));
  return dictionary;
}

void Dictionary::adopt(std::string encoded) {
  frozen_ = Segment::adopt(std::move(encoded));
  // Not clear(): that keeps the memory.
  numbers_ = decltype(numbers_)();
  buffers_ = decltype(buffers_)();
  values_ = decltype(values_)();
  added_bytes_ = 0;
}

void Dictionary::freeze(const RowLengths& length_of) { adopt(encode(length_of)); }

uint64_t Dictionary::memory_bytes() const {
  uint64_t bytes = frozen_.memory_bytes() + numbers_.bucket_count() * sizeof(*numbers_.begin()) +
                   values_.bucket_count() * sizeof(*values_.begin()) +
                   buffers_.size() * sizeof(PostingBuffer);
  for (const auto& buffer : buffers_) bytes += buffer.memory_bytes();
  for (const auto& [key, number] : numbers_) bytes += key.capacity();
  for (const auto& [key, value] : values_) bytes += key.capacity() + value.capacity();
  return bytes;
}

}  // namespace varve::index
