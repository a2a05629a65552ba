// What a command reports instead of a result, and the exit code that goes with it.
#pragma once

#include <varve/result.hpp>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace varve::cli {

struct Failure {
  varve_status_t status = VARVE_INTERNAL;
  std::string message = {};    // one line
  std::string details = "{}";  // JSON object: path, line, offset, ...
  std::string hint = {};       // what to do next; may be empty
  bool usage = false;          // a mistake in the command line: --help explains it
};

// What the library refused.
[[nodiscard]] Failure failure_of(const Error& error);

// A value, or the failure that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT
  Result(varve::Result<T> answer)                                                  // NOLINT
      : Result(answer ? Result(*std::move(answer)) : Result(failure_of(answer.error()))) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  // Only when !ok().
  [[nodiscard]] Failure& failure() { return *std::get_if<1>(&state_); }
  // Only when ok().
  T& operator*() { return *std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }

 private:
  std::variant<T, Failure> state_;
};

// The outcome of something without a value: nothing, or the failure.
using Outcome = std::optional<Failure>;
[[nodiscard]] Outcome outcome_of(const varve::Result<void>& answer);

// A failure for a mistake in the command line.
[[nodiscard]] Failure usage_failure(std::string message, std::string hint = {});

// Whether the library refused this member of the options, or this argument.
[[nodiscard]] bool is_about(const Failure& failure, std::string_view member);

// Says which option the library found to be wrong; other failures stay as they are.
void name_option(Failure& failure, std::string_view option);

// What a person wrote, and the member of the library's document that a command made of it.
struct OptionMember {
  std::string_view member;
  std::string_view option;
};

// Names the option that became the member that the library found to be wrong, and leaves out where
// that is in a document that the person has not seen. Other failures stay as they are.
void name_option_of_member(Failure& failure, std::initializer_list<OptionMember> options);

// Of a document that has what the person wrote as its `member`: names members as they are in that
// part. Where in it the library does not say. Other failures stay as they are.
void tell_of_part(Failure& failure, std::string_view member);

// A failure for a failed system call; `what` reads like "cannot open notes.jsonl".
[[nodiscard]] Failure system_failure(const std::string& what, int error_number);

// The exit codes, documented in --help and varve(1).
inline constexpr int kExitOk = 0;
inline constexpr int kExitInvalid = 1;
inline constexpr int kExitNotFound = 2;
inline constexpr int kExitBusy = 3;
inline constexpr int kExitIo = 4;
inline constexpr int kExitRefused = 5;
inline constexpr int kExitDamaged = 6;
inline constexpr int kExitInternal = 7;

struct ExitCodeMeaning {
  int code;
  std::string_view meaning;
};

[[nodiscard]] std::span<const ExitCodeMeaning> exit_code_meanings();
[[nodiscard]] int exit_code(varve_status_t status);

}  // namespace varve::cli
