#!/usr/bin/env python3
"""Random calls of memories and windows answer what varve/memory.h, varve/window.h and docs/tiers.md
say. A failure tells its seed and step.

    VARVE_LIBRARY=libvarve.so memory_model_test.py [SEEDS [FIRST]]
"""
import datetime
import os
import random
import tempfile
import unittest

import memory_model as model
from memory_model import HOUR_MS
from seeds import take_seeds
from varve_library import Failure, Library

START_MS = 1_767_950_000_000  # 2026-01-09T09:13:20Z
SEEDS = take_seeds(12)
STEPS = 60
SESSIONS = ["chat", "work", "x"]
PIECES = ["Hello", "I", "DB", "tea. ", "12345", "\n", "\r\n", "\u2028", "  ", "東京都", "é", "😀", "\0",
          "- ", "\t"]
TIMES = {"time_ms": "timestamp", "expires_ms": "expires_at"}
WAITS_MS = [0, 1, 1000, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS, 30 * HOUR_MS]


def rfc3339(time_ms):
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def public(message):
    """As the library takes and gives it: times as texts."""
    return {TIMES.get(name, name): rfc3339(value) if name in TIMES else value
            for name, value in message.items()}


class Maker(random.Random):
    def text(self):
        return "".join(self.choices(PIECES, k=self.randint(0, 6)))

    def optional(self, members):
        """{name: (how often of one, what)}: some of them."""
        return {name: make() for name, (share, make) in members.items() if self.random() < share}

    def content(self):
        if self.random() < 0.7:
            return self.text()
        return self.choice([None, 1.5, [], {}, {"b": self.text(), "a": 1}, {"message": "x"},
                            [{"type": "text", "text": self.text() + "."},
                             {"type": "image_url", "image_url": {"url": "data:x"}}],
                            [{"rows": 1}],
                            {"role": "system", "message": "x"}, {"role": None, "message": "x"},
                            {"role": "engineer", "name": "Ann"}])

    def message(self):
        return {"content": self.content(), **self.optional({
            "role": (0.6, lambda: self.choice(["user", "assistant", "tool", "a: b"])),
            "type": (0.2, lambda: self.choice(["observation", "note", "tool_call"])),
            "name": (0.1, self.text)}), **(self.tools() if self.random() < 0.4 else {})}

    def item(self):
        """A call or a result as OpenAI's responses have it."""
        kind = self.choice([{"type": "function_call", "id": "fc_1", "name": "rain"},
                            {"type": "function_call_output", "output": self.text()}])
        return {"call_id": "c1", **kind}

    def tools(self):
        """What makes a message one that calls, or one that answers, by an id or a name."""
        call_ids = ["c1", "c2", "c3"]
        tools = ["rain", "wind"]
        if self.random() < 0.5:
            return {"role": "assistant", "tool_calls": [
                {"function": {"name": self.choice(tools), "arguments": self.text()},
                 **self.optional({"id": (0.8, lambda: self.choice(call_ids))})}
                for _ in range(self.randint(0, 2))]}
        return {"role": "tool", **self.optional({
            "tool_call_id": (0.7, lambda: self.choice(call_ids)),
            "name": (0.5, lambda: self.choice(tools))})}

    def entry(self, now_ms):
        hours = lambda *choices: now_ms + self.choice(choices) * HOUR_MS
        end = self.choice([{"expires_ms": hours(-1, 0, 1, 50)}, {"ttl_seconds": 3600}])
        return {"id": self.id(), **self.message(), **self.optional({
            "time_ms": (0.3, lambda: hours(-50, -1, -1, 0, 0, 1, 50)),
            "importance": (0.1, lambda: 0.25)}), **(end if self.random() < 0.15 else {})}

    def id(self):
        return f"e{self.randint(0, 60)}"


class Run:
    """Three memories in one store, which is open twice if it is on disk, and the model of each."""

    def __init__(self, seed, uri):
        self.make, self.now_ms = Maker(seed), START_MS
        self.library = Library(os.environ["VARVE_LIBRARY"])
        self.library.now_ms = START_MS
        self.uri, self.model = uri, model.Store()
        self.open()

    def open(self):
        times = 1 if self.uri == "memory:" else 2
        self.stores = [self.library.open_store(self.uri, {"durability": "os"})
                       for _ in range(times)]
        self.memories = [self.open_memory() for _ in range(3)]

    def open_memory(self):
        user = self.make.choice([None, "ann", "bob"])
        options = {"window": self.make.choice([1, 2, 3, 20, 1_000_000]),
                   "ttl_hours": self.make.choice([0, 1, 24, 168])}
        user_id = {"user_id": user} if user else {}
        return (self.make.choice(self.stores).open_memory({**options, **user_id}),
                model.Memory(self.model, user, options["window"], options["ttl_hours"]))

    def close(self):
        for store in self.stores:
            store.close()

    def reopen(self):
        self.close()
        for session in self.model.sessions.values():
            if session.lives(self.now_ms):
                session.saved_ms = self.now_ms
        self.open()

    def wait(self):
        self.now_ms += self.make.choice(WAITS_MS)
        while any(session.is_in_doubt(self.now_ms) for session in self.model.sessions.values()):
            self.now_ms += HOUR_MS
        self.library.now_ms = self.now_ms

    def record(self):
        name, entry = self.make.choice(SESSIONS), self.make.entry(self.now_ms)
        return self.both(lambda memory: memory.record(name, public(entry)),
                         lambda memory: memory.record(name, entry, self.now_ms) or entry["id"])

    def remember(self):
        entry = self.make.entry(self.now_ms)
        return self.both(lambda memory: memory.store(public(entry)),
                         lambda memory: memory.store(entry, self.now_ms) or entry["id"])

    def load(self):
        name = self.make.choice(SESSIONS)
        return self.both(lambda memory: memory.load(name),
                         lambda memory: memory.load(name, self.now_ms))

    def clear(self):
        return self.both(lambda memory: memory.clear(), lambda memory: memory.clear())

    def delete(self):
        id_ = self.make.id()
        return self.both(lambda memory: memory.delete(id_, "a test"),
                         lambda memory: memory.delete(id_, self.now_ms))

    def both(self, ask_library, ask_model):
        """What one of the memories answers, and what its model; a failure by its name."""
        memory, its_model = self.make.choice(self.memories)
        answers = []
        for ask, asked in ((ask_library, memory), (ask_model, its_model)):
            try:
                answers.append(ask(asked))
            except (Failure, model.Refused) as failure:
                answers.append(getattr(failure, "name", str(failure)))
        return answers


class MemoryModel(unittest.TestCase):
    def check(self, run):
        for memory, its_model in run.memories:
            for name in SESSIONS:
                self.check_context(run, memory, its_model, name)
            found = [(result["session_id"], result["entry"]["id"])
                     for result in memory.search({"limit": 10_000})["results"]]
            known = its_model.search(run.now_ms)
            self.assertEqual(sorted((name if name in SESSIONS else "", id_) for name, id_ in found),
                             sorted((name or "", id_) for name, id_ in known))

    def check_context(self, run, memory, its_model, name):
        most = run.make.choice([0, 1, 5, 7, 10, 30])
        answer = memory.context(name, most)
        source, messages, tokens = its_model.context(name, most, run.now_ms)
        self.assertEqual([each["id"] for each in answer["entries"]],
                         [each["id"] for each in messages])
        self.assertEqual((answer["token_count"], answer["source"]), (tokens, source))
        for shown, message in zip(answer["entries"], messages):
            given = {**public(message), "session_id": name}
            given.pop("ttl_seconds", None)
            self.assertEqual({member: shown.get(member) for member in given}, given)
            self.assertEqual("role" in shown, "role" in given)
            self.assertEqual("references" in shown, "references" in given)

    def test_memories_answer_what_the_model_answers(self):
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as directory, self.subTest(seed=seed):
                is_on_disk = seed % 4 == 0
                run = Run(seed, directory if is_on_disk else "memory:")
                steps = [run.record, run.remember, run.load, run.clear, run.delete, run.wait,
                         run.reopen]
                for at in range(STEPS):
                    step = run.make.choices(steps, [24, 6, 2, 1, 6, 2, is_on_disk])[0]
                    with self.subTest(step=f"{at}, {step.__name__}"):
                        answers = step()
                        if answers:
                            self.assertEqual(*answers)
                        self.check(run)
                run.close()


class WindowModel(unittest.TestCase):
    def test_windows_answer_what_the_model_answers(self):
        library = Library(os.environ["VARVE_LIBRARY"])
        for seed in SEEDS:
            make = Maker(seed)
            capacity = make.choice([1, 2, 5, 2**64 - 1])
            window, its_model = library.open_window(capacity), model.Window(capacity)
            for _ in range(make.randint(0, 12)):
                said = make.item() if make.random() < 0.1 else make.message()
                message = {**said, "timestamp": rfc3339(START_MS)}
                window.add(message)
                its_model.add(message)
                most = make.choice([0, 1, 3, 2**64 - 1])
                with self.subTest(seed=seed, most=most):
                    self.assertEqual(window.recent(most), its_model.recent(most))
                    self.assertEqual(window.text(), its_model.text())
                    self.assertEqual(window.size(), len(its_model.messages))
            window.clear()
            self.assertEqual((window.recent(), window.text(), window.size()), ([], "", 0))
            window.close()


if __name__ == "__main__":
    unittest.main()
