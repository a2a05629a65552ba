#include "json/tree.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "json/canonical.h"
#include "json/pretty_text.h"

namespace varve::json {
namespace {

// The one place where members are looked for: the first not before `key`.
template <typename Members>
auto lower_bound(Members& members, std::string_view key) {
  return std::lower_bound(members.begin(), members.end(), key,
                          [](const Tree::Member& member, std::string_view wanted) {
                            return compare_utf16(member.first, wanted) < 0;
                          });
}

// Recursion is as deep as the value, which a parse limited or code of ours built.
void append_pretty(const Tree& tree, PrettyText& pretty, std::string& out) {
  if (!tree.is_object() && !tree.is_array()) return tree.append_to(out);
  pretty.begin(tree.is_object() ? '{' : '[');
  for (const auto& [key, member] : tree.members()) {
    pretty.name(key);
    append_pretty(member, pretty, out);
  }
  for (const Tree& item : tree.items()) {
    pretty.item();
    append_pretty(item, pretty, out);
  }
  pretty.end(tree.is_object() ? '}' : ']');
}

}  // namespace

Tree Tree::boolean(bool value) {
  Tree tree;
  tree.kind_ = value ? Kind::kTrue : Kind::kFalse;
  return tree;
}

Tree Tree::integer(int64_t value) {
  Tree tree;
  tree.text_ = std::to_string(value);
  tree.kind_ = Kind::kInteger;
  return tree;
}

Tree Tree::integer_unsigned(uint64_t value) {
  Tree tree;
  tree.text_ = std::to_string(value);
  tree.kind_ = Kind::kInteger;
  return tree;
}

Tree Tree::number(double value) {
  Tree tree;
  append_double(value, tree.text_);
  const bool is_integer = tree.text_.find_first_not_of("-0123456789") == std::string::npos;
  tree.kind_ = is_integer ? Kind::kInteger : Kind::kDouble;
  return tree;
}

Tree Tree::string(std::string_view value) {
  Tree tree;
  tree.kind_ = Kind::kString;
  tree.text_ = value;
  return tree;
}

Tree Tree::array() {
  Tree tree;
  tree.kind_ = Kind::kArray;
  return tree;
}

Tree Tree::object() {
  Tree tree;
  tree.kind_ = Kind::kObject;
  return tree;
}

Tree Tree::from(Value value) {
  Tree tree;
  tree.kind_ = value.kind();
  tree.text_ = value.text();
  if (value.is_array()) tree.items_.reserve(value.size());
  if (value.is_object()) tree.members_.reserve(value.size());
  value.for_each_item([&tree](Value item) {
    tree.items_.push_back(from(item));
    return true;
  });
  value.for_each_member([&tree](std::string_view key, Value member) {
    tree.members_.emplace_back(key, from(member));
    return true;
  });
  return tree;
}

Result<Tree> Tree::parse(std::string_view text, const Limits& limits) {
  Document document;
  VARVE_TRY(document.parse(text, limits));
  return from(document.root());
}

Tree& Tree::set(std::string_view key, Tree value) {
  auto at = lower_bound(members_, key);
  if (at != members_.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    at = members_.emplace(at, key, std::move(value));
  }
  return at->second;
}

const Tree* Tree::get(std::string_view key) const {
  const auto at = lower_bound(members_, key);
  return at != members_.end() && at->first == key ? &at->second : nullptr;
}

Tree* Tree::get(std::string_view key) {
  const auto at = lower_bound(members_, key);
  return at != members_.end() && at->first == key ? &at->second : nullptr;
}

bool Tree::erase(std::string_view key) {
  const auto at = lower_bound(members_, key);
  if (at == members_.end() || at->first != key) return false;
  members_.erase(at);
  return true;
}

Tree& Tree::push(Tree value) { return items_.emplace_back(std::move(value)); }

std::string Tree::get_string(std::string_view key, std::string_view fallback) const {
  const Tree* member = get(key);
  return member != nullptr && member->is_string() ? member->text_ : std::string(fallback);
}

int64_t Tree::get_int64(std::string_view key, int64_t fallback) const {
  const Tree* member = get(key);
  if (member == nullptr || member->kind_ != Kind::kInteger) return fallback;
  const std::string& text = member->text_;
  int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? number : fallback;
}

uint64_t Tree::get_count(std::string_view key) const {
  return static_cast<uint64_t>(std::max<int64_t>(0, get_int64(key)));
}

double Tree::get_double(std::string_view key, double fallback) const {
  const Tree* member = get(key);
  if (member == nullptr) return fallback;
  if (member->kind_ != Kind::kInteger && member->kind_ != Kind::kDouble) return fallback;
  const std::string& text = member->text_;
  double number = fallback;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool Tree::get_bool(std::string_view key, bool fallback) const {
  const Tree* member = get(key);
  if (member == nullptr) return fallback;
  if (member->kind_ == Kind::kTrue) return true;
  return member->kind_ == Kind::kFalse ? false : fallback;
}

// RFC 7396 section 2. Both lists are in order, so that one pass over them is enough.
void Tree::merge_patch(const Tree& patch) {
  if (!patch.is_object()) {
    *this = patch;
    return;
  }
  if (!is_object()) *this = object();
  std::vector<Member> merged;
  merged.reserve(members_.size() + patch.members_.size());
  auto own = members_.begin();
  for (const auto& [key, value] : patch.members_) {
    while (own != members_.end() && compare_utf16(own->first, key) < 0) {
      merged.push_back(std::move(*own++));
    }
    Member member(key, Tree());
    if (own != members_.end() && own->first == key) member.second = std::move(own++->second);
    if (value.is_null()) continue;
    member.second.merge_patch(value);
    merged.push_back(std::move(member));
  }
  std::move(own, members_.end(), std::back_inserter(merged));
  members_ = std::move(merged);
}

void Tree::append_to(std::string& out) const {
  switch (kind_) {
    case Kind::kNull: out += "null"; return;
    case Kind::kFalse: out += "false"; return;
    case Kind::kTrue: out += "true"; return;
    case Kind::kInteger:
    case Kind::kDouble: out += text_; return;
    case Kind::kString: append_string(text_, out); return;
    case Kind::kArray:
      out += '[';
      for (const Tree& item : items_) {
        if (&item != items_.data()) out += ',';
        item.append_to(out);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (const Member& member : members_) {
        if (&member != members_.data()) out += ',';
        append_string(member.first, out);
        out += ':';
        member.second.append_to(out);
      }
      out += '}';
      return;
  }
}

std::string Tree::canonical() const {
  std::string text;
  append_to(text);
  return text;
}

std::string Tree::pretty() const {
  std::string text;
  PrettyText pretty(&text);
  append_pretty(*this, pretty, text);
  text += '\n';
  return text;
}

}  // namespace varve::json
