// Tree: a JSON value that can be changed. For small documents: metadata, configuration, reports.
//
// Numbers are kept as canonical text, members in canonical order, unknown members as they came.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/document.h"

namespace varve::json {

class Tree {
 public:
  using Member = std::pair<std::string, Tree>;

  Tree() = default;  // null
  static Tree boolean(bool value);
  static Tree integer(int64_t value);
  static Tree integer_unsigned(uint64_t value);
  static Tree number(double value);  // finite
  static Tree string(std::string_view value);
  static Tree array();
  static Tree object();
  static Tree from(Value value);
  static Result<Tree> parse(std::string_view text, const Limits& limits = {});

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::kString; }
  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] const std::string& text() const { return text_; }  // strings and numbers

  // Objects. set() replaces; get() gives nullptr when absent; erase() tells whether it was there.
  Tree& set(std::string_view key, Tree value);
  [[nodiscard]] const Tree* get(std::string_view key) const;
  [[nodiscard]] Tree* get(std::string_view key);
  bool erase(std::string_view key);
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

  // Arrays.
  Tree& push(Tree value);
  [[nodiscard]] const std::vector<Tree>& items() const { return items_; }

  // Typed reads of a member; the fallback when it is absent or of another kind.
  [[nodiscard]] std::string get_string(std::string_view key, std::string_view fallback = {}) const;
  [[nodiscard]] int64_t get_int64(std::string_view key, int64_t fallback = 0) const;
  [[nodiscard]] uint64_t get_count(std::string_view key) const;  // also 0 for a negative number
  [[nodiscard]] double get_double(std::string_view key, double fallback = 0) const;
  [[nodiscard]] bool get_bool(std::string_view key, bool fallback = false) const;

  // RFC 7396: null removes, objects merge, everything else replaces.
  void merge_patch(const Tree& patch);

  void append_to(std::string& out) const;       // canonical
  [[nodiscard]] std::string canonical() const;  // canonical, one line
  [[nodiscard]] std::string pretty() const;     // two-space indent and a final newline, for people

 private:
  Kind kind_ = Kind::kNull;
  std::string text_;
  std::vector<Member> members_;  // sorted by compare_utf16
  std::vector<Tree> items_;
};

}  // namespace varve::json
