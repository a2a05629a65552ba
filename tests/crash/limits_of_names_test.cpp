// What should not be where our files are: links, directories, devices, and names that are no text.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "limited_store.h"

namespace varve::crash {
namespace {

namespace fs = std::filesystem;
using varve_test::entry;
using varve_test::Outcome;
using varve_test::read_file;
using varve_test::Session;
using varve_test::Store;

TEST_F(Limits, FileWhoseNameIsNoTextIsListedAsText) {
  varve_test::write_file(session_directory() + "/of\xFFyours", "x");
  const Store store(root_);
  const Session session = Session::open(store, "s");
  const std::string text = session.files().text;
  EXPECT_EQ(text.find('\xFF'), std::string::npos) << text;
  EXPECT_NE(text.find("of\xEF\xBF\xBDyours"), std::string::npos) << text;
}

// --- other things in place of our files ----------------------------------------------------------

struct Planted {
  const char* name;
  bool (*plant)(const std::string& path, const std::string& outside);
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class LimitsOfNames : public Limits, public testing::WithParamInterface<Planted> {
 protected:
  // What a link could lead to: it must stay as it is.
  void SetUp() override {
    outside_ = directory_.path() + "/outside";
    fs::create_directory(outside_);
    varve_test::write_file(outside_ + "/file", "not yours");
  }
  void TearDown() override {
    EXPECT_EQ(read_file(outside_ + "/file"), "not yours");
    EXPECT_EQ(std::distance(fs::directory_iterator(outside_), fs::directory_iterator()), 1);
  }

  std::string outside_;
};

const Planted kPlanted[] = {
    {"Symlink",
     [](const std::string& path, const std::string& outside) {
       return ::symlink((outside + "/file").c_str(), path.c_str()) == 0;
     }},
    {"DanglingSymlink",
     [](const std::string& path, const std::string& outside) {
       return ::symlink((outside + "/nothing").c_str(), path.c_str()) == 0;
     }},
    {"SymlinkToDirectory",
     [](const std::string& path, const std::string& outside) {
       return ::symlink(outside.c_str(), path.c_str()) == 0;
     }},
    {"Fifo",
     [](const std::string& path, const std::string&) { return ::mkfifo(path.c_str(), 0600) == 0; }},
    {"Directory",
     [](const std::string& path, const std::string&) { return ::mkdir(path.c_str(), 0700) == 0; }},
    {"Device",
     [](const std::string& path, const std::string&) {
       return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;  // the null device
     }},
};

void expect_clear(const Outcome& outcome, const std::string& name) {
  if (outcome.ok()) return;
  EXPECT_TRUE(outcome.status == VARVE_IO || outcome.status == VARVE_READ_ONLY ||
              outcome.status == VARVE_CORRUPTION)
      << outcome;
  EXPECT_NE((outcome.message + outcome.details_text).find(name), std::string::npos) << outcome;
}

TEST_P(LimitsOfNames, InPlaceOfAFileGiveAClearAnswer) {
  for (const std::string name : {"memory.jsonl", "tombstones.jsonl", "metadata.json", "index.bin",
                                 "lock", "quarantine.jsonl"}) {
    SCOPED_TRACE(name);
    const std::string path = session_directory() + "/" + name;
    const std::string saved = directory_.path() + "/saved";
    const bool existed = fs::exists(path);
    if (existed) fs::rename(path, saved);
    if (!GetParam().plant(path, outside_)) GTEST_SKIP() << "may not make one";
    const int answer = in_child([&] {
      const Store store(root_);
      const Outcome opened = store.try_open_session("s");
      expect_clear(opened, name);
      const bool needed = name != "index.bin" && name != "quarantine.jsonl";
      EXPECT_TRUE(opened.ok() || needed) << opened;
      if (!opened.ok()) return 0;
      const Session session = Session::open(store, "s");
      const std::string id = "b_" + name.substr(0, name.find('.'));
      const Outcome added = session.add(entry(id)).outcome;
      expect_clear(added, name);
      if (added.ok()) expect_clear(session.remove(id), name);
      expect_clear(session.update(R"({"title":"t"})"), name);
      expect_clear(session.verify().outcome, name);
      expect_clear(session.repair().outcome, name);
      return 0;
    });
    EXPECT_EQ(answer, 0);
    fs::remove_all(path);
    if (existed) fs::rename(saved, path);
  }
}

TEST_P(LimitsOfNames, InPlaceOfTheSessionGiveAClearAnswer) {
  const std::string path = root_ + "/sessions/t";
  if (!GetParam().plant(path, outside_)) GTEST_SKIP() << "may not make one";
  const int answer = in_child([&] {
    const Store store(root_);
    const Outcome opened = store.try_open_session("t");
    EXPECT_FALSE(opened.ok());
    EXPECT_TRUE(opened.status == VARVE_IO || opened.status == VARVE_NOT_FOUND) << opened;
    const Outcome created = store.try_create(R"({"session_id":"t"})");
    EXPECT_TRUE(created.status == VARVE_ALREADY_EXISTS || created.status == VARVE_IO) << created;
    EXPECT_FALSE(store.delete_session("t").ok() && created.status == VARVE_OK);
    EXPECT_TRUE(store.sessions(R"({"rescan":true})").ok());
    EXPECT_TRUE(store.try_open_session("s").ok());
    return 0;
  });
  EXPECT_EQ(answer, 0);
}

INSTANTIATE_TEST_SUITE_P(All, LimitsOfNames, testing::ValuesIn(kPlanted),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::crash
