// A file system that cannot swap two directories in one step, as old kernels and some network file
// systems; all else is that of another.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace varve::log {

class DirectoryWithoutExchange final : public io::Directory {
 public:
  explicit DirectoryWithoutExchange(std::unique_ptr<io::Directory> inner)
      : inner_(std::move(inner)) {}

  Status exchange(std::string_view, io::Directory&, std::string_view) override {
    return {Code::kUnsupported, "this file system cannot swap two directories in one step"};
  }
  Status move_to(std::string_view from, io::Directory& target, std::string_view to) override {
    return inner_->move_to(from, *static_cast<DirectoryWithoutExchange&>(target).inner_, to);
  }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view name) override {
    VARVE_TRY_ASSIGN(auto opened, inner_->open_directory(name));
    return std::unique_ptr<io::Directory>(
        std::make_unique<DirectoryWithoutExchange>(std::move(opened)));
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

 private:
  std::unique_ptr<io::Directory> inner_;
};

class FileSystemWithoutExchange final : public io::FileSystem {
 public:
  explicit FileSystemWithoutExchange(io::FileSystem& inner) : inner_(inner) {}

  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override {
    VARVE_TRY_ASSIGN(auto opened, inner_.open_root(path, create));
    return std::unique_ptr<io::Directory>(
        std::make_unique<DirectoryWithoutExchange>(std::move(opened)));
  }
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return inner_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return inner_.process_id(); }
  [[nodiscard]] std::string boot_id() const override { return inner_.boot_id(); }

 private:
  io::FileSystem& inner_;
};

}  // namespace varve::log
