"""`varve usage`: tokens and cost, in a table and as JSON."""
import datetime
import json

from cli_support import CliTest, main


def line(number, time, **usage):
    return json.dumps({"id": f"e{number}", "type": "message", "content": "answer",
                       "timestamp": time, "usage": usage}) + "\n"


def time_ago(**span):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**span)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


class Usage(CliTest):
    def setUp(self):
        super().setUp()
        self.run_cli("create", "one", "--user", "ada", "--agent", "chat")
        self.run_cli("create", "two", "--user", "bob", "--agent", "chat")
        self.run_cli("import", "one", "-", stdin=(
            line(1, "2026-01-09T10:00:00Z", input_tokens=1200, output_tokens=30, cost_usd=0.25)
            + line(2, "2026-01-10T10:00:00Z", input_tokens=5)))
        self.run_cli("import", "two", "-", stdin=line(1, "2026-01-10T11:00:00Z", output_tokens=7))

    def rows(self, *words):
        lines = self.run_cli("usage", *words).stdout.splitlines()
        return [" ".join(row.split()) for row in lines]

    def test_a_line_for_each_session(self):
        self.assertEqual(self.rows(), ["SESSION ENTRIES INPUT OUTPUT COST", "one 2 1,205 30 $0.25",
                                       "two 1 0 7 $0",
                                       "3 entries, 1,205 tokens in, 37 out, $0.25"])

    def test_a_line_for_each_agent_user_and_day(self):
        self.assertEqual(self.rows("--by", "agent")[1:-1], ["chat 3 1,205 37 $0.25"])
        self.assertEqual(self.rows("--by", "user")[1:-1],
                         ["ada 2 1,205 30 $0.25", "bob 1 0 7 $0"])
        self.assertEqual(self.rows("--by", "day")[1:-1],
                         ["2026-01-09 1 1,200 30 $0.25", "2026-01-10 2 5 7 $0"])

    def test_a_cost_too_small_to_be_shown_is_not_nothing(self):
        for cost, shown in [(0.00003, "<$0.0001"), (0.00004999, "<$0.0001"), (0.00005, "$0.0001"),
                            (0.0001, "$0.0001"), (1e-9, "<$0.0001"), (0, "$0")]:
            with self.subTest(cost=cost):
                name = f"small-{cost}".replace(".", "-")
                self.run_cli("import", name, "-",
                             stdin=line(1, "2026-01-10T10:00:00Z", cost_usd=cost))
                self.assertEqual([row.split()[-1] for row in self.rows(name)[1:]], [shown] * 2)

    def test_filters(self):
        self.assertEqual(self.rows("--user", "bob")[1:-1], ["two 1 0 7 $0"])
        self.assertEqual(self.rows("two", "one")[1:-1], ["one 2 1,205 30 $0.25", "two 1 0 7 $0"])
        self.assertEqual(self.rows("--session", "two")[1:], ["two 1 0 7 $0",
                                                             "1 entry, 0 tokens in, 7 out, $0"])
        self.assertEqual(self.rows("--since", "2026-01-10")[1:-1], ["one 1 5 0 $0", "two 1 0 7 $0"])
        self.assertEqual(self.rows("--since", "99999999999999999999w"), self.rows())
        self.run_cli("import", "two", "-", stdin=line(3, time_ago(days=6), input_tokens=2)
                     + line(4, time_ago(days=8), input_tokens=3))
        self.assertEqual(self.rows("--since", "7d")[1:-1], ["two 1 2 0 $0"])
        self.assertEqual(self.rows("--until", "7d", "--since", "10d")[1:-1], ["two 1 3 0 $0"])
        self.assertEqual(self.rows("--until", "2026-01-10", "--agent", "chat")[1:-1],
                         ["one 1 1,200 30 $0.25"])

    def test_lines_by_hand_count_however_their_names_are_written(self):
        with open(self.session_file("two", "memory.jsonl"), "a", encoding="utf-8") as log:
            begin = '","type":"a","timestamp":"2026-01-10T12:00:00Z","content":'
            log.write('{"id":"h1' + begin + '"x","\\u0075sage":{"input_tokens":3}}\n')
            log.write('{"id":"h2' + begin + '{"us\\u0061ge":{"cost_\\u0075sd":1}}}\n')
            log.write('{"id":"h3' + begin + '"\\u0001 \\u0041 \\\\u0075"}\n')
        self.assertEqual(self.rows("two")[1:-1], ["two 3 3 7 $1"])

    def test_sessions_that_are_not_there_are_told(self):
        done = self.run_cli("usage", "none", exit_code=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("no session 'none'", done.stderr)
        done = self.run_cli("usage", "two", "none", "--json", exit_code=2)
        self.assertEqual(json.loads(done.stdout)["total"]["output_tokens"], 7)
        self.assertIn("'none'", json.loads(done.stderr)["error"]["message"])

    def test_json_is_the_report(self):
        report = self.run_json("usage", "--user", "ada")
        self.assertEqual(report["total"], {"cost_usd": 0.25, "entries": 2, "input_tokens": 1205,
                                           "output_tokens": 30})
        self.assertEqual([row["session_id"] for row in report["sessions"]], ["one"])

    def test_mistakes(self):
        self.assertIn("--by takes", self.run_cli("usage", "--by", "hour", exit_code=1).stderr)
        self.assertIn("7d", self.run_cli("usage", "--since", "whenever", exit_code=1).stderr)
        self.run_cli("usage", "--until", "tomorrow", exit_code=1)

    def test_a_session_that_cannot_be_read_is_told(self):
        self.session_file("two", "metadata.json").write_text('{"version":99}')
        done = self.run_cli("usage", exit_code=6)
        self.assertIn("two: not counted: ", done.stderr)
        self.assertIn("one", done.stdout)


if __name__ == "__main__":
    main()
