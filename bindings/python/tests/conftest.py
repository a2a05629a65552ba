import os
import pathlib
import subprocess
import sys

import pytest

import varve

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
NOW_MS = 1767225600000  # 2026-01-01T00:00:00Z


def memory_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown_bytes(work, times):
    """What the process has grown by when `work` has been done so often."""
    for _ in range(times // 10):
        work()
    before = memory_bytes()
    for _ in range(times):
        work()
    return memory_bytes() - before


@pytest.fixture
def store():
    with varve.Store("memory:") as opened:
        yield opened


@pytest.fixture
def session(store):
    with store.create_session(session_id="s") as opened:
        yield opened


@pytest.fixture
def run():
    """Runs a program in a Python of its own: run(source, *arguments) gives its output."""
    def run_program(source, *arguments, status=0, **options):
        done = subprocess.run([sys.executable, "-c", source, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120, **options)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout
    return run_program
