#!/usr/bin/env python3
"""The figures of stores and sessions agree with one another, with the files, and with what is
counted by hand, over random histories; every setting of docs/format.md#config has the default,
the range and the refusal that the page says. A failure tells its seed and step.

    VARVE_LIBRARY=libvarve.so figures_model_test.py [SEEDS [FIRST]]
"""
import ctypes
import datetime
import json
import math
import os
import pathlib
import random
import re
import tempfile
import unittest

import figures_model as model
from seeds import take_seeds
from varve_library import Failure, Library, given

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "format.md"
START_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
HOUR_MS = 3_600_000
SEEDS = take_seeds(10)
STEPS = 60
FILES = {"log": "memory.jsonl", "tombstones": "tombstones.jsonl", "index": "index.bin",
         "kv": "kv.json", "transcript": "transcript.md", "vectors": "vectors.bin"}
COUNTERS = {"memory.operations.add.count": "added", "memory.operations.delete.count": "deleted",
            "memory.operations.get.count": "got", "memory.compaction.count": "compacted",
            "memory.purges.count": "purged", "memory.entries.expired.count": "expired"}
SAME = {"varve_sessions": "memory.sessions.total", "varve_entries": "memory.entries.total",
        "varve_size_bytes": "memory.size.bytes", "varve_sessions_open": "memory.sessions.active",
        "varve_entries_added_total": "memory.operations.add.count",
        "varve_written_bytes_total": "memory.written.bytes", "varve_commits_total":
        "memory.commits.count", "varve_syncs_total": "memory.syncs.count"}
USAGES = [{"input_tokens": 7}, {"prompt_tokens": 3, "completion_tokens": 10**9, "cost_usd": 0.25},
          {"input_tokens": 10**12, "output_tokens": 10**12 + 1}, {"cost_usd": 1.5e-9}, {}, 5,
          {"input_tokens": "7"}, {"input_tokens": -1, "cost_usd": -0.5}, {"cost_usd": 10**9}]


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Run:
    def __init__(self, seed, root):
        self.dice, self.root = random.Random(seed), root
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.now_ms, self.number = START_MS, 0
        self.model, self.open = model.Store(), {}
        self.open_store()

    def open_store(self):
        self.library.now_ms = self.now_ms
        self.store = self.library.open_store(str(self.root), {"durability": "os"})
        self.open, self.model.counters = {}, type(self.model.counters)()

    def ask(self, function, handle, *texts):
        arguments = [part for text in texts for part in given(text)]
        return json.loads(self.library.text(function, handle._handle, *arguments))

    def count(self, session):
        found = ctypes.c_uint64()
        self.library.call("varve_session_count", session._handle, *given(None),
                          ctypes.byref(found))
        return found.value

    def sizes(self, session_id):
        folder = self.root / "sessions" / session_id
        return {name: (folder / file).stat().st_size if (folder / file).exists() else 0
                for name, file in FILES.items()}

    def size_of(self, session_id):
        """As it is, or as it was last saved."""
        if session_id in self.open:
            return sum(self.sizes(session_id).values())
        saved = self.root / "sessions" / session_id / "metadata.json"
        return json.loads(saved.read_text())["total_size_bytes"]

    def any_open(self):
        session_id = self.dice.choice(sorted(self.open))
        return self.open[session_id], self.model.sessions[session_id]

    # Steps.

    def create(self):
        session_id = f"s{self.dice.randint(0, 4)}"
        if session_id in self.model.sessions:
            return
        user, agent = self.dice.choice(["ann", "bob"]), self.dice.choice(["cook", "sailor"])
        self.open[session_id] = self.store.create(session_id=session_id, user_id=user,
                                                  agent_id=agent)
        self.model.sessions[session_id] = model.Session(user, agent)

    def open_one(self):
        closed = sorted(self.model.sessions.keys() - self.open.keys())
        if closed:
            session_id = self.dice.choice(closed)
            self.open[session_id] = self.store.open(session_id)

    def close_one(self):
        self.open.pop(self.dice.choice(sorted(self.open))).close()

    def reopen(self):
        self.store.close()
        self.open_store()

    def new_entry(self):
        self.number += 1
        entry = {"id": f"e{self.number}", "type": self.dice.choice(["odd", "finding"])}
        if self.dice.random() < 0.4:
            entry["expires_ms"] = self.now_ms + self.dice.choice([1, HOUR_MS, 5 * HOUR_MS])
        if self.dice.random() < 0.3:
            entry["time_ms"] = self.now_ms - self.dice.choice([1, 30, 90]) * HOUR_MS
        if self.dice.random() < 0.5:
            entry["usage"] = self.dice.choice(USAGES)
        return entry

    def public(self, entry):
        shown = {**{name: entry[name] for name in ("id", "type")},
                 "content": "x" * self.dice.randint(0, 99)}
        for name, shown_name in (("expires_ms", "expires_at"), ("time_ms", "timestamp")):
            if name in entry:
                shown[shown_name] = rfc3339(entry[name])
        if "usage" in entry and self.dice.random() < 0.5:
            shown["content"] = {"usage": entry["usage"]}
        elif "usage" in entry:
            shown["usage"] = entry["usage"]
        return shown

    def add(self):
        session, its_model = self.any_open()
        entries = [self.new_entry() for _ in range(self.dice.choice([1, 1, 3]))]
        if len(entries) == 1:
            session.add(self.public(entries[0]))
        else:
            session.add_batch([self.public(entry) for entry in entries])
        its_model.log += [model.Entry(entry, self.now_ms) for entry in entries]
        self.model.counters["added"] += len(entries)

    def delete(self):
        session, its_model = self.any_open()
        live = its_model.live(self.now_ms)
        if live:
            entry = self.dice.choice(live)
            session.delete(entry.id, "a test")
            entry.is_deleted = True
            its_model.deletions += 1
            self.model.counters["deleted"] += 1

    def get(self):
        session, its_model = self.any_open()
        entry_id = f"e{self.dice.randint(0, self.number + 1)}"
        self.model.counters["got"] += 1
        try:
            found = json.loads(session.get(entry_id))["id"]
        except Failure as failure:
            found = failure.name
        return found, entry_id if its_model.find(entry_id, self.now_ms) else "VARVE_NOT_FOUND"

    def shrink(self):
        session, its_model = self.any_open()
        is_purge, dry_run = self.dice.random() < 0.4, self.dice.random() < 0.3
        function = "varve_session_purge" if is_purge else "varve_session_compact"
        dropped = self.ask(function, session, {"dry_run": dry_run})["dropped"]
        found = dropped["deleted"], dropped["expired"]
        if dry_run:
            return found, (len(its_model.log) - len(its_model.kept()),
                           len(its_model.expired(self.now_ms)))
        wanted = its_model.shrink(self.now_ms)
        self.model.counters["purged" if is_purge else "compacted"] += 1
        self.model.counters["expired"] += wanted[1]
        return found, wanted

    def sweep(self):
        report = self.ask("varve_store_sweep", self.store)
        swept = [each for each in self.model.sessions.values() if each.expired(self.now_ms)]
        dropped = sum(each.shrink(self.now_ms)[1] for each in swept)
        self.model.counters["compacted"] += len(swept)
        self.model.counters["expired"] += dropped
        return ([report[name] for name in ("sessions_checked", "sessions_compacted",
                                           "entries_dropped", "problems")],
                [len(self.model.sessions), len(swept), dropped, []])

    def drop(self):
        if self.dice.random() < 0.3:
            session_id = self.dice.choice(sorted(self.model.sessions))
            self.library.call("varve_store_delete_session", self.store._handle, *given(session_id))
            del self.model.sessions[session_id]
            self.open.pop(session_id, None)

    def beside(self):
        session, _ = self.any_open()
        session.kv_set(f"k{self.dice.randint(0, 3)}", "v" * self.dice.randint(0, 99))
        session.say("user", "x" * self.dice.randint(0, 99))


class Figures(unittest.TestCase):
    def check_session(self, run, session_id):
        session, its_model = run.open[session_id], run.model.sessions[session_id]
        live, kept = its_model.live(run.now_ms), its_model.kept()
        stats = run.ask("varve_session_stats", session)
        sizes = run.sizes(session_id)
        self.assertEqual(stats["size_bytes"], {**sizes, "total": sum(sizes.values())})
        self.assertEqual((stats["entries"], stats["expired"], stats["deleted"]),
                         (len(live), len(kept) - len(live), its_model.deletions))
        metadata = run.ask("varve_session_metadata", session)
        self.assertEqual((metadata["total_entries"], metadata["statistics"]),
                         (len(kept), its_model.statistics()))
        report = session.verify()
        self.assertEqual((report["ok"], report["entries"], report["deleted"]),
                         (True, len(kept), its_model.deletions))
        self.assertEqual(run.count(session), len(live))

    def check_store(self, run):
        stats = run.ask("varve_store_stats", run.store)
        metrics, sessions = stats["metrics"], run.model.sessions
        self.assertEqual(
            (stats["sessions_open"], stats["entries"], metrics["memory.sessions.total"],
             metrics["memory.entries.total"]),
            (len(run.open), sum(len(sessions[each].live(run.now_ms)) for each in run.open),
             len(sessions), sum(len(each.kept()) for each in sessions.values())))
        self.assertEqual({name: metrics[name] for name in COUNTERS},
                         {name: run.model.counters[key] for name, key in COUNTERS.items()})
        self.assertEqual((stats["entries_added"], stats["entries_deleted"]),
                         (run.model.counters["added"], run.model.counters["deleted"]))
        self.assertEqual(metrics["memory.size.bytes"], sum(map(run.size_of, sessions)))
        text = run.library.text("varve_store_metrics", run.store._handle)
        samples = dict(re.findall(r'^(varve_\w+)\{store="[^"]*"\} (\S+)$', text, re.M))
        self.assertEqual({name: float(samples[name]) for name in SAME},
                         {name: float(metrics[other]) for name, other in SAME.items()})
        listed = run.ask("varve_store_sessions", run.store, {})["sessions"]
        self.assertEqual({each["session_id"]: each["user_id"] for each in listed},
                         {name: each.user for name, each in sessions.items()})

    def check_usage(self, run):
        filters = [({}, lambda name, session: True),
                   ({"user_id": "ann"}, lambda name, session: session.user == "ann"),
                   ({"agent_id": "cook"}, lambda name, session: session.agent == "cook"),
                   ({"session_ids": ["s1", "s9"]}, lambda name, session: name == "s1")]
        conditions, chosen = run.dice.choice(filters)
        found = run.ask("varve_store_usage", run.store, conditions)
        wanted = run.model.usage(run.now_ms, chosen)
        names = {"sessions": "session_id", "users": "user_id", "agents": "agent_id", "days": "day"}
        sums = {("total", ""): found["total"]} if found["total"]["entries"] else {}
        for kind, name in names.items():
            sums.update({(kind, each[name]): each for each in found[kind]})
        self.assertEqual(found["problems"], [])
        days = {day: rfc3339(day * 86_400_000)[:10] for kind, day in wanted if kind == "days"}
        wanted = {(kind, days.get(name, name)): total for (kind, name), total in wanted.items()}
        self.assertEqual(sums.keys(), wanted.keys())
        for key, total in wanted.items():
            self.assertEqual([sums[key][name] for name in
                              ("entries", "input_tokens", "output_tokens")], total[:3], key)
            self.assertTrue(math.isclose(sums[key]["cost_usd"], total[3], abs_tol=1e-8), key)

    def test_figures_are_what_is_counted_by_hand(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory, self.subTest(seed=seed):
                run = Run(seed, pathlib.Path(directory) / "store")
                steps = [run.add, run.delete, run.get, run.shrink, run.sweep, run.drop, run.beside,
                         run.close_one, run.open_one, run.create, run.reopen]
                for at in range(STEPS):
                    run.now_ms += run.dice.choice([0, 1, 1000, HOUR_MS])
                    run.library.now_ms = run.now_ms
                    step = run.dice.choices(steps, [9, 3, 2, 3, 1, 1, 2, 3, 4, 3, 1])[0]
                    answers = step() if run.open or step in steps[-3:] else run.open_one()
                    if answers:
                        self.assertEqual(*answers, f"{at}, {step.__name__}")
                    for session_id in run.open:
                        self.check_session(run, session_id)
                    self.check_store(run)
                    self.check_usage(run)
                run.store.close()


def rows_of_config(page):
    """[(member, default, range)]"""
    table = re.search(r"\| member \| default \| range \| effect \|\n.*\n((?:\|.*\n)+)", page)[1]
    cells = [[cell.strip(" `") for cell in row.split("|")] for row in table.splitlines()]
    return [(row[1], row[2], row[3]) for row in cells]


def settings(member, value):
    for name in reversed(member.split(".")):
        value = {name: value}
    return value


class Config(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library(os.environ["VARVE_LIBRARY"])
        cls.library.now_ms = START_MS
        cls.rows = rows_of_config(PAGE.read_text(encoding="utf-8"))

    def check_taken(self, member, value):
        self.library.open_store("memory:", settings(member, value)).close()

    def check_refused(self, member, value, name="VARVE_INVALID_ARGUMENT"):
        with self.assertRaises(Failure) as refused:
            self.check_taken(member, value)
        self.assertEqual(refused.exception.name, name)
        self.assertEqual(refused.exception.details["member"], member)
        self.assertIn(member, str(refused.exception))

    def test_the_page_has_every_member(self):
        self.assertGreater(len(self.rows), 30)

    def test_numbers_have_the_ranges_of_the_page(self):
        for member, _, span in self.rows:
            ends = re.fullmatch(r"(\S+) to (\S+)", span)
            for value in ["x", None, True, [], {}] if ends else []:
                with self.subTest(member=member, value=value):
                    self.check_refused(member, value)
            if ends:
                lowest, highest = (json.loads(end) for end in ends.groups())
                step = 1 if isinstance(lowest, int) and highest != 1 else lowest / 2 or 0.01
                with self.subTest(member=member):
                    for value in (lowest, highest):
                        self.check_taken(member, value)
                    for value in (lowest - step, highest * 1.01 if highest > 100 else highest + 1):
                        self.check_refused(member, int(value) if step == 1 else value)

    def test_words_are_those_of_the_page(self):
        for member, _, span in self.rows:
            is_list = re.fullmatch(r"[a-z0-9]+(, [a-z0-9]+)*", span)
            if not is_list or member in ("version", "text.language"):
                continue
            words = span.split(", ")
            is_bool = set(words) <= {"true", "false"}
            with self.subTest(member=member):
                for word in words:
                    self.check_taken(member, word == "true" if is_bool else word)
                for value in [1, None, [], "other", words[0].upper(),
                              words[0] if is_bool else False]:
                    self.check_refused(member, value)
        for version in ("1", "1.0", "1.9"):
            self.check_taken("version", version)
        for version in ("2", "10.0"):
            self.check_refused("version", version, "VARVE_FORMAT_VERSION")
        for version in ("0.9", "one", ""):
            self.check_refused("version", version)

    def test_the_defaults_are_those_of_the_page(self):
        defaults = {member: json.loads(default) for member, default, _ in self.rows if default}
        session = self.library.open_store("memory:").create(session_id="s")
        stats = session.stats()
        self.assertEqual(stats["size_limit_bytes"], defaults["storage.max_session_size_mb"] << 20)
        self.assertEqual(stats["durability"], defaults["durability"])
        room = defaults["storage.max_entry_size_bytes"]
        with self.assertRaises(Failure) as refused:
            session.add({"type": "a", "content": "x" * room})
        self.assertEqual(refused.exception.details["limit"], room)
        for number in range(defaults["storage.kv_cap"] + 1):
            session.kv_set(f"k{number}", "v")
        keys = json.loads(self.library.text("varve_kv_list", session._handle))
        self.assertEqual([keys[0]["key"], len(keys)], ["k1", defaults["storage.kv_cap"]])

    def test_what_is_given_overrides_the_file_and_the_file_may_say_more(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "config.json"

            def limit(config=None):
                store = self.library.open_store(directory, config)
                stats = store.create().stats()
                store.close()
                return stats["size_limit_bytes"] >> 20, stats["durability"]

            file.write_text('{"unknown":1,"storage":{"max_session_size_mb":3,"unknown":{}},'
                            '"durability":"os"}')
            self.assertEqual(limit(), (3, "os"))
            self.assertEqual(limit({"storage": {"max_session_size_mb": 4}}), (4, "os"))
            self.assertEqual(limit({"durability": "interval"}), (3, "interval"))
            for member, value in (("storage.kv_cap", "9"), ("storage", 5), ("threads", 0),
                                  ("version", "2.0")):
                file.write_text(json.dumps(settings(member, value)))
                with self.subTest(member=member), self.assertRaises(Failure) as refused:
                    self.library.open_store(directory)
                self.assertEqual(refused.exception.details["member"], member)
                self.assertIn("config.json", json.dumps(refused.exception.details))

    def test_unknown_members_are_refused_when_they_are_given(self):
        for member in ("other", "storage.other", "decay.type_specific.finding.other",
                       "text.best.other"):
            with self.subTest(member=member):
                self.check_refused(member, 1)


if __name__ == "__main__":
    unittest.main()
