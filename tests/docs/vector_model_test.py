#!/usr/bin/env python3
"""Vectors are kept, found, ranked, lost and refused as docs/vectors.md, docs/query.md and
docs/format.md say, by three handles of a session, one of them in another process, over random
calls, damage and restores. A failure tells its seed and the last calls.

    VARVE_LIBRARY=libvarve.so vector_model_test.py [SEEDS [FIRST]]
"""
import base64
import copy
import json
import math
import pathlib
import tempfile
import unittest

from explain_model import differences
from lifecycle_agent import Agent, OtherProcess
from query_maker import CLOCK_MS, Maker, public, rfc3339
from query_model import HOUR_MS, STOP_WORDS, Entry
from seeds import take_seeds
from store_query_model import Pages, Session, answer
from vector_model import VectorFile

SEEDS = take_seeds(5)
STEPS = 40
QUERIES = 5  # after each step
STORES = ["here", "again", "elsewhere"]
TINY, HUGE = 2.0 ** -149, 2.0 ** 127  # of a float32
SCALES = [1, 1, 2, -1, 2.0 ** -120, 2.0 ** 100]
BAD_VECTORS = [[], [math.nan], [1, math.inf], [-math.inf], [0, 0, 0], [-0.0], [1] * 16385]


class Run:
    """A session in three stores, a backup of it, and the model of them."""

    def __init__(self, seed, directory):
        self.make, self.root = Maker(seed), pathlib.Path(directory) / "store"
        self.backup = pathlib.Path(directory) / "backup"
        self.here, self.elsewhere = Agent(), OtherProcess()
        self.now_ms, self.added, self.calls = CLOCK_MS, 0, []
        self.session, self.file = Session("s", None, None, math.inf), VectorFile()
        self.copied, self.loose = None, []  # damaged bytes of the file
        self.dimension = self.make.choice([1, 2, 3, 17, 40])
        for store in STORES:
            self.call(store, "open_store", store, str(self.root), {
                "durability": self.make.choice(["os", "os", "commit"]),
                "text": {"language": "none", "stop_words": sorted(STOP_WORDS)}})
        self.call("here", "open_session", "varve_session_create", "here", "here/s",
                  {"session_id": "s"})
        self.call("here", "close_session", "here/s")
        self.open()

    def open(self):
        for store in STORES:
            self.call(store, "open_session", "varve_session_open", store, f"{store}/s", "s")

    def close(self):
        for store in STORES:
            self.call(store, "close_session", f"{store}/s")

    def end(self):
        for store in STORES:
            self.call(store, "close_store", store)
        self.elsewhere.end()

    def ask(self, store, method, *arguments):
        """The status and the answer."""
        agent = self.elsewhere if store == "elsewhere" else self.here
        status, result = agent.call(self.now_ms, method, *arguments)
        self.calls.append(f"{self.now_ms - CLOCK_MS} {store} {method} {arguments} -> {status} "
                          f"{result}"[:400])
        return status, result

    def call(self, store, method, *arguments):
        status, result = self.ask(store, method, *arguments)
        if status != "OK":
            raise AssertionError("\n".join(self.calls[-12:]))
        return result

    def some_store(self):
        store = self.make.choice(STORES)
        return store, f"{store}/s"

    def path(self):
        return self.root / "sessions" / "s" / "vectors.bin"

    def live(self):
        return self.session.live(self.now_ms)

    def values(self):
        if self.make.random() < 0.15:
            return [self.make.choice([TINY, -TINY, HUGE, 0, 1]) for _ in range(self.dimension - 1)
                    ] + [TINY]
        scale = self.make.choice(SCALES)
        values = [scale * self.make.choice([0, 1, 1, -1, 0.5, 0.25]) for _ in range(self.dimension)]
        return values if any(values) else [scale] * self.dimension

    # What happens. Each yields what the pages of a query may lose by it.

    def add(self):
        store, handle = self.some_store()
        for _ in range(self.make.randint(1, 6)):
            free = [each for each in range(self.added) if self.make.random() < 0.1 and
                    f"v{each}" not in self.session.used]
            number = free[0] if free else self.added
            self.added += not free
            given = self.make.entry(f"v{number}")
            time_ms = self.now_ms - int(self.make.choice([0, 1, 30, 300]) * HOUR_MS)
            expires_ms = self.now_ms + self.make.choice([1, 3, 50]) * HOUR_MS
            expires = self.make.optional({"expires_at": (0.2, lambda: rfc3339(expires_ms))})
            self.call(store, "text", "varve_session_add", handle,
                      {**given, "timestamp": rfc3339(time_ms), **expires})
            entry = Entry(given, time_ms, expires_ms if expires else math.inf, "s")
            self.session.log.append(entry)
            self.session.used[entry.id] = "added"
            if self.make.random() < 0.5:
                self.put(entry)
        return ["put"]

    def put(self, entry=None):
        if entry is None and not self.live():
            return []
        entry, (store, handle) = entry or self.make.choice(self.live()), self.some_store()
        values = self.values()
        status, _ = self.ask(store, "put_vector", handle, entry.id, values)
        self.expect(status, "OK" if self.file.head_is_right else "CORRUPTION")
        if status == "OK":
            self.file.put(entry.id, values)
        return ["put"]

    def expect(self, found, wanted):
        if found != wanted:
            raise AssertionError(f"{found} instead of {wanted}\n" + "\n".join(self.calls[-12:]))

    def put_what_is_refused(self):
        store, handle = self.some_store()
        gone = [each.id for each in self.session.log if each not in self.live()] + ["nobody"]
        self.expect(self.ask(store, "put_vector", handle, self.make.choice(gone),
                             self.values())[0], "NOT_FOUND")
        self.expect(self.ask(store, "put_vector", handle, "-x", self.values())[0],
                    "INVALID_ARGUMENT")
        if self.live():
            entry = self.make.choice(self.live())
            bad = list(BAD_VECTORS)
            if self.file.dimension and self.file.head_is_right:
                bad += [[1] * (self.file.dimension + 1)]
            self.expect(self.ask(store, "put_vector", handle, entry.id,
                                 self.make.choice(bad))[0], "INVALID_ARGUMENT")
        return []

    def delete(self):
        if not self.live():
            return []
        entry, (store, handle) = self.make.choice(self.live()), self.some_store()
        self.call(store, "nothing", "varve_session_delete", handle, entry.id, "a test")
        entry.is_deleted = True
        return ["deleted"]

    def wait(self):
        before = len(self.live())
        self.now_ms += self.make.choice([1, HOUR_MS // 2, HOUR_MS])
        return ["expired"] if len(self.live()) < before else []

    def compact(self):
        store, handle = self.some_store()
        is_purge, log = self.make.random() < 0.3, self.session.log
        function = "varve_session_purge" if is_purge else "varve_session_compact"
        before = len(self.file.records) if self.file.head_is_right else 0
        report = json.loads(self.call(store, "text", function, handle, None))
        lost = [each for each in log if each not in self.live()]
        self.session.log = self.live()
        for each in lost:
            if not each.is_deleted:
                del self.session.used[each.id]  # its id is free
        if is_purge:
            self.loose.clear()
        if is_purge and not self.file.head_is_right:
            self.file = VectorFile()
        elif self.file.head_is_right:
            self.file.keep({each.id for each in self.session.log})
        if before:
            self.expect((report["vectors_before"], report["vectors_after"]),
                        (before, len(self.file.records)))
        return ["renumbered", "compacted"] if lost else ["renumbered"]

    def reopen(self):
        self.close()
        self.open()
        return []

    def lose_vectors(self):
        self.close()
        self.path().unlink(missing_ok=True)
        self.loose.clear()
        self.file = VectorFile()
        self.dimension = self.make.choice([1, 2, 3, 17, 40])
        self.open()
        return ["put", "renumbered"]

    def damage(self):
        if self.file.dimension is None:
            return []
        self.close()
        data, kind = bytearray(self.path().read_bytes()), self.make.random()
        if kind < 0.15 and self.file.head_is_right:
            data[self.make.choice([0, 7, 13, 20, 31])] ^= 0x55
            self.file.head_is_right = False
        elif kind < 0.5:
            tail = self.make.randbytes(self.make.randrange(9, self.file.record_bytes()))
            if not self.file.tail:
                data += tail
                self.file.tail = tail
                self.loose.append(tail)
        else:
            for number in self.make.sample(range(len(self.file.records)),
                                           min(2, len(self.file.records))):
                if self.file.records[number].is_right:
                    begin, end = self.file.offset(number), self.file.offset(number + 1)
                    data[self.make.randrange(begin, end)] ^= 1
                    self.loose.append(bytes(data[begin:end]))
                self.file.records[number].is_right = False
        self.path().write_bytes(data)
        self.open()
        return ["put", "renumbered"]

    def repair(self):
        store, handle = self.some_store()
        self.call(store, "text", "varve_session_repair", handle, None)
        self.file.repair()
        return ["put", "renumbered"]

    def back_up(self):
        store, _ = self.some_store()
        report = json.loads(self.call(store, "text", "varve_store_backup", store,
                                      str(self.backup), None))
        self.expect(report["problems"], [])
        self.copied = ([copy.copy(each) for each in self.session.log], self.file.copy(),
                       dict(self.session.used))
        return []

    def restore(self):
        """Deletions of the present session apply."""
        if self.copied is None:
            return []
        store, _ = self.some_store()
        deleted = {each for each in self.session.used if self.session.used[each] == "deleted"}
        deleted |= {each.id for each in self.session.log if each.is_deleted}
        self.call(store, "text", "varve_store_restore", store, str(self.backup),
                  {"overwrite": True})
        log, file, records = self.copied
        self.session.log = [copy.copy(each) for each in log]
        self.session.used = {**records, **{each: "deleted" for each in deleted}}
        for each in self.session.log:
            each.is_deleted |= each.id in deleted
        self.file = file.copy()
        self.loose.clear()
        self.reopen()
        return ["restored"]

    def export_and_import(self):
        """Without vectors."""
        store, handle = self.some_store()
        text = self.call(store, "text", "varve_session_export", handle, "jsonl")
        self.call(store, "open_session", "varve_session_create", store, "copy",
                  {"session_id": "copy"})
        self.call(store, "text", "varve_session_import", "copy", text)
        found = self.call(store, "query", "varve_session_query", "copy",
                          {"vector": [1] * (self.dimension + 1)})
        self.expect(found["results"], [])
        self.call(store, "close_session", "copy")
        self.call(store, "nothing", "varve_store_delete_session", store, "copy")
        return []

    def change(self):
        step = self.make.choice([
            self.add, self.add, self.add, self.put, self.put, self.put, self.delete, self.wait,
            self.compact, self.compact, self.put_what_is_refused, self.reopen, self.lose_vectors,
            self.damage, self.repair, self.back_up, self.restore, self.export_and_import])
        self.calls.append(step.__name__)
        for each in self.session.log:
            if each.is_deleted:
                self.session.used[each.id] = "deleted"
        changes = step()
        self.dimension = self.file.dimension or self.dimension
        last = self.file.last()
        for entry in self.session.log:
            entry.vector = last[entry.id].values if entry.id in last else None
        return changes

    def query(self):
        query = self.make.query()
        if self.make.random() < 0.8:
            query["vector"] = self.values()
            query["vector_weight"] = self.make.choice([0, 0.2, 0.5, 1])
        else:
            query.pop("vector", None)
            query.pop("vector_weight", None)
        if "vector" in query and self.make.random() < 0.4:
            query.pop("text", None)
            query.pop("question", None)
        if "now_ms" in query:
            query["now_ms"] += self.now_ms - CLOCK_MS
        return query


def ids_of(result):
    return [each["entry"]["id"] for each in result["results"]]


class VectorModel(unittest.TestCase):
    def check_file(self, run):
        data = run.path().read_bytes() if run.path().exists() else None
        self.assertEqual(run.file.differences(data), [], run.calls[-12:])
        quarantine = run.path().parent / "quarantine.jsonl"
        lines = quarantine.read_text().splitlines() if quarantine.exists() else []
        kept = [base64.b64decode(json.loads(line)["bytes"]) for line in lines]
        for loose in run.loose:
            self.assertTrue(any(loose in each for each in [data or b"", *kept]), run.calls[-12:])

    def check_verify(self, run):
        store, handle = run.some_store()
        report = json.loads(run.call(store, "text", "varve_session_verify", handle, None))
        file, live = run.file, {each.id for each in run.live()}
        is_wrong = not file.head_is_right
        right = [] if is_wrong else [each for each in file.records if each.is_right]
        wanted = {"dimension": 0 if is_wrong else file.dimension or 0, "records": len(right),
                  "entries": len({each.id for each in right} & live)}
        report["vectors"].pop("damaged")
        self.assertEqual(report["vectors"], wanted, run.calls[-12:])
        is_whole = not is_wrong and not file.tail and len(right) == len(file.records)
        self.assertEqual(report["ok"], is_whole, run.calls[-12:])

    def fails(self, run, query):
        """The status of a query that must fail, or None."""
        if "vector" not in query:
            return None
        if not run.file.head_is_right:
            return "CORRUPTION"
        is_other = run.file.dimension not in (None, len(query["vector"]))
        return "INVALID_ARGUMENT" if is_other else None

    def compare(self, run, query):
        store, handle = run.some_store()
        across = run.make.random() < 0.3
        name, function = (store, "varve_store_query") if across else (handle, "varve_session_query")
        status, result = run.ask(store, "query", function, name,
                                 {**public(query), "limit": 1000, "explain": True})
        failure = self.fails(run, query)
        if across and failure == "CORRUPTION":  # a session that cannot be read is left out
            self.assertEqual((status, result["results"]), ("OK", []))
            return
        self.assertEqual(status, failure or "OK", run.calls[-12:])
        if failure:
            return
        wanted = answer({"s": run.session}, query, run.now_ms, 200, self.cosines(run, query))
        self.check_rows(result["results"], wanted)
        counted = {name: value for name, value in public(query).items()
                   if name not in ("sort_by", "order")}
        plain = {name: value for name, value in query.items() if not name.startswith("vector")}
        self.assertEqual(
            run.call(store, "count", "varve_session_count", handle, counted),
            len(answer({"s": run.session}, plain, run.now_ms, 200).rows))

    def cosines(self, run, query):
        """As the library has them: a last bit may decide a rank."""
        if "vector" not in query:
            return None
        store, handle = run.some_store()
        result = run.call(store, "query", "varve_session_query", handle, {
            "vector": query["vector"], "limit": 1000, "explain": True})
        return {("s", each["entry"]["id"]): each["explain"]["vector"]["similarity"]
                for each in result["results"]}

    def check_rows(self, results, wanted):
        entries = {entry.id: row for entry, *row in wanted.rows}
        by_id = {entry.id: entry for entry in wanted.entries}
        found = [each["entry"]["id"] for each in results]
        self.assertEqual(sorted(found), sorted(entries))
        for result, each in zip(results, found):
            figures = [result["explain"]["key"], result["relevance"], result["match_quality"]]
            for figure, own in zip(figures, entries[each]):
                self.assertAlmostEqual(figure, own, 9, (each, figures, entries[each]))
            self.assertEqual(differences(result, wanted, by_id[each]), [], each)
        keys = [result["explain"]["key"] for result in results]
        for at, (entry, key, *_) in enumerate(wanted.rows):
            if found[at] != entry.id:  # only where both are nearly the same
                self.assertAlmostEqual(keys[at], key, 9)
                self.assertNotIn(keys[at], keys[:at] + keys[at + 1:])

    def check_pages(self, run, query):
        if self.fails(run, query):
            return
        pages = Pages({"s": run.session}, query, run.now_ms, 200, self.cosines(run, query))
        after, calls = None, []
        while True:
            limit, (store, handle) = run.make.randint(1, 8), run.some_store()
            status, result = run.ask(store, "query", "varve_session_query", handle,
                                     {**public(query), "limit": limit, "after": after})
            if status != "OK":
                self.assertTrue(self.fails(run, query), calls)
                return
            found, rest = ids_of(result), pages.rest({"s": run.session}, run.now_ms)
            calls.append((store, limit, found))
            if pages.is_exact:
                self.assertEqual(found, [each.id for each in rest[:limit]], calls)
                self.assertEqual(bool(result["next"]), len(rest) > limit, calls)
                pages.take(rest[:limit])
            after = result["next"]
            if not after or len(calls) > 40:
                return
            while run.make.random() < 0.6:
                changes = run.change()
                calls.append((run.calls[-1], changes))
                for what in changes:
                    pages.note(what)

    def test_vectors_are_as_the_model_has_them(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory:
                run = Run(seed, directory)
                for step in range(STEPS):
                    run.change()
                    with self.subTest(seed=seed, step=step):
                        self.check_file(run)
                        self.check_verify(run)
                    for query in [run.query() for _ in range(QUERIES)]:
                        with self.subTest(seed=seed, step=step, query=query):
                            self.compare(run, query)
                    query = run.query()
                    with self.subTest(seed=seed, step=step, pages_of=query):
                        self.check_pages(run, query)
                run.end()


if __name__ == "__main__":
    unittest.main()
