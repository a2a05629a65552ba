"""Processes that are killed while they add: what was acknowledged is there, exactly once."""
import json
import pathlib
import random
import signal
import subprocess
import sys
import threading

import varve

PROCESSES, KILLS, ENTRIES = 4, 3, 300
WITHOUT_END = 10**9
WORKER = pathlib.Path(__file__).with_name("worker.py")


def work(directory, prefix, acknowledged, endings):
    """Kills a worker at random places, and at last lets one come to its end."""
    chance = random.Random(prefix)
    for attempt in range(KILLS + 1):
        last = attempt == KILLS
        worker = subprocess.Popen(
            [sys.executable, WORKER, directory, "s", prefix,
             str(ENTRIES if last else WITHOUT_END)], stdout=subprocess.PIPE, text=True)
        kill_after = None if last else chance.randrange(5, ENTRIES)
        for number, line in enumerate(worker.stdout):
            acknowledged.append(line.strip())
            if number == kill_after:
                worker.kill()
        endings.append(worker.wait())


def test_every_acknowledged_entry_is_there_once(tmp_path):
    acknowledged = [[] for _ in range(PROCESSES)]
    endings = [[] for _ in range(PROCESSES)]
    with varve.Store(tmp_path) as store:
        store.create_session(session_id="s").close()
        threads = [threading.Thread(target=work, args=(
            tmp_path, f"p{number}", acknowledged[number], endings[number]))
            for number in range(PROCESSES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.open_session("s") as session:
            ids = [json.loads(line)["id"] for line in session.export().splitlines()]
            assert session.verify()["ok"]
    assert endings == [[-signal.SIGKILL] * KILLS + [0]] * PROCESSES
    told = set().union(*acknowledged)
    assert {f"p{process}-{number}" for process in range(PROCESSES)
            for number in range(ENTRIES)} <= told
    assert len(ids) == len(set(ids)), "none twice"
    assert told <= set(ids), "all that were acknowledged"
    assert len(set(ids) - told) <= PROCESSES * KILLS, "and one that was on its way at each kill"
