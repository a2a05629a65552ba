"""Every status has its class, and an error tells the place."""
import errno
import fcntl
import os
import pickle
import resource
import signal
import struct

import pytest

import varve
from conftest import grown_bytes
from varve import _raw
from varve.errors import CLASSES, error_of

ENTRY = {"type": "finding", "content": "tea"}
F_OFD_SETLK = 37  # of Linux; not every fcntl module names it


def test_every_status_has_a_class_of_its_own():
    assert set(CLASSES) == set(_raw.STATUS_NAMES) - {_raw.VARVE_OK}
    for status, name in _raw.STATUS_NAMES.items():
        if status == _raw.VARVE_OK:
            continue
        error = error_of(status, "told", {"path": "/p", "offset": 3, "line": 2, "member": "m"})
        assert type(error) is CLASSES[status]
        assert error.status_name == name == varve.status_name(status)
        assert (error.path, error.offset, error.line, error.member) == ("/p", 3, 2, "m")
        assert str(error) == f"{name}: told (path /p, offset 3, line 2, member m)"
        assert getattr(varve, type(error).__name__) is type(error)


def test_a_status_of_a_later_version_is_an_error_too():
    error = error_of(99, "told")
    assert type(error) is varve.VarveError
    assert (error.status, error.status_name, error.details) == (
        99, "VARVE_UNKNOWN_STATUS", {})


def test_errors_of_python_that_they_also_are(session):
    with pytest.raises(LookupError):
        session.get("nobody")
    with pytest.raises(ValueError):
        session.add({"type": "finding"})


def test_place_in_the_document(session):
    with pytest.raises(varve.InvalidArgument) as caught:
        session.add_batch([{"type": "finding", "content": 1},
                           {"type": "finding", "content": 1, "tags": ["a b"]}])
    assert caught.value.member == "[1].tags[0]"
    with pytest.raises(varve.InvalidArgument) as caught:
        session.add('{"type":"finding",}')
    assert caught.value.offset == 18
    assert caught.value.line is None


def test_the_text_of_an_error_is_utf_8(store):
    with pytest.raises(varve.InvalidArgument) as caught:
        store.create_session({"☕": 1})
    assert "☕" in caught.value.message and "☕" in caught.value.member


def test_errors_go_through_pickle():
    for status in CLASSES:
        error = error_of(status, "told", {"path": "/p"})
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.status, copy.details) == (type(error), status, {"path": "/p"})


def test_errors_are_freed(session):
    """Each names the id, 100 bytes; an error that stays takes more than that."""
    def fail():
        with pytest.raises(varve.NotFound):
            session.get("x" * 100)
    assert grown_bytes(fail, 30000) < 2 << 20


def test_a_lock_that_another_process_holds(tmp_path):
    """The lock of an open file: whoever opened it keeps all others out."""
    with varve.Store(tmp_path, {"concurrency": {"lock_timeout_ms": 0}}) as store:
        session = store.create_session(session_id="s")
        session.add(ENTRY)
        with open(tmp_path / "sessions/s/lock", "r+b") as lock:
            fcntl.fcntl(lock, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
            with pytest.raises(varve.Busy) as caught:
                session.add(ENTRY)
            assert caught.value.details["path"].endswith("/sessions/s/lock")
        session.add(ENTRY)


def test_a_log_that_may_not_grow(tmp_path):
    """The system refuses a write: the entry is not there, and the error names the file."""
    with varve.Store(tmp_path) as store, store.create_session(session_id="s") as session:
        session.add(dict(ENTRY, content="x" * 8192))  # the lock file may grow
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                size = os.path.getsize(tmp_path / "sessions/s/memory.jsonl")
                with varve.Store(tmp_path) as mine, mine.open_session("s") as full:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
                    full.add(ENTRY)
            except varve.InputOutput as error:
                code = 0 if error.details["errno"] == errno.EFBIG else 2
                code += 0 if error.details["path"].endswith("/memory.jsonl") else 4
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert session.count() == 1 and session.verify()["ok"]


def test_a_pool_hears_that_its_worker_found_no_library():
    error = varve.LibraryError([("/nowhere/libvarve.so", "no such file")], 1, 2)
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied)) == (varve.LibraryError, str(error))
    assert (copied.tried, copied.abi_wanted, copied.abi_found) == (error.tried, 1, 2)
