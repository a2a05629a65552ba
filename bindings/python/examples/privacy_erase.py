"""Erases what is known about a person, and shows that no file has it any more."""
import pathlib
import sys

import varve

directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "./memory")


def files_with(text):
    return [path.name for path in directory.rglob("*")
            if path.is_file() and text.encode() in path.read_bytes()]


with varve.Store(directory) as store, store.create_session(title="Clinic") as session:
    session.add({"id": "visit", "type": "observation", "content": "Ann Miller has hay fever",
                 "tags": ["people.ann"]})
    session.add({"id": "hours", "type": "finding", "content": "Open until six"})
    session.sync()
    print("before:", files_with("hay fever"))

    erased = session.delete_where(tags={"include": ["people.ann"]}, reason="asked for on Monday")
    report = session.purge()
    print("erased:", erased, "and dropped from the log:", report["dropped"]["deleted"])
    print("after:", files_with("hay fever"))
    print("still known:", [result["entry"]["content"] for result in session.query()])
    audit = (directory / "sessions" / session.id / "tombstones.jsonl").read_text()
    print("the audit log has the reason:", "asked for on Monday" in audit)
