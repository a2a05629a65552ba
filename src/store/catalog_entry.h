// CatalogEntry: what the catalog's log says of a session, as an entry.
//
//   {"content":{"agent":"…","mark":"…","session":"…","user":"…"},"tags":["…"],"type":"covered"}
//
// Tags, users and agents are hashes of 64 bits in hexadecimal: what is purged from a session must
// not be left here, and what is found by a hash that another text has too is only looked at in
// vain.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace varve::store {

inline constexpr std::string_view kCovered = "covered";
inline constexpr std::string_view kChanged = "changed";
inline constexpr std::string_view kRestoring = "restoring";

std::string hashed_tag(std::string_view tag);
std::string hashed_user(std::string_view id);   // empty for nobody in particular
std::string hashed_agent(std::string_view id);  // the same

struct CatalogOwner {
  std::string user;  // hashes
  std::string agent;
};

// Of a session that cannot be looked into.
CatalogOwner anybody();

struct CatalogEntry {
  std::string id;
  std::string type;
  std::string session_id;
  CatalogOwner owner;

  // Empty hashes: anybody's.
  [[nodiscard]] bool may_be_of(std::string_view user, std::string_view agent) const;
};

// An entry to add, as a line with its end. `mark` tells one change from the next (catalog.cpp).
std::string catalog_line(std::string_view type, std::string_view session_id,
                         const CatalogOwner& owner, std::string_view mark = {},
                         std::span<const std::string> tags = {});

// Of a stored line, all but the id.
Result<CatalogEntry> read_catalog_entry(std::string_view line);

}  // namespace varve::store
