"""The examples that README.md quotes.

    python readme.py --update      writes programs and what they print into README.md
"""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
README = PACKAGE / "README.md"
QUOTE = re.compile(r"<!-- example: (?P<name>\w+\.py) -->\n```python\n(?P<program>.*?)```\n"
                   r"<!-- prints -->\n```\n(?P<printed>.*?)```\n", re.S)


def printed_by(name):
    """What an example prints with a new directory, and again when it is run once more."""
    printed = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            done = subprocess.run([sys.executable, PACKAGE / "examples" / name,
                                   folder + "/memory"],
                                  capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                raise RuntimeError(f"{name}, run {len(printed) + 1}: {done.stderr}")
            printed.append(done.stdout)
    if printed[0] != printed[1]:
        raise RuntimeError(f"{name} prints something else when it is run again: {printed[1]}")
    return printed[0]


def quotes():
    """{name: (program, what it prints)} as README.md has them."""
    return {match["name"]: (match["program"], match["printed"])
            for match in QUOTE.finditer(README.read_text())}


def current(name):
    return (PACKAGE / "examples" / name).read_text(), printed_by(name)


def update():
    def renewed(match):
        program, printed = current(match["name"])
        return (f"<!-- example: {match['name']} -->\n```python\n{program}```\n"
                f"<!-- prints -->\n```\n{printed}```\n")
    README.write_text(QUOTE.sub(renewed, README.read_text()))


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
