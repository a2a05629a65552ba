// Document: one parsed JSON text, flat and read-only.
//
// Nodes lie in one vector in the order of the text, strings decoded into one buffer, so parsing an
// entry allocates nothing once the document has been used before. Reuse one per thread of work.
//
// Accepted is RFC 8259 with I-JSON's care: well-formed UTF-8, no lone surrogates, no duplicate
// members, one value and nothing after it. Numbers keep their text (canonical form, see
// canonical.h), so a 64-bit integer never passes through a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace varve::json {

enum class Kind : uint8_t { kNull, kFalse, kTrue, kInteger, kDouble, kString, kArray, kObject };

struct Limits {
  size_t text_bytes_max = size_t{1} << 30;
  uint32_t depth_max = 64;           // arrays and objects inside each other
  uint32_t number_chars_max = 1024;  // characters of one number
  uint32_t members_max = 65536;      // members of one object
};

class Document;

// A value inside a Document: valid until the document is parsed into again or destroyed.
class Value {
 public:
  Value(const Document& document, uint32_t node) : document_(&document), node_(node) {}

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is_object() const { return kind() == Kind::kObject; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::kArray; }
  [[nodiscard]] bool is_string() const { return kind() == Kind::kString; }
  [[nodiscard]] bool is_number() const {
    return kind() == Kind::kInteger || kind() == Kind::kDouble;
  }
  [[nodiscard]] bool is_bool() const { return kind() == Kind::kTrue || kind() == Kind::kFalse; }

  // Of a string: whether its canonical form has no escapes, as is known of most from parsing.
  [[nodiscard]] bool is_clean() const;
  // Decoded characters of a string, canonical text of a number, empty otherwise.
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] bool as_bool() const { return kind() == Kind::kTrue; }
  [[nodiscard]] double as_double() const;                 // of a number, else 0
  [[nodiscard]] std::optional<int64_t> as_int64() const;  // exact integers in range only (1.0 is)
  [[nodiscard]] std::optional<uint64_t> as_uint64() const;

  [[nodiscard]] uint32_t size() const;  // items of an array, members of an object, else 0
  // Array items in order.
  template <typename Visit>  // Visit(Value item) -> bool, false stops
  void for_each_item(Visit visit) const;
  // Members in canonical order (UTF-16 code units of the key). Visit(key, Value) -> bool.
  template <typename Visit>
  void for_each_member(Visit visit) const;
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;  // O(log members)

  [[nodiscard]] uint32_t node() const { return node_; }
  [[nodiscard]] const Document& document() const { return *document_; }

 private:
  const Document* document_;
  uint32_t node_;
};

class Document {
 public:
  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // Replaces what was parsed before. On failure the document is empty, and the Status is
  // kInvalidArgument (kSizeLimit when text_bytes_max is exceeded) naming the byte offset in `text`,
  // and the member path when the fault is about a member (duplicate, too many, too deep).
  Status parse(std::string_view text, const Limits& limits = {});

  [[nodiscard]] Value root() const { return {*this, 0}; }  // only after a successful parse

  // Where in the text a value starts. Cost: a second, slow parse of `text`, which must be the text
  // this document was parsed from: for error messages only.
  [[nodiscard]] uint64_t offset_of(Value value, std::string_view text) const;
  // "tags[2]", "content.role", "" for the root: for error messages only.
  [[nodiscard]] std::string path_of(Value value) const;

 private:
  friend class Value;
  friend class DocumentBuilder;

  struct Node {
    Kind kind;
    bool is_clean;   // of a string: it stood in the text without escapes, so it needs none
    uint32_t begin;  // scalars: offset of the text in buffer_; objects: of the order in order_
    uint32_t size;   // scalars: [bytes] of the text; containers: items or members
    uint32_t next;   // node after this one and all inside it
  };

  void clear();

  std::vector<Node> nodes_;      // an object's members are key node, value node(s), key node, …
  std::string buffer_;           // decoded strings, canonical numbers
  std::vector<uint32_t> order_;  // key nodes of each object, in canonical order
};

inline Kind Value::kind() const { return document_->nodes_[node_].kind; }

inline bool Value::is_clean() const { return document_->nodes_[node_].is_clean; }

inline std::string_view Value::text() const {
  const auto& self = document_->nodes_[node_];
  if (self.kind == Kind::kArray || self.kind == Kind::kObject) return {};
  return {document_->buffer_.data() + self.begin, self.size};
}

inline uint32_t Value::size() const {
  const auto& self = document_->nodes_[node_];
  return self.kind == Kind::kArray || self.kind == Kind::kObject ? self.size : 0;
}

template <typename Visit>
void Value::for_each_item(Visit visit) const {
  const auto& nodes = document_->nodes_;
  const auto& self = nodes[node_];
  if (self.kind != Kind::kArray) return;
  for (uint32_t item = node_ + 1; item < self.next; item = nodes[item].next) {
    if (!visit(Value(*document_, item))) return;
  }
}

template <typename Visit>
void Value::for_each_member(Visit visit) const {
  const auto& self = document_->nodes_[node_];
  if (self.kind != Kind::kObject) return;
  for (uint32_t i = 0; i < self.size; ++i) {
    const uint32_t key = document_->order_[self.begin + i];
    if (!visit(Value(*document_, key).text(), Value(*document_, key + 1))) return;
  }
}

}  // namespace varve::json
