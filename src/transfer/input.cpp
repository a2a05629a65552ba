#include "transfer/input.h"

#include <algorithm>
#include <utility>

namespace varve::transfer {

Result<size_t> TextInput::read(std::span<char> out) {
  const size_t count = std::min(out.size(), rest_.size());
  std::copy_n(rest_.begin(), count, out.begin());
  rest_.remove_prefix(count);
  return count;
}

Result<std::unique_ptr<FileInput>> FileInput::open(io::FileSystem& files, std::string_view path) {
  VARVE_TRY_ASSIGN(auto file, files.open_file(path));
  VARVE_TRY_ASSIGN(const io::FileInfo info, file->info());
  return std::unique_ptr<FileInput>(new FileInput(std::move(file), info.size_bytes));
}

Result<size_t> FileInput::read(std::span<char> out) {
  VARVE_TRY_ASSIGN(const size_t count, file_->read_at(offset_, out));
  offset_ += count;
  return count;
}

}  // namespace varve::transfer
