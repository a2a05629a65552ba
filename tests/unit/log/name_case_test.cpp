// Where the file system takes a name in another case for the same name.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "directories.h"
#include "wrapped_files.h"

namespace varve::log {
namespace {

class WithoutCase : public Directories {
 protected:
  void SetUp() override {
    auto opened = DirectoryEngine::open("store", {&folding_, &clock_, &random_}, kLockTimeoutMs);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    engine_ = *std::move(opened);
    create("Ann", "ann");
  }
  Status install(const std::string& id, Existing existing) {
    SessionContents contents;
    const auto nothing = [](Sink&) { return Status(); };
    contents.entries = contents.tombstones = nothing;
    contents.metadata = [&](Sink& sink) { return sink.append("{\"of\":\"" + id + "\"}"); };
    return engine_->install({id, "u", "a", clock_.now_ms()}, contents, existing);
  }
  std::string metadata() { return *engine_->session_document("Ann", kMetadataFile); }

  FileSystemWithoutCase folding_{disk_};
};

TEST_F(WithoutCase, ASessionHasItsOwnIdOnly) {
  for (const std::string id : {"ann", "ANN"}) {
    EXPECT_EQ(engine_->open(id).code(), Code::kNotFound) << id;
    EXPECT_EQ(engine_->session_document(id, kMetadataFile).code(), Code::kNotFound) << id;
    EXPECT_EQ(engine_->drop(id, {}).code(), Code::kNotFound) << id;
  }
  ASSERT_TRUE(engine_->open("Ann").ok());
  ASSERT_TRUE(engine_->drop("Ann", {}).ok());
  create("ann");
  EXPECT_TRUE(engine_->open("ann").ok());
}

TEST_F(WithoutCase, ASessionOfAnotherCaseIsNeitherMadeNorPutInItsPlace) {
  const std::string before = metadata();
  const auto made = engine_->create({"ann", "bob", "a", clock_.now_ms()}, "{}");
  EXPECT_EQ(made.code(), Code::kUnsupported);
  EXPECT_NE(made.status().message().find("upper and lower case"), std::string::npos);
  for (const Existing existing : {Existing::kRefuse, Existing::kSwap, Existing::kSwapOrMove}) {
    EXPECT_EQ(install("ann", existing).code(), Code::kUnsupported);
    EXPECT_EQ(metadata(), before);
    EXPECT_EQ(*engine_->session_ids(), std::vector<std::string>{"Ann"});
  }
  EXPECT_EQ(engine_->create({"Ann", "bob", "a", clock_.now_ms()}, "{}").code(),
            Code::kAlreadyExists);
  EXPECT_TRUE(install("Ann", Existing::kSwap).ok());
  EXPECT_NE(metadata(), before);
}

}  // namespace
}  // namespace varve::log
