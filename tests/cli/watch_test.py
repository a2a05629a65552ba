"""`varve watch` and `varve stats`: what happens in a store, told while it happens."""

import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import termios

from cli_support import TIMEOUT_S, CliTest, entry_line, main, program

LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l"


class Live:
    """`varve watch` in a pseudo-terminal, step by step."""

    def __init__(self, test, *words):
        self.main_end, self.other_end = pty.openpty()
        self.resize(rows=24, columns=100)
        self.before = termios.tcgetattr(self.other_end)
        self.process = subprocess.Popen(
            [program(), "watch", *words], stdin=self.other_end, stdout=self.other_end,
            stderr=self.other_end, env=test.environment(TERM="xterm"), start_new_session=True)
        self.output = ""
        test.addCleanup(self.end)

    def resize(self, rows, columns):
        fcntl.ioctl(self.other_end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, pattern):
        """What came up to and with the pattern; it is taken off."""
        while not re.search(pattern, self.output):
            ready, _, _ = select.select([self.main_end], [], [], TIMEOUT_S)
            if not ready:
                raise AssertionError(f"no {pattern!r} in {self.output!r}")
            self.output += os.read(self.main_end, 65536).decode()
        end = re.search(pattern, self.output).end()
        taken, self.output = self.output[:end], self.output[end:]
        return taken

    def type(self, text):
        os.write(self.main_end, text.encode())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(TIMEOUT_S)
        for end in (self.main_end, self.other_end):
            try:
                os.close(end)
            except OSError:
                pass


class Watch(CliTest):
    def test_one_look_shows_every_session(self):
        self.notes(3)
        self.run_cli("add", "other", "tea", "--create")
        lines = self.run_cli("watch", "--once").stdout.splitlines()
        self.assertRegex(lines[0], rf"^{self.root}, \d\d:\d\d:\d\d: 2 sessions, 4 entries, ")
        self.assertEqual(lines[1].split(), ["SESSION", "ENTRIES", "SIZE", "LIMIT", "CHANGED"])
        rows = {line.split()[0]: line.split()[1] for line in lines[2:]}
        self.assertEqual(rows, {"notes": "3", "other": "1"})

    def test_the_heading_is_one_line_whatever_the_store_is_called(self):
        name = f"{self.directory}/a\nb\x1b[31m{100 * 'c'}"
        self.run_cli("--root", name, "create", "notes")
        lines = self.run_cli("--root", name, "watch", "--once").stdout.splitlines()
        self.assertRegex(lines[0], rf"^/.*/a b<U\+001B>\[31mc{{100}}, \d\d:\d\d:\d\d: 1 session, ")
        self.assertTrue(lines[1].startswith("SESSION"), lines)
        for columns, heading in ((80, r"^/.*…, \d\d:\d\d:\d\d: .*, 0 B$"),
                                 (20, r"^.*…$")):
            shown = self.run_in_terminal("-r", name, "watch", "--once", columns=columns)[1]
            self.assertRegex(shown.splitlines()[0], heading)
            self.assertLessEqual(len(shown.splitlines()[0]), columns)

    def test_those_that_changed_last_come_first(self):
        for session, time in (("old", 1000), ("new", 3000), ("middle", 2000)):
            self.run_cli("add", session, "tea", "--create")
            os.utime(self.session_file(session, "memory.jsonl"), (time, time))
        looked = self.run_json("watch", "--once")
        self.assertEqual([row["session_id"] for row in looked["sessions"]],
                         ["new", "middle", "old"])

    def test_one_session_by_name(self):
        self.notes(1)
        self.run_cli("add", "other", "tea", "--create")
        for words in (("other",), ("--session", "other")):
            looked = self.run_json("watch", "--once", *words)
            self.assertEqual([row["session_id"] for row in looked["sessions"]], ["other"])
        self.run_cli("watch", "nobody", "--once", exit_code=2)
        self.run_cli("watch", "other", "--session", "notes", "--once", exit_code=1)
        self.run_cli("watch", "", "--once", exit_code=1)

    def test_looks_are_counted_and_each_is_a_block(self):
        self.notes(1)
        printed = self.run_cli("watch", "--count", "3", "--interval", "0.1").stdout
        self.assertEqual(len(printed.split("\n\n")), 3)
        looks = self.run_cli("watch", "--count", "2", "--interval", "0.1", "--json").stdout
        self.assertEqual(len(looks.splitlines()), 2)
        for look in looks.splitlines():
            self.assertEqual(json.loads(look)["sessions"][0]["added"], 0)

    def test_numbers_that_make_no_sense_are_refused(self):
        self.notes(1)
        for words in (("--count", "0"), ("--interval", "-1"), ("--interval", "soon"),
                      ("--interval", "0", "--once"), ("--interval", "0.05", "--once")):
            self.run_cli("watch", *words, exit_code=1)
        self.run_cli("watch", "--interval", "0.1", "--once")

    def test_damage_is_shown(self):
        self.notes(3)
        path = self.session_file("notes", "memory.jsonl")
        path.write_bytes(path.read_bytes().replace(b"note 2", b"mote 2"))
        self.session_file("notes", "index.bin").unlink()
        done = self.run_cli("watch", "--once")
        self.assertIn("DAMAGE", done.stdout)
        self.assertIn("skipped 1", done.stdout)

    def test_damaged_metadata_is_shown(self):
        self.notes(1)
        self.session_file("notes", "metadata.json").write_text("{")
        for words in (("watch", "--once"), ("stats", "--all"), ("stats", "notes")):
            self.assertRegex(self.run_cli(*words).stdout, "(?m)  metadata.json$")

    def test_a_session_that_cannot_be_opened_is_shown(self):
        self.notes(2)
        self.run_cli("add", "other", "tea", "--create")
        log = self.session_file("other", "memory.jsonl")
        log.unlink()
        log.mkdir()
        lines = self.run_cli("watch", "--once").stdout.splitlines()
        self.assertIn("2 sessions, 2 entries, ", lines[0])
        self.assertRegex(lines[2], "^other +cannot open .*memory.jsonl.*directory")
        first, second = self.run_json("watch", "--once")["sessions"]
        self.assertEqual((first["session_id"], first["stats"]), ("other", {}))
        self.assertRegex(first["reason"], "cannot open .*memory.jsonl.*directory")
        self.assertEqual((second["session_id"], second["reason"]), ("notes", ""))
        self.run_cli("watch", "other", "--once", exit_code=4)

    def test_one_that_can_be_opened_again_is_watched(self):
        self.notes(2)
        log = self.session_file("notes", "memory.jsonl")
        aside = log.with_name("aside")
        log.rename(aside)
        log.mkdir()
        live = Live(self, "--interval", "86400")
        live.read_until("cannot open")
        log.rmdir()
        aside.rename(log)
        live.type(" ")
        live.read_until("1 session, 2 entries")

    def test_who_writes_is_shown(self):
        self.notes(1)
        path = self.session_file("notes", "lock")
        writer = subprocess.Popen([program(), "add", "notes", "x"], cwd=self.directory,
                                  env=self.environment(), stdout=subprocess.DEVNULL)
        # It has ended, and is there until somebody waits for it.
        os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
        with open(path, "r+b") as file:
            # A lock of the open file (F_OFD_SETLK), as another process would hold it.
            fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
            held = self.run_json("stats", "notes")["lock"]
            self.assertTrue(held["held"])
            self.assertEqual(held["process_id"], writer.pid)
            text = self.run_cli("watch", "--once").stdout
            self.assertIn(f"process {held['process_id']}", text)
            self.assertRegex(self.run_cli("stats", "notes").stdout,
                             rf"(?m)^Lock +process {held['process_id']}, \w[\w ]* since 20")
            self.assertEqual(writer.wait(TIMEOUT_S), 0)
            self.assertEqual(self.run_json("stats", "notes")["lock"], {"held": True})
        self.assertEqual(self.run_json("stats", "notes")["lock"], {"held": False})

    def test_a_reader_that_goes_away_ends_it(self):
        self.notes(1)
        with subprocess.Popen([program(), "watch", "--interval", "0.1"], stdout=subprocess.PIPE,
                              env=self.environment()) as process:
            self.assertTrue(process.stdout.readline())
            process.stdout.close()
            self.assertEqual(process.wait(TIMEOUT_S), 0)


class OnATerminal(CliTest):
    def setUp(self):
        super().setUp()
        self.notes(3)

    def check_restored(self, live):
        self.assertEqual(live.process.wait(TIMEOUT_S), 0)
        self.assertIn(LEAVE_SCREEN, live.read_until(re.escape(LEAVE_SCREEN)))
        self.assertEqual(termios.tcgetattr(live.other_end), live.before)

    def test_space_looks_now_and_shows_what_came_and_went(self):
        live = Live(self, "--interval", "3600")
        first = live.read_until("q quits, space refreshes")
        self.assertIn("\x1b[?1049h", first)
        self.assertNotIn("ADDED", first)
        self.run_cli("import", "notes", "-", stdin=entry_line(4) + entry_line(5))
        self.run_cli("delete", "notes", "e1")
        live.type(" ")
        second = live.read_until("q quits, space refreshes")
        self.assertIn("\x1b[H\x1b[2J", second)
        self.assertIn("+2", second)
        self.assertIn("-1", second)
        self.run_cli("add", "fresh", "tea", "--create")
        live.type("\n")
        third = live.read_until("q quits, space refreshes")
        self.assertIn("fresh", third)
        self.assertNotIn("+2", third)
        self.run_cli("drop", "notes", "--yes")
        live.type(" ")
        self.assertNotIn("notes", live.read_until("q quits, space refreshes"))
        live.type("q")
        self.check_restored(live)

    def test_keys_are_not_echoed(self):
        live = Live(self, "--interval", "3600")
        live.read_until("q quits, space refreshes")
        live.type("~q")
        rest = live.read_until(re.escape(LEAVE_SCREEN))
        self.assertNotIn("~", rest)
        self.assertEqual(live.process.wait(TIMEOUT_S), 0)

    def test_signals_end_it_and_the_terminal_is_as_before(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                live = Live(self, "--interval", "3600")
                live.read_until("q quits, space refreshes")
                self.assertNotEqual(termios.tcgetattr(live.other_end), live.before)
                live.process.send_signal(number)
                self.check_restored(live)

    def test_the_picture_fits_a_terminal_of_another_size(self):
        live = Live(self, "--interval", "3600")
        live.read_until("q quits, space refreshes")
        live.resize(rows=10, columns=30)
        live.process.send_signal(signal.SIGWINCH)
        picture = live.read_until("q quits, space refreshes")
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", picture).splitlines()
        self.assertLessEqual(max(len(line) for line in lines), 30, lines)
        live.type("q")
        self.check_restored(live)

    def test_rows_fit_the_height(self):
        for number in range(40):
            self.run_cli("add", f"s{number}", "tea", "--create")
        live = Live(self, "--interval", "3600")
        picture = live.read_until("q quits, space refreshes")
        self.assertIn("41 sessions, 43 entries", picture)
        self.assertLessEqual(picture.count("\n"), 24)
        live.type("Q")
        self.check_restored(live)


class Many(CliTest):
    def test_files_that_may_be_open_at_first_are_no_limit(self):
        for number in range(40):
            self.write(f"in/s{number:03}/entries.jsonl", entry_line(1))
        self.run_cli("import", "--all", "in")
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        done = subprocess.run([program(), "watch", "--once", "--json"], capture_output=True,
                              env=self.environment(), preexec_fn=few, timeout=TIMEOUT_S)
        self.assertEqual(len(json.loads(done.stdout)["sessions"]), 40, done)

    def test_of_more_than_256_sessions_the_most_recently_used_are_shown(self):
        for number in range(257):
            self.write(f"in/s{number:03}/entries.jsonl", entry_line(1))
        self.run_cli("import", "--all", "in")
        shown = json.loads(self.run_cli("watch", "--once", "--json").stdout)["sessions"]
        self.assertEqual({row["session_id"] for row in shown},
                         {f"s{number:03}" for number in range(1, 257)})


class Stats(CliTest):
    def test_figures_of_a_session(self):
        self.notes(3)
        text = self.run_cli("stats", "notes").stdout
        self.assertRegex(text, r"(?m)^Limit +[\d.]+ % of 10.5 MB$")
        self.assertRegex(text, r"(?m)^Changed +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$")
        self.assertRegex(text, r"(?m)^Lock +free$")
        self.assertRegex(text, r"(?m)^Damage +none$")

    def test_without_a_limit(self):
        self.notes(1)
        (self.root / "config.json").write_text('{"storage":{"max_session_size_mb":0}}')
        self.assertRegex(self.run_cli("stats", "notes").stdout, r"(?m)^Limit +none$")
        self.assertNotIn("LIMIT", self.run_cli("stats", "--all").stdout)


if __name__ == "__main__":
    main()
