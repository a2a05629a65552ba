#include "log/registry.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <new>
#include <utility>

#include "base/hash.h"
#include "base/ids.h"
#include "base/time.h"
#include "log/atomic_file.h"

namespace varve::log {

namespace {

constexpr uint64_t kBlockBytes = 16 << 10;
constexpr int64_t kBackOffUs = 500;
// What names a row's owner stands in metadata.json, too, which has 16 MiB at most.
constexpr size_t kRowBytesMax = size_t{32} << 20;

constexpr std::string_view kDroppedAt = "dropped_at";
constexpr std::string_view kRestoredAt = "restored_at";
constexpr std::string_view kDropStart = R"({"dropped_at":)";  // as encode_drop() writes it

json::Tree tree_of(const SessionRow& row) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(row.session_id));
  tree.set("user_id", json::Tree::string(row.user_id));
  tree.set("agent_id", json::Tree::string(row.agent_id));
  tree.set("created_at", json::Tree::string(format_rfc3339(row.created_at_ms)));
  return tree;
}

std::string encode_row(const SessionRow& row) { return tree_of(row).canonical() + "\n"; }

std::string encode_return(const SessionRow& row, int64_t now_ms) {
  json::Tree tree = tree_of(row);
  tree.set(kRestoredAt, json::Tree::string(format_rfc3339(now_ms)));
  return tree.canonical() + "\n";
}

std::string encode_drop(std::string_view session_id, int64_t now_ms) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(std::string(session_id)));
  tree.set(kDroppedAt, json::Tree::string(format_rfc3339(now_ms)));
  return tree.canonical() + "\n";
}

enum class LineKind : uint8_t { kRow, kReturn, kDrop };

struct ListLine {
  LineKind kind = LineKind::kRow;
  SessionRow row;  // of a drop: only the id
  int64_t dropped_at_ms = 0;
};

std::optional<ListLine> decode_line(std::string_view text) {
  const auto tree = json::Tree::parse(text);
  if (!tree.ok() || !tree->is_object()) return std::nullopt;
  ListLine line;
  line.row = row_of(tree->get_string("session_id"), *tree);
  // No session can have another id, and whoever opens all sessions would be refused it.
  if (!is_valid_id(line.row.session_id)) return std::nullopt;
  if (tree->get(kDroppedAt) != nullptr) {
    line.kind = LineKind::kDrop;
    line.dropped_at_ms = parse_rfc3339(tree->get_string(kDroppedAt)).value_or(0);
  } else if (tree->get(kRestoredAt) != nullptr) {
    line.kind = LineKind::kReturn;
  }
  return line;
}

// A place in a list: the rows before `offset`, where one of this hash stands. The inode tells lists
// apart, but its number is used again.
struct Cursor {
  uint64_t inode = 0;
  uint64_t offset = 0;
  uint64_t row_hash = 0;
};

// "inode:offset:row_hash".
std::string encode_cursor(const Cursor& cursor) {
  return std::to_string(cursor.inode) + ":" + std::to_string(cursor.offset) + ":" +
         std::to_string(cursor.row_hash);
}

std::optional<Cursor> parse_cursor(std::string_view text) {
  Cursor cursor;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (uint64_t* number : {&cursor.inode, &cursor.offset, &cursor.row_hash}) {
    if (number != &cursor.inode && (at == end || *at++ != ':')) return std::nullopt;
    const auto parsed = std::from_chars(at, end, *number);
    if (parsed.ec != std::errc()) return std::nullopt;
    at = parsed.ptr;
  }
  return at == end ? std::optional(cursor) : std::nullopt;
}

// The row that begins there, without its line end; cut off where it is longer than any can be.
Result<std::string> row_at(io::File& file, uint64_t offset) {
  std::string row;
  for (size_t end = std::string::npos; end == std::string::npos && row.size() <= kRowBytesMax;) {
    std::string block(kBlockBytes, '\0');
    VARVE_TRY_ASSIGN(const size_t got, file.read_at(offset + row.size(), block));
    row.append(block, 0, got);
    end = got == 0 ? row.size() : row.find('\n', row.size() - got);
    if (end != std::string::npos) row.resize(end);
  }
  return row;
}

Result<uint64_t> decode_cursor(std::string_view text, io::File& file, const io::FileInfo& info) {
  if (text.empty()) return info.size_bytes;
  const auto cursor = parse_cursor(text);
  if (cursor && cursor->inode == info.identity.inode && cursor->offset < info.size_bytes) {
    VARVE_TRY_ASSIGN(const std::string row, row_at(file, cursor->offset));
    if (hash64(row) == cursor->row_hash) return cursor->offset;
  }
  return not_a_cursor();
}

// Reads the lines of a file backwards, from a given end. One that is longer than any row can be, as
// in a file with a hole, is passed over and not kept.
class BackwardLines {
 public:
  BackwardLines(io::File& file, uint64_t end) : file_(file), block_start_(end) {}

  // The previous line, and where it starts. False at the start of the file.
  Result<bool> next(std::string_view* line, uint64_t* offset) {
    is_ended_ = false;
    for (;;) {
      if (!buffer_.empty() && buffer_.back() == '\n') {
        buffer_.pop_back();
        is_passed_over_ = false;
        is_ended_ = true;
      }
      const size_t newline = buffer_.rfind('\n');
      if (newline != std::string::npos || (block_start_ == 0 && !buffer_.empty())) {
        const size_t begin = newline == std::string::npos ? 0 : newline + 1;
        line_ = buffer_.substr(begin);
        buffer_.resize(begin);
        if (std::exchange(is_passed_over_, false)) continue;  // the start of it
        *line = line_;
        *offset = block_start_ + begin;
        return true;
      }
      if (block_start_ == 0) return false;
      if (buffer_.size() > kRowBytesMax) {
        buffer_.clear();
        is_passed_over_ = true;
      }
      VARVE_TRY(read_block());
    }
  }

  // Whether a line end was behind the last one: somebody may be appending one without.
  [[nodiscard]] bool is_ended() const { return is_ended_; }

 private:
  Status read_block() {
    const uint64_t size =
        std::min<uint64_t>(std::max<uint64_t>(kBlockBytes, buffer_.size()), block_start_);
    std::string block(static_cast<size_t>(size), '\0');
    VARVE_TRY_ASSIGN(const size_t got, file_.read_at(block_start_ - size, block));
    block_start_ -= size;
    block.resize(got);  // less than that: a half appended row has been cut off meanwhile
    buffer_.insert(0, block);
    return {};
  }

  io::File& file_;
  uint64_t block_start_;
  std::string buffer_;  // [block_start_, the start of the last returned line)
  std::string line_;
  bool is_passed_over_ = false;  // what is read belongs to a line that is too long
  bool is_ended_ = false;
};

// Visits the lines, newest first, until `visit` answers false; with nothing for one that cannot be
// read.
Status for_each_line(io::Directory& indices,
                     const std::function<bool(std::optional<ListLine> line)>& visit) {
  auto file = indices.open(kRegistryFile, io::OpenMode::kRead);
  if (file.code() == Code::kNotFound) return {};
  if (!file.ok()) return std::move(file).status();
  VARVE_TRY_ASSIGN(uint64_t offset, (*file)->size_bytes());
  BackwardLines lines(**file, offset);
  std::string_view text;
  for (;;) {
    auto more = lines.next(&text, &offset);
    if (!more.ok()) return std::move(more).status().in_file(indices.path_of(kRegistryFile));
    if (!*more) return {};
    auto line = decode_line(text);
    if (!line && (text.empty() || !lines.is_ended())) continue;
    if (!visit(std::move(line))) return {};
  }
}

}  // namespace

Status not_a_cursor() {
  return {Code::kInvalidArgument,
          "'after' is not a cursor of this list, or the list was rebuilt meanwhile; start from the "
          "first page",
          {.member = "after"}};
}

SessionRow row_of(std::string_view session_id, const json::Tree& metadata) {
  SessionRow row;
  row.session_id = session_id;
  row.user_id = metadata.get_string("user_id");
  row.agent_id = metadata.get_string("agent_id");
  row.created_at_ms = parse_rfc3339(metadata.get_string("created_at")).value_or(0);
  return row;
}

Result<bool> Registry::has_lines() {
  bool has_any = false;
  VARVE_TRY(for_each_line(indices_, [&](const std::optional<ListLine>& line) {
    has_any = line.has_value();
    return !has_any;
  }));
  return has_any;
}

bool Registry::exists() { return indices_.info(kRegistryFile).code() != Code::kNotFound; }

Result<std::unique_ptr<io::File>> Registry::lock(int64_t deadline_us) {
  VARVE_TRY_ASSIGN(auto file, indices_.open(kRegistryLock, io::OpenMode::kUpdateOrCreate, 0644));
  for (;;) {
    VARVE_TRY_ASSIGN(const bool held, file->try_lock());
    if (held) return file;
    const int64_t left_us = deadline_us - clock_.monotonic_us();
    if (left_us <= 0) {
      return Status(Code::kBusy,
                    "another process is creating a session or rebuilding the list; try again later")
          .in_file(indices_.path_of(kRegistryLock));
    }
    clock_.sleep_us(std::min(left_us, kBackOffUs));
  }
}

// The list may have been rebuilt since somebody saw the row there.
Result<bool> Registry::is_listed(const SessionRow& row) {
  if (row.listed_at.empty()) return false;
  const auto file = indices_.open(kRegistryFile, io::OpenMode::kRead);
  if (file.code() == Code::kNotFound) return false;
  if (!file.ok()) return file.status();
  VARVE_TRY_ASSIGN(const io::FileInfo info, (*file)->info());
  const auto offset = decode_cursor(row.listed_at, **file, info);
  if (offset.code() == Code::kInvalidArgument) return false;
  VARVE_TRY(offset);
  const std::string line = encode_row(row);
  std::string there(line.size(), '\0');
  VARVE_TRY_ASSIGN(const size_t got, (*file)->read_at(*offset, there));
  return got == line.size() && there == line;
}

// What the list lacks for the row to stand for a session; empty where it has it.
Result<std::string> Registry::new_line(const SessionRow& row) {
  VARVE_TRY_ASSIGN(const bool has_row, is_listed(row));
  const int64_t now_ms = clock_.now_ms();
  const std::string drop = row.ends_another ? encode_drop(row.session_id, now_ms) : std::string();
  if (!has_row) return drop + encode_row(row);
  const bool is_back = row.was_dropped || row.ends_another;
  return is_back ? drop + encode_return(row, now_ms) : std::string();
}

// Also without a line the list is synced: who appended the last may have been killed before it did.
Status Registry::append(const std::string& line) {
  VARVE_TRY_ASSIGN(auto file, indices_.open(kRegistryFile, io::OpenMode::kAppendOrCreate));
  VARVE_TRY_ASSIGN(const uint64_t size_bytes, append_lines(*file, line));
  Status synced = file->sync_data();
  if (!synced.ok()) {
    // No later sync of this file can be believed. It is derived and will be rebuilt.
    (void)indices_.remove(kRegistryFile).ok();
    return synced;
  }
  return size_bytes == 0 ? indices_.sync() : Status();
}

Status Registry::add(const SessionRow& row, int64_t deadline_us,
                     const std::function<Status()>& give_name,
                     const std::function<Status()>& is_refused) {
  const std::lock_guard guard(mutex_);
  VARVE_TRY_ASSIGN(const auto held, lock(deadline_us));
  if (is_refused) VARVE_TRY(is_refused());
  VARVE_TRY(make_if_lost());
  VARVE_TRY_ASSIGN(const std::string line, new_line(row));
  VARVE_TRY(append(line));
  return give_name();
}

// Another process may have removed the list, see append(), or damage taken its rows. One of a new
// row alone would hide the others.
Status Registry::make_if_lost() {
  if (!collect_) return {};
  VARVE_TRY_ASSIGN(const bool has_any, has_lines());
  return has_any ? Status() : replace_locked(collect_);
}

Status Registry::drop(std::string_view session_id, int64_t deadline_us, const TakeName& take_name) {
  const std::lock_guard guard(mutex_);
  auto held = lock(deadline_us);
  Status told = held.status();
  if (told.ok()) told = make_if_lost();
  if (told.ok()) told = append(encode_drop(session_id, clock_.now_ms()));
  const bool has_no_room = told.code() == Code::kNoSpace;
  const bool has_no_list = told.code() == Code::kNotFound;
  if (!told.ok() && !has_no_room && !has_no_list) return told;
  Status taken = take_name(has_no_room);
  try {
    if (taken.ok() && has_no_room) {
      if (!held.ok()) held = lock(deadline_us);
      if (held.ok()) tell_late(session_id);
    }
    const bool is_there = !taken.ok() && taken.code() != Code::kNotFound;
    if (is_there && told.ok()) take_back_drop(session_id);
  } catch (const std::bad_alloc&) {
    return taken;
  }
  return taken;
}

// Best effort: a session that is gone is answered as dropped. A backup then takes it for lost, and
// says so.
void Registry::tell_late(std::string_view session_id) {
  if (make_if_lost().ok()) (void)append(encode_drop(session_id, clock_.now_ms())).ok();
}

// Best effort. The session may be there yet, and a drop that was told and not done would let a
// backup remove its copy, were it lost later.
void Registry::take_back_drop(std::string_view session_id) {
  const auto rows = valid_rows({std::string(session_id)});
  if (!rows.ok() || rows->empty()) return;
  (void)append(encode_return(rows->begin()->second, clock_.now_ms())).ok();
}

Result<RowPage> Registry::list(std::string_view after, size_t limit) {
  RowPage page;
  auto file = indices_.open(kRegistryFile, io::OpenMode::kRead);
  if (file.code() == Code::kNotFound) return page;
  if (!file.ok()) return std::move(file).status();
  VARVE_TRY_ASSIGN(const io::FileInfo info, (*file)->info());
  VARVE_TRY_ASSIGN(uint64_t offset, decode_cursor(after, **file, info));
  BackwardLines lines(**file, offset);
  std::string_view line;
  while (page.rows.size() < limit) {
    auto more = lines.next(&line, &offset);
    if (!more.ok()) return std::move(more).status().in_file(indices_.path_of(kRegistryFile));
    if (!*more) return page;
    if (line.starts_with(kDropStart)) continue;  // there may be many behind the newest row
    auto decoded = decode_line(line);
    if (!decoded) {
      page.has_damage = page.has_damage || (lines.is_ended() && !line.empty());
      continue;
    }
    if (decoded->kind != LineKind::kRow) continue;
    page.rows.push_back(std::move(decoded->row));
    page.cursors.push_back(encode_cursor({info.identity.inode, offset, hash64(line)}));
  }
  page.at_end = offset == 0;
  return page;
}

// Behind a drop, a line that cannot be read may be of a session that was not dropped: such a drop
// proves nothing.
Result<ListedLives> Registry::lives(const Engine::IdWanted& is_wanted) {
  ListedLives lives;
  bool may_hide_row = false;
  VARVE_TRY(for_each_line(indices_, [&](std::optional<ListLine> line) {
    may_hide_row = may_hide_row || !line;
    if (!line || !is_wanted(line->row.session_id)) return true;
    std::string& id = line->row.session_id;
    if (line->kind == LineKind::kDrop) {
      if (!may_hide_row) lives.dropped_at_ms.try_emplace(std::move(id), line->dropped_at_ms);
    } else if (!lives.dropped_at_ms.contains(id)) {
      lives.undropped.push_back(std::move(line->row));
    }
    return true;
  }));
  return lives;
}

Result<ValidRows> Registry::valid_rows(std::unordered_set<std::string> session_ids) {
  ValidRows rows;
  if (session_ids.empty()) return rows;
  VARVE_TRY(for_each_line(indices_, [&](std::optional<ListLine> line) {
    if (!line || line->kind == LineKind::kDrop) return true;
    const std::string id = line->row.session_id;
    if (session_ids.erase(id) > 0) rows.emplace(id, std::move(line->row));
    return !session_ids.empty();
  }));
  return rows;
}

Status Registry::replace(int64_t deadline_us, const Collect& collect) {
  const std::lock_guard guard(mutex_);
  VARVE_TRY_ASSIGN(const auto held, lock(deadline_us));
  return replace_locked(collect);
}

Status Registry::replace_rows(int64_t deadline_us, const Collect& collect,
                              int64_t dropped_since_ms) {
  const std::lock_guard guard(mutex_);
  VARVE_TRY_ASSIGN(const auto held, lock(deadline_us));
  VARVE_TRY_ASSIGN(ListedLives kept, lives([](const std::string&) { return true; }));
  std::erase_if(kept.dropped_at_ms,
                [&](const auto& item) { return item.second < dropped_since_ms; });
  return replace_locked(collect, kept);
}

// The drops come first: the rows behind them are of sessions that were not dropped.
Status Registry::replace_locked(const Collect& collect, const ListedLives& kept) {
  remove_temporary_files(indices_);
  VARVE_TRY_ASSIGN(const auto rows, collect());
  return replace_file(indices_, kRegistryFile, random_, {}, [&](Sink& sink) {
    for (const auto& [id, at_ms] : kept.dropped_at_ms) {
      VARVE_TRY(sink.append(encode_drop(id, at_ms)));
    }
    for (const auto& row : rows) VARVE_TRY(sink.append(encode_row(row)));
    return Status();
  });
}

// Only listed when there is nothing: a deletion asks each time.
void Registry::remove_left_overs() {
  const auto items = indices_.list();
  if (!items.ok() || std::ranges::none_of(*items, [](const io::DirectoryItem& item) {
        return is_temporary_name(item.name);
      })) {
    return;
  }
  const std::lock_guard guard(mutex_);
  const auto held = lock(clock_.monotonic_us());
  if (held.ok()) remove_temporary_files(indices_);
}

}  // namespace varve::log
