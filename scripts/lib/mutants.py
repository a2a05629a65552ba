"""Mistakes made on purpose, one at a time, to see which tests notice (scripts/torture --only
mutants).

    mutants.py make SOURCES COPY [--sample N] [--seed N]   a copy of the tree with all of them in it
    mutants.py run COPY BUILD [--part I/N]                 each of them under the tests

All mutants are compiled at once, each behind a switch that the environment variable VARVE_MUTANT
turns on: so a mutant costs its tests and no build. The library itself reads no environment; the
copy does.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import time

# What is broken: recovery, the log, its lock, compaction.
FILES = (
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

# Tests in the order in which they are asked: the fast ones kill most.
# Program, filter, percent of VARVE_CRASH_SCALE, seconds until it counts as hung.
EXHAUSTIVE = "EveryByte/*:*LogFlips*:Snapshots.*Flipped*:MetadataFlips.*:*Concurrency*"
TESTS = (
    ("unit_log", "*", 5, 60),
    ("unit_session", f"-{EXHAUSTIVE}", 5, 120),
    ("unit_session", "EveryByte/*", 2, 120),
    ("fault_sweep", "*", 10, 300),
    ("crash_states", "-*SeededDefects*:*AMissingSyncIsFound:*TheCanaryFindsWhatIsThere", 10, 600),
)

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
        self.listed = []  # (number, file, line, what it was, what it is)

    def add(self, file, line_number, was, now):
        number = len(self.listed) + 1
        self.listed.append((number, file, line_number, was.strip(), now.strip()))
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
    chosen = mutants.listed
    if arguments.sample and arguments.sample < len(chosen):
        chosen = random.Random(arguments.seed).sample(chosen, arguments.sample)
    with open(copy / "mutants.tsv", "w") as out:
        for row in sorted(chosen):
            out.write("\t".join(str(cell) for cell in row) + "\n")
    print(f"{len(chosen)} of {len(mutants.listed)} mutants")


def killer_of(number, programs):
    """Which test notices the mutant; nothing when none does."""
    for name, filter_text, scale, seconds in TESTS:
        environment = dict(os.environ, VARVE_MUTANT=str(number), VARVE_CRASH_SCALE=str(scale))
        command = [programs[name], f"--gtest_filter={filter_text}", "--gtest_fail_fast",
                   "--gtest_brief=1"]
        try:
            done = subprocess.run(command, env=environment, timeout=seconds, text=True,
                                  errors="replace", capture_output=True)
        except subprocess.TimeoutExpired:
            return f"{name}: does not end"
        if done.returncode != 0:
            failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", done.stdout, re.MULTILINE)
            return failed.group(1) if failed else f"{name}: ended with {done.returncode}"
    return None


def run(arguments):
    """Prints each mutant with the test that kills it."""
    build = pathlib.Path(arguments.build)
    programs = {}
    for name in {test[0] for test in TESTS}:
        programs[name] = str(next(path for path in build.rglob(name) if path.is_file()))
    if killer_of(0, programs):
        sys.exit("without a mutant the tests fail already")
    part, parts = (int(text) for text in arguments.part.split("/"))
    rows = (pathlib.Path(arguments.copy) / "mutants.tsv").read_text().splitlines()
    killed = survived = 0
    for row in rows[part::parts]:
        number, file, line, was, now = row.split("\t")
        start = time.monotonic()
        killer = killer_of(int(number), programs)
        killed += 1 if killer else 0
        survived += 0 if killer else 1
        text = killer or "SURVIVED"
        print(f"{number}\t{file}:{line}\t{was}\t->\t{now or '(removed)'}\t{text}\t"
              f"{time.monotonic() - start:.0f} s", flush=True)
    print(f"[  counted ] mutants killed {killed}")
    print(f"[  counted ] mutants that survived {survived}")


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
    running.set_defaults(work=run)
    arguments = parser.parse_args()
    arguments.work(arguments)


if __name__ == "__main__":
    main()
