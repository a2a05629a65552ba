#!/usr/bin/env python3
"""How long a context takes, beside SQLite with FTS5 finding and reading the same.

    context_speed.py --library build/release/libvarve.so SET [SET ...]

All entries of the sets (see retrieval.py) become one session, one conversation after the other, and
their questions are asked of it:
varve_context_build with the question and a budget, and the same in SQLite: the bodies of the best
matches of any word of the question that is no stop word (porter, bm25), and of the newest entries,
as many of each as varve looks at; no token is counted there, nothing is packed and nothing
formatted.

Every question once to warm both up. Then rounds in turns, as in bench/rivals: all questions of
varve, all of SQLite. Then the same questions one by one in turns, so that each engine finds the
processor's caches full of the other's data: what a host pays that does much else between two
turns. Medians in microseconds.
"""
import argparse
import datetime
import json
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile
import time

from retrieval import Varve, lines_of, text_in

STOP_WORDS = set("""a about all am an and any are as at be been but by can could did do does for
from had has have he her him his how i if in is it its me my of on or our she so than that the
their them then there they this to was we were what when where which who why will with would you
your""".split())


def move_behind(entries, start):
    """Moves the times of entries[start:] behind those before; where the next ones start."""
    if start > 0:
        first = min(map(time_of, entries[start:]))
        last = max(map(time_of, entries[:start]))
        for entry in entries[start:]:
            moved = last + datetime.timedelta(days=1) + (time_of(entry) - first)
            entry["timestamp"] = moved.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return len(entries)


def time_of(entry):
    return datetime.datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00"))


def read_sets(directories):
    entries, questions, start = [], [], 0
    for directory in directories:
        for path in sorted(directory.glob("*/entries.jsonl")):
            for entry in lines_of(path):
                del entry["session_id"]
                entries.append(entry)
            start = move_behind(entries, start)
        questions += [line["query"] for line in lines_of(directory / "queries.jsonl")]
    return entries, questions


class Memory:
    def __init__(self, library, directory, entries):
        self.varve = Varve(library)
        config = {"storage": {"max_session_size_mb": 0}, "durability": "os"}
        self.store = self.varve.handle("varve_store_open", *text_in(str(directory).encode()),
                                       *text_in(config))
        self.session = self.varve.handle("varve_session_create", self.store, *text_in({}))
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        self.varve.call("varve_session_import", self.session, *text_in(lines.encode()), None, None)
        self.bytes = len(lines.encode())

    def build(self, question, tokens):
        request = {"question": question, "budget": {"max_tokens": tokens}}
        return self.varve.context(self.session, request)[1]


class Sqlite:
    def __init__(self, directory, entries):
        self.database = sqlite3.connect(directory / "entries.sqlite")
        self.database.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536;
            CREATE TABLE entries(number INTEGER PRIMARY KEY, time TEXT, body TEXT);
            CREATE INDEX by_time ON entries(time);
            CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='porter unicode61');
        """)
        with self.database:
            for number, entry in enumerate(entries):
                content = entry["content"]
                text = content if isinstance(content, str) else " ".join(
                    value for value in content.values() if isinstance(value, str))
                self.database.execute("INSERT INTO entries VALUES(?, ?, ?)",
                                      (number, entry["timestamp"], json.dumps(entry)))
                self.database.execute("INSERT INTO texts(rowid, text) VALUES(?, ?)", (number, text))
            self.database.execute("INSERT INTO texts(texts) VALUES('optimize')")

    def build(self, question, match_count, newest_count):
        words = [word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words) or '"none"'
        start = time.perf_counter_ns()
        self.database.execute("""
            SELECT body FROM (SELECT rowid AS number, rank AS score FROM texts WHERE texts MATCH ?
                              ORDER BY rank LIMIT ?) AS found
            CROSS JOIN entries USING(number) ORDER BY found.score""",
                              (match, match_count)).fetchall()
        self.database.execute("SELECT body FROM entries ORDER BY time DESC LIMIT ?",
                              (newest_count,)).fetchall()
        return (time.perf_counter_ns() - start) / 1000


def in_turns(engines, groups, round_count):
    """Microseconds of each question by engine; the engines take turns after each group."""
    times = {engine: [] for engine in engines}
    for _ in range(round_count):
        for group in groups:
            for engine, build in engines.items():
                times[engine] += map(build, group)
    return times


def report(title, times):
    for engine, taken in times.items():
        taken.sort()
        print(f"  {title:15}  {engine:7} p50 {statistics.median(taken):7.0f} us   "
              f"p99 {taken[len(taken) * 99 // 100]:7.0f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path, nargs="+")
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=300, help="evenly taken from all")
    parser.add_argument("--directory", help="where the stores are made")
    options = parser.parse_args()
    entries, questions = read_sets(options.sets)
    questions = questions[::max(1, len(questions) // options.questions)]
    counts = max(100, options.tokens // 20), max(100, options.tokens // 40)
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        directory = pathlib.Path(name)
        memory, sqlite = Memory(options.library, directory, entries), Sqlite(directory, entries)
        engines = {"varve": lambda question: memory.build(question, options.tokens),
                   "SQLite": lambda question: sqlite.build(question, *counts)}
        in_turns(engines, [questions], 1)
        rounds = in_turns(engines, [questions], options.rounds)
        calls = in_turns(engines, [[question] for question in questions], options.rounds)
        memory.varve.lib.varve_store_close(memory.store)
        sqlite.database.close()
    print(f"{len(entries)} entries, {memory.bytes / 1e6:.1f} MB, {len(questions)} questions, "
          f"{options.tokens} tokens; SQLite {sqlite3.sqlite_version}")
    report("rounds in turns", rounds)
    report("calls in turns", calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
