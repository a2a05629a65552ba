#!/usr/bin/env python3
"""Stores and sessions answer, report and write to their files what the headers and docs/format.md
say, over random sequences of calls by three handles of a store, one of them in another process. A
failure tells its seed and the last calls.

    VARVE_LIBRARY=libvarve.so lifecycle_model_test.py [SEEDS [FIRST]]
"""
import json
import pathlib
import random
import tempfile
import unittest
from collections import Counter

from lifecycle_agent import Agent, OtherProcess
from lifecycle_copies import Copies
from lifecycle_model import HOUR_MS, Session, milliseconds, rfc3339, sealed, sum_of_usage
from lifecycle_upkeep import STORES, Upkeep
from lifecycle_values import (CHANGES, CONDITIONS, CONTENTS, OFTEN_READS, READS, REFUSED_CHANGES,
                              TEXTS, TYPES)
from limits_model import decay_of
from seeds import take_seeds

START_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(6)
STEPS = 300
SHOWN_CALLS = 12
IDS = [f"s{number}" for number in range(6)]


class Handle:
    def __init__(self, name, store, session):
        self.name, self.store, self.session = name, store, session


class Run(Upkeep, Copies):
    """A directory with a store and two backups, and the model of them."""

    def __init__(self, seed, directory, test):
        self.dice, self.test = random.Random(seed), test
        self.directory, self.root = directory, directory / "store"
        self.now_ms, self.number, self.calls = START_MS, 0, []
        self.here, self.elsewhere = Agent(), OtherProcess()
        self.sessions = {}  # by id, with those that are over and not swept
        self.listed = []  # oldest first, with those that are gone
        self.handles = []
        self.copies = {"monday": {}, "friday": {}}
        self.lost = []  # (id, created_ms) of those that nobody dropped
        for store in STORES:
            self.open_store(store)

    def end(self):
        for store in STORES:
            self.call(store, "close_store", store)
        self.elsewhere.end()

    def call(self, store, method, *arguments):
        agent = self.elsewhere if store == "elsewhere" else self.here
        answer = agent.call(self.now_ms, method, *arguments)
        self.calls.append(f"{self.now_ms - START_MS} {store} {method} {arguments} -> {answer}")
        return answer

    def same(self, found, wanted, what):
        self.test.assertEqual(found, wanted, what + "\n" + "\n".join(
            call[:600] for call in self.calls[-SHOWN_CALLS:]))

    def report(self, answer, what):
        self.same(answer[0], "OK", what)
        return json.loads(answer[1])

    # Time and names.

    def pass_time(self):
        self.now_ms += self.dice.choice([0, 0, 1, 137, 1000, 60_000, HOUR_MS])
        while any(session.may_be_over(self.now_ms) for session in self.sessions.values()):
            self.now_ms += 60_000

    def some(self, share, value):
        return value if self.dice.random() < share else None

    def new_name(self):
        self.number += 1
        return f"n{self.number}"

    def is_over(self, session):
        return session.is_over(self.now_ms)

    def with_handle(self, method, function, *texts):
        """The answer of a session, and the model of it when it is there."""
        handle = self.dice.choice(self.handles)
        answer = self.call(handle.store, method, function, handle.name, *texts)
        session = handle.session
        is_read = function in READS or OFTEN_READS.get(function, "no answer") in str(answer[1])
        if not self.is_there(session):
            if answer[0] != "UNSUPPORTED" and not (is_read and self.may_show(handle)):
                self.same(answer[0], "NOT_FOUND", "a handle of a session that is gone")
            return answer, None
        if not is_read:
            session.unaware.discard(handle.store)
        return answer, session

    def is_there(self, session):
        return self.sessions.get(session.id) is session and not self.is_over(session)

    def may_show(self, handle):
        """Whether who reads may still be shown a session whose time is over: a store that has it
        open need not know by then that another one changed how long it lives."""
        session = handle.session
        return self.sessions.get(session.id) is session and handle.store in session.unaware

    # Stores.

    def open_store(self, store):
        config = {"durability": self.dice.choice(["commit", "os", "interval"])}
        self.call(store, "open_store", store, str(self.root), config)

    def step_open_store_again(self):
        store = self.dice.choice(STORES)
        self.call(store, "close_store", store)
        for handle in [handle for handle in self.handles if handle.store == store]:
            answer = self.call(store, "text", "varve_session_stats", handle.name)
            self.same(answer[0], "BAD_HANDLE", "its store is closed")
            self.handles.remove(handle)
        self.open_store(store)

    def options(self):
        choices = {"user_id": ["u1", "u2"], "agent_id": ["a1", "a2"], "title": ["t", "", "T é"],
                   "stores": [[], ["kv"], ["transcript", "kv"]], "kv_cap": [0, 1, 5],
                   "transcript_cap": [0, 1, 3], "ttl_hours": [0, 1, 2.5],
                   "ttl_policy": ["fixed", "sliding"], "durability": ["commit", "os", "interval"],
                   "preferences": [{"a": [1, {"b": None}]}], "if_exists": ["open", "fail"]}
        return {"session_id": self.dice.choice(IDS),
                **{name: self.dice.choice(values) for name, values in choices.items()
                   if self.dice.random() < 0.3}}

    def step_create(self):
        options, store, name = self.options(), self.dice.choice(STORES), self.new_name()
        present = self.sessions.get(options["session_id"])
        answer = self.call(store, "open_session", "varve_session_create", store, name, options)
        if present is None or self.is_over(present):
            if present is not None:
                self.note_drop(present.id)
            present = Session(options, self.now_ms)
            self.sessions[present.id] = present
            self.listed.append(present)
        else:
            is_theirs = all(options.get(who, present.given.get(who)) == present.given.get(who)
                            for who in ("user_id", "agent_id"))
            if options.get("if_exists") != "open" or not is_theirs:
                return self.same(answer[0], "ALREADY_EXISTS", "create")
        self.same(answer[0], "OK", "create")
        self.opened(name, store, present)

    def step_open(self):
        session_id, store, name = self.dice.choice(IDS), self.dice.choice(STORES), self.new_name()
        session = self.sessions.get(session_id)
        answer = self.call(store, "open_session", "varve_session_open", store, name, session_id)
        if session is None or self.is_over(session):
            return self.same(answer[0], "NOT_FOUND", "open")
        self.same(answer[0], "OK", "open")
        self.opened(name, store, session)

    def opened(self, name, store, session):
        self.handles.append(Handle(name, store, session))
        session.unaware.discard(store)

    def step_close(self):
        handle = self.handles.pop(self.dice.randrange(len(self.handles)))
        self.call(handle.store, "close_session", handle.name)

    def step_delete_session(self):
        session_id = self.dice.choice(IDS)
        answer = self.call("here", "nothing", "varve_store_delete_session", "here", session_id)
        is_there = self.sessions.pop(session_id, None)
        if is_there:
            self.note_drop(session_id)
        self.same(answer[0], "OK" if is_there else "NOT_FOUND", "delete a session")

    def saved(self, session, root=None):
        path = (root or self.root) / "sessions" / session.id / "metadata.json"
        return json.loads(path.read_text())

    def conditions(self):
        """Of some user, some agent, both or none."""
        return {who: value for who, value in (("user_id", "u1"), ("agent_id", "a1"))
                if self.dice.random() < 0.3}

    def of(self, conditions, sessions):
        """Those that are not over and belong to whom the conditions name."""
        return [session for session in sessions if not self.is_over(session) and
                all(session.given.get(who) == value for who, value in conditions.items())]

    def step_list(self):
        store = self.dice.choice(STORES)
        conditions = self.conditions()
        found, page = [], {"next": None}
        while not found or page["next"]:
            asked = {**conditions, "limit": self.dice.randint(1, 4), "after": page["next"]}
            page = self.report(self.call(store, "text", "varve_store_sessions", store, asked),
                               "list")
            found += page["sessions"]
            if not page["sessions"]:
                break
        wanted = [session for session in self.of(conditions, reversed(self.listed))
                  if self.sessions.get(session.id) is session]
        self.same([row["session_id"] for row in found], [each.id for each in wanted], "list")
        for row, session in zip(found, wanted):
            self.check_row(row, session, store)

    def check_row(self, row, session, store):
        saved = self.saved(session)
        is_open = any(handle.store == store and handle.session is session
                      for handle in self.handles)
        self.same(row, {
            "session_id": session.id, "user_id": session.given.get("user_id", ""),
            "agent_id": session.given.get("agent_id", ""), "title": session.own.get("title", ""),
            "created_at": rfc3339(session.created_ms), "last_accessed": saved["last_accessed"],
            "total_entries": len(session.kept()) if is_open else saved["total_entries"]}, "a row")

    def step_usage(self):
        store = self.dice.choice(STORES)
        conditions = self.conditions()
        asked = {**conditions, "time": {"start": rfc3339(START_MS - HOUR_MS)}}
        report = self.report(self.call(store, "text", "varve_store_usage", store, asked), "usage")
        entries = [(session, entry) for session in self.of(conditions, self.sessions.values())
                   for entry in session.live(self.now_ms) if entry.usage() and
                   milliseconds(entry.data["timestamp"]) >= START_MS - HOUR_MS]
        groups = {"sessions": ("session_id", lambda session, entry: session.id),
                  "users": ("user_id", lambda session, entry: session.given.get("user_id", "")),
                  "agents": ("agent_id", lambda session, entry: session.given.get("agent_id", "")),
                  "days": ("day", lambda session, entry: entry.data["timestamp"][:10])}
        self.same(report["total"], sum_of_usage([entry for _, entry in entries]), "usage")
        for group, (name, key_of) in groups.items():
            wanted = [(key, sum_of_usage([entry for session, entry in entries
                                          if key_of(session, entry) == key]))
                      for key in sorted({key_of(*each) for each in entries})]
            found = [(row[name], {figure: row[figure] for figure in report["total"]})
                     for row in report[group]]
            self.same(found, wanted, "usage of " + group)

    def step_sweep(self):
        checked, over = len(self.sessions), list(filter(self.is_over, self.sessions.values()))
        report = self.report(self.call("here", "text", "varve_store_sweep", "here"), "sweep")
        for session in over:
            del self.sessions[session.id]
            self.note_drop(session.id)
        dropped = []
        for session in self.sessions.values():
            if len(session.live(self.now_ms)) < len(session.kept()):
                dropped.append(session.compact(self.now_ms, False, False)["dropped"]["expired"])
        self.same({name: report[name] for name in report
                   if name not in ("duration_ms", "bytes_freed")},
                  {"sessions_checked": checked, "sessions_removed": len(over), "problems": [],
                   "sessions_compacted": len(dropped), "entries_dropped": sum(dropped)}, "sweep")

    # Entries.

    def given_entry(self):
        ttl_seconds = self.dice.choice([0.001, 1, 100, 3600.5])
        choices = {"ttl_seconds": [ttl_seconds], "importance": [0, 0.25, 1],
                   "timestamp": [rfc3339(self.now_ms - hours * HOUR_MS) for hours in (0, 300, -1)],
                   "tags": [["a", "c"], ["a.b"]], "mine": [{"z": 1, "a": "q"}],
                   "usage": [{"input_tokens": 5, "cost_usd": 0.25}, {"output_tokens": 3}]}
        return {"id": self.new_name(), "type": self.dice.choice(TYPES),
                "content": self.dice.choice(CONTENTS),
                **{name: self.dice.choice(values) for name, values in choices.items()
                   if self.dice.random() < 0.3}}

    def used_or(self, name):
        """An id that some session has or had."""
        ids = [used for session in self.sessions.values() for used in session.used_ids()]
        return self.dice.choice(sorted(ids) or [name])

    def step_add(self):
        given = self.given_entry()
        given["id"] = self.some(0.15, self.used_or("x")) or given["id"]
        answer, session = self.with_handle("text", "varve_session_add", given)
        if session:
            is_used = given["id"] in session.used_ids()
            self.same(answer[0], "ALREADY_EXISTS" if is_used else "OK", "add")
            if not is_used:
                session.add([given], self.now_ms)

    def step_add_batch(self):
        givens = [self.given_entry() for _ in range(self.dice.randint(0, 4))]
        if givens:
            givens[0]["id"] = self.some(0.2, self.used_or("x")) or givens[0]["id"]
        lines = "\n".join(json.dumps(given) for given in givens)
        answer, session = self.with_handle("text", "varve_session_add_batch",
                                           self.dice.choice([givens, lines]))
        if session:
            ids = [given["id"] for given in givens]
            if session.used_ids() & set(ids):
                return self.same(answer[0], "ALREADY_EXISTS", "add a batch")
            self.same(self.report(answer, "add a batch"), ids, "add a batch")
            if givens:
                session.add(givens, self.now_ms)

    def step_get(self):
        entry_id = self.used_or("x")
        answer, session = self.with_handle("text", "varve_session_get", entry_id)
        if session:
            entry = session.find(entry_id, self.now_ms)
            self.same(answer if entry else answer[0], ("OK", entry.line) if entry else "NOT_FOUND",
                      "get")

    def step_delete(self):
        entry_id, reason = self.used_or("x"), self.dice.choice(["", "asked for é\n"])
        answer, session = self.with_handle("nothing", "varve_session_delete", entry_id, reason)
        if session:
            is_there = session.find(entry_id, self.now_ms)
            self.same(answer[0], "OK" if is_there else "NOT_FOUND", "delete")
            session.delete([entry_id] if is_there else [], reason, self.now_ms)

    def step_delete_where(self):
        query, matches = self.dice.choice(CONDITIONS)
        answer, session = self.with_handle("count", "varve_session_delete_where", query, "r")
        if session:
            ids = [entry.id for entry in session.live(self.now_ms) if matches(entry)]
            self.same(answer, ("OK", len(ids)), "delete where")
            session.delete(ids, "r", self.now_ms)

    # What a session has beside its log.

    def step_update(self):
        change = self.dice.choice(CHANGES)
        answer, session = self.with_handle("nothing", "varve_session_update", change)
        if session:
            self.same(answer[0], "OK", "update")
            session.update(change, self.now_ms)
        answer, session = self.with_handle("nothing", "varve_session_update",
                                           self.dice.choice(REFUSED_CHANGES))
        if session:
            self.same(answer[0], "INVALID_ARGUMENT", "update what cannot be changed")

    def step_keys(self):
        key, value = self.dice.choice(["a", "b", "c é", "working_memory"]), self.dice.choice(TEXTS)
        function = self.dice.choice(["set", "set", "get", "delete", "list"])
        answer, session = self.with_handle(
            "nothing" if function in ("set", "delete") else "text", "varve_kv_" + function,
            *{"set": [key, value], "list": []}.get(function, [key]))
        if not session:
            return
        if "kv" not in session.stores():
            return self.same(answer[0], "UNSUPPORTED", "keys")
        present = {item["key"]: item["value"] for item in session.keys}
        if function == "list":
            self.same(self.report(answer, "keys"), session.keys, "keys")
        elif function == "get":
            found = present.get(key, "" if key == "working_memory" else None)
            self.same(answer if found is not None else answer[0],
                      ("OK", found) if found is not None else "NOT_FOUND", "key")
        elif function == "delete" and key not in present:
            self.same(answer[0], "NOT_FOUND", "delete a key")
        else:
            self.same(answer[0], "OK", function)
            session.set_key(key, value if function == "set" else None, self.now_ms)

    def step_turns(self):
        role, content = self.dice.choice(["user", "é — x"]), self.dice.choice(TEXTS)
        answer, session = self.with_handle("nothing", "varve_transcript_append", role, content)
        if session and "transcript" in session.stores():
            self.same(answer[0], "OK", "append a turn")
            session.say(role, content, self.now_ms)
        handle, count = self.dice.choice(self.handles), self.dice.choice([0, 1, 1000])
        session = handle.session
        answer = self.call(handle.store, "last_turns", handle.name, count)
        if self.is_there(session):
            if "transcript" not in session.stores():
                return self.same(answer[0], "UNSUPPORTED", "turns")
            wanted = session.turns[max(0, len(session.turns) - count):]
            self.same(self.report(answer, "turns"), wanted, "turns")

    # What is told of a session.

    def sizes(self, session):
        names = {"log": "memory.jsonl", "tombstones": "tombstones.jsonl", "kv": "kv.json",
                 "transcript": "transcript.md", "vectors": "vectors.bin"}
        folder = self.root / "sessions" / session.id
        return {name: (folder / file).stat().st_size if (folder / file).exists() else 0
                for name, file in names.items()}

    def step_stats(self):
        answer, session = self.with_handle("text", "varve_session_stats")
        if not session:
            return
        report, live = self.report(answer, "stats"), session.live(self.now_ms)
        wanted = {"session_id": session.id, "entries": len(live), "usage": sum_of_usage(live),
                  "deleted": len(session.deletions), "expired": len(session.kept()) - len(live),
                  "types": dict(Counter(entry.data["type"] for entry in session.kept())),
                  "last_seq": session.log[-1].data["seq"] if session.log else 0,
                  "generation": session.generation, "read_only": False,
                  # The thread that syncs what has durability "interval" takes it now and then.
                  "lock": report["lock"] if report["lock"].get("operation") == "sync" else {
                      "held": False},
                  "durable": report["durability"] == "commit" or report["durable"],
                  "corruption": {"skipped": 0, "missing": 0, "torn_tails": 0, "rollback": 0,
                                 "metadata": False, "kv": 0, "transcript": 0}}
        self.same({name: report[name] for name in wanted}, wanted, "stats")
        sizes = report["size_bytes"]
        self.same(sizes, {**self.sizes(session), "index": sizes["index"],
                          "total": sum(self.sizes(session).values()) + sizes["index"]}, "sizes")

    def check_metadata(self, session, found):
        wanted = session.metadata()
        for compaction in found.get("compactions", []):
            del compaction["duration_ms"]
        counted = ("last_accessed", "total_entries", "total_size_bytes", "statistics",
                   "durable_seq", "durable_tombstones", "compacted_through_seq", "checksum")
        self.same({name: found[name] for name in found if name not in counted}, wanted, "metadata")

    def step_metadata(self):
        answer, session = self.with_handle("text", "varve_session_metadata")
        if session:
            found = self.report(answer, "metadata")
            self.same((found["total_entries"], found["statistics"]),
                      (len(session.kept()), session.statistics()), "metadata")
            self.check_metadata(session, found)

    def step_index(self):
        answer, session = self.with_handle("text", "varve_session_index")
        if not session:
            return
        found, live = self.report(answer, "index"), session.live(self.now_ms)
        offset, entries = 0, {}
        for line_number, entry in enumerate(session.log, 1):
            entries[entry.id] = {"line_number": line_number, "byte_offset": offset,
                                 **{name: entry.data[name] for name in
                                    ("type", "timestamp", "tags", "importance")}}
            offset += len(entry.line.encode()) + 1
        for entry in live:
            self.check_relevance(entry.data, found["entries"][entry.id].pop("current_relevance"))
        self.same(found["entries"], {entry.id: entries[entry.id] for entry in live}, "index")
        self.same(found["types"], {name: [entry.id for entry in live if entry.data["type"] == name]
                                   for name in {entry.data["type"] for entry in live}}, "types")

    def check_relevance(self, data, found):
        """docs/retrieval.md#relevance; no session here has settings of its own."""
        age_hours = max(0, self.now_ms - milliseconds(data["timestamp"])) / HOUR_MS
        boost = 1.5 if age_hours < 24 else 1
        wanted = data["importance"] * decay_of(data["type"], age_hours, {}) * boost
        self.same(abs(found - wanted) < 1e-12, True, f"relevance of {data}: {found}, not {wanted}")

    # Copies.

    def step_export(self):
        path, name = self.directory / "export", self.dice.choice(["jsonl", "json"])
        answer, session = self.with_handle("text", "varve_session_export", name)
        if not session:
            return
        self.same(answer[0], "OK", "export")
        live = session.live(self.now_ms)
        if name == "jsonl":
            self.same(answer[1], "".join(entry.line + "\n" for entry in live), "export")
        else:
            found = json.loads(answer[1])
            self.same(found["entries"], [entry.data for entry in live], "export")
            self.check_metadata(session, found["session"])
        path.write_text(answer[1])
        self.check_import(path, live, name)

    def check_import(self, path, entries, name):
        dry_run = self.dice.random() < 0.3
        answer, session = self.with_handle("text", "varve_session_import_file", str(path),
                                           {"dry_run": dry_run})
        if not session:
            return
        kept = {entry.id: entry for entry in session.kept()}
        new = [entry for entry in entries if entry.id not in session.used_ids()]
        existing = [entry for entry in entries if entry.id in kept and
                    entry.content() == kept[entry.id].content()]
        report = self.report(answer, "import")
        self.same([report[figure] for figure in ("added", "existing", "refused_total")],
                  [len(new), len(existing), len(entries) - len(new) - len(existing)], "import")
        if entries:
            self.same(report["format"], name, "import")
        if new and not dry_run:
            session.add([entry.content() for entry in new], self.now_ms, as_batch=False)

    # Files.

    def check_files(self, root, sessions):
        self.same(sorted(path.name for path in (root / "sessions").iterdir()), sorted(sessions),
                  "directories")
        self.same(list((root / "tmp").glob("*")), [], "left-overs")
        for session in sessions.values():
            self.check_folder(session, root / "sessions" / session.id)
            saved = self.saved(session, root)
            self.same(sealed(saved), saved, "the checksum of metadata.json")
            self.check_metadata(session, saved)

    def check_folder(self, session, folder):
        for path in folder.iterdir():
            mode = 0o644 if path.name == "lock" else 0o600
            self.same((path.name, path.stat().st_mode & 0o7777), (path.name, mode), "permissions")

        def text(name):
            return (folder / name).read_bytes().decode() if (folder / name).exists() else ""
        self.same(text("memory.jsonl"), session.log_text(), "the log")
        self.same(text("tombstones.jsonl"), session.deletions_text(), "the deletions")
        if text("kv.json"):
            found = json.loads(text("kv.json"))
            own_cap = session.own.get("kv_cap", 200)
            self.same(found["entries"], session.keys, "kv.json")
            if found["cap"] == own_cap:
                self.same(text("kv.json"), session.keys_text(), "kv.json")
        turns = session.turns_text()
        self.same(text("transcript.md")[-len(turns):] if turns else "", turns, "transcript.md")

    def take(self, steps):
        weights = {"step_create": 3, "step_open": 3, "step_add": 5, "step_delete": 3,
                   "step_open_store_again": 1, "step_delete_session": 1}
        names = [name for name in dir(self) if name.startswith("step_")]
        for number in range(steps):
            self.pass_time()
            name = self.dice.choices(names, [weights.get(name, 2) for name in names])[0]
            getattr(self, name if self.handles else "step_create")()
            if number % 3 == 0:
                self.check_files(self.root, self.sessions)


class LifecycleModel(unittest.TestCase):
    maxDiff = None
    def test_stores_and_sessions_do_what_the_model_does(self):
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = Run(seed, pathlib.Path(directory), self)
                try:
                    run.take(STEPS)
                finally:
                    run.end()


if __name__ == "__main__":
    unittest.main()
