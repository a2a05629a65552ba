"""Signals that come while the library works.

Python runs their handlers on the main thread, at the next place where it looks for them. While the
library works, that is where one of its callbacks begins: outside of any `try` there. What a handler
raises, such as KeyboardInterrupt, would then be printed and forgotten by ctypes, which answers the
library with what happens to be on the stack. So callbacks begin without that look, and have it
inside of their `try`.
"""
from __future__ import annotations

import _thread
import dis
from typing import Any, Callable, Dict, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

late: Dict[int, BaseException] = {}  # by thread: what its call is to raise when it returns

_AFTER_YIELD_FROM = 2  # where a function goes on with a RESUME of this kind, there is no look


def unlooking(function: _Function) -> _Function:
    """`function`, which must begin with a `try`, without a look for signals before that. Until
    Python 3.10 there is none; since then the instruction RESUME has it."""
    code = function.__code__
    instructions = bytearray(code.co_code)
    for at in range(0, len(instructions), 2):
        if instructions[at] == dis.opmap.get("RESUME"):
            instructions[at + 1] = _AFTER_YIELD_FROM
            function.__code__ = code.replace(co_code=bytes(instructions))
            break
    return function


def look() -> None:
    """Runs the handlers of signals that have come: Python does it as a function begins."""


def keep(error: BaseException) -> None:
    """Lets the call that is under way on this thread raise it."""
    late.setdefault(_thread.get_ident(), error)


def raise_late() -> None:
    """Ends a call on this thread by what was kept for it."""
    error = late.pop(_thread.get_ident(), None)
    if error is not None:
        raise error
