#!/usr/bin/env python3
"""docs/context.md is true: its requests give what the page says, in that order.

    VARVE_LIBRARY=libvarve.so context_test.py
"""
import json
import os
import pathlib
import re
import unittest

from varve_library import Library

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "context.md"
NOW_MS = 1768035600000  # 2026-01-10T09:00:00Z
BLOCK = re.compile(r"<!-- (entries(?: of trip)?|request) -->\n```json\n(.*?)```\n"
                   r"\s*(gives [^\n]*(?:\n[^\n]+)*)?(?:\n\n<!-- text -->\n````\n(.*?)````)?", re.S)


def parts_of(page):
    """({kind: entries as text}, [(request, ids it gives, text or "")])"""
    entries, requests = {}, []
    for kind, block, gives, text in BLOCK.findall(page):
        if kind != "request":
            entries[kind] = block
            continue
        if not gives:
            raise AssertionError(f"the page does not say what this gives: {block}")
        said = re.split(r"[.:]", gives, maxsplit=1)[0]
        requests.append((block, re.findall(r"`([^`]+)`", said), text))
    return entries, requests


class ContextPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.entries, cls.requests = parts_of(PAGE.read_text(encoding="utf-8"))
        cls.library = Library(os.environ["VARVE_LIBRARY"])
        cls.library.now_ms = NOW_MS
        cls.store = cls.library.open_store("memory:")
        cls.session = cls.store.create(session_id="examples", user_id="ann")
        cls.session.add_batch(cls.entries["entries"])
        cls.store.create(session_id="trip", user_id="ann").add_batch(cls.entries["entries of trip"])

    def test_the_page_has_requests(self):
        self.assertGreater(len(self.requests), 5)
        self.assertGreater(sum(1 for _, _, text in self.requests if text), 1)

    def test_requests_give_what_the_page_says(self):
        for request, expected, text in self.requests:
            with self.subTest(request=request.strip()):
                answer = self.session.context(request)
                self.assertEqual([item["id"] for item in answer["items"]], expected)
                if text:
                    self.assertEqual(answer["text"].rstrip("\n"), text.rstrip("\n"))

    def test_the_answer_is_as_shown(self):
        request, shown = re.search(r"^`(\{.*\})` gives:\n\n```json\n(\{\"text\".*?)```",
                                   PAGE.read_text(encoding="utf-8"), re.S | re.M).groups()
        answer = self.session.context(request)
        self.assertEqual({**json.loads(shown), "text": answer["text"]}, answer)

    def test_a_chat_is_what_interfaces_take(self):
        """The results of a list of calls stand directly behind it."""
        session = self.store.create(session_id="calls")
        for kind, payload in (
                ("user_message", {"content": "Is it windy?"}),
                ("tool_call", {"name": "weather", "arguments": {"city": "Lund"}, "call_id": "c1"}),
                ("tool_call", {"name": "clock", "arguments": "", "call_id": "c2"}),
                ("tool_result", {"result": "12:00", "call_id": "c2"}),
                ("tool_result", {"name": "weather", "result": "rain, 4 m/s", "call_id": "c1"}),
                ("assistant_message", {"content": "A little."})):
            session.record(kind, payload)
        session.import_text(json.dumps([
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": call, "function": {"name": "f", "arguments": "{}"}} for call in "ab"]},
            *({"role": "tool", "tool_call_id": call, "content": call} for call in "ba")]))
        messages = json.loads(session.context({"format": "chat"})["text"])
        calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
        self.assertEqual(calls, [{"name": "weather", "arguments": '{"city":"Lund"}'},
                                 {"name": "clock", "arguments": "{}"},
                                 *2 * [{"name": "f", "arguments": "{}"}]])
        awaited = []
        for message in messages:
            if message["role"] == "tool":
                awaited.remove(message["tool_call_id"])
                continue
            self.assertEqual(awaited, [])
            self.assertTrue(message["content"] or message["tool_calls"])
            awaited = [call["id"] for call in message.get("tool_calls", [])]
        self.assertEqual([message["role"] for message in messages].count("tool"), 4)

    def test_kinds_make_the_entries_told(self):
        page = PAGE.read_text(encoding="utf-8")
        table = page[page.index("| kind | payload"):page.index("A payload may be")]
        kinds = [kind for line in table.splitlines()[2:] if line
                 for kind in re.findall(r"`([a-z_]+)`", line.split("|")[1])]
        self.assertEqual(len(kinds), 8)
        session = self.store.create(session_id="recorded")
        for kind in kinds:
            entry = json.loads(session.get(session.record(kind, {"content": "x", "name": "f"})))
            self.assertEqual(entry["type"],
                             "message" if kind.endswith("_message") else kind)


if __name__ == "__main__":
    unittest.main()
