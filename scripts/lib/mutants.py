"""Mistakes made on purpose, one at a time, to see which tests notice (scripts/torture --only
mutants).

    mutants.py programs AREA                                    the programs whose tests are asked
    mutants.py make AREA SOURCES COPY [--sample N] [--seed N]   a copy of the tree with all of them
    mutants.py reach AREA COPY BUILD [--part I/N]               which of them each test asks for
    mutants.py run AREA COPY BUILD [--part I/N] [--minutes N]   each of them under the tests
    mutants.py judge AREA RESULTS...                            figures; fails where too few were
                                                                killed

All mutants are compiled at once, each behind a switch that the environment variable VARVE_MUTANT
turns on: so a mutant costs its tests and no build. The library itself reads no environment; the
copy does.
"""

import argparse
import pathlib
import random
import re
import signal
import subprocess
import sys

import mutant_tests

# What is broken, by area: what keeps entries (recovery, the log, its lock, compaction), what
# finds them (queries and their index, words, relevance, contexts, tiers), and what looks after the
# sessions of a store (backup, restore, the list, the catalog, quotas, sweeps).
FILES = {
    "keeping": (
        "src/io/posix_lock.cpp",
        "src/log/atomic_file.cpp",
        "src/log/directory_lock.cpp",
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
        "src/session/upkeep/compaction.cpp",
        "src/session/core.cpp",
        "src/session/core_losses.cpp",
        "src/session/core_log.cpp",
        "src/session/core_metadata.cpp",
        "src/session/entry/damaged_lines.cpp",
        "src/session/metadata/metadata_file.cpp",
        "src/session/core_snapshot.cpp",
        "src/session/saved_snapshot.cpp",
        "src/session/writer.cpp",
    ),
    "finding": (
        "src/context/*.cpp",
        "src/decay/*.cpp",
        "src/embedding/*.cpp",
        "src/index/*.cpp",
        "src/memory/*.cpp",
        "src/query/*.cpp",
        "src/text/*.cpp",
    ),
    "store": (
        "src/log/directory_catalog.cpp",
        "src/log/directory_engine.cpp",
        "src/log/directory_rows.cpp",
        "src/store/*.cpp",
    ),
}

# Of those that are not equivalent. Of what finds many only change how much is looked at.
KILLED_PERCENT_MIN = {"keeping": 90, "finding": 85, "store": 85}

SWITCH = """\
// Which mutant is on, and which were asked for: a byte of the file VARVE_MUTANTS_REACHED for each,
// which processes that a test starts share with it.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
namespace varve_mutant {
inline const int kChosen = [] {
  const char* text = std::getenv("VARVE_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
inline char* const kReached = []() -> char* {
  const char* path = std::getenv("VARVE_MUTANTS_REACHED");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const ::off_t length = ::lseek(file, 0, SEEK_END);
  void* const bytes = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}();
inline bool is(int number) {
  if (kReached != nullptr) kReached[number] = 1;
  return number == kChosen;
}
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
CONSTANT = re.compile(r"^(\s*)(?:\[\[nodiscard\]\] )?(?:static |inline )*constexpr .*\(.*\{$")
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
        constant_end = None  # where a function ends that the compiler runs
        for at, line in enumerate(lines):
            if CONSTANT.match(line):
                constant_end = CONSTANT.match(line).group(1) + "}"
            if constant_end is not None:
                constant_end = None if line.startswith(constant_end) else constant_end
                continue
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
    files = sorted(str(path.relative_to(sources)) for pattern in FILES[arguments.area]
                   for path in sources.glob(pattern))
    for name in files:
        (copy / name).write_text(mutants.file(name, (sources / name).read_text()))
    for name in sorted({pathlib.Path(*pathlib.Path(file).parts[:2]) for file in files}):
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


def judge(arguments):
    """Figures of what was run; the exit status tells whether enough were killed."""
    counts = {"killed": 0, "SURVIVED": 0, mutant_tests.UNASKED: 0, "equivalent": 0}
    for path in arguments.results:
        for line in pathlib.Path(path).read_text().splitlines():
            cells = line.split("\t")
            if len(cells) == 5:
                counts[cells[0] if cells[0] in counts else "killed"] += 1
    print(f"[  counted ] mutants killed {counts['killed']}")
    print(f"[  counted ] mutants that survived {counts['SURVIVED']}")
    print(f"[  counted ] mutants that no test asks for {counts[mutant_tests.UNASKED]}")
    print(f"[  counted ] equivalent mutants {counts['equivalent']}")
    judged = counts["killed"] + counts["SURVIVED"] + counts[mutant_tests.UNASKED]
    percent_min = KILLED_PERCENT_MIN[arguments.area]
    if judged == 0 or counts["killed"] * 100 < judged * percent_min:
        sys.exit(f"{counts['killed']} of {judged} killed: less than {percent_min} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    listing = commands.add_parser("programs")
    listing.add_argument("area", choices=FILES)
    listing.set_defaults(work=lambda given: print(*mutant_tests.PROGRAMS[given.area], sep="\n"))
    making = commands.add_parser("make")
    making.add_argument("area", choices=FILES)
    making.add_argument("sources")
    making.add_argument("copy")
    making.add_argument("--sample", type=int, default=0)
    making.add_argument("--seed", type=int, default=1)
    making.set_defaults(work=make)
    for name, work in (("reach", mutant_tests.reach), ("run", mutant_tests.run)):
        running = commands.add_parser(name)
        running.add_argument("area", choices=FILES)
        running.add_argument("copy")
        running.add_argument("build")
        running.add_argument("--part", default="0/1")
        running.add_argument("--minutes", type=float, default=1e6)
        running.set_defaults(work=work)
    judging = commands.add_parser("judge")
    judging.add_argument("area", choices=FILES)
    judging.add_argument("results", nargs="+")
    judging.set_defaults(work=judge)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and what it runs with it
    arguments.work(arguments)


if __name__ == "__main__":
    main()
