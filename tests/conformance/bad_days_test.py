#!/usr/bin/env python3
"""Real conversations that were damaged on the way: what is whole goes in, the rest is told of.

    bad_days_test.py DIRECTORY

DIRECTORY/SET/SESSION/entries.jsonl are the sessions. Each kind of damage is done to a session of
each set, with a fixed seed, and imported with the program that VARVE_CLI names. What must come of a
line is judged by Python's own JSON. A directory that is not there is told as "not run" (exit
code 77).
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from import_export_test import NOT_RUN, Failed, find_sets, require

TIMEOUT_S = 120


def run(root, *words):
    """The report of an import, whatever its exit code says about refusals."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VARVE_")}
    done = subprocess.run([os.environ["VARVE_CLI"], "--root", str(root), "--json", *words],
                          capture_output=True, env=environment, timeout=TIMEOUT_S, check=False)
    require(done.returncode in (0, 1), f"varve {words}: exit code {done.returncode}: "
                                       f"{done.stderr.decode('utf-8', 'replace')[:2000]}")
    return json.loads(done.stdout)


def is_entry(line):
    try:
        value = json.loads(line.decode("utf-8"))
    except (UnicodeDecodeError, ValueError):
        return False
    return isinstance(value, dict) and "type" in value and "content" in value


Expected = collections.namedtuple("Expected", "added existing refused")


def judge(data):
    """What an import into an empty session must answer, and the numbers of the refused lines."""
    seen, added, existing, refused = {}, 0, 0, []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip(b" \t\r"):
            continue
        if not is_entry(line):
            refused.append(number)
            continue
        value = json.loads(line.decode("utf-8"))
        if value["id"] not in seen:
            added += 1
            seen[value["id"]] = value
        elif seen[value["id"]] == value:
            existing += 1
        else:
            refused.append(number)
    return Expected(added, existing, len(refused)), refused


def cut(data, chance):
    at = chance.randrange(1, len(data))
    return data[:at]


def cut_in_front(data, chance):
    return data[chance.randrange(1, len(data)):]


def two_lines_joined(data, chance):
    ends = [at for at, byte in enumerate(data[:-1]) if byte == 10]
    at = chance.choice(ends)
    return data[:at] + data[at + 1:]


def filled_with_nuls(data, chance):
    at = chance.randrange(len(data))
    size = min(chance.choice([1, 300, 5000]), len(data) - at)
    return data[:at] + bytes(size) + data[at + size:]


def nuls_at_the_end(data, chance):
    return data + bytes(chance.choice([1, 700, 100_000]))


def lines_doubled(data, chance):
    lines = data.splitlines(keepends=True)
    for _ in range(min(20, len(lines))):
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return b"".join(lines)


def crlf_and_a_byte_order_mark(data, _chance):
    return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")


def a_giant_line(data, chance):
    lines = data.splitlines(keepends=True)
    lines.insert(chance.randrange(len(lines)), b"x" * 5_000_000 + b"\n")
    return b"".join(lines)


DAMAGES = (cut, cut_in_front, two_lines_joined, filled_with_nuls, nuls_at_the_end, lines_doubled,
           crlf_and_a_byte_order_mark, a_giant_line)


def check_damage(damage, given, place, chance):
    path = place / "in.jsonl"
    data = damage(given, chance)
    path.write_bytes(data)
    expected, lines = judge(data)
    name = f"{damage.__name__} of {len(data)} bytes"
    report = run(place / "store", "import", "s", str(path), "--format", "jsonl")
    got = Expected(report["added"], report["existing"], report["refused_total"])
    require(got == expected, f"{name}: {got}, not {expected}: {report['refused'][:5]}")
    require([item["line"] for item in report["refused"]] == lines[:1000], f"{name}: {lines[:5]}")
    found = run(place / "store", "import", "s", str(path))
    require(found["added"] == 0 and found["refused_total"] == expected.refused,
            f"{name}, found by itself and again: {found['added']} added")
    whole = run(place / "store", "verify", "s")
    require(whole["sessions"][0]["report"]["ok"] if "sessions" in whole else whole["ok"],
            f"{name}: {whole}")


def check_cut_array(given, place, chance):
    """The same entries as an array, cut anywhere: the whole elements before the cut."""
    elements = [line for line in given.split(b"\n") if line.strip()]
    data = b"[" + b",\n".join(elements) + b"]\n"
    at = chance.randrange(2, len(data) - 2)
    path = place / "in.json"
    path.write_bytes(data[:at])
    whole, end = 0, 0
    for element in elements:
        end += len(element) + (2 if whole else 1)  # with the ',' and line end, or '[', before it
        if end >= at:
            break
        whole += 1
    report = run(place / "store", "import", "array", str(path))
    require(report["added"] == whole and report["refused_total"] >= 1,
            f"an array cut at {at}: {report['added']} added, not {whole}")


def main(directory):
    directory = pathlib.Path(directory)
    sets = find_sets(directory)
    if not sets:
        print(f"not run: there is no */*/entries.jsonl in {directory}")
        expected = os.environ.get("CI") and directory.parent.is_dir()
        return 1 if expected else NOT_RUN
    count = 0
    for folder in sets:
        given = sorted(folder.glob("*/entries.jsonl"))[0].read_bytes()
        for number, damage in enumerate(DAMAGES):
            chance = random.Random(f"{folder.name} {number}")
            with tempfile.TemporaryDirectory(prefix="varve-bad-days-") as temporary:
                check_damage(damage, given, pathlib.Path(temporary), chance)
            count += 1
        with tempfile.TemporaryDirectory(prefix="varve-bad-days-") as temporary:
            check_cut_array(given, pathlib.Path(temporary), random.Random(folder.name))
        count += 1
    print(f"{count} bad days: what is whole went in, the rest was told of")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except Failed as failure:
        sys.exit(f"FAILED: {failure}")
