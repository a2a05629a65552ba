#include "sabotage.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "entry/checksum.h"

namespace varve::crash {
namespace {

bool is_temporary(std::string_view name) { return name.find(".tmp-") != std::string_view::npos; }

constexpr std::string_view kLogName = "memory.jsonl";
constexpr std::string_view kTombstonesName = "tombstones.jsonl";
constexpr std::string_view kLockName = "lock";

// What the files of one directory are believed to be, by their names.
struct Beliefs {
  std::map<std::string, uint64_t, std::less<>> hidden;  // shorter by so many bytes than they are
  std::string late;                                     // tombstones that are not written yet
};

Result<io::FileInfo> believed(Result<io::FileInfo> info, const Beliefs& beliefs,
                              std::string_view name) {
  const auto found = beliefs.hidden.find(name);
  if (info.ok() && found != beliefs.hidden.end()) info->size_bytes -= found->second;
  if (info.ok() && name == kTombstonesName) info->size_bytes += beliefs.late.size();
  return info;
}

void seal_again(std::string& line) {
  const size_t at = line.find("\"checksum\":\"sha256:");
  if (at != std::string::npos && at + entry::kChecksumMemberBytes < line.size()) {
    entry::fill_checksum(0, at, line);
  }
}

// Each whole line of `log` after `change` and with the checksum that fits.
template <typename Change>
std::string with_lines_changed(std::string_view log, Change change) {
  std::string changed;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    std::string line(log.substr(begin, end - begin));
    change(line);
    if (end < log.size()) seal_again(line);
    changed += line;
    if (end < log.size()) changed += '\n';
    begin = end + 1;
  }
  return changed;
}

// Of batches of less than ten.
void make_a_batch_of_one(std::string& line) {
  constexpr std::string_view kMember = R"("batch":{"i":0,"n":1})";
  const size_t at = line.find(R"("batch":{"i":)");
  if (at != std::string::npos) line.replace(at, kMember.size(), kMember);
}

class SabotagedFile final : public io::File {
 public:
  SabotagedFile(std::unique_ptr<io::File> inner, Sabotage defect, std::string_view name,
                std::shared_ptr<Beliefs> beliefs)
      : inner_(std::move(inner)),
        defect_(defect),
        name_(name),
        temporary_(is_temporary(name)),
        beliefs_(std::move(beliefs)) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    if (defect_ != Sabotage::kAnyChecksum || name_ != kLogName) return inner_->read_at(offset, out);
    VARVE_TRY_ASSIGN(const io::FileInfo now, inner_->info());
    std::string log(now.size_bytes, '\0');
    VARVE_TRY(inner_->read_at(0, log).status());
    log = with_lines_changed(log, [](std::string&) {});
    const size_t count = offset < log.size() ? std::min(out.size(), log.size() - offset) : 0;
    std::memcpy(out.data(), log.data() + offset, count);
    return count;
  }
  Status append(std::string_view data) override {
    if (believes_its_writes()) {
      VARVE_TRY_ASSIGN(const io::FileInfo now, info());
      believed_end_ = now.size_bytes + data.size();
    }
    if (defect_ == Sabotage::kTombstoneLate && name_ == kTombstonesName) {
      return inner_->append(std::exchange(beliefs_->late, std::string(data)));
    }
    if (defect_ == Sabotage::kBatchOfOnes && name_ == kLogName) {
      return inner_->append(with_lines_changed(data, make_a_batch_of_one));
    }
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
    beliefs_->hidden[name_] = now.size_bytes - size_bytes;
    return {};
  }
  Status sync_data() override {
    if (defect_ == Sabotage::kNoDataSync) return {};
    if (defect_ == Sabotage::kNoTemporarySync && temporary_) return {};
    Status synced = inner_->sync_data();
    if (defect_ == Sabotage::kSyncRetried && !synced.ok()) return inner_->sync_data();
    return synced;
  }
  Result<uint64_t> append_end() override {
    return believes_its_writes() ? believed_end_ : size_bytes();
  }
  Result<io::FileInfo> info() override { return believed(inner_->info(), *beliefs_, name_); }
  Result<bool> try_lock() override {
    if (defect_ == Sabotage::kLockForAll && name_ == kLockName) return true;
    return inner_->try_lock();
  }
  Status unlock() override { return inner_->unlock(); }
  Result<bool> is_locked() override { return inner_->is_locked(); }

 private:
  // Without this the library would notice by itself.
  [[nodiscard]] bool believes_its_writes() const {
    return defect_ == Sabotage::kShortWriteTaken || defect_ == Sabotage::kTombstoneLate;
  }

  const std::unique_ptr<io::File> inner_;
  const Sabotage defect_;
  const std::string name_;
  const bool temporary_;
  const std::shared_ptr<Beliefs> beliefs_;
  size_t writes_ = 0;
  uint64_t believed_end_ = 0;
};

class SabotagedDirectory final : public io::Directory {
 public:
  SabotagedDirectory(std::unique_ptr<io::Directory> inner, Sabotage defect)
      : inner_(std::move(inner)), defect_(defect) {}

  Result<std::unique_ptr<io::File>> open(std::string_view name, io::OpenMode mode,
                                         uint32_t permissions) override {
    VARVE_TRY_ASSIGN(auto file, inner_->open(name, mode, permissions));
    return std::unique_ptr<io::File>(
        std::make_unique<SabotagedFile>(std::move(file), defect_, name, beliefs_));
  }
  Result<io::FileInfo> info(std::string_view name) override {
    return believed(inner_->info(name), *beliefs_, name);
  }
  Status rename(std::string_view from, std::string_view to) override {
    if (defect_ == Sabotage::kRenameAfterSync) VARVE_TRY(inner_->sync());
    if (defect_ == Sabotage::kTombstonesFirst && to == kLogName) {
      (void)inner_->remove(kTombstonesName).ok();
      VARVE_TRY(inner_->sync());
    }
    if (defect_ == Sabotage::kRemovedFirst) (void)inner_->remove(to).ok();
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
  const std::shared_ptr<Beliefs> beliefs_ = std::make_shared<Beliefs>();
};

}  // namespace

Result<std::unique_ptr<io::Directory>> SabotagedFileSystem::open_root(std::string_view path,
                                                                      bool create) {
  VARVE_TRY_ASSIGN(auto root, inner_.open_root(path, create));
  return std::unique_ptr<io::Directory>(
      std::make_unique<SabotagedDirectory>(std::move(root), defect_));
}

}  // namespace varve::crash
