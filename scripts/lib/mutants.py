"""Mistakes made on purpose, one at a time, to see which tests notice (scripts/torture --only
mutants).

    mutants.py make SOURCES COPY [--sample N] [--seed N]   a copy of the tree with all of them in it
    mutants.py run COPY BUILD [--part I/N] [--minutes N]   each of them under the tests
    mutants.py judge RESULTS...                            figures; fails where too few were killed

All mutants are compiled at once, each behind a switch that the environment variable VARVE_MUTANT
turns on: so a mutant costs its tests and no build. The library itself reads no environment; the
copy does.
"""

import argparse
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

# What is broken: recovery, the log, its lock, compaction.
FILES = (
    "src/io/posix_lock.cpp",
    "src/log/atomic_file.cpp",
    "src/log/directory_writer.cpp",
    "src/log/directory_storage.cpp",
    "src/log/directory_install.cpp",
    "src/log/directory_transcript.cpp",
    "src/log/failure_buffer.cpp",
    "src/log/line_reader.cpp",
    "src/log/lock_state.cpp",
    "src/log/quarantine.cpp",
    "src/log/registry.cpp",
    "src/log/scan.cpp",
    "src/session/compaction.cpp",
    "src/session/core.cpp",
    "src/session/writer.cpp",
)

# Tests in the order in which they are asked: those that kill most in a second stand first, and
# only when all mutants have seen those, the rigs see who survived. Program, folders or files whose
# mutants it is asked about, filter, variables.
LONG_LINES = "LineReader.*Oversized*"
DAMAGED = "EveryByte/*:*EveryLength*:*Truncated*:*LogFlips*:Snapshots.*:MetadataFlips.*:Hostile.*"
LARGE = "*Export.*:*Import.ALineOfFive*:*Import.ACallback*:*LargeEntries*:Lifecycle.TenThousand*"
OTHERS = "*Concurrency*:GroupCommit.*:CappedFiles.Larger*:MigrationTest.APowerLoss*"
OF_READING = "Rounds.InMemory*:StoreQuery.*:Context*:Query*:ThreadsOf*:Fork.WhileOther*"
DEFECTS = "*SeededDefects*:*AMissingSyncIsFound:*TheCanaryFindsWhatIsThere"
ALL = ("src/io", "src/log", "src/session")
FAST_TESTS = (
    ("unit_io", ("src/io",), "*", {}),
    ("unit_log", ("src/log",), f"-{LONG_LINES}", {}),
    ("unit_log", ("src/log/line_reader.cpp",), LONG_LINES, {}),
    ("unit_session", ALL[1:], f"-{DAMAGED}:{LARGE}:{OTHERS}", {"VARVE_CRASH_SCALE": "5"}),
    ("capi", ALL, f"-{OF_READING}", {}),
    ("unit_store", ALL[1:], "*Restore*:*Backup*:*Quota*-*WhateverOthers*", {}),
)
RIGS = (
    ("simulation", ALL[1:], "*Seeds*:Regressions.*", {"VARVE_SIMULATION_SEEDS": "60"}),
    ("fault_sweep", ALL[1:], "*", {"VARVE_CRASH_SCALE": "3"}),
    ("crash_states", ALL[1:], f"-CrashStatesOfKilled.*:{DEFECTS}", {"VARVE_CRASH_SCALE": "10"}),
    ("unit_session", ALL[1:], "EveryByte/*", {"VARVE_CRASH_SCALE": "2"}),
)

# Of those that are not equivalent.
KILLED_PERCENT_MIN = 90

# One that counts as hung took so many times the processor that the tests take without a mutant, and
# some seconds; or, where it waits for ever, so much longer by the clock of a machine that has
# other work.
HUNG_FACTOR = 4
HUNG_SECONDS_MIN = 5
WAITING_FACTOR = 20

# What a mutant that does not stop may take of the machine.
MEMORY_BYTES_MAX = 8 << 30
FILE_BYTES_MAX = 1 << 30

EQUIVALENT = pathlib.Path(__file__).with_name("mutants_equivalent.tsv")

SWITCH = """\
// Which mutant is on.
#pragma once
#include <cstdlib>
namespace varve_mutant {
inline const int kChosen = [] {
  const char* text = std::getenv("VARVE_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
inline bool is(int number) { return number == kChosen; }
}  // namespace varve_mutant
"""

# What only tells figures or words, and what a condition of a declaration is.
SKIPPED = re.compile(
    r"counters|post\(|details|record_duration|reserve\(|sync_us_|static_assert|constexpr|"
    r"histogram|message|Histogram|\.in_file|events|^\s*//|^\s*#|template|operator")
DECLARES = re.compile(r"\bauto\b|;| = |\bconst \w+[*&]")
CALL = re.compile(r"^(\s+)((?:\(void\))?[a-z_][\w.:>\-\[\]]*\(.*\)(?:\.ok\(\))?;)$")
ASSIGNMENT = re.compile(r"^(\s+)([a-z_][\w.>\-\[\]]* (?:=|\+=|-=|\|=) [^{]*;)$")
TRY = re.compile(r"^(\s+)(VARVE_TRY\(.*\);)$")
RETURN = re.compile(r"^(\s+)return (.*(?: && | \|\| | [<>]=? | [!=]= ).*);$")
CONDITION = re.compile(r"\b(if|while) \(")
LOOP = re.compile(r"\bfor \((?:[^;()]|\([^()]*\))*; ([^;]+); ")

SWAPS = ((" && ", " || "), (" || ", " && "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
         (" >= ", " > "), (" + 1", ""), (" - 1", ""))


def closing(line, at):
    """The place of the parenthesis that closes the one at `at`; -1 when it is in another line."""
    depth = 0
    for place in range(at, len(line)):
        depth += {"(": 1, ")": -1}.get(line[place], 0)
        if depth == 0:
            return place
    return -1


def changes_of(expression, negates):
    """What an expression may be instead."""
    changed = [f"!({expression})"] if negates else []
    for old, new in SWAPS:
        if old in expression:
            changed.append(expression.replace(old, new, 1))
    return changed


class Mutants:
    def __init__(self):
        self.listed = []  # (number, file, line, its text, what is broken, what it is instead)
        self.text = ""  # of the line that is broken

    def add(self, file, line_number, was, now):
        number = len(self.listed) + 1
        self.listed.append((number, file, line_number, self.text, was.strip(),
                            now.strip() or "(removed)"))
        return number

    def switched(self, file, line_number, expression, negates=True):
        """The expression with its changes behind switches, or nothing."""
        changes = changes_of(expression, negates)
        text = f"bool({expression})"
        for change in changes:
            number = self.add(file, line_number, expression, change)
            text = f"(varve_mutant::is({number}) ? bool({change}) : {text})"
        return text if changes else None

    def line(self, file, line_number, line):
        """A line with all of its mutants in it."""
        self.text = line.strip()
        if SKIPPED.search(line):
            return line
        for pattern in (TRY, CALL, ASSIGNMENT):
            found = pattern.match(line)
            if found and found.group(2).count("(") == found.group(2).count(")"):
                if re.match(r"return|delete|throw", found.group(2)):
                    return line
                number = self.add(file, line_number, found.group(2), "")
                return f"{found.group(1)}if (!varve_mutant::is({number})) {{ {found.group(2)} }}"
        found = RETURN.match(line)
        if found and " ? " not in line and "{" not in line:
            text = self.switched(file, line_number, found.group(2))
            return f"{found.group(1)}return {text};" if text else line
        found = CONDITION.search(line)
        if found:
            end = closing(line, found.end() - 1)
            expression = line[found.end():end]
            if end < 0 or DECLARES.search(expression):
                return line
            text = self.switched(file, line_number, expression, found.group(1) == "if")
            return line[:found.end()] + text + line[end:] if text else line
        found = LOOP.search(line)
        if found:
            text = self.switched(file, line_number, found.group(1), False)
            return line[:found.start(1)] + text + line[found.end(1):] if text else line
        return line

    def file(self, path, text):
        """The text of a file with its mutants."""
        lines = text.split("\n")
        previous = ""
        for at, line in enumerate(lines):
            # A line that goes on from the one before is only a part of something.
            begins = previous.rstrip().endswith((";", "{", "}", ":", ")")) or not previous.strip()
            if begins:
                lines[at] = self.line(path, at + 1, line)
            if line.strip() and not line.strip().startswith("//"):
                previous = line
        return '#include "base/mutant.h"\n' + "\n".join(lines)


def make(arguments):
    """Copies the tracked files and puts the mutants in."""
    copy = pathlib.Path(arguments.copy)
    sources = pathlib.Path(arguments.sources)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=sources, check=True,
                             capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, tracked):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        bytes_now = (sources / name).read_bytes()
        if not target.exists() or target.read_bytes() != bytes_now:
            target.write_bytes(bytes_now)
            target.chmod((sources / name).stat().st_mode)
    mutants = Mutants()
    (copy / "src/base/mutant.h").write_text(SWITCH)
    for name in FILES:
        (copy / name).write_text(mutants.file(name, (sources / name).read_text()))
    for name in sorted({pathlib.Path(file).parent for file in FILES}):
        with open(copy / name / "CMakeLists.txt", "a") as out:
            # All else is compiled as ever, so that a compiler cache has it.
            out.write(f"target_compile_options(varve_{name.name} PRIVATE -w -O1)\n")
    # Whatever is tried of them, from the first on, is a random sample.
    count = min(arguments.sample or len(mutants.listed), len(mutants.listed))
    chosen = random.Random(arguments.seed).sample(mutants.listed, len(mutants.listed))[:count]
    with open(copy / "mutants.tsv", "w") as out:
        for row in chosen:
            out.write("\t".join(str(cell) for cell in row) + "\n")
    print(f"{len(chosen)} of {len(mutants.listed)} mutants, seed {arguments.seed}")


def equivalent_ones():
    """What is listed as equivalent: (file, line, what is broken, what it is instead)."""
    rows = (line.split("\t") for line in EQUIVALENT.read_text().splitlines()
            if line and not line.startswith("#"))
    return {tuple(row[:4]) for row in rows}


def restrain(processor_seconds):
    """In the child: no core files, an end to memory, files and time."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))


def run_program(program, filter_text, variables, seconds, processor_seconds):
    """The output and exit status of a test program; None for the status when it did not end."""
    with tempfile.TemporaryDirectory(prefix="varve-mutant-", ignore_cleanup_errors=True) as folder:
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


class Judge:
    """Runs tests with a mutant on."""

    def __init__(self, build, tests):
        self.tests = []  # with its program, and its limits of time
        for name, of, filter_text, variables in tests:
            program = next(path for path in build.resolve().rglob(name) if path.is_file())
            start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            output, status = run_program(program, filter_text, variables, 3600, 900)
            if status != 0:
                sys.exit(f"without a mutant {name} ends with {status}:\n{output[-2000:]}")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = time.monotonic() - start
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            limits = (HUNG_SECONDS_MIN + WAITING_FACTOR * seconds,
                      int(HUNG_SECONDS_MIN + HUNG_FACTOR * processor))
            self.tests.append((name, of, program, filter_text, variables, limits))
            print(f"{name} {filter_text}: {seconds:.1f} s, {processor:.1f} s of the processor",
                  flush=True)

    def killer_of(self, number, file):
        """Which test notices the mutant; nothing when none does."""
        for name, of, program, filter_text, variables, limits in self.tests:
            if file not in of and os.path.dirname(file) not in of:
                continue
            variables = dict(variables, VARVE_MUTANT=str(number))
            output, status = run_program(program, filter_text, variables, *limits)
            if status is None:
                return f"{name}: does not end"
            if status != 0:
                failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
                return f"{name}: {failed.group(1) if failed else f'ended with {status}'}"
        return None


def run(arguments):
    """Prints each mutant with the test that kills it."""
    end = time.monotonic() + arguments.minutes * 60
    build = pathlib.Path(arguments.build)
    equivalent = equivalent_ones()
    part, parts = (int(text) for text in arguments.part.split("/"))
    rows = (pathlib.Path(arguments.copy) / "mutants.tsv").read_text().splitlines()[part::parts]
    rows = [row.split("\t") for row in rows]

    def tell(row, killer):
        _, file, line, text, was, now = row
        print("\t".join((killer, f"{file}:{line}", text, was, now)), flush=True)

    for tests in (FAST_TESTS, RIGS):
        judge_of_these = Judge(build, tests)
        survivors = []
        for row in rows:
            if tuple(row[i] for i in (1, 3, 4, 5)) in equivalent:
                tell(row, "equivalent")
            elif time.monotonic() < end:
                killer = judge_of_these.killer_of(int(row[0]), row[1])
                survivors.append(row) if killer is None else tell(row, killer)
            elif tests is RIGS:
                survivors.append(row)  # of what it was asked by
        rows = survivors
        print(f"{len(rows)} left", flush=True)
    for row in rows:
        tell(row, "SURVIVED")


def judge(arguments):
    """Figures of what was run; the exit status tells whether enough were killed."""
    counts = {"killed": 0, "SURVIVED": 0, "equivalent": 0}
    for path in arguments.results:
        for line in pathlib.Path(path).read_text().splitlines():
            cells = line.split("\t")
            if len(cells) == 5:
                counts[cells[0] if cells[0] in counts else "killed"] += 1
    print(f"[  counted ] mutants killed {counts['killed']}")
    print(f"[  counted ] mutants that survived {counts['SURVIVED']}")
    print(f"[  counted ] equivalent mutants {counts['equivalent']}")
    judged = counts["killed"] + counts["SURVIVED"]
    if judged == 0 or counts["killed"] * 100 < judged * KILLED_PERCENT_MIN:
        sys.exit(f"{counts['killed']} of {judged} killed: less than {KILLED_PERCENT_MIN} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("sources")
    making.add_argument("copy")
    making.add_argument("--sample", type=int, default=0)
    making.add_argument("--seed", type=int, default=1)
    making.set_defaults(work=make)
    running = commands.add_parser("run")
    running.add_argument("copy")
    running.add_argument("build")
    running.add_argument("--part", default="0/1")
    running.add_argument("--minutes", type=float, default=1e6)
    running.set_defaults(work=run)
    judging = commands.add_parser("judge")
    judging.add_argument("results", nargs="+")
    judging.set_defaults(work=judge)
    arguments = parser.parse_args()
    arguments.work(arguments)


if __name__ == "__main__":
    main()
