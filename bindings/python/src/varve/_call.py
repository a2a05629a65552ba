"""Calling the library: text in, text out, errors."""
from __future__ import annotations

import ctypes
import datetime
import json
import operator
import threading
from collections.abc import Sequence, Set
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _raw
from ._signals import late, raise_late
from .callbacks import failure_of_this_thread, is_left_behind
from .errors import InvalidArgument, error_of

Json = Union[Mapping[str, Any], str, bytes, None]
Function = Callable[..., int]

_SIZE_MAX = _raw.VARVE_NUL_TERMINATED
INT_MAX = 2**31 - 1


class _Outs:
    """What a call writes to. Kept for the next call: making these costs as much as a call."""

    __slots__ = ("error", "error_out", "pointer", "pointer_out", "length", "length_out")

    def __init__(self) -> None:
        self.error, self.pointer = ctypes.c_void_p(), ctypes.c_void_p()
        self.length = ctypes.c_size_t()
        self.error_out, self.pointer_out = ctypes.byref(self.error), ctypes.byref(self.pointer)
        self.length_out = ctypes.byref(self.length)


_free_outs: List[_Outs] = []  # pop and append of a list are atomic


def _outs() -> _Outs:
    try:
        return _free_outs.pop()
    except IndexError:
        return _Outs()


def _default(value: Any) -> Any:
    """Times as RFC 3339; a time without a zone could be any. Arrays and numbers of array.array,
    memoryview, numpy and their like, which all have a `tolist`, and other sequences as Python's
    own."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return _in_whole_minutes(value).isoformat()
    if hasattr(value, "tolist") and not _is_view_of_bytes(value):
        return value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON"
                    + (" without its time zone" if isinstance(value, datetime.datetime) else ""))


def _is_view_of_bytes(value: Any) -> bool:
    """Whether it is bytes that nobody said to be numbers."""
    return isinstance(value, memoryview) and value.format in ("B", "b", "c")


def _in_whole_minutes(moment: datetime.datetime) -> datetime.datetime:
    """The same time; RFC 3339 has no seconds in an offset, and many zones had some before 1920."""
    offset = moment.utcoffset()
    if offset is None or offset % datetime.timedelta(minutes=1) == datetime.timedelta(0):
        return moment
    return moment.astimezone(datetime.timezone.utc)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"),
                           default=_default).encode


def text(value: Union[str, bytes]) -> bytes:
    """Text for the library, which wants UTF-8."""
    if isinstance(value, bytes):
        return value
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                              f"the text has a lone surrogate at character {error.start}"
                              ) from error
    except AttributeError:
        raise TypeError(f"a str or bytes is needed, not {type(value).__name__}") from None


def optional_text(value: Union[str, bytes, None]) -> Tuple[Optional[bytes], int]:
    """A text that may be absent, and its length."""
    if value is None:
        return None, 0
    given = text(value)
    return given, len(given)


def document(value: Any) -> bytes:
    """An object as JSON; text is JSON already."""
    if isinstance(value, (str, bytes)):
        return text(value)
    try:
        return text(_encode(value))
    except InvalidArgument:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                              f"this cannot be written as JSON: {error}") from error


def parsed(given: Union[str, bytes]) -> Dict[str, Any]:
    """The query that JSON text is; nothing is one without members."""
    example = 'a query is an object, such as {"text": "tea"}'
    try:
        value = json.loads(given or "{}")
    except ValueError as error:
        raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                              f"invalid JSON: {error}; {example}") from error
    if not isinstance(value, dict):
        raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                              f"the JSON text must be that of an object; {example}")
    return value


def with_members(value: Json, members: Mapping[str, Any]) -> Json:
    """An object and keyword arguments that stand for more members of it."""
    if not members:
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError("keyword arguments cannot be added to JSON text")
    return {**(value if value is not None else {}), **members}


def options(value: Json, members: Mapping[str, Any]) -> Tuple[Optional[bytes], int]:
    """An object and keyword arguments, as text for the library."""
    value = with_members(value, members)
    if value is None:
        return None, 0
    given = document(value)
    return given, len(given)


def floats(values: Iterable[float]) -> Any:
    """Numbers as an array of C floats. The bytes of a vector would be taken for small numbers, and
    the keys of a mapping for what they stand for."""
    if isinstance(values, (str, bytes, bytearray, Mapping, Set)):
        raise TypeError(f"{type(values).__name__} is no sequence of numbers")
    if _is_view_of_bytes(values):
        raise TypeError("a memoryview of bytes is no sequence of numbers: cast it to 'f'")
    view = _view_of_floats(values)
    if view is not None:
        return (ctypes.c_float * len(view)).from_buffer_copy(view)
    numbers = list(values)
    return (ctypes.c_float * len(numbers))(*numbers)


def _view_of_floats(values: Any) -> Optional[memoryview]:
    """The bytes of what has C floats one after the other: array.array("f"), numpy's float32."""
    try:
        view = memoryview(values)
    except TypeError:
        return None
    return view if view.format == "f" and view.ndim == 1 and view.c_contiguous else None


def how_many(count: Optional[int]) -> int:
    """A count for the library, in which None is all there are."""
    if count is None:
        return _SIZE_MAX
    return number_of("messages", count)


def number_of(things: str, count: int) -> int:
    """A count for the library, of which ctypes would take the last 64 bits. Integers of numpy and
    their like are none of ctypes'."""
    count = operator.index(count)
    if not 0 <= count <= _SIZE_MAX:
        raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                              f"{count} is not a possible number of {things}")
    return count


def _wait_for_the_end() -> None:
    """What a daemon thread does that the program's end took a handle from. Its traceback would be
    written while the interpreter goes, which aborts where the thread has the lock of stderr."""
    threading.Event().wait()


def fail(api: _raw.Functions, status: int, error: Optional[int]) -> None:
    """Raises what a call answered."""
    if status == _raw.VARVE_BAD_HANDLE and is_left_behind():
        _wait_for_the_end()
    message = (api.varve_error_message(error) or b"").decode("utf-8", "replace")
    details = json.loads(api.varve_error_details(error) or b"{}")
    cause = failure_of_this_thread() if status == _raw.VARVE_CALLBACK else None
    raise_late()
    if cause is not None and not isinstance(cause, Exception):
        raise cause  # KeyboardInterrupt, SystemExit
    raise error_of(status, message, details) from cause


def _copy(outs: _Outs) -> bytes:
    """The text that a call gave. `ctypes.string_at` takes its size as an int of C."""
    length = outs.length.value
    if length <= INT_MAX:
        return ctypes.string_at(outs.pointer, length)
    return (ctypes.c_char * length).from_address(outs.pointer.value or 0).raw


# What a signal's handler raises comes as soon as the library returns, before its status is known.
# So what it has given is given back under `finally`, unless the status says that there is nothing.
# To free an error or to close a handle once more does no harm; a text is forgotten once it is free.
_NOT_KNOWN = -1


def call(api: _raw.Functions, function: Function, *arguments: Any) -> None:
    """A function that gives nothing."""
    outs, status = _outs(), _NOT_KNOWN
    try:
        status = function(*arguments, outs.error_out)
        if status:
            fail(api, status, outs.error.value)
    finally:
        if status:
            api.varve_error_free(outs.error)
        _free_outs.append(outs)
        if late:
            raise_late()


def call_handle(api: _raw.Functions, function: Function, close: Callable[[int], None],
                *arguments: Any) -> int:
    """A function that gives a handle. Who is made of it raises what is late."""
    outs = _outs()
    outs.pointer.value = None  # it may be the handle that another call gave
    try:
        status = function(*arguments, outs.pointer_out, outs.error_out)
        if status:
            fail(api, status, outs.error.value)
    except BaseException:  # noqa: B902
        if outs.pointer.value:
            close(outs.pointer.value)  # nobody gets it
        api.varve_error_free(outs.error)
        raise
    handle = outs.pointer.value or 0
    _free_outs.append(outs)
    return handle


def call_text(api: _raw.Functions, function: Function, *arguments: Any) -> bytes:
    """A function that gives text which the caller owns."""
    outs, status = _outs(), _NOT_KNOWN
    outs.pointer.value = None  # until there is a text, no other is freed
    try:
        status = function(*arguments, outs.pointer_out, outs.length_out, outs.error_out)
        if status:
            fail(api, status, outs.error.value)
        return _copy(outs)
    finally:
        api.varve_free(outs.pointer)
        if status:
            api.varve_error_free(outs.error)
        _free_outs.append(outs)
        if late:
            raise_late()


def call_borrowed(api: _raw.Functions, function: Function, *arguments: Any) -> bytes:
    """A function that gives text which belongs to a handle; copied at once."""
    outs, status = _outs(), _NOT_KNOWN
    try:
        status = function(*arguments, outs.pointer_out, outs.length_out, outs.error_out)
        if status:
            fail(api, status, outs.error.value)
        return _copy(outs)
    finally:
        if status:
            api.varve_error_free(outs.error)
        _free_outs.append(outs)
        if late:
            raise_late()


def call_number(api: _raw.Functions, function: Function, kind: Any, *arguments: Any) -> Any:
    """A function that gives a number of the ctypes type `kind`."""
    number, outs, status = kind(), _outs(), _NOT_KNOWN
    try:
        status = function(*arguments, ctypes.byref(number), outs.error_out)
        if status:
            fail(api, status, outs.error.value)
        return number.value
    finally:
        if status:
            api.varve_error_free(outs.error)
        _free_outs.append(outs)
        if late:
            raise_late()
