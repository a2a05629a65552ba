"""Functions of yours that the library calls. No exception of theirs reaches C.

Where a callback can fail (progress, token counter), its exception makes the call fail with
CallbackFailed, and is the cause of that. Where it cannot (clock, log), the exception goes to
sys.unraisablehook, and the clock tells the system's time.
"""
from __future__ import annotations

import _thread
import ctypes
import json
import logging
import threading
import time
from typing import Any, Callable, Dict, Optional, cast

from . import _raw

LogReceiver = Callable[[int, Dict[str, Any]], object]
Clock = Callable[[], int]
Progress = Callable[[str, int, int], Optional[bool]]
TokenCounter = Callable[[str], int]

LOGGING_LEVELS = {_raw.VARVE_LOG_DEBUG: logging.DEBUG, _raw.VARVE_LOG_INFO: logging.INFO,
                  _raw.VARVE_LOG_WARN: logging.WARNING, _raw.VARVE_LOG_ERROR: logging.ERROR}

_failures = threading.local()


def failure_of_this_thread() -> Optional[BaseException]:
    """What a callback of the call that just failed raised; told once."""
    error = getattr(_failures, "error", None)
    _failures.error = None
    return cast(Optional[BaseException], error)


def _unraisable(error: BaseException) -> None:
    """Hands an exception to sys.unraisablehook, as ctypes does with what a callback raises."""
    if isinstance(error, KeyboardInterrupt):
        _thread.interrupt_main()
        return

    def callback_of_varve() -> None:
        raise error
    ctypes.CFUNCTYPE(None)(callback_of_varve)()


def _text(address: Optional[int], length: int) -> str:
    return ctypes.string_at(address, length).decode("utf-8", "replace") if address else ""


def log(receiver: LogReceiver) -> Any:
    def receive(_user_data: Any, level: int, line: Optional[int], length: int) -> None:
        try:
            receiver(level, json.loads(_text(line, length)))
        except BaseException as error:  # noqa: B902
            _unraisable(error)
    return _raw.varve_log_fn(receive)


def logger_receiver(logger: logging.Logger) -> LogReceiver:
    """Sends lines on to a logger; the whole line is in the record as `varve`."""
    def receive(level: int, line: Dict[str, Any]) -> None:
        logger.log(LOGGING_LEVELS.get(level, logging.ERROR), "%s", line.get("message", ""),
                   extra={"varve": line})
    return receive


def clock(tell: Clock) -> Any:
    def now(_user_data: Any) -> int:
        try:
            return int(tell())
        except BaseException as error:  # noqa: B902
            _unraisable(error)
            return time.time_ns() // 1_000_000
    return _raw.varve_clock_fn(now)


def progress(hear: Progress) -> Any:
    def go_on(_user_data: Any, operation: bytes, done: int, total: int) -> int:
        try:
            return 1 if hear(operation.decode(), done, total) is False else 0
        except BaseException as error:  # noqa: B902
            _failures.error = error
            return 1
    return _raw.varve_progress_fn(go_on)


def token_counter(count: TokenCounter) -> Any:
    def tokens(_user_data: Any, text: Optional[int], length: int, out: Any) -> int:
        try:
            out[0] = count(_text(text, length))
            return 0
        except BaseException as error:  # noqa: B902
            _failures.error = error
            return 1
    return _raw.varve_token_fn(tokens)
