"""One memory."""
from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Union, cast

from . import _call, _raw, callbacks
from ._handle import Handle
from .documents import Entry, JsonText, NewEntry, Query
from .errors import BadHandle, Forked
from .reports import (CompactReport, Context, ExportReport, ImportReport, KeyValue, Metadata,
                      MigrateReport, RebuildReport, RepairReport, Result, SessionFile,
                      SessionIndex, SessionStats, Turn, VerifyReport)
from .results import Results, find
from .settings import (CompactOptions, ContextRequest, ExportOptions, ImportOptions,
                       MigrateOptions, PurgeOptions, RepairOptions, VerifyOptions)

if TYPE_CHECKING:
    from .store import Store

Path = Union[str, "os.PathLike[str]"]
Options = Union[Dict[str, Any], JsonText, None]


class Session(Handle):
    """An open session: entries that are added, found and deleted. Store.create_session and
    Store.open_session give one.

    Documents (entries, queries, options) are dicts, or JSON text (str, bytes) that is passed on
    as it is. Members of queries and options may be given as keyword arguments:
    `session.query(text="tea", limit=3)`.

    Any thread may use it. The database is not locked between calls: other processes may add,
    find and delete at the same time.
    """

    __slots__ = ("store", "_progress")

    def __init__(self, store: Store, handle: int):
        self.store = store  # kept open as long as its sessions are in use
        self._api = store._api
        self._handle = handle
        self._progress = callbacks.Slot(callbacks.progress)
        self._opened()

    # -- lifetime

    def close(self) -> None:
        """Closes it, and saves index and metadata. Nothing that was added depends on this."""
        super().close()

    def _free(self) -> None:
        self._api.varve_session_close(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a Session cannot be pickled: give its id to the other process, which "
                        "opens it there")

    def __repr__(self) -> str:
        try:
            return f"<varve.Session {self.id}>"
        except Forked:
            return "<varve.Session, of the process before the fork>"
        except BadHandle:
            return "<varve.Session, closed>"

    # -- the session itself

    @property
    def id(self) -> str:
        """The session's id."""
        given = self._api.varve_session_id(self._handle)
        if given is None:
            self.stats()  # says why: it is closed, or was opened before a fork
            raise BadHandle(_raw.VARVE_BAD_HANDLE, "the session is closed")
        return cast(str, given.decode())

    def metadata(self) -> Metadata:
        """What is known about the session, with current counts."""
        return cast(Metadata, self._document(self._api.varve_session_metadata))

    def update(self, patch: Options = None, /, **members: Any) -> None:
        """Changes metadata by a JSON merge patch: None removes a member."""
        given, length = _call.options({} if patch is None else patch, members)
        _call.call(self._api, self._api.varve_session_update, self._handle, given, length)

    def sync(self) -> None:
        """Makes everything added so far durable, whatever the durability."""
        _call.call(self._api, self._api.varve_session_sync, self._handle)

    def stats(self) -> SessionStats:
        """Figures of the session."""
        return cast(SessionStats, self._document(self._api.varve_session_stats))

    def files(self) -> List[SessionFile]:
        """The session's files: name, size_bytes, modified."""
        return cast(List[SessionFile], self._document(self._api.varve_session_files)["files"])

    def tags(self) -> Dict[str, int]:
        """Every tag, with the tags above it, and how many entries are found by it."""
        tags = self._document(self._api.varve_session_tags)["tags"]
        return {tag["tag"]: tag["entries"] for tag in tags}

    def index(self) -> SessionIndex:
        """The index as a person can read it."""
        return cast(SessionIndex, self._document(self._api.varve_session_index))

    # -- entries

    def add(self, entry: Union[NewEntry, Entry, Dict[str, Any], JsonText]) -> str:
        """Adds one entry and gives its id. When this returns, the entry is as durable as the
        session's durability says, and every process sees it."""
        given = _call.document(entry)
        return _call.call_text(self._api, self._api.varve_session_add, self._handle, given,
                               len(given)).decode()

    def add_batch(self, entries: Union[Iterable[Any], JsonText]) -> List[str]:
        """Adds several entries, all or none. Text is a JSON array, or JSON lines."""
        if not isinstance(entries, (str, bytes)):
            entries = list(entries)
        given = _call.document(entries)
        return cast(List[str], json.loads(_call.call_text(
            self._api, self._api.varve_session_add_batch, self._handle, given, len(given))))

    def get(self, entry_id: str) -> Entry:
        """One entry as it is stored. NotFound when it is not there, deleted or expired."""
        return cast(Entry, json.loads(self.get_json(entry_id)))

    def get_json(self, entry_id: str) -> bytes:
        """The same as the bytes of its line."""
        given = _call.text(entry_id)
        return _call.call_text(self._api, self._api.varve_session_get, self._handle, given,
                               len(given))

    def delete(self, entry_id: str, reason: Optional[str] = None) -> None:
        """Deletes one entry: hidden at once from every reader. `purge` removes its bytes."""
        given = _call.text(entry_id)
        _call.call(self._api, self._api.varve_session_delete, self._handle, given, len(given),
                   *_call.optional_text(reason))

    def delete_where(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
                     reason: Optional[str] = None, **members: Any) -> int:
        """Deletes every entry that a query finds, and tells how many. A query without any
        condition must be said: `delete_where({})` is every entry."""
        if query is None and not members:
            raise TypeError("delete_where needs a query; {} is every entry")
        return cast(int, _call.call_number(
            self._api, self._api.varve_session_delete_where, ctypes.c_uint64, self._handle,
            *_call.options(cast(Any, query), members), *_call.optional_text(reason)))

    # -- finding

    def query(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
              **members: Any) -> Results:
        """Finds entries (docs/query.md): `query(text="tea -coffee", tags={"include": ["ann"]})`.
        Without anything, all by relevance. One page: `limit` of them, 100 when not given."""
        return Results(self._api, _call.call_handle(
            self._api, self._api.varve_session_query, self._api.varve_results_free, self._handle,
            *_call.options(cast(Any, query), members)))

    def find(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
             **members: Any) -> Iterator[Result]:
        """All that a query finds, or the first `limit`; page after page as it is gone through."""
        return find(self.query, query, members)

    def count(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
              **members: Any) -> int:
        """How many entries match."""
        return cast(int, _call.call_number(
            self._api, self._api.varve_session_count, ctypes.c_uint64, self._handle,
            *_call.options(cast(Any, query), members)))

    def put_vector(self, entry_id: str, values: Iterable[float]) -> None:
        """Gives an entry its vector, an embedding that you made of it: `query(vector=[...])`
        finds by it. Any sequence of numbers; an array of 32 bit floats (array.array, numpy) is
        taken without a loop."""
        given = _call.text(entry_id)
        numbers = _call.floats(values)
        _call.call(self._api, self._api.varve_session_put_vector, self._handle, given, len(given),
                   numbers, len(numbers))

    # -- what a model is given

    def record(self, kind: str, payload: Union[Dict[str, Any], JsonText]) -> str:
        """Records one step of a conversation and gives its entry's id: "user_message",
        "assistant_message", "tool_call", "tool_result", "observation" and so on, with
        {"content": ...}, or {"name", "arguments", "call_id"} and {"name", "result", "call_id"}."""
        what, given = _call.text(kind), _call.document(payload)
        return _call.call_text(self._api, self._api.varve_context_record, self._handle, what,
                               len(what), given, len(given)).decode()

    def build_context(self, request: Union[ContextRequest, Options] = None, /,
                      **members: Any) -> Context:
        """The part of the memory that fits into a model's context window (docs/context.md):
        `build_context(question="...", budget={"max_tokens": 4000})`. The text is in "text".
        With `across={"user_id": "ann"}` it recalls from Ann's other sessions, too."""
        return cast(Context, self._document(self._api.varve_context_build,
                                            *_call.options(cast(Any, request), members)))

    # -- small facts by key, and what was said

    def kv_set(self, key: str, value: str) -> None:
        """Sets a key. Past the session's cap the key that was set longest ago goes."""
        name, given = _call.text(key), _call.text(value)
        _call.call(self._api, self._api.varve_kv_set, self._handle, name, len(name), given,
                   len(given))

    def kv_get(self, key: str) -> str:
        """The value of a key. NotFound when it is not there."""
        name = _call.text(key)
        return _call.call_text(self._api, self._api.varve_kv_get, self._handle, name,
                               len(name)).decode()

    def kv_delete(self, key: str) -> None:
        """Takes a key away. NotFound when it is not there."""
        name = _call.text(key)
        _call.call(self._api, self._api.varve_kv_delete, self._handle, name, len(name))

    def kv_list(self) -> List[KeyValue]:
        """All keys as {"key", "value", "ts"}, the one that was set longest ago first."""
        return cast(List[KeyValue], self._document(self._api.varve_kv_list))

    def transcript_append(self, role: str, content: str) -> None:
        """Appends what was said, with the present time."""
        who, given = _call.text(role), _call.text(content)
        _call.call(self._api, self._api.varve_transcript_append, self._handle, who, len(who),
                   given, len(given))

    def transcript_last(self, count: Optional[int] = None) -> List[Turn]:
        """The last turns as {"role", "content", "timestamp"}, oldest first; None is all."""
        return cast(List[Turn], self._document(self._api.varve_transcript_last,
                                               _call.how_many(count)))

    # -- looking after it

    def verify(self, options: Union[VerifyOptions, Options] = None, /,
               **more: Any) -> VerifyReport:
        """Checks every byte; changes nothing. `deep=True` compares the index too."""
        return cast(VerifyReport, self._report(self._api.varve_session_verify, options, more))

    def repair(self, options: Union[RepairOptions, Options] = None, /,
               **more: Any) -> RepairReport:
        """Sets damaged lines aside: `dry_run`, `accept_edits`."""
        return cast(RepairReport, self._report(self._api.varve_session_repair, options, more))

    def compact(self, options: Union[CompactOptions, Options] = None, /,
                **more: Any) -> CompactReport:
        """Writes the log anew without deleted and expired entries: `dry_run`, `evict_below`."""
        return cast(CompactReport, self._report(self._api.varve_session_compact, options, more))

    def purge(self, options: Union[PurgeOptions, Options] = None, /, **more: Any) -> CompactReport:
        """Makes deleted and expired entries gone for good, from every file: `dry_run`."""
        return cast(CompactReport, self._report(self._api.varve_session_purge, options, more))

    def migrate(self, options: Union[MigrateOptions, Options] = None, /,
                **more: Any) -> MigrateReport:
        """Rewrites a log of an earlier format version: `dry_run`."""
        return cast(MigrateReport, self._report(self._api.varve_session_migrate, options, more))

    def rebuild_index(self, options: Options = None, /, **more: Any) -> RebuildReport:
        """Builds the index anew from the log."""
        return cast(RebuildReport, self._report(self._api.varve_session_rebuild_index, options,
                                                more))

    def export(self, format: Union[str, Dict[str, Any]] = "jsonl",
               query: Union[Query, Dict[str, Any], None] = None) -> str:
        """All entries, or those that match: "jsonl", "json" or "markdown"."""
        if query is not None:
            format = {"format": format, "query": query}
        given = _call.document(format)
        return _call.call_text(self._api, self._api.varve_session_export, self._handle, given,
                               len(given)).decode()

    def import_text(self, text: JsonText) -> ImportReport:
        """Adds entries from text: JSON lines, an array, an export, a chat, lines of a memory
        server (docs/export-import.md). Each that is good, whatever the others are."""
        given = _call.text(text)
        return cast(ImportReport, self._document(self._api.varve_session_import, given,
                                                 len(given)))

    def export_file(self, path: Path, options: Union[ExportOptions, Options] = None, /,
                    **more: Any) -> ExportReport:
        """Writes an export into a file: `format`, `query`, `overwrite`."""
        return cast(ExportReport, self._report_of_file(self._api.varve_session_export_file, path,
                                                   options, more))

    def import_file(self, path: Path, options: Union[ImportOptions, Options] = None, /,
                    **more: Any) -> ImportReport:
        """Adds entries from a file: `format`, `dry_run`."""
        return cast(ImportReport, self._report_of_file(self._api.varve_session_import_file, path,
                                                   options, more))

    def set_progress(self, hear: Optional[callbacks.Progress]) -> None:
        """`hear(operation, done, total)` is told how far exports, imports and verify have come;
        they stop with CallbackFailed when it answers False or raises, or cannot answer at once, as
        an `async` function. None: nobody is told."""
        self._progress.set(hear, lambda function: _call.call(
            self._api, self._api.varve_session_set_progress, self._handle, function, None))

    # -- helpers

    def _document(self, function: _call.Function, *arguments: Any) -> Any:
        return json.loads(_call.call_text(self._api, function, self._handle, *arguments))

    def _report(self, function: _call.Function, options: Any, members: Dict[str, Any]) -> Any:
        return self._document(function, *_call.options(options, members))

    def _report_of_file(self, function: _call.Function, path: Path, options: Any,
                        members: Dict[str, Any]) -> Any:
        given = _call.text(os.fspath(path))
        return self._document(function, given, len(given), *_call.options(options, members))
