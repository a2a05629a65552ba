"""Dicts, keyword arguments, JSON text and what JSON cannot hold."""
import collections.abc
import ctypes
import datetime
import json
import random

import pytest

import varve


def test_documents_are_dicts_keywords_or_text(session):
    session.add({"id": "a", "type": "finding", "content": "tea", "tags": ["x"]})
    session.add('{"id":"b","type":"finding","content":"tea"}')
    session.add(b'{"id":"c","type":"finding","content":"tea"}')
    for results in (session.query({"ids": ["a", "c"]}), session.query(ids=["a", "c"]),
                    session.query('{"ids":["a","c"]}'), session.query(b'{"ids":["a","c"]}'),
                    session.query({"limit": 9}, ids=["a", "c"])):
        assert {result["entry"]["id"] for result in results} == {"a", "c"}
    with pytest.raises(TypeError, match="JSON text"):
        session.query("{}", limit=1)


def test_a_configuration_is_a_dict_or_keywords():
    for store in (varve.Store("memory:", {"durability": "os"}),
                  varve.Store("memory:", durability="os"),
                  varve.Store(uri="memory:", config={"durability": "os"}),
                  varve.Store("memory:", {"durability": "commit"}, durability="os")):
        with store, store.create_session() as session:
            assert session.stats()["durability"] == "os"
    with pytest.raises(varve.InvalidArgument) as refused:
        varve.Store("memory:", durabilty="os")
    assert refused.value.member == "durabilty"


def test_a_batch_is_any_iterable_or_lines(session):
    ids = session.add_batch({"type": "finding", "content": n} for n in range(3))
    assert [session.get(entry_id)["content"] for entry_id in ids] == [0, 1, 2]
    assert session.add_batch('{"id":"x","type":"finding","content":1}\n') == ["x"]
    assert session.add_batch([]) == []


def test_times_with_a_zone_are_written_as_rfc_3339(session):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2026, 1, 10, 14, 20, tzinfo=zone)
    entry_id = session.add({"type": "finding", "content": 1, "timestamp": moment})
    assert session.get(entry_id)["timestamp"] == "2026-01-10T12:20:00.000Z"
    old = datetime.timezone(datetime.timedelta(minutes=53, seconds=28))  # Berlin until 1893
    for moment, wanted in ((datetime.datetime(1890, 1, 1, tzinfo=old), "1889-12-31T23:06:32.000Z"),
                           (datetime.datetime(1890, 1, 1, tzinfo=datetime.timezone(-zone.utcoffset(
                               None))), "1890-01-01T02:00:00.000Z")):
        entry_id = session.add({"type": "finding", "content": 1, "timestamp": moment})
        assert session.get(entry_id)["timestamp"] == wanted
    with pytest.raises(TypeError, match="without its time zone"):
        session.add({"type": "finding", "content": 1,
                     "timestamp": datetime.datetime(2026, 1, 10)})


def test_what_json_cannot_hold_is_refused(session):
    for value in (float("nan"), float("inf")):
        with pytest.raises(varve.InvalidArgument, match="cannot be written as JSON"):
            session.add({"type": "finding", "content": value})
    circle = []
    circle.append(circle)
    with pytest.raises(varve.InvalidArgument, match="cannot be written as JSON"):
        session.add({"type": "finding", "content": circle})
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(varve.InvalidArgument, match="cannot be written as JSON"):
        session.add({"type": "finding", "content": deep})
    with pytest.raises(TypeError):
        session.add({"type": "finding", "content": {1, 2}})
    assert session.count() == 0


def test_numbers_keep_their_digits(session):
    numbers = [2**53 + 1, -2**63, 2**64, 10**40 + 1, 0.1, 1e300]
    assert session.get(session.add({"type": "finding", "content": numbers}))["content"] == numbers


def test_a_round_number_with_an_exponent_is_a_float(session):
    """The line has the number as it was given, in a form that Python's json takes for a float."""
    numbers = [10**20, 10**21, 5 * 10**22, 5 * 10**22 + 1]
    entry_id = session.add({"type": "finding", "content": numbers})
    assert b"[100000000000000000000,1e+21,5e+22,50000000000000000000001]" in session.get_json(
        entry_id)
    assert [type(number) for number in session.get(entry_id)["content"]] == [int, float, float,
                                                                             int]


@pytest.mark.parametrize("text", [
    "emoji 👩‍🚀🫖", "a\0b", "שלום", "line\u2028end\r\n", "\U0010ffff", "\\\"", ""])
def test_text_stays_as_it_is(session, text):
    entry_id = session.add({"type": "finding", "content": {text: text}})
    assert session.get(entry_id)["content"] == {text: text}
    assert session.query(ids=[entry_id])[0]["entry"]["content"] == {text: text}
    assert json.loads(session.export())["content"] == {text: text}


def test_lone_surrogates_are_refused_everywhere(session, store, tmp_path):
    for call in (lambda: session.add({"type": "finding", "content": "\ud800"}),
                 lambda: session.add('{"type":"finding","content":"\udfff"}'),
                 lambda: session.add('{"type":"finding","content":"\\ud800"}'),
                 lambda: session.get("\ud800"), lambda: session.query(text="\ud800"),
                 lambda: session.delete("a", "\ud800"), lambda: session.import_text("\ud800"),
                 lambda: store.open_session("\ud800"), lambda: varve.Store("\ud800")):
        with pytest.raises(varve.InvalidArgument):
            call()
    assert session.count() == 0


def test_text_that_is_longer_than_an_int_of_c_holds_is_whole(session, monkeypatch):
    """As an export of 2 GiB is. Here an int has 7 bits: ctypes.string_at takes its size as one."""
    string_at = ctypes.string_at
    monkeypatch.setattr("ctypes.string_at", lambda at, size: string_at(at, size & 0x7f))
    monkeypatch.setattr("varve._call.INT_MAX", 0x7f, raising=False)
    long = {"id": "a", "type": "finding", "content": "tea " * 1000}
    assert session.add(long) == "a"
    assert session.get("a")["content"] == long["content"]
    assert session.query()[0]["entry"]["content"] == long["content"]
    assert len(session.export()) > 4000
    for size in range(126, 131):
        session.kv_set("near", "x" * size)
        assert len(session.kv_get("near")) == size


def test_what_is_no_text_is_refused_by_its_type(session, store):
    for call in (lambda: session.get(5), lambda: session.kv_set("a", 5),
                 lambda: store.open_session(5), lambda: session.transcript_append("user", 5)):
        with pytest.raises(TypeError, match="a str or bytes is needed, not int"):
            call()


def test_bytes_that_are_not_utf_8_are_refused(session):
    with pytest.raises(varve.InvalidArgument):
        session.add(b'{"type":"finding","content":"\xff"}')
    assert session.import_text(b'{"type":"finding","content":"\xff"}\n')["refused_total"] == 1


def test_results(session):
    session.add_batch({"id": f"e{n}", "type": "finding", "content": n, "importance": n / 10}
                      for n in range(5))
    with session.query(sort_by="importance", limit=3) as results:
        assert len(results) == 3 and repr(results) == "<varve.Results, 3 of them>"
        assert results.entry(0)["id"] == "e4"
        assert 0 < results.score(0) <= 1.5
        assert [result["entry"]["content"] for result in results] == [4, 3, 2]
        assert results[-1]["entry"]["id"] == "e2"
        assert json.loads(results.to_json()) == results.to_dict()
        rest = session.query(sort_by="importance", limit=3, after=results.next)
    assert results[0]["entry"]["id"] == "e4", "what was read stays readable"
    assert [result["entry"]["id"] for result in rest] == ["e1", "e0"]
    assert rest.next is None
    with pytest.raises(varve.BadHandle):
        results.entry(0)


def test_results_are_a_sequence_to_everybody_who_asks(session):
    ids = session.add_batch({"type": "finding", "content": n} for n in range(5))
    results = session.query()
    assert isinstance(results, collections.abc.Sequence)
    assert {result["entry"]["id"] for result in random.sample(results, 5)} == set(ids)
    assert results.index(results[3]) == 3 and results.count(results[3]) == 1
    assert results[3] in results and list(reversed(results)) == results[::-1]


def test_a_place_among_the_results_is_one_that_64_bits_hold(session):
    session.add({"type": "finding", "content": 1})
    results = session.query()
    for index in (-1, 1, 2**64, 2**64 + 1):
        for call in (results.entry, results.score):
            with pytest.raises(varve.InvalidArgument):
                call(index)


class Index:
    """An integer as numpy has them: none of Python's, but one by `__index__`."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def test_a_number_is_any_integer_and_nothing_else(store, session):
    entry_id = session.add({"type": "finding", "content": 1})
    results = session.query()
    assert results.entry(Index(0))["id"] == entry_id
    assert results.score(Index(0)) == results.score(0)
    window = varve.Window(Index(1))
    window.add({"content": "tea"})
    assert len(window.recent(Index(1))) == 1
    store.set_log(lambda level, line: None, Index(varve.LOG_WARN))
    with store.memory(user_id="ann") as memory:
        assert memory.context("chat", Index(5))["entries"] == []
        for wrong in (1.0, "1"):
            for call in (results.entry, results.score, varve.Window, window.recent,
                         session.transcript_last, lambda n: memory.context("chat", n),
                         lambda n: store.set_log(None, n)):
                with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
                    call(wrong)


@pytest.mark.parametrize("limit, found", [(None, 1100), (0, 0), (7, 7), (500, 500), (501, 501),
                                          (1100, 1100), (9999, 1100)])
def test_find_gives_all_up_to_the_limit(store, session, limit, found):
    session.add_batch({"type": "finding", "content": n} for n in range(1100))
    members = {} if limit is None else {"limit": limit}
    for finder in (session, store):
        contents = [result["entry"]["content"] for result in finder.find(
            {"types": ["finding"]}, sort_by="time", order="asc", **members)]
        assert contents == list(range(found))
    assert len(session.query()) == 100, "one page"


def test_what_is_always_there_is_required_by_the_types(tmp_path):
    """Else a type checker refuses result["entry"]["content"]."""
    hand = {"id": "hand", "type": "finding", "content": "tea", "timestamp": "2026-01-10T14:20:00Z"}
    with varve.Store(tmp_path) as store, store.session("s") as session:
        (tmp_path / "sessions/s/memory.jsonl").write_text(json.dumps(hand) + "\n")
        (result,) = session.query()
        (info,) = store.iterate_sessions()
    assert set(result) == varve.Result.__required_keys__
    assert set(result["entry"]) == varve.Entry.__required_keys__
    assert varve.SessionInfo.__required_keys__ == {"session_id", "user_id", "agent_id",
                                                   "created_at"}
    assert set(info) == varve.SessionInfo.__required_keys__ | varve.SessionInfo.__optional_keys__
    assert varve.NewEntry.__required_keys__ == {"type", "content"}


def test_find_takes_text_and_tells_errors(session):
    session.add({"type": "finding", "content": "tea"})
    assert [result["entry"]["content"] for result in session.find('{"text":"tea"}')] == ["tea"]
    assert len(list(session.find(""))) == len(list(session.find(b"{}"))) == 1
    for wrong in ({"limt": 1}, {"limit": -1}, {"limit": 2.5}, {"limit": "5"}, {"limit": [5]}, "{",
                  "[]", b"\xff"):
        with pytest.raises(varve.InvalidArgument):
            next(session.find(wrong))


@pytest.mark.parametrize("nothing", [[], (), 0, False, set()])
def test_what_is_no_query_does_not_find_everything(store, session, nothing):
    """Only None, and text of nothing, are a query without members."""
    session.add({"type": "finding", "content": "tea"})
    for find in (session.find, store.find):
        for members in ({}, {"limit": 1}):
            with pytest.raises(TypeError):
                next(find(nothing, **members))
    with pytest.raises(TypeError):
        session.query(nothing, limit=1)
    assert len(list(session.find(None))) == len(list(session.find({}))) == 1


def test_keywords_go_before_the_members_of_a_query(session):
    session.add_batch({"type": "finding", "content": n} for n in range(3))
    assert len(list(session.find({"types": ["nothing"], "limit": 1}, types=["finding"],
                                 limit=2))) == 2


def test_who_gives_the_words_themselves_is_told_what_a_query_is(session, store):
    for asked in (session.query, session.count, session.find, store.query, store.find):
        with pytest.raises(varve.InvalidArgument, match='such as {"text": ?"tea"}'):
            list(asked("tea"))
        with pytest.raises(varve.InvalidArgument, match='such as {"text": ?"tea"}'):
            list(asked('["tea"]'))


def test_an_update_of_nothing_is_said(session):
    session.update()
    session.update({})
    session.update(None, title="Kitchen")
    assert session.metadata()["title"] == "Kitchen"
    for nothing in ("", b""):
        with pytest.raises(varve.InvalidArgument, match="the text is empty"):
            session.update(nothing)


def test_a_session_is_opened_or_made(tmp_path):
    with varve.Store(tmp_path) as store:
        with store.session("kitchen", user_id="ann", title="Kitchen") as session:
            session.add({"type": "finding", "content": "tea"})
    with varve.Store(tmp_path) as store:
        for session in (store.session("kitchen"), store.session(session_id="kitchen"),
                        store.session("kitchen", {"user_id": "ann"}, title="another"),
                        store.session("kitchen", {"session_id": "hall"}, if_exists="fail")):
            assert session.count() == 1 and session.metadata()["title"] == "Kitchen"
        options: varve.SessionOptions = {"session_id": "kitchen", "if_exists": "open"}
        assert store.create_session(options).count() == 1
        with pytest.raises(varve.AlreadyExists, match="belongs to another user"):
            store.session("kitchen", user_id="bo")
        with pytest.raises(varve.AlreadyExists):
            store.create_session(session_id="kitchen")
        with pytest.raises(varve.InvalidArgument):
            store.session("kit chen")
        assert len(store.sessions()["sessions"]) == 1


def test_the_audit_log_says_why_each_entry_went(tmp_path):
    with varve.Store(tmp_path) as store, store.session("s", user_id="ann") as session:
        session.add_batch({"id": name, "type": "finding", "content": 1} for name in "abcd")
        session.delete("a", "asked for ☕")
        session.delete_where(ids=["b"], reason="too old")
        with store.memory(user_id="ann") as memory:
            memory.delete("c", "wrong")
        session.delete("d")
    log = (tmp_path / "sessions/s/tombstones.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line).get("reason") for line in log.splitlines()] == [
        "asked for ☕", "too old", "wrong", ""]


def test_an_export_is_in_its_format_and_of_its_query(session):
    session.add_batch({"id": name, "type": "finding", "content": name} for name in "ab")
    (entry,) = json.loads(session.export("json", {"ids": ["b"]}))["entries"]
    assert entry["id"] == "b"
    assert len(json.loads(session.export("json", {}))["entries"]) == 2


def test_delete_where_wants_a_query(session):
    session.add({"type": "finding", "content": 1})
    with pytest.raises(TypeError, match="needs a query"):
        session.delete_where(reason="slip")
    assert session.delete_where({}, "all of them") == 1


def test_paths(store, session, tmp_path):
    session.add({"id": "a", "type": "finding", "content": 1})
    assert session.export_file(tmp_path / "tea ☕.jsonl")["entries"] == 1
    other = store.create_session()
    assert other.import_file(tmp_path / "tea ☕.jsonl")["added"] == 1
    with varve.Store(tmp_path / "store") as on_disk:
        on_disk.create_session(session_id="x").add({"type": "finding", "content": 1})
        assert on_disk.backup(tmp_path / "backup")["copied"] == 1


def test_sessions_page_by_page(store):
    made = [store.create_session(user_id="ann").id for _ in range(5)]
    store.create_session(user_id="bo")
    listed = [info["session_id"] for info in store.iterate_sessions(user_id="ann", limit=2)]
    assert sorted(listed) == sorted(made)


def test_all_sessions_are_of_one_list_that_is_made_anew_once(tmp_path):
    with varve.Store(tmp_path) as store:
        made = {store.create_session().id for _ in range(3)}
        sessions_list = tmp_path / "indices/sessions.jsonl"
        listed = {}
        for info in store.iterate_sessions(limit=1, rescan=True):
            listed[info["session_id"]] = sessions_list.stat().st_ino
        assert set(listed) == made
        assert len(set(listed.values())) == 1
