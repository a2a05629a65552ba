#include "session/entry/entry_input.h"

#include <charconv>
#include <string>
#include <utility>

#include "entry/plain_draft.h"
#include "json/object_reader.h"
#include "json/plain.h"

namespace varve::session {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Takes one line off the front of `text`, without its line end ("\n" or "\r\n").
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// False: draft_array() has to read the text instead.
bool draft_plain_array(std::string_view text, const entry::DraftOptions& options, IdGenerator& ids,
                       std::vector<entry::Draft>* drafts) {
  json::PlainReader reader(text);
  if (text.size() > json::Limits().text_bytes_max || !reader.take('[')) return false;
  do {
    auto draft = entry::draft_plain(reader, 0, options, ids);
    if (!draft || !entry::fits(*draft, options)) return false;
    drafts->push_back(*std::move(draft));
  } while (reader.take(','));
  return reader.take(']') && reader.take_end();
}

Result<std::vector<entry::Draft>> draft_array(std::string_view text,
                                              const entry::DraftOptions& options,
                                              IdGenerator& ids) {
  json::Document document;
  json::Limits limits;
  limits.depth_max += 1;  // the array around the entries
  VARVE_TRY(document.parse(text, limits));
  std::vector<entry::Draft> drafts;
  Status failure;
  document.root().for_each_item([&](json::Value item) {
    auto draft = entry::draft_value(text, item, options, ids);
    if (draft.ok()) {
      drafts.push_back(*std::move(draft));
    } else {
      failure = std::move(draft).status();
      if (failure.place().member.empty()) {  // it is about the whole entry
        failure = json::at_place(failure, document.path_of(item), document.offset_of(item, text));
      }
    }
    return failure.ok();
  });
  VARVE_TRY(std::move(failure));
  return drafts;
}

// The same failure, with its place in the whole text.
Status at_line(Status failure, uint64_t line_number, uint64_t line_offset) {
  Place place = failure.place();
  place.line = line_number;
  place.offset = line_offset + place.offset.value_or(0);
  return {failure.code(), "line " + std::to_string(line_number) + ": " + failure.message(),
          std::move(place)};
}

Result<std::vector<entry::Draft>> draft_lines(std::string_view text,
                                              const entry::DraftOptions& options,
                                              IdGenerator& ids) {
  std::vector<entry::Draft> drafts;
  json::Document scratch;
  std::string_view rest = text;
  for (uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    auto draft = entry::draft(line, options, ids, scratch);
    if (!draft.ok()) {
      return at_line(std::move(draft).status(), number,
                     static_cast<uint64_t>(line.data() - text.data()));
    }
    drafts.push_back(*std::move(draft));
  }
  return drafts;
}

bool is_array(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  return first != std::string_view::npos && text[first] == '[';
}

}  // namespace

Result<entry::Draft> draft_entry(std::string_view text, const entry::DraftOptions& options,
                                 IdGenerator& ids) {
  json::Document scratch;
  auto draft = entry::draft(text, options, ids, scratch);
  if (draft.ok()) return draft;
  return json::with_example(draft.status(), text,
                            R"(an entry looks like {"type":"finding","content":"tea"})");
}

Result<std::vector<entry::Draft>> draft_batch(std::string_view text,
                                              const entry::DraftOptions& options,
                                              IdGenerator& ids) {
  if (is_array(text)) {
    std::vector<entry::Draft> drafts;
    if (draft_plain_array(text, options, ids, &drafts)) return drafts;
    return draft_array(text, options, ids);
  }
  return draft_lines(text, options, ids);
}

Status in_batch(Status failure, std::string_view text) {
  if (failure.code() != Code::kAlreadyExists) return failure;
  size_t index = 0;  // which is not told of the only entry
  const std::string& member = failure.place().member;
  if (!member.empty()) std::from_chars(member.data() + 1, member.data() + member.size(), index);
  if (is_array(text)) {
    return {failure.code(), failure.message(), {.member = "[" + std::to_string(index) + "].id"}};
  }
  std::string_view rest = text;
  for (uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.find_first_not_of(kBlanks) == std::string_view::npos || index-- > 0) continue;
    const Status of_line(failure.code(), failure.message(), {.member = "id"});
    return at_line(of_line, number, static_cast<uint64_t>(line.data() - text.data()));
  }
  return failure;
}

}  // namespace varve::session
