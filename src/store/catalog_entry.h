// CatalogEntry: an entry of the catalog's log: what it says of one session.
//
//   {"content":{"agent":"…","mark":"…","session":"…","user":"…"},"tags":["…"],"type":"covered"}
//
// Tags, users and agents are stored as 64-bit hashes in hexadecimal, because what is purged from a
// session must not stay here. When two texts have the same hash, a session is opened in vain, and
// that is all.
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

// For a session that cannot be read.
CatalogOwner anybody();

struct CatalogEntry {
  std::string id;
  std::string type;
  std::string session_id;
  CatalogOwner owner;

  // Empty hashes stand for anybody.
  [[nodiscard]] bool may_be_of(std::string_view user, std::string_view agent) const;
};

// A new entry as a line with its line end. `mark` tells one change from the next (catalog.cpp).
std::string catalog_line(std::string_view type, std::string_view session_id,
                         const CatalogOwner& owner, std::string_view mark = {},
                         std::span<const std::string> tags = {});

// Reads all but the id of a stored line. kCorruption for one that names no possible session.
Result<CatalogEntry> read_catalog_entry(std::string_view line);

}  // namespace varve::store
