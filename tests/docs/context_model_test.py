#!/usr/bin/env python3
"""Random requests give the contexts that docs/context.md says, of one session and across those of
a store, whatever was deleted or has expired. A failure tells its seed.

    VARVE_LIBRARY=libvarve.so context_model_test.py [SEEDS [FIRST]]
"""
import datetime
import os
import random
import unittest

from context_model import Built, Entry, Session
from memory_model import HOUR_MS, estimate
from seeds import take_seeds
from varve_library import Library

CLOCK_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(20)
REQUESTS = 30
WORDS = ["tea", "kettle", "Lund", "東京", "```", "====", "\n", "\u2028", "(é)", "😀", "12", "-", "#"]
QUESTIONS = ["Where is tea?", "lund kettle 12", "東京", "lund -tea +12 k*?", "Open weather"]
ROLES = ["user", "assistant", "system", "Bob", "user: no. a:b"]
IDS = [f"e{number}" for number in range(30)] + ["last", "nobody"]
USERS, AGENTS = ["ann", "ann", "bob", None], ["guide", "clerk", None]
OWN, OTHERS = "own", ["other0", "other1", "other2"]
TYPES = ["tool_call", "tool_result", "message", "finding"]


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


def count_bytes(text):
    return len(text.encode())


class Maker(random.Random):
    def some(self, values, most):
        return self.sample(values, self.randint(0, most))

    def optional(self, members):
        """{name: (how often of one, what)}: some of them."""
        return {name: make() for name, (share, make) in members.items() if self.random() < share}

    def sentence(self):
        return " ".join(self.choices(WORDS, k=self.randint(0, 6)))

    def tool_content(self, detail):
        errors = [None, False, "", {}, True, {"code": 5}, self.sentence()]
        failure = {"error": (0.4, lambda: self.choice(errors))} if detail == "result" else {}
        return self.optional({
            "name": (0.8, lambda: self.choice(["weather", "open"])),
            detail: (0.8, lambda: self.choice([self.sentence(), {"b": 1, "a": "é\n"}, 5])),
            **failure,
            "call_id": (0.7, lambda: self.choice(["c1", "c2", "call_0123456789"]))})

    def content(self, type_):
        if type_ in ("tool_call", "tool_result"):
            return self.tool_content("arguments" if type_ == "tool_call" else "result")
        texts = [self.sentence(), self.sentence(), "", None]
        said = {"role": self.choice(ROLES), "message": self.choice(texts), **self.optional(
            {"refusal": (0.2, lambda: self.choice(texts)),
             "name": (0.3, lambda: self.choice(["Ann", "Li Na", "user", "Bo): I do. user (Ann"]))})}
        return self.choice([said, said, self.sentence(), {"text": self.sentence()},
                            {"n": 1, "a": self.sentence()}, 5, [self.sentence()]])

    def entry(self, id_, types=TYPES):
        type_ = self.choice(types)
        return {"id": id_, "type": type_, "content": self.content(type_), **self.optional({
            "importance": (0.6, lambda: self.choice([0, 0.25, 0.5, 1])),
            "relations": (0.2, lambda: {"after": self.choices(IDS, k=2)}),
            "references": (0.4, lambda: self.choices(IDS[:12], k=2))})}

    def retrieval(self):
        words = self.choice(["tea", "kettle lund", "東京", "+tea 12", "weather", "nothing"])
        order = self.choice(["best", "match", "time", "importance", "relevance"])
        types = {"types": self.sample(TYPES, self.randint(1, 2))}
        one = self.choice([
            {"recency": self.randint(0, 8)}, {"importance": self.randint(0, 8)}, types,
            {"query": {"text": words, "sort_by": order, "limit": self.randint(0, 9)}},
            {"query": {"sort_by": order, **self.optional({"order": (0.5, lambda: "asc")})}}])
        return {**one, **(types if self.random() < 0.3 else {})}

    def budget(self):
        reserve = self.choice([0, 0, 100])
        most = self.choice([0, 1, 80, self.randint(20, 150), self.randint(20, 400),
                            self.randint(20, 1500), 10**6])
        return {"max_tokens": reserve + most, "reserve_tokens": reserve}

    def across(self):
        names = [OWN, *OTHERS, "gone"]
        user = {"user_id": self.choice([*USERS[:3], "eve"])}
        agent = {"agent_id": self.choice([*AGENTS[:2], "nobody"])}
        sessions = {"session_ids": self.choices(names, k=self.randint(1, 4))}
        return self.choice([{}, {}, user, user, sessions, sessions, agent, {**user, **agent},
                            {**user, **sessions}])

    def request(self):
        measures = ["temporal", "importance", "match"]
        return self.optional({
            "question": (0.5, lambda: self.choice(QUESTIONS)),
            "retrieve": (0.5, lambda: [self.retrieval() for _ in range(self.randint(0, 3))]),
            "rank": (0.4, lambda: [{name: self.choice([0, 0.3, 1, 7])} for name in
                                   self.sample(measures, self.randint(1, 3))]),
            "keep_together": (0.4, lambda: self.choice([True, False])),
            "pinned": (0.4, lambda: self.some(IDS, 3)),
            "exclude_ids": (0.3, lambda: self.some(IDS, 6)),
            "across": (0.4, self.across),
            "format": (0.8, lambda: self.choice(["markdown", "plain", "json", "chat"])),
            "now_ms": (0.3, lambda: CLOCK_MS + self.choice([-30, -1, 0, 1, 30]) * HOUR_MS),
            "budget": (0.9, self.budget)})


class Run:
    """A store with a few sessions, of which one is asked for contexts, and the model of it."""

    def __init__(self, seed):
        self.make = Maker(seed)
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = CLOCK_MS
        self.store = self.library.open_store("memory:")
        self.count = self.make.choice([count_bytes, estimate])
        self.store.set_token_counter(None if self.count is estimate else len)
        self.sessions, self.handles = [], {}
        own = self.create(OWN)
        for number in range(self.make.randint(1, 30)):
            self.add(own, self.make.entry(IDS[number]))
        for name in OTHERS[:self.make.randint(2, 3)]:
            other, types = self.create(name), self.make.choice([TYPES, TYPES[:2]])
            for id_ in self.make.sample(IDS[:30], self.make.randint(1, 20)):
                self.add(other, self.make.entry(id_, types))

    def create(self, name):
        session = Session(name, self.make.choice(USERS), self.make.choice(AGENTS))
        whose = {"user_id": session.user, "agent_id": session.agent}
        self.handles[name] = self.store.create(
            session_id=name, **{member: value for member, value in whose.items() if value})
        self.sessions.append(session)
        return session

    def add(self, session, given):
        """Entries of two sessions have different times: the page orders only those of one."""
        time_ms = CLOCK_MS - self.make.choice([0, 1, 10]) * self.make.randint(-1, 8) * HOUR_MS
        time_ms += 1000 * self.sessions.index(session)
        expires_ms = CLOCK_MS + self.make.choice([-1, 0, 1, 40]) * HOUR_MS
        expires = self.make.optional({"expires_at": (0.15, lambda: rfc3339(expires_ms))})
        self.handles[session.name].add({**given, "timestamp": rfc3339(time_ms), **expires})
        session.log.append(Entry(session.name, given, rfc3339(time_ms), time_ms,
                                 expires_ms if expires else float("inf"), len(session.log)))

    def change(self):
        """Deletes some in each session, adds one, and rewrites the log."""
        for session in self.sessions:
            handle = self.handles[session.name]
            for entry in session.log:
                is_live = not entry.is_deleted and entry.expires_ms > CLOCK_MS
                if is_live and self.make.random() < 0.1:
                    handle.delete(entry.id, "a test")
                    entry.is_deleted = True
            handle.compact()
            self.add(session, self.make.entry("last"))

    def ask(self, query, names):
        """By key, in order: what a measure of the match is made of."""
        query = {**query, "session_ids": names, "explain": True}
        found = self.store.query(query)["results"]
        keys = [each["explain"]["key"] for each in found]
        by_match = query.get("sort_by", "best") in ("best", "match")
        has_words = "text" in query or "question" in query
        match = {}
        for result, key in zip(found, keys):
            share = key / keys[0] if by_match and keys[0] > 0 else result["match_quality"]
            place = result["session_id"], result["entry"]["id"]
            match[place] = min(1, max(0, share)) if has_words else 0
        return match

    def build(self, request):
        """What the library gives, and what the model."""
        now_ms = request.get("now_ms", CLOCK_MS)
        given = {name: value for name, value in request.items() if name != "now_ms"}
        now = {"now": rfc3339(now_ms)} if "now_ms" in request else {}
        built = Built(self.sessions, OWN, request,
                      lambda query, names: self.ask({**query, **now}, names), self.count,
                      max(now_ms, CLOCK_MS))
        return self.handles[OWN].context({**given, **now}), built


class ContextModel(unittest.TestCase):
    maxDiff = None

    def compare(self, answer, built):
        is_across = "across" in built.request
        self.assertEqual([(each.get("session_id"), each["id"]) for each in answer["items"]],
                         [(entry.session if is_across else None, entry.id)
                          for entry, *_ in built.items])
        self.assertEqual(answer["text"], built.text)
        self.assertEqual(answer["token_count"], built.token_count)
        self.assertEqual(answer["dropped"], built.dropped)
        self.assertEqual(answer["truncated"], built.dropped > 0)
        for told, (_, source, tokens, rank) in zip(answer["items"], built.items):
            self.assertEqual((told["source"], told["tokens"]), (source, tokens), told)
            self.assertAlmostEqual(told["rank"], rank, 9, told)

    def test_contexts_have_what_the_model_has(self):
        for seed in SEEDS:
            run = Run(seed)
            for at in range(REQUESTS):
                if at == REQUESTS // 2:
                    run.change()
                request = run.make.request()
                with self.subTest(seed=seed, request=request):
                    self.compare(*run.build(request))
            run.store.close()


if __name__ == "__main__":
    unittest.main()
