#include "cli/failure.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "cli/json_text.h"

namespace varve::cli {
namespace {

struct StatusExit {
  varve_status_t status;
  int code;
};

constexpr std::array kStatusExits = {
    StatusExit{VARVE_OK, kExitOk},
    StatusExit{VARVE_INVALID_ARGUMENT, kExitInvalid},
    StatusExit{VARVE_ALREADY_EXISTS, kExitInvalid},
    StatusExit{VARVE_SIZE_LIMIT, kExitInvalid},
    StatusExit{VARVE_NOT_FOUND, kExitNotFound},
    StatusExit{VARVE_BUSY, kExitBusy},
    StatusExit{VARVE_IO, kExitIo},
    StatusExit{VARVE_NO_SPACE, kExitIo},
    StatusExit{VARVE_NO_MEMORY, kExitIo},
    StatusExit{VARVE_READ_ONLY, kExitRefused},
    StatusExit{VARVE_UNSUPPORTED, kExitRefused},
    StatusExit{VARVE_FORMAT_VERSION, kExitRefused},
    StatusExit{VARVE_CORRUPTION, kExitDamaged},
};

constexpr std::array kMeanings = {
    ExitCodeMeaning{kExitOk, "Success."},
    ExitCodeMeaning{kExitInvalid,
                    "The command line or the input is not valid, the id is already in use, or a "
                    "size limit was reached; for import also: some lines were refused."},
    ExitCodeMeaning{kExitNotFound, "There is no such store, session, entry or file."},
    ExitCodeMeaning{kExitBusy, "Another process is writing to the session; try again."},
    ExitCodeMeaning{kExitIo, "Input or output error, disk or quota full, or out of memory."},
    ExitCodeMeaning{kExitRefused,
                    "Read-only, not supported here, or written by a newer version of varve."},
    ExitCodeMeaning{kExitDamaged, "Damage was found in the files."},
    ExitCodeMeaning{kExitInternal, "A defect in varve; please report it."},
};

// Whether `member` is `name`, an item of it or a member of it.
bool is_within(std::string_view member, std::string_view name) {
  if (!member.starts_with(name)) return false;
  const std::string_view rest = member.substr(name.size());
  return rest.empty() || rest.front() == '.' || rest.front() == '[';
}

// What the library says is wrong with the member, without its name and place.
std::string reason_of(const std::string& message, const json::object& details) {
  // The document was made here: only bytes that a person gave can keep it from being JSON.
  if (message.starts_with("invalid JSON")) return "is not valid UTF-8";
  std::string_view reason = message;
  const std::string name = "member '" + string_at(details, "member") + "': ";
  const std::string place = " (at byte " + std::to_string(integer_at(details, "offset")) + ")";
  if (reason.starts_with(name)) reason.remove_prefix(name.size());
  if (reason.ends_with(place)) reason.remove_suffix(place.size());
  return std::string(reason);
}

}  // namespace

std::span<const ExitCodeMeaning> exit_code_meanings() { return kMeanings; }

int exit_code(varve_status_t status) {
  const auto* found = std::find_if(kStatusExits.begin(), kStatusExits.end(),
                                   [&](const StatusExit& row) { return row.status == status; });
  return found == kStatusExits.end() ? kExitInternal : found->code;
}

Failure failure_of(const Error& error) {
  return {error.status(), *error.what() == '\0' ? error.name() : error.what(), error.details()};
}

Outcome outcome_of(const varve::Result<void>& answer) {
  return answer ? Outcome() : failure_of(answer.error());
}

Failure usage_failure(std::string message, std::string hint) {
  return {.status = VARVE_INVALID_ARGUMENT,
          .message = std::move(message),
          .hint = std::move(hint),
          .usage = true};
}

bool is_about(const Failure& failure, std::string_view member) {
  return failure.status == VARVE_INVALID_ARGUMENT &&
         string_at(parse_object(failure.details), "member") == member;
}

void name_option(Failure& failure, std::string_view option) {
  if (failure.status != VARVE_INVALID_ARGUMENT || failure.usage) return;
  failure.message = std::string(option) + ": " + failure.message;
}

void name_option_of_member(Failure& failure, std::initializer_list<OptionMember> options) {
  const json::object details = parse_object(failure.details);
  const std::string member = string_at(details, "member");
  for (const OptionMember& each : options) {
    if (!is_within(member, each.member)) continue;
    failure.message = reason_of(failure.message, details);
    name_option(failure, each.option);
    return;
  }
}

void tell_of_part(Failure& failure, std::string_view member) {
  json::object details = parse_object(failure.details);
  const std::string name = string_at(details, "member");
  if (!is_within(name, member) || name == member) return;
  const std::string within = name.substr(member.size() + 1);
  failure.message = "member '" + within + "': " + reason_of(failure.message, details);
  details["member"] = within;
  details.erase("offset");
  failure.details = json_of(details);
}

Failure system_failure(const std::string& what, int error_number) {
  varve_status_t status = VARVE_IO;
  if (error_number == ENOENT || error_number == ENOTDIR) status = VARVE_NOT_FOUND;
  if (error_number == ENOSPC || error_number == EDQUOT) status = VARVE_NO_SPACE;
  if (error_number == EROFS || error_number == EACCES || error_number == EPERM) {
    status = VARVE_READ_ONLY;
  }
  return {status, what + ": " + std::generic_category().message(error_number),
          "{\"errno\":" + std::to_string(error_number) + "}"};
}

}  // namespace varve::cli
