"""Adds entries to a session and prints the id of each one that was acknowledged.

    python worker.py DIRECTORY SESSION PREFIX COUNT

Entry N has the id PREFIX-N. Ids that are there already (VARVE_ALREADY_EXISTS) count as
acknowledged, so a worker that was killed is simply started again.
"""
import sys

import varve


def main():
    directory, session_id, prefix, count = sys.argv[1:]
    with varve.Store(directory, {"concurrency": {"lock_timeout_ms": 60000}}) as store:
        with store.open_session(session_id) as session:
            for number in range(int(count)):
                entry = {"id": f"{prefix}-{number}", "type": "observation", "content": number}
                try:
                    session.add(entry)
                except varve.AlreadyExists:
                    pass
                print(entry["id"], flush=True)


if __name__ == "__main__":
    main()
