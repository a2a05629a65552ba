"""`varve compact`, `varve purge` and `varve forget`: what is let go, and what is left of it."""

import fcntl
import json
import os
import re
import subprocess

from cli_support import TIMEOUT_S, CliTest, entry_line, hold_lock, main, program

# "notes: compacted, 4 to 3 entries, 1.2 kB to 905 B, dropped 1 deleted, 3.2 ms"
SUMMARY = re.compile(r"(\w+): (.+), ([\d,]+) to ([\d,]+) (?:entry|entries), "
                     r"([\d.]+ k?B) to ([\d.]+ k?B)(?:, (?:would drop|dropped) (.+?))?"
                     r"(?:, ([\d.]+) ms)?\n")
LONG_AGO = "2020-01-02T00:00:00Z"


class Lifecycle(CliTest):
    def test_of_newer_files_it_says_to_use_a_newer_varve(self):
        self.run_cli("create", "notes")
        copy = self.directory / "copy"
        self.run_cli("backup", str(copy))
        for path, words in [(self.session_file("notes", "metadata.json"), ("log", "notes")),
                            (copy / "backup.json", ("backup", str(copy)))]:
            text = path.read_text()
            path.write_text(json.dumps({**json.loads(text), "version": 99}))
            self.assertIn("use a newer varve", self.run_cli(*words, exit_code=5).stderr)
            path.write_text(text)

    def log(self, session="notes"):
        return self.session_file(session, "memory.jsonl").read_bytes()

    def summary(self, *words):
        text = self.run_cli(*words).stderr.splitlines(keepends=True)[-1]
        match = SUMMARY.fullmatch(text)
        self.assertIsNotNone(match, text)
        return match.groups()

    def files_with(self, word):
        """The files of the whole store that hold the word, in any case."""
        found = []
        for path in sorted(self.root.rglob("*")):
            if path.is_file() and word.lower().encode() in path.read_bytes().lower():
                found.append(path.name)
        return found

    def damage(self, number):
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(f"note {number}".encode(),
                                                   f"nota {number}".encode()))

    def sizes(self, ids):
        """Bytes that the lines of these entries take, their line ends included."""
        lines = self.log().splitlines()
        return sum(len(line) + 1 for line in lines if json.loads(line)["id"] in ids)


class Compact(Lifecycle):
    def test_drops_what_was_deleted_and_what_has_expired(self):
        self.notes(3)
        self.run_cli("import", "notes", "-", stdin=entry_line(4, expires_at=LONG_AGO))
        self.run_cli("delete", "notes", "e1")
        kept, all_of_it = self.sizes(["e2", "e3"]), len(self.log())
        report = self.run_json("compact", "notes")
        self.assertGreaterEqual(report.pop("duration_ms"), 0)
        self.assertEqual(report, {
            "entries_before": 4, "entries_after": 2, "bytes_before": all_of_it,
            "bytes_after": kept, "changed": True,
            "dropped": {"deleted": 1, "expired": 1, "evicted": 0, "damaged": 0}})
        self.assertEqual(len(self.log()), kept)
        self.assertEqual(set(self.run_cli("log", "notes", "-q").stdout.split()), {"e2", "e3"})
        self.assertTrue(self.session_file("notes", "tombstones.jsonl").stat().st_size > 0)
        self.run_cli("verify", "notes", "--deep")
        error = self.error_of("add", "notes", "again", "--id", "e1", exit_code=1)
        self.assertEqual(error["name"], "VARVE_ALREADY_EXISTS")

    def test_the_summary_says_what_was_done(self):
        self.notes(12)
        for number in (1, 2, 3):
            self.run_cli("delete", "notes", f"e{number}")
        before = len(self.log())
        session, verb, entries_before, entries_after, bytes_before, _, dropped, took = (
            self.summary("compact", "notes"))
        self.assertEqual((session, verb, entries_before, entries_after, dropped),
                         ("notes", "compacted", "12", "9", "3 deleted"))
        self.assertEqual(bytes_before, f"{before / 1000:.1f} kB")
        self.assertIsNotNone(took)
        self.assertRegex(self.run_cli("compact", "notes").stderr,
                         r"^notes: nothing to drop, 9 entries, [\d.]+ kB, [\d.]+ ms\n$")

    def test_a_dry_run_says_would_and_changes_nothing(self):
        self.notes(3)
        self.run_cli("delete", "notes", "e2")
        before = self.log()
        for verb in ("compact", "purge"):
            with self.subTest(verb):
                told = self.summary(verb, "notes", "--dry-run")
                self.assertEqual((told[1], told[2], told[3], told[6], told[7]),
                                 (f"would {verb}", "3", "2", "1 deleted", None))
                report = self.run_json(verb, "notes", "--dry-run")
                self.assertFalse(report["changed"])
                self.assertEqual(report["bytes_after"], self.sizes(["e1", "e3"]))
                self.assertEqual(self.log(), before)
        self.run_cli("purge", "notes")
        self.assertRegex(self.run_cli("purge", "notes", "--dry-run").stderr,
                         r"^notes: nothing to purge, 2 entries, \d+ B\n$")

    def test_damage_goes_to_quarantine_and_is_told(self):
        self.notes(3)
        self.damage(2)
        self.assertEqual(self.summary("compact", "notes")[6], "1 damaged (to quarantine.jsonl)")
        self.assertTrue(self.session_file("notes", "quarantine.jsonl").exists())
        self.assertIn("ok, 2 entries", self.run_cli("verify", "notes").stdout)

    def test_evicts_what_is_of_little_relevance_and_nothing_else(self):
        # All are old enough to have decayed as far as they can.
        def old(number, **changes):
            return entry_line(number, **{"timestamp": LONG_AGO, "importance": 0.01, "tags": [],
                                         **changes})
        self.run_cli("import", "notes", "-", stdin="".join((
            old(1), old(2, tags=["pinned"]), old(3, tags=["pinned.by-ann"]),
            old(4, type="preference"), old(5), old(6, importance=0.9, references=["e5"]))))
        self.assertEqual(self.run_json("compact", "notes")["dropped"]["evicted"], 0)
        dry = self.run_json("compact", "notes", "--evict-below", "0.01", "--dry-run")
        self.assertEqual(dry["dropped"]["evicted"], 1)
        self.assertEqual(self.summary("compact", "notes", "--evict-below", "0.01")[6], "1 evicted")
        self.assertEqual(set(self.run_cli("log", "notes", "-q").stdout.split()),
                         {"e2", "e3", "e4", "e5", "e6"})

    def test_thresholds_that_make_no_sense_are_refused(self):
        self.notes(1)
        for value in ("-0.1", "2.1", "little", "nan"):
            with self.subTest(value):
                done = self.run_cli("compact", "notes", "--evict-below", value, exit_code=1)
                self.assertIn("evict", done.stderr)
        self.run_cli("purge", "notes", "--evict-below", "1", exit_code=1)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 1)

    def test_all_sessions_one_after_the_other(self):
        for session in ("a", "b", "c"):
            self.run_cli("import", session, "-", stdin=entry_line(1) + entry_line(2))
        self.run_cli("delete", "b", "e1")
        lines = self.run_cli("compact", "--all").stderr.splitlines()
        self.assertEqual(sorted(line.split(",")[0] for line in lines),
                         ["a: nothing to drop", "b: compacted", "c: nothing to drop"])
        report = self.run_json("purge", "--all")
        self.assertTrue(report["ok"])
        self.assertEqual({item["session_id"]: item["report"]["entries_after"]
                          for item in report["sessions"]}, {"a": 2, "b": 1, "c": 2})
        self.run_cli("compact", "a", "--all", exit_code=1)

    def test_all_goes_on_behind_a_session_that_fails(self):
        for session in ("a", "b", "c"):
            self.run_cli("import", session, "-", stdin=entry_line(1) + entry_line(2))
            self.run_cli("delete", session, "e1")
        self.session_file("b", "metadata.json").write_text('{"version":99}')
        done = self.run_cli("purge", "--all", exit_code=5)
        self.assertEqual(len(re.findall("(?m)^[ac]: purged", done.stderr)), 2)
        self.assertIn("varve: b: metadata.json is of version 99", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_all_names_the_session_that_fails(self):
        for session in ("a", "b", "c"):
            self.run_cli("add", session, "tea", "--create")
        self.session_file("b", "metadata.json").write_text('{"version":99}')
        for words in (["verify"], ["repair"], ["migrate"], ["compact"], ["index", "--rebuild"],
                      ["stats"], ["export", "-o", "out"]):
            with self.subTest(words):
                done = self.run_cli(*words, "--all", exit_code=5)
                self.assertIn("varve: b: metadata.json is of version 99", done.stderr)
                self.assertEqual(done.stderr.count("varve: "), 1)

    def test_all_ends_with_the_code_of_the_first_that_fails(self):
        for session in ("c", "b", "a"):  # the newest comes first
            self.run_cli("add", session, "tea", "--create")
        self.session_file("a", "metadata.json").write_text('{"version":99}')
        log = self.session_file("b", "memory.jsonl")
        log.unlink()
        log.mkdir()
        for words in (["verify"], ["compact"], ["stats"], ["export", "-o", "out"]):
            with self.subTest(words):
                done = self.run_cli(*words, "--all", exit_code=5)
                self.assertEqual(done.stderr.count("varve: "), 2)

    def test_a_missing_session_is_told(self):
        self.notes(1)
        for verb in ("compact", "purge"):
            self.run_cli(verb, "nobody", exit_code=2)

    def test_what_is_no_file_in_place_of_the_settings_is_refused_without_waiting(self):
        self.notes(1)
        settings = self.root / "config.json"
        for made, what in ((os.mkfifo, "a FIFO"), (os.mkdir, "a directory"),
                           (lambda path: os.symlink("/dev/zero", path), "a symbolic link")):
            made(settings)
            for words in (["verify", "notes"], ["import", "notes", "-", "--dry-run"]):
                with self.subTest(what=what, words=words):
                    self.assertIn(what, self.run_cli(*words, exit_code=4).stderr)
            settings.rmdir() if what == "a directory" else settings.unlink()


class Index(Lifecycle):
    def test_a_rebuild_that_cannot_be_saved_is_no_success(self):
        self.notes()
        index = self.session_file("notes", "index.bin")
        (self.root / "config.json").write_text('{"concurrency":{"lock_timeout_ms":20}}')
        with hold_lock(self.session_file("notes", "lock")):
            done = self.run_cli("index", "notes", "--rebuild", exit_code=3)
            self.assertIn("index.bin was not saved", done.stderr)
            self.assertIn("another process is writing", done.stderr)
        index.unlink(missing_ok=True)
        (index / "in the way").mkdir(parents=True)
        done = self.run_cli("index", "--all", "--rebuild", exit_code=4)
        self.assertIn("notes: index.bin was not saved", done.stderr)
        self.assertNotIn("rebuilt", done.stderr)
        (index / "in the way").rmdir()
        index.rmdir()
        self.run_cli("index", "notes", "--rebuild")
        self.assertTrue(index.is_file())

    def test_a_rebuild_of_a_torn_first_entry_has_nothing_to_save(self):
        self.run_cli("create", "notes")
        self.session_file("notes", "memory.jsonl").write_text('{"id":"a","ty')
        done = self.run_cli("index", "notes", "--rebuild")
        self.assertIn("0 entries", done.stderr)

    def test_a_rebuild_of_nothing_has_nothing_to_save(self):
        self.run_cli("create", "notes")
        self.run_cli("index", "notes", "--rebuild")


class Purge(Lifecycle):
    WORD = "Zanzibarine"

    def test_leaves_no_byte_of_what_was_forgotten_in_any_file(self):
        self.notes(3)
        self.run_cli("add", "notes", f"the {self.WORD} crossing", "--id", "secret",
                     "--tag", self.WORD.lower())
        self.run_cli("search", "-s", "notes", self.WORD)
        self.run_cli("index", "notes", "--rebuild")
        self.run_cli("forget", "notes", "secret", "--reason", "asked for")
        # Deleting alone hides it: the bytes are there, in the log and in the index.
        self.assertEqual(self.files_with(self.WORD), ["index.bin", "memory.jsonl"])
        self.assertEqual(self.run_cli("search", "-s", "notes", self.WORD, "-q").stdout, "")
        self.assertEqual(self.summary("purge", "notes")[6], "1 deleted")
        self.assertEqual(self.files_with(self.WORD), [])
        self.assertIn("note 1", self.run_cli("search", "-s", "notes", "note 1").stdout)
        self.assertEqual(self.files_with(self.WORD), [])
        self.run_cli("verify", "notes", "--deep")

    def test_a_compaction_before_it_makes_no_difference(self):
        self.notes(3)
        self.run_cli("add", "notes", self.WORD, "--id", "secret", "--tag", self.WORD)
        self.run_cli("search", "-s", "notes", self.WORD)
        self.run_cli("index", "notes", "--rebuild")
        self.run_cli("forget", "notes", "secret")
        self.run_cli("compact", "notes")
        self.assertIn("nothing to purge", self.run_cli("purge", "notes").stderr)
        self.assertEqual(self.files_with(self.WORD), [])
        self.run_cli("verify", "notes", "--deep")

    def test_takes_damaged_lines_and_quarantine_with_it(self):
        self.notes(2)
        self.run_cli("add", "notes", self.WORD, "--id", "a")
        self.damage(1)
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(b'"id":"a"', b'"id":"b"'))
        self.session_file("notes", "index.bin").unlink()
        self.assertEqual(self.summary("purge", "notes")[6], "2 damaged")
        self.assertEqual(self.files_with(self.WORD), [])
        self.run_cli("add", "notes", self.WORD, "--id", "c")
        path.write_bytes(path.read_bytes().replace(b'"id":"c"', b'"id":"d"'))
        self.session_file("notes", "index.bin").unlink()
        self.run_cli("repair", "notes")
        self.assertTrue(self.session_file("notes", "quarantine.jsonl").exists())
        self.assertIn("nothing to purge", self.run_cli("purge", "notes").stderr)
        self.assertFalse(self.session_file("notes", "quarantine.jsonl").exists())

    def test_the_audit_lines_stay(self):
        self.notes(2)
        self.run_cli("forget", "notes", "e1", "--reason", "asked for")
        audit = self.session_file("notes", "tombstones.jsonl").read_bytes()
        self.run_cli("purge", "notes")
        self.assertEqual(self.session_file("notes", "tombstones.jsonl").read_bytes(), audit)

    def test_a_restored_backup_does_not_bring_it_back(self):
        self.run_cli("add", "notes", self.WORD, "--id", "secret", "--create")
        self.run_cli("add", "notes", "harmless", "--id", "other")
        copy, newer = str(self.directory / "copy"), str(self.directory / "newer")
        self.run_cli("backup", copy)
        self.run_cli("forget", "notes", "secret")
        self.run_cli("purge", "notes")
        self.run_cli("backup", newer)
        self.run_cli("drop", "notes", "--yes")
        self.run_cli("restore", copy, "--reapply-deletions", newer)
        self.run_cli("get", "notes", "secret", exit_code=2)
        self.run_cli("get", "notes", "other")
        self.run_cli("purge", "notes")
        self.assertEqual(self.files_with(self.WORD), [])

    def test_the_next_backup_takes_it_out_of_the_copy(self):
        self.run_cli("add", "notes", self.WORD, "--id", "secret", "--create")
        copy = self.directory / "copy"
        self.run_cli("backup", str(copy))
        log = copy / "sessions" / "notes" / "memory.jsonl"
        self.assertIn(self.WORD.encode(), log.read_bytes())
        self.run_cli("forget", "notes", "secret")
        self.run_cli("purge", "notes")
        self.run_cli("backup", str(copy))
        for path in copy.rglob("*"):
            if path.is_file():
                self.assertNotIn(self.WORD.encode(), path.read_bytes(), path)


class Sweep(Lifecycle):
    def expire(self, session):
        """As if the session had been made, and last written to, long ago."""
        path = self.session_file(session, "metadata.json")
        metadata = json.loads(path.read_text())
        del metadata["checksum"]
        path.write_text(json.dumps({**metadata, "created_at": LONG_AGO, "last_accessed": LONG_AGO}))

    def test_other_commands_leave_out_a_session_that_has_expired(self):
        for session in ("left", "young"):
            self.run_cli("create", session, "--ttl-hours", "1")
            self.run_cli("add", session, "tea")
        self.expire("left")
        self.assertEqual(self.run_cli("ls", "--quiet").stdout, "young\n")
        self.assertEqual(self.run_cli("verify", "--all").stdout, "young: ok, 1 entry\n")
        self.assertEqual(self.run_cli("count", "--all", "tea").stdout, "1\n")
        self.assertIn("a sweep removes its files",
                      self.run_cli("verify", "left", exit_code=2).stderr)

    def test_all_sessions_are_those_that_nobody_drops_meanwhile(self):
        for number in range(40):
            self.run_cli("create", f"s{number}")
            self.run_cli("add", f"s{number}", "tea", "--quiet")
        for number, words in enumerate((["count", "--all"], ["stats", "--all"], ["verify", "--all"],
                                        ["export", "--all", "-o", "out"])):
            with self.subTest(words):
                # The newest comes first; the oldest is dropped while the program cannot go on.
                done = self.run_stopped(
                    lambda: self.run_cli("drop", f"s{number}", "--yes"), *words, "--verbose")
                self.assertEqual(done.returncode, 0, done.stderr.splitlines()[-1])
                self.assertNotIn(f"'s{number}'", done.stderr)
                self.assertIn(f"s{number + 1}", done.stderr)

    def run_stopped(self, do, *words):
        """Runs the program, which waits where its log fills a pipe until `do` was done."""
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
        process = subprocess.Popen([program(), *words], stdout=subprocess.PIPE, stderr=write_end,
                                   env=self.environment(), cwd=self.directory)
        os.close(write_end)
        with open(read_end, "rb") as log:
            log.peek(1)
            do()
            stderr = log.read().decode()
        stdout = process.communicate(timeout=TIMEOUT_S)[0].decode()
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    def test_removes_sessions_and_drops_entries_that_have_expired(self):
        for session, hours in (("left", "1"), ("young", "1"), ("kept", "0")):
            self.run_cli("create", session, "--ttl-hours", hours)
            self.run_cli("import", session, "-", stdin=entry_line(1))
        self.run_cli("import", "kept", "-", stdin=entry_line(2, expires_at=LONG_AGO))
        self.run_cli("delete", "young", "e1")
        self.expire("left")
        self.expire("kept")
        log = self.log("kept")
        expired_bytes = len(log.splitlines()[1]) + 1
        report = self.run_json("sweep")
        self.assertGreaterEqual(report.pop("duration_ms"), 0)
        self.assertGreater(report.pop("bytes_freed"), expired_bytes)
        self.assertEqual(report, {"sessions_checked": 3, "sessions_removed": 1,
                                  "sessions_compacted": 1, "entries_dropped": 1, "problems": []})
        self.assertFalse(self.session_file("left", "").exists())
        self.assertEqual(self.log("kept"), log[:-expired_bytes])
        self.assertRegex(self.run_cli("sweep").stderr,
                         r"^2 sessions: 0 removed, 0 compacted; 0 entries dropped, 0 B freed, "
                         r"[\d.]+ ms\n$")

    def test_a_session_that_fails_is_told_and_the_others_are_swept(self):
        for session in ("a", "b", "c"):
            self.run_cli("import", session, "-", stdin=entry_line(1, expires_at=LONG_AGO))
        self.session_file("b", "metadata.json").write_text('{"version":99}')
        done = self.run_cli("sweep", "--quiet", exit_code=6)
        self.assertEqual(done.stdout, "")
        self.run_cli("sweep", "b", exit_code=1)
        self.run_cli("sweep", "--session", "b", exit_code=1)
        self.assertEqual((self.log("a"), self.log("c")), (b"", b""))
        problems = self.run_json("sweep", exit_code=6)["problems"]
        self.assertEqual([problem["session_id"] for problem in problems], ["b"])
        self.assertIn("b: not swept: ", self.run_cli("sweep", exit_code=6).stderr)


class Forget(Lifecycle):
    def test_is_delete(self):
        self.notes(4)
        self.assertIn("Deleted entry e1.", self.run_cli("forget", "notes", "e1").stderr)
        self.assertEqual(self.run_json("forget", "notes", "--tag", "even", "--yes"),
                         {"deleted_count": 2})
        self.assertEqual(self.run_cli("log", "notes", "-q").stdout, "e3\n")
        self.assertIn("Did you mean forget?", self.run_cli("forgett", exit_code=1).stderr)
        self.assertIn("varve delete --help", self.run_cli("forget", exit_code=1).stderr)


class LostMetadata(CliTest):
    """What only describes a session is lost: the session is not."""

    losses = (lambda path: path.write_text("junk\n"), lambda path: path.unlink())

    def sessions(self):
        listed = self.run_json("ls")["sessions"]
        return [(item["session_id"], item["user_id"], item["agent_id"]) for item in listed]

    def lose(self, loss):
        self.run_cli("create", "b", "--user", "ann", "--agent", "cook", "--title", "Boats")
        self.run_cli("add", "b", "hello", "--id", "h")
        made_at = self.run_json("metadata", "b")["created_at"]
        loss(self.session_file("b", "metadata.json"))
        self.assertEqual(self.sessions(), [("b", "ann", "cook")])
        return made_at

    def test_a_write_takes_user_and_agent_back_from_the_list(self):
        for loss in self.losses:
            with self.subTest():
                made_at = self.lose(loss)
                done = self.run_cli("add", "b", "more")
                self.assertIn("metadata.json cannot be read", done.stderr)
                self.assertEqual(self.sessions(), [("b", "ann", "cook")])
                metadata = self.run_json("metadata", "b")
                self.assertEqual((metadata["created_at"], metadata["user_id"]), (made_at, "ann"))
                self.assertEqual(self.run_cli("ls", "--user", "ann", "-q").stdout, "b\n")
                found = self.run_json("search", "--all", "--user", "ann", "hello")["results"]
                self.assertEqual([item["entry"]["id"] for item in found], ["h"])
                self.run_cli("drop", "b", "--yes")

    def test_verify_says_what_is_wrong_with_one_that_was_edited(self):
        self.run_cli("create", "b")
        path = self.session_file("b", "metadata.json")
        for text, wrong in (('{"version":1 "title":"x"}', "unexpected '\"' at byte 13"),
                            ('{"session_id":"other"}', "it belongs to session 'other'"),
                            ("[]", "it is not a JSON object"), (None, "it is missing")):
            path.unlink() if text is None else path.write_text(text)
            problem, = self.run_json("verify", "b", exit_code=6)["problems"]
            self.assertEqual(problem["file"], "metadata.json")
            self.assertIn(wrong, problem["reason"])
            self.assertIn("or let repair make a new one", problem["reason"])

    def test_whatever_stands_for_all_sessions_reaches_it(self):
        for loss in self.losses:
            with self.subTest():
                self.lose(loss)
                self.run_cli("verify", "--all", exit_code=6)
                self.run_cli("forget", "b", "h")
                self.run_cli("purge", "--all")
                self.assertNotIn("hello", self.session_file("b", "memory.jsonl").read_text())
                self.assertIn("b: ok", self.run_cli("verify", "--all").stdout)
                self.run_cli("drop", "b", "--yes")

    def test_repair_tells_what_was_lost(self):
        for loss in self.losses:
            with self.subTest():
                self.lose(loss)
                self.assertTrue(self.run_json("repair", "b", "--dry-run")["metadata_lost"])
                text = self.run_cli("repair", "b").stderr
                self.assertIn("metadata.json was lost", text)
                self.assertIn("user ann", text)
                self.assertIn("agent cook", text)
                self.assertEqual(self.sessions(), [("b", "ann", "cook")])
                self.assertNotIn("title", self.run_json("metadata", "b"))
                self.assertFalse(self.run_json("repair", "b")["metadata_lost"])
                self.run_cli("drop", "b", "--yes")

    def test_a_rescan_keeps_whose_it_is(self):
        for loss in self.losses:
            with self.subTest():
                made_at = self.lose(loss)
                listed = self.run_json("ls", "--rescan")["sessions"]
                self.assertEqual([item["created_at"] for item in listed], [made_at])
                self.assertEqual(self.sessions(), [("b", "ann", "cook")])
                self.run_cli("add", "b", "more")
                self.assertEqual(self.run_json("metadata", "b")["user_id"], "ann")
                self.run_cli("drop", "b", "--yes")

    def test_a_list_that_was_made_without_it_keeps_the_session(self):
        self.lose(lambda path: path.write_text("junk\n"))
        (self.root / "indices" / "sessions.jsonl").unlink()
        self.run_cli("ls")  # makes it anew, and cannot tell whose it is any more
        self.run_cli("add", "b", "more")
        self.assertEqual(self.sessions(), [("b", "", "")])

    def test_a_session_made_anew_is_not_taken_for_the_one_before(self):
        self.run_cli("create", "b", "--user", "ann")
        self.run_cli("drop", "b", "--yes")
        self.run_cli("create", "b", "--user", "bob")
        self.session_file("b", "metadata.json").write_text("junk\n")
        self.run_cli("add", "b", "more")
        self.assertEqual(self.run_cli("ls", "--user", "bob", "-q").stdout, "b\n")
        self.assertEqual(self.run_cli("ls", "--user", "ann", "-q").stdout, "")


if __name__ == "__main__":
    main()
