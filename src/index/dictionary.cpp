#include "index/dictionary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "index/key_head.h"
#include "index/list_renumberer.h"

namespace varve::index {

namespace {

// What a key costs besides its bytes: slot, string and buffer, about.
constexpr uint64_t kKeyOverheadBytes = 100;

}  // namespace

Dictionary::Head Dictionary::head_of(std::string_view key) {
  constexpr size_t kHalf = sizeof(uint64_t);
  return {key_head(key), key.size() > kHalf ? key_head(key.substr(kHalf)) : 0};
}

std::string_view Dictionary::keep(std::string_view text) {
  if (text.empty()) return "";  // not null, which would mean: no value
  if (texts_ == nullptr) texts_ = std::make_unique<Arena>();
  auto* kept = static_cast<char*>(texts_->allocate(text.size(), 1));
  text.copy(kept, text.size());
  texts_bytes_ += text.size();
  return {kept, text.size()};
}

uint32_t Dictionary::list_number(std::string_view key) {
  const HashedKey wanted = hashed(key);
  const auto found = numbers_.find(wanted);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<uint32_t>(buffers_.size());
  marks_.push_back(false);
  buffers_.emplace_back();
  numbers_.emplace(HashedKey(keep(key), wanted), number);
  added_bytes_ += key.size() + kKeyOverheadBytes;
  return number;
}

void Dictionary::put(std::string_view key, std::string_view value) {
  const HashedKey wanted = hashed(key);
  if (values_.find(wanted) != values_.end() || frozen_.find(key).data() != nullptr) return;
  put_new(key, value);
}

void Dictionary::put_new(std::string_view key, std::string_view value) {
  values_.emplace(hashed(keep(key)), keep(value));
  added_bytes_ += key.size() + value.size() + kKeyOverheadBytes;
}

PostingList Dictionary::find(std::string_view key) const {
  PostingList list;
  list.runs[1] = added_run(key);
  const std::string_view encoded = frozen_.find(key);
  if (encoded.data() == nullptr) return list;
  const bool is_alone = list.runs[1].count() == 0;
  list.runs[0] = is_alone ? PostingRun::of_rows(encoded) : frozen_run(encoded);
  if (list.runs[0].is_damaged()) frozen_.set_damaged();  // it has no rows, as one that is empty
  return list;
}

PostingRun Dictionary::frozen_run(std::string_view encoded) const {
  const PostingRun run(encoded);
  if (run.is_damaged()) frozen_.set_damaged();
  if (run.count() == 0 || run.summary(run.block_count() - 1).last_row < frozen_row_end_) return run;
  frozen_.set_damaged();
  return {};
}

PostingRun Dictionary::added_run(std::string_view key) const {
  if (numbers_.empty()) return {};
  const auto found = numbers_.find(hashed(key));
  return found != numbers_.end() ? PostingRun(buffers_[found->second]) : PostingRun();
}

std::string_view Dictionary::find_value(std::string_view key) const {
  const auto found = values_.find(hashed(key));
  return found != values_.end() ? found->second : frozen_.find(key);
}

void Dictionary::for_each_list(std::string_view prefix,
                               const std::function<bool(std::string_view)>& visit) const {
  for (SegmentCursor frozen(frozen_, prefix); frozen.is_at(prefix); frozen.next()) {
    if (!visit(frozen.key())) return;
  }
  for (const auto& [key, number] : numbers_) {
    if (!key.text.starts_with(prefix) || frozen_.find(key.text).data() != nullptr) continue;
    if (!visit(key.text)) return;
  }
}

void Dictionary::for_each_marked(std::string_view prefix,
                                 const std::function<bool(std::string_view)>& visit) const {
  for (SegmentCursor frozen(frozen_, prefix); frozen.is_at(prefix); frozen.next()) {
    if (frozen.is_marked() && !visit(frozen.key())) return;
  }
  for (const auto& [key, number] : numbers_) {
    if (!marks_[number] || !key.text.starts_with(prefix) || frozen_.is_marked(key.text)) continue;
    if (!visit(key.text)) return;
  }
}

void Dictionary::for_each_value(
    std::string_view prefix,
    const std::function<bool(std::string_view, std::string_view)>& visit) const {
  for (SegmentCursor frozen(frozen_, prefix); frozen.is_at(prefix); frozen.next()) {
    if (!visit(frozen.key(), frozen.value())) return;
  }
  for (const auto& [key, value] : values_) {
    if (!key.text.starts_with(prefix) || frozen_.find(key.text).data() != nullptr) continue;
    if (!visit(key.text, value)) return;
  }
}

// *joined becomes the frozen list with the added one behind it. Of a frozen list of several blocks
// only the last is decoded.
void Dictionary::join(PostingBuffer* joined, std::string_view frozen, const PostingBuffer& added,
                      const RowLengths& length_of) const {
  const auto add = [&](const PostingRun& run) {
    DecodedBlock decoded;
    std::array<Posting, kBlockRows> postings;
    for (uint32_t block = 0; block < run.block_count(); ++block) {
      const uint32_t count = run.decode(block, &decoded);
      if (count < run.rows_in(block)) frozen_.set_damaged();
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t row = decoded.rows[i];
        postings[i] = {row, decoded.frequencies[i], length_of(row)};
      }
      joined->add(std::span(postings).first(count));
    }
  };
  const PostingRun before = frozen_run(frozen);
  if (before.count() == 0) {
    joined->clear();
  } else if (!joined->continue_from(frozen)) {
    add(before);
  }
  add(PostingRun(added));
}

std::vector<Dictionary::AddedKey> Dictionary::sorted_added() const {
  std::vector<AddedKey> added;
  added.reserve(numbers_.size() + values_.size());
  for (const auto& [key, number] : numbers_) {
    added.push_back({head_of(key.text), key.text, &buffers_[number], {}, marks_[number]});
  }
  for (const auto& [key, value] : values_) {
    added.push_back({head_of(key.text), key.text, nullptr, value});
  }
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
  std::string list;
  PostingBuffer joined;
  for_each_sorted([&](const AddedKey& added, std::string_view frozen) {
    if (added.list == nullptr) {
      const bool is_added = added.value.data() != nullptr;
      builder.add(added.key, is_added ? added.value : frozen, added.is_marked);
      return;
    }
    list.clear();
    if (frozen.data() == nullptr) {
      added.list->append_encoded_to(&list);
    } else {
      join(&joined, frozen, *added.list, length_of);
      joined.append_encoded_to(&list);
    }
    builder.add(added.key, list, added.is_marked);
  });
  return builder.encode();
}

void Dictionary::for_each_sorted(
    const std::function<void(const AddedKey& added, std::string_view frozen)>& visit) const {
  SegmentCursor frozen(frozen_);
  const auto visit_frozen = [&] {
    visit({{}, frozen.key(), nullptr, {}, frozen.is_marked()}, frozen.value());
    frozen.next();
  };
  for (AddedKey& added : sorted_added()) {
    while (!frozen.at_end() && frozen.key() < added.key) visit_frozen();
    const bool is_both = !frozen.at_end() && frozen.key() == added.key;
    if (is_both) added.is_marked |= frozen.is_marked();
    visit(added, is_both ? frozen.value() : std::string_view());
    if (is_both) frozen.next();
  }
  while (!frozen.at_end()) visit_frozen();
}

Dictionary Dictionary::renumbered(const Renumbering& rows, const RowLengths& new_length_of,
                                  Renumber& keys) const {
  SegmentBuilder builder;
  builder.reserve(frozen_);
  ListRenumberer list(rows, new_length_of);  // used again for each key, as are these
  std::string text;
  for_each_sorted([&](const AddedKey& of, std::string_view frozen) {
    const std::string_view key = of.key;
    if (keys.has_value(key)) {
      text = key;
      const std::string_view value = frozen.data() != nullptr ? frozen : of.value;
      if (keys.keep_value(key, value, &text)) builder.add(text, value);
      return;
    }
    list.start();
    bool is_right = true;
    if (frozen.data() != nullptr) {
      is_right = list.add(of.list != nullptr ? frozen_run(frozen) : PostingRun::of_rows(frozen));
    }
    if (of.list != nullptr) is_right = list.add(PostingRun(*of.list)) && is_right;
    if (!is_right) frozen_.set_damaged();
    if (list.count() == 0) {
      keys.dropped_list(key);
    } else {
      builder.add(key, list.encoded(), of.is_marked);
    }
  });
  Dictionary dictionary(hash_seed_);
  dictionary.set_frozen(Segment::adopt(builder.encode()));
  return dictionary;
}

void Dictionary::adopt(std::string encoded) {
  const bool was_damaged = frozen_.is_damaged();
  set_frozen(Segment::adopt(std::move(encoded)));
  if (was_damaged) frozen_.set_damaged();
  // Not clear(): that keeps the memory.
  numbers_ = decltype(numbers_)();
  buffers_ = decltype(buffers_)();
  lists_bytes_ = 0;
  marks_ = decltype(marks_)();
  values_ = decltype(values_)();
  texts_.reset();
  texts_bytes_ = 0;
  added_bytes_ = 0;
}

void Dictionary::freeze(const RowLengths& length_of) { adopt(encode(length_of)); }

uint64_t Dictionary::memory_bytes() const {
  return frozen_.memory_bytes() + numbers_.bucket_count() * sizeof(*numbers_.begin()) +
         values_.bucket_count() * sizeof(*values_.begin()) +
         buffers_.size() * sizeof(PostingBuffer) + lists_bytes_ + marks_.capacity() / 8 +
         texts_bytes_;
}

}  // namespace varve::index
