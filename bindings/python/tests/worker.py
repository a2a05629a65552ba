"""Adds entries to a session and prints the id of each one once it was acknowledged.

    python worker.py DIRECTORY SESSION PREFIX COUNT [FIRST]

Entry N, from FIRST or 0 on, has the id PREFIX-N and the content "PREFIX counts to N ☕". That it
is there already counts as acknowledged: a worker that was killed is started again at the first
entry that it did not tell of. tests/bindings/shared_store_test.py runs one of each language.
"""
import sys

import varve


def main():
    directory, session_id, prefix, count, *first = sys.argv[1:]
    with varve.Store(directory, {"concurrency": {"lock_timeout_ms": 60000}}) as store:
        with store.open_session(session_id) as session:
            for number in range(int(*first), int(count)):
                entry = {"id": f"{prefix}-{number}", "type": "observation",
                         "content": f"{prefix} counts to {number} ☕"}
                try:
                    session.add(entry)
                except varve.AlreadyExists:
                    pass
                print(entry["id"], flush=True)


if __name__ == "__main__":
    main()
