"""Makes the files that docs/format.md shows, with the library itself and a clock of our own."""

import base64
import json
import pathlib
import struct

from varve_library import Library

MORNING_MS = 1768055025678  # 2026-01-10T14:23:45.678Z
CONFIG = """{
  "version": "1.0",
  "storage": {"max_session_size_mb": 50},
  "concurrency": {"lock_timeout_ms": 2000},
  "durability": "commit"
}
"""
GIVEN = {"type": "finding", "content": "tea, not coffee"}
PREFERENCE = {
    "id": "tea",
    "type": "preference",
    "timestamp": "2026-01-10T15:20:00+01:00",
    "content": {"person": "Ann", "message": "Tea, not coffee ☕"},
    "importance": 0.9,
    "tags": ["drinks", "people.ann"],
}
BATCH = [
    {"id": "call-1", "type": "tool_call", "content": {"tool": "find_order"},
     "expires_at": "2026-02-01T00:00:00Z"},
    {"id": "result-1", "type": "tool_result", "references": ["call-1"],
     "content": {"order": 9007199254740993, "paid": 12.50, "note": None}},
]
BY_HAND = ('{"id":"by-hand","type":"decision","timestamp":"2026-01-10T16:00:00Z",'
           '"content":"The kettle stays."}\n')
TORN = '{"checksum":"sha256:3f0c'
LOCK_PLACEHOLDERS = {
    "boot_id": "d1f0a3c2-5b0e-4d6f-9d7e-2f3b8a1c4e60", "check": "1234567890123456789",
    "file": "2049:131", "pid": 4711,
}
HEADER_BYTES = 976
SHOWN_HEADER_BYTES = 128
DIRECTORY_AT = 248
SECTIONS = 18
PLACE_BYTES = 40  # of a section in the directory
CATALOGUED_SESSIONS = 32
BLOCK_BYTES = 8192  # each with a hash


def make_store(library_path, root):
    """A store at `root` with one session, `kitchen`, in which everything has happened once."""
    root = pathlib.Path(root)
    root.mkdir(mode=0o700)
    (root / "config.json").write_text(CONFIG, encoding="utf-8")
    library = Library(library_path)
    library.now_ms = MORNING_MS
    store = library.open_store(root)
    session = store.create(session_id="kitchen", user_id="ann", agent_id="planner",
                           title="Things to remember")
    folder = root / "sessions" / "kitchen"
    session.kv_set("user_name", "sachi")
    session.say("user", "Hello, tell me about your memory system.")
    library.now_ms += 4_000
    session.say("assistant",
                "I can store key-value pairs and maintain a conversation transcript…")
    session.kv_set("topic", "rust memory systems")
    library.now_ms += 56_000
    session.add(PREFERENCE)
    library.now_ms += 60_000
    session.add_batch(BATCH)
    # Somebody appends a line with an editor; then a writer dies in the middle of its line.
    with open(folder / "memory.jsonl", "a", encoding="utf-8") as log:
        log.write(BY_HAND + TORN)
    library.now_ms += 60_000
    session.delete("call-1", "asked for by Ann")
    library.now_ms += 60_000
    session.add({"id": "cups", "type": "finding", "content": {"message": "There are 6 cups."}})
    session.put_vector("cups", [0.6, 0.8])
    session.close()
    store.close()
    return folder


def made_example(library_path):
    """What the smallest entry becomes; its id differs from run to run, so one is given."""
    library = Library(library_path)
    library.now_ms = MORNING_MS
    store = library.open_store("memory:")
    session = store.create(session_id="kitchen")
    session.add({**GIVEN, "id": "mem_01kek7zd7e7v5xq3m0t9c2r4ah"})
    line = session.export("jsonl")
    store.close()
    return line


def make_catalogued_store(library_path, root):
    """A store at `root` with just so many sessions that a query makes a catalog."""
    library = Library(library_path)
    library.now_ms = MORNING_MS
    store = library.open_store(root, '{"durability":"os"}')
    for number in range(CATALOGUED_SESSIONS):
        session = store.create(session_id=f"room-{number}", user_id="ann")
        session.add({"type": "finding", "content": "tea, not coffee", "tags": ["drinks.tea"]})
        session.close()
    query = {"tags": {"include": ["drinks"]}}
    assert len(store.query(query)["results"]) == CATALOGUED_SESSIONS
    session = store.open("room-7")
    session.add(GIVEN)
    session.close()
    assert len(store.query(query)["results"]) == CATALOGUED_SESSIONS
    store.close()
    return root / "indices" / "catalog"


def catalog_example(log):
    """What entries of the catalog say: one of each of two types."""
    entries = [json.loads(line) for line in log.splitlines()]
    shown = [{name: entry[name] for name in ("content", "tags", "type")} for entry in entries
             if entry["content"]["session"] == "room-7"]
    return "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in shown)


def lock_example(text):
    state = json.loads(text)
    assert len(text) == 512 and text.endswith(" \n")
    assert state.keys() > LOCK_PLACEHOLDERS.keys(), state
    state.update(LOCK_PLACEHOLDERS)
    return json.dumps(state, sort_keys=True, separators=(",", ":")) + "\n"


def hex_dump(data, base=0):
    lines = []
    for at in range(0, len(data), 16):
        row = data[at:at + 16]
        octets = " ".join(f"{byte:02x}" for byte in row)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{base + at:08x}  {octets:<47}  |{shown}|")
    return "\n".join(lines) + "\n"


def section_lines(index):
    """The section directory as text."""
    lines = []
    for number in range(SECTIONS):
        offset, length, digest, base, step = struct.unpack_from(
            "<QQQQQ", index, DIRECTORY_AT + number * PLACE_BYTES)
        lines.append(f"{number:2}  offset {offset:4}  length {length:3}  XXH3-64 {digest:016x}"
                     + (f"  base {base}" if base else "") + (f"  step {step}" if step else ""))
    return "\n".join(lines) + "\n"


def without_checksum(line):
    """The text that the checksum of a line of ours is taken from."""
    start = line.index('"checksum":')
    return line[:start] + line[line.index(",", start) + 1:]


def make_examples(library_path, root):
    """{name: text} of every example in docs/format.md."""
    folder = make_store(library_path, root)

    def read(path):
        return (folder / path).read_text(encoding="utf-8")

    catalog = make_catalogued_store(library_path, pathlib.Path(root).parent / "catalogued")
    log = read("memory.jsonl")
    index = (folder / "index.bin").read_bytes()
    quarantined = json.loads(read("quarantine.jsonl"))
    assert base64.b64decode(quarantined["bytes"]).decode() == TORN
    return {
        "config.json": CONFIG,
        "given": json.dumps(GIVEN, separators=(",", ":")) + "\n",
        "made": made_example(library_path),
        "memory.jsonl": log,
        "checksum-input": without_checksum(log.splitlines()[0]) + "\n",
        "tombstones.jsonl": read("tombstones.jsonl"),
        "quarantine.jsonl": read("quarantine.jsonl"),
        "metadata.json": read("metadata.json"),
        "kv.json": read("kv.json"),
        "transcript.md": read("transcript.md"),
        "lock": lock_example(read("lock")),
        "catalog": catalog_example((catalog / "memory.jsonl").read_text(encoding="utf-8")),
        "sessions.jsonl": read("../../indices/sessions.jsonl"),
        "index.bin-header": hex_dump(index[:SHOWN_HEADER_BYTES]),
        "index.bin-sections": section_lines(index),
    }
