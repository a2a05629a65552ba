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
  bool sync_name = true;  // false: a power loss may bring the old file back, whole with `durable`
  // Whether names of other files must be durable before this one is; looked at after the sync of
  // the new bytes, which leaves little of that to do. Null: no.
  const bool* sync_names_before = nullptr;
  std::function<Status()>
      check_before_rename;  // the last moment to refuse; empty: nothing to check
  uint32_t permissions = 0600;
  bool overwrite = true;  // false: kAlreadyExists when the name is taken
};

// Makes `name` hold what `produce` writes. Readers see the whole old or the whole new file. On
// failure the old file is as it was, with one exception: when the sync of the directory after the
// rename fails, the answer is kUnknown: the new file is in place, perhaps not durably.
Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, const std::function<Status(Sink&)>& produce);

Status replace_file(io::Directory& directory, std::string_view name, Random& random,
                    const ReplaceOptions& options, std::string_view bytes);

// Creates a file from what `produce` writes; kAlreadyExists when it exists. With `durable` its
// bytes survive power loss; its name does once the caller syncs the directory. On failure a part of
// the file may be left.
Status write_new_file(io::Directory& directory, std::string_view name,
                      const ReplaceOptions& options, const std::function<Status(Sink&)>& produce);

// Appends the first `keep_bytes` of `from` to `sink`.
Status copy_start(io::File& from, uint64_t keep_bytes, Sink& sink);

// Appends whole lines to a file that no scan repairs: a torn line left by a killed process must not
// swallow them, and an incomplete append is cut off again. Returns how long the file was.
Result<uint64_t> append_lines(io::File& file, std::string_view lines);

// Whether the file is known to end here: then nothing of a failed append is to be cut off, which a
// full disk might refuse too.
bool ends_at(io::File& file, uint64_t size_bytes);

// Whether a beginning of `bytes`, and nothing else, stands at `start_bytes`: then it may be cut
// off. Where it cannot be read, the length decides, less surely. Allocates nothing.
bool holds_only(io::File& file, uint64_t start_bytes, std::string_view bytes);

// The answer when a write could be neither finished nor undone: kUnknown.
Status outcome_unknown(const Status& cause);

// Whether a call failed because no more files can be opened: then it has not tried what it is for,
// and a sync that failed so has lost nothing.
bool is_lack_of_descriptors(const Status& status);

// A name for a temporary file of `name`: "<name>.tmp-<16 hex digits>".
std::string temporary_name(std::string_view name, Random& random);
// Whether it is one of those. Others are of people, whose files nobody removes.
bool is_temporary_name(std::string_view name);

// Removes what killed replacements left, as far as possible. The caller holds the lock that
// replacing needs, so nobody still writes them.
void remove_temporary_files(io::Directory& directory);

// The whole file; kNotFound when absent, kSizeLimit when it is larger than `limit_bytes`.
Result<std::string> read_file(io::Directory& directory, std::string_view name,
                              uint64_t limit_bytes);

}  // namespace varve::log
