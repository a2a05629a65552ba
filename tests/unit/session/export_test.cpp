// Export to files outside the store: whole or not at all, in bounded memory; and by query.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "session/session.h"
#include "session_place.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr std::string_view kOut = "out/notes.jsonl";

// Counts its calls, and stops the operation at one of them.
struct Listener {
  static int32_t hear(void* self, const char* operation, uint64_t done, uint64_t total) {
    auto& listener = *static_cast<Listener*>(self);
    listener.operations.emplace_back(operation);
    listener.calls.emplace_back(done, total);
    return listener.calls.size() == listener.stop_at ? 7 : 0;
  }
  ProgressReceiver receiver() { return {&hear, this}; }

  size_t stop_at = 0;
  std::vector<std::string> operations;
  std::vector<std::pair<uint64_t, uint64_t>> calls;
};

class Export : public testing::TestWithParam<PlaceKind> {
 protected:
  void SetUp() override {
    host_.context.file_system = &outside_;
    host_.context.settings.session_bytes_max = 0;
    outside_.write_file("out/.keep", "");
    session_ = place_.open();
    ASSERT_NE(session_, nullptr);
  }
  void add(std::string_view id, std::string_view content = "hello") {
    ASSERT_TRUE(session_->add(entry_text(id, content)).ok());
  }
  // 100 entries of 100 kB.
  void fill() {
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      lines += entry_text("e" + std::to_string(i), std::string(100'000, 'x')) + "\n";
    }
    ASSERT_EQ(session_->import_text(lines)->get_int64("added"), 100);
  }
  // Names beside the one that is always there.
  std::vector<std::string> files() const {
    std::vector<std::string> names = outside_.list_all();
    std::erase_if(names, [](const std::string& name) {
      return name.ends_with('/') || name.ends_with(".keep");
    });
    return names;
  }

  io::SimulatedFileSystem outside_;
  Host host_;
  Place place_{GetParam(), host_};
  std::shared_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(Over, Export, testing::Values(PlaceKind::kSimulated, PlaceKind::kMemory),
                         place_name);

TEST_P(Export, TheFileHoldsWhatTheTextDoes) {
  for (const auto id : {"a", "b", "c"}) add(id);
  ASSERT_TRUE(session_->remove("b", "").ok());
  for (const std::string format : {"jsonl", "json", "markdown"}) {
    const std::string path = "out/notes." + format;
    const auto report = session_->export_file(path, R"({"format":")" + format + "\"}");
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(*outside_.read_file(path), *exported_text(*session_, format));
    EXPECT_EQ(report->get_int64("entries"), 2);
    EXPECT_EQ(report->get_int64("bytes"), static_cast<int64_t>(outside_.read_file(path)->size()));
    EXPECT_EQ(report->get_string("format"), format);
    EXPECT_EQ((*outside_.open_root("out", false))->info("notes." + format)->permissions, 0600U);
  }
}

TEST_P(Export, AnEmptySessionMakesAFileToo) {
  EXPECT_EQ(session_->export_file(kOut, "")->get_int64("entries"), 0);
  EXPECT_EQ(outside_.read_file(kOut), "");
  EXPECT_EQ(session_->export_file("out/e.json", R"({"format":"json"})")->get_int64("entries"), 0);
  EXPECT_TRUE(json::Tree::parse(*outside_.read_file("out/e.json"))->get("entries")->is_array());
}

TEST_P(Export, AQueryChoosesAndTheOrderIsTheLogs) {
  for (const auto id : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(session_
                    ->add(R"({"id":")" + std::string(id) + R"(","type":")" +
                          (*id == 'b' ? "message" : "finding") + R"(","content":"tea","tags":[")" +
                          (*id == 'c' ? "cold" : "hot") + R"("]})")
                    .ok());
  }
  const std::string query = R"({"types":["finding"],"tags":{"include":["hot"]},"text":"tea"})";
  const std::string lines = *exported_text(*session_, R"({"query":)" + query + "}");
  EXPECT_EQ(lines, *session_->get("a") + "\n" + *session_->get("d") + "\n");
  EXPECT_EQ(session_->export_file(kOut, R"({"query":)" + query + "}")->get_int64("entries"), 2);
  EXPECT_EQ(outside_.read_file(kOut), lines);
  for (const auto wrong : {R"({"query":{"limit":1}})", R"({"query":{"sort_by":"time"}})",
                           R"({"query":{"typ":1}})", R"({"query":"tea"})", R"({"format":"xml"})",
                           R"({"format":1})", R"({"overwite":true})", "[]", "{"}) {
    EXPECT_EQ(session_->export_file("out/x", wrong).code(), Code::kInvalidArgument) << wrong;
  }
  EXPECT_EQ(exported_text(*session_, R"({"overwrite":true})").code(), Code::kInvalidArgument);
  EXPECT_EQ(outside_.read_file("out/x"), std::nullopt);
}

TEST_P(Export, AnExistingFileIsKeptUnlessItMayBeReplaced) {
  add("a");
  outside_.write_file(kOut, "before");
  const auto refused = session_->export_file(kOut, "");
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_NE(refused.status().place().path.find("notes.jsonl"), std::string::npos);
  EXPECT_EQ(outside_.read_file(kOut), "before");
  EXPECT_TRUE(session_->export_file(kOut, R"({"overwrite":true})").ok());
  EXPECT_EQ(outside_.read_file(kOut), *session_->get("a") + "\n");
}

TEST_P(Export, AFileThatAppearsMeanwhileIsKept) {
  add("a");
  outside_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncData) outside_.write_file(kOut, "another's");
    return std::nullopt;
  });
  EXPECT_EQ(session_->export_file(kOut, "").code(), Code::kAlreadyExists);
  outside_.set_fault_hook({});
  EXPECT_EQ(outside_.read_file(kOut), "another's");
  EXPECT_EQ(files().size(), 1U);
}

TEST_P(Export, PathsThatCannotBeAreRefused) {
  add("a");
  outside_.write_file("out/folder/file", "");
  EXPECT_EQ(session_->export_file("out/folder", "").code(), Code::kIo);
  EXPECT_EQ(session_->export_file("out/folder", R"({"overwrite":true})").code(), Code::kIo);
  EXPECT_EQ(session_->export_file("out/folder/", "").code(), Code::kIo);
  EXPECT_EQ(session_->export_file("missing/file", "").code(), Code::kNotFound);
  EXPECT_EQ(session_->export_file("out/.keep/file", "").code(), Code::kIo);
  EXPECT_EQ(session_->export_file("", "").code(), Code::kInvalidArgument);
  EXPECT_EQ(files(), std::vector<std::string>{"/out/folder/file"});
}

TEST_P(Export, AFullDiskInTheMiddleLeavesNoFile) {
  fill();
  outside_.set_capacity_bytes(5'000'000);
  EXPECT_EQ(session_->export_file(kOut, "").code(), Code::kNoSpace);
  EXPECT_EQ(files(), std::vector<std::string>{});
  outside_.set_capacity_bytes(std::nullopt);
  EXPECT_TRUE(session_->export_file(kOut, "").ok());
}

TEST_P(Export, EveryFailureLeavesNoFileOrTheWhole) {
  for (const auto id : {"a", "b"}) add(id);
  const std::string whole = *exported_text(*session_, "jsonl");
  uint64_t operations = 0;
  {
    const io::FailNth count(0, EIO);
    outside_.set_fault_hook(count);
    ASSERT_TRUE(session_->export_file(kOut, "").ok());
    operations = count.matched();
  }
  ASSERT_GT(operations, 5U);
  for (uint64_t n = 1; n <= operations; ++n) {
    SCOPED_TRACE(n);
    outside_.set_fault_hook({});
    (void)(*outside_.open_root("out", false))->remove("notes.jsonl").ok();
    outside_.set_fault_hook(io::FailNth(n, EIO));
    const auto report = session_->export_file(kOut, "");
    outside_.set_fault_hook({});
    const auto left = outside_.read_file(kOut);
    // Only when the last sync fails, the file is there though it may not be durable.
    if (left) {
      EXPECT_EQ(*left, whole);
    }
    if (!report.ok()) {
      EXPECT_EQ(report.code(), Code::kIo) << report.status().message();
    }
    if (report.ok()) {
      EXPECT_TRUE(left.has_value());
    }
    EXPECT_LE(files().size(), left ? 1U : 0U);
  }
}

TEST_P(Export, APowerCutLeavesNothingOrTheWhole) {
  for (const auto id : {"a", "b"}) add(id);
  const std::string whole = *exported_text(*session_, "jsonl");
  size_t seen = 0;
  const auto check = [&] {
    outside_.for_each_crash_state([&](auto state, const io::CrashPlan& plan) {
      SCOPED_TRACE(outside_.describe(plan));
      const auto file = state->read_file(kOut);
      if (file) {
        EXPECT_EQ(*file, whole);
      }
      seen += 1;
    });
  };
  bool checking = false;
  outside_.set_fault_hook([&](const io::OperationInfo&) -> std::optional<io::Fault> {
    if (!checking) {
      checking = true;
      check();
      checking = false;
    }
    return std::nullopt;
  });
  ASSERT_TRUE(session_->export_file(kOut, "").ok());
  outside_.set_fault_hook({});
  EXPECT_GT(seen, 10U);
  // Once it is answered, it stays.
  EXPECT_EQ(outside_.crash()->read_file(kOut), whole);
}

TEST_P(Export, ItIsWrittenInPiecesWhateverItsSize) {
  fill();
  outside_.clear_trace();
  const auto report = session_->export_file(kOut, "");
  ASSERT_TRUE(report.ok());
  EXPECT_GT(report->get_int64("bytes"), 10'000'000);
  size_t pieces = 0;
  for (const std::string& line : outside_.trace()) {
    const size_t at = line.find(" append ");
    if (at == std::string::npos) continue;
    pieces += 1;
    const size_t bytes = std::stoul(line.substr(line.rfind(' ', line.rfind(" bytes") - 1)));
    EXPECT_LE(bytes, (1U << 20) + 101'000) << line;  // the buffer, and the entry that filled it
  }
  EXPECT_GE(pieces, 9U);
}

TEST_P(Export, ProgressGoesFromNothingToAllAMegabyteAtATime) {
  fill();
  Listener listener;
  ASSERT_TRUE(session_->export_file(kOut, "", listener.receiver()).ok());
  ASSERT_GE(listener.calls.size(), 3U);
  const uint64_t total = listener.calls.front().second;
  EXPECT_GT(total, 10'000'000U);
  EXPECT_EQ(listener.calls.front().first, 0U);
  EXPECT_EQ(listener.calls.back().first, total);
  for (size_t i = 1; i < listener.calls.size(); ++i) {
    EXPECT_EQ(listener.calls[i].second, total);
    const uint64_t step = listener.calls[i].first - listener.calls[i - 1].first;
    if (i + 1 < listener.calls.size()) {
      EXPECT_GE(step, Progress::kStepBytes);
    }
    EXPECT_LE(step, Progress::kStepBytes + 101'000);
    EXPECT_EQ(listener.operations[i], "export");
  }
}

TEST_P(Export, ACallbackThatStopsLeavesNoFile) {
  fill();
  for (const size_t stop_at : {size_t{1}, size_t{3}}) {
    Listener listener;
    listener.stop_at = stop_at;
    EXPECT_EQ(session_->export_file(kOut, "", listener.receiver()).code(), Code::kCallback);
    EXPECT_EQ(listener.calls.size(), stop_at);
    EXPECT_EQ(files(), std::vector<std::string>{});
  }
  Listener listener;
  listener.stop_at = 1;
  EXPECT_EQ(exported_text(*session_, "jsonl", listener.receiver()).code(), Code::kCallback);
  listener.calls.clear();
  EXPECT_EQ(session_->verify(false, listener.receiver()).code(), Code::kCallback);
  EXPECT_EQ(listener.operations.back(), "verify");
}

TEST_P(Export, ACallbackMayUseTheSession) {
  fill();
  struct Visitor {
    static int32_t hear(void* self, const char*, uint64_t, uint64_t) {
      auto& session = *static_cast<Session*>(self);
      const bool works = session.add(R"({"type":"finding","content":1})").ok() &&
                         session.get("e1").ok() && session.stats().ok();
      return works ? 0 : 1;
    }
  };
  const ProgressReceiver receiver{&Visitor::hear, session_.get()};
  const auto report = session_->export_file(kOut, "", receiver);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("entries"), 100);  // as of the moment when it began
  EXPECT_TRUE(session_->verify(false, receiver).ok());
}

TEST_P(Export, VerifyTellsItsProgress) {
  fill();
  Listener listener;
  ASSERT_TRUE(session_->verify(false, listener.receiver()).ok());
  ASSERT_GE(listener.calls.size(), 3U);
  EXPECT_EQ(listener.calls.front().first, 0U);
  EXPECT_EQ(listener.calls.back().first, listener.calls.back().second);
  EXPECT_EQ(listener.calls.back().second, place_.entries().size());
}

// 3.3 MB of vectors and 3.7 MB of tombstones, beside a log that is read twice when it is deep.
TEST_P(Export, VerifyTellsItsProgressInEveryFile) {
  fill();
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += entry_text("d" + std::to_string(i)) + "\n";
  ASSERT_EQ(session_->import_text(lines)->get_int64("added"), 3000);
  const std::string reason(1000, 'r');
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(session_->remove("d" + std::to_string(i), reason).ok());
  }
  for (uint32_t i = 0; i < 50; ++i) {
    std::vector<float> values(16384, 0);
    values[i] = 1;
    ASSERT_TRUE(session_->put_vector("e99", values).ok());
  }
  for (const bool deep : {false, true}) {
    Listener listener;
    ASSERT_TRUE(session_->verify(deep, listener.receiver()).ok());
    const uint64_t total = listener.calls.back().second;
    EXPECT_GT(total, (deep ? 27'000'000U : 17'000'000U));
    EXPECT_EQ(listener.calls.back().first, total);
    uint64_t before = 0;
    for (const auto& [done, of] : listener.calls) {
      EXPECT_EQ(of, total);
      EXPECT_LE(done - before, Progress::kStepBytes + 101'000) << done;
      before = done;
    }
    const size_t calls = listener.calls.size();
    for (const size_t stop_at : {calls / 2, calls - 1}) {
      Listener stopping;
      stopping.stop_at = stop_at;
      EXPECT_EQ(session_->verify(deep, stopping.receiver()).code(), Code::kCallback);
      EXPECT_EQ(stopping.calls.size(), stop_at);
    }
  }
}

TEST_P(Export, WithoutAFileSystemItIsUnsupported) {
  host_.context.file_system = nullptr;
  const auto session = place_.open();
  EXPECT_EQ(session->export_file(kOut, "").code(), Code::kUnsupported);
  EXPECT_EQ(session->import_file(kOut, "").code(), Code::kUnsupported);
}

}  // namespace
}  // namespace varve::session
