#include "ledger.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "environment.h"
#include "session/query/query_results.h"
#include "support/exported_text.h"

namespace varve::crash {
namespace {

constexpr size_t kFirstFindings = 5;
constexpr std::string_view kLateId = "late";
constexpr std::string_view kLateContent = "added after recovery";

class SessionCheck {
 public:
  SessionCheck(const Shown& shown, const SessionPromise& promise, const Demands& demands,
               std::string name, Findings& findings)
      : shown_(shown),
        promise_(promise),
        demands_(demands),
        name_(std::move(name)),
        findings_(findings) {}

  void run() {
    check_shown();
    check_promised();
    check_batches();
    check_order();
  }

 private:
  void find(std::string_view invariant, const std::string& id, std::string_view what) {
    findings_.add(invariant, name_ + "/" + id + ": " + std::string(what));
  }

  void check_shown() {
    std::set<std::string> seen;
    for (const auto& [id, content] : shown_.entries) {
      if (!seen.insert(id).second) find("NOGHOST", id, "stands twice");
      const auto found = promise_.entries.find(id);
      if (found == promise_.entries.end()) {
        find("NOGHOST", id, "was never submitted");
        continue;
      }
      const EntryPromise& entry = found->second;
      if (entry.content != content) find("NOGHOST", id, "has another content: " + content);
      if (entry.added == Promise::kRefused) find("NOGHOST", id, "was answered with an error");
      if (entry.removed == Promise::kGiven) find("NORES", id, "was deleted");
    }
  }

  void check_promised() {
    for (const auto& [id, entry] : promise_.entries) {
      const Promise added = demands_.loss == Loss::kPower ? entry.added : entry.added_visibly;
      if (added != Promise::kGiven) continue;
      if (entry.removed && entry.removed != Promise::kRefused) continue;
      if (shown_.content(id) == nullptr) find("ACK", id, "is lost");
    }
  }

  void check_batches() {
    std::map<size_t, std::pair<size_t, size_t>> counts;  // number -> there, missing
    for (const auto& [id, entry] : promise_.entries) {
      if (entry.batch == 0 || entry.removed) continue;
      auto& [there, missing] = counts[entry.batch];
      (shown_.content(id) != nullptr ? there : missing) += 1;
    }
    for (const auto& [batch, count] : counts) {
      if (count.first > 0 && count.second > 0) {
        findings_.add("BATCH", name_ + ": " + std::to_string(count.first) + " of " +
                                   std::to_string(count.first + count.second) + " are there");
      }
    }
  }

  void check_order() {
    size_t next = 0;
    for (const auto& [id, content] : shown_.entries) {
      const auto from = promise_.order.begin() + static_cast<std::ptrdiff_t>(next);
      const auto found = std::find(from, promise_.order.end(), id);
      if (found == promise_.order.end()) {
        if (promise_.entries.contains(id)) find("ORDER", id, "stands too late");
        return;
      }
      next = static_cast<size_t>(found - promise_.order.begin()) + 1;
    }
  }

  const Shown& shown_;
  const SessionPromise& promise_;
  const Demands& demands_;
  const std::string name_;
  Findings& findings_;
};

void check_alarms(session::Session& session, const std::string& id, Findings& findings) {
  const auto stats = session.stats();
  const json::Tree* corruption = stats.ok() ? stats->get("corruption") : nullptr;
  if (corruption == nullptr) {
    findings.add("OPEN", id + ": stats: " + stats.status().message());
    return;
  }
  if (corruption->get_int64("skipped") != 0 || corruption->get_int64("missing") != 0 ||
      corruption->get_int64("rollback") != 0 || corruption->get_bool("metadata")) {
    findings.add("ALARM", id + ": " + corruption->canonical());
  }
  const auto report = session.verify();
  if (!report.ok()) {
    findings.add("OPEN", id + ": verify: " + report.status().message());
    return;
  }
  const json::Tree* problems = report->get("problems");
  for (const auto& problem : problems->items()) {
    if (!problem.get_string("reason").starts_with("torn tail")) {
      findings.add("ALARM", id + ": " + problem.canonical());
    }
  }
}

void check_vectors(session::Session& session, const std::string& name,
                   const SessionPromise& promise, const Shown& shown, Findings& findings) {
  for (const auto& [id, entry] : promise.entries) {
    if (entry.given_vectors.size() == 1) continue;
    const auto found = vector_shown(session, id, entry.given_vectors.back());
    if (!found.ok()) {
      findings.add("OPEN", name + "/" + id + ": vector: " + found.status().message());
      continue;
    }
    if (shown.content(id) == nullptr) {
      if (*found != 0) findings.add("NORES", name + "/" + id + ": its vector is found");
      continue;
    }
    const auto& may_be = entry.vectors;
    if (std::find(may_be.begin(), may_be.end(), *found) == may_be.end()) {
      findings.add(*found == 0 ? "ACK" : "NOGHOST",
                   name + "/" + id + ": its vector is number " + std::to_string(*found));
    }
  }
}

bool is_durable_at_once(session::Session& session) {
  const auto stats = session.stats();
  return stats.ok() && stats->get_string("durability") == "commit";
}

bool may_be_absent(const SessionPromise& promise) {
  return promise.created != Promise::kGiven ||
         (promise.dropped && promise.dropped != Promise::kRefused);
}

// One look at a disk, from opening the store to closing it.
class Visit {
 public:
  Visit(io::FileSystem& file_system, const Ledger& ledger, Findings& findings)
      : ledger_(ledger), findings_(findings) {
    auto opened = store::Store::open(kRoot, {}, environment_.with(file_system));
    if (!opened.ok()) {
      findings_.add("OPEN", "store: " + opened.status().message());
      return;
    }
    store_ = *std::move(opened);
    for (const auto& [id, promise] : ledger_) open(id, promise);
    check_list();
  }
  ~Visit() {
    sessions_.clear();
    if (store_) store_->close();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  void check(const Demands& demands) {
    for (const auto& [id, session] : sessions_) {
      check_session(*session, id, ledger_.at(id), demands, findings_);
    }
  }

  std::map<std::string, Shown> shown() {
    std::map<std::string, Shown> all;
    for (const auto& [id, session] : sessions_) {
      auto one = shown_by(*session);
      if (one.ok()) {
        all[id] = *std::move(one);
      } else {
        findings_.add("OPEN", id + ": export: " + one.status().message());
      }
    }
    return all;
  }

  void add_late() {
    for (const auto& [id, session] : sessions_) {
      const auto added = session->add(entry_text(kLateId, kLateContent));
      if (!added.ok()) findings_.add("APPEND", id + ": " + added.status().message());
      if (!is_durable_at_once(*session)) {
        const Status synced = session->sync();
        if (!synced.ok()) findings_.add("APPEND", id + ": sync: " + synced.message());
      }
    }
  }

 private:
  void open(const std::string& id, const SessionPromise& promise) {
    auto session = store_->open_session(id);
    if (!session.ok()) {
      if (session.code() == Code::kNotFound && may_be_absent(promise)) return;
      findings_.add(session.code() == Code::kNotFound ? "ACK" : "OPEN",
                    "session " + id + ": " + session.status().message());
      return;
    }
    if (promise.dropped == Promise::kGiven) findings_.add("NORES", "session " + id);
    sessions_[id] = *std::move(session);
  }

  // Every session that opens is listed.
  void check_list() {
    const auto listed = store_->sessions({});
    if (!listed.ok()) {
      findings_.add("LIST", listed.status().message());
      return;
    }
    for (const auto& opened : sessions_) {
      const std::string& id = opened.first;
      const auto& rows = listed->get("sessions")->items();
      const bool found = std::any_of(rows.begin(), rows.end(), [&](const json::Tree& row) {
        return row.get_string("session_id") == id;
      });
      if (!found) findings_.add("LIST", "session " + id + " opens and is not listed");
    }
  }

  const Ledger& ledger_;
  Findings& findings_;
  TestEnvironment environment_;
  std::shared_ptr<store::Store> store_;
  std::map<std::string, std::shared_ptr<session::Session>> sessions_;
};

// All that was shown before is still there, and the late entry; nothing is new except what an
// unanswered delete had hidden.
void check_late(const std::map<std::string, Shown>& before,
                const std::map<std::string, Shown>& after, const Ledger& ledger,
                Findings& findings) {
  for (const auto& item : before) {
    const std::string& id = item.first;
    const Shown& shown = item.second;
    const auto found = after.find(id);
    const auto find = [&](const std::string& entry, std::string_view what) {
      findings.add("APPEND", id + "/" + entry + " " + std::string(what) +
                                 " by the power loss after the recovery");
    };
    if (found == after.end()) {
      find("", "is lost");
      continue;
    }
    const SessionPromise& promise = ledger.at(id);
    for (const auto& [entry, content] : shown.entries) {
      if (found->second.content(entry) == nullptr) find(entry, "is lost");
    }
    if (found->second.content(kLateId) == nullptr) find(std::string(kLateId), "is lost");
    for (const auto& [entry, content] : found->second.entries) {
      if (entry == kLateId || shown.content(entry) != nullptr) continue;
      const auto known = promise.entries.find(entry);
      const bool was_hidden = known != promise.entries.end() && known->second.removed;
      if (!was_hidden) find(entry, "is new");
    }
  }
}

}  // namespace

void Findings::add(std::string_view invariant, std::string_view what) {
  total_ += 1;
  const auto found = by_invariant_.find(invariant);
  if (found == by_invariant_.end()) {
    by_invariant_.emplace(invariant, 1);
  } else {
    found->second += 1;
  }
  if (first_.size() >= kFirstFindings) return;
  first_.push_back(std::string(invariant) + " " + std::string(what) + "\n" + context_);
}

size_t Findings::count(std::string_view invariant) const {
  const auto found = by_invariant_.find(invariant);
  return found == by_invariant_.end() ? 0 : found->second;
}

std::string Findings::text() const {
  std::string text = std::to_string(total_) + " violations";
  for (const auto& [invariant, count] : by_invariant_) {
    text += ", " + invariant + " " + std::to_string(count);
  }
  for (const auto& finding : first_) text += "\n- " + finding;
  return text;
}

std::string entry_text(std::string_view id, std::string_view content) {
  json::Tree entry = json::Tree::object();
  entry.set("id", json::Tree::string(id));
  entry.set("type", json::Tree::string("finding"));
  entry.set("content", json::Tree::string(content));
  return entry.canonical();
}

const std::string* Shown::content(std::string_view id) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.first == id; });
  return found == entries.end() ? nullptr : &found->second;
}

Result<Shown> shown_by(session::Session& session) {
  VARVE_TRY_ASSIGN(const std::string text, exported_text(session, "jsonl"));
  Shown shown;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    VARVE_TRY_ASSIGN(const json::Tree entry,
                     json::Tree::parse(std::string_view(text).substr(begin, end - begin)));
    shown.entries.emplace_back(entry.get_string("id"), entry.get_string("content"));
    begin = end + 1;
  }
  return shown;
}

void check_session(session::Session& session, const std::string& id, const SessionPromise& promise,
                   const Demands& demands, Findings& findings) {
  const auto shown = shown_by(session);
  if (!shown.ok()) {
    findings.add("OPEN", id + ": export: " + shown.status().message());
    return;
  }
  SessionCheck(*shown, promise, demands, id, findings).run();
  check_vectors(session, id, promise, *shown, findings);
  for (const auto& [entry, content] : shown->entries) {
    const auto got = session.get(entry);
    if (!got.ok()) findings.add("ACK", id + "/" + entry + ": get: " + got.status().message());
  }
  const auto metadata = session.metadata();
  const std::string title = metadata.ok() ? metadata->get_string("title") : "?";
  const auto& titles = promise.titles;
  if (std::find(titles.begin(), titles.end(), title) == titles.end()) {
    findings.add("ACK", id + ": the title is '" + title + "'");
  }
  if (demands.no_alarm) check_alarms(session, id, findings);
}

std::vector<float> vector_of(std::string_view id, uint32_t number) {
  std::vector<float> values;
  for (const char part : {'a', 'b', 'c', 'd'}) {
    const uint64_t hash = hash64(std::string(id) + part + std::to_string(number));
    values.push_back(static_cast<float>(hash >> 40) / 1000.0F - 8000.0F);
  }
  return values;
}

Result<uint32_t> vector_shown(session::Session& session, const std::string& id,
                              uint32_t number_max) {
  constexpr double kSame = 1 - 1e-9;
  bool has_one = false;
  for (uint32_t number = 1; number <= number_max; ++number) {
    std::string numbers;
    for (const float value : vector_of(id, number)) {
      numbers += (numbers.empty() ? "" : ",") + std::to_string(value);
    }
    VARVE_TRY_ASSIGN(const auto found,
                     session.query(R"({"ids":[")" + id + R"("],"vector":[)" + numbers + "]}"));
    has_one = !found.results.empty();
    if (has_one && found.results.front().match_quality > kSame) return number;
  }
  return has_one ? UINT32_MAX : 0;
}

// Of letters that are in no hexadecimal number and in no ending.
std::string word_of(std::string_view id) {
  constexpr std::string_view kLetters = "ghjkmnpqrtvwxz";
  constexpr size_t kLength = 12;
  std::string word;
  for (uint64_t rest = hash64(id); word.size() < kLength; rest /= kLetters.size()) {
    word += kLetters[rest % kLetters.size()];
  }
  return word;
}

std::string canary_of(std::string_view id) { return word_of(id).substr(4); }

namespace {

using Files = std::map<std::string, std::string>;

Files files_of(const io::SimulatedFileSystem& disk) {
  Files files;
  for (const std::string& path : disk.list_all()) files[path] = disk.read_file(path).value_or("");
  return files;
}

std::vector<std::string> paths_with(const Files& files, std::string_view bytes) {
  std::vector<std::string> paths;
  for (const auto& [path, content] : files) {
    if (content.find(bytes) != std::string::npos) paths.push_back(path);
  }
  return paths;
}

Files folded(Files files) {
  for (auto& [path, content] : files) {
    std::transform(content.begin(), content.end(), content.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  }
  return files;
}

// Of the store that was opened; there may be another beside it, of which it is a copy.
void check_tidy(const Files& files, Findings& findings) {
  const std::string sessions = std::string(kRoot) + "/sessions/";
  for (const auto& [path, content] : files) {
    if (path.find(sessions) == std::string::npos) continue;
    if (path.find(".tmp-") != std::string::npos) findings.add("TIDY", path + " is left");
  }
}

void check_vector_canaries(const Files& files, const std::string& id, const EntryPromise& entry,
                           Findings& findings) {
  for (const uint32_t number : entry.purged_vectors) {
    const std::vector<float> values = vector_of(id, number);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), 4 * sizeof(float));
    for (const std::string& path : paths_with(files, bytes)) {
      findings.add("CANARY", id + ": vector " + std::to_string(number) + " is in " + path);
    }
  }
}

bool has_purged(const Ledger& ledger) {
  return std::any_of(ledger.begin(), ledger.end(), [](const auto& session) {
    const auto& entries = session.second.entries;
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
      return entry.second.purged || !entry.second.purged_vectors.empty();
    });
  });
}

void check_canaries(const Files& files, const Ledger& ledger, Findings& findings) {
  const Files lower = folded(files);
  for (const auto& [session, promise] : ledger) {
    for (const auto& [id, entry] : promise.entries) {
      check_vector_canaries(files, id, entry, findings);
      if (!entry.purged) continue;
      for (const auto& path : paths_with(lower, canary_of(id))) {
        findings.add("CANARY", session + "/" + id + ": its word is in " + path);
      }
    }
  }
}

}  // namespace

std::vector<std::string> files_with_canary(const io::SimulatedFileSystem& disk,
                                           std::string_view id) {
  return paths_with(folded(files_of(disk)), canary_of(id));
}

void check_place(const Place& place, const Ledger& ledger, const Demands& demands,
                 Findings& findings) {
  const size_t before = findings.count();
  if (has_purged(ledger)) check_canaries(place.files(), ledger, findings);
  std::map<std::string, Shown> first;
  {
    Visit visit(place.file_system, ledger, findings);
    visit.check(demands);
    first = visit.shown();
  }
  if (findings.count() != before) return;  // what follows would only repeat it
  {
    Visit visit(place.file_system, ledger, findings);
    if (visit.shown() != first) findings.add("IDEMP", "the second opening shows something else");
    visit.add_late();
    Visit last(place.restart(), ledger, findings);  // before the close, which syncs
    if (findings.count() == before) check_late(first, last.shown(), ledger, findings);
  }
  check_tidy(place.files(), findings);
}

void check_disk(io::SimulatedFileSystem& disk, const Ledger& ledger, const Demands& demands,
                Findings& findings) {
  std::unique_ptr<io::SimulatedFileSystem> again;
  const auto restart = [&]() -> io::FileSystem& { return *(again = disk.crash()); };
  check_place({disk, [&] { return files_of(disk); }, restart}, ledger, demands, findings);
}

}  // namespace varve::crash
