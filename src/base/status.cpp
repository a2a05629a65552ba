#include "base/status.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

// Other C libraries lack it: there, the words are in the language and letters of the host's locale.
#ifdef __GLIBC_PREREQ
#define VARVE_HAS_PLAIN_WORDS __GLIBC_PREREQ(2, 32)
#else
#define VARVE_HAS_PLAIN_WORDS 0
#endif

namespace varve {

Status::Failure* Status::no_memory() noexcept {
  // Short enough for a string that does not allocate.
  static Failure failure{Code::kNoMemory, "out of memory", {}};
  return &failure;
}

void Status::Release::operator()(Failure* failure) const noexcept {
  if (failure != no_memory()) delete failure;
}

Status::FailurePointer Status::make(Failure&& failure) noexcept {
  auto* made = new (std::nothrow) Failure(std::move(failure));
  return FailurePointer(made != nullptr ? made : no_memory());
}

Status::Status(Code code, std::string message, Place place) noexcept
    : failure_(code == Code::kOk ? nullptr : make({code, std::move(message), std::move(place)})) {}

Status Status::out_of_memory() noexcept {
  Status status;
  status.failure_.reset(no_memory());
  return status;
}

Status Status::defect(const char* what) noexcept {
  try {
    return {Code::kInternal, std::string("a defect of varve, please report it: ") + what};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Status::Status(const Status& other) noexcept { *this = other; }

Status& Status::operator=(const Status& other) noexcept {
  if (this == &other) return *this;
  try {
    failure_ = other.failure_ ? make(Failure(*other.failure_)) : nullptr;
  } catch (const std::bad_alloc&) {
    failure_.reset(no_memory());
  }
  return *this;
}

const std::string& Status::message() const noexcept {
  static const std::string kNone;
  return failure_ ? failure_->message : kNone;
}

const Place& Status::place() const noexcept {
  static const Place kNowhere;
  return failure_ ? failure_->place : kNowhere;
}

Status Status::in_file(std::string_view path) && {
  if (failure_ && failure_.get() != no_memory() && failure_->place.path.empty()) {
    failure_->place.path = path;
  }
  return std::move(*this);
}

Status Status::with_context(std::string_view prefix) && {
  if (failure_ && failure_.get() != no_memory()) {
    failure_->message = std::string(prefix) + ": " + failure_->message;
  }
  return std::move(*this);
}

void Status::set_told() const noexcept {
  if (failure_ && failure_.get() != no_memory()) failure_->is_told = true;
}

const char* code_name(Code code) noexcept {
  switch (code) {
    case Code::kOk: return "VARVE_OK";
    case Code::kInvalidArgument: return "VARVE_INVALID_ARGUMENT";
    case Code::kNotFound: return "VARVE_NOT_FOUND";
    case Code::kAlreadyExists: return "VARVE_ALREADY_EXISTS";
    case Code::kSizeLimit: return "VARVE_SIZE_LIMIT";
    case Code::kBadHandle: return "VARVE_BAD_HANDLE";
    case Code::kReadOnly: return "VARVE_READ_ONLY";
    case Code::kBusy: return "VARVE_BUSY";
    case Code::kUnsupported: return "VARVE_UNSUPPORTED";
    case Code::kIo: return "VARVE_IO";
    case Code::kNoSpace: return "VARVE_NO_SPACE";
    case Code::kNoMemory: return "VARVE_NO_MEMORY";
    case Code::kCorruption: return "VARVE_CORRUPTION";
    case Code::kFormatVersion: return "VARVE_FORMAT_VERSION";
    case Code::kCallback: return "VARVE_CALLBACK";
    case Code::kForked: return "VARVE_FORKED";
    case Code::kInternal: return "VARVE_INTERNAL";
    case Code::kConflict:
    case Code::kGone:
    case Code::kUnknown: break;
  }
  return "VARVE_UNKNOWN_STATUS";
}

namespace {

Code code_of_errno(int os_errno) noexcept {
  switch (os_errno) {
    case ENOSPC:
    case EDQUOT: return Code::kNoSpace;
    case ENOENT: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kReadOnly;
    case ENOMEM: return Code::kNoMemory;
    default: return Code::kIo;
  }
}

std::string words_of_errno(int os_errno) {
#if VARVE_HAS_PLAIN_WORDS
  const char* words = ::strerrordesc_np(os_errno);
  return words != nullptr ? words : "Unknown error " + std::to_string(os_errno);
#else
  return std::generic_category().message(os_errno);
#endif
}

}  // namespace

Status status_from_errno(int os_errno, std::string_view action, std::string_view path) {
  std::string message =
      "cannot " + std::string(action) + " '" + std::string(path) + "': " + words_of_errno(os_errno);
  return Status(code_of_errno(os_errno), std::move(message),
                {.path = std::string(path), .os_errno = os_errno});
}

}  // namespace varve
