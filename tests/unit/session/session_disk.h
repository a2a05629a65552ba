// One session directory on a simulated disk, and sessions open on it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entry/entry.h"
#include "entry/tombstone.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_storage.h"
#include "session/metadata/metadata.h"
#include "session/session.h"
#include "support/base64.h"
#include "support/environment.h"

namespace varve::session {

inline constexpr std::string_view kSessionId = "sess_1";
inline constexpr std::string_view kFolder = "store/";

// The bytes of a session's files; nullopt: there is no such file.
struct SessionFiles {
  std::optional<std::string> entries;
  std::optional<std::string> tombstones;
  std::optional<std::string> metadata;
  std::optional<std::string> snapshot;
  std::optional<std::string> lock;
};

inline std::string path_of(std::string_view name) {
  return std::string(kFolder) + std::string(name);
}

// What every session of a test shares.
struct Host {
  Host() { context = {&clock, &random, &events, &counters, {}}; }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Log lines of `level` and above are added to `lines` when they are delivered.
  void keep_lines(Level level, std::vector<std::string>* lines) {
    events.set_receiver(
        level,
        [](void* data, int32_t, const char* line, size_t length) {
          static_cast<std::vector<std::string>*>(data)->emplace_back(line, length);
        },
        lines);
  }

  test::ManualClock clock;
  test::SeededRandom random;
  EventLog events{clock};
  Counters counters;
  Session::Context context;
};

class SessionDisk {
 public:
  explicit SessionDisk(Host& host) : host_(host) {}

  // A new session: its metadata and an empty log.
  void make(CreateOptions options = {}) {
    options.session_id = kSessionId;
    SessionFiles files;
    files.entries = "";
    files.metadata = Metadata::make(options, host_.clock.now_ms()).encode();
    put(files);
  }

  void put(const SessionFiles& files) {
    put_one(log::kEntriesFile, files.entries);
    put_one(log::kTombstonesFile, files.tombstones);
    put_one(log::kMetadataFile, files.metadata);
    put_one("index.bin", files.snapshot);
    put_one(log::kLockFile, files.lock);
  }

  [[nodiscard]] SessionFiles files() const {
    return {read(log::kEntriesFile), read(log::kTombstonesFile), read(log::kMetadataFile),
            read("index.bin"), read(log::kLockFile)};
  }

  // The file's bytes; nullopt when there is none.
  [[nodiscard]] std::optional<std::string> read(std::string_view name) const {
    return disk.read_file(path_of(name));
  }
  [[nodiscard]] std::string bytes(std::string_view name) const { return read(name).value_or(""); }
  void write(std::string_view name, std::string_view bytes) {
    disk.write_file(path_of(name), bytes);
  }

  void remove(std::string_view name) {
    EXPECT_TRUE((*disk.open_root(kFolder, false))->remove(name).ok()) << name;
  }

  Result<std::unique_ptr<log::SessionStorage>> storage(io::FileSystem* process = nullptr) {
    io::FileSystem* system = process == nullptr ? &disk : process;
    VARVE_TRY_ASSIGN(auto directory, system->open_root(kFolder, false));
    VARVE_TRY_ASSIGN(auto opened, log::DirectoryStorage::open(
                                      std::move(directory), {system, &host_.clock, &host_.random}));
    return std::unique_ptr<log::SessionStorage>(std::move(opened));
  }

  Result<std::shared_ptr<Session>> try_open(io::FileSystem* process = nullptr) {
    VARVE_TRY_ASSIGN(auto opened, storage(process));
    return Session::open(std::string(kSessionId), std::move(opened), host_.context);
  }

  std::shared_ptr<Session> open(io::FileSystem* process = nullptr) {
    auto session = try_open(process);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? *session : nullptr;
  }

  // All that was ever put into quarantine, record by record.
  struct Quarantined {
    std::string file;
    int64_t offset = 0;
    std::string reason;
    std::string bytes;
  };
  [[nodiscard]] std::vector<Quarantined> quarantine() const {
    std::vector<Quarantined> records;
    const std::string text = bytes(log::kQuarantineFile);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_NE(end, std::string::npos) << "a record without its line end";
      if (end == std::string::npos) break;
      const auto record = json::Tree::parse(std::string_view(text).substr(at, end - at));
      EXPECT_TRUE(record.ok());
      if (!record.ok()) break;
      const auto decoded = test::decode_base64(record->get_string("bytes"));
      EXPECT_TRUE(decoded.has_value());
      records.push_back({record->get_string("file"), record->get_int64("offset"),
                         record->get_string("reason"), decoded.value_or("")});
      at = end + 1;
    }
    return records;
  }

  io::SimulatedFileSystem disk;

 private:
  void put_one(std::string_view name, const std::optional<std::string>& bytes) {
    if (bytes) write(name, *bytes);
  }

  Host& host_;
};

// The lines of a stream with their line ends; the last may lack its own.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

inline std::string entry_text(std::string_view id, std::string_view content = "hello") {
  json::Tree tree = json::Tree::object();
  tree.set("id", json::Tree::string(id));
  tree.set("type", json::Tree::string("message"));
  tree.set("content", json::Tree::string(content));
  return tree.canonical();
}

inline const json::Tree& member(const json::Tree& tree, std::string_view name) {
  static const json::Tree kNull;
  const json::Tree* found = tree.get(name);
  EXPECT_NE(found, nullptr) << "no member " << name << " in " << tree.canonical();
  return found == nullptr ? kNull : *found;
}

// A session of about `bytes` of log: single entries, batches of three, deletions in between.
// Answers its files after it was closed. `after_each` sees it after each write.
inline SessionFiles make_session_of(
    Host& host, size_t bytes,
    const std::function<void(Session&, const SessionDisk&)>& after_each = {}) {
  SessionDisk made(host);
  made.make();
  auto session = made.open();
  std::vector<std::string> ids;
  for (int i = 0; made.bytes(log::kEntriesFile).size() < bytes; ++i) {
    const std::string id = "e" + std::to_string(i);
    const std::string content(static_cast<size_t>(i * 37 % 300), static_cast<char>('a' + i % 26));
    if (i % 7 == 3) {
      const auto batch = session->add_batch("[" + entry_text(id + "_a", content + "é\n\"") + "," +
                                            entry_text(id + "_b") + "," +
                                            entry_text(id + "_c", "\xe2\x82\xac") + "]");
      EXPECT_TRUE(batch.ok());
      ids.push_back(id + "_b");
    } else {
      EXPECT_TRUE(session->add(entry_text(id, content)).ok());
      ids.push_back(id);
    }
    if (i % 4 == 1) {
      EXPECT_TRUE(session->remove(ids[(ids.size() - 1) / 2], "told to").ok());
    }
    if (after_each) after_each(*session, made);
    host.clock.advance_ms(10);
  }
  session->close();
  return made.files();
}

}  // namespace varve::session
