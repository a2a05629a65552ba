#!/usr/bin/env python3
"""Several processes have the memories of two users open, and some are killed, while sessions expire
and are swept, deleted and made again under the same ids, also by the other user. The history of all
calls is compared with what is promised (history_users_model.py).

    VARVE_LIBRARY=libvarve.so history_users_model_test.py [SEEDS [FIRST]]
"""
import os
import pathlib
import tempfile
import time
import unittest

import history_users_spoilt as spoilt
from history_model import Wrong, check
from history_run import Run, check_log, read_history
from history_users_agent import SHARED, TTL_S, USERS, UsersThread
from history_users_model import UsersModel
from seeds import take_seeds
from varve_library import Library, given

SEEDS = take_seeds(2)
FILLERS = 36  # sessions of somebody else: enough for a catalog


class UsersRun(Run):
    thread_type = UsersThread

    def thread(self, name):
        process = self.process(name)
        return UsersThread(process, name, process.open_store(self.root, {}), 0)

    def fill(self):
        store = self.library.open_store(self.root, {"durability": "os"})
        self.library._lib.varve_store_set_clock(store._handle, None, None, None)
        for number in range(FILLERS):
            session = store.create(session_id=f"filler-{number}", user_id="carol")
            session.add({"type": "finding", "content": "carol x", "tags": ["t0"]})
            session.close()
        store.close()

    def look(self):
        """What is there when everybody has gone, and their sessions' time is over."""
        time.sleep(TTL_S)
        thread = self.thread("last")
        thread.sweep()
        for _ in range(9):
            thread.search()
        thread.sessions()
        self.write_to_long_term(thread)
        thread.end()
        self.library._lib.varve_store_close(thread.store)
        left = [path.name for path in pathlib.Path(self.root, "sessions").iterdir()
                if path.name in SHARED or path.name.startswith("own-")]
        check(not left, f"sessions that no sweep removes: {left}")
        self.check_left_overs()

    def write_to_long_term(self, thread):
        """What a killed writer left beside a log is removed by the next writer of that log."""
        for user in USERS:
            self.library.text("varve_memory_store", thread.memory(user),
                              *given(thread.message(user)))

    def check_left_overs(self):
        """What is empty may be the beginning of a session, whose maker is alive, for an hour."""
        left = [str(path) for path in pathlib.Path(self.root).rglob("*.tmp-*")
                if path.is_file() or any(path.iterdir())]
        check(not left, f"left-overs: {left}")


class HistoryUsersModel(unittest.TestCase):
    def test_the_model_sees_what_is_wrong(self):
        for name, calls in spoilt.RIGHT.items():
            with self.subTest(name):
                UsersModel(calls, spoilt.TTL_S).check()
        for name, calls in spoilt.WRONG.items():
            with self.subTest(name), self.assertRaises(Wrong):
                UsersModel(calls, spoilt.TTL_S).check()

    def test_of_several_processes(self):
        library = Library(os.environ["VARVE_LIBRARY"])
        for seed in SEEDS:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as directory:
                run = UsersRun(library, directory, seed)
                try:
                    run.fill()
                    run.run()
                    run.look()
                    calls, logs = read_history(run.records)
                    check_log(logs)
                    UsersModel(calls, TTL_S).check()
                except Wrong as wrong:
                    self.fail(f"seed {seed}: {wrong}")


if __name__ == "__main__":
    unittest.main()
