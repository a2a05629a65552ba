#!/usr/bin/env python3
"""What is left of kv.json and transcript.md when they were cut, or bytes of them lost, is what
docs/stores.md and docs/format.md say: every whole entry, in order. A failure tells its seed.

    VARVE_LIBRARY=libvarve.so cut_stores_test.py [SEEDS]
"""
import ctypes
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest

from varve_library import Library

SEEDS = int(sys.argv.pop()) if len(sys.argv) > 1 else 4
PIECES = ["hi", "\n", "\n\n", "  ", "### user — 2026-01-10T14:23:45Z\n", "\\", "u0000", "\0",
          "\\u0000", "\\u0020", "\r\n", "\r", " ", "é", "😀", "### ", "\\### ", "\t", "\u2028", "#"]
ROLES = ["user", "a — b", "é", "### x", "x" * 128, "user — 2026-01-10T14:23:45Z"]


class Folder:
    """A session whose files are changed while nobody has it open."""

    def __init__(self, root):
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = 1_767_950_000_000
        self.root = root
        self.open(lambda store: store.create(session_id="s"))
        self.path = root / "sessions" / "s"

    def open(self, get=lambda store: store.open("s")):
        self.store = self.library.open_store(str(self.root), {"durability": "os"})
        self.session = get(self.store)

    def ask(self, function, *texts):
        """Texts with NULs go with their length."""
        arguments = [part for text in map(str.encode, texts)
                     for part in (text, ctypes.c_size_t(len(text)))]
        self.library.call(function, self.session._handle, *arguments)

    def turns(self):
        text = self.library.text("varve_transcript_last", self.session._handle,
                                 ctypes.c_size_t(1000))
        return [(turn["role"], turn["content"]) for turn in json.loads(text)]

    def keys(self):
        text = self.library.text("varve_kv_list", self.session._handle)
        return [(item["key"], item["value"]) for item in json.loads(text)]

    def with_bytes(self, name, text):
        self.store.close()
        (self.path / name).write_bytes(text)
        self.open()


class CutStores(unittest.TestCase):
    def folders(self):
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as directory:
                dice, folder = random.Random(seed), Folder(pathlib.Path(directory) / "store")
                folder.seed = seed
                yield dice, folder
                folder.store.close()

    def text(self, dice, least=0):
        return "".join(dice.choices(PIECES, k=dice.randint(least, 6)))

    def say(self, dice, folder):
        """[(turn, where it ends in the file)]"""
        said = []
        for _ in range(5):
            turn = dice.choice(ROLES), self.text(dice)
            folder.ask("varve_transcript_append", *turn)
            said.append((turn, (folder.path / "transcript.md").stat().st_size))
        self.assertEqual(folder.turns(), [turn for turn, _ in said])
        return said

    def test_a_cut_transcript_has_its_whole_turns_and_goes_on(self):
        for dice, folder in self.folders():
            said = self.say(dice, folder)
            whole = (folder.path / "transcript.md").read_bytes()
            for cut in dice.sample(range(len(whole) + 1), 25):
                kept = [turn for turn, end in said if end <= cut]
                folder.with_bytes("transcript.md", whole[:cut])
                self.assertEqual(folder.turns(), kept, f"seed {folder.seed}, {cut}")
                folder.ask("varve_transcript_append", "next", "turn")
                self.assertEqual(folder.turns(), [*kept, ("next", "turn")])

    def test_lost_bytes_of_a_transcript_cost_the_turns_beside_them(self):
        for dice, folder in self.folders():
            said = self.say(dice, folder)
            whole = (folder.path / "transcript.md").read_bytes()
            begins = [0, *(end for _, end in said)]
            for _ in range(20):
                at, length = dice.randrange(len(whole)), dice.choice([1, 5, 40])
                lost = dice.choice([b"\0", b"\xff"]) * length
                folder.with_bytes("transcript.md", (whole[:at] + lost + whole[at + length:])
                                  [:len(whole)])
                hit = [begin < at + length and at < end
                       for begin, (_, end) in zip(begins, said)] + [False]
                found = iter(folder.turns())
                for number, (turn, _) in enumerate(said):
                    if not hit[number] and not hit[number + 1]:
                        self.assertIn(turn, found, f"seed {folder.seed}, {at}")  # in order

    def test_a_cut_kv_json_has_the_keys_of_its_whole_lines_and_goes_on(self):
        for dice, folder in self.folders():
            kept = {}
            for _ in range(6):
                key, value = self.text(dice, least=1), self.text(dice)
                folder.ask("varve_kv_set", key, value)
                kept.pop(key, None)
                kept[key] = value
            self.assertEqual(folder.keys(), list(kept.items()))
            whole = (folder.path / "kv.json").read_bytes()
            for cut in dice.sample(range(len(whole) + 1), 25):
                lines = [line.rstrip(b",") for line in whole[:cut].split(b"\n")]
                count = sum(line.startswith(b'    { "key"') and line.endswith(b" }")
                            for line in lines)
                folder.with_bytes("kv.json", whole[:cut])
                self.assertEqual(folder.keys(), list(kept.items())[:count],
                                 f"seed {folder.seed}, {cut}")
            folder.ask("varve_kv_set", "next", "value")
            self.assertEqual(folder.keys()[-1], ("next", "value"))


if __name__ == "__main__":
    unittest.main()
