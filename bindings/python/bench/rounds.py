#!/usr/bin/env python3
"""Opens and closes a store and a session 100,000 times, and tells how memory and files grow.

    rounds.py [COUNT]     exits 1 when memory grows by 4 MiB or a descriptor stays open
"""
import os
import sys
import tempfile

import varve


def usage():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))


def rounds(directory, count):
    for number in range(count):
        uri = directory if number % 10 == 0 else "memory:"
        with varve.Store(uri) as store:
            session = store.open_session("s") if uri == directory else store.create_session()
            with session:
                session.query().close()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    with tempfile.TemporaryDirectory() as directory:
        with varve.Store(directory) as store:
            store.create_session(session_id="s").add({"type": "finding", "content": 1})
        rounds(directory, 2000)
        memory, files = usage()
        rounds(directory, count)
        grown = usage()[0] - memory, usage()[1] - files
    print(f"{count} rounds: {grown[0] / 1024:.0f} KiB and {grown[1]} descriptors more")
    return 1 if grown[0] >= 4 << 20 or grown[1] else 0


if __name__ == "__main__":
    sys.exit(main())
