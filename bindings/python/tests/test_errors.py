"""Every status has its class, and an error tells the place."""
import pickle

import pytest

import varve
from conftest import grown_bytes
from varve import _raw
from varve.errors import CLASSES, error_of


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
