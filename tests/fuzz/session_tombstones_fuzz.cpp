// Whatever tombstones.jsonl is: the session opens; an entry is dead when a right line names it that
// is not part of a torn tail, and only then, before and after what else is deleted, a repair, a
// compaction and a purge; and a line that was sealed reads back as what was sealed.
//
// An input is the file. One that begins with '#' (left out) has its lines sealed first, so that
// changed ones are not only damage: a fuzzer computes no checksum.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "entry/tombstone.h"
#include "memory_host.h"
#include "require.h"
#include "session/upkeep/compaction.h"

namespace {

using varve::Code;
using varve::fuzz::MemoryHost;
using varve::fuzz::require;
using varve::session::Session;

constexpr std::string_view kIds[] = {"a", "b", "c", "0"};

template <typename Visit>  // Visit(line, whether it has its line end)
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end), end != text.npos);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

std::string sealed(std::string_view text) {
  std::string lines;
  for_each_line(text, [&](std::string_view line, bool ends) {
    varve::json::Document scratch;
    varve::entry::Tombstone tombstone;
    const auto tree = varve::json::Tree::parse(line);
    if (!ends || !tree.ok() || !tree->is_object()) {
      lines.append(line).append(ends ? "\n" : "");
      return;
    }
    varve::json::Tree bare = *tree;
    bare.erase("checksum");
    if (!varve::entry::read_tombstone(bare.canonical(), scratch, &tombstone).ok()) {
      lines.append(line).append("\n");
      return;
    }
    const std::string made = varve::entry::seal_tombstone(tombstone);
    varve::entry::Tombstone again;
    const std::string_view made_line = std::string_view(made).substr(0, made.size() - 1);
    require(varve::entry::read_tombstone(made_line, scratch, &again).ok());
    require(again.id == tombstone.id && again.reason == tombstone.reason &&
            again.timestamp_ms == tombstone.timestamp_ms);
    lines += made;
  });
  return lines;
}

// With another digit in its checksum it is no tombstone.
void require_checked(std::string_view line) {
  constexpr std::string_view kMark = "\"checksum\":\"sha256:";
  const size_t at = line.find(kMark);
  if (at == line.npos || line.size() <= at + kMark.size()) return;
  std::string other(line);
  char& digit = other[at + kMark.size()];
  digit = digit == '0' ? '1' : '0';
  varve::json::Document scratch;
  varve::entry::Tombstone tombstone;
  require(!varve::entry::read_tombstone(other, scratch, &tombstone).ok());
}

// By the lines alone. What a torn tail is made of names nobody, since none of it can be read.
std::set<std::string> dead_by(std::string_view text) {
  std::set<std::string> dead;
  for_each_line(text, [&](std::string_view line, bool ends) {
    varve::json::Document scratch;
    varve::entry::Tombstone tombstone;
    if (ends && varve::entry::read_tombstone(line, scratch, &tombstone).ok()) {
      dead.insert(tombstone.id);
      require_checked(line);
    }
  });
  return dead;
}

const std::string& log_text() {
  static const std::string kText = [] {
    MemoryHost host;
    const auto session = *host.open();
    for (const auto id : kIds) {
      require(session->add(R"({"type":"t","content":1,"id":")" + std::string(id) + "\"}").ok());
    }
    return host.files().entries;
  }();
  return kText;
}

void require_dead(Session& session, const std::set<std::string>& dead) {
  size_t alive_count = 0;
  for (const auto id : kIds) {
    const auto line = session.get(id);
    const bool is_dead = dead.contains(std::string(id));
    require(is_dead ? line.code() == Code::kNotFound : line.ok());
    alive_count += is_dead ? 0 : 1;
    if (is_dead && id == kIds[0]) {
      const auto again = session.add(R"({"type":"t","content":1,"id":")" + std::string(id) + "\"}");
      require(again.code() == Code::kAlreadyExists);
    }
  }
  require(*session.count("{}") == alive_count);
}

void compact(Session& session, varve::session::CompactionCause cause) {
  varve::session::CompactionOptions options;
  options.cause = cause;
  require(session.compact(options).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  MemoryHost host;
  host.files().entries = log_text();
  const bool seals = input.starts_with('#');
  if (seals) input.remove_prefix(1);
  host.files().tombstones = seals ? sealed(input) : std::string(input);
  std::set<std::string> dead = dead_by(host.files().tombstones);

  auto session = *host.open();
  require_dead(*session, dead);
  if (!dead.contains("b")) require(session->remove("b", "asked").ok());
  dead.insert("b");
  const bool purges = size % 2 == 0;
  if (purges) {
    compact(*session, varve::session::CompactionCause::kPurge);
  } else {
    require(session->repair(false).ok());
    require(session->verify(true)->get_bool("ok"));
    compact(*session, varve::session::CompactionCause::kAsked);
  }
  require_dead(*session, dead);
  session = *host.open();
  require_dead(*session, dead);
  return 0;
}
