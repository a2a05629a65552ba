#!/usr/bin/env python3
"""Queries across the sessions of a store find what docs/query.md says, page by page, with one
thread and with four, in this process and in another, whatever happens to sessions and files
meanwhile. A failure tells its seed.

    VARVE_LIBRARY=libvarve.so store_query_model_test.py [SEEDS [FIRST]]
"""
import array
import json
import pathlib
import shutil
import tempfile
import unittest

from explain_model import differences
from lifecycle_agent import Agent, OtherProcess
from query_maker import CLOCK_MS, IDS, TAGS, Maker, public, rfc3339
from query_model import HOUR_MS, STOP_WORDS, Entry
from seeds import take_seeds
from store_query_model import Pages, Session, answer, asked

SEEDS = take_seeds(3)
STEPS = 30
QUERIES = 6  # after each step
STORES = {"one": 1, "four": 4, "elsewhere": 2}  # threads of each
USERS, AGENTS = ["ann", "bob", None], ["planner", None, None]


class Run:
    """A store that three handles use, one of them in another process, and the model of it."""

    def __init__(self, seed, directory):
        self.make, self.root = Maker(seed), pathlib.Path(directory) / "store"
        self.here, self.elsewhere = Agent(), OtherProcess()
        self.sessions, self.now_ms = {}, CLOCK_MS
        self.made = self.added = 0
        self.candidates = self.make.choice([1, 3, 8, 200])
        self.open()

    def call(self, store, method, *arguments):
        agent = self.elsewhere if store == "elsewhere" else self.here
        status, result = agent.call(self.now_ms, method, *arguments)
        if status != "OK":
            raise AssertionError(f"{method} {arguments}: {status}: {result}")
        return result

    def open(self):
        for store, threads in STORES.items():
            self.call(store, "open_store", store, str(self.root), {
                "durability": "os", "threads": threads,
                "text": {"language": "none", "stop_words": sorted(STOP_WORDS),
                         "best": {"candidates": self.candidates}}})
            self.call(store, "keep_log", store)
        self.kept = []  # (store, handle, session)

    def close(self):
        for store in STORES:
            self.call(store, "close_store", store)

    def end(self):
        self.close()
        self.elsewhere.end()

    # What happens to a store. Each says what the pages of a query may lose by it.

    def there(self):
        return [each for each in self.sessions.values()
                if each.is_there(self.now_ms) and each.is_readable]

    def with_handle(self, session, do):
        """Some handles stay open."""
        store = self.make.choice(list(STORES))
        handle = f"{store}/{session.name}"
        if (store, session.name) not in self.kept:
            self.call(store, "open_session", "varve_session_open", store, handle, session.name)
        do(store, handle)
        self.kept = [each for each in self.kept if each != (store, session.name)]
        if self.make.random() < 0.3:
            self.kept.append((store, session.name))
        else:
            self.call(store, "close_session", handle)

    def create(self, most=3):
        for _ in range(self.make.randint(1, most)):
            name = f"s{self.made:03}"
            self.made += 1
            user, agent = self.make.choice(USERS), self.make.choice(AGENTS)
            ttl = self.make.choice([0, 0, 0, 0, 30])
            options = {"session_id": name, "user_id": user, "agent_id": agent, "ttl_hours": ttl,
                       "ttl_policy": "fixed"}
            options = {key: value for key, value in options.items() if value}
            store = self.make.choice(list(STORES))
            handle = f"{store}/{name}"
            self.call(store, "open_session", "varve_session_create", store, handle, options)
            ends_ms = self.now_ms + ttl * HOUR_MS if ttl else float("inf")
            self.sessions[name] = Session(name, user, agent, ends_ms)
            self.call(store, "close_session", handle)
            self.add(self.sessions[name])

    def add(self, session=None):
        if session is None and not self.there():
            return
        session = session or self.make.choice(self.there())

        def do(_, handle):
            for _ in range(self.make.randint(0, 4)):
                self.add_one(session, handle)
        self.with_handle(session, do)
        return [("put", session)]

    def add_one(self, session, handle):
        store = handle.split("/")[0]
        free = [each for each in IDS[:-1] if each not in session.used]
        given = self.make.entry(free[0] if free and self.make.random() < 0.7 else f"n{self.added}")
        self.added += 1
        time_ms = self.now_ms - int(self.make.choice([0, 1, 2, 30, 30.5, 100, 1000]) * HOUR_MS)
        expires_ms = self.now_ms + self.make.choice([1, 5, 50]) * HOUR_MS
        expires = self.make.optional({"expires_at": (0.15, lambda: rfc3339(expires_ms))})
        self.call(store, "text", "varve_session_add", handle,
                  {**given, "timestamp": rfc3339(time_ms), **expires})
        entry = Entry(given, time_ms, expires_ms if expires else float("inf"), session.name)
        session.log.append(entry)
        session.used[entry.id] = "added"
        if self.make.random() < 0.4:
            self.put(entry, handle)

    def put(self, entry, handle):
        values = [self.make.choice([-1, 0.5, 1, 2, self.make.random()]) for _ in range(3)]
        self.call(handle.split("/")[0], "put_vector", handle, entry.id, values)
        entry.vector = array.array("f", values)

    def put_some(self):
        for session in self.make.sample(self.there(), min(3, len(self.there()))):
            for entry in session.live(self.now_ms)[:3]:
                self.with_handle(session, lambda _, handle, entry=entry: self.put(entry, handle))
            yield "put", session

    def delete(self):
        sessions = [each for each in self.there() if each.live(self.now_ms)]
        for session in self.make.sample(sessions, min(2, len(sessions))):
            entry = self.make.choice(session.live(self.now_ms))
            self.with_handle(session, lambda store, handle, entry=entry: self.call(
                store, "nothing", "varve_session_delete", handle, entry.id, "a test"))
            entry.is_deleted = True
            yield "deleted", session

    def compact(self):
        for session in self.make.sample(self.there(), min(4, len(self.there()))):
            function = self.make.choice(["varve_session_compact", "varve_session_purge"])
            self.with_handle(session, lambda store, handle, function=function: self.call(
                store, "text", function, handle, None))
            lost = [each for each in session.log if each not in session.live(self.now_ms)]
            session.log = session.live(self.now_ms)
            yield "renumbered", session
            if lost:
                yield "compacted", session

    def wait(self):
        before = {each.name for each in self.there()}
        alive = {id(entry) for each in self.there() for entry in each.live(self.now_ms)}
        self.now_ms += self.make.choice([1, HOUR_MS, 2 * HOUR_MS])
        for name in before - {each.name for each in self.there()}:
            self.kept = [each for each in self.kept if each[1] != name]
            yield "gone", self.sessions[name]
        for session in self.there():
            if sum(id(entry) in alive for entry in session.log) > len(session.live(self.now_ms)):
                yield "expired", session

    def sweep(self):
        self.call("one", "text", "varve_store_sweep", "one")
        for session in list(self.sessions.values()):
            if not session.is_there(self.now_ms):
                del self.sessions[session.name]
        for session in self.there():
            lost = [each for each in session.log if each.expires_ms <= self.now_ms and
                    not each.is_deleted]
            if lost:
                session.log = session.live(self.now_ms)
                yield "renumbered", session
                yield "compacted", session

    def delete_session(self):
        if len(self.there()) < 4:
            return
        session = self.make.choice(self.there())
        self.call("four", "nothing", "varve_store_delete_session", "four", session.name)
        del self.sessions[session.name]
        self.kept = [each for each in self.kept if each[1] != session.name]
        yield "gone", session

    # What happens to files while nobody has the store open.

    def reopen(self, change=lambda: None):
        self.close()
        result = change()
        self.open()
        return result

    def lose_indices(self):
        def change():
            for index in self.root.glob("sessions/*/index.bin"):
                if self.make.random() < 0.5:
                    index.unlink()
            for name in self.make.some(["catalog", "sessions.jsonl"], 2):
                path = self.root / "indices" / name
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        self.reopen(change)

    def damage_catalog(self):
        def change():
            files = sorted(path for path in (self.root / "indices").glob("catalog/*")
                           if path.name != "lock" and path.stat().st_size)
            for path in self.make.sample(files, min(len(files), self.make.randint(1, 2))):
                data = bytearray(path.read_bytes())
                if self.make.random() < 0.3:
                    path.write_bytes(data[:self.make.randrange(len(data))])
                else:
                    data[self.make.randrange(len(data))] ^= self.make.choice([1, 32, 255])
                    path.write_bytes(data)
        self.reopen(change)

    def break_session(self):
        """Of a newer version, or with something else in the place of a file."""
        def change():
            session = self.make.choice(self.there())
            folder = self.root / "sessions" / session.name
            kind = self.make.randrange(3)
            if kind == 0:
                metadata = json.loads((folder / "metadata.json").read_text())
                (folder / "metadata.json").write_text(json.dumps({**metadata, "version": 2}))
            else:
                (folder / "memory.jsonl").rename(folder / "kept")
                (folder / "memory.jsonl").mkdir()
            session.is_readable = False
        if len(self.there()) > 4:
            self.reopen(change)

    def mend_sessions(self):
        def change():
            for session in self.sessions.values():
                folder = self.root / "sessions" / session.name
                if session.is_readable or not folder.exists():
                    continue
                if (folder / "kept").exists():
                    (folder / "memory.jsonl").rmdir()
                    (folder / "kept").rename(folder / "memory.jsonl")
                else:
                    metadata = json.loads((folder / "metadata.json").read_text())
                    (folder / "metadata.json").write_text(json.dumps({**metadata, "version": 1}))
                session.is_readable = True
        self.reopen(change)

    def query(self):
        query = self.make.query()
        names = [each for each in self.sessions if self.make.random() < 0.5] or ["s000"]
        query.update(self.make.optional({
            "user_id": (0.25, lambda: self.make.choice(["ann", "bob", "eve"])),
            "agent_id": (0.15, lambda: "planner"),
            "session_ids": (0.15, lambda: [*names, "nobody"])}))
        if self.make.random() < 0.3:
            query["tags"] = {"include": self.make.sample(TAGS, 1)}
        if "vector" in query:
            query["vector"] = [self.make.choice([-1, 0.5, 1]) for _ in range(3)]
        if "now_ms" in query:
            query["now_ms"] += self.now_ms - CLOCK_MS
        return query

    def cosines(self, query):
        """As the library has them: a last bit may decide a rank."""
        if "vector" not in query:
            return None
        result = self.call("one", "query", "varve_store_query", "one", {
            "vector": query["vector"], "limit": 10_000, "explain": True})
        self.call("one", "log_lines", "one")
        return {(each["session_id"], each["entry"]["id"]): each["explain"]["vector"]["similarity"]
                for each in result["results"]}

    def change(self):
        """One of the things that happen; [(what, session)] of what pages may lose."""
        step = self.make.choice([
            self.create, self.create, self.add, self.add, self.put_some, self.delete, self.delete,
            self.compact, self.wait, self.delete_session, self.sweep, self.reopen,
            self.lose_indices, self.damage_catalog])
        return step.__name__, list(step() or [])


def ids_of(result):
    return [(each["session_id"], each["entry"]["id"]) for each in result["results"]]


def is_by_tag(query):
    """Then tags decide which sessions are opened."""
    ranks = query.get("text") or query.get("question") or query.get("vector")
    return bool(not ranks and query.get("tags", {}).get("include"))


class StoreQueryModel(unittest.TestCase):
    def compare(self, run, query):
        wanted = answer(run.sessions, query, run.now_ms, run.candidates, run.cosines(query))
        shown = {**public(query), "limit": 1000, "explain": True}
        results = {store: run.call(store, "query", "varve_store_query", store, shown)
                   for store in STORES}
        first = results["one"]
        for store in STORES:
            self.assertEqual(results[store]["results"], first["results"], store)
            self.assertIsNone(results[store]["next"])
        self.check_rows(first["results"], wanted)
        self.check_log(run, query)
        self.assertGreaterEqual(first["explain"]["sessions"], len(
            {each["session_id"] for each in first["results"]}))

    def check_rows(self, results, wanted):
        entries = {(entry.session, entry.id): row for entry, *row in wanted.rows}
        found = [(each["session_id"], each["entry"]["id"]) for each in results]
        self.assertEqual(sorted(found), sorted(entries))
        for result, each in zip(results, found):
            figures = [result["explain"]["key"], result["relevance"], result["match_quality"]]
            for figure, own in zip(figures, entries[each]):
                self.assertAlmostEqual(figure, own, 9, (each, figures, entries[each]))
        by_id = {(entry.session, entry.id): entry for entry in wanted.entries}
        for result, each in zip(results, found):
            self.assertEqual(differences(result, wanted, by_id[each]), [], each)
        keys = [result["explain"]["key"] for result in results]
        for at, (entry, key, *_) in enumerate(wanted.rows):
            if found[at] != (entry.session, entry.id):  # only where both are nearly the same
                self.assertAlmostEqual(keys[at], key, 9)
                self.assertNotIn(keys[at], keys[:at] + keys[at + 1:])

    def check_log(self, run, query):
        """Sessions that cannot be read are named; also where nothing tells whose they are."""
        broken = {name for name, each in run.sessions.items() if not each.is_readable}
        unread = broken & {each.name for each in asked(run.sessions, query, run.now_ms)}
        lines = {store: run.call(store, "log_lines", store) for store in STORES}
        for store in STORES:
            named = {line["session_id"] for line in lines[store]
                     if line["message"].startswith("left out of a query")}
            self.assertLessEqual(set() if is_by_tag(query) else unread, named, store)
            self.assertLessEqual(named, broken & set(query.get("session_ids", broken)), store)

    def check_pages(self, run, query):
        pages, after, calls = None, None, []
        while True:
            limit, store = run.make.randint(1, 12), run.make.choice(list(STORES))
            if pages is None:
                pages = Pages(run.sessions, query, run.now_ms, run.candidates,
                              run.cosines(query))
            result = run.call(store, "query", "varve_store_query", store,
                              {**public(query), "limit": limit, "after": after})
            found, rest = ids_of(result), pages.rest(run.sessions, run.now_ms)
            calls.append((store, limit, found))
            wanted = [(entry.session, entry.id) for entry in rest[:limit]]
            if pages.is_exact:
                self.assertEqual(found, wanted, calls)
                self.assertEqual(bool(result["next"]), len(rest) > limit, calls)
                pages.take(rest[:limit])
            else:
                everything = [entry for entry in pages.rows
                              if pages.is_there(entry, run.sessions, run.now_ms)]
                self.assertLessEqual(set(found), {(entry.session, entry.id)
                                                  for entry in everything}, calls)
            after = result["next"]
            if not after or len(calls) > 60:
                return
            while run.make.random() < 0.5:
                calls.append(self.change(run, pages))

    def change(self, run, pages):
        name, changes = run.change()
        for what, session in changes:
            if session in pages.asked:
                pages.note(what)
        return name, [(what, session.name) for what, session in changes]

    def test_queries_across_sessions_find_what_the_model_finds(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory:
                run = Run(seed, directory)
                run.create(run.make.choice([3, 60]))
                for step in range(STEPS):
                    name, _ = run.change()
                    if run.make.random() < 0.1:
                        run.break_session()
                    if run.make.random() < 0.2:
                        run.mend_sessions()
                    for store in STORES:
                        run.call(store, "log_lines", store)
                    for _ in range(QUERIES):
                        query = run.query()
                        with self.subTest(seed=seed, step=step, name=name, query=query):
                            self.compare(run, query)
                    query = run.query()
                    with self.subTest(seed=seed, step=step, pages_of=query):
                        self.check_pages(run, query)
                run.end()


if __name__ == "__main__":
    unittest.main()
