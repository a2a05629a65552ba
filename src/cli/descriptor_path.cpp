#include "cli/descriptor_path.h"

#include <charconv>
#include <filesystem>
#include <system_error>

namespace varve::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 8;  // /dev/stdout is one

// Of a path in the folder that has our descriptors: its last part.
std::optional<int> number_in(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  if (error || folder != fs::canonical("/proc/self/fd", error) || error) return std::nullopt;
  const std::string name = path.filename().string();
  const char* end = name.data() + name.size();
  int number = -1;
  const auto parsed = std::from_chars(name.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> descriptor_of(const std::string& path) {
  fs::path named = path;
  for (int links = 0; links <= kLinksMax; ++links) {
    if (const auto number = number_in(named)) return number;
    std::error_code error;
    const fs::path target = fs::read_symlink(named, error);
    if (error) return std::nullopt;
    named = named.parent_path() / target;  // the target alone when it is absolute
  }
  return std::nullopt;
}

}  // namespace varve::cli
