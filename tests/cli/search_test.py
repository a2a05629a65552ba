"""search, explain, count, tags, and delete by conditions."""

import json
import os
import re
import struct
import subprocess

from cli_support import SOURCE, CliTest, entry_line, main, program


class FindTest(CliTest):
    """Entries t1 ... t4 of a session `tea`, a day apart."""

    def setUp(self):
        super().setUp()
        self.add(
            entry_line(1, id="t1", type="preference", timestamp="2026-01-01T00:00:00Z",
                       importance=0.8, tags=["drinks.hot", "kitchen"],
                       content={"role": "user", "message": "Tea, not coffee"}),
            entry_line(2, id="t2", type="finding", timestamp="2026-01-02T00:00:00Z",
                       importance=0.6, tags=["kitchen"], references=["t1"],
                       content={"message": "The kettle boiled for 3 minutes", "watts": 2200}),
            entry_line(3, id="t3", type="decision", timestamp="2026-01-03T00:00:00Z",
                       importance=0.9, tags=["drinks"], references=["t2"],
                       content={"decision": "Two kettles", "reason": "One boils slowly"}),
            entry_line(4, id="t4", type="finding", timestamp="2026-01-04T00:00:00Z",
                       importance=0.2, tags=[], content="Milk is in the door"),
        )

    def add(self, *lines, session="tea"):
        self.run_cli("import", session, "-", stdin="".join(lines))

    def search(self, *words, **options):
        return self.run_cli("search", "-s", "tea", *words, **options)

    def ids(self, *words):
        return self.search("--quiet", *words).stdout.split()


# Of vectors.bin (docs/format.md): hashes of its header and records, which nothing here computes.
HEADER_HASH = 0x369c0d794b4ccd4a
RECORDS = {("t1", 1, 0): 0x48e8f8e0265bf64b, ("t2", 0, 1): 0x90284635281876be}


class Vector(FindTest):
    def setUp(self):
        super().setUp()
        data = b"VARVEVEC" + struct.pack("<IIQQ", 1, 2, 0, HEADER_HASH)
        for (name, *values), digest in RECORDS.items():
            data += struct.pack("<QQ128s2f", digest, len(name), name.encode(), *values)
        (self.root / "sessions" / "tea" / "vectors.bin").write_bytes(data)

    def near(self, vector, *words):
        return self.search("--quiet", "--vector-file", "-", *words, stdin=vector).stdout.split()

    def test_finds_what_is_near(self):
        self.assertEqual(self.near("[1, 0.1]"), ["t1", "t2"])
        self.assertEqual(self.near(" [0.1,\n1]\n", "-n", "1"), ["t2"])
        path = self.directory / "vector.json"
        path.write_text("[0, 1]")
        self.assertEqual(self.ids("--vector-file", str(path))[0], "t2")

    def test_joins_words(self):
        self.assertEqual(self.near("[1,0]", "milk", "--vector-weight", "1")[0], "t1")
        self.assertEqual(self.near("[1,0]", "milk", "--vector-weight", "0")[0], "t4")
        self.assertEqual(self.near("[1,0]", "milk", "--vector-weight", ".9")[0], "t1")

    def test_mistakes(self):
        for text in ("", "{}", "[1,\"2\"]", "[1,0", "[1,1e400]"):
            shown = self.search("--vector-file", "-", stdin=text, exit_code=1).stderr
            self.assertIn("standard input does not hold a vector", shown)
        shown = self.search("--vector-file", "-", stdin="[1,2,3]", exit_code=1).stderr
        self.assertIn("'vector' has 3 numbers; the vectors of this session have 2", shown)
        self.search("--vector-file", "nowhere.json", exit_code=2)
        self.search("--vector-file", "-", "--query", "{}", stdin="[1,0]", exit_code=1)
        self.search("--vector-weight", "0.5", exit_code=1)
        self.search("--vector-file", "-", "--vector-weight", "2", stdin="[1,0]", exit_code=1)


class Selection(FindTest):
    def test_a_query_that_is_refused_is_named_by_its_option(self):
        cases = ((["search", "-s", "tea", "--query"], "--query: "),
                 (["count", "--all", "--query"], "--query: "),
                 (["explain", "-s", "tea", "--query"], "--query: "),
                 (["delete", "tea", "--yes", "--where"], "--where: "),
                 (["context", "-s", "tea", "--request"], "--request: "),
                 (["metadata", "tea", "--set"], "--set: "))
        for words, name in cases:
            with self.subTest(words):
                done = self.run_cli(*words, '{"text":', exit_code=1)
                self.assertIn(f"varve: {name}invalid JSON", done.stderr)
        done = self.run_cli("export", "tea", "--query", "{", exit_code=1)
        self.assertIn("--query takes a JSON object", done.stderr)
        self.assertEqual(len(self.run_cli("export", "tea", "--query", " { } ").stdout.split("\n")),
                         len(self.run_cli("export", "tea").stdout.split("\n")))
        self.assertIn("not as a word", self.run_cli("search", "tea", "milk", exit_code=1).stderr)

    def test_words_find_entries_in_any_form(self):
        self.assertEqual(set(self.ids("boiling", "--sort", "match")), {"t2", "t3"})
        self.assertEqual(self.ids("coffee", "--sort", "match"), ["t1"])
        self.assertEqual(self.ids("+kettle", "--sort", "match", "--", "-slowly"), ["t2"])
        self.assertEqual(self.ids('"two kettles"', "--sort", "match"), ["t3"])
        self.assertEqual(self.ids("coff*", "--sort", "match"), ["t1"])

    def test_each_condition_holds(self):
        cases = (
            (["--type", "finding"], {"t2", "t4"}),
            (["--type", "finding", "--type", "decision"], {"t2", "t3", "t4"}),
            (["--tag", "drinks"], {"t1", "t3"}),
            (["--tag", "drinks", "--tag", "kitchen"], {"t1"}),
            (["--exclude-tag", "drinks"], {"t2", "t4"}),
            (["--exclude-tag", "drinks", "--exclude-tag", "kitchen"], {"t4"}),
            (["--since", "2026-01-03"], {"t3", "t4"}),
            (["--since", "2026-01-02T23:59:59Z"], {"t3", "t4"}),
            (["--until", "2026-01-02"], {"t1"}),
            (["--since", "2026-01-02", "--until", "2026-01-03"], {"t2"}),
            (["--since", "1s"], set()),
            (["--min-importance", "0.8"], {"t1", "t3"}),
            (["--related", "t2"], {"t1", "t3"}),
            (["--related", "t1"], {"t2"}),
            (["--related", "t1", "--depth", "2"], {"t2", "t3"}),
            (["--related", "t1", "--relation", "references"], {"t2"}),
            (["--related", "t1", "--relation", "caused_by"], set()),
            (["kettle", "--type", "decision"], {"t3"}),
            (["--query", '{"content":{"watts":2200}}'], {"t2"}),
        )
        for words, expected in cases:
            with self.subTest(words):
                order = [] if "--query" in words else ["--sort", "time"]
                self.assertEqual(set(self.ids(*words, *order)), expected)
                count = self.run_cli("count", "-s", "tea", *words).stdout
                self.assertEqual(count, f"{len(expected)}\n")

    def test_the_last_days(self):
        self.run_cli("add", "tea", "just now", "--id", "new")
        self.assertEqual(self.ids("--since", "1d"), ["new"])

    def test_a_time_of_another_zone_is_that_time(self):
        # 23:30 and 23:45 UTC of the day before.
        self.search("--since", "2026-01-10T05:00:00+05:30", "--until", "2026-01-09T23:45:00Z")
        self.search("--since", "2026-01-10T05:30:00+05:30", "--until", "2026-01-09T23:45:00Z",
                    exit_code=1)

    def test_orders(self):
        self.assertEqual(self.ids("--sort", "time"), ["t4", "t3", "t2", "t1"])
        self.assertEqual(self.ids("--sort", "importance"), ["t3", "t1", "t2", "t4"])

    def test_pages(self):
        self.add(*(entry_line(n) for n in range(5)))
        seen, after = [], []
        while True:
            done = self.search("--sort", "time", "--limit", "2", *after)
            page = re.findall(r"(?m)^\d+\. (\S+)", done.stdout)
            self.assertLessEqual(len(page), 2)
            seen += page
            match = re.search(r"add --after (\S+), or", done.stderr)
            if not match:
                break
            after = ["--after", match.group(1)]
        self.assertEqual(len(seen), 9)
        self.assertEqual(seen, self.ids("--sort", "time", "--limit", "0"))

    def test_a_page_of_a_whole_query_goes_on_inside_it(self):
        query = '{"sort_by":"time","limit":3'
        done = self.search("--query", query + "}")
        cursor = re.search(r'add ("after":"\S+") to the query', done.stderr).group(1)
        self.assertEqual(self.ids("--query", f"{query},{cursor}}}"), ["t1"])

    def test_all_asks_every_session(self):
        self.run_cli("create", "other", "--user", "ann", "--agent", "cook")
        self.run_cli("add", "other", "Tea for two", "--id", "o1")
        found = self.run_cli("search", "--all", "tea", "-q", "--sort", "match").stdout
        self.assertEqual(set(found.splitlines()), {"tea t1", "other o1"})
        for options, count in (([], 2), (["--user", "ann"], 1), (["--agent", "cook"], 1),
                               (["--user", "bob"], 0)):
            with self.subTest(options):
                self.assertEqual(self.run_json("count", "--all", *options, "tea")["count"], count)
                found = self.run_json("search", "--all", *options, "tea", "--sort", "match")
                self.assertEqual(len(found["results"]), count)
        self.assertIn(" · other", self.run_cli("search", "--all", "two").stdout)

    def test_all_tells_of_a_session_that_cannot_be_asked(self):
        self.add(entry_line(1, id="o1", content="Tea for two"), session="other")
        with open(self.session_file("other", "memory.jsonl"), "a", encoding="utf-8") as log:
            log.write(entry_line(2, id="o2", schema_version=2))
        self.assertEqual(self.run_cli("count", "-s", "tea", "tea").stdout, "1\n")
        for command in ("search", "explain", "count"):
            done = self.run_cli(command, "--all", "tea")
            self.assertRegex(done.stderr, "warning: other: left out of a query: .*newer varve")
            self.assertEqual(done.stderr.count("left out"), 1, command)
            self.assertNotIn("o1", done.stdout)
        self.assertEqual(self.run_cli("count", "--all", "tea", exit_code=0).stdout, "1\n")
        for command in ("search", "count"):
            lines = self.run_cli(command, "--all", "tea", "--json").stderr.splitlines()
            self.assertEqual([json.loads(line)["session_id"] for line in lines], ["other"])
            self.assertEqual(self.run_cli(command, "--all", "tea", "-q").stderr, "")
        self.run_cli("count", "--all", "--type", "A b", exit_code=1)

    def test_a_count_of_all_is_what_a_search_of_all_finds(self):
        self.run_cli("create", "other", "--user", "ann")
        self.add(entry_line(1, id="o1", timestamp="2026-01-01T00:00:00Z", importance=0.5,
                            content="tea " + " ".join(f"word{number}" for number in range(200))),
                 session="other")
        now = '"text":"tea","now":"2026-01-01T00:00:00Z"'
        for query, count in ((f'{{{now},"min_relevance":0.3}}', 1),  # o1 against the best of all
                             (f'{{{now},"min_relevance":0.01}}', 2),
                             (f'{{{now},"user_id":"ann"}}', 1),
                             (f'{{{now},"session_ids":["tea"]}}', 1)):
            with self.subTest(query):
                found = self.run_json("search", "--all", "--query", query)["results"]
                self.assertEqual(len(found), count)
                self.assertEqual(self.run_json("count", "--all", "--query", query)["count"], count)
        done = self.run_cli("count", "--all", "--query", f'{{{now},"user_id":""}}', exit_code=1)
        self.assertIn("--query: member 'user_id'", done.stderr)
        # A page has no say in how many there are.
        page = f'{{{now},"min_relevance":0.01,"limit":1,"explain":true,"sort_by":"time"}}'
        self.assertEqual(self.run_json("count", "--all", "--query", page)["count"], 2)
        next = self.run_json("search", "--all", "--query", f'{{{now},"limit":1}}')["next"]
        page = f'{{{now},"limit":1,"after":"{next}"}}'
        self.assertEqual(self.run_json("count", "--all", "--query", page)["count"], 2)
        self.run_cli("count", "--all", "--query", page.replace(next, "x"), exit_code=1)
        done = self.run_cli("count", "--all", "--query", f'{{{now},"user_id":"ann","sort_by":"x"}}',
                            exit_code=1)
        self.assertIn("'sort_by'", done.stderr)

    def test_session_comes_from_option_or_environment(self):
        done = self.run_cli("search", "coffee", "-q", "--sort", "match",
                            environment={"VARVE_SESSION": "tea"})
        self.assertEqual(done.stdout, "t1\n")
        self.assertIn("--all", self.run_cli("search", "coffee", exit_code=1).stderr)

    def test_finding_nothing_is_no_error(self):
        done = self.search("xylophone")
        self.assertEqual((done.stdout, done.stderr), ("", "Nothing was found.\n"))
        self.assertEqual(self.search("xylophone", "-q").stderr, "")
        self.assertEqual(self.run_json("search", "-s", "tea", "xylophone"),
                         {"results": [], "next": None})

    def test_finding_nothing_tells_of_a_sign_that_may_be_an_option_of_a_program(self):
        self.run_cli("add", "tea", "docker run -p 8080:80")
        for words in (["docker run -p 8080:80"], ["docker", "run", "-p", "--no-such"]):
            done = self.search(*words[:1], *(["--", *words[1:]] if words[1:] else []))
            self.assertEqual(done.stderr, 'Nothing was found.\n  -p means that it must not be '
                                          'there. To look for it, quote it ("-p") or add '
                                          '--question.\n')
        self.assertIn("8080", self.search('docker run "-p"').stdout)
        for text in ("xylophone --no-such", "xylophone - zither", 'xylophone "-zither"',
                     "xylo-phone", "xylophone -.", "xylophone +zither"):
            self.assertEqual(self.search(text).stderr, "Nothing was found.\n", text)

    def test_a_question_has_no_signs(self):
        self.run_cli("add", "tea", "docker run -p 8080:80", "--id", "port")
        asked = ("--question", "what does docker run -p do")
        self.assertEqual(self.search("-q", "--sort", "match", *asked).stdout, "port\n")
        self.assertEqual(self.run_cli("count", "-s", "tea", *asked).stdout, "1\n")
        self.assertEqual(self.run_cli("count", "-s", "tea", asked[1]).stdout, "0\n")
        nothing = self.search("--question", "xylophone -zither")
        self.assertEqual(nothing.stderr, "Nothing was found.\n")
        explained = self.run_cli("explain", "-s", "tea", *asked).stdout
        self.assertIn('"question":"what does docker run -p do"', explained)
        self.assertIn("--question", self.run_cli("search", "-s", "tea", "--question", "--query",
                                                 "{}", exit_code=1).stderr)

    def test_takes_any_words_as_words(self):
        for words in (["[a,b]"], ["{}"], ["%%"], ["[a"], ['"'], ["*?"], ["日本語"], ["\x1b"]):
            with self.subTest(words):
                self.search(*words)

    def test_mistakes(self):
        cases = (
            (["--sort", "colour"], "--sort"),
            (["--since", "yesterday"], "--since"),
            (["--since", "yesterday"], "how long ago (30m, 12h, 7d, 4w)"),
            (["--until", "-7d"], "--until"),
            (["--since", "1d", "--until", "2d"], "--until is before --since"),
            (["--min-importance", "high"], "--min-importance"),
            (["--depth", "2"], "--related"),
            (["--relation", "x"], "--related"),
            (["--user", "ann"], "--all"),
            (["--all"], "--all"),
            (["--limit", "-1"], "--limit"),
            (["--after", "nonsense"], "after"),
            (["--query", "{}", "tea"], "--query"),
            (["--query", "{}", "--tag", "x"], "--query"),
            (["--query", "{}", "--limit", "3"], "--query"),
            (["--query", "{"], "JSON"),
            (["--query", ""], "--query"),
            (["--tag", ""], "--tag"),
            (["--since", ""], "--since"),
        )
        for words, named in cases:
            with self.subTest(words):
                self.assertIn(named, self.search(*words, exit_code=1).stderr)

    def test_mistakes_in_a_query_are_told_with_their_place(self):
        error = self.error_of("search", "-s", "tea", "--query", '{"limit":1, "text":7}',
                              exit_code=1)
        self.assertEqual((error["details"]["member"], error["details"]["offset"]), ("text", 19))


class Shown(FindTest):
    def test_json_is_what_the_library_gives(self):
        answer = self.run_json("search", "-s", "tea", "coffee", "--sort", "match")
        self.assertEqual(set(answer), {"results", "next"})
        self.assertEqual(set(answer["results"][0]), {"entry", "session_id", "relevance",
                                                     "decay_factor", "match_quality"})
        self.assertEqual(answer["results"][0]["entry"]["id"], "t1")
        explained = self.run_json("search", "-s", "tea", "coffee", "--explain")
        self.assertIn("best", explained["results"][0]["explain"])

    def test_a_result_tells_what_it_is_and_why_it_is_there(self):
        # 336 hours are the half-life of findings: 0.6 · 0.5 · 1.
        query = '{"text":"milk minutes","now":"2026-01-16T00:00:00Z","ids":["t2"]}'
        lines = self.search("--query", query).stdout.splitlines()
        self.assertEqual(lines[0], "1. t2  finding · 14 days ago · kitchen")
        self.assertEqual(lines[1], "   The kettle boiled for 3 minutes · watts: 2200")
        self.assertRegex(lines[2], r"^   best 1\.4\d? · "
                                   r"relevance 0\.3 = importance 0\.6 × decay 0\.5 × match 1$")
        heading = self.search("coffee").stdout.splitlines()[0]
        self.assertTrue(heading.startswith("1. t1  preference by user · "), heading)

    def test_without_words_there_is_no_match(self):
        query = '{"now":"2026-01-01T12:00:00Z","types":["preference"]}'
        figures = self.search("--query", query).stdout.splitlines()[2]
        self.assertEqual(figures, "   relevance 1.2 = importance 0.8 × decay 1 × recent 1.5")

    def test_ages(self):
        ages = (("2026-01-01T00:00:30Z", "just now"), ("2026-01-01T00:01:00Z", "1 minute ago"),
                ("2026-01-01T00:59:59Z", "59 minutes ago"), ("2026-01-01T02:00:00Z", "2 hours ago"),
                ("2026-01-04T01:00:00Z", "3 days ago"), ("2026-03-05T00:00:00Z", "2 months ago"),
                ("2029-02-01T00:00:00Z", "3 years ago"),
                ("2025-12-31T00:00:00Z", "2026-01-01 00:00:00"))
        for now, age in ages:
            with self.subTest(now):
                query = json.dumps({"ids": ["t1"], "now": now})
                self.assertIn(f" · {age} · ", self.search("--query", query).stdout)

    def test_explains_the_sum(self):
        query = '{"text":"milk minutes","now":"2026-01-16T00:00:00Z","ids":["t2"]}'
        text = self.search("--query", query, "--explain").stdout
        for name, number in (("match", "1.000"), ("neighbours", "0.000"), ("answer", "0.000"),
                             ("stretch", "0.400"), ("role", "0.000"), ("date", "0.000"),
                             ("relevance", "0.015"), ("best", "1.415")):
            with self.subTest(name):
                # Aligned: every number ends in the same column.
                self.assertRegex(text, rf"(?m)^     {name:<12}  {re.escape(number)}(  |$)")
        self.assertRegex(text, r"(?m)^     words  +\d\.\d{3}  minut\w* \d")
        self.assertRegex(text, r"0\.015  importance, decay and recency\n")
        self.assertRegex(text, r"(?m)^Found by    \w")
        self.assertRegex(text, r"(?m)^Looked at   at most \d+ entr")

    def test_explain_tells_the_query_and_the_words(self):
        text = self.run_cli("explain", "-s", "tea", "the", "kettle", "--type", "finding").stdout
        query = json.loads(re.search(r"(?m)^Query +(.*)$", text).group(1))
        self.assertEqual((query["text"], query["types"]), ("the kettle", ["finding"]))
        row = re.search(r"(?m)^kettl\w* +(\d+) +(\d+\.\d{3})$", text)
        self.assertEqual(row.group(1), "2")
        answer = self.run_json("explain", "-s", "tea", "kettle")
        self.assertEqual(answer["query"]["text"], "kettle")
        self.assertIn("terms", answer["answer"]["explain"])

    def test_explain_shows_numbers_as_they_were_given(self):
        text = self.run_cli("explain", "-s", "tea", "kettle", "--min-importance", "0.1").stdout
        self.assertRegex(text, r'(?m)^Query +.*"min_importance":0\.1[,}]')

    def test_no_control_characters(self):
        self.add(entry_line(9, id="e9", content={"message": "red \x1b[31m"}))
        text = self.search("red", "--sort", "match").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("red <U+001B>[31m", text)

    def test_content_of_any_shape_is_shown(self):
        for content in ('"text"', "[1,2]", "{}", "null", "1.5", '{"big":9007199254740993}'):
            with self.subTest(content):
                entry = '{"type":"odd","content":%s}' % content
                self.run_cli("add", "tea", "--json-entry", entry)
                shown = self.search("--type", "odd", "--sort", "time", "-n", "1").stdout
                for part in re.findall(r"\w+", content):
                    if part != "null":
                        self.assertIn(part, shown)


class Memory(CliTest):
    """What many results take, by the largest size of the process."""

    def peak_kb(self, *words):
        with subprocess.Popen([program(), *words], stdout=subprocess.DEVNULL,
                              env=self.environment(), cwd=self.directory) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, words)
        return usage.ru_maxrss

    def test_ids_need_no_text_of_all_results(self):
        self.root.mkdir()
        (self.root / "config.json").write_text('{"storage":{"max_session_size_mb":0}}')
        entries = self.directory / "entries.jsonl"  # in memory here they would count, too
        with entries.open("w") as file:
            for number in range(1, 8001):
                file.write(entry_line(number, content="tea " * 1000))
        self.run_cli("import", "tea", str(entries))
        words = ("search", "-s", "tea", "-n", "0")
        self.assertEqual(len(self.run_cli(*words, "--quiet").stdout.split()), 8000)
        self.assertLess(self.peak_kb(*words, "--quiet"), 0.55 * self.peak_kb(*words, "--json"))


class Questions(CliTest):
    """The conversation of the demo: the answer that a reader of it would give comes first."""

    def test_find_their_answer(self):
        conversation = SOURCE / "examples" / "data" / "ferry-display" / "entries.jsonl"
        self.run_cli("import", "ferry", str(conversation))
        for question, answer in (
            ("When does a silent board raise an alarm?", "fd-057"),
            ("Why are departures skipped?", "fd-015"),
            ("In which order are the quays rolled out?", "fd-046"),
            ('+"phone for the weekend"', "fd-042"),
        ):
            with self.subTest(question):
                found = self.run_cli("search", "-s", "ferry", question, "-n", "1", "-q").stdout
                self.assertEqual(found, f"{answer}\n")


class Tags(FindTest):
    def test_are_a_tree_with_counts(self):
        self.add(entry_line(9, id="e9", tags=["drinks-cold", "drinks.hot.herbal"]))
        lines = self.run_cli("tags", "tea").stdout.splitlines()
        self.assertEqual(lines, ["drinks       3", "  hot        2", "    herbal   1",
                                 "drinks-cold  1", "kitchen      2"])

    def test_json_is_what_the_library_gives(self):
        self.assertEqual(self.run_json("tags", "tea"), {"tags": [
            {"tag": "drinks", "entries": 2}, {"tag": "drinks.hot", "entries": 1},
            {"tag": "kitchen", "entries": 2}]})

    def test_says_when_there_are_none(self):
        self.run_cli("create", "empty")
        done = self.run_cli("tags", "empty")
        self.assertEqual((done.stdout, done.stderr), ("", "No tags.\n"))


class DeleteWhere(FindTest):
    def left(self):
        return set(self.ids())

    def test_deletes_what_the_conditions_find(self):
        cases = (
            (["--tag", "drinks"], {"t2", "t4"}),
            (["--type", "finding"], {"t1", "t3"}),
            (["--since", "2026-01-02", "--until", "2026-01-04"], {"t1", "t4"}),
            (["--text", "kettle"], {"t1", "t4"}),
            (["--text", "kettle", "--type", "finding"], {"t1", "t3", "t4"}),
            (["--where", '{"ids":["t1","t4"]}'], {"t2", "t3"}),
            (["--where", "{}"], set()),
        )
        for words, left in cases:
            with self.subTest(words):
                self.run_cli("drop", "tea", "--yes")
                self.setUp()
                before = len(self.left())
                deleted = self.run_json("delete", "tea", *words, "--yes")
                self.assertEqual(deleted, {"deleted_count": before - len(left)})
                self.assertEqual(self.left(), left)

    def test_tells_how_many_and_keeps_the_reason(self):
        done = self.run_cli("delete", "tea", "--tag", "drinks", "--yes", "--reason", "asked")
        self.assertEqual((done.stdout, done.stderr), ("", "Deleted 2 entries.\n"))
        lines = self.session_file("tea", "tombstones.jsonl").read_text().splitlines()
        self.assertEqual({json.loads(line)["reason"] for line in lines}, {"asked"})
        again = self.run_cli("delete", "tea", "--tag", "drinks")
        self.assertIn("Nothing was found", again.stderr)

    def test_needs_yes_without_a_terminal(self):
        done = self.run_cli("delete", "tea", "--tag", "drinks", exit_code=1)
        self.assertIn("--yes", done.stderr)
        self.assertEqual(len(self.left()), 4)

    def test_asks_on_a_terminal(self):
        words = ("delete", "tea", "--tag", "drinks")
        code, text = self.run_in_terminal(*words, typed="n\n")
        self.assertEqual(code, 1)
        self.assertIn("Delete 2 entries of session tea? [y/N]", text)
        self.assertEqual(len(self.left()), 4)
        self.assertEqual(self.run_in_terminal(*words, typed="y\n")[0], 0)
        self.assertEqual(self.left(), {"t2", "t4"})

    def test_empty_conditions_delete_nothing(self):
        for words in (["--tag", ""], ["--text", ""], ["--where", ""], ["--since", ""],
                      ["--tag", "drinks", "--since", ""], ["--where", "{}", "--tag", "x"],
                      ["t1", "--tag", "drinks"]):
            with self.subTest(words):
                self.run_cli("delete", "tea", *words, "--yes", exit_code=1)
        self.run_cli("delete", "-s", "tea", "t1", "--tag", "drinks", "--yes", exit_code=1)
        self.assertEqual(len(self.left()), 4)


if __name__ == "__main__":
    main()
