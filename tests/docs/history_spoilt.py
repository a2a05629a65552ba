"""Small histories that break one promise each: what the model of histories has to see."""
from history_model import LASTING, PASSING, Call

S, D = LASTING[0], PASSING[0]
TITLE = {"title": None, "m0": None, "m1": None, "generation": 1, "total_entries": 0}


def call(start, end, what, session=S, told=None, status="OK", answer=None):
    made = Call("thread", what, session, dict(told or {}), start)
    made.end, made.status, made.answer = end, status, answer
    return made


def add(start, end, *ids, session=S, **more):
    return call(start, end, "add", session,
                {"entries": [[entry_id, "t0", "w0", None] for entry_id in ids]}, **more)


def find(start, end, *ids, session=S):
    return call(start, end, "find", session, {},
                answer=[[entry_id, int(entry_id[1:]), "c"] for entry_id in ids])


def delete(start, end, entry_id, session=S):
    return call(start, end, "delete", session, {"ids": [entry_id]})


def killed(made):
    made.end, made.status = float("inf"), None
    return made


def of_key(start, end, what, value=None, **more):
    return call(start, end, what, told={"key": "k0", "value": value}, **more)


def say(start, end, turn):
    return call(start, end, "say", told={"turn": turn, "bytes": 5})


def last(start, end, *turns):
    return call(start, end, "last", told={"count": 100}, answer=[[turn, 5] for turn in turns])


def stats(start, end, last_seq):
    return call(start, end, "stats", answer={"entries": 0, "last_seq": last_seq,
                                             "durable_seq": last_seq, "corruption": {}})


def title(start, end, generation):
    return call(start, end, "metadata", answer=dict(TITLE, generation=generation))


def imported(start, end, *ids, lines=1, session=S):
    return call(start, end, "import", session,
                {"entries": [[entry_id, "t0", "w0", None] for entry_id in ids], "lines": lines},
                answer={"added": len(ids), "existing": 0, "refused_total": 0})


def passing(made, opened=0):
    """By the handle of a session that comes and goes."""
    made.session, made.told["opened"] = D, opened
    return made


def swept(reason):
    """A sweep that reports the session's failure."""
    return call(1, 2, "sweep", None,
                answer={"problems": [{"session_id": S, "reason": reason, "damaged": False}]})


def get(start, end, entry_id, checksum):
    return call(start, end, "get", told={"id": entry_id}, answer=[entry_id, 1, checksum])


def old(start, end, entry_id):
    """It was in a log of version 0."""
    made = add(start, end, entry_id)
    made.told["is_old"] = True
    return made


def find_old(start, end, entry_id):
    """In that log, before it is migrated."""
    return call(start, end, "find", S, {}, answer=[[entry_id, None, None]])


def backed_up(start, end):
    return call(start, end, "back_up", None, {"own": True}, answer={"problems": []})


def copied(start, end, *ids, session=S):
    return call(start, end, "copy", session, {"is_there": True},
                answer=[[entry_id, int(entry_id[1:]), "c"] for entry_id in ids])


def copied_vectors(start, end, *ids):
    return call(start, end, "copied_vectors", answer=[[entry_id, 1, "c"] for entry_id in ids])


def put_vector(start, end, entry_id):
    return call(start, end, "put_vector", told={"id": entry_id})


def by(thread, made):
    made.thread = thread
    return made


# A store has the session for itself from 1 to 8.
KEPT = [by("p0a", call(0, 1, "open", told={"exclusive": True})), by("p0a", call(8, 9, "close"))]
NO_KEY = {"status": "NOT_FOUND", "answer": "there is no key 'k0'"}

RIGHT = {
    "a sweep with a writer in the way": [
        swept("another writer holds the session's lock (process 1); try again later")],
    "an import that was refused in the middle": [
        call(1, 2, "import", told={"entries": [["e1", "t0", "w0", None], ["e2", "t0", "w0", None]],
                                   "lines": 2}, status="BUSY", answer=""), find(3, 4, "e1")],
    "a key that went with its session": [
        passing(of_key(1, 2, "kv_set", "a")), call(3, 4, "drop", D),
        passing(of_key(5, 6, "kv_get", **NO_KEY), 5)],
    "a key that was set twice": [
        passing(of_key(1, 2, "kv_set", "a")), passing(of_key(3, 4, "kv_set", "b")),
        passing(of_key(5, 6, "kv_get", answer="b"))],
    "a read beside an add": [add(1, 4, "e1"), find(2, 3), find(2, 3, "e1")],
    "an add that was killed, there or not": [killed(add(1, 2, "e1")), find(3, 4)],
    "an add that was killed, and is there": [killed(add(1, 2, "e1")), find(3, 4, "e1"),
                                             find(5, 6, "e1")],
    "a deletion": [add(1, 2, "e1"), delete(3, 4, "e1"), find(5, 6)],
    "an old value beside a write": [of_key(1, 2, "kv_set", "a"), of_key(3, 6, "kv_set", "b"),
                                    of_key(4, 5, "kv_get", answer="a")],
    "turns": [say(1, 2, "a"), say(3, 4, "b"), last(5, 6, "a", "b")],
    "a log of version 0": [old(1, 2, "e1"), find_old(3, 4, "e1"), find(5, 6, "e1")],
    "a copy": [add(1, 2, "e1"), put_vector(3, 4, "e1"), backed_up(5, 6), delete(7, 8, "e1"),
               copied(9, 10, "e1"), copied_vectors(11, 12, "e1")],
    "a copy of a session that was made anew": [
        add(1, 2, "e1", session=D), call(3, 4, "drop", D), call(5, 6, "create", D),
        add(7, 8, "e2", session=D), backed_up(9, 10), copied(11, 12, "e2", session=D)],
    "a session that a store has for itself": KEPT + [
        by("p0b", add(2, 3, "e1")), by("p1a", add(4, 5, "e2", status="BUSY")),
        by("p0c", add(6, 9, "e3"))],
    "a session that went": [add(1, 2, "e1", session=D), call(3, 4, "drop", D),
                            call(5, 6, "create", D), find(7, 8, session=D)],
}

WRONG = {
    "one that is of version 0 again": [old(1, 2, "e1"), find(3, 4, "e1"), find_old(5, 6, "e1")],
    "a new one without a number": [add(1, 2, "e1"), find_old(3, 4, "e1")],
    "a copy that lacks an entry": [add(1, 2, "e1"), backed_up(3, 4), copied(5, 6)],
    "a copy without its vector": [add(1, 2, "e1"), put_vector(3, 4, "e1"), backed_up(5, 6),
                                  copied(7, 8, "e1"), copied_vectors(9, 10)],
    "a copied vector that nobody put": [add(1, 2, "e1"), backed_up(3, 4), copied(5, 6, "e1"),
                                        copied_vectors(7, 8, "e1")],
    "a copy with an entry of the session before": [
        add(1, 2, "e1", session=D), call(3, 4, "drop", D), call(5, 6, "create", D),
        backed_up(7, 8), copied(9, 10, "e1", session=D)],
    "a write to what a store has for itself": KEPT + [by("p1a", add(2, 3, "e1"))],
    "a write by another store of the process": KEPT + [by("p0c", add(2, 3, "e1"))],
    "an import that is lost": [imported(1, 2, "e1"), find(3, 4)],
    "an import that does not tell of a line": [imported(1, 2, "e1", lines=2)],
    "a member that a change of another took": [
        call(1, 2, "update", told={"key": "m0", "value": "a"}), title(3, 4, 1)],
    "an index of too many": [call(1, 2, "index", answer=1)],
    "a key that is lost in a session that stays": [
        passing(of_key(1, 2, "kv_set", "a")), passing(of_key(3, 4, "kv_get", **NO_KEY))],
    "an old value in a session that stays": [
        passing(of_key(1, 2, "kv_set", "a")), passing(of_key(3, 4, "kv_set", "b")),
        passing(of_key(5, 6, "kv_get", answer="a"))],
    "a key of a session that went": [
        passing(of_key(1, 2, "kv_set", "a")), call(3, 4, "drop", D),
        passing(of_key(5, 6, "kv_get", answer="a"), 5)],
    "a turn of a session that went": [
        passing(say(1, 2, "a")), call(3, 4, "drop", D), passing(last(5, 6, "a"), 5)],
    "a turn that is lost in a session that stays": [
        passing(say(1, 2, "a")), passing(last(3, 4))],
    "a sweep that failed": [swept("the disk is full")],
    "lost": [add(1, 2, "e1"), find(3, 4)],
    "lost again after it was seen": [killed(add(1, 2, "e1")), find(3, 4, "e1"), find(5, 6)],
    "not added": [find(1, 2, "e1")],
    "refused": [add(1, 2, "e1", status="BUSY"), find(3, 4, "e1")],
    "deleted and back": [add(1, 2, "e1"), delete(3, 4, "e1"), find(5, 6, "e1")],
    "deleted by one who was killed, gone and back": [
        add(1, 2, "e1"), killed(delete(3, 4, "e1")), find(5, 6), find(7, 8, "e1")],
    "deleted twice": [add(1, 2, "e1"), delete(3, 4, "e1"), delete(5, 6, "e1")],
    "a part of a batch": [add(1, 3, "e1", "e2"), find(2, 4, "e1")],
    "changed": [add(1, 2, "e1"), get(3, 4, "e1", "one"), get(5, 6, "e1", "other")],
    "the later without the earlier": [add(1, 9, "e1"), add(1, 9, "e2"), find(2, 8, "e2"),
                                      find(2, 8, "e1", "e2")],
    "not at one moment": [add(1, 2, "e1"), add(3, 4, "e2"), delete(5, 6, "e1"), add(7, 8, "e3"),
                          find(1, 9, "e1", "e2", "e3")],
    "twice": [add(1, 2, "e1"), find(3, 4, "e1", "e1")],
    "miscounted": [add(1, 2, "e1"), call(3, 4, "count", answer=0)],
    "an old value": [of_key(1, 2, "kv_set", "a"), of_key(3, 4, "kv_set", "b"),
                     of_key(5, 6, "kv_get", answer="a")],
    "a value that went back": [of_key(1, 2, "kv_set", "a"), killed(of_key(3, 4, "kv_set", "b")),
                               of_key(5, 6, "kv_get", answer="b"),
                               of_key(7, 8, "kv_get", answer="a")],
    "a key that is lost": [of_key(1, 2, "kv_set", "a"),
                           of_key(3, 4, "kv_get", status="NOT_FOUND")],
    "keys of two moments": [
        of_key(1, 2, "kv_set", "a"),
        call(3, 4, "kv_set", told={"key": "k1", "value": "b"}), of_key(5, 6, "kv_set", "c"),
        call(7, 8, "kv_set", told={"key": "k1", "value": "d"}),
        call(1, 9, "kv_list", answer=[["k0", "a"], ["k1", "d"]])],
    "a turn that is lost": [say(1, 2, "a"), last(3, 4)],
    "turns in two orders": [say(1, 9, "a"), say(1, 9, "b"), say(1, 9, "c"),
                            last(2, 8, "a", "b"), last(2, 8, "b", "a", "c"),
                            last(2, 8, "a", "c")],
    "seq that goes back": [stats(1, 2, 5), stats(3, 4, 4)],
    "a generation that goes back": [title(1, 2, 2), title(3, 4, 1)],
    "a page that repeats": [add(1, 2, "e1"), call(3, 6, "pages", answer={
        "pages": [[[["e1", 1, "c"]], 4], [[["e1", 1, "c"]], 5]], "whole": True})],
    "fault": [call(1, 2, "verify", answer={"ok": False})],
    "an answer that it may not have": [call(1, 2, "find", status="CORRUPTION", answer="")],
    "a handle of a session that went": [
        call(3, 4, "drop", D), call(5, 6, "find", D, {"opened": 2}, answer=[])],
    "an entry of a session that went": [
        add(1, 2, "e1", session=D), call(3, 4, "drop", D), call(5, 6, "create", D),
        find(7, 8, "e1", session=D)],
    "an entry that is lost with a handle": [add(1, 2, "e1", session=D), find(3, 4, session=D)],
}
