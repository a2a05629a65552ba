#!/usr/bin/env python3
"""Compares entries that were imported with entries that were exported; needs Python only.

    compare_entries.py IMPORTED.jsonl EXPORTED.jsonl

Every member that was given must have come back as it was, down to the last digit of a number, in
the order of the lines. What varve adds to an entry (see ADDED) may stand beside it. The exit code
is 1 when something differs.
"""

import sys

from canonical_json import canonical, parse

ADDED = {"batch", "checksum", "decay_factor", "id", "importance", "references", "schema_version",
         "seq", "session_id", "tags", "timestamp"}


def read_entries(path):
    with open(path, "rb") as file:
        return [parse(line) for line in file if line.strip()]


def differences(given, returned):
    """What differs between two entries, as texts."""
    for name in sorted(given.keys() | returned.keys()):
        if name not in returned:
            yield f"{name} is missing"
        elif name not in given:
            if name not in ADDED:
                yield f"{name} was not given"
        elif canonical(given[name]) != canonical(returned[name]):
            yield f"{name} is {canonical(returned[name])[:80]}, not {canonical(given[name])[:80]}"


def compare_files(given_path, returned_path):
    """(number of entries, problems)"""
    given, returned = read_entries(given_path), read_entries(returned_path)
    problems = []
    if len(given) != len(returned):
        problems.append(f"{len(given)} entries were given, {len(returned)} came back")
    for number, (one, other) in enumerate(zip(given, returned), 1):
        problems += [f"line {number}: {text}" for text in differences(one, other)]
    return len(given), problems


def main(paths):
    if len(paths) != 2:
        sys.exit(__doc__)
    count, problems = compare_files(*paths)
    for problem in problems[:20]:
        print(problem)
    print(f"{count} entries compared, {len(problems)} differences")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
