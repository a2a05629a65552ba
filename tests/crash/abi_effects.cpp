#include "abi_effects.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace varve::crash {

namespace fs = std::filesystem;

Effect adds(std::set<std::string> ids) {
  Effect effect;
  effect.adds = std::move(ids);
  return effect;
}
Effect removes(std::set<std::string> ids) {
  Effect effect;
  effect.removes = std::move(ids);
  return effect;
}
Effect does(std::function<bool(Ground&)> is_done) {
  Effect effect;
  effect.is_done = std::move(is_done);
  return effect;
}
Effect in_memory(Effect effect) {
  effect.is_in_memory = true;
  return effect;
}
Effect partly(Effect effect) {
  effect.is_whole = false;
  return effect;
}

// When a call on files fails it is whole or not there, and its maker is not told which.
Effect either(Effect effect) {
  effect.is_whole_on_disk = false;
  return effect;
}

std::string text_of(varve_status_t status, Outs& outs) {
  return status == VARVE_OK && outs.text != nullptr ? std::string(outs.text, outs.len) : "";
}

std::string key_of(Ground& ground, const char* key) {
  Outs outs;
  return text_of(varve_kv_get(ground.session, key, kNul, &outs.text, &outs.len, nullptr), outs);
}

bool has_turn(Ground& ground, std::string_view content) {
  Outs outs;
  const std::string turns = text_of(
      varve_transcript_last(ground.session, SIZE_MAX, &outs.text, &outs.len, nullptr), outs);
  return turns.find(content) != std::string::npos;
}

bool is_in(varve_session_t* session, const char* id) { return entry_of(session, id).has_value(); }

// All of it, or none.
bool has_session(Ground& ground, const char* id, const char* entry) {
  Outs outs;
  const varve_status_t status =
      varve_session_open(ground.store, id, kNul, &outs.session, &outs.error);
  if (status == VARVE_NOT_FOUND) return false;
  EXPECT_EQ(status, VARVE_OK) << id << ": " << varve_error_message(outs.error);
  EXPECT_TRUE(entry == nullptr || is_in(outs.session, entry)) << id;
  return true;
}

bool is_in_another(Ground& ground, const char* session_id, const char* id) {
  Outs outs;
  if (varve_session_open(ground.store, session_id, kNul, &outs.session, nullptr) != VARVE_OK) {
    return false;
  }
  return is_in(outs.session, id);
}

// Whether a search of the user's memory finds what has that in its line.
bool remembers(Ground& ground, std::string_view text) {
  Outs outs;
  if (varve_memory_search(ground.memory, R"({"text":"kettles likes"})", kNul, &outs.results,
                          nullptr) != VARVE_OK ||
      varve_results_json(outs.results, &outs.borrowed, &outs.len, nullptr) != VARVE_OK) {
    return false;
  }
  return std::string_view(outs.borrowed, outs.len).find(text) != std::string_view::npos;
}

// Whether a copy of the store is a store with what was in it.
bool is_copied(const std::string& path) {
  if (!fs::exists(path + "/backup.json")) return false;  // to open it would make it
  Outs outs;
  return varve_store_open(path.c_str(), kNul, nullptr, 0, &outs.store, nullptr) == VARVE_OK &&
         varve_session_open(outs.store, "s", kNul, &outs.session, nullptr) == VARVE_OK &&
         is_in(outs.session, "a");
}

// Of the entry that was deleted before.
bool has_no_trace(Ground& ground) {
  for (const auto& item : fs::directory_iterator(ground.session_file(""))) {
    std::ifstream file(item.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.find("to be forgotten") != std::string::npos) return false;
  }
  return true;
}

}  // namespace varve::crash
