"""Signals that come while a call is under way: what their handlers raise is not lost."""
import ctypes
import functools
import signal
import threading

import pytest

import varve
from conftest import NOW_MS, grown_bytes

ENTRY = {"type": "finding", "content": "tea"}


@pytest.fixture
def signal_within(monkeypatch, session):
    """signal_within("varve_session_verify") lets SIGINT come in each call of that function, behind
    Python's last look for signals: C raises it while the length of the options, 0, is converted; or
    the pointer to the error, which may be NULL."""
    come = ctypes.CDLL(None)["raise"]

    class Zero:
        from_param = functools.partial(come, signal.SIGINT)

    def arrange(name, instead_of="length"):
        function = getattr(session._api, name)
        types = list(function.argtypes)
        assert types[2] is ctypes.c_size_t, "(handle, options, their length, ..., error)"
        types[2 if instead_of == "length" else -1] = Zero
        monkeypatch.setattr(function, "argtypes", types)
    return arrange


@pytest.fixture
def unraisable(monkeypatch):
    caught = []
    monkeypatch.setattr("sys.unraisablehook", lambda hook: caught.append(hook.exc_value))
    yield caught
    assert caught == []


def test_an_interrupt_stops_what_reports_its_progress(session, signal_within, unraisable):
    session.add(ENTRY)
    told = []
    session.set_progress(lambda *what: told.append(what))
    signal_within("varve_session_verify")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            session.verify()
    assert len(told) <= 3


def test_an_interrupt_stops_the_counting_of_tokens(store, session, signal_within, unraisable):
    session.add(ENTRY)
    store.set_token_counter(len)
    signal_within("varve_context_build")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            session.build_context()


def test_an_interrupt_leaves_the_log_whole(store, session, signal_within, unraisable):
    """The line is told, and the work is done, before the interrupt is raised."""
    session.delete(session.add(ENTRY))
    told = []
    store.set_log(lambda level, line: told.append(line["message"]), varve.LOG_INFO)
    signal_within("varve_session_compact")
    with pytest.raises(KeyboardInterrupt):
        session.compact()
    assert "session compaction completed" in told
    assert session.stats()["deleted"] == 1 and session.count() == 0


def test_an_interrupt_does_not_change_the_time(store, session, signal_within, unraisable):
    """What was on the stack was taken for it: a fraction of a second after 1970 began."""
    store.set_clock(lambda: NOW_MS)
    signal_within("varve_session_create")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            store.create_session()
    made = [info for info in store.iterate_sessions() if info["session_id"] != "s"]
    assert [info["created_at"] for info in made] == ["2026-01-01T00:00:00.000Z"] * 3


def test_what_another_handler_raises_is_raised_too(store, session, signal_within, unraisable):
    class TimeIsUp(Exception):
        pass

    def handle(number, frame):
        raise TimeIsUp
    before = signal.signal(signal.SIGINT, handle)
    try:
        store.set_log(lambda level, line: None, varve.LOG_DEBUG)
        store.set_clock(lambda: NOW_MS)
        signal_within("varve_session_compact")
        with pytest.raises(TimeIsUp):
            session.compact()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_raised_by_the_call(store, session, unraisable, raised):
    """Also where a receiver or a clock raises it, which cannot fail."""
    due = []

    def end(*_):
        if due:
            raise due.pop()
        return NOW_MS
    memory = store.memory()
    for register, works in (
            (store.set_log, (session.compact, store.create_session,
                             lambda: memory.record("m", {"role": "user", "content": 1}),
                             memory.close)),
            (store.set_clock, (session.count, session.query, lambda: session.get("missing"),
                               lambda: list(store.iterate_sessions()),
                               lambda: store.query(session_ids=["missing"]),
                               lambda: store.open_session("missing"),
                               lambda: store.memory(user_id="bo"))),
            (store.set_log, (session.close,))):
        register(end)
        for work in works:
            due.append(raised)
            with pytest.raises(raised):
                work()
            store.sessions()
        register(None)


def test_an_interrupt_of_another_thread_is_one_of_the_main_thread(store, session, unraisable):
    """As Ctrl-C is. The other thread's call does its work."""
    due, added = [], []

    def tell():
        if due:
            raise due.pop()
        return NOW_MS
    store.set_clock(tell)
    due.append(KeyboardInterrupt)
    thread = threading.Thread(target=lambda: added.append(session.add(ENTRY)))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        thread.join()
        session.count()
    thread.join()
    assert len(added) == 1


def test_a_session_that_nobody_got_is_closed(tmp_path):
    """Another store may then hold it."""
    due = [KeyboardInterrupt]

    def end(*_):
        if due:
            raise due.pop()
    with varve.Store(tmp_path, concurrency={"exclusive": True}) as store:
        store.set_log(end)
        with pytest.raises(KeyboardInterrupt):
            store.create_session(session_id="s")
        with varve.Store(tmp_path, concurrency={"exclusive": True}) as other:
            other.open_session("s").add(ENTRY)


def test_a_session_that_an_interrupt_kept_from_everybody_is_closed(tmp_path,
                                                                   signal_within):
    signal_within("varve_session_create", "error")
    with varve.Store(tmp_path, concurrency={"exclusive": True}) as interrupted:
        with pytest.raises(KeyboardInterrupt):
            interrupted.create_session(session_id="s")
        with varve.Store(tmp_path, concurrency={"exclusive": True}) as other:
            other.open_session("s").add(ENTRY)


@pytest.mark.parametrize("name, instead_of, work, times", [
    ("varve_session_export", "error", lambda session: session.export(), 5000),
    ("varve_session_query", "error", lambda session: session.query(), 20000),
    ("varve_session_delete", "length", lambda session: session.delete("missing"), 40000)])
def test_what_an_interrupt_kept_from_everybody_is_freed(session, signal_within, name, instead_of,
                                                        work, times):
    """Texts of 8 KB, 40 MB in all, results and errors."""
    session.add({"type": "finding", "content": "x" * 8000})
    signal_within(name, instead_of)

    def interrupted():
        with pytest.raises(KeyboardInterrupt):
            work(session)
    assert grown_bytes(interrupted, times) < 4 << 20


def test_a_receiver_that_calls_the_library_keeps_the_interrupt(store, session, signal_within,
                                                               unraisable):
    store.set_log(lambda level, line: session.count(), varve.LOG_INFO)
    signal_within("varve_session_compact")
    with pytest.raises(KeyboardInterrupt):
        session.compact()
    store.set_log(None)
    assert session.count() == 0, "it is raised once"
