#!/usr/bin/env python3
"""Random texts of many scripts have the words that docs/retrieval.md#words says, each as often
as it says. A failure tells the question and the text.

    VARVE_LIBRARY=libvarve.so text_model_test.py [SEEDS [FIRST]]
"""
import os
import pathlib
import random
import re
import tempfile
import unittest

from query_model import parts_of
from seeds import take_seeds
from text_model import Analysis, is_unspaced, is_word_part
from varve_library import Library

SEEDS = take_seeds(6)
IGNORED = "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]"
WORDS = ["tea", "Café", "ŁÓDŹ", "Straße", "STRASSE", "日本", "東京都", "東", "テスト", "ﾃｽﾄ", "ガラス", "ｶﾞラ",
         "한국어", "한", "ภาษา", "ไทย", "नमस्ते", "العربية", "שלום", "мир", "Йод", "И\u0306од", "ёлка",
         "e\u0301te\u0301", "Σίσυφος", "ΣΊΣΥΦΟΣ", "1", "42", "1,200", "12,345,678", "1.5", "٣٤",
         "34", "၂၀", "໒໐", "20", "２０", "x2", "2nd", "ﬁne", "m²", "😀", "👨‍👩‍👧", "❤️", "ab", "A",
         "b", "ǅ", "İx", "ⅷ", "中", "国", "々", "〇", "龍", "a\u00adb", "ệ", "q\u0323\u0307", "𠮷野",
         "ဗမာ", "ខ្មែរ", "ລາວ", "Ελλάδα", "Ñandú", "Þór", "əl", "ß", "½", "㈱", "葛\U000e0100城",
         "葛城", "ש\u034fל\u200f", "src", "น้ำใจ", "ทำ", "ท\u0e4dา", "ໜ້າ", "ヿ", "за\u0301мок", "ёж",
         "Е\u0308", "أحمد", "مُحَمَّد", "محـمد", "ٱب", "یک", "على", "שָׁלוֹם", "✅", "👍🏽", "🇫🇷",
         "🇩", "e-mail", "UTF-8", "25MiB", "8gb", "v1", "V2.3", "v1.x", "2026-03-14T08:22",
         "2026-03-14", "v２.3", "2026-03-14T08:22:51.5Z", "08:22:51", "11:02:07,345", "08:22"]
BETWEEN = [" ", " ", " ", "-", "_", ".", "/", "\\", "@", ":", "#", "~", "+", "'", "’", ",", ", ",
           "、", "。", " - ", "--", "\n", "", "::", "++ ", "# ", "·", "—", "\u3000",
           "/\u200b", "\u2060-", "\u200e.\u200b", "\u200f"]


def text_of(make):
    return "".join(make.choice(WORDS) + make.choice(BETWEEN) for _ in range(make.randint(1, 6)))


def names_in(text):
    """The words that are all ASCII, which alone capitals divide."""
    found = []
    for match in re.finditer("[A-Za-z0-9]+", text):
        beside = re.sub(IGNORED, "", text[:match.start()])[-1:]
        beside += re.sub(IGNORED, "", text[match.end():])[:1]
        if not any(is_word_part(one) and not is_unspaced(one) for one in beside):
            found.append(match[0])
    return " ".join(found)


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
            # Parts count elsewhere (query_model.py); here those of names that nobody wrote.
            analysis = Analysis(question)
            asked_for = [*analysis.terms, *analysis.one_words,
                         *parts_of(names_in(question), known)]
            terms = {term for term in asked_for if term in known}
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
                           if "*" not in each["term"] and not each["term"].startswith("~")}
            wanted = {term: analysis.terms[term] for term in terms if term in analysis.terms and
                      not (len(term) == 1 and is_unspaced(term))}
            self.assertEqual((frequencies, explain["length"]), (wanted, analysis.length),
                             (question, text))


if __name__ == "__main__":
    unittest.main()
