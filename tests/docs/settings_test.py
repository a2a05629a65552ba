#!/usr/bin/env python3
"""The table of settings in docs/format.md: it has every member that is read, and so have the types
of the bindings; its ranges are those that the library takes, a value of a wrong type is an error in
config.json, too, and its defaults are those that store.h tells.

    VARVE_LIBRARY=libvarve.so settings_test.py
"""
import json
import os
import pathlib
import re
import tempfile
import unittest

from varve_library import Failure, Library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `([a-z_.]+)` \|([^|]*)\|([^|]*)\|", re.MULTILINE)
READ = re.compile(r"\bread_[a-z]+\((?:reader, )?\"([a-z_]+)\"")
READERS = ("src/store/config.cpp", "src/session/metadata/decay_config.cpp")
# How each language declares a member.
BINDINGS = {
    "bindings/python/src/varve/settings.py": lambda name: f"    {name}: ",
    "bindings/rust/src/config.rs": lambda name: f" {name}: ",
    "bindings/go/config.go": lambda name: f'`json:"{name}',
    "bindings/node/lib/config.d.ts":
        lambda name: "  " + re.sub("_([a-z])", lambda found: found[1].upper(), name) + "?: ",
}
RANGE = re.compile(r"([\d.e-]+) to ([\d.e]+)")


def settings_table():
    page = (SOURCE / "docs/format.md").read_text("utf-8").partition("\n## config.json\n")[2]
    return page.partition("| member | default | range | effect |")[2].partition("\n\n")[0]


def rows():
    """{member: (default, range)} as the page has them, "" where there is no default."""
    return {name: (default.strip(" `"), values.strip())
            for name, default, values in ROW.findall(settings_table())}


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def config_of(member, value):
    for name in reversed(member.split(".")):
        value = {name: value}
    return value


def flat(value, name=""):
    if not isinstance(value, dict):
        return {name: value}
    return {path: leaf for key, below in value.items()
            for path, leaf in flat(below, f"{name}.{key}" if name else key).items()}


class Settings(unittest.TestCase):
    def setUp(self):
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.rows = rows()
        self.assertGreater(len(self.rows), 30)

    def refusal(self, member, value, uri="memory:"):
        """The member that is wrong; None when it is taken."""
        config = config_of(member, value) if uri == "memory:" else None
        try:
            self.library.open_store(uri, config).close()
        except Failure as failure:
            self.assertEqual(failure.name, "VARVE_INVALID_ARGUMENT", member)
            return failure.details["member"]
        return None

    def test_ranges_are_what_is_taken(self):
        checked = 0
        for member, (_, values) in self.rows.items():
            match = RANGE.fullmatch(values)
            if not match:
                continue
            checked += 1
            least, most = number(match.group(1)), number(match.group(2))
            below = least / 2 if 0 < least < 1 else least - 1
            above = most * 1.001 if most < 1 else most + 1
            for value in (least, most):
                self.assertIsNone(self.refusal(member, value), (member, value))
            for value in (below, above):
                self.assertEqual(self.refusal(member, value), member, value)
        self.assertGreater(checked, 15)

    def test_a_value_of_a_wrong_type_in_the_file_is_an_error(self):
        for member in self.rows:
            with self.subTest(member), tempfile.TemporaryDirectory() as root:
                wrong = 1 if member == "text.stop_words" else [[]]
                (pathlib.Path(root) / "config.json").write_text(
                    json.dumps(config_of(member, wrong)), encoding="utf-8")
                self.assertEqual(self.refusal(member, wrong, root), member)

    def test_the_page_has_every_member_that_is_read(self):
        table = settings_table()
        for file in READERS:
            read = set(READ.findall((SOURCE / file).read_text("utf-8")))
            self.assertGreater(len(read), 5, file)
            for name in sorted(read):
                self.assertTrue(re.search(rf"`(?:[a-z_]+\.)*{name}[.`]", table),
                                f"{name} of {file} is not in the table of docs/format.md")

    def test_the_types_of_the_bindings_have_every_member(self):
        for file, declared in BINDINGS.items():
            text = (SOURCE / file).read_text("utf-8")
            for member in self.rows:
                name = member.rpartition(".")[2]
                self.assertTrue(declared(name) in text, f"{member} is not in {file}")

    def test_the_header_tells_the_same_defaults(self):
        header = (SOURCE / "include/varve/store.h").read_text("utf-8")
        text = header[header.index('{"durability":"commit"'):header.index("durability: \"commit\"")]
        told = flat(json.loads(re.sub(r"\n \* +", "", text).strip().rstrip(".")))
        self.assertGreater(len(told), 15)
        for member, default in told.items():
            self.assertEqual(json.loads(self.rows[member][0]), default, member)


if __name__ == "__main__":
    unittest.main()
