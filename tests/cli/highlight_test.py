"""Which words of what search finds are marked, and which part of a text is shown."""

import json
import re

from cli_support import entry_line, main
from search_test import FindTest

BOLD = re.compile("\x1b\\[1m(.*?)\x1b\\[0m")


def colourless(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


class Highlight(FindTest):
    def marked(self, text, *words):
        """The marked words of a text that is searched for."""
        self.add(entry_line(9, id="marked", content=text), session="marks")
        done = self.run_cli("search", "-s", "marks", "--color", "always", *words)
        self.run_cli("drop", "marks", "--yes")
        return BOLD.findall(done.stdout)

    def test_words_that_begin_alike_are_marked(self):
        cases = (
            ("Boiled water, boiling; BOILS, a boiler.", "boil", ["Boiled", "boiling", "BOILS",
                                                                "boiler"]),
            ("The boat came aboard a board of boards.", "boards", ["board", "boards"]),
            ("Planning a plan; it is plain, planned.", "plan", ["Planning", "plan", "planned"]),
            ("cities and a city", "city", ["cities", "city"]),
            ("We notice that it was noticed.", "noticing", ["notice", "noticed"]),
            ("a card, and care", "care", ["care"]),
            ("encoding, encoded, code", "encod*", ["encoding", "encoded"]),
            ("wood word ward", "w?rd", ["word", "ward"]),
            ("Die ÄRGER und Ärger", "ärger", ["ÄRGER", "Ärger"]),
            ("Łódź ąę žluťoučký", "łódź", ["Łódź"]),
            ("Łódź ąę žluťoučký", "zlutoucky", ["žluťoučký"]),
            ("電子ペーパーの残像がひどい", "残像", ["残像"]),
            ("the quay-3 and quay-4", "quay-3", ["quay-3", "quay"]),
            ("Tiếng Việt, Σίσυφος, ΕΛΛΆΔΑ", "tieng viet σισυφοσ ελλαδα",
             ["Tiếng", "Việt", "Σίσυφος", "ΕΛΛΆΔΑ"]),
            ("Straße und København", "strasse kobenhavn", ["Straße", "København"]),
            ("cafe\u0301 и\u0306од", "café йод", ["cafe\u0301", "и\u0306од"]),
            ("ﬁne ＦＵＬＬ so\u00adft", "fine full soft", ["ﬁne", "ＦＵＬＬ", "so\u00adft"]),
            ("l’homme du PR‑12", "l'homme pr-12", ["l’homme", "PR‑12"]),
            ("한국어를 배우는 중", "한국어", ["한국어"]),
            ("เรียนภาษาไทยกับน้ำ", "ภาษา น้ำ", ["ภาษา", "น้ำ"]),
            ("東京都と東と第3章", "東京都", ["東京都"]),
            ("東京都と東", "東", ["東", "東"]),
            ("ﾃｽﾄの結果", "テスト", ["ﾃｽﾄ"]),
            ("سال ۸۴۴۳ و ๘๔๔๓", "8443", ["۸۴۴۳", "๘๔๔๓"]),
            ("用Python写的script，エラー５００が", "python script 500", ["Python", "script", "５００"]),
            ("API서버와 APIs는", "api*", ["API", "APIs"]),
            ("咖啡店API", "咖*店", ["咖啡店"]),
            ("заказ №42, PR™", "42 pr", ["42", "PR"]),
            ("5️⃣ km", "5", ["5️⃣"]),
            ("قال مُحَمَّد كتـاب أحمد", "محمد كتاب أحمد", ["مُحَمَّد", "كتـاب", "أحمد"]),
            ("قال محمد علی שָׁלוֹם", "مُحَمَّد علي שלום", ["محمد", "علی", "שָׁלוֹם"]),
            ("the tea is on the table", "the tea", ["tea"]),
            ("idx_events_tenant, idx", "idx_events_*", ["idx_events_tenant"]),
            ("at src/app/main.cpp:42.", "src/*.cpp*", ["src/app/main.cpp:42"]),
            ("at src/app/main.cpp:42.", "main.*", ["main.cpp"]),
            ("docker-compose.yml of docker", "docker-c*", ["docker-compose.yml"]),
            ("9fceb02d0ae598e95dc970b74767f19372d61af8 and 9fceb", "9fceb02",
             ["9fceb02d0ae598e95dc970b74767f19372d61af8"]),
            ("getUserProfile of UserGroup, user", "profiles user",
             ["UserProfile", "User", "user"]),
            ("HTTPServers, APIs of WiFi", "server api fi", ["Servers", "APIs", "Fi"]),
            ("userIDs, IDs of an id, the gps", "id", ["IDs", "IDs", "id"]),
            ("gas as a gps, ads, idx", "ga gp ad ids", ["ads"]),
            ("in app/src/main.c:42, lib/src", "src/*.c", ["src/main.c"]),
            ("an e-mail, email, non-e-mail", "email", ["e-mail", "email"]),
            ("UTF-8 or utf8", "UTF8", ["UTF-8", "utf8"]),
            ("of 25MiB in 30ms", "25 mib ms", ["25MiB", "ms"]),
            ("x" * 150 + " and " + "x" * 20, "x" * 150, ["x" * 150]),
            ("commit 9fceb02, 9fceb", "9fceb02d0ae598e95dc970b74767f19372d61af8", ["9fceb02"]),
        )
        for text, word, expected in cases:
            with self.subTest(text):
                self.assertEqual(self.marked(text, word), expected)

    def test_words_of_a_language_whose_endings_are_not_known_are_marked(self):
        cases = (
            ("russian", "Книги, книга и о книгах, ёлка; княгиня", "книга ЁЛКА",
             ["Книги", "книга", "книгах", "ёлка"]),
            ("greek", "Ο Οδυσσέας στην Αθήνα", "ΟΔΥΣΣΕΑΣ αθηνα", ["Οδυσσέας", "Αθήνα"]),
            ("turkish", "Kitaplar, kitapları, kıta", "kitapları", ["Kitaplar", "kitapları"]),
            ("arabic", "إلى المدرسة", "المدرسة", ["المدرسة"]),
            ("hindi", "दिल्ली में किताबें", "दिल्ली किताबें", ["दिल्ली", "किताबें"]),
            ("french", "Éléphants, éléphanteaux", "éléphant", ["Éléphants"]),
            ("spanish", "un niño y una nieta", "+nino", ["niño"]),
        )
        for language, text, words, expected in cases:
            with self.subTest(language):
                (self.root / "config.json").write_text(json.dumps({"text": {"language": language}}))
                self.assertEqual(self.marked(text, words), expected)

    def test_colour_only_where_it_is_wanted(self):
        self.assertNotIn("\x1b", self.search("kettle").stdout)
        words = ("search", "-s", "tea", "kettle")
        self.assertIn("\x1b[1mkettle\x1b[0m", self.run_in_terminal(*words)[1])
        plain = self.run_in_terminal(*words, environment={"NO_COLOR": "1"})[1]
        self.assertNotIn("\x1b", plain)

    def test_the_part_that_matches_is_shown(self):
        text = "begin " + "word " * 200 + "the kettle boils here " + "end " * 200
        self.add(entry_line(9, id="long", content=text), session="long")
        words = ("search", "-s", "long", "kettle", "boil")
        piped = self.run_cli(*words).stdout.splitlines()[1]
        self.assertRegex(piped, r"^   …word .*the kettle boils here end.*…$")
        self.assertLessEqual(len(piped), 203)
        _, shown = self.run_in_terminal(*words, columns=60)
        excerpt = colourless(shown).split("\r\n")[1]
        self.assertRegex(excerpt, r"^   …word .*the kettle boils here end.*…$")
        self.assertLessEqual(len(excerpt), 60)
        # Also where no spaces part the words.
        self.add(entry_line(7, id="thai", content="ข้าว" * 100 + "น้ำชา" + "ข้าว" * 100),
                 session="thai")
        shown = self.run_cli("search", "-s", "thai", "น้ำชา").stdout.splitlines()[1]
        self.assertIn("น้ำชา", shown)
        # The part with more of the words wins over the first.
        self.add(entry_line(8, id="two", content="kettle " + "word " * 90 + "a kettle boils"),
                 session="two")
        shown = self.run_cli("search", "-s", "two", "kettle", "boil").stdout.splitlines()[1]
        self.assertTrue(shown.endswith(" a kettle boils"), shown)
        self.assertNotIn("…", shown[-3:])

    def test_the_part_is_chosen_at_once_in_a_text_that_matches_everywhere(self):
        # To count the words around each of them anew among all others took minutes.
        for between in (" ", ","):
            text = f"tea{between}" * 200_000 + "tea and milk"
            self.add(entry_line(1, id="a", content=text), entry_line(2, id="b", content=text),
                     session=f"long{ord(between)}")
            lines = self.run_cli("search", "-s", f"long{ord(between)}", "tea", "milk").stdout
            shown = [line for line in lines.splitlines() if line.endswith("tea and milk")]
            self.assertEqual(len(shown), 2, lines[:1000])

    def test_lines_keep_within_the_terminal(self):
        self.add(entry_line(9, id="i" * 128, tags=["t" * 60], content={
            "role": "r" * 30, "message": "日本語のとても長い文章 kettle " * 30}))
        for columns in (10, 25, 60, 100):
            for words in (["kettle"], ["kettle", "--explain"], ["日本語"]):
                with self.subTest(columns=columns, words=words):
                    code, text = self.run_in_terminal("search", "-s", "tea", *words, "-n", "3",
                                                      columns=columns)
                    self.assertEqual(code, 0)
                    for line in colourless(text).split("There are more")[0].split("\r\n"):
                        wide = sum(2 if "\u2e80" <= c <= "\uffef" else 1 for c in line)
                        self.assertLessEqual(wide, columns, line)


if __name__ == "__main__":
    main()
