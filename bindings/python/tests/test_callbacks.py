"""Functions of the host that the library calls; what they raise never reaches C."""
import ctypes
import gc
import logging
import threading
import weakref

import pytest

import varve
from varve import callbacks
from conftest import NOW_MS


def test_the_clock_tells_the_time(store, session):
    now = [NOW_MS]
    store.set_clock(lambda: now[0])
    first = session.add({"type": "finding", "content": 1})
    now[0] += 1000
    second = session.add({"type": "finding", "content": 1})
    assert session.get(first)["timestamp"] == "2026-01-01T00:00:00.000Z"
    assert session.get(second)["timestamp"] == "2026-01-01T00:00:01.000Z"
    store.set_clock(None)
    assert session.get(session.add({"type": "finding", "content": 1}))["timestamp"] > "2026-02"


@pytest.fixture
def unraisable(monkeypatch):
    caught = []
    monkeypatch.setattr("sys.unraisablehook", caught.append)
    return caught


def test_a_clock_that_raises_is_replaced_by_the_systems(store, session, unraisable):
    def broken():
        raise RuntimeError("no time")
    store.set_clock(broken)
    assert session.get(session.add({"type": "finding", "content": 1}))["timestamp"] > "2026-02"
    assert str(unraisable[0].exc_value) == "no time"


def test_a_clock_may_tell_fractions(store, session, unraisable):
    """As time.time() * 1000 does."""
    store.set_clock(lambda: NOW_MS + 0.75)
    added = session.get(session.add({"type": "finding", "content": 1}))
    assert added["timestamp"] == "2026-01-01T00:00:00.000Z"
    assert unraisable == []


@pytest.mark.parametrize("told", [2**63, 2**64 + NOW_MS, -2**63 - 1, float("inf")])
def test_a_time_that_64_bits_do_not_hold_is_a_failure_of_the_clock(store, session, unraisable,
                                                                   told):
    """ctypes takes the last 64 bits: of 2**63 that is a year before Christ."""
    store.set_clock(lambda: told)
    timestamp = session.get(session.add({"type": "finding", "content": 1}))["timestamp"]
    assert "2026-02" < timestamp < "3000"
    assert isinstance(unraisable[0].exc_value, (ValueError, OverflowError))


def test_log_lines_go_to_a_logger(store, caplog):
    caplog.set_level(logging.DEBUG, "agent.memory")
    store.log_to(logging.getLogger("agent.memory"), varve.LOG_INFO)
    store.create_session(session_id="kitchen")
    record = next(r for r in caplog.records if r.getMessage() == "session created")
    assert record.levelno == logging.INFO
    assert record.varve["session_id"] == "kitchen"
    caplog.clear()
    store.log_to(logging.getLogger("agent.memory"), varve.LOG_WARN)
    store.create_session()
    assert caplog.records == []
    store.log_to(logging.getLogger("agent.memory"), varve.LOG_DEBUG)
    store.create_session().add({"type": "finding", "content": 1})
    assert logging.DEBUG in {record.levelno for record in caplog.records}
    caplog.clear()
    store.set_log(None)
    store.create_session()
    assert caplog.records == []


def test_what_is_no_logger_is_refused_where_it_is_given(store):
    for wrong in (None, "agent.memory", print):
        with pytest.raises(TypeError, match=f"a logging.Logger .*{type(wrong).__name__}"):
            store.log_to(wrong)
    store.log_to(logging.LoggerAdapter(logging.getLogger("agent.memory"), {}))


@pytest.mark.parametrize("level, wanted", [
    (varve.LOG_DEBUG, logging.DEBUG), (varve.LOG_INFO, logging.INFO),
    (varve.LOG_WARN, logging.WARNING), (varve.LOG_ERROR, logging.ERROR),
    (varve.LOG_ERROR + 7, logging.ERROR)])
def test_each_level_is_one_of_the_loggers(caplog, level, wanted):
    caplog.set_level(logging.DEBUG, "agent.memory")
    callbacks.logger_receiver(logging.getLogger("agent.memory"))(level, {"message": "50% done"})
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [(wanted, "50% done")]


def test_a_log_receiver_that_answers_with_a_coroutine_is_told_of(store, unraisable):
    async def receive(*_):
        pass

    begun = []
    store.set_log(lambda *line: begun.append(receive(*line)) or begun[-1])
    store.create_session(session_id="s")
    store.set_log(None)
    for coroutine in begun:
        coroutine.close()
    assert begun and len(unraisable) == len(begun)
    assert "cannot be awaited" in str(unraisable[0].exc_value)


def test_a_log_receiver_that_raises_stops_nothing(store, unraisable):
    def broken(level, line):
        raise RuntimeError("full")
    store.set_log(broken, varve.LOG_INFO)
    assert store.create_session(session_id="made").id == "made"
    assert {str(hook.exc_value) for hook in unraisable} == {"full"}


def test_a_log_receiver_may_call_the_library(store):
    seen = []
    store.set_log(lambda level, line: seen.append(store.sessions()["next"]), varve.LOG_INFO)
    store.create_session()
    assert seen


def test_progress_is_told_and_can_stop(session):
    session.add_batch({"type": "finding", "content": n} for n in range(10))
    told = []
    session.set_progress(lambda *what: told.append(what))
    session.verify()
    assert told[0][0] == "verify" and told[-1][1] == told[-1][2] > 0
    told.clear()
    session.add_batch({"type": "finding", "content": "x" * 700_000} for _ in range(3))
    session.verify()
    dones = [done for _, done, _ in told]
    assert len(dones) > 2 and dones == sorted(dones) and dones[0] < told[0][2] == dones[-1]
    session.set_progress(lambda *what: False)
    with pytest.raises(varve.CallbackFailed) as caught:
        session.export()
    assert caught.value.__cause__ is None
    session.set_progress(None)
    session.export()


def test_what_a_progress_function_raises_is_the_cause(session):
    session.add({"type": "finding", "content": 1})
    error = RuntimeError("enough")

    def broken(*_):
        raise error
    session.set_progress(broken)
    with pytest.raises(varve.CallbackFailed) as caught:
        session.verify()
    assert caught.value.__cause__ is error
    session.set_progress(lambda *_: False)
    with pytest.raises(varve.CallbackFailed) as caught:
        session.verify()
    assert caught.value.__cause__ is None, "the cause of an earlier failure is not told again"


def test_a_progress_function_that_answers_with_a_coroutine_is_refused(session):
    """What it would answer comes too late to stop anything."""
    async def stop(*_):
        return False

    begun = []
    session.set_progress(lambda *what: begun.append(stop(*what)) or begun[-1])
    with pytest.raises(varve.CallbackFailed) as caught:
        session.verify()
    begun[0].close()
    assert isinstance(caught.value.__cause__, TypeError) and len(begun) == 1


def test_what_a_callback_raised_ends_with_its_error(session):
    """With it ends what the frames of its traceback hold."""
    class Enough(Exception):
        pass

    def broken(*_):
        raise Enough
    session.set_progress(broken)
    try:
        session.verify()
    except varve.CallbackFailed as error:
        raised = weakref.ref(error.__cause__)
    gc.collect()
    assert raised() is None


def test_an_interrupt_in_a_progress_function_is_an_interrupt(session):
    def interrupted(*_):
        raise KeyboardInterrupt
    session.set_progress(interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.verify()


def test_tokens_are_counted_by_the_host(store, session):
    seen = []

    def count(text):
        seen.append(text)
        return len(text.split())
    session.record("user_message", {"content": "Ann drinks tea ☕\0 at five"})
    store.set_token_counter(count)
    context = session.build_context(budget={"max_tokens": 50}, format="plain")
    assert 0 < context["token_count"] <= 50
    assert any("Ann drinks tea ☕\0 at five" in text for text in seen)


class Count:
    """As an integer of numpy: none of Python's."""

    def __index__(self):
        return 7


def test_a_count_is_any_integer(store, session):
    session.record("user_message", {"content": "tea"})
    store.set_token_counter(lambda text: Count())
    assert session.build_context()["token_count"] == 7


@pytest.mark.parametrize("broken", [lambda text: 1 / 0, lambda text: "many", lambda text: -1])
def test_what_a_token_counter_raises_is_the_cause(store, session, broken):
    session.record("user_message", {"content": "tea"})
    store.set_token_counter(broken)
    with pytest.raises(varve.CallbackFailed) as caught:
        session.build_context()
    assert isinstance(caught.value.__cause__, (ZeroDivisionError, TypeError, ValueError))
    store.set_token_counter(None)
    assert "tea" in session.build_context()["text"]


@pytest.mark.parametrize("count", [2**64, 2**64 + 5, -2**64])
def test_a_count_that_64_bits_do_not_hold_is_refused(store, session, count):
    """ctypes takes the last 64 bits: of 2**64 that would be 0, with which everything fits."""
    session.record("user_message", {"content": "tea"})
    store.set_token_counter(lambda text: count)
    with pytest.raises(varve.CallbackFailed) as caught:
        session.build_context()
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("count", [2**63, 2**64 - 1])
def test_with_a_count_of_64_bits_nothing_fits(store, session, count):
    session.record("user_message", {"content": "tea"})
    store.set_token_counter(lambda text: count)
    assert session.build_context(budget={"max_tokens": 2**40})["items"] == []


def test_callbacks_of_many_threads(store, session):
    """Each thread is told the cause of its own failure."""
    def broken(*_):
        raise RuntimeError(threading.current_thread().name)
    session.set_progress(broken)
    causes = {}

    def work():
        for _ in range(50):
            try:
                session.verify()
            except varve.CallbackFailed as error:
                causes.setdefault(threading.current_thread().name, set()).add(
                    str(error.__cause__))
    threads = [threading.Thread(target=work, name=f"t{n}") for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert causes == {name: {name} for name in ("t0", "t1", "t2", "t3")}


def test_a_callback_that_is_replaced_or_cleared_is_dropped(store, session):
    def functions():
        return {store.set_log: lambda level, line: None, store.set_clock: lambda: NOW_MS,
                store.set_token_counter: len, session.set_progress: lambda *what: True}
    alive = []
    for _ in range(100):
        for register, function in functions().items():
            register(lambda *arguments, inner=function: inner(*arguments))
        alive.append([weakref.ref(slot.function) for slot in (
            store._log, store._clock, store._tokens, session._progress)])
    gc.collect()
    assert [sum(ref() is not None for ref in refs) for refs in alive] == [0] * 99 + [4]
    for register in functions():
        register(None)
    gc.collect()
    assert [ref() for ref in alive[-1]] == [None] * 4


def test_a_counter_set_while_another_thread_clears_is_set_or_gone(store, session, monkeypatch):
    """The library called it, and it was gone here: every context failed until another was set."""
    session.record("user_message", {"content": "tea"})
    tell = store._api.varve_store_set_token_counter
    lock, has_come = store._setting_tokens, threading.Event()

    class Watched:
        def __enter__(self):
            if threading.current_thread() is other:
                has_come.set()  # it has to wait until the counter is cleared
            return lock.__enter__()

        def __exit__(self, *what):
            return lock.__exit__(*what)

    def set_in_the_other():
        store.set_token_counter(lambda text: 7)
        has_come.set()
    other = threading.Thread(target=set_in_the_other)

    def tell_and_let_the_other(handle, function, *rest):
        status = tell(handle, function, *rest)
        if not function:
            other.start()
            has_come.wait()
        return status
    monkeypatch.setattr(store, "_setting_tokens", Watched())
    monkeypatch.setattr(store._api, "varve_store_set_token_counter", tell_and_let_the_other)
    store.set_token_counter(None)
    other.join()
    assert session.build_context()["token_count"] == 7


def test_a_callback_that_is_refused_leaves_the_one_before(store):
    seen = []
    store.set_log(lambda level, line: seen.append("first"), varve.LOG_INFO)
    for level in (99, -1, 2**32, 2**32 + 1):
        with pytest.raises(varve.InvalidArgument, match=f"{level} is not a log level"):
            store.set_log(lambda level, line: seen.append("second"), level)
    store.create_session()
    assert set(seen) == {"first"}


def test_a_function_that_cannot_be_registered_leaves_the_one_before():
    slot, seen = callbacks.Slot(callbacks.clock), []

    def refuse(_callback):
        seen.append(slot.function)  # it is in its place as soon as the library may call it
        raise varve.Busy(7, "refused")

    def first():
        return 1

    def second():
        return 2

    slot.set(first, lambda _callback: None)
    for function in (second, None):
        with pytest.raises(varve.Busy):
            slot.set(function, refuse)
        assert slot.function is first
    assert seen == [second, first]


@pytest.mark.parametrize("wrong", ["warn", 5, 0, {}, True])
def test_what_is_no_function_is_refused_where_it_is_given(store, session, wrong):
    for register in (store.set_log, store.set_clock, store.set_token_counter,
                     session.set_progress):
        with pytest.raises(TypeError, match=f"a function or None .*{type(wrong).__name__}"):
            register(wrong)
    assert session.add({"type": "finding", "content": "tea"})


class Listed(list):
    """A function that has a truth of its own, as one that keeps what it was told may have."""

    def __call__(self, *told):
        self.append(told)
        return len(self)


def test_a_function_that_is_false_is_a_function(store, session):
    kept = {"log": Listed(), "clock": Listed(), "tokens": Listed(), "progress": Listed()}
    store.set_log(kept["log"], varve.LOG_DEBUG)
    store.set_clock(kept["clock"])
    store.set_token_counter(kept["tokens"])
    session.set_progress(kept["progress"])
    session.add({"type": "finding", "content": "tea"})
    session.build_context()
    session.export()
    session.verify()
    assert [name for name, told in kept.items() if not told] == []


def test_what_was_taken_away_is_not_called(unraisable):
    """A call that has begun may still ask for it."""
    empty = {make: callbacks.Slot(make) for make in (
        callbacks.log, callbacks.clock, callbacks.progress)}
    line = ctypes.cast(b"{}", ctypes.c_void_p)
    assert callbacks.log(empty[callbacks.log])(None, varve.LOG_INFO, line, 2) is None
    assert callbacks.clock(empty[callbacks.clock])(None) > NOW_MS
    assert callbacks.progress(empty[callbacks.progress])(None, b"verify", 1, 2) == 0
    assert unraisable == []


def test_a_counter_that_was_taken_away_counts_nothing_as_nothing():
    slot = callbacks.Slot(callbacks.token_counter)
    count = ctypes.c_uint64(7)
    failed = callbacks.token_counter(slot)(None, ctypes.cast(b"tea", ctypes.c_void_p), 3,
                                           ctypes.byref(count))
    assert (failed, count.value) == (1, 7)
    assert "taken away" in str(callbacks.failure_of_this_thread())
