// What a report says of one session: {"session_id","reason"}.
#pragma once

#include <cstdint>
#include <string_view>

#include "json/tree.h"

namespace varve::store {

inline json::Tree problem(std::string_view session_id, std::string_view reason) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(session_id));
  tree.set("reason", json::Tree::string(reason));
  return tree;
}

// The same of a backup or a restore, with whether the session was copied nevertheless.
enum class Copied : uint8_t { kNo, kYes };
inline json::Tree problem(std::string_view session_id, std::string_view reason, Copied copied) {
  json::Tree tree = problem(session_id, reason);
  tree.set("copied", json::Tree::boolean(copied == Copied::kYes));
  return tree;
}

}  // namespace varve::store
