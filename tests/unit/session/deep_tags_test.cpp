// Tags that are as deep as they may be: each level of each is a key of the index.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "session_disk.h"

namespace varve::session {
namespace {

// They took 75 times their size, until somebody asked something.
TEST(DeepTags, TakeMemoryInProportionThoughNobodyAsks) {
  Host host;
  host.context.settings.session_bytes_max = 0;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (int entry = 0; entry < 9; ++entry) {
    std::string tags;
    for (int i = 0; i < 4000; ++i) {
      std::string tag = "t" + std::to_string(entry) + "x" + std::to_string(i);
      while (tag.size() + 2 <= 64) tag += ".a";
      tags += (i > 0 ? ",\"" : "\"") + tag + "\"";
    }
    const auto added = session->add(R"({"type":"finding","content":"x","tags":[)" + tags + "]}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  const auto stats = session->stats();
  ASSERT_TRUE(stats.ok());
  EXPECT_LT(stats->get_int64("memory_bytes"), 120'000'000) << stats->canonical();
  EXPECT_EQ(*session->count(R"({"tags":{"include":["t3x7.a.a"]}})"), 1u);
}

}  // namespace
}  // namespace varve::session
