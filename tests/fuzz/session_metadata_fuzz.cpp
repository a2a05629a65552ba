// Whatever metadata.json is: a newer one is refused and left as it is; with any other the session
// opens, shows its entries, takes another one, and has a right metadata.json afterwards. What is
// accepted is written and read back as it is. As a patch and as options of a new session the bytes
// are refused with words, or taken: a patch changes nothing of the library's own, and twice is
// once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "entry/entry.h"
#include "memory_host.h"
#include "require.h"
#include "session/upkeep/compaction.h"

namespace {

using varve::Code;
using varve::entry::kSeqMax;
using varve::fuzz::kSessionId;
using varve::fuzz::MemoryHost;
using varve::fuzz::require;
using varve::session::Metadata;

constexpr std::string_view kFile = "metadata.json";
constexpr std::array<std::string_view, 9> kOwn = {
    "version",    "session_id",  "user_id",    "created_at",           "total_entries",
    "statistics", "durable_seq", "generation", "compacted_through_seq"};

std::string log_line() {
  static const std::string kLine = [] {
    MemoryHost host;
    require((*host.open())->add(R"({"id":"a","type":"finding","content":"tea"})").ok());
    return host.files().entries;
  }();
  return kLine;
}

void check_parse(std::string_view text) {
  const auto read = Metadata::parse(text, kSessionId);
  if (!read.ok()) {
    require(!read.status().message().empty());
    return;
  }
  const auto again = Metadata::parse(read->encode(), kSessionId);
  require(again.ok() && !again->edited_outside());
  require(again->tree().canonical() == read->tree().canonical());
  require(again->durable_seq() == read->durable_seq());
}

void check_session(std::string_view text) {
  MemoryHost host;
  auto& files = host.files();
  files.entries = log_line();
  files.documents.insert_or_assign(std::string(kFile), std::string(text));
  {
    const auto opened = host.open();
    if (!opened.ok()) {
      require(opened.code() == Code::kFormatVersion);
      require(Metadata::parse(text, kSessionId).code() == Code::kFormatVersion);
      require(files.documents.find(kFile)->second == text);
      return;
    }
    const auto& session = *opened;
    require(session->get("a").ok() && session->metadata().ok() && session->stats().ok());
    require(session->verify().ok() && session->has_expired().ok());
    const auto added = session->add(R"({"id":"b","type":"finding","content":"coffee"})");
    // Durable up to the last number that there is: no entry can come behind it.
    const auto read = Metadata::parse(text, kSessionId);
    const bool is_full =
        read.ok() && std::max(read->durable_seq(), read->compacted_through_seq()) >= kSeqMax;
    if (is_full) return require(added.code() == Code::kCorruption);
    require(added.ok());
    require(session->update(R"({"title":"t"})").ok());
    require(session->compact({}).ok());
    require(*session->count("{}") == 2);
  }
  const auto written = Metadata::parse(files.documents.find(kFile)->second, kSessionId);
  require(written.ok() && !written->edited_outside());
  require(written->tree().get_int64("total_entries") == 2);
  require(written->tree().get_string("title") == "t");
  const auto session = *host.open();
  require(session->get("a").ok() && session->get("b").ok());
  require(session->repair(false).ok() && session->verify()->get_bool("ok"));
}

void check_patch(std::string_view text) {
  varve::session::CreateOptions options;
  options.session_id = kSessionId;
  options.user_id = "u";
  const Metadata before = Metadata::make(options, varve::test::kStartMs);
  Metadata patched = before;
  const auto status = patched.apply_patch(text);
  if (!status.ok()) {
    require(!status.message().empty());
    require(patched.tree().canonical() == before.tree().canonical());
    return;
  }
  for (const auto name : kOwn) {
    require(patched.tree().get(name)->canonical() == before.tree().get(name)->canonical());
  }
  Metadata twice = patched;
  require(twice.apply_patch(text).ok());
  require(twice.tree().canonical() == patched.tree().canonical());
  check_parse(patched.encode());
}

void check_options(std::string_view text) {
  auto options = varve::session::parse_create_options(text);
  if (!options.ok()) return require(!options.status().message().empty());
  options->session_id = kSessionId;
  const std::string made = Metadata::make(*options, varve::test::kStartMs).encode();
  const auto read = Metadata::parse(made, kSessionId);
  require(read.ok() && !read->edited_outside() && read->encode() == made);
  check_session(made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_parse(text);
  check_session(text);
  check_patch(text);
  check_options(text);
  return 0;
}
