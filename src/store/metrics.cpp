#include "store/metrics.h"

#include <atomic>
#include <utility>
#include <variant>

namespace varve::store {

namespace {

using session::Counters;

// One metric: its name for Prometheus, its dotted name, and its source. A histogram is of seconds
// if the name says so, else of plain numbers.
struct Metric {
  std::string_view name;
  std::string_view dotted_name;
  std::variant<uint64_t StoreFigures::*, std::atomic<uint64_t> Counters::*, Histogram Counters::*>
      source;
  std::string_view help;
};

constexpr Metric kMetrics[] = {
    {"varve_sessions", "memory.sessions.total", &StoreFigures::sessions, "Sessions of the store."},
    {"varve_sessions_open", "memory.sessions.active", &StoreFigures::sessions_open,
     "Sessions that are open in this process."},
    {"varve_entries", "memory.entries.total", &StoreFigures::entries,
     "Entries of the store that are not deleted."},
    {"varve_size_bytes", "memory.size.bytes", &StoreFigures::size_bytes,
     "Logs, tombstones and indexes of the store."},
    {"varve_index_memory_bytes", "memory.index.memory_bytes", &StoreFigures::index_memory_bytes,
     "Memory that the indexes of open sessions take."},
    {"varve_entries_not_durable", "memory.entries.buffered.count",
     &StoreFigures::entries_not_durable, "Entries of open sessions that a power loss could take."},
    {"varve_entries_added_total", "memory.operations.add.count", &Counters::entries_added,
     "Entries added."},
    {"varve_entries_deleted_total", "memory.operations.delete.count", &Counters::entries_deleted,
     "Entries deleted by a call."},
    {"varve_gets_total", "memory.operations.get.count", &Counters::gets,
     "Entries asked for by id."},
    {"varve_write_duration_seconds", "memory.operations.write.duration_ms", &Counters::write_us,
     "Adds and deletes, from the call to its answer."},
    {"varve_query_duration_seconds", "memory.operations.query.duration_ms", &Counters::query_us,
     "Queries and counts, from the call to its answer."},
    {"varve_commits_total", "memory.commits.count", &Counters::commits,
     "Writes to a log, each of one or more adds or deletes."},
    {"varve_group_commit_entries", "memory.commits.group.entries", &Counters::group_entries,
     "Entries and deletes that shared one commit."},
    {"varve_written_bytes_total", "memory.written.bytes", &Counters::bytes_written,
     "Bytes appended to logs and tombstones."},
    {"varve_syncs_total", "memory.syncs.count", &Counters::syncs,
     "Times that a log was made durable."},
    {"varve_sync_duration_seconds", "memory.operations.sync.duration_ms", &Counters::sync_us,
     "fdatasync of one file of a log."},
    {"varve_lock_contentions_total", "memory.locks.contention.count", &Counters::lock_waits,
     "Times that another writer was in the way of a lock."},
    {"varve_lock_timeouts_total", "memory.locks.timeout.count", &Counters::lock_timeouts,
     "Times that a lock was not obtained within lock_timeout_ms."},
    {"varve_lock_wait_duration_seconds", "memory.locks.wait.duration_ms", &Counters::lock_wait_us,
     "Time until a session's lock was obtained or given up."},
    {"varve_compactions_total", "memory.compaction.count", &Counters::compactions, "Compactions."},
    {"varve_compaction_duration_seconds", "memory.compaction.duration_ms", &Counters::compaction_us,
     "Compactions, from start to end."},
    {"varve_entries_expired_total", "memory.entries.expired.count", &Counters::entries_expired,
     "Entries removed because their time was over."},
    {"varve_entries_evicted_total", "memory.entries.evicted.count", &Counters::entries_evicted,
     "Entries removed to stay within a limit."},
    {"varve_purges_total", "memory.purges.count", &Counters::purges,
     "Purges of deleted entries' bytes."},
    {"varve_index_loads_total", "memory.index.load.count", &Counters::index_loads,
     "Sessions opened with their index.bin."},
    {"varve_index_rebuilds_total", "memory.index.rebuild.count", &Counters::index_rebuilds,
     "Indexes rebuilt from the log."},
    {"varve_corruption_errors_total", "memory.errors.corruption.count",
     &Counters::corruption_errors, "Damage found, each time it is found."},
    {"varve_torn_tails_total", "memory.errors.torn_tail.count", &Counters::torn_tails,
     "Unfinished ends of logs that were moved to quarantine."},
    {"varve_io_errors_total", "memory.errors.io.count", &Counters::io_errors,
     "Calls that failed because of the disk or its space."},
};

bool is_figure(const Metric& metric) { return metric.source.index() == 0; }

// Null when it is a number.
const Histogram* histogram_of(const Metric& metric, const Counters& counters) {
  const auto* member = std::get_if<Histogram Counters::*>(&metric.source);
  return member != nullptr ? &(counters.*(*member)) : nullptr;
}

uint64_t number_of(const Metric& metric, const StoreFigures& figures, const Counters& counters) {
  const auto* figure = std::get_if<uint64_t StoreFigures::*>(&metric.source);
  if (figure != nullptr) return figures.*(*figure);
  return (counters.*std::get<std::atomic<uint64_t> Counters::*>(metric.source)).load();
}

bool is_duration(const Metric& metric) { return metric.name.ends_with("_seconds"); }

// 1500 as "0.0015".
std::string seconds_text(uint64_t duration_us) {
  constexpr uint64_t kSecondUs = 1'000'000;
  std::string text = std::to_string(duration_us / kSecondUs);
  std::string digits = std::to_string(duration_us % kSecondUs);
  digits.insert(0, 6 - digits.size(), '0');
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits.empty() ? text : text + "." + digits;
}

// Escapes the value of a label as the format requires.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

class TextWriter {
 public:
  explicit TextWriter(std::string_view uri) : label_("store=\"" + escaped(uri) + "\"") {}

  void header(const Metric& metric, std::string_view type) {
    const std::string name(metric.name);
    text_ += "# HELP " + name + " " + std::string(metric.help) + "\n";
    text_ += "# TYPE " + name + " " + std::string(type) + "\n";
  }

  void sample(std::string_view name, std::string_view suffix, std::string_view value,
              const std::string& more_labels = {}) {
    text_ += std::string(name) + std::string(suffix) + "{" + label_ + more_labels + "} " +
             std::string(value) + "\n";
  }

  void buckets(const Metric& metric, const Histogram::Snapshot& values) {
    const auto value_text = [&](uint64_t value) {
      return is_duration(metric) ? seconds_text(value) : std::to_string(value);
    };
    uint64_t count = 0;
    for (size_t i = 0; i < values.counts.size(); ++i) {
      count += values.counts[i];
      const std::string bound =
          i < values.bounds.size() ? value_text(values.bounds[i]) : std::string("+Inf");
      sample(metric.name, "_bucket", std::to_string(count), ",le=\"" + bound + "\"");
    }
    sample(metric.name, "_sum", value_text(values.sum));
    sample(metric.name, "_count", std::to_string(count));
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string label_;
  std::string text_;
};

json::Tree histogram_tree(const Metric& metric, const Histogram::Snapshot& values) {
  const auto value_tree = [&](uint64_t value) {
    return is_duration(metric) ? json::Tree::number(static_cast<double>(value) / 1000)
                               : json::Tree::integer_unsigned(value);
  };
  json::Tree tree = json::Tree::object();
  tree.set("count", json::Tree::integer_unsigned(values.count));
  tree.set("sum", value_tree(values.sum));
  tree.set("p50", value_tree(values.quantile(0.50)));
  tree.set("p99", value_tree(values.quantile(0.99)));
  tree.set("max", value_tree(values.max));
  return tree;
}

}  // namespace

std::string metrics_text(std::string_view uri, const StoreFigures& figures,
                         const Counters& counters) {
  TextWriter writer(uri);
  for (const Metric& metric : kMetrics) {
    if (const auto* histogram = histogram_of(metric, counters)) {
      writer.header(metric, "histogram");
      writer.buckets(metric, histogram->snapshot());
    } else {
      writer.header(metric, is_figure(metric) ? "gauge" : "counter");
      writer.sample(metric.name, "", std::to_string(number_of(metric, figures, counters)));
    }
  }
  return std::move(writer).text();
}

json::Tree metrics_tree(const StoreFigures& figures, const Counters& counters) {
  json::Tree tree = json::Tree::object();
  for (const Metric& metric : kMetrics) {
    const auto* histogram = histogram_of(metric, counters);
    tree.set(metric.dotted_name,
             histogram != nullptr
                 ? histogram_tree(metric, histogram->snapshot())
                 : json::Tree::integer_unsigned(number_of(metric, figures, counters)));
  }
  return tree;
}

json::Tree stats_tree(std::string_view uri, const StoreFigures& figures,
                      const session::Counters& counters) {
  const auto count = [](const std::atomic<uint64_t>& value) {
    return json::Tree::integer_unsigned(value.load());
  };
  json::Tree tree = json::Tree::object();
  tree.set("uri", json::Tree::string(uri));
  tree.set("sessions_open", json::Tree::integer_unsigned(figures.sessions_open));
  tree.set("entries", json::Tree::integer_unsigned(figures.entries_open));
  tree.set("lock_waits", count(counters.lock_waits));
  tree.set("lock_timeouts", count(counters.lock_timeouts));
  tree.set("commits", count(counters.commits));
  tree.set("entries_added", count(counters.entries_added));
  tree.set("entries_deleted", count(counters.entries_deleted));
  tree.set("bytes_written", count(counters.bytes_written));
  tree.set("syncs", count(counters.syncs));
  tree.set("index_rebuilds", count(counters.index_rebuilds));
  tree.set("lines_skipped", count(counters.lines_skipped));
  tree.set("metrics", metrics_tree(figures, counters));
  return tree;
}

}  // namespace varve::store
