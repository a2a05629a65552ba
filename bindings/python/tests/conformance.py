"""Runs tests/conformance/cases through the public layer; the format is in the README there.

    python conformance.py CASES_FOLDER [NAME...]
"""
from __future__ import annotations

import json
import math
import pathlib
import re
import sys
import tempfile

import varve


class Mismatch(Exception):
    """A case's expectation is not met, or the case is not understood."""


# -- patterns

def match(pattern, value, place):
    if isinstance(pattern, dict):
        special = [name for name in pattern if name.startswith("$")]
        if special:
            if len(pattern) != 1 or special[0] not in PATTERNS:
                raise Mismatch(f"{place}: the pattern {pattern} is not known")
            PATTERNS[special[0]](pattern[special[0]], value, place)
            return
        expect(isinstance(value, dict), pattern, value, place)
        for name, part in pattern.items():
            if part == {"$absent": True}:
                expect(name not in value, "no member " + name, value, place)
            else:
                expect(name in value, f"a member {name}", value, place)
                match(part, value[name], f"{place}.{name}")
    elif isinstance(pattern, list):
        expect(isinstance(value, list) and len(value) == len(pattern), pattern, value, place)
        for index, part in enumerate(pattern):
            match(part, value[index], f"{place}[{index}]")
    elif isinstance(pattern, (bool, str)) or pattern is None:
        expect(type(value) is type(pattern) and value == pattern, pattern, value, place)
    else:
        expect(is_number(value) and value == pattern, pattern, value, place)


def expect(holds, pattern, value, place):
    if not holds:
        raise Mismatch(f"{place}: expected {json.dumps(pattern)}, got {json.dumps(value)}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES = {"string": lambda v: isinstance(v, str), "number": is_number,
         "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
         "object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list)}


def matches(pattern, value):
    try:
        match(pattern, value, "")
        return True
    except Mismatch:
        return False


def unordered(patterns, value, place):
    expect(isinstance(value, list) and len(value) == len(patterns), patterns, value, place)
    left = list(value)
    for pattern in patterns:
        found = next((item for item in left if matches(pattern, item)), left)
        expect(found is not left, pattern, left, place)
        left.remove(found)


def contains(patterns, value, place):
    expect(isinstance(value, list), patterns, value, place)
    for pattern in patterns:
        expect(any(matches(pattern, item) for item in value), pattern, value, place)


def lines(pattern, value, place):
    expect(isinstance(value, str), pattern, value, place)
    match(pattern, [json.loads(line) for line in value.split("\n") if line], place)


PATTERNS = {
    "$any": lambda p, v, at: expect(p is True, p, v, at),
    "$type": lambda p, v, at: expect(TYPES[p](v), p, v, at),
    "$matches": lambda p, v, at: expect(isinstance(v, str) and re.search(p, v), p, v, at),
    "$length": lambda p, v, at: expect(isinstance(v, list) and len(v) == p, p, v, at),
    "$unordered": unordered,
    "$contains": contains,
    "$number": lambda p, v, at: expect(type(v) is int and v == int(p), p, v, at),
    "$between": lambda p, v, at: expect(
        is_number(v) and math.isfinite(v) and p[0] <= v <= p[1], p, v, at),
    "$jsonl": lines,
    "$json": lambda p, v, at: match(p, json.loads(v), at),
}


# -- operations: name, and what it does with (runner, arguments); `a` takes every argument

def document(value):
    return value["$text"] if isinstance(value, dict) and set(value) == {"$text"} else value


def handle_call(kind, method, *names):
    return lambda run, a: getattr(run.handle(a, kind), method)(
        *(document(a(name)) for name in names))


def session_call(method, *names):
    return handle_call("session", method, *names)


def store_call(method, *names):
    return handle_call("store", method, *names)


def results_of(results):
    """A query's step keeps the handle and has the whole document as its value."""
    return Kept(results, json.loads(results.to_json()))


class Kept:
    def __init__(self, handle, value=None):
        self.handle, self.value = handle, value


def tags(run, a):
    return {"tags": [{"tag": tag, "entries": count}
                     for tag, count in run.handle(a, "session").tags().items()]}


def set_log(run, a):
    store, level = run.handle(a, "store"), a("level")
    kept = run.logs.setdefault(id(store), [])
    store.set_log(lambda at, line: kept.append({"level": at, "line": line}), level)


def clock(run, a):
    store = run.handle(a, "store")
    if id(store) not in run.clocks:
        run.clocks[id(store)] = a("now_ms")
        store.set_clock(lambda: run.clocks[id(store)])
    run.clocks[id(store)] = a("now_ms")


def set_progress(run, a):
    answer = a("answer")
    hear = {"go_on": lambda *_: True, "stop": lambda *_: False, None: None}[answer]
    run.handle(a, "session").set_progress(hear)


def failing(text):
    raise RuntimeError("no tokenizer here")


def set_token_counter(run, a):
    count = {"bytes": lambda text: len(text.encode()), "failing": failing, None: None}
    run.handle(a, "store").set_token_counter(count[a("counter")])


def file_replace(run, a):
    path, find = pathlib.Path(a("path")), a("find").encode()
    before = path.read_bytes()
    if find not in before:
        raise Mismatch(f"{find!r} is not in {path.name}")
    path.write_bytes(before.replace(find, a("replace").encode(), 1))


def file_write(run, a):
    pathlib.Path(a("path")).write_bytes(a("text").encode())


def delete_where(run, a):
    query = document(a("query_json"))
    return run.handle(a, "session").delete_where({} if query is None else query, a("reason"))


OPERATIONS = {
    "abi_version": lambda run, a: varve.ABI_VERSION,
    "version": lambda run, a: varve.library_version(),
    "status_name": lambda run, a: varve.status_name(a("status")),
    "store_open": lambda run, a: Kept(varve.Store(a("uri"), document(a("config_json")))),
    "store_close": store_call("close"),
    "store_sync": store_call("sync"),
    "store_sessions": store_call("sessions", "filter_json"),
    "store_delete_session": store_call("delete_session", "id"),
    "store_query": lambda run, a: results_of(
        run.handle(a, "store").query(document(a("query_json")))),
    "store_backup": store_call("backup", "path", "options_json"),
    "store_restore": store_call("restore", "path", "options_json"),
    "store_sweep": store_call("sweep"),
    "store_stats": store_call("stats"),
    "store_usage": store_call("usage", "filter_json"),
    "store_metrics": store_call("metrics"),
    "store_set_log": set_log,
    "store_set_clock": lambda run, a: run.handle(a, "store").set_clock(None),
    "session_create": lambda run, a: Kept(
        run.handle(a, "store").create_session(document(a("options_json")))),
    "session_open": lambda run, a: Kept(run.handle(a, "store").open_session(a("id"))),
    "session_close": session_call("close"),
    "session_id": lambda run, a: run.handle(a, "session").id,
    "session_metadata": session_call("metadata"),
    "session_update": session_call("update", "patch_json"),
    "session_sync": session_call("sync"),
    "session_stats": session_call("stats"),
    "session_files": lambda run, a: {"files": run.handle(a, "session").files()},
    "session_tags": tags,
    "session_index": session_call("index"),
    "session_set_progress": set_progress,
    "session_add": session_call("add", "entry_json"),
    "session_add_batch": session_call("add_batch", "entries"),
    "session_get": session_call("get", "id"),
    "session_delete": session_call("delete", "id", "reason"),
    "session_delete_where": delete_where,
    "session_query": lambda run, a: results_of(
        run.handle(a, "session").query(document(a("query_json")))),
    "session_count": session_call("count", "query_json"),
    "results_count": lambda run, a: len(run.handle(a, "results")),
    "results_entry": lambda run, a: run.handle(a, "results").entry(a("index")),
    "results_score": lambda run, a: run.handle(a, "results").score(a("index")),
    "results_next": lambda run, a: run.handle(a, "results").next,
    "results_json": lambda run, a: json.loads(run.handle(a, "results").to_json()),
    "results_free": lambda run, a: run.handle(a, "results").close(),
    "session_verify": session_call("verify", "options_json"),
    "session_repair": session_call("repair", "options_json"),
    "session_compact": session_call("compact", "options_json"),
    "session_purge": session_call("purge", "options_json"),
    "session_migrate": session_call("migrate", "options_json"),
    "session_rebuild_index": session_call("rebuild_index", "options_json"),
    "session_export": session_call("export", "format"),
    "session_import": session_call("import_text", "jsonl"),
    "session_export_file": session_call("export_file", "path", "options_json"),
    "session_import_file": session_call("import_file", "path", "options_json"),
    "session_put_vector": session_call("put_vector", "id", "values"),
    "store_set_token_counter": set_token_counter,
    "kv_set": session_call("kv_set", "key", "value"),
    "kv_get": session_call("kv_get", "key"),
    "kv_delete": session_call("kv_delete", "key"),
    "kv_list": session_call("kv_list"),
    "transcript_append": session_call("transcript_append", "role", "content"),
    "transcript_last": session_call("transcript_last", "n"),
    "window_new": lambda run, a: Kept(varve.Window(a("capacity"))),
    "window_add": handle_call("window", "add", "entry_json"),
    "window_recent": handle_call("window", "recent", "n"),
    "window_text": handle_call("window", "text"),
    "window_clear": handle_call("window", "clear"),
    "window_size": lambda run, a: len(run.handle(a, "window")),
    "window_free": handle_call("window", "close"),
    "memory_open": lambda run, a: Kept(
        run.handle(a, "store").memory(document(a("options_json")))),
    "memory_record": handle_call("memory", "record", "session_id", "entry_json"),
    "memory_context": lambda run, a: run.handle(a, "memory").context(
        a("session_id"), a("max_tokens") or 0),
    "memory_load": handle_call("memory", "load", "session_id"),
    "memory_save": handle_call("memory", "save", "session_id"),
    "memory_clear": handle_call("memory", "clear"),
    "memory_store": handle_call("memory", "store", "entry_json"),
    "memory_search": lambda run, a: results_of(
        run.handle(a, "memory").search(document(a("query_json")))),
    "memory_delete": handle_call("memory", "delete", "id", "reason"),
    "memory_close": handle_call("memory", "close"),
    "context_build": session_call("build_context", "request_json"),
    "context_record": session_call("record", "kind", "payload_json"),
    "clock": clock,
    "log_lines": lambda run, a: list(run.logs[id(run.handle(a, "store"))]),
    "file_write": file_write,
    "file_read": lambda run, a: pathlib.Path(a("path")).read_bytes().decode(),
    "file_replace": file_replace,
}


# -- a case

class Run:
    """One case: its variables, clocks and logs."""

    def __init__(self, folder):
        self.variables = {"dir": folder}
        self.opened, self.clocks, self.logs = [], {}, {}

    def handle(self, arguments, name):
        return self.variables[arguments(name)]

    def path(self, mark):
        name, *members = mark.split(".")
        if name not in self.variables:
            raise Mismatch(f"there is no variable {name}")
        value = self.variables[name]
        for member in members:
            value = value[int(member)] if isinstance(value, list) else value[member]
        return value

    def filled(self, value):
        """`value` with its variables in place, and its exact numbers."""
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self.filled(item) for name, item in value.items()}
        if not isinstance(value, str):
            return value
        whole = re.fullmatch(r"\$\{([^{}]*)\}", value)
        if whole:
            return self.path(whole[1])
        return re.sub(r"\$\{([^{}]*)\}", lambda mark: as_text(self.path(mark[1])), value)

    def step(self, step, place):
        if set(step) - {"op", "args", "save", "expect"} or step["op"] not in OPERATIONS:
            raise Mismatch(f"{place}: {step} is not known")
        wanted = {"status": "VARVE_OK", **self.filled(step.get("expect", {}))}
        if set(wanted) - {"status", "value", "details", "message"}:
            raise Mismatch(f"{place}: {sorted(wanted)}: not all known")
        arguments = numbers(self.filled(step.get("args", {})))
        used = set()

        def argument(name):
            used.add(name)
            return arguments.get(name)

        got = self.carry_out(step, argument)
        if set(arguments) - used:
            raise Mismatch(f"{place}: {sorted(set(arguments) - used)}: unknown arguments")
        match(wanted.pop("status"), got["status"], f"{place} {got.get('message', '')}: status")
        for part, pattern in wanted.items():
            match(pattern, got.get(part), f"{place}: {part}")
        if "save" in step:
            self.variables[step["save"]] = got["save"]

    def carry_out(self, step, argument):
        try:
            answer = OPERATIONS[step["op"]](self, argument)
        except varve.VarveError as error:
            status = {cls: varve.status_name(cls.STATUS) for cls in (
                varve.VarveError.__subclasses__())}.get(type(error), "VARVE_UNKNOWN_STATUS")
            return {"status": status, "details": error.details, "message": error.message,
                    "save": None}
        if isinstance(answer, Kept):
            self.opened.append(answer.handle)
            return {"status": "VARVE_OK", "value": answer.value, "save": answer.handle}
        return {"status": "VARVE_OK", "value": answer, "save": answer}

    def close(self):
        for handle in reversed(self.opened):
            handle.close()


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def numbers(value):
    """{"$number": "…"} in arguments, as numbers."""
    if isinstance(value, list):
        return [numbers(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$number"}:
            return int(value["$number"])
        return {name: numbers(item) for name, item in value.items()}
    return value


def run_case(path):
    """None, or what is wrong."""
    case = json.loads(path.read_text())
    if case["name"] != path.stem:
        return f"its name is {case['name']}"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        try:
            for number, step in enumerate(case["steps"], 1):
                run.step(step, f"step {number} ({step.get('op')})")
        except Mismatch as problem:
            return str(problem)
        finally:
            run.close()
    return None


def main():
    folder, *names = sys.argv[1:]
    paths = sorted(path for path in pathlib.Path(folder).glob("*.json")
                   if not names or path.stem in names)
    failed = 0
    for path in paths:
        try:
            problem = run_case(path)
        except Exception as error:  # a runner that stops would hide the other cases
            problem = f"{type(error).__name__}: {error}"
        if problem:
            failed += 1
            print(f"{path.stem}: {problem}")
    print(f"{len(paths)} cases, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
