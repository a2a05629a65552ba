#!/usr/bin/env python3
"""Makes a golden store: VARVE_CLI=build/dev/src/cli/varve tests/golden/make.py version-1

It refuses to make one that is there: a golden store stays what it was.
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

MEADOW = [
    {"id": "m-1", "timestamp": "2026-02-01T08:00:00Z", "type": "conversation",
     "content": {"role": "user", "message": "Which flowers grow on the wet meadow?"},
     "importance": 0.5, "decay_factor": 1.0, "tags": ["meadow"], "references": []},
    {"id": "m-2", "timestamp": "2026-02-01T08:00:05Z", "type": "conversation",
     "content": {"role": "assistant", "message": "Marsh marigold, and in May ragged robin ✿"},
     "importance": 0.5, "decay_factor": 1.0, "tags": ["meadow", "flowers.spring"],
     "references": ["m-1"]},
    {"type": "finding", "content": "12345678901234567890 seeds", "id": "m-3",
     "timestamp": "2026-02-01T09:00:00+01:00"},
]

ORCHARD = [
    {"id": "o-1", "timestamp": "2026-02-02T08:00:00Z", "type": "decision",
     "content": {"plant": "quince", "rows": 3, "price": 12.50, "note": None},
     "weather": {"rain": True}, "importance": 0.9},
    {"id": "o-2", "timestamp": "2026-02-02T08:01:00Z", "type": "preference",
     "content": "pears before apples", "relations": {"because": ["o-1"]}},
    {"id": "o-3", "timestamp": "2026-02-02T08:02:00Z", "type": "observation",
     "content": ["the", "third", "row", "is", "shady"], "trace_id": "walk-7"},
]

DELETED = {"id": "o-gone", "timestamp": "2026-02-02T08:00:30Z", "type": "finding",
           "content": "to be forgotten"}


def line_of(entry):
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def make_version_0(root):
    sessions = root / "sessions"
    write(sessions / "meadow" / "memory.jsonl", "".join(line_of(e) + "\n" for e in MEADOW))
    orchard = [line_of(ORCHARD[0]), "", line_of(DELETED), "this line is no entry",
               json.dumps(ORCHARD[1], indent=None, sort_keys=True) + "\r", line_of(ORCHARD[0]),
               line_of(ORCHARD[2])]
    write(sessions / "orchard" / "memory.jsonl", "\n".join(orchard) + "\n")
    write(sessions / "orchard" / "tombstones.jsonl", '{"id":"o-gone"}\n')
    write(sessions / "orchard" / "metadata.json",
          '{"session_id": "orchard", "created_at": "2026-02-02T07:59:00Z", "owner": "ann"}\n')
    return {"meadow": MEADOW, "orchard": ORCHARD}


def make_version_1(root):
    def run(*words, stdin=""):
        subprocess.run([os.environ["VARVE_CLI"], "--root", str(root), *words],
                       input=stdin.encode(), check=True, stdout=subprocess.DEVNULL)

    run("create", "meadow", "--user", "ann", "--agent", "gardener", "--title", "Wet meadow")
    for entry in MEADOW:
        run("add", "meadow", "--json-entry", line_of(entry))
    run("create", "orchard")
    batch = [ORCHARD[0], DELETED, ORCHARD[1]]
    run("add", "orchard", "--jsonl", "-", stdin="".join(line_of(e) + "\n" for e in batch))
    run("delete", "orchard", "o-gone", "--reason", "asked for by Ann")
    run("add", "orchard", "--json-entry", line_of(ORCHARD[2]))
    lasting = {"id": "o-4", "timestamp": "2026-02-03T08:00:00Z", "type": "summary",
               "content": {"trees": 41}, "expires_at": "9999-01-01T00:00:00Z"}
    run("add", "orchard", "--json-entry", line_of(lasting))
    run("search", "--all", "row")
    for path in root.rglob("lock"):
        path.unlink()
    for folder in ("tmp",):
        (root / folder).rmdir()
    return {"meadow": MEADOW, "orchard": [*ORCHARD, lasting]}


def main():
    makers = {"version-0": make_version_0, "version-1": make_version_1}
    for name in sys.argv[1:]:
        root = HERE / name
        if root.exists():
            raise SystemExit(f"{root} is there: golden stores are never made again")
        write(root / "expected.json", json.dumps(makers[name](root), ensure_ascii=False, indent=1)
              + "\n")


if __name__ == "__main__":
    main()
