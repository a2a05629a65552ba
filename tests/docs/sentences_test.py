#!/usr/bin/env python3
"""Single sentences of docs/query.md and docs/context.md that no model has, at their ends and edges.

    VARVE_LIBRARY=libvarve.so sentences_test.py
"""
import os
import unittest

from varve_library import Failure, Library

NOW_MS = 1_768_035_600_000  # 2026-01-10T09:00:00Z


class Sentences(unittest.TestCase):
    def setUp(self):
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = NOW_MS
        self.store = self.library.open_store("memory:")
        self.addCleanup(self.store.close)
        self.session = self.filled("s")

    def filled(self, session_id):
        session = self.store.create(session_id=session_id, user_id="ann")
        session.add_batch([{"id": f"e{day}", "type": "finding", "content": "tea",
                            "timestamp": f"2026-01-0{day}T00:00:00Z"} for day in range(1, 6)])
        return session

    def refused(self, where, query):
        """The member that is wrong in it."""
        with self.assertRaises(Failure, msg=query) as raised:
            where.query(query)
        self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT", query)
        return raised.exception.details["member"]


class Pages(Sentences):
    """A cursor is one of the same query, asked of the same sessions."""

    def setUp(self):
        super().setUp()
        self.filled("t")
        self.memory = self.store.open_memory({"user_id": "ann"})

    def cursor(self, where):
        return where.query({"sort_by": "time", "limit": 2})["next"]

    def test_one_of_a_session_is_none_across_sessions(self):
        after = self.cursor(self.session)
        for where in (self.store, self.memory):
            ask = where.search if where is self.memory else where.query
            with self.assertRaises(Failure) as raised:
                ask({"sort_by": "time", "limit": 2, "after": after})
            self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")
            self.assertEqual(raised.exception.details["member"], "after")

    def test_one_of_all_sessions_is_none_of_one_of_them(self):
        query = {"sort_by": "time", "limit": 2}
        after = self.store.query(query)["next"]
        for session_id in ("s", "t"):
            session = self.store.open(session_id)
            self.assertEqual(self.refused(session, {**query, "after": after}), "after")
            session.close()
        self.assertEqual(len(self.store.query({**query, "after": after})["results"]), 2)


class Empty(Sentences):
    def test_is_no_condition(self):
        for query in ({"text": ""}, {"ids": []}, {"types": []}, {"trace_id": ""}, {"content": {}},
                      {"references": []}, {"tags": {}}, {"tags": {"include": [], "exclude": []}},
                      {"time": {}}):
            self.assertEqual(len(self.session.query(query)["results"]), 5, query)
        related = {"references": ["e1"], "relation": ""}
        self.assertEqual(self.session.query(related)["results"], [])

    def test_is_refused_where_a_vector_a_time_a_cursor_or_a_name_is_meant(self):
        for query, member in (({"vector": []}, "vector"), ({"now": ""}, "now"),
                              ({"after": ""}, "after"), ({"sort_by": ""}, "sort_by"),
                              ({"order": ""}, "order"), ({"tags": {"match": ""}}, "tags.match"),
                              ({"time": {"start": ""}}, "time.start"),
                              ({"time": {"end": ""}}, "time.end"),
                              ({"time": {"last": ""}}, "time.last")):
            self.assertEqual(self.refused(self.session, query), member)


class Last(Sentences):
    def test_is_up_to_nine_digits_and_a_unit(self):
        for unit in "smhdw":
            for digits in ("1", "000000001", "999999999"):
                query = {"time": {"last": digits + unit}}
                wanted = 5 if digits[0] == "9" else {"w": 2}.get(unit, 0)
                self.assertEqual(len(self.session.query(query)["results"]), wanted, query)
            for span in ("0" + unit, "000000000" + unit, "1000000000" + unit, unit, "-1" + unit,
                         "1.5" + unit, "1 " + unit, "1" + unit.upper()):
                query = {"time": {"last": span}}
                self.assertEqual(self.refused(self.session, query), "time.last")


class Ranges(Sentences):
    def test_of_a_context_are_from_0_to_a_million(self):
        for name in ("recency", "importance"):
            for number in (0, 1, 1_000_000):
                found = self.session.context({"retrieve": [{name: number}]})
                self.assertEqual(len(found["items"]), min(number, 5))
            self.is_refused({"retrieve": [{name: 1_000_001}]}, f"retrieve[0].{name}")
        for name in ("temporal", "importance", "match"):
            for weight in (0, 0.5, 1_000_000):
                self.session.context({"rank": [{name: weight}]})
            for weight in (-1e-9, 1_000_000.5):
                self.is_refused({"rank": [{name: weight}]}, f"rank[0].{name}")

    def is_refused(self, request, member):
        with self.assertRaises(Failure, msg=request) as raised:
            self.session.context(request)
        self.assertEqual(raised.exception.details["member"], member)


if __name__ == "__main__":
    unittest.main()
