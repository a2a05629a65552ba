"""Which words a text has: the table and the rules of docs/retrieval.md#words as they are written,
by what Python's own tables say of characters. Of a language that is not stemmed.
"""
import re
import unicodedata
from collections import Counter

PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i",
                       "æ": "ae", "œ": "oe", "þ": "th", "\u0671": "\u0627", "\u0649": "\u064a",
                       "\u06cc": "\u064a", "\u06a9": "\u0643"})
EMOJI = re.compile("[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u2767\U0001f000-\U0001faff]")
UNSPACED = ("CJK ", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "IDEOGRAPHIC", "HANGUL", "THAI",
            "LAO", "KHMER", "MYANMAR")
IGNORED = "\u200b\u200c\u200d\u200e\u200f\u00ad\u034f\u2060\ufeff\ufe0f\U000e0100\U0001f3fd"
IGNORED += "\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"  # of Arabic
IGNORED += "\u05b0\u05b4\u05b8\u05b9\u05bc\u05c1\u05c2"  # of Hebrew
# Two letters of which no flag is made.
APART = re.compile(f"([\U0001f1e6-\U0001f1ff])[{IGNORED}]+(?=[\U0001f1e6-\U0001f1ff])")
APOSTROPHES = "'’"
HYPHENS = "-\u2010\u2011"
CONNECTORS = "_-./\\@:+#~" + APOSTROPHES
# Of a compound: a version without its v, the day and the clock of a time.
DAY = r"(\d{4}-\d\d-\d\d)t"
PARTS = [re.compile(each, re.A | re.S) for each in (
    r"v(\d+\.\d.*)", DAY + r"\d\d", rf"(?:{DAY})?(?P<clock>\d\d:\d\d:\d\d)(?![\d:])",
    rf"(?:{DAY})?(?P<clock>\d\d:\d\d)(?::\d\d)?(?![\d:])")]
ENDING_A_PART = "/\\@:+#~"

STRESS = "\u0300\u0301"
CYRILLIC_VOWELS = "аеиоуыэюяєі"


def is_dropped(mark, letter):
    """Whether a mark falls away behind a letter, both decomposed."""
    if unicodedata.name(letter, "").startswith(("LATIN", "GREEK")):
        return True
    if letter == "\u0627":  # alef
        return mark in "\u0653\u0654\u0655"
    return mark in STRESS and letter in CYRILLIC_VOWELS or letter + mark == "е\u0308"


def is_unspaced(character):
    """Of a script without spaces; its marks as well."""
    is_letter = unicodedata.category(character)[0] in "LM" or character == "〇"
    return is_letter and unicodedata.name(character, "").startswith(UNSPACED)


def is_word_part(character):
    return unicodedata.category(character)[0] in "LMN"


def folded(word):
    """Compatibility form, case folded, composed; Latin and Greek letters lose their accents,
    Cyrillic vowels their stress and the dots of yo, alef what it bears; digits are those of
    ASCII."""
    shown = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    kept, letter = "", ""
    for character in unicodedata.normalize("NFD", shown):
        if unicodedata.category(character)[0] != "M":
            letter = character
        elif letter and is_dropped(character, letter):
            continue
        kept += character
    shown = unicodedata.normalize("NFC", kept).translate(PLAIN).replace("’", "'")
    return "".join(str(unicodedata.decimal(each, each)) for each in shown)


def runs_of(text):
    """Letters, marks and numbers of one kind: (begin, end, of a script without spaces)."""
    runs, at = [], 0
    while at < len(text):
        begin, kind = at, is_unspaced(text[at])
        while at < len(text) and is_word_part(text[at]) and (
                is_unspaced(text[at]) == kind or unicodedata.category(text[at])[0] == "M"):
            at += 1
        if any(unicodedata.category(character)[0] in "LN" for character in text[begin:at]):
            runs.append((begin, at, kind))
        at = max(at, begin + 1)
    return runs


def compounds_of(text, runs):
    """Of runs that are joined, and C++ and C#: all of it, and its parts."""
    end = runs[-1][1]
    tail = re.match(r"\+\+(?!\+)|#", text[end:])
    if tail and not any(is_word_part(character) for character in text[end:][tail.end():][:1]):
        end += tail.end()
    begins = [begin for begin, *_ in runs if begin == runs[0][0] or
              text[begin - 1] in ENDING_A_PART]
    ends = [begin - 1 for begin in begins[1:]] + [end]
    found = [text[runs[0][0]:end]] + [text[b:e] for b, e in zip(begins, ends)]
    compounds = [folded(one) for one in found if not all(map(is_word_part, one))]
    parts = [found["clock"] if "clock" in found.groupdict() else found[1]
             for one in compounds for each in PARTS if (found := each.match(one))]
    return list(dict.fromkeys(compounds + parts))


def one_words_of(text, groups):
    """What hyphens join two and two, as one word: email of e-mail."""
    found = []
    for runs in groups:
        hyphens = [text[begin - 1] in HYPHENS for begin, *_ in runs[1:]]
        for at, is_hyphen in enumerate(hyphens):
            if is_hyphen and not any(hyphens[max(0, at - 1):at] + hyphens[at + 1:at + 2]):
                words = [folded(text[begin:end]) for begin, end, _ in runs[at:at + 2]]
                if not all(re.fullmatch("[0-9]+", word) for word in words):
                    found.append("".join(words))
    return found


def without_thousands(text):
    """1,200 is 1200, but x1,200 is x1 and 200, and 08:22:51,345 ends with a fraction."""
    def number(found):
        behind = re.search(r"(.):\d\d:$", text[:found.start()], re.S)
        if behind and is_word_part(behind[1]) and not is_unspaced(behind[1]):
            if re.match(r"\d\d,", found[0]):
                return found[0][:3] + without_thousands(found[0][3:])
        before = text[:found.start()][-1:]
        is_word = not before or not is_word_part(before) or is_unspaced(before)
        first, rest = found[0].split(",", 1)
        return first + ("" if is_word else ",") + rest.replace(",", "")
    return re.sub(r"\d+(?:,[0-9]{3}(?![^\W_]))+", number, text)


class Analysis:
    """`terms` with how often each occurs; `length` in words."""

    def __init__(self, text):
        text = APART.sub(r"\1 ", text)
        text = "".join(character for character in text if character not in IGNORED)
        text = without_thousands(text)
        runs = runs_of(text)
        words = [word for run in runs for word in self.words_of(text, run)]
        self.length, self.terms = len(words), Counter(words)
        for joined in self.joined(text, runs):
            self.terms.update(compounds_of(text, joined))
        self.terms.update(EMOJI.findall(text))
        self.one_words = one_words_of(text, self.joined(text, runs))

    @staticmethod
    def words_of(text, run):
        word = folded(text[run[0]:run[1]])
        if not run[2] or len(word) == 1:
            return [word]
        return [word[at:at + 2] for at in range(len(word) - 1)]

    @staticmethod
    def joined(text, runs):
        """Neighbouring runs with one connector between them; none of a script without spaces."""
        groups, end = [], None  # of the run before, where it can be joined to
        for run in runs:
            if end is not None and run[0] == end + 1 and text[end] in CONNECTORS and not run[2]:
                groups[-1].append(run)
            elif not run[2]:
                groups.append([run])
            end = None if run[2] else run[1]
        return groups
