"""The answer to a query."""
from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union, cast, overload

from . import _call, _raw
from ._handle import Handle
from .documents import Entry
from .errors import BadHandle, Forked
from .reports import PageExplanation, Result


class Results(Handle, Sequence[Result]):
    """What a query found, in order; a sequence of results, each a dict (varve.Result).

        for result in session.query(text="tea"):
            print(result["relevance"], result["entry"]["content"])

    Results do not depend on the session, which may be closed before. They are freed when they are
    collected; `close`, or a `with` block, frees them at once. What was read stays readable. One
    thread at a time.
    """

    __slots__ = ("_page",)

    def __init__(self, api: _raw.Functions, handle: int):
        self._api, self._handle = api, handle
        self._page: Optional[Dict[str, Any]] = None
        self._opened()

    def to_json(self) -> bytes:
        """Everything as the library gives it: {"results":[...],"next":...}, UTF-8."""
        return _call.call_borrowed(self._api, self._api.varve_results_json, self._handle)

    def to_dict(self) -> Dict[str, Any]:
        """The same as an object."""
        if self._page is None:
            self._page = json.loads(self.to_json())
        return self._page

    @property
    def next(self) -> Optional[str]:
        """The cursor of the next page, for the query's `after`; None on the last."""
        if self._page is not None:
            return cast(Optional[str], self._page["next"])
        cursor = _call.call_borrowed(self._api, self._api.varve_results_next, self._handle)
        return cursor.decode() or None

    @property
    def explain(self) -> Optional[PageExplanation]:
        """How the query was answered, when it has `explain`."""
        return cast(Optional[PageExplanation], self.to_dict().get("explain"))

    def entry(self, index: int) -> Entry:
        """One entry as it is stored, without reading the others."""
        return cast(Entry, json.loads(_call.call_borrowed(
            self._api, self._api.varve_results_entry, self._handle,
            _call.number_of("results", index))))

    def score(self, index: int) -> float:
        """The relevance of one result, without reading the others."""
        return cast(float, _call.call_number(self._api, self._api.varve_results_score,
                                             ctypes.c_double, self._handle,
                                             _call.number_of("results", index)))

    def _list(self) -> List[Result]:
        return cast(List[Result], self.to_dict()["results"])

    def __repr__(self) -> str:
        try:
            return f"<varve.Results, {len(self)} of them>"
        except (BadHandle, Forked):
            return "<varve.Results, closed>"

    def __len__(self) -> int:
        if self._page is not None:
            return len(self._list())
        count = cast(int, self._api.varve_results_count(self._handle))
        if count == 0:
            self.to_json()  # says when they are closed, or of the process before a fork
        return count

    def __iter__(self) -> Iterator[Result]:
        return iter(self._list())

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> List[Result]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Result, List[Result]]:
        return self._list()[index]

    def close(self) -> None:
        """Frees them."""
        super().close()

    def _free(self) -> None:
        self._api.varve_results_free(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("Results can be neither pickled nor copied: take a list of them")


_PAGE = 500  # results that are asked for at once


class Pages:
    """Goes through the pages of a query: asks by `query`, and is given what came to `take`. As
    many results as the query's `limit`, or all there are, in `more` pages."""

    __slots__ = ("more", "_query", "_left")

    def __init__(self, query: Any, members: Mapping[str, Any]):
        if isinstance(query, (str, bytes)):
            query = _call.parsed(query)
        self._query: Dict[str, Any] = {**(query if query is not None else {}), **members}
        self._left: Optional[int] = self._query.pop("limit", None)
        self.more = True

    def query(self) -> Dict[str, Any]:
        """What to ask for next."""
        try:
            limit = _PAGE if self._left is None else min(self._left, _PAGE)
        except TypeError:
            limit = cast(int, self._left)  # no number: it is the library's to refuse
        return {**self._query, "limit": limit}

    def take(self, page: Results) -> List[Result]:
        """The results of a page."""
        results, after = cast(List[Result], page.to_dict()["results"]), page.next
        page.close()
        if self._left is not None:
            self._left -= len(results)
        self._query["after"] = after
        self.more = after is not None and self._left != 0
        return results


def find(ask: Callable[[Dict[str, Any]], Results], query: Any,
         members: Mapping[str, Any]) -> Iterator[Result]:
    """What a query finds, page after page."""
    pages = Pages(query, members)
    while pages.more:
        yield from pages.take(ask(pages.query()))
