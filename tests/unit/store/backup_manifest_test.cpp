// backup.json: what it says is believed when it is whole, and never more than that.
#include "store/backup_manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hex.h"
#include "base/sha256.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "support/environment.h"

namespace varve::store {
namespace {

class Manifests : public testing::Test {
 protected:
  Result<BackupManifest> read(const std::string& text) {
    disk_.write_file("copy/backup.json", text);
    return BackupManifest::read(**disk_.open_root("copy", false));
  }
  static std::string with_checksum(json::Tree tree) {
    tree.set("checksum", json::Tree::string("sha256:" + to_hex(sha256(tree.canonical()))));
    return tree.canonical();
  }

  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(Manifests, AreReadAsTheyWereWritten) {
  BackupManifest written;
  written.sessions["notes"] = {3, {100, 7}, {50, 9}};
  const auto root = *disk_.open_root("copy", true);
  ASSERT_TRUE(written.write(*root, random_, test::kStartMs).ok());
  const auto found = BackupManifest::read(*root);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->created_at, "2026-01-10T14:23:45.678Z")
      << "the first is made when it is written";
  ASSERT_TRUE(found->write(*root, random_, test::kStartMs + 5000).ok());
  const auto again = BackupManifest::read(*root);
  EXPECT_EQ(again->created_at, "2026-01-10T14:23:45.678Z") << "and stays";
  ASSERT_EQ(again->sessions.size(), 1u);
  const CopiedSession& session = again->sessions.at("notes");
  EXPECT_EQ(session.generation, 3u);
  EXPECT_EQ(session.entries.bytes, 100u);
  EXPECT_EQ(session.entries.check, 7u);
  EXPECT_EQ(session.tombstones.bytes, 50u);
  EXPECT_EQ(session.tombstones.check, 9u);
}

TEST_F(Manifests, ThatAreNoneOrWereChangedSayNothing) {
  for (const std::string text :
       {"", "{", "[]", "7", "null", "{}", R"({"version":1,"checksum":"sha256:00"})",
        R"({"version":1,"sessions":[{"session_id":"notes","memory_bytes":9}],"checksum":"x"})"}) {
    const auto found = read(text);
    ASSERT_TRUE(found.ok()) << text;
    EXPECT_TRUE(found->sessions.empty()) << text;
    EXPECT_EQ(found->created_at, "") << text;
  }
}

TEST_F(Manifests, WithoutSessionsKnowNone) {
  json::Tree tree = json::Tree::object();
  tree.set("created_at", json::Tree::string("2026-01-01T00:00:00Z"));
  const auto found = read(with_checksum(std::move(tree)));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->created_at, "2026-01-01T00:00:00Z");
  EXPECT_TRUE(found->sessions.empty());
}

TEST_F(Manifests, OfANewerVersionAreRefusedWhateverTheyHold) {
  EXPECT_EQ(read(R"({"version":2,"checksum":"x"})").code(), Code::kFormatVersion);
  EXPECT_EQ(BackupManifest::read(**disk_.open_root("other", true)).code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::store
