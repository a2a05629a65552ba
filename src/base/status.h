// Status: the answer of every operation inside the library that can fail.
//
// A success costs one null pointer. A failure carries a code, one line a user can act on, and the
// place it happened. Codes below 128 are the public ones of <varve/error.h>; the ones above exist
// only between the storage seam and its callers and are translated before they reach the ABI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace varve {

enum class Code : int32_t {
  kOk = 0,
  kInvalidArgument = 1,
  kNotFound = 2,
  kAlreadyExists = 3,
  kSizeLimit = 4,
  kBadHandle = 5,
  kReadOnly = 6,
  kBusy = 7,
  kUnsupported = 8,
  kIo = 20,
  kNoSpace = 21,
  kNoMemory = 22,
  kCorruption = 40,
  kFormatVersion = 41,
  kCallback = 60,
  kForked = 61,
  kInternal = 127,
  // Storage outcomes (see log/storage.h), never seen outside the library.
  kConflict = 200,  // the tail moved: read what was added and decide again
  kGone = 201,      // that generation was replaced
  kUnknown = 202,   // it is not known whether it was done: read the tail to find out
};

// A failure of the environment, not of what was asked for or found: the next try may succeed.
[[nodiscard]] constexpr bool is_of_environment(Code code) noexcept {
  return code >= Code::kIo && code < Code::kCorruption;
}

// Where an error happened. Every field is optional; only the known ones are reported.
struct Place {
  std::string path = {};                // file the error is about
  std::string member = {};              // JSON member path, such as "tags[2]" or "decay.enabled"
  std::optional<uint64_t> offset = {};  // [bytes] from the start of the file or of the given text
  std::optional<uint64_t> line = {};    // 1-based
  std::optional<uint64_t> size = {};    // what was asked for
  std::optional<uint64_t> limit = {};   // what is allowed
  int os_errno = 0;
};

class [[nodiscard]] Status {
 public:
  // If there is no memory for a failure, it becomes out_of_memory(): reporting a failure never
  // fails itself.
  Status() noexcept = default;  // success
  Status(Code code, std::string message, Place place = {}) noexcept;
  static Status out_of_memory() noexcept;
  // kInternal, for an unexpected exception; `what` is the exception's own text.
  static Status defect(const char* what) noexcept;

  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  Status(const Status& other) noexcept;
  Status& operator=(const Status& other) noexcept;
  ~Status() = default;

  [[nodiscard]] bool ok() const noexcept { return failure_ == nullptr; }
  explicit operator bool() const noexcept = delete;  // ok() says what is meant

  [[nodiscard]] Code code() const noexcept { return failure_ ? failure_->code : Code::kOk; }
  [[nodiscard]] const std::string& message() const noexcept;  // empty when ok
  [[nodiscard]] const Place& place() const noexcept;          // empty when ok

  // The same failure with a file named, unless it names one already.
  [[nodiscard]] Status in_file(std::string_view path) &&;
  // The same failure with `prefix` and a separator before the message.
  [[nodiscard]] Status with_context(std::string_view prefix) &&;

  // That the host was told of this failure in its log, so that it is told and counted once.
  // Copies, and what the two functions above make of it, know it as well.
  void set_told() const noexcept;
  [[nodiscard]] bool is_told() const noexcept { return failure_ && failure_->is_told; }

 private:
  struct Failure {
    Code code;
    std::string message;
    Place place;
    bool is_told = false;
  };
  struct Release {
    void operator()(Failure* failure) const noexcept;
  };
  using FailurePointer = std::unique_ptr<Failure, Release>;

  static Failure* no_memory() noexcept;  // shared by all, and made without allocating
  static FailurePointer make(Failure&& failure) noexcept;

  FailurePointer failure_;
};

// The public name of a code, "VARVE_IO" for example; "VARVE_UNKNOWN_STATUS" for a foreign value.
const char* code_name(Code code) noexcept;

// Makes a failure from errno: ENOSPC and EDQUOT become kNoSpace, ENOENT kNotFound, EEXIST
// kAlreadyExists, EACCES, EPERM and EROFS kReadOnly, ENOMEM kNoMemory, everything else kIo.
Status status_from_errno(int os_errno, std::string_view action, std::string_view path);

}  // namespace varve
