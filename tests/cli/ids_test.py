"""Ids in the command line: several entries, and sessions that may not be named or are lost."""

import json
import re

from cli_support import CliTest, hold_lock, main


class SeveralIds(CliTest):
    def test_get_shows_several(self):
        self.notes()
        stored = [self.run_json("get", "notes", name) for name in ("e3", "e1")]
        self.assertEqual(self.run_json("get", "notes", "e3", "e1"), stored)
        text = self.run_cli("-s", "notes", "get", "e3", "e1").stdout
        self.assertEqual(re.findall(r"(?:^|\n\n)entry (\w+)", text), ["e3", "e1"])

    def test_get_tells_which_are_not_there(self):
        self.notes()
        stored = [self.run_json("get", "notes", name) for name in ("e3", "e1")]
        done = self.run_cli("get", "notes", "e3", "no", "e1", "--json", exit_code=2)
        self.assertEqual(json.loads(done.stdout), stored)
        self.assertIn("'no'", json.loads(done.stderr)["error"]["message"])
        self.assertEqual(self.run_cli("get", "notes", "no", "--json", exit_code=2).stdout, "")

    def test_delete_takes_several(self):
        self.notes(4)
        self.assertEqual(self.run_json("delete", "notes", "e1", "e2", "--reason", "old"),
                         {"deleted": ["e1", "e2"]})
        audit = self.session_file("notes", "tombstones.jsonl").read_text().splitlines()
        self.assertEqual([(item["id"], item["reason"]) for item in map(json.loads, audit)],
                         [("e1", "old"), ("e2", "old")])
        done = self.run_cli("forget", "-s", "notes", "e3", "e4", "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertEqual(self.run_cli("log", "notes", "-q").stdout, "")

    def test_delete_tells_which_are_not_there(self):
        self.notes(4)
        done = self.run_cli("delete", "notes", "e1", "no", "e2", "e1", exit_code=2)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual([lines[0], lines[2]], ["Deleted entry e1.", "Deleted entry e2."])
        self.assertIn("no entry 'no'", lines[1])
        self.assertIn("no entry 'e1'", lines[3])
        done = self.run_cli("delete", "notes", "e3", "no", "not an id", "--json", exit_code=2)
        self.assertEqual(json.loads(done.stdout), {"deleted": ["e3"]})
        names = [json.loads(line)["error"]["name"] for line in done.stderr.splitlines()]
        self.assertEqual(names, ["VARVE_NOT_FOUND", "VARVE_INVALID_ARGUMENT"])
        self.assertEqual(self.run_cli("log", "notes", "-q").stdout, "e4\n")

    def test_delete_stops_where_it_cannot_write_and_names_what_is_left(self):
        self.notes()
        (self.root / "config.json").write_text('{"concurrency":{"lock_timeout_ms":20}}')
        with hold_lock(self.session_file("notes", "lock")):
            done = self.run_cli("delete", "notes", "not an id", "e1", "e2", exit_code=1)
            self.assertIn("not an id", done.stderr.splitlines()[0])
            self.assertIn("; not done: e1, e2", done.stderr.splitlines()[1])
            self.assertEqual(done.stderr.count("not done"), 1)
            done = self.run_cli("delete", "notes", "e1", exit_code=3)
            self.assertNotIn("not done", done.stderr)
        done = self.run_cli("delete", "notes", "e1", "e2", "--reason", 2000 * "x", exit_code=1)
        self.assertIn("a reason is at most 1024 bytes; not done: e1, e2", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.run_json("count", "-s", "notes"), {"count": 3})


class SessionsNamed(CliTest):
    def test_create_refuses_options_that_contradict_each_other(self):
        for words, message in [(("b", "--options", '{"session_id":"c"}'), "than the argument"),
                               (("-s", "b", "--options", '{"session_id":"c"}'), "than --session"),
                               (("--user", "ann", "--options", '{"user_id":"bob"}'), "than --user"),
                               (("--agent", "x", "--options", '{"agent_id":"y"}'), "than --agent"),
                               (("--title", "x", "--options", '{"title":"y"}'), "than --title"),
                               (("--ttl-hours", "1", "--options", '{"ttl_hours":1.5}'),
                                "than --ttl-hours"),
                               (("b", "--if-missing", "--options", '{"if_exists":"fail"}'),
                                "than --if-missing")]:
            with self.subTest(words):
                done = self.run_cli("create", *words, exit_code=1)
                self.assertIn(message, done.stderr)
        self.assertFalse(self.root.exists(), "a store was made for what was refused")
        same = '{"session_id":"b","user_id":"ann","ttl_hours":2}'
        self.assertEqual(self.run_cli("create", "b", "--user", "ann", "--ttl-hours", "2",
                                      "--options", same).stdout, "b\n")

    def test_a_list_names_no_session(self):
        self.run_cli("create", "b")
        self.assertIn("do not name one", self.run_cli("ls", "-s", "b", exit_code=1).stderr)
        self.assertIn("b", self.run_cli("ls", environment={"VARVE_SESSION": "c"}).stdout)

    def test_figures_for_monitoring_name_no_session(self):
        self.run_cli("create", "b")
        self.assertIn("do not name one", self.run_cli("metrics", "-s", "b", exit_code=1).stderr)
        self.run_cli("metrics", environment={"VARVE_SESSION": "b"})

    def test_verify_all_tells_of_a_session_that_lost_its_log_and_metadata(self):
        for session in ("lost", "notes"):
            self.run_cli("add", session, "a note", "--create")
        for name in ("memory.jsonl", "metadata.json"):
            self.session_file("lost", name).unlink()
        (self.root / "sessions" / "empty").mkdir()
        done = self.run_cli("verify", "--all", exit_code=6)
        self.assertIn("notes: ok", done.stdout)
        self.assertIn("varve: lost: memory.jsonl and metadata.json are missing", done.stderr)
        self.assertNotIn("empty", done.stderr)
        done = self.run_cli("verify", "--all", "--json", exit_code=6)
        self.assertFalse(json.loads(done.stdout)["ok"])
        self.assertEqual(json.loads(done.stderr)["error"]["details"]["session_id"], "lost")


if __name__ == "__main__":
    main()
