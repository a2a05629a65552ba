"""Closing, collecting, threads, forks and the end of the process."""
import concurrent.futures
import copy
import gc
import multiprocessing
import os
import pickle
import threading

import pytest

import varve
from conftest import grown_bytes

ENTRY = {"type": "finding", "content": "tea"}
ROUNDS = 20000  # bench/rounds.py does 100,000


def test_use_after_close(store, session):
    results = session.query()
    session.add(ENTRY)
    session.close()
    session.close()
    for call in (lambda: session.add(ENTRY), lambda: session.id, session.query, session.stats):
        with pytest.raises(varve.BadHandle):
            call()
    assert repr(session) == "<varve.Session, closed>"
    assert repr(store) == "<varve.Store memory:>"
    results.close()
    results.close()
    for call in (results.to_json, lambda: len(results), lambda: bool(results)):
        with pytest.raises(varve.BadHandle):
            call()
    assert repr(results) == "<varve.Results, closed>"
    store.close()
    store.close()
    with pytest.raises(varve.BadHandle):
        store.create_session()


def test_a_closed_window_has_the_length_0():
    window = varve.Window(3)
    window.add({"content": "tea"})
    window.close()
    window.close()
    for call in (window.text, window.recent, window.clear, lambda: window.add({"content": "tea"})):
        with pytest.raises(varve.BadHandle):
            call()
    assert len(window) == 0


def test_what_could_not_be_opened_is_collected_in_silence(monkeypatch):
    noises = []
    monkeypatch.setattr("sys.unraisablehook", noises.append)
    for wrong in (lambda: varve.Store(5), lambda: varve.Store("nowhere://x"),
                  lambda: varve.Window(0)):
        with pytest.raises((TypeError, varve.VarveError)):
            wrong()
    gc.collect()
    assert noises == []


def test_closing_a_store_closes_its_sessions(store, session):
    store.close()
    with pytest.raises(varve.BadHandle):
        session.add(ENTRY)


def test_a_session_keeps_its_store():
    session = varve.Store("memory:").create_session()
    gc.collect()
    session.add(ENTRY)
    assert session.count() == 1


def test_what_is_not_closed_is_closed_when_it_is_collected(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        session = varve.Store(tmp_path / "store").create_session()
        session.add(ENTRY)
        session.query()
    del session
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_use_from_threads(store, session):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: session.add({"type": "finding", "content": n}), range(500)))
        found = list(pool.map(lambda entry_id: session.get(entry_id)["content"], ids))
    assert found == list(range(500))
    assert session.count() == 500


def test_closing_while_other_threads_use_it():
    """Whoever comes too late is told so; nothing crashes."""
    for _ in range(20):
        store = varve.Store("memory:")
        session = store.create_session()
        started, late = threading.Barrier(5), []

        def work():
            started.wait()
            try:
                while True:
                    session.add(ENTRY)
            except varve.BadHandle:
                late.append(True)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        started.wait()
        store.close()
        for thread in threads:
            thread.join()
        assert len(late) == 4


def test_the_process_may_end_while_calls_are_in_flight(run, tmp_path):
    run("""
import sys, threading, varve
store = varve.Store(sys.argv[1])
store.set_log(lambda level, line: None, varve.LOG_DEBUG)
session = store.create_session()
ready = threading.Barrier(5)
def work():
    ready.wait()
    while True:
        session.add({"type": "finding", "content": "tea"})
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
ready.wait()
while session.count() < 20:
    pass
""", tmp_path / "store")
    with varve.Store(tmp_path / "store") as store:
        session = store.open_session(store.sessions()["sessions"][0]["session_id"])
        assert session.count() >= 20
        assert session.verify()["ok"]


def test_the_process_may_end_while_a_daemon_thread_opens_stores(run):
    """What is registered before varve is called after it has closed what was open."""
    output = run("""
import atexit, threading
ending, told = threading.Event(), threading.Event()

@atexit.register
def end():
    ending.set()
    told.wait()

import varve

def work():
    ending.wait()
    store = varve.Store("memory:")
    session = store.create_session()
    store.set_log(None)
    try:
        for register in (store.set_log, store.set_clock, session.set_progress):
            try:
                register(lambda *_: 0)
            except RuntimeError as error:
                print(error)
    finally:
        told.set()
    while True:
        session.add({"type": "finding", "content": "tea"})
        session.verify()
threading.Thread(target=work, daemon=True).start()
""")
    assert output.splitlines() == ["the program is ending: daemon threads may give no function "
                                   "to the library any more"] * 3


def test_a_daemon_thread_whose_session_the_end_has_closed_shows_no_traceback(run):
    """Python aborts where a thread is showing one when the interpreter goes."""
    assert run("""
import atexit, threading
ending, told = threading.Event(), threading.Event()

@atexit.register
def end():
    ending.set()
    told.wait()

import varve
from varve import _call

def tell(arguments):
    print(arguments.exc_type.__name__)
    told.set()

def wait_for_the_end(wait=_call._wait_for_the_end):
    print("waits")
    told.set()
    wait()

threading.excepthook = tell
_call._wait_for_the_end = wait_for_the_end
store = varve.Store("memory:")
session = store.create_session()

def work():
    ending.wait()
    session.add({"type": "finding", "content": "tea"})
threading.Thread(target=work, daemon=True).start()
""") == "waits\n"


def test_the_process_does_not_end_before_a_daemon_thread_has_closed_its_store(run):
    assert run("""
import atexit, threading, varve
closing, ending = threading.Event(), threading.Event()
atexit.register(ending.set)

def hear(level, line):
    if line["message"] == "session closed":
        closing.set()
        ending.wait()
        sum(range(10_000_000))
        print("heard", flush=True)

def work():
    store = varve.Store("memory:")
    session = store.create_session()
    store.set_log(hear)
    store.close()
threading.Thread(target=work, daemon=True).start()
closing.wait()
""") == "heard\n"


def test_a_child_does_not_wait_for_stores_that_its_parent_was_closing(run):
    """The thread that closes one is not there after the fork."""
    assert run("""
import os, signal, threading, varve
closing, forked = threading.Event(), threading.Event()

def hear(level, line):
    if line["message"] == "session closed":
        closing.set()
        forked.wait()

def work():
    store = varve.Store("memory:")
    session = store.create_session()
    store.set_log(hear)
    store.close()
threading.Thread(target=work).start()
closing.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
else:
    print(os.waitpid(child, 0)[1])
    forked.set()
""") == "0\n"


def test_a_function_may_be_given_while_the_program_ends(run):
    assert run("""
import atexit

@atexit.register
def end():
    with varve.Store("memory:") as store, store.create_session() as session:
        store.set_clock(lambda: 0)
        print(session.get(session.add({"type": "finding", "content": "tea"}))["timestamp"])

import varve
""") == "1970-01-01T00:00:00.000Z\n"


def test_opening_and_closing_does_not_grow(tmp_path):
    with varve.Store(tmp_path / "store") as store:
        store.create_session(session_id="s").add(ENTRY)

    def in_memory():
        with varve.Store("memory:") as store, store.create_session() as session:
            session.query().close()

    def on_disk():
        with varve.Store(tmp_path / "store") as store, store.open_session("s") as session:
            session.query().close()
    on_disk()
    descriptors = len(os.listdir("/proc/self/fd"))
    assert grown_bytes(in_memory, ROUNDS) < 4 << 20
    assert grown_bytes(on_disk, ROUNDS // 10) < 4 << 20
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_text_and_results_are_freed(session):
    """Each of these calls gives 8 KB, which would add up to 40 MB."""
    session.add({"id": "a", "type": "finding", "content": "x" * 8000})
    for call in (lambda: session.get_json("a"), session.export, session.query):
        assert grown_bytes(call, 5000) < 4 << 20


def test_the_library_is_never_unloaded(run):
    run("""
import gc, sys, varve
path = varve.load()
varve.Store("memory:").close()
for name in [name for name in sys.modules if name.startswith("varve")]:
    del sys.modules[name]
del varve
gc.collect()
assert "libvarve" in open("/proc/self/maps").read(), path
""")


def test_handles_are_not_pickled(store, session):
    for handle in (store, session):
        with pytest.raises(TypeError, match="opens it there"):
            pickle.dumps(handle)


def test_a_copy_cannot_close_what_it_was_made_of(session):
    session.add(ENTRY)
    with varve.Window(3) as window, session.query() as results:
        window.add({"role": "user", "content": "tea"})
        for handle in (window, results):
            for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="neither pickled nor copied"):
                    duplicate(handle)
        gc.collect()
        assert (window.text(), len(results)) == ("user: tea\n", 1)


def test_after_a_fork_the_childs_calls_are_refused(tmp_path):
    with varve.Store(tmp_path / "store") as store:
        session = store.create_session(session_id="s")
        session.add(ENTRY)
        results, window = session.query(), varve.Window(5)
        window.add({"role": "user", "content": "tea"})
        child = os.fork()
        if child == 0:
            code = 1
            try:
                assert repr(session) == "<varve.Session, of the process before the fork>"
                assert repr(results) == "<varve.Results, closed>"
                for call in (lambda: session.id, lambda: len(results), lambda: session.add(ENTRY),
                             lambda: len(window), window.text):
                    with pytest.raises(varve.Forked, match="fork"):
                        call()
                with varve.Store(tmp_path / "store") as mine:
                    mine.open_session("s").add(ENTRY)
                store.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert session.count() == 2 and len(window) == 1
        session.add(ENTRY)


BUSY_AT_A_FORK = {
    "making": ("varve.callbacks.log = lambda slot: wait() or make(slot)",
               "varve.Store('memory:').set_log(print)",
               "with varve.Store('memory:') as mine: mine.set_log(print)"),
    "loading": ("varve._library._find = lambda path: wait() or find(path)",
                "varve.Store('memory:')",
                "varve._library._find = find; varve.Store('memory:').close()"),
    "setting": ("store = varve.Store('memory:'); store._register = wait",
                "store.set_token_counter(len)",
                "del store._register; refused(lambda: store.set_token_counter(len))")}


@pytest.mark.parametrize("what", BUSY_AT_A_FORK)
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have(run, what):
    """What this thread was in the midst of would never end in the child."""
    prepare, thread, child = BUSY_AT_A_FORK[what]
    assert run(f"""
import os, signal, threading, varve
from varve import _library, callbacks
make, find, begun, forked = callbacks.log, _library._find, threading.Event(), threading.Event()

def wait(*_):
    begun.set()
    forked.wait()

def refused(call):
    try:
        call()
    except varve.Forked:
        return
    raise AssertionError("a call with the parent's store")

{prepare}
threading.Thread(target=lambda: {thread}).start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(5)
    callbacks.log = make
    {child}
else:
    print(os.waitpid(child, 0)[1])
    forked.set()
""") == "0\n"


def in_child(path, inherited, results):
    """What another process does: with the parent's session, if it has one, and its own."""
    seen = "nothing inherited"
    if inherited is not None:
        try:
            inherited.add(ENTRY)
        except varve.VarveError as error:
            seen = error.status_name
    with varve.Store(path) as store, store.open_session("s") as session:
        session.add(ENTRY)
    results.put(seen)


@pytest.mark.parametrize("method, seen", [("fork", "VARVE_FORKED"),
                                          ("spawn", "nothing inherited")])
def test_multiprocessing(tmp_path, method, seen):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    with varve.Store(tmp_path) as store, store.create_session(session_id="s") as session:
        inherited = session if method == "fork" else None
        children = [context.Process(target=in_child, args=(str(tmp_path), inherited, results))
                    for _ in range(3)]
        for child in children:
            child.start()
        told = [results.get(timeout=60) for _ in children]
        for child in children:
            child.join()
            assert child.exitcode == 0
        assert told == [seen] * 3
        assert session.count() == 3
