"""A run of several processes that use a store at once, of which some are killed: how they are
started, and what they wrote down."""
import json
import os
import pathlib
import random
import signal
import threading
import traceback

from history_agent import WARN, Pace, Process, Thread
from history_model import Call, check

PROCESSES, THREADS = 3, 2
CALLS = 1000
CALLS_OF_A_KILL = 100  # one kill for so many calls
WARNINGS = {"torn tail moved to quarantine", "lock timeout", "index rebuilt from the log",
            "an unfinished entry of transcript.md moved to quarantine", "no catalog",
            "the session approaches its size limit"}
# Of a writer that waited in vain, at any level.
IN_THE_WAY = ["another writer holds the session's lock", "other writers keep holding"]


class Run:
    """`thread_type`: of the threads of the processes."""

    thread_type = Thread
    exclusive_share = 0

    def __init__(self, library, directory, seed):
        self.library, self.random = library, random.Random(seed)
        self.root, self.records = f"{directory}/store", f"{directory}/records"
        os.mkdir(self.records)
        self.started = 0

    def process(self, name, pace=None):
        return Process(self.library, self.root, self.records, pace, name, self.random.random(),
                       self.thread_type)

    def start(self, pace):
        process = self.process(f"p{self.started}", pace)
        self.started += 1
        process_id = os.fork()
        if process_id == 0:
            threading.excepthook = lambda _: (traceback.print_exc(), os._exit(1))
            try:
                process.run(THREADS, self.exclusive_share)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        return process_id

    def run(self):
        """So many calls, with a kill now and then, whose victim is replaced."""
        pace, calls = Pace(), 0
        running = [self.start(pace) for _ in range(PROCESSES)]
        while calls < CALLS:
            count = self.random.randrange(1, 2 * CALLS_OF_A_KILL)
            check(pace.wait_for(count), "nobody makes a call any more")
            calls += count
            victim = running.pop(self.random.randrange(len(running)))
            os.kill(victim, signal.SIGKILL)
            check(self.wait(victim) == -signal.SIGKILL, "a process failed")
            running.append(self.start(pace))
        pace.end()
        for process_id in running:
            check(self.wait(process_id) == 0, "a process failed")
        pace.close()

    @staticmethod
    def wait(process_id):
        _, status = os.waitpid(process_id, 0)
        return os.waitstatus_to_exitcode(status)


def read_history(records):
    """(calls in the order of their beginning, log lines)"""
    calls, logs = [], []
    for path in sorted(pathlib.Path(records).iterdir()):
        open_call = None
        # A line without its end is that of a process that was killed: the call was not answered.
        for text in path.read_text().rpartition("\n")[0].splitlines():
            line = json.loads(text)
            if line[0] == "log":
                logs.append(line)
            elif line[0] == "begin":
                open_call = Call(path.stem, *line[2:])
                calls.append(open_call)
            else:
                open_call.status, open_call.answer, open_call.end = line[2:]
    return sorted(calls, key=lambda call: call.start), logs


def check_log(logs):
    for _, level, line, _ in logs:
        message, _, why = line["message"].partition(":")
        is_usual = level == WARN and message in WARNINGS and "damaged" not in why
        check(is_usual or any(text in line["message"] for text in IN_THE_WAY),
              f"a line of the log that there is no reason for: {line}")
