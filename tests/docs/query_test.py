#!/usr/bin/env python3
"""docs/query.md is true: its queries find what the page says, in that order.

    VARVE_LIBRARY=libvarve.so query_test.py
"""
import json
import os
import pathlib
import re
import unittest

from varve_library import Library

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "query.md"
NOW_MS = 1768035600000  # 2026-01-10T09:00:00Z
BLOCK = re.compile(r"<!-- (entries|vectors|query) -->\n```json\n(.*?)```\n\s*"
                   r"(finds [^\n]*(?:\n[^\n]+)*)?", re.S)


def parts_of(page):
    """(entries as text, vectors by id, [(query, the ids it finds)])"""
    entries, vectors, queries = None, {}, []
    for kind, text, found in BLOCK.findall(page):
        if kind == "entries":
            entries = text
            continue
        if kind == "vectors":
            vectors = json.loads(text)
            continue
        if not found:
            raise AssertionError(f"the page does not say what this finds: {text}")
        said = re.split(r"[.:]", found, maxsplit=1)[0]
        queries.append((text, re.findall(r"`([^`]+)`", said)))
    return entries, vectors, queries


class QueryPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.entries, cls.vectors, cls.queries = parts_of(PAGE.read_text(encoding="utf-8"))
        cls.library = Library(os.environ["VARVE_LIBRARY"])
        cls.library.now_ms = NOW_MS
        cls.store = cls.library.open_store("memory:")
        cls.session = cls.store.create(session_id="examples")
        cls.session.add_batch(cls.entries)
        for entry_id, values in cls.vectors.items():
            cls.session.put_vector(entry_id, values)

    def test_the_page_has_queries(self):
        self.assertGreater(len(self.queries), 10)

    def test_queries_find_what_the_page_says(self):
        for query, expected in self.queries:
            with self.subTest(query=query.strip()):
                answer = self.session.query(query)
                self.assertEqual([result["entry"]["id"] for result in answer["results"]], expected)

    def test_the_results_are_of_the_form_shown(self):
        shown = json.loads(re.search(r"```json\n(\{\"results\".*?)```",
                                     PAGE.read_text(encoding="utf-8"), re.S)[1])
        answer = self.session.query('{"limit": 1}')
        self.assertLessEqual(set(shown), set(answer))
        self.assertEqual(set(shown["results"][0]), set(answer["results"][0]))

    def test_explain_has_the_members_told(self):
        text = PAGE.read_text(encoding="utf-8")
        table = text[text.index("With `\"explain\": true`"):text.index("## Across sessions")]
        told = set(re.findall(r"^\| (.*?) \|", table, re.M)) - {"member", "---"}
        names = {name for row in told for name in re.findall(r"`([a-z0-9_]+)`", row)}
        answer = self.session.query('{"text": "flow", "vector": [1, 0], "explain": true}')
        self.assertEqual(set(answer["results"][0]["explain"]), names)


if __name__ == "__main__":
    unittest.main()
