#include "text/encoded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve::text {
namespace {

std::vector<std::string> readable(std::string_view text) {
  std::vector<std::string> parts;
  for_each_readable(text, [&](std::string_view part) { parts.emplace_back(part); });
  return parts;
}

// Characters of base64, of the given length.
std::string encoded(size_t size_bytes) {
  std::string text;
  while (text.size() < size_bytes) text += "iVBORw0KGgo/AAAA+NSUhEUgAA9-pB_";
  return text.substr(0, size_bytes);
}

using Parts = std::vector<std::string>;

TEST(Encoded, IsLeftOutWhereverItStands) {
  for (const size_t size_bytes : {kEncodedBytesMin, kEncodedBytesMin + 1, 10 * kEncodedBytesMin}) {
    const std::string bytes = encoded(size_bytes);
    EXPECT_EQ(readable(bytes), Parts());
    EXPECT_EQ(readable("data:image/png;base64," + bytes), Parts{"data:image/png;base64,"});
    EXPECT_EQ(readable(bytes + " a kettle"), Parts{" a kettle"});
    for (size_t before = 1; before < 2 * kEncodedBytesMin; before += 37) {
      const std::string prose = std::string(before, 'x') + ' ';
      EXPECT_EQ(readable(prose + bytes + "\n" + bytes + "."), (Parts{prose, "\n", "."})) << before;
    }
  }
}

TEST(Encoded, ShorterRunsAndWordsAreRead) {
  std::string prose;
  while (prose.size() < 4 * kEncodedBytesMin) prose += "The kettle of 3 litres is in src/Kitchen. ";
  const std::string letters(2 * kEncodedBytesMin, 'a');
  std::string path;
  while (path.size() < 2 * kEncodedBytesMin) path += "/folder-of/things_2";
  for (const auto& text : {std::string("tea"), prose, encoded(kEncodedBytesMin - 1), letters, path,
                           letters + "." + encoded(kEncodedBytesMin - 1) + "."}) {
    EXPECT_EQ(readable(text), Parts{text});
  }
  EXPECT_EQ(readable(""), Parts());
}

}  // namespace
}  // namespace varve::text
