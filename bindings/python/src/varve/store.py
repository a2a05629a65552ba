"""A directory, or memory, that holds any number of sessions."""
from __future__ import annotations

import atexit
import json
import logging
import operator
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterator, Optional, Union, cast

from . import _call, _library, _raw, callbacks
from ._handle import Handle
from .documents import JsonText, Query
from .errors import InvalidArgument
from .memory import Memory
from .reports import (BackupReport, RestoreReport, Result, SessionInfo, SessionPage, StoreStats,
                      SweepReport, UsageReport)
from .results import Results, find
from .session import Options, Path, Session
from .settings import (BackupOptions, MemoryOptions, RestoreOptions, SessionFilter, SessionOptions,
                       StoreConfig, UsageFilter)


class Store(Handle):
    """An open store.

        with varve.Store("./memory") as store:
            session = store.create_session(user_id="ann")

    uri      a directory, which is made when it does not exist; "file:PATH"; or "memory:", nothing
             on disk
    config   a dict or JSON text, or its members as keyword arguments, docs/format.md#config:
             `varve.Store("./memory", durability="interval")`; overrides config.json

    Any thread may use it, and several processes may have the same directory open. After a fork
    the child opens its own. `close`, or a `with` block, closes it with its sessions.
    """

    def __init__(self, uri: Path, config: Union[StoreConfig, Options] = None, **members: Any):
        self._api = _library.functions()
        self._log = callbacks.Slot(callbacks.log)
        self._clock = callbacks.Slot(callbacks.clock)
        self._tokens = callbacks.Slot(callbacks.token_counter)
        # Held while the counter, and what the library knows of it, change: else one that is set
        # while another thread clears could be told to the library and gone here. A signal's
        # handler may come to it twice.
        self._setting_tokens = threading.RLock()
        self._uri = os.fspath(uri)
        given = _call.text(self._uri)
        self._handle = _call.call_handle(self._api, self._api.varve_store_open,
                                         self._api.varve_store_close, given, len(given),
                                         *_call.options(cast(Any, config), members))
        _open_stores[self._handle] = self
        self._opened()

    # -- lifetime

    def close(self) -> None:
        """Closes it and its sessions. Nothing that was added depends on this, but with the
        durability "interval" or "os" it waits until everything is durable."""
        super().close()

    def _free(self) -> None:
        _close(self._api, self._handle)

    def __repr__(self) -> str:
        return f"<varve.Store {self._uri}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Store cannot be pickled: give its path to the other process, which "
                        "opens it there")

    # -- sessions

    def session(self, session_id: str, options: Union[SessionOptions, Dict[str, Any], None] = None,
                **members: Any) -> Session:
        """Opens the session of this id, and makes it when there is none, with the members of
        `create_session`: `store.session("kitchen", user_id="ann")`. One that is there is opened as
        it is; AlreadyExists when it is another user's or agent's."""
        return self.create_session(cast(Any, options), **{
            **members, "session_id": session_id, "if_exists": "open"})

    def create_session(self, options: Union[SessionOptions, Options] = None, /,
                       **members: Any) -> Session:
        """Makes a session and opens it: `session_id`, `user_id`, `agent_id`, `title`, `stores`,
        `kv_cap`, `transcript_cap`, `ttl_hours`, `ttl_policy`, `decay_config`,
        `compaction_config`, `preferences`, `durability`, all optional. AlreadyExists when there is
        one of that id, unless `if_exists` is "open"."""
        return Session(self, _call.call_handle(
            self._api, self._api.varve_session_create, self._api.varve_session_close, self._handle,
            *_call.options(cast(Any, options), members)))

    def open_session(self, session_id: str) -> Session:
        """Opens a session. NotFound when there is none."""
        given = _call.text(session_id)
        return Session(self, _call.call_handle(self._api, self._api.varve_session_open,
                                               self._api.varve_session_close, self._handle, given,
                                               len(given)))

    def sessions(self, filter: Union[SessionFilter, Options] = None, /,
                 **members: Any) -> SessionPage:
        """A page of the list of sessions, newest first: `user_id`, `agent_id`, `limit`, `after`
        (the `next` of the page before), `rescan`."""
        return cast(SessionPage, self._document(self._api.varve_store_sessions,
                                                *_call.options(cast(Any, filter), members)))

    def iterate_sessions(self, **members: Any) -> Iterator[SessionInfo]:
        """All sessions, newest first, page by page; filters as for `sessions`."""
        while True:
            page = self.sessions(**members)
            yield from page["sessions"]
            if page["next"] is None:
                return
            members.pop("rescan", None)  # a list made anew has no such page
            members["after"] = page["next"]

    def delete_session(self, session_id: str) -> None:
        """Deletes a session with everything in it, at once and for good."""
        given = _call.text(session_id)
        _call.call(self._api, self._api.varve_store_delete_session, self._handle, given,
                   len(given))

    def query(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
              **members: Any) -> Results:
        """Finds entries across sessions: as Session.query, with `user_id`, `agent_id` and
        `session_ids` to say which."""
        return Results(self._api, _call.call_handle(
            self._api, self._api.varve_store_query, self._api.varve_results_free, self._handle,
            *_call.options(cast(Any, query), members)))

    def find(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
             **members: Any) -> Iterator[Result]:
        """All that a query finds across sessions: as Session.find."""
        return find(self.query, query, members)

    def memory(self, options: Union[MemoryOptions, Options] = None, /, **members: Any) -> Memory:
        """The memory of a user in three tiers: `user_id`, `agent_id`, `window`, `ttl_hours`."""
        return Memory(self, _call.call_handle(self._api, self._api.varve_memory_open,
                                              self._api.varve_memory_close, self._handle,
                                              *_call.options(cast(Any, options), members)))

    # -- looking after it

    def sync(self) -> None:
        """Makes everything added so far durable, whatever the durability."""
        _call.call(self._api, self._api.varve_store_sync, self._handle)

    def backup(self, path: Path, options: Union[BackupOptions, Options] = None, /,
               **more: Any) -> BackupReport:
        """Copies the store into a directory: `sessions`, `delete_missing`."""
        return cast(BackupReport, self._copy(self._api.varve_store_backup, path, options, more))

    def restore(self, path: Path, options: Union[RestoreOptions, Options] = None, /,
                **more: Any) -> RestoreReport:
        """Copies sessions from a backup: `sessions`, `overwrite`, `tombstones_from`."""
        return cast(RestoreReport, self._copy(self._api.varve_store_restore, path, options, more))

    def sweep(self) -> SweepReport:
        """Removes what has expired."""
        return cast(SweepReport, self._document(self._api.varve_store_sweep))

    def stats(self) -> StoreStats:
        """Figures of this store."""
        return cast(StoreStats, self._document(self._api.varve_store_stats))

    def usage(self, filter: Union[UsageFilter, Options] = None, /,
              **members: Any) -> UsageReport:
        """Tokens and money that entries tell of, summed by session, agent, user and day:
        `user_id`, `agent_id`, `session_ids`, `time`."""
        return cast(UsageReport, self._document(self._api.varve_store_usage,
                                                *_call.options(cast(Any, filter), members)))

    def metrics(self) -> str:
        """Figures for monitoring, in the text format of Prometheus."""
        return _call.call_text(self._api, self._api.varve_store_metrics, self._handle).decode()

    # -- callbacks

    def set_log(self, receive: Optional[callbacks.LogReceiver],
                level: int = _raw.VARVE_LOG_INFO) -> None:
        """`receive(level, line)` gets every log line of `level` (varve.LOG_DEBUG ... LOG_ERROR)
        and above, as a dict. None: nobody."""
        level = operator.index(level)
        if not _raw.VARVE_LOG_DEBUG <= level <= _raw.VARVE_LOG_OFF:  # ctypes would cut it off
            raise InvalidArgument(_raw.VARVE_INVALID_ARGUMENT,
                                  f"{level} is not a log level", {"member": "level"})
        self._register(self._log, receive, self._api.varve_store_set_log, level)

    def log_to(self, logger: logging.Logger, level: int = _raw.VARVE_LOG_INFO) -> None:
        """Sends log lines to a logger of Python; the whole line is the record's `varve`."""
        self.set_log(callbacks.logger_receiver(logger), level)

    def set_clock(self, tell: Optional[callbacks.Clock]) -> None:
        """Takes the time, milliseconds since 1970, from `tell()` instead of the system. It must
        not call this library. None: the system's again."""
        self._register(self._clock, tell, self._api.varve_store_set_clock)

    def set_token_counter(self, count: Optional[callbacks.TokenCounter]) -> None:
        """Counts tokens by `count(text)`, as the model that reads contexts does. What it raises
        ends Session.build_context with CallbackFailed. None: the built-in estimate."""
        with self._setting_tokens:
            self._register(self._tokens, count, self._api.varve_store_set_token_counter)

    def _register(self, slot: callbacks.Slot, given: Optional[Callable[..., Any]],
                  function: _call.Function, *before: Any) -> None:
        slot.set(given, lambda callback: _call.call(self._api, function, self._handle, *before,
                                                    callback, None))

    # -- helpers

    def _document(self, function: _call.Function, *arguments: Any) -> Any:
        return json.loads(_call.call_text(self._api, function, self._handle, *arguments))

    def _copy(self, function: _call.Function, path: Path, options: Any,
              members: Dict[str, Any]) -> Any:
        given = _call.text(os.fspath(path))
        return self._document(function, given, len(given), *_call.options(options, members))


_open_stores: weakref.WeakValueDictionary[int, Store] = weakref.WeakValueDictionary()
_closings: Dict[object, int] = {}  # those that have not returned yet: the process of each


def _forked() -> None:
    """A thread that is not in the child may have been setting a token counter."""
    for reference in _open_stores.valuerefs():
        store = reference()
        if store is not None:
            store._setting_tokens = threading.RLock()


os.register_at_fork(after_in_child=_forked)


def _close(api: _raw.Functions, handle: int) -> None:
    closing = object()
    _closings[closing] = os.getpid()
    try:
        api.varve_store_close(handle)
    finally:
        del _closings[closing]


@atexit.register
def _close_all() -> None:
    """No thread of the library may call into an interpreter that is gone. Daemon threads go on
    opening and closing stores meanwhile, so lists are made in one step; who closes a store that
    another thread is closing does not wait for that."""
    callbacks.end()
    for reference in _open_stores.valuerefs():
        store = reference()
        if store is not None:
            store._free()
    while os.getpid() in list(_closings.values()):
        time.sleep(0.001)
