// Whatever the bytes are as an entry: refused with words, or made a line that is canonical and
// carries a right checksum; all that was given is in it, member by member, strings and literals as
// they were, integers digit by digit, other numbers as the same double; given again it becomes the
// same line; and with any one byte changed it is not taken for that entry.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "entry/entry.h"
#include "json/canonical.h"
#include "require.h"
#include "support/environment.h"

namespace {

using varve::fuzz::require;
using varve::json::Document;
using varve::json::Kind;
using varve::json::Value;

// Members that the library gives, or writes in its own form.
const std::set<std::string_view> kMade = {
    "seq",       "batch",      "checksum",    "schema_version", "session_id",
    "timestamp", "expires_at", "ttl_seconds", "importance",     "decay_factor"};

double number_of(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

// Without the library's own reading of numbers.
void require_same(Value given, Value kept) {
  if (given.is_number()) {
    require(kept.is_number() && number_of(given.text()) == number_of(kept.text()));
    if (given.kind() == Kind::kInteger) require(given.text() == kept.text());
    return;
  }
  require(given.kind() == kept.kind() && given.text() == kept.text());
  require(given.size() == kept.size());
  if (given.is_array()) {
    std::vector<Value> items;
    kept.for_each_item([&](Value item) {
      items.push_back(item);
      return true;
    });
    size_t at = 0;
    given.for_each_item([&](Value item) {
      require_same(item, items[at++]);
      return true;
    });
  }
  given.for_each_member([&](std::string_view name, Value value) {
    const auto found = kept.find(name);
    require(found.has_value());
    require_same(value, *found);
    return true;
  });
}

struct Maker {
  std::string made(std::string_view text) {
    varve::entry::DraftOptions options;
    options.session_id = "s";
    options.now_ms = varve::test::kStartMs;
    auto draft = varve::entry::draft(text, options, ids, scratch);
    if (!draft.ok()) {
      require(!draft.status().message().empty());
      return {};
    }
    return varve::entry::seal(*draft, 7, {});
  }

  varve::test::ManualClock clock;
  varve::test::SeededRandom random;
  varve::IdGenerator ids{clock, random};
  Document scratch;
};

void check_damage(std::string_view line, uint8_t choice) {
  std::string damaged(line);
  char& byte = damaged[damaged.size() * choice / 256];
  byte = static_cast<char>(byte ^ (choice % 127 + 1));
  Document scratch;
  varve::entry::EntryFacts facts;
  if (!varve::entry::read_line(damaged, scratch, &facts).ok() || !facts.sealed) return;
  // 1E+21 for 1e+21, say: another text of the same entry. (Without a checksum, since its name was
  // changed, it is one that somebody may have written by hand.)
  require(scratch.parse(damaged).ok());
  std::string canonical;
  varve::json::append_canonical(scratch.root(), canonical);
  require(canonical == line);
}

// The integers of a text, digit by digit, where they are more than a double holds: not by way of
// the parser that reads them.
void require_digits(std::string_view text, std::string_view line) {
  constexpr size_t kExactInDouble = 15;
  constexpr size_t kDigitsMax = 20;
  constexpr std::string_view kMember = "\"content\":";
  const size_t at = text.rfind(kMember);
  if (at == text.npos) return;
  const std::string_view rest = text.substr(at + kMember.size());
  const size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (count <= kExactInDouble || count > kDigitsMax || rest.substr(count) != "}") return;
  require(line.find(std::string(kMember) + std::string(rest.substr(0, count)) + ",") != line.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Maker maker;
  const std::string made = maker.made(text);
  if (made.empty()) return 0;
  require(made.back() == '\n' && made.find('\n') == made.size() - 1);
  const std::string_view line = std::string_view(made).substr(0, made.size() - 1);

  Document kept;
  varve::entry::EntryFacts facts;
  require(varve::entry::read_line(line, kept, &facts).ok() && facts.sealed && facts.seq == 7);
  require(varve::entry::check_seal(line) == varve::entry::Seal::kRight);
  require(kept.parse(line).ok());
  std::string canonical;
  varve::json::append_canonical(kept.root(), canonical);
  require(canonical == line);

  Document given;
  require(given.parse(text).ok());
  given.root().for_each_member([&](std::string_view name, Value value) {
    if (kMade.contains(name)) return true;
    const auto found = kept.root().find(name);
    require(found.has_value());
    require_same(value, *found);
    return true;
  });
  require_digits(text, line);
  require(maker.made(line) == made);
  check_damage(line, static_cast<uint8_t>(size == 0 ? 0 : data[size / 2]));
  return 0;
}
