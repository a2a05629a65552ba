#!/usr/bin/env python3
"""Random texts of many scripts have the words that docs/retrieval.md#words says, each as often
as it says. A failure tells the question and the text.

    VARVE_LIBRARY=libvarve.so text_model_test.py [SEEDS [FIRST]]
"""
import os
import pathlib
import random
import tempfile
import unittest

from seeds import take_seeds
from text_model import Analysis, is_unspaced
from varve_library import Library

SEEDS = take_seeds(6)
WORDS = ["tea", "Café", "ŁÓDŹ", "Straße", "STRASSE", "日本", "東京都", "東", "テスト", "ﾃｽﾄ", "ガラス",
         "ｶﾞラ", "한국어", "한", "ภาษา", "ไทย", "नमस्ते", "العربية", "שלום", "мир", "Йод",
         "И\u0306од", "ёлка", "e\u0301te\u0301", "Σίσυφος", "ΣΊΣΥΦΟΣ", "1", "42", "1,200",
         "12,345,678", "1.5", "٣٤", "２０", "x2", "2nd", "ﬁne", "m²", "😀", "👨‍👩‍👧", "❤️", "ab", "A",
         "b", "ǅ", "İx", "ⅷ", "中", "国", "々", "〇", "龍", "a\u00adb", "ệ", "q\u0323\u0307", "𠮷野",
         "ဗမာ", "ខ្មែរ", "ລາວ", "Ελλάδα", "Ñandú", "Þór", "əl", "ß", "½", "㈱", "葛\U000e0100城", "葛城",
         "ש\u034fל\u200f", "src", "น้ำใจ", "ทำ", "ท\u0e4dา", "ໜ້າ", "ヿ",
         "v1", "V2.3", "v1.x", "2026-03-14T08:22", "2026-03-14", "v２.3"]
BETWEEN = [" ", " ", " ", "-", "_", ".", "/", "\\", "@", ":", "#", "~", "+", "'", "’", ",", ", ",
           "、", "。", " - ", "--", "\n", "", "::", "++ ", "# ", "·", "—", "\u3000",
           "/\u200b", "\u2060-", "\u200e.\u200b", "\u200f"]


def text_of(make):
    return "".join(make.choice(WORDS) + make.choice(BETWEEN) for _ in range(make.randint(1, 6)))


class TextModel(unittest.TestCase):
    def test_texts_have_the_words_that_the_model_finds(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory, self.subTest(seed=seed):
                self.compare(random.Random(seed), pathlib.Path(directory))

    def compare(self, make, directory):
        store = Library(os.environ["VARVE_LIBRARY"]).open_store(
            directory, {"durability": "os", "text": {"language": "none", "stop_words": []}})
        session = store.create()
        texts = [text_of(make) for _ in range(60)]
        session.add_batch([{"id": f"e{number}", "type": "finding", "content": text}
                           for number, text in enumerate(texts)])
        analyses = [Analysis(text) for text in texts]
        known = {term for analysis in analyses for term in analysis.terms}
        asked = [text_of(make).strip() for _ in range(60)] + WORDS
        for question in asked:
            terms = {term for term in Analysis(question).terms if term in known}
            answer = session.query({"text": question, "sort_by": "match", "explain": True})
            self.check(question, terms, texts, analyses, answer)
        session.close()
        store.close()

    def check(self, question, terms, texts, analyses, answer):
        """One character of a script without spaces is any word's: that is not compared here."""
        found = {result["entry"]["id"]: result["explain"] for result in answer["results"]}
        for number, (text, analysis) in enumerate(zip(texts, analyses)):
            explain = found.get(f"e{number}", {"terms": [], "length": analysis.length})
            frequencies = {each["term"]: each["frequency"] for each in explain["terms"]
                           if "*" not in each["term"]}
            wanted = {term: analysis.terms[term] for term in terms if term in analysis.terms and
                      not (len(term) == 1 and is_unspaced(term))}
            self.assertEqual((frequencies, explain["length"]), (wanted, analysis.length),
                             (question, text))


if __name__ == "__main__":
    unittest.main()
