// watch.
#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <optional>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/timestamp.h"
#include "cli/view/display_text.h"
#include "cli/view/figures_view.h"
#include "cli/view/live_screen.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

constexpr size_t kWatchedMax = 256;
constexpr double kHourMs = 3'600'000;
constexpr size_t kLinesBesidesRows = 4;
constexpr double kIntervalMinS = 0.1;  // a shorter one would keep a processor busy

struct WatchOptions {
  Operands operands;
  double interval_s = 2;
  int64_t count = 0;  // 0: until it is stopped
  bool once = false;
};

int64_t now_ms() { return static_cast<int64_t>(std::time(nullptr)) * 1000; }

// A watched session, as of the last two looks.
struct Watched {
  std::optional<Session> session;  // none until it could be opened
  std::string text;                // what varve_session_stats said
  json::object stats;
  std::string failure;  // why the last look failed
  int64_t added = 0;    // since the look before
  int64_t deleted = 0;
};

class Watch {
 public:
  Watch(Invocation& invocation, Store& store, std::string only)
      : invocation_(invocation), store_(store), only_(std::move(only)) {}

  // Looks at all sessions again.
  Outcome look() {
    if (Outcome outcome = find_sessions()) return outcome;
    for (auto item = watched_.begin(); item != watched_.end();) {
      item = look_at(item->first, item->second) ? std::next(item) : watched_.erase(item);
    }
    return {};
  }

  void print(size_t rows_max) {
    const std::vector<const Row*> rows = by_change();
    if (invocation_.json()) {
      print_json(rows);
      return;
    }
    int64_t entries = 0;
    int64_t bytes = 0;
    Table table({{"SESSION", Align::kLeft, Style::kId},
                 {"ENTRIES", Align::kRight},
                 {"ADDED", Align::kRight, Style::kGood},
                 {"DELETED", Align::kRight, Style::kWarning},
                 {"SIZE", Align::kRight},
                 {"LIMIT", Align::kRight},
                 {"CHANGED", Align::kLeft, Style::kFaint},
                 {"LOCK", Align::kLeft, Style::kType},
                 {"DAMAGE", Align::kLeft, Style::kError}});
    for (size_t i = 0; i < rows.size(); ++i) {
      const Watched& row = rows[i]->second;
      entries += integer_at(row.stats, "entries");
      bytes += integer_at(object_at(row.stats, "size_bytes"), "total");
      if (rows_max == 0 || i < rows_max) table.add_row(cells_of(*rows[i]));
    }
    if (!invocation_.quiet()) {
      invocation_.print(
          heading(", " + time_of_day() + ": " +
                  format_count(static_cast<int64_t>(rows.size()), "session", "sessions") + ", " +
                  format_count(entries, "entry", "entries") + ", " + format_bytes(bytes)));
    }
    table.print(invocation_.out(), invocation_.terminal());
  }

 private:
  using Row = std::pair<const std::string, Watched>;

  Outcome find_sessions() {
    if (!only_.empty()) return watched_.empty() ? open(only_) : Outcome();
    Result<std::vector<std::string>> ids = watched_.empty() ? last_accessed() : newest();
    if (!ids.ok()) return std::move(ids.failure());
    for (const std::string& id : *ids) {
      if (watched_.size() >= kWatchedMax) break;
      watched_.try_emplace(id);
    }
    return {};
  }

  Outcome open(const std::string& id) {
    Result<Session> session = invocation_.open_session(store_, id);
    if (!session.ok()) return std::move(session.failure());
    watched_[id].session = std::move(*session);
    return {};
  }

  // The most recently used ones of all sessions.
  Result<std::vector<std::string>> last_accessed() {
    std::vector<std::pair<std::string, std::string>> found;
    const auto take = [&](const json::object& session) {
      found.emplace_back(string_at(session, "last_accessed"), string_at(session, "session_id"));
    };
    if (Outcome failure = for_each_session(store_, {}, take)) return *std::move(failure);
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> ids;
    ids.reserve(found.size());
    for (auto& [time, id] : found) ids.push_back(std::move(id));
    return ids;
  }

  Result<std::vector<std::string>> newest() {
    Result<std::string> page = store_.sessions("{\"limit\":100}");
    if (!page.ok()) return std::move(page.failure());
    std::vector<std::string> ids;
    const json::object document = parse_object(*page);
    for (const json::value& item : array_at(document, "sessions")) {
      if (item.is_object()) ids.push_back(string_at(item.get_object(), "session_id"));
    }
    return ids;
  }

  Result<std::string> stats_of(const std::string& id, Watched& row) {
    if (!row.session) {
      if (Outcome failure = open(id)) return *std::move(failure);
    }
    return row.session->stats();
  }

  // False when the session is gone. One that cannot be opened is shown with the reason.
  bool look_at(const std::string& id, Watched& row) {
    Result<std::string> text = stats_of(id, row);
    if (!text.ok()) {
      row.failure = text.failure().message;
      return text.failure().status != VARVE_NOT_FOUND;
    }
    const json::object before = std::move(row.stats);
    row.text = *text;
    row.stats = parse_object(row.text);
    row.failure.clear();
    const auto since = [&](std::string_view name) {
      return before.empty()
                 ? 0
                 : std::max<int64_t>(0, integer_at(row.stats, name) - integer_at(before, name));
    };
    row.added = since("last_seq");
    row.deleted = since("deleted");
    return true;
  }

  [[nodiscard]] std::vector<const Row*> by_change() const {
    std::vector<const Row*> rows;
    for (const Row& row : watched_) rows.push_back(&row);
    const auto order = [](const Row* row) {  // first those of which nothing is known
      return std::pair(row->second.text.empty(), string_at(row->second.stats, "modified"));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row* a, const Row* b) { return order(a) > order(b); });
    return rows;
  }

  static std::vector<std::string> cells_of(const Row& item) {
    const Watched& row = item.second;
    const auto change = [](int64_t count, std::string_view sign) {
      return count == 0 ? std::string() : std::string(sign) + format_count(count);
    };
    const std::string modified = string_at(row.stats, "modified");
    const auto modified_ms = timestamp_ms(modified);
    if (row.text.empty()) return {item.first, "", "", "", "", "", "", "", row.failure};
    return {item.first,
            format_count(integer_at(row.stats, "entries")),
            change(row.added, "+"),
            change(row.deleted, "-"),
            format_bytes(integer_at(object_at(row.stats, "size_bytes"), "total")),
            limit_figure(row.stats),
            modified_ms ? format_age(static_cast<double>(now_ms() - *modified_ms) / kHourMs) : "",
            lock_figure(row.stats),
            row.failure.empty() ? damage_figure(row.stats) : row.failure};
  }

  // On a terminal one line, or the rows would not fit: rather the store is cut than the figures.
  [[nodiscard]] std::string heading(const std::string& figures) const {
    const std::string store = printable(invocation_.globals().root, Lines::kJoin);
    const size_t width = invocation_.terminal().width();
    const size_t taken = std::min(display_width(figures), width);
    return truncate(truncate(store, width - taken) + figures, width);
  }

  void print_json(const std::vector<const Row*>& rows) {
    std::vector<std::string> items;
    items.reserve(rows.size());
    for (const Row* row : rows) {
      items.push_back(object_text({{"session_id", quote(row->first)},
                                   {"added", std::to_string(row->second.added)},
                                   {"deleted", std::to_string(row->second.deleted)},
                                   {"stats", row->second.text.empty() ? "{}" : row->second.text},
                                   {"reason", quote(row->second.failure)}}));
    }
    invocation_.print(object_text({{"sessions", array_text(items)}}));
  }

  static std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::localtime_r(&now, &parts);
    char text[16];
    return {text, std::strftime(text, sizeof(text), "%H:%M:%S", &parts)};
  }

  Invocation& invocation_;
  Store& store_;
  std::string only_;
  std::map<std::string, Watched> watched_;
};

int run_watch(Invocation& invocation, const WatchOptions& options) {
  const std::vector<std::string> words = options.operands.given();
  const std::string& named = invocation.globals().session;
  if (!words.empty() && !named.empty()) {
    return invocation.fail(
        usage_failure("the session is named twice: as an argument and by --session"));
  }
  if (!words.empty() && words.front().empty()) {  // an unset variable, which is not every session
    return invocation.fail(usage_failure("the session's id is empty"));
  }
  invocation.tolerate_damage();
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  Watch watch(invocation, *store, words.empty() ? named : words.front());
  const int64_t count = options.once ? 1 : options.count;
  const bool is_live = invocation.terminal().is_drawn_over() && !invocation.json() && !options.once;
  LiveScreen screen(invocation.out(), is_live);
  for (int64_t number = 1;; ++number) {
    if (Outcome outcome = watch.look()) return invocation.fail(*outcome);
    invocation.look_at_terminals();
    const size_t height = screen.height();
    screen.begin_frame();
    watch.print(height > kLinesBesidesRows ? height - kLinesBesidesRows : height);
    if (is_live) invocation.print("q quits, space refreshes");
    invocation.out().flush();
    if (number == count || invocation.out().error() != 0) return kExitOk;
    const auto interval_ms = static_cast<int64_t>(options.interval_s * 1000);
    if (screen.wait(interval_ms) == LiveScreen::Event::kQuit) return kExitOk;
    if (!is_live && !invocation.json()) invocation.print("");
  }
}

Runner declare_watch(CLI::App& app) {
  auto options = std::make_shared<WatchOptions>();
  options->operands.declare(app, 1);
  app.add_option("-i,--interval", options->interval_s,
                 "Seconds between two looks, from 0.1 to 86400 (2)")
      ->type_name("SECONDS")
      ->check(number_between(kIntervalMinS, 86400));
  app.add_option("-n,--count", options->count, "Stop after this many looks")
      ->type_name("NUMBER")
      ->transform(number_between(1, 1e9));
  app.add_flag("--once", options->once, "Look once");
  return [options](Invocation& invocation) { return run_watch(invocation, *options); };
}

}  // namespace

Command watch_command() {
  return {"watch",
          "show what happens, live",
          "[SESSION]",
          "Shows the sessions of a store, most recently changed first: entries, how many were "
          "added and deleted since the previous look, size, how much of the limit that is, who is "
          "writing, and damage. One that cannot be opened is shown with the reason. Changes "
          "nothing.\n\n"
          "On a terminal the picture is drawn in place; q or Ctrl-C ends it, space looks at once. "
          "Elsewhere each look is a block of lines, with --json an object. Of more than 256 "
          "sessions, the most recently used are shown.",
          "varve watch\nvarve watch notes --interval 0.5\nvarve watch --once --json",
          &declare_watch};
}

}  // namespace varve::cli
