// File systems that are another one but for one thing, for what the simulated one does not do.
#pragma once

#include <cctype>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace varve::log {

// All is that of the directory within, and every directory opened from it is of the same kind.
class WrappedDirectory : public io::Directory {
 public:
  explicit WrappedDirectory(std::unique_ptr<io::Directory> inner) : inner_(std::move(inner)) {}

  Status exchange(std::string_view name, io::Directory& other,
                  std::string_view other_name) override {
    return inner_->exchange(name, *static_cast<WrappedDirectory&>(other).inner_, other_name);
  }
  Status move_to(std::string_view from, io::Directory& target, std::string_view to) override {
    return inner_->move_to(from, *static_cast<WrappedDirectory&>(target).inner_, to);
  }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view name) override {
    VARVE_TRY_ASSIGN(auto opened, inner_->open_directory(name));
    return wrap(std::move(opened));
  }

  Result<std::unique_ptr<io::File>> open(std::string_view name, io::OpenMode mode,
                                         uint32_t permissions) override {
    return inner_->open(name, mode, permissions);
  }
  Result<io::FileInfo> info(std::string_view name) override { return inner_->info(name); }
  Status rename(std::string_view from, std::string_view to) override {
    return inner_->rename(from, to);
  }
  Status remove(std::string_view name) override { return inner_->remove(name); }
  Status make_directory(std::string_view name, uint32_t permissions) override {
    return inner_->make_directory(name, permissions);
  }
  Status remove_directory(std::string_view name) override { return inner_->remove_directory(name); }
  Result<std::vector<io::DirectoryItem>> list() override { return inner_->list(); }
  Status sync() override { return inner_->sync(); }
  Result<uint64_t> free_bytes() override { return inner_->free_bytes(); }
  Result<io::FileInfo> self_info() override { return inner_->self_info(); }
  [[nodiscard]] std::string path_of(std::string_view name) const override {
    return inner_->path_of(name);
  }

 protected:
  virtual std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory> inner) = 0;

 private:
  std::unique_ptr<io::Directory> inner_;
};

// As old kernels and some network file systems, which cannot swap two directories in one step.
class DirectoryWithoutExchange final : public WrappedDirectory {
 public:
  using WrappedDirectory::WrappedDirectory;
  Status exchange(std::string_view, io::Directory&, std::string_view) override {
    return {Code::kUnsupported, "this file system cannot swap two directories in one step"};
  }

 private:
  std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory> inner) override {
    return std::make_unique<DirectoryWithoutExchange>(std::move(inner));
  }
};

// The names of a directory come in no order, so also in this one.
class DirectoryListedBackwards final : public WrappedDirectory {
 public:
  using WrappedDirectory::WrappedDirectory;
  Result<std::vector<io::DirectoryItem>> list() override {
    VARVE_TRY_ASSIGN(const auto items, WrappedDirectory::list());
    return std::vector<io::DirectoryItem>(items.rbegin(), items.rend());
  }

 private:
  std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory> inner) override {
    return std::make_unique<DirectoryListedBackwards>(std::move(inner));
  }
};

// As file systems that count no links, where a directory has none while it is there.
class DirectoryWithoutLinkCounts final : public WrappedDirectory {
 public:
  using WrappedDirectory::WrappedDirectory;
  Result<io::FileInfo> self_info() override {
    VARVE_TRY_ASSIGN(io::FileInfo info, WrappedDirectory::self_info());
    info.link_count = 0;
    return info;
  }

 private:
  std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory> inner) override {
    return std::make_unique<DirectoryWithoutLinkCounts>(std::move(inner));
  }
};

// As APFS, NTFS, exFAT and what servers share of them: a name in another case is the same name, and
// the one that a thing was made with is kept.
class DirectoryWithoutCase final : public WrappedDirectory {
 public:
  using WrappedDirectory::WrappedDirectory;
  Status exchange(std::string_view name, io::Directory& other,
                  std::string_view other_name) override {
    return WrappedDirectory::exchange(kept(name), other, of(other).kept(other_name));
  }
  Status move_to(std::string_view from, io::Directory& target, std::string_view to) override {
    return WrappedDirectory::move_to(kept(from), target, of(target).kept(to));
  }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view name) override {
    return WrappedDirectory::open_directory(kept(name));
  }
  Result<io::FileInfo> info(std::string_view name) override {
    return WrappedDirectory::info(kept(name));
  }

 private:
  static DirectoryWithoutCase& of(io::Directory& other) {
    return static_cast<DirectoryWithoutCase&>(other);
  }
  static std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(letter));
    return text;
  }
  std::string kept(std::string_view name) {
    std::string found(name);
    const auto items = WrappedDirectory::list();
    for (const auto& item : *items) {
      if (item.name == name) return item.name;
      if (lower(item.name) == lower(std::string(name))) found = item.name;
    }
    return found;
  }
  std::unique_ptr<io::Directory> wrap(std::unique_ptr<io::Directory> inner) override {
    return std::make_unique<DirectoryWithoutCase>(std::move(inner));
  }
};

template <typename Directory>
class FileSystemOf final : public io::FileSystem {
 public:
  explicit FileSystemOf(io::FileSystem& inner) : inner_(inner) {}

  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override {
    VARVE_TRY_ASSIGN(auto opened, inner_.open_root(path, create));
    return std::unique_ptr<io::Directory>(std::make_unique<Directory>(std::move(opened)));
  }
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return inner_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return inner_.process_id(); }
  [[nodiscard]] std::string boot_id() const override { return inner_.boot_id(); }

 private:
  io::FileSystem& inner_;
};

using FileSystemWithoutExchange = FileSystemOf<DirectoryWithoutExchange>;
using FileSystemWithoutLinkCounts = FileSystemOf<DirectoryWithoutLinkCounts>;
using FileSystemListedBackwards = FileSystemOf<DirectoryListedBackwards>;
using FileSystemWithoutCase = FileSystemOf<DirectoryWithoutCase>;

}  // namespace varve::log
