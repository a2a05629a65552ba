#!/usr/bin/env python3
"""What the public layer costs, each against the same work done with ctypes or json alone.

    cd bindings/python
    VARVE_LIBRARY=.../libvarve.so PYTHONPATH=src python3 bench/cost.py

Prints one line for each: the plain work, the public layer, their ratio and the target. With --check
it exits 1 when a target is missed. Both sides are measured in turn; the fastest round counts.
"""
import ctypes
import json
import sys
import time

import varve
from varve import _library

ROUNDS, CALLS = 15, 2000


def microseconds(work, calls):
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls * 1e6


def compare(plain, public, calls=CALLS):
    """The fastest round of each, in turn."""
    pairs = [(microseconds(plain, calls), microseconds(public, calls)) for _ in range(ROUNDS)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


class Raw:
    """The same calls by ctypes alone, with everything prepared that can be."""

    def __init__(self, session):
        self.api = _library.functions()
        self.handle = session._handle
        self.error, self.text = ctypes.c_void_p(), ctypes.c_void_p()
        self.length, self.number = ctypes.c_size_t(), ctypes.c_uint64()

    def get(self, entry_id):
        self.api.varve_session_get(
            self.handle, entry_id, len(entry_id), ctypes.byref(self.text),
            ctypes.byref(self.length), ctypes.byref(self.error))
        given = ctypes.string_at(self.text, self.length.value)
        self.api.varve_free(self.text)
        return given

    def count(self):
        self.api.varve_session_count(self.handle, None, 0, ctypes.byref(self.number),
                                     ctypes.byref(self.error))
        return self.number.value

    def add(self, entry):
        self.api.varve_session_add(self.handle, entry, len(entry), ctypes.byref(self.text),
                                   ctypes.byref(self.length), ctypes.byref(self.error))
        given = ctypes.string_at(self.text, self.length.value)
        self.api.varve_free(self.text)
        return given


def measurements():
    """(what, plain microseconds, public microseconds, target of the ratio)"""
    with varve.Store("memory:", {"storage": {"max_session_size_mb": 0}}) as store:
        session = store.create_session()
        session.add_batch({"id": f"e{n}", "type": "finding", "tags": ["tea", "drinks.hot"],
                           "content": {"message": f"Tea number {n} in the morning", "n": n}}
                          for n in range(1000))
        raw = Raw(session)
        yield ("get, as bytes", *compare(lambda: raw.get(b"e500"),
                                         lambda: session.get_json("e500")), 2.0)
        yield ("count", *compare(raw.count, session.count), 2.0)
        line = b'{"type":"finding","content":"tea"}'
        yield ("add, of text", *compare(lambda: raw.add(line), lambda: session.add(line)), 2.0)
        results = session.query(limit=10)
        relevance = ctypes.c_double()
        score = raw.api.varve_results_score
        yield ("score of a result", *compare(
            lambda: score(results._handle, 3, ctypes.byref(relevance), ctypes.byref(raw.error)),
            lambda: results.score(3)), 2.0)
        yield ("id of a session", *compare(
            lambda: raw.api.varve_session_id(raw.handle), lambda: session.id), 2.0)
        for limit in (10, 100):
            results = session.query(limit=limit)
            text = results.to_json()

            def read():
                results._page = None
                return list(results)
            yield (f"results of a query, {limit}, {len(text)} bytes",
                   *compare(lambda: json.loads(text), read, 1000 // limit * 10), 1.3)


def main():
    missed = 0
    for what, plain, public, target in measurements():
        missed += public > plain * target
        print(f"{what:42} {plain:9.2f} us {public:9.2f} us  {public / plain:5.2f} x "
              f"(target {target} x)")
    return 1 if missed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
