// The list of sessions: whose each is. Its pages are in store_test.cpp.
#include "store/session_list.h"

#include <gtest/gtest.h>

#include <string>

#include "backup_rig.h"

namespace varve::store {
namespace {

class SessionList : public BackupFixture {};

// Two users may ask for an id in one millisecond: both rows are there, and one session.
TEST_F(SessionList, TellsWhoseASessionIsByItsMetadata) {
  const auto store = open("store");
  ASSERT_TRUE(
      store->create_session(R"({"session_id":"notes","user_id":"ann","agent_id":"cook"})").ok());
  const std::string list = file("store/indices/sessions.jsonl");
  std::string others = list;
  others.replace(others.find("ann"), 3, "bob").replace(others.find("cook"), 4, "maid");
  disk_.write_file("store/indices/sessions.jsonl", list + others);

  const auto page = store->sessions({});
  ASSERT_TRUE(page.ok()) << page.status().message();
  const auto& listed = page->get("sessions")->items();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].get_string("user_id"), "ann");
  EXPECT_EQ(listed[0].get_string("agent_id"), "cook");
  EXPECT_TRUE(store->sessions(R"({"user_id":"bob"})")->get("sessions")->items().empty());
}

TEST_F(SessionList, TellsWhoseASessionIsByItsRowWhereItsMetadataCannotBeRead) {
  const auto store = open("store");
  ASSERT_TRUE(
      store->create_session(R"({"session_id":"notes","user_id":"ann","agent_id":"cook"})").ok());
  disk_.write_file("store/sessions/notes/metadata.json", "damaged");
  const auto page = store->sessions({});
  ASSERT_TRUE(page.ok()) << page.status().message();
  const auto& listed = page->get("sessions")->items();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].get_string("user_id"), "ann");
  EXPECT_EQ(listed[0].get_string("agent_id"), "cook");
}

}  // namespace
}  // namespace varve::store
