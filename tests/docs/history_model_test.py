#!/usr/bin/env python3
"""Several processes of some threads each use a store at once, and some are killed. Each writes down
its calls, and afterwards their history is compared with what is promised (history_model.py).

    VARVE_LIBRARY=libvarve.so history_model_test.py [SEEDS [FIRST]]

A seed gives the calls, but not how they meet: a failure is a finding, also when the same seed does
not fail again.
"""
import ctypes
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import history_spoilt
from history_agent import Record, Thread
from history_copies_model import (check_copied_vectors, check_kept, is_of_backup,
                                  seen_when_copied)
from history_model import (LASTING, MEMBERS, PASSING, SessionModel, Wrong, allowed, check,
                           check_rising)
from history_passing_model import PassingModel
from history_run import IN_THE_WAY, Run, check_log, read_history
from seeds import take_seeds
from varve_library import Library, given

SEEDS = take_seeds(2)
FILLERS = 36  # sessions of one entry: enough for a catalog
EXCLUSIVE_SHARE = 0.3
OLD, OLD_ENTRIES = "os", 300  # a session that some runs begin with a log of version 0
CAPS = {"commit": 500, "interval": 500, "os": 20}  # of their transcripts


def user_of(number):
    return "odd" if number % 2 else "even"


class HistoryRun(Run):
    def __init__(self, library, directory, seed, exclusive_share=0):
        super().__init__(library, directory, seed)
        self.exclusive_share = exclusive_share
        self.is_old = seed % 3 == 0

    def fill(self):
        thread = self.thread("first")
        for name in LASTING:
            thread.make({"session_id": name, "durability": name, "transcript_cap": CAPS[name]})
        for number in range(FILLERS):
            name = f"filler-{number}"
            thread.make({"session_id": name, "user_id": user_of(number), "durability": "os"})
            thread.text("fill", name, {}, "varve_session_add", {
                "id": name, "type": "finding", "tags": ["all", f"t{number % 3}"],
                "content": f"{name} w{number % 5} "}, read=str)
        thread.end()
        if self.is_old:
            self.make_old()

    def make_old(self):
        """Puts a log of version 0 in the place of a session's, which nobody has open."""
        folder = pathlib.Path(self.root, "sessions", OLD)
        (folder / "index.bin").unlink(missing_ok=True)
        entries = [[f"old-{number}", f"t{number % 3}", f"w{number % 5}", None]
                   for number in range(OLD_ENTRIES)]
        (folder / "memory.jsonl").write_text("".join(json.dumps({
            "content": f"{about[0]} {about[2]} " + "x" * 100, "id": about[0], "importance": 1,
            "tags": ["all", about[1]], "type": "finding",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())},
            separators=(",", ":")) + "\n" for about in entries))
        record = Record(f"{self.records}/old.jsonl")
        for about in entries:
            record.call("add", OLD, {"entries": [about], "is_old": True}, str)
        record.close()

    def thread(self, name):
        process = self.process(name)
        store = process.open_store(self.root, {"storage": {"max_session_size_mb": 0}})
        return Single(process, name, store, 0)

    def look(self):
        """What is there at the end, once nobody else is."""
        thread = self.thread("last")
        for name in LASTING:
            thread.lasting = thread.any_session = lambda: name
            for call in (thread.export, thread.query_all, thread.tags, thread.kv_list,
                         thread.stats, thread.metadata):
                call()
            thread.text("verify", name, {}, "varve_session_verify", {"deep": True})
        for name in PASSING:
            thread.any_session = lambda: name
            thread.export()
        thread.sessions()
        thread.query_store()
        thread.end()


class Single(Thread):
    """The only thread of a process, which does what it is told."""

    def make(self, options):
        out = ctypes.c_void_p()
        self.record.call("make", options["session_id"], {}, lambda: self.library.call(
            "varve_session_create", self.store, *given(options), ctypes.byref(out)))
        self.library._lib.varve_session_close(out)

    def end(self):
        for name in list(self.handles):
            self.close(name)
        self.library._lib.varve_store_close(self.store)
        self.record.close()


class History:
    def __init__(self, calls, logs):
        self.calls, self.logs = calls, logs
        self.lasting = {name: SessionModel(name) for name in LASTING}
        self.passing = {name: PassingModel(name) for name in PASSING}
        self.backups = {}  # of a call that read a copy: the one that made it
        self.find_backups()

    def check(self):
        for call in self.calls:
            check(allowed(call), "an answer that no call may have", call)
        check_log(self.logs)
        for call in self.calls:
            model = self.lasting.get(call.session) or self.passing.get(call.session)
            if model:
                model.take(call)
        for call in self.calls:
            if call.what in ("delete", "delete_where") and call.session in self.lasting:
                self.lasting[call.session].take_deletion(call)
        for call, found in self.looks():
            self.note_seen(call, *found)
        for call in self.calls:
            if call.is_sure and call.session in self.lasting:
                self.lasting[call.session].saw_others(call)
        for call, found in self.looks():
            self.note_missed(call, *found)
        for call in self.calls:
            if call.is_sure or call.status == "NOT_FOUND":
                self.check_call(call)
        self.check_in_order()
        check_kept(self.calls)
        copies = [seen_when_copied(call, self.backups[call]) for call in self.calls
                  if call.what == "copy" and call.session in self.passing
                  and is_of_backup(call, self.backups[call])]
        for name, model in self.passing.items():
            model.check([call for call in self.calls + copies if call.session == name])

    # What a call looked at: (session, start, end, selects, found). `selects` is None when it did
    # not look for all of them.
    def looks(self):
        for call in self.calls:
            if not call.is_sure:
                continue
            start, end = self.span(call)
            if call.what == "copy" and call.session in self.lasting:
                yield call, (call.session, start, end, None, call.answer)
            elif call.what == "find" and call.session in self.lasting:
                selects = None if call.told.get("vector") else selector(call.told)
                yield call, (call.session, start, end, selects, call.answer)
            elif call.what == "find_across" and call.told["user"] is None:
                for name in LASTING:
                    yield call, (name, start, end, selector(call.told), call.answer.get(name, []))
            elif call.what == "pages":
                for page, page_end in call.answer["pages"]:
                    yield call, (call.session, start, page_end, None, page)
            elif call.what == "get" and call.session in self.lasting:
                yield call, (call.session, start, end, None, [call.answer])

    def span(self, call):
        """A copy is of what was there while it was made."""
        if call.what != "copy":
            return call.start, call.end
        return self.backups[call].start, self.backups[call].end

    def find_backups(self):
        last = {}  # of a thread, into its own directory
        for call in self.calls:
            if call.what == "back_up" and call.told["own"] and call.is_sure:
                last[call.thread] = call
            if call.what in ("copy", "copied_vectors"):
                self.backups[call] = last[call.thread]

    def note_seen(self, _call, session, _start, end, _selects, found):
        self.lasting[session].saw(found, _start, end)

    def note_missed(self, _call, session, start, end, selects, found):
        if selects:
            self.lasting[session].missed({one[0] for one in found}, selects, start, end)

    def check_call(self, call):
        method = getattr(self, "check_" + call.what, None)
        if method and (call.session is None or call.session in self.lasting):
            method(call, self.lasting.get(call.session))

    def check_find(self, call, model):
        if not call.is_sure:
            return
        if call.told.get("vector"):
            model.check_vectors(call, call.answer)
            return
        if call.told.get("ordered"):
            numbers = [found[1] for found in call.answer if found[1] is not None]
            check(numbers == sorted(numbers), "not in the order of seq", call)
        model.check_found(call, call.start, call.end, selector(call.told), call.answer)

    # What expires meanwhile is copied, and is not shown when the copy is read.
    def check_copy(self, call, model):
        check(call.told["is_there"], "a session that lasts is not in the copy", call)
        found = [one for one in call.answer
                 if one[0] not in model.entries or not model.entries[one[0]].ttl_seconds]
        model.check_found(call, *self.span(call), lambda entry: not entry.ttl_seconds, found)

    def check_copied_vectors(self, call, model):
        if call.is_sure:
            check_copied_vectors(call, self.backups[call], model)

    def check_back_up(self, call, _):
        if call.is_sure:
            problems = [one for one in call.answer["problems"]
                        if one["session_id"] not in PASSING]
            check(not problems, "a backup with problems", call)

    def check_find_across(self, call, _):
        for name, model in self.lasting.items():
            if call.told["user"] is None:
                model.check_found(call, call.start, call.end, selector(call.told),
                                  call.answer.get(name, []))
        for number in range(FILLERS):
            is_asked = (f"t{number % 3}" == call.told["tag"]
                        and call.told["user"] in (None, user_of(number)))
            check((f"filler-{number}" in call.answer) == is_asked,
                  f"filler-{number} is missing, or there", call)

    def check_get(self, call, model):
        if call.is_sure:
            check(call.answer[0] == call.told["id"], "another entry", call)
            model.check_there(call, call.answer, call.start, call.end)
        elif call.told["id"] in model.entries:
            model.check_absent(call, model.entries[call.told["id"]], call.start, call.end)

    def check_delete(self, call, model):
        entry = model.entries.get(call.told["ids"][0])
        if entry is None:
            check(not call.is_sure, "what nobody added was deleted", call)
            return
        others = [span for span in entry.deletions if span != (call.start, call.end)]
        if call.is_sure:
            check(entry.start < call.end, "deleted before it was added", call, entry.call)
            check(not any(end < call.start for _, end in others), "deleted twice", call)
        else:
            check(entry.end >= call.start or any(start < call.end for start, _ in others),
                  "what is there was not there to delete", call, entry.call)

    def check_count(self, call, model):
        model.check_count(call, selector(call.told), call.answer)

    def check_index(self, call, model):
        model.check_count(call, selector({}), call.answer)

    def check_import(self, call, _):
        told = call.answer["added"] + call.answer["existing"] + call.answer["refused_total"]
        check(told == call.told["lines"], "an import that does not tell of all lines", call)
        check(call.answer["added"] >= len(call.told["entries"]), "new entries are refused", call)

    def check_tags(self, call, model):
        for tag in ("t0", "t1", "t2"):
            model.check_count(call, selector({"tag": tag}), call.answer.get(tag, 0))
        check(call.answer.get("all", 0) == sum(call.answer.get(f"t{i}", 0) for i in range(3)),
              "tags were not counted at one moment", call)

    def check_stats(self, call, model):
        model.check_count(call, selector({}), call.answer["entries"])
        damage = {name: value for name, value in call.answer["corruption"].items()
                  if value and name != "torn_tails"}
        check(not damage, f"damage: {damage}", call)

    def check_verify(self, call, _):
        check(call.answer["ok"], "verify finds fault", call)

    def check_repair(self, call, _):
        check(not call.answer["missing"] and not call.answer["metadata_lost"],
              "a repair found losses", call)

    def check_pages(self, call, model):
        model.check_pages(call)

    def check_kv_get(self, call, model):
        model.keys[call.told["key"]].check_read(call.answer if call.is_sure else None, call)

    def check_kv_list(self, call, model):
        model.check_keys(call)

    def check_metadata(self, call, model):
        for name in MEMBERS:
            model.keys[name].check_read(call.answer[name], call)

    def check_last(self, call, model):
        model.check_turns(call, CAPS[call.session])

    def check_sweep(self, call, _):
        problems = [one for one in call.answer["problems"] if one["session_id"] not in PASSING
                    and not any(text in one["reason"] for text in IN_THE_WAY)]
        check(not problems, "a sweep with problems", call)

    def check_sessions(self, call, _):
        found = dict(call.answer)
        check(len(found) == len(call.answer), "a session is listed twice", call)
        check(all(total is not None for total in found.values()),
              "a session is listed as one without metadata", call)
        for name in LASTING if call.told["user"] is None else ():
            check(name in found, f"{name} is not listed", call)
        for number in range(FILLERS):
            is_asked = call.told["user"] in (None, user_of(number))
            check((f"filler-{number}" in found) == is_asked, f"filler-{number}", call)
        for name, model in self.passing.items() if call.told["user"] is None else ():
            model.check_listed(call, name in found)

    def check_in_order(self):
        for call in self.calls:
            if call.status == "INVALID_ARGUMENT":
                check(any(other.what == "rescan" and other.end > call.start
                          and other.start < call.end for other in self.calls),
                      "a cursor was refused although the list was not rebuilt", call)
        for name in LASTING:
            mine = [call for call in self.calls if call.session == name and call.is_sure]
            of_stats = [call for call in mine if call.what == "stats"]
            check_rising(of_stats, lambda call: max(call.answer["last_seq"],
                                                    call.answer["durable_seq"]),
                         "seq goes back")
            check_rising(of_stats, lambda call: call.answer["durable_seq"],
                         "durable_seq goes back")
            check_rising([call for call in mine if call.what == "metadata"],
                         lambda call: call.answer["generation"], "the generation goes back")


def selector(told):
    tag, word = told.get("tag"), told.get("word")
    return lambda entry: (tag is None or entry.tag == tag) and (word is None or entry.word == word)


class HistoryModel(unittest.TestCase):
    def test_the_model_sees_what_is_wrong(self):
        for name, calls in history_spoilt.RIGHT.items():
            with self.subTest(name):
                History(calls, []).check()
        for name, calls in history_spoilt.WRONG.items():
            with self.subTest(name), self.assertRaises(Wrong):
                History(calls, []).check()

    def test_of_several_processes(self):
        library = Library(os.environ["VARVE_LIBRARY"])
        for seed in SEEDS:
            # Every other run has stores that keep their sessions for themselves.
            share = EXCLUSIVE_SHARE if seed % 2 else 0
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = HistoryRun(library, directory, seed, share)
                try:
                    run.fill()
                    run.run()
                    run.look()
                    History(*read_history(run.records)).check()
                except Wrong as wrong:
                    self.fail(f"seed {seed}: {wrong}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
