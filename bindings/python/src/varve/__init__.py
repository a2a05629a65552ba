"""varve: embedded memory for AI agents.

    import varve

    with varve.Store("./memory") as store, store.session("kitchen") as session:
        session.add({"type": "finding", "content": "Ann drinks tea, not coffee"})
        for result in session.query(text="what does Ann drink?"):
            print(result["entry"]["content"])

Store and Session are the whole of it; varve.aio has them for asyncio. What goes wrong is a
VarveError, with a class for each kind: NotFound, AlreadyExists, Busy and so on.
"""
from __future__ import annotations

from ._library import functions as _functions
from ._library import load
from ._raw import ABI_VERSION
from ._raw import VARVE_LOG_DEBUG as LOG_DEBUG
from ._raw import VARVE_LOG_ERROR as LOG_ERROR
from ._raw import VARVE_LOG_INFO as LOG_INFO
from ._raw import VARVE_LOG_OFF as LOG_OFF
from ._raw import VARVE_LOG_WARN as LOG_WARN
from ._raw import VERSION as __version__
from .documents import BatchPlace, Entry, EntryUsage, NewEntry, Query, TagQuery, TimeQuery
from .errors import (AlreadyExists, BadHandle, Busy, CallbackFailed, Corruption, FormatVersion,
                     Forked, InputOutput, Internal, InvalidArgument, LibraryError, NoMemory,
                     NoSpace, NotFound, ReadOnly, SizeLimit, Unsupported, VarveError)
from .memory import Memory
from .reports import (AgentUsage, BackupReport, BestExplanation, CompactReport, Compaction,
                      Context, ContextItem, CopyProblem, CorruptionStats, Damage, DayUsage,
                      DecayExplanation, Dropped, Explanation, ExportReport, Histogram,
                      ImportReport, IndexEntry, IndexStats, KeyValue, LockState, LogLine,
                      MemoryContext, MemoryEntry, Message, Metadata, MigrateReport, Migration,
                      Note, PageExplanation, RebuildReport, Refusal, RepairReport, RestoreReport,
                      Result, SessionFile, SessionIndex, SessionInfo, SessionPage, SessionProblem,
                      SessionStats, SessionUsage, SizeBytes, StatisticsRest, StoreStats,
                      SweepReport, TermOfEntry, TermOfQuery, Turn, Usage, UsageReport, UserUsage,
                      VectorExplanation, VectorStats, VerifiedVectors, VerifyReport)
from .results import Results
from .session import Session
from .settings import (Across, BackupOptions, BestWeights, Budget, CompactOptions,
                       CompactionConfig, ConcurrencyConfig, ContextRequest, DecayConfig,
                       ExportOptions, ImportOptions, IntegrityConfig, Measure, MemoryOptions,
                       MigrateOptions, PerformanceConfig, PurgeOptions, RepairOptions,
                       RestoreOptions, Retrieval, SessionFilter, SessionOptions, StorageConfig,
                       StoreConfig, TextConfig, TypeDecay, UsageFilter, UsageTime, VerifyOptions)
from .store import Store
from .window import Window


def library_version() -> str:
    """The version of the loaded library."""
    return str(_functions().varve_version().decode())


def status_name(status: int) -> str:
    """The name of a status: "VARVE_BUSY" for 7, "VARVE_UNKNOWN_STATUS" for what is none."""
    if not -2**31 <= status < 2**31:  # ctypes would cut it off
        return "VARVE_UNKNOWN_STATUS"
    return str(_functions().varve_status_name(status).decode())


__all__ = [
    "ABI_VERSION",
    "Across",
    "AgentUsage",
    "AlreadyExists",
    "BackupOptions",
    "BackupReport",
    "BadHandle",
    "BatchPlace",
    "BestExplanation",
    "BestWeights",
    "Budget",
    "Busy",
    "CallbackFailed",
    "CompactOptions",
    "CompactReport",
    "Compaction",
    "CompactionConfig",
    "ConcurrencyConfig",
    "Context",
    "ContextItem",
    "ContextRequest",
    "CopyProblem",
    "Corruption",
    "CorruptionStats",
    "Damage",
    "DayUsage",
    "DecayConfig",
    "DecayExplanation",
    "Dropped",
    "Entry",
    "EntryUsage",
    "Explanation",
    "ExportOptions",
    "ExportReport",
    "Forked",
    "FormatVersion",
    "Histogram",
    "ImportOptions",
    "ImportReport",
    "IndexEntry",
    "IndexStats",
    "InputOutput",
    "IntegrityConfig",
    "Internal",
    "InvalidArgument",
    "KeyValue",
    "LOG_DEBUG",
    "LOG_ERROR",
    "LOG_INFO",
    "LOG_OFF",
    "LOG_WARN",
    "LibraryError",
    "LockState",
    "LogLine",
    "Measure",
    "Memory",
    "MemoryContext",
    "MemoryEntry",
    "MemoryOptions",
    "Message",
    "Metadata",
    "MigrateOptions",
    "MigrateReport",
    "Migration",
    "NewEntry",
    "NoMemory",
    "NoSpace",
    "NotFound",
    "Note",
    "PageExplanation",
    "PerformanceConfig",
    "PurgeOptions",
    "Query",
    "ReadOnly",
    "RebuildReport",
    "Refusal",
    "RepairOptions",
    "RepairReport",
    "RestoreOptions",
    "RestoreReport",
    "Result",
    "Results",
    "Retrieval",
    "Session",
    "SessionFile",
    "SessionFilter",
    "SessionIndex",
    "SessionInfo",
    "SessionOptions",
    "SessionPage",
    "SessionProblem",
    "SessionStats",
    "SessionUsage",
    "SizeBytes",
    "SizeLimit",
    "StatisticsRest",
    "StorageConfig",
    "Store",
    "StoreConfig",
    "StoreStats",
    "SweepReport",
    "TagQuery",
    "TermOfEntry",
    "TermOfQuery",
    "TextConfig",
    "TimeQuery",
    "Turn",
    "TypeDecay",
    "Unsupported",
    "Usage",
    "UsageFilter",
    "UsageReport",
    "UsageTime",
    "UserUsage",
    "VarveError",
    "VectorExplanation",
    "VectorStats",
    "VerifiedVectors",
    "VerifyOptions",
    "VerifyReport",
    "Window",
    "__version__",
    "library_version",
    "load",
    "status_name",
]
