// A store with a bit of everything in it, and what can be told of a store after something failed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {

inline constexpr int64_t kTwoHoursMs = 7'200'000;

// Of each session of each store on a disk, by path, all that a host can learn.
using StoreState = std::map<std::string, std::string>;

class FaultGround {
 public:
  // `prepare` sees the store with two hours to go until what expires in it has expired.
  explicit FaultGround(const std::function<void(FaultGround&)>& prepare) {
    make_store();
    prepare(*this);
    store.reset();
    disk = disk->crash(disk->keep_all());
    clock.advance_ms(kTwoHoursMs);
  }
  // One that starts where another one is.
  explicit FaultGround(const FaultGround& other) : disk(other.disk->copy()) {
    clock.advance_ms(kTwoHoursMs);
  }
  FaultGround& operator=(const FaultGround&) = delete;

  Result<std::shared_ptr<Store>> try_open(std::string_view path = "store",
                                          std::string_view config = {}) {
    return Store::open(path, config, {process ? process.get() : disk.get(), &clock, &random});
  }
  std::shared_ptr<Store> open(std::string_view path = "store", std::string_view config = {}) {
    auto opened = try_open(path, config);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static std::shared_ptr<session::Session> create(Store& store, const std::string& options) {
    auto made = store.create_session(options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? *std::move(made) : nullptr;
  }
  static void add(session::Session& session, const std::string& id, const std::string& content,
                  const std::string& more = {}) {
    const auto added = session.add(R"({"id":")" + id + R"(","type":"finding","content":")" +
                                   content + "\"" + more + "}");
    EXPECT_TRUE(added.ok()) << added.status().message();
  }
  std::shared_ptr<session::Session> session(const std::string& id) {
    auto opened = store->open_session(id);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  std::unique_ptr<io::SimulatedFileSystem> disk;
  std::unique_ptr<io::SimulatedFileSystem> process;  // who works, when it is not the disk's own
  test::ManualClock clock;
  test::SeededRandom random;
  std::shared_ptr<Store> store;

 private:
  void make_store() {
    disk = std::make_unique<io::SimulatedFileSystem>();
    disk->write_file("store/config.json", R"({"threads":1})");
    store = open();
    const auto notes =
        create(*store, R"({"session_id":"notes","user_id":"u","agent_id":"x","title":"Mine"})");
    add(*notes, "a", "tea", R"(,"tags":["t"],"usage":{"input_tokens":5})");
    add(*notes, "dead", "tea with secrets");
    add(*notes, "b", "coffee");
    EXPECT_TRUE(notes
                    ->add_batch(R"([{"id":"c","type":"finding","content":"more tea"},)"
                                R"({"id":"d","type":"finding","content":"2"}])")
                    .ok());
    EXPECT_TRUE(notes->remove("dead", "told to").ok());
    EXPECT_TRUE(notes->put_vector("a", std::vector<float>{1.0F, 0.0F}).ok());
    EXPECT_TRUE(notes->kv_set("key", "value").ok());
    EXPECT_TRUE(notes->transcript_append("user", "hello").ok());
    const std::string soon = format_rfc3339(clock.now_ms() + kTwoHoursMs / 2);
    const auto other = create(*store, R"({"session_id":"other","user_id":"v"})");
    add(*other, "o", "tea");
    add(*other, "stale", "tea", R"(,"expires_at":")" + soon + "\"");
    const auto brief = create(*store, R"({"session_id":"brief","user_id":"u","ttl_hours":1})");
    add(*brief, "x", "tea");
  }
};

namespace told {

inline std::string ids_in(const std::string& lines) {
  std::string ids;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = lines.find('\n', begin);
    const auto line = json::Tree::parse(std::string_view(lines).substr(begin, end - begin));
    if (!ids.empty()) ids += " ";
    ids += line.ok() ? line->get_string("id") : "?";
    begin = end + 1;
  }
  return ids;
}

// All that there is to know of one session; nothing of one that has expired.
inline std::string of_session(Store& store, const std::string& id) {
  const auto opened = store.open_session(id);
  if (opened.code() == Code::kNotFound) return {};
  if (!opened.ok()) return "cannot be opened: " + opened.status().message();
  session::Session& session = **opened;
  const auto lines = exported_text(session, "jsonl");
  const auto found = session.query(R"({"text":"tea"})");
  const auto turns = session.transcript_last(9);
  const auto metadata = session.metadata();
  for (const Status& status : {lines.status(), found.status(), turns.status(), metadata.status()}) {
    if (!status.ok()) return "unreadable: " + status.message();
  }
  std::set<std::string> matches;
  for (const auto& result : found->results) matches.insert(result.id());
  std::string text = ids_in(*lines) + " | tea:";
  for (const auto& match : matches) text += " " + match;
  const auto value = session.kv_get("key");
  text += " | " + (value.ok() ? *value : std::string("-")) + " " + turns->canonical() + " ";
  text += metadata->get_string("title") + " " + metadata->get_string("user_id");
  for (const char* gone : {"dead", "later"}) {
    if (session.get(gone).ok()) text += std::string(" ") + gone + " is alive";
  }
  return text;
}

inline std::vector<std::string> ids_of(const io::SimulatedFileSystem& disk,
                                       const std::string& root) {
  std::vector<std::string> ids;
  const std::string folder = "/" + root + "/sessions/";
  for (const auto& path : disk.list_all()) {
    const bool is_session = path.starts_with(folder) && path.ends_with('/') &&
                            std::count(path.begin(), path.end(), '/') == 4;
    if (is_session) ids.push_back(path.substr(folder.size(), path.size() - folder.size() - 1));
  }
  return ids;
}

// Of all stores on a disk, as somebody finds them who comes now. The disk stays as it is.
inline StoreState of_disk(const io::SimulatedFileSystem& disk, int64_t now_ms) {
  StoreState state;
  test::ManualClock clock;
  clock.set_now_ms(now_ms);
  test::SeededRandom random(99);
  const auto scratch = disk.copy();
  for (const std::string root : {"store", "copy", "empty"}) {
    const auto ids = ids_of(disk, root);
    if (ids.empty()) continue;
    const auto store = Store::open(root, {}, {scratch.get(), &clock, &random});
    if (!store.ok()) state[root] = store.status().message();
    for (const auto& id : ids) {
      std::string text = store.ok() ? of_session(**store, id) : "";
      if (!text.empty()) state[root + "/" + id] = std::move(text);
    }
    if (const auto config = disk.read_file(root + "/config.json"))
      state[root + " config"] = *config;
  }
  return state;
}

// A copy that was being extended: its deletions are there, or the entries too, and not yet the
// documents. No order but this one keeps what was deleted from being alive in it.
inline std::set<std::string> half_way(const std::string& before, const std::string& after) {
  const auto parts_of = [](const std::string& text) {
    const size_t first = std::min(text.find(" | "), text.size());
    const size_t second = std::min(text.find(" | ", first + 1), text.size());
    return std::vector{text.substr(0, first), text.substr(first, second - first),
                       text.substr(second)};
  };
  const auto only_those_in = [](const std::string& words, const std::string& known) {
    std::istringstream stream(words);
    std::string text;
    for (std::string word; stream >> word;) {
      if ((" " + known + " ").find(" " + word + " ") != std::string::npos) {
        text += (text.empty() ? "" : " ") + word;
      }
    }
    return text;
  };
  const auto old = parts_of(before);
  const auto made = parts_of(after);
  return {only_those_in(old[0], made[0]) + " " + only_those_in(old[1], made[1]) + old[2],
          made[0] + made[1] + old[2]};
}

// Whether each session is as it was before or as it is to be after, and none is anything else.
inline void expect_old_or_new(const StoreState& found, const StoreState& before,
                              const StoreState& after, std::string_view where) {
  const auto of = [](const StoreState& state, const std::string& key) {
    const auto known = state.find(key);
    return known == state.end() ? std::string("absent") : known->second;
  };
  std::set<std::string> keys;
  for (const auto* state : {&found, &before, &after}) {
    for (const auto& [key, text] : *state) keys.insert(key);
  }
  for (const auto& key : keys) {
    const std::string text = of(found, key);
    const bool is_known =
        text == of(before, key) || text == of(after, key) ||
        (key.starts_with("copy/") && half_way(of(before, key), of(after, key)).contains(text));
    EXPECT_TRUE(is_known) << where << ": " << key << " is\n  " << text << "\nand was\n  "
                          << of(before, key) << "\nand is to be\n  " << of(after, key);
  }
}

// One entry more in each session: the store works, and its writers tidy up.
inline void write_to_all(FaultGround& ground, const std::string& root) {
  const auto ids = ids_of(*ground.disk, root);
  ground.store = ids.empty() ? nullptr : ground.open(root);
  for (const auto& id : ids) {
    const auto session = ground.store->open_session(id);
    if (session.code() == Code::kNotFound) continue;  // it has expired
    EXPECT_TRUE(session.ok() && (*session)->add(R"({"type":"finding","content":1})").ok()) << id;
  }
}

// Files that nobody has a use for, and would lie there for ever.
inline std::string left_overs(const io::SimulatedFileSystem& disk) {
  std::string names;
  for (const auto& path : disk.list_all()) {
    const bool is_below_tmp = path.find("/tmp/") != std::string::npos && !path.ends_with("/tmp/");
    if (is_below_tmp || path.find(".tmp-") != std::string::npos) names += path + "\n";
  }
  return names;
}

}  // namespace told
}  // namespace varve::store
