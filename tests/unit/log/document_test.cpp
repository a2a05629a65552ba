// Documents that change while they are read.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

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
  const auto part = storage->read_document("d", 3, 4);
  disk.set_fault_hook(nullptr);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->bytes, "34");
}

}  // namespace
}  // namespace varve::log
