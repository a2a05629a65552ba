"""The last so many messages of a conversation, in memory only."""
from __future__ import annotations

import contextlib
import json
from typing import Any, Dict, List, Optional, Union, cast

from . import _call, _library
from ._handle import Handle
from .documents import JsonText
from .errors import BadHandle
from .reports import MemoryEntry, Message


class Window(Handle):
    """What an agent has in front of it: the oldest message leaves when the window is full.

        window = varve.Window(20)
        window.add({"role": "user", "content": "Hello"})
        prompt = window.text()

    Nothing is written anywhere. Any thread may use it.
    """

    __slots__ = ()

    def __init__(self, capacity: int):
        self._api = _library.functions()
        self._handle = _call.call_handle(self._api, self._api.varve_window_new,
                                         self._api.varve_window_free, _call.how_many(capacity))
        self._opened()

    def add(self, message: Union[Message, MemoryEntry, Dict[str, Any], JsonText]) -> None:
        """Adds a message: "content" is needed, "role" and "timestamp" are usual."""
        given = _call.document(message)
        _call.call(self._api, self._api.varve_window_add, self._handle, given, len(given))

    def recent(self, count: Optional[int] = None) -> List[Message]:
        """The newest messages, in the order in which they were added; None is all."""
        return cast(List[Message], json.loads(_call.call_text(
            self._api, self._api.varve_window_recent, self._handle, _call.how_many(count))))

    def text(self) -> str:
        """Lines for a prompt, "role: content", oldest first."""
        return _call.call_text(self._api, self._api.varve_window_text, self._handle).decode()

    def clear(self) -> None:
        """Removes all messages."""
        _call.call(self._api, self._api.varve_window_clear, self._handle)

    def __len__(self) -> int:
        count = cast(int, self._api.varve_window_size(self._handle))
        if count == 0:
            with contextlib.suppress(BadHandle):  # a closed one is empty
                self.text()  # says when it is of the process before a fork
        return count

    def close(self) -> None:
        """Frees it."""
        super().close()

    def _free(self) -> None:
        self._api.varve_window_free(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a Window can be neither pickled nor copied: add its recent() to another")
