"""What no real library does on demand: numbers at the ends of 64 bits, failures of every function,
and Ctrl-C while each of them works."""
import ctypes
import gc
import threading
import types

import pytest

import varve
from varve import _library, _raw, _signals
from stub import FUNCTIONS, Stub

UINT64_MAX = 2**64 - 1
YOUNG = 1  # the generations of what a test made: to look through all takes longer than the tests
NUMBERS = [0, 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, UINT64_MAX]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return Stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def stub(built, monkeypatch):
    """The library that what is opened from now on uses."""
    monkeypatch.setattr(_library, "_loaded", built.functions)
    built.begin()
    before = built.left
    yield built
    gc.collect(YOUNG)
    assert built.left == before, "everything was given back at the end of the test"


@pytest.fixture
def opened(stub):
    """One of each kind of handle, closed at the end."""
    with varve.Store("x") as store, store.create_session() as session, \
            store.memory() as memory, varve.Window(5) as window, session.query() as results:
        yield types.SimpleNamespace(store=store, session=session, memory=memory, window=window,
                                    results=results)
        stub.begin()
        for register in (store.set_log, store.set_clock, store.set_token_counter,
                         session.set_progress):
            register(None)


# Every method that calls the library, and what the library must answer for it to succeed.
METHODS = {
    "store.create_session": ("", lambda on: on.store.create_session(title="t")),
    "store.open_session": ("", lambda on: on.store.open_session("s")),
    "store.session": ("", lambda on: on.store.session("s")),
    "store.sessions": ('{"sessions":[],"next":null}', lambda on: on.store.sessions()),
    "store.delete_session": ("", lambda on: on.store.delete_session("s")),
    "store.query": ("", lambda on: on.store.query(text="tea")),
    "store.memory": ("", lambda on: on.store.memory(user_id="ann")),
    "store.sync": ("", lambda on: on.store.sync()),
    "store.backup": ("{}", lambda on: on.store.backup("place")),
    "store.restore": ("{}", lambda on: on.store.restore("place")),
    "store.sweep": ("{}", lambda on: on.store.sweep()),
    "store.stats": ("{}", lambda on: on.store.stats()),
    "store.usage": ("{}", lambda on: on.store.usage()),
    "store.metrics": ("# HELP", lambda on: on.store.metrics()),
    "session.metadata": ("{}", lambda on: on.session.metadata()),
    "session.update": ("", lambda on: on.session.update(title="t")),
    "session.sync": ("", lambda on: on.session.sync()),
    "session.stats": ("{}", lambda on: on.session.stats()),
    "session.files": ('{"files":[]}', lambda on: on.session.files()),
    "session.tags": ('{"tags":[]}', lambda on: on.session.tags()),
    "session.index": ("{}", lambda on: on.session.index()),
    "session.add": ("id", lambda on: on.session.add({"type": "finding", "content": 1})),
    "session.add_batch": ("[]", lambda on: on.session.add_batch([])),
    "session.get": ("{}", lambda on: on.session.get("id")),
    "session.delete": ("", lambda on: on.session.delete("id", "reason")),
    "session.delete_where": ("", lambda on: on.session.delete_where({}, reason="reason")),
    "session.query": ("", lambda on: on.session.query(text="tea")),
    "session.count": ("", lambda on: on.session.count()),
    "session.put_vector": ("", lambda on: on.session.put_vector("id", [1.0])),
    "session.record": ("id", lambda on: on.session.record("event", {"content": 1})),
    "session.build_context": ("{}", lambda on: on.session.build_context()),
    "session.kv_set": ("", lambda on: on.session.kv_set("key", "value")),
    "session.kv_get": ("value", lambda on: on.session.kv_get("key")),
    "session.kv_delete": ("", lambda on: on.session.kv_delete("key")),
    "session.kv_list": ("[]", lambda on: on.session.kv_list()),
    "session.transcript_append": ("", lambda on: on.session.transcript_append("user", "tea")),
    "session.transcript_last": ("[]", lambda on: on.session.transcript_last()),
    "session.verify": ("{}", lambda on: on.session.verify()),
    "session.repair": ("{}", lambda on: on.session.repair()),
    "session.compact": ("{}", lambda on: on.session.compact()),
    "session.purge": ("{}", lambda on: on.session.purge()),
    "session.migrate": ("{}", lambda on: on.session.migrate()),
    "session.rebuild_index": ("{}", lambda on: on.session.rebuild_index()),
    "session.export": ("text", lambda on: on.session.export()),
    "session.import_text": ("{}", lambda on: on.session.import_text("text")),
    "session.export_file": ("{}", lambda on: on.session.export_file("place")),
    "session.import_file": ("{}", lambda on: on.session.import_file("place")),
    "memory.record": ("id", lambda on: on.memory.record("s", {"content": 1})),
    "memory.context": ("{}", lambda on: on.memory.context("s")),
    "memory.load": ("", lambda on: on.memory.load("s")),
    "memory.save": ("", lambda on: on.memory.save("s")),
    "memory.clear": ("", lambda on: on.memory.clear()),
    "memory.store": ("id", lambda on: on.memory.store({"content": 1})),
    "memory.search": ("", lambda on: on.memory.search(text="tea")),
    "memory.delete": ("", lambda on: on.memory.delete("id")),
    "window.add": ("", lambda on: on.window.add({"content": 1})),
    "window.recent": ("[]", lambda on: on.window.recent()),
    "window.text": ("text", lambda on: on.window.text()),
    "window.clear": ("", lambda on: on.window.clear()),
    "results.to_json": ("{}", lambda on: on.results.to_json()),
    "results.entry": ("{}", lambda on: on.results.entry(0)),
    "results.score": ("", lambda on: on.results.score(0)),
    "results.next": ("cursor", lambda on: on.results.next),
    "Store": ("", lambda on: varve.Store("y")),
    "Window": ("", lambda on: varve.Window(3)),
}
each_method = pytest.mark.parametrize("name", METHODS)

# What has no failure, or is called by all others.
SELDOM = {
    "varve_abi_version", "varve_version", "varve_status_name", "varve_free", "varve_error_status",
    "varve_error_message", "varve_error_details", "varve_error_free", "varve_store_close",
    "varve_store_set_log", "varve_store_set_clock", "varve_store_set_token_counter",
    "varve_session_set_progress", "varve_session_close", "varve_session_id", "varve_memory_close",
    "varve_window_size", "varve_window_free", "varve_results_count", "varve_results_free"}


def test_the_methods_are_all_there_are(stub, opened):
    called = set()
    for answer, call in METHODS.values():
        stub.begin(answer=answer)
        call(opened)
        called.update(stub.called)
    assert {function["name"] for function in FUNCTIONS} - called == SELDOM


@each_method
def test_what_a_failed_call_gave_is_freed(stub, opened, name):
    answer, call = METHODS[name]
    before = stub.left
    for status, kind in ((_raw.VARVE_IO, varve.InputOutput), (99, varve.VarveError),
                         (_raw.VARVE_NO_MEMORY, varve.NoMemory)):
        stub.begin(status=status, answer=answer, details='{"path":"/p"}')
        with pytest.raises(kind) as caught:
            call(opened)
        assert (type(caught.value), caught.value.path, str(caught.value.message)) == (
            kind, "/p", "told")
        del caught
        assert stub.left == before


@each_method
def test_an_error_whose_details_cannot_be_read_is_freed(stub, opened, name):
    answer, call = METHODS[name]
    before = stub.left
    stub.begin(status=_raw.VARVE_IO, answer=answer, details="no JSON")
    with pytest.raises(ValueError):
        call(opened)
    assert stub.left == before


@each_method
def test_an_answer_that_cannot_be_read_is_freed(stub, opened, monkeypatch, name):
    """There may be no memory for the copy of a text; and a defect may give what is no JSON."""
    answer, call = METHODS[name]
    before = stub.left

    def no_memory(*_):
        raise MemoryError
    for broken, how in (("no JSON", None), (answer, no_memory)):
        stub.begin(answer=broken)
        with monkeypatch.context() as patch:
            if how is not None:
                patch.setattr(ctypes, "string_at", how)
            try:
                given = call(opened)
            except (ValueError, MemoryError):
                given = None
        del given
        gc.collect(YOUNG)
        assert stub.left == before


@pytest.mark.parametrize("status", [0, _raw.VARVE_IO])
@pytest.mark.parametrize("kind", ["log", "clock"])
@each_method
def test_an_interrupt_in_a_callback_ends_the_call_and_leaves_nothing(stub, opened, name, kind,
                                                                     status):
    """Also where the call itself succeeds, and nobody gets what it gave; or where it fails."""
    answer, call = METHODS[name]
    before = stub.left
    due = []

    def interrupt(*_):
        if due:
            raise due.pop()
        return 0
    {"log": opened.store.set_log, "clock": opened.store.set_clock}[kind](interrupt)
    stub.begin(status=status, answer=answer, is_calling=True)
    due.append(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        call(opened)
        pytest.fail(f"{name} swallowed an interrupt")
    assert not due and not _signals.late
    assert stub.left == before, f"while {caught.value!r} is there, and what its frames hold"
    stub.begin(answer=answer, is_calling=True)
    call(opened)


@pytest.mark.parametrize("kind", ["progress", "tokens"])
@each_method
def test_an_interrupt_that_fails_the_call_is_the_interrupt(stub, opened, name, kind):
    answer, call = METHODS[name]
    before = stub.left

    def interrupt(*_):
        raise KeyboardInterrupt
    {"progress": opened.session.set_progress, "tokens": opened.store.set_token_counter}[kind](
        interrupt)
    stub.begin(answer=answer, is_calling=True)
    with pytest.raises(KeyboardInterrupt):
        call(opened)
    gc.collect(YOUNG)
    assert stub.left == before


def test_an_interrupt_of_another_threads_callback_is_not_this_ones(stub, opened):
    raised = []

    def interrupt(*_):
        if threading.current_thread() is not threading.main_thread():
            raise SystemExit
        return 0
    opened.store.set_clock(interrupt)
    stub.begin(is_calling=True)

    def work():
        try:
            opened.store.sync()
        except SystemExit as error:
            raised.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    opened.store.sync()
    assert len(raised) == 1


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_arrive_whole(stub, opened, number):
    stub.begin(answer="[]")
    opened.memory.context("s", number)
    opened.window.recent(number)
    opened.session.transcript_last(number)
    varve.Window(number).close()
    assert stub.numbers == [number] * 4
    stub.begin(answer="{}")
    opened.results.entry(number)
    opened.results.score(number)
    assert stub.numbers == [number] * 2


@pytest.mark.parametrize("number", [-1, -2**63, 2**64, 2**64 + 1, -2**64])
def test_numbers_that_64_bits_do_not_hold_do_not_arrive(stub, opened, number):
    stub.begin(answer="[]")
    for call in (lambda: opened.memory.context("s", number), lambda: opened.window.recent(number),
                 lambda: opened.session.transcript_last(number), lambda: varve.Window(number),
                 lambda: opened.results.entry(number), lambda: opened.results.score(number)):
        with pytest.raises(varve.InvalidArgument):
            call()
    assert stub.numbers == [] and stub.called == []


def test_all_is_the_largest_number(stub, opened):
    stub.begin(answer="[]")
    opened.window.recent()
    opened.session.transcript_last(None)
    assert stub.numbers == [UINT64_MAX] * 2


@pytest.mark.parametrize("number", NUMBERS)
def test_counts_come_back_whole(stub, opened, number):
    stub.begin(out=number)
    assert opened.session.count() == number
    assert opened.session.delete_where({}) == number


@pytest.mark.parametrize("status", [-2**31, -1, 0, 7, 2**31 - 1])
def test_a_status_arrives_whole(stub, status):
    stub.begin(answer="NAME")
    assert varve.status_name(status) == "NAME"
    assert stub.numbers == [status % 2**64]


@pytest.mark.parametrize("status", [-2**31 - 1, 2**31, 2**32 + 7, 2**64 + 7])
def test_a_number_that_is_no_status_is_not_taken_for_one(stub, status):
    """ctypes takes the last 32 bits: of 2**32 + 7 that is VARVE_BUSY."""
    stub.begin(answer="NAME")
    assert varve.status_name(status) == "VARVE_UNKNOWN_STATUS"
    assert stub.numbers == []


@pytest.mark.parametrize("told", [-2**63, 2**63 - 1, -1, 0, 2**53 + 1, -2**53 - 1])
def test_a_clock_tells_any_time(stub, opened, told):
    opened.store.set_clock(lambda: told)
    stub.begin(is_calling=True)
    opened.store.sync()
    assert stub.time == told


@pytest.mark.parametrize("count", NUMBERS)
def test_a_counter_counts_any_number_of_tokens(stub, opened, count):
    texts = []
    opened.store.set_token_counter(lambda text: texts.append(text) or count)
    stub.begin(is_calling=True)
    opened.session.build_context()
    assert stub.tokens == count and texts == ["two\0words"]


def test_progress_is_told_in_full(stub, opened):
    told = []
    opened.session.set_progress(lambda *what: told.append(what))
    stub.begin(is_calling=True)
    opened.session.verify()
    assert told == [("verify", UINT64_MAX, 2**63)]


def test_a_log_line_is_told_with_its_level(stub, opened):
    told = []
    opened.store.set_log(lambda *what: told.append(what))
    stub.begin(is_calling=True)
    opened.store.sync()
    assert told == [(varve.LOG_WARN, {"message": "x"})]
