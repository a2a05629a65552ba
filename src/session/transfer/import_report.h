// What an import reports: {"added","existing","refused":[{"line","reason"}],"refused_total",
// "format"}; Import::report() adds what only some have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/tree.h"
#include "transfer/format.h"

namespace varve::session {

class ImportReport {
 public:
  static constexpr uint64_t kRefusedMax = 1000;  // listed; all are counted

  explicit ImportReport(transfer::ImportFormat asked) : format_(asked) {}

  void count_added() { added_ += 1; }
  void count_existing() { existing_ += 1; }
  void refuse(uint64_t line, std::string_view reason) {
    refused_total_ += 1;
    refused_.emplace_back(line, reason);
    // Some are found before those of earlier lines, so the list is cut by line, now and then.
    if (refused_.size() >= 2 * kRefusedMax) keep_first();
  }

  // The format that was asked for, else that of the first good element.
  void note_kind(transfer::ImportFormat kind, bool is_line) {
    if (format_ != transfer::ImportFormat::kAuto) return;
    const bool is_json = kind == transfer::ImportFormat::kJsonl && !is_line;
    format_ = is_json ? transfer::ImportFormat::kJson : kind;
  }

  json::Tree finish() {
    json::Tree tree = json::Tree::object();
    tree.set("added", json::Tree::integer_unsigned(added_));
    tree.set("existing", json::Tree::integer_unsigned(existing_));
    keep_first();
    json::Tree refused = json::Tree::array();
    for (const auto& [line, reason] : refused_) {
      json::Tree item = json::Tree::object();
      item.set("line", json::Tree::integer_unsigned(line));
      item.set("reason", json::Tree::string(reason));
      refused.push(std::move(item));
    }
    tree.set("refused", std::move(refused));
    tree.set("refused_total", json::Tree::integer_unsigned(refused_total_));
    tree.set("format", json::Tree::string(transfer::format_name(format_)));
    return tree;
  }

 private:
  void keep_first() {
    std::stable_sort(refused_.begin(), refused_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (refused_.size() > kRefusedMax) refused_.resize(kRefusedMax);
  }

  uint64_t added_ = 0;
  uint64_t existing_ = 0;
  std::vector<std::pair<uint64_t, std::string>> refused_;
  uint64_t refused_total_ = 0;
  transfer::ImportFormat format_;
};

}  // namespace varve::session
