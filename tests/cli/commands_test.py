"""Commands on sessions and entries: what they print, what they leave behind, their exit codes.

Those that bring entries in and out are in transfer_test.py.
"""

import datetime
import json
import os

from cli_support import TIMEOUT_S, CliTest, entry_line, main


class Create(CliTest):
    def test_prints_the_id_it_was_given(self):
        self.assertEqual(self.run_cli("create", "notes").stdout, "notes\n")

    def test_makes_an_id(self):
        first = self.run_cli("create").stdout.strip()
        second = self.run_cli("create").stdout.strip()
        self.assertTrue(first.startswith("sess_"))
        self.assertNotEqual(first, second)

    def test_keeps_what_it_was_told(self):
        made = self.run_json(
            "create", "notes", "--user", "ann", "--agent", "planner", "--title", "Tee & Kuchen",
            "--ttl-hours", "48", "--options", '{"preferences":{"language":"de"}}',
        )
        self.assertEqual(made["session_id"], "notes")
        self.assertEqual(made["user_id"], "ann")
        self.assertEqual(made["agent_id"], "planner")
        self.assertEqual(made["title"], "Tee & Kuchen")
        self.assertEqual(made["preferences"], {"language": "de"})

    def test_twice_is_an_error_unless_asked(self):
        self.run_cli("create", "notes")
        error = self.error_of("create", "notes", exit_code=1)
        self.assertEqual(error["name"], "VARVE_ALREADY_EXISTS")
        self.assertEqual(self.run_cli("create", "notes", "--if-missing").stdout, "notes\n")
        self.assertEqual(self.run_cli("create", "new", "--if-missing").stdout, "new\n")
        self.assertRegex(self.run_cli("create", "--if-missing").stdout, "^sess_")
        self.assertEqual(self.run_cli("create", "--if-missing", "--options",
                                      '{"session_id":"notes"}').stdout, "notes\n")

    def test_of_another_user_is_not_what_was_asked_for(self):
        self.run_cli("create", "notes", "--user", "ann")
        self.run_cli("create", "notes", "--user", "ann", "--if-missing")
        done = self.run_cli("create", "notes", "--user", "bob", "--if-missing", exit_code=1)
        self.assertIn("belongs to another user", done.stderr)
        self.assertNotIn("--if-missing", done.stderr)

    def test_refuses_ids_that_leave_the_store(self):
        for bad in ("../evil", "a/b", ".hidden", "-x"):
            with self.subTest(bad):
                done = self.run_cli("create", "--", bad, exit_code=1)
                self.assertIn(f"'{bad}' is not a session id", done.stderr)
        self.assertFalse((self.directory / "evil").exists())
        self.run_cli("add", ".hidden", "x", "--create", exit_code=1)
        self.run_cli("import", ".hidden", self.write("in.jsonl", entry_line(1)), exit_code=1)
        self.assertFalse(self.root.exists(), "a store was made for what was refused")

    def test_options_are_passed_on_as_they_were_written(self):
        number = "123456789012345678901234567890"
        self.run_cli("create", "notes", "--title", "mine", "--options",
                     f' {{ "preferences" : {{"n":{number}}}, "title":"mine" }} ')
        shown = self.run_cli("metadata", "notes", "--json").stdout
        self.assertIn(f'"preferences":{{"n":{number}}}', shown)
        self.assertEqual(json.loads(shown)["title"], "mine")
        twice = '{"title":"a","title":"b"}'
        done = self.run_cli("create", "other", "--options", twice, exit_code=1)
        self.assertIn("--options: ", done.stderr)
        self.assertIn("'title'", done.stderr)

    def test_refuses_options_that_are_no_object(self):
        self.run_cli("create", "notes", "--options", "[1]", exit_code=1)
        self.run_cli("create", "notes", "--options", '{"colour":1}', exit_code=1)
        self.assertFalse(self.root.exists(), "a store was made for what was refused")


class List(CliTest):
    def test_shows_a_table(self):
        self.run_cli("create", "notes", "--title", "To remember")
        self.run_cli("add", "notes", "x")
        heading, row = self.run_cli("ls").stdout.splitlines()
        self.assertEqual(heading.split(), "SESSION ENTRIES CREATED LAST USED TITLE".split())
        self.assertTrue(row.startswith("notes"))
        self.assertIn(" 1 ", row)
        self.assertTrue(row.endswith("To remember"))

    def test_pages(self):
        names = {f"s{n}" for n in range(7)}
        for name in names:
            self.run_cli("create", name)
        seen, after = [], []
        while True:
            page = self.run_json("ls", "--limit", "3", *after)
            self.assertLessEqual(len(page["sessions"]), 3)
            seen += [session["session_id"] for session in page["sessions"]]
            if page["next"] is None:
                break
            after = ["--after", page["next"]]
        self.assertEqual(len(seen), 7)
        self.assertEqual(set(seen), names)
        everything = self.run_json("ls", "--limit", "3", "--all")
        self.assertEqual([s["session_id"] for s in everything["sessions"]], seen)
        self.assertIsNone(everything["next"])
        self.assertEqual(self.run_cli("ls", "--all", "--quiet").stdout.split(), seen)
        self.assertIn("--after", self.run_cli("ls", "--limit", "3").stderr)
        self.run_cli("drop", seen[-1], "--yes")  # its row stays in the list
        self.assertIn("may be more", self.run_cli("ls", "--limit", "6").stderr)

    def test_filters_by_user_and_agent(self):
        self.run_cli("create", "a", "--user", "ann", "--agent", "x")
        self.run_cli("create", "b", "--user", "bob", "--agent", "x")
        listed = self.run_json("ls", "--user", "bob", "--agent", "x")["sessions"]
        self.assertEqual([session["session_id"] for session in listed], ["b"])

    def test_rescan_finds_what_was_copied_in(self):
        self.notes()
        sessions = self.root / "sessions"
        self.run_cli("ls")
        os.rename(sessions / "notes", sessions / "renamed")
        metadata = json.loads((sessions / "renamed" / "metadata.json").read_text())
        metadata["session_id"] = "renamed"
        (sessions / "renamed" / "metadata.json").write_text(json.dumps(metadata))
        self.assertEqual(self.run_cli("ls", "--rescan", "--quiet").stdout, "renamed\n")

    def test_says_when_there_are_none(self):
        self.run_cli("create", "notes")
        self.run_cli("drop", "notes", "--yes")
        done = self.run_cli("ls")
        self.assertEqual(done.stdout, "")
        self.assertIn("No sessions", done.stderr)

    def test_a_limit_of_none_is_all(self):
        for number in range(101):
            self.run_cli("create", f"s{number}", "--durability", "os")
        self.assertEqual(len(self.run_cli("ls", "-q").stdout.split()), 100)
        self.assertEqual(len(self.run_cli("ls", "-q", "--limit", "0").stdout.split()), 101)
        self.assertIsNone(self.run_json("ls", "--limit", "0")["next"])

    def test_refuses_a_limit_out_of_range(self):
        self.run_cli("create", "notes")
        self.run_cli("ls", "--limit", "-1", exit_code=1)
        self.run_cli("ls", "--limit", "abc", exit_code=1)


class Metadata(CliTest):
    def test_shows_and_changes(self):
        self.run_cli("create", "notes", "--title", "Old")
        self.run_cli("metadata", "notes", "--set", '{"title":"New"}')
        self.assertEqual(self.run_json("metadata", "notes")["title"], "New")
        self.assertIn('\n  "title": "New"', self.run_cli("metadata", "notes").stdout)

    def test_refuses_to_change_the_id(self):
        self.run_cli("create", "notes")
        done = self.run_cli("metadata", "notes", "--set", '{"session_id":"other"}', exit_code=1)
        self.assertIn("session_id", done.stderr)

    def test_refuses_what_is_no_object(self):
        self.run_cli("create", "notes")
        self.run_cli("metadata", "notes", "--set", "[]", exit_code=1)


class Drop(CliTest):
    def test_needs_yes_without_a_terminal(self):
        self.notes()
        done = self.run_cli("drop", "notes", exit_code=1)
        self.assertIn("--yes", done.stderr)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 3)

    def test_deletes_the_session(self):
        self.notes()
        self.assertEqual(self.run_json("drop", "notes", "--yes"), {"dropped": "notes"})
        self.run_cli("get", "notes", "e1", exit_code=2)
        self.run_cli("drop", "notes", "--yes", exit_code=2)


class Add(CliTest):
    def setUp(self):
        super().setUp()
        self.run_cli("create", "notes")

    def added(self, *words, **options):
        entry = self.run_cli("add", "notes", *words, **options).stdout.strip()
        return self.run_json("get", "notes", entry)

    def test_makes_an_entry_of_text_and_options(self):
        entry = self.added(
            "tea, not coffee", "--type", "preference", "--tag", "drinks", "--tag", "kitchen.hot",
            "--importance", "0.8", "--ref", "e0", "--role", "user", "--id", "e1", "--timestamp",
            "2026-01-10T15:23:45.678+01:00", "--expires-at", "2999-01-01T00:00:00Z",
        )
        self.assertEqual(entry["id"], "e1")
        self.assertEqual(entry["type"], "preference")
        self.assertEqual(entry["content"], {"role": "user", "message": "tea, not coffee"})
        self.assertEqual(entry["tags"], ["drinks", "kitchen.hot"])
        self.assertEqual(entry["references"], ["e0"])
        self.assertEqual(entry["importance"], 0.8)
        self.assertIn("expires_at", entry)

    def test_type_is_observation_or_a_message_of_somebody_without_the_option(self):
        entry = self.added("hello")
        self.assertEqual(entry["type"], "observation")
        self.assertEqual(entry["content"], {"message": "hello"})
        self.assertEqual(self.added("hello", "--role", "user")["type"], "message")

    def test_takes_any_text_as_text(self):
        texts = [
            "[1,2,3]", "{}", '{"type":"finding","content":1}', '"q"', "%%", "log", "get", "--",
            "-n", "--json", "a\nb\t\"c\" \\ \x01", "héllo 👩‍🚀 العربية", " ", "[a", "a]", "''",
        ]
        for text in texts:
            with self.subTest(text):
                self.assertEqual(self.added("--", text)["content"], {"message": text})

    def test_reads_standard_input(self):
        entry = self.added("-", stdin="two\nlines\n\n")
        self.assertEqual(entry["content"]["message"], "two\nlines\n")

    def test_takes_a_whole_entry(self):
        text = '{"id":"w","type":"finding","content":{"big":9007199254740993}}'
        self.run_cli("add", "notes", "--json-entry", text)
        self.assertIn('"big":9007199254740993', self.run_cli("get", "notes", "w", "--json").stdout)
        self.assertIn("9007199254740993", self.run_cli("get", "notes", "w").stdout)

    def test_adds_json_lines_all_or_none(self):
        lines = entry_line(1) + entry_line(2)
        done = self.run_cli("add", "notes", "--jsonl", "-", stdin=lines)
        self.assertEqual(done.stdout, "e1\ne2\n")
        bad = entry_line(3) + '{"type":"finding"}\n'
        self.run_cli("add", "notes", "--jsonl", "-", stdin=bad, exit_code=1)
        again = self.run_json("add", "notes", "--jsonl", "-", stdin=entry_line(4))
        self.assertEqual(again, {"ids": ["e4"]})
        self.assertEqual(self.run_json("stats", "notes")["entries"], 3)

    def test_prints_an_object_with_json(self):
        self.assertEqual(self.run_json("add", "notes", "x", "--id", "e9"), {"id": "e9"})

    def test_refuses_what_is_not_valid(self):
        cases = [
            [""],
            ["x", "--importance", "1.5"],
            ["x", "--importance", "nan"],
            ["x", "--importance", "much"],
            ["x", "--type", "Not A Type"],
            ["x", "--timestamp", "yesterday"],
            ["--json-entry", "{"],
            ["--json-entry", '{"type":"finding","content":1}', "--tag", "a"],
            ["--json-entry", "--jsonl", "{}"],
        ]
        for words in cases:
            with self.subTest(words):
                self.run_cli("add", "notes", *words, exit_code=1)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 0)

    def test_an_id_is_used_once(self):
        self.run_cli("add", "notes", "x", "--id", "e1")
        error = self.error_of("add", "notes", "y", "--id", "e1", exit_code=1)
        self.assertEqual(error["name"], "VARVE_ALREADY_EXISTS")
        self.run_cli("delete", "notes", "e1")
        self.run_cli("add", "notes", "y", "--id", "e1", exit_code=1)

    def test_makes_a_session_only_when_asked(self):
        done = self.run_cli("add", "typo", "x", exit_code=2)
        self.assertIn("--create", done.stderr)
        for count in (1, 2):
            self.run_cli("add", "fresh", "x", "--create")
            self.assertEqual(self.run_json("stats", "fresh")["entries"], count)
        self.run_cli("add", "../up", "x", "--create", exit_code=1)

    def test_what_is_refused_makes_neither_session_nor_store(self):
        limits = self.root / "config.json"
        limits.write_text('{"storage":{"max_entry_size_bytes":400},"of_another_version":1}')
        refused = (
            (["x", "--type", "Not A Type"], "--type: "),
            (["x", "--tag", "a b"], "--tag: "),
            (["x", "--id", "a b"], "--id: "),
            (["--json-entry", "{"], "invalid JSON"),
            (["--jsonl", entry_line(1) + '{"type":"finding"}'], "line 2"),
            (["--jsonl", entry_line(1) * 2], "e1"),
        )
        nowhere = self.directory / "nowhere"
        for words, message in refused:
            with self.subTest(words):
                for root in (self.root, nowhere):
                    done = self.run_cli("add", "--root", str(root), "fresh", "--create", *words,
                                        exit_code=1)
                    self.assertIn(message, done.stderr)
                self.assertEqual(self.run_cli("ls", "-q").stdout, "notes\n")
                self.assertFalse(nowhere.exists())
        done = self.run_cli("add", "fresh", "--create", "x" * 400, exit_code=1)
        self.assertIn("the limit is 400", done.stderr)
        self.assertEqual(self.run_cli("ls", "-q").stdout, "notes\n")
        limits.write_text('{"storage":{"max_entry_size_bytes":4000000}}')
        self.run_cli("add", "fresh", "--create", "-", stdin="x" * 2_000_000)

    def test_times_may_count_from_now(self):
        self.run_cli("add", "notes", "x", "--id", "e1", "--timestamp", "36h", "--expires-at", "2w")
        entry = self.run_json("get", "notes", "e1")
        times = [datetime.datetime.fromisoformat(entry[name].replace("Z", "+00:00"))
                 for name in ("timestamp", "expires_at")]
        now = datetime.datetime.now(datetime.timezone.utc)
        self.assertAlmostEqual((now - times[0]).total_seconds(), 36 * 3600, delta=TIMEOUT_S)
        self.assertAlmostEqual((times[1] - now).total_seconds(), 14 * 86400, delta=TIMEOUT_S)
        self.run_cli("add", "notes", "x", "--id", "e3", "--timestamp", "2026-01-10 15:30:00+01:00")
        self.assertEqual(self.run_json("get", "notes", "e3")["timestamp"],
                         "2026-01-10T14:30:00.000Z")
        self.run_cli("add", "notes", "x", "--id", "e2", "--timestamp", "2026-01-10",
                     "--expires-at", "99999999999999999999w")
        entry = self.run_json("get", "notes", "e2")
        self.assertEqual((entry["timestamp"], entry["expires_at"]),
                         ("2026-01-10T00:00:00.000Z", "9999-12-31T23:59:59.000Z"))

    def test_times_may_be_before_1970(self):
        for entry_id, given, wanted in (
                ("e1", "1900-01-10", "1900-01-10"), ("e2", "40000d", "19"), ("e3", "99000w", "01"),
                ("e4", "99999999999999999999w", "0000-01-01T00:00:00.000Z"),
                ("e5", "16000000000000w", "0000-01-01T00:00:00.000Z")):
            self.run_cli("add", "notes", "x", "--id", entry_id, "--timestamp", given)
            written = self.run_json("get", "notes", entry_id)["timestamp"]
            self.assertTrue(written.startswith(wanted), written)
        for since, found in (("3000w", ""), ("45000d", "e2 "), ("9000w", "e2 e1 "),
                             ("99999999999w", "e2 e1 e3 e5 e4 ")):
            done = self.run_cli("log", "notes", "--since", since, "--until", "2500w", "-q")
            self.assertEqual(done.stdout.replace("\n", " "), found, since)


class GetAndDelete(CliTest):
    def test_get_prints_the_stored_line(self):
        self.notes()
        line = self.run_cli("get", "notes", "e2", "--json").stdout
        stored = self.session_file("notes", "memory.jsonl").read_text().splitlines()
        self.assertIn(line.rstrip("\n"), stored)

    def test_get_for_people_shows_every_field(self):
        self.notes()
        text = self.run_cli("get", "notes", "e2").stdout
        for shown in ("entry e2", "2026-01-01 00:02:00 UTC", "finding", "user", "even", "sha256:",
                      "    note 2"):
            self.assertIn(shown, text)
        self.assertRegex(text, r"(?m)^decay_factor: 1$")

    def test_get_shows_no_control_characters(self):
        self.run_cli("create", "notes")
        evil = "red \x1b[31m bell \x07 c1 \u009b31m rtl \u202e mark \u061c end"
        entry = self.run_cli("add", "notes", evil).stdout.strip()
        text = self.run_cli("get", "notes", entry).stdout
        self.assertIn("<U+001B>[31m bell <U+0007> c1 <U+009B>31m rtl <U+202E> mark <U+061C> end",
                      text)
        self.assertEqual(self.run_json("get", "notes", entry)["content"]["message"], evil)

    def test_delete_hides_the_entry_and_keeps_the_reason(self):
        self.notes()
        self.run_cli("delete", "notes", "e2", "--reason", "asked by user")
        self.run_cli("get", "notes", "e2", exit_code=2)
        self.run_cli("delete", "notes", "e2", exit_code=2)
        audit = json.loads(self.session_file("notes", "tombstones.jsonl").read_text())
        self.assertEqual((audit["id"], audit["reason"]), ("e2", "asked by user"))
        self.assertEqual(self.run_json("delete", "notes", "e1"), {"deleted": "e1"})

    def test_not_found_is_exit_code_2(self):
        self.notes()
        self.assertEqual(self.error_of("get", "notes", "no", exit_code=2)["status"], 2)
        self.run_cli("get", "notes", "not an id", exit_code=1)
        self.assertIn("varve ls", self.run_cli("get", "no", "e1", exit_code=2).stderr)


class Log(CliTest):
    def ids(self, *words):
        return self.run_cli("log", "notes", *words, "--quiet").stdout.split()

    def test_shows_the_newest_first(self):
        self.notes(25)
        self.assertEqual(self.ids(), [f"e{n}" for n in range(25, 15, -1)])
        self.assertEqual(self.ids("-n", "3"), ["e25", "e24", "e23"])
        self.assertEqual(self.ids("-n", "3", "--reverse"), ["e23", "e24", "e25"])
        self.assertEqual(len(self.ids("-n", "0")), 25)

    def test_orders_by_time_whatever_its_form(self):
        times = ["2026-01-01T00:00:00Z", "2026-01-01T00:30:00+01:00", "2026-01-01T00:00:00.5Z"]
        lines = "".join(entry_line(n, timestamp=time) for n, time in enumerate(times))
        self.run_cli("import", "notes", "-", stdin=lines)
        self.assertEqual(self.ids(), ["e2", "e0", "e1"])

    def test_filters_by_type_and_tag(self):
        self.notes(4)
        self.run_cli("add", "notes", "x", "--type", "decision", "--tag", "odd", "--tag", "db")
        self.assertEqual(self.ids("--tag", "even"), ["e4", "e2"])
        self.assertEqual(len(self.ids("--type", "decision")), 1)
        self.assertEqual(len(self.ids("--type", "decision", "--type", "finding")), 5)
        self.assertEqual(len(self.ids("--tag", "odd", "--tag", "db")), 1)
        self.assertEqual(self.ids("--tag", "none"), [])

    def test_finds_what_a_search_with_the_same_conditions_finds(self):
        self.notes(4)
        self.run_cli("add", "notes", "x", "--id", "low", "--tag", "even.more", "--ref", "e1",
                     "--importance", "0.1")
        conditions = (["--tag", "even"], ["--exclude-tag", "even"], ["--since", "1d"],
                      ["--until", "2026-01-02"], ["--min-importance", "0.4"], ["--related", "e1"],
                      ["--since", "2026-01-01T00:02:00Z", "--until", "2026-01-01T00:04:00Z"])
        for words in conditions:
            with self.subTest(words):
                found = self.run_cli("search", "-s", "notes", "--sort", "time", "-q", *words)
                self.assertEqual(self.ids(*words), found.stdout.split())
                self.assertIn(len(self.ids(*words)), range(1, 5))
        self.assertEqual(self.ids("--tag", "even"), ["low", "e4", "e2"])
        self.run_cli("log", "notes", "--since", "whenever", exit_code=1)

    def test_says_how_many_with_the_option_of_the_other_commands(self):
        self.notes(3)
        for name in ("-n", "--limit", "--number"):
            self.assertEqual(self.ids(name, "2"), ["e3", "e2"])
        turns = self.run_json("chat-log", "notes", "--type", "finding", "--limit", "1")
        self.assertEqual(len(turns), 1)

    def test_reads_like_git_log(self):
        self.notes(2)
        text = self.run_cli("log", "notes").stdout
        self.assertLess(text.index("entry e2"), text.index("entry e1"))
        self.assertIn("\n\n    note 2\n", text)
        self.assertNotIn("sha256:", text)

    def test_oneline_is_one_line_an_entry(self):
        self.notes(2)
        self.run_cli("add", "notes", "many\nlines " + "x" * 500)
        lines = self.run_cli("log", "notes", "--oneline").stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[0].endswith("many lines " + "x" * 500))

    def test_json_is_the_stored_lines(self):
        self.notes(3)
        entries = self.run_json("log", "notes", "-n", "2")
        self.assertEqual([entry["id"] for entry in entries], ["e3", "e2"])
        self.assertEqual(self.run_json("log", "notes", "--tag", "none"), [])

    def test_content_of_any_shape_is_shown(self):
        self.run_cli("create", "notes")
        for content, shown in (('"text"', "    text"), ("[1,2]", "    [\n      1,\n      2\n    ]"),
                               ('{"message":"m","port":1}', "    m\n\n    port: 1"),
                               ("{}", "    {}"), ("null", "    null"), ("1.5", "    1.5")):
            with self.subTest(content):
                entry = '{"type":"finding","content":%s}' % content
                added = self.run_cli("add", "notes", "--json-entry", entry).stdout.strip()
                self.assertIn(shown, self.run_cli("get", "notes", added).stdout)

    def test_says_when_there_is_nothing(self):
        self.run_cli("create", "notes")
        self.assertIn("No entries", self.run_cli("log", "notes").stderr)
        self.run_cli("log", "notes", "-n", "-1", exit_code=1)


class Maintenance(CliTest):
    def damage(self, session="notes"):
        path = self.session_file(session, "memory.jsonl")
        lines = path.read_bytes().splitlines(keepends=True)
        lines[1] = b"#" + lines[1][1:]
        path.write_bytes(b"".join(lines))

    def test_verify_finds_no_damage(self):
        self.notes()
        self.assertIn("notes: ok, 3 entries", self.run_cli("verify", "notes").stdout)
        self.assertTrue(self.run_json("verify", "notes")["ok"])
        self.assertEqual(self.run_cli("verify", "notes", "--quiet").stdout, "")

    def test_damage_is_found_and_set_aside(self):
        self.notes()
        self.damage()
        report = self.run_json("verify", "notes", exit_code=6)
        self.assertFalse(report["ok"])
        self.assertGreaterEqual(report["damaged"], 1)
        text = self.run_cli("verify", "notes", "--quiet", exit_code=6).stdout
        self.assertIn("memory.jsonl, byte ", text)
        dry = self.run_json("repair", "notes", "--dry-run")
        self.assertFalse(dry["changed"])
        self.run_cli("verify", "notes", exit_code=6)
        self.assertIn("quarantine.jsonl", self.run_cli("repair", "notes").stderr)
        self.run_cli("verify", "notes")
        self.assertIn("nothing to repair", self.run_cli("repair", "notes").stderr)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 2)

    def test_an_edit_is_accepted_when_that_is_asked_for(self):
        self.notes()
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(b"note 2", b"two, by hand"))
        self.session_file("notes", "index.bin").unlink()
        dry = self.run_cli("repair", "notes", "--accept-edits", "--dry-run").stderr
        self.assertIn("would accept 1 edited line", dry)
        self.assertIn("accepted 1 edited line",
                      self.run_cli("repair", "notes", "--accept-edits").stderr)
        self.assertIn("two, by hand", self.run_cli("get", "notes", "e2").stdout)
        self.assertFalse(self.session_file("notes", "quarantine.jsonl").exists())
        self.assertIn("ok, 3 entries", self.run_cli("verify", "notes", "--deep").stdout)

    def test_a_reference_that_leads_nowhere_is_a_note(self):
        self.notes()
        self.run_cli("add", "notes", "see there", "--id", "r", "--ref", "nobody")
        text = self.run_cli("verify", "notes").stdout
        self.assertIn("notes: ok, 4 entries", text)
        self.assertIn("note: r refers to an entry that does not exist: nobody", text)
        self.assertEqual(self.run_json("verify", "notes", "--deep")["notes_total"], 1)
        for number in range(10):
            self.run_cli("add", "notes", "see there", "--ref", "nobody")
        lines = self.run_cli("verify", "notes").stdout.splitlines()
        self.assertEqual((len(lines), lines[-1]), (12, "  and 1 more note"))

    def test_problems_beyond_those_that_are_listed_are_counted(self):
        self.notes(1002)
        path = self.session_file("notes", "memory.jsonl")
        lines = path.read_bytes().splitlines(keepends=True)
        lines[::2] = [b"#" + line[1:] for line in lines[::2]]
        path.write_bytes(b"".join(lines))
        lines = self.run_cli("verify", "notes", exit_code=6).stdout.splitlines()
        self.assertEqual(lines[0], "notes: 1,002 problems, 501 entries intact")
        self.assertEqual((len(lines), lines[-1]), (1002, "  and 2 more"))

    def test_what_looks_after_a_strict_store_opens_what_others_refuse(self):
        self.notes()
        (self.root / "config.json").write_text('{"integrity":{"recovery":"strict"}}')
        self.run_cli("get", "notes", "e1")
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(b"note 2", b"mote 2"))
        error = self.error_of("get", "notes", "e1", exit_code=6)
        self.assertEqual(error["name"], "VARVE_CORRUPTION")
        self.assertEqual(error["details"]["line"], 2)
        self.run_cli("verify", "notes", exit_code=6)
        self.run_cli("stats", "notes")
        self.run_cli("watch", "--once")
        self.run_cli("index", "notes")
        self.run_cli("sweep")
        for command in ("compact", "purge", "migrate"):
            self.run_cli(command, "notes", "--dry-run")
        self.run_cli("repair", "notes")
        self.run_cli("get", "notes", "e1")

    def test_verify_all_goes_on_behind_damage(self):
        for session in ("a", "notes", "z"):
            self.run_cli("import", session, "-", stdin="".join(entry_line(n) for n in range(3)))
        self.damage()
        report = self.run_json("verify", "--all", exit_code=6)
        self.assertFalse(report["ok"])
        verdicts = {item["session_id"]: item["report"]["ok"] for item in report["sessions"]}
        self.assertEqual(verdicts, {"a": True, "notes": False, "z": True})
        self.assertEqual(len(self.run_cli("verify", "--all", exit_code=6).stdout.split("ok,")), 3)
        self.run_cli("repair", "--all")
        self.run_cli("verify", "--all")
        self.run_cli("verify", "notes", "--all", exit_code=1)

    def test_a_log_of_version_0_is_migrated(self):
        self.run_cli("create", "old")
        self.run_cli("create", "new")
        log = self.session_file("old", "memory.jsonl")
        line = ('{"id":"a","type":"finding","timestamp":"2026-01-10T10:00:00Z","content":"x"}\n')
        log.write_text(line + "no entry\n" + line.replace('"a"', '"b"'))
        before = log.read_bytes()
        self.assertIn("old: would be migrated from version 0 to 1, 2 entries",
                      self.run_cli("migrate", "old", "--dry-run").stderr)
        self.assertEqual(log.read_bytes(), before)
        text = self.run_cli("migrate", "--all").stderr
        self.assertIn("old: migrated from version 0 to 1, 2 entries, 1 to quarantine.jsonl", text)
        self.assertIn("new: already version 1, 0 entries", text)
        self.assertEqual(self.run_json("get", "old", "b")["seq"], 2)
        self.run_cli("verify", "--all")

    def test_index_is_printed_and_rebuilt(self):
        self.notes()
        for index in (json.loads(self.run_cli("index", "notes").stdout),
                      self.run_json("index", "notes")):
            self.assertEqual(set(index["entries"]), {"e1", "e2", "e3"})
        self.assertEqual(self.run_json("index", "notes", "--rebuild")["entries"], 3)
        self.assertIn("3 entries", self.run_cli("index", "--all", "--rebuild").stderr)
        self.run_cli("index", "--all", exit_code=1)

    def test_stats(self):
        self.notes()
        self.run_cli("delete", "notes", "e1")
        stats = self.run_json("stats", "notes")
        self.assertEqual((stats["entries"], stats["types"]), (2, {"finding": 2}))
        text = self.run_cli("stats", "notes").stdout
        self.assertIn("2, 1 deleted", text)
        self.assertIn("finding 2", text)
        everything = self.run_json("stats", "--all")
        self.assertEqual(everything["entries"], 2)
        self.assertIn("1 session, 2 entries", self.run_cli("stats", "--all").stdout)

    def test_files(self):
        self.notes()
        names = {file["name"] for file in self.run_json("files", "notes")["files"]}
        self.assertLessEqual({"memory.jsonl", "metadata.json"}, names)
        self.assertIn("memory.jsonl", self.run_cli("files", "notes").stdout)

    def test_version(self):
        version = self.run_json("version")
        self.assertEqual(version["abi_version"], 1)
        self.assertIn(version["version"], self.run_cli("version").stdout)
        self.assertEqual(self.run_cli("--version").stdout, self.run_cli("version").stdout)


if __name__ == "__main__":
    main()
