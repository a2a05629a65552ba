#!/usr/bin/env python3
"""The conformance cases are well formed, and cover every function and status.

Runners refuse what they do not know as well; this says it once, without a language's runner.
"""
import json
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
API = json.loads((HERE.parent.parent / "bindings/api.json").read_text())
CASES = {path: json.loads(path.read_text()) for path in sorted((HERE / "cases").glob("*.json"))}
CASES_AT_LEAST = 150
GROUPS = {"base", "store", "session", "entry", "query", "maintenance", "kv", "transcript",
          "window", "memory", "context", "vector", "usage"}
HELPERS = {"clock": {"store", "now_ms"}, "log_lines": {"store"}, "file_write": {"path", "text"},
           "file_read": {"path"}, "file_replace": {"path", "find", "replace"}}
# What stands in for a callback in the arguments of an operation.
CALLBACKS = {"varve_log_fn": set(), "varve_clock_fn": set(), "varve_progress_fn": {"answer"},
             "varve_token_fn": {"counter"}}
NO_OPERATION = {"varve_free", "varve_error_status", "varve_error_message", "varve_error_details",
                "varve_error_free"}  # every step that fails goes through them
GIVEN = {"handle", "text", "in"}  # the roles of parameters that arguments can be given for
ELSEWHERE = {"VARVE_BUSY", "VARVE_NO_SPACE", "VARVE_NO_MEMORY", "VARVE_FORKED",
             "VARVE_INTERNAL"}  # need other processes, rights or machines: tests of each language
PATTERNS = {"$any", "$type", "$matches", "$length", "$unordered", "$contains", "$number",
            "$between", "$jsonl", "$json", "$absent"}
STATUSES = {c["name"] for c in API["constants"] if c["type"] == "varve_status_t"}


def operations():
    """{operation: its arguments}, helpers included."""
    found = dict(HELPERS)
    for function in API["functions"]:
        if function["name"] not in NO_OPERATION:
            names = {p["name"] for p in function["params"] if p["role"] in GIVEN}
            for param in function["params"]:
                names |= CALLBACKS[param["type"]] if param["role"] == "callback" else set()
            found[function["name"][len("varve_"):]] = names
    return found


OPERATIONS = operations()


def steps():
    for path, case in CASES.items():
        for number, step in enumerate(case["steps"], 1):
            yield f"{path.name}, step {number}", step


def special(value):
    """Every name of a member that begins with $."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name.startswith("$"):
                yield name, len(value)
            yield from special(part)
    elif isinstance(value, list):
        for part in value:
            yield from special(part)


class Cases(unittest.TestCase):
    def test_there_are_enough(self):
        self.assertGreaterEqual(len(CASES), CASES_AT_LEAST)

    def test_names(self):
        for path, case in CASES.items():
            with self.subTest(path.name):
                self.assertEqual(list(case), ["name", "about", "steps"])
                self.assertEqual(case["name"], path.stem)
                self.assertRegex(case["name"], r"^[a-z0-9]+(-[a-z0-9]+)+$")
                self.assertIn(case["name"].split("-")[0], GROUPS)
                self.assertGreater(len(case["about"]), 5)

    def test_steps(self):
        for place, step in steps():
            with self.subTest(place):
                self.assertLessEqual({"op"}, set(step))
                self.assertLessEqual(set(step), {"op", "args", "save", "expect"})
                self.assertIn(step["op"], OPERATIONS)
                self.assertLessEqual(set(step.get("args", {})), OPERATIONS[step["op"]])
                expect = step.get("expect", {})
                self.assertLessEqual(set(expect), {"status", "value", "details", "message"})
                self.assertIn(expect.get("status", "VARVE_OK"), STATUSES)
                for name, members in special(step.get("args", {})):
                    self.assertIn(name, {"$text", "$number"})
                    self.assertEqual(members, 1)
                for name, members in special(expect):
                    self.assertIn(name, PATTERNS)
                    self.assertEqual(members, 1)

    def test_variables_are_saved_before_they_are_used(self):
        for path, case in CASES.items():
            known = {"dir"}
            for number, step in enumerate(case["steps"], 1):
                used = set(re.findall(r"\$\{(\w+)[^}]*\}", json.dumps(step)))
                used |= {step["args"][name] for name in ("store", "session", "results", "window",
                                                   "memory")
                         if name in step.get("args", {})}
                with self.subTest(f"{path.name}, step {number}"):
                    self.assertLessEqual(used, known)
                known |= {step["save"]} if "save" in step else set()

    def test_every_operation_has_a_case(self):
        used = {step["op"] for _, step in steps()
                if step.get("expect", {}).get("status", "VARVE_OK") == "VARVE_OK"}
        self.assertEqual(set(OPERATIONS) - used, set())

    def test_every_status_has_a_case(self):
        expected = {step.get("expect", {}).get("status", "VARVE_OK") for _, step in steps()}
        named = {json.dumps(step) for _, step in steps() if step["op"] == "status_name"}
        for status in STATUSES:
            with self.subTest(status):
                self.assertTrue(any(f'"{status}"' in text for text in named))
                self.assertTrue(status in expected or status in ELSEWHERE)
        self.assertEqual(ELSEWHERE & expected, set())

    def test_the_format_is_described(self):
        text = (HERE / "README.md").read_text()
        for word in sorted(PATTERNS | set(OPERATIONS) | {"$text"}):
            with self.subTest(word):
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
