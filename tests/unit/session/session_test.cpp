// What a session answers, over every storage alike.
#include "session/session.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "session_place.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

class SessionSuite : public OverPlaces {
 protected:
  static json::Tree parsed(std::string_view line) {
    auto tree = json::Tree::parse(line);
    EXPECT_TRUE(tree.ok()) << line;
    return tree.ok() ? *tree : json::Tree();
  }
  json::Tree got(std::string_view id) {
    const auto line = session_->get(id);
    EXPECT_TRUE(line.ok()) << line.status().message();
    return line.ok() ? parsed(*line) : json::Tree();
  }
  int64_t entry_count() { return session_->stats()->get_int64("entries"); }
};

INSTANTIATE_TEST_SUITE_P(Over, SessionSuite, kEveryPlace, place_name);

TEST_P(SessionSuite, AnAddedEntryComesBackAsItIsStored) {
  const auto id = session_->add(R"({"type":"decision","content":{"b":[1,2],"a":"é"},"tags":["x.y"],
                                    "importance":0.9,"mine":{"kept":true}})");
  ASSERT_TRUE(id.ok()) << id.status().message();
  const auto line = session_->get(*id);
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*line + "\n", place_.entries());
  const json::Tree entry = parsed(*line);
  EXPECT_EQ(entry.get_string("id"), *id);
  EXPECT_EQ(entry.get_string("session_id"), kSessionId);
  EXPECT_EQ(entry.get_int64("seq"), 1);
  EXPECT_EQ(entry.get_string("timestamp"), format_rfc3339(test::kStartMs));
  EXPECT_EQ(member(entry, "content").canonical(), R"({"a":"é","b":[1,2]})");
  EXPECT_EQ(member(entry, "mine").canonical(), R"({"kept":true})");
  reopen();
  EXPECT_EQ(*session_->get(*id), *line);
}

TEST_P(SessionSuite, SequenceNumbersHaveNoGaps) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_EQ(session_->add(entry_text("a")).code(), Code::kAlreadyExists);
  ASSERT_TRUE(session_->add_batch("[" + entry_text("b") + "," + entry_text("c") + "]").ok());
  reopen();
  ASSERT_TRUE(session_->add(entry_text("d")).ok());
  int64_t seq = 1;
  for (const auto id : {"a", "b", "c", "d"}) EXPECT_EQ(got(id).get_int64("seq"), seq++);
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(SessionSuite, AnUnknownIdIsNotFoundAndAMalformedOneIsRefused) {
  EXPECT_EQ(session_->get("nobody").code(), Code::kNotFound);
  for (const std::string id : {"", "-a", "a b", "../x", "a/b", "\xc3\xa9"}) {
    EXPECT_EQ(session_->get(id).code(), Code::kInvalidArgument) << id;
    EXPECT_EQ(session_->remove(id, "").code(), Code::kInvalidArgument) << id;
  }
  EXPECT_EQ(session_->get(std::string(129, 'a')).code(), Code::kInvalidArgument);
}

TEST_P(SessionSuite, ADeletedEntryIsGoneAndItsTombstoneHoldsNoContent) {
  ASSERT_TRUE(session_->add(entry_text("a", "a secret")).ok());
  ASSERT_TRUE(session_->remove("a", "user request").ok());
  const auto gone = session_->get("a");
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_NE(gone.status().message().find("was deleted"), std::string::npos);
  EXPECT_EQ(session_->remove("a", "again").code(), Code::kNotFound);
  EXPECT_EQ(session_->remove("never", "").code(), Code::kNotFound);
  const json::Tree tombstone =
      parsed(place_.tombstones().substr(0, place_.tombstones().size() - 1));
  EXPECT_EQ(tombstone.get_string("id"), "a");
  EXPECT_EQ(tombstone.get_string("reason"), "user request");
  EXPECT_EQ(tombstone.get_string("timestamp"), format_rfc3339(test::kStartMs));
  EXPECT_EQ(place_.tombstones().find("secret"), std::string::npos);
  reopen();
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound);
  EXPECT_EQ(*exported_text(*session_, "jsonl"), "");
}

TEST_P(SessionSuite, AReasonHasALimit) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  const Status refused = session_->remove("a", std::string(1025, 'r'));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.place().member, "reason");
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_TRUE(session_->remove("a", std::string(1024, 'r')).ok());
}

TEST_P(SessionSuite, AnIdIsUsedOnceEver) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  ASSERT_TRUE(session_->remove("b", "").ok());
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(session_->add(entry_text("a")).code(), Code::kAlreadyExists);
    const auto again = session_->add(entry_text("b"));
    EXPECT_EQ(again.code(), Code::kAlreadyExists);
    EXPECT_NE(again.status().message().find("was deleted"), std::string::npos);
    EXPECT_EQ(session_->add_batch("[" + entry_text("b") + "]").code(), Code::kAlreadyExists);
    reopen();
  }
  EXPECT_EQ(entry_count(), 1);
}

TEST_P(SessionSuite, ABatchIsAddedWholeAndInOrder) {
  const auto ids =
      session_->add_batch("[" + entry_text("a") + "," + R"({"type":"message","content":1})" + "," +
                          entry_text("c") + "]");
  ASSERT_TRUE(ids.ok());
  const json::Tree list = *json::Tree::parse(*ids);
  ASSERT_EQ(list.items().size(), 3u);
  EXPECT_EQ(list.items()[0].text(), "a");
  EXPECT_EQ(list.items()[2].text(), "c");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(member(got(list.items()[i].text()), "batch").canonical(),
              R"({"i":)" + std::to_string(i) + R"(,"n":3})");
  }
  EXPECT_EQ(host_.counters.commits.load(), 1u);
}

TEST_P(SessionSuite, ABatchOfOneIsAnEntryLikeAnyOther) {
  ASSERT_TRUE(session_->add_batch("[" + entry_text("a") + "]").ok());
  EXPECT_EQ(got("a").get("batch"), nullptr);
}

TEST_P(SessionSuite, ABatchMayBeJsonLines) {
  const auto ids = session_->add_batch("\r\n" + entry_text("a") + "\r\n\n  \n" + entry_text("b") +
                                       "\n" + entry_text("c"));
  ASSERT_TRUE(ids.ok()) << ids.status().message();
  EXPECT_EQ(*ids, R"(["a","b","c"])");
  EXPECT_EQ(entry_count(), 3);
}

TEST_P(SessionSuite, AnEmptyBatchAddsNothing) {
  for (const std::string text : {"", "[]", " \n \n"}) {
    const auto ids = session_->add_batch(text);
    ASSERT_TRUE(ids.ok()) << text;
    EXPECT_EQ(*ids, "[]");
  }
  EXPECT_EQ(place_.entries(), "");
}

TEST_P(SessionSuite, ABatchIsToldWhichOfItsIdsCannotBeUsed) {
  ASSERT_TRUE(session_->add(entry_text("taken")).ok());
  const auto taken = session_->add_batch("[" + entry_text("a") + "," + entry_text("taken") + "]");
  EXPECT_EQ(taken.status().message(), "an entry 'taken' exists already");
  EXPECT_EQ(taken.status().place().member, "[1].id");
  const auto only = session_->add_batch("[" + entry_text("taken") + "]");
  EXPECT_EQ(only.status().place().member, "[0].id");
  const auto twice = session_->add_batch("[" + entry_text("a") + "," + entry_text("a") + "]");
  EXPECT_EQ(twice.status().message(), "the id 'a' is given twice in this batch");
  EXPECT_EQ(twice.status().place().member, "[1].id");
  const auto line = session_->add_batch(entry_text("a") + "\n \n" + entry_text("a") + "\n");
  EXPECT_EQ(line.status().message(), "line 3: the id 'a' is given twice in this batch");
  EXPECT_EQ(line.status().place().member, "id");
  EXPECT_EQ(line.status().place().line, 3u);
  EXPECT_EQ(line.status().place().offset, entry_text("a").size() + 3);
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound);
}

TEST_P(SessionSuite, ABatchWithOneWrongEntryAddsNothing) {
  ASSERT_TRUE(session_->add(entry_text("taken")).ok());
  const std::string before = place_.entries();
  const auto wrong = session_->add_batch("[" + entry_text("a") +
                                         R"(,{"type":"message","content":1,"tags":["a b"]}])");
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.status().place().member, "[1].tags[0]");
  const auto taken = session_->add_batch(entry_text("b") + "\n" + entry_text("taken"));
  EXPECT_EQ(taken.code(), Code::kAlreadyExists);
  const auto twice = session_->add_batch(entry_text("c") + "\n" + entry_text("c"));
  EXPECT_EQ(twice.code(), Code::kAlreadyExists);
  const auto line = session_->add_batch(entry_text("d") + "\n{\"type\":\"message\"}\n");
  EXPECT_EQ(line.code(), Code::kInvalidArgument);
  EXPECT_EQ(line.status().place().line, 2u);
  EXPECT_GE(line.status().place().offset.value_or(0), entry_text("d").size() + 1);
  EXPECT_EQ(place_.entries(), before);
  EXPECT_EQ(entry_count(), 1);
  for (const auto id : {"a", "b", "c", "d"}) EXPECT_EQ(session_->get(id).code(), Code::kNotFound);
}

TEST_P(SessionSuite, ARefusedEntryWritesNothingAndSaysWhere) {
  const auto refused = session_->add(R"({"type":"message","content":1,"importance":2})");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().place().member, "importance");
  EXPECT_EQ(refused.status().place().offset, 43u);
  EXPECT_EQ(session_->add("{").code(), Code::kInvalidArgument);
  EXPECT_EQ(session_->add(R"({"type":"message","content":1,"session_id":"other"})").code(),
            Code::kInvalidArgument);
  EXPECT_EQ(session_->add(R"({"type":"message","content":1,"schema_version":2})").code(),
            Code::kFormatVersion);
  EXPECT_EQ(place_.entries(), "");
}

TEST_P(SessionSuite, AnExpiredEntryIsGoneForEveryReader) {
  ASSERT_TRUE(session_
                  ->add(R"({"id":"a","type":"message","content":1,"expires_at":")" +
                        format_rfc3339(test::kStartMs + 1000) + R"("})")
                  .ok());
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  host_.clock.advance_ms(999);
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_EQ(session_->stats()->get_int64("expired"), 0);
  host_.clock.advance_ms(1);
  const auto gone = session_->get("a");
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_NE(gone.status().message().find("has expired"), std::string::npos);
  EXPECT_EQ(session_->remove("a", "").code(), Code::kNotFound);
  EXPECT_EQ(session_->add(entry_text("a")).code(), Code::kAlreadyExists);
  EXPECT_EQ(exported_text(*session_, "jsonl")->find("\"id\":\"a\""), std::string::npos);
  EXPECT_EQ(session_->stats()->get_int64("expired"), 1);
  EXPECT_EQ(entry_count(), 1);
  reopen();
  EXPECT_EQ(session_->get("a").code(), Code::kNotFound);
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(SessionSuite, AClockThatGoesBackKeepsTheOrderAndTheIds) {
  const auto first = session_->add(R"({"type":"message","content":1})");
  host_.clock.set_now_ms(test::kStartMs - 86'400'000);
  const auto second = session_->add(R"({"type":"message","content":2})");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_LT(*first, *second);
  EXPECT_LT(got(*second).get_string("timestamp"), got(*first).get_string("timestamp"));
  EXPECT_LT(got(*first).get_int64("seq"), got(*second).get_int64("seq"));
  session_->close();
  reopen();
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
  const std::string text = *exported_text(*session_, "jsonl");
  EXPECT_LT(text.find(*first), text.find(*second));
}

TEST_P(SessionSuite, AnEntryHasALimit) {
  host_.context.settings.entry_bytes_max = 1000;
  reopen();
  const auto refused = session_->add(entry_text("big", std::string(1000, 'x')));
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().limit, 1000u);
  EXPECT_GT(refused.status().place().size.value_or(0), 1000u);
  EXPECT_TRUE(session_->add(entry_text("small", std::string(300, 'x'))).ok());
  host_.context.settings.entry_bytes_max = 0;
  reopen();
  EXPECT_TRUE(session_->add(entry_text("big", std::string(3 << 20, 'x'))).ok());
  EXPECT_EQ(got("big").get_string("content").size(), size_t{3} << 20);
}

TEST_P(SessionSuite, ASessionHasALimitAndDeletingStillWorksWhenItIsFull) {
  host_.context.settings.session_bytes_max = 2000;
  reopen();
  int added = 0;
  Status refused;
  while (refused.ok() && added < 100) {
    auto result = session_->add(entry_text("e" + std::to_string(added)));
    if (result.ok()) {
      added += 1;
    } else {
      refused = std::move(result).status();
    }
  }
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.place().limit, 2000u);
  EXPECT_GT(added, 3);
  EXPECT_LE(place_.entries().size(), 2000u);
  EXPECT_EQ(entry_count(), added);
  EXPECT_TRUE(session_->remove("e0", "").ok());
  EXPECT_EQ(session_->add_batch("[" + entry_text("x") + "," + entry_text("y") + "]").code(),
            Code::kSizeLimit);
}

TEST_P(SessionSuite, LargeEntriesComeBack) {
  std::string content;
  for (int i = 0; content.size() < 350'000; ++i) content += std::to_string(i) + "\u20ac\n";
  ASSERT_TRUE(session_->add(entry_text("a", content)).ok());
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  reopen();
  EXPECT_EQ(got("a").get_string("content"), content);
  EXPECT_TRUE(session_->get("b").ok());
}

TEST_P(SessionSuite, ClosingTwiceAndUsingAfterwardsIsFine) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  session_->close();
  session_->close();
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_TRUE(session_->add(entry_text("b")).ok());
  reopen();
  EXPECT_EQ(entry_count(), 2);
}

// --- two Session objects, as two processes would have them ---------------------------------------

TEST_P(SessionSuite, OthersSeeWhatIsAddedAndDeletedAtOnce) {
  const auto other = place_.open();
  for (int i = 0; i < 20; ++i) {
    const std::string id = "e" + std::to_string(i);
    Session& writer = i % 2 == 0 ? *session_ : *other;
    Session& reader = i % 2 == 0 ? *other : *session_;
    ASSERT_TRUE(writer.add(entry_text(id)).ok());
    ASSERT_EQ(*reader.get(id), *writer.get(id));
    ASSERT_EQ(reader.add(entry_text(id)).code(), Code::kAlreadyExists);
    if (i % 3 == 0) {
      ASSERT_TRUE(reader.remove(id, "").ok());
      ASSERT_EQ(writer.get(id).code(), Code::kNotFound);
      ASSERT_EQ(writer.remove(id, "").code(), Code::kNotFound);
    }
  }
  EXPECT_EQ(*exported_text(*session_, "jsonl"), *exported_text(*other, "jsonl"));
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
  EXPECT_EQ(session_->verify()->get_int64("last_seq"), 20);
}

TEST_P(SessionSuite, OthersSeeChangedMetadata) {
  const auto other = place_.open();
  ASSERT_TRUE(other->update(R"({"title":"new","mine":[1]})").ok());
  EXPECT_EQ(session_->metadata()->get_string("title"), "new");
  ASSERT_TRUE(session_->update(R"({"title":"newer"})").ok());
  const auto metadata = other->metadata();
  EXPECT_EQ(metadata->get_string("title"), "newer");
  EXPECT_EQ(member(*metadata, "mine").canonical(), "[1]");
}

TEST_P(SessionSuite, AHeldLockIsBusyAtTheDeadlineAndReadersGoOn) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  host_.context.settings.lock_timeout_ms = GetParam() == PlaceKind::kMemory ? 1 : 5000;
  const auto waiting = place_.open();
  auto holder = place_.storage();
  ASSERT_TRUE(holder.ok());
  ASSERT_TRUE((*holder)->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
  const int64_t before_us = host_.clock.monotonic_us();
  EXPECT_EQ(waiting->add(entry_text("b")).code(), Code::kBusy);
  if (GetParam() != PlaceKind::kMemory) {  // memory waits by the system's clock
    EXPECT_EQ(host_.clock.monotonic_us() - before_us, 5'000'000);
  }
  EXPECT_EQ(waiting->remove("a", "").code(), Code::kBusy);
  EXPECT_EQ(waiting->update(R"({"title":"x"})").code(), Code::kBusy);
  EXPECT_TRUE(waiting->get("a").ok());
  EXPECT_TRUE(exported_text(*waiting, "jsonl").ok());
  EXPECT_EQ(host_.counters.lock_timeouts.load(), 3u);
  (*holder)->unlock();
  EXPECT_TRUE(waiting->add(entry_text("b")).ok());
  EXPECT_TRUE(session_->get("b").ok());
}

// Nobody hears the status of a close: what a power loss may take is told to the log function.
TEST_P(SessionSuite, ClosingWithoutTheLockTellsThatEntriesAreNotSynced) {
  const auto lines_of_close = [&](log::Durability durability) {
    host_.context.settings.lock_timeout_ms = 1;
    host_.context.settings.durability = durability;
    auto closing = place_.open();
    EXPECT_TRUE(closing->add(entry_text("a" + std::to_string(static_cast<int>(durability)))).ok());
    auto holder = place_.storage();
    EXPECT_TRUE((*holder)->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
    std::string lines;
    host_.events.set_receiver(
        Level::kWarn,
        [](void* data, int32_t, const char* line, size_t length) {
          static_cast<std::string*>(data)->append(line, length).append("\n");
        },
        &lines);
    closing.reset();
    host_.events.deliver();
    host_.events.set_receiver(Level::kWarn, nullptr, nullptr);
    (*holder)->unlock();
    return lines;
  };
  const std::string unsynced = lines_of_close(log::Durability::kOs);
  EXPECT_NE(unsynced.find("closed without saving"), std::string::npos) << unsynced;
  EXPECT_NE(unsynced.find("ERROR"), std::string::npos) << unsynced;
  const std::string synced = lines_of_close(log::Durability::kCommit);
  EXPECT_NE(synced.find("closed without saving"), std::string::npos) << synced;
  EXPECT_EQ(synced.find("ERROR"), std::string::npos) << synced;
}

TEST_P(SessionSuite, ARepairByAnotherIsNoticed) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  const auto other = place_.open();
  {
    auto storage = place_.storage();
    ASSERT_TRUE(storage.ok());
    ASSERT_TRUE((*storage)->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
    ASSERT_TRUE((*storage)
                    ->append(log::Stream::kEntries, place_.entries().size(),
                             "{\"id\":\"damaged\"}\n", true, 0)
                    .ok());
    (*storage)->unlock();
  }
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  ASSERT_TRUE(other->get("b").ok());
  const auto report = other->repair(false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->get_bool("changed"));
  EXPECT_EQ(report->get_int64("quarantined"), 1);
  EXPECT_EQ(place_.entries().find("damaged"), std::string::npos);
  // `session_` has the old log open: it must write to the new one.
  ASSERT_TRUE(session_->add(entry_text("c")).ok());
  for (const auto id : {"a", "b", "c"}) {
    EXPECT_TRUE(session_->get(id).ok()) << id;
    EXPECT_TRUE(other->get(id).ok()) << id;
  }
  EXPECT_TRUE(other->verify()->get_bool("ok"));
  EXPECT_EQ(lines_of(place_.entries()).size(), 3u);
}

// --- durability ----------------------------------------------------------------------------------

struct StoreWithFlusher final : StoreServices {
  Result<std::optional<log::SessionRow>> find_listed(std::string_view) override {
    if (!list.ok()) return list;
    return std::optional<log::SessionRow>();
  }
  Status start_flusher() override {
    starts += 1;
    return start;
  }
  bool is_own_file(std::string_view) override { return false; }
  Status remove_left_overs() override { return {}; }

  Status list;
  Status start;
  int starts = 0;
};

TEST_P(SessionSuite, DurabilityOfTheSessionOverridesTheStoresAtOnceAndLater) {
  StoreWithFlusher store;
  host_.context.store = &store;
  reopen();
  for (const auto* const name : {"interval", "os", "commit"}) {
    store.starts = 0;
    ASSERT_TRUE(session_->update(R"({"durability":")" + std::string(name) + "\"}").ok());
    const int wanted_starts = std::string_view(name) == "interval" ? 1 : 0;
    EXPECT_EQ(session_->stats()->get_string("durability"), name) << "of the session that is open";
    EXPECT_EQ(std::exchange(store.starts, 0), wanted_starts) << name;
    reopen();
    EXPECT_EQ(session_->stats()->get_string("durability"), name);
    EXPECT_EQ(std::exchange(store.starts, 0), wanted_starts) << name;
  }
  session_.reset();  // before its store
}

TEST_P(SessionSuite, WithoutAFlusherNoSessionGetsDurabilityInterval) {
  ASSERT_TRUE(session_->update(R"({"durability":"os"})").ok());
  StoreWithFlusher store;
  store.start = Status(Code::kNoMemory, "no thread");
  host_.context.store = &store;
  reopen();
  const Status updated = session_->update(R"({"durability":"interval","title":"new"})");
  EXPECT_EQ(updated.code(), Code::kNoMemory) << updated.message();
  EXPECT_EQ(session_->stats()->get_string("durability"), "os");
  EXPECT_EQ(session_->metadata()->get_string("durability"), "os");
  EXPECT_EQ(session_->metadata()->get("title"), nullptr);
  EXPECT_TRUE(session_->update(R"({"title":"new"})").ok());
  session_.reset();  // before its store
}

// It may name the session's user, without whom it would be everybody's.
TEST(SessionOfAStore, ThatCannotTellWhatItListsIsNotOpenedWithoutItsMetadata) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  ASSERT_TRUE(disk.open()->add(entry_text("a")).ok());
  disk.write("metadata.json", "{");
  StoreWithFlusher store;
  store.list = Status(Code::kIo, "no list");
  host.context.store = &store;
  EXPECT_EQ(disk.try_open().code(), Code::kIo);
  EXPECT_EQ(disk.bytes("metadata.json"), "{");
  store.list = Status();
  const auto session = disk.open();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->get("a").ok());
}

// Another process, whose store could start one.
TEST(SessionOfAStore, WithoutAFlusherIntervalByAnotherMakesEachWriteDurable) {
  Host host;
  host.context.settings.durability = log::Durability::kOs;
  SessionDisk disk(host);
  disk.make();
  const auto process = disk.disk.process(4711);
  const auto other = disk.open(process.get());
  StoreWithFlusher store;
  store.start = Status(Code::kNoMemory, "no thread");
  host.context.store = &store;
  const auto session = disk.open();
  ASSERT_TRUE(other->update(R"({"durability":"interval"})").ok());
  const auto added = session->add(entry_text("a"));
  ASSERT_TRUE(added.ok()) << added.status().message();
  EXPECT_EQ(store.starts, 1);
  EXPECT_EQ(session->stats()->get_string("durability"), "commit");
  EXPECT_EQ(session->stats()->get_int64("durable_seq"), 1);
}

TEST_P(SessionSuite, AStricterDurabilityHoldsForWhatWasAnsweredAndForWhatFollows) {
  host_.context.settings.durability = log::Durability::kOs;
  reopen();
  const auto durable_seq = [&] { return session_->stats()->get_int64("durable_seq"); };
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->update(R"({"title":"not about durability"})").ok());
  if (GetParam() != PlaceKind::kMemory) {
    EXPECT_EQ(durable_seq(), 0);
  }
  ASSERT_TRUE(session_->update(R"({"durability":"commit"})").ok());
  EXPECT_EQ(durable_seq(), 1);
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  EXPECT_EQ(durable_seq(), 2);
  ASSERT_TRUE(session_->update(R"({"durability":null})").ok());
  EXPECT_EQ(session_->stats()->get_string("durability"), "os") << "as the store's configuration";
}

TEST_P(SessionSuite, FlushSyncsOnceAndOnlyWhenThereIsSomething) {
  host_.context.settings.durability = log::Durability::kInterval;
  reopen();
  ASSERT_TRUE(session_->flush().ok());
  EXPECT_EQ(host_.counters.syncs.load(), 0u);
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->remove("a", "").ok());
  EXPECT_EQ(host_.counters.syncs.load(), 0u);
  ASSERT_TRUE(session_->flush().ok());
  ASSERT_TRUE(session_->flush().ok());
  EXPECT_EQ(host_.counters.syncs.load(), 1u);
  EXPECT_EQ(session_->stats()->get_int64("durable_seq"), 1);
}

}  // namespace
}  // namespace varve::session
