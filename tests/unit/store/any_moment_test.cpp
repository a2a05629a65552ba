// What another process does at any moment of a call: before each operation on files that the call
// makes, in turn.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "unit/store/catalog_rig.h"

namespace varve::store {
namespace {

constexpr int64_t kHourMs = 3'600'000;

std::string entry(const std::string& id) {
  return R"({"id":")" + id + R"(","type":"finding","content":"x"})";
}

class AtAnyMoment : public CatalogFixture {
 protected:
  using Step = std::function<void(const std::string& id)>;

  void SetUp() override {
    store_ = open(disk_);
    other_ = open(*other_disk_);
  }

  // Before the first operation of `call` the other process does `meanwhile`, then, with another
  // session of that id, before the second, until there are no more.
  void run(const Step& prepare, const Step& call, const Step& meanwhile, const Step& check) {
    bool came_in_between = true;
    uint64_t nth = 1;
    for (; came_in_between && !HasFailure(); ++nth) {
      const std::string id = "s";
      prepare(id);
      uint64_t count = 0;
      came_in_between = false;
      disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        if (operation.process_id == other_disk_->process_id() || came_in_between) return {};
        if (++count != nth) return {};
        came_in_between = true;
        meanwhile(id);
        return {};
      });
      call(id);
      disk_.set_fault_hook({});
      if (came_in_between) check(id);
      (void)other_->delete_session(id).ok();
    }
    EXPECT_GT(nth, 20u) << "hardly any operations";
  }
  void make_expired(const std::string& id) {
    make(*store_, id, R"(,"ttl_hours":1)");
    clock_.advance_ms(2 * kHourMs);
  }
  // What the other process is answered counts.
  void make_anew(const std::string& id) {
    const auto made = other_->create_session(R"({"session_id":")" + id +
                                             R"(","ttl_hours":1,"if_exists":"open"})");
    is_added_ = made.ok() && (*made)->add(entry("a")).ok();
    added_count_ += is_added_ ? 1 : 0;
  }
  void expect_the_new_one(const std::string& id) {
    if (!is_added_) return;
    const auto found = other_->open_session(id);
    ASSERT_TRUE(found.ok()) << id << ": " << found.status().message();
    EXPECT_TRUE((*found)->get("a").ok()) << id;
  }

  // Where the list has to tell whose the session is.
  void expect_owner_without_metadata(const std::string& id, const std::string& user) {
    const auto disk = disk_.copy();
    ASSERT_TRUE((*disk->open_root("store/sessions/" + id, false))->remove("metadata.json").ok());
    const auto store = open(*disk);
    const auto found = store->open_session(id);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ((*found)->metadata()->get_string("user_id"), user) << id;
  }

  std::shared_ptr<Store> store_;
  std::shared_ptr<Store> other_;
  bool is_added_ = false;
  int added_count_ = 0;
};

TEST_F(AtAnyMoment, OneThatExpiredIsMadeAnewBesideACreate) {
  run([&](const std::string& id) { make_expired(id); },
      [&](const std::string& id) {
        (void)store_->create_session(R"({"session_id":")" + id + R"("})").ok();
      },
      [&](const std::string& id) { make_anew(id); },
      [&](const std::string& id) { expect_the_new_one(id); });
  EXPECT_GT(added_count_, 10);
}

TEST_F(AtAnyMoment, OneThatExpiredIsMadeAnewBesideASweep) {
  run([&](const std::string& id) { make_expired(id); },
      [&](const std::string&) { EXPECT_TRUE(store_->sweep().ok()); },
      [&](const std::string& id) { make_anew(id); },
      [&](const std::string& id) { expect_the_new_one(id); });
  EXPECT_GT(added_count_, 10);
}

// In the same millisecond, too.
TEST_F(AtAnyMoment, OneIsMadeByTwoUsers) {
  std::string winner;
  const auto make_of = [&](Store& store, const std::string& id, const std::string& user) {
    const auto made =
        store.create_session(R"({"session_id":")" + id + R"(","user_id":")" + user + R"("})");
    if (made.ok()) winner = user;
  };
  run([&](const std::string&) { winner = ""; },
      [&](const std::string& id) { make_of(*store_, id, "ann"); },
      [&](const std::string& id) { make_of(*other_, id, "bob"); },
      [&](const std::string& id) {
        for (const std::string user : {"ann", "bob"}) {
          const auto listed = store_->sessions(R"({"user_id":")" + user + R"("})");
          ASSERT_TRUE(listed.ok()) << listed.status().message();
          std::string ids;
          for (const auto& one : listed->get("sessions")->items()) {
            ids += one.get_string("session_id") + " ";
          }
          EXPECT_EQ((" " + ids).find(" " + id + " ") != std::string::npos, user == winner)
              << id << " of " << winner << " in those of " << user;
        }
        expect_owner_without_metadata(id, winner);
      });
}

TEST_F(AtAnyMoment, OneIsReplacedBesideItsDeletion) {
  Status deleted;
  bool is_restored = false;
  run(
      [&](const std::string& id) {
        make(*store_, id);
        ASSERT_TRUE(other_->back_up("copy", R"({"sessions":[")" + id + R"("]})").ok());
      },
      [&](const std::string& id) { deleted = store_->delete_session(id); },
      [&](const std::string& id) {
        is_restored =
            other_->restore("copy", R"({"overwrite":true,"sessions":[")" + id + R"("]})").ok();
      },
      [&](const std::string& id) {
        EXPECT_TRUE(!is_restored || deleted.code() != Code::kNotFound) << id << " was always there";
      });
}

// A restore that is answered with a failure restored nothing.
TEST_F(AtAnyMoment, OneIsTakenBesideItsRestore) {
  const auto opened = Store::open("store", R"({"concurrency":{"exclusive":true}})",
                                  {other_disk_.get(), &clock_, &random_});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  std::shared_ptr<session::Session> held;
  Result<json::Tree> restored = Status();
  run(
      [&](const std::string& id) {
        held = nullptr;
        make(*store_, id);
        ASSERT_TRUE(store_->back_up("copy", R"({"sessions":[")" + id + R"("]})").ok());
      },
      [&](const std::string& id) {
        restored = store_->restore("copy", R"({"overwrite":true,"sessions":[")" + id + R"("]})");
      },
      [&](const std::string& id) {
        auto session = (*opened)->open_session(id);
        if (session.ok()) held = *std::move(session);
      },
      [&](const std::string& id) {
        held = nullptr;
        const auto present = other_->open_session(id);
        ASSERT_TRUE(present.ok()) << present.status().message();
        const bool is_restored = (*present)->metadata()->get("restored_at") != nullptr;
        EXPECT_EQ(restored.ok(), is_restored) << id << ": " << restored.status().message();
      });
}

// Two that make their first backup into one directory.
TEST_F(AtAnyMoment, ABackupIsMadeBesideAnother) {
  Result<json::Tree> made = Status();
  bool is_other_made = false;
  int copies = 0;
  std::string path;
  make(*store_, "notes");
  run([&](const std::string&) { path = "copy-" + std::to_string(++copies); },
      [&](const std::string&) { made = store_->back_up(path, ""); },
      [&](const std::string&) { is_other_made = other_->back_up(path, "").ok(); },
      [&](const std::string&) {
        EXPECT_TRUE(made.ok() || made.code() == Code::kBusy) << made.status().message();
        EXPECT_TRUE(made.ok() || is_other_made);
      });
}

}  // namespace
}  // namespace varve::store
