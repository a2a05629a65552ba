#!/usr/bin/env python3
"""docs/export-import.md#other-programs is true: what other programs write is refused as it is, and
the commands there make of it what was said.

    VARVE_CLI=varve other_programs_test.py
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import markdown

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "export-import.md"
TIMEOUT_S = 60


def node(name, parent, role, text, time):
    return {"id": name, "parent": parent, "children": [], "message": role and {
        "id": name, "author": {"role": role, "name": None}, "create_time": time,
        "content": {"content_type": "text", "parts": [text]}, "recipient": "all"}}


OPENAI = [{"title": "Nothing was said", "current_node": None, "mapping": {}}, {
    "title": "Eggs", "create_time": 1767996000.5, "current_node": "m-4", "mapping": {
    each["id"]: each for each in (
        node("root", None, None, None, None), node("m-0", "root", "system", "", None),
        node("m-1", "m-0", "user", "How long do eggs take?", 1767996000.5),
        node("m-3", "m-1", "assistant", "Five minutes.", 1767996009.25),
        node("m-4", "m-2", "assistant", "Six minutes.", 1767996019.25),
        {"id": "m-2", "parent": "m-1", "children": [], "message": {
            "id": "m-2", "author": {"role": "assistant"}, "create_time": 1767996004,
            "content": {"content_type": "code", "text": "eggs()"}, "recipient": "python"}})}}]
ANTHROPIC = [{"uuid": "c", "name": "Eggs", "chat_messages": [
    {"uuid": "u-1", "text": "How long do eggs take?", "sender": "human",
     "created_at": "2026-01-10T10:00:00.123456Z", "content": [{"type": "text", "text": "x"}]},
    {"uuid": "u-2", "text": "Six minutes.", "sender": "assistant",
     "created_at": "2026-01-10T10:00:09.123456Z", "content": []}]}]
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
AGENT = [
    {"type": "summary", "summary": "Eggs", "leafUuid": "l"},
    {"type": "user", "uuid": "a", "timestamp": "2026-01-10T10:00:00.000Z",
     "message": {"role": "user", "content": "build it"}},
    *({"type": "assistant", "uuid": uuid, "timestamp": "2026-01-10T10:00:01.000Z", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [part],
        "usage": {"input_tokens": 10, "output_tokens": 5}}}
      for uuid, part in (("b", {"type": "text", "text": "I build it."}), ("e", CALL))),
    {"type": "user", "uuid": "c", "timestamp": "2026-01-10T10:00:02.000Z", "message": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}},
    {"type": "system", "content": "compacted", "uuid": "d",
     "timestamp": "2026-01-10T10:00:03.000Z"}]
ROLLOUT = [{"timestamp": f"2026-01-10T10:00:0{second}.000Z", "type": kind, "payload": payload}
         for second, (kind, payload) in enumerate([
             ("session_meta", {"id": "s", "cwd": "/"}),
             ("response_item", {"type": "message", "role": "user",
                                "content": [{"type": "input_text", "text": "build it"}]}),
             ("event_msg", {"type": "user_message", "message": "build it"}),
             ("response_item", {"type": "reasoning", "summary": []}),
             ("response_item", {"type": "function_call", "name": "shell", "call_id": "c1",
                                "arguments": "make"}),
             ("response_item", {"type": "function_call_output", "call_id": "c1",
                                "output": "done"}),
             ("response_item", {"type": "local_shell_call", "call_id": "c2", "status": "completed",
                                "action": {"type": "exec", "command": ["ls"]}}),
             ("response_item", {"type": "function_call_output", "call_id": "c2",
                                "output": "eggs"})])]
ANSWERS = [
    {"id": "chatcmpl-1", "object": "chat.completion", "created": 1767996000, "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Six minutes."}}]},
    {"id": "resp_1", "object": "response", "created_at": 1767996001, "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Seven.", "annotations": []}]}]},
    {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "Eight."}]}}],
     "modelVersion": "gemini-2.5-pro"},
    {"model": "llama3.2", "created_at": "2026-01-10T10:00:02.5Z", "done": True,
     "message": {"role": "assistant", "content": "Nine."}}]
SHAREGPT = [{"id": "s", "conversations": [{"from": "human", "value": "How long do eggs take?"},
                                          {"from": "gpt", "value": "Six minutes."}]}]
LANGCHAIN = [{"type": "human", "data": {"type": "human", "content": "build it", "id": None}},
             {"type": "ai", "content": "", "id": "run--1",
              "tool_calls": [{"name": "shell", "args": {"a": 1}, "id": "c1"}]},
             {"lc": 1, "type": "constructor", "id": ["langchain", "ToolMessage"],
              "kwargs": {"type": "tool", "content": "done", "tool_call_id": "c1", "id": None}}]
SLACK = [{"type": "message", "user": "U1", "text": "Eggs at noon", "ts": "1767996000.000100",
          "user_profile": {"real_name": "Ann"}}, {"type": "message", "user": "U2", "text": ""}]
MEM0 = {"results": [{"id": "8d0f", "memory": "Likes eggs", "hash": "x", "metadata": None,
                     "created_at": "2026-01-10T03:00:00-07:00"},
                    {"id": "8d10", "memory": "Hates leeks", "user_id": "ann",
                     "metadata": {"category": "food"}, "created_at": "2026-01-10T03:00:01-07:00"}]}
GRAPH = {"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes eggs"]}],
         "relations": [{"from": "Ann", "to": "Bo", "relationType": "knows"}]}
LETTA = {"agents": [{"name": "Cook", "block_ids": ["block-0"], "messages": [
    {"type": "message", "id": f"message-{second}", "role": role, "content": content,
     "created_at": f"2026-01-10T10:00:0{second}+00:00", **more}
    for second, (role, content, more) in enumerate([
        ("user", [{"type": "text", "text": "How long do eggs take?"}], {"tool_calls": None}),
        ("assistant", None, {"tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "send_message", "arguments": "{}"}}]}),
        ("tool", [{"type": "text", "text": "OK"}], {"tool_call_id": "c1"})])]}],
    "blocks": [{"id": "block-0", "label": "human", "value": "Ann", "limit": 5000}]}
CHROMA = {"ids": ["a b#0", "c"], "documents": ["Six minutes.", None], "embeddings": None,
          "metadatas": [{"page": 3}, None]}
NOTES = "# Eggs\n\nSix minutes.\n\n"
TABLE = 'food,minutes\n"eggs, soft",6\n'


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


GIVEN = {
    "openai/conversations.json": json.dumps(OPENAI),
    "anthropic/conversations.json": json.dumps(ANTHROPIC, indent=1), "5f0c.jsonl": lines(AGENT),
    "rollout.jsonl": lines(ROLLOUT), "answers.jsonl": lines(ANSWERS),
    "sharegpt.json": json.dumps(SHAREGPT), "langchain.json": json.dumps(LANGCHAIN, indent=2),
    "slack/general/2026-01-10.json": json.dumps(SLACK), "mem0.json": json.dumps(MEM0),
    "agent.af": json.dumps(LETTA), "chroma.json": json.dumps(CHROMA),
    "graph.json": json.dumps(GRAPH), "notes/eggs.md": NOTES, "table.csv": TABLE}
NIGHT, MORNING = "2026-01-09T22:00:{}Z".format, "2026-01-10T10:00:{}Z".format
ASKED = ("message", "user", "How long do eggs take?")
ANSWERED = ("message", "assistant", "Six minutes.")
# What each session has then: type, role, text, and the time where one was told.
WANTED = {
    "openai": [(*ASKED, NIGHT("00.000")), ("message", "assistant", "eggs()", NIGHT("04.000")),
               (*ANSWERED, NIGHT("19.000"))],
    "anthropic": [(*ASKED, MORNING("00.123")), (*ANSWERED, MORNING("09.123"))],
    "agent": [("message", "user", "build it", MORNING("00.000")),
              ("message", "assistant", "I build it.", MORNING("01.000")),
              ("tool_call", "assistant", None, MORNING("01.000")),
              ("tool_result", "user", "done", MORNING("02.000"))],
    "rollout": [("message", "user", "build it", MORNING("01.000")),
              ("tool_call", None, None, MORNING("04.000")),
              ("tool_result", None, None, MORNING("05.000")),
              ("tool_call", None, None, MORNING("06.000")),
              ("tool_result", None, None, MORNING("07.000"))],
    "answers": [(*ANSWERED, NIGHT("00.000")), ("message", "assistant", "Seven.", NIGHT("01.000")),
                ("message", "model", "Eight.", None),
                ("message", "assistant", "Nine.", MORNING("02.500"))],
    "sharegpt": [(*ASKED, None), (*ANSWERED, None)],
    "langchain": [("message", "user", "build it", None), ("tool_call", "assistant", "", None),
                  ("tool_result", "tool", "done", None)],
    "slack": [("message", "Ann", "Eggs at noon", NIGHT("00.000"))],
    "mem0": [("observation", None, "Likes eggs", MORNING("00.000")),
             ("observation", None, "Hates leeks", MORNING("01.000"))],
    "graph": [("finding", None, "Ann (person): likes eggs", None),
              ("finding", None, "Ann knows Bo", None)],
    "letta": [(*ASKED, MORNING("00.000")),
              ("tool_call", "assistant", None, MORNING("01.000")),
              ("tool_result", "tool", "OK", MORNING("02.000"))],
    "chroma": [("document", None, "Six minutes.", None), ("document", None, None, None)],
    "notes": [("document", None, "# Eggs", None), ("document", None, "Six minutes.", None)],
    "table": [("finding", None, None, None)]}


def told(entry, wanted):
    content = entry["content"]
    role, text = (content.get("role"), content.get("message")) if isinstance(
        content, dict) else (None, content)
    return (entry["type"], role, text, entry["timestamp"] if wanted[3] else None)


class OtherPrograms(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="varve-docs-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        for name, text in GIVEN.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_shell(self, command):
        program = pathlib.Path(os.environ["VARVE_CLI"]).resolve()
        return subprocess.run(
            ["sh", "-c", command], cwd=self.directory, timeout=TIMEOUT_S, check=False,
            capture_output=True, text=True,
            env={"PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})

    def entries_of(self, session):
        return [json.loads(line) for line in
                self.run_shell(f"varve export {session}").stdout.splitlines()]

    def test_commands_bring_in_what_was_said(self):
        section = PAGE.read_text(encoding="utf-8").split("\n## Other programs\n")[1]
        commands = [block.text for block in markdown.blocks(section) if block.language == "sh"]
        sessions = [re.search(r"varve import ([\w-]+) -$", each.strip())[1] for each in commands]
        self.assertEqual(sorted(sessions), sorted(WANTED))
        for session, command in zip(sessions, commands):
            with self.subTest(session):
                done = self.run_shell(command)
                self.assertEqual(done.returncode, 0, done.stderr)
                entries, wanted = self.entries_of(session), WANTED[session]
                self.assertEqual([told(*each) for each in zip(entries, wanted, strict=True)],
                                 wanted)
                again = self.run_shell(command).stderr
                self.assertIn(f"Added 0 entries to {session}, {len(wanted)} were there", again)

    def test_results_refer_to_their_calls(self):
        self.test_commands_bring_in_what_was_said()
        for session in ("agent", "rollout", "langchain", "letta"):
            *_, call, result = self.entries_of(session)
            self.assertEqual(result["references"], [call["id"]])

    def test_an_answer_on_several_lines_is_counted_once(self):
        self.test_commands_bring_in_what_was_said()
        used = json.loads(self.run_shell("varve usage --json agent").stdout)["sessions"][0]
        self.assertEqual((used["entries"], used["input_tokens"], used["output_tokens"]),
                         (1, 10, 5))

    def test_what_was_told_beside_a_memory_is_kept(self):
        self.test_commands_bring_in_what_was_said()
        self.assertEqual([each.get("metadata") for each in self.entries_of("mem0")],
                         [None, {"category": "food"}])

    def test_as_they_are_they_are_refused_with_what_to_do(self):
        for name in GIVEN.keys() - {"langchain.json"}:
            with self.subTest(name):
                done = self.run_shell(f"varve import as-is {name}")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("docs/export-import.md#other-programs", done.stderr)


if __name__ == "__main__":
    unittest.main()
