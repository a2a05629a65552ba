#include "context/text_count.h"

#include <algorithm>
#include <optional>
#include <string>

#include "text/token_estimate.h"

namespace varve::context {

Result<uint64_t> count_text(const Counter& counter, Format format,
                            const std::vector<const Item*>& items, std::string_view text) {
  const auto counts_alone = [](const Item* item) { return text::counts_alone(item->piece); };
  const std::optional<std::string> frame =
      counter.adds_up() ? frame_of(format, items) : std::nullopt;
  if (!frame || !std::all_of(items.begin(), items.end(), counts_alone)) return counter.count(text);
  uint64_t tokens = text::estimate_tokens(*frame);
  std::string_view heading;
  for (const Item* item : items) {
    if (item->heading != heading) {
      heading = item->heading;
      tokens += text::estimate_tokens(heading);
    }
    tokens += item->tokens;
  }
  return tokens;
}

}  // namespace varve::context
