#include "sabotage.h"

#include <map>
#include <utility>

namespace varve::crash {
namespace {

bool is_temporary(std::string_view name) { return name.find(".tmp-") != std::string_view::npos; }

// Bytes by which a file, by its name, is believed to be shorter than it is.
using Hidden = std::map<std::string, uint64_t, std::less<>>;

Result<io::FileInfo> without_hidden(Result<io::FileInfo> info, const Hidden& hidden,
                                    std::string_view name) {
  const auto found = hidden.find(name);
  if (info.ok() && found != hidden.end()) info->size_bytes -= found->second;
  return info;
}

class SabotagedFile final : public io::File {
 public:
  SabotagedFile(std::unique_ptr<io::File> inner, Sabotage defect, std::string_view name,
                std::shared_ptr<Hidden> hidden)
      : inner_(std::move(inner)),
        defect_(defect),
        name_(name),
        temporary_(is_temporary(name)),
        hidden_(std::move(hidden)) {}

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
    if (defect_ != Sabotage::kNoTailRepair) return inner_->truncate(size_bytes);
    VARVE_TRY_ASSIGN(const io::FileInfo now, inner_->info());
    (*hidden_)[name_] = now.size_bytes - size_bytes;
    return {};
  }
  Status sync_data() override {
    if (defect_ == Sabotage::kNoDataSync) return {};
    if (defect_ == Sabotage::kNoTemporarySync && temporary_) return {};
    Status synced = inner_->sync_data();
    if (defect_ == Sabotage::kSyncRetried && !synced.ok()) return inner_->sync_data();
    return synced;
  }
  Result<io::FileInfo> info() override { return without_hidden(inner_->info(), *hidden_, name_); }
  Result<bool> try_lock() override { return inner_->try_lock(); }
  Status unlock() override { return inner_->unlock(); }
  Result<bool> is_locked() override { return inner_->is_locked(); }

 private:
  const std::unique_ptr<io::File> inner_;
  const Sabotage defect_;
  const std::string name_;
  const bool temporary_;
  const std::shared_ptr<Hidden> hidden_;
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
        std::make_unique<SabotagedFile>(std::move(file), defect_, name, hidden_));
  }
  Result<io::FileInfo> info(std::string_view name) override {
    return without_hidden(inner_->info(name), *hidden_, name);
  }
  Status rename(std::string_view from, std::string_view to) override {
    if (defect_ == Sabotage::kRenameAfterSync) VARVE_TRY(inner_->sync());
    return inner_->rename(from, to);
  }
  Status move_to(std::string_view from, io::Directory& target, std::string_view to) override {
    return inner_->move_to(from, *static_cast<SabotagedDirectory&>(target).inner_, to);
  }
  Status exchange(std::string_view name, io::Directory& other, std::string_view there) override {
    return inner_->exchange(name, *static_cast<SabotagedDirectory&>(other).inner_, there);
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
  Status remove_directory(std::string_view name) override { return inner_->remove_directory(name); }
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
  const std::shared_ptr<Hidden> hidden_ = std::make_shared<Hidden>();
};

}  // namespace

Result<std::unique_ptr<io::Directory>> SabotagedFileSystem::open_root(std::string_view path,
                                                                      bool create) {
  VARVE_TRY_ASSIGN(auto root, inner_.open_root(path, create));
  return std::unique_ptr<io::Directory>(
      std::make_unique<SabotagedDirectory>(std::move(root), defect_));
}

}  // namespace varve::crash
