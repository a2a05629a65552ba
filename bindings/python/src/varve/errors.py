"""What can go wrong: a class for each status of the library."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type

from . import _raw


class VarveError(Exception):
    """A call of the library failed. docs/errors.md has causes and remedies of every status.

    status, status_name   7, "VARVE_BUSY"
    message               one line for a person
    details               the place: path, member, offset, line, size, limit, errno, as they apply
    """

    STATUS: Optional[int] = None

    def __init__(self, status: int, message: str, details: Optional[Mapping[str, Any]] = None):
        self.status = status
        self.status_name = _raw.STATUS_NAMES.get(status, "VARVE_UNKNOWN_STATUS")
        self.message = message
        self.details: Dict[str, Any] = dict(details or {})
        super().__init__(message)

    def __str__(self) -> str:
        place = ", ".join(f"{name} {value}" for name, value in self.details.items())
        return f"{self.status_name}: {self.message}" + (f" ({place})" if place else "")

    def __reduce__(self) -> Tuple[Any, ...]:
        return error_of, (self.status, self.message, self.details)

    @property
    def path(self) -> Optional[str]:
        """The file or directory it is about."""
        return self.details.get("path")

    @property
    def member(self) -> Optional[str]:
        """The JSON member, or the parameter, at fault: "tags[2]" for example."""
        return self.details.get("member")

    @property
    def offset(self) -> Optional[int]:
        """Bytes from the start of the file at `path`, or of the JSON that was given."""
        return self.details.get("offset")

    @property
    def line(self) -> Optional[int]:
        """Line of the text that was given, counted from 1."""
        return self.details.get("line")


class InvalidArgument(VarveError, ValueError):
    """Malformed input; nothing was changed."""

    STATUS = _raw.VARVE_INVALID_ARGUMENT


class NotFound(VarveError, LookupError):
    """No such entry, key, session, file or backup."""

    STATUS = _raw.VARVE_NOT_FOUND


class AlreadyExists(VarveError):
    """The id is in use, or was used and deleted."""

    STATUS = _raw.VARVE_ALREADY_EXISTS


class SizeLimit(VarveError):
    """Larger than a configured limit."""

    STATUS = _raw.VARVE_SIZE_LIMIT


class BadHandle(VarveError):
    """The store, session, memory, window or results are closed."""

    STATUS = _raw.VARVE_BAD_HANDLE


class ReadOnly(VarveError):
    """No permission to write, or writing was stopped for safety."""

    STATUS = _raw.VARVE_READ_ONLY


class Busy(VarveError):
    """Another process holds the lock past the deadline; try again."""

    STATUS = _raw.VARVE_BUSY


class Unsupported(VarveError):
    """Not available for this session, store or file system."""

    STATUS = _raw.VARVE_UNSUPPORTED


class InputOutput(VarveError):
    """The file system answered with an error."""

    STATUS = _raw.VARVE_IO


class NoSpace(VarveError):
    """Disk or quota full; nothing was added."""

    STATUS = _raw.VARVE_NO_SPACE


class NoMemory(VarveError):
    """No memory or thread left; nothing was added, deleted or set."""

    STATUS = _raw.VARVE_NO_MEMORY


class Corruption(VarveError):
    """What is stored there is damaged."""

    STATUS = _raw.VARVE_CORRUPTION


class FormatVersion(VarveError):
    """Written by a newer version; left untouched."""

    STATUS = _raw.VARVE_FORMAT_VERSION


class CallbackFailed(VarveError):
    """A callback of yours failed. What it raised is the `__cause__`."""

    STATUS = _raw.VARVE_CALLBACK


class Forked(VarveError):
    """The store was opened before fork(), in the parent: open it again in the child."""

    STATUS = _raw.VARVE_FORKED


class Internal(VarveError):
    """A defect of the library: please report it."""

    STATUS = _raw.VARVE_INTERNAL


CLASSES: Dict[int, Type[VarveError]] = {
    cls.STATUS: cls for cls in VarveError.__subclasses__() if cls.STATUS is not None}


def error_of(status: int, message: str, details: Optional[Mapping[str, Any]] = None) -> VarveError:
    """The error of a status. One that this version does not know is a plain VarveError."""
    return CLASSES.get(status, VarveError)(status, message, details)


class LibraryError(ImportError):
    """The shared library could not be loaded.

    tried        every path, with what was wrong with it
    abi_wanted   the ABI version that this package was made for
    abi_found    that of the last library that was found, or None
    """

    def __init__(self, tried: Sequence[Tuple[str, str]], abi_wanted: int,
                 abi_found: Optional[int]):
        self.tried = list(tried)
        self.abi_wanted = abi_wanted
        self.abi_found = abi_found
        lines = "".join(f"\n  {path}: {reason}" for path, reason in self.tried)
        found = "none found" if abi_found is None else f"{abi_found} found"
        super().__init__(f"libvarve could not be loaded (ABI version {abi_wanted} wanted, "
                         f"{found}). Tried:{lines}\nName it in VARVE_LIBRARY, or give it to "
                         "varve.load().")

    def __reduce__(self) -> Tuple[Any, ...]:
        return LibraryError, (self.tried, self.abi_wanted, self.abi_found)
