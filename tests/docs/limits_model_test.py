#!/usr/bin/env python3
"""Sessions near their limits take, refuse and drop what docs/operations.md and docs/format.md say,
to the byte, over random sequences of writes. A failure tells its seed and the last calls.

    VARVE_LIBRARY=libvarve.so limits_model_test.py [SEEDS [FIRST]]
"""
import json
import pathlib
import random
import re
import tempfile
import unittest

from lifecycle_agent import Agent
from lifecycle_model import HOUR_MS, Entry, Session, rfc3339
from limits_model import HEADER_BYTES, RECORD_BYTES, Room, evicted
from seeds import take_seeds

START_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(15)
STEPS = 100
LIMITS = [4000, 10_000, 30_000, 100_000]
SHOWN_CALLS = 8
MIB = 1 << 20
DIMENSION = 25
DECAYS = [{}, {}, {"min_decay_factor": 0}, {"enabled": False}, {"half_life_hours": 10},
          {"curve": "linear", "min_decay_factor": 0.01},
          {"curve": "step", "type_specific": {"odd": {"curve": "none"}}},
          {"type_specific": {"preference": {"half_life_hours": 24, "min_decay_factor": 0.02}}}]


def bytes_of(entries):
    return sum(len(entry.line.encode()) + 1 for entry in entries)


def told_of(compactions):
    return [{name: each[name] for name in ("cause", "dropped", "timestamp")}
            for each in compactions]


class Run:
    def __init__(self, seed, root, test):
        self.dice, self.root, self.test = random.Random(seed), root, test
        self.now_ms, self.number, self.calls, self.agent = START_MS, 0, [], Agent()
        self.decay = self.dice.choice(DECAYS)
        self.room = Room(self.dice.choice(LIMITS),
                         self.dice.choice([0, 0.5, 0.9, 0.95, 1]), self.dice.random() < 0.85)
        self.make()

    def make(self):
        """Each setting is the store's or the session's, which overrides it."""
        room, is_own, is_own_decay = self.room, self.dice.random() < 0.5, self.dice.random() < 0.5
        config = {"storage": {"max_session_size_mb": room.limit / MIB, "transcript_cap": 3}}
        options = {"session_id": "s", "kv_cap": 4}
        if is_own:
            options["compaction_config"] = {"auto_compact": room.is_automatic,
                                            "threshold": room.threshold}
        else:
            config["storage"].update(auto_compact=room.is_automatic,
                                     compaction_threshold=room.threshold)
        options["transcript_cap"] = 3
        if is_own_decay:
            options["decay_config"] = self.decay
        else:
            config["decay"] = self.decay
        self.config = config
        self.call("open_store", "store", str(self.root), config)
        self.call("open_session", "varve_session_create", "store", "handle", options)
        self.session = Session(options, self.now_ms)

    def call(self, method, *arguments):
        answer = self.agent.call(self.now_ms, method, *arguments)
        self.calls.append(f"{self.now_ms - START_MS} {method} {arguments} -> {answer}")
        return answer

    def same(self, found, wanted, what):
        self.test.assertEqual(found, wanted, what + "\n" + "\n".join(
            call[:700] for call in self.calls[-SHOWN_CALLS:]))

    def sizes(self):
        return json.loads(self.agent.call(self.now_ms, "text", "varve_session_stats",
                                          "handle")[1])["size_bytes"]

    def compactions(self):
        metadata = self.agent.call(self.now_ms, "text", "varve_session_metadata", "handle")[1]
        return told_of(json.loads(metadata).get("compactions", []))

    # Writes.

    def write(self, growth, call, apply, may_evict=True, growth_now=None):
        """A write that makes the session larger by so much; `apply` does it to the model.
        growth_now: by how much, where a compaction before it may have changed that."""
        session, before = self.session, self.sizes()
        tries = growth > 0 and self.room.compacts_for(before["total"], growth, self.hidden(),
                                                      self.now_ms, may_evict)
        gone = set()
        if tries and self.room.is_automatic:
            gone = self.compact(before, growth, may_evict)
        answer = call()
        after = self.sizes()
        if gone and self.compactions() != told_of(session.compactions):
            self.drop(gone)  # the new index.bin was larger than the old one
        self.same(self.compactions(), told_of(session.compactions), "compactions")
        base = after["total"] - (growth if answer[0] == "OK" else 0)
        if tries:
            self.room.tried(base, growth, self.hidden(), self.now_ms, may_evict)
        if answer[0] != "OK" and growth_now:
            growth = growth_now()
        if growth > 0 and not self.room.takes(base + growth):
            self.same(answer[0], "SIZE_LIMIT", f"{base} and {growth} of {self.room.limit}")
            told = re.search(r"would be (\d+) bytes; its limit is (\d+)", answer[1])
            self.same([int(number) for number in told.groups()], [base + growth, self.room.limit],
                      "the sizes that are told")
            return
        self.same(answer[0], "OK", f"{base} and {growth} of {self.room.limit}")
        apply()
        self.check_sizes(after)

    def hidden(self):
        """How many entries were deleted and are still in the log."""
        return len(self.session.log) - len(self.session.kept())

    def compact(self, sizes, growth, may_evict):
        """An automatic compaction. Returns which live entries it spares that a second one,
        after it, may drop."""
        if not may_evict:
            self.drop(set())
            return set()
        live = self.session.live(self.now_ms)
        gone = evicted(self.session, self.decay, self.now_ms, below=0.05)
        has_to, can_help = self.room.evicts_for(
            sizes, growth, bytes_of(entry for entry in self.session.log if entry not in live),
            bytes_of(entry for entry in live if entry.id in gone))
        # How many vectors were put anew shows only once those are gone.
        has_to = has_to and not sizes["vectors"]
        self.drop(gone if has_to and can_help else set())
        return gone if can_help and not has_to else set()

    def drop(self, gone):
        """What a compaction that evicts these leaves of the model."""
        session = self.session
        live = session.live(self.now_ms)
        kept = [entry for entry in live if entry.id not in gone]
        if len(kept) == len(session.log):
            return
        dropped = {"deleted": len(session.log) - len(session.kept()), "damaged": 0,
                   "expired": len(session.kept()) - len(live), "evicted": len(live) - len(kept)}
        session.log = kept
        session.compactions.append({"cause": "automatic", "dropped": dropped,
                                    "timestamp": rfc3339(self.now_ms)})
        session.compactions = session.compactions[-20:]

    def check_sizes(self, found):
        session = self.session
        wanted = {"log": session.log_text(), "tombstones": session.deletions_text()}
        if found["kv"]:
            wanted["kv"] = session.keys_text()
        self.same({name: found[name] for name in wanted},
                  {name: len(text.encode()) for name, text in wanted.items()}, "sizes")
        self.same(found["total"], sum(found.values()) - found["total"], "the sum of sizes")

    def given_entry(self):
        self.number += 1
        ids = [entry.id for entry in self.session.log] or ["none"]
        choices = {"ttl_seconds": [3600, 400_000], "importance": [0.05, 0.1, 0.3, 0.45, 1],
                   "timestamp": [rfc3339(self.now_ms - hours * HOUR_MS)
                                 for hours in (10, 50, 1000, 9000)],
                   "tags": [["pinned"], ["pinned.a"], ["pinneda", "b"]],
                   "references": [[self.dice.choice(ids)]],
                   "relations": [{"of": [self.dice.choice(ids)]}]}
        return {"id": f"n{self.number}",
                "type": self.dice.choice(["finding", "odd", "decision", "preference"]),
                "content": "x" * self.dice.choice([0, 20, 300, 1000]),
                **{name: self.dice.choice(values) for name, values in choices.items()
                   if self.dice.random() < 0.3}}

    def step_add(self, count=1):
        givens = [self.given_entry() for _ in range(count)]
        trial = self.session.copy()
        trial.add(givens, self.now_ms)
        added = trial.log[len(self.session.log):]
        function, given = ("varve_session_add_batch", givens) if count > 1 else \
            ("varve_session_add", givens[0])
        self.write(sum(len(entry.line.encode()) + 1 for entry in added),
                   lambda: self.call("text", function, "handle", given),
                   lambda: self.session.add(givens, self.now_ms))

    def step_add_batch(self):
        self.step_add(self.dice.choice([2, 5, 12]))

    def step_set_key(self):
        key, value = self.dice.choice("abcdef"), "y" * self.dice.choice([0, 100, 900])
        trial = self.session.copy()
        trial.set_key(key, value, self.now_ms)
        self.write(len(trial.keys_text().encode()) - self.sizes()["kv"],
                   lambda: self.call("nothing", "varve_kv_set", "handle", key, value),
                   lambda: self.session.set_key(key, value, self.now_ms))

    def step_put_vector(self):
        live = self.session.live(self.now_ms)
        if not live:
            return
        entry_id = self.dice.choice(live).id

        def growth():
            header_bytes = 0 if self.sizes()["vectors"] else HEADER_BYTES
            return RECORD_BYTES + 4 * DIMENSION + header_bytes

        self.write(growth(), lambda: self.call("put_vector", "handle", entry_id, [1] * DIMENSION),
                   lambda: None, may_evict=False, growth_now=growth)

    # What makes no session larger than it may be.

    def step_delete(self):
        live = self.session.live(self.now_ms)
        for entry in self.dice.sample(live, min(len(live), self.dice.randint(1, 3))):
            self.same(self.call("nothing", "varve_session_delete", "handle", entry.id, "r")[0],
                      "OK", "deleting always works")
            self.session.delete([entry.id], "r", self.now_ms)

    def step_purge(self):
        self.same(self.call("text", "varve_session_purge", "handle", None)[0], "OK", "purge")
        self.session.compact(self.now_ms, is_purge=True, dry_run=False)

    def step_open_again(self):
        self.call("close_session", "handle")
        if self.dice.random() < 0.3:
            self.call("close_store", "store")
            self.room.limit = self.dice.choice(LIMITS)
            self.config["storage"]["max_session_size_mb"] = self.room.limit / MIB
            self.call("open_store", "store", str(self.root), self.config)
        self.call("open_session", "varve_session_open", "store", "handle", "s")
        self.room.opened()

    def take(self, steps):
        weights = {"step_add": 6, "step_add_batch": 3, "step_delete": 2}
        names = [name for name in dir(self) if name.startswith("step_")]
        for _ in range(steps):
            self.now_ms += self.dice.choice([0, 1, 1000, HOUR_MS, 90 * HOUR_MS])
            name = self.dice.choices(names, [weights.get(name, 1) for name in names])[0]
            getattr(self, name)()
        exported = self.call("text", "varve_session_export", "handle", "jsonl")[1]
        self.same(exported, "".join(entry.line + "\n" for entry in
                                    self.session.live(self.now_ms)), "what is left")

    def end(self):
        self.call("close_store", "store")


class UsersRun:
    """Sessions of two users, whose sizes and numbers are limited. Of the index the manual says only
    that it may take a user above the limit."""

    def __init__(self, seed, root, test):
        self.dice, self.test, self.agent = random.Random(seed), test, Agent()
        self.number, self.calls, self.owners, self.index_bytes = 0, [], {}, {}
        self.limit, self.most = self.dice.choice([4000, 12_000, 40_000]), self.dice.randint(1, 4)
        config = {"storage": {"max_user_size_mb": self.limit / MIB, "max_session_size_mb": 0,
                              "max_user_sessions": self.most}}
        self.call("open_store", "store", str(root), config)

    def call(self, method, *arguments):
        answer = self.agent.call(START_MS, method, *arguments)
        self.calls.append(f"{method} {arguments} -> {answer}")
        return answer

    def same(self, found, wanted, what):
        self.test.assertEqual(found, wanted, what + "\n" + "\n".join(
            call[:300] for call in self.calls[-SHOWN_CALLS:]))

    def of(self, user):
        return [name for name, owner in self.owners.items() if owner == user]

    def sizes(self, name):
        sizes = json.loads(self.agent.call(START_MS, "text", "varve_session_stats",
                                           name)[1])["size_bytes"]
        self.index_bytes[name] = max(sizes["index"], self.index_bytes.get(name, 0))
        return sizes

    def write(self, name, growth, *call):
        """Checks that what fits is taken, and what does not is not."""
        names = self.of(self.owners[name])
        used = sum(self.sizes(each)["total"] - self.sizes(each)["index"] for each in names)
        index = sum(self.index_bytes[each] for each in names)
        status = self.call(*call)[0]
        if growth <= 0 or used + index + growth <= self.limit:
            self.same(status, "OK", f"{used} with {index} and {growth} of {self.limit}")
        elif used + growth - index > self.limit:
            self.same(status, "SIZE_LIMIT", f"{used} with {index} and {growth} of {self.limit}")

    def step_create(self):
        self.number += 1
        name, user = f"s{self.number}", self.dice.choice(["u", "v"])
        answer = self.call("open_session", "varve_session_create", "store", name,
                           {"session_id": name, "user_id": user})
        is_room = len(self.of(user)) < self.most
        self.same(answer[0], "OK" if is_room else "SIZE_LIMIT", "create")
        if is_room:
            self.owners[name] = user

    def step_delete_session(self, name):
        self.same(self.call("nothing", "varve_store_delete_session", "store", name)[0], "OK",
                  "delete a session")
        del self.owners[name]

    def step_add(self, name):
        self.number += 1
        entry = Entry({"id": f"n{self.number}", "type": "odd",
                       "content": "x" * self.dice.choice([0, 200, 1000])}, name,
                      self.last_seq(name) + 1, START_MS, None)
        given = {member: entry.data[member] for member in ("id", "type", "content")}
        self.write(name, len(entry.line.encode()) + 1, "text", "varve_session_add", name, given)

    def last_seq(self, name):
        """At least the number of digits is right, whatever was removed."""
        return json.loads(self.agent.call(START_MS, "text", "varve_session_stats",
                                          name)[1])["durable_seq"]

    def step_set_key(self, name):
        value, before = "y" * self.dice.choice([0, 100, 900]), self.sizes(name)["kv"]
        trial = Session({"session_id": name}, START_MS)
        trial.set_key("key", value, START_MS)
        self.write(name, len(trial.keys_text()) - before, "nothing", "varve_kv_set", name, "key",
                   value)

    def step_forget(self, name):
        answer = self.call("count", "varve_session_delete_where", name, {}, "r")
        self.same(answer[0], "OK", "deleting always works")
        function = self.dice.choice(["varve_session_purge", "varve_session_compact"])
        self.same(self.call("text", function, name, None)[0], "OK", function)

    def take(self, steps):
        weights = {"step_add": 8, "step_set_key": 3}
        names = [name for name in dir(self) if name.startswith("step_")]
        for _ in range(steps):
            name = self.dice.choices(names, [weights.get(name, 1) for name in names])[0]
            if name == "step_create" or not self.owners:
                self.step_create()
            else:
                getattr(self, name)(self.dice.choice(list(self.owners)))

    def end(self):
        self.call("close_store", "store")


class LimitsModel(unittest.TestCase):
    def test_users_have_what_the_model_lets_them_have(self):
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = UsersRun(seed, pathlib.Path(directory), self)
                try:
                    run.take(STEPS)
                finally:
                    run.end()

    def test_sessions_take_and_drop_what_the_model_does(self):
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = Run(seed, pathlib.Path(directory), self)
                try:
                    run.take(STEPS)
                finally:
                    run.end()


if __name__ == "__main__":
    unittest.main()
