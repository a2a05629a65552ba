// A store, a backup of it and their disk, for the tests of backup and restore.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "session/metadata/metadata.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {

using Texts = std::vector<std::string>;

class BackupFixture : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view path, io::FileSystem* files = nullptr) {
    auto opened = Store::open(path, {}, {files == nullptr ? &disk_ : files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }

  static std::string text_of(const std::string& id, std::string_view content) {
    return R"({"id":")" + id + R"(","type":"finding","content":")" + std::string(content) + "\"}";
  }
  static std::shared_ptr<session::Session> create(Store& store, const std::string& id) {
    auto made = store.create_session(R"({"session_id":")" + id + "\"}");
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }
  static void add(session::Session& session, const Texts& ids) {
    for (const std::string& id : ids) {
      const auto added = session.add(text_of(id, "content of " + id));
      EXPECT_TRUE(added.ok()) << added.status().message();
    }
  }
  static json::Tree backed_up(Store& store, std::string_view options = {},
                              std::string_view path = "copy") {
    auto report = store.back_up(path, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  static json::Tree restored(Store& store, std::string_view options = {},
                             std::string_view path = "copy") {
    auto report = store.restore(path, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  // Takes the session's directory away, as `rm -rf` does.
  void lose_session(const std::string& id) {
    {
      const auto directory = *disk_.open_root("store/sessions/" + id, false);
      const auto items = *directory->list();
      for (const auto& item : items) ASSERT_TRUE(directory->remove(item.name).ok());
    }
    ASSERT_TRUE((*disk_.open_root("store/sessions", false))->remove_directory(id).ok());
  }
  // Ids that are alive in a session of the store at `path`, in order.
  Texts alive(std::string_view path, const std::string& id) {
    const auto disk = disk_.copy();
    const auto store = open(path, disk.get());
    return alive(*store, id);
  }
  static Texts alive(Store& store, const std::string& id) {
    const auto session = store.open_session(id);
    EXPECT_TRUE(session.ok()) << session.status().message();
    if (!session.ok()) return {};
    const auto text = exported_text(**session, "jsonl");
    EXPECT_TRUE(text.ok()) << text.status().message();
    Texts ids;
    for (size_t begin = 0; text.ok() && begin < text->size();) {
      const size_t end = text->find('\n', begin);
      const auto entry = json::Tree::parse(std::string_view(*text).substr(begin, end - begin));
      EXPECT_TRUE(entry.ok());
      ids.push_back(entry->get_string("id"));
      begin = end + 1;
    }
    return ids;
  }
  // Ids that a text query finds.
  static Texts found(Store& store, const std::string& id, const std::string& words) {
    const auto session = store.open_session(id);
    EXPECT_TRUE(session.ok()) << session.status().message();
    const auto results = (*session)->query(R"({"text":")" + words + "\"}");
    EXPECT_TRUE(results.ok()) << results.status().message();
    Texts ids;
    for (const auto& result : results->results) ids.push_back(result.id());
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  static bool is_sound(Store& store, const std::string& id) {
    const auto session = store.open_session(id);
    if (!session.ok()) return false;
    const auto report = (*session)->verify();
    if (report.ok() && !report->get_bool("ok")) ADD_FAILURE() << report->canonical();
    return report.ok() && report->get_bool("ok");
  }
  std::string file(const std::string& path) { return disk_.read_file(path).value_or("(absent)"); }

  // What a compaction does: first the log without what was deleted, then no tombstones any more.
  void compact(std::string_view path, const std::string& id, io::FileSystem& files) {
    const log::DirectoryEngine::Environment environment{&files, &clock_, &random_};
    auto engine = log::DirectoryEngine::open(path, environment, 1000);
    ASSERT_TRUE(engine.ok());
    auto storage = (*engine)->open(id);
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE((*storage)->lock(clock_.monotonic_us() + 1000, "compact", nullptr).ok());
    const std::string root = std::string(path) + "/sessions/" + id;
    const std::string dead = file(root + "/tombstones.jsonl");
    const std::string lines = file(root + "/memory.jsonl");
    std::string kept;
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin) + 1;
      const std::string line = lines.substr(begin, end - begin);
      const std::string line_id = json::Tree::parse(line)->get_string("id");
      if (dead.find("\"id\":\"" + line_id + "\"") == std::string::npos) kept += line;
      begin = end;
    }
    EXPECT_TRUE(
        (*storage)
            ->replace(log::Stream::kEntries, [&](log::Sink& sink) { return sink.append(kept); })
            .ok());
    auto metadata = session::Metadata::parse(file(root + "/metadata.json"), id);
    ASSERT_TRUE(metadata.ok());
    const uint64_t last_seq = (*storage)->durable_mark().last_seq;
    metadata->tree().set("compacted_through_seq", json::Tree::integer_unsigned(last_seq));
    metadata->accept_tombstones(0);
    ASSERT_TRUE(
        (*storage)
            ->put_document(log::kMetadataFile, metadata->encode(), log::DocumentDurability::kNamed)
            .ok());
    EXPECT_TRUE(
        (*storage)->replace(log::Stream::kTombstones, [](log::Sink&) { return Status(); }).ok());
    (*storage)->unlock();
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

}  // namespace varve::store
