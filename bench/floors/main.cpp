// varve_floors: what the machine takes for the parts that an operation cannot do without, and how
// far each operation is from that. Floor and operation take turns, round by round, so that both see
// the same machine. A figure is the least of the rounds' medians: what else runs only ever adds.
//
//   varve_floors [ENTRIES [ROUNDS]]    10000 and 9; TMPDIR says which disk
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench_store.h"
#include "disk.h"
#include "give_up.h"
#include "query_json.h"
#include "timing.h"

namespace varve::bench {

namespace {

constexpr size_t kRowBlocksBytes = 10 * 8192;  // in which an entry's id and its row are

constexpr size_t kBodyBytes = 850;
constexpr size_t kLineBytes = 1280;  // an entry of the workload in the log
constexpr size_t kBatchCount = 100;
constexpr size_t kContextBytes = 30'000;  // the text of 4,000 tokens of such words

using Call = std::function<void(size_t)>;

struct Part {
  const char* name;
  size_t call_count;  // in a round
  Call call;
};

struct Operation {
  const char* name;
  size_t call_count;
  Call call;
  const char* floor_name;
  Call floor;
};

// Lines of memory, as many as there are entries: unlike one that is copied over and over, they are
// not all in the processor's nearest cache.
class Lines {
 public:
  explicit Lines(size_t count) : count_(count), text_(count * kLineBytes, 'e') {}

  // What the n-th of many questions is answered with.
  void copy_answer(size_t question) {
    for (size_t i = 0; i < kAnswersMax; ++i) {
      const size_t number = (question * kAnswersMax + i) * 7919 % count_;
      std::memcpy(&answer_[i * kLineBytes], &text_[number * kLineBytes], kLineBytes);
    }
    asm volatile("" : : "r"(answer_.data()) : "memory");
  }

 private:
  size_t count_;
  std::string text_;
  std::string answer_ = std::string(kAnswersMax * kLineBytes, 'a');
};

std::vector<Part> parts_of(Disk& disk, Lines& lines) {
  return {
      {"a name looked up (stat)", 1000, [&](size_t) { disk.stat(); }},
      {"an open file asked (fstat)", 1000, [&](size_t) { disk.stat_open(); }},
      {"a name that is not there", 1000, [&](size_t) { disk.stat_missing(); }},
      {"an entry read (pread)", 1000, [&](size_t) { disk.read(kLineBytes); }},
      {"an entry written (write)", 1000, [&](size_t) { disk.append(kLineBytes); }},
      {"an entry written and synced (fdatasync)", 50,
       [&](size_t) {
         disk.append(kLineBytes);
         disk.sync();
       }},
      {"an entry hashed (SHA-256)", 1000, [](size_t) { hash_bytes(kLineBytes); }},
      {"an entry copied (memcpy)", 1000, [](size_t) { copy_bytes(kLineBytes); }},
      {"ten entries copied, from anywhere", 1000, [&](size_t i) { lines.copy_answer(i); }},
      {"a megabyte hashed", 20, [](size_t) { hash_bytes(size_t{1} << 20); }},
      {"a megabyte copied", 20, [](size_t) { copy_bytes(size_t{1} << 20); }},
      {"a process that ends at once", 10, [](size_t) { run_program(); }},
  };
}

// What the operations work with.
struct Material {
  explicit Material(size_t filled_count)
      : entry_count(filled_count), workload(kBodyBytes), buffered("os"), durable("commit") {
    buffered.fill(workload, entry_count);
    const QuerySet queries = make_queries(workload, entry_count, kQueryCount);
    for (const auto& query : queries.tagged) tagged.push_back(json_of(query));
    for (const auto& query : queries.any) any.push_back(json_of(query));
    for (const auto& query : queries.ranked) ranked.push_back(json_of(query));
    for (const auto& question : make_questions(workload, entry_count, kQueryCount, false)) {
      questions.push_back(json_of(question));
    }
    for (const auto& entry : workload.entries(0, kBatchCount)) {
      added.push_back(without_id(entry));
      batch += added.back() + "\n";
    }
    buffered.close_session();
    buffered.open_session();
    log_bytes = buffered.log_bytes();
  }

  static constexpr size_t kQueryCount = 200;
  size_t entry_count;
  Workload workload;
  BenchStore buffered;  // that reads ask
  BenchStore durable;   // that durable adds go to
  std::vector<std::string> tagged;
  std::vector<std::string> any;
  std::vector<std::string> ranked;
  std::vector<std::string> questions;
  std::vector<std::string> added;
  std::string batch;
  size_t log_bytes = 0;
};

// The log and the tombstones.
void ask_files(const Disk& disk) {
  disk.stat_open();
  disk.stat_open();
}

void copy_answer(const Disk& disk) {
  ask_files(disk);
  for (size_t i = 0; i < kAnswersMax; ++i) copy_bytes(kLineBytes);
}

std::vector<Operation> reads_of(Disk& disk, Material& with) {
  constexpr const char* kAnswer = "two files asked, ten entries copied";
  const auto query = [&](const std::vector<std::string>& texts) {
    return [&](size_t i) { with.buffered.query(texts[i % texts.size()]); };
  };
  const auto answer = [&](size_t) { copy_answer(disk); };
  return {
      {"get", 1000, [&](size_t i) { with.buffered.get(entry_id(i * 7919 % with.entry_count)); },
       "two files asked, one entry copied",
       [&](size_t) {
         ask_files(disk);
         copy_bytes(kLineBytes);
       }},
      {"query, tag + type + range", 200, query(with.tagged), kAnswer, answer},
      {"query, any of 3 words", 200, query(with.any), kAnswer, answer},
      {"query, decay-ranked", 200, query(with.ranked), kAnswer, answer},
      {"context of 4,000 tokens", 100,
       [&](size_t i) { with.buffered.context(with.questions[i % with.questions.size()]); },
       "two files asked, its text copied",
       [&](size_t) {
         ask_files(disk);
         copy_bytes(kContextBytes);
       }},
      {"open the session and get", 10,
       [&](size_t) {
         with.buffered.close_session();
         with.buffered.open_session();
         with.buffered.get(entry_id(0));
       },
       "ten blocks of its index read", [&](size_t) { disk.read(kRowBlocksBytes); }},
  };
}

std::vector<Operation> writes_of(Disk& disk, Material& with) {
  const auto add_to = [&](BenchStore& store) {
    return [&](size_t i) { store.add(with.added[i % with.added.size()]); };
  };
  return {
      {"buffered add", 500, add_to(with.buffered), "an entry hashed and written",
       [&](size_t) {
         hash_bytes(kLineBytes);
         disk.append(kLineBytes);
       }},
      {"durable add", 50, add_to(with.durable), "the same, synced",
       [&](size_t) {
         hash_bytes(kLineBytes);
         disk.append(kLineBytes);
         disk.sync();
       }},
      {"batch of 100, durable", 10, [&](size_t) { with.durable.add_batch(with.batch); },
       "100 entries hashed, written, synced",
       [&](size_t) {
         hash_bytes(kBatchCount * kLineBytes);
         disk.append(kBatchCount * kLineBytes);
         disk.sync();
       }},
      {"rebuild", 1, [&](size_t) { with.buffered.rebuild(); }, "the log read and hashed",
       [&](size_t) {
         disk.read(with.log_bytes);
         hash_bytes(with.log_bytes);
       }},
  };
}

void print_parts(const std::vector<Part>& parts) {
  std::printf("| part | µs |\n|---|---|\n");
  for (const auto& part : parts) {
    part.call(0);
    std::printf("| %s | %.2f |\n", part.name, median_us(part.call_count, part.call));
  }
}

void print_operations(const std::vector<Operation>& operations, size_t round_count) {
  std::printf("\n| operation | µs | cannot do without | µs | times |\n|---|---|---|---|---|\n");
  for (const auto& operation : operations) {
    for (size_t i = 0; i < operation.call_count; ++i) operation.call(i);  // caches are filled
    std::vector<double> times_us;
    std::vector<double> floors_us;
    for (size_t round = 0; round < round_count; ++round) {
      floors_us.push_back(median_us(operation.call_count, operation.floor));
      times_us.push_back(median_us(operation.call_count, operation.call));
    }
    const double time_us = *std::min_element(times_us.begin(), times_us.end());
    const double floor_us = *std::min_element(floors_us.begin(), floors_us.end());
    if (!(floor_us > 0)) give_up("a floor that takes no time is none");
    std::printf("| %s | %.1f | %s | %.1f | %.1f |\n", operation.name, time_us, operation.floor_name,
                floor_us, time_us / floor_us);
  }
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  using namespace varve::bench;
  const size_t entry_count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  const size_t round_count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 9;
  if (entry_count == 0 || round_count == 0) give_up("varve_floors [ENTRIES [ROUNDS]]");
  Disk disk;
  Lines lines(entry_count);
  Material material(entry_count);
  print_parts(parts_of(disk, lines));
  print_operations(reads_of(disk, material), round_count);
  print_operations(writes_of(disk, material), round_count);
  return 0;
}
