"""What everything has that the library keeps open for the program."""
from __future__ import annotations

from typing import TypeVar

from . import _raw

_Self = TypeVar("_Self", bound="Handle")


class Handle:
    """Open until `close`, the end of a `with` block, or until it is collected."""

    __slots__ = ("_api", "_handle", "__weakref__")
    _api: _raw.Functions
    _handle: int

    def close(self) -> None:
        """Closes it."""
        self._free()

    def _free(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_handle"):  # otherwise it was never opened
            self._free()
