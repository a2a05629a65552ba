"""The shapes of documents, for type checkers. docs/format.md and docs/query.md have the rules."""
from __future__ import annotations

import datetime
from typing import Any, Collection, Dict, List, TypedDict, Union

Time = Union[str, datetime.datetime]  # RFC 3339, or a datetime with a zone


class EntryUsage(TypedDict, total=False):
    """What the model call behind an entry used; Store.usage sums it."""

    input_tokens: int
    output_tokens: int
    cost_usd: float
    prompt_tokens: int  # another name of input_tokens
    completion_tokens: int  # another name of output_tokens


class _EntryMembers(TypedDict, total=False):
    importance: float
    tags: List[str]
    references: List[str]
    relations: Dict[str, List[str]]
    trace_id: str
    span_id: str
    decay_factor: float
    session_id: str
    seq: int
    schema_version: int
    checksum: str
    usage: EntryUsage


class _GivenMembers(TypedDict):
    type: str
    content: Any


class NewEntry(_GivenMembers, _EntryMembers, total=False):
    """One memory, as it is given. Other members are kept as they are; a plain dict has them."""

    id: str
    timestamp: Time
    expires_at: Time
    ttl_seconds: float


class _StoredMembers(TypedDict):
    id: str
    type: str
    content: Any
    timestamp: str


class BatchPlace(TypedDict):
    """The place of an entry among those that it was added with: i, from 0, of n."""

    i: int
    n: int


class Entry(_StoredMembers, _EntryMembers, total=False):
    """One memory, as it is stored. One that somebody wrote into the file by hand may have no more
    than `id`, `type`, `content` and `timestamp`."""

    expires_at: str
    batch: BatchPlace


class TagQuery(TypedDict, total=False):
    include: List[str]
    exclude: List[str]
    match: str


class TimeQuery(TypedDict, total=False):
    start: Time
    end: Time
    last: str


class Query(TypedDict, total=False):
    """What to find; all members combine by AND."""

    text: str
    question: str
    types: List[str]
    tags: TagQuery
    time: TimeQuery
    min_importance: float
    min_relevance: float
    vector: Collection[float]  # a sequence; numpy's arrays are none to type checkers
    vector_weight: float
    references: List[str]
    relation: str
    max_depth: int
    ids: List[str]
    trace_id: str
    content: Dict[str, Any]
    sort_by: str
    order: str
    limit: int
    after: str
    now: Time
    explain: bool
    user_id: str
    agent_id: str
    session_ids: List[str]


JsonText = Union[str, bytes]
