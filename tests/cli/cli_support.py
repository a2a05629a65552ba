"""Runs the built program, as a person or a script would."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Longer than anything takes, sanitizers included; a hung program fails instead of hanging the run.
TIMEOUT_S = 120


def program():
    path = os.environ.get("VARVE_CLI", "")
    if not os.access(path, os.X_OK):
        raise SystemExit(f"VARVE_CLI does not name the built program: {path!r}")
    return path


class CliTest(unittest.TestCase):
    """A test with an empty directory of its own, and a store's name in it that does not exist."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="varve-cli-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.root = self.directory / "store"

    def environment(self, **changes):
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "HOME", "LD_LIBRARY_PATH") or name.endswith("SAN_OPTIONS")
        }
        return {**kept, "VARVE_ROOT": str(self.root), **changes}

    def run_cli(self, *words, stdin="", exit_code=0, environment=None):
        """Gives what was printed; fails the test when the exit code is another."""
        done = subprocess.run(
            [program(), *words],
            input=stdin.encode(),
            capture_output=True,
            env=self.environment(**(environment or {})),
            cwd=self.directory,
            timeout=TIMEOUT_S,
        )
        # Decoded here: carriage returns must stay what they are.
        done.stdout = done.stdout.decode()
        done.stderr = done.stderr.decode()
        self.assertEqual(
            done.returncode,
            exit_code,
            f"varve {words}\nstdout: {done.stdout}\nstderr: {done.stderr}",
        )
        return done

    def run_json(self, *words, **options):
        return json.loads(self.run_cli(*words, "--json", **options).stdout)

    def error_of(self, *words, exit_code, **options):
        """The error object that --json prints."""
        done = self.run_cli(*words, "--json", exit_code=exit_code, **options)
        return json.loads(done.stderr.splitlines()[-1])["error"]

    def run_in_terminal(self, *words, typed="", environment=None, columns=60):
        """Gives the exit code and what a pseudo-terminal of so many columns shows."""
        main_end, other_end = pty.openpty()
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [program(), *words], stdin=other_end, stdout=other_end, stderr=other_end,
            env=self.environment(**{"TERM": "xterm", **(environment or {})}),
            start_new_session=True)
        os.close(other_end)
        if typed:
            os.write(main_end, typed.encode())
        output = read_to_end(main_end)
        os.close(main_end)
        return process.wait(TIMEOUT_S), output

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def session_file(self, session, name):
        return self.root / "sessions" / session / name

    def notes(self, count=3):
        """A session `notes` with entries e1, e2 ..., a minute apart."""
        lines = "".join(entry_line(n) for n in range(1, count + 1))
        self.run_cli("import", "notes", "-", stdin=lines)


class hold_lock:
    """Holds the write lock of a session, as another process would."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.file = open(self.path, "a+b")
        fcntl.lockf(self.file, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_):
        self.file.close()


def read_to_end(main_end):
    """What a pseudo-terminal shows until no program has it any more."""
    output = b""
    while select.select([main_end], [], [], TIMEOUT_S)[0]:
        try:
            data = os.read(main_end, 65536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        output += data
    return output.decode()


def entry_line(number, **changes):
    entry = {
        "id": f"e{number}",
        "type": "finding",
        "timestamp": f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
        "content": {"role": "user", "message": f"note {number}"},
        "tags": ["odd" if number % 2 else "even"],
        **changes,
    }
    return json.dumps(entry, ensure_ascii=False) + "\n"


def help_text(*command):
    words = [program(), *command, "--help"]
    return subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    ).stdout


def section(text, title):
    """The lines of one section of a help page."""
    lines = text.splitlines()
    start = lines.index(title) + 1
    taken = []
    for line in lines[start:]:
        if line and not line.startswith(" "):
            break
        taken.append(line)
    return taken


def command_names():
    """The commands that --help lists, each as the list of its names."""
    listed = section(help_text(), "COMMANDS")
    names = [re.match(r"    ([a-z-]+(?:, [a-z-]+)*)(?:  |$)", line) for line in listed]
    return [match.group(1).split(", ") for match in names if match]


def commands():
    """The commands that --help lists."""
    return [names[0] for names in command_names()]


def second_names():
    """{second name: command}"""
    return {name: names[0] for names in command_names() for name in names[1:]}


def options(*command):
    """The options that --help lists, each as the list of its names."""
    page = help_text(*command)
    if "OPTIONS" not in page.splitlines():
        return []
    found = []
    for line in section(page, "OPTIONS"):
        match = re.match(r"    (-[a-zA-Z], )?(--[a-z][a-z-]*)", line)
        if match:
            short = [match.group(1)[:2]] if match.group(1) else []
            found.append(short + [match.group(2)])
    return found


def hear_signals():
    """Programs inherit that a signal is ignored: by `nohup`, or in the background of a script."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main():
    hear_signals()
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        os.environ["VARVE_CLI"] = os.path.abspath(sys.argv.pop(1))
    program()
    unittest.main()
