// An index.bin with checksums that are right, made by somebody who read something else.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/hash.h"
#include "entry/entry.h"
#include "index/index.h"
#include "index/snapshot.h"
#include "json/tree.h"
#include "session_disk.h"

namespace varve::session {

// Each may be empty, and then changes nothing.
struct Planted {
  std::function<void(entry::EntryFacts&)> facts = {};  // an empty id: the line gets no row
  std::function<void(json::Tree&)> words = {};
  std::function<void(index::Index&)> index = {};
  bool has_words = true;  // false: of no line, as where they were left for later
};

inline void plant_index(SessionDisk& disk, const Planted& change) {
  index::Index made;
  const std::string text = disk.bytes(log::kEntriesFile);
  uint64_t offset = 0;
  json::Document document;
  for (const auto line : lines_of(text)) {
    const std::string_view bare = line.substr(0, line.size() - 1);
    const uint64_t line_offset = offset;
    offset += line.size();
    entry::EntryFacts facts;
    ASSERT_TRUE(entry::read_line(bare, document, &facts).ok());
    if (change.facts) change.facts(facts);
    if (facts.id.empty()) continue;
    made.add(facts, {line_offset, bare.size(), hash64(bare)}, 0);
    if (!change.has_words) continue;
    json::Tree words = *json::Tree::parse(bare);
    if (change.words) change.words(words);
    const std::string words_text = words.canonical();
    ASSERT_TRUE(document.parse(words_text, entry::line_limits()).ok());
    const json::Value root = document.root();
    made.text_to_extend().add(&root);
  }
  made.coverage.entries_bytes = offset;
  if (change.index) change.index(made);
  made.compress();
  disk.write("index.bin", index::encode_snapshot(made));
}

}  // namespace varve::session
