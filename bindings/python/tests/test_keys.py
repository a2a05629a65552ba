"""Keys and transcripts, as Python has them."""
import pytest

import varve


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
