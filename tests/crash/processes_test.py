#!/usr/bin/env python3
"""Several processes on one session, some of them killed: every acknowledged entry exactly once.

usage: processes_test.py LIBVARVE            the tests
       processes_test.py --worker LIBVARVE ROOT SESSION NAME FIRST COUNT DURABILITY
       processes_test.py --reader LIBVARVE ROOT SESSION

A worker adds entries NAME-FIRST, NAME-FIRST+1, ... and writes each number to its standard output
after VARVE_OK. The test kills workers (SIGKILL) at random moments and starts them again behind
their last acknowledged entry. A reader exports the session all the while and checks every line.
"""
import ctypes
import hashlib
import json
import os
import random
import select
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

OK, NOT_FOUND, ALREADY_EXISTS, BUSY = 0, 2, 3, 7
F_OFD_SETLK = 37  # fcntl.h; not in Python's fcntl module


class Varve:
    """The C ABI by ctypes, as an outside program would use it."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name in ("varve_store_close", "varve_session_close", "varve_free",
                     "varve_error_free"):
            getattr(self.library, name).argtypes = [ctypes.c_void_p]
            getattr(self.library, name).restype = None

    def call(self, name, *arguments, handle=False, text=False):
        """(status, result): strings become pointer and length, outs follow the inputs."""
        given = []
        for argument in arguments:
            if isinstance(argument, str):
                data = argument.encode()
                given += [ctypes.c_char_p(data), ctypes.c_size_t(len(data))]
            else:
                given.append(argument)
        out, length = ctypes.c_void_p(), ctypes.c_size_t()
        if handle or text:
            given.append(ctypes.byref(out))
        if text:
            given.append(ctypes.byref(length))
        status = getattr(self.library, name)(*given, ctypes.c_void_p())
        if handle or status != OK:
            return status, out
        if text:
            result = ctypes.string_at(out, length.value).decode()
            self.library.varve_free(out)
            return status, result
        return status, None

    def open(self, root, session, **config):
        status, store = self.call("varve_store_open", root, json.dumps(config), handle=True)
        assert status == OK, f"store_open: {status}"
        status, handle = self.call("varve_session_open", store, session, handle=True)
        assert status == OK, f"session_open: {status}"
        return store, handle

    def close(self, store, session):
        self.library.varve_session_close(session)
        self.library.varve_store_close(store)


def entry_of(name, number):
    payload = hashlib.sha256(f"{name}-{number}".encode()).hexdigest() * 4
    return json.dumps({"id": f"{name}-{number}", "type": "message",
                       "content": {"name": name, "number": number, "payload": payload}})


def is_right(entry):
    content = entry["content"]
    return entry["id"] == f"{content['name']}-{content['number']}" and content == json.loads(
        entry_of(content["name"], content["number"]))["content"]


def work(library, root, session, name, first, count, durability):
    varve = Varve(library)
    store, handle = varve.open(root, session, durability=durability,
                               storage={"max_session_size_mb": 0},
                               concurrency={"lock_timeout_ms": 60000})
    for number in range(int(first), int(count)):
        status, _ = varve.call("varve_session_add", handle, entry_of(name, number), None, None)
        # A predecessor may have been killed between the commit and its acknowledgement.
        if status not in (OK, ALREADY_EXISTS):
            sys.exit(f"add: {status}")
        os.write(1, f"{number}\n".encode())
    varve.close(store, handle)


def read_on(library, root, session):
    """Until standard input ends: every line whole and ours, none ever lost."""
    varve = Varve(library)
    seen = 0
    while True:
        store, handle = varve.open(root, session)
        for _ in range(20):
            status, text = varve.call("varve_session_export", handle, "jsonl", text=True)
            assert status == OK, f"export: {status}"
            entries = [json.loads(line) for line in text.splitlines()]
            for entry in entries[max(0, seen - 10):]:
                assert is_right(entry), f"a foreign or torn line: {entry}"
            assert len(entries) >= seen, f"{seen} entries, then {len(entries)}"
            seen = len(entries)
            if select.select([0], [], [], 0)[0]:
                print(seen)
                return
        varve.close(store, handle)


class Writers:
    """Worker processes, their acknowledgements, and death."""

    def __init__(self, test, count, each, durability, kills):
        self.test, self.each, self.durability, self.kills = test, each, durability, kills
        self.random = random.Random(20260110)
        self.acknowledged = {f"w{i}": 0 for i in range(count)}  # entries, which is the next number
        self.processes, self.rest = {}, {}
        self.selector = selectors.DefaultSelector()
        self.killed = 0

    def start(self, name):
        process = subprocess.Popen(
            [sys.executable, __file__, "--worker", self.test.library, self.test.root,
             self.test.session, name, str(self.acknowledged[name]), str(self.each),
             self.durability], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.processes[name], self.rest[name] = process, b""
        self.selector.register(process.stdout, selectors.EVENT_READ, name)

    def take(self, name):
        """What a worker wrote; False at its end."""
        data = os.read(self.processes[name].stdout.fileno(), 65536)
        lines = (self.rest[name] + data).split(b"\n")
        self.rest[name] = lines.pop()
        for line in lines:
            self.test.assertEqual(int(line), self.acknowledged[name])
            self.acknowledged[name] += 1
        return bool(data)

    def ended(self, name):
        process = self.processes.pop(name)
        self.selector.unregister(process.stdout)
        process.stdout.close()
        code = process.wait()
        if self.acknowledged[name] < self.each:
            self.test.assertEqual(code, -signal.SIGKILL, f"{name} ended by itself")
            self.start(name)
        else:
            self.test.assertIn(code, (0, -signal.SIGKILL))

    def run(self):
        for name in self.acknowledged:
            self.start(name)
        total = self.each * len(self.acknowledged)
        next_kill = total // (self.kills + 2)
        while self.processes:
            for key, _ in self.selector.select(60):
                if not self.take(key.data):
                    self.ended(key.data)
            if self.killed < self.kills and self.processes and (
                    sum(self.acknowledged.values()) > (self.killed + 1) * next_kill):
                self.processes[self.random.choice(sorted(self.processes))].kill()
                self.killed += 1


class Processes(unittest.TestCase):
    library = None

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="varve-processes-")
        self.session = "shared"
        self.varve = Varve(self.library)
        status, store = self.varve.call("varve_store_open", self.root, "", handle=True)
        self.assertEqual(status, OK)
        status, handle = self.varve.call("varve_session_create", store,
                                         '{"session_id":"shared"}', handle=True)
        self.assertEqual(status, OK)
        self.varve.close(store, handle)

    def tearDown(self):
        shutil.rmtree(self.root)

    def run_writers(self, count, each, durability, kills):
        writers = Writers(self, count, each, durability, kills)
        reader = subprocess.Popen(
            [sys.executable, __file__, "--reader", self.library, self.root, self.session],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        writers.run()
        seen, _ = reader.communicate(b"x", timeout=120)
        self.assertEqual(reader.returncode, 0, "the reader saw something wrong")
        self.assertEqual(writers.killed, kills)
        self.check_all(writers, count, each)
        print(f"{count} processes x {each} adds ({durability}), {kills} killed, reader saw "
              f"{int(seen)} at the end", flush=True)

    def check_all(self, writers, count, each):
        store, handle = self.varve.open(self.root, self.session,
                                        storage={"max_session_size_mb": 0})
        status, _ = self.varve.call("varve_session_add", handle, entry_of("last", 0), None, None)
        self.assertEqual(status, OK)
        status, report = self.varve.call("varve_session_verify", handle, "", text=True)
        self.assertEqual(status, OK)
        self.assertTrue(json.loads(report)["ok"], report)
        status, text = self.varve.call("varve_session_export", handle, "jsonl", text=True)
        self.assertEqual(status, OK)
        numbers = {}
        last_seq = 0
        for line in text.splitlines():
            entry = json.loads(line)
            self.assertTrue(is_right(entry), line)
            self.assertEqual(entry["seq"], last_seq + 1)
            last_seq = entry["seq"]
            numbers.setdefault(entry["content"]["name"], []).append(entry["content"]["number"])
        self.assertEqual(numbers.pop("last"), [0])
        self.assertEqual(len(numbers), count)
        for name in writers.acknowledged:
            # Each exactly once, in the order in which it was added.
            self.assertEqual(numbers[name], list(range(each)), name)
        self.varve.close(store, handle)

    def test_killed_writers_lose_nothing(self):
        each = int(os.environ.get("VARVE_PROCESS_ADDS", "2000"))
        self.run_writers(8, each, "os", kills=30)

    def test_killed_durable_writers_lose_nothing(self):
        each = int(os.environ.get("VARVE_PROCESS_DURABLE_ADDS", "150"))
        self.run_writers(4, each, "commit", kills=10)

    def hold_lock(self):
        """A process of an outside program that holds the session's lock until it is ended."""
        path = os.path.join(self.root, "sessions", self.session, "lock")
        code = ("import fcntl,os,struct,sys,time\n"
                f"fd=os.open({path!r},os.O_RDWR)\n"
                f"fcntl.fcntl(fd,{F_OFD_SETLK},struct.pack('hhqqi4x',fcntl.F_WRLCK,0,0,0,0))\n"
                "print('held',flush=True)\nsys.stdin.read()\n")
        holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.assertEqual(holder.stdout.readline(), b"held\n")
        return holder

    def end(self, holder):
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()

    def test_stopped_holder_keeps_the_lock_and_others_are_told_in_time(self):
        holder = self.hold_lock()
        os.kill(holder.pid, signal.SIGSTOP)
        store, handle = self.varve.open(self.root, self.session,
                                        concurrency={"lock_timeout_ms": 300})
        for _ in range(3):
            start = time.monotonic()
            status, _ = self.varve.call("varve_session_add", handle, entry_of("w", 0), None, None)
            self.assertEqual(status, BUSY)
            self.assertGreaterEqual(time.monotonic() - start, 0.3)
        # Readers do not wait for it.
        status, text = self.varve.call("varve_session_export", handle, "jsonl", text=True)
        self.assertEqual((status, text), (OK, ""))
        self.end(holder)  # its death frees the lock at once
        status, _ = self.varve.call("varve_session_add", handle, entry_of("w", 0), None, None)
        self.assertEqual(status, OK)
        self.varve.close(store, handle)

    def test_session_deleted_while_another_process_has_it_open(self):
        other = Varve(self.library)
        store, handle = self.varve.open(self.root, self.session)
        code = (f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                "from processes_test import Varve\n"
                f"v=Varve({self.library!r}); s=v.call('varve_store_open',{self.root!r},'',"
                "handle=True)[1]\n"
                f"sys.exit(v.call('varve_store_delete_session',s,{self.session!r})[0])\n")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, OK)
        status, _ = other.call("varve_session_add", handle, entry_of("w", 0), None, None)
        self.assertEqual(status, NOT_FOUND)
        status, _ = self.varve.call("varve_session_export", handle, "jsonl", text=True)
        self.assertEqual(status, NOT_FOUND)
        self.varve.close(store, handle)
        self.assertEqual(os.listdir(os.path.join(self.root, "sessions")), [])


def main():
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    elif sys.argv[1:2] == ["--reader"]:
        read_on(*sys.argv[2:])
    else:
        Processes.library = os.path.abspath(sys.argv.pop(1))
        unittest.main(verbosity=0)


if __name__ == "__main__":
    main()
