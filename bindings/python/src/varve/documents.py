"""The shapes of documents, for type checkers. docs/format.md and docs/query.md have the rules."""
from __future__ import annotations

import datetime
from typing import Any, Dict, List, Optional, Sequence, TypedDict, Union

Time = Union[str, datetime.datetime]  # RFC 3339, or a datetime with a zone


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


class Entry(_StoredMembers, _EntryMembers, total=False):
    """One memory, as it is stored. One that somebody wrote into the file by hand may have no more
    than `id`, `type`, `content` and `timestamp`."""

    expires_at: str


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
    vector: Sequence[float]
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


class _Found(TypedDict):
    entry: Entry
    session_id: str
    relevance: float
    decay_factor: float
    match_quality: float


class Result(_Found, total=False):
    """One entry that was found."""

    explain: Dict[str, Any]


class SessionOptions(TypedDict, total=False):
    """What a session is to be; include/varve/session.h has the rules."""

    session_id: str
    if_exists: str  # "fail", or "open": the session of that id is opened as it is
    user_id: str
    agent_id: str
    title: str
    stores: List[str]
    kv_cap: int
    transcript_cap: int
    ttl_hours: float
    ttl_policy: str
    decay_config: Dict[str, Any]
    compaction_config: Dict[str, Any]
    preferences: Any
    durability: str


class _Listed(TypedDict):
    session_id: str
    user_id: str  # "" when none was given, as for agent_id and title
    agent_id: str
    created_at: str


class SessionInfo(_Listed, total=False):
    """What a list of sessions tells of each; the members here not of an unreadable one."""

    title: str
    last_accessed: str
    total_entries: int


class SessionPage(TypedDict):
    sessions: List[SessionInfo]
    next: Optional[str]


class _Chosen(TypedDict):
    id: str
    tokens: int
    rank: float
    source: str


class ContextItem(_Chosen, total=False):
    """One entry of a context."""

    session_id: str  # of a context across sessions


class Context(TypedDict):
    """What a model is given; `text` is for the prompt."""

    text: str
    items: List[ContextItem]
    token_count: int
    dropped: int
    truncated: bool


JsonText = Union[str, bytes]
Report = Dict[str, Any]
