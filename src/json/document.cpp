#include "json/document.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include <boost/json/basic_parser_impl.hpp>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/canonical.h"
#include "json/diagnosis.h"

namespace varve::json {
namespace {

constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();
constexpr size_t kPathKeyBytesMax = 64;
constexpr const char* kExponentMessage = "a number's exponent is out of range";
constexpr size_t kRoomBytesMax = 4096;  // of a text: longer ones are worth growing for
// So many keys are compared one by one: mostly their lengths differ.
constexpr uint32_t kFewMembers = 16;

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
  });
}

// ".key", or "["odd key"]" for one that is not a plain word.
void append_path_key(std::string_view key, std::string& path) {
  if (key.size() > kPathKeyBytesMax) {
    path += path.empty() ? "" : ".";
    path.append(cut_utf8(key, kPathKeyBytesMax)).append("...");
    return;
  }
  if (is_plain_key(key)) {
    if (!path.empty()) path += '.';
    path += key;
    return;
  }
  path += '[';
  append_string(key, path);
  path += ']';
}

// The parser refuses exponents beyond those of an int. Where exactly, and whether it refuses
// negative ones at all, depends on its release, so that a bound of ours decides.
bool is_usual_exponent(std::string_view number) {
  constexpr uint32_t kExponentMax = 2'000'000'000;
  const size_t exponent_at = number.find_first_of("eE");
  if (exponent_at == std::string_view::npos) return true;
  std::string_view digits = number.substr(exponent_at + 1);
  if (digits.front() == '-' || digits.front() == '+') digits.remove_prefix(1);
  uint32_t exponent = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return read.ec == std::errc() && exponent <= kExponentMax;
}

std::string in_member(const std::string& path) {
  return path.empty() ? std::string() : " in '" + path + "'";
}

}  // namespace

// The parser's handler: turns its events into nodes.
//
// While an array or object is open, its node's `next` names the one around it, so that the open
// ones form a chain and need no stack of their own.
class DocumentBuilder {
 public:
  using error_code = boost::json::error_code;
  using string_view = boost::json::string_view;

  // The parser's own limits; ours are in Limits.
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  DocumentBuilder(Document& document, std::string_view text, const Limits& limits)
      : document_(document), text_(text), limits_(limits) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) {
    is_complete_ = true;
    return true;
  }

  bool on_object_begin(error_code&) { return open(Kind::kObject); }
  bool on_object_end(std::size_t, error_code& ec) {
    if (!order_members()) return refuse(Fault::kDuplicate, ec);
    return close();
  }
  bool on_array_begin(error_code&) { return open(Kind::kArray); }
  bool on_array_end(std::size_t count, error_code&) {
    document_.nodes_[open_].size = static_cast<uint32_t>(count);
    return close();
  }

  bool on_key_part(string_view part, std::size_t, error_code&) { return append(part); }
  bool on_key(string_view part, std::size_t size, error_code& ec) {
    if (++document_.nodes_[open_].size > limits_.members_max) return refuse(Fault::kMembers, ec);
    return on_string(part, size, ec);
  }
  bool on_string_part(string_view part, std::size_t, error_code&) { return append(part); }
  bool on_string(string_view part, std::size_t size, error_code& ec) {
    append(part);
    return add_text(Kind::kString, document_.buffer_.size() - size, ec, is_as_given(part, size));
  }

  // The text is parsed in one piece, so a number that ends well comes in one part.
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(int64_t, string_view token, error_code& ec) { return on_number(token, ec); }
  bool on_uint64(uint64_t, string_view token, error_code& ec) { return on_number(token, ec); }
  bool on_double(double, string_view token, error_code& ec) { return on_number(token, ec); }

  bool on_bool(bool value, error_code&) { return add(value ? Kind::kTrue : Kind::kFalse, 0, 0); }
  bool on_null(error_code&) { return add(Kind::kNull, 0, 0); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  // Why the text was refused: `refused_at` bytes of it were read.
  Status failure(std::string_view text, size_t refused_at, error_code ec) const;

 private:
  enum class Fault : uint8_t {
    kNone,
    kDuplicate,
    kMembers,
    kNumberRange,
    kExponent,
    kNumberChars,
    kTextSize
  };

  bool refuse(Fault fault, error_code& ec) {
    fault_ = fault;
    ec = boost::json::error::input_error;
    return false;
  }

  bool append(string_view part) {
    document_.buffer_.append(part.data(), part.size());
    return true;
  }

  // What was escaped comes from the parser's own memory, or in several parts.
  [[nodiscard]] bool is_as_given(string_view part, size_t size) const {
    const std::less_equal<> in_order;
    return part.size() == size && in_order(text_.data(), part.data()) &&
           in_order(part.data() + size, text_.data() + text_.size());
  }

  bool add(Kind kind, size_t begin, size_t size, bool is_clean = false) {
    const auto next = static_cast<uint32_t>(document_.nodes_.size() + 1);
    document_.nodes_.push_back(
        {kind, is_clean, static_cast<uint32_t>(begin), static_cast<uint32_t>(size), next});
    return true;
  }

  bool add_text(Kind kind, size_t begin, error_code& ec, bool is_clean = false) {
    const size_t end = document_.buffer_.size();
    if (end > std::numeric_limits<uint32_t>::max()) return refuse(Fault::kTextSize, ec);
    return add(kind, begin, end - begin, is_clean);
  }

  bool on_number(string_view token, error_code& ec) {
    number_chars_ = token.size();
    const std::string_view text(token.data(), token.size());
    if (!is_usual_exponent(text)) return refuse(Fault::kExponent, ec);
    if (token.size() > limits_.number_chars_max) return refuse(Fault::kNumberChars, ec);
    const size_t begin = document_.buffer_.size();
    bool is_integer = false;
    if (!append_number(text, document_.buffer_, &is_integer)) {
      return refuse(Fault::kNumberRange, ec);
    }
    return add_text(is_integer ? Kind::kInteger : Kind::kDouble, begin, ec);
  }

  bool open(Kind kind) {
    const auto node = static_cast<uint32_t>(document_.nodes_.size());
    document_.nodes_.push_back({kind, false, 0, 0, open_});
    open_ = node;
    return true;
  }

  bool close() {
    const uint32_t node = open_;
    open_ = document_.nodes_[node].next;
    document_.nodes_[node].next = static_cast<uint32_t>(document_.nodes_.size());
    return true;
  }

  [[nodiscard]] std::string_view key_text(uint32_t key) const {
    return Value(document_, key).text();
  }

  bool order_members();
  void find_duplicate(const uint32_t* begin, const uint32_t* end);
  [[nodiscard]] std::string open_path() const;
  void append_open_step(uint32_t container, uint32_t child, std::string& path) const;

  Document& document_;
  std::string_view text_;
  const Limits& limits_;
  uint32_t open_ = kNoNode;       // innermost open array or object
  uint32_t duplicate_ = kNoNode;  // second key of a pair, of kDuplicate
  size_t number_chars_ = 0;       // of the last number
  bool is_complete_ = false;
  Fault fault_ = Fault::kNone;
};

// Puts the keys of the innermost object into canonical order. False when two are equal.
bool DocumentBuilder::order_members() {
  auto& nodes = document_.nodes_;
  auto& order = document_.order_;
  const size_t begin = order.size();
  nodes[open_].begin = static_cast<uint32_t>(begin);
  bool is_sorted = true;
  for (uint32_t key = open_ + 1; key < nodes.size(); key = nodes[key + 1].next) {
    is_sorted = is_sorted &&
                (order.size() == begin || compare_utf16(key_text(order.back()), key_text(key)) < 0);
    order.push_back(key);
  }
  if (is_sorted) return true;
  uint32_t* const first = order.data() + begin;
  uint32_t* const last = order.data() + order.size();
  std::sort(first, last, [this](uint32_t a, uint32_t b) {
    const int compared = compare_utf16(key_text(a), key_text(b));
    return compared != 0 ? compared < 0 : a < b;
  });
  find_duplicate(first, last);
  return duplicate_ == kNoNode;
}

void DocumentBuilder::find_duplicate(const uint32_t* begin, const uint32_t* end) {
  for (const uint32_t* at = begin + 1; at < end; ++at) {
    if (key_text(at[-1]) == key_text(*at)) duplicate_ = std::min(duplicate_, *at);
  }
}

// Adds the step from an open container to `child`, or when that is kNoNode to what comes next.
void DocumentBuilder::append_open_step(uint32_t container, uint32_t child,
                                       std::string& path) const {
  const auto& nodes = document_.nodes_;
  const auto end = static_cast<uint32_t>(std::min<size_t>(child, nodes.size()));
  if (nodes[container].kind == Kind::kArray) {
    size_t index = 0;
    for (uint32_t item = container + 1; item < end; item = nodes[item].next) ++index;
    path += '[' + std::to_string(index) + ']';
    return;
  }
  uint32_t key = container + 1;
  while (key + 1 < end) key = nodes[key + 1].next;
  if (key < end) append_path_key(key_text(key), path);
}

// The path of the value that was being read.
std::string DocumentBuilder::open_path() const {
  std::vector<uint32_t> chain;
  for (uint32_t node = open_; node != kNoNode; node = document_.nodes_[node].next) {
    chain.push_back(node);
  }
  std::string path;
  for (size_t i = chain.size(); i-- > 0;) {
    append_open_step(chain[i], i > 0 ? chain[i - 1] : kNoNode, path);
  }
  return path;
}

Status DocumentBuilder::failure(std::string_view text, size_t refused_at, error_code ec) const {
  Place place;
  std::string message;
  place.member = open_path();
  place.offset = refused_at;
  const auto at = [&place] { return " at byte " + std::to_string(*place.offset); };
  switch (fault_) {
    case Fault::kDuplicate:
      append_path_key(key_text(duplicate_), place.member);
      place.offset = token_offset(text, duplicate_);
      message = "member '" + place.member + "' appears twice, the second time" + at();
      return {Code::kInvalidArgument, std::move(message), std::move(place)};
    case Fault::kTextSize:
      place.limit = std::numeric_limits<uint32_t>::max();
      return {Code::kSizeLimit, "the decoded text exceeds 4 GiB" + at(), std::move(place)};
    case Fault::kMembers:
      message = "an object has more than " + std::to_string(limits_.members_max) + " members";
      break;
    case Fault::kNumberChars:
      place.offset = refused_at - number_chars_;
      message =
          "a number has more than " + std::to_string(limits_.number_chars_max) + " characters";
      break;
    case Fault::kExponent:
      place.offset = refused_at - number_chars_;
      message = kExponentMessage;
      break;
    case Fault::kNumberRange:
      place.offset = refused_at - number_chars_;
      message = "a number exceeds the range of a double";
      break;
    case Fault::kNone:
      if (ec == boost::json::error::too_deep) {
        message = "nested deeper than " + std::to_string(limits_.depth_max) + " levels";
      } else if (ec == boost::json::error::exponent_overflow) {
        place.offset = token_start(text, refused_at);
        message = kExponentMessage;
      } else {
        auto found = diagnose(text, refused_at, is_complete_);
        place.offset = found.offset;
        message = "invalid JSON: " + found.what;
      }
      break;
  }
  message += at() + in_member(place.member);
  return {Code::kInvalidArgument, std::move(message), std::move(place)};
}

void Document::clear() {
  nodes_.clear();
  buffer_.clear();
  order_.clear();
}

Status Document::parse(std::string_view text, const Limits& limits) {
  clear();
  // Nodes and offsets are counted in 32 bits.
  const auto text_bytes_max =
      std::min<size_t>(limits.text_bytes_max, std::numeric_limits<uint32_t>::max() - 1);
  if (text.size() > text_bytes_max) {
    return {Code::kSizeLimit,
            "the text is " + std::to_string(text.size()) + " bytes; the limit is " +
                std::to_string(text_bytes_max),
            {.size = text.size(), .limit = text_bytes_max}};
  }
  if (text.data() == nullptr) text = "";
  // Room for what most texts have, so that a new document's memory grows once.
  constexpr size_t kBytesPerNode = 8;
  const size_t bytes = std::min(text.size(), kRoomBytesMax);
  nodes_.reserve(bytes / kBytesPerNode);
  order_.reserve(bytes / kBytesPerNode / 2);
  buffer_.reserve(bytes);
  boost::json::parse_options options;
  options.max_depth = limits.depth_max;
  boost::json::basic_parser<DocumentBuilder> parser(options, *this, text, limits);
  boost::json::error_code ec;
  const size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && consumed == text.size()) return {};
  Status status = parser.handler().failure(text, consumed, ec);
  clear();
  return status;
}

uint64_t Document::offset_of(Value value, std::string_view text) const {
  return token_offset(text, value.node());
}

std::string Document::path_of(Value value) const {
  std::string path;
  uint32_t node = 0;
  while (node != value.node() && node < nodes_.size()) {
    const bool is_object = nodes_[node].kind == Kind::kObject;
    const uint32_t step = is_object ? 1 : 0;  // from a key to its value
    uint32_t child = node + 1;
    size_t index = 0;
    while (nodes_[child + step].next <= value.node()) {
      child = nodes_[child + step].next;
      ++index;
    }
    if (is_object) {
      append_path_key(Value(*this, child).text(), path);
      if (value.node() == child) break;  // the key itself
    } else {
      path += '[' + std::to_string(index) + ']';
    }
    node = child + step;
  }
  return path;
}

double Value::as_double() const {
  double number = 0;
  if (is_number()) std::from_chars(text().data(), text().data() + text().size(), number);
  return number;
}

namespace {

template <typename Integer>
std::optional<Integer> exact_integer(Value value) {
  if (value.kind() != Kind::kInteger) return std::nullopt;
  const std::string_view text = value.text();
  Integer number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int64_t> Value::as_int64() const { return exact_integer<int64_t>(*this); }

std::optional<uint64_t> Value::as_uint64() const { return exact_integer<uint64_t>(*this); }

std::optional<Value> Value::find(std::string_view key) const {
  const auto& self = document_->nodes_[node_];
  if (self.kind != Kind::kObject) return std::nullopt;
  const uint32_t* const begin = document_->order_.data() + self.begin;
  const uint32_t* const end = begin + self.size;
  if (self.size <= kFewMembers) {
    const uint32_t* const at = std::find_if(
        begin, end, [&](uint32_t node) { return Value(*document_, node).text() == key; });
    return at == end ? std::nullopt : std::optional(Value(*document_, *at + 1));
  }
  const uint32_t* const at = std::lower_bound(begin, end, key, [this](uint32_t node, auto wanted) {
    return compare_utf16(Value(*document_, node).text(), wanted) < 0;
  });
  if (at == end || Value(*document_, *at).text() != key) return std::nullopt;
  return Value(*document_, *at + 1);
}

}  // namespace varve::json
