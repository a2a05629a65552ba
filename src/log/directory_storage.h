// DirectoryStorage: a session kept in a directory (docs/format.md#directory).
//
// The commit protocol, step by step, and what each step is for:
//   lock      kernel lock on `lock`; then: is this still the file of that name? is the log suspect?
//   append    one write at the end; a short write is cut off again
//   sync      the disk is told to begin; meanwhile, work that need not wait for it is done; then
//             fdatasync, before the answer; before the first answer of a generation also fsync of
//             the directory, in case its creator was killed between rename and fsync
//   publish   how far the log is durable goes into the lock file, for the next writer
// A failed fdatasync is never repeated on the same file (the kernel forgets the error, not the
// damage): what the kernel still has is copied into a new file, synced and renamed over the old one
// ("heal"). If that fails too, this storage refuses all further writes.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/environment.h"
#include "io/file_system.h"
#include "log/lock_state.h"
#include "log/storage.h"

namespace varve::log {

inline constexpr uint64_t kDocumentBytesMax = uint64_t{64} << 20;

inline constexpr std::string_view kLockFile = "lock";

// Whether a session lives in this directory.
bool holds_session(io::Directory& directory);

class DirectoryStorage final : public SessionStorage {
 public:
  struct Environment {
    io::FileSystem* file_system = nullptr;
    Clock* clock = nullptr;
    Random* random = nullptr;
    // Of file_system; nothing: it is asked at each opening.
    std::optional<std::string> boot_id = std::nullopt;
  };

  // The name of a session's directory in its parent. `parent` outlives the storage; nullptr: the
  // name is known to be durable.
  struct OwnName {
    io::Directory* parent = nullptr;
    std::string name;
  };

  // `directory` is the session's own. kNotFound when no session lives in it. Nothing is answered as
  // durable before the directory's name is durable and leads to it.
  static Result<std::unique_ptr<DirectoryStorage>> open(std::unique_ptr<io::Directory> directory,
                                                        const Environment& environment,
                                                        OwnName own_name);
  static Result<std::unique_ptr<DirectoryStorage>> open(std::unique_ptr<io::Directory> directory,
                                                        const Environment& environment) {
    return open(std::move(directory), environment, OwnName());
  }

  Result<Tail> tail() override;
  Result<VectorsTail> vectors_tail() override;
  Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override;
  Result<std::string> get_document(std::string_view name) override;
  Result<std::unique_ptr<DocumentView>> open_document(std::string_view name) override;
  Result<std::vector<StoredFile>> files() override;
  DurableMark durable_mark() override;
  Status check_name() override;
  LockHolder lock_holder() override;
  [[nodiscard]] bool writable() const override { return writable_; }
  [[nodiscard]] std::string name_of(Stream stream) const override;
  std::shared_ptr<const void> keep_open(Stream stream) override;

  Status lock(int64_t deadline_us, std::string_view operation, bool* waited) override;
  void unlock() noexcept override;
  void keep_lock() override;
  void stop_keeping_lock() override;
  Result<Tail> locked_tail() override { return locked_tail_; }
  [[nodiscard]] bool was_locked_by_others() const override { return was_locked_by_others_; }
  uint64_t document_mark(std::string_view name) override;
  using SessionStorage::append;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override;
  Status sync(uint64_t last_seq) override;
  Status truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) override;
  using SessionStorage::replace;
  Status replace(Stream stream, std::optional<uint64_t> expected_bytes,
                 const std::function<Status(Sink&)>& produce) override;
  Status remove_vectors() override;
  Status remove_document(std::string_view name) override;
  Status remove_residue(std::span<const std::string_view> documents) override;
  Status put_document(std::string_view name, std::string_view bytes,
                      DocumentDurability durability) override;
  Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                              bool durable) override;

  [[nodiscard]] bool is_noted() const override { return is_noted_; }
  void set_noted() override { is_noted_ = true; }
  [[nodiscard]] uint64_t catalogued_count() const override { return state_.catalogued_count; }
  Status mark_catalogued() override;

  // With the lock held, before the directory loses its name, or when its name may no longer be
  // durable. Before they answer, the next writers, also through handles already open, sync the name
  // and check that it is still theirs. If this fails, they are not told to.
  Status suspect_names();
  // With the lock held: the directory has its name again, durably.
  void clear_suspicion();

 private:
  // An open stream: the file that had the name when it was last looked up.
  struct OpenStream {
    std::shared_ptr<io::File> file;  // null: there is no file
    io::FileIdentity identity;
    uint64_t size_bytes = 0;    // when last looked at
    uint64_t change_stamp = 0;  // when last looked for by its name
    // Synced by this object. Not kept for another file, whose inode number may be the same.
    bool is_name_synced = false;
    uint64_t synced_bytes = 0;  // of tombstones and vectors, by sync()
  };

  DirectoryStorage(std::unique_ptr<io::Directory> directory, const Environment& environment,
                   OwnName own_name);

  // tail(), with the mutex held, by looking at the files.
  Result<Tail> look();
  void doubt_tail();
  void note_appended(Stream stream, uint64_t end_bytes);
  Status look_at(Stream stream, OpenStream* open);
  Result<bool> has_changed(Stream stream, OpenStream* open);
  [[nodiscard]] io::OpenMode append_mode() const;
  OpenStream& stream_of(Stream stream);   // with the mutex held
  OpenStream snapshot_of(Stream stream);  // a copy, for use without the mutex
  uint64_t& generation_of(Stream stream);
  // Whether it was appended to by this object and not synced since. Lock holder.
  bool& unsynced(Stream stream) { return unsynced_[static_cast<size_t>(stream)]; }

  // Parts of lock().
  Status open_lock_file();
  Result<bool> lock_file_is_current();
  Status wait_for_lock(int64_t deadline_us, bool* waited);
  Status ask_for_lock(int64_t deadline_us, bool* waited);
  bool gives_way(int64_t deadline_us);
  void give_way();
  Status busy_status();
  [[nodiscard]] bool is_of_other_boot(const LockState& state) const;
  [[nodiscard]] bool may_be_of_holder(const LockState& state) const;
  Status prepare_to_write(std::string_view operation);
  void note_holder(std::string_view operation);
  Status renew_suspects();
  Status read_state();
  Status write_state();
  Status write_state(const LockState& state);
  Status tell_suspect();

  // Parts of append() and sync().
  Status refuse_if_poisoned() const;
  Status check_end(Stream stream, uint64_t expected_bytes);
  Status ready_to_append(Stream stream, uint64_t expected_bytes, bool durable);
  Status open_for_append(Stream stream);
  struct Asked;
  Status append_and_sync(io::File& file, const Asked& asked, const Meanwhile& meanwhile);
  Status settle(io::File& file, const Asked& asked);
  Result<uint64_t> find_appended(io::File& file, const Asked& asked);
  Status take_back(io::File& file, uint64_t start_bytes, std::string_view lines);
  Status cut(Stream stream, io::File& file, uint64_t size_bytes);
  Status make_durable(io::File& file, Stream stream);
  Status sync_names();
  Status sync_own_name();
  Status sync_stream(Stream stream);
  Status sync_unpublished(Stream stream, uint64_t bytes);
  Status append_to_quarantine(std::string_view lines);
  Status sync_file(io::File& file);
  Status heal(const std::function<Status()>& renew);
  Status heal_without(Stream stream, uint64_t keep_bytes, uint64_t dropped_bytes);
  Status heal_all(Stream stream);
  Status renew(Stream stream, uint64_t keep_bytes, uint64_t present_bytes);
  Status renew_all(Stream stream);
  Status while_outrun(std::string_view name, const std::function<Status()>& copy);
  Status adopt_new_log(Stream stream, uint64_t durable_bytes);
  Status carry_over(Stream stream, io::File& old, uint64_t from_bytes);
  void forget(Stream stream);

  // The transcript (directory_transcript.cpp).
  Status append_transcript_and_sync(io::File& file, uint64_t start_bytes, std::string_view bytes,
                                    bool durable);
  Status make_transcript_durable(io::File& file);
  Status sync_transcript();
  Status cut_transcript(io::File& file, uint64_t start_bytes, std::string_view bytes);
  Status heal_transcript_without(io::File& file, uint64_t keep_bytes, uint64_t dropped_bytes);
  Status heal_transcript(io::File& file);
  Status renew_transcript(io::File& file, uint64_t keep_bytes, uint64_t present_bytes);
  Status renew_transcript(io::File& file);
  Status renew_transcript();
  void publish(uint64_t durable_bytes, uint64_t last_seq);
  void poison(const Status& cause);

  std::unique_ptr<io::Directory> directory_;
  OwnName own_name_;
  Environment environment_;
  std::string boot_id_;
  bool writable_ = true;

  std::mutex mutex_;  // guards the streams and the generation
  OpenStream entries_;
  OpenStream tombstones_;
  OpenStream vectors_;
  uint64_t generation_ = 1;
  uint64_t vectors_generation_ = 1;
  bool is_lock_kept_ = false;
  bool is_tail_known_ = false;  // while the lock is kept: the files need not be looked at

  // Used by the holder of the lock only.
  std::unique_ptr<io::File> lock_file_;
  io::FileIdentity lock_file_identity_;
  Tail locked_tail_;         // as lock() saw it
  std::string state_bytes_;  // as last read or written; empty: not known
  bool was_locked_by_others_ = true;
  int64_t locked_us_ = 0;           // since when it is held
  int64_t held_us_ = 0;             // how long it was, the last time
  int64_t gives_way_again_us_ = 0;  // not before, to those who wait for it
  LockState state_;
  bool says_suspect_ = false;  // whether the lock file does, as far as is known
  bool is_noted_ = false;      // since the lock file last said "catalogued"
  bool own_name_synced_ = false;
  bool has_unsynced_name_ = false;  // a document's own name is not durable yet
  std::array<bool, kStreamCount> unsynced_{};
  // The transcript file that was last synced with its name durable, and up to where.
  io::FileIdentity transcript_synced_;
  uint64_t transcript_synced_bytes_ = 0;
  bool left_overs_removed_ = false;
  std::optional<Status> poisoned_;
};

}  // namespace varve::log
