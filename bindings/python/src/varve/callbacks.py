"""Functions of yours that the library calls. No exception of theirs reaches C.

Where a callback can fail (progress, token counter), its exception makes the call fail with
CallbackFailed, and is the cause of that. Where it cannot (clock, log), the exception goes to
sys.unraisablehook, and the clock tells the system's time. What is to end the program, such as
KeyboardInterrupt, is raised by the call itself.
"""
from __future__ import annotations

import _thread
import ctypes
import json
import logging
import operator
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Union, cast

from . import _raw, _signals
from .reports import LogLine

LogReceiver = Union[Callable[[int, LogLine], object], Callable[[int, Dict[str, Any]], object]]
Clock = Callable[[], int]
Progress = Callable[[str, int, int], Optional[bool]]
TokenCounter = Callable[[str], int]

LOGGING_LEVELS = {_raw.VARVE_LOG_DEBUG: logging.DEBUG, _raw.VARVE_LOG_INFO: logging.INFO,
                  _raw.VARVE_LOG_WARN: logging.WARNING, _raw.VARVE_LOG_ERROR: logging.ERROR}

_failures = threading.local()
_is_ending = False


def end() -> None:
    """Call it when the program ends, and then close every store. Once the interpreter is gone, a
    callback on a daemon thread would end that thread in the midst of the library."""
    global _is_ending
    _is_ending = True


def is_left_behind() -> bool:
    """Whether this is a daemon thread of a program that is ending."""
    return _is_ending and threading.current_thread().daemon


def _check_may_register() -> None:
    if is_left_behind():
        raise RuntimeError("the program is ending: daemon threads may give no function to the "
                           "library any more")


def failure_of_this_thread() -> Optional[BaseException]:
    """What a callback of the call that just failed raised; told once."""
    error = getattr(_failures, "error", None)
    _failures.error = None
    return cast(Optional[BaseException], error)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _unraisable(error: BaseException) -> None:
    """Hands an exception to sys.unraisablehook, as ctypes does with what a callback raises. One
    that is to end the program is raised when the call returns, an interrupt on the main thread."""
    if not isinstance(error, Exception):
        if isinstance(error, KeyboardInterrupt) and not _is_main_thread():
            _thread.interrupt_main()
        else:
            _signals.keep(error)
        return

    def callback_of_varve() -> None:
        raise error
    ctypes.CFUNCTYPE(None)(callback_of_varve)()


def _text(address: Optional[int], length: int) -> str:
    return ctypes.string_at(address, length).decode("utf-8", "replace") if address else ""


class Slot:
    """The function of one kind that a handle has. The library is always given the same trampoline,
    made when it is first needed: the function may be replaced while another thread is in the one
    before."""

    __slots__ = ("function", "_make", "_trampolines")

    def __init__(self, make: Callable[[Slot], Any]):
        self.function: Optional[Callable[..., Any]] = None
        self._make = make
        self._trampolines: List[Any] = []

    def set(self, function: Optional[Callable[..., Any]], register: Callable[[Any], None]) -> None:
        """Makes a function, or none, the one that is called; `register` tells the library. When it
        raises, the one before stays."""
        if function is not None and not callable(function):
            raise TypeError(f"a function or None is needed, not {type(function).__name__}")
        if function is not None:
            _check_may_register()
        if not self._trampolines:
            self._trampolines.append(self._make(self))
        trampoline = self._trampolines[0]  # of those that several threads made at once
        before = self.function
        if function is not None:
            self.function = function
        try:
            register(trampoline if function is not None else type(trampoline)())
        except BaseException:
            self.function = before
            raise
        self.function = function


def log(slot: Slot) -> Any:
    @_signals.unlooking
    def receive(_user_data: Any, level: int, line: Optional[int], length: int) -> None:
        try:
            try:  # first, so that the line is told all the same
                _signals.look()
            except BaseException as error:  # noqa: B902
                _signals.keep(error)
            hear = slot.function  # read once: another thread may take it away
            if hear is None:
                return
            told = json.loads(_text(line, length))
        except BaseException as error:  # noqa: B902
            _signals.keep(error)  # only a handler raises something here
            return
        try:
            if hasattr(hear(level, told), "__await__"):  # nobody would, and the line would be lost
                raise TypeError("a log function must take a line at once: it cannot be awaited")
        except BaseException as error:  # noqa: B902
            _unraisable(error)
    return _raw.varve_log_fn(receive)


def logger_receiver(logger: logging.Logger) -> LogReceiver:
    """Sends lines on to a logger; the whole line is in the record as `varve`."""
    if not callable(getattr(logger, "log", None)):  # as its name: each line would be lost
        raise TypeError(f"a logging.Logger is needed, not {type(logger).__name__}")

    def receive(level: int, line: Dict[str, Any]) -> None:
        logger.log(LOGGING_LEVELS.get(level, logging.ERROR), "%s", line.get("message", ""),
                   extra={"varve": line})
    return receive


def clock(slot: Slot) -> Any:
    @_signals.unlooking
    def now(_user_data: Any) -> int:
        try:
            try:  # first, so that the time is told all the same
                _signals.look()
            except BaseException as error:  # noqa: B902
                _signals.keep(error)
            tell = slot.function
            if tell is not None:
                told = int(tell())
                if not -2**63 <= told < 2**63:  # ctypes would cut it off
                    raise ValueError(f"the clock returned {told}, which does not fit into 64 bits")
                return told
        except BaseException as error:  # noqa: B902
            _unraisable(error)
        return time.time_ns() // 1_000_000
    return _raw.varve_clock_fn(now)


def progress(slot: Slot) -> Any:
    @_signals.unlooking
    def go_on(_user_data: Any, operation: bytes, done: int, total: int) -> int:
        try:
            _failures.error = None
            hear = slot.function
            answer = hear(operation.decode(), done, total) if hear is not None else None
            if hasattr(answer, "__await__"):  # what it answers would come too late
                raise TypeError("a progress function must answer at once: it cannot be awaited")
            return 1 if answer is False else 0
        except BaseException as error:  # noqa: B902
            _failures.error = error
            return 1
    return _raw.varve_progress_fn(go_on)


def token_counter(slot: Slot) -> Any:
    @_signals.unlooking
    def tokens(_user_data: Any, text: Optional[int], length: int, out: Any) -> int:
        try:
            _failures.error = None
            counter = slot.function
            if counter is None:  # with 0 tokens everything would fit
                raise RuntimeError("the token counter was taken away while a context was built")
            count = operator.index(counter(_text(text, length)))
            if not 0 <= count < 2**64:  # ctypes would cut it off
                raise ValueError(f"the token counter returned {count}, not a number of tokens")
            out[0] = count
            return 0
        except BaseException as error:  # noqa: B902
            _failures.error = error
            return 1
    return _raw.varve_token_fn(tokens)
