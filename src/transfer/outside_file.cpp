#include "transfer/outside_file.h"

#include <cerrno>

#include "io/rules.h"
#include "log/atomic_file.h"

namespace varve::transfer {
namespace {

// Checked before anything is written, because writing may take long.
Status check_target(io::Directory& directory, std::string_view name, bool overwrite) {
  const auto there = directory.info(name);
  if (there.code() == Code::kNotFound) return {};
  VARVE_TRY(there);
  if (there->kind == io::FileKind::kDirectory) {
    return io::not_a_file(EISDIR, directory.path_of(name), "a directory");
  }
  if (overwrite) return {};
  return status_from_errno(EEXIST, "create", directory.path_of(name));
}

}  // namespace

Status write_outside_file(io::FileSystem& files, std::string_view path, bool overwrite,
                          Random& random, const std::function<Status(log::Sink&)>& produce) {
  VARVE_TRY(io::check_path(path, "a file"));
  const auto [above, name] = io::split_path(path);
  VARVE_TRY_ASSIGN(auto directory, files.open_root(above, false));
  if (name.empty() || name == "." || name == "..") {
    return io::not_a_file(EISDIR, path, "a directory");
  }
  VARVE_TRY(check_target(*directory, name, overwrite));
  log::ReplaceOptions options;
  options.overwrite = overwrite;
  Status written = log::replace_file(*directory, name, random, options, produce);
  // The file is whole, but its name may not be durable.
  if (written.code() == Code::kUnknown) return {Code::kIo, written.message(), written.place()};
  return written;
}

}  // namespace varve::transfer
