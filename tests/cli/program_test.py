"""What holds for every command: the way in, output."""

import contextlib
import fcntl
import json
import os
import resource
import subprocess

from cli_support import TIMEOUT_S, CliTest, commands, entry_line, main, program

ESCAPE = "\x1b["


class WayIn(CliTest):
    reading = (["ls"], ["get", "notes", "e1"], ["log", "notes"], ["export", "notes"],
               ["verify", "notes"], ["verify", "--all"], ["repair", "notes"], ["index", "notes"],
               ["migrate", "notes"], ["migrate", "--all"], ["compact", "notes"],
               ["compact", "--all"], ["purge", "notes"], ["purge", "--all"],
               ["forget", "notes", "e1"], ["sweep"], ["usage"],
               ["stats", "notes"], ["stats", "--all"], ["files", "notes"], ["metadata", "notes"],
               ["search", "-s", "notes", "x"], ["search", "--all"], ["count", "--all"],
               ["count", "-s", "notes"], ["explain", "--all"], ["tags", "notes"],
               ["delete", "notes", "--tag", "x", "--yes"], ["backup", "copy"],
               ["drop", "notes", "--yes"], ["delete", "notes", "e1"], ["add", "notes", "x"])

    def test_reading_a_missing_store_creates_nothing(self):
        for words in self.reading:
            with self.subTest(words):
                done = self.run_cli(*words, exit_code=2)
                self.assertIn(f"no store at {self.root}", done.stderr)
                self.assertFalse(self.root.exists())

    def test_an_address_is_told_as_one_that_no_engine_serves(self):
        for root in ("http://x", ":memory:"):
            for words in (["ls"], ["create", "notes"], ["add", "notes", "x"]):
                with self.subTest((root, words)):
                    done = self.run_cli("--root", root, *words, exit_code=5)
                    self.assertIn(f"no storage engine has the scheme of '{root}'; give a directory",
                                  done.stderr)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_directory_that_is_no_store_stays_as_it_is(self):
        self.root.mkdir()
        self.run_cli("ls", exit_code=2)
        self.assertEqual(list(self.root.iterdir()), [])

    def test_writing_creates_the_store(self):
        for words in (["create", "notes"], ["add", "notes", "x", "--create"],
                      ["import", "notes", "-"]):
            with self.subTest(words):
                root = str(self.directory / words[0])
                self.run_cli("--root", root, *words, stdin=entry_line(1))
                self.assertEqual(self.run_cli("--root", root, "ls", "--quiet").stdout, "notes\n")

    def test_root_comes_from_option_environment_or_memory(self):
        self.run_cli("--root", "one", "create", "a")
        self.run_cli("create", "b", environment={"VARVE_ROOT": "two"})
        self.run_cli("create", "c", environment={"VARVE_ROOT": ""})
        for root, session in (("one", "a"), ("two", "b"), ("memory", "c")):
            self.assertTrue((self.directory / root / "sessions" / session).is_dir())
        self.assertEqual(self.run_cli("ls", "-q", "--root", "file:one").stdout, "a\n")

    def test_session_comes_from_argument_option_or_environment(self):
        self.run_cli("create", "one")
        self.run_cli("create", "two")
        two = {"VARVE_SESSION": "two"}
        self.run_cli("add", "x", "--id", "e1", environment=two)
        self.run_cli("add", "one", "x", "--id", "e2", environment=two)
        self.run_cli("add", "--session", "one", "x", "--id", "e3", environment=two)
        self.run_cli("-s", "one", "add", "x", "--id", "e4")
        self.assertEqual(set(self.run_cli("log", "one", "-q").stdout.split()), {"e2", "e3", "e4"})
        self.assertEqual(self.run_cli("log", "-q", environment=two).stdout, "e1\n")
        self.run_cli("get", "e1", environment=two)

    def test_a_value_is_one_word_or_behind_its_letter(self):
        self.run_cli("create", "notes")
        root = str(self.root)
        for words in ([f"-r{root}"], ["-r", root], ["--root", root], [f"--root={root}"]):
            self.assertIn("varve add - add an entry", self.run_cli(*words, "help", "add").stdout)

    def test_a_word_in_brackets_is_no_list(self):
        self.notes()
        done = self.run_cli("delete", "notes", "[e1,e2]", exit_code=1)
        self.assertIn("'[e1,e2]': an id is 1 to 128", done.stderr)
        self.assertIn("cannot open [e1]: ", self.run_cli("import", "notes", "[e1]",
                                                         exit_code=2).stderr)
        for words in (["[note,e2]"], ["--", "[note,e2]"], ["[]"]):
            answer = self.run_cli("explain", "-s", "notes", "--json", *words).stdout
            self.assertEqual(json.loads(answer)["query"].get("text"), words[-1])
        self.assertIn('unexpected argument "[x]"', self.run_cli("ls", "[x]", exit_code=1).stderr)

    def test_numbers_are_decimal_whatever_they_begin_with(self):
        self.notes(12)
        for number, shown in (("010", 10), ("08", 8), ("000", 12), ("0", 12), ("2", 2)):
            with self.subTest(number):
                done = self.run_cli("log", "notes", "-n", number, "--quiet")
                self.assertEqual(len(done.stdout.splitlines()), shown)
        self.run_cli("ls", "--limit", "09")
        self.run_cli("watch", "notes", "-n", "01", "--interval", "0.1")
        self.run_cli("search", "-s", "notes", "--related", "e1", "--depth", "08")
        self.run_cli("context", "-s", "notes", "--tokens", "0x10", exit_code=1)

    def test_session_may_be_called_like_a_command(self):
        self.run_cli("create", "log")
        self.run_cli("add", "log", "get")
        self.assertIn("get", self.run_cli("log", "log").stdout)

    def test_durability_reaches_the_store(self):
        self.run_cli("--durability", "os", "create", "notes")
        stats = self.run_json("stats", "notes", "--durability", "os")
        self.assertEqual(stats["durability"], "os")
        self.run_cli("--durability", "sometimes", "ls", exit_code=1)


class Output(CliTest):
    def test_a_reader_that_stops_early_is_no_error(self):
        self.notes(200)
        for words in (["log", "notes", "-n", "0"], ["export", "notes"], ["ls"], ["--help"]):
            with self.subTest(words):
                read, write = os.pipe()
                os.close(read)
                done = subprocess.run([program(), *words], stdout=write, stderr=subprocess.PIPE,
                                      env=self.environment(), timeout=TIMEOUT_S)
                os.close(write)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_full_disk_is_an_error(self):
        self.notes()
        for words in (["log", "notes"], ["export", "notes"], ["--help"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                done = subprocess.run([program(), *words], stdout=full, stderr=subprocess.PIPE,
                                      env=self.environment(), timeout=TIMEOUT_S)
                self.assertEqual(done.returncode, 4)
                self.assertIn(b"No space left", done.stderr)

    def test_pipes_that_do_not_block_are_waited_for(self):
        """As those of a program that has made its own so and hands them on, such as Node."""
        lines = "".join('{"type":"note","content":"%s %d"}\n' % ("x" * 500, number)
                        for number in range(2000))
        self.run_cli("create", "many")
        read, write = self.small_pipe(blocks_reader=False)
        with subprocess.Popen([program(), "import", "many", "-"], stdin=read,
                              stderr=subprocess.PIPE, env=self.environment()) as imported:
            os.close(read)
            with contextlib.suppress(BrokenPipeError), open(write, "wb") as sink:
                sink.write(lines.encode())
            self.assertEqual(imported.stderr.read(), b"Added 2,000 entries to many.\n")
        read, write = self.small_pipe(blocks_writer=False)
        with subprocess.Popen([program(), "export", "many"], stdout=write, stderr=subprocess.PIPE,
                              env=self.environment()) as exported:
            os.close(write)
            with open(read, "rb") as source:
                self.assertEqual(source.read().count(b"\n"), 2000)
            self.assertEqual(exported.stderr.read(), b"")

    @staticmethod
    def small_pipe(blocks_reader=True, blocks_writer=True):
        read, write = os.pipe()
        fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
        os.set_blocking(read, blocks_reader)
        os.set_blocking(write, blocks_writer)
        return read, write

    def test_a_file_that_may_not_grow_is_an_error(self):
        self.run_cli("create", "notes")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        done = subprocess.run([program(), "add", "notes", "-"], input=b"x" * 8000,
                              capture_output=True, env=self.environment(), preexec_fn=limit)
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(b"memory.jsonl': File too large", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, "the log line of the call says the same")
        self.assertEqual(self.run_cli("verify", "notes").stdout, "notes: ok, 0 entries\n")

    def test_memory_that_runs_out_is_no_defect(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
        run = lambda *words, **options: subprocess.run(
            [program(), *words], capture_output=True, env=self.environment(), preexec_fn=limit,
            timeout=TIMEOUT_S, **options)
        if run("version").returncode != 0:
            self.skipTest("this build takes more address space than that by itself")
        self.run_cli("create", "notes")
        with open("/dev/zero", "rb") as endless:
            done = run("add", "notes", "-", stdin=endless)
            self.assertEqual((done.returncode, done.stderr), (4, b"varve: memory ran out\n"))
            done = run("add", "notes", "-", "--json", stdin=endless)
        self.assertEqual(json.loads(done.stderr)["error"]["name"], "VARVE_NO_MEMORY")

    def test_what_may_not_be_read_is_an_error_of_the_system(self):
        secret = self.directory / "secret"
        secret.mkdir()
        self.run_cli("create", "notes")
        os.chmod(self.directory, 0o755)
        os.chmod(secret, 0)
        self.addCleanup(os.chmod, secret, 0o755)
        become_nobody = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None
        run = lambda *words: subprocess.run([program(), *words, "--json"], capture_output=True,
                                            env=self.environment(), preexec_fn=become_nobody,
                                            timeout=TIMEOUT_S)
        if run("version").returncode != 0:
            self.skipTest("the program is where only its owner may run it")
        for words in (["import", "notes", str(secret / "file")], ["import", "--all", str(secret)],
                      ["--root", str(secret / "x"), "ls"]):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual(done.returncode, 4, done)
                self.assertEqual(json.loads(done.stderr)["error"]["name"], "VARVE_IO")

    def test_a_copy_of_a_pipe_that_has_no_room_ends_there(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        with open("/dev/zero", "rb") as endless:
            done = subprocess.run([program(), "import", "notes", "-"], stdin=endless,
                                  capture_output=True, env=self.environment(), preexec_fn=limit,
                                  timeout=TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr),
                         (4, b"varve: cannot write a temporary file: File too large\n"))

    def test_what_was_done_is_told_on_standard_error(self):
        path, copy = self.write("in.jsonl", entry_line(1)), str(self.directory / "copy")
        for words in (["import", "notes", path], ["backup", copy],
                      ["restore", copy, "--overwrite"], ["export", "notes", "-o", "out"],
                      ["compact", "notes"], ["purge", "notes"], ["repair", "notes"],
                      ["repair", "--all", "--dry-run"], ["migrate", "notes"], ["sweep"],
                      ["index", "notes", "--rebuild"], ["index", "--all", "--rebuild"],
                      ["delete", "notes", "e1"], ["drop", "notes", "--yes"]):
            with self.subTest(words):
                done = self.run_cli(*words)
                self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1))

    def test_quiet_leaves_only_results(self):
        path = self.write("in.jsonl", entry_line(1))
        for words in (["import", "notes", path], ["delete", "notes", "e1"], ["verify", "notes"],
                      ["log", "notes"], ["index", "notes", "--rebuild"], ["compact", "notes"],
                      ["purge", "notes"], ["sweep"],
                      ["export", "notes", "-o", "out"], ["drop", "notes", "--yes"]):
            with self.subTest(words):
                done = self.run_cli(*words, "--quiet")
                self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_verbose_prints_the_librarys_log_lines(self):
        done = self.run_cli("create", "notes", "--verbose")
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertTrue(lines)
        self.assertLessEqual({"timestamp", "level", "component", "message"}, set(lines[0]))

    def test_no_colour_in_a_pipe(self):
        self.notes()
        for words in (["log", "notes"], ["ls"], ["--help"], ["get", "notes", "no"]):
            with self.subTest(words):
                code = 2 if "no" in words else 0
                done = self.run_cli(*words, exit_code=code)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
                forced = self.run_cli("--color", "always", *words, exit_code=code)
                self.assertIn(ESCAPE, forced.stdout + forced.stderr)

    def test_progress_is_drawn_when_asked_and_cleared(self):
        path = self.write("in.jsonl", "".join(entry_line(n) for n in range(20)))
        done = self.run_cli("import", "notes", path, "--progress", "always")
        self.assertIn("\rImporting  [", done.stderr)
        self.assertIn("100 %", done.stderr)
        self.assertIn("\r\x1b[KAdded 20 entries", done.stderr)
        never = self.run_cli("verify", "--all", "--progress", "never")
        self.assertEqual(never.stderr, "")
        self.assertIn("Verifying", self.run_cli("verify", "--all", "--progress", "always").stderr)


class Everything(CliTest):
    def test_every_command_runs_with_json(self):
        self.notes()
        path = self.write("in.jsonl", entry_line(9))
        words = {
            "create": ["new"], "ls": [], "metadata": ["notes"], "drop": ["new", "--yes"],
            "add": ["notes", "x"], "get": ["notes", "e1"], "log": ["notes"],
            "delete": ["notes", "e2"], "import": ["notes", path], "export": ["notes"],
            "backup": [str(self.directory / "copy")],
            "restore": [str(self.directory / "copy"), "--overwrite"],
            "verify": ["notes"], "repair": ["notes"], "compact": ["notes"], "purge": ["notes"],
            "sweep": [], "migrate": ["notes"], "index": ["notes"], "stats": ["notes"],
            "files": ["notes"], "version": [], "search": ["-s", "notes", "note"],
            "metrics": [], "watch": ["--once"], "usage": [], "kv": ["list", "notes"],
            "transcript": ["last", "notes"], "context": ["-s", "notes", "note"],
            "chat-log": ["notes"],
            "explain": ["-s", "notes", "note"], "count": ["-s", "notes"], "tags": ["notes"],
        }
        self.assertEqual(set(words), set(commands()))
        for command, operands in words.items():
            with self.subTest(command):
                self.assertIsNotNone(self.run_json(command, *operands))
                if command not in ("create", "drop", "delete"):  # which cannot be done twice
                    self.assertIsNotNone(self.run_json(command, *operands, "--quiet"))


if __name__ == "__main__":
    main()
