#!/usr/bin/env python3
"""One session, written by processes of Rust, Go, Node, Python and C at once that are killed with
SIGKILL at random moments: every entry that was acknowledged is there exactly once.

    shared_store_test.py --program VARVE --c-worker WORKER [--processes N] [--entries N] [--kills N]
                         [--seed N] [--whole]

VARVE_LIBRARY names the library. Each language has a worker that takes DIRECTORY SESSION PREFIX
COUNT FIRST, adds the entries PREFIX-FIRST up to COUNT, and prints the id of each after the library
has answered. Who was killed is started again at the first entry that it did not tell of: what was
acknowledged and then lost would stay lost.

--whole is 4 processes with 5,000 entries each in each language, and 25 kills each. Exits with 77
and one line when a language cannot be run here.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINDINGS = ROOT / "bindings"
SESSION = "shared"
NOT_RUN = 77
WITHIN_S = 0.005  # a kill comes so long after a line, at most: before, in or behind the next add
WHOLE = {"processes": 4, "entries": 5000, "kills": 25}


class CannotRun(Exception):
    pass


def built(*command, **environment):
    """Runs what builds a worker; its output is shown only when it fails."""
    if not shutil.which(command[0]):
        raise CannotRun(f"{command[0]} is missing")
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}")


def rust_worker(_arguments, _folder):
    target = ROOT / "build/bindings/rust"
    built("cargo", "build", "--quiet", "--all-features", "--example", "worker", "--manifest-path",
          BINDINGS / "rust/Cargo.toml", CARGO_TARGET_DIR=str(target),
          CARGO_PROFILE_DEV_DEBUG="line-tables-only")
    return [target / "debug/examples/worker"]


def go_worker(_arguments, folder):
    built("go", "-C", BINDINGS / "go", "build", "-o", folder / "go_worker", "./internal/worker",
          CGO_ENABLED="0")
    return [folder / "go_worker"]


def node_worker(_arguments, folder):
    if not shutil.which("node"):
        raise CannotRun("node is missing")
    addon = ROOT / "build/bindings/node/varve.node"
    if not addon.is_file():
        built(BINDINGS / "node/build-addon")
    return [shutil.which("node"), BINDINGS / "node/tests/child.js"]


def python_worker(_arguments, _folder):
    return [sys.executable, "-B", BINDINGS / "python/tests/worker.py"]


def c_worker(arguments, _folder):
    return [arguments.c_worker]


WORKERS = {"rust": rust_worker, "go": go_worker, "node": node_worker, "python": python_worker,
           "c": c_worker}


class Worker:
    """The processes that add one prefix's entries, one after the other."""

    def __init__(self, command, prefix, arguments, chance):
        self.command, self.prefix, self.chance = command, prefix, chance
        self.count = arguments.entries
        self.told = []  # the numbers that were acknowledged, in this order
        # How many lines are told when a process dies. At 0 it dies while it starts or opens.
        self.kills = sorted(chance.randrange(self.count) for _ in range(arguments.kills))
        self.killed = 0
        self.process = None

    def start(self, directory):
        self.rest = b""
        self.kill_at = None
        self.process = subprocess.Popen(
            [*map(str, self.command), str(directory), SESSION, self.prefix, str(self.count),
             str(len(self.told))], stdout=subprocess.PIPE)
        self.plan()

    def plan(self):
        """Sets the moment of the next kill once as many lines are told as are due."""
        if self.kill_at is None and self.kills and len(self.told) >= self.kills[0]:
            self.kill_at = time.monotonic() + self.chance.uniform(0, WITHIN_S)

    def read(self):
        """Takes what was told. False at the end."""
        data = os.read(self.process.stdout.fileno(), 65536)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            expected = f"{self.prefix}-{len(self.told)}"
            if line.decode() != expected:
                sys.exit(f"a worker tells {line}, and {expected} comes next")
            self.told.append(len(self.told))
            self.plan()
        return bool(data)

    def kill(self):
        self.process.kill()
        self.kills.pop(0)
        self.kill_at = float("inf")

    def ended(self):
        """Whether all is done, by the end of a process."""
        self.process.stdout.close()
        status = self.process.wait()
        if status == -signal.SIGKILL:
            self.killed += 1
        elif status != 0:
            sys.exit(f"{self.prefix}: ended with {status} after {len(self.told)} entries")
        return status == 0


def run_all(workers, directory):
    """Runs, kills and restarts the workers until each has told of all its entries."""
    with selectors.DefaultSelector() as selector:
        def start(worker):
            worker.start(directory)
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        for worker in workers:
            start(worker)
        while selector.get_map():
            running = [key.data for key in selector.get_map().values()]
            due = min((w.kill_at for w in running if w.kill_at is not None), default=float("inf"))
            patience = None if due == float("inf") else max(0, due - time.monotonic())
            for key, _ in selector.select(patience):
                worker = key.data
                if not worker.read():
                    selector.unregister(worker.process.stdout)
                    if not worker.ended():
                        start(worker)
            for worker in running:
                if worker.kill_at is not None and worker.kill_at <= time.monotonic():
                    worker.kill()


def problems(told, count, lines):
    """What is wrong with the lines of a log. `told` has the count of numbers acknowledged by
    prefix, `count` is how many each worker was to add."""
    found = collections.defaultdict(list)
    for line in lines:
        entry = json.loads(line)
        found[entry["id"]].append(entry["content"])
    for prefix, numbers in told.items():
        for number in range(count):
            contents = found.pop(f"{prefix}-{number}", [])
            if number < numbers and not contents:
                yield f"{prefix}-{number} was acknowledged and is lost"
            if len(contents) > 1:
                yield f"{prefix}-{number} is there {len(contents)} times"
            if any(content != f"{prefix} counts to {number} ☕" for content in contents):
                yield f"{prefix}-{number} holds {contents}"
    for entry_id in found:
        yield f"{entry_id} was never added"


def check_sees(told, count, lines):
    """That the check would see a lost, a doubled, a changed and a foreign entry."""
    first, *rest = lines
    for spoilt in (rest, [first, first, *rest], [first.replace("☕", "?"), *rest],
                   [first.replace('"id":"', '"id":"x'), *rest]):
        if not list(problems(told, count, spoilt)):
            sys.exit("the check does not see a spoilt log")


def varve(arguments, directory, *command):
    done = subprocess.run([arguments.program, "--root", directory, *command],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"varve {' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def check(arguments, directory, workers):
    """What is in the store, by the file as it lies there, and by the program."""
    told = {worker.prefix: len(worker.told) for worker in workers}
    expected = arguments.entries * len(workers)
    log = directory / "sessions" / SESSION / "memory.jsonl"
    found = {"memory.jsonl": log.read_text().splitlines(),
             "export": varve(arguments, directory, "export", SESSION).splitlines()}
    for where, lines in found.items():
        wrong = list(problems(told, arguments.entries, lines))
        if wrong or len(lines) != expected:
            sys.exit("\n".join([f"{where}: {len(lines)} entries of {expected}", *wrong[:20]]))
    check_sees(told, arguments.entries, found["export"])
    if varve(arguments, directory, "count", "--session", SESSION).split()[0] != str(expected):
        sys.exit("the index counts otherwise")
    print(varve(arguments, directory, "verify", SESSION, "--deep").strip())


def parse(given):
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--c-worker", required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--entries", type=int, default=300)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args(given)
    if arguments.whole:
        vars(arguments).update(WHOLE)
    return arguments


def main():
    arguments = parse(sys.argv[1:])
    os.environ.update(PYTHONPATH=str(BINDINGS / "python/src"),
                      VARVE_LIBRARY=str(pathlib.Path(os.environ["VARVE_LIBRARY"]).resolve()))
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="varve-shared-") as folder:
        folder = pathlib.Path(folder)
        try:
            commands = {language: make(arguments, folder) for language, make in WORKERS.items()}
        except CannotRun as why:
            print(f"the shared store is not tested: {why}")
            return NOT_RUN
        workers = [Worker(command, f"{language}{number}", arguments,
                          random.Random(f"{arguments.seed} {language} {number}"))
                   for language, command in commands.items()
                   for number in range(arguments.processes)]
        directory = folder / "memory"
        directory.mkdir(mode=0o700)
        (directory / "config.json").write_text('{"storage":{"max_session_size_mb":1000}}')
        varve(arguments, directory, "create", SESSION)
        begin = time.monotonic()
        try:
            run_all(workers, directory)
        finally:
            for worker in workers:
                if worker.process and worker.process.poll() is None:
                    worker.process.kill()
                    worker.process.wait()
        seconds = time.monotonic() - begin
        check(arguments, directory, workers)
    kills = sum(worker.killed for worker in workers)
    entries = sum(len(worker.told) for worker in workers)
    if kills == 0 and arguments.kills:
        sys.exit("nobody was killed: the test shows nothing")
    print(f"[  counted ] kills {kills}\n[  counted ] answered adds {entries}")
    print(f"{len(workers)} processes of {len(commands)} languages, killed {kills} times: "
          f"{entries} entries acknowledged, each there once, in {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
