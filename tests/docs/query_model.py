"""What a query finds, in which order and with which figures: docs/query.md and docs/retrieval.md as
they are written, without any of the library's ways. For texts of ASCII whose words are not stemmed,
and all orders but `best` (best_model.py).
"""
import array
import math
import re
from collections import Counter

STOP_WORDS = {"the", "how", "to", "do", "i", "itself"}
HOUR_MS = 3_600_000
KEY_ERROR = 1e-12  # keys that differ by less are the same
UNITS = {"s": 1000, "m": 60_000, "h": HOUR_MS, "d": 24 * HOUR_MS, "w": 7 * 24 * HOUR_MS}
HALF_LIFE = {"conversation": 168, "finding": 336, "decision": 720}


def words_of(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def compounds_of(text):
    """pr-1234; src/main.c and its part main.c."""
    found = []
    for token in re.findall(r"[a-z0-9]+(?:[-./_][a-z0-9]+)+", text.lower()):
        parts = token.split("/")
        found += [token] + [part for part in parts if len(parts) > 1 and re.search("[-._]", part)]
    return found


def parts_of(text, known=()):
    """What capitals divide words that are not known into: get and user of getUser; a number and
    its unit."""
    found = []
    for word in re.findall(r"[A-Za-z0-9]+", text):
        if unit := re.fullmatch(r"([0-9]+)((?!(?:st|nd|rd|th)$)[A-Za-z]{2,3})", word):
            found += [] if word.lower() in known else [part.lower() for part in unit.groups()]
            continue
        parts = re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", word)
        is_name = 1 < len(parts) <= min(8, len(word) // 2) and re.search("[a-z]", word)
        if is_name and word.lower() not in known:
            found += [part.lower() for part in parts if len(part) > 1]
    return found


def one_words_of(text):
    """What hyphens join two and two, as one word: todo of to-do."""
    pair = r"(?<![a-z0-9-])(?<![a-z0-9]-)([a-z0-9]+)-([a-z0-9]+)(?!-?[a-z0-9])"
    joined = [first + second for first, second in re.findall(pair, text.lower())]
    return [word for word in joined if not word.isdigit()]


class Entry:
    def __init__(self, given, time_ms, expires_ms, session):
        self.given, self.time_ms, self.expires_ms = given, time_ms, expires_ms
        self.session, self.id, self.vector, self.is_deleted = session, given["id"], None, False
        self.content, self.tags = given["content"], given.get("tags", [])
        self.importance = given.get("importance", 0.5)
        texts = [text for text in [*self.content.values(), *self.tags] if isinstance(text, str)]
        self.words = [words_of(text) for text in texts]
        self.terms = Counter(word for words in self.words for word in words)
        for text in texts:
            self.terms.update(compounds_of(text))
        self.length = sum(word not in STOP_WORDS for words in self.words for word in words)
        self.parts = Counter(part for text in texts
                             for part in parts_of(text) + one_words_of(text))
        self.links = set(given.get("references", []))

    def has_tag(self, tag):
        return any(own == tag or own.startswith(tag + ".") for own in self.tags)


class Text:
    """A query's text: units by their sign, each a phrase, a wildcard or a word. A question has no
    signs and no wildcards."""

    def __init__(self, text, question):
        self.plain, self.must, self.excluded, self.asked = [], [], [], []
        text = text or self.without_signs(question)
        for sign, quoted, bare in re.findall(r'(?:(?<=\s)|^)([+-]?)(?:"([^"]*)"|(\S+))', text):
            kind = "phrase" if quoted else "wildcard" if re.search(r"\*|\?\w", bare) else "word"
            unit = (kind, quoted or bare.rstrip("?"))
            {"+": self.must, "-": self.excluded, "": self.plain}[sign].append(unit)
            if sign != "-":
                self.asked.append(unit[1])
        if all(kind == "phrase" for kind, _ in self.plain):
            self.must, self.plain = self.must + self.plain, []
        self.ranks = bool(self.plain or self.must)

    @staticmethod
    def without_signs(question):
        return " ".join(re.sub(r"[*?]", " ", each).lstrip("+-") for each in
                        re.findall(r'"[^"]*"|[^\s"]+', question))

    def terms(self, known):
        """Words and compounds; stop words only where there is nothing else. Parts of a plain word
        that is not known are asked for beside it."""
        asked = self.plain + self.must
        words = [word for kind, text in asked if kind != "wildcard" for word in words_of(text)]
        words += [part for kind, text in asked if kind == "word"
                  for part in parts_of(text, known | STOP_WORDS) + one_words_of(text)]
        found = [word for word in words if word not in STOP_WORDS]
        found += [term for kind, text in asked if kind == "word" for term in compounds_of(text)]
        has_others = found or any(kind == "wildcard" for kind, _ in asked)
        return list(dict.fromkeys(found if has_others else words))

    @staticmethod
    def is_in(unit, entry):
        kind, text = unit
        compound = compounds_of(text)[:1]
        if kind == "wildcard" or kind == "word" and compound:
            pattern = re.escape(text.lower()).replace(r"\*", ".*").replace(r"\?", ".")
            if "/" in text:  # also within a longer path
                pattern = f"(.*/)?{pattern}(/.*)?"
            return any(re.fullmatch(pattern, term) for term in entry.terms)
        wanted = words_of(text)
        if kind == "word":
            return all(term in entry.terms for term in wanted)
        return any(wanted == words[at:at + len(wanted)] for words in entry.words
                   for at in range(len(words)))

    def allows(self, entry):
        return (all(self.is_in(unit, entry) for unit in self.must) and
                not any(self.is_in(unit, entry) for unit in self.excluded))


class Found:
    """The answer to a query: `rows`, in order, each (entry, key, relevance, match_quality)."""

    def __init__(self, logs, query, clock_ms, cosines=None):
        """logs: the entries of each session asked, in the order in which they were added. cosines:
        by session and id, as the library has them where that is all but equal."""
        self.cosines, self.error = cosines or {}, 0 if cosines else KEY_ERROR
        self.log, self.query = [entry for log in logs for entry in log], query
        self.now_ms = query.get("now_ms", clock_ms)
        over_ms = max(self.now_ms, clock_ms)
        self.live = [[each for each in log if not each.is_deleted and each.expires_ms > over_ms]
                     for log in logs]
        self.text = Text(query.get("text", ""), query.get("question", ""))
        self.vector = array.array("f", query.get("vector", []))
        entries = [entry for live in self.live for entry in self.matching(live)]
        self.weigh(entries)
        self.entries = [entry for entry in entries if self.is_found(entry)]
        self.peak = max(map(self.score, self.entries), default=0)
        self.rows = self.ordered()

    def matching(self, live):
        near = self.reached(live) if "references" in self.query else {entry.id for entry in live}
        return [entry for entry in live
                if entry.id in near and self.passes(entry) and self.text.allows(entry)]

    def reached(self, live):
        """Breadth first, outwards and inwards, through entries of one session that live."""
        ids, seen = {entry.id: entry for entry in live}, set(self.query["references"])
        frontier = seen
        for _ in range(self.query["max_depth"]):
            out = {link for id_ in frontier if id_ in ids for link in ids[id_].links}
            into = {entry.id for entry in live if entry.links & frontier}
            frontier = ((out | into) & ids.keys()) - seen
            seen = seen | frontier
        return seen - set(self.query["references"])

    def passes(self, entry):
        query, tags, time = self.query, self.query.get("tags", {}), self.query.get("time", {})
        include = [entry.has_tag(tag) for tag in tags.get("include", [])]
        last = time.get("last")
        since_ms = self.now_ms - int(last[:-1]) * UNITS[last[-1]] if last else 0
        return (entry.given["type"] in (query.get("types") or [entry.given["type"]]) and
                entry.id in (query.get("ids") or [entry.id]) and
                (not include or (all if tags.get("match") == "all" else any)(include)) and
                not any(entry.has_tag(tag) for tag in tags.get("exclude", [])) and
                max(since_ms, time.get("start_ms", 0)) <= entry.time_ms and
                entry.time_ms < time.get("end_ms", math.inf) and
                entry.importance >= query.get("min_importance", 0) and
                query.get("trace_id") in (None, entry.given.get("trace_id")) and
                query.get("content", {}).items() <= entry.content.items())

    def is_found(self, entry):
        has_words = not self.text.plain or self.text.must or self.score(entry) > 0
        if not self.vector:
            return has_words
        return entry.vector is not None or (self.text.ranks and has_words)

    def weigh(self, entries):
        """The weight of each term, and by whom it is had how often."""
        log = self.log
        self.average_length = sum(entry.length for entry in log) / max(1, len(log))
        terms = self.text.terms({term for entry in log for term in entry.terms})
        had = [{id(entry): entry.terms[term] for entry in log if term in entry.terms}
               for term in terms]
        as_parts = [({id(entry): entry.parts[term] for entry in log if term in entry.parts},
                     len(rows)) for term, rows in zip(terms, had) if term not in STOP_WORDS]
        for unit in dict.fromkeys(self.text.plain + self.text.must):
            if unit[0] == "wildcard":
                had.append({id(entry): 1 for entry in log if Text.is_in(unit, entry)})
            elif unit[0] == "phrase" and unit in self.text.plain:
                had.append({id(entry): 1 for entry in entries if Text.is_in(unit, entry)})
        self.weights = [(self.idf(len(rows)), rows) for rows in had if rows]
        self.weights += [(self.idf(len(rows) + count) / 2, rows) for rows, count in as_parts
                         if rows]

    def idf(self, count):
        """Word and part together may be in more than there are."""
        count = min(count, len(self.log))
        return math.log(1 + (len(self.log) - count + 0.5) / (count + 0.5))

    def score(self, entry):
        norm = 0.9 * (0.25 + 0.75 * entry.length / (self.average_length or 1))
        counts = [(idf, rows.get(id(entry), 0)) for idf, rows in self.weights]
        return sum(idf * 1.9 * count / (count + norm) for idf, count in counts)

    def weight(self, entry):
        """Importance, decay and recency."""
        age = max(0, self.now_ms - entry.time_ms) / HOUR_MS
        decay = max(0.1, 0.5 ** (age / HALF_LIFE.get(entry.given["type"], 168)))
        if entry.given["type"] == "preference":
            decay = 1
        return entry.importance * decay * (1.5 if age < 24 else 1)

    def cosine(self, entry):
        product = sum(a * b for a, b in zip(self.vector, entry.vector))
        own = product / math.hypot(*self.vector) / math.hypot(*entry.vector)
        told = self.cosines.get((entry.session, entry.id), own)
        return told if abs(told - own) < KEY_ERROR else own

    def matches(self):
        """By entry: (match_quality, the key of "match")."""
        if self.vector and not self.text.ranks:
            near = {id(entry): self.cosine(entry) for entry in self.entries}
            return {each: (max(0.0, cosine), cosine) for each, cosine in near.items()}
        if self.vector:
            return {each: (share, share) for each, share in self.fused().items()}
        if not self.weights:
            return {id(entry): (1.0, self.weight(entry)) for entry in self.entries}
        scores = {id(entry): self.score(entry) for entry in self.entries}
        return {each: (score / self.peak if self.peak else 1.0, score)
                for each, score in scores.items()}

    def fused(self, by_words=None):
        if by_words is None:
            by_words = {id(entry): self.score(entry) for entry in self.entries
                        if self.text.must or self.score(entry) > 0}
        near = {id(entry): self.cosine(entry) for entry in self.entries if entry.vector is not None}
        weight, shares = self.query.get("vector_weight", 0.5), Counter()
        for share, keys, error in ((1 - weight, by_words, KEY_ERROR), (weight, near, self.error)):
            for each, key in keys.items():
                better = sum(other > key + error for other in keys.values())
                of_all = share if each in near else min(1, 2 * share)
                shares[each] += of_all * 61 / (60 + 1 + better)
        return shares

    def ordered(self):
        found, matches = [], self.matches()
        for entry in self.entries:
            quality, match = matches[id(entry)]
            key = {"time": entry.time_ms, "importance": entry.importance,
                   "relevance": self.weight(entry) * quality, "match": match}
            found.append((entry, key[self.query["sort_by"]], quality))
        return self.in_order(found)

    def in_order(self, found):
        """found: (entry, key, match_quality) of each."""
        rows = [(entry, key, self.weight(entry) * quality, quality)
                for entry, key, quality in found
                if self.weight(entry) * quality >= self.query.get("min_relevance", 0)]
        rows.reverse()  # added last, first
        rows.sort(key=lambda row: row[0].session)
        rows.sort(key=lambda row: (row[1], row[0].time_ms), reverse=True)
        return rows[::-1] if self.query.get("order") == "asc" else rows
