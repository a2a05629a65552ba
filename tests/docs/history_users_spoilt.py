"""Small histories that break one promise each: what the model of users' memories has to see. Times
are in nanoseconds, and a session is over after 100 seconds."""
from history_spoilt import call, killed

S = 1_000_000_000
TTL_S = 100


def at(start, end, what, session=None, user="ann", status="OK", answer=None, **told):
    return call(start * S, end * S, what, session, dict(told, user=user), status, answer)


def record(start, end, entry_id, session="s", **more):
    return at(start, end, "record", session, id=entry_id, **more)


def search(start, end, *found, user="ann"):
    return at(start, end, "search", user=user, all=True,
              answer=[[session, entry_id, owner] for session, entry_id, owner in found])


def context(start, end, *ids, session="s", source="short_term"):
    return at(start, end, "context", session, answer={
        "source": source, "found": [[entry_id, "ann"] for entry_id in ids]})


def delete(start, end, entry_id, **more):
    return at(start, end, "delete", id=entry_id, **more)


def drop(start, end):
    return call(start * S, end * S, "drop", "s")


def sessions(*rows, user=None):
    return at(1, 2, "sessions", user=user, answer=list(rows))


RIGHT = {
    "recorded and found": [record(1, 2, "a"), search(3, 4, ("s", "a", "ann")), context(5, 6, "a")],
    "recorded by one who was killed": [killed(record(1, 2, "a")), search(3, 4)],
    "over": [record(1, 2, "a"), search(103, 104), context(103, 104)],
    "not in working memory": [record(1, 2, "a"), context(3, 4, source="working")],
    "deleted": [record(1, 2, "a"), delete(3, 4, "a"), search(5, 6), context(5, 6)],
    "went with its session": [record(1, 2, "a"), drop(3, 4), search(5, 6)],
    "of the other": [record(1, 2, "a"), record(3, 4, "b", user="bob", status="NOT_FOUND")],
    "for ever": [at(1, 2, "store", id="a"), search(500, 501, ("l", "a", "ann"))],
}
WRONG = {
    "lost": [record(1, 2, "a"), search(3, 4)],
    "lost from a context": [record(1, 2, "a"), context(3, 4)],
    "lost too early": [record(1, 2, "a"), search(80, 81)],
    "lost for ever": [at(1, 2, "store", id="a"), search(500, 501)],
    "nobody's": [search(3, 4, ("s", "a", "ann"))],
    "another's": [record(1, 2, "a", user="bob"), search(3, 4, ("s", "a", "bob"))],
    "in another session": [record(1, 2, "a"), search(3, 4, ("t", "a", "ann"))],
    "over and back": [record(1, 2, "a"), search(103, 104, ("s", "a", "ann"))],
    "deleted and back": [record(1, 2, "a"), delete(3, 4, "a"), search(5, 6, ("s", "a", "ann"))],
    "gone and back": [record(1, 2, "a"), drop(3, 4), search(5, 6, ("s", "a", "ann"))],
    "twice": [record(1, 2, "a"), search(3, 4, ("s", "a", "ann"), ("s", "a", "ann"))],
    "there and not there to delete": [record(1, 2, "a"), delete(3, 4, "a", status="NOT_FOUND")],
    "deleted by the other": [record(1, 2, "a"), delete(3, 4, "a", user="bob")],
    "refused": [record(1, 2, "a", status="NOT_FOUND")],
    "a context that is refused": [at(1, 2, "context", "s", status="NOT_FOUND", answer="")],
    "a list of the other's": [sessions(["s", "bob", ""], user="ann")],
    "a list with the other's title": [sessions(["s", "ann", "bob"])],
    "a list without metadata": [sessions(["s", "ann", None])],
    "a session twice": [sessions(["s", "ann", ""], ["s", "ann", ""])],
    "a sweep that fails": [at(1, 2, "sweep", answer={"problems": [{"reason": "damage"}]})],
}
