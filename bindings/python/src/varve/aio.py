"""Store and Session for asyncio: the same methods, to be awaited.

    async with varve.aio.Store("./memory") as store:
        session = await store.session("kitchen")
        await session.add({"type": "finding", "content": "tea, not coffee"})
        for result in await session.query(text="tea"):
            print(result["entry"]["content"])

Calls run in the event loop's default executor (asyncio.to_thread), which is where they wait for
locks and disks; the loop goes on. A call that is cancelled is not awaited any longer: if it has
begun, it is carried out; if it waits for a thread of the executor, it is not. What a query gives
has been read when it arrives, so going through it does not wait.
"""
from __future__ import annotations

import asyncio
import functools
import threading
from typing import (TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Dict, Mapping, TypeVar,
                    Union)

from . import memory as _memory
from . import session as _session
from . import store as _store
from .documents import JsonText, Query
from .reports import Result, SessionInfo
from .results import Pages, Results
from .session import Options, Path
from .settings import MemoryOptions, SessionOptions, StoreConfig

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")


def _awaited(method: Callable[Concatenate[Any, P], R]
             ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """The method of the object inside, in another thread."""
    @functools.wraps(method)
    async def call(self: Any, /, *arguments: P.args, **members: P.kwargs) -> R:
        return await asyncio.to_thread(method, self._inner, *arguments, **members)
    return call


def _reading(method: Callable[Concatenate[Any, P], Results]
             ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Results]]:
    """As _awaited, for a query: its results are read in the other thread too."""
    def read(inner: Any, /, *arguments: P.args, **members: P.kwargs) -> Results:
        results = method(inner, *arguments, **members)
        results.to_dict()
        return results
    return _awaited(functools.wraps(method)(read))


def _opening(method: Callable[Concatenate[Any, P], _session.Session]
             ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, Session]]:
    """As _awaited, for what gives a session."""
    @functools.wraps(method)
    async def call(self: Any, /, *arguments: P.args, **members: P.kwargs) -> Session:
        return Session(await asyncio.to_thread(method, self._inner, *arguments, **members))
    return call


async def _find(ask: Callable[[Dict[str, Any]], Coroutine[Any, Any, Results]], query: Any,
                members: Mapping[str, Any]) -> AsyncIterator[Result]:
    """What a query finds, page after page, each of which is awaited."""
    pages = Pages(query, members)
    while pages.more:
        for result in pages.take(await ask(pages.query())):
            yield result


class Session:
    """An open session; varve.Session has the manual."""

    def __init__(self, inner: _session.Session):
        self._inner = inner

    @property
    def id(self) -> str:
        """The session's id."""
        return self._inner.id

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    close = _awaited(_session.Session.close)
    metadata = _awaited(_session.Session.metadata)
    update = _awaited(_session.Session.update)
    sync = _awaited(_session.Session.sync)
    stats = _awaited(_session.Session.stats)
    files = _awaited(_session.Session.files)
    tags = _awaited(_session.Session.tags)
    index = _awaited(_session.Session.index)
    add = _awaited(_session.Session.add)
    add_batch = _awaited(_session.Session.add_batch)
    get = _awaited(_session.Session.get)
    get_json = _awaited(_session.Session.get_json)
    delete = _awaited(_session.Session.delete)
    delete_where = _awaited(_session.Session.delete_where)
    query = _reading(_session.Session.query)

    def find(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
             **members: Any) -> AsyncIterator[Result]:
        """All that a query finds, or the first `limit`: `async for result in session.find(...)`."""
        return _find(self.query, query, members)

    count = _awaited(_session.Session.count)
    put_vector = _awaited(_session.Session.put_vector)
    record = _awaited(_session.Session.record)
    build_context = _awaited(_session.Session.build_context)
    kv_set = _awaited(_session.Session.kv_set)
    kv_get = _awaited(_session.Session.kv_get)
    kv_delete = _awaited(_session.Session.kv_delete)
    kv_list = _awaited(_session.Session.kv_list)
    transcript_append = _awaited(_session.Session.transcript_append)
    transcript_last = _awaited(_session.Session.transcript_last)
    verify = _awaited(_session.Session.verify)
    repair = _awaited(_session.Session.repair)
    compact = _awaited(_session.Session.compact)
    purge = _awaited(_session.Session.purge)
    migrate = _awaited(_session.Session.migrate)
    rebuild_index = _awaited(_session.Session.rebuild_index)
    export = _awaited(_session.Session.export)
    import_text = _awaited(_session.Session.import_text)
    export_file = _awaited(_session.Session.export_file)
    import_file = _awaited(_session.Session.import_file)
    set_progress = _awaited(_session.Session.set_progress)


class Memory:
    """A user's memory in three tiers; varve.Memory has the manual."""

    def __init__(self, inner: _memory.Memory):
        self._inner = inner

    async def __aenter__(self) -> Memory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    close = _awaited(_memory.Memory.close)
    record = _awaited(_memory.Memory.record)
    context = _awaited(_memory.Memory.context)
    load = _awaited(_memory.Memory.load)
    save = _awaited(_memory.Memory.save)
    clear = _awaited(_memory.Memory.clear)
    store = _awaited(_memory.Memory.store)
    search = _reading(_memory.Memory.search)
    delete = _awaited(_memory.Memory.delete)


class Store:
    """A store, opened by `async with`, or by `await Store(...).open()`; varve.Store has the
    manual."""

    def __init__(self, uri: Path, config: Union[StoreConfig, Options] = None, **members: Any):
        self._arguments = uri, config
        self._members = members
        self._opened: _store.Store | None = None
        self._is_open = False
        self._turn = threading.Lock()  # of those that open and close

    async def open(self) -> Store:
        """Opens it, unless it is open; also after a close."""
        await asyncio.to_thread(self._open)
        return self

    def _open(self) -> None:
        with self._turn:
            if not self._is_open:
                self._opened = _store.Store(*self._arguments, **self._members)
                self._is_open = True

    def _close(self) -> None:
        with self._turn:
            self._inner.close()
            self._is_open = False

    @property
    def _inner(self) -> _store.Store:
        if self._opened is None:
            raise RuntimeError("the store is not open: use `async with`, or await its open()")
        return self._opened

    async def __aenter__(self) -> Store:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes it and its sessions; see varve.Store."""
        await asyncio.to_thread(self._close)

    async def session(self, session_id: str,
                      options: Union[SessionOptions, Dict[str, Any], None] = None,
                      **members: Any) -> Session:
        """Opens the session of this id, and makes it when there is none; see varve.Store."""
        return Session(await asyncio.to_thread(self._inner.session, session_id, options,
                                               **members))

    create_session = _opening(_store.Store.create_session)
    open_session = _opening(_store.Store.open_session)
    sessions = _awaited(_store.Store.sessions)
    delete_session = _awaited(_store.Store.delete_session)
    query = _reading(_store.Store.query)

    def find(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
             **members: Any) -> AsyncIterator[Result]:
        """All that a query finds across sessions, or the first `limit`."""
        return _find(self.query, query, members)

    sync = _awaited(_store.Store.sync)
    backup = _awaited(_store.Store.backup)
    restore = _awaited(_store.Store.restore)
    sweep = _awaited(_store.Store.sweep)
    stats = _awaited(_store.Store.stats)
    usage = _awaited(_store.Store.usage)
    metrics = _awaited(_store.Store.metrics)
    set_log = _awaited(_store.Store.set_log)
    log_to = _awaited(_store.Store.log_to)
    set_clock = _awaited(_store.Store.set_clock)
    set_token_counter = _awaited(_store.Store.set_token_counter)

    async def memory(self, options: Union[MemoryOptions, Options] = None, /,
                     **members: Any) -> Memory:
        """The memory of a user in three tiers."""
        return Memory(await asyncio.to_thread(self._inner.memory, options, **members))

    async def iterate_sessions(self, **members: Any) -> AsyncIterator[SessionInfo]:
        """All sessions, newest first, page by page."""
        while True:
            page = await self.sessions(**members)
            for info in page["sessions"]:
                yield info
            if page["next"] is None:
                return
            members.pop("rescan", None)  # a list made anew has no such page
            members["after"] = page["next"]
