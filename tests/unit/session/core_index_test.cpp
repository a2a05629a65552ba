// What a query needs of the index besides its rows, and gets late.
#include "session/core.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "session_disk.h"

namespace varve::session {
namespace {

// The line has its row, but the disk, or somebody, changed it since. Nobody wrote that.
TEST(WordsIndexedLate, AreNotThoseOfALineThatChangedSinceItWasRead) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(session->add(entry_text(id, "kettle of " + id)).ok());
  }
  std::string log = disk.bytes(log::kEntriesFile);
  log.replace(log.find("kettle of b"), 6, "teapot");
  disk.write(log::kEntriesFile, log);
  EXPECT_EQ(*session->count(R"({"text":"teapot"})"), 0u);
  EXPECT_EQ(*session->count(R"({"text":"kettle"})"), 2u);
}

}  // namespace
}  // namespace varve::session
