#!/usr/bin/env python3
"""Writes the inputs that are no text: corpus/store_operations and corpus/capi_calls.

The numbers are places in the tables of the two targets; run it after changing one of those.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).parent

# --- store_operations: an operation and its arguments ---

(ADD, _, _, ADD_BY_OTHER, ADD_EXPIRING, BATCH, REMOVE, REMOVE_BY_OTHER, GET, RESTART, KILL,
 COMPACT, COMPACT_BY_OTHER, PURGE, REPAIR, SET, SAY, WAIT, INDEX, LINES, METADATA,
 BY_HAND) = range(22)
A, B, C = range(3)
LOST_POWER_FROM, OPERATIONS = 0xC0, 22


def text(value):
    return bytes([len(value)]) + value


def add(entry, operation=ADD, content=b'"tea"'):
    return bytes([operation, entry]) + text(content)


def set_key(key, value):
    return bytes([SET, key]) + text(value) + bytes([1, 0])


def losing_power(operation, at, kept):
    """The operation (bytes), with the power failing before its `at`-th access to the disk."""
    code = next(c for c in range(LOST_POWER_FROM, 256) if c % OPERATIONS == operation[0])
    return bytes([code, at]) + kept.to_bytes(8, "big") + operation[1:]


STORE_OPERATIONS = {
    "add_and_remove": add(A) + add(B, content=b"[1,9007199254740993]") + bytes([REMOVE, A, GET, A])
                      + add(A) + bytes([RESTART, COMPACT, PURGE]),
    "two_processes": add(A, ADD_BY_OTHER) + add(B) + bytes([REMOVE_BY_OTHER, B, COMPACT_BY_OTHER])
                     + add(C) + bytes([KILL]) + add(C),
    "expiry": add(A, ADD_EXPIRING) + add(B) + bytes([WAIT, WAIT, GET, A]) + add(A)
              + bytes([COMPACT]) + add(A),
    "batch": bytes([BATCH, 7]) + text(b"{}") + bytes([BATCH, 8 + 1]) + text(b"1")
             + bytes([RESTART]),
    "damage": add(A) + bytes([LINES, 0]) + add(B) + bytes([LINES, 4]) + add(C)
              + bytes([METADATA, 1, REPAIR, INDEX]) + text(b"VARVEIDX") + b"\0",
    "by_hand": add(A) + bytes([BY_HAND, B]) + text(b"null") + bytes([BY_HAND, A]) + text(b"2")
               + bytes([REPAIR, PURGE]),
    "stores": set_key(0, b"1") + set_key(2, b"2") + set_key(0, b"3") + bytes([SAY])
              + text(b"hello") + bytes([0, KILL]),
    "lost_power_adding": add(A) + losing_power(add(B), 6, 1)
                         + losing_power(add(C), 9, 0x8001 << 48 | 7) + bytes([RESTART]),
    "lost_power_compacting": add(A) + add(B) + bytes([REMOVE, A])
                             + losing_power(bytes([COMPACT]), 12, 5) + add(C),
    "lost_power_purging": add(A, ADD_EXPIRING) + bytes([WAIT, WAIT])
                          + 2 * losing_power(bytes([PURGE]), 20, 0) + add(A),
    "lost_power_repairing": add(A) + bytes([METADATA, 1]) + losing_power(bytes([REPAIR]), 30, 0),
    "lost_power_batch": losing_power(bytes([BATCH, 7]) + text(b"{}"), 5, 0x0909 << 48 | 1)
                        + bytes([REPAIR]),
}

# --- capi_calls: a function and its arguments, by their types ---

SOURCE = (HERE / "capi_calls_fuzz.cpp").read_text()
ROWS = re.findall(r"ROW\((\w+)\)", SOURCE.split("constexpr Row kRows[]")[1].split("};")[0])
TEXTS = SOURCE.split("constexpr const char* kTexts[] = {")[1].split("};")[0]
TEXTS = [a if a else b for a, b in re.findall(r'R"\((.*?)\)"|"(.*?)"', TEXTS)]
HANDLE, OUT, NULL_OUT = b"\0", b"\0", b"\7"
CLOSE, LOOK = bytes([len(ROWS)]), bytes([len(ROWS) + 1])
NONE = b"\0"  # a text that is NULL


def known(value):
    return bytes([7, TEXTS.index(value)])


def given(value):
    return bytes([5]) + text(value)


def call(name, *arguments):
    return bytes([ROWS.index(name)]) + b"".join(arguments)


OPEN = call("open_memory", NONE, OUT, OUT)
CREATE = OPEN + call("varve_session_create", HANDLE, known('{"session_id":"s"}'), OUT, OUT)
ENTRY = known('{"id":"a","type":"message","content":{"role":"user","content":"hello"},'
              '"tags":["t.u"]}')
ACROSS = known('{"question":"hello","across":{},"budget":{"max_tokens":50}}')
HELLO = known('{"role":"user","content":"Hello"}')
ADDED = CREATE + call("varve_session_add", HANDLE, ENTRY, OUT, OUT, OUT)


def of_session(name, *arguments):
    return call(name, HANDLE, *arguments)


CAPI_CALLS = {
    "add_get_delete": ADDED + of_session("varve_session_get", known("a"), OUT, OUT, OUT)
                      + of_session("varve_session_delete", known("a"), NONE, OUT)
                      + of_session("varve_session_get", known("a"), OUT, NULL_OUT, OUT),
    "query": ADDED + of_session("varve_session_query",
                                known('{"text":"tea","limit":1,"explain":true}'), OUT, OUT)
             + of_session("varve_session_query", NONE, OUT, OUT)
             + call("varve_results_entry", HANDLE, b"\0", OUT, OUT, OUT)
             + call("varve_results_score", HANDLE, b"\0", OUT, OUT)
             + call("varve_results_next", HANDLE, OUT, OUT, OUT)
             + call("varve_results_json", HANDLE, OUT, OUT, OUT),
    "maintenance": ADDED + b"".join(
        of_session("varve_session_" + name, NONE, OUT, OUT, OUT)
        for name in ("verify", "repair", "compact", "purge", "migrate", "rebuild_index")),
    "stores": ADDED + of_session("varve_kv_set", known("a"), given(b"\xff"), OUT)
              + of_session("varve_kv_set", known("a"), given(b"v"), OUT)
              + of_session("varve_kv_get", known("a"), OUT, OUT, OUT)
              + of_session("varve_transcript_append", known("user"), known("a"), OUT)
              + of_session("varve_transcript_last", b"\xff", OUT, OUT, OUT),
    "windows": call("varve_window_new", b"\2", OUT, OUT)
               + call("varve_window_add", HANDLE, HELLO, OUT)
               + call("varve_window_text", HANDLE, OUT, OUT, OUT) + CLOSE + b"\3\0" + LOOK + b"\0",
    "memory": OPEN + call("varve_memory_open", HANDLE, NONE, OUT, OUT)
              + call("varve_memory_record", HANDLE, known("s"), HELLO, OUT, OUT, OUT)
              + call("varve_memory_context", HANDLE, known("s"), b"\x40", OUT, OUT, OUT)
              + call("varve_memory_save", HANDLE, known("s"), OUT),
    "context": ADDED + of_session("varve_context_record", known("user_message"),
                                  known('{"content":"hello","tool":"x","call_id":"1"}'),
                                  OUT, OUT, OUT)
               + of_session("varve_context_build", NONE, OUT, OUT, OUT)
               + of_session("varve_context_build", ACROSS, OUT, OUT, OUT),
    "closed_store": ADDED + CLOSE + b"\1\1" + of_session("varve_session_sync", OUT)
                    + CLOSE + b"\1\1" + CLOSE + b"\2\0",
    "bad_texts": CREATE + b"".join(call("varve_session_add", HANDLE, form, OUT, OUT, OUT)
                                   for form in (b"\0", b"\1", b"\2", b"\3", given(b"\xc3"),
                                                given(b"{"))),
    "callbacks": OPEN + call("varve_store_set_log", HANDLE, b"\0", b"\1", OUT)
                 + call("varve_store_set_clock", HANDLE, b"\1", OUT)
                 + call("varve_store_set_token_counter", HANDLE, b"\1", OUT) + CREATE,
}


def main():
    for folder, inputs in (("store_operations", STORE_OPERATIONS), ("capi_calls", CAPI_CALLS)):
        (HERE / "corpus" / folder).mkdir(exist_ok=True)
        for name, content in inputs.items():
            (HERE / "corpus" / folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
