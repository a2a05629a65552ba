"""A process that makes random calls on a store that others use too, and writes down each: when it
began, when it ended, what was answered. A call without an end was not answered: its process was
killed."""
import ctypes
import json
import mmap
import os
import random
import re
import select
import threading
import time

from history_model import LASTING, MEMBERS, PASSING
from history_more_calls import MoreCalls
from varve_library import Failure, answer_of, given

KEYS = ["k0", "k1", "k2", "k3"]
TAGS, WORDS = 3, 5  # how many an entry may have one of
DIMENSION = 3
PAGE = 7
SMALL_MB = 0.3  # a session that some stores find too large, and compact
HASTY_MS = 200  # how long some stores wait for a lock
IMPATIENT_MS = 10  # how long all do, where some keep their sessions for themselves
PATIENCE_S = 60

_LINE = re.compile(
    r'"checksum":"sha256:([0-9a-f]{64})","content":"([^" ]+) .*?"id":"([^"]+)".*?"seq":(\d+)')
_OLD_LINE = re.compile(r'"content":"([^" ]+) .*?"id":"([^"]+)"')  # of version 0
_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t)
WARN = 2
_BYTES, _MANY_BYTES = [20, 20, 20, 200], [200, 5000, 40000, 200000]


def seen(line):
    """[id, seq, start of the checksum] of an entry's line; its content has to begin with its id.
    Without the last two for one of a log of version 0 that was not migrated yet."""
    found = _LINE.search(line)
    old = _OLD_LINE.search(line) if not found and '"schema_version"' not in line else None
    if old and old[1] == old[2]:
        return [old[2], None, None]
    if not found or found[2] != found[3]:
        return ["a wrong entry", 0, line[:300]]
    return [found[3], int(found[4]), found[1][:12]]


def seen_in(answer):
    return [seen(json.dumps(one["entry"], separators=(",", ":"), ensure_ascii=False))
            for one in answer["results"]]


class Pace:
    """The processes of a run tell of each call that they begin, and are told when it is enough."""

    def __init__(self):
        self._told, self._tell = os.pipe()
        self._over = mmap.mmap(-1, 1)  # shared with the processes

    def tell(self):
        os.write(self._tell, b".")

    def wait_for(self, calls):
        """False when nobody begins a call any more."""
        while calls > 0:
            if not select.select([self._told], [], [], PATIENCE_S)[0]:
                return False
            calls -= len(os.read(self._told, calls))
        return True

    @property
    def is_over(self):
        return self._over[0] == 1

    def end(self):
        self._over[0] = 1

    def close(self):
        os.close(self._told)
        os.close(self._tell)
        self._over.close()


class Record:
    """Lines of a file: they outlive the process that wrote them."""

    def __init__(self, path, pace=None):
        self._path, self._pace = path, pace
        self._file = None  # until it is written to, which may be in a forked process
        self._count = 0

    def write(self, *line):
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._file, (json.dumps(line) + "\n").encode())

    def close(self):
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def call(self, what, session, told, work):
        """Makes a call and notes it. Returns (status, answer)."""
        self._count += 1
        if self._pace:
            self._pace.tell()
        self.write("begin", self._count, what, session, told, time.monotonic_ns())
        try:
            status, answer = "OK", work()
        except Failure as failure:
            status, answer = failure.name.removeprefix("VARVE_"), str(failure)
        self.write("end", self._count, status, answer, time.monotonic_ns())
        return status, answer


class Handle:
    def __init__(self, value, opened_ns):
        self.value, self.opened_ns = value, opened_ns


class Thread(MoreCalls):
    """What one thread of a process does until the run is over."""

    def __init__(self, process, name, store, seed):
        self.process, self.name, self.store = process, name, store
        self.library, self.root = process.library, process.root
        self.random = random.Random(seed)
        self.record = Record(f"{process.records}/{name}.jsonl", process.pace)
        self.handles, self.known, self.count = {}, {}, 0
        self.is_exclusive = False  # whether its store keeps others from writing

    def run(self):
        while not self.process.pace.is_over:
            call = self.random.choices(CALLS, WEIGHTS)[0]
            call(self)
        for session in list(self.handles):
            self.close(session)

    # --- sessions

    def open(self, session):
        """The handle of a session; None when there is no session."""
        if session not in self.handles:
            out = ctypes.c_void_p()
            told = {"exclusive": self.is_exclusive, "store": self.store.value}
            status, _ = self.record.call("open", session, told, lambda: self.library.call(
                "varve_session_open", self.store, *given(session), ctypes.byref(out)))
            if status != "OK":
                return None
            self.handles[session] = Handle(out, time.monotonic_ns())
        return self.handles[session]

    def close(self, session):
        handle = self.handles.pop(session, None)
        if handle:
            self.record.call("close", session, None,
                             lambda: self.library._lib.varve_session_close(handle.value))

    def on(self, what, session, told, work):
        """A call by the handle of a session, which is given to `work`."""
        handle = self.open(session)
        if handle is None:
            return "NOT_FOUND", None
        told = dict(told, opened=handle.opened_ns)
        return self.record.call(what, session, told, lambda: work(handle.value))

    def text(self, what, session, told, function, *texts, read=json.loads):
        arguments = [part for text in texts for part in given(text)]
        return self.on(what, session, told,
                       lambda handle: read(self.library.text(function, handle, *arguments)))

    def nothing(self, what, session, told, function, *texts):
        arguments = [part for text in texts for part in given(text)]
        return self.on(what, session, told,
                       lambda handle: self.library.call(function, handle, *arguments))

    def number(self, what, session, told, function, *texts):
        arguments = [part for text in texts for part in given(text)]
        out = ctypes.c_uint64()

        def work(handle):
            self.library.call(function, handle, *arguments, ctypes.byref(out))
            return out.value
        return self.on(what, session, told, work)

    def lasting(self):
        return self.random.choice(LASTING)

    def any_session(self):
        return self.random.choice(LASTING + LASTING + PASSING)

    def some_id(self, session):
        known = self.known.get(session)
        return self.random.choice(known) if known else "nobody"

    def note(self, session, entries):
        """Remembers some of what was seen, for later calls."""
        ids = [entry[0] for entry in entries]
        self.known[session] = (self.known.get(session, []) + ids[-20:])[-60:]

    # --- entries

    def entry(self, ttl_seconds=None):
        self.count += 1
        number = self.random.randrange(1000)
        entry_id = f"{self.name}-{self.count}"
        entry = {"id": entry_id, "type": "finding", "tags": ["all", f"t{number % TAGS}"],
                 "importance": (1 + number % 6) / 7,
                 "content": f"{entry_id} w{number % WORDS} "
                            + "x" * self.random.choice(_BYTES if number % 8 else _MANY_BYTES)}
        if ttl_seconds:
            entry["ttl_seconds"] = ttl_seconds
        return entry

    @staticmethod
    def about(entry, ttl_seconds=None):
        return [entry["id"], entry["tags"][1], entry["content"].split()[1], ttl_seconds]

    def add(self):
        session = self.any_session()
        ttl = self.random.uniform(0.02, 0.2) if self.random.random() < 0.1 else None
        entry = self.entry(ttl)
        status, _ = self.text("add", session, {"entries": [self.about(entry, ttl)]},
                              "varve_session_add", entry, read=str)
        if status == "OK" and not ttl:
            self.note(session, [[entry["id"]]])

    def add_batch(self):
        entries = [self.entry() for _ in range(self.random.choice([2, 3, 3, 8, 30]))]
        self.text("add", self.any_session(), {"entries": [self.about(entry) for entry in entries]},
                  "varve_session_add_batch", entries)

    def delete(self):
        session = self.any_session()
        entry_id = self.some_id(session)
        self.nothing("delete", session, {"ids": [entry_id]}, "varve_session_delete", entry_id, "r")

    def delete_where(self):
        session = self.lasting()
        ids = sorted({self.some_id(session) for _ in range(3)})
        self.number("delete_where", session, {"ids": ids}, "varve_session_delete_where",
                    {"ids": ids}, "r")

    def put_vector(self):
        session = self.lasting()
        entry_id = self.some_id(session)
        numbers = (ctypes.c_float * DIMENSION)(
            *[self.random.uniform(0.1, 1) for _ in range(DIMENSION)])
        self.on("put_vector", session, {"id": entry_id}, lambda handle: self.library.call(
            "varve_session_put_vector", handle, *given(entry_id), numbers,
            ctypes.c_uint32(DIMENSION)))

    def get(self):
        session = self.any_session()
        entry_id = self.some_id(session)
        self.text("get", session, {"id": entry_id}, "varve_session_get", entry_id, read=seen)

    def query(self, session, what, told, query):
        status, answer = self.on(what, session, told, lambda handle: seen_in(
            answer_of(self.library, "varve_session_query", handle, query)))
        if status == "OK":
            self.note(session, answer)

    def query_all(self):
        order = self.random.choice(["time", "relevance", "importance"])
        self.query(self.any_session(), "find", {}, {"sort_by": order, "limit": 100000})

    def query_some(self):
        tag, word = f"t{self.random.randrange(TAGS)}", f"w{self.random.randrange(WORDS)}"
        told, query = self.random.choice([
            ({"tag": tag}, {"tags": {"include": [tag]}}),
            ({"word": word}, {"text": "+" + word}),
            ({"vector": True}, {"vector": [1] * DIMENSION}),
        ])
        self.query(self.lasting(), "find", told, dict(query, limit=100000))

    def query_pages(self):
        session = self.lasting()
        query = {"sort_by": self.random.choice(["time", "relevance", "importance"]), "limit": PAGE}
        pages = []

        def work(handle):
            while True:
                answer = answer_of(self.library, "varve_session_query", handle, query)
                pages.append([seen_in(answer), time.monotonic_ns()])
                if answer["next"] is None or len(pages) == 12:
                    return {"pages": pages, "whole": answer["next"] is None}
                query["after"] = answer["next"]
        self.on("pages", session, {}, work)

    def count_some(self):
        tag = f"t{self.random.randrange(TAGS)}"
        told, query = self.random.choice([({}, None), ({"tag": tag}, {"tags": {"include": [tag]}})])
        self.number("count", self.lasting(), told, "varve_session_count", query)

    def tags(self):
        self.text("tags", self.lasting(), {}, "varve_session_tags",
                  read=lambda text: {one["tag"]: one["entries"]
                                     for one in json.loads(text)["tags"]})

    def export(self):
        session = self.any_session()
        status, answer = self.text("find", session, {"ordered": True}, "varve_session_export",
                                   "jsonl", read=lambda text: [seen(line)
                                                               for line in text.splitlines()])
        if status == "OK":
            self.note(session, answer)

    # --- keys, transcript, metadata

    def kv_set(self):
        self.count += 1
        key, value = self.random.choice(KEYS), f"{self.name}-{self.count}"
        self.nothing("kv_set", self.any_session(), {"key": key, "value": value}, "varve_kv_set",
                     key, value)

    def kv_delete(self):
        key = self.random.choice(KEYS)
        self.nothing("kv_delete", self.any_session(), {"key": key, "value": None},
                     "varve_kv_delete", key)

    def kv_get(self):
        key = self.random.choice(KEYS)
        self.text("kv_get", self.any_session(), {"key": key}, "varve_kv_get", key, read=str)

    def kv_list(self):
        self.text("kv_list", self.any_session(), {}, "varve_kv_list", read=lambda text: [
            [one["key"], one["value"]] for one in json.loads(text)])

    def say(self):
        self.count += 1
        turn = f"{self.name}-{self.count}"
        content = turn + "\n### user — x\n" * self.random.choice([0, 0, 1, 99])
        self.nothing("say", self.any_session(), {"turn": turn, "bytes": len(content)},
                     "varve_transcript_append", "user", content)

    def last(self):
        count = self.random.choice([1, 5, 1000000])
        self.on("last", self.any_session(), {"count": count}, lambda handle: [
            [turn["content"].split("\n")[0], len(turn["content"])]
            for turn in json.loads(self.library.text("varve_transcript_last", handle,
                                                     ctypes.c_size_t(count)))])

    def metadata(self):
        self.text("metadata", self.any_session(), {}, "varve_session_metadata", read=lambda text: {
            name: json.loads(text).get(name) for name in (*MEMBERS, "generation", "total_entries")})

    def stats(self):
        self.text("stats", self.lasting(), {}, "varve_session_stats", read=lambda text: {
            name: json.loads(text)[name]
            for name in ("entries", "last_seq", "durable_seq", "corruption")})

    # --- upkeep

    def maintain(self):
        name, options = self.random.choice([
            ("compact", None), ("compact", None), ("purge", None), ("repair", None),
            ("rebuild_index", None), ("verify", None), ("verify", {"deep": True}),
            ("compact", {"dry_run": True}), ("repair", {"dry_run": True})])
        self.text(name, self.any_session(), {}, f"varve_session_{name}", options)

    def sync(self):
        self.nothing("sync", self.lasting(), {}, "varve_session_sync")

    def reopen(self):
        self.close(self.any_session())

    def sweep(self):
        self.record.call("sweep", None, None, lambda: json.loads(
            self.library.text("varve_store_sweep", self.store)))

    # --- the store

    def create(self):
        session, out = self.random.choice(PASSING), ctypes.c_void_p()
        options = {"session_id": session, "durability": "os",
                   "if_exists": self.random.choice(["open", "fail"])}
        status, _ = self.record.call("create", session, {"if_exists": options["if_exists"]},
                                     lambda: self.library.call(
                                         "varve_session_create", self.store, *given(options),
                                         ctypes.byref(out)))
        if status == "OK":
            self.close(session)
            self.handles[session] = Handle(out, time.monotonic_ns())

    def drop(self):
        session = self.random.choice(PASSING)
        self.record.call("drop", session, None, lambda: self.library.call(
            "varve_store_delete_session", self.store, *given(session)))

    def sessions(self):
        told, filters = self.random.choice([(None, {"limit": 3}), (None, {"limit": 1000}),
                                            ("odd", {"limit": 2, "user_id": "odd"})])
        found = []

        def work():
            while True:
                answer = json.loads(self.library.text("varve_store_sessions", self.store,
                                                      *given(filters)))
                found.extend([one["session_id"], one.get("total_entries")]
                             for one in answer["sessions"])
                if answer["next"] is None:
                    return found
                filters["after"] = answer["next"]
        self.record.call("sessions", None, {"user": told}, work)

    def rescan(self):
        self.record.call("rescan", None, None, lambda: self.library.text(
            "varve_store_sessions", self.store, *given({"rescan": True, "limit": 1})) and None)

    def query_store(self):
        tag = f"t{self.random.randrange(TAGS)}"
        query = {"tags": {"include": [tag]}, "limit": 100000}
        user = self.random.choice([None, "odd"])
        if user:
            query["user_id"] = user

        def work():
            found = {}
            for one in answer_of(self.library, "varve_store_query", self.store, query)["results"]:
                found.setdefault(one["session_id"], []).extend(seen_in({"results": [one]}))
            return found
        self.record.call("find_across", None, {"tag": tag, "user": user}, work)

    def back_up(self):
        """Into a directory of its own, whose copies it then reads; or into that of all."""
        is_own = self.random.random() < 0.6
        path = f"{self.root}.backup" + (f"-{self.name}" if is_own else "")
        status, _ = self.record.call("back_up", None, {"own": is_own}, lambda: json.loads(
            self.library.text("varve_store_backup", self.store, *given(path), *given(None))))
        if status == "OK" and is_own:
            self.read_copies(path)

    def read_copies(self, path):
        store = self.process.open_store(path, {"durability": "os"})
        for session in LASTING + PASSING:
            out = ctypes.c_void_p()
            try:
                self.library.call("varve_session_open", store, *given(session), ctypes.byref(out))
            except Failure:
                self.record.call("copy", session, {"is_there": False}, list)
                continue
            self.record.call("copy", session, {"is_there": True}, lambda: [
                seen(line) for line in self.library.text(
                    "varve_session_export", out, *given("jsonl")).splitlines()])
            self.record.call("copied_vectors", session, {}, lambda: seen_in(answer_of(
                self.library, "varve_session_query", out,
                {"vector": [1] * DIMENSION, "limit": 100000})))
            self.library._lib.varve_session_close(out)
        self.library._lib.varve_store_close(store)

    def restore(self):
        session = self.random.choice(PASSING)
        self.record.call("restore", session, None, lambda: json.loads(self.library.text(
            "varve_store_restore", self.store, *given(f"{self.root}.backup"),
            *given({"sessions": [session], "overwrite": True}))))


_WEIGHED = [
    (Thread.add, 24), (Thread.add_batch, 6), (Thread.delete, 10), (Thread.delete_where, 3),
    (Thread.put_vector, 4), (Thread.get, 16), (Thread.query_all, 3), (Thread.query_some, 6),
    (Thread.query_pages, 2), (Thread.count_some, 6), (Thread.tags, 2), (Thread.export, 4),
    (Thread.kv_set, 7), (Thread.kv_delete, 2), (Thread.kv_get, 7), (Thread.kv_list, 4),
    (Thread.say, 7), (Thread.last, 5), (Thread.update, 3), (Thread.metadata, 3),
    (Thread.stats, 4), (Thread.maintain, 6), (Thread.sync, 2), (Thread.reopen, 4),
    (Thread.sweep, 0.3), (Thread.create, 3), (Thread.drop, 1.5), (Thread.sessions, 2),
    (Thread.rescan, 0.5), (Thread.query_store, 2), (Thread.back_up, 0.7), (Thread.restore, 1.5),
    (Thread.import_lines, 4), (Thread.index, 1)]
CALLS = [call for call, _ in _WEIGHED]
WEIGHTS = [weight for _, weight in _WEIGHED]


class Process:
    def __init__(self, library, root, records, pace, name, seed, thread_type=Thread):
        self.library, self.root, self.records, self.name = library, root, records, name
        self.pace, self.thread_type = pace, thread_type
        self.random = random.Random(seed)
        self._log_record = Record(f"{records}/{name}-log.jsonl")
        self._tell = _LOG(lambda _, level, text, length: self._log_record.write(
            "log", level, json.loads(ctypes.string_at(text, length)), time.monotonic_ns()))

    def open_store(self, path, config):
        store = ctypes.c_void_p()
        self.library.call("varve_store_open", *given(str(path)), *given(config),
                          ctypes.byref(store))
        self.library.call("varve_store_set_log", store, ctypes.c_int32(WARN), self._tell, None)
        return store

    def run(self, thread_count, exclusive_share=0):
        """`exclusive_share`: of stores that keep their sessions for themselves."""
        threads, stores = [], []
        for number in range(thread_count):
            if number % 2 == 0:
                size_mb = self.random.choice([0, 0, SMALL_MB])
                config = {"storage": {"max_session_size_mb": size_mb},
                          "threads": self.random.choice([1, 1, 3])}
                if self.random.random() < 0.3:
                    config["concurrency"] = {"lock_timeout_ms": HASTY_MS}
                is_exclusive = self.random.random() < exclusive_share
                if exclusive_share:
                    config["concurrency"] = {"lock_timeout_ms": IMPATIENT_MS,
                                             "exclusive": is_exclusive}
                stores.append(self.open_store(self.root, config))
            worker = self.thread_type(self, f"{self.name}{'abcdefgh'[number]}", stores[-1],
                                      self.random.random())
            worker.is_exclusive = is_exclusive
            threads.append(threading.Thread(target=worker.run))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for store in stores:
            self.library._lib.varve_store_close(store)
