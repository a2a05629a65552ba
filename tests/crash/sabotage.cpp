#include "sabotage.h"

#include <utility>

namespace varve::crash {
namespace {

bool is_temporary(std::string_view name) { return name.find(".tmp-") != std::string_view::npos; }

class SabotagedFile final : public io::File {
 public:
  SabotagedFile(std::unique_ptr<io::File> inner, Sabotage defect, bool temporary)
      : inner_(std::move(inner)), defect_(defect), temporary_(temporary) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    return inner_->read_at(offset, out);
  }
  Status append(std::string_view data) override {
    if (defect_ == Sabotage::kShortWriteTaken && !temporary_) {
      writes_ += 1;
      if (writes_ % 2 == 0) data = data.substr(0, data.size() / 2);
    }
    return inner_->append(data);
  }
  Status write_at(uint64_t offset, std::string_view data) override {
    return inner_->write_at(offset, data);
  }
  Status truncate(uint64_t size_bytes) override {
    return defect_ == Sabotage::kNoTailRepair ? Status() : inner_->truncate(size_bytes);
  }
  Status sync_data() override {
    if (defect_ == Sabotage::kNoDataSync) return {};
    if (defect_ == Sabotage::kNoTemporarySync && temporary_) return {};
    Status synced = inner_->sync_data();
    if (defect_ == Sabotage::kSyncRetried && !synced.ok()) return inner_->sync_data();
    return synced;
  }
  Result<io::FileInfo> info() override { return inner_->info(); }
  Result<bool> try_lock() override { return inner_->try_lock(); }
  Status unlock() override { return inner_->unlock(); }

 private:
  const std::unique_ptr<io::File> inner_;
  const Sabotage defect_;
  const bool temporary_;
  size_t writes_ = 0;
};

class SabotagedDirectory final : public io::Directory {
 public:
  SabotagedDirectory(std::unique_ptr<io::Directory> inner, Sabotage defect)
      : inner_(std::move(inner)), defect_(defect) {}

  Result<std::unique_ptr<io::File>> open(std::string_view name, io::OpenMode mode,
                                         uint32_t permissions) override {
    VARVE_TRY_ASSIGN(auto file, inner_->open(name, mode, permissions));
    return std::unique_ptr<io::File>(
        std::make_unique<SabotagedFile>(std::move(file), defect_, is_temporary(name)));
  }
  Result<io::FileInfo> info(std::string_view name) override { return inner_->info(name); }
  Status rename(std::string_view from, std::string_view to) override {
    if (defect_ == Sabotage::kRenameAfterSync) VARVE_TRY(inner_->sync());
    return inner_->rename(from, to);
  }
  Status move_to(std::string_view from, io::Directory& target, std::string_view to) override {
    return inner_->move_to(from, *static_cast<SabotagedDirectory&>(target).inner_, to);
  }
  Status remove(std::string_view name) override { return inner_->remove(name); }
  Status make_directory(std::string_view name, uint32_t permissions) override {
    return inner_->make_directory(name, permissions);
  }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view name) override {
    VARVE_TRY_ASSIGN(auto opened, inner_->open_directory(name));
    return std::unique_ptr<io::Directory>(
        std::make_unique<SabotagedDirectory>(std::move(opened), defect_));
  }
  Status remove_directory(std::string_view name) override {
    return inner_->remove_directory(name);
  }
  Result<std::vector<io::DirectoryItem>> list() override { return inner_->list(); }
  Status sync() override {
    const bool skipped =
        defect_ == Sabotage::kNoDirectorySync || defect_ == Sabotage::kRenameAfterSync;
    return skipped ? Status() : inner_->sync();
  }
  Result<uint64_t> free_bytes() override { return inner_->free_bytes(); }
  Result<io::FileInfo> self_info() override { return inner_->self_info(); }
  [[nodiscard]] std::string path_of(std::string_view name) const override {
    return inner_->path_of(name);
  }

 private:
  const std::unique_ptr<io::Directory> inner_;
  const Sabotage defect_;
};

}  // namespace

Result<std::unique_ptr<io::Directory>> SabotagedFileSystem::open_root(std::string_view path,
                                                                      bool create) {
  VARVE_TRY_ASSIGN(auto root, inner_.open_root(path, create));
  return std::unique_ptr<io::Directory>(
      std::make_unique<SabotagedDirectory>(std::move(root), defect_));
}

}  // namespace varve::crash
