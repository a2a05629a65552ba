"""Windows, memories, keys, transcripts and vectors, as Python has them."""
import array
import collections
import gc
import pickle

import pytest

import varve


def test_a_window():
    with varve.Window(2) as window:
        for content in ("one", "two", {"three": 3}):
            window.add({"role": "user", "content": content})
        assert len(window) == 2
        assert [message["content"] for message in window.recent()] == ["two", {"three": 3}]
        assert window.recent(1)[0]["content"] == {"three": 3}
        assert window.recent(0) == []
        assert window.text().startswith("user: two\n")
        with pytest.raises(varve.InvalidArgument):
            window.recent(-1)
        window.clear()
        assert window.recent() == []
    with pytest.raises(varve.BadHandle):
        window.add({"content": "late"})
    for capacity in (0, -1, 2**64 + 2):
        with pytest.raises(varve.InvalidArgument):
            varve.Window(capacity)


def test_a_memory(store):
    with store.memory(user_id="ann", window=2) as memory:
        for content in ("one", "two", "three"):
            memory.record("chat", {"role": "user", "content": content})
        kept = memory.store({"content": "likes tea"})
        context = memory.context("chat")
        assert [entry["content"] for entry in context["entries"]] == ["two", "three"]
        assert [r["entry"]["id"] for r in memory.search(text="tea")] == [kept]
        memory.clear()
        memory.load("chat")
        memory.save("chat")
        memory.delete(kept, "asked for")
        assert memory.search(text="tea")[:] == []
        with pytest.raises(TypeError):
            pickle.dumps(memory)
    with pytest.raises(varve.BadHandle):
        memory.clear()


def test_a_number_of_tokens_is_one_that_64_bits_hold(store):
    with store.memory(user_id="ann") as memory:
        memory.record("chat", {"content": "one two three"})
        for count in (-1, -2**64, 2**64, 2**64 + 1):
            with pytest.raises(varve.InvalidArgument, match="is not a possible number of tokens"):
                memory.context("chat", count)
        assert memory.context("chat", 1)["entries"] == []
        assert len(memory.context("chat", 2**64 - 1)["entries"]) == 1


def test_a_memory_keeps_its_store():
    memory = varve.Store("memory:").memory()
    gc.collect()
    assert memory.record("chat", {"content": "x"})


def test_keys(session):
    session.kv_set("topic", "tea ☕\0")
    assert session.kv_get("topic") == "tea ☕\0"
    assert [item["key"] for item in session.kv_list()] == ["topic"]
    session.kv_delete("topic")
    with pytest.raises(varve.NotFound):
        session.kv_get("topic")


def test_a_transcript(session):
    for number in range(3):
        session.transcript_append("user", f"turn {number}\r\n# x")
    assert [turn["content"] for turn in session.transcript_last(2)] == [
        "turn 1\r\n# x", "turn 2\r\n# x"]
    assert len(session.transcript_last()) == 3


class Tensor:
    """Numbers as numpy and torch have them: gone through, and given by `tolist`."""

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def tolist(self):
        return list(self.values)


FORMS = [list, tuple, Tensor, lambda v: array.array("f", v), lambda v: array.array("d", v),
         lambda v: memoryview(array.array("f", v)), lambda v: memoryview(array.array("d", v)),
         lambda v: memoryview(array.array("f", [x for x in v for _ in (0, 1)]))[::2],
         collections.deque, collections.UserList]


@pytest.mark.parametrize("form", [*FORMS, iter])
def test_vectors(session, form):
    session.add_batch([{"id": "a", "type": "finding", "content": 1},
                       {"id": "b", "type": "finding", "content": 2}])
    session.put_vector("a", form([1.0, 0.0]))
    session.put_vector("b", form([0.0, 1.0]))
    assert session.query(vector=[0.1, 0.9])[0]["entry"]["id"] == "b"
    with pytest.raises(varve.InvalidArgument):
        session.put_vector("a", form([1.0]))
    with pytest.raises(varve.InvalidArgument):
        session.put_vector("a", [])


def test_a_context_recalls_from_other_sessions_of_the_user(store):
    for session_id, user_id, said in [("earlier", "ann", "My kayak is red"),
                                      ("of-bob", "bob", "My kayak is blue"),
                                      ("today", "ann", "Hello again")]:
        with store.create_session(session_id=session_id, user_id=user_id) as session:
            session.record("user_message", {"content": said})
    with store.open_session("today") as today:
        for across, expected in [({"user_id": "ann"}, ["earlier", "today"]),
                                 ({"session_ids": ["of-bob"]}, ["of-bob", "today"]),
                                 ({}, ["earlier", "of-bob", "today"])]:
            context = today.build_context(question="Is the kayak red?", across=across)
            assert sorted(item["session_id"] for item in context["items"]) == expected
        with pytest.raises(varve.InvalidArgument, match="across.user_id"):
            today.build_context(across={"user_id": ""})


@pytest.mark.parametrize("form", FORMS)
def test_a_question_has_a_vector_of_the_same_forms(session, form):
    session.add_batch([{"id": "a", "type": "finding", "content": 1},
                       {"id": "b", "type": "finding", "content": 2}])
    session.put_vector("a", [1.0, 0.0])
    session.put_vector("b", [0.0, 1.0])
    for found in (session.query(vector=form([0.1, 0.9]))[0], *session.find(
            {"vector": form([0.1, 0.9]), "limit": 1})):
        assert found["entry"]["id"] == "b"
    request = {"retrieve": [{"query": {"vector": form([0.1, 0.9])}}]}
    assert session.build_context(request)["items"]
    with pytest.raises(varve.InvalidArgument, match="cannot be written as JSON"):
        session.query(vector=form([float("nan"), 0.0]))


def test_bytes_are_no_vector(session):
    session.add({"id": "a", "type": "finding", "content": 1})
    views = [memoryview(b"\0\1").cast(form) for form in "Bbc"]
    for given in (b"\0\1", bytearray(b"\0\1"), *views):
        with pytest.raises(TypeError, match="cannot be written as JSON"):
            session.query(vector=given)
    for given in (b"\0\1", bytearray(b"\0\1"), *views, "01", {0: 1.0, 1: 0.5},
                  {0.5, 1.0}):
        with pytest.raises(TypeError, match="is no sequence of numbers"):
            session.put_vector("a", given)
    square = memoryview(array.array("f", [1, 0, 0, 1])).cast("B").cast("f", (2, 2))
    with pytest.raises((TypeError, NotImplementedError)):
        session.put_vector("a", square)
    assert session.stats()["vectors"]["records"] == 0
