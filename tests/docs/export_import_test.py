#!/usr/bin/env python3
"""docs/export-import.md is true: what it shows being imported becomes the entries it shows.

    VARVE_LIBRARY=libvarve.so export_import_test.py
"""
import json
import os
import pathlib
import re
import unittest

from varve_library import Library

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "export-import.md"
NOW_MS = 1768035600000
BLOCK = re.compile(r"<!-- (import|entries) -->\n```json\n(.*?)```", re.S)
DERIVED_ID = re.compile(r"\b(entity|relation|chat|import)_([0-9a-f]{32})\b")


def pairs_of(page):
    """[(text to import, entries shown)]"""
    blocks = BLOCK.findall(page)
    kinds = [kind for kind, _ in blocks]
    if kinds != ["import", "entries"] * (len(kinds) // 2):
        raise AssertionError(f"not in pairs: {kinds}")
    texts = [text for _, text in blocks]
    return list(zip(texts[::2], texts[1::2]))


def with_short_ids(text):
    """Derived ids as the page shows them: ID1, ID2, ... in the order they appear."""
    names = {}
    return DERIVED_ID.sub(
        lambda m: f"{m[1]}_ID{names.setdefault(m[2], len(names) + 1)}", text)


class ExportImportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = PAGE.read_text(encoding="utf-8")
        cls.pairs = pairs_of(cls.page)
        cls.library = Library(os.environ["VARVE_LIBRARY"])
        cls.library.now_ms = NOW_MS

    def test_the_page_has_examples(self):
        self.assertEqual(len(self.pairs), 4)

    def test_imports_become_the_entries_shown(self):
        for number, (given, shown) in enumerate(self.pairs):
            with self.subTest(given=given):
                session = self.library.open_store("memory:").create(session_id=f"s{number}")
                report = session.import_text(given)
                expected = [json.loads(line) for line in shown.splitlines()]
                self.assertEqual(report["added"], len(expected), report)
                self.assertEqual(report["refused_total"], 0, report)
                self.assertEqual(session.import_text(given)["existing"], len(expected))
                entries = [json.loads(line) for line in
                           with_short_ids(session.export("jsonl")).splitlines()]
                for entry, wanted in zip(entries, expected, strict=True):
                    self.assertEqual({name: entry.get(name) for name in wanted}, wanted)

    def test_what_another_memory_kept_is_found_as_the_page_says(self):
        told = re.search(r"^It is found by .*$", self.page, re.M)
        given = [text for text, _ in pairs_of(self.page[:told.start()])][-1]
        session = self.library.open_store("memory:").create()
        session.import_text(given + '{"type":"document","content":{"message":"Snow","page":4}}')
        queries = re.findall("`(.*?)`", told[0])
        self.assertEqual(len(queries), 3)
        for query in queries:
            found = session.query(json.loads(query))["results"]
            self.assertEqual([each["entry"]["content"]["page"] for each in found], [3], query)

    def test_the_report_has_the_members_shown(self):
        shown = json.loads(re.search(r"```json\n(\{\"added\".*?)```", self.page, re.S)[1])
        session = self.library.open_store("memory:").create()
        report = session.import_text('{"type":"message"}')
        self.assertEqual(set(report), set(shown))
        self.assertEqual(set(report["refused"][0]), set(shown["refused"][0]))


if __name__ == "__main__":
    unittest.main()
