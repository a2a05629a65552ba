"""What an agent remembers of one user, in three tiers."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Optional, Union, cast

from . import _call
from ._handle import Handle
from .documents import JsonText, Query
from .reports import MemoryContext, MemoryEntry, Message
from .results import Results

if TYPE_CHECKING:
    from .store import Store


class Memory(Handle):
    """Working memory (the last messages of each conversation), short-term memory (their logs,
    which expire) and long-term memory (a session of the user's own). Store.memory gives one.

        memory = store.memory(user_id="ann")
        memory.record("chat-1", {"role": "user", "content": "I never drink coffee"})
        memory.store({"content": "drinks tea"})
        prompt = memory.context("chat-1", max_tokens=1000)["entries"]

    docs/tiers.md is a short introduction. Any thread may use it.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store, handle: int):
        self._store = store  # kept open as long as its memories are in use
        self._api = store._api
        self._handle = handle
        self._opened()

    def record(self, session_id: str,
               message: Union[Message, MemoryEntry, Dict[str, Any], JsonText]) -> str:
        """Records a message of a conversation, which is made when it does not exist, and gives
        the entry's id."""
        which, given = _call.text(session_id), _call.document(message)
        return _call.call_text(self._api, self._api.varve_memory_record, self._handle, which,
                               len(which), given, len(given)).decode()

    def context(self, session_id: str, max_tokens: int = 0) -> MemoryContext:
        """What the agent is to have in front of it: {"entries", "token_count", "source"}. 0 is no
        limit."""
        which = _call.text(session_id)
        return cast(MemoryContext, json.loads(_call.call_text(
            self._api, self._api.varve_memory_context, self._handle, which, len(which),
            _call.number_of("tokens", max_tokens))))

    def load(self, session_id: str) -> None:
        """Takes a conversation's newest entries into working memory, with what others recorded."""
        which = _call.text(session_id)
        _call.call(self._api, self._api.varve_memory_load, self._handle, which, len(which))

    def save(self, session_id: str) -> None:
        """Makes everything recorded in a conversation durable, whatever the durability."""
        which = _call.text(session_id)
        _call.call(self._api, self._api.varve_memory_save, self._handle, which, len(which))

    def clear(self) -> None:
        """Empties working memory; the rest stays."""
        _call.call(self._api, self._api.varve_memory_clear, self._handle)

    def store(self, entry: Union[Message, MemoryEntry, Dict[str, Any], JsonText]) -> str:
        """Stores an entry in long-term memory and gives its id."""
        given = _call.document(entry)
        return _call.call_text(self._api, self._api.varve_memory_store, self._handle, given,
                               len(given)).decode()

    def search(self, query: Union[Query, Dict[str, Any], JsonText, None] = None, /,
               **members: Any) -> Results:
        """Finds entries over all sessions of the user, long term and short."""
        return Results(self._api, _call.call_handle(
            self._api, self._api.varve_memory_search, self._api.varve_results_free, self._handle,
            *_call.options(cast(Any, query), members)))

    def delete(self, entry_id: str, reason: Optional[str] = None) -> None:
        """Deletes an entry wherever it is among the user's sessions."""
        given = _call.text(entry_id)
        _call.call(self._api, self._api.varve_memory_delete, self._handle, given, len(given),
                   *_call.optional_text(reason))

    def close(self) -> None:
        """Closes it. Working memory is gone with it, what was recorded is not."""
        super().close()

    def _free(self) -> None:
        self._api.varve_memory_close(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a Memory cannot be pickled: the other process opens the store")
