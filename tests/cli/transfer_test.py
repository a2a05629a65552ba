"""import and export: what they print and leave behind, and their exit codes."""

import contextlib
import json
import os
import re
import select
import signal
import stat
import subprocess

from cli_support import TIMEOUT_S, CliTest, entry_line, main, program


class Import(CliTest):
    def test_makes_the_session_and_is_repeatable(self):
        path = self.write("in.jsonl", "".join(entry_line(n) for n in range(50)))
        report = self.run_json("import", "notes", path)
        self.assertEqual((report["added"], report["existing"], report["refused"]), (50, 0, []))
        done = self.run_cli("import", "notes", path)
        self.assertIn("50 were there already", done.stderr)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 50)

    def test_what_has_no_id_is_known_when_it_comes_again(self):
        said = [{"type": "finding", "content": text} for text in ("tea", "boat", "tea", "sun")]
        lines = "".join(json.dumps(entry) + "\n" for entry in said)
        for text in (lines, json.dumps(said)):
            with self.subTest(text):
                self.run_cli("import", "notes", "-", stdin=text)
                report = self.run_json("import", "notes", "-", stdin=text)
                self.assertEqual((report["added"], report["existing"]), (0, 4))
                kept = self.run_cli("export", "notes").stdout.splitlines()
                contents = [json.loads(line)["content"] for line in kept]
                self.assertEqual(contents, ["tea", "boat", "tea", "sun"])
                # Whatever the order of members, and whatever else the file has now.
                other = json.dumps({"content": "tea", "type": "finding"})
                more = json.dumps({"type": "finding", "content": "rain"})
                report = self.run_json("import", "notes", "-", stdin=f"{more}\n{other}\n")
                self.assertEqual((report["added"], report["existing"]), (1, 1))
                self.run_cli("drop", "notes", "--yes")

    def test_no_create_leaves_everything_as_it_was(self):
        path = self.write("in.jsonl", entry_line(1))
        self.run_cli("import", "notes", path, "--no-create", exit_code=2)
        self.assertFalse(self.root.exists())

    def test_a_missing_file_makes_no_session(self):
        self.run_cli("create", "other")
        self.run_cli("import", "notes", "missing.jsonl", exit_code=2)
        self.assertEqual(self.run_cli("ls", "--quiet").stdout, "other\n")

    def test_a_file_without_an_entry_makes_no_session(self):
        self.run_cli("create", "other")
        self.write("folder/file", "")
        self.run_cli("import", "notes", "folder", exit_code=4)
        self.run_cli("import", "notes", "-", stdin="no json\n", exit_code=1)
        self.assertEqual(self.run_cli("ls", "--quiet").stdout, "other\n")
        # One that was there stays, and so does one that got something.
        self.run_cli("import", "other", "-", stdin="no json\n", exit_code=1)
        self.run_cli("import", "notes", "-", stdin=entry_line(1) + "no json\n", exit_code=1)
        self.run_cli("import", "nothing", "-", stdin="")
        self.assertEqual(self.run_cli("ls", "-q").stdout, "nothing\nnotes\nother\n")

    def test_reports_refused_lines_by_their_number_in_the_file(self):
        # Several pieces of a megabyte, so that numbers must be offset.
        pad = "x" * 10_000
        lines = [entry_line(n, content=pad) for n in range(300)]
        lines[7] = "not json\n"
        lines[250] = '{"type":"finding"}\n'
        lines[251] = "\n"
        path = self.write("in.jsonl", "".join(lines))
        report = self.run_json("import", "notes", path, exit_code=1)
        self.assertEqual(report["added"], 297)
        self.assertEqual([item["line"] for item in report["refused"]], [8, 251])
        self.assertEqual(report["refused_total"], 2)
        self.assertEqual({item["file"] for item in report["refused"]}, {path})
        again = self.run_cli("import", "notes", path, exit_code=1)
        self.assertIn("in.jsonl:251: ", again.stderr)

    def test_lists_no_more_refused_lines_of_several_files_than_of_one(self):
        path = self.write("bad.jsonl", "no json\n" * 600)
        report = self.run_json("import", "notes", path, path, exit_code=1)
        self.assertEqual((len(report["refused"]), report["refused_total"]), (1000, 1200))
        done = self.run_cli("import", "notes", "-", stdin="no json\n" * 21, exit_code=1)
        self.assertEqual(len(done.stderr.splitlines()), 23)
        self.assertIn("1 more line refused", done.stderr)

    def test_a_file_of_another_program_is_refused_with_what_to_do(self):
        hint = "docs/export-import.md#other-programs"
        conversation = {"title": "Eggs", "mapping": {"a": {"message": None}}}
        for text in (json.dumps([conversation], indent=1), "id,text\n1,tea\n", '["tea"]',
                     entry_line(1) + "{}\n{}\n"):
            with self.subTest(text):
                done = self.run_cli("import", "notes", "-", stdin=text, exit_code=1)
                self.assertIn(hint, done.stderr.splitlines()[-1])
                done = self.run_cli("import", "notes", "-", "--quiet", stdin=text, exit_code=1)
                self.assertNotIn(hint, done.stderr)
        changed = entry_line(1, content="changed")
        done = self.run_cli("import", "notes", "-", stdin=changed, exit_code=1)
        self.assertNotIn(hint, done.stderr)
        # A line that was damaged is none of these.
        done = self.run_cli("import", "notes", "-", stdin=entry_line(2) + "no json\n", exit_code=1)
        self.assertNotIn(hint, done.stderr)

    def test_a_new_session_that_somebody_else_uses_is_not_taken_back(self):
        self.run_cli("create", "other")
        path = self.write("wrong.txt", "no json\n")
        for words in (["kv", "set", "notes", "drink", "tea"],
                      ["transcript", "append", "notes", "user", "tea"]):
            with self.subTest(words[0]):
                # It waits where it tells that the session is made: nobody takes its log lines.
                read_end, write_end = self.full_pipe()
                process = subprocess.Popen([program(), "import", "notes", path, "--verbose"],
                                           stderr=write_end, env=self.environment(),
                                           cwd=self.directory)
                os.close(write_end)
                while not self.session_file("notes", "metadata.json").exists():
                    self.assertIsNone(process.poll())
                self.run_cli(*words)
                with open(read_end, "rb") as log:
                    log.read()
                self.assertEqual(process.wait(TIMEOUT_S), 1)
                self.assertEqual(self.run_cli("ls", "-q").stdout, "notes\nother\n")
                self.run_cli("drop", "notes", "--yes")

    @staticmethod
    def full_pipe():
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        try:
            while True:
                os.write(write_end, bytes(select.PIPE_BUF))
        except BlockingIOError:
            os.set_blocking(write_end, True)
        return read_end, write_end

    def test_takes_several_files_a_last_line_without_newline_and_crlf(self):
        first = self.write("a.jsonl", entry_line(1).rstrip("\n"))
        second = self.write("b.jsonl", entry_line(2).replace("\n", "\r\n") + "\r\n")
        empty = self.write("c.jsonl", "")
        self.assertEqual(self.run_json("import", "notes", first, second, empty)["added"], 2)

    def test_words_behind_two_dashes_are_files(self):
        self.write("a.jsonl", entry_line(1))
        self.write("-b.jsonl", entry_line(2))
        report = json.loads(self.run_cli("import", "--json", "notes", "a.jsonl", "--",
                                         "-b.jsonl").stdout)
        self.assertEqual(report["added"], 2)

    def test_all_takes_every_folder(self):
        self.write("in/one/entries.jsonl", entry_line(1))
        self.write("in/one/other.jsonl", entry_line(9))
        self.write("in/two/memory.jsonl", entry_line(2))
        for number, name in ((3, "c"), (4, "a"), (5, "b")):
            self.write(f"in/three/{name}.jsonl", entry_line(number))
        self.write("in/empty/readme.txt", "")
        self.write("in/queries.jsonl", "{}\n")
        report = self.run_json("import", "--all", "in")
        added = {item["session_id"]: item["added"] for item in report["sessions"]}
        self.assertEqual(added, {"one": 1, "two": 1, "three": 3})
        self.assertEqual(report["added"], 5)
        kept = self.run_cli("export", "three").stdout.splitlines()
        self.assertEqual([json.loads(line)["id"] for line in kept], ["e4", "e5", "e3"])
        self.run_cli("import", "--all", "missing", exit_code=2)
        self.run_cli("import", "--all", "in/empty", exit_code=2)
        self.run_cli("import", "--all", "in", "more", exit_code=1)
        self.run_cli("import", "--all", "in", "--session", "one", exit_code=1)

    def test_all_of_a_store_is_taken_without_what_was_deleted_there(self):
        self.notes()
        self.run_cli("delete", "notes", "e2")
        done = self.run_cli("--root", "other", "import", "--all", str(self.root), exit_code=1)
        self.assertIn("is a store", done.stderr)
        export = re.search("`varve (--root .* export --all --output) DIR`", done.stderr).group(1)
        self.run_cli(*export.split(), "all")
        self.run_cli("--root", "other", "import", "--all", "all")
        self.assertEqual(self.run_cli("--root", "other", "log", "notes", "--quiet").stdout,
                         "e3\ne1\n")

    def test_a_failure_on_the_way_does_not_say_that_nothing_was_added(self):
        self.run_cli("create", "notes")
        (self.root / "config.json").write_text('{"storage":{"max_session_size_mb":1}}')
        path = self.write("many.jsonl", "".join(entry_line(n) for n in range(6000)))
        done = self.run_cli("import", "notes", path, exit_code=1)
        self.assertIn("max_session_size_mb", done.stderr)
        self.assertIn("may have been added", done.stderr)
        self.assertNotIn("Added", done.stderr)
        self.assertGreater(self.run_json("count", "-s", "notes")["count"], 0)
        self.assertEqual(self.run_cli("import", "notes", path, "--json", exit_code=1).stdout, "")

    def test_tells_once_how_much_of_it_was_evicted(self):
        self.run_cli("create", "notes")
        (self.root / "config.json").write_text('{"storage":{"max_session_size_mb":1}}')
        old = {"importance": 0.1, "timestamp": "2001-01-01T00:00:00Z"}
        path = self.write("many.jsonl", "".join(entry_line(n, **old) for n in range(12000)))
        done = self.run_cli("import", "notes", path)
        warnings = [line for line in done.stderr.splitlines() if "evicted" in line]
        told = re.fullmatch("varve: warning: notes: ([0-9,]+) entries of little relevance were "
                            "evicted to stay within the limit of 1.0 MB; "
                            "storage.max_session_size_mb raises it", "\n".join(warnings))
        count = int(told.group(1).replace(",", ""))
        self.assertGreater(count, 0)
        self.assertEqual(self.run_json("count", "-s", "notes")["count"], 12000 - count)
        self.assertGreater(len(self.run_json("metadata", "notes")["compactions"]), 1)
        report = self.run_json("import", "more", path)
        self.assertEqual(self.run_json("count", "-s", "more")["count"],
                         report["added"] - report["evicted"])

    def test_what_is_printed_for_people_is_taken_whole_or_not_at_all(self):
        entries = [{"type": "finding", "content": {"a": {}, "n": n}} for n in range(3)]
        text = "".join(json.dumps(entry, indent=2) + "\n" for entry in entries)
        report = self.run_json("import", "notes", "-", stdin=text)
        self.assertEqual((report["added"], report["format"]), (3, "json"))
        # A message on each line, as people write it: the last one alone would be a whole line.
        lines = ",\n".join(json.dumps({"role": "user", "content": each}) for each in "ab")
        done = self.run_cli("import", "other", "-", exit_code=1,
                            stdin=f'{{\n"history": [\n{lines}\n]\n}}\n')
        self.assertIn("-:1: neither an entry", done.stderr)
        self.assertIn("Added 0 entries to other, refused 1.", done.stderr)

    def test_a_full_session_is_told_with_the_place_of_its_limit(self):
        self.run_cli("create", "notes")
        config = self.root / "config.json"
        config.write_text('{"storage":{"max_session_size_mb":1,"max_entry_size_bytes":500000}}')
        path = self.write("many.jsonl", "".join(entry_line(n) for n in range(6000)))
        wanted = f'{{"storage":{{"max_session_size_mb":N}}}} in {config} sets it'
        done = self.run_cli("import", "notes", path, exit_code=1)
        self.assertIn(wanted, done.stderr)
        self.assertIn("may have been added", done.stderr)
        for words in (["add", "notes", "-"], ["transcript", "append", "notes", "user", "-"]):
            done = self.run_cli(*words, stdin="x" * 200_000, exit_code=1)
            self.assertIn(wanted, done.stderr)
        done = self.run_cli("add", "notes", "-", stdin="x" * 600_000, exit_code=1)
        self.assertIn(f'"max_entry_size_bytes":N}}}} in {config}', done.stderr)
        config.write_text('{"storage":{"max_session_size_mb":20}}')
        self.run_cli("import", "notes", path)
        self.assertEqual(self.run_json("count", "-s", "notes")["count"], 6000)

    def test_reads_a_named_pipe(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        child = os.fork()
        if child == 0:
            with open(pipe, "w", encoding="utf-8") as file:
                file.write(entry_line(1) + entry_line(2))
            os._exit(0)
        self.addCleanup(os.waitpid, child, 0)
        self.assertEqual(self.run_json("import", "notes", str(pipe))["added"], 2)


    def test_takes_a_chat_and_a_memory_servers_file(self):
        chat = self.write("chat.json", json.dumps([
            {"role": "user", "content": "When does the ferry leave?"},
            {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]}], indent=2))
        report = self.run_json("import", "notes", chat)
        self.assertEqual((report["added"], report["format"]), (2, "chat"))
        self.assertIn("At nine.", self.run_cli("log", "notes", "--oneline").stdout)
        graph = self.write("memory.json", '{"type":"entity","name":"Ann","entityType":"person",'
                                          '"observations":["likes tea"]}\n')
        self.assertEqual(self.run_json("import", "notes", graph)["format"], "mcp")
        self.assertIn("Ann (person): likes tea",
                      self.run_cli("search", "--session", "notes", "tea").stdout)
        self.run_cli("import", "notes", chat, "--format", "jsonl", exit_code=1)
        self.run_cli("import", "notes", chat, "--format", "xml", exit_code=1)

    def test_a_whole_array_comes_through_standard_input(self):
        entries = [json.loads(entry_line(n)) for n in range(3)]
        done = self.run_cli("import", "notes", "-", stdin=json.dumps(entries, indent=1))
        self.assertIn("Added 3 entries to notes.", done.stderr)

    def test_a_dry_run_changes_nothing(self):
        path = self.write("in.jsonl", entry_line(1) + entry_line(1) + "no json\n")
        done = self.run_cli("import", "notes", path, "--dry-run", exit_code=1)
        self.assertIn("Would add 1 entry to notes, 1 were there already, refused 1.", done.stderr)
        self.assertFalse(self.root.exists())
        self.notes()
        done = self.run_cli("import", "notes", path, "--dry-run", exit_code=1)
        self.assertIn("Would add 0 entries", done.stderr)
        self.run_cli("import", "other", path, "--dry-run", exit_code=1)
        self.assertEqual(self.run_cli("ls", "--quiet").stdout, "notes\n")

    def test_a_dry_run_tells_that_there_is_no_room(self):
        self.root.mkdir()
        (self.root / "config.json").write_text('{"storage":{"max_session_size_mb":0.01}}')
        lines = "".join(entry_line(n, content="x" * 900) for n in range(10, 30))
        path = self.write("in.jsonl", lines)
        self.notes()
        for session in ("notes", "new"):
            done = self.run_cli("import", session, path, "--dry-run")
            self.assertIn("warning: there is no room for all of it", done.stderr)
            self.assertIs(self.run_json("import", session, path, "--dry-run")["exceeds_limit"],
                          True)
        self.assertNotIn("exceeds_limit", self.run_json("import", "notes", "-", "--dry-run",
                                                        stdin=entry_line(3)))
        self.run_cli("import", "notes", path, exit_code=1)

    def test_an_id_of_another_entry_is_refused(self):
        self.notes()
        path = self.write("in.jsonl", entry_line(1, content="changed"))
        done = self.run_cli("import", "notes", path, exit_code=1)
        self.assertIn("in.jsonl:1: entry 'e1': the id exists with other content", done.stderr)

    def test_a_directory_is_no_file(self):
        self.write("folder/file", "")
        done = self.run_cli("import", "notes", "folder", exit_code=4)
        self.assertIn("Name its files, or with --all a folder that has one for each session.",
                      done.stderr)
        self.write("folder/one/2026-01-10.json", "[]")
        done = self.run_cli("import", "--all", "folder", exit_code=2)
        self.assertIn("Name other files, as with `varve import SESSION folder/*/*.json`.",
                      done.stderr)

    def test_folders_of_which_all_is_refused_make_no_store(self):
        self.write("folder/one/entries.jsonl", "[7]\n")
        self.write("folder/a b/entries.jsonl", entry_line(1))
        done = self.run_cli("import", "--all", "folder", exit_code=1)
        self.assertIn("'a b' is not a session id", done.stderr)
        self.assertIn("Added 0 entries to 1 session, refused 1.", done.stderr)
        self.assertFalse(self.root.exists())
        self.write("folder/two/entries.jsonl", entry_line(1))
        self.run_cli("import", "--all", "folder", exit_code=1)
        self.assertEqual(self.run_cli("ls", "-q").stdout, "two\n")


class Export(CliTest):
    def test_conditions_choose_the_entries(self):
        self.notes()
        self.run_cli("add", "notes", "tea", "--type", "preference", "--id", "tea", "--tag", "hot")
        for words in (["--type", "preference"], ["--tag", "hot"],
                      ["--query", '{"ids":["tea"]}']):
            text = self.run_cli("export", "notes", *words).stdout
            self.assertEqual([json.loads(line)["id"] for line in text.splitlines()], ["tea"])
            done = self.run_cli("export", "notes", *words, "-o", "tea.jsonl")
            self.assertIn("Exported 1 entry of notes to tea.jsonl", done.stderr)
            with open(self.directory / "tea.jsonl", encoding="utf-8") as file:
                self.assertEqual(file.read(), text)
        self.run_cli("export", "notes", "--query", '{"limit":1}', exit_code=1)
        self.run_cli("export", "notes", "--query", "{}", "--tag", "hot", exit_code=1)
        self.run_cli("export", "notes", "--tag", "", exit_code=1)
        self.run_cli("export", "--all", "--tag", "hot", "-o", "backup")
        backup = self.directory / "backup" / "notes" / "entries.jsonl"
        self.assertEqual(len(backup.read_text().splitlines()), 1)

    def test_formats(self):
        self.notes()
        lines = self.run_cli("export", "notes").stdout.splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], ["e1", "e2", "e3"])
        document = json.loads(self.run_cli("export", "notes", "--format", "json").stdout)
        self.assertEqual(len(document["entries"]), 3)
        self.assertEqual(self.run_json("export", "notes")["entries"], document["entries"])
        self.assertIn("note 2", self.run_cli("export", "notes", "-f", "markdown").stdout)
        self.run_cli("export", "notes", "--format", "xml", exit_code=1)

    def test_writes_a_file_for_the_owner_only(self):
        self.notes()
        self.run_cli("export", "notes", "-o", "out.jsonl")
        path = self.directory / "out.jsonl"
        self.assertEqual(path.read_text(), self.run_cli("export", "notes").stdout)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual([p.name for p in self.directory.iterdir() if "part" in p.name], [])

    def test_tells_with_json_what_was_written(self):
        self.notes()
        report = self.run_json("export", "notes", "-o", "out.json")
        size = (self.directory / "out.json").stat().st_size
        self.assertEqual(report, {"entries": 3, "bytes": size, "format": "json"})
        report = self.run_json("export", "notes", "-o", "/dev/null", "-f", "jsonl")
        self.assertEqual(report["format"], "jsonl")
        # Nothing stands behind what was exported.
        self.assertEqual(len(self.run_json("export", "notes", "-o", "/dev/stdout")["entries"]), 3)

    def test_a_name_of_an_open_file_stays_and_what_is_open_is_written(self):
        # As /dev/stdout is a link, which a new file of that name would replace for everybody.
        self.notes()
        exported = self.run_cli("export", "notes").stdout
        link = self.directory / "stdout"
        link.symlink_to("/proc/self/fd/1")
        path = self.write("out.jsonl", "before\n")
        words = [program(), "export", "notes", "--quiet", "-o"]
        for name in (str(link), "stdout", "/proc/self/fd/1", "/dev/fd/1"):
            with self.subTest(name), open(path, "a", encoding="utf-8") as file:
                subprocess.run([*words, name], stdout=file, check=True, cwd=self.directory,
                               env=self.environment(), timeout=TIMEOUT_S)
        self.assertTrue(link.is_symlink())
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "before\n" + 4 * exported)
        done = self.run_cli("export", "notes", "-o", "/dev/fd/99", exit_code=4)
        self.assertIn("cannot write /dev/fd/99: Bad file descriptor", done.stderr)

    def test_sizes_are_rounded_into_the_next_unit(self):
        for size, shown in ((999_949, "999.9 kB"), (999_950, "1.0 MB"), (999, "999 B")):
            with self.subTest(size):
                self.run_cli("create", "s")
                self.run_cli("add", "s", "x", "--id", "e")
                rest = self.run_json("export", "s", "-o", "out", "-f", "jsonl")["bytes"] - 1
                self.run_cli("drop", "s", "--yes")
                self.run_cli("create", "s")
                self.run_cli("add", "s", "-", "--id", "e", stdin="x" * (size - rest))
                done = self.run_cli("export", "s", "-o", "out")
                self.assertEqual(done.stderr, f"Exported 1 entry of s to out, {shown}.\n")
                self.run_cli("drop", "s", "--yes")

    def test_a_failed_write_keeps_what_was_there(self):
        self.notes()
        path = self.write("taken/file", "before")
        done = self.run_cli("export", "notes", "-o", "taken", exit_code=4)
        self.assertIn("taken", done.stderr)
        self.run_cli("export", "notes", "-o", "missing/out", exit_code=2)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "before")

    def test_a_folder_that_cannot_be_made_is_told(self):
        self.notes()
        self.write("taken", "before")
        for folder, code in (("taken", 1), ("taken/out", 4)):
            self.run_cli("export", "--all", "-o", folder, exit_code=code)

    def test_a_full_disk_is_an_error(self):
        self.notes()
        self.run_cli("export", "notes", "-o", "/dev/full", exit_code=4)

    def test_a_signal_leaves_no_half_file(self):
        self.notes()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.assertEqual(self.interrupt_export(number, "notes", "-o", "out/file"), -number)
                self.assertEqual(self.files_in("out"), [])

    def test_standard_output_is_no_folder(self):
        self.notes(2)
        done = self.run_cli("export", "--all", "-o", "-", exit_code=1)
        self.assertIn("--all needs a folder as --output, and - is standard output", done.stderr)
        self.assertFalse((self.directory / "-").exists())
        self.assertEqual(len(self.run_cli("export", "notes", "-o", "-").stdout.splitlines()), 2)

    def test_a_reader_of_dev_stdout_that_stops_early_is_no_error(self):
        self.notes(1)
        self.run_cli("add", "notes", "-", stdin=500_000 * "x")
        with subprocess.Popen([program(), "export", "notes", "-o", "/dev/stdout"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment()) as process:
            process.stdout.read(1)
            process.stdout.close()
            self.assertEqual((process.wait(), process.stderr.read()), (0, b""))

    def test_a_signal_ends_an_export_of_all_between_two_sessions(self):
        self.notes()
        self.run_cli("add", "second", "x", "--create")
        code = self.interrupt_export(signal.SIGINT, "--all", "-o", "out",
                                     begun=lambda name: name == "entries.jsonl")
        self.assertEqual(code, -signal.SIGINT)
        self.assertEqual(len(self.files_in("out")), 1)

    def test_an_ignored_signal_stays_ignored(self):
        self.notes()
        code = self.interrupt_export(signal.SIGINT, "notes", "-o", "out/file", ignored=True)
        self.assertEqual(code, 0)
        self.assertEqual(self.files_in("out"), ["file"])

    def files_in(self, folder):
        return [path.name for path in (self.directory / folder).rglob("*") if path.is_file()]

    def interrupt_export(self, number, *words, begun=lambda name: ".tmp-" in name,
                         ignored=False):
        """Sends a signal to an export that has begun such a file. Gives the exit code."""
        (self.directory / "out").mkdir(exist_ok=True)
        reader, writer = os.pipe()
        # Full: the program's first picture of its progress waits until this test reads.
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * 512)
        os.set_blocking(writer, True)
        ignore = (lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None
        process = subprocess.Popen(
            [program(), "export", *words, "--progress", "always"], stderr=writer,
            env=self.environment(), cwd=self.directory, preexec_fn=ignore)
        os.close(writer)
        while not any(map(begun, self.files_in("out"))):
            self.assertIsNone(process.poll())
        process.send_signal(number)
        with open(reader, "rb") as shown:
            shown.read()
        return process.wait(TIMEOUT_S)

    def test_a_terminal_gets_no_control_characters_of_an_entry(self):
        self.run_cli("add", "notes", "red \x1b[31m and \x07", "--create")
        code, shown = self.run_in_terminal("export", "notes", "-f", "markdown")
        self.assertEqual(code, 0)
        self.assertIn("red <U+001B>[31m and <U+0007>", shown)
        # A file or another program gets what was remembered.
        done = self.run_cli("export", "notes", "-f", "markdown")
        self.assertIn("red \x1b[31m and \x07", done.stdout)

    def test_all_of_a_folder_takes_nothing_from_outside_it_and_waits_for_nothing(self):
        secret = self.write("elsewhere/secret.jsonl", entry_line(1))
        self.write("given/good/entries.jsonl", entry_line(2))
        for name in ("link", "pipe"):
            (self.directory / "given" / name).mkdir()
        (self.directory / "given/link/entries.jsonl").symlink_to(secret)
        (self.directory / "given/folder").symlink_to(self.directory / "elsewhere")
        os.mkfifo(self.directory / "given/pipe/x.jsonl")
        done = self.run_cli("import", "--all", "given", exit_code=1)
        for refused in ("folder/secret.jsonl is behind a symbolic link",
                        "link/entries.jsonl is behind a symbolic link",
                        "pipe/x.jsonl is not a regular file"):
            self.assertIn(f"given/{refused}", done.stderr)
        self.assertEqual(self.run_cli("ls", "-q").stdout, "good\n")
        self.run_cli("import", "link", "given/link/entries.jsonl")  # who names it, asks for it

    def test_all_goes_into_import_all(self):
        self.notes()
        self.run_cli("add", "second", "x", "--create")
        self.run_cli("export", "--all", "--output", "backup")
        other = ["--root", str(self.directory / "other")]
        self.run_cli(*other, "import", "--all", "backup")
        for session in ("notes", "second"):
            copy = self.run_cli(*other, "export", session).stdout
            self.assertEqual(copy, self.run_cli("export", session).stdout)
        for form in (["-f", "json"], ["--json"]):
            self.run_cli("export", "--all", "-o", "as-json", *form)
            self.assertTrue((self.directory / "as-json/notes/entries.json").exists())
            report = self.run_json(*other, "import", "--all", "as-json")
            self.assertEqual((report["added"], report["existing"]), (0, 4))
        self.run_cli("export", "--all", exit_code=1)
        self.run_cli("export", "notes", "--all", "-o", "backup", exit_code=1)


if __name__ == "__main__":
    main()
