"""Random entries and queries of few words, tags and times, so that they meet."""
import datetime
import random

from query_model import HOUR_MS

CLOCK_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
WORDS = ["tea", "kettle", "kettles", "flow", "token", "tokens", "the", "how", "to-do", "user",
         "assistant", "teaFlow", "teaFlow", "userToken", "toTheKettle", "HTTPUser", "myTokens",
         "userDo", "itSelf", "self", "pr-1234", "PR", "1234", "open_ticket", "src/main.c",
         "main.c", "lib/src/main.c", "src/main.c/x", "40MiB", "40", "MiB", "todo", "pr1234", "i",
         "we"]
DAYS = ["2026-01-05", "January 5th", "in January", "in December", "yesterday", "3 days ago",
        "today", "last Friday", "on Monday", "last week", "two months ago", "last month",
        "a week ago", "-2026-01-05", "-yesterday"]
WILDCARDS = ["tok*", "kettl?s", "*ow", "o*", "pr-*", "main.?", "tea*", "zz*", "src/*",
             "src/m*.c", "*/src/*"]
TAGS = ["drinks", "security", "security.login", "securityx", "x.y.z", "x.y", "x"]
TYPES = ["conversation", "finding", "decision", "preference", "odd"]
HOURS_AGO = [0, 0.5, 1, 2, 23, 24, 25, 50, 73, 100, 120, 168, 500, 1500, 5000, -1, -30]
IDS = [f"e{number}" for number in range(20)] + ["nobody"]


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def public(query):
    """As the library takes it: times as texts."""
    shown = {name: value for name, value in query.items() if name != "now_ms"}
    if "now_ms" in query:
        shown["now"] = rfc3339(query["now_ms"])
    if "time" in query:
        shown["time"] = {name.removesuffix("_ms"): rfc3339(value) if name.endswith("_ms") else value
                         for name, value in query["time"].items()}
    return shown


class Maker(random.Random):
    """Makes entries and queries of few words, tags and times, so that they meet."""

    def moment(self):
        return CLOCK_MS - int(self.choice(HOURS_AGO) * HOUR_MS) - self.choice([0, 0, 1])

    def some(self, values, most):
        return self.sample(values, self.randint(0, most))

    def sentence(self):
        return " ".join(self.choices(WORDS, k=self.randint(0, 5))) + self.choice(
            ["", ".", "?", "? Yes."])

    def optional(self, members):
        """{name: (how often of one, what)}: some of them."""
        return {name: make() for name, (share, make) in members.items() if self.random() < share}

    def entry(self, id_):
        content = {"message": self.sentence(), **self.optional({
            "role": (0.5, lambda: self.choice(["user", "assistant"])),
            "n": (0.5, lambda: self.choice([1, 2, None, "1"]))})}
        return {"id": id_, "type": self.choice(TYPES), "content": content,
                **self.optional({
                    "tags": (0.6, lambda: self.some(TAGS, 3)),
                    "importance": (0.7, lambda: self.choice([0, 0.25, 0.5, 1])),
                    "references": (0.4, lambda: self.choices(IDS, k=2)),
                    "trace_id": (0.2, lambda: self.choice(["t1", "t2"]))})}

    def text(self):
        """Phrases all have a sign, or none: what weighs a phrase takes no heed of signed ones."""
        phrase_signs = self.choice([[""], ["+", "-"]])

        def unit():
            kind, sign = self.random(), self.choice(["", "", "", "+", "-"])
            if kind < 0.25:
                words = " ".join(self.choices(WORDS, k=self.randint(1, 2)))
                return f'{self.choice(phrase_signs)}"{words}"'
            return sign + self.choice(WORDS if kind < 0.8 else WILDCARDS)
        units = [unit() for _ in range(self.randint(1, 4))]
        return " ".join(units + self.choices(DAYS, k=self.choice([0, 1])))

    def query(self):
        start, end = sorted([self.moment(), self.moment()])
        members = {
            self.choice(["text", "text", "question"]): (0.6, self.text),
            "types": (0.2, lambda: self.some(TYPES, 3)),
            "tags": (0.25, lambda: self.optional({
                "include": (0.7, lambda: self.some(TAGS, 2)),
                "exclude": (0.4, lambda: self.some(TAGS, 2)),
                "match": (0.5, lambda: self.choice(["any", "all"]))})),
            "time": (0.25, lambda: self.optional({
                "start_ms": (0.6, lambda: start), "end_ms": (0.6, lambda: end),
                "last": (0.3, lambda: self.choice(["24h", "2d", "1w", "90m"]))})),
            "min_importance": (0.15, lambda: self.choice([0, 0.25, 0.3, 1])),
            "min_relevance": (0.15, lambda: self.choice([0, 0.01, 0.123456])),
            "references": (0.2, lambda: self.sample(IDS, self.randint(1, 2))),
            "ids": (0.1, lambda: self.some(IDS, 8)),
            "trace_id": (0.1, lambda: self.choice(["t1", "t3"])),
            "content": (0.1, lambda: self.choice([{"role": "user"}, {"n": 1}, {"n": None}, {}])),
            "vector": (0.2, lambda: [self.uniform(-1, 1) for _ in range(3)]),
            "order": (0.3, lambda: self.choice(["asc", "desc"])),
            "now_ms": (0.3, lambda: CLOCK_MS + self.choice([-200, -24, 0, 24]) * HOUR_MS)}
        query = {"sort_by": self.choice(["relevance", "match", "time", "importance", "best", "best",
                                          "best"]),
                 **self.optional(members)}
        if "references" in query:
            query["max_depth"] = self.randint(1, 4)
        if "vector" in query:
            query["vector_weight"] = self.choice([0, 0.2, 0.5, 1])
        return query
