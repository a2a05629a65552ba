"""The shapes of what a call can be told, for type checkers. docs/format.md#config has the defaults
and ranges of a store's configuration, and the headers the rest. Every member is optional."""
from __future__ import annotations

from typing import Any, Dict, List, Sequence, TypedDict

from .documents import Query, Time


class StorageConfig(TypedDict, total=False):
    """Sizes and numbers; a limit of 0 is none."""

    max_session_size_mb: float
    max_entry_size_bytes: int
    max_user_size_mb: float
    max_user_sessions: int
    kv_cap: int  # 0: no key is kept
    transcript_cap: int  # 0: no turn is kept
    auto_compact: bool
    compaction_threshold: float  # of max_session_size_mb, 0 to 1
    root_directory: str  # no effect


class ConcurrencyConfig(TypedDict, total=False):
    lock_timeout_ms: int
    exclusive: bool  # only this store writes to the sessions that it creates or opens
    max_retries: int  # no effect yet
    retry_backoff_ms: int  # no effect yet


class PerformanceConfig(TypedDict, total=False):
    batch_write_interval_ms: int  # with the durability "interval"
    cache_size: int  # entries that a session keeps in memory
    max_kept_sessions: int
    index_in_memory: bool  # no effect yet


class IntegrityConfig(TypedDict, total=False):
    recovery: str  # "tail", "strict", "salvage"
    io_failure: str  # "error", "buffer"
    io_failure_buffer_mb: int
    enable_checksums: bool  # True only
    checksum_algorithm: str  # "sha256" only


class TypeDecay(TypedDict, total=False):
    """How entries of one type lose relevance with age."""

    half_life_hours: float
    min_decay_factor: float
    curve: str
    decay_enabled: bool


class DecayConfig(TypedDict, total=False):
    """How entries lose relevance with age."""

    enabled: bool
    half_life_hours: float
    default_half_life_hours: float
    min_decay_factor: float
    curve: str  # "exponential", "linear", "step", "none"
    type_specific: Dict[str, TypeDecay]
    update_interval_minutes: float  # no effect


class BestWeights(TypedDict, total=False):
    """What makes the order "best", each from 0 to 100."""

    neighbour: float
    answer: float
    stretch: float
    role: float
    date: float
    relevance: float
    candidates: int


class TextConfig(TypedDict, total=False):
    language: str  # "none", or one that Snowball has
    stop_words: List[str]  # that do not rank, instead of the language's
    best: BestWeights


class StoreConfig(TypedDict, total=False):
    """What a store takes; it overrides its config.json."""

    version: str
    durability: str  # "commit", "interval", "os"
    threads: int
    storage: StorageConfig
    concurrency: ConcurrencyConfig
    performance: PerformanceConfig
    integrity: IntegrityConfig
    decay: DecayConfig
    text: TextConfig


class CompactionConfig(TypedDict, total=False):
    """Of a session, instead of what the store says."""

    auto_compact: bool
    threshold: float


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
    decay_config: DecayConfig
    compaction_config: CompactionConfig
    preferences: Any
    durability: str


class SessionFilter(TypedDict, total=False):
    """Whose sessions; everybody's when nothing is given."""

    user_id: str
    agent_id: str
    limit: int
    after: str  # the `next` of the page before
    rescan: bool


class UsageTime(TypedDict, total=False):
    """start <= timestamp < end."""

    start: Time
    end: Time


class UsageFilter(TypedDict, total=False):
    """Whose usage is summed; everybody's when nothing is given."""

    user_id: str
    agent_id: str
    session_ids: List[str]
    time: UsageTime


class MemoryOptions(TypedDict, total=False):
    user_id: str
    agent_id: str
    window: int
    ttl_hours: float


class Retrieval(TypedDict, total=False):
    """What a context is chosen from: one of the first three, of these types, or types alone."""

    recency: int
    importance: int
    query: Query
    types: Sequence[str]


class Measure(TypedDict, total=False):
    """The weight of one measure, 0 to 1e6."""

    temporal: float
    importance: float
    match: float


class Across(TypedDict, total=False):
    """Other sessions that are asked, too; {} is every session, everybody's."""

    user_id: str
    agent_id: str
    session_ids: List[str]


class Budget(TypedDict, total=False):
    max_tokens: int
    reserve_tokens: int


class ContextRequest(TypedDict, total=False):
    """What a model is to be given; docs/context.md is the whole language."""

    question: str
    retrieve: List[Retrieval]
    rank: List[Measure]
    across: Across
    budget: Budget
    keep_together: bool
    pinned: List[str]
    exclude_ids: List[str]
    format: str  # "markdown", "chat", "json", "plain"
    now: Time


class VerifyOptions(TypedDict, total=False):
    deep: bool


class RepairOptions(TypedDict, total=False):
    dry_run: bool
    accept_edits: bool


class CompactOptions(TypedDict, total=False):
    dry_run: bool
    evict_below: float


class PurgeOptions(TypedDict, total=False):
    dry_run: bool


class MigrateOptions(TypedDict, total=False):
    dry_run: bool


class ExportOptions(TypedDict, total=False):
    format: str  # "jsonl", "json", "markdown"
    query: Query
    overwrite: bool


class ImportOptions(TypedDict, total=False):
    format: str  # "auto", "jsonl", "json", "mcp", "chat"
    dry_run: bool


class BackupOptions(TypedDict, total=False):
    sessions: List[str]
    delete_missing: bool


class RestoreOptions(TypedDict, total=False):
    sessions: List[str]
    overwrite: bool
    tombstones_from: str
