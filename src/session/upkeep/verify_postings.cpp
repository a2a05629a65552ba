// The deep part of verify: compares each list of facets and words with what the log gives.
#include <utility>
#include <vector>

#include "index/segment.h"
#include "index/word_stem.h"
#include "session/upkeep/verify.h"

namespace varve::session {

namespace {

// All that the index has on these rows.
struct Postings {
  uint64_t generation = 0;
  uint64_t entries_bytes = 0;
  uint32_t row_count = 0;
  index::Segment facets;
  index::Segment words;
  std::vector<uint32_t> lengths;
};

void take(const index::Index& index, Postings* postings) {
  postings->row_count = index.size();
  postings->facets = index::Segment::adopt(index.facets().encode());
  postings->words = index::Segment::adopt(index.text().encode_terms());
  postings->lengths = index.text().lengths();
}

// The same from the log alone.
Status read_log(Core& core, Postings* expected, const Step& step) {
  index::Index fresh = core.empty_index();
  json::Document document;
  (void)fresh.text_to_extend();
  VARVE_TRY(log::scan_entries(*core.storage, {expected->generation, 0, expected->entries_bytes},
                              entry::kSeqMax,
                              [&](const log::ScannedEntry& line) -> Status {
                                VARVE_TRY(step(line.offset + line.length));
                                const index::Location place{line.offset, line.length, line.hash};
                                const auto added = fresh.add(*line.facts, place, entry::kSeqMax);
                                if (added == index::Index::Added::kIdTaken) return {};
                                VARVE_TRY(document.parse(line.bytes, entry::line_limits()));
                                const json::Value root = document.root();
                                fresh.text_to_extend().add(&root);
                                return {};
                              })
                .status());
  take(fresh, expected);
  return {};
}

// What a key stands for, in words for people. See index/facets.h and index/text_index.h.
std::string name_of(std::string_view key) {
  const std::string rest(key.substr(1, key.find('\0', 1) - 1));
  switch (key.front()) {
    case 't': return "the entries with tag '" + rest + "'";
    case 'x': return "the entries of trace '" + rest + "'";
    case 'c': return "the entries with a member of content";
    case 'i':
    case 'r': return "the entries that refer to '" + rest + "'";
    case 'o': return "what an entry refers to";
    case 'w': return "the stem of the word '" + rest + "'";
    default: break;
  }
  if (rest.starts_with(index::kPartSign)) {
    return "the entries with a part '" + rest.substr(1) + "' of a word";
  }
  return "the entries with the word '" + rest + "'";
}

bool has_list(std::string_view key) { return key.front() != 'o' && key.front() != 'w'; }

// Compares rows: the cut into blocks depends on what was compressed when.
bool is_same_list(std::string_view a, std::string_view b) {
  const auto rows_of = [](std::string_view encoded) {
    std::vector<std::pair<uint32_t, uint32_t>> rows;
    const index::PostingRun run(encoded);
    index::DecodedBlock decoded;
    for (uint32_t block = 0; block < run.block_count(); ++block) {
      const uint32_t count = run.decode(block, &decoded);
      for (uint32_t i = 0; i < count; ++i) {
        rows.emplace_back(decoded.rows[i], decoded.frequencies[i]);
      }
    }
    return rows;
  };
  return a == b || rows_of(a) == rows_of(b);
}

// A compaction keeps a form of a word without entries while entries with another form stay.
bool is_left_over_form(std::string_view key, std::string_view stem,
                       const index::Segment& expected) {
  if (key.front() != 'w') return false;
  std::string term(1, 's');
  term.append(index::stem_of(key.substr(1), stem));
  return expected.find(term).data() != nullptr;
}

void compare(const index::Segment& found, const index::Segment& expected,
             const std::function<void(const std::string&)>& differs) {
  index::SegmentCursor a(found);
  index::SegmentCursor b(expected);
  while (!a.at_end() || !b.at_end()) {
    const bool is_extra = b.at_end() || (!a.at_end() && a.key() < b.key());
    const bool is_absent = !is_extra && (a.at_end() || b.key() < a.key());
    if (is_extra) {
      if (!is_left_over_form(a.key(), a.value(), expected)) {
        differs("the index has " + name_of(a.key()) + ", but the log does not");
      }
    } else if (is_absent) {
      differs("the index lacks " + name_of(b.key()));
    } else {
      const bool is_same =
          has_list(a.key()) ? is_same_list(a.value(), b.value()) : a.value() == b.value();
      if (!is_same) differs("the index is wrong about " + name_of(a.key()));
      if (b.is_marked() && !a.is_marked()) {
        differs("the index lacks the word '" + std::string(a.key().substr(1)) + "'");
      }
    }
    if (!is_absent) a.next();
    if (!is_extra) b.next();
  }
}

}  // namespace

Status compare_postings(Core& core, const std::function<void(const std::string&)>& differs,
                        const Step& step) {
  VARVE_TRY(core.load_sections());
  VARVE_TRY(core.prepare_query({.words = true}));
  Postings found;
  {
    const std::shared_lock lock(core.index_mutex);
    if (!core.index.has_facets() || !core.index.has_text() ||
        core.index.text_row_count() != core.index.size()) {
      return {Code::kGone, "the index changed meanwhile"};
    }
    found.generation = core.view.tail.generation;
    found.entries_bytes = core.index.coverage.entries_bytes;
    take(core.index, &found);
  }
  Postings expected;
  expected.generation = found.generation;
  expected.entries_bytes = found.entries_bytes;
  VARVE_TRY(read_log(core, &expected, step));
  if (found.row_count != expected.row_count) {
    differs("the index has " + std::to_string(found.row_count) + " entries, the log " +
            std::to_string(expected.row_count));
    return {};
  }
  compare(found.facets, expected.facets, differs);
  compare(found.words, expected.words, differs);
  if (found.lengths != expected.lengths) differs("the index is wrong about the lengths of entries");
  return {};
}

}  // namespace varve::session
