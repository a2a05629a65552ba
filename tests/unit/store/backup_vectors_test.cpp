#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "unit/store/backup_rig.h"

namespace varve::store {
namespace {

constexpr uint32_t kDimension = 16384;  // 64 KiB
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

class BackupOfVectors : public BackupFixture {
 protected:
  static void put(session::Session& session, const std::string& id, size_t direction) {
    std::vector<float> values(kDimension, 0);
    values[direction] = 1;
    ASSERT_TRUE(session.add(text_of(id, "content")).ok());
    ASSERT_TRUE(session.put_vector(id, values).ok());
  }

  // How often the vectors.bin of the store, the copy or the restored store is read by `work`.
  template <typename Work>
  uint64_t reads(const Work& work) {
    uint64_t count = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_read = operation.kind == io::OperationKind::kRead;
      if (is_read && operation.name == "vectors.bin") ++count;
      return std::nullopt;
    });
    work();
    disk_.set_fault_hook({});
    return count;
  }

  std::string vectors(const std::string& root) { return file(root + "/sessions/s/vectors.bin"); }
};

// A file of vectors may be larger than the memory.
TEST_F(BackupOfVectors, IsReadInPieces) {
  const auto store = open("store");
  const auto session = create(*store, "s");
  for (size_t i = 0; i < 50; ++i) put(*session, "v" + std::to_string(i), i);
  const uint64_t pieces = vectors("store").size() / kPieceBytes;
  ASSERT_EQ(pieces, 3U);

  EXPECT_GT(reads([&] { backed_up(*store); }), pieces);
  EXPECT_EQ(vectors("copy"), vectors("store"));

  put(*session, "later", 60);
  json::Tree report;
  EXPECT_GT(reads([&] { report = backed_up(*store); }), pieces);
  EXPECT_EQ(report.get_count("appended"), 1U) << report.canonical();
  EXPECT_GT(report.get_count("bytes"), vectors("store").size());
  EXPECT_EQ(vectors("copy"), vectors("store"));

  EXPECT_GT(reads([&] { report = backed_up(*store); }), 2 * pieces);
  EXPECT_EQ(report.get_count("unchanged"), 1U) << report.canonical();
  EXPECT_EQ(report.get_count("bytes"), 0U);

  const auto other = open("other");
  EXPECT_GT(reads([&] { restored(*other); }), pieces);
  EXPECT_EQ(vectors("other"), vectors("store"));
  EXPECT_TRUE(is_sound(*other, "s"));
}

// In a copy made first, and in one that is extended.
TEST_F(BackupOfVectors, OfAnEntryAddedMeanwhileIsNotThereWithoutIt) {
  const auto store = open("store");
  const auto session = create(*store, "s");
  put(*session, "a", 0);
  for (const std::string id : {"x", "y"}) {
    bool is_added = false;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_of_copy = operation.path.starts_with("copy/");
      if (is_added || !is_of_copy || operation.kind != io::OperationKind::kAppend) return {};
      if (operation.name != "memory.jsonl") return {};
      is_added = true;
      put(*session, id, 1);
      return {};
    });
    ASSERT_TRUE(session->add(text_of("before-" + id, "content")).ok());
    backed_up(*store);
    disk_.set_fault_hook({});
    ASSERT_TRUE(is_added);
    const auto other = open("restored-before-" + id);
    restored(*other);
    ASSERT_EQ(alive(*other, "s").back(), "before-" + id);
    const auto again = *other->open_session("s");
    ASSERT_TRUE(again->add(text_of(id, "another one of that id")).ok());
    std::vector<float> values(kDimension, 0);
    values[1] = 1;
    std::string query;
    for (const float value : values) query += (query.empty() ? "" : ",") + std::to_string(value);
    const auto results = again->query(R"({"vector":[)" + query + "]}");
    ASSERT_TRUE(results.ok()) << results.status().message();
    for (const auto& result : results->results) EXPECT_NE(result.id(), id);
  }
}

// A copy without them would look like that of a session that has none.
TEST_F(BackupOfVectors, AreNotLeftOutUntoldWhenTheFirstLookAtThemFails) {
  const auto store = open("store");
  put(*create(*store, "s"), "a", 0);
  bool has_failed = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (has_failed || operation.name != "vectors.bin") return {};
    has_failed = true;
    return io::Fault{EIO, 0};
  });
  const auto report = store->back_up("copy", {});
  disk_.set_fault_hook({});
  ASSERT_TRUE(has_failed);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_NE(report->canonical().find("vectors.bin"), std::string::npos) << report->canonical();
  EXPECT_EQ(backed_up(*store).get_count("failed"), 0U);
  EXPECT_EQ(vectors("copy"), vectors("store"));
}

// Another vector of the same length, in a copy that is extended.
TEST_F(BackupOfVectors, IsCopiedAgainWhenOneByteIsAnother) {
  const auto store = open("store");
  const auto session = create(*store, "s");
  for (size_t i = 0; i < 20; ++i) put(*session, "v" + std::to_string(i), i);
  backed_up(*store);
  std::string bytes = vectors("copy");
  bytes.back() ^= 1;
  disk_.write_file("copy/sessions/s/vectors.bin", bytes);
  const json::Tree report = backed_up(*store);
  EXPECT_EQ(report.get_count("bytes"), bytes.size()) << report.canonical();
  EXPECT_EQ(vectors("copy"), vectors("store"));
}

// Another writer cuts off what is no whole record, or a purge takes vectors, while a backup
// compares.
TEST_F(BackupOfVectors, IsCopiedAgainWhenTheStoresIsCutWhileItIsCompared) {
  const auto store = open("store");
  const auto session = create(*store, "s");
  for (size_t i = 0; i < 20; ++i) put(*session, "v" + std::to_string(i), i);
  backed_up(*store);
  const std::string whole = vectors("store");
  ASSERT_GT(whole.size(), kPieceBytes);
  bool is_cut = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    // The copy is read behind each piece of the store's.
    const bool is_compared = operation.kind == io::OperationKind::kRead &&
                             operation.name == "vectors.bin" && operation.path.starts_with("copy/");
    if (is_cut || !is_compared) return std::nullopt;
    is_cut = true;
    disk_.write_file("store/sessions/s/vectors.bin", whole.substr(0, kPieceBytes));
    return std::nullopt;
  });
  backed_up(*store);
  disk_.set_fault_hook({});
  EXPECT_TRUE(is_cut);
  EXPECT_EQ(vectors("copy").size(), kPieceBytes);
  EXPECT_TRUE(whole.starts_with(vectors("copy")));
}

}  // namespace
}  // namespace varve::store
