#include "options.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "rival.h"

namespace varve::bench {

namespace {

constexpr const char* kUsage = R"(varve_rivals: the same work on varve and on its rivals

  --entries N      entries in the store (10000)
  --body N         bytes of an entry's message (850)
  --rounds N       rounds over all engines; medians are of these (5)
  --loads N        rounds that load anew, the others use what is there (all);
                   0 uses the stores that an earlier run with --keep has left
  --queries N      different queries of each kind and round (500)
  --budget S       seconds after which one measurement ends early (30)
  --directory DIR  on the disk to be measured; a folder of its own is made in it (.)
  --only A,B       of add batch threads processes delete compact load memory get open tagged text
                   context ranked rebuild
  --rivals A,B     engines, by the names of the table, in any case
  --exclusive      engines that can are told that nobody else opens the store; without
                   threads and processes
  --keep           do not remove the loaded stores
)";

const std::vector<std::string> kWorks = {"add",     "batch", "threads", "processes", "delete",
                                         "compact", "load",  "get",     "memory",    "open",
                                         "tagged",  "text",  "context", "ranked",    "rebuild"};
// Each of these makes its own stores; the others share one that is loaded.
const std::vector<std::string> kOwnStoreWorks = {"add",       "batch",  "threads",
                                                 "processes", "delete", "compact"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : lower(text)) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

double number_of(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0)) give_up(option + ": bad number " + text);
  return number;
}

std::vector<std::string> works_of(const std::string& text) {
  std::vector<std::string> works = split(text);
  for (const auto& work : works) {
    if (!has(kWorks, work)) give_up("--only: there is no work " + work);
  }
  return works;
}

}  // namespace

bool Options::wants(const std::string& work) const {
  // Some have a connection for each thread.
  if (exclusive && (work == "processes" || work == "threads")) return false;
  return works.empty() || has(works, work);
}

bool Options::wants_loaded_store() const {
  return std::any_of(kWorks.begin(), kWorks.end(), [&](const std::string& work) {
    return !has(kOwnStoreWorks, work) && wants(work);
  });
}

bool Options::wants_rival(const std::string& name) const {
  return rivals.empty() || has(rivals, lower(name));
}

Options parse_options(int argc, char** argv) {
  Options options;
  const auto count = [](size_t* to) {
    return [to](const std::string& name, const std::string& value) {
      *to = static_cast<size_t>(number_of(name, value));
    };
  };
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> readers =
      {{"--entries", count(&options.entry_count)},
       {"--body", count(&options.body_bytes)},
       {"--rounds", count(&options.round_count)},
       {"--loads",
        [&](auto& name, auto& value) { count (&options.load_count.emplace())(name, value); }},
       {"--queries", count(&options.query_count)},
       {"--budget", [&](auto& name, auto& value) { options.budget_s = number_of(name, value); }},
       {"--directory", [&](auto&, auto& value) { options.directory = value; }},
       {"--only", [&](auto&, auto& value) { options.works = works_of(value); }},
       {"--rivals", [&](auto&, auto& value) { options.rivals = split(value); }}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--keep" || name == "--exclusive") {
      (name == "--keep" ? options.keep : options.exclusive) = true;
      continue;
    }
    const auto found = readers.find(name);
    if (found == readers.end() || i + 1 == argc) give_up(kUsage);
    found->second(name, argv[++i]);
  }
  if (options.entry_count == 0 || options.round_count == 0 || options.query_count == 0) {
    give_up("--entries, --rounds and --queries are at least 1");
  }
  return options;
}

}  // namespace varve::bench
