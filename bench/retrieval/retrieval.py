#!/usr/bin/env python3
"""Asks the questions of a data set and writes which entries varve finds.

    retrieval.py --library LIBVARVE.so SET RESULTS.jsonl [--sort-by best] [--limit 50]
                 [--merge | --split] [--config JSON]

SET is a directory with SESSION/entries.jsonl (entries as varve takes them) and queries.jsonl, whose
lines have "query_id", "session_id", "query" and, when ages should count, "query_time". RESULTS gets
a line {"session_id","query_id","ids":[...best first...]} for each question, for any scorer that
takes them; with "evidence_ids" in the questions the recall is printed as well:

    recall@k  mean over the questions of |evidence found in the first k| / |evidence|
    MRR       mean of 1/rank of the first evidence

Sessions live in memory, so nothing is left behind. `--merge` asks every question of all sessions
of the set at once, as varve_store_query does. `--split` makes a session of each chat, cut where an
hour passes, as an agent does: their user is the set's session, and the question is asked of all
that this user has, or with `--context` from a session without entries. `--context TOKENS` builds a
context of so many tokens for every question instead: the ids are those in it, and what is printed
is the share of the evidence that is in it. `--request` adds members to every request.
"""
import argparse
import ctypes
import datetime
import json
import pathlib
import sys
import time

NUL_TERMINATED = ctypes.c_size_t(-1).value
RECALL_AT = (1, 5, 10, 20, 50)
HOUR = datetime.timedelta(hours=1)


class Varve:
    """The few calls of the C ABI that this needs."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.varve_error_message.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        error = ctypes.c_void_p()
        if getattr(self.lib, name)(*arguments, ctypes.byref(error)) != 0:
            raise SystemExit(f"{name}: {self.lib.varve_error_message(error).decode()}")

    def handle(self, name, *arguments):
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    def query(self, name, target, query):
        """The parsed answer, and the time of the call alone in microseconds."""
        text = text_in(query)
        start = time.perf_counter_ns()
        results = self.handle(name, target, *text)
        microseconds = (time.perf_counter_ns() - start) / 1000
        json_out, length = ctypes.c_void_p(), ctypes.c_size_t()
        self.call("varve_results_json", results, ctypes.byref(json_out), ctypes.byref(length))
        answer = json.loads(ctypes.string_at(json_out, length.value))
        self.lib.varve_results_free(results)
        return answer["results"], microseconds


    def context(self, session, request):
        """As query(), for a context."""
        text = text_in(request)
        json_out, length = ctypes.c_void_p(), ctypes.c_size_t()
        start = time.perf_counter_ns()
        self.call("varve_context_build", session, *text, ctypes.byref(json_out),
                  ctypes.byref(length))
        microseconds = (time.perf_counter_ns() - start) / 1000
        answer = json.loads(ctypes.string_at(json_out, length.value))
        self.lib.varve_free(json_out)
        return answer, microseconds


def text_in(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return ctypes.c_char_p(text), ctypes.c_size_t(len(text))


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def chats_of(entries):
    """The entries in lists, cut where an hour passes."""
    chats, last = [], None
    for entry in entries:
        time_of = datetime.datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00"))
        if last is None or abs(time_of - last) > HOUR:
            chats.append([])
        chats[-1].append(entry)
        last = time_of
    return chats


def load(varve, store, directory, split):
    """Handles by the ids of the set's sessions, with their entries added; of split ones, handles of
    their users' sessions without entries."""
    def create(id_, entries, **options):
        session = varve.handle("varve_session_create", store,
                               *text_in({"session_id": id_, **options}))
        lines = "\n".join(json.dumps({**entry, "session_id": id_}) for entry in entries)
        varve.call("varve_session_import", session, *text_in(lines.encode()), None, None)
        return session
    sessions = {}
    for path in sorted(directory.glob("*/entries.jsonl")):
        name, entries = path.parent.name, lines_of(path)
        for number, chat in enumerate(chats_of(entries) if split else ()):
            create(f"{name}-{number}", chat, user_id=name)
        sessions[name] = create(name, () if split else entries, user_id=name)
    return sessions


def build(varve, sessions, question, options):
    request = {"question": question["query"], "budget": {"max_tokens": options.context},
               **json.loads(options.request)}
    if options.split:
        request["across"] = {"user_id": question["session_id"]}
    if "query_time" in question:
        request["now"] = question["query_time"]
    answer, microseconds = varve.context(sessions[question["session_id"]], request)
    if answer["token_count"] > options.context:
        raise SystemExit(f"{question['query_id']}: {answer['token_count']} tokens")
    items = sorted(answer["items"], key=lambda item: -item["rank"])
    return [item["id"] for item in items], microseconds


def ask(varve, store, sessions, question, options):
    query = {"question": question["query"], "sort_by": options.sort_by, "limit": options.limit}
    if "query_time" in question:
        query["now"] = question["query_time"]
    if options.split:
        query["user_id"] = question["session_id"]
    if options.merge or options.split:
        results, microseconds = varve.query("varve_store_query", store, query)
    else:
        session = sessions[question["session_id"]]
        results, microseconds = varve.query("varve_session_query", session, query)
    return [result["entry"]["id"] for result in results], microseconds


def score(questions, found):
    """recall@k and MRR over the questions that name their evidence."""
    recall, reciprocal, count = dict.fromkeys(RECALL_AT, 0.0), 0.0, 0
    for question in questions:
        evidence = set(question.get("evidence_ids", ()))
        if not evidence:
            continue
        count += 1
        ids = found[question["query_id"]]
        ranks = [rank for rank, one in enumerate(ids, 1) if one in evidence]
        for k in RECALL_AT:
            recall[k] += sum(rank <= k for rank in ranks) / len(evidence)
        reciprocal += 1 / ranks[0] if ranks else 0
    return count, {k: value / max(count, 1) for k, value in recall.items()}, \
        reciprocal / max(count, 1)


def kept(questions, found):
    """The share of the evidence that is in the contexts, over the same questions."""
    shares = [len(evidence & set(found[question["query_id"]])) / len(evidence)
              for question in questions
              if (evidence := set(question.get("evidence_ids", ())))]
    return sum(shares) / max(len(shares), 1)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--sort-by", default="best")
    parser.add_argument("--limit", type=int, default=50)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--merge", action="store_true")
    which.add_argument("--split", action="store_true")
    parser.add_argument("--context", type=int, default=0, metavar="TOKENS")
    parser.add_argument("--request", default="{}", help="members of every request, as JSON")
    parser.add_argument("--config", default="{}", help="of the store, as JSON")
    return parser.parse_args()


def main():
    options = parse_arguments()
    varve = Varve(options.library)
    config = json.loads(options.config)
    config.setdefault("storage", {})["max_session_size_mb"] = 0
    store = varve.handle("varve_store_open", *text_in(b"memory:"), *text_in(config))
    sessions = load(varve, store, options.set, options.split)
    questions = lines_of(options.set / "queries.jsonl")
    found, times = {}, []
    with open(options.results, "w", encoding="utf-8") as results:
        for question in questions:
            ids, microseconds = (build(varve, sessions, question, options) if options.context
                                 else ask(varve, store, sessions, question, options))
            times.append(microseconds)
            found[question["query_id"]] = ids
            results.write(json.dumps({"session_id": question["session_id"],
                                      "query_id": question["query_id"], "ids": ids}) + "\n")
    varve.lib.varve_store_close(store)
    times.sort()
    count, recall, mrr = score(questions, found)
    print(f"{options.set.name}: {len(questions)} questions, {len(sessions)} sessions, "
          f"{times[len(times) // 2]:.0f} us a question (median, entries read)")
    if count and options.context:
        print(f"  kept {kept(questions, found):.4f}")
    elif count:
        print("  " + "  ".join(f"recall@{k} {recall[k]:.4f}" for k in RECALL_AT) +
              f"  MRR {mrr:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
