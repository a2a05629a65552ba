// The store's own log in indices/catalog, kept as files in a directory like a session's.
#include <array>
#include <utility>

#include "log/atomic_file.h"
#include "log/directory_engine.h"

namespace varve::log {

namespace {

constexpr std::string_view kCatalog = "catalog";

Status no_catalog() { return {Code::kNotFound, "the store has no catalog"}; }

}  // namespace

Result<std::unique_ptr<DirectoryStorage>> DirectoryEngine::open_catalog_storage() {
  if (!indices_) return no_catalog();
  auto directory = indices_->open_directory(kCatalog);
  if (directory.code() == Code::kNotFound) return no_catalog();
  if (!directory.ok()) return std::move(directory).status();
  return DirectoryStorage::open(*std::move(directory), environment_,
                                {indices_.get(), std::string(kCatalog)});
}

Result<std::unique_ptr<SessionStorage>> DirectoryEngine::open_catalog() {
  VARVE_TRY_ASSIGN(auto storage, open_catalog_storage());
  return std::unique_ptr<SessionStorage>(std::move(storage));
}

// The catalog gets its name in one step; if another process was faster, its catalog counts.
Result<std::unique_ptr<SessionStorage>> DirectoryEngine::create_catalog(std::string_view metadata) {
  VARVE_TRY(refuse_if_read_only());
  auto present = open_catalog();
  if (present.code() != Code::kNotFound) return present;
  VARVE_TRY(drop_catalog());  // a directory of that name that is no catalog
  std::string temporary;
  std::unique_ptr<io::File> lock;
  const auto fill = [&](io::Directory& directory) { return make_session(directory, metadata); };
  VARVE_TRY(stage_session(fill, &temporary, &lock));
  Status named = temporary_->move_to(temporary, *indices_, kCatalog);
  if (!named.ok()) remove_tree(*temporary_, temporary);
  if (!named.ok() && named.code() != Code::kAlreadyExists) return named;
  lock.reset();
  return open_catalog();
}

// Its kv.json, which says what it covers, goes first, durably: a catalog that a power loss brings
// back then covers nothing, for writers that found none told it nothing.
Status DirectoryEngine::drop_catalog() {
  if (!indices_) return {};
  VARVE_TRY(refuse_if_read_only());
  const int64_t until_us = deadline_us();
  constexpr int kAttemptsMax = 8;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    auto storage = open_catalog_storage();
    if (storage.code() == Code::kNotFound) {
      const auto named = indices_->open_directory(kCatalog);
      if (named.code() == Code::kNotFound) return {};
      if (named.ok() && holds_session(**named)) continue;  // it was made since
      return drop_locked_catalog(nullptr);
    }
    if (!storage.ok()) return std::move(storage).status();
    Status locked = (*storage)->lock(until_us, "drop catalog", nullptr);
    // Another process has dropped that one, and there may be a new one.
    if (locked.code() == Code::kNotFound) continue;
    VARVE_TRY(std::move(locked));
    return drop_locked_catalog(storage->get());
  }
  return {Code::kBusy, "other processes drop the catalog over and over; try again later"};
}

// Null: what has the name is no catalog.
Status DirectoryEngine::drop_locked_catalog(DirectoryStorage* storage) {
  if (storage != nullptr) {
    constexpr std::array kTold = {kKeyValueFile};
    Status untold = storage->remove_residue(kTold);
    // As in drop(): writers must not tell their changes to a catalog without a name.
    if (untold.ok()) untold = storage->suspect_names();
    if (!untold.ok()) {
      storage->unlock();
      return untold;
    }
  }
  const std::string temporary = temporary_name("deleted", *environment_.random);
  Status moved = indices_->move_to(kCatalog, *temporary_, temporary);
  if (moved.ok()) moved = indices_->sync();
  if (moved.ok()) remove_tree(*temporary_, temporary);
  if (storage != nullptr) storage->unlock();
  return moved.code() == Code::kNotFound ? Status() : moved;
}

}  // namespace varve::log
