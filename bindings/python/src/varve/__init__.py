"""varve: embedded memory for AI agents.

    import varve

    with varve.Store("./memory") as store, store.session("kitchen") as session:
        session.add({"type": "finding", "content": "Ann drinks tea, not coffee"})
        for result in session.query(text="what does Ann drink?"):
            print(result["entry"]["content"])

Store and Session are the whole of it; varve.aio has them for asyncio. What goes wrong is a
VarveError, with a class for each kind: NotFound, AlreadyExists, Busy and so on.
"""
from __future__ import annotations

from ._library import functions as _functions
from ._library import load
from ._raw import ABI_VERSION
from ._raw import VARVE_LOG_DEBUG as LOG_DEBUG
from ._raw import VARVE_LOG_ERROR as LOG_ERROR
from ._raw import VARVE_LOG_INFO as LOG_INFO
from ._raw import VARVE_LOG_OFF as LOG_OFF
from ._raw import VARVE_LOG_WARN as LOG_WARN
from ._raw import VERSION as __version__
from .documents import (Context, ContextItem, Entry, NewEntry, Query, Result, SessionInfo,
                        SessionOptions, SessionPage, TagQuery, TimeQuery)
from .errors import (AlreadyExists, BadHandle, Busy, CallbackFailed, Corruption, FormatVersion,
                     Forked, InputOutput, Internal, InvalidArgument, LibraryError, NoMemory,
                     NoSpace, NotFound, ReadOnly, SizeLimit, Unsupported, VarveError)
from .memory import Memory
from .results import Results
from .session import Session
from .store import Store
from .window import Window


def library_version() -> str:
    """The version of the loaded library."""
    return str(_functions().varve_version().decode())


def status_name(status: int) -> str:
    """The name of a status: "VARVE_BUSY" for 7."""
    return str(_functions().varve_status_name(status).decode())


__all__ = [
    "ABI_VERSION",
    "AlreadyExists",
    "BadHandle",
    "Busy",
    "CallbackFailed",
    "Context",
    "ContextItem",
    "Corruption",
    "Entry",
    "Forked",
    "FormatVersion",
    "InputOutput",
    "Internal",
    "InvalidArgument",
    "LOG_DEBUG",
    "LOG_ERROR",
    "LOG_INFO",
    "LOG_OFF",
    "LOG_WARN",
    "LibraryError",
    "Memory",
    "NewEntry",
    "NoMemory",
    "NoSpace",
    "NotFound",
    "Query",
    "ReadOnly",
    "Result",
    "Results",
    "Session",
    "SessionInfo",
    "SessionOptions",
    "SessionPage",
    "SizeLimit",
    "Store",
    "TagQuery",
    "TimeQuery",
    "Unsupported",
    "VarveError",
    "Window",
    "__version__",
    "library_version",
    "load",
    "status_name",
]
