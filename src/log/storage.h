// The storage seam: what a session's log is kept in. Above log/ nothing knows files.
//
// A session is two streams of whole lines, entries and tombstones (and a third, quarantine, that is
// only ever appended to), and a few small named documents. The entries stream comes in generations:
// replace() installs a new one in a single atomic step. A position is (generation, byte offset).
// A stream of its own are the vectors: binary, absent for most, with generations of their own.
//
// Outcomes beyond the usual: kConflict (the tail is not where the caller thought: read the delta
// and decide again), kGone (that generation was replaced), kNotFound (the session was deleted),
// kUnknown (sent, no answer: settle it by reading the tail).
//
// Implementations: directory_storage.h, memory_storage.h. tests/unit/log/storage_test.cpp holds the
// conformance suite that both pass.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"

namespace varve::io {
class Directory;
}  // namespace varve::io

namespace varve::log {

// In this order in tables of their names.
enum class Stream : uint8_t { kEntries, kTombstones, kQuarantine, kVectors };

// What the parts of a session are called: its files in a directory, and in reports of any storage.
inline constexpr std::string_view kEntriesFile = "memory.jsonl";
inline constexpr std::string_view kTombstonesFile = "tombstones.jsonl";
inline constexpr std::string_view kQuarantineFile = "quarantine.jsonl";
inline constexpr std::string_view kVectorsFile = "vectors.bin";
inline constexpr std::string_view kMetadataFile = "metadata.json";
inline constexpr std::string_view kKeyValueFile = "kv.json";
inline constexpr std::string_view kTranscriptFile = "transcript.md";

constexpr std::string_view file_of(Stream stream) {
  constexpr std::array kFiles = {kEntriesFile, kTombstonesFile, kQuarantineFile, kVectorsFile};
  return kFiles[static_cast<size_t>(stream)];
}

// When an answered write survives power loss.
enum class Durability : uint8_t {
  kCommit,    // before the answer
  kInterval,  // within batch_write_interval_ms
  kOs,        // when the operating system gets to it; a killed process loses nothing
};

struct Tail {
  uint64_t generation = 0;  // of the entries stream, as this process counts them
  uint64_t entries_bytes = 0;
  uint64_t tombstones_bytes = 0;
  friend bool operator==(const Tail&, const Tail&) = default;
};

// Of the vectors: how many bytes, in which of their generations.
struct VectorsTail {
  uint64_t generation = 0;
  uint64_t bytes = 0;
  friend bool operator==(const VectorsTail&, const VectorsTail&) = default;
};

// What earlier writers left behind about how far the log was durable; all of it true, none of it
// necessarily recent.
struct DurableMark {
  uint64_t entries_bytes = 0;  // of the present generation
  uint64_t last_seq = 0;
};

struct DocumentPart {
  std::string bytes;
  uint64_t document_bytes = 0;  // of all of it
};

// A document as it was when it was opened: what is appended to it later does not belong to it.
class DocumentView {
 public:
  virtual ~DocumentView() = default;
  [[nodiscard]] virtual uint64_t size_bytes() const = 0;
  // Fills `out` from `offset`; fewer bytes at the end, or where a failed append was cut off since.
  // kGone when another document took its place and the storage does not keep the old one.
  virtual Result<size_t> read(uint64_t offset, std::span<char> out) = 0;
  // Equal for two views that live at the same time when no put_document() was between them.
  [[nodiscard]] virtual uint64_t identity() const = 0;
};

// Who has the session's lock, as the lock file tells it.
struct LockHolder {
  bool is_held = false;  // by anybody, this process included
  int64_t process_id = 0;
  std::string operation;
  int64_t since_ms = 0;  // when that process began with this operation
};

struct Undurable {
  uint64_t bytes = 0;
  std::string reason;  // why the disk did not take them
};

struct StoredFile {
  std::string name;
  uint64_t size_bytes = 0;
  int64_t modified_ms = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status append(std::string_view bytes) = 0;
};

// What a power loss may do to a document that was put.
enum class DocumentDurability : uint8_t {
  kNone,     // anything: it can be made anew
  kContent,  // the one before is back, unless a stream was replaced since: not before this was safe
  kNamed,    // nothing
};

class SessionStorage {
 public:
  using Meanwhile = std::function<void()>;

  virtual ~SessionStorage() = default;

  // --- any thread, no lock ---
  // How long the streams are now. A changed generation means: start reading anew.
  virtual Result<Tail> tail() = 0;
  virtual Result<VectorsTail> vectors_tail() = 0;  // apart, so that reading entries costs no more
  // Fills `out` from `offset`; fewer bytes only at the end of the stream.
  virtual Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                              std::span<char> out) = 0;
  virtual Result<std::string> get_document(std::string_view name) = 0;  // kNotFound
  // The part of a document at `offset`, shorter only at its end. Two calls may meet two documents:
  // whoever reads one in parts makes sure that they belong together.
  virtual Result<DocumentPart> read_document(std::string_view name, uint64_t offset,
                                             uint64_t length);
  virtual Result<std::unique_ptr<DocumentView>> open_document(
      std::string_view name) = 0;                       // kNotFound
  virtual Result<std::vector<StoredFile>> files() = 0;  // by name
  virtual DurableMark durable_mark() = 0;
  // For people: it may be over before it is told. Nobody waits for this, and it keeps nobody out.
  virtual LockHolder lock_holder() { return {}; }
  [[nodiscard]] virtual bool writable() const = 0;
  // For messages: what a person would call the stream ("/x/sessions/s/memory.jsonl").
  [[nodiscard]] virtual std::string name_of(Stream stream) const = 0;
  // The same of a document, which lies beside it.
  [[nodiscard]] std::string name_of_document(std::string_view name) const;

  // While it is held, what the stream is now keeps its place on the disk, also when it is replaced:
  // so that who replaces it chooses when it waits for that. Null: nothing to wait for.
  virtual std::shared_ptr<const void> keep_open(Stream) { return nullptr; }

  // --- the writer ---
  // Waits for the exclusive lock until `deadline_us` (Clock::monotonic_us), then kBusy with the
  // holder named where known. One thread of this object at a time may hold it. `operation` is for
  // the people who read the lock file. When *waited is given, tells whether somebody was in the
  // way.
  virtual Status lock(int64_t deadline_us, std::string_view operation, bool* waited) = 0;
  virtual void unlock() noexcept = 0;
  // For the holder of the lock: from now on unlock() keeps it, and what is known of the streams
  // need not be asked for again, since only this object may change them. What somebody appends
  // without the lock is a conflict at the next append, and seen from then on. Until
  // stop_keeping_lock(), also for the holder, after which unlock() gives it back.
  virtual void keep_lock() {}
  virtual void stop_keeping_lock() {}

  // --- only while holding the lock ---
  // What lock() saw: nobody who respects the lock has changed it since.
  virtual Result<Tail> locked_tail() { return tail(); }
  // Appends whole lines at `expected_bytes`, kConflict if that is not the end. With `durable`, the
  // lines and everything before them survive power loss when this answers ok; `last_seq` is then
  // published as durable. On any failure the stream is as it was, or the storage refuses every
  // later write with kReadOnly and says why.
  // Who appends without the lock at the same moment loses nothing: the stream may be of another
  // generation then, though this answers ok.
  // `meanwhile`, where given, may be called once, with the lines in the stream, while the disk
  // takes them: for what need not wait for that. It must not throw, nor write. When this fails all
  // the same, the stream is of another generation, or the lines are still in it.
  virtual Status append(Stream stream, uint64_t expected_bytes, std::string_view lines,
                        bool durable, uint64_t last_seq, const Meanwhile& meanwhile) = 0;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq) {
    return append(stream, expected_bytes, lines, durable, last_seq, {});
  }
  // Makes everything appended so far durable.
  virtual Status sync(uint64_t last_seq) = 0;
  // Cuts a stream: a torn tail, after its bytes went to quarantine.
  virtual Status truncate(Stream stream, uint64_t size_bytes) = 0;
  // Replaces a stream by what `produce` writes: a new generation, durable when this answers ok; any
  // failure leaves the old one. With `expected_bytes` kConflict when the old one is of another
  // length at the moment when the new one is to take its place: somebody appended without the lock,
  // and what is not in the new one would be lost.
  virtual Status replace(Stream stream, std::optional<uint64_t> expected_bytes,
                         const std::function<Status(Sink&)>& produce) = 0;
  Status replace(Stream stream, const std::function<Status(Sink&)>& produce) {
    return replace(stream, std::nullopt, produce);
  }
  // Removes the vectors, durably. Success when there are none.
  virtual Status remove_vectors() = 0;
  // Removes what is kept beside the streams and may hold bytes that left them: quarantine, the
  // named (derived) documents, and what killed processes left. Durable when this answers ok.
  virtual Status remove_residue(std::span<const std::string_view> documents) = 0;
  // Replaces a small document in one step: whoever reads it sees the one before or this one, whole.
  virtual Status put_document(std::string_view name, std::string_view bytes,
                              DocumentDurability durability) = 0;
  // Removes a derived document. Not durable: it may be back after a crash. Success when it is not
  // there.
  virtual Status remove_document(std::string_view name) = 0;
  // Appends to a document, made when it is not there (`expected_bytes` 0 then); otherwise as
  // append(). Without `durable`, sync() makes it so. For the transcript only: what a writer cannot
  // sync it copies into a new file, and must know what to copy.
  virtual Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                                      bool durable) = 0;

  // --- the store's catalog (session/catalog.h), only while holding the lock ---
  // Whether set_noted() was called on this object since anybody, in any process, last called
  // mark_catalogued().
  [[nodiscard]] virtual bool is_noted() const { return true; }
  virtual void set_noted() {}
  // How often mark_catalogued() was called, as far as the lock file tells.
  [[nodiscard]] virtual uint64_t catalogued_count() const { return 0; }
  virtual Status mark_catalogued() { return {Code::kUnsupported, "there is no catalog here"}; }

  // Entries that were answered and that no disk has: see failure_buffer.h.
  [[nodiscard]] virtual Undurable undurable() const { return {}; }

  // Where the durations of syncs are counted [us]; none when null. Set before the first write.
  virtual void set_sync_histogram(Histogram* histogram) { sync_us_ = histogram; }
  // What lock() does between two attempts while somebody else holds the lock; it must not need the
  // lock, nor take long. Set before the first write.
  virtual void set_work_while_waiting(std::function<void()> work) {
    work_while_waiting_ = std::move(work);
  }

 protected:
  Histogram* sync_us_ = nullptr;
  std::function<void()> work_while_waiting_;
};

// One row of the registry: what never changes about a session.
struct SessionRow {
  std::string session_id;
  std::string user_id;
  std::string agent_id;
  int64_t created_at_ms = 0;
};

struct RowPage {
  std::vector<SessionRow> rows;      // newest first
  std::vector<std::string> cursors;  // for each row, where the rows after it start
  bool at_end = true;                // nothing comes after the last row
};

// All that a session is made of, each part written when it is asked for.
struct SessionContents {
  using Produce = std::function<Status(Sink&)>;
  Produce entries;
  Produce tombstones;  // asked for last, while no writer can change a session that is replaced
  std::vector<std::pair<std::string, Produce>> documents;  // by name; kMetadataFile among them
};

// What install() does when the session exists.
enum class Existing : uint8_t {
  kRefuse,      // kAlreadyExists
  kSwap,        // replaces it in one step; kUnsupported where the file system cannot
  kSwapOrMove,  // the same, or else in two: a death between them leaves none
};

// A store's worth of sessions.
class Engine {
 public:
  virtual ~Engine() = default;

  // How long create() and rescan() wait for each other.
  virtual void set_lock_timeout_ms(uint64_t timeout_ms) = 0;

  // A new session with this metadata document, durable when this answers ok. kAlreadyExists.
  virtual Result<std::unique_ptr<SessionStorage>> create(const SessionRow& row,
                                                         std::string_view metadata) = 0;
  virtual Result<std::unique_ptr<SessionStorage>> open(std::string_view session_id) = 0;
  // A session that comes with its contents: there as a whole or not at all, durable when this
  // answers ok. Handles of one that was replaced answer kNotFound from then on. Waits for its
  // writer until `deadline_us`.
  virtual Status install(const SessionRow& row, const SessionContents& contents, Existing existing,
                         int64_t deadline_us) = 0;
  // Removes a session with everything in it. Waits for its writer until `deadline_us`. `wanted` is
  // asked when the session's lock is held: false is kConflict, and nothing happens. Empty: always.
  using DropWanted = std::function<Result<bool>(SessionStorage& storage)>;
  virtual Status drop(std::string_view session_id, int64_t deadline_us,
                      const DropWanted& wanted) = 0;
  static constexpr size_t kRowsAtATime = 256;
  // A page of the registry. Rows of sessions dropped since may still be among them:
  // session_document tells. Cost: grows with the page.
  virtual Result<RowPage> list(std::string_view after, size_t limit) = 0;
  // The ids of all sessions, by themselves and not by the registry. Cost: their number.
  virtual Result<std::vector<std::string>> session_ids() = 0;
  // Whether the store is kept in this directory.
  virtual bool is_kept_in(io::Directory& directory) = 0;
  // Makes the registry anew from the sessions themselves.
  virtual Status rescan() = 0;
  // The log of the store's own in which its catalog is kept: kNotFound, also where there never is
  // one. create_catalog() opens the one that is there; drop_catalog() is ok when there is none, and
  // durable.
  virtual Result<std::unique_ptr<SessionStorage>> open_catalog();
  virtual Result<std::unique_ptr<SessionStorage>> create_catalog(std::string_view metadata);
  virtual Status drop_catalog(int64_t deadline_us);
  // A small document of a session, without opening it; kNotFound.
  virtual Result<std::string> session_document(std::string_view session_id,
                                               std::string_view name) = 0;
  // A small document of the store itself ("config.json"); kNotFound.
  virtual Result<std::string> store_document(std::string_view name) = 0;

 protected:
  // Asks `wanted`; what it answers as drop() is to.
  static Status agree_to_drop(SessionStorage& storage, const DropWanted& wanted);
};

}  // namespace varve::log
