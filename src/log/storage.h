// The storage seam: what a session's log is kept in. Nothing above log/ knows about files.
//
// A session is two streams of whole lines, entries and tombstones (and a third, quarantine, that is
// only appended to), and a few small named documents. The entries stream comes in generations:
// replace() installs a new one in a single atomic step. A position is (generation, byte offset).
// Vectors have a binary stream with its own generations; most sessions have none.
//
// Outcomes beyond the usual: kConflict (the tail is not where the caller thought: read what was
// added and decide again), kGone (that generation was replaced), kNotFound (the session was
// deleted), kUnknown (it is not known whether the write took effect: read the tail to find out).
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
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"

namespace varve::io {
class Directory;
}  // namespace varve::io

namespace varve::log {

// Tables of names use this order.
enum class Stream : uint8_t { kEntries, kTombstones, kQuarantine, kVectors };
inline constexpr size_t kStreamCount = 4;

// The names of a session's parts: of its files in a directory, and in reports of any storage.
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

// When an answered write survives a power loss.
enum class Durability : uint8_t {
  kCommit,    // before the answer
  kInterval,  // within batch_write_interval_ms
  kOs,        // when the operating system gets to it; a killed process loses nothing
};

// kGone, for whoever still asks for an earlier generation.
[[nodiscard]] Status replaced();

struct Tail {
  uint64_t generation = 0;  // of the entries stream, as this process counts them
  uint64_t entries_bytes = 0;
  uint64_t tombstones_bytes = 0;
  friend bool operator==(const Tail&, const Tail&) = default;
};

// How many bytes the vectors have, in which of their generations.
struct VectorsTail {
  uint64_t generation = 0;
  uint64_t bytes = 0;
  friend bool operator==(const VectorsTail&, const VectorsTail&) = default;
};

// How far earlier writers say the log is durable. What they say is true, but may be out of date.
struct DurableMark {
  uint64_t entries_bytes = 0;  // of the present generation
  uint64_t last_seq = 0;
};

// A document as it was when it was opened: what is appended to it later is not part of the view.
class DocumentView {
 public:
  virtual ~DocumentView() = default;
  [[nodiscard]] virtual uint64_t size_bytes() const = 0;
  // Fills `out` from `offset`; fewer bytes at the end, or where a failed append was cut off since.
  // kGone when another document replaced it and the storage does not keep the old one.
  virtual Result<size_t> read(uint64_t offset, std::span<char> out) = 0;
  // The same for two views that live at the same time if there was no put_document() between them.
  [[nodiscard]] virtual uint64_t identity() const = 0;
};

// Who holds the session's lock, as the lock file says.
struct LockHolder {
  bool is_held = false;  // by anybody, this process included
  int64_t process_id = 0;
  std::string operation;
  int64_t since_ms = 0;  // when that process began this operation
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

// Gives an empty sink. Called again when what was begun has to be written anew.
using BeginSink = std::function<Sink&()>;

// Collects what is appended.
class TextSink final : public Sink {
 public:
  Status append(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  std::string text;
};

// What a power loss may do to a document that was put.
enum class DocumentDurability : uint8_t {
  kNone,     // anything: the document can be made again
  kContent,  // bring back the one before, but not once a stream was replaced since
  kNamed,    // nothing
};

class SessionStorage {
 public:
  using Meanwhile = std::function<void()>;

  virtual ~SessionStorage() = default;

  // --- any thread, no lock ---
  // How long the streams are now. If the generation has changed, start reading from the beginning.
  virtual Result<Tail> tail() = 0;
  virtual Result<VectorsTail> vectors_tail() = 0;  // separate, so that tail() costs no more
  // Fills `out` from `offset`; fewer bytes only at the end of the stream.
  virtual Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                              std::span<char> out) = 0;
  virtual Result<std::string> get_document(std::string_view name) = 0;  // kNotFound
  virtual Result<std::unique_ptr<DocumentView>> open_document(
      std::string_view name) = 0;                       // kNotFound
  virtual Result<std::vector<StoredFile>> files() = 0;  // by name
  virtual DurableMark durable_mark() = 0;
  // kNotFound when the session was deleted or replaced, also by a process that was killed before it
  // removed anything: until then the streams and documents can still be read.
  virtual Status check_name() { return {}; }
  // For people: may be out of date when it is answered. It waits for nobody and keeps nobody out.
  virtual LockHolder lock_holder() { return {}; }
  [[nodiscard]] virtual bool writable() const = 0;
  // For messages: what a person would call the stream ("/x/sessions/s/memory.jsonl").
  [[nodiscard]] virtual std::string name_of(Stream stream) const = 0;
  // The same for a document, which lies beside the stream.
  [[nodiscard]] std::string name_of_document(std::string_view name) const;

  // While the result is held, the stream's present content stays on the disk, even when it is
  // replaced, so that the caller chooses when to wait for its removal. Null: nothing to wait for.
  virtual std::shared_ptr<const void> keep_open(Stream) { return nullptr; }

  // --- the writer ---
  // Waits for the exclusive lock until `deadline_us` (Clock::monotonic_us), then answers kBusy and
  // names the holder where it is known. One thread of this object at a time may hold it.
  // `operation` is for people who read the lock file. *waited, if given, tells whether somebody
  // held the lock.
  virtual Status lock(int64_t deadline_us, std::string_view operation, bool* waited) = 0;
  virtual void unlock() noexcept = 0;
  // For the lock holder: until stop_keeping_lock(), also for the holder, unlock() does not release
  // the lock, and the streams need not be looked at again, since only this object may change them.
  // If somebody appends without the lock, the next append is a conflict, and the storage sees it
  // from then on.
  virtual void keep_lock() {}
  virtual void stop_keeping_lock() {}

  // Another number once somebody has put the document; 0: not known.
  virtual uint64_t document_mark(std::string_view) { return 0; }

  // --- only while holding the lock ---
  // The tail as lock() saw it: nobody who respects the lock has changed it since.
  virtual Result<Tail> locked_tail() { return tail(); }
  // Whether somebody else, in any process, held the lock since this object last did, or may have.
  [[nodiscard]] virtual bool was_locked_by_others() const { return false; }
  // Appends whole lines at `expected_bytes`, kConflict if that is not the end. With `durable`, the
  // lines and everything before them survive power loss when this answers ok; `last_seq` is then
  // published as durable. On any failure the stream is as it was, or the storage refuses every
  // later write with kReadOnly and says why.
  // If somebody appends without the lock at the same moment, nothing of theirs is lost: the stream
  // may then have a new generation although this answers ok.
  // `meanwhile`, if given, may be called once, when the lines are in the stream and the disk is
  // taking them: for work that need not wait for the disk. It must not throw or write. If append()
  // fails after that, the stream has a new generation, or the lines are still in it.
  virtual Status append(Stream stream, uint64_t expected_bytes, std::string_view lines,
                        bool durable, uint64_t last_seq, const Meanwhile& meanwhile) = 0;
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq) {
    return append(stream, expected_bytes, lines, durable, last_seq, {});
  }
  // Makes everything appended so far durable.
  virtual Status sync(uint64_t last_seq) = 0;
  // Cuts a stream of `expected_bytes` to `size_bytes`: its torn tail, whose bytes are in
  // quarantine. kConflict if it has another length: somebody appends without the lock, and what
  // looked like a torn tail may be theirs.
  virtual Status truncate(Stream stream, uint64_t expected_bytes, uint64_t size_bytes) = 0;
  // Replaces a stream by what `produce` writes: a new generation, durable when this answers ok.
  // After any failure the old one is there. With `expected_bytes`, kConflict if the old one has
  // another length when the new one is to take its place: somebody appended without the lock, and
  // what is not in the new one would be lost.
  virtual Status replace(Stream stream, std::optional<uint64_t> expected_bytes,
                         const std::function<Status(Sink&)>& produce) = 0;
  Status replace(Stream stream, const std::function<Status(Sink&)>& produce) {
    return replace(stream, std::nullopt, produce);
  }
  // Removes the vectors, durably. Ok when there are none: then that is durable.
  virtual Status remove_vectors() = 0;
  // Removes what lies beside the streams and may hold bytes that left them: quarantine, the named
  // (derived) documents, and what killed processes left. Durable when this answers ok.
  virtual Status remove_residue(std::span<const std::string_view> documents) = 0;
  // Replaces a small document in one step: a reader sees the whole old one or the whole new one.
  virtual Status put_document(std::string_view name, std::string_view bytes,
                              DocumentDurability durability) = 0;
  // Removes a derived document. Not durable: it may be back after a crash. Ok when it is not there.
  virtual Status remove_document(std::string_view name) = 0;
  // Appends to a document; creates it if `expected_bytes` is 0 and it is not there. Otherwise as
  // append(). Without `durable`, sync() makes it durable. Only for the transcript: a writer that
  // cannot sync a document copies it into a new file, and must know which one to copy.
  virtual Status append_to_transcript(uint64_t expected_bytes, std::string_view bytes,
                                      bool durable) = 0;

  // --- the store's catalog (session/catalog.h), only while holding the lock ---
  // Whether set_noted() was called on this object since anybody, in any process, last called
  // mark_catalogued().
  [[nodiscard]] virtual bool is_noted() const { return true; }
  virtual void set_noted() {}
  // How often mark_catalogued() was called, as far as the lock file says.
  [[nodiscard]] virtual uint64_t catalogued_count() const { return 0; }
  virtual Status mark_catalogued() { return {Code::kUnsupported, "there is no catalog here"}; }

  // Entries that were answered but are not on the disk: see failure_buffer.h.
  [[nodiscard]] virtual Undurable undurable() const { return {}; }

  // Where to count the durations of syncs [us]; null: nowhere. Set before the first write.
  virtual void set_sync_histogram(Histogram* histogram) { sync_us_ = histogram; }
  // What lock() does between two attempts while somebody else holds the lock. It must not need the
  // lock or take long. Set before the first write.
  virtual void set_work_while_waiting(std::function<void()> work) {
    work_while_waiting_ = std::move(work);
  }

 protected:
  Histogram* sync_us_ = nullptr;
  std::function<void()> work_while_waiting_;
};

// One row of the registry: the facts about a session that never change.
struct SessionRow {
  std::string session_id;
  std::string user_id;
  std::string agent_id;
  int64_t created_at_ms = 0;
  // For install(): where the list has this row already, as the cursor of a page tells. Empty: it
  // is not known to have it.
  std::string listed_at = {};
  // Beside `listed_at`: the list tells that the session was dropped since.
  bool was_dropped = false;
  // For the registry: it takes the place of another session of its id, which ends.
  bool ends_another = false;
};

struct RowPage {
  std::vector<SessionRow> rows;      // newest first
  std::vector<std::string> cursors;  // for each row, where the rows after it start
  bool at_end = true;                // nothing comes after the last row
  bool has_damage = false;           // among the rows is a line that cannot be read
  bool is_collected = false;         // from the sessions, by their times: a later one may be older
};

// A session is there, was dropped, or was lost; its id may have been used before and after.
struct ListedLives {
  // Newest first, without those of sessions that were dropped: what has no session any more was
  // lost. An id has several where sessions were lost and made anew.
  std::vector<SessionRow> undropped;
  // The ids of which a session was dropped, and when the last.
  std::unordered_map<std::string, int64_t> dropped_at_ms;
};

using ValidRows = std::unordered_map<std::string, SessionRow>;  // by session_id

// Everything a session consists of. Each part is written when it is asked for.
struct SessionContents {
  using Produce = std::function<Status(Sink&)>;
  Produce entries;
  std::vector<std::pair<std::string, Produce>> documents;  // by name, without the metadata
  // Asked for last, when no writer can change the session that is replaced.
  Produce metadata;  // empty: there is none
  Produce tombstones;
};

// What install() does when the session exists already.
enum class Existing : uint8_t {
  kRefuse,      // kAlreadyExists
  kSwap,        // replaces it in one step; kUnsupported where the file system cannot
  kSwapOrMove,  // the same, or else in two steps: a kill between them leaves no session
};

// All sessions of one store.
class Engine {
 public:
  virtual ~Engine() = default;

  // How long any call waits for a lock that somebody else holds.
  virtual void set_lock_timeout_ms(uint64_t timeout_ms) = 0;

  // Creates a session with this metadata document, durable when this answers ok. kAlreadyExists.
  virtual Result<std::unique_ptr<SessionStorage>> create(const SessionRow& row,
                                                         std::string_view metadata) = 0;
  virtual Result<std::unique_ptr<SessionStorage>> open(std::string_view session_id) = 0;
  // Whether the name is taken, but not by a session: a directory made by hand or half copied.
  virtual Result<bool> is_name_without_session(std::string_view session_id);
  // Creates a session with its contents: it is there as a whole or not at all, durable when this
  // answers ok. Handles of a session that it replaces answer kNotFound from then on. Waits for that
  // session's writer once the contents are written. kConflict when a session of that id appeared or
  // went meanwhile: what the tombstones were made from is then out of date.
  virtual Status install(const SessionRow& row, const SessionContents& contents,
                         Existing existing) = 0;
  // Removes a session with everything in it, after waiting for its writer. `wanted` is called with
  // the lock held: false is kConflict, and nothing happens. Empty: always.
  using DropWanted = std::function<Result<bool>(SessionStorage& storage)>;
  virtual Status drop(std::string_view session_id, const DropWanted& wanted) = 0;
  static constexpr size_t kRowsAtATime = 256;
  // A page of the registry. It may have rows of sessions that were dropped: session_document()
  // tells. Cost: grows with the page. Where the registry is lost and may not be made anew, the
  // first page collects the rows from the sessions, for the pages that follow it, too.
  virtual Result<RowPage> list(std::string_view after, size_t limit) = 0;
  // The ids of all sessions, from the sessions themselves, not the registry. Cost: their number.
  virtual Result<std::vector<std::string>> session_ids() = 0;
  // Whether the store is kept in this directory.
  virtual bool is_kept_in(io::Directory& directory) = 0;
  // Rebuilds the registry from the sessions.
  virtual Status rescan() = 0;
  // What the registry tells of the ids that `is_wanted` takes. Cost: a read of it.
  using IdWanted = std::function<bool(const std::string& session_id)>;
  virtual Result<ListedLives> lives(const IdWanted& is_wanted) = 0;
  // Of sessions whose metadata does not tell which row is their own: the row of the last that had
  // or got back the name. Cost: reads the registry up to the oldest of these rows.
  virtual Result<ValidRows> valid_rows(std::unordered_set<std::string> session_ids) = 0;
  // So long the registry tells a drop at least, unless it is rebuilt.
  static constexpr int64_t kDropsKeptMs = int64_t{90} * 24 * 3600 * 1000;
  // Takes out of the registry the rows of dropped sessions, and what it tells of drops that are
  // older than that. Cost: a read and a write of it.
  virtual Status remove_dead_rows() = 0;
  // The store's own log that holds its catalog: kNotFound when there is none; some engines never
  // have one. create_catalog() opens an existing one. drop_catalog() is durable, and ok when there
  // is none.
  virtual Result<std::unique_ptr<SessionStorage>> open_catalog();
  virtual Result<std::unique_ptr<SessionStorage>> create_catalog(std::string_view metadata);
  virtual Status drop_catalog();
  // Removes the copies of sessions that killed restores and deletions left in the store.
  virtual Status remove_left_overs() { return {}; }
  // A small document of a session, without opening it; kNotFound. kCorruption when what has its
  // name is no file, or larger than any document.
  virtual Result<std::string> session_document(std::string_view session_id,
                                               std::string_view name) = 0;
  // A small document of the store itself ("config.json"); kNotFound.
  virtual Result<std::string> store_document(std::string_view name) = 0;

 protected:
  static Status no_session(std::string_view session_id);
  static Status already_there(std::string_view session_id);
  static Status changed_meanwhile(std::string_view session_id);
  // Asks `wanted`. Returns what drop() has to answer.
  static Status agree_to_drop(SessionStorage& storage, const DropWanted& wanted);
};

}  // namespace varve::log
