"""The shapes of what the library tells, for type checkers. The headers say more of each member,
and docs/format.md of a session's metadata."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict, Union

from .documents import Entry
from .settings import CompactionConfig, DecayConfig


class Dropped(TypedDict):
    """How many entries a compaction dropped."""

    deleted: int
    expired: int
    evicted: int
    damaged: int


class _CompactFigures(TypedDict):
    entries_before: int
    entries_after: int
    bytes_before: int
    bytes_after: int
    dropped: Dropped
    duration_ms: float


class _CompactReport(_CompactFigures):
    changed: bool


class CompactReport(_CompactReport, total=False):
    """What compact or purge did; vectors not without vectors.bin, nor in a dry run."""

    vectors_before: int
    vectors_after: int


class _Compaction(_CompactFigures):
    timestamp: str
    cause: str  # "asked", "automatic", "purge"


class Compaction(_Compaction, total=False):
    """What a compaction or purge did, as the session's metadata keeps it."""

    vectors_before: int
    vectors_after: int


Migration = TypedDict("Migration", {"from": int, "to": int, "at": str})


class StatisticsRest(TypedDict):
    """What the statistics of very many types leave out."""

    types: int
    entries: int


class _Known(TypedDict):
    version: int
    session_id: str
    created_at: str
    last_accessed: str
    total_entries: int
    total_size_bytes: int
    statistics: Dict[str, int]
    durable_seq: int
    compacted_through_seq: int
    generation: int


class Metadata(_Known, total=False):
    """What is known about a session, and here what was given or has happened. Members of your own
    are in it, too; for a type checker, cast it."""

    user_id: str
    agent_id: str
    title: str
    statistics_rest: StatisticsRest
    decay_config: DecayConfig
    compaction_config: CompactionConfig
    compactions: List[Compaction]  # the last 20, oldest first
    last_compaction: str
    stray_vectors: bool
    ttl_hours: float
    ttl_policy: str
    stores: List[str]
    kv_cap: int
    transcript_cap: int
    preferences: Any
    durability: str
    migrations: List[Migration]
    restored_at: str


class SizeBytes(TypedDict):
    log: int
    index: int
    tombstones: int
    vectors: int
    kv: int
    transcript: int
    total: int


class _Lock(TypedDict):
    held: bool


class LockState(_Lock, total=False):
    """Who is writing at this moment, in any process; the members here only when somebody is."""

    process_id: int
    operation: str
    since: str


class VectorStats(TypedDict):
    dimension: int
    records: int
    memory_bytes: int


class CorruptionStats(TypedDict):
    skipped: int
    missing: int
    torn_tails: int
    rollback: int
    metadata: bool
    kv: int
    transcript: int


class IndexStats(TypedDict):
    loaded: bool
    rebuilds: int
    reason: str
    covered_bytes: int
    facets_memory_bytes: int
    words_memory_bytes: int
    words_of_entries: int


class Usage(TypedDict):
    """What model calls used, by the entries that tell of it."""

    entries: int
    input_tokens: int
    output_tokens: int
    cost_usd: float


class SessionStats(TypedDict):
    """Figures of a session."""

    session_id: str
    entries: int
    deleted: int
    expired: int
    size_bytes: SizeBytes
    size_limit_bytes: int  # 0: none
    modified: Optional[str]
    lock: LockState
    types: Dict[str, int]
    memory_bytes: int
    vectors: VectorStats
    last_seq: int
    durable_seq: int
    durability: str
    durable: bool
    undurable_bytes: int
    generation: int
    read_only: bool
    corruption: CorruptionStats
    index: IndexStats
    usage: Usage


class Histogram(TypedDict):
    """How values are spread; p50 and p99 are the upper bounds of the buckets that hold them."""

    count: int
    sum: float
    p50: float
    p99: float
    max: float


class StoreStats(TypedDict):
    """Figures of a store."""

    uri: str
    sessions_open: int
    entries: int
    lock_waits: int
    lock_timeouts: int
    commits: int
    entries_added: int
    entries_deleted: int
    bytes_written: int
    syncs: int
    index_rebuilds: int
    lines_skipped: int
    metrics: Dict[str, Union[int, float, Histogram]]


class SessionUsage(Usage):
    session_id: str
    user_id: str
    agent_id: str


class AgentUsage(Usage):
    agent_id: str


class UserUsage(Usage):
    user_id: str


class DayUsage(Usage):
    day: str  # of UTC: "2026-01-10"


class SessionProblem(TypedDict):
    """What could not be done for one session of many."""

    session_id: str
    reason: str


class CopyProblem(SessionProblem):
    copied: bool


class UsageReport(TypedDict):
    total: Usage
    sessions: List[SessionUsage]
    agents: List[AgentUsage]
    users: List[UserUsage]
    days: List[DayUsage]
    problems: List[SessionProblem]


class BackupReport(TypedDict):
    sessions: int
    copied: int
    appended: int
    unchanged: int
    removed: int
    bytes: int
    entries: int
    duration_ms: float
    problems: List[CopyProblem]


class RestoreReport(TypedDict):
    sessions: int
    replaced: int
    returned: List[str]
    entries: int
    deletions_reapplied: int
    bytes: int
    duration_ms: float
    problems: List[CopyProblem]


class SweepReport(TypedDict):
    sessions_checked: int
    sessions_removed: int
    sessions_compacted: int
    entries_dropped: int
    bytes_freed: int
    problems: List[SessionProblem]
    duration_ms: float


class SessionFile(TypedDict):
    name: str
    size_bytes: int
    modified: str


class IndexEntry(TypedDict):
    line_number: int
    byte_offset: int
    type: str
    timestamp: str
    tags: List[str]
    importance: float
    current_relevance: float


class SessionIndex(TypedDict):
    """The index as a person can read it; entries by id, and ids by tag and type."""

    version: int
    last_updated: str
    entries: Dict[str, IndexEntry]
    tags: Dict[str, List[str]]
    types: Dict[str, List[str]]


class Damage(TypedDict):
    file: str
    offset: int
    length: int
    reason: str


class Note(TypedDict):
    """No damage: the entry `id` refers to `target`, which was deleted or does not exist; or, both
    empty, metadata.json has a member that may have no effect."""

    file: str
    offset: int
    id: str
    target: str
    reason: str


class VerifiedVectors(TypedDict):
    dimension: int
    records: int
    entries: int
    damaged: int


class VerifyReport(TypedDict):
    """What verify found; of problems and notes the first 1000."""

    ok: bool
    entries: int
    deleted: int
    damaged: int
    problems: List[Damage]
    problems_total: int
    notes: List[Note]
    notes_total: int
    checked_bytes: int
    last_seq: int
    vectors: VerifiedVectors


class RepairReport(TypedDict):
    entries: int
    quarantined: int
    resealed: int
    missing: int
    bytes_before: int
    bytes_after: int
    metadata_lost: bool  # or could not be read; it is made anew
    changed: bool


MigrateReport = TypedDict("MigrateReport", {
    "from": int, "to": int, "changed": bool, "entries": int, "quarantined": int})


class RebuildReport(TypedDict):
    entries: int
    duration_ms: float


class ExportReport(TypedDict):
    entries: int
    bytes: int
    format: str


class Refusal(TypedDict):
    line: int
    reason: str


class _Imported(TypedDict):
    added: int
    existing: int
    refused: List[Refusal]  # the first 1000
    refused_total: int
    format: str


class ImportReport(_Imported, total=False):
    """What an import took."""

    evicted: int  # live entries that went to make room, also of those added
    exceeds_limit: bool  # of a dry run: not all of it fits


class DecayExplanation(TypedDict):
    curve: str
    half_life_hours: float
    min_decay_factor: float
    age_hours: float
    factor: float


class TermOfEntry(TypedDict):
    term: str
    frequency: int
    score: float


class _Similar(TypedDict):
    similarity: Optional[float]  # the cosine; None for an entry without a vector
    rank: Optional[int]


class VectorExplanation(_Similar, total=False):
    """What the vector gave an entry, and here what words did beside it."""

    weight: float
    share: float
    text_rank: Optional[int]
    text_share: float


class BestExplanation(TypedDict):
    match: float
    neighbours: float
    answer: float
    stretch: float
    role: float
    date: float
    relevance: float


class _Explained(TypedDict):
    sort_by: str
    key: float  # what decides the order
    importance: float
    recency_boost: float
    decay: DecayExplanation


class Explanation(_Explained, total=False):
    """Why a result stands where it does (docs/query.md#explain)."""

    bm25: float  # this and the next two with text
    length: int
    terms: List[TermOfEntry]
    vector: VectorExplanation
    best: BestExplanation


class TermOfQuery(TypedDict):
    term: str
    entries: int
    idf: float


class _Answered(TypedDict):
    sort_by: str


class PageExplanation(_Answered, total=False):
    """How a query was answered: the first three in one session, `sessions` across them."""

    strategy: str
    rows_walked_at_most: int
    terms: List[TermOfQuery]
    sessions: int


class _Found(TypedDict):
    entry: Entry
    session_id: str
    relevance: float
    decay_factor: float
    match_quality: float


class Result(_Found, total=False):
    """One entry that was found."""

    explain: Explanation  # when the query asks for it


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


class _Line(TypedDict):
    timestamp: str
    level: str  # "DEBUG", "INFO", "WARN", "ERROR"
    component: str  # "store", "session"
    message: str
    metadata: Dict[str, Any]


class LogLine(_Line, total=False):
    """A log line."""

    session_id: str


class KeyValue(TypedDict):
    key: str
    value: str
    ts: str  # when it was set


class Turn(TypedDict):
    role: str
    content: str
    timestamp: str


class _Message(TypedDict):
    content: Any


class Message(_Message, total=False):
    """A message as chat programs write it; other members are kept as they are."""

    role: str
    timestamp: str


class _Remembered(TypedDict):
    id: str
    type: str
    content: Any
    timestamp: str
    session_id: str


class MemoryEntry(_Remembered, total=False):
    """A message as it was given, with what was filled in."""

    role: str
    importance: float
    tags: List[str]
    references: List[str]
    relations: Dict[str, List[str]]
    expires_at: str
    trace_id: str
    span_id: str


class MemoryContext(TypedDict):
    """What an agent is to have in front of it."""

    entries: List[MemoryEntry]
    token_count: int
    source: str  # "working", "short_term"
