"""Which tests notice a mutant (scripts/lib/mutants.py).

Each test is run once without a mutant: what it takes, and which mutants it asks for, is written
down. A mutant is then tried by the tests that ask for it, the cheapest first, in rounds: all are
tried for some seconds before any is tried for longer. One that no test asks for survives.
"""

import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

# By area: programs, what of them is left out, and their variables. Left out is what looks for
# defects that tests make, and what measures.
DEFECTS = "*SeededDefects*:*Defects.AreFound*:*IsFound*:*TheCanaryFindsWhatIsThere*:Model.*"
PROGRAMS = {
    "keeping": {
        "unit_io": ("SystemClock.*", {}),
        "unit_log": ("", {}),
        "unit_session": ("", {"VARVE_CRASH_SCALE": "10"}),
        "unit_store": ("", {}),
        "capi": ("", {}),
        "simulation": (DEFECTS, {"VARVE_SIMULATION_SEEDS": "100"}),
        "fault_sweep": ("", {"VARVE_CRASH_SCALE": "10"}),
        "allocation_sweep": ("", {"VARVE_CRASH_SCALE": "10"}),
        "crash_states": (DEFECTS, {"VARVE_CRASH_SCALE": "10"}),
    },
    "finding": {
        "unit_decay": ("", {}),
        "unit_embedding": ("", {}),
        "unit_query": ("", {}),
        "unit_index": ("", {}),
        "unit_text": ("", {}),
        "unit_context": ("", {}),
        "unit_memory": ("", {}),
        "unit_session": ("", {"VARVE_CRASH_SCALE": "10"}),
        "unit_store": ("", {}),
        "capi": ("", {}),
    },
    "store": {
        "unit_log": ("", {}),
        "unit_store": ("", {}),
        "capi": ("", {}),
        "crash_states": (DEFECTS, {"VARVE_CRASH_SCALE": "10"}),
        "simulation": (DEFECTS, {"VARVE_SIMULATION_SEEDS": "100"}),
    },
}

# The tests of the component itself come before those that only go through it: so much earlier than
# what they take says.
OWN_FIRST = 20

# [s] What the tests of a mutant take, without it, until a round leaves it to the next one.
ROUNDS = (0.5, 4, 30, 1e6)

# As many tests are named to a program at once.
NAMES_MAX = 400

# One that counts as hung took so many times the processor that the tests take without a mutant, and
# some seconds; or, where it waits for ever, so much longer by the clock of a machine that has
# other work.
HUNG_FACTOR = 4
HUNG_SECONDS_MIN = 5
WAITING_FACTOR = 20
WAITING_SECONDS_MIN = 15

# What a mutant that does not stop may take of the machine.
MEMORY_BYTES_MAX = 8 << 30
FILE_BYTES_MAX = 1 << 30

EQUIVALENT = pathlib.Path(__file__).with_name("mutants_equivalent.tsv")
UNASKED = "SURVIVED, unasked"


def restrain(processor_seconds):
    """In the child: no core files, an end to memory, files and time."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))


def run_program(program, filter_text, variables, seconds, processor_seconds):
    """The output and exit status of a test program; None for the status when it did not end."""
    with tempfile.TemporaryDirectory(prefix="varve-mutant-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # for tests that look at it as another user
        child = subprocess.Popen(
            [program, f"--gtest_filter={filter_text}", "--gtest_fail_fast", "--gtest_brief=1"],
            env=dict(os.environ, TMPDIR=folder, **variables), start_new_session=True, cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: restrain(processor_seconds))
        try:
            output, _ = child.communicate(timeout=seconds)
            hung = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
            return output.decode(errors="replace"), None if hung else child.returncode
        except subprocess.TimeoutExpired:
            return "", None
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)  # also what it started
            except ProcessLookupError:
                pass
            child.wait()
            child.stdout.close()


def programs_in(build, area):
    """Path and variables of each program."""
    return {name: (next(path for path in build.resolve().rglob(name) if path.is_file()), variables)
            for name, (_, variables) in PROGRAMS[area].items()}


def share_of(arguments, items):
    """What this process of several has to do."""
    part, parts = (int(text) for text in arguments.part.split("/"))
    return items[part::parts]


# --- which mutants a test asks for ---------------------------------------------------------------

def names_of(program, left_out):
    """The tests of a program."""
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter=-{left_out}"],
                            check=True, capture_output=True, text=True).stdout
    suite = ""
    names = []
    for line in listed.splitlines():
        name = line.split("#")[0]
        if not name.startswith(" "):
            suite = name.strip()
        elif suite.endswith("."):
            names.append(suite + name.strip())
    return names


def reach(arguments):
    """Runs each test alone; writes what it took and which mutants it asked for."""
    copy = pathlib.Path(arguments.copy)
    programs = programs_in(pathlib.Path(arguments.build), arguments.area)
    tests = [(name, test) for name, (left_out, _) in PROGRAMS[arguments.area].items()
             for test in names_of(programs[name][0], left_out) if "DISABLED_" not in test]
    rows = []
    with tempfile.NamedTemporaryFile() as asked:
        for name, test in share_of(arguments, tests):
            path, variables = programs[name]
            asked.truncate(0)
            asked.truncate(1 << 16)
            variables = dict(variables, VARVE_MUTANTS_REACHED=asked.name)
            start = time.monotonic()
            output, status = run_program(path, test, variables, 900, 900)
            seconds = time.monotonic() - start
            if status != 0:  # it would "kill" whatever it is asked about
                print(f"left out, for it fails without a mutant: {name} {test}\n{output[-2000:]}")
                continue
            table = pathlib.Path(asked.name).read_bytes()
            numbers = " ".join(str(number) for number, byte in enumerate(table) if byte)
            rows.append(f"{name}\t{test}\t{seconds:.3f}\t{numbers}\n")
    part = arguments.part.split("/", maxsplit=1)[0]
    (copy / f"reached.{part}.tsv").write_text("".join(rows))
    print(f"{len(rows)} tests")


# --- which test notices a mutant -----------------------------------------------------------------

class Test:
    """One of a program, and what it takes."""

    def __init__(self, program, name, seconds):
        self.program = program
        self.name = name
        self.seconds = seconds


def tests_by_mutant(copy):
    """By its number, the tests that ask for it."""
    asking = {}
    for path in copy.glob("reached.*.tsv"):
        for line in path.read_text().splitlines():
            program, name, seconds, numbers = line.split("\t")
            test = Test(program, name, float(seconds))
            for number in numbers.split():
                asking.setdefault(int(number), []).append(test)
    return asking


class Candidate:
    """A mutant and the tests that have not been asked about it yet."""

    def __init__(self, row, tests):
        self.row = row
        self.number = int(row[0])
        own = "unit_" + pathlib.Path(row[1]).parts[1]
        self.tests = sorted(tests, key=lambda test: test.seconds / (
            OWN_FIRST if test.program == own else 1))
        self.next = 0
        self.seconds = 0

    def take(self, seconds):
        """The next tests, until all that were taken amount to so many seconds; one at least."""
        first = self.next
        while self.next < len(self.tests):
            if self.next > first and self.seconds + self.tests[self.next].seconds > seconds:
                break
            self.seconds += self.tests[self.next].seconds
            self.next += 1
        return self.tests[first:self.next]

    def tell(self, killer):
        _, file, line, text, was, now = self.row
        print("\t".join((killer, f"{file}:{line}", text, was, now)), flush=True)


def killer_among(tests, program, path, variables):
    """Which of these of one program notices the mutant that is on; nothing when none does."""
    seconds = sum(test.seconds for test in tests)
    limits = (WAITING_SECONDS_MIN + WAITING_FACTOR * seconds,
              int(HUNG_SECONDS_MIN + HUNG_FACTOR * seconds))
    filter_text = ":".join(test.name for test in tests)
    output, status = run_program(path, filter_text, variables, *limits)
    if status is None:
        return f"{program}: does not end"
    if status == 0:
        return None
    failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
    if not failed:
        return f"{program}: ended with {status}"
    # Once more: what fails by chance kills nothing.
    _, status = run_program(path, failed.group(1), variables, *limits)
    return f"{program}: {failed.group(1)}" if status != 0 else None


def killer_of(candidate, seconds, programs):
    """Which of the next tests notices it."""
    taken = candidate.take(seconds)
    for program, (path, variables) in programs.items():
        variables = dict(variables, VARVE_MUTANT=str(candidate.number))
        own = [test for test in taken if test.program == program]
        for first in range(0, len(own), NAMES_MAX):
            killer = killer_among(own[first:first + NAMES_MAX], program, path, variables)
            if killer:
                return killer
    return None


def equivalent_ones():
    """What is listed as equivalent: (file, line, what is broken, what it is instead)."""
    rows = (line.split("\t") for line in EQUIVALENT.read_text().splitlines()
            if line and not line.startswith("#"))
    return {tuple(row[:4]) for row in rows}


def run(arguments):
    """Prints each mutant with the test that kills it."""
    end = time.monotonic() + arguments.minutes * 60
    copy = pathlib.Path(arguments.copy)
    programs = programs_in(pathlib.Path(arguments.build), arguments.area)
    equivalent = equivalent_ones()
    asking = tests_by_mutant(copy)
    if not asking:
        sys.exit("no test was asked which mutants it reaches: see mutants.py reach")
    candidates = []
    for line in share_of(arguments, (copy / "mutants.tsv").read_text().splitlines()):
        row = line.split("\t")
        candidate = Candidate(row, asking.get(int(row[0]), []))
        if tuple(row[i] for i in (1, 3, 4, 5)) in equivalent:
            candidate.tell("equivalent")
        elif not candidate.tests:
            candidate.tell(UNASKED)
        else:
            candidates.append(candidate)
    for seconds in ROUNDS:
        start = time.monotonic()
        print(f"{len(candidates)} to be tried for {seconds} s", flush=True)
        candidates = survivors_of(candidates, seconds, programs, end)
        print(f"{len(candidates)} left after {time.monotonic() - start:.0f} s", flush=True)
    for candidate in candidates:
        if candidate.next > 0:  # time may have ended before
            candidate.tell("SURVIVED")


def survivors_of(candidates, seconds, programs, end):
    """Those that a round does not kill."""
    left = []
    for candidate in candidates:
        if candidate.next == len(candidate.tests) or time.monotonic() > end:
            left.append(candidate)
            continue
        killer = killer_of(candidate, seconds, programs)
        if killer:
            candidate.tell(killer)
        else:
            left.append(candidate)
    return left
