// Export and import of files, and the progress function, through the ABI.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

namespace fs = std::filesystem;

class Listener {
 public:
  static int32_t hear(void* self, const char* operation, uint64_t done, uint64_t total) {
    auto& listener = *static_cast<Listener*>(self);
    listener.heard.push_back(std::string(operation) + " " + std::to_string(done) + "/" +
                             std::to_string(total));
    return listener.answer;
  }
  int32_t answer = 0;
  std::vector<std::string> heard;
};

class Transfer : public testing::Test {
 protected:
  Transfer() {
    EXPECT_TRUE(session_.add(entry("a")).ok());
    EXPECT_TRUE(session_.add(entry("b")).ok());
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return directory_.path() + "/" + name;
  }

  TempDirectory directory_;
  Store store_;
  Session session_{store_, R"({"session_id":"s"})"};
};

TEST_F(Transfer, AFileGoesOutAndIn) {
  const json::object out = session_.export_file(path("notes.jsonl")).object();
  EXPECT_EQ(out.at("entries"), 2);
  EXPECT_EQ(out.at("format"), "jsonl");
  EXPECT_EQ(read_file(path("notes.jsonl")), session_.export_text("jsonl").text);
  struct stat status {};
  ASSERT_EQ(::stat(path("notes.jsonl").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(out.at("bytes"), status.st_size);
  const Session copy(store_);
  const json::object in = copy.import_file(path("notes.jsonl")).object();
  EXPECT_EQ(in.at("added"), 2);
  EXPECT_EQ(in.at("existing"), 0);
  EXPECT_EQ(in.at("refused_total"), 0);
  EXPECT_EQ(in.at("format"), "jsonl");
  EXPECT_EQ(copy.import_file(path("notes.jsonl")).object().at("existing"), 2);
}

TEST_F(Transfer, OptionsChooseFormatEntriesAndWhetherToOverwrite) {
  const std::string target = path("notes.json");
  const std::string query = R"({"format":"jsonl","query":{"ids":["b"]}})";
  EXPECT_EQ(session_.export_file(target, query).object().at("entries"), 1);
  EXPECT_EQ(read_file(target), session_.export_text(query).text);
  EXPECT_EQ(session_.export_file(target, query).outcome.status, VARVE_ALREADY_EXISTS);
  EXPECT_TRUE(session_.export_file(target, R"({"format":"json","overwrite":true})").ok());
  EXPECT_EQ(json::parse(read_file(target)).at("entries").as_array().size(), 2U);
  const Session copy(store_);
  EXPECT_EQ(copy.import_file(target, R"({"dry_run":true})").object().at("added"), 2);
  EXPECT_EQ(copy.stats().object().at("entries"), 0);
  EXPECT_EQ(copy.import_file(target, R"({"format":"chat"})").object().at("refused_total"), 2);
}

// The entry of a message is one level deeper than the message is.
TEST_F(Transfer, APlaceInAnEntryThatAMessageBecameIsNotTold) {
  const std::string inner = std::string(63, '[') + std::string(63, ']');
  const json::object report =
      session_.import_lines(R"({"role":"user","content":)" + inner + "}").object();
  ASSERT_EQ(report.at("refused_total"), 1);
  const std::string reason(
      report.at("refused").as_array().front().as_object().at("reason").as_string());
  EXPECT_TRUE(reason.starts_with("nested deeper than 64 levels in 'content.parts[0]")) << reason;
}

TEST_F(Transfer, LinksAreFollowedInAndReplacedOut) {
  write_file(path("real"), entry("c") + "\n");
  fs::create_symlink("real", path("link"));
  EXPECT_EQ(session_.import_file(path("link")).object().at("added"), 1);
  EXPECT_TRUE(session_.export_file(path("link"), R"({"overwrite":true})").ok());
  EXPECT_FALSE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real")), entry("c") + "\n");
}

TEST_F(Transfer, TheStoresOwnFilesAreNotReplaced) {
  const std::string root = path("store");
  const Store kept(root);
  const Session session(kept, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  const std::string log = read_file(root + "/sessions/s/memory.jsonl");
  fs::create_directory_symlink("store/sessions/s", path("link"));
  const std::string_view overwrite = R"({"format":"markdown","overwrite":true})";
  for (const char* target : {"store/sessions/s/memory.jsonl", "store/sessions/s/new.md",
                             "store/sessions/new.md", "store/indices/new.md", "store/config.json",
                             "store/../store/sessions/s/memory.jsonl", "link/memory.jsonl"}) {
    const Outcome refused = session.export_file(path(target), overwrite).outcome;
    EXPECT_EQ(refused.status, VARVE_INVALID_ARGUMENT) << target;
    EXPECT_EQ(refused.detail("path"), path(target));
  }
  EXPECT_EQ(read_file(root + "/sessions/s/memory.jsonl"), log);
  EXPECT_TRUE(session.export_file(path("store/notes.md"), overwrite).ok());  // beside them
  EXPECT_TRUE(session.export_file(path("store/notes.md"), overwrite).ok());
  EXPECT_TRUE(session.export_file(path("store/../notes.md"), overwrite).ok());
  EXPECT_TRUE(session.export_file(path("store/sessions/../../again.md"), overwrite).ok());
}

TEST_F(Transfer, NoDirectoryIsMadeForAnExport) {
  EXPECT_EQ(session_.export_file(path("nowhere/notes.md")).outcome.status, VARVE_NOT_FOUND);
  EXPECT_FALSE(fs::exists(path("nowhere")));
}

TEST_F(Transfer, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(session_.import_file(path("pipe")).outcome.status, VARVE_IO);  // and does not hang
  EXPECT_EQ(session_.import_file(path("")).outcome.status, VARVE_IO);
  EXPECT_EQ(session_.import_file("/dev/null").outcome.status, VARVE_IO);
  const Outcome missing = session_.import_file(path("missing")).outcome;
  EXPECT_EQ(missing.status, VARVE_NOT_FOUND);
  EXPECT_EQ(missing.detail("path"), path("missing"));
}

TEST_F(Transfer, ARelativePathIsOfTheWorkingDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  const bool worked = session_.export_file("notes.jsonl").ok();
  fs::current_path(before);
  EXPECT_TRUE(worked);
  EXPECT_TRUE(fs::exists(path("notes.jsonl")));
}

TEST_F(Transfer, NothingIsLeftBesideTheFile) {
  ASSERT_TRUE(session_.export_file(path("notes.jsonl")).ok());
  EXPECT_EQ(session_.export_file(path("notes.jsonl")).outcome.status, VARVE_ALREADY_EXISTS);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()), 1);
}

TEST_F(Transfer, TheProgressFunctionHearsEveryOperationAndStopsIt) {
  Listener listener;
  ASSERT_TRUE(session_.set_progress(&Listener::hear, &listener).ok());
  EXPECT_TRUE(session_.export_file(path("a")).ok());
  EXPECT_TRUE(session_.import_file(path("a")).ok());
  EXPECT_TRUE(session_.verify().ok());
  const std::string bytes = std::to_string(read_file(path("a")).size());
  const std::string bare = std::to_string(read_file(path("a")).size() - 2);  // line ends are not
  EXPECT_EQ(listener.heard,
            (std::vector<std::string>{"export 0/" + bare, "export " + bare + "/" + bare,
                                      "import 0/" + bytes, "import " + bytes + "/" + bytes,
                                      "verify 0/" + bytes, "verify " + bytes + "/" + bytes}));
  listener.answer = -1;
  EXPECT_EQ(session_.export_file(path("b")).outcome.status, VARVE_CALLBACK);
  EXPECT_EQ(session_.export_text("jsonl").outcome.status, VARVE_CALLBACK);
  EXPECT_EQ(session_.import_file(path("a")).outcome.status, VARVE_CALLBACK);
  EXPECT_EQ(session_.import_lines(entry("x")).outcome.status, VARVE_CALLBACK);
  EXPECT_EQ(session_.verify().outcome.status, VARVE_CALLBACK);
  EXPECT_FALSE(fs::exists(path("b")));
  ASSERT_TRUE(session_.set_progress(nullptr, nullptr).ok());
  EXPECT_TRUE(session_.export_file(path("b")).ok());
}

TEST_F(Transfer, ProgressIsOfOneHandle) {
  Listener listener;
  listener.answer = 1;
  ASSERT_TRUE(session_.set_progress(&Listener::hear, &listener).ok());
  const Session other = Session::open(store_, "s");
  EXPECT_TRUE(other.verify().ok());
  EXPECT_TRUE(listener.heard.empty());
}

TEST_F(Transfer, PathsMayNeedNoNulAndMustBeUtf8) {
  const std::string longer = path("notes") + "\xFF garbage behind the end";
  EXPECT_TRUE(session_.export_file(std::string_view(longer).substr(0, path("notes").size())).ok());
  EXPECT_TRUE(fs::exists(path("notes")));
  EXPECT_EQ(session_.export_file(path("\xFF")).outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.import_file(path("\xFF")).outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.export_file("").outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.import_file(std::string("a\0b", 3)).outcome.status, VARVE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace varve_test
