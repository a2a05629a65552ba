"""Finds the shared library and loads it, once in a process."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys
import threading
from typing import List, Optional, Tuple, Union

from . import _raw
from .errors import LibraryError

_lock = threading.Lock()
_loaded: Optional[_raw.Functions] = None
_loaded_path = ""


def _forked() -> None:
    """A thread that is not in the child may have been loading."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def file_names() -> List[str]:
    """What the library is called, most exact first."""
    version = _raw.ABI_VERSION
    if sys.platform == "darwin":
        return [f"libvarve.{version}.dylib", "libvarve.dylib"]
    return [f"libvarve.so.{version}", "libvarve.so"]


def _file(path: str) -> str:
    """A path that was asked for, for the system's loader. That looks for a name without a slash in
    places of its own, and may find another file than the one in the working directory."""
    return path if "/" in path else f"./{path}"


def candidates(path: Optional[str] = None) -> List[str]:
    """Where to look, in order. A path that was asked for is the only one."""
    asked = path or os.environ.get("VARVE_LIBRARY")
    if asked:
        return [_file(asked)]
    package = pathlib.Path(__file__).resolve().parent
    beside = [str(folder / name) for folder in (package, package.parent / "lib")
              for name in file_names()]
    return beside + file_names()[:1]


class _Unfit(Exception):
    """A file that is no library for us; `abi` when it told its version."""

    def __init__(self, reason: str, abi: Optional[int] = None):
        super().__init__(reason)
        self.abi = abi


def _try(path: str) -> _raw.Functions:
    if os.path.isabs(path) and not os.path.exists(path):
        raise _Unfit("no such file")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise _Unfit(str(error)) from None
    try:
        tell = library["varve_abi_version"]
    except AttributeError:
        raise _Unfit("the symbol varve_abi_version is missing") from None
    tell.restype, tell.argtypes = ctypes.c_uint32, ()
    found = tell()
    if found != _raw.ABI_VERSION:
        raise _Unfit(f"ABI version {found}, {_raw.ABI_VERSION} is wanted", found)
    try:
        return _raw.Functions(library)
    except AttributeError as error:
        raise _Unfit(f"a symbol is missing: {error}", found) from None


def _find(path: Optional[str]) -> Tuple[_raw.Functions, str]:
    tried: List[Tuple[str, str]] = []
    abi_found = None
    for candidate in candidates(path):
        try:
            return _try(candidate), candidate
        except _Unfit as unfit:
            tried.append((candidate, str(unfit)))
            abi_found = unfit.abi if unfit.abi is not None else abi_found
    raise LibraryError(tried, _raw.ABI_VERSION, abi_found)


def load(path: Union[str, "os.PathLike[str]", None] = None) -> str:
    """Loads the shared library, and gives the path it was found at.

    Opening the first store does this by itself; call it before that to say which file is meant.
    Looked at in order: `path`; the environment variable VARVE_LIBRARY; beside this package;
    `../lib` from there; the system's libvarve.so.N. The first two, when given, are the only ones.
    Once loaded it stays for the life of the process, and another path is an error.
    """
    functions(os.fspath(path) if path is not None else None)
    return _loaded_path


def functions(path: Optional[str] = None) -> _raw.Functions:
    """The functions of the library, which is loaded by the first call."""
    global _loaded, _loaded_path
    if _loaded is not None and path is None:
        return _loaded
    with _lock:
        if _loaded is None:
            _loaded, _loaded_path = _find(path)
        elif path is not None and not _same_file(path, _loaded_path):
            raise LibraryError([(path, f"{_loaded_path} is loaded already")], _raw.ABI_VERSION,
                               _raw.ABI_VERSION)
        return _loaded


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return one == other
