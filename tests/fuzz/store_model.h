// What a session should hold, kept as simply as it can be.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace varve::fuzz {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

// What somebody who reads all of it sees, in order.
struct Shown {
  TextPairs entries;  // id and canonical content
  TextPairs kv;
  TextPairs transcript;
  bool operator==(const Shown&) const = default;
};

class StoreModel {
 public:
  [[nodiscard]] bool is_used(const std::string& id) const {
    return entries_.contains(id) || deleted_.contains(id);
  }
  [[nodiscard]] bool is_alive(const std::string& id, int64_t now_ms) const {
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.expires_ms > now_ms;
  }
  [[nodiscard]] const std::string& content(const std::string& id) const {
    return entries_.at(id).content;
  }

  void add(const std::string& id, std::string content, int64_t expires_ms = INT64_MAX) {
    entries_[id] = {std::move(content), expires_ms};
    order_.push_back(id);
  }
  void remove(const std::string& id) {
    entries_.erase(id);
    deleted_.insert(id);
    std::erase(order_, id);
  }
  // Ids of what expired are free again.
  void compact(int64_t now_ms) {
    std::erase_if(order_, [&](const std::string& id) { return !is_alive(id, now_ms); });
    std::erase_if(entries_, [&](const auto& entry) { return entry.second.expires_ms <= now_ms; });
  }
  void set(const std::string& key, const std::string& value) {
    forget(key);
    kv_.emplace_back(key, value);
  }
  bool forget(const std::string& key) {
    return std::erase_if(kv_, [&](const auto& pair) { return pair.first == key; }) > 0;
  }
  void say(const std::string& role, const std::string& content) {
    transcript_.emplace_back(role, content);
  }

  [[nodiscard]] Shown shown(int64_t now_ms) const {
    Shown shown{{}, kv_, transcript_};
    for (const auto& id : order_) {
      if (is_alive(id, now_ms)) shown.entries.emplace_back(id, content(id));
    }
    return shown;
  }

 private:
  struct Entry {
    std::string content;
    int64_t expires_ms = INT64_MAX;
  };
  std::map<std::string, Entry> entries_;  // with those that expired, until a compaction
  std::set<std::string> deleted_;
  std::vector<std::string> order_;
  TextPairs kv_;
  TextPairs transcript_;
};

}  // namespace varve::fuzz
