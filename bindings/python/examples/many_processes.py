"""Four processes add to one session at the same time; every entry is there exactly once."""
import multiprocessing
import sys

import varve

PROCESSES, ENTRIES = 4, 250


def work(directory, session_id, number):
    """Each process opens the store for itself: handles do not survive a fork."""
    with varve.Store(directory, {"durability": "interval"}) as store:
        with store.open_session(session_id) as session:
            for step in range(ENTRIES):
                session.add({"id": f"p{number}-{step}", "type": "observation",
                             "content": {"process": number, "step": step}})


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else "./memory"
    with varve.Store(directory) as store, store.create_session(title="Shared") as session:
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=work, args=(directory, session.id, number))
                   for number in range(PROCESSES)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for number in range(PROCESSES):
            print(f"process {number}:", session.count(content={"process": number}), "entries")
        print("whole:", session.verify()["ok"])


if __name__ == "__main__":
    main()
