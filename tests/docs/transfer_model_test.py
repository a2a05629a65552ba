#!/usr/bin/env python3
"""Imports and exports of random texts do what docs/export-import.md says. A failure tells its seed
and step.

    VARVE_LIBRARY=libvarve.so transfer_model_test.py [SEEDS [FIRST]]
"""
import ctypes
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
from seeds import take_seeds
import transfer_model as model
from canonical_json import canonical, parse
from varve_library import Failure, Library, given

START_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(40)
STEPS = 12
ENTRY_SIZE_MAX = 20_000
NUMBERS = ["0", "-0", "1", "-1", "1.0", "12.50", "1e2", "1E30", "1e-7", "9007199254740993",
           "1152921504606846976", "18446744073709551616", "-9223372036854775809", "0.1e1", "5e-324",
           "1e400", "9" * 309, "9" * 310, "1" + "0" * 400, "0." + "0" * 1100 + "1", "NaN", "01"]
TEXTS = ["", "tea", "é", "e\u0301", "東京", "😀", "\\ud83d\\ude00", "\\ud800", "\\u0000", "\\n",
         "\\r\\n", "\u2028", "\\/", "]", "}", "[{", "\\\"", "\\\\", ",", "\x7f", "\\u00e9",
         "\ufeff", "\t"]
KEYS = ["a", "", "é", "\\u0061", "b c", "\U0001f600", "\ufb33", "id", "type", "0"]
IDS = ["a", "b", "A", "-x", "_", "0", "x" * 128, "x" * 129, "é", ""]
TIMES = ["2026-01-10T14:20:00Z", "2026-01-10T15:20:00.0009+01:00", "2026-01-10t14:20:00z",
         "2026-01-10 14:20:00Z", "2026-02-29T00:00:00Z", "2024-02-29T23:59:59.999-23:59", "today",
         "2026-01-10", "2026-01-10T14:20:00", "1969-12-31T23:59:59.5Z", "2026-01-10T24:00:00Z"]
FUTURES = ["2027-01-10T14:20:00Z", "2028-01-10T14:20:00.5+05:30", "9999-12-31T23:59:59.999Z"]
FORMATS = ["auto", "auto", "auto", "jsonl", "json", "mcp", "chat"]


class Maker(random.Random):
    """Makes texts of JSON, most of them valid."""

    def quoted(self, most=3):
        return '"' + "".join(self.choices(TEXTS, [3 if "\\ud800" != each != "\t" else 0.2
                                                  for each in TEXTS],
                                          k=self.randint(0, most))) + '"'

    def number(self):
        return self.choices(NUMBERS, [10] * 15 + [0.5] * (len(NUMBERS) - 15))[0]

    def value(self, depth=0):
        kind = self.choice(["text", "text", "number", "word", "list", "object"])
        if kind == "text" or depth > 3:
            return self.quoted()
        if kind == "number":
            return self.number()
        if kind == "word":
            return self.choice(["null", "true", "false"])
        inner = [self.value(depth + 1) for _ in range(self.randint(0, 3))]
        if kind == "list":
            return "[" + ", ".join(inner) + "]"
        names = self.sample(KEYS, len(inner)) if self.random() < 0.98 else ["a"] * len(inner)
        return "{" + ",".join(f'"{name}" :{value}' for name, value in zip(names, inner)) + "}"

    def listed(self, values, most=2):
        return json.dumps([self.choice(values) for _ in range(self.randint(0, most))],
                          ensure_ascii=False)

    def of(self, values, weights=None):
        return json.dumps(self.choices(values, weights)[0], ensure_ascii=False)

    def object(self, members):
        """members: {name: text of the value, or None for none}"""
        named = [(name, value) for name, value in members.items() if value is not None]
        self.shuffle(named)
        return "{" + ", ".join(f'"{name}":{value}' for name, value in named) + "}"

    def some(self, share, make):
        return make() if self.random() < share else None

    def id(self):
        return self.of(IDS + [f"e{n}" for n in range(20)], [1] * 6 + [0.2] * 4 + [1] * 20)

    def entry(self):
        # Well below the limit, or above it.
        length = self.choice([self.randint(0, 3000), self.randint(20_000, 22_000)])
        content = self.value() if self.random() < 0.95 else '"' + "x" * length + '"'
        return self.object({
            "id": self.some(0.6, self.id),
            "type": self.some(0.98, lambda: self.of(["finding", "note", "Bad", "", None, "x" * 33],
                                                    [20, 20, 1, 1, 1, 1])),
            "content": self.some(0.98, lambda: content if self.random() < 0.6 else '"same"'),
            "timestamp": self.some(0.3, lambda: self.of(TIMES)),
            "importance": self.some(0.2, lambda: self.choice(["0", "1", "0.25", "1e-3", "1.01",
                                                              "-0", '"1"', "null"])),
            "tags": self.some(0.2, lambda: self.listed(["a", "a.b", "日本", "a:b/c", "a b", "", "é_-"]
                                                       + ["t" * 64, "t" * 65])),
            "references": self.some(0.2, lambda: self.listed(["a", "e1", "gone", "-", "e2"])),
            "relations": self.some(0.1, lambda: self.choice(
                ['{}', '{"x.y:z":["a"]}', '{"x y":[]}', '{"x":[1]}', '{"x":["a","a"]}', "[]"])),
            "decay_factor": self.some(0.1, lambda: self.choice(["0", "0.5", "2"])),
            **self.end_of_life(),
            "trace_id": self.some(0.1, lambda: self.of(["t", "", "x" * 128, "é" * 128, "x" * 129])),
            "schema_version": self.some(0.1, lambda: self.choice(["0", "1", "2", "-1", '"1"'])),
            "seq": self.some(0.1, lambda: self.choice(["0", "7", '"x"'])),
            "batch": self.some(0.05, lambda: '{"i":0,"n":9}'),
            "session_id": self.some(0.1, lambda: self.of(["other", "", 5])),
            "own": self.some(0.2, self.value), "role": self.some(0.05, lambda: '"user"')})

    def end_of_life(self):
        return {"expires_at": self.some(0.1, lambda: self.of(FUTURES)),
                "ttl_seconds": self.some(0.07, lambda: self.choice(["1e9", "1e10", "2e10", "0"]))}

    def sealed_entry(self):
        """With a checksum, which is not always right."""
        text = self.entry()
        try:
            members = model.read(text)
        except model.Refused:
            return text
        digest = model.checksum_of(members)
        if self.random() < 0.3:
            digest = digest[:-1] + ("0" if digest[-1] != "0" else "1")
        return text[:-1] + ("," if members else "") + f'"checksum":"{digest}"' + "}"

    def name(self):
        return self.of(["Ann", "Bo", "", "x y", "é", "A\"n"])

    def entity(self):
        return self.object({
            "type": '"entity"', "name": self.name(), "own": self.some(0.1, self.value),
            "entityType": self.of(["person", "a place", "a!", ""]),
            "observations": self.some(0.8, lambda: self.listed(["likes tea", "", "é"], 3))})

    def relation(self):
        return self.object({"type": '"relation"', "from": self.name(), "to": self.name(),
                            "relationType": self.of(["knows", "a b", ""])})

    def part(self):
        return self.choice([
            self.object({"type": '"text"', "text": self.quoted(1)}), self.quoted(1),
            self.object({"type": '"text"', "text": self.quoted(1), "cache": "1"}),
            self.object({"type": f'"{self.choice(model.CALLS)}"', "id": self.call_id(),
                         "input": self.value(2)}),
            self.object({"type": '"tool_result"', "content": self.quoted(1),
                         self.choice(["tool_use_id", "toolUseId"]): self.some(0.6, self.call_id)}),
            '{"type":"tool_result","content":[{"type":"text","text":"x"}]}',
            self.object({"type": '"image"', "source": self.value(2)})])

    def call_id(self):
        return self.choice(['"t1"', '"t2"', '"f"', "1"])

    def calls(self):
        return self.choice(["[]", "null", '[{"id":"t1"}]', '[{"id":"t1"},{"id":"t2"}]', "{}",
                            '[{"id":null,"function":{"name":"f","arguments":{}}}]',
                            '[{"id":"t2","function":{"name":"g"}}]'])

    def gemini_part(self):
        def called():
            return self.object({"name": self.choice(['"f"', '"g"', "null"]),
                                "id": self.some(0.4, self.call_id), more: self.some(0.8, given)})

        def given():
            members = {name: self.some(0.3, self.quoted) for name in ("result", "error", "more")}
            return self.choice([self.object(members), self.value(2)])
        kind, more = self.choice([("Call", "args"), ("Response", "response")])
        names = ["function" + kind, "function_" + kind.lower()]
        return self.object({"text": self.some(0.5, lambda: self.choice(["null", self.quoted(1)])),
                            self.choice(names): self.some(0.8, called),
                            "function_call": "null"} if self.random() < 0.5 else
                           {self.choice(names): called()})

    def gemini_message(self):
        parts = ",".join(self.gemini_part() for _ in range(self.randint(0, 3)))
        return self.object({
            "role": self.of(["user", "model", "function"]), "content": self.some(0.1, self.quoted),
            "parts": self.choice([f"[{parts}]", self.gemini_part(), "null"]),
            **self.time_of_message()})

    def message(self):
        parts = ",".join(self.part() for _ in range(self.randint(0, 3)))
        content = self.choice([self.quoted(), self.quoted(), "null", f"[{parts}]", self.part()])
        return self.object({
            "refusal": self.some(0.1, lambda: "null"),
            "role": self.of(["user", "assistant", "tool", "function", "Ann é", 5],
                            [5, 5, 2, 1, 1, 0.2]),
            "content": self.some(0.95, lambda: content),
            "tool_calls": self.some(0.2, self.calls),
            "function_call": self.some(0.1, lambda: self.choice(['{"name":"f"}', "null"])),
            "tool_call_id": self.some(0.3, lambda: self.choice([self.call_id(), "null"])),
            "tool_name": self.some(0.1, lambda: self.choice(['"f"', "null"])),
            "parts": self.some(0.1, lambda: self.choice(["null", f"[{self.gemini_part()}]"])),
            **self.time_of_message(),
            "name": self.some(0.2, lambda: self.choice([self.quoted(), '"f"']))})

    def time_of_message(self):
        if self.random() < 0.6:
            return {}
        value = self.choice(['"2026-01-10T14:20:00.5+01:00"', '"2026-01-10T14:20:00.5"',
                             '"1768000000.25"', '"1768000000123456"', '"10.1.2026"', "-1",
                             '"2026-01-10 15:20:00+0130"', '"2026-01-10 14:20:00.25 UTC"',
                             '"2026-01-10 14:20:00-01"', '"2026-01-10 14:20:00 +0000"',
                             "1768000000", "1768000000.25", "1768000000123",
                             "1768000000123456", "1768000000123456789", "0"])
        return {self.choice(["timestamp", "created_at", "createdAt", "created"]): value}

    def element(self, is_in_array):
        odd = ["5", '"x"', "null", "[]", '[{"type":"a","content":1}]', "{}", "[" * 70 + "]" * 70]
        broken = ['{"type":"a","content":1', '{"type":"a","content":1}{}', "\0\0", "x", "{]", "\v"]
        make_odd = lambda: self.choice(odd if is_in_array else odd + broken)
        makers = [self.entry, self.sealed_entry, self.entity, self.relation, self.message,
                  self.gemini_message, make_odd]
        return self.choices(makers, [8, 3, 2, 2, 5, 3, 1])[0]()

    def elements(self, is_in_array):
        made = []
        for _ in range(self.choice([0, 1, 2, 5, 10, 30])):
            again = made and self.random() < 0.2
            made.append(self.choice(made) if again else self.element(is_in_array))
        return made


class Text:
    """What is imported: its bytes, and [(line, element)] as the page splits it."""

    def __init__(self, make, form, earlier):
        self.make, self.is_array = make, form != "jsonl" and make.random() < 0.5
        self.given = make.elements(self.is_array)
        if earlier[self.is_array] and make.random() < 0.3:
            self.given += make.choice(earlier[self.is_array])
        if self.given and not self.given[0].startswith("{"):
            self.given.insert(0, make.entry())  # which tells whether this is an array
        self.is_spread = form != "jsonl" and not self.is_array and make.random() < 0.3
        if self.is_spread:
            self.given = list(filter(self.is_object, self.given))
        self.text, self.places = self.opening(), []  # [(line, begin, end)]
        begin = len(self.text)
        for at, element in enumerate(self.given):
            self.append(element, is_last=at + 1 == len(self.given))
        if self.is_array:
            self.text += "]" if self.text.startswith("[") else make.choice(["]}", '],"more":1}'])
        self.elements = [(line, self.text[start:end]) for line, start, end in self.places]
        if self.given and make.random() < 0.2:
            self.cut(make.randint(begin, len(self.text) - 1))
        bom = "\ufeff" if make.random() < 0.2 else ""
        self.bytes = (bom + self.text).encode()

    @staticmethod
    def is_object(element):
        """Whether it can stand over several lines: the end of anything else is that of its line."""
        try:
            return bool(model.read(element))
        except model.Refused:
            return False

    def opening(self):
        if self.is_array:
            return self.make.choice(["[", "[\n", '{"entries": [',
                                     '{"session":{"a":[{}]},"messages":['])
        return self.make.choice(["", "", "\r\n"])

    def append(self, element, is_last):
        make, start = self.make, len(self.text)
        if self.is_spread:
            element = make.choice(["{\n", "{\r\n  ", "{ \n\n"]) + element[1:]
        self.places.append((self.text.count("\n") + 1, start, start + len(element)))
        comma = "," if self.is_array and not is_last else ""
        blank = make.choice(["\n", "\r\n", "\n\n", "\n  \n"])
        if is_last and make.random() < 0.3 or self.is_array and make.random() < 0.5:
            blank = ""
        self.text += element + comma + blank

    def cut(self, end):
        """What is whole stays; the rest, and that something is missing of an array, is told."""
        self.text = self.text[:end]
        self.elements = [(line, self.text[start:min(stop, end)])
                         for line, start, stop in self.places if start < end]
        if self.is_array:
            self.elements.append((self.text.count("\n") + 1, "what is missing"))


class Run:
    def __init__(self, seed, directory):
        self.make = Maker(seed)
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.now_ms = self.library.now_ms = START_MS
        self.store = self.library.open_store("memory:", {
            "storage": {"max_entry_size_bytes": ENTRY_SIZE_MAX, "max_session_size_mb": 0}})
        self.session = self.store.create(session_id="s")
        self.model = model.Session("s", ENTRY_SIZE_MAX)
        self.order = []  # [(id, seq)]
        self.earlier = {True: [], False: []}  # [[element]] of arrays, and of lines
        self.file = directory / "given"

    def import_(self, session, text, form="auto", dry_run=False):
        """The library's report; from a file unless what is asked for needs none."""
        if form == "auto" and not dry_run and self.make.random() < 0.5:
            return json.loads(self.library.text("varve_session_import", session._handle, text,
                                                ctypes.c_size_t(len(text))))
        self.file.write_bytes(text)
        return json.loads(self.library.text(
            "varve_session_import_file", session._handle, *given(str(self.file)),
            *given({"format": form, "dry_run": dry_run})))

    def pass_time(self):
        self.now_ms += 1000
        self.library.now_ms = self.now_ms

    def delete_one(self):
        if self.order:
            place = self.make.choice(self.order)
            self.order.remove(place)
            self.session.delete(place[0], "a test")
            self.model.delete(place[0])


def same_but_assigned(lines):
    return [{name: value for name, value in json.loads(line).items()
             if name not in model.ASSIGNED} for line in lines]


class TransferModel(unittest.TestCase):
    maxDiff = None

    def learn(self, run, wanted, found):
        """Takes the ids that the library derived where the model has keys."""
        if model.is_key(wanted):
            self.assertEqual(run.model.ids.setdefault(wanted, found), found)
        elif isinstance(wanted, list):
            for pair in zip(wanted, found):
                self.learn(run, *pair)
        elif isinstance(wanted, dict):
            for name in wanted:
                self.learn(run, wanted[name], found.get(name))

    def check_import(self, run):
        form, dry_run = run.make.choice(FORMATS), run.make.random() < 0.2
        text = Text(run.make, form, run.earlier)
        run.earlier[text.is_array].append(text.given)
        report = run.import_(run.session, text.bytes, form, dry_run)
        wanted, new = run.model.take(text.elements, form, text.is_array or text.is_spread,
                                      run.now_ms, dry_run)
        found = {"added": report["added"], "existing": report["existing"],
                 "refused": [each["line"] for each in report["refused"]],
                 "format": report["format"]}
        self.assertEqual(found, wanted, f"{text.text!r} {report}")
        self.assertEqual(report["refused_total"], len(report["refused"]))
        self.check_entries(run, {} if dry_run else new)

    def check_entries(self, run, new):
        lines = run.session.export("jsonl").split("\n")[:-1]
        self.assertEqual(len(lines), len(run.order) + len(new))
        for (key, entry), line in zip(new.items(), lines[len(run.order):]):
            self.learn(run, {**entry, "id": key}, parse(line))
        for key in new:
            run.model.seq += 1
            run.order.append((run.model.id_of(key), run.model.seq))
        run.model.entries = {run.model.id_of(key): run.model.resolved(entry)
                             for key, entry in run.model.entries.items()}
        self.assertEqual(len(set(run.model.ids.values())), len(run.model.ids))
        for line, (entry_id, seq) in zip(lines, run.order):
            self.assertEqual(line, run.model.line(run.model.entries[entry_id], seq))

    def check_round_trip(self, run):
        """What was exported is imported as it was, once."""
        lines = run.session.export("jsonl").split("\n")[:-1]
        form = run.make.choice(["jsonl", "json"])
        text = run.session.export(form).encode()
        copy = run.store.create()
        for is_first in (True, False):
            report = run.import_(copy, text, run.make.choice(["auto", form]))
            figures = [report["added"], report["existing"], report["refused"]]
            self.assertEqual(figures, [len(lines), 0, []] if is_first else [0, len(lines), []])
        copied = copy.export("jsonl").split("\n")[:-1]
        self.assertEqual(same_but_assigned(copied), same_but_assigned(lines))
        self.assertEqual(copy.export("markdown").split("\n", 1)[1:],
                         run.session.export("markdown").split("\n", 1)[1:])
        self.assertTrue(copy.verify()["ok"])
        copy.close()

    def test_imports_do_what_the_page_says(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory, self.subTest(seed=seed):
                run = Run(seed, pathlib.Path(directory))
                for _ in range(STEPS):
                    self.check_import(run)
                    run.pass_time()
                    if run.make.random() < 0.3:
                        run.delete_one()
                self.check_round_trip(run)
                run.store.close()


if __name__ == "__main__":
    unittest.main()
