// ElementReader: splits an input into the texts of single values, one after another: the lines of
// JSON lines, objects over several lines each, or the elements of one JSON array. Where lines or
// elements are conversations, each an object with an array of messages, it takes these apart, too.
// What such an object has as `system`, or as an instruction of Gemini's, is one of its messages.
//
// It finds only where a value ends, by quotes and brackets, not whether the value is valid: parsing
// finds that out, and an invalid value does not affect those around it. Memory is bounded by the
// longest element taken, however large the input is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transfer/format.h"
#include "transfer/input.h"

namespace varve::transfer {

struct Element {
  std::string_view text;  // valid until the next call; empty with a fault
  uint64_t line = 0;      // where it begins; counted from 1
  // Among all elements, valid or not, from 0: messages are told apart by it. What a conversation
  // has as `system` has the place of its beginning wherever it stands, or it would be another one
  // when messages were added before it.
  uint64_t place = 0;
  uint64_t conversation = 0;  // where one of several conversations begins: that place; else 0
  std::string fault;          // why there is no text
};

class ElementReader {
 public:
  // An element longer than `element_bytes_max` is a fault. `input` must outlive the reader.
  ElementReader(Input& input, ImportFormat format, size_t element_bytes_max);
  ~ElementReader();

  // nullopt at the end. A failure is always one of the input itself.
  Result<std::optional<Element>> next();

  [[nodiscard]] uint64_t read_bytes() const { return consumed_bytes_; }
  // Whether elements came as lines; known after the first call.
  [[nodiscard]] bool is_lines() const { return is_lines_; }

 private:
  enum class Mode : uint8_t { kStart, kLines, kValues, kArray, kObject, kBehind, kEnd };
  static constexpr int kNoByte = -1;
  static constexpr char kOwnBracket = '\0';

  struct Value {
    bool is_whole = true;  // false: the text ended before it did
    bool is_too_long = false;
  };

  Status start();
  Mode recognise();
  std::string_view look(size_t bytes);
  // Each returns an element; nothing when the mode has changed or all is read.
  std::optional<Element> next_line();
  std::optional<Element> next_value();
  std::optional<Element> next_item();
  std::optional<Element> next_member();
  std::optional<Element> leave_array();
  void enter_array(bool inside_object);
  // kOwnBracket: a value in brackets, with the one that closes it. Else up to ',' or `closing`.
  Value read_value(char closing);
  std::string read_key();
  bool take_line(bool* is_too_long);
  [[nodiscard]] bool takes_chats() const {
    return format_ == ImportFormat::kChat || format_ == ImportFormat::kAuto;
  }
  std::optional<Element> next_inner();
  std::optional<Element> element(uint64_t line, std::string_view text);
  Element fault(uint64_t line, std::string message);
  std::string limit_text() const;

  int peek() {
    return begin_ < end_ || fill() ? static_cast<unsigned char>(buffer_[begin_]) : kNoByte;
  }
  void advance();
  void skip(std::string_view bytes);
  bool fill();

  Input& input_;
  const ImportFormat format_;
  const size_t element_bytes_max_;
  Mode mode_ = Mode::kStart;
  bool is_lines_ = false;
  bool is_spread_ = false;      // values stand over several lines
  bool inside_object_ = false;  // the array is a member of an object
  std::vector<char> buffer_;
  size_t begin_ = 0;  // start of the unconsumed bytes
  size_t end_ = 0;
  bool at_end_ = false;
  Status failure_;  // of reading the input
  uint64_t consumed_bytes_ = 0;
  uint64_t line_ = 1;
  uint64_t element_count_ = 0;
  std::string text_;  // of the present element
  struct Inner;
  std::unique_ptr<Inner> inner_;  // of an element that holds elements
  bool is_inner_ = false;
};

}  // namespace varve::transfer
