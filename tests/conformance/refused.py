#!/usr/bin/env python3
"""A runner of the conformance cases finds fault with what is wrong, each of it.

    refused.py COMMAND...

Makes cases of which none may pass: what the library answers is not what they expect, or a runner
cannot know what they ask. COMMAND is a runner; CASES in it becomes the folder of the cases, which
is also in the variable VARVE_CASES. It has to say of each that it failed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def step(operation, expect=None, save=None, **arguments):
    made = {"op": operation, "args": arguments}
    if save:
        made["save"] = save
    return made if expect is None else {**made, "expect": expect}


STORE = step("store_open", uri="memory:", save="store")
SESSION = [STORE, step("session_create", store="store", options_json={"session_id": "s"},
                       save="session")]
ENTRY = {"type": "finding", "content": "tea", "tags": ["a", "b"], "id": "e"}
ADDED = [*SESSION, step("session_add", session="session", entry_json=ENTRY)]


def entry_is(pattern):
    return [*ADDED, step("session_get", session="session", id="e", expect={"value": pattern})]


def absent(**parts):
    return [*ADDED, step("session_get", session="session", id="nobody",
                         expect={"status": "VARVE_NOT_FOUND", **parts})]


# By name, the steps of a case. All but the last are right.
CASES = {
    "operation-unknown": [STORE, step("store_paint", store="store")],
    "argument-unknown": [step("store_open", uri="memory:", colour="red")],
    "variable-unknown": [STORE, step("session_create", store="store",
                                     options_json={"session_id": "${nobody}"})],
    "variable-unknown-to-compare": [step("version", expect={"value": "${nobody}"})],
    "status-other": [step("store_open", uri="nowhere://")],
    "status-of-success": [step("store_open", uri="memory:", expect={"status": "VARVE_IO"})],
    "status-of-failure": [*ADDED, step("session_get", session="session", id="nobody",
                                       expect={"status": "VARVE_IO"})],
    "message-other": absent(message="anything"),
    "message-of-success": [*SESSION, step("session_sync", session="session",
                                          expect={"message": "anything"})],
    "details-other": absent(details={"member": "colour"}),
    "member-missing": entry_is({"colour": "red"}),
    "member-other": entry_is({"type": "decision"}),
    "member-within-other": entry_is({"content": {"message": "coffee"}}),
    "member-there": entry_is({"tags": {"$absent": True}}),
    "array-shorter": entry_is({"tags": ["a"]}),
    "array-longer": entry_is({"tags": ["a", "b", "c"]}),
    "array-in-other-order": entry_is({"tags": ["b", "a"]}),
    "array-for-object": entry_is([]),
    "object-for-array": entry_is({"tags": {}}),
    "number-other": entry_is({"seq": 2}),
    "number-for-text": entry_is({"id": 1}),
    "text-for-number": entry_is({"seq": "1"}),
    "boolean-for-number": entry_is({"seq": True}),
    "null-for-text": entry_is({"id": None}),
    "pattern-unknown": entry_is({"id": {"$sounds": "like"}}),
    "pattern-type": entry_is({"id": {"$type": "number"}}),
    "pattern-type-of-null": entry_is({"id": {"$type": "null"}}),
    "pattern-matches": entry_is({"id": {"$matches": "^x"}}),
    "pattern-matches-a-number": entry_is({"seq": {"$matches": "1"}}),
    "pattern-length": entry_is({"tags": {"$length": 3}}),
    "pattern-length-of-text": entry_is({"type": {"$length": 7}}),
    "pattern-unordered-shorter": entry_is({"tags": {"$unordered": ["b"]}}),
    "pattern-unordered-twice": entry_is({"tags": {"$unordered": ["b", "b"]}}),
    "pattern-contains": entry_is({"tags": {"$contains": ["a", "c"]}}),
    "pattern-number": entry_is({"seq": {"$number": "2"}}),
    "pattern-number-of-text": entry_is({"id": {"$number": "1"}}),
    "pattern-between-below": entry_is({"seq": {"$between": [2, 3]}}),
    "pattern-between-above": entry_is({"seq": {"$between": [0, 0.5]}}),
    "pattern-jsonl": [*ADDED, step("session_export", session="session", format="jsonl",
                                   expect={"value": {"$jsonl": [{"id": "f"}]}})],
    "pattern-jsonl-shorter": [*ADDED, step("session_export", session="session", format="jsonl",
                                           expect={"value": {"$jsonl": []}})],
    "pattern-json": [*SESSION, step("kv_set", session="session", key="k", value="[1]"),
                     step("kv_get", session="session", key="k",
                          expect={"value": {"$json": [2]}})],
    "file-without-what-is-replaced": [
        step("file_write", path="${dir}/file", text="tea"),
        step("file_replace", path="${dir}/file", find="coffee", replace="water")],
}
# Right as they are: so what is wrong above is the last step.
RIGHT = {"right-" + name: steps[:-1] or [step("version")] for name, steps in CASES.items()}


def failures_of(command, cases):
    """How many cases the runner says there were, and the names of those that it says failed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in cases.items():
            (pathlib.Path(folder) / f"{name}.json").write_text(
                json.dumps({"name": name, "about": "no case may pass", "steps": steps}))
        done = subprocess.run([folder if word == "CASES" else word for word in command],
                              env={**os.environ, "VARVE_CASES": folder}, capture_output=True,
                              text=True)
    told = re.search(r"^(\d+) cases, (\d+) failed\n\Z", done.stdout, re.M)
    assert told, f"{command} said\n{done.stdout}{done.stderr}"
    named = {name for name in cases if re.search(rf"^{name}(\.json)?: ", done.stdout, re.M)}
    assert int(told[2]) == len(named), f"{told[2]} failed, and {sorted(named)} are named"
    assert (done.returncode != 0) == bool(named), f"it ended with {done.returncode}"
    return int(told[1]), named


def main():
    command = sys.argv[1:]
    assert command, __doc__
    ran, failed = failures_of(command, RIGHT)
    assert (ran, failed) == (len(RIGHT), set()), f"{ran} of {len(RIGHT)} ran; {sorted(failed)}"
    ran, failed = failures_of(command, CASES)
    assert ran == len(CASES), f"{ran} of {len(CASES)} ran"
    assert not set(CASES) - failed, f"these pass: {sorted(set(CASES) - failed)}"
    print(f"{len(CASES)} cases are refused")


if __name__ == "__main__":
    main()
