#!/usr/bin/env python3
"""Random queries find what docs/query.md says, in the order and with the figures of
docs/retrieval.md, whatever was deleted, compacted or lost since. A failure tells its seed.

    VARVE_LIBRARY=libvarve.so query_model_test.py [SEEDS]
"""
import array
import datetime
import os
import pathlib
import random
import sys
import tempfile
import unittest

from best_model import Best
from query_model import HOUR_MS, STOP_WORDS, Entry
from varve_library import Library

CLOCK_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = int(sys.argv.pop()) if len(sys.argv) > 1 else 8
QUERIES = 50  # after each step of a run
WORDS = ["tea", "kettle", "kettles", "flow", "token", "tokens", "the", "how", "to-do", "user",
         "assistant", "pr-1234", "PR", "1234", "open_ticket", "src/main.c", "main.c", "i", "we"]
DAYS = ["2026-01-05", "January 5th", "in January", "in December", "yesterday", "3 days ago",
        "today", "last Friday", "on Monday", "last week", "two months ago", "last month",
        "a week ago", "-2026-01-05", "-yesterday"]
WILDCARDS = ["tok*", "kettl?s", "*ow", "o*", "pr-*", "main.?", "zz*"]
TAGS = ["drinks", "security", "security.login", "securityx", "x.y.z", "x.y", "x"]
TYPES = ["conversation", "finding", "decision", "preference", "odd"]
HOURS_AGO = [0, 0.5, 1, 2, 23, 24, 25, 50, 73, 100, 120, 168, 500, 1500, 5000, -1, -30]
IDS = [f"e{number}" for number in range(20)] + ["nobody"]


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def public(query):
    """As the library takes it: times as texts."""
    shown = {name: value for name, value in query.items() if name != "now_ms"}
    if "now_ms" in query:
        shown["now"] = rfc3339(query["now_ms"])
    if "time" in query:
        shown["time"] = {name.removesuffix("_ms"): rfc3339(value) if name.endswith("_ms") else value
                         for name, value in query["time"].items()}
    return shown


class Maker(random.Random):
    """Makes entries and queries of few words, tags and times, so that they meet."""

    def moment(self):
        return CLOCK_MS - int(self.choice(HOURS_AGO) * HOUR_MS) - self.choice([0, 0, 1])

    def some(self, values, most):
        return self.sample(values, self.randint(0, most))

    def sentence(self):
        return " ".join(self.choices(WORDS, k=self.randint(0, 5))) + self.choice(
            ["", ".", "?", "? Yes."])

    def optional(self, members):
        """{name: (how often of one, what)}: some of them."""
        return {name: make() for name, (share, make) in members.items() if self.random() < share}

    def entry(self, id_):
        content = {"message": self.sentence(), **self.optional({
            "role": (0.5, lambda: self.choice(["user", "assistant"])),
            "n": (0.5, lambda: self.choice([1, 2, None, "1"]))})}
        return {"id": id_, "type": self.choice(TYPES), "content": content,
                **self.optional({
                    "tags": (0.6, lambda: self.some(TAGS, 3)),
                    "importance": (0.7, lambda: self.choice([0, 0.25, 0.5, 1])),
                    "references": (0.4, lambda: self.choices(IDS, k=2)),
                    "trace_id": (0.2, lambda: self.choice(["t1", "t2"]))})}

    def text(self):
        """Phrases all have a sign, or none: what weighs a phrase takes no heed of signed ones."""
        phrase_signs = self.choice([[""], ["+", "-"]])

        def unit():
            kind, sign = self.random(), self.choice(["", "", "", "+", "-"])
            if kind < 0.25:
                words = " ".join(self.choices(WORDS, k=self.randint(1, 2)))
                return f'{self.choice(phrase_signs)}"{words}"'
            return sign + self.choice(WORDS if kind < 0.8 else WILDCARDS)
        units = [unit() for _ in range(self.randint(1, 4))]
        return " ".join(units + self.choices(DAYS, k=self.choice([0, 1])))

    def query(self):
        start, end = sorted([self.moment(), self.moment()])
        members = {
            "text": (0.6, self.text),
            "types": (0.2, lambda: self.some(TYPES, 3)),
            "tags": (0.25, lambda: self.optional({
                "include": (0.7, lambda: self.some(TAGS, 2)),
                "exclude": (0.4, lambda: self.some(TAGS, 2)),
                "match": (0.5, lambda: self.choice(["any", "all"]))})),
            "time": (0.25, lambda: self.optional({
                "start_ms": (0.6, lambda: start), "end_ms": (0.6, lambda: end),
                "last": (0.3, lambda: self.choice(["24h", "2d", "1w", "90m"]))})),
            "min_importance": (0.15, lambda: self.choice([0, 0.25, 0.3, 1])),
            "min_relevance": (0.15, lambda: self.choice([0, 0.01, 0.123456])),
            "references": (0.2, lambda: self.sample(IDS, self.randint(1, 2))),
            "ids": (0.1, lambda: self.some(IDS, 8)),
            "trace_id": (0.1, lambda: self.choice(["t1", "t3"])),
            "content": (0.1, lambda: self.choice([{"role": "user"}, {"n": 1}, {"n": None}, {}])),
            "vector": (0.2, lambda: [self.uniform(-1, 1) for _ in range(3)]),
            "order": (0.3, lambda: self.choice(["asc", "desc"])),
            "now_ms": (0.3, lambda: CLOCK_MS + self.choice([-200, -24, 0, 24]) * HOUR_MS)}
        query = {"sort_by": self.choice(["relevance", "match", "time", "importance", "best", "best",
                                          "best"]),
                 **self.optional(members)}
        if "references" in query:
            query["max_depth"] = self.randint(1, 4)
        if "vector" in query:
            query["vector_weight"] = self.choice([0, 0.2, 0.5, 1])
        return query


class Run:
    """A store of two sessions, and the model of it."""

    def __init__(self, seed, directory):
        self.make, self.directory = Maker(seed), pathlib.Path(directory)
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = CLOCK_MS
        self.logs = {"a": [], "b": []}
        self.added = 0
        self.candidates = self.make.choice([1, 3, 8, 200])
        self.open(lambda name: self.store.create(session_id=name))

    def open(self, get):
        self.store = self.library.open_store(self.directory, {
            "durability": "os", "threads": self.make.choice([1, 2]),
            "text": {"language": "none", "stop_words": sorted(STOP_WORDS),
                     "best": {"candidates": self.candidates}}})
        self.sessions = {name: get(name) for name in self.logs}

    def add(self):
        for _ in range(self.make.randint(10, 40)):
            name, given = self.make.choice("ab"), self.make.entry(f"e{self.added}")
            self.added += 1
            if self.make.random() < 0.25 or not self.logs[name]:  # else of one stretch
                time_ms = self.make.moment()
            else:
                time_ms = self.logs[name][-1].time_ms + self.make.choice([0, HOUR_MS // 7, HOUR_MS])
            expires_ms = CLOCK_MS + self.make.choice([-1, 0, 1, 50]) * HOUR_MS
            expires = self.make.optional({"expires_at": (0.15, lambda: rfc3339(expires_ms))})
            self.sessions[name].add({**given, "timestamp": rfc3339(time_ms), **expires})
            entry = Entry(given, time_ms, expires_ms if expires else float("inf"), name)
            if entry.expires_ms > CLOCK_MS and self.make.random() < 0.3:
                entry.vector = array.array("f", [self.make.uniform(-1, 1) for _ in range(3)])
                self.sessions[name].put_vector(entry.id, entry.vector)
            self.logs[name].append(entry)

    def delete(self):
        for entry in [*self.logs["a"], *self.logs["b"]]:
            is_live = not entry.is_deleted and entry.expires_ms > CLOCK_MS
            if is_live and self.make.random() < 0.15:
                self.sessions[entry.session].delete(entry.id, "a test")
                entry.is_deleted = True

    def compact(self):
        for name, log in self.logs.items():
            self.sessions[name].compact()
            log[:] = [entry for entry in log
                      if not entry.is_deleted and entry.expires_ms > CLOCK_MS]

    def lose_index(self):
        self.store.close()
        for index in self.directory.glob("sessions/*/index.bin"):
            index.unlink()
        self.open(lambda name: self.store.open(name))


class QueryModel(unittest.TestCase):
    def compare(self, run, query):
        name = run.make.choice(["a", "b", None])  # None: of both
        asked = run.sessions[name] if name else run.store
        logs = [run.logs[name]] if name else list(run.logs.values())
        wanted = Best(logs, query, CLOCK_MS, run.candidates)
        query = public(query)
        answer = asked.query({**query, "limit": 1000, "explain": True})["results"]
        found = [(result["session_id"], result["entry"]["id"]) for result in answer]
        expected = {(entry.session, entry.id): row for entry, *row in wanted.rows}
        self.assertEqual(sorted(found), sorted(expected))
        for result, each in zip(answer, found):
            figures = [result["explain"]["key"], result["relevance"], result["match_quality"]]
            for figure, own in zip(figures, expected[each]):
                self.assertAlmostEqual(figure, own, 9, (each, figures, expected[each]))
        self.check_best(answer, wanted)
        self.check_order(answer, found, wanted)
        self.check_pages(run, asked, query, found)

    def check_best(self, answer, wanted):
        parts = {(entry.session, entry.id): wanted.parts.get(id(entry)) for entry in wanted.entries}
        for result in answer:
            own = parts[(result["session_id"], result["entry"]["id"])] or {}
            found = result["explain"].get("best", {})
            self.assertEqual(sorted(found), sorted(own))
            for name, value in found.items():
                self.assertAlmostEqual(value, own[name], 9, (result["entry"]["id"], name))

    def check_order(self, answer, found, wanted):
        """As the model has it; only keys of which both are nearly the same may stand otherwise."""
        keys = [result["explain"]["key"] for result in answer]
        for at, (entry, key, *_) in enumerate(wanted.rows):
            if found[at] != (entry.session, entry.id):
                self.assertAlmostEqual(keys[at], key, 9)
                self.assertNotIn(keys[at], keys[:at] + keys[at + 1:])

    def check_pages(self, run, asked, query, found):
        pages, after = [], None
        while True:
            page = asked.query({**query, "limit": run.make.randint(1, 20), "after": after})
            pages += [(result["session_id"], result["entry"]["id"]) for result in page["results"]]
            after = page["next"]
            if not after:
                break
        self.assertEqual(pages, found)

    def test_queries_find_what_the_model_finds(self):
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as directory:
                run = Run(seed, directory)
                for step in (run.add, run.delete, run.lose_index, run.add, run.compact, run.add):
                    step()
                    for _ in range(QUERIES):
                        query = run.make.query()
                        with self.subTest(seed=seed, step=step.__name__, query=query):
                            self.compare(run, query)
                run.store.close()


if __name__ == "__main__":
    unittest.main()
