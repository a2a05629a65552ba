// How DirectoryStorage reads. directory_writer.cpp has the writing, directory_lock.cpp the lock.
#include "log/directory_storage.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "io/rules.h"
#include "log/atomic_file.h"

namespace varve::log {

namespace {

// Writers are slower than looks: more than a few happen only when the system keeps us waiting.
constexpr int kLooksMax = 16;
constexpr uint64_t kSnapshotBytesMax = uint64_t{8} << 30;

class FileView final : public DocumentView {
 public:
  FileView(std::unique_ptr<io::File> file, const io::FileInfo& info)
      : file_(std::move(file)), info_(info) {}

  [[nodiscard]] uint64_t size_bytes() const override { return info_.size_bytes; }
  Result<size_t> read(uint64_t offset, std::span<char> out) override {
    if (offset >= info_.size_bytes) return size_t{0};
    return file_->read_at(
        offset, out.subspan(0, std::min<uint64_t>(out.size(), info_.size_bytes - offset)));
  }
  [[nodiscard]] uint64_t identity() const override { return info_.identity.inode; }

 private:
  std::unique_ptr<io::File> file_;
  io::FileInfo info_;
};

bool exists(io::Directory& directory, std::string_view name) {
  return directory.info(name).code() != Code::kNotFound;
}

}  // namespace

bool holds_session(io::Directory& directory) {
  return exists(directory, kMetadataFile) || exists(directory, kEntriesFile);
}

DirectoryStorage::DirectoryStorage(std::unique_ptr<io::Directory> directory,
                                   const Environment& environment, OwnName own_name)
    : directory_(std::move(directory)),
      own_name_(std::move(own_name)),
      environment_(environment),
      boot_id_(environment.boot_id ? *environment.boot_id : environment.file_system->boot_id()) {}

Result<std::unique_ptr<DirectoryStorage>> DirectoryStorage::open(
    std::unique_ptr<io::Directory> directory, const Environment& environment, OwnName own_name) {
  std::unique_ptr<DirectoryStorage> storage(
      new DirectoryStorage(std::move(directory), environment, std::move(own_name)));
  io::Directory& own = *storage->directory_;
  if (!holds_session(own)) {
    return Status(Code::kNotFound, "there is no session in '" + own.path_of("") + "'");
  }
  Status opened = storage->open_lock_file();
  if (opened.code() == Code::kReadOnly) {
    storage->writable_ = false;
  } else if (!opened.ok() && opened.code() != Code::kNoSpace) {  // who writes opens it again
    return opened;
  }
  auto looked = storage->tail();
  if (looked.code() == Code::kReadOnly) {
    storage->writable_ = false;
    looked = storage->tail();
  }
  if (!looked.ok()) return std::move(looked).status();
  return storage;
}

std::string DirectoryStorage::name_of(Stream stream) const {
  return directory_->path_of(file_of(stream));
}

io::OpenMode DirectoryStorage::append_mode() const {
  return writable_ ? io::OpenMode::kAppend : io::OpenMode::kRead;
}

DirectoryStorage::OpenStream& DirectoryStorage::stream_of(Stream stream) {
  return stream == Stream::kEntries   ? entries_
         : stream == Stream::kVectors ? vectors_
                                      : tombstones_;
}

uint64_t& DirectoryStorage::generation_of(Stream stream) {
  return stream == Stream::kVectors ? vectors_generation_ : generation_;
}

DirectoryStorage::OpenStream DirectoryStorage::snapshot_of(Stream stream) {
  const std::lock_guard guard(mutex_);
  return stream_of(stream);
}

std::shared_ptr<const void> DirectoryStorage::keep_open(Stream stream) {
  return snapshot_of(stream).file;
}

Result<Tail> DirectoryStorage::tail() {
  const std::lock_guard guard(mutex_);
  if (is_tail_known_) return Tail{generation_, entries_.size_bytes, tombstones_.size_bytes};
  return look();
}

// Both streams as they were at one moment: one is the same before and after the other is looked at.
// Otherwise a reader could find an entry that was deleted before a later one, which it finds too,
// was added; or miss an entry that was added before a deletion that it knows.
Result<Tail> DirectoryStorage::look() {
  VARVE_TRY(look_at(Stream::kTombstones, &tombstones_));
  for (int looks = 0; looks < kLooksMax; ++looks) {
    const bool at_entries = looks % 2 == 0;
    VARVE_TRY_ASSIGN(const bool changed, at_entries
                                             ? has_changed(Stream::kEntries, &entries_)
                                             : has_changed(Stream::kTombstones, &tombstones_));
    if (!changed) break;
  }
  if (!entries_.file && !exists(*directory_, kMetadataFile)) {
    return Status(Code::kNotFound, "the session was deleted");
  }
  return Tail{generation_, entries_.size_bytes, tombstones_.size_bytes};
}

// Looks, and tells whether the stream is longer, or another file, than when last looked at.
Result<bool> DirectoryStorage::has_changed(Stream stream, OpenStream* open) {
  const uint64_t generation = generation_;
  const uint64_t size_bytes = open->size_bytes;
  VARVE_TRY(look_at(stream, open));
  return generation_ != generation || open->size_bytes != size_bytes;
}

Result<VectorsTail> DirectoryStorage::vectors_tail() {
  const std::lock_guard guard(mutex_);
  Status looked = look_at(Stream::kVectors, &vectors_);
  if (!looked.ok()) return io::refused_reading(std::move(looked));  // whoever asks may only read
  return VectorsTail{vectors_generation_, vectors_.size_bytes};
}

Status DirectoryStorage::look_at(Stream stream, OpenStream* open) {
  if (open->change_stamp != 0) {  // there is a file: asking it is cheaper than asking for its name
    VARVE_TRY_ASSIGN(const io::FileInfo asked, open->file->info());
    const bool is_same = asked.change_stamp == open->change_stamp;
    if (is_same && asked.size_bytes == open->size_bytes) return {};
  }
  const std::string_view name = file_of(stream);
  VARVE_TRY_ASSIGN(const std::optional<io::FileInfo> info, directory_->find(name));
  if (!info) {
    if (open->file) generation_of(stream) += 1;
    *open = OpenStream();
    return {};
  }
  if (!open->file || !(info->identity == open->identity)) {
    VARVE_TRY_ASSIGN(auto file, directory_->open(name, append_mode()));
    VARVE_TRY_ASSIGN(const io::FileInfo opened, file->info());
    if (open->file) generation_of(stream) += 1;
    *open = OpenStream{std::move(file), opened.identity, opened.size_bytes, 0};
    return {};
  }
  open->size_bytes = info->size_bytes;
  open->change_stamp = info->change_stamp;
  return {};
}

Result<size_t> DirectoryStorage::read(Stream stream, uint64_t generation, uint64_t offset,
                                      std::span<char> out) {
  std::shared_ptr<io::File> file;
  {
    const std::lock_guard guard(mutex_);
    if (generation != generation_of(stream)) return replaced();
    file = stream_of(stream).file;
  }
  if (!file) return size_t{0};
  return file->read_at(offset, out);
}

Result<std::string> DirectoryStorage::get_document(std::string_view name) {
  const bool snapshot = name.ends_with(".bin");
  return read_file(*directory_, name, snapshot ? kSnapshotBytesMax : kDocumentBytesMax);
}

Result<std::unique_ptr<DocumentView>> DirectoryStorage::open_document(std::string_view name) {
  VARVE_TRY_ASSIGN(auto file, directory_->open(name, io::OpenMode::kRead));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  return std::unique_ptr<DocumentView>(std::make_unique<FileView>(std::move(file), info));
}

// A replaced file has another inode, or a later time than one whose inode was free again.
uint64_t DirectoryStorage::document_mark(std::string_view name) {
  const auto info = directory_->find(name);
  if (!info.ok() || !*info) return 0;
  const io::FileInfo& file = **info;
  return hash64(std::to_string(file.identity.inode) + ' ' + std::to_string(file.size_bytes) + ' ' +
                std::to_string(file.modified_ms));
}

Result<std::vector<StoredFile>> DirectoryStorage::files() {
  VARVE_TRY_ASSIGN(const auto items, directory_->list());
  std::vector<StoredFile> files;
  for (const auto& item : items) {
    if (is_temporary_name(item.name)) continue;
    const auto info = directory_->info(item.name);
    if (info.code() == Code::kNotFound) continue;  // gone since it was listed
    if (!info.ok()) return info.status();
    files.push_back({item.name, info->size_bytes, info->modified_ms});
  }
  std::sort(files.begin(), files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.name < b.name; });
  return files;
}

DurableMark DirectoryStorage::durable_mark() {
  const auto file = directory_->open(kLockFile, io::OpenMode::kRead);
  if (!file.ok()) return {};
  const auto state = read_lock_state(**file);
  if (!state) return {};
  const std::lock_guard guard(mutex_);
  const bool same_file = state->file == entries_.identity;
  return {same_file ? state->durable_bytes : 0, state->last_seq};
}

Status DirectoryStorage::check_name() {
  if (own_name_.parent == nullptr) return {};
  VARVE_TRY_ASSIGN(const auto named, own_name_.parent->find(own_name_.name));
  VARVE_TRY_ASSIGN(const io::FileInfo own, directory_->self_info());
  if (named && named->identity == own.identity) return {};
  return Status(Code::kNotFound, "the session was replaced or deleted")
      .in_file(directory_->path_of(""));
}

LockHolder DirectoryStorage::lock_holder() {
  // Opens the file again: the writer's handle would not see the lock that it holds itself.
  const auto file = directory_->open(kLockFile, io::OpenMode::kRead);
  if (!file.ok()) return {};
  const auto held = (*file)->is_locked();
  if (!held.ok() || !*held) return {};
  LockHolder holder;
  holder.is_held = true;
  const auto state = read_lock_state(**file);
  if (!state || !may_be_of_holder(*state)) return holder;
  holder.process_id = state->process_id;
  holder.operation = state->operation;
  holder.since_ms = state->timestamp_ms;
  return holder;
}

}  // namespace varve::log
