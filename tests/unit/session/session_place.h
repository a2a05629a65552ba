// Where a session lives, so that one suite runs over every storage: a simulated directory, a
// directory of the operating system, memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/posix.h"
#include "log/memory_storage.h"
#include "session_disk.h"
#include "unit/io/temporary_directory.h"

namespace varve::session {

enum class PlaceKind { kSimulated, kPosix, kMemory };

inline std::string place_name(const testing::TestParamInfo<PlaceKind>& info) {
  return info.param == PlaceKind::kSimulated ? "Simulated"
         : info.param == PlaceKind::kPosix   ? "Posix"
                                             : "Memory";
}

inline const auto kEveryPlace =
    testing::Values(PlaceKind::kSimulated, PlaceKind::kPosix, PlaceKind::kMemory);

class Place {
 public:
  Place(PlaceKind kind, Host& host, CreateOptions options = {}) : kind_(kind), host_(host) {
    options.session_id = kSessionId;
    const std::string metadata = Metadata::make(options, host.clock.now_ms()).encode();
    switch (kind) {
      case PlaceKind::kSimulated: simulated_.make(options); break;
      case PlaceKind::kPosix: {
        directory_ = std::make_unique<io::TemporaryDirectory>();
        io::put_file(directory_->path_of("metadata.json"), metadata);
        io::put_file(directory_->path_of("memory.jsonl"), "");
        break;
      }
      case PlaceKind::kMemory:
        memory_ = std::make_shared<log::MemorySession>();
        memory_->documents.emplace("metadata.json", metadata);
        break;
    }
  }

  // Another Session object on the same session, as another process would have it.
  std::shared_ptr<Session> open() {
    auto opened = storage();
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    if (!opened.ok()) return nullptr;
    auto session = Session::open(std::string(kSessionId), *std::move(opened), host_.context);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? *session : nullptr;
  }

  Result<std::unique_ptr<log::SessionStorage>> storage() {
    if (kind_ == PlaceKind::kSimulated) return simulated_.storage();
    if (kind_ == PlaceKind::kMemory) {
      return std::unique_ptr<log::SessionStorage>(
          std::make_unique<log::MemoryStorage>(memory_, host_.clock));
    }
    VARVE_TRY_ASSIGN(auto directory, posix_.open_root(directory_->path(), false));
    VARVE_TRY_ASSIGN(
        auto opened,
        log::DirectoryStorage::open(std::move(directory), {&posix_, &host_.clock, &host_.random}));
    return std::unique_ptr<log::SessionStorage>(std::move(opened));
  }

  // Of a directory of the operating system.
  [[nodiscard]] const std::string& path() const { return directory_->path(); }

  // The bytes of a stream as they are stored.
  [[nodiscard]] std::string entries() const { return stream("memory.jsonl"); }
  [[nodiscard]] std::string tombstones() const { return stream("tombstones.jsonl"); }
  [[nodiscard]] std::string vectors() const { return stream("vectors.bin"); }
  [[nodiscard]] std::string quarantine() const { return stream("quarantine.jsonl"); }
  // Makes vectors.bin what somebody else left there.
  void put_vectors(const std::string& bytes) {
    switch (kind_) {
      case PlaceKind::kSimulated: return simulated_.write("vectors.bin", bytes);
      case PlaceKind::kPosix: return io::put_file(directory_->path_of("vectors.bin"), bytes);
      case PlaceKind::kMemory: memory_->vectors = bytes;
    }
  }

 private:
  [[nodiscard]] std::string stream(std::string_view name) const {
    switch (kind_) {
      case PlaceKind::kSimulated: return simulated_.bytes(name);
      case PlaceKind::kPosix: return io::bytes_of(directory_->path_of(name));
      case PlaceKind::kMemory: break;
    }
    return name == "memory.jsonl"       ? memory_->entries
           : name == "vectors.bin"      ? memory_->vectors
           : name == "tombstones.jsonl" ? memory_->tombstones
                                        : memory_->quarantine;
  }

  PlaceKind kind_;
  Host& host_;
  SessionDisk simulated_{host_};
  io::PosixFileSystem posix_;
  std::unique_ptr<io::TemporaryDirectory> directory_;
  std::shared_ptr<log::MemorySession> memory_;
};

// A suite about one session, which is open.
class OverPlaces : public testing::TestWithParam<PlaceKind> {
 protected:
  void SetUp() override { reopen(); }
  // As another run of the program would find it.
  void reopen() {
    session_.reset();
    session_ = place_.open();
    ASSERT_NE(session_, nullptr);
  }

  Host host_;
  Place place_{GetParam(), host_};
  std::shared_ptr<Session> session_;
};

}  // namespace varve::session
