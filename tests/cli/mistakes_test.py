"""Mistakes of whoever types a command, and what it says of them."""

import json
import os
import re
import signal
import subprocess

from cli_support import TIMEOUT_S, CliTest, entry_line, hold_lock, main, program


class EmptyValues(CliTest):
    def test_what_stands_behind_is_no_value(self):
        self.notes()
        self.run_cli("add", "notes", "a boat", "--tag", "boat", "--id", "b")
        done = self.run_cli("forget", "notes", "--tag=boat", "b", "--yes", exit_code=1)
        self.assertIn("not both", done.stderr)
        for words in (["--tag=", "boat"], ["--tag="]):
            done = self.run_cli("forget", "notes", *words, "--yes", exit_code=1)
            self.assertIn("the value of --tag is empty", done.stderr)
        self.assertEqual(self.run_json("count", "-s", "notes"), {"count": 4})
        self.assertEqual(self.run_json("delete", "notes", "b", "--reason="), {"deleted": "b"})
        audit = json.loads(self.session_file("notes", "tombstones.jsonl").read_text())
        self.assertEqual(audit.get("reason", ""), "")
        self.assertEqual(self.run_cli("create", "--title=", "zed").stdout, "zed\n")
        self.assertEqual(self.run_json("metadata", "zed").get("title", ""), "")

    def test_they_are_refused_where_they_would_stand_for_all(self):
        self.notes()
        cases = (
            (["ls", "--user", ""], "--user"), (["ls", "--agent="], "--agent"),
            (["create", "x", "--user", ""], "--user"), (["usage", "--agent", ""], "--agent"),
            (["search", "--all", "--user", "", "note"], "--user"),
            (["log", "--session", ""], "--session"), (["--root", "", "ls"], "--root"),
            (["add", "notes", "x", "--id", ""], "--id"), (["add", "notes", "x", "--ref="], "--ref"),
            (["add", "notes", "x", "--expires-at", ""], "--expires-at"),
            (["context", "-s", "notes", "--pin", ""], "--pin"),
            (["context", "-s", "notes", "--exclude", ""], "--exclude"),
            (["restore", "copy", "--reapply-deletions", ""], "--reapply-deletions"),
            (["metadata", "notes", "--set", ""], "--set"),
        )
        for words, name in cases:
            with self.subTest(words):
                done = self.run_cli(*words, exit_code=1)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"the value of {name} is empty", done.stderr)
                self.assertIn("leave the option out", done.stderr)
        for words in (["create", ""], ["log", ""], ["drop", "", "--yes"], ["delete", "", "e1"],
                      ["verify", ""]):
            with self.subTest(words):
                done = self.run_cli(*words, exit_code=1, environment={"VARVE_SESSION": "notes"})
                self.assertIn("the session's id is empty", done.stderr)
        for words in (["get", "notes", ""], ["delete", "notes", ""], ["usage", ""]):
            with self.subTest(words):
                self.run_cli(*words, exit_code=1)
        self.assertEqual(self.run_cli("ls", "-q").stdout, "notes\n")
        self.assertEqual(self.run_json("count", "-s", "notes"), {"count": 3})

    def test_a_value_that_looks_like_one_stays_a_value(self):
        self.run_cli("create", "one", "--title=a=")
        self.run_cli("create", "two", "--title", "--user=")
        self.assertEqual(self.run_json("metadata", "one")["title"], "a=")
        self.assertEqual(self.run_json("metadata", "two")["title"], "--user=")
        self.run_cli("-qs", "one", "add", "--id", "e1", "--", "--tag=")
        self.assertEqual(self.run_json("get", "one", "e1")["content"], {"message": "--tag="})


class Mistakes(CliTest):
    def test_each_is_one_line_and_a_hint(self):
        self.run_cli("create", "notes")
        cases = (
            (["lss"], 'unknown command "lss"', "Did you mean ls?"),
            (["search", "-s", "notes", "+kettle", "-coffee"], 'unknown option "-coffee"',
             'before words that begin with "-"'),
            (["add", "notes"], "an argument is missing", "VARVE_SESSION"),
            (["kv", "set", "notes", "a"], "an argument is missing", "VARVE_SESSION"),
            (["ls", "--limt", "3"], 'unknown option "--limt"', "Did you mean --limit?"),
            (["--store", "x", "ls"], 'unknown option "--store"', "Did you mean --root?"),
            (["ls", "--dir=x"], 'unknown option "--dir=x"', "Did you mean --root?"),
            (["ls", "--sess", "x"], 'unknown option "--sess"', "Did you mean --session?"),
            (["--limit", "3", "ls"], 'misplaced option "--limit"', "belongs behind the command"),
            (["ls", "--xyz"], 'unknown option "--xyz"', 'before words that begin with "-"'),
            (["ls", "-d", "x"], 'unknown option "-d"', 'before words that begin with "-"'),
            (["frobnicate"], "unknown command", "varve --help"),
            ([], "no command is given", "varve --help"),
            (["ls", "extra"], 'unexpected argument "extra"', "varve ls --help"),
            (["get", "notes"], "no session is named", "VARVE_SESSION"),
            (["add"], "too few arguments", "varve add --help"),
            (["add", "a", "b", "c"], 'unexpected argument "c"', "varve add --help"),
            (["-s", "notes", "log", "a"], "too many arguments", "varve log --help"),
            (["log", "notes", "-n", "many"], "--limit", "varve log --help"),
            (["log", "notes", "--type"], "--type", "varve log --help"),
            (["log", "notes", "-n", "-3"], '--limit takes a whole number from 0, not "-3"', ""),
            (["log", "notes", "-n", "1.5"], "--limit takes a whole number from 0", ""),
            (["import", "notes", ""], "the name of a file is empty", ""),
            (["log", "notes", "--type"], "the value of --type is missing", ""),
            (["ls", "-n", "1", "--limit", "2"], "--limit is given more than once", ""),
            (["ls", "--root", "a", "--root=b"], "--root is given more than once", ""),
            (["ls", "--limit", "1.5"], '--limit takes a whole number, not "1.5"', ""),
            (["ls", "--limit", "20000"], "--limit takes a number from 0 to 10000", ""),
            (["watch", "--interval", "0"], "--interval takes a number from 0.1 to 86400", ""),
            (["--color", "sometimes", "ls"],
             '--color takes auto, always or never, not "sometimes"', "varve ls --help"),
            (["lss", "--help"], 'unknown command "lss"', "Did you mean ls?"),
            (["help", "lss"], 'unknown command "lss"', "Did you mean ls?"),
        )
        for words, message, hint in cases:
            with self.subTest(words):
                done = self.run_cli(*words, exit_code=1)
                lines = done.stderr.splitlines()
                self.assertEqual(done.stdout, "")
                self.assertLessEqual(len(lines), 2)
                self.assertTrue(lines[0].startswith("varve: "))
                self.assertIn(message, lines[0])
                self.assertIn(hint, lines[-1])

    def test_the_option_that_is_wrong_is_named_and_no_place_that_nobody_has_seen(self):
        self.run_cli("create", "notes")
        search = ["search", "-s", "notes"]
        cases = (
            (["add", "notes", "x", "--id", "-"], "--id: must be an id"),
            (["add", "notes", "x", "--tag", "a", "--tag", "b c"], "--tag: must be a tag"),
            (["add", "notes", "x", "--type", "A b"], "--type: must be a type"),
            (["add", "notes", "x", "--ref", "a b"], "--ref: must be an id"),
            (["add", "notes", "x", "--timestamp", "2026-01-10T99:00:00Z"], "--timestamp: must be"),
            (["add", "notes", b"\xff"], "TEXT: is not valid UTF-8"),
            (["add", "notes", "x", "--role", b"\xff"], "--role: is not valid UTF-8"),
            (["create", "x", "--user", b"\xff"], "--user: is not valid UTF-8"),
            (["create", "x", "--user", "ann", "--options", '{"foo":1}'],
             "--options: member 'foo': is unknown"),
            (["create", "x", "--user", "ann", "--options", '{"agent_id":7}'],
             "--options: member 'agent_id': must be"),
            (["create", "x y", "--options", '{"stores":["kv"]}'], "'x y' is not a session id"),
            ([*search, "--tag", b"\xff"], "--tag: is not valid UTF-8"),
            ([*search, "--type", "A b"], "--type: 'A b' is not a type"),
            ([*search, "--after", "zzz"], "--after: must be the 'next' of an answer"),
            ([*search, "--related", "x", "--depth", "-1"], "--depth: must be"),
            ([*search, b"\xff"], "WORD: is not valid UTF-8"),
            (["search", "--all", "--user", b"\xff"], "--user: is not valid UTF-8"),
            (["search", "-s", "x y", "--query", "{}"], "'x y' is not a session id"),
            (["count", "-s", "notes", "--type", "A b"], "--type: 'A b' is not a type"),
            (["count", "--all", "--type", "A b"], "--type: 'A b' is not a type"),
            (["count", "--all", "--user", "nobody", "--type", "A b"], "--type: 'A b' is not a"),
            (["ls", "--user", b"\xff"], "--user: is not valid UTF-8"),
            (["usage", "--agent", b"\xff"], "--agent: is not valid UTF-8"),
            (["usage", "--since", "2026-01-10T99:00:00Z"], "--since: must be"),
            (["usage", "a b"], "SESSION: 'a b' is not an id"),
            (["log", "notes", "--related", "a b"], "--related: 'a b' is not an id"),
            (["chat-log", "notes", "--type", "A b"], "--type: 'A b' is not a type"),
            (["export", "notes", "--type", "A b"], "--type: 'A b' is not a type"),
            (["export", "notes", "-o", "out", "--related", "a b"], "--related: 'a b' is not an id"),
            (["export", "notes", "--query", '{"limit":2}'], "--query: member 'limit': is about"),
            (["export", "notes", "--query", '{"types":["a","A b"]}'],
             "--query: member 'types[1]': 'A b' is not a type: [a-z][a-z0-9_]{0,31}"),
            (["delete", "notes", "--type", "A b", "--yes"], "--type: 'A b' is not a type"),
            (["delete", "notes", "--text", b"\xff", "--yes"], "--text: is not valid UTF-8"),
            (["delete", "notes", "--where", "{}", "--yes", "--reason", "x" * 1025],
             "--reason: a reason is at most 1024 bytes"),
            (["context", "-s", "notes", "--tokens", "10", "--reserve", "20"],
             "--reserve: must not be more than 'max_tokens', which is 10"),
            (["context", "-s", "notes", "--pin", "a b"], "--pin: 'a b' is not an id"),
            (["context", "-s", "notes", "--all", "--user", ""], "the value of --user is empty"),
            (["context", "-s", "notes", "--also", "a b"], "--also: 'a b' is not an id"),
            (["context", "-s", "notes", "--request", "{}", "--all"], "--all excludes --request"),
            (["context", "-s", "notes", "--request", "{}", "--pin", "a"],
             "--pin excludes --request"),
        )
        for words, message in cases:
            with self.subTest(words):
                first, *_ = self.run_cli(*words, exit_code=1).stderr.splitlines()
                self.assertTrue(first.startswith(f"varve: {message}"), first)
                if "member" not in first:
                    self.assertNotIn("at byte", first)

    def test_the_details_tell_no_place_that_nobody_has_seen_either(self):
        self.run_cli("create", "notes")
        error = self.error_of("export", "notes", "--query", '{"limit":2}', exit_code=1)
        self.assertEqual(error["details"], {"member": "limit"})

    def test_an_id_that_cannot_be_one_is_named(self):
        self.run_cli("create", "notes")
        for words in (["create", ".x"], ["add", ".x", "y", "--create"], ["log", "メモ"]):
            with self.subTest(words):
                said = f"'{words[1]}' is not a session id: it must be 1 to 128 of A-Z a-z 0-9 _ -"
                self.assertIn(said, self.run_cli(*words, exit_code=1).stderr)

    def test_a_store_that_nobody_can_look_for_is_not_taken_for_none(self):
        (self.directory / "loop").symlink_to("loop")
        done = self.run_cli("--root", "loop", "ls", exit_code=4)
        self.assertIn("cannot look for a store at loop: ", done.stderr)

    def test_what_takes_from_nowhere_makes_no_store(self):
        nowhere = str(self.directory / "nowhere")
        copy = str(self.directory / "copy")
        self.run_cli("--root", copy, "create", "notes")
        for words in (["restore", nowhere], ["restore", str(self.directory)],
                      ["restore", copy, "--reapply-deletions", nowhere],
                      ["import", "notes", nowhere]):
            with self.subTest(words):
                done = self.run_cli(*words, exit_code=2)
                self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1))
                self.assertFalse(self.root.exists())

    def test_an_import_makes_a_store_only_when_all_was_read(self):
        for words in (["import", "notes", "."], ["import", "notes", "-", "."]):
            with self.subTest(words):
                self.run_cli(*words, exit_code=4)
                self.assertFalse(self.root.exists())
        process = subprocess.Popen([program(), "import", "notes", "-"], stdin=subprocess.PIPE,
                                   env=self.environment(), cwd=self.directory)
        # More than the pipe holds: when all is written, the program has begun to read.
        process.stdin.write(entry_line(1).encode() * 10_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT_S), -signal.SIGINT)
        process.stdin.close()
        self.assertFalse(self.root.exists())

    def test_an_import_of_which_all_is_refused_makes_no_store(self):
        path = self.write("wrong.txt", "not an entry\n")
        for words in ([path], ["-"], [path, path], ["--format", "chat", path]):
            with self.subTest(words):
                done = self.run_cli("import", "notes", *words, stdin="[7]\n", exit_code=1)
                self.assertIn("Added 0 entries to notes, refused ", done.stderr)
                report = self.run_json("import", "notes", *words, stdin="[7]\n", exit_code=1)
                self.assertEqual((report["added"], report["refused_total"]), (0, len(
                    [word for word in words if word in (path, "-")])))
                self.assertFalse(self.root.exists())
        refused = self.run_cli("import", "a b", path, exit_code=1)
        self.assertIn("must be 1 to 128 of A-Z", refused.stderr)
        self.write("mixed.jsonl", "not an entry\n" + entry_line(1))
        self.run_cli("import", "notes", "mixed.jsonl", exit_code=1)
        self.run_cli("get", "notes", "e1")

    def test_a_session_that_the_backup_lacks_makes_no_store(self):
        copy = str(self.directory / "copy")
        self.run_cli("--root", copy, "create", "notes")
        for words in (["nothing"], ["notes", "nothing"]):
            with self.subTest(words):
                done = self.run_cli("restore", copy, *words, exit_code=2)
                self.assertEqual(done.stderr, "varve: the backup has no session 'nothing'\n")
                self.assertFalse(self.root.exists())

    def test_json_errors(self):
        self.run_cli("create", "notes")
        error = self.error_of("get", "notes", "missing", exit_code=2)
        self.assertEqual((error["status"], error["name"]), (2, "VARVE_NOT_FOUND"))
        self.assertTrue(error["message"])
        self.assertIsInstance(error["details"], dict)
        self.assertEqual(self.error_of("lss", exit_code=1)["hint"], "Did you mean ls?")
        self.assertIn("more than once", self.error_of("ls", "-sa", "-sb", exit_code=1)["message"])

    def test_json_is_json_whatever_bytes_were_given(self):
        self.run_cli("create", "notes")
        for words in ([b"get", b"notes", b"a\xffb"], [b"a\xffb"], [b"ls", b"--root", b"a\xffb"],
                      [b"import", b"notes", b"a\xffb"], [b"create", b"a\xffb"]):
            with self.subTest(words):
                done = subprocess.run([program(), b"--json", *words], capture_output=True,
                                      env=self.environment(), timeout=TIMEOUT_S)
                self.assertIn("a\ufffdb", json.loads(done.stderr)["error"]["message"])

    def test_a_failed_addition_names_the_place(self):
        self.run_cli("create", "notes")
        text = '{"type":"finding","content":1,"importance":"high"}'
        error = self.error_of("add", "notes", "--json-entry", text, exit_code=1)
        self.assertEqual(error["details"]["member"], "importance")

    def test_a_wrong_setting_names_the_file(self):
        self.run_cli("create", "notes")
        path = self.root / "config.json"
        for text, what in (("junk", "invalid JSON"), ('{"durability":1}', "durability"),
                           ('{"version":"99.0"}', "99.0")):
            path.write_text(text)
            for root in (str(self.root), f"file:{self.root}/"):
                error = self.error_of("ls", "--root", root, exit_code=1 if "99" not in text else 5)
                self.assertTrue(error["message"].startswith(f"{path}: "), error)
                self.assertIn(what, error["message"])
                self.assertEqual(error["details"]["path"], str(path))

    def test_a_byte_order_mark_hides_no_setting(self):
        self.notes()
        (self.root / "config.json").write_text('\ufeff{"integrity":{"recovery":"strict"}}')
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(b"note 2", b"mote 2"))
        self.run_cli("get", "notes", "e1", exit_code=6)
        self.run_cli("repair", "notes")

    def test_busy_names_the_holder(self):
        self.run_cli("create", "notes")
        (self.root / "config.json").write_text('{"concurrency":{"lock_timeout_ms":20}}')
        lock = self.session_file("notes", "lock")
        # Closing the file anywhere in this process would give the lock up: it is written before.
        note = '{{"pid":{},"timestamp":"2026-01-10T14:30:00.000Z"}}\n'
        lock.write_text(note.format(os.getpid()))
        with hold_lock(lock):
            done = self.run_cli("add", "notes", "x", exit_code=3)
        self.assertIn(f"Process {os.getpid()} has held it since 2026-01-10 14:30:00", done.stderr)
        ended = subprocess.Popen(["true"])
        ended.wait(TIMEOUT_S)
        lock.write_text(note.format(ended.pid))
        with hold_lock(lock):
            done = self.run_cli("add", "notes", "x", exit_code=3)
        self.assertNotIn("has held it", done.stderr)
        for number in ("1e300", "-1e19", "18446744073709551615", '"4711"'):
            lock.write_text(f'{{"pid":{number}}}\n')
            with self.subTest(number), hold_lock(lock):
                self.assertNotIn("Process", self.run_cli("add", "notes", "x", exit_code=3).stderr)


class Warnings(CliTest):
    def test_say_why(self):
        self.run_cli("create", "notes")
        entry = self.run_cli("add", "notes", "tea").stdout.strip()
        log = self.root / "sessions" / "notes" / "memory.jsonl"
        log.write_text(log.read_text(encoding="utf-8").replace("tea", "tee"), encoding="utf-8")
        done = self.run_cli("get", "notes", entry, exit_code=6)
        # The library's log says the same of the entry, which is shown once.
        self.assertEqual(len(re.findall("the line of entry .* is damaged", done.stderr)), 1)

    def test_a_member_of_metadata_that_has_no_effect_is_a_note_of_verify(self):
        self.notes()
        path = self.root / "sessions" / "notes" / "metadata.json"
        metadata = json.loads(path.read_text())
        del metadata["checksum"]
        path.write_text(json.dumps({**metadata, "ttl_hours": "24"}))
        self.assertEqual(self.run_cli("verify", "notes").stdout.splitlines()[1:],
                         ["  note: metadata.json member 'ttl_hours': must be a number from 0 to "
                          "1000000000; it may have no effect"])


if __name__ == "__main__":
    main()
