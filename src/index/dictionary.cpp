#include "index/dictionary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "index/list_renumberer.h"

namespace varve::index {

namespace {

// What a key costs besides its bytes: slot, string and buffer, about.
constexpr uint64_t kKeyOverheadBytes = 100;

// The first eight bytes as a number that sorts as they do.
uint64_t head_of(std::string_view key) {
  uint64_t head = 0;
  for (size_t i = 0; i < sizeof(head); ++i) {
    head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return head;
}

}  // namespace

uint32_t Dictionary::list_number(std::string_view key) {
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<uint32_t>(buffers_.size());
  buffers_.emplace_back();
  numbers_.emplace(key, number);
  added_bytes_ += key.size() + kKeyOverheadBytes;
  return number;
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

PostingList Dictionary::find_rows(std::string_view key) const {
  PostingList list;
  list.runs[1] = added_run(key);
  const std::string_view encoded = frozen_.find(key);
  if (encoded.data() == nullptr) return list;
  const bool is_alone = list.runs[1].count() == 0;
  list.runs[0] = is_alone ? PostingRun::of_rows(encoded) : PostingRun(encoded);
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

std::vector<Dictionary::AddedKey> Dictionary::sorted_added() const {
  std::vector<AddedKey> added;
  added.reserve(numbers_.size() + values_.size());
  for (const auto& [key, number] : numbers_) {
    added.push_back({head_of(key), key, &buffers_[number]});
  }
  for (const auto& [key, value] : values_) added.push_back({head_of(key), key, nullptr});
  std::sort(added.begin(), added.end(), [](const AddedKey& a, const AddedKey& b) {
    return a.head != b.head ? a.head < b.head : a.key < b.key;
  });
  return added;
}

std::string Dictionary::encode(const RowLengths& length_of) const {
  if (numbers_.empty() && values_.empty() && frozen_.size() > 0) {
    return std::string(frozen_.bytes());
  }
  SegmentBuilder builder;
  uint32_t frozen_at = 0;
  const auto copy_frozen_below = [&](const std::string_view* key) {
    for (; frozen_at < frozen_.size(); ++frozen_at) {
      if (key != nullptr && !(frozen_.key(frozen_at) < *key)) return;
      builder.add(frozen_.key(frozen_at), frozen_.value(frozen_at));
    }
  };
  for (const auto& [head, key, list] : sorted_added()) {
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
  uint32_t at = 0;
  for (const auto& [head, key, list] : sorted_added()) {
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
  ListRenumberer list(rows, new_length_of);  // used again for each key, as are these
  std::string text;
  std::string added;
  for_each_sorted([&](std::string_view key, std::string_view frozen) {
    if (keys.has_value(key)) {
      text = key;
      const std::string_view value = frozen.data() != nullptr ? frozen : find_value(key);
      if (keys.keep_value(key, value, &text)) builder.add(text, value);
      return;
    }
    list.start();
    if (frozen.data() != nullptr) list.add(frozen);
    if (const auto found = numbers_.find(key); found != numbers_.end()) {
      added.clear();
      buffers_[found->second].append_encoded_to(&added);
      list.add(added);
    }
    if (list.count() == 0) {
      keys.dropped_list(key);
    } else {
      builder.add(key, list.encoded());
    }
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
