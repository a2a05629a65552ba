#include "cli/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "cli/view/output.h"

namespace varve::cli {
namespace {

constexpr size_t kChunkBytes = 1U << 20U;
constexpr size_t kStoreFileBytesMax = 64U << 20U;

// A file open for reading, closed with the object.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path, int flags = 0);
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }

  [[nodiscard]] bool is_regular() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }

  // Appends up to kChunkBytes to `out`; false at the end of the file.
  Result<bool> read(std::string& out);

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

Result<InputFile> InputFile::open(const std::string& path, int flags) {
  const bool standard = path == kStandardInput;
  const int descriptor =
      standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) return reading_failure("cannot open " + path, errno);
  InputFile file(standard ? "standard input" : path, descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return reading_failure("cannot read " + file.path_, errno);
  }
  if (S_ISDIR(status.st_mode)) return system_failure("cannot read " + path, EISDIR);
  return file;
}

Result<bool> InputFile::read(std::string& out) {
  const size_t before = out.size();
  out.resize(before + kChunkBytes);
  ssize_t got = -1;
  int error = 0;
  do {
    got = ::read(descriptor_, out.data() + before, kChunkBytes);
    error = errno;
  } while (got < 0 && is_worth_another_try(error, descriptor_, POLLIN));
  out.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
  if (got < 0) return reading_failure("cannot read " + path_, error);
  return got > 0;
}

}  // namespace

Failure reading_failure(const std::string& what, int error_number) {
  Failure failure = system_failure(what, error_number);
  if (failure.status == VARVE_READ_ONLY) failure.status = VARVE_IO;
  return failure;
}

Outcome check_readable(const std::string& path) {
  if (path == kStandardInput) return std::nullopt;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) {
    return reading_failure("cannot open " + path, errno);
  }
  if (S_ISDIR(status.st_mode)) return system_failure("cannot read " + path, EISDIR);
  return std::nullopt;
}

Result<std::string> read_file(const std::string& path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return std::move(file.failure());
  std::string text;
  while (true) {
    Result<bool> more = file->read(text);
    if (!more.ok()) return std::move(more.failure());
    if (!*more) return text;
  }
}

std::string read_store_file(const std::string& path) {
  Result<InputFile> file = InputFile::open(path, O_NOFOLLOW | O_NONBLOCK);
  if (!file.ok() || !file->is_regular()) return {};
  std::string text;
  while (text.size() <= kStoreFileBytesMax) {
    Result<bool> more = file->read(text);
    if (!more.ok()) return {};
    if (!*more) return text;
  }
  return {};
}

ReadablePath::ReadablePath(ReadablePath&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ReadablePath::~ReadablePath() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<ReadablePath> ReadablePath::of(const std::string& path,
                                      const std::function<void(size_t)>& copied) {
  struct stat status {};
  if (path != kStandardInput && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    return ReadablePath(path, -1);
  }
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return std::move(file.failure());
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "varve-XXXXXX").string();
  const int copy = error ? -1 : ::mkostemp(name.data(), O_CLOEXEC);
  if (copy < 0) return system_failure("cannot create a temporary file", error ? ENOENT : errno);
  ::unlink(name.c_str());
  ReadablePath readable("/proc/self/fd/" + std::to_string(copy), copy);
  Output out(copy);
  while (true) {
    std::string piece;
    Result<bool> more = file->read(piece);
    if (!more.ok()) return std::move(more.failure());
    out.write(piece);
    if (!*more) out.flush();
    // At once: what comes through a pipe may have no end.
    if (out.error() != 0) return system_failure("cannot write a temporary file", out.error());
    if (!*more) return readable;
    copied(piece.size());
  }
}

}  // namespace varve::cli
