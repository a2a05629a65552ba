"""What the tests reach of the library, by branches (scripts/torture --only coverage).

    coverage.py ROOT PROFILE PROGRAM...   a table of the folders, one of the components that a crash
                                          must not break, and what was never taken of those that
                                          have less than is asked of them; exits with 1 then

Branches are counted as llvm-cov does: each condition has two, also one in a macro. Those of
comparisons that the compiler writes (`operator== = default`) are left out: clang 14 notes each of
their conditions as true whatever it was. ROOT is the folder of the sources, PROFILE what
llvm-profdata made of all runs.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# Of these every branch is to be taken.
COMPONENT_PERCENT = 100
COMPONENTS = (
    ("log", ("src/log/",)),
    ("lock", ("src/io/posix_lock", "src/log/lock_state", "src/session/writer")),
    ("recovery",
     ("src/session/core", "src/session/entry/damaged_lines", "src/session/entry/entry_reader",
      "src/session/metadata/metadata_file", "src/session/session_size",
      "src/session/upkeep/repair", "src/log/scan", "src/log/quarantine")),
    ("compaction", ("src/session/upkeep/compaction",)),
)

FOLDER_PERCENT = 90

WRITTEN_BY_COMPILER = re.compile(r"operator(==|<=>)\(.*\) = default;")


def exported(tool, root, profile, programs):
    """What llvm-cov knows of the files under src/."""
    command = [tool, "export", "-skip-functions", f"-instr-profile={profile}", programs[0]]
    for program in programs[1:]:
        command += ["-object", program]
    done = subprocess.run(command + [str(root / "src")], check=True, capture_output=True)
    return json.loads(done.stdout)["data"][0]["files"]


class Branches:
    """How many there are, and how many were taken."""

    def __init__(self):
        self.count = self.covered = 0

    def add(self, summary):
        self.count += summary["count"]
        self.covered += summary["covered"]

    def leave_out(self, branches):
        self.count -= 2 * len(branches)
        self.covered -= sum(bool(true) + bool(false) for true, false in branches)

    def percent(self):
        return 100 * self.covered / self.count if self.count else 100

    def text(self):
        return f"{self.covered:6} of {self.count:6}  {self.percent():6.1f} %"


def written_by_compiler(lines, file):
    """How often each condition of such comparisons is said to have been true and false."""
    return [branch[4:6] for branch in file["branches"]
            if WRITTEN_BY_COMPILER.search(lines[branch[0] - 1])]


def conditions(file):
    """Where each is, where in the macro that it comes from, how often it was true and false."""
    for branch in file["branches"]:
        yield branch[:2], None, branch[4:6]
    for expansion in file["expansions"]:
        for branch in expansion["branches"]:
            yield expansion["source_region"][:2], tuple(branch[:2]), branch[4:6]


def never_taken(name, lines, file):
    """A line for each condition that was never true, never false, or never asked."""
    counts = collections.defaultdict(lambda: [0, 0])
    for place, in_macro, (true, false) in conditions(file):
        counts[(*place, in_macro or ())][0] += true
        counts[(*place, in_macro or ())][1] += false
    for (line, column, _), (true, false) in sorted(counts.items()):
        if (true and false) or WRITTEN_BY_COMPILER.search(lines[line - 1]):
            continue
        what = "never asked" if not true and not false else "never true" if not true else (
            "never false")
        yield f"{name}:{line}:{column}: {what}: {lines[line - 1].strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="llvm-cov-14")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("profile")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    folders = collections.defaultdict(Branches)
    components = collections.defaultdict(Branches)
    untaken = collections.defaultdict(list)  # by folder, and by component
    for file in exported(arguments.tool, root, arguments.profile, arguments.programs):
        name = str(pathlib.Path(file["filename"]).relative_to(root))
        lines = (root / name).read_text().splitlines()
        folder = "/".join(pathlib.Path(name).parts[:2])
        named = [component for component, starts in COMPONENTS if name.startswith(starts)]
        for table, keys in ((folders, [folder]), (components, named)):
            for key in keys:
                table[key].add(file["summary"]["branches"])
                table[key].leave_out(written_by_compiler(lines, file))
                untaken[key] += never_taken(name, lines, file)
    missed = []
    for title, table, wanted in (("folder", folders, FOLDER_PERCENT),
                                 ("component", components, COMPONENT_PERCENT)):
        for name, branches in sorted(table.items()):
            print(f"{title} {name:16} {branches.text()}")
            if branches.percent() < wanted:
                missed.append(name)
    for name in missed:
        print(f"too few of {name}; never taken:", *untaken[name], sep="\n")
    total = Branches()
    for branches in folders.values():
        total.add({"count": branches.count, "covered": branches.covered})
    if total.covered == 0:
        sys.exit("no branch was taken: nothing was measured")
    print(f"[  counted ] branches taken {total.covered}")
    print(f"[  counted ] branches never taken {total.count - total.covered}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
