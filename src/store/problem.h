// What a report says of one session: {"session_id","reason"}.
#pragma once

#include <string_view>

#include "json/tree.h"

namespace varve::store {

inline json::Tree problem(std::string_view session_id, std::string_view reason) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(session_id));
  tree.set("reason", json::Tree::string(reason));
  return tree;
}

// The same of a backup or a restore: `copied` tells whether it was copied nevertheless.
inline json::Tree problem(std::string_view session_id, std::string_view reason, bool copied) {
  json::Tree tree = problem(session_id, reason);
  tree.set("copied", json::Tree::boolean(copied));
  return tree;
}

}  // namespace varve::store
