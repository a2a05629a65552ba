#!/usr/bin/env python3
"""Asks the questions of a data set of SQLite's FTS5 and writes which entries it finds.

    fts5.py [--plain] SET RESULTS.jsonl [--limit 50]

Set and results are those of retrieval.py, which asks varve the same, and so is the score. One table
a session; the best by FTS5's own bm25, of the entries that have any word of the question.

As its users would tune it: stems (porter), the speaker as a part of the text, and no stop words in
the question. With --plain as it comes: unicode61, the message alone, all words of the question.
"""
import argparse
import json
import pathlib
import re
import sqlite3
import sys

from context_speed import STOP_WORDS
from retrieval import RECALL_AT, lines_of, score


def strings_of(value):
    """Every string in a content, as varve takes them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings_of(member)
    elif isinstance(value, list):
        for element in value:
            yield from strings_of(element)


def text_of(entry, plain):
    content = entry["content"]
    if plain and isinstance(content, dict):
        content = {name: value for name, value in content.items() if name != "role"}
    return "\n".join(strings_of(content))


def load(path, plain):
    """A table with the entries of a session, and their ids by row."""
    tokenizer = "unicode61" if plain else "porter unicode61"
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='{tokenizer}')")
    ids = []
    for entry in lines_of(path):
        ids.append(entry["id"])
        database.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)",
                         (len(ids), text_of(entry, plain)))
    return database, ids


def words_of(question, plain):
    words = dict.fromkeys(re.findall(r"\w+", question.lower()))
    return words if plain else [word for word in words if word not in STOP_WORDS] or words


def ask(session, question, options):
    database, ids = session
    words = " OR ".join(f'"{word}"' for word in words_of(question["query"], options.plain))
    if not words:
        return []
    rows = database.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
                            (words, options.limit))
    return [ids[row - 1] for row, in rows]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--limit", type=int, default=50)
    return parser.parse_args()


def main():
    options = parse_arguments()
    sessions = {path.parent.name: load(path, options.plain)
                for path in sorted(options.set.glob("*/entries.jsonl"))}
    questions = lines_of(options.set / "queries.jsonl")
    found = {}
    with open(options.results, "w", encoding="utf-8") as results:
        for question in questions:
            ids = ask(sessions[question["session_id"]], question, options)
            found[question["query_id"]] = ids
            results.write(json.dumps({"session_id": question["session_id"],
                                      "query_id": question["query_id"], "ids": ids}) + "\n")
    count, recall, mrr = score(questions, found)
    print(f"{options.set.name}: {len(questions)} questions, {len(sessions)} sessions, "
          f"SQLite {sqlite3.sqlite_version}")
    if count:
        print("  " + "  ".join(f"recall@{k} {recall[k]:.4f}" for k in RECALL_AT) +
              f"  MRR {mrr:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
