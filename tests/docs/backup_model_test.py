#!/usr/bin/env python3
"""A backup and what is restored from it read as their session does: after random writes, and after
random damage to the session's files and to the copy's. What can be read of them is said by the
model of damaged files. A failure tells its seed and what was done.

    VARVE_LIBRARY=libvarve.so backup_model_test.py [SEEDS [FIRST]]
"""
import json
import os
import pathlib
import random
import shutil
import tempfile
import unittest

from damage_model import BLANKS, read_session, told
from damages import DAMAGES
from lifecycle_agent import Agent
from seeds import take_seeds

START_MS = 1_767_950_000_000
SEEDS = take_seeds(25)
ROUNDS = 8
SHOWN_CALLS = 12
OF_THE_LOG = sorted(DAMAGES.keys() - {"metadata", "lock", "durability_forgotten"})
FILES = ["memory.jsonl", "tombstones.jsonl", "kv.json", "transcript.md", "vectors.bin",
         "quarantine.jsonl"]


class Run:
    def __init__(self, seed, directory, test):
        self.dice, self.test, self.agent = random.Random(seed), test, Agent()
        self.directory, self.number, self.done = directory, 0, []
        self.folder = directory / "store" / "sessions" / "s"
        self.copy = directory / "copy" / "sessions" / "s"
        self.call("open_store", "store", str(directory / "store"), None)
        self.call("open_session", "varve_session_create", "store", "s", {"session_id": "s"})

    def call(self, method, *arguments):
        answer = self.agent.call(START_MS, method, *arguments)
        self.done.append(f"{method} {arguments} -> {answer}"[:300])
        return answer

    def same(self, found, wanted, what):
        self.test.assertEqual(found, wanted, what + "\n" + "\n".join(self.done[-SHOWN_CALLS:]))

    # What happens to the session, and to the copy.

    def given_entry(self):
        self.number += 1
        return {"id": f"e{self.number}", "type": "finding",
                "content": "canary " * self.dice.choice([1, 30])}

    def write(self):
        some_id = f"e{self.dice.randint(1, self.number + 1)}"
        name = self.dice.choice(["add"] * 3 + ["batch"] * 2 + ["delete"] * 2 +
                                ["key", "turn", "vector", "compact", "purge", "repair"])
        if name == "add":
            self.call("text", "varve_session_add", "s", self.given_entry())
        elif name == "batch":
            entries = [self.given_entry() for _ in range(self.dice.randint(2, 4))]
            self.call("text", "varve_session_add_batch", "s", entries)
        elif name == "delete":
            self.call("nothing", "varve_session_delete", "s", some_id, "asked for")
        elif name == "key":
            self.call("nothing", "varve_kv_set", "s", self.dice.choice("ab"), str(self.number))
        elif name == "turn":
            self.call("nothing", "varve_transcript_append", "s", "user", str(self.number))
        elif name == "vector":
            self.call("put_vector", "s", some_id, [self.number + 1, 1])
        else:
            self.call("text", "varve_session_" + name, "s", None)

    def damage(self, folder):
        name = self.dice.choice(list(DAMAGES))
        DAMAGES[name](self.dice, folder)
        self.done.append(f"{name} in {folder.relative_to(self.directory)}")

    def damage_backup(self):
        path = self.directory / "copy" / "backup.json"
        what = self.dice.choice(["session", "flip", "flip"])
        self.done.append(f"{what} in the backup")
        if what == "session":
            return shutil.rmtree(self.copy)
        data = bytearray(path.read_bytes())
        # A backup of a newer version is not made anew, but refused.
        version = data.rfind(b'"version": ') + len(b'"version": ')
        place = self.dice.choice([at for at in range(len(data)) if at != version])
        data[place] ^= 1 << self.dice.randrange(8)
        path.write_bytes(bytes(data))

    # What must hold.

    def back_up(self):
        answer = self.call("text", "varve_store_backup", "store", str(self.directory / "copy"),
                           None)
        self.same(answer[0], "OK", "back up")
        report = json.loads(answer[1])
        if any(not problem["copied"] for problem in report["problems"]):
            here, there = read_session(self.folder), read_session(self.copy)
            if here.lost_deletions:
                self.test.assertLess(here.tombstones.count(), there.tombstones.count())
            else:
                self.same(self.lines(self.folder), [], "a session that does not replace its copy")
                self.test.assertNotEqual(self.lines(self.copy), [], "\n".join(self.done))
            return None
        self.same(report["copied"] + report["appended"] + report["unchanged"], 1, "back up")
        return report

    def lines(self, folder):
        return [line.text.strip(BLANKS) for line in read_session(folder).live(START_MS)]

    def read(self, root):
        """What the library reads of another directory, in which it may write."""
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(root, pathlib.Path(place) / "store")
            self.agent.call(START_MS, "open_store", "other", place + "/store", None)
            self.agent.call(START_MS, "open_session", "varve_session_open", "other", "t", "s")
            text = lambda name, *texts: self.agent.call(START_MS, "text", name, "t", *texts)
            found = {"lines": text("varve_session_export", "jsonl")[1].encode().splitlines(),
                     "keys": text("varve_kv_list"),
                     "turns": self.agent.call(START_MS, "last_turns", "t", 1000)}
            problems = json.loads(text("varve_session_verify", None)[1])["problems"]
            self.agent.call(START_MS, "close_store", "other")
            return found, [told(problem) for problem in problems]

    def check(self):
        wanted = self.lines(self.folder)
        report = read_session(self.folder)
        self.same(self.lines(self.copy), wanted, "what can be read of the copy's files")
        for name in FILES:
            both = [path.read_bytes() if path.exists() else b""
                    for path in (self.copy / name, self.folder / name)]
            if name == "memory.jsonl":
                both[1] = both[1][:report.log.end]
            elif name == "tombstones.jsonl":
                both[1] = both[1][:report.tombstones.end]
            self.same(both[0], both[1], name)
        read, problems = self.read(self.directory / "copy")
        self.same(read["lines"], wanted, "the copy as a store")
        self.same(self.back_up()["unchanged"], 1, "back up again")
        self.check_restored(read, problems)
        self.check_later_damage()

    def check_later_damage(self):
        """The copy loses no more than the session would by the same damage."""
        if read_session(self.folder).log.tail or read_session(self.folder).tombstones.tail:
            return
        name, seed = self.dice.choice(OF_THE_LOG), self.dice.random()
        self.done.append(f"{name} later")
        left = []
        for root in ("store", "copy"):
            with tempfile.TemporaryDirectory() as place:
                shutil.copytree(self.directory / root, pathlib.Path(place) / "it")
                folder = pathlib.Path(place) / "it" / "sessions" / "s"
                DAMAGES[name](random.Random(seed), folder)
                left.append(self.lines(folder))
                if root == "copy":
                    read, _ = self.read(pathlib.Path(place) / "it")
                    self.same(read["lines"], left[-1], "the copy, damaged later")
        self.same([line for line in left[0] if line not in left[1]], [], "lost by the copy alone")
        # It may know better what was durable, when the session has lost its marks.
        known = left[0] + self.lines(self.folder)
        self.same([line for line in left[1] if line not in known], [], "only in the copy")

    def check_restored(self, wanted, problems):
        """As the copy, into a new store."""
        place = self.directory / "restored"
        self.agent.call(START_MS, "open_store", "restored", str(place), None)
        answer = self.call("text", "varve_store_restore", "restored",
                           str(self.directory / "copy"), None)
        self.same(answer[0], "OK", "restore")
        self.agent.call(START_MS, "close_store", "restored")
        read, found = self.read(place)
        self.same(read, wanted, "what was restored")
        known = [problem for problem in problems if problem[0] != "metadata.json"]
        self.same([problem for problem in found if problem[0] != "metadata.json"], known,
                  "what verify says of what was restored")
        shutil.rmtree(place)

    def take_round(self):
        for _ in range(self.dice.randint(0, 6)):
            self.write()
        is_closed = self.dice.random() < 0.6
        if is_closed:
            self.call("close_session", "s")
        if is_closed and self.dice.random() < 0.5:
            self.damage(self.folder)
        if self.copy.exists() and self.dice.random() < 0.4:
            self.damage(self.copy)
        if self.copy.exists() and self.dice.random() < 0.2:
            self.damage_backup()
        if self.back_up():
            self.check()
        if is_closed:
            self.same(self.call("open_session", "varve_session_open", "store", "s", "s")[0], "OK",
                      "open")

    def end(self):
        self.call("close_store", "store")


class BackupModel(unittest.TestCase):
    def test_copies_and_what_is_restored_read_as_the_session_does(self):
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = Run(seed, pathlib.Path(directory), self)
                try:
                    for _ in range(ROUNDS):
                        run.take_round()
                finally:
                    run.end()


if __name__ == "__main__":
    unittest.main()
