// varve_session_put_vector and queries with a vector, from outside.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/varve.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

using Values = std::vector<float>;

Outcome put(const Session& session, std::string_view id, const Values& values) {
  ErrorOut error;
  return error.outcome(varve_session_put_vector(session.get(), id.data(), id.size(), values.data(),
                                                static_cast<uint32_t>(values.size()), error.out()));
}

class Vectors : public testing::TestWithParam<bool> {
 protected:
  Vectors() {
    for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(session_.add(entry(id, "tea")).ok());
  }
  void put(std::string_view id, const Values& values) {
    const Outcome outcome = varve_test::put(session_, id, values);
    EXPECT_TRUE(outcome.ok()) << outcome;
  }
  std::string ids(std::string_view query = R"({"vector":[1,0]})") {
    const Results found = session_.query(query);
    EXPECT_TRUE(found.ok()) << found.outcome();
    return found.ids();
  }

  TempDirectory directory_;
  Store store_{GetParam() ? "memory:" : directory_.path()};
  Session session_{store_, R"({"session_id":"s"})"};
};
INSTANTIATE_TEST_SUITE_P(, Vectors, testing::Bool(), [](const auto& instance) {
  return instance.param ? "Memory" : "Directory";
});

TEST_P(Vectors, RankAndAreReplaced) {
  put("a", {1, 1});
  put("b", {1, 0});
  EXPECT_EQ(ids(), "b a");
  put("a", {5, 0.1F});
  put("b", {-1, 0});
  EXPECT_EQ(ids(), "a b");
  const json::object first =
      session_.query(R"({"vector":[5,0.1],"limit":1,"explain":true})").list()[0].as_object();
  EXPECT_NEAR(first.at("match_quality").to_number<double>(), 1, 1e-12);
  EXPECT_EQ(first.at("explain").at("vector").at("rank"), 1);
}

TEST_P(Vectors, AreWhatAContextRetrievesToo) {
  put("a", {0, 1});
  put("b", {1, 0});
  put("c", {1, 1});
  const Answer one = session_.context(R"({"retrieve":[{"query":{"vector":[1,0],"limit":1}}]})");
  ASSERT_TRUE(one.ok()) << one.outcome;
  EXPECT_EQ(one.object().at("items").as_array().size(), 1U);
  EXPECT_EQ(one.object().at("items").as_array()[0].at("id"), "b");
  const Answer all = session_.context(R"({"retrieve":[{"query":{"vector":[1,0]}}]})");
  const json::object answer = all.object();
  std::string ranks;
  for (const auto& item : answer.at("items").as_array()) {
    ranks += json::serialize(item.at("id")) +
             std::to_string(item.at("rank").to_number<double>()).substr(0, 4) + " ";
  }
  EXPECT_EQ(ranks, R"("a"0.00 "b"1.00 "c"0.70 )") << all.text;
  EXPECT_EQ(session_.context(R"({"retrieve":[{"query":{"vector":[1]}}]})").outcome.status,
            VARVE_INVALID_ARGUMENT);
}

TEST_P(Vectors, OfTheWrongDimensionAreRefusedWithTheRightOne) {
  put("a", {1, 1});
  const Outcome outcome = varve_test::put(session_, "b", {1, 1, 1});
  EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("dimension 3"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.detail("limit"), "2") << outcome;
  const Results asked = session_.query(R"({"vector":[1,2,3]})");
  EXPECT_EQ(asked.outcome().status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(asked.outcome().detail("member"), "vector") << asked.outcome();
  EXPECT_EQ(ids(), "a");
}

TEST_P(Vectors, ThatAreNoneAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  for (const Values& values :
       {Values{1, nan}, Values{infinite, 1}, Values{0, 0}, Values{}, Values(16385, 1)}) {
    const Outcome outcome = varve_test::put(session_, "a", values);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), "values") << outcome;
  }
  ErrorOut error;
  EXPECT_EQ(varve_session_put_vector(session_.get(), "a", 1, nullptr, 2, error.out()),
            VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(varve_test::put(session_, "none", {1, 1}).status, VARVE_NOT_FOUND);
  EXPECT_EQ(varve_test::put(session_, "no id", {1, 1}).status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.stats().object().at("vectors").at("records"), 0);
}

TEST_P(Vectors, GoWithTheirEntry) {
  put("a", {1, 0});
  put("b", {1, 1});
  ASSERT_TRUE(session_
                  .add(R"({"id":"late","type":"finding","content":1,)"
                       R"("expires_at":"2001-01-01T00:00:00Z"})")
                  .ok());
  EXPECT_EQ(varve_test::put(session_, "late", {1, 0}).status, VARVE_NOT_FOUND);
  ASSERT_TRUE(session_.remove("a").ok());
  EXPECT_EQ(ids(), "b");
  EXPECT_EQ(varve_test::put(session_, "a", {1, 0}).status, VARVE_NOT_FOUND);
  ASSERT_EQ(varve_session_compact(session_.get(), nullptr, 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_EQ(session_.stats().object().at("vectors").at("records"), 1);
  EXPECT_EQ(ids(), "b");
}

TEST_P(Vectors, CountsAndDeletesAreNotTheirs) {
  put("a", {1, 0});
  EXPECT_EQ(session_.count(R"({"vector":[1,0]})").count, 3U);
  const Count removed = session_.remove_where(R"({"vector":[1,0]})");
  EXPECT_EQ(removed.outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.count().count, 3U);
}

TEST_P(Vectors, OfSeveralSessionsAreOneOrder) {
  const Session other(store_, R"({"session_id":"t"})");
  ASSERT_TRUE(other.add(entry("d", "coffee")).ok());
  ASSERT_TRUE(other.add(entry("e", "more coffee")).ok());
  put("a", {1, 0.3F});
  put("b", {-1, 0.3F});
  ASSERT_TRUE(varve_test::put(other, "d", {1, 0.1F}).ok());
  ASSERT_TRUE(varve_test::put(other, "e", {0, 1}).ok());
  EXPECT_EQ(store_.query(R"({"vector":[1,0]})").ids(), "d a e b");
  // coffee: d and e by words; ranks are among all sessions.
  const std::string fused = R"({"vector":[1,0],"text":"coffee","now":"2026-01-01T00:00:00Z")";
  const std::string all = store_.query(fused + "}").ids();
  EXPECT_EQ(all.substr(0, 3), "d e") << all;
  EXPECT_EQ(all.size(), 7U) << all;
  std::string met;
  std::string after;
  for (int page = 0; page < 6; ++page) {
    const Results found = store_.query(fused + R"(,"limit":1)" + after + "}");
    ASSERT_TRUE(found.ok()) << found.outcome();
    met += (met.empty() ? "" : " ") + found.ids();
    if (found.next().empty()) break;
    after = R"(,"after":")" + found.next() + "\"";
    put("c", {1, static_cast<float>(page)});  // it had none at the first page
  }
  EXPECT_EQ(met, all);
  const Session wide(store_, R"({"session_id":"u"})");
  ASSERT_TRUE(wide.add(entry("f")).ok());
  ASSERT_TRUE(varve_test::put(wide, "f", {1, 0, 0}).ok());
  const Outcome refused = store_.query(R"({"vector":[1,0]})").outcome();
  EXPECT_EQ(refused.status, VARVE_INVALID_ARGUMENT);
  EXPECT_NE(refused.message.find("'u'"), std::string::npos) << refused;
  EXPECT_TRUE(store_.query(R"({"vector":[1,0],"session_ids":["s","t"]})").ok());
}

TEST(VectorFiles, AreReopenedListedAndBackedUp) {
  const TempDirectory directory;
  const TempDirectory backups;
  const std::string copy = backups.path() + "/copy";
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    ASSERT_TRUE(session.add(entry("a")).ok());
    ASSERT_TRUE(session.add(entry("b")).ok());
    ASSERT_TRUE(put(session, "a", {0, 1}).ok());
    ASSERT_EQ(varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, nullptr,
                                 nullptr, nullptr),
              VARVE_OK);
    ASSERT_TRUE(put(session, "b", {1, 1}).ok());
    ASSERT_EQ(varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, nullptr,
                                 nullptr, nullptr),
              VARVE_OK);
    EXPECT_NE(session.files().text.find("vectors.bin"), std::string::npos);
  }
  {
    const Store store(directory.path());
    const Session session = Session::open(store, "s");
    EXPECT_EQ(session.query(R"({"vector":[1,0]})").ids(), "b a");
  }
  const Store restored("memory:");
  ASSERT_EQ(varve_store_restore(restored.get(), copy.data(), copy.size(), nullptr, 0, nullptr,
                                nullptr, nullptr),
            VARVE_OK);
  const Session session = Session::open(restored, "s");
  EXPECT_EQ(session.query(R"({"vector":[1,0]})").ids(), "b a");
  // And out of memory again.
  const std::string again = backups.path() + "/again";
  ASSERT_EQ(varve_store_backup(restored.get(), again.data(), again.size(), nullptr, 0, nullptr,
                               nullptr, nullptr),
            VARVE_OK);
  const Store last(again);
  EXPECT_EQ(Session::open(last, "s").query(R"({"vector":[1,0]})").ids(), "b a");
}

TEST(VectorFiles, APurgeLeavesNoByteOfThemInAnyFile) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  const Values secret{1.2345678F, -8.7654321F, 3.1415927F};
  const std::string bytes(reinterpret_cast<const char*>(secret.data()), 12);
  const auto files_with_it = [&] {
    size_t count = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory.path())) {
      if (!file.is_regular_file()) continue;
      count +=
          read_file(file.path().string()).find(bytes) != std::string::npos ? size_t{1} : size_t{0};
    }
    return count;
  };
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add(entry("b")).ok());
  ASSERT_TRUE(put(session, "a", secret).ok());
  ASSERT_TRUE(put(session, "b", {1, 2, 3}).ok());
  EXPECT_EQ(files_with_it(), 1U);
  ASSERT_TRUE(session.remove("a").ok());
  ASSERT_EQ(varve_session_purge(session.get(), nullptr, 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_EQ(files_with_it(), 0U);
  EXPECT_EQ(session.query(R"({"vector":[1,2,3]})").ids(), "b");
}

TEST(VectorFiles, OfAnotherProcessAreSeen) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add(entry("b")).ok());
  ASSERT_TRUE(put(session, "a", {1, 1}).ok());
  EXPECT_EQ(session.query(R"({"vector":[1,0]})").ids(), "a");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A store of its own: handles do not pass a fork.
    const Store own(directory.path());
    const Session opened = Session::open(own, "s");
    const bool done = put(opened, "b", {1, 0}).ok() && put(opened, "a", {0, 1}).ok();
    _exit(done ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(session.query(R"({"vector":[1,0]})").ids(), "b a");
}

}  // namespace
}  // namespace varve_test
