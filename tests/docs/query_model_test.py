#!/usr/bin/env python3
"""Random queries find what docs/query.md says, in the order and with the figures of
docs/retrieval.md, whatever was deleted, compacted or lost since. A failure tells its seed.

    VARVE_LIBRARY=libvarve.so query_model_test.py [SEEDS [FIRST]]
"""
import array
import os
import pathlib
import tempfile
import unittest

from best_model import Best
from query_maker import CLOCK_MS, Maker, public, rfc3339
from query_model import HOUR_MS, STOP_WORDS, Entry
from seeds import take_seeds
from varve_library import Library

SEEDS = take_seeds(8)
QUERIES = 50  # after each step of a run


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
        for seed in SEEDS:
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
