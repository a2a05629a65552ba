"""varve kv and varve transcript, and how they count in varve stats."""

import re

from cli_support import CliTest, main


class KeyValue(CliTest):
    def setUp(self):
        super().setUp()
        self.run_cli("create", "notes")

    def test_sets_gets_lists_and_deletes(self):
        self.run_cli("kv", "set", "notes", "user_name", "sachi")
        self.run_cli("kv", "set", "notes", "topic", "rust memory systems")
        self.assertEqual(self.run_cli("kv", "get", "notes", "user_name").stdout, "sachi\n")
        lines = self.run_cli("kv", "list", "notes").stdout.splitlines()
        self.assertRegex(lines[0], r"^KEY +SET +VALUE$")
        self.assertRegex(lines[1], r"^user_name +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +sachi$")
        self.assertEqual(self.run_cli("kv", "list", "notes", "--quiet").stdout,
                         "user_name\ntopic\n")
        self.run_cli("kv", "delete", "notes", "user_name")
        self.assertEqual([item["key"] for item in self.run_json("kv", "list", "notes")], ["topic"])

    def test_tells_with_json_what_was_done(self):
        self.assertEqual(self.run_json("kv", "set", "notes", "a", "1"), {"set": "a"})
        self.assertEqual(self.run_json("kv", "delete", "notes", "a"), {"deleted": "a"})
        self.assertEqual(self.run_cli("kv", "set", "notes", "a", "1").stdout, "")

    def test_what_is_not_there_is_exit_code_2(self):
        self.run_cli("kv", "get", "notes", "nothing", exit_code=2)
        self.run_cli("kv", "delete", "notes", "nothing", exit_code=2)
        self.run_cli("kv", "list", "none", exit_code=2)

    def test_working_memory_is_empty_until_it_is_set(self):
        self.assertEqual(self.run_cli("kv", "get", "notes", "working_memory").stdout, "\n")
        self.run_cli("kv", "set", "notes", "working_memory", "-", stdin="the plan\nand more\n")
        self.assertEqual(self.run_json("kv", "get", "notes", "working_memory"),
                         {"key": "working_memory", "value": "the plan\nand more"})

    def test_takes_the_session_from_the_option_and_the_environment(self):
        self.run_cli("kv", "set", "a", "1", "--session", "notes")
        done = self.run_cli("kv", "get", "a", environment={"VARVE_SESSION": "notes"})
        self.assertEqual(done.stdout, "1\n")

    def test_says_when_there_are_none(self):
        self.assertIn("No keys.", self.run_cli("kv", "list", "notes").stderr)
        self.assertEqual(self.run_json("kv", "list", "notes"), [])

    def test_shows_no_control_characters(self):
        self.run_cli("kv", "set", "notes", "a", "-", stdin="\x1b[31mred")
        self.assertEqual(self.run_in_terminal("kv", "get", "notes", "a"),
                         (0, "<U+001B>[31mred\r\n"))
        self.assertEqual(self.run_json("kv", "get", "notes", "a")["value"], "\x1b[31mred")

    def test_gives_a_value_away_from_a_terminal_as_it_was_set(self):
        value = "all:\n\tmake\r\n\x1b[31mred"
        self.run_cli("kv", "set", "notes", "a", value)
        self.assertEqual(self.run_cli("kv", "get", "notes", "a").stdout, value + "\n")

    def test_refuses_other_words(self):
        for words in ((), ("put", "notes", "a", "1"), ("set", "notes"), ("get", "a", "b", "c")):
            self.run_cli("kv", *words, exit_code=1)

    def test_a_session_without_it_says_so(self):
        self.run_cli("create", "bare", "--options", '{"stores":["transcript"]}')
        error = self.error_of("kv", "set", "bare", "a", "1", exit_code=5)
        self.assertEqual(error["name"], "VARVE_UNSUPPORTED")


class Transcript(CliTest):
    def setUp(self):
        super().setUp()
        self.run_cli("create", "notes")

    def test_appends_and_shows_the_last(self):
        self.run_cli("transcript", "append", "notes", "user", "Tell me about your memory.")
        self.run_cli("transcript", "append", "notes", "assistant", "-",
                     stdin="It is in files.\nYou can read them.\n")
        shown = self.run_cli("transcript", "last", "notes").stdout
        self.assertRegex(shown, r"(?s)^user  \d{4}-.*\n  Tell me about your memory\.\n\n"
                                r"assistant  \d{4}-.*\n  It is in files\.\n"
                                r"  You can read them\.\n$")
        turns = self.run_json("transcript", "last", "notes", "-n", "1")
        self.assertEqual([(turn["role"], turn["content"]) for turn in turns],
                         [("assistant", "It is in files.\nYou can read them.")])
        text = self.session_file("notes", "transcript.md").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("### user — 2"))

    def test_tells_with_json_what_was_done(self):
        done = self.run_json("transcript", "append", "notes", "user", "Hello.")
        self.assertEqual(done, {"appended": True, "role": "user"})

    def test_shows_twenty_unless_asked(self):
        for number in range(25):
            self.run_cli("transcript", "append", "notes", "user", str(number))
        self.assertEqual(len(self.run_json("transcript", "last", "notes")), 20)
        self.assertEqual(len(self.run_json("transcript", "last", "notes", "--limit", "0")), 25)

    def test_says_when_nothing_was_said(self):
        self.assertIn("No turns.", self.run_cli("transcript", "last", "notes").stderr)

    def test_refuses_other_words(self):
        for words in ((), ("say", "notes"), ("append", "notes", "user"), ("last", "a", "b"),
                      ("append", "notes", " user", "x")):
            self.run_cli("transcript", *words, exit_code=1)

    def test_refuses_a_limit_for_what_is_appended(self):
        done = self.run_cli("transcript", "append", "notes", "user", "x", "-n", "3", exit_code=1)
        self.assertIn("--limit", done.stderr)
        self.assertIn("No turns.", self.run_cli("transcript", "last", "notes").stderr)

    def test_names_the_word_that_is_too_many(self):
        for words in (("kv", "list", "notes", "3"), ("transcript", "last", "notes", "3")):
            said = self.run_cli(*words, exit_code=1).stderr
            self.assertIn('unexpected argument "3"', said)

    def test_an_option_behind_the_dashes_is_no_option(self):
        self.run_cli("kv", "set", "notes", "--", "--json", "-x")
        self.assertEqual(self.run_cli("kv", "get", "notes", "--", "--json").stdout, "-x\n")
        said = self.run_cli("kv", "get", "notes", "--", "a", "b", "--json", exit_code=1).stderr
        self.assertIn('unexpected argument "--json"', said)
        self.assertIn('Options come before "--"', said)


class Size(CliTest):
    def size(self):
        text = self.run_cli("stats", "notes").stdout
        return re.search("(?m)^Size +(.*)$", text)[1]

    def test_of_a_session_names_what_it_is_made_of(self):
        self.run_cli("create", "notes")
        self.assertEqual(self.size(), "0 B (log 0 B, index 0 B, tombstones 0 B)")
        self.run_cli("transcript", "append", "notes", "user", "-", stdin="x" * 20_000)
        self.assertEqual(self.size(), "20.0 kB (log 0 B, index 0 B, tombstones 0 B, "
                                      "transcript 20.0 kB)")
        self.run_cli("kv", "set", "notes", "a", "x" * 1000)
        self.assertRegex(self.size(), r"^21\.1 kB \(.*, tombstones 0 B, keys 1\.1 kB, "
                                      r"transcript 20\.0 kB\)$")


if __name__ == "__main__":
    main()
