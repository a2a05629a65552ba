#!/usr/bin/env python3
"""Real conversations go in and come out as they were, and every checksum is right.

    import_export_test.py DIRECTORY

DIRECTORY/SET/SESSION/entries.jsonl are the sessions. All of them are imported with the program that
VARVE_CLI names, exported, compared, verified, and checked with Python's own means. A directory that
is not there is told as "not run" (exit code 77).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from check_checksums import check_file
from compare_entries import compare_files

NOT_RUN = 77
TIMEOUT_S = 600


class Failed(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failed(text)


def varve(root, *words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VARVE_")}
    done = subprocess.run(
        [os.environ["VARVE_CLI"], "--root", str(root), *map(str, words)],
        capture_output=True, env=environment, timeout=TIMEOUT_S,
    )
    output = done.stdout.decode("utf-8")
    require(done.returncode == 0,
            f"varve {' '.join(map(str, words))}: exit code {done.returncode}\n"
            f"{output[:2000]}{done.stderr.decode('utf-8', 'replace')[:2000]}")
    return output


def count_lines(path):
    with open(path, "rb") as file:
        return sum(1 for line in file if line.strip())


def check_session(given, root, exported):
    """Entries of one session."""
    name = given.parent.name
    count, problems = compare_files(given, exported / name / "entries.jsonl")
    require(not problems, f"{name}: {problems[:5]}")
    stored = check_file(root / "sessions" / name / "memory.jsonl")
    require(stored.clean, f"{name}: {stored}, {stored.problems[:5]}")
    require(stored.right == count, f"{name}: {stored.right} lines stored of {count}")
    return count


def check_set(folder, root, exported):
    """(sessions, entries, checked bytes) of one set, in a store of its own."""
    given = sorted(folder.glob("*/entries.jsonl"))
    lines = sum(map(count_lines, given))
    report = json.loads(varve(root, "import", "--all", folder, "--json"))
    require(report["added"] == lines and report["existing"] == 0 and not report["refused"],
            f"import: {report['added']} of {lines} entries, {report['refused_total']} refused")
    again = json.loads(varve(root, "import", "--all", folder, "--json"))
    require(again["added"] == 0 and again["existing"] == lines, f"imported twice: {again}")
    varve(root, "export", "--all", "--output", exported)
    entries = sum(check_session(path, root, exported) for path in given)
    verified = json.loads(varve(root, "verify", "--all", "--json"))
    reports = [session["report"] for session in verified["sessions"]]
    require(len(reports) == len(given), f"{len(reports)} sessions verified of {len(given)}")
    for found in reports:
        require(found["ok"] and found["damaged"] == 0 and not found["problems"], str(found)[:500])
    require(sum(found["entries"] for found in reports) == entries, "verify counts other entries")
    return len(given), entries, sum(found["checked_bytes"] for found in reports)


def find_sets(directory):
    return sorted({path.parent.parent for path in directory.glob("*/*/entries.jsonl")})


def main(directory):
    directory = pathlib.Path(directory)
    sets = find_sets(directory)
    if not sets:
        print(f"not run: there is no */*/entries.jsonl in {directory}")
        # Where the folder around it is there, the data was meant to be.
        expected = os.environ.get("CI") and directory.parent.is_dir()
        return 1 if expected else NOT_RUN
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory(prefix="varve-conformance-") as temporary:
        for folder in sets:
            place = pathlib.Path(temporary) / folder.name
            counts = check_set(folder, place / "store", place / "exported")
            print(f"{folder.name}: {counts[0]} sessions, {counts[1]} entries, {counts[2]} bytes")
            total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} sessions, {total[1]} entries, {total[2]} bytes: imported, exported equal, "
          "verified, every checksum right")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except Failed as failure:
        sys.exit(f"FAILED: {failure}")
