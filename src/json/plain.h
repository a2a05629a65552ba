// PlainReader: JSON of the kind that programs write mostly, read in one pass without a Document.
//
// Plain are well-formed UTF-8, names of ASCII without escapes, strings whose escapes are canonical
// as they stand (\" \\ \b \f \n \r \t), numbers of few digits without exponent, objects of few
// members, and few of these inside each other. What is not plain may be right or wrong all the
// same: a Document tells, and says why.
//
// Cost: one pass over the text, sixteen bytes at a time within strings.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace varve::json {

// A member of an object that was appended, by where its value stands in what it was appended to.
struct PlainMember {
  std::string_view name;  // in the text that was read
  size_t begin = 0;
  size_t end = 0;
};
constexpr size_t kPlainMembersMax = 16;
using PlainMembers = boost::container::static_vector<PlainMember, kPlainMembersMax>;

// Each function takes what it names from the front, behind white space. False: that is not there,
// or it is not plain; then the reader, and what it appended, must not be used any more.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool take(char wanted) {
    skip_blanks();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool take_end() {
    skip_blanks();
    return at_ == end_;
  }

  // What stands between its quotes: ASCII without escapes.
  bool take_ascii(std::string_view* text);
  // A number as it stands.
  bool take_number(std::string_view* token);
  // Appends a value's canonical form (canonical.h). When it is an object and `members` is given,
  // these are its members, in canonical order.
  bool append_value(std::string* out, PlainMembers* members = nullptr);

 private:
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool append_text(std::string* out);
  bool append_token(std::string* out);
  bool append_array(std::string* out);
  bool append_object(std::string* out, PlainMembers* members);
  bool sort_members(size_t begin, std::string* out, PlainMembers* members);

  const char* at_;
  const char* end_;
  size_t depth_ = 0;
  std::string unsorted_;  // members of an object, as they were given
};

}  // namespace varve::json
