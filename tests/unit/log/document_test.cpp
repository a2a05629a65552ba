// Documents that change while they are read.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

TEST(Document, APartOfOneThatShrinksIsWhatIsLeft) {
  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  disk.write_file("s/metadata.json", "{}");
  disk.write_file("s/d", "0123456789");
  const auto storage =
      *DirectoryStorage::open(*disk.open_root("s", false), {&disk, &clock, &random});
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRead) disk.write_file("s/d", "01234");
    return std::nullopt;
  });
  const auto view = storage->open_document("d");
  ASSERT_TRUE(view.ok());
  std::string part(4, ' ');
  const auto got = (*view)->read(3, part);
  disk.set_fault_hook(nullptr);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(part.substr(0, *got), "34");
}

}  // namespace
}  // namespace varve::log
