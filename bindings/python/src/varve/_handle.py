"""What everything has that the library keeps open for the program."""
from __future__ import annotations

from typing import TypeVar

from . import _raw
from ._signals import raise_late

_Self = TypeVar("_Self", bound="Handle")


class Handle:
    """Open until `close`, the end of a `with` block, or until it is collected."""

    __slots__ = ("_api", "_handle", "__weakref__")
    _api: _raw.Functions
    _handle: int

    def _opened(self) -> None:
        """The end of `__init__`: what nobody gets, since the call raises something, is closed."""
        try:
            raise_late()
        except BaseException:  # noqa: B902
            self._free()
            raise

    def close(self) -> None:
        """Closes it."""
        self._free()
        raise_late()

    def _free(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_handle"):  # otherwise it was never opened
            self._free()
