#include "log/atomic_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include "base/hex.h"

namespace varve::log {

namespace {

constexpr std::string_view kTemporaryMark = ".tmp-";
constexpr size_t kTemporaryBytes = 8;  // of the random number behind it
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kCopyBytes = size_t{1} << 20;

// Gathers small appends into large writes. When the file will be synced, each write starts on its
// way to the disk at once.
class FileSink final : public Sink {
 public:
  FileSink(io::File& file, bool durable) : file_(file), durable_(durable) {}

  Status append(std::string_view bytes) override {
    buffer_.append(bytes);
    return buffer_.size() >= kBufferBytes ? flush() : Status();
  }

  Status flush() {
    if (buffer_.empty()) return {};
    VARVE_TRY(file_.append(buffer_));
    if (durable_) file_.start_sync();
    buffer_.clear();
    return {};
  }

 private:
  io::File& file_;
  const bool durable_;
  std::string buffer_;
};

// A temporary file on its way to its name. What does not get there is removed, also where memory
// runs out on the way. Best effort: who opens the directory for writing next removes left-overs.
class TemporaryFile {
 public:
  TemporaryFile(io::Directory& directory, std::string name)
      : directory_(directory), name_(std::move(name)) {}
  ~TemporaryFile() {
    if (is_in_place_) return;
    try {
      (void)directory_.remove(name_).ok();
    } catch (const std::bad_alloc&) {
      // A left-over, as of a writer that was killed.
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  Status move_to(std::string_view name, bool overwrite) {
    VARVE_TRY(overwrite ? directory_.rename(name_, name)
                        : directory_.move_to(name_, directory_, name));
    is_in_place_ = true;
    return {};
  }

 private:
  io::Directory& directory_;
  const std::string name_;
  bool is_in_place_ = false;
};

// kSizeLimit for a file of more than `limit_bytes`, which somebody may have planted.
Status refuse_larger(const io::Directory& directory, std::string_view name, uint64_t size_bytes,
                     uint64_t limit_bytes) {
  if (size_bytes <= limit_bytes) return {};
  return {Code::kSizeLimit,
          std::string(name) + " has " + std::to_string(size_bytes) + " bytes; at most " +
              std::to_string(limit_bytes) + " are read",
          {.path = directory.path_of(name), .size = size_bytes, .limit = limit_bytes}};
}

}  // namespace

Status write_new_file(io::Directory& directory, std::string_view name,
                      const ReplaceOptions& options, const std::function<Status(Sink&)>& produce) {
  VARVE_TRY_ASSIGN(auto file,
                   directory.open(name, io::OpenMode::kCreateExclusive, options.permissions));
  FileSink sink(*file, options.durable);
  VARVE_TRY(produce(sink));
  VARVE_TRY(sink.flush());
  return options.durable ? file->sync_data() : Status();
}

Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, const std::function<Status(Sink&)>& produce) {
  TemporaryFile temporary(directory, temporary_name(name, random));
  VARVE_TRY(write_new_file(directory, temporary.name(), options, produce));
  const bool* syncs_names = options.sync_names_before;
  if (syncs_names != nullptr && *syncs_names) VARVE_TRY(directory.sync());
  if (options.check_before_rename) VARVE_TRY(options.check_before_rename());
  VARVE_TRY(temporary.move_to(name, options.overwrite));
  if (!options.durable || !options.sync_name) return {};
  const Status status = directory.sync();
  if (status.ok()) return {};
  return {Code::kUnknown,
          "the outcome is unknown: the file was replaced, and a power loss may undo that: " +
              status.message(),
          status.place()};
}

Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, std::string_view bytes) {
  return replace_file(directory, name, random, options,
                      [bytes](Sink& sink) { return sink.append(bytes); });
}

Status copy_start(io::File& from, uint64_t keep_bytes, Sink& sink) {
  std::string buffer(kCopyBytes, '\0');
  for (uint64_t at = 0; at < keep_bytes;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(kCopyBytes, keep_bytes - at));
    VARVE_TRY_ASSIGN(const size_t got, from.read_at(at, std::span<char>(buffer.data(), want)));
    if (got == 0) return {Code::kIo, "the log is shorter than what was written to it"};
    VARVE_TRY(sink.append(std::string_view(buffer.data(), got)));
    at += got;
  }
  return {};
}

Result<uint64_t> append_lines(io::File& file, std::string_view lines) {
  VARVE_TRY_ASSIGN(const io::FileInfo info, file.info());
  char last = '\n';
  if (info.size_bytes > 0) {
    VARVE_TRY(file.read_at(info.size_bytes - 1, std::span<char>(&last, 1)));
  }
  std::string text(lines);
  if (last != '\n') text.insert(text.begin(), '\n');
  Status written = file.append(text);
  if (written.ok()) return info.size_bytes;
  (void)file.truncate(info.size_bytes).ok();
  return written;
}

bool ends_at(io::File& file, uint64_t size_bytes) {
  const auto end_bytes = file.size_bytes();
  return end_bytes.ok() && *end_bytes == size_bytes;
}

bool holds_only(io::File& file, uint64_t start_bytes, std::string_view bytes) {
  std::array<char, 4096> part;
  for (;;) {
    const auto got = file.read_at(start_bytes, part);
    if (!got.ok()) {
      const auto end_bytes = file.size_bytes();
      return end_bytes.ok() && *end_bytes <= start_bytes + bytes.size();
    }
    if (bytes.substr(0, *got) != std::string_view(part.data(), *got)) return false;
    if (*got < part.size()) return true;
    start_bytes += *got;
    bytes.remove_prefix(*got);
  }
}

Status outcome_unknown(const Status& cause) {
  return {Code::kUnknown, "the outcome is unknown and writing has stopped: " + cause.message(),
          cause.place()};
}

bool is_lack_of_descriptors(const Status& status) {
  return status.place().os_errno == EMFILE || status.place().os_errno == ENFILE;
}

std::string temporary_name(std::string_view name, Random& random) {
  std::array<uint8_t, kTemporaryBytes> bytes{};
  random.fill(bytes);
  return std::string(name) + std::string(kTemporaryMark) + to_hex(bytes);
}

bool is_temporary_name(std::string_view name) {
  constexpr size_t kDigits = 2 * kTemporaryBytes;
  if (name.size() < kDigits) return false;
  const std::string_view digits = name.substr(name.size() - kDigits);
  name.remove_suffix(kDigits);
  return name.ends_with(kTemporaryMark) &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void remove_temporary_files(io::Directory& directory) {
  const auto items = directory.list();
  if (!items.ok()) return;
  for (const auto& item : *items) {
    if (is_temporary_name(item.name)) (void)directory.remove(item.name).ok();
  }
}

Result<std::string> read_file(io::Directory& directory, std::string_view name,
                              uint64_t limit_bytes) {
  VARVE_TRY_ASSIGN(auto file, directory.open(name, io::OpenMode::kRead));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  VARVE_TRY(refuse_larger(directory, name, info.size_bytes, limit_bytes));
  std::string bytes(static_cast<size_t>(info.size_bytes), '\0');
  VARVE_TRY_ASSIGN(const size_t got, file->read_at(0, bytes));
  bytes.resize(got);
  return bytes;
}

}  // namespace varve::log
