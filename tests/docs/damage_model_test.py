#!/usr/bin/env python3
"""Damaged and edited sessions are read, verified, repaired, compacted and purged as docs/format.md
and docs/operations.md say, whatever was done to their files, also while another process has them
open. A failure tells its seed, what was done, and the last calls.

    VARVE_LIBRARY=libvarve.so damage_model_test.py [SEEDS [FIRST]]
"""
import base64
import json
import pathlib
import random
import re
import tempfile
import unittest

import damages
from damage_model import BLANKS, read_session, resealed, told
from lifecycle_agent import Agent, OtherProcess
from seeds import take_seeds

NOW_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(100)
SHOWN_CALLS = 6
# Of each entry one, with a beginning of its own: index.bin leaves out what words have in common.
WORD = re.compile(rb"[a-z]q\d+(?:canary|edited)")
DERIVED = ("lock", "index.bin")


def entry(number):
    return {"type": "finding" if number % 3 else "decision", "id": f"e{number}", "tags": ["a"],
            "content": f"text {chr(96 + number)}q{number}canary"}


def words_of(line):
    content = line.members["content"]
    return content.split() if isinstance(content, str) else []


class Run:
    """A session, what is done to its files, and the model of them."""

    def __init__(self, seed, directory, elsewhere, test):
        self.dice, self.test, self.seed = random.Random(seed), test, seed
        self.root, self.folder = directory, directory / "sessions" / "s"
        self.here, self.elsewhere = Agent(), elsewhere
        self.calls, self.done, self.open_in, self.added = [], [], [], 14
        self.make()

    def end(self):
        for agent, store in self.open_in:
            agent.call(NOW_MS, "close_store", store)

    # Calls.

    def call(self, *call, agent=None):
        answer = (agent or self.here).call(NOW_MS, *call)
        self.calls.append(f"{'elsewhere ' if agent else ''}{call} -> {answer}")
        return answer

    def report(self, function, *texts, agent=None):
        status, answer = self.call("text", function, "s", *texts, agent=agent)
        self.same(status, "OK", function)
        return json.loads(answer)

    def same(self, found, wanted, what):
        self.test.assertEqual(found, wanted, f"{what}, after {self.done}\n" + "\n".join(
            call[:700] for call in self.calls[-SHOWN_CALLS:]))

    def open_store(self, name="store", agent=None, recovery="tail"):
        config = {"integrity": {"recovery": recovery}}
        self.call("open_store", name, str(self.root), config, agent=agent)
        self.open_in.append((agent or self.here, name))

    def close_store(self, name="store"):
        self.call("close_store", name)
        self.open_in.remove((self.here, name))

    def open_session(self, store="store", agent=None):
        return self.call("open_session", "varve_session_open", store, "s", "s", agent=agent)

    # What is there.

    def make(self):
        self.open_store()
        self.call("open_session", "varve_session_create", "store", "s", {"session_id": "s"})
        number = 0
        for _ in range(self.dice.randrange(1, 5)):
            numbers = range(number + 1, number + 1 + self.dice.choice([1, 1, 2, 2, 3]))
            number = numbers[-1]
            self.call("text", "varve_session_add_batch", "s", [entry(each) for each in numbers])
        for each in range(1, number + 1):
            if self.dice.random() < 0.2:
                self.call("nothing", "varve_session_delete", "s", f"e{each}", "asked for")
        self.close_store()

    def damage(self):
        self.deleted = read_session(self.folder).deleted_ids
        sizes = self.sizes()
        for _ in range(self.dice.choice([0, 1, 1, 1, 2, 3, 4])):
            name = self.dice.choice(list(damages.DAMAGES))
            self.done.append(name)
            damages.DAMAGES[name](self.dice, self.folder)
        if self.dice.random() < 0.3:  # as many editors save
            self.done.append("saved_as_another_file")
            damages.replace_files(self.folder)
        self.has_index = self.dice.random() < 0.3 and "durability_forgotten" not in self.done
        if not self.has_index:
            damages.index_lost(self.dice, self.folder)
        elif self.dice.random() < 0.3:
            self.done.append("index_damaged")
            damages.index_damaged(self.dice, self.folder)
        self.look()
        # Who has the session open looks at the size of a file, and appends at its end.
        self.is_known = not {"metadata", "durability_forgotten"} & set(self.done) and not any(
            size == sizes[name] and not self.before[name].endswith(b"\n")
            for name, size in self.sizes().items() if size)

    def sizes(self):
        return {name: path.stat().st_size if (path := self.folder / name).exists() else 0
                for name in ("memory.jsonl", "tombstones.jsonl")}

    def look(self):
        self.model, self.before = read_session(self.folder), self.files()

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()
                if path.name not in DERIVED}

    def unchanged(self, what):
        self.same(self.files(), self.before, what + " changes files")

    def quarantined(self):
        lines = self.files().get("quarantine.jsonl", b"").splitlines()
        return b"".join(base64.b64decode(json.loads(line)["bytes"]) for line in lines)

    # Reading.

    def check_reading(self):
        live = self.model.live(NOW_MS)
        found = self.report("varve_session_verify", {"deep": self.dice.random() < 0.5})
        index_problems = self.check_problems(found)
        self.same({name: found[name] for name in
                   ("ok", "entries", "damaged", "last_seq", "checked_bytes")},
                  {"ok": not self.model.problems and not index_problems,
                   "entries": len(self.model.kept), "damaged": self.model.damaged,
                   "last_seq": self.model.last_seq,
                   "checked_bytes": self.model.bytes_of_both}, "verify")
        self.check_gets(live)
        self.check_export(live)
        status, results = self.call("count", "varve_session_count", "s", None)
        self.same((status, results), ("OK", len(live)), "count")
        self.check_words(live)
        found = self.report("varve_session_stats")
        self.same(found["entries"], len(live), "stats")
        self.unchanged("reading")

    def check_problems(self, found):
        """How many the index has: of an index.bin that was made of something else."""
        problems = sorted(map(told, found["problems"]))
        of_index = [problem for problem in problems if problem[3] == "index"]
        self.same([problem for problem in problems if problem not in of_index],
                  sorted(self.model.problems), "problems")
        if not self.has_index:
            self.same(of_index, [], "problems of the index")
        return len(of_index)

    def check_gets(self, live):
        texts = {line.id: line.text.decode() for line in live}
        gone = self.model.deleted_ids | (set(self.model.taken) - set(texts))
        ids = {f"e{number}" for number in range(1, 14)} | set(texts) | gone
        for entry_id in sorted(ids | self.model.damaged_ids()):
            status, answer = self.call("text", "varve_session_get", "s", entry_id)
            if entry_id in texts:
                self.same((status, answer), ("OK", texts[entry_id]), "get")
            elif entry_id in gone or not (self.has_index or
                                          self.model.may_be_damaged(entry_id)):
                self.same(status, "NOT_FOUND", "get")
            elif entry_id in self.model.damaged_ids():
                self.same(status, "CORRUPTION", "get")
            else:
                self.test.assertIn(status, ("CORRUPTION", "NOT_FOUND"))

    def check_words(self, live):
        for word in ("canary", "edited"):
            status, found = self.call("count", "varve_session_count", "s", {"text": f"*{word}"})
            wanted = sum(any(each.endswith(word) for each in words_of(line)) for line in live)
            self.same((status, found), ("OK", wanted), "words")

    def check_export(self, live):
        answer = self.call("text", "varve_session_export", "s", "jsonl")
        self.same(answer, ("OK", "".join(line.text.strip(BLANKS).decode() + "\n"
                                         for line in live)), "export")

    # Writing.

    def texts(self, lines):
        return [line.text.strip(BLANKS) for line in lines]

    def after(self):
        return read_session(self.folder)

    def use_repair(self, agent=None):
        accepts = self.dice.random() < 0.3
        options = {"accept_edits": accepts}
        edits = resealed(self.model) if accepts else {}
        dry = self.report("varve_session_repair", {**options, "dry_run": True}, agent=agent)
        self.unchanged("a dry run")
        found = self.report("varve_session_repair", options, agent=agent)
        self.same({**dry, "changed": found["changed"]}, found, "a dry run")
        self.same((found["changed"], found["resealed"], found["bytes_before"]),
                  (bool(self.model.problems), len(edits), self.model.bytes_of_both), "repair")
        lines = [edits.get(line.offset, line.text.strip(BLANKS)) for line in self.model.log.all
                 if line.offset in edits or (line.is_valid and not line.is_repeated)]
        self.same([line.text.strip(BLANKS) for line in self.after().log.all if not line.is_blank],
                  lines, "the log after a repair")
        self.same(self.after().problems, [], "problems after a repair")
        self.same(self.after().bytes_of_both, found["bytes_after"], "bytes after a repair")
        self.check_set_aside([line for line in self.model.unreadable()
                              if line.offset not in edits])

    def check_set_aside(self, lines, kept=b""):
        aside = self.quarantined() + kept
        missing = [line.text for line in lines if line.text not in aside]
        missing += [tail for tail in (self.model.log.tail, self.model.tombstones.tail)
                    if tail not in aside]
        self.same(missing, [], "not in quarantine")

    def use_add(self, agent=None):
        self.added += 1
        status, _ = self.call("text", "varve_session_add", "s", entry(self.added), agent=agent)
        self.same(status, "OK", "add")
        after = self.after().live(NOW_MS)
        self.same(after[-1].id, f"e{self.added}", "added")
        self.same_entries(after[:-1], self.model)

    def same_entries(self, lines, model, is_watched=False):
        """Who has a session open may still know of a deletion that was lost since."""
        if model.is_of_version_0():  # every line is written anew
            return self.same([line.id for line in lines], [line.id for line in
                                                           model.live(NOW_MS)], "entries")
        wanted = self.texts(line for line in model.live(NOW_MS)
                            if not (is_watched and line.id in self.deleted))
        found = self.texts(line for line in lines if not (is_watched and line.id in self.deleted))
        self.same(found, wanted, "entries")

    def use_delete(self, agent=None):
        live = self.model.live(NOW_MS)
        if not live:
            return self.use_add(agent)
        entry_id = self.dice.choice(live).id
        status, _ = self.call("nothing", "varve_session_delete", "s", entry_id, "", agent=agent)
        if not (agent and entry_id in self.deleted):  # then that process knows it as deleted
            self.same(status, "OK", "delete")
        if status == "OK":
            self.same(entry_id in self.after().deleted_ids, True, "deleted")
            self.same([line.id for line in self.after().live(NOW_MS)],
                      [line.id for line in live if line.id != entry_id], "entries")

    def use_compact(self, agent=None, function="varve_session_compact"):
        status, _ = self.call("text", function, "s", None, agent=agent)
        if status == "CORRUPTION" and (agent or self.has_index):
            return self.same(self.after().log.data, self.model.log.data, "the log")
        self.same(status, "OK", function)
        self.same_entries(self.after().live(NOW_MS), self.model, agent)
        if function == "varve_session_compact":
            self.check_set_aside(self.model.log.damaged, self.after().log.data)

    def use_purge(self, agent=None):
        self.use_compact(agent, "varve_session_purge")
        allowed = {word for line in self.model.live(NOW_MS) for word in WORD.findall(line.text)}
        for path in self.folder.iterdir():
            words = set(WORD.findall(path.read_bytes()))
            if path.name == "tombstones.jsonl":  # stays as it is
                words -= set(WORD.findall(self.model.tombstones.data))
            self.same(words - allowed, set(), "what was forgotten, in " + path.name)

    # The whole.

    def check_strict(self):
        self.open_store("strict", recovery="strict")
        status, _ = self.open_session("strict")
        self.unchanged("strict")
        if not self.has_index:
            self.same(status, "CORRUPTION" if self.model.problems else "OK", "strict")
        self.close_store("strict")

    def take(self):
        is_watched = self.dice.random() < 0.4
        if is_watched:
            self.open_store("watch", self.elsewhere)
            self.open_session("watch", self.elsewhere)
            self.call("count", "varve_session_count", "s", {"text": "text"}, agent=self.elsewhere)
        for _ in range(self.dice.choice([1, 1, 2])):
            self.damage()
            self.use(is_watched)
            self.close_store()
        self.open_store()
        self.open_session()
        self.check_afterwards()

    def use(self, is_watched):
        if self.dice.random() < 0.3:
            self.check_strict()
        self.open_store()
        self.same(self.open_session()[0], "OK", "open")
        self.unchanged("opening")
        if self.dice.random() < 0.6:
            self.check_reading()
        use = getattr(self, self.dice.choice(
            ["use_repair", "use_repair", "use_add", "use_delete", "use_compact", "use_purge"]))
        is_elsewhere = is_watched and self.is_known and self.dice.random() < 0.5
        use(self.elsewhere if is_elsewhere else None)

    def check_afterwards(self):
        self.look()
        self.use_repair()
        self.look()
        self.same(self.report("varve_session_repair", None)["changed"], False, "a second repair")
        self.unchanged("a second repair")
        self.has_index = False
        self.check_reading()
        self.use_add()
        self.close_store()
        self.open_store()
        self.open_session()
        self.look()
        self.same(self.model.problems, [], "problems at last")
        self.check_reading()


class DamageModel(unittest.TestCase):
    def test_sessions_are_read_and_mended_as_the_model_says(self):
        elsewhere = OtherProcess()
        self.addCleanup(elsewhere.end)
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = Run(seed, pathlib.Path(directory), elsewhere, self)
                try:
                    run.take()
                finally:
                    run.end()

    def test_a_line_of_a_newer_version_is_refused_and_stays(self):
        with tempfile.TemporaryDirectory() as directory:
            run = Run(SEEDS.start, pathlib.Path(directory), None, self)
            path = run.folder / "memory.jsonl"
            lines, rest = damages.lines_of(path)
            for at in (0, len(lines) - 1):
                newer = damages.changed(lines[at], {"schema_version": 2}, True)
                damages.write(path, lines[:at] + [newer] + lines[at + 1:], rest)
                damages.index_lost(run.dice, run.folder)
                run.before = run.files()
                run.open_store()
                run.same(run.open_session()[0], "FORMAT_VERSION", "open")
                run.close_store()
                run.unchanged("a refused opening")
            run.end()


if __name__ == "__main__":
    unittest.main()
