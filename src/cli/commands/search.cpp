// search, explain, count.
#include <cerrno>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/search_options.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/explain_view.h"
#include "cli/view/search_view.h"

namespace varve::cli {
namespace {

enum class Explain { kNothing, kResults, kQuery };

// A query that failed in session `id`.
Failure query_failure(const Invocation& invocation, const SearchOptions& options, Failure failure,
                      const std::string& id) {
  options.name_option(failure);
  return invocation.with_hint(std::move(failure), id);
}

// Queries the session, or with --all the store.
Result<Results> ask(Invocation& invocation, const SearchOptions& options,
                    const std::string& query) {
  if (options.all()) {
    Result<Store> store = invocation.open_store(Access::kExisting);
    if (!store.ok()) return std::move(store.failure());
    Result<Results> results = store->query(query);
    if (!results.ok()) options.name_option(results.failure());
    return results;
  }
  const std::string& id = invocation.globals().named_session();
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok()) return std::move(open.failure());
  Result<Results> results = open->session.query(query);
  if (!results.ok()) return query_failure(invocation, options, std::move(results.failure()), id);
  return results;
}

// Whoever asks for an option of a program rarely means that it must not be there.
void note_nothing(Invocation& invocation, const SearchOptions& options) {
  invocation.note("Nothing was found.");
  const std::string word = printable(options.excluded_word(), Lines::kJoin);
  if (word.empty()) return;
  invocation.note("  " + word + " means that it must not be there. To look for it, quote it (\"" +
                  word + "\") or add --question.");
}

// Notes on the page of results, on standard error.
void note_page(Invocation& invocation, const SearchOptions& options, size_t count,
               std::string_view results_json) {
  if (count == 0) note_nothing(invocation, options);
  const std::string_view next = raw_member(results_json, "next");
  if (!next.starts_with('"')) return;
  invocation.note("There are more: add " +
                  (options.is_raw() ? "\"after\":" + std::string(next) + " to the query."
                                    : "--after " + unquote(next) + ", or raise --limit."));
}

void print_explanation(Invocation& invocation, std::string_view results_json,
                       const std::string& query, bool with_query) {
  if (with_query) invocation.print("Query       " + printable(query, Lines::kJoin));
  print_answer(invocation, parse_object(raw_member(results_json, "explain")));
}

std::string question_of(std::string_view query) {
  const std::string_view text = raw_member(query, "text");
  const std::string_view asked = text.empty() ? raw_member(query, "question") : text;
  return asked.empty() ? std::string() : unquote(asked);
}

int run_search(Invocation& invocation, const SearchOptions& options, Explain explain) {
  if (Outcome mistake = options.check(invocation)) return invocation.fail(*mistake);
  const bool explained = explain != Explain::kNothing;
  // Always for people, who see figures: they show why a result is where it is.
  const bool shows_figures = !invocation.json() && !invocation.quiet();
  Result<std::string> query = options.query(explained || shows_figures);
  if (!query.ok()) return invocation.fail(query.failure());
  Result<Results> results = ask(invocation, options, *query);
  if (!results.ok()) return invocation.fail(results.failure());
  if (invocation.quiet() && !invocation.json()) {
    if (Outcome failed = print_result_ids(invocation, *results, options.all())) {
      return invocation.fail(*failed);
    }
    return kExitOk;
  }
  Result<std::string_view> text = results->json();
  if (!text.ok()) return invocation.fail(text.failure());
  if (invocation.json()) {
    invocation.print(explain == Explain::kQuery
                         ? object_text({{"query", *query}, {"answer", *text}})
                         : std::string(*text));
    return kExitOk;
  }
  if (explain == Explain::kQuery) {
    print_explanation(invocation, *text, *query, true);
    if (!results->empty()) invocation.print("");
  }
  print_results(invocation, *text, {options.all(), explained, question_of(*query)});
  if (explain == Explain::kResults) {
    if (!results->empty()) invocation.print("");
    print_explanation(invocation, *text, *query, false);
  }
  note_page(invocation, options, results->size(), *text);
  return kExitOk;
}

Runner declare_search(CLI::App& app) {
  struct Declared {
    SearchOptions options;
    bool explain = false;
  };
  auto declared = std::make_shared<Declared>();
  declared->options.declare_selection(app);
  declared->options.declare_order(app);
  app.add_flag("--explain", declared->explain, "Also show why each result is where it is");
  return [declared](Invocation& invocation) {
    return run_search(invocation, declared->options,
                      declared->explain ? Explain::kResults : Explain::kNothing);
  };
}

Runner declare_explain(CLI::App& app) {
  auto options = std::make_shared<SearchOptions>();
  options->declare_selection(app);
  options->declare_order(app);
  return [options](Invocation& invocation) {
    return run_search(invocation, *options, Explain::kQuery);
  };
}

// What the query or the process lacks is no reason to leave a session out: others would follow.
bool is_of_all_sessions(const Failure& failure) {
  const int64_t error_number = integer_at(parse_object(failure.details), "errno");
  return failure.status == VARVE_INVALID_ARGUMENT || failure.status == VARVE_NO_MEMORY ||
         error_number == EMFILE || error_number == ENFILE;
}

// What is wrong with a query that no session is asked.
Outcome check_without_sessions(const Invocation& invocation, const std::string& query) {
  return invocation.try_in_memory("{}", [&](Session& session) -> Outcome {
    Result<uint64_t> count = session.count(query);
    if (!count.ok()) return std::move(count.failure());
    return std::nullopt;
  });
}

// Counts session by session, the sum over all that --user and --agent name, if that is the same.
Result<uint64_t> count_in_store(Invocation& invocation, const SearchOptions& options,
                                const std::string& query) {
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return std::move(store.failure());
  if (const auto store_query = options.store_query_to_count()) {
    // A cursor has no say in a count, and is checked all the same.
    Result<Results> results = store->query(options.has_raw_cursor() ? query : *store_query);
    if (results.ok() && options.has_raw_cursor()) results = store->query(*store_query);
    if (results.ok()) return uint64_t{results->size()};
    options.name_option(results.failure());
    return std::move(results.failure());
  }
  Result<std::vector<std::string>> ids = all_session_ids(*store, options.user(), options.agent());
  if (!ids.ok()) return std::move(ids.failure());
  if (ids->empty()) {
    if (Outcome mistake = check_without_sessions(invocation, query)) {
      options.name_option(*mistake);
      return *std::move(mistake);
    }
  }
  uint64_t total = 0;
  for (const std::string& id : *ids) {
    Result<Session> session = invocation.open_session(*store, id);
    Result<uint64_t> count =
        session.ok() ? session->count(query) : Result<uint64_t>(session.failure());
    if (count.ok()) {
      total += *count;
    } else if (is_of_all_sessions(count.failure())) {
      return query_failure(invocation, options, std::move(count.failure()), id);
    } else if (!is_gone(count.failure())) {
      invocation.warn_of_left_out(count.failure(), id);
    }
  }
  return total;
}

Result<uint64_t> count_in_session(Invocation& invocation, const SearchOptions& options,
                                  const std::string& query) {
  const std::string& id = invocation.globals().named_session();
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok()) return std::move(open.failure());
  Result<uint64_t> count = open->session.count(query);
  if (!count.ok()) return query_failure(invocation, options, std::move(count.failure()), id);
  return count;
}

int run_count(Invocation& invocation, const SearchOptions& options) {
  if (Outcome mistake = options.check(invocation)) return invocation.fail(*mistake);
  Result<std::string> query = options.conditions();
  if (!query.ok()) return invocation.fail(query.failure());
  Result<uint64_t> count = options.all() ? count_in_store(invocation, options, *query)
                                         : count_in_session(invocation, options, *query);
  if (!count.ok()) return invocation.fail(count.failure());
  const std::string number = std::to_string(*count);
  invocation.print(invocation.json() ? object_text({{"count", number}}) : number);
  return kExitOk;
}

Runner declare_count(CLI::App& app) {
  auto options = std::make_shared<SearchOptions>();
  options->declare_selection(app);
  return [options](Invocation& invocation) { return run_count(invocation, *options); };
}

}  // namespace

Command search_command() {
  return {"search",
          "find entries by words, tag, type, time",
          "[WORD]...",
          "Finds entries in the session named by --session or VARVE_SESSION, or in all. An entry "
          "must have one of the WORDs, in any of its forms. The best match comes first; an entry "
          "also gains from what is beside it. Without WORDs the most relevant entries come first: "
          "the important and recent ones.\n\n"
          "\"a phrase\" (with quotes inside the shell's) ranks entries that contain it higher; "
          "alone, it must be there. +word must be there, -word must not (put it after \"--\"). * "
          "stands for any characters, ? for one. With --question these signs have no meaning. All "
          "other "
          "conditions must hold as well.\n\n"
          "Each result shows the part of its text that matches. On a terminal, words are marked "
          "that begin like a word found for at least 3 characters and end there or in a usual "
          "ending (s, ed, ing). The figures are the factors that are multiplied. With --quiet only "
          "the ids, after the session with --all; with --json the library's results as they are. "
          "Finding nothing is not an error.",
          "varve search -s notes what do we drink\n"
          "varve search -s notes \"+tea -coffee\" --tag drinks --since 7d\n"
          "varve search -s notes --question \"what does docker run -p do\"\n"
          "varve search --all --type decision --min-importance 0.8 --sort time\n"
          "varve search -s notes --related mem_01 --depth 2\n"
          "varve search -s notes --query '{\"content\":{\"role\":\"user\"}}' --json",
          &declare_search};
}

Command explain_command() {
  return {"explain",
          "show how a search is done",
          "[WORD]...",
          "Searches as `varve search --explain` does, and shows before the results the query as "
          "JSON and the words looked for, each with its weight and the number of entries that have "
          "it; with --all, instead of the words, how many sessions were asked. With --json "
          "{\"query\",\"answer\"}.",
          "varve explain -s notes what do we drink",
          &declare_explain};
}

Command count_command() {
  return {"count",
          "count the entries that a search finds",
          "[WORD]...",
          "Prints how many entries a search with the same words and conditions finds.",
          "varve count -s notes --type decision --since 2026-01-01\n"
          "varve count --all tea",
          &declare_count};
}

}  // namespace varve::cli
