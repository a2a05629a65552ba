"""The memories of two users, with sessions whose time is over soon, some of them under the same
ids: a thread that makes random calls on them and writes them down, as history_agent.py does."""
import ctypes
import json
import random

from history_agent import Record
from varve_library import answer_of, given

USERS = ["ann", "bob"]
SHARED = [f"shared-{number}" for number in range(4)]  # ids that both users use
TTL_S = 0.08
WINDOW = 4
TAGS = 2
ALL = 10000


def told_by(message):
    """[id, whose it is] of a message or entry, whose content is "USER ID"."""
    content = message["content"]
    if isinstance(content, dict):
        content = content["message"]
    user, entry_id = content.split()[:2]
    return [entry_id, user] if entry_id == message["id"] else ["a wrong entry", str(message)]


def own(user):
    return f"own-{user}"


class UsersThread:
    def __init__(self, process, name, store, seed):
        self.process, self.name, self.store = process, name, store
        self.library = process.library
        self.random = random.Random(seed)
        self.record = Record(f"{process.records}/{name}.jsonl", process.pace)
        self.memories, self.known, self.count = {}, [], 0

    def run(self):
        while not self.process.pace.is_over:
            self.random.choices(CALLS, WEIGHTS)[0](self)
        self.end()

    def end(self):
        for memory in self.memories.values():
            self.library._lib.varve_memory_close(memory)
        self.memories = {}
        self.record.close()

    # --- what is given

    def memory(self, user):
        if user not in self.memories:
            out = ctypes.c_void_p()
            options = {"user_id": user, "window": WINDOW, "ttl_hours": TTL_S / 3600}
            self.library.call("varve_memory_open", self.store, *given(options), ctypes.byref(out))
            self.memories[user] = out
        return self.memories[user]

    def user_and_session(self):
        user = self.random.choice(USERS)
        return user, self.random.choice(SHARED + [own(user)])

    def message(self, user):
        self.count += 1
        entry_id = f"{self.name}-{self.count}"
        message = {"id": entry_id, "content": f"{user} {entry_id} "
                   + "x" * self.random.choice([0, 0, 0, 300, 9000]),
                   "tags": [f"t{self.random.randrange(TAGS)}"]}
        if self.random.random() < 0.5:
            message["role"] = "user"
        self.known = (self.known + [[user, entry_id]])[-30:]
        return message

    # --- calls

    def record_one(self):
        user, session = self.user_and_session()
        message, memory = self.message(user), self.memory(user)
        self.record.call("record", session, {"user": user, "id": message["id"]},
                         lambda: self.library.text("varve_memory_record", memory, *given(session),
                                                   *given(message)))

    def store_one(self):
        user = self.random.choice(USERS)
        message, memory = self.message(user), self.memory(user)
        self.record.call("store", None, {"user": user, "id": message["id"]},
                         lambda: self.library.text("varve_memory_store", memory, *given(message)))

    def context(self):
        user, session = self.user_and_session()
        memory = self.memory(user)

        def work():
            answer = json.loads(self.library.text("varve_memory_context", memory, *given(session),
                                                  ctypes.c_uint64(0)))
            return {"source": answer["source"], "found": [told_by(one)
                                                          for one in answer["entries"]]}
        self.record.call("context", session, {"user": user}, work)

    def load(self):
        user, session = self.user_and_session()
        memory = self.memory(user)
        self.record.call("load", session, {"user": user}, lambda: self.library.call(
            "varve_memory_load", memory, *given(session)))

    def clear(self):
        user = self.random.choice(USERS)
        memory = self.memory(user)
        self.record.call("clear", None, {"user": user}, lambda: self.library.call(
            "varve_memory_clear", memory))

    def search(self):
        user = self.random.choice(USERS)
        memory, tag = self.memory(user), f"t{self.random.randrange(TAGS)}"
        query = self.random.choice([{}, {"tags": {"include": [tag]}}, {"text": user}])
        is_all = "tags" not in query
        function, handle = "varve_memory_search", memory
        if self.random.random() < 0.3:
            function, handle = "varve_store_query", self.store
            query = dict(query, user_id=user)
        status, found = self.record.call("search", None, {"user": user, "all": is_all}, lambda: [
            [one["session_id"], *told_by(one["entry"])] for one in answer_of(
                self.library, function, handle, dict(query, limit=ALL))["results"]])
        if status == "OK":
            self.known = (self.known + [[user, one[1]] for one in found[-5:]])[-30:]

    def delete(self):
        if not self.known:
            return
        user, entry_id = self.random.choice(self.known)
        if self.random.random() < 0.2:
            user = self.random.choice(USERS)
        memory = self.memory(user)
        self.record.call("delete", None, {"user": user, "id": entry_id}, lambda: self.library.call(
            "varve_memory_delete", memory, *given(entry_id), *given("r")))

    def make(self):
        user, session = self.random.choice(USERS), self.random.choice(SHARED)
        options = {"session_id": session, "user_id": user, "title": user, "durability": "os",
                   "ttl_hours": TTL_S / 3600, "if_exists": self.random.choice(["open", "fail"])}
        out = ctypes.c_void_p()
        status, _ = self.record.call("make", session, {"user": user}, lambda: self.library.call(
            "varve_session_create", self.store, *given(options), ctypes.byref(out)))
        if status == "OK":
            self.library._lib.varve_session_close(out)

    def drop(self):
        session = self.random.choice(SHARED)
        self.record.call("drop", session, None, lambda: self.library.call(
            "varve_store_delete_session", self.store, *given(session)))

    def sessions(self):
        user = self.random.choice([None, *USERS])
        filters = {"limit": 1000, **({"user_id": user} if user else {})}
        self.record.call("sessions", None, {"user": user}, lambda: [
            [one["session_id"], one["user_id"], one.get("title")]
            for one in json.loads(self.library.text("varve_store_sessions", self.store,
                                                    *given(filters)))["sessions"]])

    def sweep(self):
        self.record.call("sweep", None, None, lambda: json.loads(
            self.library.text("varve_store_sweep", self.store)))

    def rescan(self):
        self.record.call("rescan", None, None, lambda: self.library.text(
            "varve_store_sessions", self.store, *given({"rescan": True, "limit": 1})) and None)

    def forget_memory(self):
        memory = self.memories.pop(self.random.choice(USERS), None)
        if memory:
            self.library._lib.varve_memory_close(memory)


_WEIGHED = [
    (UsersThread.record_one, 30), (UsersThread.store_one, 4), (UsersThread.context, 14),
    (UsersThread.load, 4), (UsersThread.clear, 1), (UsersThread.search, 12),
    (UsersThread.delete, 6), (UsersThread.make, 6), (UsersThread.drop, 3),
    (UsersThread.sessions, 10), (UsersThread.sweep, 3), (UsersThread.rescan, 0.4),
    (UsersThread.forget_memory, 1)]
CALLS = [call for call, _ in _WEIGHED]
WEIGHTS = [weight for _, weight in _WEIGHED]
