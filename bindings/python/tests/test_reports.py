"""The TypedDicts: each member is in some answer under that name, and of that type, and no answer
has another; the library takes each member of what it can be told."""
import json
import os
import threading
import time
import typing

import pytest

import varve
from varve import documents, reports, settings

# Users have members of their own in these.
OPEN = {documents.Entry, reports.Metadata, reports.Message, reports.MemoryEntry}
KINDS = {float: (int, float), int: int, str: str, bool: bool}
DECAY = {"enabled": True, "half_life_hours": 3, "default_half_life_hours": 5,
         "min_decay_factor": 0.5, "curve": "linear", "update_interval_minutes": 7,
         "type_specific": {"song": {"half_life_hours": 2, "min_decay_factor": 0, "curve": "step",
                                    "decay_enabled": True}}}
COMPACTION = {"auto_compact": False, "threshold": 0.25}
TEA = {"type": "finding", "content": "green tea", "tags": ["drinks"],
       "timestamp": "2026-01-10T10:00:00Z",
       "usage": {"input_tokens": 412, "output_tokens": 9, "cost_usd": 0.5}}


def is_shape(kind):
    """Whether it is a TypedDict; typing.is_typeddict is new in Python 3.10."""
    return hasattr(kind, "__total__")


def shapes(module):
    return {shape for shape in vars(module).values()
            if is_shape(shape) and shape.__module__ == module.__name__
            and not shape.__name__.startswith("_")}


class Seen:
    """Compares values with types, and remembers which members it has seen."""

    def __init__(self):
        self.members = set()

    def compare(self, kind, value):
        """The value, which is of this type, and with it all that is in it."""
        origin, inside = typing.get_origin(kind), typing.get_args(kind)
        if is_shape(kind):
            self._compare_members(kind, value)
        elif origin is typing.Union:
            fitting = [each for each in inside
                       if is_shape(each) == isinstance(value, dict)
                       and (each is type(None)) == (value is None)]
            assert fitting, f"{value} is no {kind}"
            self.compare(fitting[-1], value)
        elif origin is list:
            assert isinstance(value, list), f"{value} is no list"
            for item in value:
                self.compare(inside[0], item)
        elif origin is dict:
            for item in value.values():
                self.compare(inside[1], item)
        elif kind not in (typing.Any, type(None)):
            is_kind = isinstance(value, KINDS[kind])
            assert is_kind and isinstance(value, bool) == (kind is bool), f"{value} is no {kind}"
        return value

    def _compare_members(self, shape, value):
        assert isinstance(value, dict), f"{value} is no {shape.__name__}"
        hints = typing.get_type_hints(shape)
        missing = shape.__required_keys__ - set(value)
        assert not missing, f"{shape.__name__} of {value} lacks {missing}"
        others = set(value) - set(hints)
        assert not others or shape in OPEN, f"{shape.__name__} has no {others}"
        for name in set(value) & set(hints):
            self.members.add((shape.__name__, name))
            self.compare(hints[name], value[name])

    def never(self, module):
        return sorted((shape.__name__, name) for shape in shapes(module)
                      for name in typing.get_type_hints(shape)
                      if (shape.__name__, name) not in self.members)


@pytest.fixture(scope="module")
def seen():
    return Seen()


def test_a_session_and_a_store_that_are_looked_after(tmp_path, seen):
    with varve.Store(tmp_path / "store") as store:
        session = store.create_session(
            session_id="kitchen", user_id="ann", agent_id="cook", title="Kitchen", kv_cap=5,
            transcript_cap=7, ttl_hours=24, ttl_policy="fixed", durability="os",
            decay_config=DECAY, compaction_config=COMPACTION, preferences={"tea": 1})
        entry_id = session.add(TEA)
        session.put_vector(entry_id, [1, 2])
        session.add({"type": "finding", "content": "coffee", "references": [entry_id]})
        session.kv_set("a", "b")
        session.transcript_append("user", "x")
        seen.compare(typing.List[varve.KeyValue], session.kv_list())
        seen.compare(typing.List[varve.Turn], session.transcript_last())
        seen.compare(typing.List[varve.SessionFile], session.files())
        seen.compare(varve.SessionIndex, session.index())
        seen.compare(varve.SessionPage, store.sessions())
        usage = seen.compare(varve.UsageReport, store.usage(user_id="ann"))
        assert usage["total"] == {"entries": 1, "input_tokens": 412, "output_tokens": 9,
                                  "cost_usd": 0.5}
        context = session.build_context(question="tea", across={})
        assert seen.compare(varve.Context, context)["items"][0]["session_id"] == "kitchen"
        session.delete(entry_id)
        verified = seen.compare(varve.VerifyReport, session.verify(deep=True))
        assert verified["notes"][0]["target"] == entry_id
        seen.compare(varve.CompactReport, session.compact(dry_run=True))
        compacted = seen.compare(varve.CompactReport, session.compact())
        assert (compacted["vectors_before"], compacted["dropped"]["deleted"]) == (1, 1)
        seen.compare(varve.CompactReport, session.purge())
        seen.compare(varve.RepairReport, session.repair())
        seen.compare(varve.MigrateReport, session.migrate())
        seen.compare(varve.RebuildReport, session.rebuild_index())
        seen.compare(varve.ExportReport, session.export_file(tmp_path / "export.jsonl"))
        seen.compare(varve.ImportReport, session.import_text('{"type":1}'))
        seen.compare(varve.SessionStats, session.stats())
        seen.compare(varve.StoreStats, store.stats())
        seen.compare(varve.BackupReport, store.backup(tmp_path / "backup"))
        seen.compare(varve.RestoreReport, store.restore(tmp_path / "backup", overwrite=True))
        seen.compare(varve.SweepReport, store.sweep())
        metadata = seen.compare(varve.Metadata, store.open_session("kitchen").metadata())
        assert metadata["decay_config"] == DECAY and metadata["compaction_config"] == COMPACTION
        assert metadata["compactions"][0]["cause"] == "asked"


def test_why_a_result_stands_where_it_does(store, session, seen):
    session.put_vector(session.add(TEA), [1, 2])
    for finder in (session, store):
        found = finder.query(text="tea", vector=[1, 2], explain=True)
        seen.compare(varve.PageExplanation, found.explain)
        why = seen.compare(varve.Explanation, found[0]["explain"])
        assert why["best"]["match"] > 0 and why["vector"]["rank"] == 1
    assert session.query().explain is None


def test_what_is_damaged(tmp_path, seen):
    with varve.Store(tmp_path) as store:
        store.session("kitchen").add(TEA)
        log = tmp_path / "sessions/kitchen/memory.jsonl"
        log.write_text(log.read_text().replace("green", "greed"))
        lines = []
        store.set_log(lambda level, line: lines.append(line))
        report = seen.compare(varve.VerifyReport, store.open_session("kitchen").verify())
        assert report["problems"][0]["file"] == "memory.jsonl"
        report = seen.compare(varve.BackupReport, store.backup(tmp_path.parent / "copy"))
        assert report["problems"][0]["copied"] is True
        store.set_log(None)
        for line in lines:
            seen.compare(varve.LogLine, line)
    with varve.Store(tmp_path, integrity={"recovery": "strict"}) as strict:
        report = seen.compare(varve.UsageReport, strict.usage())
        assert report["problems"][0]["session_id"] == "kitchen"


def test_what_seldom_is(tmp_path, session, seen):
    """Very many types; a log of format version 0; metadata of a compaction that was killed."""
    session.add_batch({"type": f"t{n}", "content": n} for n in range(10_005))
    metadata = seen.compare(varve.Metadata, session.metadata())
    assert metadata["statistics_rest"] == {"types": 5, "entries": 5}
    folder = tmp_path / "sessions/old"
    folder.mkdir(parents=True)
    (folder / "memory.jsonl").write_text(
        '{"id":"a","type":"finding","content":1,"timestamp":"2025-01-01T00:00:00Z"}\n')
    with varve.Store(tmp_path) as store:
        with store.open_session("old") as old:
            assert seen.compare(varve.MigrateReport, old.migrate())["changed"]
            assert seen.compare(varve.Metadata, old.metadata())["migrations"][0]["to"] == 1
        path = folder / "metadata.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "stray_vectors": True}))
        old = store.open_session("old")
        assert seen.compare(varve.Metadata, old.metadata())["stray_vectors"] is True


def test_who_is_writing(tmp_path, seen):
    with varve.Store(tmp_path) as store, store.create_session() as session:
        ended = threading.Event()

        def write():
            while not ended.is_set():
                session.add(TEA)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            lock = {}
            deadline = time.monotonic() + 60
            while "process_id" not in lock and time.monotonic() < deadline:
                lock = seen.compare(varve.SessionStats, session.stats())["lock"]
        finally:
            ended.set()
            writer.join()
        assert (lock["held"], lock["process_id"]) == (True, os.getpid())


def test_an_import_that_is_too_large(tmp_path, seen):
    with varve.Store("memory:", storage={"max_session_size_mb": 1}) as store:
        line = json.dumps({**TEA, "content": "tea " * 150_000}) + "\n"
        (tmp_path / "large.jsonl").write_text(line * 2)
        report = store.create_session().import_file(tmp_path / "large.jsonl", dry_run=True)
        assert seen.compare(varve.ImportReport, report)["exceeds_limit"] is True


def test_an_import_that_makes_room(seen):
    with varve.Store("memory:", storage={"max_session_size_mb": 1}) as store:
        session = store.create_session()
        line = json.dumps({"type": "finding", "content": "tea " * 5_000, "importance": 0.1,
                           "timestamp": "2001-01-01T00:00:00Z"}) + "\n"
        assert "evicted" not in session.import_text(line * 45)
        report = seen.compare(varve.ImportReport, session.import_text(line * 50))
        assert (report["added"], report["existing"], report["evicted"]) == (5, 45, 45)
        assert session.count() == 5


def test_what_an_agent_has_in_front_of_it(store, seen):
    memory = store.memory(user_id="ann")
    memory.record("talk", {
        "role": "user", "content": "tea", "tags": ["a"], "references": ["b"], "trace_id": "t",
        "relations": {"caused_by": ["b"]}, "span_id": "s", "mine": 1})
    context = seen.compare(varve.MemoryContext, memory.context("talk"))
    assert context["entries"][0]["session_id"] == "talk"
    with varve.Window(3) as window:
        window.add({"role": "user", "content": "tea"})
        seen.compare(varve.Message, window.recent()[0])
    page = seen.compare(typing.List[varve.Result], list(memory.search(explain=True)))
    assert page[0]["entry"]["content"] == {"role": "user", "message": "tea"}


CONFIG = {
    "version": "1.0", "durability": "os", "threads": 2,
    "storage": {"max_session_size_mb": 1.5, "max_entry_size_bytes": 1000, "max_user_size_mb": 7.0,
                "max_user_sessions": 3, "kv_cap": 0, "transcript_cap": 1, "auto_compact": False,
                "compaction_threshold": 0.5, "root_directory": "nowhere"},
    "concurrency": {"lock_timeout_ms": 0, "exclusive": True, "max_retries": 1,
                    "retry_backoff_ms": 1},
    "performance": {"batch_write_interval_ms": 10, "cache_size": 0, "max_kept_sessions": 0,
                    "index_in_memory": True},
    "integrity": {"recovery": "salvage", "io_failure": "buffer", "io_failure_buffer_mb": 1,
                  "enable_checksums": True, "checksum_algorithm": "sha256"},
    "decay": DECAY,
    "text": {"language": "none", "stop_words": [],
             "best": {"neighbour": 1, "answer": 2, "stretch": 3, "role": 4, "date": 5,
                      "relevance": 6, "candidates": 7}}}

# What each call is told, with the members in their ranges.
TOLD = [
    (varve.SessionFilter, {"user_id": "ann", "agent_id": "cook", "limit": 1, "rescan": True},
     lambda store, session, given: store.sessions(given)),
    (varve.UsageFilter, {"user_id": "ann", "agent_id": "cook", "session_ids": ["s"],
                         "time": {"start": "2026-01-01T00:00:00Z",
                                  "end": "2026-01-02T00:00:00Z"}},
     lambda store, session, given: store.usage(given)),
    (varve.MemoryOptions, {"user_id": "ann", "agent_id": "cook", "window": 5, "ttl_hours": 0},
     lambda store, session, given: store.memory(given)),
    (varve.SessionOptions, {
        "session_id": "t", "if_exists": "open", "user_id": "ann", "agent_id": "cook",
        "title": "T", "stores": ["kv"], "kv_cap": 1, "transcript_cap": 1, "ttl_hours": 1.5,
        "ttl_policy": "fixed", "decay_config": DECAY, "compaction_config": COMPACTION,
        "preferences": {}, "durability": "os"},
     lambda store, session, given: store.create_session(given)),
    (varve.ContextRequest, {
        "question": "tea?", "rank": [{"temporal": 0.5}, {"importance": 1}, {"match": 0}],
        "retrieve": [{"recency": 1}, {"importance": 1}, {"types": ["finding"]},
                     {"query": {"text": "tea"}}],
        "across": {"user_id": "ann", "agent_id": "cook", "session_ids": ["s"]},
        "budget": {"max_tokens": 100, "reserve_tokens": 10}, "keep_together": False,
        "pinned": ["a"], "exclude_ids": ["b"], "format": "plain", "now": "2026-01-10T10:00:00Z"},
     lambda store, session, given: session.build_context(given)),
    (varve.VerifyOptions, {"deep": True}, lambda store, session, given: session.verify(given)),
    (varve.RepairOptions, {"dry_run": True, "accept_edits": True},
     lambda store, session, given: session.repair(given)),
    (varve.CompactOptions, {"dry_run": True, "evict_below": 1.5},
     lambda store, session, given: session.compact(given)),
    (varve.PurgeOptions, {"dry_run": True}, lambda store, session, given: session.purge(given)),
    (varve.MigrateOptions, {"dry_run": True},
     lambda store, session, given: session.migrate(given)),
]


def all_members(shape, value):
    """The value has every member of the type, and of each in it, but where a list has several."""
    for name, kind in typing.get_type_hints(shape).items():
        if name != "after":
            assert name in value, f"{shape.__name__}.{name}"
            if is_shape(kind):
                all_members(kind, value[name])


@pytest.mark.parametrize("shape, told, call", TOLD, ids=lambda given: getattr(
    given, "__name__", ""))
def test_the_library_takes_every_member(store, session, shape, told, call):
    all_members(shape, told)
    call(store, session, told)
    with pytest.raises(varve.InvalidArgument):
        call(store, session, {**told, "colour": "red"})


def test_the_library_takes_every_setting():
    all_members(varve.StoreConfig, CONFIG)
    all_members(varve.TypeDecay, DECAY["type_specific"]["song"])
    with varve.Store("memory:", CONFIG) as store, store.create_session() as session:
        stats = session.stats()
        assert (stats["durability"], stats["size_limit_bytes"]) == ("os", 1.5 * 2**20)
        session.kv_set("a", "b")
        with pytest.raises(varve.NotFound):  # a cap of 0 keeps nothing
            session.kv_get("a")


def test_the_library_takes_every_option_of_files_and_copies(tmp_path):
    told = {varve.ExportOptions: {"format": "json", "query": {"text": "tea"}, "overwrite": True},
            varve.ImportOptions: {"format": "json", "dry_run": True},
            varve.BackupOptions: {"sessions": ["s"], "delete_missing": False},
            varve.RestoreOptions: {"sessions": ["s"], "overwrite": True,
                                   "tombstones_from": str(tmp_path / "copy")}}
    for shape, given in told.items():
        assert set(typing.get_type_hints(shape)) == set(given)
    with varve.Store(tmp_path / "store") as store, store.session("s") as session:
        session.add(TEA)
        for _ in range(2):
            exported = session.export_file(tmp_path / "x", told[varve.ExportOptions])
            assert (exported["entries"], exported["format"]) == (1, "json")
        assert session.import_file(tmp_path / "x", told[varve.ImportOptions])["existing"] == 1
        assert store.backup(tmp_path / "copy", told[varve.BackupOptions])["copied"] == 1
        restored = store.restore(tmp_path / "copy", told[varve.RestoreOptions])
        assert (restored["replaced"], restored["problems"]) == (1, [])


def test_entries_are_of_their_type(session, seen):
    ids = session.add_batch([
        {**TEA, "relations": {"caused_by": ["x"]}, "trace_id": "t", "span_id": "s",
         "expires_at": "2999-01-01T00:00:00Z"}, TEA])
    entry = seen.compare(varve.Entry, session.get(ids[0]))
    assert entry["batch"] == {"i": 0, "n": 2} and entry["usage"]["input_tokens"] == 412


def test_every_member_was_seen(seen):
    assert seen.never(reports) == []
    entry = {name for shape, name in seen.members if shape == "Entry"}
    assert entry == set(typing.get_type_hints(documents.Entry))
    assert len(seen.members) > 250


def test_every_shape_can_be_imported_from_the_package():
    for module in (documents, reports, settings):
        for shape in shapes(module):
            assert getattr(varve, shape.__name__) is shape and shape.__name__ in varve.__all__
