"""What people see in a terminal: colours, widths, questions, progress."""

import json
import os
import pty
import select
import subprocess
import time

from cli_support import TIMEOUT_S, CliTest, entry_line, main, program, read_to_end

ESCAPE = "\x1b["
BAR_AFTER_S = 0.34  # a bar is drawn for work that takes longer


class Terminal(CliTest):
    """Runs in a pseudo-terminal of 60 columns."""

    def test_a_long_id_does_not_hide_what_stands_beside_it(self):
        self.run_cli("create", 128 * "a", "--title", "Boats")
        _, shown = self.run_in_terminal("ls", environment={"NO_COLOR": "1"})
        lines = shown.splitlines()
        self.assertIn(29 * "a" + "…", lines[1])
        self.assertIn("  ENTRIES  CREATED", lines[0])
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertIn(128 * "a", self.run_in_terminal("ls", "-q")[1])

    def test_colour(self):
        self.notes()
        self.assertIn(ESCAPE, self.run_in_terminal("log", "notes")[1])
        self.assertIn(ESCAPE, self.run_in_terminal("ls", environment={"NO_COLOR": ""})[1])
        for words, environment in ((["ls"], {"NO_COLOR": "1"}), (["ls", "--color", "never"], {})):
            with self.subTest(words):
                self.assertNotIn(ESCAPE, self.run_in_terminal(*words, environment=environment)[1])
        forced = self.run_in_terminal("ls", "--color", "always", environment={"NO_COLOR": "1"})
        self.assertIn(ESCAPE, forced[1])

    def test_lines_are_cut_to_the_width(self):
        self.run_cli("create", "notes", "--title", "t" * 200)
        self.run_cli("add", "notes", "日本語のとても長い文章 " * 30)
        self.run_cli("add", "notes", "👩‍🚀 é " * 100)
        for words in (["log", "notes", "--oneline"], ["ls"], ["log", "notes"]):
            with self.subTest(words):
                code, text = self.run_in_terminal(*words, "--color", "never")
                self.assertEqual(code, 0)
                for line in text.split("\r\n"):
                    wide = sum(2 if "\u1100" <= c <= "\uffef" and c != "\u2026" else 1 for c in line
                               if c not in "\u200d\u0301")
                    self.assertLessEqual(wide, 60, line)
        self.assertIn("…", self.run_in_terminal("log", "notes", "--oneline")[1])
        narrow = self.run_in_terminal("ls", "--color", "never", environment={"COLUMNS": "20"})[1]
        self.assertLessEqual(max(len(line) for line in narrow.split("\r\n")), 20)

    def test_what_is_seen_as_one_character_is_not_cut(self):
        # A vowel sign, a tone of skin, what joiners make one picture of, a flag.
        shown_as_one = ("बा", "👍🏽", "👩🏽‍💻", "👨‍👩‍👧‍👦", "🇯🇵")
        self.run_cli("create", "notes")
        for n, one in enumerate(shown_as_one):
            self.run_cli("add", "notes", 50 * one, "--id", f"n{n}", "--tag", "all")
        for columns in range(30, 46):
            for words in (["log", "notes", "--oneline"], ["log", "notes"],
                          ["search", "-s", "notes", "--tag", "all"],
                          ["search", "-s", "notes", "--color", "always", "ब* 👍 💻 👧 🇯🇵"]):
                text = self.run_in_terminal(*words, columns=columns)[1]
                for one in shown_as_one:
                    text = text.replace(one, "")
                with self.subTest(words, columns=columns):
                    self.assertEqual(set(text) & set("".join(shown_as_one)), set())

    def test_the_time_gives_way_to_the_text(self):
        self.notes(1)
        for columns, has_time in ((59, True), (58, False)):
            with self.subTest(columns):
                shown = self.run_in_terminal("log", "notes", "--oneline", columns=columns)[1]
                self.assertEqual("2026-01-01 00:01:00" in shown, has_time)
                self.assertIn("user: note 1", shown)

    def test_a_long_word_behind_a_blank_makes_no_empty_line(self):
        self.run_cli("add", "notes", " " + 70 * "x", "--create")
        shown = self.run_in_terminal("log", "notes", columns=60)[1]
        self.assertIn("\r\n\r\n     " + 55 * "x" + "\r\n    " + 15 * "x" + "\r\n", shown)

    def test_long_contents_are_cut_unless_full(self):
        self.run_cli("create", "notes")
        self.run_cli("add", "notes", "\n".join(f"line{n}." for n in range(50)))
        text = self.run_in_terminal("log", "notes")[1]
        self.assertIn("line19.", text)
        self.assertNotIn("line20.", text)
        self.assertIn("(30 more lines)", text)
        self.assertIn("line49.", self.run_in_terminal("log", "notes", "--full")[1])
        self.assertIn("line49.", self.run_cli("log", "notes").stdout)

    def test_tells_that_there_are_more(self):
        self.notes(12)
        self.assertIn("10 of 12 entries", self.run_in_terminal("log", "notes")[1])

    def test_drop_asks(self):
        self.notes()
        for no in ("n", "", "yes, but not now"):
            code, text = self.run_in_terminal("drop", "notes", typed=f"{no}\n")
            self.assertEqual(code, 1, no)
            self.assertIn("Delete session notes with 3 entries for good? [y/N]", text)
            self.assertIn("nothing was deleted", text)
            self.assertEqual(self.run_json("stats", "notes")["entries"], 3)
        for yes in ("y", "Y", "yes", "Yes", "YES"):
            self.run_cli("create", "notes", "--if-missing")
            self.assertEqual(self.run_in_terminal("drop", "notes", typed=f"{yes}\n")[0], 0)
            self.run_cli("stats", "notes", exit_code=2)

    def test_an_answer_that_does_not_come_ends_the_line_of_the_question(self):
        self.notes()
        code, text = self.run_in_terminal("drop", "notes", "--color", "never", typed="\x04")
        self.assertEqual(code, 1)
        self.assertIn("[y/N] \r\nvarve: nothing was deleted", text)

    def test_drop_does_not_take_a_newer_session_for_the_one_that_was_asked_about(self):
        self.notes()
        main_end, other_end = pty.openpty()
        process = subprocess.Popen(
            [program(), "drop", "notes"], stdin=other_end, stdout=other_end, stderr=other_end,
            env=self.environment(TERM="xterm"))
        os.close(other_end)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(main_end, 1000)
        self.run_cli("drop", "notes", "--yes")
        self.run_cli("add", "notes", "another", "--create")
        os.write(main_end, b"y\n")
        self.assertEqual(process.wait(TIMEOUT_S), 2)
        self.assertIn("nothing was deleted", read_to_end(main_end))
        os.close(main_end)
        self.assertEqual(self.run_json("stats", "notes")["entries"], 1)

    def test_short_work_shows_no_progress_bar_and_never_is_never(self):
        path = self.write("in.jsonl", entry_line(1))
        code, text = self.run_in_terminal("import", "notes", path, "--progress", "never")
        self.assertEqual(code, 0)
        self.assertNotIn("Importing", text)
        code, text = self.run_in_terminal("import", "other", path, "--progress", "always")
        self.assertIn("Importing  [", text)

    def test_long_work_shows_a_progress_bar_by_itself(self):
        # The bar waits for a third of a second: input, blank lines, goes on until it is there.
        main_end, other_end = pty.openpty()
        process = subprocess.Popen(
            [program(), "import", "notes", "-"], stdin=subprocess.PIPE, stdout=other_end,
            stderr=other_end, env=self.environment(TERM="xterm"))
        os.close(other_end)
        output = b""
        for _ in range(1000):
            if b"Importing" in output:
                break
            process.stdin.write(b"\n" * (1 << 20))
            if select.select([main_end], [], [], 0.05)[0]:
                output += os.read(main_end, 65536)
        process.stdin.close()
        self.assertIn(b"Importing", output)
        while select.select([main_end], [], [], TIMEOUT_S)[0]:
            try:
                output += os.read(main_end, 65536)
            except OSError:
                break
        os.close(main_end)
        self.assertEqual(process.wait(TIMEOUT_S), 0, output)
        self.assertIn(b"\r\x1b[KAdded", output)

    def test_a_terminal_that_knows_no_escape_sequences_gets_none(self):
        # As in a shell within an editor.
        self.notes()
        looked = self.run_in_terminal("watch", "-n", "2", "-i", "0.1", environment={"TERM": "dumb"})
        self.assertEqual((looked[0], looked[1].count(": 1 session, 3 entries")), (0, 2))
        self.assertNotIn("\x1b", looked[1])
        for term, has_bar in (("xterm", True), ("dumb", False)):
            with self.subTest(term):
                self.assertEqual("Importing" in self.shown_by_a_slow_import(term), has_bar)

    def shown_by_a_slow_import(self, term):
        """What a terminal shows of an import that goes on until there is a bar, or should be."""
        main_end, other_end = pty.openpty()
        process = subprocess.Popen(
            [program(), "import", "notes", "-"], stdin=subprocess.PIPE, stdout=other_end,
            stderr=other_end, env=self.environment(TERM=term))
        os.close(other_end)
        shown, end_s = "", time.monotonic() + (2 * BAR_AFTER_S if term == "dumb" else TIMEOUT_S)
        while "Importing" not in shown and time.monotonic() < end_s:
            process.stdin.write(b"\n")
            process.stdin.flush()
            if select.select([main_end], [], [], 0.01)[0]:
                shown += os.read(main_end, 65536).decode()
        process.stdin.close()
        shown += read_to_end(main_end)
        os.close(main_end)
        self.assertEqual(process.wait(TIMEOUT_S), 0, shown)
        return shown

    def test_no_name_of_a_member_writes_to_the_terminal(self):
        entry = {"type": "finding", "content": "x", "a\x1b[31m\u202e\nentry e2": 1}
        self.run_cli("add", "notes", "--create", "--json-entry", json.dumps(entry))
        for words in (["get", "notes", "--", self.run_cli("log", "notes", "-q").stdout.strip()],
                      ["log", "notes"]):
            self.assertRegex(self.run_cli(*words).stdout,
                             r"(?m)^a<U\+001B>\[31m<U\+202E> entry e2: 1$")

    def test_json_is_escaped_for_a_terminal_and_means_the_same(self):
        evil = "c1 \u009b31m del \x7f rtl \u202E mark \u061C separator \u2028 ü 👩\u200d🚀"
        self.run_cli("create", "notes", "--title", evil)
        entry = self.run_cli("add", "notes", evil).stdout.strip()
        for words in (["get", "notes", entry, "--json"], ["export", "notes"],
                      ["export", "notes", "--json"], ["ls", "--json"],
                      ["get", "notes", evil, "--json"]):
            with self.subTest(words):
                shown = self.run_in_terminal(*words)[1]
                self.assertIn(r"c1 \u009B31m del \u007F rtl \u202E mark \u061C separator \u2028 ü",
                              shown)
                self.assertNotRegex(shown, "[\x7f-\x9f\u061c\u2028\u202e]")
                self.assertIn(evil, json.dumps(json.loads(shown), ensure_ascii=False))
        # A file or another program gets what was remembered.
        self.assertIn(evil, self.run_cli("export", "notes").stdout)


if __name__ == "__main__":
    main()
