// Replacing a whole file in one step: temporary file, sync, rename, sync of the directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "log/storage.h"

namespace varve::log {

struct ReplaceOptions {
  bool durable = true;    // false: for derived files; one rename, no sync
  bool sync_name = true;  // false: after a power loss the old one may be back, with `durable` whole
  // Whether names that others got are to be durable before this one is there; looked at when the
  // new bytes have been synced, which leaves little of that to do. Null: they are not.
  const bool* sync_names_before = nullptr;
  std::function<Status()>
      check_before_rename;  // the last moment to refuse; empty: nothing to check
  uint32_t permissions = 0600;
  bool overwrite = true;  // false: kAlreadyExists when there is something of that name
};

// Makes `name` hold what `produce` writes. Whoever reads it sees the old or the new whole.
// On failure the old file is there as it was, with one exception: when the sync of the directory
// after the rename fails, the answer is kUnknown: the new file is in place, maybe not durably.
Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, const std::function<Status(Sink&)>& produce);

Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, std::string_view bytes);

// Makes a file that is not there yet with what `produce` writes; kAlreadyExists. With `durable` its
// bytes survive power loss, its name when the caller syncs the directory. On failure a part of it
// may be left.
Status write_new_file(io::Directory& directory, std::string_view name,
                      const ReplaceOptions& options, const std::function<Status(Sink&)>& produce);

// Appends the first `keep_bytes` of a file.
Status copy_start(io::File& from, uint64_t keep_bytes, Sink& sink);

// Appends whole lines to a file of lines that no scan mends: a torn line that somebody who died
// left there must not swallow them, and what came short is cut off again. Gives how long it was.
Result<uint64_t> append_lines(io::File& file, std::string_view lines);

// What a write answers that could be neither finished nor undone. kIo whatever the cause: what is
// said of the others ("nothing was added") is not known here.
Status outcome_unknown(const Status& cause);

// A name for a temporary file of `name`: "<name>.tmp-<16 hex digits>".
std::string temporary_name(std::string_view name, Random& random);
bool is_temporary_name(std::string_view name);

// All of a file; kNotFound when absent. `limit_bytes` guards against a planted giant (kSizeLimit).
Result<std::string> read_file(io::Directory& directory, std::string_view name,
                              uint64_t limit_bytes);

}  // namespace varve::log
