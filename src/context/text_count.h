// TextCount: the tokens of a context's text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "context/counter.h"
#include "context/format.h"

namespace varve::context {

// Of `text`, which put_together() made of these items. With a counter that adds up, and a format of
// lines, it is the sum of what the parts are known to have, and the text is not looked through
// again; else the whole is counted. kCallback.
Result<uint64_t> count_text(const Counter& counter, Format format,
                            const std::vector<const Item*>& items, std::string_view text);

}  // namespace varve::context
