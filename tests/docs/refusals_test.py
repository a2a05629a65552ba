#!/usr/bin/env python3
"""Options, entries and queries that are cut, extended or of a wrong type are refused as the headers
and docs/errors.md say: with VARVE_INVALID_ARGUMENT, the member and its place in the given text, and
without a change of any byte on the disk.

    VARVE_LIBRARY=libvarve.so refusals_test.py
"""
import ctypes
import json
import os
import pathlib
import tempfile
import unittest

from varve_library import Failure, Library, given

NOW_MS = 1_767_950_000_000
QUERY = {"text": "tea +cup", "tags": {"include": ["a"], "exclude": ["b"], "match": "any"},
         "types": ["finding"], "time": {"start": "2026-01-01T00:00:00Z", "last": "9d"},
         "ids": ["e1"], "min_importance": 0.1, "content": {"a": 1}, "trace_id": "t",
         "references": ["e1"], "max_depth": 2, "now": "2026-01-10T00:00:00Z"}
ORDERED = {**QUERY, "sort_by": "relevance", "order": "desc", "limit": 3, "explain": True}
ENTRY = {"id": "new", "type": "finding", "content": {"a": 1}, "tags": ["a"], "importance": 0.5,
         "references": ["e1"], "relations": {"of": ["e1"]}, "trace_id": "t", "span_id": "s",
         "timestamp": "2026-01-01T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z",
         "decay_factor": 1, "schema_version": 1}
SETTINGS = {"title": "t", "kv_cap": 3, "transcript_cap": 3, "ttl_hours": 3, "ttl_policy": "fixed",
            "decay_config": {"enabled": True, "curve": "linear", "half_life_hours": 3,
                             "type_specific": {"finding": {"half_life_hours": 3}}},
            "compaction_config": {"auto_compact": True, "threshold": 0.5}, "durability": "os"}
OWNERS = {"user_id": "u", "agent_id": "a"}
# The function, what stands before the text, the text, and which out-parameters follow it.
CALLS = [
    ("store", "create", [], {"session_id": "new", "if_exists": "fail", **OWNERS,
                             "stores": ["kv"], **SETTINGS}, "handle"),
    ("store", "sessions", [], {**OWNERS, "limit": 3, "rescan": False}, "text"),
    ("store", "query", [], {**ORDERED, **OWNERS, "session_ids": ["s"]}, "handle"),
    ("store", "usage", [], {**OWNERS, "session_ids": ["s"],
                            "time": {"start": "2026-01-01T00:00:00Z"}}, "text"),
    ("store", "backup", ["copy"], {"sessions": ["s"], "delete_missing": True}, "text"),
    ("store", "restore", ["copy"], {"sessions": ["s"], "overwrite": True}, "text"),
    ("session", "update", [], SETTINGS, ""),
    ("session", "add", [], ENTRY, "text"),
    ("session", "add_batch", [], [ENTRY, {**ENTRY, "id": "other"}], "text"),
    ("session", "query", [], ORDERED, "handle"),
    ("session", "count", [], QUERY, "count"),
    ("session", "delete_where", [], QUERY, "reason"),
    ("session", "verify", [], {"deep": True}, "text"),
    ("session", "repair", [], {"dry_run": False, "accept_edits": True}, "text"),
    ("session", "compact", [], {"dry_run": False, "evict_below": 0.5}, "text"),
    ("session", "purge", [], {"dry_run": False}, "text"),
    ("session", "migrate", [], {"dry_run": False}, "text"),
    ("session", "export", [], {"format": "json", "query": QUERY}, "text"),
    ("session", "export_file", ["export"], {"format": "json", "query": QUERY, "overwrite": True},
     "text"),
    ("session", "import_file", ["import"], {"format": "auto", "dry_run": False}, "text"),
]
# What takes a value of any type, or any member.
FREE = {"add": ["content"], "add_batch": ["[0].content", "[1].content"], "query": ["content.a"],
        "count": ["content.a"], "delete_where": ["content.a"],
        "export": ["query.content.a"], "export_file": ["query.content.a"]}
VALUES = [True, 7, "?", [7], {"?": 7}]


def name_of(path):
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")


def places(value, path=()):
    """The path of each value within a value."""
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else []
    for key, inner in items:
        yield path + (key,)
        yield from places(inner, path + (key,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def with_value(value, path, replacement):
    made = json.loads(json.dumps(value))
    at(made, path[:-1])[path[-1]] = replacement
    return made


def is_other(value, replacement):
    """Whether it is of another type; what is in a list or an object may be wrong, too."""
    numbers = (int, float)
    if isinstance(value, numbers) and not isinstance(value, bool):
        return isinstance(replacement, bool) or not isinstance(replacement, numbers)
    return type(value) is not type(replacement) or isinstance(value, (list, dict))


class RefusalsModel(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = NOW_MS
        self.store = self.library.open_store(self.place / "store")
        self.addCleanup(self.store.close)
        self.session = self.store.create(session_id="s", **OWNERS)
        for number in range(4):
            self.session.add({"id": f"e{number}", "type": "finding", "tags": ["a"],
                              "content": {"text": "tea cup", "a": 1}})
        self.session.delete("e3", "asked for")
        self.session.kv_set("key", "value")
        self.session.say("user", "hello")
        self.session.put_vector("e1", [1, 2])
        self.library.text("varve_store_backup", self.store._handle,
                          *given(str(self.place / "copy")), *given(None))
        (self.place / "import").write_text(json.dumps(ENTRY) + "\n")

    def disk(self):
        """Every byte of every file, apart from who wrote last."""
        return {str(path): path.read_bytes() for path in self.place.rglob("*")
                if path.is_file() and path.name != "lock"}

    def refusal(self, call, text):
        """The details of the refusal; fails when there is none."""
        handle, name, before, _, outs = call
        arguments = [part for each in before for part in given(str(self.place / each))]
        arguments += [text, ctypes.c_size_t(len(text))]
        if outs == "reason":
            arguments += given("reason")
        wanted = {"text": [ctypes.c_void_p(), ctypes.c_size_t()], "handle": [ctypes.c_void_p()],
                  "": []}.get(outs, [ctypes.c_uint64()])
        owner = (self.store if handle == "store" else self.session)._handle
        function = "varve_session_create" if name == "create" else f"varve_{handle}_{name}"
        with self.assertRaises(Failure, msg=f"{name} took {text}") as refused:
            self.library.call(function, owner, *arguments, *map(ctypes.byref, wanted))
        self.assertEqual(refused.exception.name, "VARVE_INVALID_ARGUMENT", text)
        self.assertTrue(all(not out.value for out in wanted), "an out-parameter was written")
        return refused.exception.details

    def test_what_is_not_one_json_text_is_refused_at_its_place(self):
        self.with_each_call(self.cut_and_extend)

    def test_unknown_and_repeated_members_are_named(self):
        self.with_each_call(self.add_members)

    def test_values_of_a_wrong_type_are_named(self):
        self.with_each_call(self.change_types)

    def with_each_call(self, refuse):
        for call in CALLS:
            with self.subTest(call[1]):
                disk = self.disk()
                refuse(call, json.dumps(call[3]).encode())
                self.assertEqual(self.disk(), disk, "the files after what was refused")

    def cut_and_extend(self, call, text):
        for end in range(1, len(text)):
            self.assertLessEqual(self.refusal(call, text[:end])["offset"], end)
        for more in (b" x", b",", b"}", b"\0", b"\xff"):
            self.assertIn("offset", self.refusal(call, text + more))

    def add_members(self, call, text):
        name, value = call[1], call[3]
        if isinstance(value, list):
            return
        again = next(iter(value))
        extra = b"," + json.dumps({again: 1}).encode()[1:]
        self.assertEqual(self.refusal(call, text[:-1] + extra)["member"], again)
        if name not in ("add", "update"):  # there it is data
            details = self.refusal(call, text[:-1] + b',"unknown":1}')
            self.assertEqual(details, {"member": "unknown", "offset": len(text) + 10})

    def change_types(self, call, _):
        name, value = call[1], call[3]
        for path in places(value):
            place = name_of(path)
            if any(place.startswith(free) for free in FREE.get(name, [])):
                continue
            for replacement in VALUES:
                is_condition = path[-1] == "content" and isinstance(replacement, dict)
                if is_condition or not is_other(at(value, path), replacement):
                    continue
                text = json.dumps(with_value(value, path, replacement)).encode()
                details = self.refusal(call, text)
                self.assertTrue(details["member"].startswith(place) or
                                place.startswith(details["member"]), (text, details))
                self.assertLess(details["offset"], len(text))


if __name__ == "__main__":
    unittest.main()
