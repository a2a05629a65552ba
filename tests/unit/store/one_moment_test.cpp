// What one call answers is what there was at one moment, whatever another process does meanwhile.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {
namespace {

constexpr int64_t kReader = 1;
constexpr int64_t kWriter = 2;

class OneMoment : public testing::Test {
 protected:
  void begin() {
    reader_.reset();
    writer_.reset();
    reader_store_.reset();
    writer_store_.reset();
    disk_ = std::make_unique<io::SimulatedFileSystem>();
    reader_disk_ = disk_->process(kReader);
    writer_disk_ = disk_->process(kWriter);
    writer_store_ = *Store::open("store", "", {writer_disk_.get(), &clock_, &random_});
    writer_ = *writer_store_->create_session(R"({"session_id":"notes"})");
    add("old");
    reader_store_ = *Store::open("store", "", {reader_disk_.get(), &clock_, &random_});
    reader_ = *reader_store_->open_session("notes");
    ASSERT_TRUE(reader_->get("old").ok());
  }
  void add(const std::string& id) {
    ASSERT_TRUE(writer_->add(R"({"id":")" + id + R"(","type":"note","content":"x"})").ok());
  }

  // Before one operation of the reader after another the writer works, and then `check` looks at
  // what the reader's export says.
  void at_each_operation(const std::function<void()>& write,
                         const std::function<void(const std::string& found)>& check) {
    int moment = 0;
    for (bool came_to_it = true; came_to_it && !HasFailure(); ++moment) {
      SCOPED_TRACE(moment);
      begin();
      add("seen");  // so that there is something to catch up with
      came_to_it = false;
      disk_->set_fault_hook(
          [&,
           left = moment](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
            if (operation.process_id != kReader || left-- != 0) return std::nullopt;
            came_to_it = true;
            write();
            return std::nullopt;
          });
      const auto text = exported_text(*reader_, "jsonl");
      disk_->set_fault_hook(nullptr);
      ASSERT_TRUE(text.ok()) << text.status().message();
      check(*text);
    }
    EXPECT_GT(moment, 3);
  }
  static bool has(const std::string& text, const std::string& id) {
    return text.find("\"id\":\"" + id + "\"") != std::string::npos;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  std::unique_ptr<io::SimulatedFileSystem> disk_;
  std::unique_ptr<io::SimulatedFileSystem> reader_disk_;
  std::unique_ptr<io::SimulatedFileSystem> writer_disk_;
  std::shared_ptr<Store> writer_store_;
  std::shared_ptr<Store> reader_store_;
  std::shared_ptr<session::Session> writer_;
  std::shared_ptr<session::Session> reader_;
};

TEST_F(OneMoment, WhatWasDeletedBeforeALaterOneWasAddedIsNotBesideIt) {
  at_each_operation(
      [this] {
        add("first");
        ASSERT_TRUE(writer_->remove("first", "").ok());
        add("second");
      },
      [](const std::string& found) {
        EXPECT_FALSE(has(found, "first") && has(found, "second")) << found;
      });
}

TEST_F(OneMoment, WhatWasAddedBeforeADeletionIsThereWithoutWhatWasDeleted) {
  at_each_operation(
      [this] {
        add("new");
        ASSERT_TRUE(writer_->remove("old", "").ok());
      },
      [](const std::string& found) {
        EXPECT_TRUE(has(found, "old") || has(found, "new")) << found;
      });
}

}  // namespace
}  // namespace varve::store
