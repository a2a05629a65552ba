// The formats of import and export. docs/export-import.md describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace varve::transfer {

enum class ExportFormat : uint8_t { kJsonl, kJson, kMarkdown };
[[nodiscard]] std::optional<ExportFormat> export_format(std::string_view name);

enum class ImportFormat : uint8_t {
  kAuto,   // recognised by the content
  kJsonl,  // entries, one a line
  kJson,   // an array of entries, or an object with one
  kMcp,    // lines of the memory server of the Model Context Protocol
  kChat,   // messages with a role: an array, an object with one, or lines
};
[[nodiscard]] std::optional<ImportFormat> import_format(std::string_view name);
[[nodiscard]] std::string_view format_name(ImportFormat format);
[[nodiscard]] std::string_view format_name(ExportFormat format);

}  // namespace varve::transfer
