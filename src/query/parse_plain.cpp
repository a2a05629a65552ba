#include "query/parse_plain.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/time.h"
#include "json/plain.h"
#include "query/vocabulary.h"

namespace varve::query {

namespace {

constexpr size_t kPlainBytesMax = 1024;  // longer texts are worth the long way
constexpr size_t kLimitDigitsMax = 9;

// The members as they stand in the text; null data: not there.
struct Members {
  std::string_view text;
  std::string_view match;
  std::string_view start;
  std::string_view end;
  std::string_view last;
  std::string_view sort_by;
  std::string_view order;
  std::string_view limit;
  std::string_view now;
  bool has_types = false;
  bool has_tags = false;
  bool has_include = false;
  bool has_exclude = false;
  bool has_time = false;
};

// Takes the text apart. Lists go to the query at once, the rest is left in `members`.
class PlainText {
 public:
  PlainText(std::string_view text, Query* query, Members* members)
      : reader_(text), query_(*query), members_(*members) {}

  bool read() {
    return read_object([this](std::string_view name) { return read_member(name); }) &&
           reader_.take_end();
  }

 private:
  // Each of these once.
  bool read_string(std::string_view* string) {
    return string->data() == nullptr && reader_.take_ascii(string);
  }

  bool read_digits(std::string_view* digits) {
    return digits->data() == nullptr && reader_.take_number(digits) &&
           digits->size() <= kLimitDigitsMax &&
           std::all_of(digits->begin(), digits->end(), is_digit);
  }

  bool read_strings(bool* was_read, std::vector<std::string>* strings) {
    if (std::exchange(*was_read, true) || !reader_.take('[')) return false;
    if (reader_.take(']')) return true;
    do {
      std::string_view item;
      if (!reader_.take_ascii(&item)) return false;
      strings->emplace_back(item);
    } while (reader_.take(','));
    return reader_.take(']');
  }

  // `read_value` reads the value of the member it is given the name of.
  template <typename ReadValue>
  bool read_object(ReadValue read_value) {
    if (!reader_.take('{')) return false;
    if (reader_.take('}')) return true;
    do {
      std::string_view name;
      if (!reader_.take_ascii(&name) || !reader_.take(':') || !read_value(name)) return false;
    } while (reader_.take(','));
    return reader_.take('}');
  }

  bool read_member(std::string_view name) {
    if (name == "text") return read_string(&members_.text);
    if (name == "types") return read_strings(&members_.has_types, &query_.types);
    if (name == "tags") {
      return !std::exchange(members_.has_tags, true) &&
             read_object([this](std::string_view part) { return read_part_of_tags(part); });
    }
    if (name == "time") {
      return !std::exchange(members_.has_time, true) &&
             read_object([this](std::string_view part) { return read_part_of_time(part); });
    }
    if (name == "sort_by") return read_string(&members_.sort_by);
    if (name == "order") return read_string(&members_.order);
    if (name == "limit") return read_digits(&members_.limit);
    return name == "now" && read_string(&members_.now);
  }

  bool read_part_of_tags(std::string_view name) {
    if (name == "include") return read_strings(&members_.has_include, &query_.tags_include);
    if (name == "exclude") return read_strings(&members_.has_exclude, &query_.tags_exclude);
    return name == "match" && read_string(&members_.match);
  }

  bool read_part_of_time(std::string_view name) {
    if (name == "start") return read_string(&members_.start);
    if (name == "end") return read_string(&members_.end);
    return name == "last" && read_string(&members_.last);
  }

  json::PlainReader reader_;
  Query& query_;
  Members& members_;
};

bool is_there(std::string_view member) { return member.data() != nullptr; }

bool take_time(std::string_view member, std::optional<int64_t>* time_ms) {
  if (is_there(member)) *time_ms = parse_rfc3339(member);
  return !is_there(member) || time_ms->has_value();
}

// What the members mean; false when one of them is not right.
bool take_conditions(const Members& members, Query* query) {
  query->text = members.text;
  query->tags_match_all = members.match == "all";
  if (is_there(members.last)) query->last_ms = parse_span(members.last);
  const bool has_match =
      !is_there(members.match) || members.match == "any" || members.match == "all";
  return has_match && std::all_of(query->types.begin(), query->types.end(), is_valid_type) &&
         take_time(members.start, &query->start_ms) && take_time(members.end, &query->end_ms) &&
         take_time(members.now, &query->now_ms) &&
         (!query->start_ms || !query->end_ms || *query->start_ms <= *query->end_ms) &&
         is_there(members.last) == query->last_ms.has_value();
}

bool take_order(const Members& members, Query* query) {
  query->sort_by = query->has_text() ? SortBy::kBest : SortBy::kRelevance;
  if (is_there(members.sort_by)) {
    const auto sort_by = find_sort(members.sort_by);
    if (!sort_by) return false;
    query->sort_by = *sort_by;
  }
  query->ascending = members.order == "asc";
  if (is_there(members.limit)) {
    query->limit = 0;
    for (const char digit : members.limit) {
      query->limit = query->limit * 10 + static_cast<uint64_t>(digit - '0');
    }
  }
  return !is_there(members.order) || query->ascending || members.order == "desc";
}

// The canonical form that parse_query() hashes: members by their names, without white space.
class Meaning {
 public:
  void add(std::string_view text) {
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  // `name` with what stands around it.
  void add_string(std::string_view name, std::string_view member) {
    if (!is_there(member)) return;
    add(name);
    add_quoted(member);
  }
  void add_strings(bool is_member, std::string_view name, const std::vector<std::string>& strings) {
    if (!is_member) return;
    add(name);
    add("[");
    for (const auto& string : strings) {
      if (&string != &strings.front()) add(",");
      add_quoted(string);
    }
    add("]");
  }
  // Ends an object whose members were added each with a comma before it, from `begin` on.
  void end_object(size_t begin) {
    if (size_ > begin) {
      bytes_[begin] = '{';
    } else {
      add("{");
    }
    add("}");
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint64_t hash() const { return hash64({bytes_.data(), size_}); }

 private:
  void add_quoted(std::string_view string) {
    add("\"");
    add(string);
    add("\"");
  }

  // It is no longer than the text.
  std::array<char, kPlainBytesMax> bytes_;
  size_t size_ = 0;
};

uint64_t hash_of(const Members& members, const Query& query) {
  Meaning meaning;
  meaning.add_string("\"now\"", members.now);
  meaning.add_string("\"order\"", members.order);
  meaning.add_string("\"sort_by\"", members.sort_by);
  if (members.has_tags) {
    meaning.add("\"tags\"");
    const size_t begin = meaning.size();
    meaning.add_strings(members.has_exclude, ",\"exclude\":", query.tags_exclude);
    meaning.add_strings(members.has_include, ",\"include\":", query.tags_include);
    meaning.add_string(",\"match\":", members.match);
    meaning.end_object(begin);
  }
  meaning.add_string("\"text\"", members.text);
  if (members.has_time) {
    meaning.add("\"time\"");
    const size_t begin = meaning.size();
    meaning.add_string(",\"end\":", members.end);
    meaning.add_string(",\"last\":", members.last);
    meaning.add_string(",\"start\":", members.start);
    meaning.end_object(begin);
  }
  meaning.add_strings(members.has_types, "\"types\"", query.types);
  return meaning.hash();
}

}  // namespace

bool parse_plain(std::string_view text, Scope scope, Query* query) {
  if (text.size() > kPlainBytesMax) return false;
  Members members;
  if (!PlainText(text, query, &members).read() || !take_conditions(members, query)) return false;
  const bool has_order = scope == Scope::kSession || scope == Scope::kStore;
  const bool orders =
      is_there(members.sort_by) || is_there(members.order) || is_there(members.limit);
  if (has_order ? !take_order(members, query) : orders) return false;
  query->hash = hash_of(members, *query);
  return true;
}

}  // namespace varve::query
