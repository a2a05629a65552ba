#include "transfer/format.h"

#include <array>
#include <utility>

namespace varve::transfer {
namespace {

constexpr std::array<std::pair<std::string_view, ExportFormat>, 3> kExportFormats = {{
    {"jsonl", ExportFormat::kJsonl},
    {"json", ExportFormat::kJson},
    {"markdown", ExportFormat::kMarkdown},
}};

constexpr std::array<std::pair<std::string_view, ImportFormat>, 5> kImportFormats = {{
    {"auto", ImportFormat::kAuto},
    {"jsonl", ImportFormat::kJsonl},
    {"json", ImportFormat::kJson},
    {"mcp", ImportFormat::kMcp},
    {"chat", ImportFormat::kChat},
}};

template <typename Names>
auto find_format(const Names& names, std::string_view wanted)
    -> std::optional<decltype(names[0].second)> {
  for (const auto& [name, format] : names) {
    if (name == wanted) return format;
  }
  return std::nullopt;
}

template <typename Names, typename Format>
std::string_view find_name(const Names& names, Format wanted) {
  for (const auto& [name, format] : names) {
    if (format == wanted) return name;
  }
  return {};
}

}  // namespace

std::optional<ExportFormat> export_format(std::string_view name) {
  return find_format(kExportFormats, name);
}
std::optional<ImportFormat> import_format(std::string_view name) {
  return find_format(kImportFormats, name);
}
std::string_view format_name(ImportFormat format) { return find_name(kImportFormats, format); }
std::string_view format_name(ExportFormat format) { return find_name(kExportFormats, format); }

}  // namespace varve::transfer
