#include "cli/view/figures_view.h"

#include <utility>

#include "cli/view/display_text.h"

namespace varve::cli {

std::string damage_figure(const json::object& stats) {
  const json::object& damage = object_at(stats, "corruption");
  std::string text;
  for (const auto& [name, label] :
       {std::pair{"skipped", "skipped"}, std::pair{"missing", "missing"},
        std::pair{"torn_tails", "torn tails"}, std::pair{"rollback", "rolled back"},
        std::pair{"metadata", "metadata.json"}, std::pair{"kv", "kv.json"},
        std::pair{"transcript", "transcript.md"}}) {
    const int64_t count = integer_at(damage, name);
    if (count == 0 && !bool_at(damage, name)) continue;
    if (!text.empty()) text += ", ";
    text += std::string(label) + (count > 0 ? " " + format_count(count) : "");
  }
  return text;
}

std::string lock_figure(const json::object& stats) {
  const json::object& lock = object_at(stats, "lock");
  if (!bool_at(lock, "held")) return "";
  const int64_t process_id = integer_at(lock, "process_id");
  if (process_id == 0) return "held";
  return "process " + std::to_string(process_id) + ", " + string_at(lock, "operation");
}

std::string limit_figure(const json::object& stats) {
  const int64_t limit = integer_at(stats, "size_limit_bytes");
  if (limit == 0) return "";
  const auto size = static_cast<double>(integer_at(object_at(stats, "size_bytes"), "total"));
  return format_number(100 * size / static_cast<double>(limit), 1) + " %";
}

}  // namespace varve::cli
