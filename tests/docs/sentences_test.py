#!/usr/bin/env python3
"""Single sentences of the pages and headers that no model has, at their ends and edges.

    VARVE_LIBRARY=libvarve.so sentences_test.py
"""
import ctypes
import json
import os
import pathlib
import tempfile
import unittest

from varve_library import Failure, Library, given

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

    def test_is_refused_where_it_would_mean_everybodys_sessions(self):
        for query in ({"user_id": ""}, {"agent_id": ""}, {"session_ids": []}):
            self.assertEqual(self.refused(self.store, query), next(iter(query)))


class Words(Sentences):
    def test_that_are_no_object_are_refused_with_an_example(self):
        for example, call in (
                ('{"type":"finding"', lambda: self.session.add("likes tea")),
                ('{"content":"hello"}', lambda: self.session.record("user_message", "likes tea")),
                ('{"text":"tea"}', lambda: self.session.query("likes tea"))):
            with self.assertRaises(Failure) as raised:
                call()
            self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")
            self.assertIn(example, str(raised.exception))


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


class Wildcards(Sentences):
    def test_have_up_to_63_characters_beside_their_stars(self):
        self.session.add({"id": "long", "type": "finding", "content": "é" + "q" * 99})
        for text in ("e" + "q" * 62 + "*", "*" + "q" * 63 + "*", "*q" * 63, "é?" + "q" * 61 + "*"):
            for sign in ("", "+"):
                found = self.session.query({"text": sign + text})["results"]
                self.assertEqual([result["entry"]["id"] for result in found], ["long"], text)
        for text in ("e" + "q" * 63 + "*", "*" + "q" * 64, "*q" * 64, "?" * 64):
            self.assertEqual(self.session.query({"text": text})["results"], [], text)


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


class ManyMembers(Sentences):
    def entry(self, count, name="m"):
        return {"id": "many", "type": "note", "content": 1, "ttl_seconds": 9, "trace_id": "t",
                "span_id": "s", "relations": {}, **{f"{name}{i}": i for i in range(count)}}

    def test_an_entry_with_as_many_as_there_may_be_is_imported_again(self):
        self.session.add(self.entry(65_518))
        for form in ("jsonl", "json"):
            report = self.store.create().import_text(self.session.export(form))
            self.assertEqual((report["added"], report["refused"]), (6, []), form)

    def test_one_with_more_is_refused(self):
        for count, name in ((65_519, "m"), (65_529, "m"), (65_519, "z")):
            with self.assertRaises(Failure) as raised:
                self.session.add(self.entry(count, name))
            self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")
            self.assertIn("65518 members beside those", str(raised.exception))


class Chats(Sentences):
    def kinds_and_contents(self, messages):
        session = self.store.create()
        report = session.import_text(json.dumps(messages))
        self.assertEqual((report["added"], report["format"]), (len(messages), "chat"))
        lines = map(json.loads, session.export("jsonl").splitlines())
        return [(entry["type"], entry["content"]) for entry in lines]

    def test_a_call_is_what_is_there_and_not_empty(self):
        for member, is_call in (({"tool_calls": []}, False), ({"tool_calls": None}, False),
                                ({"tool_calls": [{}]}, True), ({"function_call": None}, False),
                                ({"function_call": {}}, True)):
            message = {"role": "assistant", "content": "x", **member}
            [(kind, content)] = self.kinds_and_contents([message])
            self.assertEqual(kind, "tool_call" if is_call else "message", member)
            self.assertEqual(content, {"role": "assistant", "message": "x", **member})

    def test_an_object_is_one_where_its_messages_come_first_or_a_chat_is_asked_for(self):
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        cases = (({"title": "t", "messages": messages, "type": "x"}, 2, 2),
                 ({"type": "x", "messages": messages}, 0, 2),
                 ({"role": "x", "content": "x", "messages": messages}, 1, 1),
                 ({"title": "t" * 65_000, "messages": messages}, 2, 2))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "chat.json")
            for chat, guessed, asked in cases:
                path.write_text(json.dumps(chat))
                for form, added in (("auto", guessed), ("chat", asked)):
                    report = self.library.text(
                        "varve_session_import_file", self.store.create()._handle,
                        *given(str(path)), *given({"format": form}))
                    self.assertEqual(json.loads(report)["added"], added, (form, *chat))

    def test_members_of_its_own_keep_their_names(self):
        parts = [{"type": "text", "text": "a"}, {"type": "image"}]
        contents = [content for _, content in self.kinds_and_contents([
            {"role": "user", "content": "a", "message": 1, "parts": 2},
            {"role": "user", "content": parts, "message": 1, "parts": 2}])]
        own = {"role": "user", "message": 1, "parts": 2, "content_text": "a"}
        listed = {**own, "content_text": "a\n\n[image]", "content_parts": parts}
        self.assertEqual(contents, [own, listed])


class Figures(Sentences):
    def text(self, function, *arguments):
        return json.loads(self.library.text(function, self.session._handle, *arguments))

    def test_a_type_called_as_the_plural_of_another_is_counted_with_it(self):
        self.session.add({"type": "findings", "content": 1})
        statistics = self.text("varve_session_metadata")["statistics"]
        self.assertEqual(statistics, {"findings": 6, "decisions": 0, "conversations": 0,
                                      "preferences": 0})
        self.assertEqual(self.session.stats()["types"], {"finding": 5, "findings": 1})

    def test_of_usage_have_no_range_that_ends_before_it_starts(self):
        def usage(**time):
            return json.loads(self.library.text("varve_store_usage", self.store._handle,
                                                *given({"time": time})))
        self.session.add({"type": "message", "content": "x", "usage": {"input_tokens": 3},
                          "timestamp": "2026-01-02T00:00:00Z"})
        for start, end, tokens in ((2, 3, 3), (2, 2, 0), (1, 2, 0)):
            total = usage(start=f"2026-01-0{start}T00:00:00Z", end=f"2026-01-0{end}T00:00:00Z")
            self.assertEqual(total["total"]["input_tokens"], tokens)
        with self.assertRaises(Failure) as raised:
            usage(end="2026-01-02T00:00:00Z", start="2026-01-02T00:00:00.001Z")
        self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")
        self.assertEqual(raised.exception.details["member"], "time.end")
        self.assertEqual(self.refused(self.session, {"time": {
            "end": "2026-01-02T00:00:00Z", "start": "2026-01-02T00:00:00.001Z"}}), "time.end")

    def test_a_compaction_tells_of_vectors_where_there_are_any(self):
        for function in ("varve_session_compact", "varve_session_purge"):
            self.assertNotIn("vectors_before", self.text(function, *given(None)))
        for _ in range(2):
            self.session.put_vector("e1", [1.0, 2.0])
        dry = self.text("varve_session_compact", *given({"dry_run": True}))
        self.assertNotIn("vectors_before", dry)
        report = self.text("varve_session_compact", *given(None))
        self.assertEqual((report["vectors_before"], report["vectors_after"]), (2, 1))


class Parameters(Sentences):
    """The member of an error is the name of the parameter, where that is wrong."""

    def test_of_a_memory_the_session_is_not_called_as_the_entry(self):
        memory = self.store.open_memory({"user_id": "ann"})
        message = {"id": "e9", "content": "tea"}
        for wrong in ("", "-s", "a.b", "../s", "s" * 129):
            for call in (lambda: memory.record(wrong, message), lambda: memory.context(wrong),
                         lambda: memory.load(wrong)):
                with self.assertRaises(Failure) as raised:
                    call()
                self.assertEqual(raised.exception.name, "VARVE_INVALID_ARGUMENT")
                self.assertEqual(raised.exception.details, {"member": "session_id"})


class Vectors(Sentences):
    def test_of_a_query_that_counts_are_ignored_whatever_their_dimension(self):
        self.session.put_vector("e1", [1.0, 2.0])
        for vector in ([1], [1, 0], [1, 0, 0]):
            count = ctypes.c_uint64()
            self.library.call("varve_session_count", self.session._handle,
                              *given({"vector": vector}), ctypes.byref(count))
            self.assertEqual(count.value, 5)
        self.assertEqual(self.refused(self.session, {"vector": [1]}), "vector")


class Imported(Sentences):
    """docs/privacy.md: ids that an import made tell whether a guessed name was there."""

    def id_of_entity(self, directory, session_id, observation):
        store = self.library.open_store(directory)
        session = store.create(session_id=session_id)
        session.import_text(json.dumps({"type": "entity", "name": "Ann", "entityType": "person",
                                        "observations": [observation]}))
        entry_id = session.query({})["results"][0]["entry"]["id"]
        session.delete(entry_id, "asked to")
        self.library.text("varve_session_purge", session._handle, *given(None))
        store.close()
        return entry_id

    def test_an_entity_has_the_same_id_wherever_its_name_is_and_leaves_it_behind(self):
        with tempfile.TemporaryDirectory() as directory:
            ids = {self.id_of_entity(directory, name, name) for name in ("a", "b")}
            self.assertEqual(len(ids), 1)
            for name in ("a", "b"):
                folder = pathlib.Path(directory, "sessions", name)
                self.assertIn(ids.copy().pop(), (folder / "tombstones.jsonl").read_text())
                self.assertEqual((folder / "memory.jsonl").read_bytes(), b"")


class LongTerm(Sentences):
    """docs/tiers.md: vectors are put by the session that a search by ids names."""

    def test_entries_are_found_by_vectors(self):
        memory = self.store.open_memory({"user_id": "ann"})
        for text, vector in (("likes tea", [1, 0]), ("hates rain", [0, 1])):
            entry_id = memory.store({"content": text})
            found = memory.search({"ids": [entry_id]})["results"]
            session = self.store.open(found[0]["session_id"])
            session.put_vector(entry_id, vector)
            session.close()
        found = memory.search({"vector": [0.1, 1]})["results"]
        self.assertEqual([each["entry"]["content"] for each in found], ["hates rain", "likes tea"])


class Parts(Sentences):
    """Capitals divide words of up to 64 characters, with small letters among them."""

    def found(self, part):
        answer = self.session.query({"text": part, "sort_by": "match"})
        return sorted(result["entry"]["id"] for result in answer["results"])

    def test_are_of_words_of_up_to_64_characters(self):
        for length in (64, 65):
            word = "getUser" + "Z" + "z" * (length - len("getUserZ"))
            self.assertEqual(len(word), length)
            self.session.add({"id": f"n{length}", "type": "finding", "content": word})
        self.assertEqual(self.found("user"), ["n64"])

    def test_are_of_words_with_small_letters(self):
        for name, word in (("small", "ab12CD"), ("none", "AB12CD")):
            self.session.add({"id": name, "type": "finding", "content": word})
        self.assertEqual(self.found("cd"), ["small"])


class Quantiles(Sentences):
    """p50 and p99 are bounds of buckets, or the largest value where that is less."""

    def test_are_no_larger_than_the_largest_value(self):
        self.session.query({"text": "tea"})
        figures = json.loads(self.library.text("varve_store_stats", self.store._handle))["metrics"]
        of_query = figures["memory.operations.query.duration_ms"]
        self.assertEqual(of_query["count"], 1)
        self.assertEqual((of_query["p50"], of_query["p99"]), (of_query["max"], of_query["max"]))


class Threads(Sentences):
    """One for a store, from its first session of durability interval until it is closed."""

    def test_that_syncs_ends_with_the_store(self):
        def count():
            return len(os.listdir("/proc/self/task"))

        store, before = self.library.open_store("memory:", {"durability": "interval"}), count()
        store.create(session_id="a", durability="commit").close()
        self.assertEqual(count(), before)
        for session_id in ("b", "c"):
            store.create(session_id=session_id).close()
            self.assertEqual(count(), before + 1)
        store.close()
        for _ in range(100_000):  # one that was joined is listed until the kernel is done with it
            if count() == before:
                break
            os.sched_yield()
        self.assertEqual(count(), before)


class Documents(unittest.TestCase):
    """kv.json and transcript.md are at most 64 MiB, whatever the other limits are."""

    def test_are_refused_where_they_would_be_larger_and_stay_as_they_were(self):
        store = Library(os.environ["VARVE_LIBRARY"]).open_store(
            "memory:", {"storage": {"max_session_size_mb": 0, "max_entry_size_bytes": 0}})
        self.addCleanup(store.close)
        session = store.create()
        for write in (session.kv_set, session.say):
            write("a", "x" * (40 << 20))
            with self.assertRaises(Failure) as raised:
                write("b", "x" * (24 << 20))
            self.assertEqual(raised.exception.name, "VARVE_SIZE_LIMIT")
            self.assertEqual(raised.exception.details["limit"], 64 << 20)
        size = session.stats()["size_bytes"]
        self.assertLess(max(size["kv"], size["transcript"]), 41 << 20)
        self.assertGreater(min(size["kv"], size["transcript"]), 40 << 20)


if __name__ == "__main__":
    unittest.main()
