"""The order `best` and the days that a question names: docs/retrieval.md#best as it is written."""
import datetime
import re
from collections import Counter

from query_model import HOUR_MS, Found, words_of

DAY_MS = 24 * HOUR_MS
EPOCH = datetime.date(1970, 1, 1)
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December"]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3}
SELF = {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"}


def date_of(time_ms):
    return EPOCH + datetime.timedelta(days=time_ms // DAY_MS)


def day(fits):
    """1 on that day, 0.5 on the day after it."""
    return lambda date: 1 if fits(date) else 0.5 * fits(date - datetime.timedelta(days=1))


def span(fits):
    return lambda date: 0.5 * fits(date)


def named_days(text):
    """2023-05-07, May 7th, in June."""
    months = "|".join(MONTHS)
    for date in re.findall(r"\d{4}-\d\d-\d\d", text):
        yield day(lambda one, date=date: one.isoformat() == date)
    for month, number in re.findall(rf"\b({months}) (\d+)", text):
        wanted = (MONTHS.index(month) + 1, int(number))
        yield day(lambda one, wanted=wanted: (one.month, one.day) == wanted)
    for month in re.findall(rf"(?<=\w)\W+({months})\b(?! \d)", text):
        yield span(lambda one, month=month: one.month == MONTHS.index(month) + 1)


def days_from(today, text):
    """yesterday, 3 days ago, a week ago, last Friday, on Friday, last week, this month."""
    def ago(days):
        wanted = today - datetime.timedelta(days=days)
        return day(lambda one: one == wanted)

    def around(before, after):
        return span(lambda one: before <= (one - today).days <= after)

    def calendar(unit, count):
        """So many months or years ago."""
        months = today.year * 12 + today.month - 1 - count * (1 if unit == "month" else 12)
        wanted = divmod(months, 12)
        return span(lambda one: one.year == wanted[0] and
                    (unit == "year" or one.month == wanted[1] + 1))

    words = " ".join(words_of(text))
    for word, days in (("today", 0), ("yesterday", 1)):
        if re.search(rf"\b{word}\b", words):
            yield ago(days)
    for count, unit in re.findall(r"\b(\d+|a|one|two|three) (day|week|month|year)s? ago\b", words):
        count = NUMBERS.get(count) or int(count)
        yield (ago(count) if unit == "day" else calendar(unit, count) if unit != "week" else
               around(-7 * count - 3, -7 * count + 3))
    for weekday in re.findall(rf"\b(?:last|on) ({'|'.join(WEEKDAYS)})\b", words):
        yield ago((today.weekday() - WEEKDAYS.index(weekday)) % 7 or 7)
    for which, unit in re.findall(r"\b(last|this) (week|month|year)\b", words):
        back = which == "last"
        monday = -today.weekday() - 7 * back
        yield around(monday, monday + 6) if unit == "week" else calendar(unit, back)


class Best(Found):
    """As Found, of sort_by "best" too, with `parts`: what each term of the formula gave."""

    def __init__(self, logs, query, clock_ms, candidates=200, cosines=None):
        self.logs, self.candidates, self.parts = logs, candidates, {}
        super().__init__(logs, query, clock_ms, cosines)

    def ordered(self):
        is_best = self.query["sort_by"] == "best"
        if is_best and self.text.ranks and (self.weights or self.vector):
            return self.by_best()
        if is_best:
            self.query = {**self.query, "sort_by": "match" if self.vector else "relevance"}
        return super().ordered()

    def by_best(self):
        asked = " ".join(self.text.asked)
        self.days = list(named_days(asked)) or list(days_from(date_of(self.now_ms), asked))
        self.roles = {word for kind, text in self.text.plain + self.text.must if kind != "wildcard"
                      for word in words_of(text)}
        self.ranked = {id(entry) for entry in self.entries
                       if self.text.must or self.score(entry) > 0}
        for live, log in zip(self.live, self.logs):
            self.rank(live, self.stretches(log))
        keys = {id(entry): sum(self.parts[id(entry)].values()) if id(entry) in self.parts else
                self.share(entry) - 2 for entry in self.entries if id(entry) in self.ranked}
        fused = self.fused(keys) if self.vector else {}
        matches = self.matches()
        return self.in_order(
            (entry, fused.get(id(entry), keys.get(id(entry))),
             fused.get(id(entry), matches[id(entry)][0])) for entry in self.entries)

    @staticmethod
    def stretches(log):
        """Deleted entries count, until a compaction removes them."""
        number, found = 0, {}
        for before, entry in zip([None, *log], log):
            number += before is not None and abs(entry.time_ms - before.time_ms) > HOUR_MS
            found[id(entry)] = number
        return found

    def share(self, entry):
        return min(1, self.score(entry) / self.peak) if self.peak else 0

    def fit(self, entry):
        return max((fits(date_of(entry.time_ms)) for fits in self.days), default=0)

    def rank(self, live, stretches):
        """The best matches, more on the dates named, and the matches right beside them."""
        found = [at for at, entry in enumerate(live) if id(entry) in self.ranked]
        found.sort(key=lambda at: (self.score(live[at]), live[at].time_ms, at), reverse=True)
        chosen = found[:self.candidates]
        if len(chosen) == self.candidates:
            chosen += [at for at in found if self.fit(live[at]) > 0][:100]
        near = {at + step for at in chosen for step in range(-2, 3)}
        shares = {at: self.share(live[at]) for at in near if 0 <= at < len(live)}
        best_of = Counter()
        for at, share in shares.items():
            best_of[stretches[id(live[at])]] = max(best_of[stretches[id(live[at])]], share)
        for at in found:
            if {at - 1, at, at + 1} & set(chosen):
                entry, before = live[at], shares.get(at - 1, 0)
                asks = before and any(re.search(r"\?(?!\S)", str(text))
                                      for text in live[at - 1].content.values())
                self.parts[id(entry)] = {
                    "match": shares[at], "neighbours": 0.4 * (before + shares.get(at + 1, 0)),
                    "answer": 0.1 * before if asks else 0,
                    "stretch": 0.4 * best_of[stretches[id(entry)]],
                    "role": 0.4 * self.is_named(entry.content.get("role")),
                    "date": 0.8 * self.fit(entry), "relevance": 0.05 * self.weight(entry)}

    def is_named(self, role):
        return role in self.roles or (role == "user" and bool(self.roles & SELF))
